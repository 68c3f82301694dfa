"""concord.Simulation."""
import os
import signal
import tempfile
import unittest

import concord
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS

BALL, THERMOSTAT = (EXAMPLES / name / f"{name}.yaml" for name in ("bouncing_ball", "thermostat"))

CROSSED = """experiment: {stop: 2}
subsystems:
  cells:
    equations:
      parameters: {n: 40, c: 0}
      states: {"x[i in 1:n]": i}
      derivatives: {"x[i in 1:n]": "c*x[n+1-i] - x[i]"}
      outputs: {"x[n]": x}
"""
TANK = """name: tank
experiment: {start: 0, stop: 2}
parameters: {}
subsystems:
  tank:
    equations:
      parameters: {k: 1}
      inputs: {inflow: 0, leak: 0}
      states: {level: 1}
      derivatives: {level: inflow + leak - k*level}
      outputs: {level: level}
  sensor:
    equations:
      inputs: {level: 0}
      outputs: {loss: -0.0*level}
connections:
  - tank.level -> sensor.level
  - sensor.loss -> tank.leak
"""


PARAMETERS = """
experiment: {start: 0, stop: 1}
parameters: {g: 2}
subsystems:
  one: {equations: {parameters: {k: 2*g}, states: {x: 1}, derivatives: {x: -k*x}, outputs: {x: x}}}
  own: {python: {file: own.py, class: Own}}
  system:
    system:
      parameters: {gear: 3}
      subsystems:
        a: {equations: {parameters: {k: 2*gear}, inputs: {u: 0}, states: {x: 1}, derivatives: {x: u-k*x}, outputs: {x: x}}}
      inputs: {u: a.u}
connections: [one.x -> system.u]
"""


