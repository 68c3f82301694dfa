"""homotopy(actual, simplified): starts and operating points against closed forms, and nothing of it behind them."""
import re
import unittest

import numpy as np
from concord_runs import ModelTest, execute, export, run_here, simulate, write_model

# A source behind a resistor feeds a load of constant power: 400 - v = 30e3/v at v = 100 and 300, of which
# 300 is where grids work. From 90 V Newton's method comes to 100, as does what rises in time from there.
GRID = """
experiment: {stop: 1}
subsystems:
  bus:
    equations:
      parameters: {E: 400, R: 1, C: 0.01}
      inputs: {i: 0}
      states: {v: 90}
      derivatives: {v: ((E - v)/R - i)/C}
      outputs: {v: v}
      units: {E: V, R: Ohm, C: F, i: A, v: V}
  load:
    equations:
      parameters: {P: 30e3, nominal: 400}
      inputs: {v: 400}
      outputs: {i: "LOAD"}
      units: {P: W, nominal: V, v: V, i: A}
connections: [bus.v -> load.v, load.i -> bus.i]
"""
ACTUAL, BOTH = "P/v", "homotopy(P/v, P/nominal)"
AT_REST = "initial: [der(bus.v) = 0]\n"
# A feeder: each of 12 buses hangs at the one before.
FEEDER = """
experiment: {stop: 1}
functions: {"drawn(p, v)": "homotopy(p/v, p/400)"}
templates:
  bus:
    equations:
      parameters: {R: 0.1, C: 0.01, P: 2500}
      inputs: {before: 400, next: 0}
      states: {v: START}
      variables: {i: (before - v)/R}
      derivatives: {v: "(i - next - drawn(P, v))/C"}
      outputs: {v: v, i: i}
subsystems:
  bus: {template: bus, repeat: {i: [1, 12]}}
connections:
  - {connect: "bus[i].v -> bus[i+1].before", repeat: {i: [1, 11]}}
  - {connect: "bus[i+1].i -> bus[i].next", repeat: {i: [1, 11]}}
initial:
  - {equation: "der(bus[i].v) = 0", repeat: {i: [1, 12]}}
"""
# Tanks of equal heights: where nothing flows the law of the pipe is infinitely steep. Exact: all that rains
# in, 2, goes through each pipe, so that heights differ by 4.
TANKS = """
experiment: {stop: 100}
functions: {flow(d): "homotopy(sign(d)*sqrt(abs(d)), d)"}
templates:
  tank: {equations: {inputs: {more: 0, less: 0}, states: {h: 1}, derivatives: {h: more - less}, outputs: {h: h}}}
  pipe: {equations: {inputs: {left: 0, right: 0}, outputs: {q: flow(left - right)}}}
subsystems:
  tank: {template: tank, repeat: {i: [1, 4]}}
  pipe: {template: pipe, repeat: {i: [1, 4]}}
  rain: {equations: {parameters: {q: 2}, outputs: {q: q}}}
connections:
  - {connect: "pipe[i].q -> tank[i].less", repeat: {i: [1, 4]}}
  - {connect: "tank[i].h -> pipe[i].left", repeat: {i: [1, 4]}}
  - {connect: "tank[i+1].h -> pipe[i].right", repeat: {i: [1, 3]}}
  - {connect: "pipe[i].q -> tank[i+1].more", repeat: {i: [1, 3]}}
  - rain.q -> tank[1].more
initial:
  - {equation: "der(tank[i].h) = 0", repeat: {i: [1, 4]}}
"""
# Events of `actual` at sin t = 0.5, of `simplified` there would be at cos t = 0.
SWITCHED = """
experiment: {stop: 6}
subsystems:
  a:
    equations:
      states: {x: 0}
      variables: {s: sin(t)}
      derivatives: {x: "RATE"}
      outputs: {x: x}
"""


def grid(load, more=AT_REST):
    return GRID.replace("LOAD", load) + more


