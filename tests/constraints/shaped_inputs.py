"""Inputs that a constraint's unknown feeds: extrapolated with slopes, switched smoothly, and with
their balance errors given back. The orders are those of inputs that outputs feed."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from constrained_models import FEEDBACK

STEPS = (0.02, 0.01, 0.005)
HERMITE = ("-cosim_extrapolation", "hermite")
SWITCHING = ("-cosim_smooth_switching", "true")
SMOOTH = ("-cosim_balance", "smooth")


class Orders(unittest.TestCase):
    def check(self, k, order, *options):
        hold = ["-cosim_hold", "extrapolate", "-cosim_hold_order", k] if k else []
        errors = []
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "model", FEEDBACK)
            for step in STEPS:
                results = simulate(model, "-cosim_type", "jacobi", *hold, *options, "-cosim_step",
                                   step, *TIGHT)
                y = results.outputs
                self.assertLess(np.max(np.abs(y["left.z"] - y["right.z"])), 1e-12)
                errors.append(np.max(np.abs(y["left.y"] - results.time**4)))
        observed = np.log2(np.array(errors[:-1]) / errors[1:])
        print(f"order {k}", options, errors, observed)
        self.assertLess(np.max(np.abs(observed - order)), 0.1)
        return results

    def test_hermite_and_switching_keep_the_order(self):
        for k in (1, 2, 3):
            self.check(k, k + 1, *HERMITE)
        for k in (0, 1, 2):
            self.check(k, k + 1, *SWITCHING)

    def test_correction_gains_one_order(self):
        for k in (0, 1, 2):
            for options in (("-cosim_balance", "constant"), SMOOTH, (*SMOOTH, *SWITCHING)):
                results = self.check(k, k + 2, *options)
                self.assertEqual(results.balance.names, ["u.value -> left.u", "u.value -> right.u"])
        self.check(2, 4, *SMOOTH, *HERMITE)


if __name__ == "__main__":
    unittest.main()
