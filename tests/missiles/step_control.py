"""-cosim_adapt predictor: the error follows the tolerance, steps follow the solution. The error is
that of the worst state, relative to its L2 norm."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TWO_MASS, simulate, write_model
from references import LotkaVolterra, error_percent, two_mass

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

QUARTER_CAR = """
name: quarter car
experiment: {start: 0.0, stop: 2.0}
subsystems:
  body:
    equations:
      parameters: {m: 400, k: 15000, d: 1000}
      inputs: {xw: 0, vw: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: (k*(xw - x) + d*(vw - v))/m}
      outputs: {x: x, v: v}
  wheel:
    equations:
      parameters: {m: 40, k: 15000, d: 1000, kw: 150000, z: 0.1}
      inputs: {xc: 0, vc: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: (kw*(z - x) - k*(x - xc) - d*(v - vc))/m}
      outputs: {x: x, v: v}
connections:
  - wheel.x -> body.xw
  - wheel.v -> body.vw
  - body.x -> wheel.xc
  - body.v -> wheel.vc
"""


def quarter_car(grid):
    """Body's and wheel's x, v: x' = A x + b about the equilibrium, by eigenvectors."""
    mc, mw, kc, kw, dc = 400, 40, 15000, 150000, 1000
    a = np.array([[0, 1, 0, 0], [-kc / mc, -dc / mc, kc / mc, dc / mc], [0, 0, 0, 1],
                  [kc / mw, dc / mw, -(kc + kw) / mw, -dc / mw]])
    values, vectors = np.linalg.eig(a)
    rest = np.array([0.1, 0, 0.1, 0])
    weights = np.linalg.solve(vectors, -rest.astype(complex))
    return rest + ((weights * np.exp(np.outer(grid, values))) @ vectors.T).real


class Problems:
    """The same checks with and without rollback, for missiles and jfm."""
    largest = {"two_mass": 0.1, "lotka_volterra": 2.0, "quarter_car": 0.2}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.models = {"two_mass": TWO_MASS, "lotka_volterra": LOTKA_VOLTERRA,
                      "quarter_car": write_model(cls.folder.name, "quarter_car", QUARTER_CAR)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def exact(problem, grid):
        if problem == "two_mass":
            return two_mass().exact_states(grid)
        if problem == "lotka_volterra":
            return LotkaVolterra.exact_states(grid)
        return quarter_car(grid)

    def run_with(self, problem, tolerance):
        results = simulate(self.models[problem], *self.options, "-cosim_adapt", "predictor",
                           "-cosim_step", self.largest[problem], "-cosim_adapt_rtol", tolerance,
                           "-cosim_adapt_atol", tolerance)
        exact = self.exact(problem, results.time)
        errors = [error_percent(results.states.values[:, i], exact[:, i]) / 100
                  for i in range(exact.shape[1])]
        error = max(errors)
        print(f"{problem:15} tolerance {tolerance:g}: error {error:.2e}, "
              f"{len(results.time) - 1} macro-steps, {results.steps['rejections'].sum()} rejected, "
              f"{results.steps['coupling_evaluations'].mean():.2f} evaluations per macro-step")
        return results, error

    def check(self, problem):
        for tolerance in TOLERANCES:
            with self.subTest(tolerance=tolerance):
                results, error = self.run_with(problem, tolerance)
                self.assertLess(error, 10 * tolerance)
                self.assertGreater(error, 0.1 * tolerance)
                self.assertGreater(results.steps["size"].max(), 3 * results.steps["size"].min())

    def test_two_mass(self):
        self.check("two_mass")

    def test_lotka_volterra(self):
        self.check("lotka_volterra")

    def test_quarter_car(self):
        self.check("quarter_car")


class Missiles(Problems, unittest.TestCase):
    options = ("-cosim_type", "missiles")


class MissilesWithoutRollback(Problems, unittest.TestCase):
    options = ("-cosim_type", "missiles", "-subsystem_rollback", "false")

    def test_nothing_is_rejected(self):
        results, _ = self.run_with("lotka_volterra", 1e-6)
        self.assertEqual(results.steps["rejections"].sum(), 0)


class Jfm(Problems, unittest.TestCase):
    options = ("-cosim_type", "jfm")

    def test_ends_exactly_at_stop_and_records_the_estimate(self):
        results, _ = self.run_with("two_mass", 1e-5)
        self.assertEqual(results.time[-1], 2.0)
        estimates = results.steps["error_estimate"]
        self.assertTrue((estimates <= 1).all())
        self.assertGreater(np.median(estimates), 0.05)


if __name__ == "__main__":
    unittest.main()
