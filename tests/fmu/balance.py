"""Balance correction for FMUs: the same gain of an order, whatever an FMU can do."""
import unittest

import numpy as np
from concord_runs import TIGHT
from fmu_runs import FmuTest
from references import LotkaVolterra, error_percent, observed_orders

STEPS = (0.1, 0.05, 0.025)
FMUS = {"model exchange": dict(kinds=("me",), capabilities=("directional",)),
        "interpolated inputs": dict(capabilities=("variable", "interpolate", "slopes")),
        "micro-steps": dict(capabilities=("variable",)),
        "constant inputs, no slopes": dict(capabilities=())}


class Corrected(FmuTest):
    def check(self, order, label, *options, **how):
        errors = []
        for h in STEPS:
            results = self.simulate(("prey", "predator"), "-cosim_type", "jacobi", "-cosim_step", h,
                                    *options, *TIGHT, stop=5, **how)
            exact = LotkaVolterra.exact_states(results.time)
            amounts = results.outputs.columns("prey.amount", "predator.amount")
            errors.append(error_percent(amounts, exact))
        orders = observed_orders(STEPS, errors)
        print(f"{label}: errors {np.array(errors)} %, orders {np.round(orders, 2)}")
        self.assertGreater(np.min(orders), order - 0.3)
        return errors

    def test_constant_needs_nothing(self):
        for name, how in FMUS.items():
            with self.subTest(name):
                plain = self.check(1, f"{name}, none", **how)
                corrected = self.check(2, f"{name}, constant", "-cosim_balance", "constant", **how)
                self.assertLess(corrected[-1], 0.1 * plain[-1])

    def test_smooth_needs_inputs_that_vary(self):
        for name in list(FMUS)[:3]:
            for options in (["-cosim_balance", "smooth"],
                            ["-cosim_balance", "smooth", "-cosim_smooth_switching", "true"]):
                with self.subTest(name):
                    self.check(2, f"{name}, {options[1::2]}", *options, **FMUS[name])

    def test_what_is_lacking_is_said(self):
        for part in ("prey", "predator"):
            self.build(part, capabilities=())
        for option in ("-cosim_balance smooth", "-cosim_smooth_switching true"):
            self.fails(2, ["'prey' offers no polynomial inputs", "jacobi"], "-cosim_type", "jacobi",
                       *option.split(), parts=("prey", "predator"))
        self.fails(2, ["'prey' offers no output derivatives"], "-cosim_type", "jacobi",
                   "-cosim_hold", "extrapolate", "-cosim_extrapolation", "hermite",
                   parts=("prey", "predator"))


if __name__ == "__main__":
    unittest.main()
