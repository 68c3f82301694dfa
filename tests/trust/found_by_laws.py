"""What laws.py has found, as small models."""
import json
import re
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate


class Inside(ModelTest):
    """Outputs that pass inputs on are wrong inside macro-steps by what these are given wrongly, also where no loop
    closes."""
    MODEL = """
experiment: {start: 0, stop: 9}
subsystems:
  osc: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -54.3169*x + u}, outputs: {x: x}}}
  gain: {equations: {inputs: {x: 1}, outputs: {y: 0.5*x}}}
  slow: {equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: 0.01*y}, outputs: {z: 0*z}}}
connections: [osc.x -> gain.x, slow.z -> osc.u, osc.x -> slow.y]
"""

    def test_rows_inside(self):
        found = simulate(self.model(self.MODEL), "-cosim_output_interval", 0.0123)
        error = np.max(np.abs(found.outputs["gain.y"] - 0.5 * np.cos(7.37 * found.time)))
        estimate = float(re.search(r"accuracy .*estimated error (\S+)", found.stdout).group(1))
        self.assertGreater(error, 1e-6)
        self.assertGreater(estimate, error / 3)


class InsideFast(ModelTest):
    """The same of outputs that follow inputs through fast states."""
    MODEL = """
experiment: {start: 0, stop: 9}
subsystems:
  osc: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -54.3169*x + u}, outputs: {x: x}}}
  fast: {equations: {inputs: {x: 1}, states: {f: 1}, derivatives: {f: 2e4*(x - f)}, outputs: {y: 0.5*f}}}
  slow: {equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: 0.01*y}, outputs: {z: 0*z}}}
connections: [osc.x -> fast.x, slow.z -> osc.u, osc.x -> slow.y]
"""

    def test_rows_inside(self):
        model, w, rate = self.model(self.MODEL), 7.37, 2e4
        for options in (("-cosim_type", "jfm", "-cosim_step", 0.05),
                        ("-cosim_type", "missiles", "-cosim_adapt", "predictor")):
            found = simulate(model, *options, "-cosim_output_interval", 0.0123)
            exact = 0.5 * (rate * np.cos(w * found.time) + w * np.sin(w * found.time)) * rate / (rate**2 + w**2)
            later = found.time > 0.01  # behind the layer
            error = np.max(np.abs(found.outputs["fast.y"] - exact)[later]) / 0.5
            estimate = float(re.search(r"estimated error .*fast\.y (\S+?),? ", found.stdout).group(1))
            self.assertGreater(error, 1e-6)
            self.assertGreater(estimate, error / 3)
            self.assertLess(estimate, 3 * error)


class InsideBlackBoxes(ModelTest):
    """And where a second run in halves tells: at communication points what follows its inputs is right, whatever
    these are held at in between."""
    MODEL = """
experiment: {{start: 0, stop: 3}}
subsystems:
  wave: {{equations: {{outputs: {{y: sin(3*t)}}}}}}
  gain: {gain}
connections: [{{connect: wave.y -> gain.u{hold}}}]
"""

    def test_rows_inside(self):
        path = self.model(self.MODEL.format(gain='{equations: {inputs: {u: 0}, outputs: {y: 0.5*u + 0.1*t}}}', hold=""))
        execute("export-fmu", path, "gain", "-o", path.parent / "gain.fmu")
        for hold, step in ((", hold: zoh", 0.01), ("", 0.2)):
            model = self.model(self.MODEL.format(gain="{fmu: gain.fmu}", hold=hold))
            for control in ((), ("-cosim_adapt", "predictor")):
                with self.subTest(hold=hold, control=control):
                    found = simulate(model, "-cosim_type", "jfm", "-cosim_step", step, *control,
                                     "-cosim_output_interval", 0.00317)
                    exact = 0.5 * np.sin(3 * found.time) + 0.1 * found.time
                    error = np.max(np.abs(found.outputs["gain.y"] - exact)) / np.max(np.abs(exact))
                    estimate = float(re.search(r"estimated error .*gain\.y (\S+?),? ", found.stdout).group(1))
                    self.assertGreater(error, 1e-7)
                    self.assertGreater(estimate, error / 3)
                    self.assertLess(estimate, 5 * error)


