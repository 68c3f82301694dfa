"""Constraints under the implicit solve: closed forms, orders, tolerances, ranks."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from constrained_models import FEEDBACK, OSCILLATING, PAIR, RODS, VELOCITY, rods


def observed(steps, errors):
    return np.log(np.array(errors[:-1]) / errors[1:]) / np.log(np.array(steps[:-1]) / steps[1:])


class Ordered(unittest.TestCase):
    def assert_order(self, what, steps, errors, order, tolerance=0.35):
        orders = observed(steps, errors)
        print(f"{what:28} " + "  ".join(f"{h:g}: {e:.2e}" for h, e in zip(steps, errors))
              + "  order " + " ".join(f"{p:.2f}" for p in orders))
        self.assertLess(abs(orders[-1] - order), tolerance, what)


def written(text):
    folder = tempfile.TemporaryDirectory()
    return folder, write_model(folder.name, "model", text)


class Pair(Ordered):
    def test_closed_form(self):
        """y1 = t^4 whatever u is; the constraint gives u = t^4 at every communication point."""
        for hold in ("zoh", "foh", "soh", "hermite"):
            results = simulate(PAIR, "-cosim_hold", hold, "-cosim_step", 0.05, *TIGHT)
            t, y = results.time, results.outputs
            self.assertLess(np.max(np.abs(y["left.z"] - y["right.z"])), 1e-11)
            self.assertLess(np.max(np.abs(y["u.value"] - t**4)), 1e-11)
            self.assertLess(np.max(np.abs(y["right.z"] - 2.5 * t**4)), 1e-11)
            self.assertTrue(np.all(results.steps["residual"] < 1))

    def test_unknown_is_recorded_where_it_goes(self):
        results = simulate(PAIR, "-cosim_step", 0.1)
        for name in ("left.u", "right.u", "u.guess"):
            np.testing.assert_allclose(results.inputs[name], results.outputs["u.value"],
                                       rtol=0, atol=1e-6)

    def test_slopes_of_the_unknown(self):
        results = simulate(PAIR, "-cosim_step", 0.05, *TIGHT)
        slope = results.inputs.derivatives[:, results.inputs.names.index("left.u")]
        np.testing.assert_allclose(slope, 4 * results.time**3, rtol=0, atol=1e-7)


class Feedback(Ordered):
    def setUp(self):
        self.folder, self.model = written(FEEDBACK)

    def tearDown(self):
        self.folder.cleanup()

    def test_orders(self):
        steps = (0.1, 0.05, 0.025)
        for hold, order in (("zoh", 1), ("foh", 2), ("hermite", 4)):
            errors = []
            for step in steps:
                results = simulate(self.model, "-cosim_hold", hold, "-cosim_step", step, *TIGHT)
                y = results.outputs
                errors.append(np.max(np.abs(y["left.y"] - results.time**4)))
                self.assertLess(np.max(np.abs(y["left.z"] - y["right.z"])), 1e-11)
            self.assert_order(f"pair with feedback, {hold}", steps, errors, order)

    def test_quintic(self):
        folder, model = written(OSCILLATING)
        with folder:
            for method, name, order, best in (
                    ("jfm6", "left.y", 6, 3e-8), ("jfm6", "u.value", 6, 3e-8),
                    ("missiles6", "left.y", 6.3, 1.2e-6),
                    ("missiles6", "u.value", 5, 1.5e-5)):  # in the second macro-step; elsewhere 6
                steps, errors = (0.1, 0.05), []
                for step in steps:
                    run = simulate(model, "-cosim_type", method, "-cosim_step", step, *TIGHT)
                    errors.append(np.max(np.abs(run.outputs[name] - np.sin(5 * run.time))))
                self.assert_order(f"oscillating, {method}, {name}", steps, errors, order)
                self.assertLess(errors[-1], best)

    def test_ranks_agree(self):
        one = simulate(self.model, "-cosim_step", 0.05, *TIGHT)
        for ranks in (2, 3):
            other = simulate(self.model, "-cosim_step", 0.05, *TIGHT, ranks=ranks)
            np.testing.assert_allclose(other.outputs.values, one.outputs.values, rtol=0,
                                       atol=1e-10)

    def test_newton_methods_agree(self):
        one = simulate(self.model, "-cosim_step", 0.05, *TIGHT)
        for options in ("-snes_type newtontr", "-snes_mf", "-cosim_predictor hold"):
            other = simulate(self.model, "-cosim_step", 0.05, *TIGHT, *options.split())
            np.testing.assert_allclose(other.outputs.values, one.outputs.values, rtol=0,
                                       atol=1e-9, err_msg=options)


class Velocity(Ordered):
    """Index 2."""

    def test_orders(self):
        folder, model = written(VELOCITY)
        steps = (0.2, 0.1, 0.05)
        with folder:
            for hold, order in (("zoh", 1), ("foh", 1), ("hermite", 2)):
                errors = []
                for step in steps:
                    results = simulate(model, "-cosim_hold", hold, "-cosim_step", step, *TIGHT)
                    y, t = results.outputs, results.time
                    self.assertLess(np.max(np.abs(y["left.x"] - y["right.x"])), 1e-11)
                    self.assertLess(np.max(np.abs(y["left.x"] - np.sin(t) / 2)), 1e-10)
                    errors.append(np.max(np.abs(y["lambda.value"][1:] - np.cos(t[1:]) / 2)))
                if hold == "hermite":
                    # The end's value and slope follow from gamma' = 0 directly.
                    self.assertLess(max(errors), steps[0]**2)
                else:
                    self.assert_order(f"index 2, {hold}", steps, errors, order)


class Started(Ordered):
    """Unknowns at the start, which follow from derivatives of their equation alone."""

    POSITION = (VELOCITY.replace("states: {x: 0}", "states: {x: 0, v: SPEED}")
                .replace("{x: cos(t) + f}", "{x: v, v: cos(t) - x + f}").replace("{x: f}", "{x: v, v: f/3}"))

    def started(self, text):
        folder, model = written(text)
        with folder:
            return simulate(model, "-cosim_step", 0.01, "-cosim_stop", 0.02).outputs["lambda.value"][0]

    def test_first_derivative(self):
        """x' = cos t - lambda = lambda: 1/2, whatever was given."""
        self.assertLess(abs(self.started(VELOCITY) - 0.5), 1e-9)

    def test_second_derivative(self):
        """cos t - x - lambda = lambda/3: 3/4; in units of 1e-6 and 1e6 the same."""
        text = self.POSITION.replace("SPEED", "2")
        self.assertLess(abs(self.started(text) - 0.75), 1e-5)
        for unit in (1e-6, 1e6):
            scaled = text.replace("+ f}", f"+ f*{unit}}}").replace("f/3", f"f*{unit}/3")
            self.assertLess(abs(self.started(scaled) * unit - 0.75), 1e-5)

    def test_size_of_the_equation(self):
        """Neither the unknown nor what rounding leaves of start values depends on it."""
        text = (self.POSITION.replace("SPEED", "2").replace("{x: 0,", "{x: 0.3,", 1)
                .replace("{x: 0,", "{x: 0.30000000000000004,", 1))
        for size in ("1e-9", "1e9"):
            scaled = text.replace("equation: left.x - right.x", f"equation: {size}*left.x - {size}*right.x")
            self.assertLess(abs(self.started(scaled) - 0.75 * (1 - 0.3)), 1e-5, size)

    def test_of_several(self):
        """A chain of three: x1'' = 1 - a, x2'' = (a - b)/2, x3'' = b/3 are the same: 1/6."""
        mass = ("equations: {{inputs: {fs}, states: {{x: 0, v: 1}}, derivatives: {{x: v, v: {a}}}, "
                "outputs: {{x: x}}}}")
        bodies = "\n".join(f"  {name}:\n    " + mass.format(fs=fs, a=a) for name, fs, a in (
            ("one", "{f: 0}", "1 - f"), ("two", "{f: 0, g: 0}", "(f - g)/2"), ("three", "{g: 0}", "g/3")))
        folder, model = written(f"""
experiment: {{start: 0, stop: 0.02}}
subsystems:
{bodies}
constraints:
  - {{unknown: first, equation: one.x - two.x, feeds: {{one.f: 1, two.f: 1}}}}
  - {{unknown: second, equation: two.x - three.x, feeds: {{two.g: 1, three.g: 1}}}}
""")
        with folder:
            y = simulate(model, "-cosim_step", 0.01).outputs
        self.assertLess(abs(y["first.value"][0] - 5 / 6), 1e-5)
        self.assertLess(abs(y["second.value"][0] - 1 / 2), 1e-5)


