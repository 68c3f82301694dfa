"""Direct constraints under explicit methods: projection cures what staggered coupling breaks."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from constrained_models import FEEDBACK, PAIR

JACOBI = ("-cosim_type", "jacobi")
STAGGERED = (*JACOBI, "-cosim_constraints", "staggered")


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, ranks=ranks)


def right_first():
    text = PAIR.read_text(encoding="utf-8")
    left, right, rest = (text.index(mark) for mark in ("  left:\n", "  right:\n", "constraints:"))
    return text[:left] + text[right:rest] + text[left:right] + text[rest:]


class Projection(unittest.TestCase):
    def test_orders(self):
        for options, order in (((), 1), (("-cosim_hold", "extrapolate", "-cosim_hold_order", 1), 2)):
            errors = []
            for step in (0.02, 0.01, 0.005):
                results = run(FEEDBACK, *JACOBI, *options, "-cosim_step", step, *TIGHT)
                y = results.outputs
                self.assertLess(np.max(np.abs(y["left.z"] - y["right.z"])), 1e-9)
                errors.append(np.max(np.abs(y["left.y"] - results.time**4)))
            observed = np.log2(np.array(errors[:-1]) / errors[1:])
            print("projection", options, errors, observed)
            self.assertLess(abs(observed[-1] - order), 0.35)

    def test_whatever_comes_first(self):
        results = run(right_first(), *JACOBI, "-cosim_step", 0.02)
        self.assertLess(np.max(np.abs(results.outputs["u.value"] - results.time**4)), 1e-9)

    def test_ranks_agree(self):
        one, two = (run(FEEDBACK, *JACOBI, "-cosim_step", 0.02, *TIGHT, ranks=n) for n in (1, 2))
        np.testing.assert_allclose(two.outputs.values, one.outputs.values, rtol=0, atol=1e-10)


class Staggered(unittest.TestCase):
    """An error of u is multiplied by -alpha each step (Arnold 2012)."""

    def test_diverges_where_alpha_is_above_one(self):
        for step in (0.02, 0.002):
            results = run(right_first(), *STAGGERED, "-cosim_step", step, "-cosim_stop", 20 * step)
            error = results.outputs["u.value"] - results.time**4
            growth = error[12:] / error[11:-1]
            print(f"staggered, alpha = 5/2, h = {step}: growth {growth[-1]:.3f}")
            np.testing.assert_allclose(growth[-4:], -2.5, rtol=0.05)

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
