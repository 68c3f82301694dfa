"""Subsystems whose right-hand side, or whose time stepping, is Python (`python:` of a model)."""
import os
import signal
import subprocess
import sys
import time
import unittest
from types import SimpleNamespace

import numpy as np
import concord
from concord_runs import EXAMPLES, TIGHT, ModelTest, execute, in_short, simulate, write_model
from patience import HANGS

CARS = """
import math

class Spring:
    inputs = {"left": 1.0, "right": 0.0}
    states = {}
    outputs = ("force",)
    parameters = {"c": 8.0}

    def outputs_at(self, t, x, u):
        return [self.c * (u.left - u.right)]

    def jacobians(self, t, x, u):
        return [], [], [], [self.c, -self.c]

class Mass:
    inputs = {"force": 0.0}
    states = {"x": 0.0, "v": 0.0}
    outputs = ("x",)
    parameters = {"m": 1.0, "d": 0.5, "pull": 0.0}
    units = {"x": "m", "v": "m/s"}

    def derivatives(self, t, x, u):
        return x.v, (u.force - self.d * x.v + self.pull * math.sin(t)) / self.m

    def jacobians(self, t, x, u):
        return [[0, 1], [0, -self.d / self.m]], [[0], [1 / self.m]], [[1, 0]], [[0]]
"""
MASS = ("equations: {parameters: {m: 1, d: 0.5, pull: 0}, inputs: {force: 0}, states: {x: 0, v: 0}, "
        "derivatives: {x: v, v: (force - d*v + pull*sin(t))/m}, outputs: {x: x}, units: {x: m, v: m/s}}")
SPRING = "equations: {parameters: {c: 8}, inputs: {left: 1, right: 0}, outputs: {force: c*(left - right)}}"
MODEL = """
experiment: {{stop: 2}}
parameters: {{half: 0.5}}
subsystems:
  one: {{{mass}, parameters: {{m: 2}}, start: {{x: 1, v: -1}}}}
  spring: {{{spring}}}
  two: {{{mass}, parameters: {{m: 3*half, pull: 2}}}}
  back: {{equations: {{inputs: {{force: 0}}, outputs: {{force: -force}}}}}}
connections: [one.x -> spring.left, two.x -> spring.right, spring.force -> two.force, spring.force -> back.force,
              back.force -> one.force]
"""
YAML = MODEL.format(mass=MASS, spring=SPRING)
PYTHON = MODEL.format(mass="python: {file: cars.py, class: Mass}", spring="python: {file: cars.py, class: Spring}")


class PythonTest(ModelTest):
    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def written(self, python, model, name="cars.py"):
        self.write(name, python)
        return self.model(model)


