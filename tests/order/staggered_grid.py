"""Two groups on grids shifted by half a macro-step: order 2 from held inputs, energy that stays."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, simulate, write_model
from references import LotkaVolterra, error_percent, expm, observed_orders, two_mass

AMOUNTS = ("prey.amount", "predator.amount")
MASSES = ("left.x", "left.v", "right.x", "right.v")
METHOD = ("-cosim_type", "staggered_grid")

# Undamped, each gets the other's displacement.
PAIR = """
experiment: {start: 0, stop: 200}
subsystems:
  left:
    equations:
      inputs: {x_other: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: -x + 2*(x_other - x)}
      outputs: {x: x}
  right:
    equations:
      inputs: {x_other: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: (-x + 2*(x_other - x))/3}
      outputs: {x: x}
connections:
  - left.x -> right.x_other
  - right.x -> left.x_other
"""
# A mass and a spring: velocity for force.
SPRING_MASS = """
experiment: {start: 0, stop: 200}
subsystems:
  mass:
    equations:
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: f}
      outputs: {v: v}
  spring:
    equations:
      inputs: {v: 0}
      states: {s: 1}
      derivatives: {s: v}
      outputs: {f: -s}
connections:
  - mass.v -> spring.v
  - spring.f -> mass.f
"""


def chain(n):
    """Unit masses in a row, unit springs between them and to walls, the first pulled out by 1."""
    text = "experiment: {start: 0, stop: 5}\nsubsystems:\n"
    for k in range(n):
        text += (f"  m{k}:\n    equations:\n      inputs: {{before: 0, after: 0}}\n"
                 f"      states: {{x: {1 if k == 0 else 0}, v: 0}}\n"
                 "      derivatives: {x: v, v: before - 2*x + after}\n      outputs: {x: x}\n")
    text += "connections:\n"
    for k in range(n - 1):
        text += f"  - m{k}.x -> m{k + 1}.before\n  - m{k + 1}.x -> m{k}.after\n"
    matrix = np.zeros((2 * n, 2 * n))
    for k in range(n):
        matrix[2 * k, 2 * k + 1] = 1
        matrix[2 * k + 1, 2 * k] = -2
        for other in (k - 1, k + 1):
            if 0 <= other < n:
                matrix[2 * k + 1, 2 * other] = 1
    return text, matrix


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, ranks=ranks)


class Orders(unittest.TestCase):
    def check(self, error, steps, order, label):
        errors = [error(h) for h in steps]
        orders = observed_orders(steps, errors)
        print(f"{label}: errors {errors}, observed orders {np.round(orders, 3)}")
        self.assertLess(np.max(np.abs(orders - order)), 0.15, label)
        return errors

    def test_lotka_volterra(self):
        def error(method):
            return lambda h: error_percent(
                (results := simulate(LOTKA_VOLTERRA, "-cosim_type", method, "-cosim_step", h,
                                     *TIGHT)).states.columns(*AMOUNTS),
                LotkaVolterra.exact_states(results.time))
        steps = [0.02, 0.01, 0.005]
        shifted = self.check(error("staggered_grid"), steps, 2, "Lotka-Volterra, staggered grid")
        plain = self.check(error("jacobi"), steps, 1, "Lotka-Volterra, jacobi")
        self.assertLess(shifted[1], plain[1] / 300)

    def test_groups_by_colouring(self):
        text, matrix = chain(5)

        def error(h):
            results = run(text, *METHOD, "-cosim_step", h, *TIGHT)
            self.assertTrue(np.all(results.steps["coupling_evaluations"] == 1))
            start = np.zeros(len(matrix))
            start[0] = 1
            return np.max(np.abs(results.states.values[-1] - expm(5 * matrix) @ start))
        self.check(error, [0.1, 0.05, 0.025], 2, "chain of 5")

    def test_direct_feedthrough_costs_an_order(self):
        self.check(lambda h: error_percent(
            (results := simulate(TWO_MASS, *METHOD, "-cosim_step", h, *TIGHT)).states.columns(
                *MASSES), two_mass().exact_states(results.time)), [2e-4, 1e-4], 1,
            "two masses with feedthrough")

    def test_ranks_agree(self):
        text, _ = chain(5)
        one, *others = (run(text, *METHOD, "-cosim_step", 0.05, ranks=n) for n in (1, 2, 3))
        for other in others:
            np.testing.assert_allclose(other.states.values, one.states.values, rtol=0, atol=1e-12)


class Energy(unittest.TestCase):
    """Thirty periods and more, without damping."""

    def energies(self, text, energy, method):
        results = run(text, "-cosim_type", method, "-cosim_step", 0.05, "-cosim_diverged", "warn",
                      *TIGHT)
        values = energy(results.states)
        print(f"{method:15} energy from {values[0]:.4f} to {values[-1]:.4g}, "
              f"between {np.min(values):.6f} and {np.max(values):.4g}")
        return values / values[0]

    def check(self, text, energy, swing):
        staggered = self.energies(text, energy, "staggered_grid")
        self.assertLess(np.max(np.abs(staggered - 1)), swing)
        for method in ("jacobi", "gauss_seidel"):
            self.assertGreater(self.energies(text, energy, method)[-1], 5)

    def test_displacement_for_displacement(self):
        self.check(PAIR, lambda x: (x["left.v"]**2 + 3 * x["right.v"]**2 + x["left.x"]**2
                                    + x["right.x"]**2) / 2 + (x["left.x"] - x["right.x"])**2, 1e-6)

    def test_velocity_for_force(self):
        """Leapfrog: the energy swings by h^2/4."""
        self.check(SPRING_MASS, lambda x: (x["mass.v"]**2 + x["spring.s"]**2) / 2, 0.3 * 0.05**2)


class Groups(unittest.TestCase):
    def refused(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            outcome = execute("run", write_model(folder, "model", text), *METHOD, *options)
        self.assertEqual(outcome.returncode, 2, outcome.stdout)
        return outcome.stderr

    def test_from_the_model_file(self):
        one, other = (run(PAIR + f"schedule: {{groups: {groups}}}\n", *METHOD, "-cosim_stop", 2,
                          "-cosim_step", 0.1).states.values[-1]
                      for groups in ("[[left], [right]]", "[[right], [left]]"))
        self.assertGreater(np.max(np.abs(one - other)), 1e-6)
        self.assertLess(np.max(np.abs(one - other)), 1e-2)

    def test_connections_inside_a_group(self):
        message = self.refused(PAIR + "schedule: {groups: [[left, right]]}\n")
        self.assertIn("need two groups of subsystems, the model file's schedule has 1", message)
        text, _ = chain(3)
        message = self.refused(text + "schedule: {groups: [[m0, m1], [m2]]}\n")
        self.assertIn("m1.x -> m0.after stays in one", message)

    def test_odd_ring(self):
        text, _ = chain(3)
        message = self.refused(text + "  - m2.x -> m0.before\n")
        self.assertIn(" stays in one, whatever the groups", message)

    def test_other_choices(self):
        for options in ("-cosim_hold extrapolate", "-cosim_solve snes -cosim_hold zoh",
                        "-cosim_adapt richardson"):
            message = self.refused(PAIR, *options.split())
            self.assertIn("in the middle of the macro-step", message)


if __name__ == "__main__":
    unittest.main()
