"""Observed orders with delays, bounded on both sides: 4 for cubic inputs, k + 1 for inputs from the
past, for delays on the grid of the macro-steps and off it, longer and shorter than they are."""
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, simulate
from delay_models import LOOP, PURE, SCALAR, loop, pure, scalar


class Orders(ModelTest):
    def errors(self, text, options, steps, exact, names):
        model = self.model(text)
        result = []
        for step in steps:
            run = simulate(model, *TIGHT, *options, "-cosim_step", step)
            result.append(np.max(np.abs(run.outputs.columns(*names) - exact(run.time))))
        return np.array(result)

    def check(self, text, options, steps, exact, names, least, most):
        errors = self.errors(text, options, steps, exact, names)
        order = np.log(errors[0] / errors[-1]) / np.log(steps[0] / steps[-1])
        self.assertGreater(order, least, errors)
        self.assertLess(order, most, errors)


def of_scalar(delay):
    return lambda times: np.array([[scalar(t, delay)] for t in times])


def of_loop(to_right, to_left):
    return lambda times: loop(times, to_right, to_left)


def of_pure(delay):
    return lambda times: pure(times, delay)[1][:, None]


class Implicit(Orders):
    def check_order_4(self, text, exact, names, steps, **bounds):
        for method in ("jfm", "missiles"):
            with self.subTest(method=method):
                self.check(text, ["-cosim_type", method], steps, exact, names,
                           **{"least": 3.6, "most": 4.6, **bounds})

    def test_on_the_grid(self):
        self.check_order_4(SCALAR.format(start=0, stop=6, delay=1), of_scalar(1.0), ["a.x"],
                           [0.25, 0.125, 0.0625])

    def test_a_wave_off_the_grid(self):
        self.check_order_4(PURE.format(stop=2, delay=0.437), of_pure(0.437), ["sum.x"],
                           [0.1, 0.05, 0.025])

    def test_shorter_than_the_macro_step(self):
        """By the same part of it, whatever it is."""
        for method in ("jfm", "missiles"):
            with self.subTest(method=method):
                errors = [self.errors(PURE.format(stop=2, delay=0.37 * step),
                                      ["-cosim_type", method], [step], of_pure(0.37 * step),
                                      ["sum.x"])[0] for step in (0.1, 0.05, 0.025)]
                order = np.log2(errors[0] / errors[-1]) / 2
                self.assertGreater(order, 3.6, errors)
                self.assertLess(order, 4.6, errors)

    def test_quintic_inputs_have_order_6(self):
        for method in ("jfm6", "missiles6"):
            with self.subTest(method=method):
                self.check(PURE.format(stop=2, delay=0.437),
                           ["-cosim_type", method, "-subsystem_rtol", "1e-13"], [0.1, 0.05],
                           of_pure(0.437), ["sum.x"], 5.6, 6.4)
                errors = [self.errors(PURE.format(stop=2, delay=0.37 * step),
                                      ["-cosim_type", method, "-subsystem_rtol", "1e-13"], [step],
                                      of_pure(0.37 * step), ["sum.x"])[0] for step in (0.1, 0.05)]
                self.assertLess(abs(np.log2(errors[0] / errors[1]) - 6), 0.4, errors)

    def test_lines_have_order_2(self):
        self.check(SCALAR.format(start=0, stop=6, delay=1), ["-cosim_type", "kuebler_schiehlen"],
                   [0.1, 0.05, 0.025], of_scalar(1.0), ["a.x"], 1.8, 2.3)


class Explicit(Orders):
    def test_hold_orders(self):
        for k in (0, 1, 2):
            for delay in (1.0, 0.7321):
                with self.subTest(k=k, delay=delay):
                    self.check(SCALAR.format(start=0, stop=3, delay=delay),
                               ["-cosim_type", "jacobi", "-cosim_hold_order", k],
                               [0.02, 0.01, 0.005, 0.0025], of_scalar(delay), ["a.x"],
                               k + 0.7, k + 1.5)

    def test_in_sequence(self):
        self.check(LOOP.format(stop=2, to_right=0.5, to_left=0.3), ["-cosim_type", "gauss_seidel"],
                   [0.02, 0.01, 0.005], of_loop(0.5, 0.3), ["left.y", "right.y"], 0.7, 1.4)


if __name__ == "__main__":
    unittest.main()