class Same(PythonTest):
    """The bits of the same equations in the model file."""

    def setUp(self):
        super().setUp()
        self.yaml = write_model(self.folder, "yaml", YAML)
        self.python = self.written(CARS, PYTHON)

    def test_every_method(self):
        for kind, ranks in in_short((("jfm", 1), ("missiles", 1), ("jacobi", 1), ("gauss", 1), ("monolithic", 1),
                                     ("jfm", 3), ("missiles", 3), ("jacobi", 3), ("gauss", 3)), 2):
            self.compare(kind, 1e-12, ranks)

    def test_without_jacobians(self):
        """Differences of right-hand sides in their place."""
        self.write("cars.py", CARS.replace("def jacobians", "def nothing"))
        self.compare("jfm", 1e-12)
        self.compare("missiles", 1e-7)

    def compare(self, kind, bound, ranks=1):
        options = ["-cosim_type", kind, "-cosim_step", "0.05", "-cosim_diverged", "warn", *TIGHT]
        run, reference = (simulate(model, *options, ranks=ranks) for model in (self.python, self.yaml))
        np.testing.assert_array_equal(run.time, reference.time)
        sizes = np.max(np.abs(reference.outputs.values), axis=0)
        self.assertLess(np.max(np.abs(run.outputs.values - reference.outputs.values) / sizes), bound, kind)

    def test_from_python_and_in_processes(self):
        run = simulate(self.python, "-cosim_step", "0.05")
        inside = simulate(self.python, "-cosim_step", "0.05", "-subsystem_isolated", "false")
        here = concord.run(self.python, cosim_step=0.05)
        isolated = concord.run(self.python, cosim_step=0.05, subsystem_isolated=True)
        for name in ("one.x", "two.x", "spring.force"):
            for other in (inside.outputs[name], here[name], isolated[name]):
                np.testing.assert_array_equal(run.outputs[name], other)

    def test_values_from_outside(self):
        values = {"one.x": 3, "two.m": 2, "two.pull": 0}
        changes = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        for model in (self.python, self.yaml):
            run = simulate(model, "-cosim_step", "0.05", *changes)
            here = concord.run(model, cosim_step=0.05, start_values=values)
            np.testing.assert_array_equal(run.outputs["two.x"], here["two.x"])
            self.assertEqual(run.outputs["one.x"][0], 3)

    def test_step_by_step(self):
        with concord.Simulation(self.python, cosim_step=0.05) as s:
            s.start()
            s.advance(until=0.5)
            kept = s.snapshot()
            s["two.m"] = 0.5
            s.advance(until=1)
            changed = s["two.x"]
            s.restore(kept)
            s["two.m"] = 0.5
            s.advance(until=1)
            self.assertEqual(s["two.x"], changed)
            s.reset({"two.m": 0.5})
            s.advance(until=1)
            self.assertEqual(s["two.x"], concord.run(self.python, cosim_step=0.05, cosim_stop=1,
                                                     start_values={"two.m": 0.5})["two.x"][-1])

    def test_templates_and_repeat(self):
        text = """
experiment: {{stop: 1}}
templates: {{cell: {{{kind}, parameters: {{k: 3}}}}}}
subsystems:
  cell: {{template: cell, repeat: {{i: [1, 3]}}, start: {{x: 0.1*i}}}}
connections: [{{connect: "cell[i].x -> cell[i+1].left", repeat: {{i: [1, 2]}}}}]
"""
        cell = 'class Cell:\n    inputs = {"left": 0.0}\n    states = {"x": 0.0}\n    parameters = {"k": 1.0}\n' \
               "    def derivatives(self, t, x, u):\n        return self.k * (u.left - x.x)\n"
        self.write("cell.py", cell)
        run = simulate(self.model(text.format(kind="python: {file: cell.py, class: Cell}")), "-cosim_step", "0.1", ranks=3)
        reference = simulate(self.model(text.format(
            kind="equations: {parameters: {k: 1}, inputs: {left: 0}, states: {x: 0}, derivatives: {x: k*(left - x)}, "
                 "outputs: {x: x}}")), "-cosim_step", "0.1", ranks=3)
        np.testing.assert_allclose(run.outputs.values, reference.outputs.values, rtol=1e-12)

    def test_vectors(self):
        rod = """
import numpy
class Rod:
    inputs = {"q": 1.0}
    outputs = ("mean", "T[8]")
    units = {"T": "K"}
    parameters = {"a": 0.2}
    states = {"T[8]": [1, 2, 3, 4, 4, 3, 2, 1]}
    def derivatives(self, t, x, u):
        flow = self.a * numpy.diff(x.T)
        return [numpy.diff(flow, prepend=0, append=0) + numpy.eye(8)[0] * u.q]
    def outputs_at(self, t, x):
        return [x.T.mean(), x.T]
"""
        text = "experiment: {stop: 1}\nsubsystems:\n  rod: {python: {file: rod.py, class: Rod}, start: {\"T[8]\": 2}}\n"
        run = simulate(self.written(rod, text, "rod.py"), *TIGHT)
        self.assertEqual(run.outputs["rod.T[8]"][0], 2)
        np.testing.assert_allclose(run.outputs["rod.mean"], 21 / 8 + run.time / 8, rtol=1e-11)

    def test_vectors_without_numpy(self):
        rod = "import sys\nsys.modules['numpy'] = None\n" \
              "class Rod:\n    states = {'T[3]': 1.0}\n    def derivatives(self, t, x, u):\n        return [-each for each in x.T]\n"
        text = "experiment: {stop: 1}\nsubsystems:\n  rod: {python: {file: rod.py, class: Rod}}\n"
        run = simulate(self.written(rod, text, "rod.py"), *TIGHT)
        np.testing.assert_allclose(run.outputs["rod.T[3]"], np.exp(-run.time), rtol=1e-10)

    def test_forgetting(self):
        """What checkpoints hold is all that counts."""
        run, reference = (simulate(self.python, "-cosim_step", "0.1", "-cosim_forget", n) for n in (1, 0))
        np.testing.assert_array_equal(run.outputs.values, reference.outputs.values)

    def test_checkpoints(self):
        for extra in ([], ["-subsystem_isolated", "false"]):
            common = [self.python, "-cosim_step", "0.05", *extra, "-cosim_output", self.folder / "run.h5"]
            checkpoint = ["-cosim_checkpoint", self.folder / "check.h5", "-cosim_checkpoint_every", "0.001"]
            whole = concord.read(self.run_to(common + checkpoint))["two.x"]
            self.run_to(common + checkpoint + ["-cosim_stop", "1"])
            parts = concord.read(self.run_to(common + checkpoint + ["-cosim_restart", self.folder / "check.h5"]))
            np.testing.assert_array_equal(parts["two.x"], whole[-len(parts["two.x"]):])

    def run_to(self, words):
        run = execute("run", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return self.folder / "run.h5"


STEPPING = """
import math

class Decay:
    \"\"\"x' = u - k x, exactly where u is a line.\"\"\"
    inputs = {"u": 0.0}
    outputs = ("x",)
    parameters = {"k": 2.0, "x": 1.0}

    def __init__(self):
        self.value = self.x

    def step(self, t, h, u):
        slope = (u(t + h).u - u(t).u) / h
        rest = (u(t).u - slope / self.k) / self.k
        self.value = rest + slope * h / self.k + (self.value - rest) * math.exp(-self.k * h)

    def outputs_at(self, t):
        return self.value

class Fine(Decay):
    \"\"\"The same by the classical method of Runge and Kutta, in four parts.\"\"\"
    def step(self, t, h, u):
        slope = lambda s, x: u(s).u - self.k * x
        d = h / 4
        for i in range(4):
            s, x = t + i * d, self.value
            a = slope(s, x)
            b = slope(s + d / 2, x + d / 2 * a)
            c = slope(s + d / 2, x + d / 2 * b)
            e = slope(s + d, x + d * c)
            self.value += d / 6 * (a + 2 * b + 2 * c + e)

class Slopes(Fine):
    def slopes_at(self, t, u, dudt):
        return u.u - self.k * self.value
"""
# x' = -y - 2 x, y' = x - 2 y: both are spirals.
SPIRAL = """
experiment: {{stop: 2}}
subsystems:
  a: {{python: {{file: step.py, class: {kind}}}}}
  turn: {{equations: {{inputs: {{y: 0}}, outputs: {{y: -y}}}}}}
  b: {{python: {{file: step.py, class: {kind}}}, parameters: {{x: 0}}}}
connections: [b.x -> turn.y, turn.y -> a.u, a.x -> b.u]
"""


class Stepping(PythonTest):
    def error(self, kind, *options):
        self.write("step.py", STEPPING)
        run = simulate(self.model(SPIRAL.format(kind=kind)), *options)
        exact = np.exp(-2 * run.time)[:, None] * np.stack([np.cos(run.time), np.sin(run.time)], axis=1)
        return np.max(np.abs(run.outputs.columns("a.x", "b.x") - exact))

    def order(self, kind, *options):
        errors = [self.error(kind, *options, "-cosim_step", step) for step in ("0.1", "0.05", "0.025")]
        return np.log2(np.divide(errors[:-1], errors[1:])), errors

    def test_explicit(self):
        for order in (0, 1):
            orders, _ = self.order("Decay", "-cosim_type", "jacobi", "-cosim_hold_order", order)
            self.assertTrue(np.all(np.abs(orders - order - 1) < 0.3), f"{order}: {orders}")

    def test_implicit(self):
        """That of cubic inputs, with slopes that are given or tried; Decay itself takes u for a line."""
        for kind, expected in (("Decay", 2), ("Fine", 4), ("Slopes", 4)):
            orders, errors = self.order(kind, "-cosim_type", "jfm", "-cosim_rtol", "1e-12", "-cosim_atol", "1e-13")
            self.assertTrue(np.all(np.abs(orders - expected) < 0.3), f"{kind}: {orders}, {errors}")

    def test_checkpoints(self):
        self.write("step.py", STEPPING)
        model = self.model(SPIRAL.format(kind="Decay"))
        common = [model, "-cosim_step", "0.05", "-cosim_output", self.folder / "run.h5",
                  "-cosim_checkpoint", self.folder / "check.h5", "-cosim_checkpoint_every", "0.001"]
        values = []
        for extra in ([], ["-cosim_stop", "1"], ["-cosim_restart", self.folder / "check.h5"]):
            run = execute("run", *common, *extra)
            self.assertEqual(run.returncode, 0, run.stderr)
            values.append(concord.read(self.folder / "run.h5")["b.x"])
        np.testing.assert_array_equal(values[2], values[0][-len(values[2]):])

    def test_what_cannot_be_saved(self):
        """Explicit methods need no rollback."""
        self.write("step.py", STEPPING.replace("self.value = self.x\n", "self.value = self.x; self.f = lambda: 0\n"))
        model = self.model(SPIRAL.format(kind="Slopes"))
        check = execute("check", model)
        self.assertIn("no rollback: what it remembers cannot be pickled", check.stdout)
        simulate(model, "-cosim_type", "jacobi", "-cosim_step", "0.05")
        refused = execute("run", model, "-cosim_type", "jfm")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("rollback", refused.stderr)


CHOSEN = """
import math

class Oscillator:
    \"\"\"x'' = -x, each step exactly; remembers a function, which cannot be pickled.\"\"\"
    inputs = {"u": 0.0}
    outputs = ("x", "v")
    parameters = {"first": 1.0}

    def __init__(self):
        self.place = [self.first, 0.0]
        self.hook = lambda: None

    def step(self, t, h, u):
        x, v = self.place
        self.place[:] = x * math.cos(h) + v * math.sin(h), v * math.cos(h) - x * math.sin(h)

    def outputs_at(self, t):
        return self.place

    def save(self):
        return self.place

    def restore(self, memory):
        self.place = memory
"""


class Memory(PythonTest):
    """What is given to be saved is a copy, although the class changes it in its place."""

    def setUp(self):
        super().setUp()
        self.path = self.written(CHOSEN, "experiment: {stop: 2}\nsubsystems:\n  a: {python: {file: o.py, class: Oscillator}}\n"
                                 "  b: {equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}}\n"
                                 "connections: [a.x -> b.x, b.y -> a.u]\n", "o.py")

    def test_rollback(self):
        for options in ([], ["-cosim_adapt", "richardson", "-cosim_type", "jacobi", "-cosim_diverged", "warn"]):
            run = simulate(self.path, "-cosim_step", "0.1", *options)
            np.testing.assert_allclose(run.outputs["a.x"], np.cos(run.time), atol=1e-12)

    def test_snapshots(self):
        with concord.Simulation(self.path, cosim_step=0.1) as s:
            s.start()
            s.advance(until=1)
            kept = s.snapshot()
            s.advance(until=2)
            ends = [s["a.x"], s["b.y"]]
            s.restore(kept)
            s.advance(until=2)
            self.assertEqual([s["a.x"], s["b.y"]], ends)
            s.reset({"a.first": 2})
            s.advance(until=2)
            np.testing.assert_allclose(s["a.x"], 2 * np.cos(2), rtol=1e-12)


PLAIN = "experiment: {stop: 1}\nsubsystems:\n  a:\n    python:\n      file: a.py\n      class: A\n"
GOOD = ("class A:\n    inputs = {'u': 0.0}\n    states = {'x': 1.0}\n    parameters = {'k': 1.0}\n"
        "    def derivatives(self, t, x, u):\n        return [-self.k * x.x]\n")


class Messages(PythonTest):
    def refused(self, python, *words, model=PLAIN, code=2, command="check"):
        for options in ([], ["-subsystem_isolated", "false"]):
            path = self.written(python, model, "a.py")
            run = execute(command, path, *options, "-cosim_step", "0.1") if command == "run" else execute(command, path, *options)
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)
            self.assertNotIn("Traceback", run.stderr)
            self.assertEqual(run.stderr.count("concord: error:"), 1, run.stderr)

    def test_files(self):
        self.refused(GOOD, "model.yaml:5", "'a'", "b.py", "relative to the model file", model=PLAIN.replace("a.py", "b.py"))
        self.refused(GOOD, "model.yaml:6", "no class 'B' in", "known classes: A", model=PLAIN.replace("class: A", "class: B"))
        self.refused("class A:\n    x = = 1\n", "model.yaml:5", "a.py fails: SyntaxError: invalid syntax", "line 2")
        self.refused("import missing_module\n", "No module named 'missing_module'", "a.py, line 1")
        self.refused(GOOD, "unknown key 'type'", "class", model=PLAIN.replace("class:", "type:"))

    def test_classes(self):
        for before, after, *words in (
                ("derivatives", "derivative", "neither derivatives(self, t, x, u) nor step", "did you mean 'derivative'?"),
                ("t, x, u)", "t, x)", "derivatives() must take (self, t, x, u)"),
                ("{'x': 1.0}", "('x',)", "states must be start values by name"),
                ("{'x': 1.0}", "{'x': 'one'}", "start value of the state 'x'"),
                ("{'x': 1.0}", "{'lambda': 1.0}", "is a word of Python"),
                ("{'x': 1.0}", "{'u': 1.0}", "two variables 'u'"),
                ("    parameters", "    units = {'y': 'm'}\n    parameters", "units: there is no variable 'y'"),
                ("    parameters", "    outputs = ('y',)\n    parameters", "'y' is not a state"),
                ("{'k': 1.0}", "{'derivatives': 1.0}", "would take the place of"),
                ("    def deri", "    def step(self, t, h, u): pass\n    def deri", "has step()")):
            self.refused(GOOD.replace(before, after), "model.yaml:", "'a'", *words)

    def test_values(self):
        self.refused(GOOD, "model.yaml:7", "unknown parameter 'j'", model=PLAIN + "    parameters: {j: 1}\n")
        self.refused(GOOD, "model.yaml:7", "parameter 'k' must be a finite number", model=PLAIN + "    parameters: {k: two}\n")
        self.refused(GOOD, "model.yaml:7", "no input or state 'y'", model=PLAIN + "    start: {y: 1}\n")
        self.refused(GOOD.replace("'k': 1.0", "'k': None"), "parameter 'k' is missing")

    def test_runs(self):
        for after, *words in (("return [-self.k * x.y]", "AttributeError", "a.py, line 6", "t = 0"),
                              ("return [1, 2]", "derivatives() gave 2 numbers; it must give 1"),
                              ("return None", "derivatives() gave None"),
                              ("return [float('nan')]", "state 'x'", "nan"),
                              ("return [1/(0.5 - t) if t < 0.5 else int('a')]", "a.py, line 6"),
                              ("import sys; sys.exit(3)", "SystemExit: 3"),
                              ("return [[1.0, 'b']]", "derivatives() gave [[1.0, 'b']]")):
            self.refused(GOOD.replace("return [-self.k * x.x]", after), "'a'", *words, code=1, command="run")


