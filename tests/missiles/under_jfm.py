"""Estimators inside JFM: subsystems without rollback, and one evaluation per macro-step."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, run_here, simulate, write_model
from network_models import food_chain
from references import LotkaVolterra, error_percent, observed_orders, two_mass


class OneSideWithoutRollback(unittest.TestCase):
    """That side is integrated once per macro-step; on linear subsystems nothing else changes."""

    def test_two_mass(self):
        for side, other in (("left", "right"), ("right", "left")):
            errors = []
            for step in (5e-3, 2e-3, 1e-3):
                results = simulate(TWO_MASS, "-cosim_type", "jfm", *TIGHT, "-cosim_step", step,
                                   f"-subsystem_{side}_rollback", "false")
                exact = two_mass().exact_states(results.time)[:, 0]
                errors.append(error_percent(results.outputs["left.x"], exact))
                advances = dict(zip((n.decode() for n in results.subsystems["name"]),
                                    results.subsystems["advances"]))
                self.assertEqual(advances[side], len(results.time) - 1)
                self.assertEqual(advances[other], np.sum(results.steps["coupling_evaluations"]))
                self.assertIn(f"by estimators         {side}", results.stdout)
            orders = observed_orders((5e-3, 2e-3, 1e-3), errors)
            print(f"{side} without rollback: {errors} %, orders {np.round(orders, 3)}")
            for error, expected in zip(errors, (2.34e-3, 5.68e-5, 3.48e-6)):
                self.assertLess(error, 1.1 * expected)
            for order in orders:
                self.assertLess(abs(order - 4), 0.25)

    def test_lotka_volterra(self):
        """As good as MISSILES or a fully iterated JFM."""
        for side in ("prey", "predator"):
            errors = {}
            for what in ("-cosim_type missiles", f"-cosim_type jfm -subsystem_{side}_rollback false",
                         "-cosim_type jfm"):
                results = simulate(LOTKA_VOLTERRA, *what.split(), *TIGHT, "-cosim_step", 0.1)
                exact = LotkaVolterra.exact_states(results.time)[:, 0]
                errors[what] = error_percent(results.outputs["prey.amount"], exact)
            print(errors)
            missiles, mixed, full = errors.values()
            self.assertLess(mixed, 1.5 * max(missiles, full))
            self.assertGreater(mixed, 0.5 * min(missiles, full))

    def test_check_says_which_is_which(self):
        run = execute("check", TWO_MASS, "-subsystem_left_rollback", "false")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"integrated at each coupling evaluation: right\n")
        self.assertRegex(run.stdout, r"replaced by their estimators[^\n]*: left\n")

    def test_view_says_which_is_which(self):
        with tempfile.TemporaryDirectory() as folder:
            run = run_here(TWO_MASS, "-cosim_type", "jfm", "-subsystem_left_rollback", "false", "-cosim_view",
                          "-cosim_stop", 0.1, "-cosim_output", f"{folder}/r.h5")
        self.assertEqual(run.stdout.count("iterated              right"), 2)
        self.assertEqual(run.stdout.count("by estimators         left"), 2)


class Impossible(unittest.TestCase):
    """Neither rollback nor linearization: the methods that would work."""

    def refused(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            run = run_here(TWO_MASS, "-subsystem_right_rollback", "false",
                          "-subsystem_right_linearization", "false", *options, "-cosim_output",
                          f"{folder}/r.h5")
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr.count("concord: error:"), 1)
        self.assertIn("subsystem 'right'", run.stderr)
        return run.stderr

    def test_refused(self):
        for preset in ("jfm", "missiles", "ifosmondi"):
            message = self.refused("-cosim_type", preset)
            possible = message.split("Methods that can run this model:")[1]
            self.assertIn("jacobi", possible)
            for other in ("jfm", "missiles", "ifosmondi"):
                self.assertNotIn(other, possible)

    def test_the_methods_named_do_run(self):
        possible = self.refused("-cosim_type", "jfm").split("Methods that can run this model:")[1]
        for method in possible.replace(",", " ").replace(".", " ").split():
            simulate(TWO_MASS, "-subsystem_right_rollback", "false",
                     "-subsystem_right_linearization", "false", "-cosim_type", method,
                     "-cosim_stop", 0.1)


class Evaluations(unittest.TestCase):
    """jfm with its default options."""

    def mean(self, model, step):
        results = simulate(model, "-cosim_step", step)
        mean = np.mean(results.steps["coupling_evaluations"])
        print(f"{model.stem}, h = {step:g}: {mean:.3f} evaluations per step")
        return mean, results

    def test_two_mass(self):
        self.assertLessEqual(self.mean(TWO_MASS, 1e-3)[0], 1.05)

    def test_lotka_volterra(self):
        self.assertLessEqual(self.mean(LOTKA_VOLTERRA, 1e-2)[0], 1.05)
        mean, results = self.mean(LOTKA_VOLTERRA, 0.1)
        self.assertLessEqual(mean, 2)
        exact = LotkaVolterra.exact_states(results.time)[:, 0]
        error = error_percent(results.outputs["prey.amount"], exact)
        print(f"error {error:.2e} %")
        self.assertLess(error, 1e-4)

    def test_food_chain(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "food_chain", food_chain())
            for step, bound in ((0.4, 2.1), (0.2, 2.0), (0.1, 1.1), (0.05, 1.01)):
                self.assertLessEqual(self.mean(model, step)[0], bound)


if __name__ == "__main__":
    unittest.main()
