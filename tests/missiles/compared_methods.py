"""-cosim_adapt predictor for methods of lower order: the estimate is the prediction of MISSILES
against what was integrated. The first macro-step starts from exact values, so that its error
against `monolithic` is the local error that the estimate stands for."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, run_here, simulate, write_model
from step_control import QUARTER_CAR

METHODS = {
    "jacobi": ("-cosim_type", "jacobi"),
    "jacobi, order 1": ("-cosim_type", "jacobi", "-cosim_hold_order", 1),
    "gauss_seidel": ("-cosim_type", "gauss_seidel"),
    "staggered_grid": ("-cosim_type", "staggered_grid"),
    "extripol": ("-cosim_type", "extripol"),
    "implicit zoh": ("-cosim_hold", "zoh"),
    "kuebler_schiehlen": ("-cosim_type", "kuebler_schiehlen"),
}
# Global errors follow local ones of order q + 1 as tolerance^{q/(q+1)}; q without feedthrough.
ORDERS = {"jacobi": 1, "jacobi, order 1": 2, "gauss_seidel": 1, "staggered_grid": 2,
          "extripol": 2, "implicit zoh": 1, "kuebler_schiehlen": 2}


class Estimate(unittest.TestCase):
    """Beside the true local error of the worst output."""

    def check(self, model, step):
        exact = simulate(model, "-cosim_type", "monolithic", "-cosim_step", step, "-cosim_stop",
                         step, *TIGHT)
        for name, method in METHODS.items():
            with self.subTest(method=name):
                results = simulate(model, *method, "-cosim_stop", step, "-cosim_step", step,
                                   "-cosim_step_min", step, "-cosim_adapt", "predictor",
                                   "-cosim_adapt_atol", 10, "-cosim_adapt_rtol", 1e-9, *TIGHT)
                self.assertEqual(len(results.time), 2)
                true = np.abs(results.outputs.values[-1] - exact.outputs.values[-1]).max()
                ratio = 10 * results.steps["error_estimate"][0] / true
                print(f"{name:20} h = {step:g}: local error {true:.3e}, estimate {ratio:.4f} of it")
                self.assertAlmostEqual(ratio, 1.0, delta=0.02)

    def test_two_mass(self):
        self.check(TWO_MASS, 1e-4)

    def test_lotka_volterra(self):
        self.check(LOTKA_VOLTERRA, 2e-3)


class Control(unittest.TestCase):
    """Smaller tolerances give smaller errors, at the rate of the method's order; two ranks decide
    the same steps."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.quarter_car = write_model(cls.folder.name, "quarter_car", QUARTER_CAR)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def errors(self, model, method, largest):
        exact = simulate(model, "-cosim_type", "monolithic", "-cosim_step", 1e-2, *TIGHT)
        for tolerance in (1e-3, 1e-5):
            results = simulate(model, *method, "-cosim_step", largest, "-cosim_adapt", "predictor",
                               "-cosim_adapt_rtol", tolerance, "-cosim_adapt_atol", tolerance,
                               "-cosim_diverged", "warn")
            error = np.abs(results.states.values[-1] - exact.states.values[-1]).max()
            yield error, len(results.time) - 1

    def check(self, model, largest):
        for name, method in METHODS.items():
            with self.subTest(method=name):
                (loose, few), (tight, many) = self.errors(model, method, largest)
                rate = np.log(loose / tight) / np.log(100)
                print(f"{name:20} error {loose:.2e} in {few} macro-steps, {tight:.2e} in {many}: "
                      f"tolerance^{rate:.2f}")
                order = ORDERS[name]
                self.assertGreater(rate, order / (order + 1) - 0.15)
                self.assertLess(many, 200 * few)

    def test_lotka_volterra(self):
        self.check(LOTKA_VOLTERRA, 2.0)

    def test_quarter_car(self):
        self.check(self.quarter_car, 0.2)

    def test_ranks(self):
        options = ("-cosim_type", "gauss_seidel", "-cosim_adapt", "predictor",
                   "-cosim_adapt_rtol", 1e-4)
        one, two = (simulate(LOTKA_VOLTERRA, *options, ranks=ranks) for ranks in (1, 2))
        np.testing.assert_allclose(two.time, one.time, rtol=1e-10)
        np.testing.assert_allclose(two.outputs.values, one.outputs.values, rtol=1e-10)

    def test_without_linearization(self):
        run = run_here(LOTKA_VOLTERRA, "-cosim_type", "jacobi", "-cosim_adapt", "predictor",
                      "-subsystem_linearization", "false")
        self.assertEqual(run.returncode, 2)
        self.assertIn("offers no linearization", run.stderr)

    def test_jumps_that_no_step_makes_smaller(self):
        options = ("run", TWO_MASS, "-cosim_type", "jacobi", "-cosim_balance", "constant",
                   "-cosim_adapt", "predictor", "-cosim_record", "none", "-cosim_stop", 0.1)
        run = execute(*options)
        self.assertEqual(run.returncode, 2)
        self.assertIn("subsystem 'right' puts out the jumps", run.stderr)
        with tempfile.TemporaryDirectory() as folder:
            run = execute(*options, "-cosim_consistent_outputs", "true", "-cosim_output",
                          f"{folder}/results.h5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_monolithic(self):
        run = run_here(LOTKA_VOLTERRA, "-cosim_type", "monolithic", "-cosim_adapt",
                      "predictor")
        self.assertEqual(run.returncode, 2)
        self.assertIn("monolithic has none", run.stderr)


if __name__ == "__main__":
    unittest.main()