class Processes(PythonTest):
    def test_prints(self):
        text = GOOD.replace("        return", "        print('in f') if t == 0 else None\n        return")
        for options in ([], ["-subsystem_isolated", "false"]):
            run = execute("run", self.written(text, PLAIN, "a.py"), *options)
            self.assertIn("in f\n", run.stdout)

    def test_a_killed_process_is_revived(self):
        text = GOOD.replace("        return", "        import os, signal\n        if t > 0.5 and not os.path.exists('died'):\n"
                            "            open('died', 'w').close()\n            os.kill(os.getpid(), signal.SIGKILL)\n        return")
        model = self.written(text, PLAIN, "a.py")
        run = subprocess.run([os.environ["CONCORD_PROGRAM"], "run", model, "-cosim_step", "0.1"], cwd=self.folder,
                             capture_output=True, text=True, check=False, timeout=HANGS)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("SIGKILL", run.stderr)
        self.assertTrue((self.folder / "died").exists())

    def test_interrupted(self):
        """Ctrl-C in a terminal reaches the process of the subsystem, too."""
        text = "import time\n" + GOOD.replace("        return", "        time.sleep(0.01)\n        open('began', 'w').close()\n        return")
        model = self.written(text, PLAIN.replace("stop: 1", "stop: 1000"), "a.py")
        run = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "run", model, "-cosim_step", "0.1"], cwd=self.folder,
                               start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not (self.folder / "began").exists():
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=HANGS)
        self.assertEqual(run.returncode, 3, errors)
        self.assertNotIn("Traceback", errors)