class Homotopy(ModelTest):
    def start(self, text, *options, ranks=1):
        return simulate(self.model(text), *options, ranks=ranks).states.values[0]

    def test_branch(self):
        """The point that simplified leads to, where Newton's method alone finds another one."""
        self.assertAlmostEqual(self.start(grid(ACTUAL))[0], 100, delta=1e-7)
        self.assertAlmostEqual(self.start(grid(BOTH))[0], 300, delta=1e-7)

    def test_feeder(self):
        """From all sides, as a recursion from the last bus says: its upper solution."""
        def source(last):
            v, i = last, 0.0
            for _ in range(12):
                i += 2500 / v
                v += 0.1 * i
            return v
        low, last = 300.0, 400.0
        for _ in range(60):
            middle = 0.5 * (low + last)
            low, last = (middle, last) if source(middle) < 400 else (low, middle)
        for start in (40, 150, 4000):
            found = self.start(FEEDER.replace("START", str(start)))
            self.assertAlmostEqual(found[-1], last, delta=1e-8 * last, msg=start)
        plain = self.model(FEEDER.replace("START", "40").replace("homotopy(p/v, p/400)", "p/v"))
        wrong = run_here(plain).returncode != 0 or abs(simulate(plain).states.values[0][-1] - last) > 1
        self.assertTrue(wrong, "without homotopy() it would be found, too")

    def test_relations_follow(self):
        heights = self.start(TANKS)
        np.testing.assert_allclose(heights, [16, 12, 8, 4], rtol=1e-8)

    def test_steady(self):
        """concord steady goes the same way, also where inputs of the whole are held."""
        for load, volts in ((ACTUAL, 100), (BOTH, 300)):
            out = self.folder / "start.yaml"
            run = execute("steady", self.model(grid(load, "")), "-o", out)
            self.assertEqual(run.returncode, 0, run.stderr)
            found = re.search(r'"bus\.v": *([0-9.e+]+)', out.read_text())
            self.assertAlmostEqual(float(found[1]), volts, delta=1e-7)

    def test_ranks(self):
        self.assertEqual(self.start(grid(BOTH)).tolist(), self.start(grid(BOTH), ranks=3).tolist())

    def test_system(self):
        """Within a system that is integrated as one, too."""
        inner = "".join("      " + line + "\n" for line in GRID.replace("LOAD", BOTH).split("subsystems:")[1].split(
            "connections")[0].splitlines() if line)
        text = ("experiment: {stop: 1}\nsubsystems:\n  whole:\n    system:\n      subsystems:\n" + inner +
                "      connections: [bus.v -> load.v, load.i -> bus.i]\n      outputs: {v: bus.v}\n"
                "    run: {}\ninitial: [der(whole.bus.v) = 0]\n")
        self.assertAlmostEqual(self.start(text)[0], 300, delta=1e-7)

    def test_actual_only(self):
        """The bits of a model that has `actual` in its place: steps, events, rows."""
        for rate, actual in (("homotopy(s > 0.5 ? 2 : x, cos(t) > 0 ? 7 : 9)", "s > 0.5 ? 2 : x"),
                             ("homotopy(s - x, 5*u)", "s - x")):
            runs = [simulate(write_model(self.folder, name, SWITCHED.replace("RATE", each).replace(
                "states:", "inputs: {u: 0}\n      states:"))) for name, each in (("a", rate), ("b", actual))]
            for table in ("outputs", "states", "inputs"):
                a, b = (getattr(run, table).values for run in runs)
                self.assertTrue(np.array_equal(a, b), rate)
            self.assertTrue(np.array_equal(runs[0].time, runs[1].time))

    def test_exported(self):
        """An FMU has `actual`, to the bits that it has where nothing else was said."""
        results = []
        for name, load in (("both", BOTH), ("actual", ACTUAL)):
            model = write_model(self.folder, name, grid(load, "").replace("v: 90", "v: 350"))
            for part in ("bus", "load"):
                export(model, part, self.folder / f"{name}_{part}.fmu", 2)
            fmus = write_model(self.folder, name + "_fmus", f"""
experiment: {{stop: 1}}
subsystems: {{bus: {{fmu: {name}_bus.fmu}}, load: {{fmu: {name}_load.fmu}}}}
connections: [bus.v -> load.v, load.i -> bus.i]
""")
            results.append(simulate(fmus).outputs.values)
        self.assertTrue(np.array_equal(*results))

    def test_check_and_units(self):
        run = execute("check", self.model(grid(BOTH)))
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stderr)
        self.assertNotIn("note", run.stdout)
        run = execute("check", self.model(grid("homotopy(P/v, v)")))
        self.assertEqual(run.returncode, 2)
        self.assertIn("'homotopy(P/v, v)' brings different dimensions together: 'P/v' in A, 'v' in", run.stderr)

    def test_refusals(self):
        for load, code, says in (
                ("homotopy(P/v)", 2, "the function 'homotopy' has too few arguments"),
                # 400 - v = 50e3/v has no solution; 400 - v = s 50e3/v + (1 - s) 125 has until s is 0.6223
                ("homotopy(50e3/v, 125)", 1, "could be followed from simplified up to 0.622")):
            run = run_here(self.model(grid(load)))
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(says, run.stderr)
        run = execute("check", self.model(grid(ACTUAL, "initial: ['homotopy(bus.v, 3) = 4']\n")))
        self.assertEqual(run.returncode, 2)
        self.assertIn("has a homotopy(), which stands in equations of subsystems", run.stderr)


if __name__ == "__main__":
    unittest.main()