def interrupting_model(at):
    """Sends itself Ctrl-C once, when time `at` is passed."""
    sent = []

    def decay(t, x, u):
        if t > at and not sent:
            sent.append(t)
            os.kill(os.getpid(), signal.SIGINT)
        return -x

    return (concord.ModelBuilder("interrupts", stop=1.0)
            .add("a", decay, states={"x": 1}, inputs={"u": 0})
            .add("b", lambda t, x, u: -x, states={"x": 1}, inputs={"u": 0})
            .connect("a.x", "b.u").connect("b.x", "a.u"))


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tank = os.path.join(folder.name, "tank.yaml")
        with open(self.tank, "w", encoding="utf-8") as file:
            file.write(TANK)

    def test_has_the_bits_of_a_run(self):
        whole = concord.run(BALL, cosim_step=1e-2)
        rows = []
        with concord.Simulation(BALL, cosim_step=1e-2) as s:
            s.start()
            rows.append((s.time, s["ball.h"]))
            while not s.finished:
                s.advance()
                rows.append((s.time, s["ball.h"]))
        np.testing.assert_array_equal(rows, np.stack([whole["time"], whole["ball.h"]], axis=1))

    def test_inputs_and_parameters_are_set_between_steps(self):
        s = concord.Simulation(self.tank, cosim_step=1e-2, start_values={"tank.level": 2})
        s.start()
        s.advance(until=0.5)
        level = 2 * np.exp(-0.5)
        self.assertAlmostEqual(s["tank.level"], level, 7)
        s["tank.inflow"] = 3
        s.advance(until=1.0)
        level = 3 + (level - 3) * np.exp(-0.5)
        self.assertAlmostEqual(s["tank.level"], level, 7)
        s["tank.k"] = 2.0
        s.advance(until=5)
        level = 1.5 + (level - 1.5) * np.exp(-2)
        self.assertAlmostEqual(s["tank.level"], level, 7)
        self.assertEqual((s.time, s.finished), (2.0, True))

    def test_that_inputs_were_set_from_outside_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "steps.h5")
            s = concord.Simulation(self.tank, cosim_step=1e-1, cosim_output=path, start_values={"tank.inflow": 1})
            s.start()
            s["tank.inflow"] = 3
            s.advance(until=2.0)
            self.assertIn("feedback", concord.read(path).attribute("driven"))
            s.reset()
            s["tank.k"] = 2.0
            s.advance(until=2.0)
            self.assertEqual(concord.read(path).attribute("driven"), "")

    def test_parameters_are_read(self):
        """As they are: given, set, of a snapshot, after a reset; of all kinds of subsystems."""
        folder = os.path.dirname(self.tank)
        path = os.path.join(folder, "parameters.yaml")
        with open(os.path.join(folder, "own.py"), "w", encoding="utf-8") as file:
            file.write("class Own:\n    inputs = {'u': 0.0}\n    states = {'x': 1.0}\n    parameters = {'k': 1.5}\n"
                       "    def derivatives(self, t, x, u):\n        return [-self.k*x.x]\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PARAMETERS)
        for options in ({"cosim_type": "jfm"}, {"cosim_type": "monolithic"}, {"cosim_paces": "auto"}):
            if options.get("cosim_type") == "monolithic":
                options["start_values"] = {"system.gear": 5}
            s = concord.Simulation(path, cosim_step=0.125, **options)
            s.start()
            gear = s["system.gear"]
            self.assertEqual(gear, 5 if "start_values" in options else 3)
            self.assertEqual(s.values(["parameters.g", "system.a.k", "one.k", "own.k"]).tolist(), [2, 2*gear, 4, 1.5])
            self.assertIn("one.k", s)
            self.assertIn("system.gear", s.parameters)
            s["one.k"], s["own.k"], s["system.a.k"] = 7, 2.5, 8
            self.assertEqual(s.values(["one.k", "own.k", "system.a.k"]).tolist(), [7, 2.5, 8])
            s.advance(until=0.5)
            kept = s.snapshot()
            s["one.k"] = 9
            s.advance(until=1)
            s.restore(kept)
            self.assertEqual(s.values(["one.k", "own.k", "system.a.k"]).tolist(), [7, 2.5, 8])
            s.reset({"parameters.g": 6, "own.k": 3})
            self.assertEqual(s.values(["parameters.g", "system.a.k", "one.k", "own.k"]).tolist(), [6, 2*gear, 12, 3])
            for name in ("parameters.g", "system.gear"):
                with self.assertRaisesRegex(concord.InputError, f"'{name}' is a parameter from which others follow"):
                    s[name] = 1
            with self.assertRaisesRegex(concord.InputError, "no such parameter that can be read; did you mean 'one.x'"):
                s["one.q"]

    def test_a_parameter_changes_what_depends_on_what(self):
        """Sparse factors follow: with c = 0 the matrix is diagonal."""
        path = os.path.join(os.path.dirname(self.tank), "crossed.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CROSSED)
        for integrator in ("cvode_bdf", "dirk"):
            s = concord.Simulation(path, cosim_step=0.1, subsystem_integrator=integrator, subsystem_rtol=1e-10)
            s.start()
            s.advance(until=0.5)
            s["cells.c"] = 0.5
            s.advance(until=1.5)
            total, difference = 41 * np.exp(-0.5) * np.exp(-0.5), -39 * np.exp(-0.5) * np.exp(-1.5)
            self.assertAlmostEqual(s["cells.x[1]"], (total + difference) / 2, 6, integrator)
            self.assertAlmostEqual(s["cells.x[40]"], (total - difference) / 2, 6, integrator)
            with self.assertRaisesRegex(Exception, "n"):
                s["cells.n"] = 50

    def test_snapshots(self):
        s = concord.Simulation(BALL, cosim_step=1e-2)
        s.start()
        s.advance(until=0.3)
        c = s.snapshot()
        self.assertEqual(c.time, 0.3)
        ends = []
        for simulation in (s, s, concord.Simulation(BALL, cosim_step=1e-2)):
            simulation.restore(c)
            simulation.advance(until=3)
            ends.append(simulation["ball.h"])
        self.assertEqual(len(set(ends)), 1)
        with self.assertRaisesRegex(concord.InputError, "another model"):
            concord.Simulation(self.tank).restore(c)
        with self.assertRaises(concord.InputError):
            s.restore(None)

    def test_snapshots_change_nothing(self):
        rows = []
        for disturb in (lambda s: None, lambda s: s.snapshot(), lambda s: s.restore(s.snapshot())):
            s = concord.Simulation(BALL, cosim_step=1e-2)
            s.start()
            rows.append([])
            while not s.finished:
                s.advance()
                disturb(s)
                rows[-1].append((s.time, s["ball.h"], s["ball.v"], s["table.v"]))
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(rows[0], rows[2])

    def test_what_was_taken_back_leaves_nothing(self):
        """A look ahead from every communication point, over events, inputs and parameters."""
        tank, ball, heater = (self.tank, "tank.level"), (BALL, "ball.v"), (THERMOSTAT, "room.T")
        for model, name, sets, options in (
                (*tank, {"tank.inflow": 3.0, "tank.k": 2.0}, {"cosim_step": 0.1}),
                (*tank, {"tank.inflow": 3.0}, {"cosim_type": "jacobi", "cosim_step": 0.1}),
                (*ball, {}, {"cosim_step": 0.05}), (*ball, {}, {"cosim_type": "jacobi"}),
                (*ball, {}, {"cosim_type": "missiles", "cosim_step": 0.05}),
                (*heater, {}, {"cosim_type": "gauss_seidel"}), (*heater, {}, {}),
                (TWO_MASS, "left.x", {}, {"subsystem_integrator": "dirk", "cosim_step": 5e-3}),
                (TWO_MASS, "left.x", {}, {"cosim_adapt": "richardson", "cosim_type": "jacobi"})):
            with self.subTest(model=str(model), **options):
                whole, looking = (concord.Simulation(model, **options) for _ in range(2))
                whole.start()
                looking.start()
                for _ in range(60):
                    if whole.finished:
                        break
                    c = looking.snapshot()
                    for key, value in sets.items():
                        looking[key] = value
                    for _ in range(3):
                        looking.finished or looking.advance()
                    looking.restore(c)
                    whole.advance()
                    looking.advance()
                    self.assertEqual((whole.time, whole[name]), (looking.time, looking[name]))

    def test_reset_is_a_new_simulation(self):
        """Of a file, whose start values follow from parameters, and of a model built here."""
        built = (concord.ModelBuilder("decays", stop=1.0)
                 .add("a", lambda t, x, u: u - x, states={"x": 1}, inputs={"u": 0})
                 .add("b", lambda t, x, u: -x, states={"x": 1}, inputs={"u": 0})
                 .connect("a.x", "b.u").connect("b.x", "a.u"))
        for model, values, name in ((BALL, {"ball.e": 0.9, "ball.h": 1.5}, "ball.h"),
                                    (self.tank, {"tank.k": 0.5}, "tank.level"),
                                    (built, {"a.x": 2.5}, "b.x")):
            rows = []
            used = concord.Simulation(model, cosim_step=0.02)
            used.start()
            used.advance(until=0.3)
            before = used.snapshot()
            used.advance(until=0.5)
            for again in (True, False):
                s = used if again else concord.Simulation(model, cosim_step=0.02,
                                                          start_values=values)
                s.reset(values) if again else s.start()
                rows.append([])
                while not s.finished:
                    s.advance()
                    rows[-1].append((s.time, s[name]))
            with self.subTest(model=str(model)):
                self.assertEqual(rows[0], rows[1])
                with self.assertRaisesRegex(concord.InputError, "another model"):
                    used.restore(before)
                used.reset()
                used.restore(before)
                self.assertAlmostEqual(used.time, 0.3)
                used.reset()
                self.assertEqual(used.time, 0.0)
                with self.assertRaises(concord.InputError):
                    used.reset({"nobody.k": 1.0})
                used.advance()

    def test_reset_forgets_what_was_set(self):
        s = concord.Simulation(self.tank, cosim_step=1e-2)
        s.start()
        c = s.snapshot()
        s["tank.inflow"] = 3.0
        s["tank.k"] = 2.0
        s.advance(until=1.0)
        s.reset()
        s.advance(until=1.0)
        self.assertAlmostEqual(s["tank.level"], np.exp(-1.0), 7)
        s.reset({"tank.k": 2.0})
        with self.assertRaisesRegex(concord.InputError, "another model"):
            s.restore(c)

    def test_names_and_misuse(self):
        s = concord.Simulation(BALL)
        self.assertIn("ball.h", s)
        self.assertIn("table.v", s.variables)
        calls = {"ball.hh": lambda: s["ball.hh"], "fed by": lambda: s.__setitem__(
            "ball.table_height", 1), "was started": s.advance}
        for words, call in calls.items():
            with self.assertRaisesRegex(ValueError, words):
                call()
        s.start()
        np.testing.assert_array_equal(s.values(["ball.h", "ball.v"]), [1, 0])
        with self.assertRaisesRegex(concord.InputError, "already"):
            s.advance(until=-1)
        with self.assertRaises(concord.InputError):
            s.advance(until=float("nan"))
        s.close()
        with self.assertRaisesRegex(concord.InputError, "closed"):
            s.advance()


class Files(unittest.TestCase):
    def test_options_without_effect_are_told(self):
        with self.assertWarnsRegex(UserWarning, "cosim_summary has no effect"):
            concord.Simulation(BALL, cosim_summary="nowhere.json").close()
        self.assertFalse(os.path.exists("nowhere.json"))

    def test_steps_are_recorded(self):
        """As by `run`: to the end, to a step back, and anew from a reset."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "steps.h5")
            whole = concord.run(BALL, cosim_step=1e-2)
            s = concord.Simulation(BALL, cosim_step=1e-2, cosim_output=path)
            self.assertFalse(os.path.exists(path))
            s.start()
            while not s.finished:
                s.advance()
            r = concord.read(path)
            self.assertEqual(r.status, "completed")
            np.testing.assert_array_equal(r["ball.h"], whole["ball.h"])
            s.reset({"ball.e": 0.5})
            s.advance(until=1.0)
            kept = s.snapshot()
            s.advance(until=1.5)
            s.restore(kept)
            s.advance(until=2.0)
            r = concord.read(path)
            self.assertEqual((r.status, r["time"][-1]), ("interrupted", 1.5))
            s.close()
            with concord.Simulation(BALL, cosim_step=1e-2, cosim_output=path) as s:
                s.start()
                s.advance(until=0.5)
            self.assertEqual(concord.read(path)["time"][-1], 0.5)


class Interruption(unittest.TestCase):
    """Ctrl-C that comes in the midst of a macro-step, in Python code."""

    def test_run_ends_at_the_next_communication_point(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "interrupted.h5")
            with self.assertRaises(KeyboardInterrupt):
                concord.run(interrupting_model(0.5), cosim_step=0.1, cosim_output=path)
            r = concord.read(path)
            self.assertEqual(r.status, "interrupted")
            self.assertLess(r["time"][-1], 1.0)
        self.assertEqual(concord.run(interrupting_model(2), cosim_step=0.1).status, "completed")

    def test_simulation_goes_on_from_there(self):
        s = concord.Simulation(interrupting_model(0.5), cosim_step=0.1)
        s.start()
        with self.assertRaises(KeyboardInterrupt):
            s.advance(until=1.0)
        self.assertLess(s.time, 1.0)
        s.advance(until=1.0)
        self.assertTrue(s.finished)


if __name__ == "__main__":
    unittest.main()
