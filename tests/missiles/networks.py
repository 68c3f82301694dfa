"""Networks on which the estimators have something to do, against `monolithic`."""
import time
import unittest

import numpy as np
from concord_runs import TIGHT, InFolder, distance, in_short, simulate, write_model
from network_models import five, rod
from patience import wait_until
from references import observed_orders


class FiveSubsystems(InFolder, unittest.TestCase):
    """Feedthrough linear or nonlinear in u, explicit time dependence, a singular A, stiffness."""
    steps = (0.1, 0.05, 0.025)

    def check(self, valve, options, order, allowed=0.2):
        model = write_model(self.folder, valve, five(valve))
        errors = []
        for step in self.steps:
            results, reference = (simulate(model, *what.split(), *TIGHT, "-cosim_step", step)
                                  for what in (options, "-cosim_type monolithic"))
            errors.append(distance(results, reference))
        orders = observed_orders(self.steps, errors)
        print(f"{valve:9} {options:50} {np.array(errors)} orders {np.round(orders, 3)}")
        for observed in orders:
            self.assertLess(abs(observed - order), allowed)

    def test_output_linear_in_u(self):
        self.check("linear", "-cosim_type missiles -missiles_defect none", 4)
        self.check("linear", "-cosim_type missiles", 4)

    def test_output_nonlinear_in_u(self):
        self.check("nonlinear", "-cosim_type missiles -missiles_defect none", 4)
        self.check("nonlinear", "-cosim_type missiles", 4)
        self.check("nonlinear", "-cosim_type missiles -missiles_defect linear", 4)

    def test_jfm(self):
        self.check("nonlinear", "-cosim_type jfm", 4)

    def test_without_state_derivatives(self):
        self.check("nonlinear", "-cosim_type missiles -subsystem_state_derivatives false", 2, 0.35)


class Large(InFolder, unittest.TestCase):
    """A stiff rod of 400 cells on a small controller: no dense exponentials."""
    cells = 400
    tolerances = "-subsystem_rtol 1e-9 -subsystem_atol 1e-11".split()

    def check(self, conductivity, bound):
        model = write_model(self.folder, "rod", rod(self.cells, conductivity))
        reference = simulate(model, "-cosim_type", "monolithic", *self.tolerances, "-cosim_step",
                             0.05)

        def is_cheap():
            """A dense exponential takes ten products of matrices and more, and there would be one in each
            macro-step; but a run may have to wait for a processor."""
            results = simulate(model, "-cosim_type", "missiles", *self.tolerances, "-cosim_step", 0.05)
            far = distance(results, reference)
            rest = np.sum(results.steps["wall_time"]) - np.sum(results.subsystems["wall_time"])
            products = self.seconds_of_products()
            print(f"{conductivity}: {far:.1e}, {rest:.4f} s beside integration in all, dense products {products:.4f} s")
            self.assertLess(far, bound)
            return rest < products

        wait_until(is_cheap, "all macro-steps in less time than one dense exponential")

    def seconds_of_products(self):
        """Of whole numbers, which no library of linear algebra makes as fast as it can."""
        matrix = np.random.default_rng(1).integers(0, 9, (self.cells, self.cells))
        begin = time.perf_counter()
        for _ in range(10):
            matrix @ matrix
        return time.perf_counter() - begin

    def test_linear(self):
        self.check("1", 2e-4)

    def test_mildly_nonlinear(self):
        self.check("1 + 0.1*T*T", 2e-4)


class Ranks(InFolder, unittest.TestCase):
    """The number of ranks changes nothing but the time; two masses and a ring are in mpi/ranks.py."""

    def check(self, model, *options):
        for number, preset in enumerate(("missiles", "jfm")):
            one = simulate(model, "-cosim_type", preset, *TIGHT, *options)
            for ranks in in_short((2, 3, 5), 3, number):
                with self.subTest(preset=preset, ranks=ranks, model=model.stem):
                    other = simulate(model, "-cosim_type", preset, *TIGHT, *options, ranks=ranks)
                    self.assertGreater(len(set(other.subsystems["rank"])), 1)
                    np.testing.assert_array_equal(one.time, other.time)
                    self.assertLess(distance(other, one), 1e-10)

    def test_five(self):
        self.check(write_model(self.folder, "five", five()), "-cosim_step", 0.05, "-cosim_stop", 2)

    def test_some_without_rollback(self):
        self.check(write_model(self.folder, "five", five()), "-cosim_step", 0.05, "-cosim_stop", 2,
                   "-subsystem_valve_rollback", "false", "-subsystem_tank_rollback", "false")


if __name__ == "__main__":
    unittest.main()
