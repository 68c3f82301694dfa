"""Quintic inputs (presets jfm6 and missiles6): order 6, with the errors of methods 13, against Taylor
series, matrix exponentials, Radau collocation and `monolithic`; what has no second derivatives of
outputs is refused."""
import unittest

import numpy as np
from concord_runs import (EXAMPLES, LOTKA_VOLTERRA, TIGHT, TWO_MASS, InFolder, distance, execute,
                          simulate, write_model)
from references import LotkaVolterra, error_percent, observed_orders, two_mass

TIGHTER = (*TIGHT, "-subsystem_rtol", "1e-13", "-subsystem_atol", "1e-15")

FIVE = """name: five
experiment: {start: 0, stop: 4}
subsystems:
  a:
    equations:
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: "f - 4*x - 0.1*v"}
      outputs: {y: "x + 0.5*tanh(f) + 0.1*sin(t)"}
  b:
    equations:
      inputs: {p: 1, q: 0}
      states: {z: 0.5}
      derivatives: {z: "p - 2*z + 0.1*q*z"}
      outputs: {f: "-z - 0.3*p*p"}
  c:
    equations:
      inputs: {f: 0}
      states: {w: 0.2}
      derivatives: {w: "f - w"}
      outputs: {q: "w + 0.2*f*f"}
  d:
    equations:
      inputs: {q: 0, y: 0}
      states: {s: 0}
      derivatives: {s: "y*q - s"}
      outputs: {r: "s*exp(-0.1*q)"}
  e:
    equations:
      inputs: {r: 0}
      states: {k: 0.3}
      derivatives: {k: "cos(k) + r - k"}
      outputs: {g: "k + 0.1*r^2"}
connections: [a.y -> b.p, b.f -> a.f, b.f -> c.f, e.g -> b.q, c.q -> d.q, a.y -> d.y, d.r -> e.r]
"""

LOOP = """name: loop of gain 2.5
experiment: {start: 0, stop: 4}
subsystems:
  a:
    equations:
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: "f - 40*x - 0.1*v"}
      outputs: {y: "x + 2.5*f + 0.1*sin(9*t)"}
  b:
    equations:
      inputs: {p: 1}
      states: {z: 0.5}
      derivatives: {z: "p - 2*z"}
      outputs: {f: "-z - p"}
connections: [a.y -> b.p, b.f -> a.f]
"""

UNDAMPED = """name: undamped
experiment: {start: 0, stop: 2000}
subsystems:
  left:
    equations:
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: "f - x"}
      outputs: {x: x, energy: "v*v/2 + x*x/2"}
  right:
    equations:
      inputs: {x: 0}
      states: {y: -0.5, w: 0}
      derivatives: {y: w, w: "-y - 0.3*(y - x)"}
      outputs: {f: "0.3*(y - x)", energy: "w*w/2 + y*y/2 + 0.3*(y - x)^2/2"}
connections: [left.x -> right.x, right.f -> left.f]
"""


class Errors(unittest.TestCase):
    """Of the tables of methods 13, within a factor of 1.2."""

    def check(self, steps, table, errors, orders=(5.7, 6.3)):
        print(np.array(errors), "orders", np.round(observed_orders(steps, errors), 2))
        for step, expected, error in zip(steps, table, errors):
            self.assertLess(error, 1.2 * expected, step)
            self.assertGreater(error, expected / 1.2, step)
        for order in observed_orders(steps, errors):
            self.assertGreater(order, orders[0])
            self.assertLess(order, orders[1])

    def test_lotka_volterra(self):
        steps = (0.4, 0.2, 0.1, 0.05)
        errors = []
        for step in steps:
            run = simulate(LOTKA_VOLTERRA, "-cosim_type", "jfm6", *TIGHTER, "-cosim_step", step)
            exact = LotkaVolterra.exact_states(run.time)
            errors.append(error_percent(run.outputs["prey.amount"], exact[:, 0]))
        self.check(steps, (3.16e-5, 4.81e-7, 7.47e-9, 1.17e-10), errors)

    def test_two_masses(self):
        steps = (2e-2, 1e-2, 5e-3, 2.5e-3)
        for preset in ("jfm6", "missiles6"):
            with self.subTest(preset=preset):
                errors = []
                for step in steps:
                    run = simulate(TWO_MASS, "-cosim_type", preset, *TIGHTER, "-cosim_step", step)
                    exact = two_mass().exact_states(run.time)
                    errors.append(error_percent(run.outputs["left.x"], exact[:, 0]))
                    evaluations = run.steps["coupling_evaluations"]
                    self.assertLess(np.mean(evaluations), 1.1)
                self.check(steps, (5.55e-3, 9.02e-5, 1.42e-6, 2.23e-8), errors)

    def test_one_integration(self):
        """missiles6 on a nonlinear problem, all but the first macro-step."""
        steps = (0.2, 0.1, 0.05)
        errors = []
        for step in steps:
            run = simulate(LOTKA_VOLTERRA, "-cosim_type", "missiles6", *TIGHTER, "-cosim_step", step)
            exact = LotkaVolterra.exact_states(run.time)
            errors.append(error_percent(run.outputs["prey.amount"], exact[:, 0]))
            self.assertEqual(set(run.steps["coupling_evaluations"][1:]), {1})
        self.check(steps, (2.54e-4, 4.57e-6, 7.64e-8), errors, orders=(5.5, 6.3))


