"""Direct constraints under explicit methods: projection and overlapping cure what staggered coupling
breaks."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, run_here, simulate, write_model
from constrained_models import CONNECTED, FEEDBACK, NONLINEAR, PAIR, THREE

JACOBI = ("-cosim_type", "jacobi")
OVERLAPPING = (*JACOBI, "-cosim_constraints", "overlapping")
STAGGERED = (*JACOBI, "-cosim_constraints", "staggered")


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, ranks=ranks)


def right_first():
    text = PAIR.read_text(encoding="utf-8")
    left, right, rest = (text.index(mark) for mark in ("  left:\n", "  right:\n", "constraints:"))
    return text[:left] + text[right:rest] + text[left:right] + text[rest:]


def extrapolated(order):
    return ("-cosim_hold", "extrapolate", "-cosim_hold_order", order) if order else ()


class Ordered(unittest.TestCase):
    def errors(self, text, step, *options):
        y, t = (results := run(text, "-cosim_step", step, *TIGHT, *options)).outputs, results.time
        return np.max(np.abs(y["left.y"] - t**4)), np.max(np.abs(y["left.z"] - y["right.z"]))

    def assert_orders(self, text, *options, gap=1e-9):
        for k in (0, 1, 2):
            runs = [self.errors(text, h, *options, *extrapolated(k)) for h in (0.02, 0.01, 0.005)]
            errors = np.array(runs)[:, 0]
            observed = np.log2(errors[:-1] / errors[1:])
            print(*options, "k =", k, "errors", errors, "orders", observed, "gap", runs[-1][1])
            self.assertLess(abs(observed[-1] - (k + 1)), 0.15)
            if gap is not None:
                self.assertLess(runs[-1][1], gap)


class Projection(Ordered):
    def test_orders(self):
        self.assert_orders(FEEDBACK, *JACOBI)

    def test_nonlinear(self):
        self.assert_orders(NONLINEAR, *JACOBI)

    def test_in_sequence(self):
        """Gauss-Seidel: the same orders, smaller errors; groups in any order."""
        self.assert_orders(CONNECTED, "-cosim_type", "gauss_seidel")
        parallel, _ = self.errors(CONNECTED, 0.01, *JACOBI, *extrapolated(1))
        for groups in ("[left, right]", "[right, left]"):
            text = CONNECTED + f"schedule: {{groups: [{groups}]}}\n"
            sequential, _ = self.errors(text, 0.01, "-cosim_type", "gauss_seidel", *extrapolated(1))
            self.assertLess(sequential, 1.05 * parallel)

    def test_whatever_comes_first(self):
        results = run(right_first(), *JACOBI, "-cosim_step", 0.02)
        self.assertLess(np.max(np.abs(results.outputs["u.value"] - results.time**4)), 1e-9)

    def test_ranks_agree(self):
        for treatment in ("projection", "overlapping", "staggered"):
            one, *others = (run(FEEDBACK, *JACOBI, "-cosim_constraints", treatment, "-cosim_step",
                                0.02, *TIGHT, ranks=n) for n in (1, 2, 3))
            for other in others:
                np.testing.assert_allclose(other.outputs.values, one.outputs.values, rtol=0,
                                           atol=1e-10, err_msg=treatment)


class Overlapping(Ordered):
    def test_orders(self):
        for text in (FEEDBACK, FEEDBACK.replace("5/2*u", "u/2").replace("7/2*y", "3/2*y")):
            self.assert_orders(text, *OVERLAPPING)

    def test_nonlinear(self):
        """The weights belong to lambda0, so that gamma is met up to the square of the change."""
        self.assert_orders(NONLINEAR, *OVERLAPPING, gap=None)
        gaps = [self.errors(NONLINEAR, h, *OVERLAPPING, *extrapolated(1))[1] for h in (0.02, 0.01)]
        print("gaps", gaps)
        self.assertGreater(np.log2(gaps[0] / gaps[1]), 3.5)

    def test_converges_where_staggered_diverges(self):
        results = run(right_first(), *OVERLAPPING, "-cosim_step", 0.02)
        error = np.max(np.abs(results.outputs["u.value"] - results.time**4))
        print(f"overlapping, alpha of staggered 5/2: error of u {error:.1e}")
        self.assertLess(error, 1e-8)

    def test_equals_projection_where_everything_is_linear(self):
        for text in (FEEDBACK, THREE):
            one, other = (run(text, *method, *extrapolated(1), "-cosim_step", 0.02, *TIGHT)
                          for method in (JACOBI, OVERLAPPING))
            np.testing.assert_allclose(other.outputs.values, one.outputs.values, rtol=0, atol=1e-7)

    def test_three_carriers(self):
        errors = []
        for step in (0.02, 0.01):
            results = run(THREE, *OVERLAPPING, *extrapolated(2), "-cosim_step", step, *TIGHT)
            errors.append(np.max(np.abs(results.outputs["u.value"] - np.sin(results.time))))
        print("overlapping, three carriers:", errors)
        self.assertLess(abs(np.log2(errors[0] / errors[1]) - 3), 0.15)

    def test_view_tells_shares_and_alpha(self):
        for ranks in (1, 2):
            text = run(THREE, *OVERLAPPING, "-cosim_view", ranks=ranks).stdout
            self.assertIn("constraint u: shares a 0.2857 b 0.5714 c 0.1429; staggered has alpha 6,",
                          text)

    def test_view_before_anything_is_factorised(self):
        """PETSc would show KLU's factors, which are not there yet."""
        for method in ("jfm", "missiles"):
            for ranks in (1, 2):
                text = run(THREE, "-cosim_type", method, "-cosim_step", 0.01, "-cosim_view",
                           ranks=ranks).stdout
                self.assertIn("PC Object:", text)

    def test_carriers_that_answer_to_each_other(self):
        text = FEEDBACK.replace("inputs:  {u: 0}", "inputs:  {u: 0, w: 0}", 1).replace(
            "7/2*y - u", "7/2*y - u + w").replace(
                "constraints:", "connections:\n  - right.z -> left.w\nconstraints:")
        with tempfile.TemporaryDirectory() as folder:
            refused = run_here(write_model(folder, "model", text), *OVERLAPPING)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'u' also acts through right.z -> left.w", refused.stderr)


