"""Balance correction for FMUs: the same gain of an order, whatever an FMU can do."""
import unittest

import numpy as np
from concord_runs import TIGHT, simulate
from fmu_runs import FmuTest
from references import LotkaVolterra, error_percent, observed_orders

PAIR = ("prey", "predator")
STEPS = (0.1, 0.05, 0.025)
FMUS = {"model exchange": dict(kinds=("me",), capabilities=("directional",)),
        "interpolated inputs": dict(capabilities=("variable", "interpolate", "slopes")),
        "micro-steps": dict(capabilities=("variable",)),
        "constant inputs, no slopes": dict(capabilities=())}


class Corrected(FmuTest):
    def build_pair(self, name):
        for part in PAIR:
            self.build(part, **FMUS[name])
        return self.model(PAIR, stop=5)

    def check(self, model, order, label, *options):
        errors = []
        for h in STEPS:
            results = simulate(model, "-cosim_type", "jacobi", "-cosim_step", h, *options, *TIGHT)
            exact = LotkaVolterra.exact_states(results.time)
            amounts = results.outputs.columns("prey.amount", "predator.amount")
            errors.append(error_percent(amounts, exact))
        orders = observed_orders(STEPS, errors)
        print(f"{label}: errors {np.array(errors)} %, orders {np.round(orders, 2)}")
        self.assertGreater(np.min(orders), order - 0.3)
        return errors

    def test_constant_needs_nothing(self):
        for name in FMUS:
            with self.subTest(name):
                model = self.build_pair(name)
                plain = self.check(model, 1, f"{name}, none")
                corrected = self.check(model, 2, f"{name}, constant", "-cosim_balance", "constant")
                self.assertLess(corrected[-1], 0.1 * plain[-1])

    def test_smooth_needs_inputs_that_vary(self):
        for name in list(FMUS)[:3]:
            model = self.build_pair(name)
            for options in (["-cosim_balance", "smooth"],
                            ["-cosim_balance", "smooth", "-cosim_smooth_switching", "true"]):
                with self.subTest(name):
                    self.check(model, 2, f"{name}, {options[1::2]}", *options)

    def test_what_is_lacking_is_said(self):
        self.build_pair("constant inputs, no slopes")
        for option in ("-cosim_balance smooth", "-cosim_smooth_switching true"):
            self.fails(2, ["'prey' offers no polynomial inputs", "jacobi"], "-cosim_type", "jacobi",
                       *option.split(), parts=PAIR)
        self.fails(2, ["'prey' offers no output derivatives"], "-cosim_type", "jacobi",
                   "-cosim_hold", "extrapolate", "-cosim_extrapolation", "hermite",
                   parts=PAIR)


if __name__ == "__main__":
    unittest.main()