class FromNothing(ModelTest):
    """A source that rises like a power of time, as an FMU whose slope at the start is known by differences alone: what
    rounding leaves of these is no size that the coupling could solve to."""
    MODEL = """
experiment: {{start: 0, stop: 4}}
subsystems:
  src: {src}
  lag: {{equations: {{inputs: {{r: 0}}, states: {{y: 0}}, derivatives: {{y: "max(-0.7, min(0.7, 20*(r - y)))"}}, outputs: {{y: y}}}}}}
connections: [src.r -> lag.r]
"""

    def test_ends(self):
        for power in (2, 3, 5):
            written = self.model(self.MODEL.format(src=f"{{equations: {{outputs: {{r: 0.3*(t/2)^{power}}}}}}}"))
            exact = simulate(written, "-cosim_output_interval", 0.25, "-cosim_accuracy", 1e-8).outputs["lag.y"]
            for version in (2, 3):
                execute("export-fmu", written, "src", "--fmi", version, "-o", self.folder / f"src{version}.fmu")
            for version in (2, 3):
                with self.subTest(power=power, version=version):
                    model = self.model(self.MODEL.format(src=f"{{fmu: src{version}.fmu}}"))
                    found = simulate(model, "-cosim_output_interval", 0.25)
                    self.assertLess(np.max(np.abs(found.outputs["lag.y"] - exact)), 2e-4 * np.ptp(exact))


class OtherUnits(ModelTest):
    """What lies beside an output is an error of the inputs that it feeds, and not of others, where inputs before
    them are not connected or are held."""
    MODEL = """
experiment: {{start: 0, stop: 3}}
subsystems:
  alone: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: u - x}}, outputs: {{y: x}}}}}}
  first: {{equations: {{inputs: {{u: 0}}, states: {{x: 0.3}}, derivatives: {{x: '1.3*(0.5 - x) + 0.1*u*{small}'}},
                     outputs: {{y: x/{small}}}}}}}
  second: {{equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: '0.7 + 0.3*tanh(0.2*u*{small})'}},
                      outputs: {{y: x*{small}}}}}}}
connections: ['second.y -> first.u', {{connect: first.y -> second.u, delay: 0.2}}]
"""

    def estimate(self, small):
        path = self.folder / "summary.json"
        model = self.model(self.MODEL.format(small=small).replace(f"0.1*u*{small}", f"0.1*u/{small}"))
        simulate(model, "-cosim_hold", "hermite", "-cosim_step", 0.003, "-cosim_summary", path)
        return json.loads(path.read_text(encoding="utf-8"))["quality"]["worst_error_of_range"]

    def test_same_estimate(self):
        usual = self.estimate(1)
        for small in (1e-3, 1e-6):
            self.assertLess(self.estimate(small), 3 * usual + 1e-12)


class Held(ModelTest):
    """No step control sees what a connection holds where nothing follows from it: macro-steps become shorter, as a
    lower aim is in vain."""
    MODEL = """
experiment: {start: 0, stop: 5}
subsystems:
  osc: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -x + 0.1*u}, outputs: {x: x}}}
  lag: {equations: {inputs: {x: 1}, states: {z: 1}, derivatives: {z: x - z}, outputs: {z: z}}}
  back: {equations: {inputs: {x: 1}, states: {z: 0}, derivatives: {z: x - z}, outputs: {z: z}}}
connections: [{connect: osc.x -> lag.x, hold: zoh}, osc.x -> back.x, back.z -> osc.u]
"""

    def test_reached(self):
        found = simulate(self.model(self.MODEL), "-cosim_accuracy", 1e-3)
        self.assertNotIn("NOT REACHED", found.stdout)
        exact = simulate(self.model(self.MODEL.replace("{connect: osc.x -> lag.x, hold: zoh}", "osc.x -> lag.x")),
                         "-cosim_accuracy", 1e-8)
        self.assertLess(abs(found.outputs["lag.z"][-1] - exact.outputs["lag.z"][-1]), 1e-3)


