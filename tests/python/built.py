"""concord.ModelBuilder: subsystems whose right-hand sides are Python functions."""
import sys
import unittest

import concord
import numpy as np
from concord_runs import TIGHT

TIGHTLY = {TIGHT[i][1:]: TIGHT[i + 1] for i in range(0, len(TIGHT), 2)}

# x' = A x of the pendulum (angle, speed) and its drive (torque).
MATRIX = np.array([[0, 1, 0], [-4, 0, 1], [-1, 0, -1]])


def driven_pendulum(stiffness=9.81, angle="angle", torque="torque"):
    def swing(t, x, u, p):
        return [x[1], -p["k"] * x[0] + u[0]]

    return (concord.ModelBuilder("driven pendulum", stop=2.0)
            .add("pendulum", swing, states={"angle": 0.1, "speed": 0}, inputs={"torque": 0},
                 parameters={"k": stiffness}, units={"angle": "rad", "torque": "N.m"},
                 time_dependent=False)
            .add("drive", lambda t, x, u: -x - u, states={"torque": 0}, inputs={"angle": 0},
                 outputs=["torque"], time_dependent=False)
            .connect(f"pendulum.{angle}", f"drive.{angle}")
            .connect(f"drive.{torque}", f"pendulum.{torque}"))


def exact(t):
    values, vectors = np.linalg.eig(MATRIX)
    return (vectors @ np.diag(np.exp(values * t)) @ np.linalg.inv(vectors) @ [0.1, 0, 0]).real


class Built(unittest.TestCase):
    def test_error_shrinks_with_the_fourth_power_of_the_step(self):
        errors = []
        for step in (0.1, 0.05):
            r = concord.run(driven_pendulum(), cosim_type="jfm", cosim_step=step,
                            start_values={"pendulum.k": 4.0}, **TIGHTLY)
            errors.append(abs(r["pendulum.angle"][-1] - exact(2.0)[0]))
        self.assertGreater(np.log2(errors[0] / errors[1]), 3.5)
        self.assertLess(np.log2(errors[0] / errors[1]), 5.0)
        self.assertEqual(r.units["pendulum.angle"], "rad")
        named = concord.run(driven_pendulum(4.0, "*", "*"), cosim_type="jfm", cosim_step=step, **TIGHTLY)
        np.testing.assert_array_equal(named["pendulum.angle"], r["pendulum.angle"])

    def test_initial_equations(self):
        """torque = -angle where the drive rests, and (k + 1)*angle = 1 where the speed falls by 1."""
        m = (driven_pendulum(4.0).initial("der(pendulum.speed) = -1", ["pendulum.angle"])
             .initial("der(drive.torque) = 0").initial("pendulum.speed = 2*pendulum.angle"))
        s = concord.Simulation(m, cosim_step=1e-2)
        s.start()
        for name, value in (("pendulum.angle", 0.2), ("drive.torque", -0.2), ("pendulum.speed", 0.4)):
            self.assertAlmostEqual(s[name], value, 9)
        r = concord.run(m, cosim_step=0.1, start_values={"pendulum.k": 9.0})
        self.assertAlmostEqual(r["pendulum.angle"][0], 0.1, 9)
        with self.assertRaisesRegex(concord.InputError, "frees nothing, as 'drive.torque' is an output|overdetermined"):
            concord.Simulation(m.initial("drive.torque = 3"))

    def test_parameters_and_start_values(self):
        s = concord.Simulation(driven_pendulum().start_value("pendulum.angle", 0.2),
                               cosim_step=1e-2, start_values={"pendulum.k": 4.0})
        s.start()
        s.advance(until=1)
        self.assertAlmostEqual(s["pendulum.angle"], 2 * exact(1.0)[0], 7)
        c = s.snapshot()
        s["pendulum.k"] = 0.0
        s.advance(until=2)
        self.assertGreater(abs(s["pendulum.angle"] - 2 * exact(2.0)[0]), 1e-3)
        s.restore(c)
        s["pendulum.k"] = 4.0
        s.advance(until=2)
        self.assertAlmostEqual(s["pendulum.angle"], 2 * exact(2.0)[0], 7)
        self.assertEqual(concord.run(driven_pendulum(4.0), cosim_step=0.1)["pendulum.speed"][0], 0)

    def test_outputs_of_their_own_with_feedthrough_and_events(self):
        m = concord.ModelBuilder("gain", stop=1.0).event(0.5)
        m.add("source", output_values=lambda t, x, u: [1.0 if t < 0.5 else 3.0], outputs=["y"])
        m.add("gain", lambda t, x, u: u, states={"sum": 0}, inputs={"u": None},
              outputs=["sum", "twice"], output_values=lambda t, x, u: [x[0], 2 * u[0]],
              feedthrough=[("twice", "u")])
        m.connect("source.y", "gain.u")
        r = concord.run(m, cosim_step=0.1)
        self.assertAlmostEqual(r["gain.sum"][-1], 2.0, 7)
        np.testing.assert_array_equal(np.unique(r["gain.twice"]), [2, 6])
        self.assertEqual([event.time for event in r.events], [0.5])

    def test_constraint_and_delay(self):
        m = concord.ModelBuilder("pair", stop=1.0)
        for name, speed in (("left", 1.0), ("right", 0.0)):
            m.add(name, lambda t, x, u: u, states={"v": speed}, inputs={"f": 0})
        m.constrain("force", "left.v - right.v - exp(-left.v)*0 - 1", {"left.f": -1, "right.f": 1})
        r = concord.run(m, cosim_step=0.1)
        np.testing.assert_allclose(r["left.v"] - r["right.v"], 1.0, atol=1e-8)
        late = concord.ModelBuilder("late", stop=1.0)
        late.add("clock", lambda t, x, u: [1.0], states={"t": 0})
        late.add("seen", lambda t, x, u: u, states={"sum": 0}, inputs={"u": 0})
        late.connect("clock.t", "seen.u", factor=2, delay=0.25)
        self.assertAlmostEqual(concord.run(late, cosim_step=0.05)["seen.sum"][-1], 0.75**2, 6)

    def test_wrong_descriptions(self):
        def built(**given):
            return concord.ModelBuilder("m", stop=1).add("a", **given)

        cases = {
            "needs derivatives": {"states": {"x": 0}},
            "start values by name": {"states": "x"},
            "'y' is not a state": {"derivatives": lambda t, x, u: x, "states": {"x": 0},
                                   "outputs": ["y"]},
            "must be a function": {"derivatives": 3, "states": {"x": 0}},
            "no variable 'z'": {"derivatives": lambda t, x, u: x, "states": {"x": 0},
                                "units": {"z": "m"}},
            "no input 'u'": {"derivatives": lambda t, x, u: x, "states": {"x": 0},
                             "feedthrough": [("x", "u")]},
        }
        for words, given in cases.items():
            with self.assertRaisesRegex(ValueError, words):
                built(**given)
        m = built(derivatives=lambda t, x, u: x, states={"x": 0})
        with self.assertRaisesRegex(concord.InputError, "already"):
            m.add("a")
        with self.assertRaisesRegex(concord.InputError, "no output 'y'"):
            concord.run(m.connect("a.y", "a.u"))
        with self.assertRaisesRegex(concord.InputError, "b.x"):
            concord.run(driven_pendulum(), start_values={"b.x": 1})