class FromPython(PythonTest):
    def test_causes(self):
        model = self.written(GOOD.replace("-self.k * x.x", "{}['no']"), PLAIN, "a.py")
        with self.assertRaises(concord.SimulationError) as raised:
            concord.run(model)
        self.assertIsInstance(raised.exception.__cause__, KeyError)
        self.assertIn("a.py, line 6", str(raised.exception))

    def test_ranks(self):
        model = self.written(CARS, PYTHON)
        end = float(concord.run(model, cosim_step=0.05)["two.x"][-1])
        code = f"import concord, sys; assert concord.run(sys.argv[1], cosim_step=0.05)['two.x'][-1] == {end!r}"
        run = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", "/usr/bin/python3", "-c", code, model],
                             capture_output=True, text=True, check=False, timeout=HANGS)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_an_edited_file_is_read_again(self):
        values = []
        for factor in ("-1", "-2"):
            model = self.written(GOOD.replace("-self.k", factor), PLAIN, "a.py")
            values.append(concord.run(model)["a.x"][-1])
        np.testing.assert_allclose(values, np.exp([-1, -2]), rtol=1e-5)


class Example(PythonTest):
    """The car of examples/driver, by the midpoint rule with steps of 1 ms and the classes themselves."""

    def test_driver(self):
        sys.path.insert(0, str(EXAMPLES / "driver"))
        from driver import Driver, Gearbox
        driver, gearbox = Driver(), Gearbox()
        driver.gain, driver.time, gearbox.power = 0.6, 8.0, 40e3

        def slopes(t, v, missing):
            u = SimpleNamespace(v=v, sum=missing)
            force = gearbox.outputs_at(t, SimpleNamespace(v=v, pedal=driver.outputs_at(t, u, u)))
            return (force - 150 * np.tanh(10 * v) - 0.5 * v * abs(v)) / 1400, driver.derivatives(t, u, u)

        h, v, missing, speeds = 1e-3, 0.0, 0.0, []
        for t in h * np.arange(60000):
            a, b = slopes(t, v, missing)
            a, b = slopes(t + h / 2, v + h / 2 * a, missing + h / 2 * b)
            v, missing = v + h * a, missing + h * b
            gearbox.step(t, h, lambda time: SimpleNamespace(v=v))
            speeds.append(v)
        run = concord.run(EXAMPLES / "driver" / "driver.yaml", cosim_step=0.01)
        np.testing.assert_allclose(run["car.v"][10::10], speeds[99::100], atol=2e-3)


if __name__ == "__main__":
    unittest.main()