class Late(ModelTest):
    """What a layer leaves of an input's mean comes out of a delay as a layer, whatever macro-steps end there."""
    MODEL = """
experiment: {{start: {start}, stop: {stop}}}
subsystems:
  stiff: {{equations: {{inputs: {{u: 0}}, states: {{s: -0.334, x: 0}},
                        derivatives: {{s: -1.45*s + 0*u, x: 2e4*(s - x)}}, outputs: {{y: x}}}}}}
  gain: {{equations: {{inputs: {{u: 0}}, outputs: {{y: 0.5*u}}}}}}
  lag: {{equations: {{inputs: {{u: 0}}, states: {{z: 0}}, derivatives: {{z: 2*(u - z)}}, outputs: {{z: z}}}}}}
connections: [{{connect: stiff.y -> gain.u, delay: {first}}}, {{connect: gain.y -> lag.u, delay: {second}}}]
"""

    def test_no_false_alarm(self):
        for first, second in ((0.003, 0.481), (0.05, 0.05), (0.198, 0.003), (0.481, 0.327), (0.327, 0.05)):
            with self.subTest(first=first, second=second):
                stop = first + second + 0.4
                model = self.model(self.MODEL.format(start=0, stop=stop, first=first, second=second))
                found = simulate(model, "-cosim_time_limit", "1:00:00")
                estimate = float(re.search(r"accuracy .*estimated error (\S+?);?\n", found.stdout).group(1))
                late = np.maximum(found.time - first - second, 0.0)
                slow, fast = (2 / (2 - rate) * (np.exp(-rate * late) - np.exp(-2 * late)) for rate in (1.45, 2e4))
                exact = -0.167 * 2e4 / (2e4 - 1.45) * (slow - fast)
                error = np.max(np.abs(found.outputs["lag.z"] - exact)) / np.ptp(exact)
                self.assertLess(error, 2e-4)
                self.assertLess(estimate, 1e-4)

    def test_jumps_that_nobody_tells(self):
        """A delay passes on a jump of an FMU for co-simulation as a jump, not as a ramp over the macro-step that led
        over it, which no macro-step could follow."""
        text = """
experiment: {start: 0, stop: 6}
subsystems:
  stairs: {equations: {outputs: {y: "0.3*floor(0.87*t)/(1 + t)"}}}
  beside: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: "-x + 0.1*u"}, outputs: {x: x}}}
  lag: {equations: {inputs: {u: 0, x: 0}, states: {z: 0}, derivatives: {z: "2*(u - z) + 0.1*x"}, outputs: {z: z}}}
connections: [{connect: stairs.y -> lag.u, delay: 0.384}, beside.x -> lag.x, lag.z -> beside.u]
"""
        model = self.model(text)
        done = execute("export-fmu", model, "stairs", "-o", self.folder / "stairs.fmu")
        self.assertEqual(done.returncode, 0, done.stderr)
        options = ("-cosim_adapt", "predictor", "-cosim_output_interval", 0.0373)
        exact = simulate(model, "-cosim_accuracy", 1e-7, *options[2:])
        other = re.sub("stairs: .*", "stairs: {fmu: stairs.fmu}", text)
        found = simulate(self.model(other), *options, jumps=True)
        self.assertLess(np.max(np.abs(found.outputs["lag.z"] - exact.outputs["lag.z"])), 1e-4)

    def test_another_start(self):
        """Behind a delay a signal rises from exactly nothing, and steeply, wherever times are rounded."""
        ends = []
        for start in (0, -2.6, 12345.678):
            model = self.model(self.MODEL.format(start=start, stop=start + 1, first=0.594, second=0.05))
            ends.append(simulate(model, "-cosim_accuracy", 1e-6).outputs["lag.z"][-1])
        self.assertLess(np.ptp(ends), 1e-6 * abs(ends[0]))