class Networks(InFolder, unittest.TestCase):
    def errors(self, text, method, steps, reference="monolithic"):
        model = write_model(self.folder, "network", text)
        for step in steps:
            run, exact = (simulate(model, "-cosim_type", kind, *TIGHTER, "-cosim_step", step)
                          for kind in (method, reference))
            yield distance(run, exact)

    def check(self, text, method, steps, orders, best):
        errors = list(self.errors(text, method, steps))
        found = observed_orders(steps, errors)
        print(method, np.array(errors), "orders", np.round(found, 2))
        for order in found:
            self.assertGreater(order, orders[0])
            self.assertLess(order, orders[1])
        self.assertLess(errors[-1], best)

    def test_five_with_curved_feedthrough(self):
        self.check(FIVE, "jfm6", (0.2, 0.1, 0.05), (5.7, 6.3), 1e-9)
        self.check(FIVE, "missiles6", (0.1, 0.05, 0.025), (5.5, 6.3), 3e-10)

    def test_algebraic_loop(self):
        self.check(LOOP, "jfm6", (0.2, 0.1, 0.05), (5.7, 6.3), 3e-9)
        self.check(LOOP, "missiles6", (0.2, 0.1, 0.05), (5.7, 6.3), 3e-9)

    def test_alike(self):
        """Six generators of one type, whose integrators take one micro-step together."""
        model = EXAMPLES / "power_ring" / "power_ring.yaml"
        steps, errors = (0.02, 0.01), []
        for step in steps:
            run, exact = (simulate(model, "-cosim_type", kind, "-cosim_rtol", 1e-11, "-cosim_atol", 1e-11,
                                   "-subsystem_rtol", tolerance, "-subsystem_atol", 1e-2 * tolerance,
                                   "-cosim_step", step, "-cosim_stop", 3)
                          for kind, tolerance in (("jfm6", 1e-11), ("monolithic", 1e-12)))
            errors.append(distance(run, exact))
        print("power_ring", np.array(errors))
        self.assertGreater(observed_orders(steps, errors)[0], 5.7)
        self.assertLess(errors[-1], 3e-10)

    def test_ranks(self):
        model = write_model(self.folder, "five", FIVE)
        for preset in ("jfm6", "missiles6"):
            alone = simulate(model, "-cosim_type", preset, *TIGHT, "-cosim_step", 0.1)
            for ranks in (2, 3):
                other = simulate(model, "-cosim_type", preset, *TIGHT, "-cosim_step", 0.1, ranks=ranks)
                self.assertLess(distance(other, alone), 1e-12)

    def test_polynomials(self):
        """What is recorded of inputs are six coefficients that meet with value, slope, curvature."""
        model = write_model(self.folder, "five", FIVE)
        run = simulate(model, "-cosim_type", "jfm6", *TIGHT, "-cosim_step", 0.1, "-cosim_record",
                       "inputs,polynomials")
        c = run.inputs.polynomials
        self.assertEqual(c.shape[2], 6)
        p = np.polynomial.polynomial
        for derivative in range(3):
            scale = 0.1**derivative
            for i in range(c.shape[1]):
                ends = [p.polyval(0.1, p.polyder(row, derivative)) * scale for row in c[:-1, i]]
                begins = [p.polyval(0.0, p.polyder(row, derivative)) * scale for row in c[1:, i]]
                np.testing.assert_allclose(ends, begins, atol=1e-10)


class LongRuns(InFolder, unittest.TestCase):
    def test_no_energy_is_made(self):
        model = write_model(self.folder, "undamped", UNDAMPED)
        run = simulate(model, "-cosim_type", "jfm6", *TIGHT, "-cosim_step", 0.1)
        energy = run.outputs["left.energy"] + run.outputs["right.energy"]
        self.assertEqual(len(energy), 20001)
        self.assertLess(np.max(np.abs(energy / energy[0] - 1)), 1e-6)


