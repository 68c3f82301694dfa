"""`maps:` in models: against closed forms and the same models written by hand, on ranks and as FMUs."""
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, execute, export, run_here, simulate
from tables import akima

POINTS = [0.0, 1.0, 2.5, 3.0, 5.0]
VALUES = [1.0, 3.0, 2.0, 2.5, -1.0]

SWEPT = """
experiment: {{stop: 8}}
maps:
  m: {{{map}}}
subsystems:
  a: {{equations: {{states: {{x: {start}}}, derivatives: {{x: {speed}}}, outputs: {{x: x}}}}}}
  b:
    equations:
      inputs: {{x: }}
      states: {{area: 0}}
      derivatives: {{area: "{value}"}}
      outputs: {{area: area, y: "{value}"}}
connections: [a.x -> b.x]
"""


def swept(text="", start=-1, speed=1, value="m(x)"):
    points = f"points: {{x: {POINTS}, m: {VALUES}}}"
    return SWEPT.format(map=points + text, start=start, speed=speed, value=value)


def linear(x):
    return np.interp(x, POINTS, VALUES)


def area(x):
    """The integral from -1 to x of the map that holds its ends."""
    kinks = np.array([-1.0, *POINTS, 9.0])
    ends = linear(kinks)
    whole = np.concatenate(([0.0], np.cumsum(0.5 * np.diff(kinks) * (ends[1:] + ends[:-1]))))
    k = np.clip(np.searchsorted(kinks, x, side="right") - 1, 0, len(kinks) - 2)
    return whole[k] + 0.5 * (x - kinks[k]) * (ends[k] + linear(x))