class Constraints(ModelTest):
    """The unknown of a constraint of index 2 is known at the start, whoever else gives no slopes, and behind an event
    that it does not feel."""
    MODEL = """
experiment: {stop: 0.5}
subsystems:
  beside: PART
  ca: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: -1.69*x + 0.654*l}, outputs: {p: x}}}
  cb: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: -0.677*x - 1.36*l}, outputs: {p: x}}}
  far: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: 'floor(6*u) - x'}, outputs: {x: x}}}
constraints: [{unknown: force, equation: ca.p - cb.p, feeds: {ca.l: 1, cb.l: 1}}]
connections: [ca.p -> far.u]
"""

    def test_start(self):
        part = "{equations: {inputs: {u: 0}, outputs: {y: 0.3*u + sin(t)}}}"
        model = self.model(self.MODEL.replace("PART", part))
        fmu = self.folder / "beside.fmu"
        done = execute("export-fmu", model, "beside", "-o", fmu)
        self.assertEqual(done.returncode, 0, done.stderr)
        for beside in (part, "{fmu: beside.fmu}"):
            found = simulate(self.model(self.MODEL.replace("PART", beside)))
            exact = self.exact(found.time)
            self.assertLess(np.max(np.abs(found.outputs["force.value"] - exact)), 1e-4 * exact[0])

    def exact(self, time):
        return 0.4 * (1.69 - 0.677) / (0.654 + 1.36) * np.exp(-time * (
            1.69 - 0.654 * (1.69 - 0.677) / (0.654 + 1.36)))

    def test_rows_behind_new_starts(self):
        """Inside of the first macro-step, too, where hidden constraints tell no slope."""
        model = self.model(self.MODEL.replace("PART", "{equations: {outputs: {y: '(t > 0.2035 ? 1 : 0)'}}}"))
        for kind in ("jfm", "missiles"):
            found = simulate(model, "-cosim_type", kind, "-cosim_step", 0.01, "-cosim_output_interval", 0.001)
            exact = self.exact(found.time)
            self.assertLess(np.max(np.abs(found.outputs["force.value"] - exact)), 1e-4 * exact[0])

    def test_layer_in_a_delay(self):
        """What lies in a layer says nothing of the unknown, and the estimate is there."""
        part = "{equations: {inputs: {u: 0}, states: {f: 0}, derivatives: {f: 2e4*(u - f)}, outputs: {f: f}}}"
        text = self.MODEL.replace("PART", part).replace("{u: 0}, states: {x: 0}", "{u: 0, w: 0}, states: {x: 0}")
        text = text.replace("connections: [",
                            "connections: [ca.p -> beside.u, {connect: beside.f -> far.w, delay: 0.1}, ")
        found = simulate(self.model(text))
        exact = self.exact(found.time)
        self.assertLess(np.max(np.abs(found.outputs["force.value"] - exact)), 1e-4 * exact[0])
        self.assertRegex(found.stdout, r"accuracy .*estimated error")