def failing(what):
    """Two coupled subsystems, one of which does `what` from t = 0.5 on."""
    return (concord.ModelBuilder("failing", stop=1.0)
            .add("a", lambda t, x, u: what() if t > 0.5 else [1.0], states={"x": 0},
                 inputs={"u": 0})
            .add("b", lambda t, x, u: [0.0], states={"x": 0}, inputs={"u": 0})
            .connect("a.x", "b.u").connect("b.x", "a.u"))


def divide():
    return 1 / 0


class Raised(unittest.TestCase):
    """What functions raise reaches the caller, never a C frame."""

    def ends(self, what, cause, *words):
        for simulate in (self._run, self._step):
            with self.assertRaises(concord.SimulationError) as caught:
                simulate(what)
            for word in ("'a'", *words):
                self.assertIn(word, str(caught.exception))
            self.assertEqual(type(caught.exception.__cause__), cause)

    def _run(self, what):
        concord.run(failing(what), cosim_step=0.1)

    def _step(self, what):
        s = concord.Simulation(failing(what), cosim_step=0.1)
        s.start()
        s.advance(until=1)

    def test_exceptions(self):
        self.ends(lambda: {}["key"], KeyError, "KeyError", "built.py, line")
        self.ends(divide, ZeroDivisionError, "division by zero")
        self.ends(lambda: self._run(divide), concord.InputError, "at work already")

    def test_results(self):
        self.ends(lambda: [1, 2], type(None), "2 numbers", "must give 1")
        self.ends(lambda: "text", type(None), "'text'")
        self.ends(lambda: None, type(None), "None")
        self.ends(lambda: [float("nan")], type(None), "nan")

    def test_exit_ends_the_program_not_the_simulation(self):
        for simulate in (self._run, self._step):
            with self.assertRaises(SystemExit) as caught:
                simulate(lambda: sys.exit(7))
            self.assertEqual(caught.exception.code, 7)

    def test_smaller_steps_cure(self):
        tried = []

        def narrow(t, x, u):
            tried.append(t)
            if x[0] > 1.0:
                raise concord.RecoverableFailure("above 1")
            return [10 * (1 - x[0]) ** 0.5 if x[0] < 1 else 0.0]

        m = concord.ModelBuilder("narrow", stop=0.1).add("a", narrow, states={"x": 0})
        self.assertAlmostEqual(concord.run(m, cosim_step=0.1)["a.x"][-1], 1 - 0.5**2, 6)
        self.assertTrue(tried)


if __name__ == "__main__":
    unittest.main()