class Swept(ModelTest):
    def test_linear(self):
        """Kinks are events, so that order and error are those of smooth signals."""
        for ranks in (1, 3):
            run = simulate(self.model(swept()), *TIGHT, ranks=ranks)
            np.testing.assert_allclose(run.outputs["b.y"], linear(run.outputs["a.x"]), atol=1e-9)
            np.testing.assert_allclose(run.outputs["b.area"], area(run.outputs["a.x"]), atol=1e-9)
            np.testing.assert_allclose(np.sort(run.event_times), np.array(POINTS) + 1, atol=1e-9)

    def test_backwards(self):
        run = simulate(self.model(swept(start=7, speed=-1)), *TIGHT)
        np.testing.assert_allclose(run.outputs["b.y"], linear(run.outputs["a.x"]), atol=1e-9)
        np.testing.assert_allclose(run.outputs["b.area"], area(7) - area(run.outputs["a.x"]), atol=1e-9)

    def test_the_same_on_ranks(self):
        one, three = (simulate(self.model(swept()), ranks=ranks) for ranks in (1, 3))
        np.testing.assert_array_equal(one.outputs.values, three.outputs.values)

    def test_smooth(self):
        run = simulate(self.model(swept(", smooth: true")), "-cosim_step", 0.01)
        self.assertEqual(len(run.event_times), 0)
        np.testing.assert_allclose(run.outputs["b.area"], area(run.outputs["a.x"]), atol=1e-3)

    def test_cubic(self):
        run = simulate(self.model(swept(", interpolation: cubic, outside: linear")), *TIGHT)
        x = run.outputs["a.x"]
        inside = (x > POINTS[0]) & (x < POINTS[-1])
        np.testing.assert_allclose(run.outputs["b.y"][inside], akima(POINTS, VALUES, x[inside])[0], atol=1e-9)
        slope = (akima(POINTS, VALUES, [1e-6])[0] - VALUES[0]) / 1e-6
        below = x <= 0
        np.testing.assert_allclose(run.outputs["b.y"][below], VALUES[0] + slope * x[below], atol=1e-5)
        self.assertEqual(len(run.event_times), 0)

    def test_step(self):
        run = simulate(self.model(swept(", interpolation: step")), *TIGHT)
        x = run.outputs["a.x"]
        at = np.clip(np.searchsorted(POINTS, x + 1e-9, side="right") - 1, 0, None)
        np.testing.assert_array_equal(run.outputs["b.y"], np.array(VALUES)[at])
        self.assertEqual(len(run.event_times), 4)

    def test_outside_is_an_error(self):
        run = run_here(self.model(swept(", outside: error", start=0.5)), "-cosim_step", 0.03)
        self.assertEqual(run.returncode, 1)
        for word in ("m.x is 5", "from 0 to 5", "at t = 4.5", "'b'"):
            self.assertIn(word, run.stderr)

    def test_what_only_events_read(self):
        """In `set`, and in no_event, points are no events."""
        text = swept(value="no_event(m(x))")
        self.assertEqual(len(simulate(self.model(text)).event_times), 0)
        text = swept(value="x").replace("states: {area", "discrete: {d: 0}\n      when: [{every: 0.7, set: {d: m(x)}}]\n"
                                        "      states: {area").replace("y: \"x\"", "y: d")
        run = simulate(self.model(text), "-cosim_step", 0.1)
        tick = np.floor(run.time / 0.7 + 1e-9) * 0.7
        np.testing.assert_allclose(run.outputs["b.y"], linear(tick - 1), atol=1e-9)
        self.assertEqual({what for _, what in run.happened}, {"every 0.7"})

    def test_exported(self):
        reference = simulate(self.model(swept()), "-cosim_step", 0.25, *TIGHT)
        for version, kind in ((2, "me"), (3, "cs")):
            export(self.model(swept()), "b", self.folder / "b.fmu", version)
            text = swept()
            text = text[:text.index("  b:\n")] + "  b: {fmu: b.fmu}\n" + text[text.index("connections"):]
            run = simulate(self.model(text), "-cosim_step", 0.25, *TIGHT, "-subsystem_fmu_interface", kind, jumps=True)
            np.testing.assert_allclose(run.outputs["b.area"][-1], reference.outputs["b.area"][-1], atol=1e-5)

    def test_exported_as_a_system(self):
        run = execute("export-ssp", self.model(swept()), "-o", self.folder / "swept.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = simulate(self.folder / "swept.ssp", "-cosim_step", 0.25, *TIGHT, jumps=True)
        np.testing.assert_allclose(run.outputs["b.area"][-1], area(7.0), atol=1e-6)


# Of two and three inputs: 2 speed + 3 pedal + speed pedal, which linear maps meet exactly.
SURFACE = """
experiment: {{stop: 2}}
maps: {{torque: {{{map}}}}}
subsystems:
  a:
    equations:
      variables: {{w: 3 + 2*sin(3*t), p: 0.5 + 0.4*cos(t)}}
      outputs: {{w: w, p: p, torque: "torque({arguments})"}}
"""


def surface(w, p, q=0.0):
    return 2 * w + 3 * p + w * p + q * (1 - w)


class Surfaces(ModelTest):
    def run_map(self, text, q=0.0, arguments="w, p"):
        run = simulate(self.model(SURFACE.format(map=text, arguments=arguments)), "-cosim_step", 0.1)
        exact = surface(run.outputs["a.w"], run.outputs["a.p"], q)
        np.testing.assert_allclose(run.outputs["a.torque"], exact, atol=1e-12)

    def test_files(self):
        speeds, pedals = [0, 1, 4, 6], [0, 0.5, 1]
        rows = [(w, p, surface(w, p)) for p in pedals for w in speeds[::-1]]
        (self.folder / "list.csv").write_text(
            "speed;pedal;torque\n" + "".join(f"{w};{p};{z}\n" for w, p, z in rows))
        self.run_map("file: list.csv")
        self.run_map("file: list.csv, inputs: [speed, pedal], interpolation: linear, outside: linear")
        self.run_map("file: list.csv, inputs: [pedal, speed], value: torque", arguments="p, w")
        (self.folder / "grid.csv").write_text(
            "w\\\\p," + ",".join(map(str, pedals)) + "\n" +
            "".join(f"{w}," + ",".join(str(surface(w, p)) for p in pedals) + "\n" for w in speeds))
        self.run_map("file: grid.csv, inputs: [speed, pedal]")

    def test_points(self):
        w, p, q = [0, 2, 6], [0, 1], [0, 3]
        values = [[surface(a, b) for b in p] for a in w]
        self.run_map(f"points: {{w: {w}, p: {p}, torque: {values}}}")
        values = [[[surface(a, b, c) for c in q] for b in p] for a in w]
        self.run_map(f"points: {{w: {w}, p: {p}, q: {q}, torque: {values}}}", 0.75, "w, p, 0.75")

    def test_results(self):
        """The map of what another run has been through."""
        grown = self.folder / "kept.h5"
        run = run_here(self.model("experiment: {stop: 2}\nsubsystems:\n  s: {equations: {states: {x: 1}, "
                                        "derivatives: {x: x}, outputs: {t: t, x: x}}}\n"), "-cosim_output", grown,
                      "-cosim_step", 0.05)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = simulate(self.model("experiment: {stop: 2}\nmaps: {grown: {file: kept.h5, inputs: [s.t], value: s.x, "
                                  "interpolation: cubic}}\nsubsystems:\n  s: {equations: {outputs: {x: grown(t)}}}\n"))
        np.testing.assert_allclose(run.outputs["s.x"], np.exp(run.time), rtol=1e-3)

    def test_units(self):
        text = ("experiment: {stop: 1}\nmaps: {torque: {points: {speed: [0, 6000], torque: [0, 600]}, "
                "units: {speed: rpm, torque: N.m}}}\nsubsystems:\n  a:\n    equations:\n"
                "      states: {w: 100}\n      derivatives: {w: 0}\n      outputs: {T: torque(w), U: 2*torque(w)}\n"
                "      units: {w: UNIT, T: kN.m}\n")
        run = simulate(self.model(text.replace("UNIT", "rad/s")))
        self.assertAlmostEqual(run.outputs["a.T"][0], 1e-4 * 100 * 60 / (2 * np.pi), delta=1e-12)
        self.assertAlmostEqual(run.outputs["a.U"][0], 0.2 * 100 * 60 / (2 * np.pi), delta=1e-9)
        run = execute("check", self.model(text.replace("UNIT", "kg")))
        self.assertEqual(run.returncode, 2)
        for word in ("model.yaml:8", "'speed'", "'w'", "'kg'", "'rpm'"):
            self.assertIn(word, run.stderr)


class Rules(ModelTest):
    def refused(self, text, *words):
        self.check_refuses(f"experiment: {{stop: 1}}\nmaps: {{m: {{{text}}}}}\nparameters: {{g: 9}}\n"
                           "subsystems: {a: {equations: {outputs: {y: m(t)}}}}\n", "model.yaml:2", *words)

    def test_points(self):
        self.refused("interpolation: linear", "'file'", "'points'")
        self.refused("points: {x: [0, 1]}", "value")
        self.refused("points: {x: [0, 1], y: [1, 2, 3]}", "3 values", "2")
        self.refused("points: {x: [0, 0], y: [1, 1]}", "one value of 'x'")
        self.refused("points: {x: [0, 1, 0], y: [1, 2, 3]}", "two values", "x = 0")
        self.refused("points: {x: [0, 1, 2, 0], z: [0, 1, 0, 1], m: [1, 2, 3, 4]}", "no value at", "x = 1, z = 0")
        self.refused("points: {x: 1, y: [1, 2]}", "list")
        self.refused("points: {x: [0, k], y: [1, 2]}", "unknown name 'k'")
        self.refused("points: {a: [0, 1], b: [0, 1], c: [0, 1], d: [0, 1], m: [0, 1]}", "one to three inputs")
        self.refused("points: {x: [0, 1], y: [1, 2]}, units: {z: m}", "'z'", "x, m")
        self.refused("points: {x: [0, 1], y: [1, 2]}, outside: repeat", "hold, linear, error")
        self.refused("points: {x: [0, 1], y: [1, 2]}, interpolation: spline", "linear, cubic, step")
        self.refused("points: {x: [0, 1], y: [1, 2]}, interpolation: step, smooth: true", "steps jump")
        self.refused("points: {x: [0, 1], y: [1, 2]}, inputs: [z]", "'z'", "columns")

    def test_files(self):
        self.refused("file: none.csv", "none.csv", "not there")
        (self.folder / "bad.csv").write_text("x,m\n0,1\n1,two\n")
        run = execute("check", self.model("experiment: {stop: 1}\nmaps: {m: {file: bad.csv}}\n"
                                          "subsystems: {a: {equations: {outputs: {y: m(t)}}}}\n"))
        self.assertEqual(run.returncode, 2)
        self.assertIn("bad.csv:3: field 2 must be a number, not 'two'", run.stderr)
        (self.folder / "grid.csv").write_text("x,1,2\n0,1,2\n1,2,3\n")
        self.refused("file: grid.csv", "grid", "inputs")

    def test_names(self):
        for name, word in (("sin", "choose another"), ("t", "choose another"), ("g", "parameter of that name")):
            run = execute("check", self.model(
                f"experiment: {{stop: 1}}\nmaps: {{{name}: {{points: {{x: [0, 1], y: [0, 1]}}}}}}\nparameters: {{g: 1}}\n"
                "subsystems: {a: {equations: {outputs: {y: t}}}}\n"))
            self.assertEqual(run.returncode, 2)
            self.assertIn(word, run.stderr)
        run = execute("check", self.model(
            "experiment: {stop: 1}\nmaps: {m: {points: {x: [0, 1], y: [0, 1]}}}\nfunctions: {m(x): x}\n"
            "subsystems: {a: {equations: {outputs: {y: \"m(t, 1)\"}}}}\n"))
        self.assertEqual(run.returncode, 2)
        self.assertIn("twice", run.stderr)


if __name__ == "__main__":
    unittest.main()