class StepControl(InFolder, unittest.TestCase):
    def test_fewer_macro_steps_and_honest(self):
        """At the same tolerance fewer macro-steps than with cubic inputs, and errors below it."""
        for tolerance in (1e-5, 1e-7, 1e-9):
            with self.subTest(tolerance=tolerance):
                runs = {preset: simulate(LOTKA_VOLTERRA, "-cosim_type", preset, "-cosim_adapt",
                                         "predictor", "-cosim_adapt_rtol", tolerance)
                        for preset in ("jfm", "jfm6", "missiles6")}
                for preset, run in runs.items():
                    exact = LotkaVolterra.exact_states(run.time)
                    error = error_percent(run.outputs["prey.amount"], exact[:, 0]) / 100
                    print(tolerance, preset, len(run.time), f"{error:.2e}")
                    self.assertLess(error, 30 * tolerance)
                self.assertLess(len(runs["jfm6"].time), len(runs["jfm"].time))
        self.assertLess(3 * len(runs["jfm6"].time), len(runs["jfm"].time))


class Order(unittest.TestCase):
    """-cosim_order."""

    def method(self, *options):
        run = simulate(LOTKA_VOLTERRA, "-cosim_stop", 1, *options)
        return next(line for line in run.stdout.splitlines() if "  method  " in line).split()[-1]

    def test_auto_goes_by_the_tolerance(self):
        control = ("-cosim_order", "auto", "-cosim_adapt", "predictor", "-cosim_adapt_rtol")
        for preset, cubic, quintic in (("jfm", 1e-6, 1e-7), ("missiles", 1e-4, 1e-5)):
            of = ("-cosim_type", preset, *control)
            self.assertEqual(self.method(*of, cubic), preset)
            self.assertEqual(self.method(*of, quintic), preset + "6")

    def test_accuracy(self):
        for accuracy, options, method in (
                (1e-4, (), "radau"), (1e-5, (), "radau"), (1e-5, ("-cosim_order", 4), "jfm"),
                (1e-4, ("-missiles_defect", "constant"), "jfm"), (1e-5, ("-missiles_defect", "constant"), "missiles6"),
                (1e-5, ("-subsystem_linearization", "false"), "jfm"),
                (1e-3, ("-cosim_order", 6), "missiles6")):
            with self.subTest(accuracy=accuracy, options=options):
                self.assertEqual(self.method("-cosim_accuracy", accuracy, *options), method)

    def test_by_hand(self):
        step = ("-cosim_step", 0.1)
        self.assertEqual(self.method("-cosim_order", 6, *step), "jfm6")
        self.assertEqual(self.method("-cosim_type", "jfm6", "-cosim_order", 4, *step), "jfm")

    def test_work(self):
        """auto is never more than 1.2 times the better choice, in right-hand sides at equal error."""
        logs = {}
        for order in (4, 6):
            for tolerance in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
                run = simulate(LOTKA_VOLTERRA, "-cosim_type", "missiles", "-cosim_order", order,
                               "-cosim_adapt", "predictor", "-cosim_adapt_rtol", tolerance)
                exact = LotkaVolterra.exact_states(run.time)
                error = error_percent(run.outputs["prey.amount"], exact[:, 0]) / 100
                work = np.sum(run.subsystems["rhs_evaluations"])
                print(order, tolerance, f"{error:.2e}", work)
                logs.setdefault(order, []).append((np.log(error), np.log(work), tolerance))
        for order, other in ((4, 6), (6, 4)):
            errors, works = np.array([point[:2] for point in logs[other]])[::-1].T
            for error, work, tolerance in logs[order]:
                chosen = 6 if tolerance < 2e-5 else 4
                if chosen == order and errors[0] < error < errors[-1]:
                    self.assertLess(np.exp(work - np.interp(error, errors, works)), 1.2, tolerance)

    def test_refused(self):
        for options, says in (
                (("-cosim_order", 6, "-cosim_type", "jacobi"), "not of jacobi"),
                (("-cosim_order", 6, "-cosim_hold", "foh"), "decides the same"),
                (("-cosim_order", "auto", "-cosim_step", 0.1), "add -cosim_adapt predictor")):
            run = execute("run", LOTKA_VOLTERRA, *options)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(says, run.stderr)


class Refusals(unittest.TestCase):
    def test_indirect_constraints(self):
        run = execute("run", EXAMPLES / "linked_rods" / "linked_rods.yaml", "-cosim_type", "jfm6")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("use -cosim_hold hermite", run.stderr)

    def test_stehfest(self):
        run = execute("run", LOTKA_VOLTERRA, "-cosim_type", "missiles6", "-missiles_laplace",
                      "stehfest")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("inputs of degree 5", run.stderr)


if __name__ == "__main__":
    unittest.main()