class EventsOfRounding(ModelTest):
    """In an algebraic loop a relation changes back and forth within what its solution leaves; over macro-steps of as
    little the unknown of a constraint of index 2 would follow from rounding."""
    MODEL = """
experiment: {start: 0, stop: 1}
subsystems:
  s0: {equations: {inputs: {u0: 0}, outputs: {y: "(-0.667)*sin(u0) + 0.469*sin(1.28*t)"}}}
  s1: {equations: {inputs: {u0: 0, u1: 0}, outputs: {y: "(0.234)*u0 + (-0.331)*tanh(u1) + 0.765*sin(2.62*t)"}}}
  s2: {equations: {inputs: {u0: 0}, outputs: {y: "(0.687)*u0/(1 + u0^2) + 0.75*sin(0.738*t)"}}}
  s3: {equations: {inputs: {u0: 0}, states: {x: -0.758}, derivatives: {x: "1.32*(floor(3*u0)/4 - x)"}, outputs: {y: x}}}
  ca: {equations: {inputs: {l: 0, u0: 0}, states: {x: 0.4}, derivatives: {x: "-2.03*x - 0.574*tanh(u0) + 0.916*l"}, outputs: {p: x}}}
  cb: {equations: {inputs: {l: 0, u0: 0}, states: {x: 0.4}, derivatives: {x: "-2.22*x + 0.326*u0/(1 + u0^2) - 1.61*l"}, outputs: {p: x}}}
connections: [s3.y -> s0.u0, cb.p -> s1.u0, s0.y -> s1.u1, s1.y -> s2.u0, s2.y -> s3.u0,
              {connect: s2.y -> ca.u0, delay: 0.105}, ca.p -> cb.u0]
constraints: [{unknown: force, equation: ca.p - cb.p, feeds: {ca.l: 1, cb.l: 1}}]
"""

    def test_force(self):
        model = self.model(self.MODEL)
        fmu = self.folder / "s3.fmu"
        done = execute("export-fmu", model, "s3", "-o", fmu)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "\n".join("  s3: {fmu: s3.fmu}" if line.startswith("  s3:") else line
                         for line in self.MODEL.splitlines())
        values = []
        for written, step in ((self.MODEL, 0.01), (text, 0.01), (self.MODEL, 0.001)):
            found = simulate(self.model(written), "-cosim_step", step, "-cosim_output_interval", 0.0317)
            self.assertNotIn("NOT REACHED", found.stdout)
            values.append(found.outputs["force.value"])
        for value in values:
            self.assertLess(np.max(np.abs(value - values[2])), 1e-3 * np.ptp(values[2]))


class OnceAtAnInstant(ModelTest):
    """Who is told by an event of other slopes alone keeps its values. Those found anew were beyond what they were by
    what the coupling had left of its inputs, on the other side of a threshold, and conditions acted twice."""
    MODEL = """
experiment: {{start: 0, stop: 8}}
subsystems:
  osc: {{equations: {{inputs: {{u: 0}}, states: {{x: -0.816, v: 0}}, derivatives: {{x: v, v: "-7.6*x - 0.1*v - 1.2*u"}},
                    outputs: {{x: x}}}}}}
  gain: {{equations: {{inputs: {{u: 0}}, states: {{x: 0.4}}, derivatives: {{x: 3*(u - x)}},
                     outputs: {{x: x, z: "0.6*{curve}"}}}}}}
  reset: {{equations: {{inputs: {{z: 0, x: 0}}, states: {{c: 0, s: -0.6}},
                      derivatives: {{c: "0.7 + 0.3*tanh(0.5*z)", s: "-0.6*s - 0.5*x"}}, outputs: {{c: c, s: s}},
                      when: [{{condition: "z > {threshold}", set: {{c: "-0.2*c"}}}}]}}}}
connections: [reset.c -> osc.u, gain.z -> reset.z, reset.s -> gain.u, osc.x -> reset.x]
"""

    def test_events_are_apart(self):
        for curve, threshold, count in (("u", -0.06, 5), ("u", 0.08, 6), ("abs(u)", 0.16, 8), ("sin(u)", 0.1, 4)):
            for kind in ("jfm", "gauss"):
                with self.subTest(curve=curve, threshold=threshold, kind=kind):
                    model = self.model(self.MODEL.format(curve=curve, threshold=threshold))
                    instants = simulate(model, "-cosim_type", kind).event_times
                    self.assertEqual(len(instants), count)
                    self.assertGreater(np.min(np.diff(instants)), 1e-3)


