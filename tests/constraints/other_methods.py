"""Direct constraints under monolithic, the reference, and under step-size control."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from constrained_models import FEEDBACK, NONLINEAR, OSCILLATING, THREE


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, ranks=ranks)


class Monolithic(unittest.TestCase):
    def test_closed_forms(self):
        for text, exact in ((FEEDBACK, lambda t: t**4), (NONLINEAR, lambda t: t**4),
                            (THREE, np.sin)):
            results = run(text, "-cosim_type", "monolithic", "-cosim_step", 0.05, *TIGHT)
            y, t = results.outputs, results.time
            errors = [np.max(np.abs(y[name] - exact(t))) for name in (y.names[0], "u.value")]
            print(f"monolithic: errors {errors[0]:.1e}, {errors[1]:.1e}")
            self.assertLess(max(errors), 5e-10)
            self.assertLess(np.max(np.abs(y["u.residual"])), 1e-12)

    def test_ranks_agree(self):
        one, two = (run(NONLINEAR, "-cosim_type", "monolithic", "-cosim_step", 0.05, *TIGHT,
                        ranks=n) for n in (1, 2))
        np.testing.assert_array_equal(two.outputs.values, one.outputs.values)


class StepControl(unittest.TestCase):
    def controlled(self, tolerance, *options):
        results = run(OSCILLATING, "-cosim_step", 0.5, *options, "-cosim_adapt_rtol", tolerance,
                      "-cosim_adapt_atol", tolerance)
        error = np.max(np.abs(results.outputs["left.y"] - np.sin(5 * results.time)))
        steps = len(results.time) - 1
        print(*options, f"tolerance {tolerance:g}: error {error:.1e}, {steps} macro-steps")
        return error, steps

    def test_predictor(self):
        """The error follows the tolerance, the number of steps its fourth root."""
        for method, few, many in (("jfm", 3.4, 11), ("missiles", 3.4, 11)):
            steps = []
            for tolerance in (1e-3, 1e-5, 1e-7):
                error, n = self.controlled(tolerance, "-cosim_type", method, "-cosim_adapt",
                                           "predictor")
                self.assertLess(error, 6 * tolerance)
                self.assertGreater(error, 0.1 * tolerance)
                steps.append(n)
            self.assertGreater(steps[2] / steps[0], few)
            self.assertLess(steps[2] / steps[0], many)

    def test_richardson(self):
        """An error per step: at the end their sum, here of some hundred steps."""
        before = 1.0
        for tolerance in (1e-4, 1e-5, 1e-6):
            error, steps = self.controlled(tolerance, "-cosim_type", "jacobi", "-cosim_hold",
                                           "extrapolate", "-cosim_adapt", "richardson")
            self.assertLess(error, steps * tolerance * 2)
            self.assertLess(error, 0.5 * before)
            before = error


if __name__ == "__main__":
    unittest.main()