class Staggered(unittest.TestCase):
    """An error of u is multiplied by -alpha each step (Arnold 2012)."""

    def test_diverges_where_alpha_is_above_one(self):
        for step in (0.02, 0.002):
            results = run(right_first(), *STAGGERED, "-cosim_step", step, "-cosim_stop", 20 * step,
                          "-cosim_diverged", "warn")
            error = results.outputs["u.value"] - results.time**4
            growth = error[12:] / error[11:-1]
            print(f"staggered, alpha = 5/2, h = {step}: growth {growth[-1]:.3f}")
            np.testing.assert_allclose(growth[-4:], -2.5, rtol=0.05)

    def test_three_carriers(self):
        short = (*STAGGERED, "-cosim_step", 0.01, "-cosim_stop", 0.1)
        with tempfile.TemporaryDirectory() as folder:
            told = run_here(write_model(folder, "three", THREE), *short)
        self.assertEqual(told.returncode, 1, "an error of a hundred times the signals is told")
        self.assertIn("the run has diverged", told.stderr)
        results = run(THREE, *short, "-cosim_diverged", "warn")
        error = results.outputs["u.value"] - np.sin(results.time)
        np.testing.assert_allclose(error[6:] / error[5:-1], -6, rtol=0.1)

    def test_converges_where_alpha_is_below_one(self):
        text = PAIR.read_text(encoding="utf-8")
        errors = []
        for step in (0.02, 0.01):
            results = run(text, *STAGGERED, "-cosim_step", step)
            errors.append(np.max(np.abs(results.outputs["u.value"] - results.time**4)))
        print("staggered, alpha = 2/5:", errors)
        self.assertLess(abs(np.log2(errors[0] / errors[1]) - 1), 0.2)


if __name__ == "__main__":
    unittest.main()
