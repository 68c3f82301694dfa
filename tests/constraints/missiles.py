"""Constraints among the equations of MISSILES: orders with one integration per macro-step, and under
jfm, where its matrix is the Jacobian and replaces subsystems without rollback."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from constrained_models import FEEDBACK, NONLINEAR, RODS, VELOCITY, rods
from references import expm


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, *TIGHT, ranks=ranks)


def rod_errors(step, *options, ranks=1):
    """Of states and force, the largest distance of the tips, coupling evaluations per step."""
    results = simulate(RODS, "-cosim_step", step, *options, ranks=ranks)
    time, states, forces = rods(results.time[-1])
    at = np.searchsorted(time, results.time - 1e-9)
    x = results.states.columns("short.phi", "short.omega", "long.phi", "long.omega")
    y = results.outputs
    return (np.max(np.abs(x - states[at])), np.max(np.abs(y["force.value"] - forces[at])[2:]),
            np.max(np.abs(y["short.tip"] - y["long.tip"])),
            np.mean(results.steps["coupling_evaluations"]))


class Ordered(unittest.TestCase):
    def assert_order(self, what, errors, order, tolerance=0.35):
        """Of errors that belong to steps halved each time."""
        observed = np.log2(np.array(errors[:-1]) / errors[1:])
        print(f"{what:36}", *(f"{e:.2e}" for e in errors), "order",
              *(f"{o:.2f}" for o in observed))
        self.assertLess(abs(observed[-1] - order), tolerance, what)

    def assert_mean_order(self, what, errors, order):
        self.assert_order(what, errors[[0, -1]] ** (1 / (len(errors) - 1)), order)


class Direct(Ordered):
    """Index 1."""

    def test_orders(self):
        for name, text in (("linear", FEEDBACK), ("nonlinear", NONLINEAR)):
            for defect in ("none", "constant"):
                errors, gaps = [], []
                for step in (0.05, 0.025, 0.0125):
                    results = run(text, "-cosim_type", "missiles", "-missiles_defect", defect,
                                  "-cosim_step", step)
                    y, t = results.outputs, results.time
                    errors.append(np.max(np.abs(y["left.y"] - t**4)))
                    gaps.append(np.max(np.abs(y["left.z"] - y["right.z"])))
                    # t^4 leaves 0 so slowly that the second macro-step's prediction says nothing.
                    self.assertTrue(np.all(results.steps["coupling_evaluations"][2:] == 1))
                self.assert_order(f"{name}, defect {defect}", errors, 4, 0.5)
                self.assert_order(f"{name}, defect {defect}, gamma", gaps, 4)

    def test_ranks_agree(self):
        one, *others = (run(FEEDBACK, "-cosim_type", "missiles", "-cosim_step", 0.05, ranks=n)
                        for n in (1, 2, 3))
        for other in others:
            np.testing.assert_allclose(other.outputs.values, one.outputs.values, rtol=0, atol=1e-10)


class Velocity(Ordered):
    """Index 2, closed form."""

    def test_orders(self):
        errors = []
        for step in (0.1, 0.05, 0.025):
            results = run(VELOCITY, "-cosim_type", "missiles", "-cosim_step", step)
            y, t = results.outputs, results.time
            errors.append([np.max(np.abs(y["left.x"] - np.sin(t) / 2)),
                           np.max(np.abs(y["lambda.value"] - np.cos(t) / 2)[1:])])
        self.assert_order("index 2, states", np.array(errors)[:, 0], 5)
        self.assertLess(np.max(np.array(errors)[:, 1]), 1e-13, "index 2, unknown")


class ManyStates(Ordered):
    """A row of 60 masses (120 states: estimated by Krylov spaces) joined to one more, index 3. All is
    linear, so that the estimators' constraint is the real one."""

    def test_linear(self):
        n = 60
        states = ", ".join(f"x{k}: {1 if k == 0 else 0}, v{k}: 0" for k in range(n))
        slopes = ", ".join(
            f"x{k}: v{k}, v{k}: " + (f"x{k - 1}" if k else "f") + f" - 2*x{k}"
            + (f" + x{k + 1}" if k < n - 1 else "") for k in range(n))
        text = ("experiment: {start: 0, stop: 2}\nsubsystems:\n  row:\n    equations:\n"
                f"      inputs: {{f: 0}}\n      states: {{{states}}}\n"
                f"      derivatives: {{{slopes}}}\n      outputs: {{x: x0}}\n"
                "  other:\n    equations:\n      inputs: {f: 0}\n      states: {x: 1, v: 0}\n"
                "      derivatives: {x: v, v: (f - x)/2}\n      outputs: {x: x}\n"
                "constraints:\n  - unknown: force\n    equation: row.x - other.x\n"
                "    feeds: {row.f: 1, other.f: -1}\n")
        matrix = np.zeros((2 * n, 2 * n))  # the first mass is 3, its own spring 3
        for k in range(n):
            matrix[2 * k, 2 * k + 1] = 1
            matrix[2 * k + 1, 2 * k] = -2 if k else -3
            for other in (k - 1, k + 1):
                if 0 <= other < n:
                    matrix[2 * k + 1, 2 * other] = 1
        matrix[1] /= 3
        start = np.zeros(2 * n)
        start[0] = 1
        errors = []
        for step in (0.1, 0.05, 0.025):
            results = run(text, "-cosim_type", "missiles", "-cosim_step", step)
            y = results.outputs
            self.assertLess(np.max(np.abs(y["row.x"] - y["other.x"])), 1e-9)
            errors.append(np.max(np.abs(results.states.values[-1, :2 * n]
                                        - expm(2 * matrix) @ start)))
        self.assert_order("120 states, index 3", errors, 4)