class Rods(Ordered):
    """Index 3: a position constraint between mechanical subsystems."""

    def errors(self, hold, step, *options):
        results = simulate(RODS, "-cosim_hold", hold, "-cosim_step", step, *options)
        time, states, forces = rods(results.time[-1])
        at = np.searchsorted(time, results.time - 1e-9)
        x = results.states.columns("short.phi", "short.omega", "long.phi", "long.omega")
        y = results.outputs
        gap = np.max(np.abs(y["short.tip"] - y["long.tip"]))
        # The first macro-step has nothing but inconsistent start values behind it.
        force = np.abs(y["force.value"] - forces[at])[2:]
        return np.max(np.abs(x - states[at])), np.max(force), gap

    def test_orders(self):
        steps = (0.04, 0.02, 0.01)
        for hold, of_states, of_force in (("zoh", 2, 1), ("hermite", 3, 2)):
            runs = np.array([self.errors(hold, h, *TIGHT) for h in steps])
            self.assertLess(np.max(runs[:, 2]), 1e-10)
            self.assert_order(f"rods, states, {hold}", steps, runs[:, 0], of_states, 1.2)
            self.assert_order(f"rods, force, {hold}", steps, runs[:, 1], of_force, 0.5)

    def test_default_tolerance_keeps_the_tips_together(self):
        states, force, gap = self.errors("hermite", 0.002)
        print(f"rods, defaults: states {states:.1e}, force {force:.1e}, gap {gap:.1e}")
        self.assertLess(gap, 1e-6)
        self.assertLess(states, 1e-4)
        self.assertLess(force, 0.05)

    def test_energy_stays(self):
        results = simulate(RODS, "-cosim_step", 0.01, "-cosim_stop", 20)
        energy = results.outputs["short.energy"] + results.outputs["long.energy"]
        self.assertLess(np.max(np.abs(energy - energy[0])), 1e-4)

    def test_ranks_agree(self):
        one, *others = (simulate(RODS, "-cosim_step", 0.01, *TIGHT, ranks=n) for n in (1, 2, 3))
        for other in others:
            np.testing.assert_allclose(other.states.values, one.states.values, rtol=0, atol=1e-10)

    def test_other_ways_to_the_same_solution(self):
        one = simulate(RODS, "-cosim_step", 0.02, *TIGHT)
        for options in ("-cosim_schedule sequential", "-cosim_schedule hierarchical",
                        "-cosim_predictor extrapolate", "-cosim_predictor hold", "-snes_mf",
                        "-cosim_adapt iteration", "-missiles_defect linear"):
            other = simulate(RODS, "-cosim_step", 0.02, *TIGHT, *options.split())
            far = np.max(np.abs(other.states.values - one.states.values))
            print(f"rods, {options}: {far:.1e} from the default")
            self.assertLess(far, 1e-9)


if __name__ == "__main__":
    unittest.main()