class KinksInLoops(ModelTest):
    """Slopes in an algebraic loop are found by matrices of before a kink, and by those behind it, from any guess."""
    MODEL = """
experiment: {{start: 0, stop: 8}}
subsystems:
  a: {{equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: u - x}}, outputs: {{y: "0.4*abs(u) + x - 0.2"}}}}}}
  b: {{equations: {{inputs: {{y: 0}}, outputs: {{u: "sin(t) - 0.7*{y}"}}}}}}
connections: [a.y -> b.y, b.u -> a.u]
"""
    EVENTS = (("y", 2), ("max(y, 0)", 5))

    def found(self, y, kind, *options):
        return simulate(self.model(self.MODEL.format(y=y)), "-cosim_type", kind, "-cosim_output_interval", "0.0317", *options)

    def test_against_one_system(self):
        for y, count in self.EVENTS:
            exact = self.found(y, "monolithic", "-cosim_accuracy", 1e-9)
            for kind in ("jfm", "missiles", "gauss", "radau"):
                with self.subTest(y=y, kind=kind):
                    found = self.found(y, kind)
                    self.assertLess(np.max(np.abs(found.outputs["a.y"] - exact.outputs["a.y"])), 2e-5)
                    if kind in ("gauss", "radau"):
                        self.assertEqual(len(found.event_times), count)

    LOOP_OF_THREE = """
experiment: {start: 0, stop: 8}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {y: "0.4*abs(u) + x - 0.2"}}}
  b: {equations: {inputs: {v: 0}, outputs: {u: "sin(2*t) - 0.7*max(v, 0.1)"}}}
  c: {equations: {inputs: {y: 0}, outputs: {v: "max(y, 0)"}}}
connections: [a.y -> c.y, c.v -> b.v, b.u -> a.u]
"""

    def test_once(self):
        """Values of who only bends stay as they are: found anew, they would differ by what the coupling had left of the
        loop, 1e-10, and some inputs cross the kink again."""
        for y, count in self.EVENTS:
            for kind in ("jfm", "missiles"):
                self.assertEqual(len(self.found(y, kind).event_times), count)

    def test_once_each_time(self):
        """Several kinks of three subsystems in each period, on ranks of their own."""
        model = self.model(self.LOOP_OF_THREE)
        exact = simulate(model, "-cosim_type", "monolithic", "-cosim_accuracy", 1e-9)
        self.assertEqual(len(exact.event_times), 20)
        for kind, ranks in (("jfm", 1), ("missiles", 1), ("jfm", 2)):
            with self.subTest(kind=kind, ranks=ranks):
                found = simulate(model, "-cosim_type", kind, ranks=ranks)
                self.assertEqual(found.happened, exact.happened)
                self.assertLess(np.max(np.abs(found.event_times - exact.event_times)), 1e-4)


class Singular(ModelTest):
    """A matrix that has no factors is a macro-step that fails, on every rank."""
    MODEL = """
experiment: {stop: 1}
subsystems:
  ca: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: '-1.69*x + 0.654*l*(t > 0.5 ? 0 : 1)'}, outputs: {p: x}}}
  cb: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: '-0.677*x - 1.36*l*(t > 0.5 ? 0 : 1)'}, outputs: {p: x}}}
constraints: [{unknown: force, equation: ca.p - cb.p, feeds: {ca.l: 1, cb.l: 1}}]
"""

    def test_told_with_its_time(self):
        """Nothing holds the constraint from 0.5 s on."""
        model = self.model(self.MODEL)
        for ranks in (1, 2):
            for options, says in (((), "the equation of a constraint does not answer"),
                                  (("-cosim_adapt", "iteration"), "the smallest"),
                                  (("-cosim_type", "missiles"), "the linear system of MISSILES could not be solved")):
                done = execute("run", model, *options, ranks=ranks)
                self.assertEqual(done.returncode, 1, done.stderr)
                lines = [line for line in done.stderr.splitlines() if "error:" in line]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn("t = 0.5 s", lines[0])
                self.assertIn(says, lines[0])


if __name__ == "__main__":
    unittest.main()
