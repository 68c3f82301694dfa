"""MISSILES on the two published examples: errors, orders, costs, and what withheld capabilities
leave."""
import re
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, simulate
from references import LotkaVolterra, error_percent, observed_orders, two_mass

NO_STATE_DERIVATIVES = "-subsystem_state_derivatives false"
NO_DEFECT = "-missiles_defect none"


class Errors:
    known = {}

    def error(self, step, *options):
        """Error of the first output in %, with one coupling evaluation in each macro-step."""
        key = self.model, step, options
        if key not in Errors.known:
            results = simulate(self.model, "-cosim_type", "missiles", *TIGHT, "-cosim_step", step,
                               *" ".join(options).split())
            self.assertEqual(set(results.steps["coupling_evaluations"]), {1})
            for advances in results.subsystems["advances"]:
                self.assertEqual(advances, len(results.time) - 1)
            exact = self.problem.exact_states(results.time)[:, 0]
            Errors.known[key] = error_percent(results.outputs[self.output], exact)
            print(f"h = {step:<6g} {' '.join(options):70} {Errors.known[key]:.4e} %")
        return Errors.known[key]

    def check_table(self, table, share, *options):
        for step, expected in table.items():
            with self.subTest(step=step, options=options):
                self.assertLess(abs(self.error(step, *options) / expected - 1), share)

    def check_order(self, steps, order, allowed, *options):
        orders = observed_orders(steps, [self.error(h, *options) for h in steps])
        print(f"{' '.join(options)}: orders {np.round(orders, 3)}")
        for observed in orders:
            self.assertLess(abs(observed - order), allowed)


class TwoMass(Errors, unittest.TestCase):
    model, problem, output = TWO_MASS, two_mass(), "left.x"
    steps = (1e-2, 5e-3, 2e-3, 1e-3)

    def test_errors(self):
        """Those of cubic inputs, at most 10 % above; slopes at the start, which the tables did
        without, make it better."""
        for step, expected in zip(self.steps, (4.01e-2, 2.34e-3, 5.68e-5, 3.48e-6)):
            with self.subTest(step=step):
                self.assertLess(self.error(step), 1.1 * expected)
                self.assertGreater(self.error(step), 0.6 * expected)
        self.check_table({1e-2: 3.096e-2, 1e-3: 3.1526e-6}, 0.1)

    def test_order(self):
        self.check_order(self.steps, 4, 0.25)

    def test_one_factorisation_per_run(self):
        with tempfile.TemporaryDirectory() as folder:
            run = execute("run", TWO_MASS, "-cosim_type", "missiles", "-cosim_step", 1e-3,
                          "-log_view", "-cosim_output", f"{folder}/r.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        stage = run.stdout.split("--- Event Stage ")[1]  # the run without its error estimate
        counts = {name: int(count) for name, count
                  in re.findall(r"^(MatLUFactorNum|MatSolve)\s+(\d+)", stage, re.M)}
        self.assertEqual(counts, {"MatLUFactorNum": 1, "MatSolve": 2000})


class LotkaVolterraErrors(Errors, unittest.TestCase):
    model, problem, output = LOTKA_VOLTERRA, LotkaVolterra, "prey.amount"

    def test_without_defect(self):
        self.check_table({0.2: 1.61e-3, 0.1: 8.57e-5, 0.05: 5.39e-6, 0.025: 3.46e-7, 0.01: 9.05e-9},
                         0.2, NO_DEFECT)

    def test_constant_defect(self):
        self.check_table({0.2: 4.15e-4, 0.1: 2.84e-5, 0.05: 2.10e-6, 0.025: 1.43e-7}, 0.2)

    def test_linear_defect(self):
        self.check_table({0.2: 5.53e-4, 0.1: 2.57e-5, 0.05: 1.80e-6, 0.025: 1.30e-7}, 0.2,
                         "-missiles_defect linear")

    def test_neither_remainder_nor_defect(self):
        self.check_table({0.2: 30.6, 0.1: 19.3, 0.05: 11.3, 0.025: 6.2, 0.01: 2.63}, 0.05,
                         NO_STATE_DERIVATIVES, NO_DEFECT)


class LotkaVolterraOrders(Errors, unittest.TestCase):
    model, problem, output = LOTKA_VOLTERRA, LotkaVolterra, "prey.amount"

    def test_without_defect(self):
        self.check_order((0.2, 0.1, 0.05, 0.025), 4, 0.25, NO_DEFECT)

    def test_constant_defect(self):
        self.check_order((0.2, 0.1, 0.05, 0.025), 4, 0.25)

    def test_linear_defect_is_at_least_as_good(self):
        steps = (0.1, 0.05, 0.025)
        orders = observed_orders(steps, [self.error(h, "-missiles_defect linear") for h in steps])
        self.assertTrue(np.all((orders > 3.75) & (orders < 5.25)), orders)


class Withheld(Errors, unittest.TestCase):
    """Without f at communication points only the defect speaks."""
    model, problem, output = LOTKA_VOLTERRA, LotkaVolterra, "prey.amount"

    def test_defect_alone(self):
        self.check_order((0.1, 0.05, 0.025, 0.0125), 2, 0.15, NO_STATE_DERIVATIVES)

    def test_neither(self):
        self.check_order((0.01, 0.005, 0.0025), 1, 0.15, NO_STATE_DERIVATIVES, NO_DEFECT)


class Stehfest(unittest.TestCase):
    """Near the exponential, and visibly worse where that is exact: on a linear problem."""

    def test_two_mass(self):
        exact = two_mass()
        errors = {}
        for laplace in ("expm", "stehfest"):
            for step in (2e-3, 5e-4):
                results = simulate(TWO_MASS, "-cosim_type", "missiles", *TIGHT, "-cosim_step", step,
                                   "-missiles_laplace", laplace, "-missiles_defect", "none")
                errors[laplace, step] = error_percent(results.outputs["left.x"],
                                                      exact.exact_states(results.time)[:, 0])
                print(f"{laplace:8} h = {step:g}: {errors[laplace, step]:.3e} %")
        self.assertGreater(errors["stehfest", 5e-4], 5 * errors["expm", 5e-4])
        self.assertLess(errors["stehfest", 5e-4], 1e-4)
        self.assertLess(abs(errors["stehfest", 2e-3] / errors["expm", 2e-3] - 1), 0.2)


if __name__ == "__main__":
    unittest.main()