class Rods(Ordered):
    """Index 3."""

    def test_orders_of_missiles(self):
        for defect, of_tips in (("none", 5), ("constant", 6), ("linear", 6)):
            runs = np.array([rod_errors(h, *TIGHT, "-cosim_type", "missiles", "-missiles_defect",
                                        defect) for h in (0.02, 0.01, 0.005)])
            self.assertTrue(np.all(runs[:, 3] == 1))
            self.assert_mean_order(f"rods, states, defect {defect}", runs[:, 0], 4)
            self.assert_order(f"rods, force, defect {defect}", runs[:, 1], 2)
            self.assert_order(f"rods, tips, defect {defect}", runs[:, 2], of_tips)

    def test_evaluations_under_jfm(self):
        """The estimators' matrix is the Jacobian: no differences, about two evaluations."""
        for step in (0.02, 0.01, 0.002):
            states, force, gap, evaluations = rod_errors(step)
            print(f"rods, jfm, h = {step}: {evaluations:.2f} evaluations, states {states:.1e}, "
                  f"force {force:.1e}, gap {gap:.1e}")
            self.assertLess(evaluations, 2.6)
        for step, most in ((0.02, 5.6), (0.01, 4.8)):
            evaluations = rod_errors(step, *TIGHT)[3]
            print(f"rods, jfm, h = {step}, tolerance 1e-12: {evaluations:.2f} evaluations")
            self.assertLess(evaluations, most)

    def test_ranks_agree(self):
        one, *others = (simulate(RODS, "-cosim_type", "missiles", "-cosim_step", 0.01, *TIGHT,
                                 ranks=n) for n in (1, 2, 3))
        for other in others:
            np.testing.assert_allclose(other.states.values, one.states.values, rtol=0, atol=1e-10)


class WithoutRollback(Ordered):
    """Replaced by its estimator in the iteration, and integrated once."""

    def test_rods(self):
        runs = np.array([rod_errors(h, *TIGHT, "-subsystem_long_rollback", "false")
                         for h in (0.02, 0.01, 0.005)])
        self.assert_mean_order("rods, one without rollback, states", runs[:, 0], 4)
        self.assert_order("rods, one without rollback, force", runs[:, 1], 2)

    def test_direct(self):
        errors = []
        for step in (0.05, 0.025, 0.0125):
            results = run(FEEDBACK, "-subsystem_left_rollback", "false", "-cosim_step", step)
            errors.append(np.max(np.abs(results.outputs["left.y"] - results.time**4)))
        self.assert_order("pair, left without rollback", errors, 4, 0.5)


if __name__ == "__main__":
    unittest.main()
