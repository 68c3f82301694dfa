"""What is accepted is what is recorded: trial evaluations leave no trace.

Each accepted macro-step is checked by itself, whatever the coupling tolerance: the states at its end
are the exact integral for the recorded polynomials, the outputs are those of states and inputs, the
inputs join with value and slope, and they fit the outputs to the coupling tolerance.
"""
import functools
import unittest

import numpy as np
from concord_runs import (ALGEBRAIC_LOOP, LOTKA_VOLTERRA, OPTIONS, TIGHT, TWO_MASS, simulate)
from references import LotkaVolterra, algebraic_loop, two_mass

RECORD = "-cosim_record outputs,inputs,states,polynomials".split()
# Loose coupling, so that an accepted step and its last trials differ by much more than the bounds.
LOOSE = ("-cosim_rtol 1e-5 -cosim_atol 1e-5 -subsystem_rtol 1e-12 -subsystem_atol 1e-14").split()
SOLVERS = ("jfm", "jfm_anderson", "jfm_newton_mf", "jfm_ngmres", "jfm_qn", "ifosmondi")


class Linear:
    """A linear example; its recorded columns by the network's rows."""

    def __init__(self, network, states, outputs):
        self.network, self.states, self.outputs = network, states, outputs

    @functools.lru_cache
    def gains(self, h):
        return self.network.input_gains(h)

    def advance(self, x, polynomial, h):
        e, gains = self.gains(h)
        return e @ x + sum(g @ a for g, a in zip(gains, polynomial.T))

    def recorded_outputs(self, x, u):
        return x @ self.network.c.T + u @ self.network.d.T

    def feed(self, y):
        return y @ self.network.p.T


class Populations:
    states = outputs = ("prey.amount", "predator.amount")

    def advance(self, x, polynomial, h):
        return LotkaVolterra.advance(x, polynomial.T, h)

    def recorded_outputs(self, x, u):
        return x

    def feed(self, y):
        return y[:, ::-1]


MASSES = Linear(two_mass(), ("left.x", "left.v", "right.x", "right.v"),
                ("left.x", "left.v", "right.f", "right.x", "right.v"))
LOOP = Linear(algebraic_loop(), ("body.x", "body.v"), ("body.x", "body.v", "body.a", "fluid.f"))


class AcceptedSteps:
    def check(self, results, problem, tolerance):
        x = results.states.columns(*problem.states)
        y = results.outputs.columns(*problem.outputs)
        u, du, p = (results.inputs.values, results.inputs.derivatives, results.inputs.polynomials)
        h = results.steps["size"]
        np.testing.assert_allclose(np.diff(results.time), h, rtol=1e-9)
        of_x, of_y, of_u = (np.max(np.abs(a), axis=0) for a in (x, y, u))
        of_du = np.maximum(np.max(np.abs(du), axis=0), of_u / np.max(h))
        tau = h[:, None]

        self.assert_close("outputs are g of states and inputs", y, problem.recorded_outputs(x, u),
                          of_y, 1e-13)
        self.assert_close("values at the beginning", p[:, :, 0], u[:-1], of_u, 1e-14)
        self.assert_close("slopes at the beginning", p[:, :, 1], du[:-1], of_du, 1e-14)
        end = p[:, :, 0] + tau * (p[:, :, 1] + tau * (p[:, :, 2] + tau * p[:, :, 3]))
        slope = p[:, :, 1] + tau * (2 * p[:, :, 2] + 3 * tau * p[:, :, 3])
        self.assert_close("values at the end", end, u[1:], of_u, 1e-14)
        self.assert_close("slopes at the end", slope, du[1:], of_du, 1e-13)
        self.assert_close("C0", end[:-1], p[1:, :, 0], of_u, 1e-14)
        self.assert_close("C1", slope[:-1], p[1:, :, 1], of_du, 1e-13)
        integrated = np.array([problem.advance(row, q, s) for row, q, s in zip(x, p, h)])
        self.assert_close("states are the integral", x[1:], integrated, of_x, 1e-11)
        misfit = np.abs(u - problem.feed(y)) / (tolerance * (np.abs(u) + 1))
        self.assertLess(np.max(misfit), 1.0, "inputs don't fit the outputs")

    def assert_close(self, what, found, expected, size, bound):
        far = np.max(np.abs(found - expected) / size)
        self.assertLess(far, bound, what)


class LooseCoupling(AcceptedSteps, unittest.TestCase):
    def check_solvers(self, model, problem, solvers, *options):
        for solver in solvers:
            for predictor in ("missiles", "hold"):
                with self.subTest(solver=solver, predictor=predictor):
                    results = simulate(model, "-options_file", OPTIONS / f"{solver}.opts", *LOOSE,
                                       *RECORD, *options, "-cosim_predictor", predictor)
                    evaluations = np.mean(results.steps["coupling_evaluations"])
                    print(f"{model.stem:15} {solver:15} {predictor:9} {evaluations:.2f} "
                          f"evaluations per step")
                    if predictor == "hold":
                        self.assertGreater(evaluations, 1.9)
                    self.check(results, problem, 1e-5)

    def test_two_mass(self):
        self.check_solvers(TWO_MASS, MASSES, SOLVERS, "-cosim_step", 2e-3)

    def test_lotka_volterra(self):
        self.check_solvers(LOTKA_VOLTERRA, Populations(), SOLVERS, "-cosim_step", 0.2)

    def test_algebraic_loop(self):
        self.check_solvers(ALGEBRAIC_LOOP, LOOP, ("jfm", "jfm_newton_mf"), "-cosim_step", 0.05)


class Rejections(AcceptedSteps, unittest.TestCase):
    """Whole macro-steps that are tried in vain leave no trace either."""

    def test_rejected_steps(self):
        for model, problem, step in ((TWO_MASS, MASSES, 2e-2), (LOTKA_VOLTERRA, Populations(), 1)):
            with self.subTest(model=model.stem):
                results = simulate(model, "-cosim_type", "ifosmondi", "-cosim_max_it", 6, *LOOSE,
                                   *RECORD, "-cosim_step", step, "-cosim_adapt", "iteration")
                rejected = np.sum(results.steps["rejections"])
                print(f"{model.stem}: {len(results.time) - 1} steps, {rejected} rejected, "
                      f"{len(set(results.steps['size']))} sizes")
                self.assertGreater(rejected, 0)
                self.assertEqual(results.time[-1], {"two_mass": 2, "lotka_volterra": 20}[model.stem])
                self.check(results, problem, 1e-5)


class Predictors(AcceptedSteps, unittest.TestCase):
    """A bad first guess costs iterations, not accuracy."""

    def test_same_trajectory(self):
        for model, problem, step in ((TWO_MASS, MASSES, 1e-3), (LOTKA_VOLTERRA, Populations(), 0.1)):
            with self.subTest(model=model.stem):
                good, bad = (simulate(model, "-cosim_type", "jfm", *TIGHT, *RECORD, "-cosim_step",
                                      step, "-cosim_predictor", predictor)
                             for predictor in ("missiles", "hold"))
                few, many = (np.mean(r.steps["coupling_evaluations"]) for r in (good, bad))
                far = np.max(np.abs(good.states.values - bad.states.values)
                             / np.max(np.abs(good.states.values), axis=0))
                print(f"{model.stem}: {few:.2f} and {many:.2f} evaluations per step, {far:.1e}")
                self.assertGreater(many, few + 0.3)
                self.assertLess(far, 2e-11)
                self.check(bad, problem, 1e-12)


if __name__ == "__main__":
    unittest.main()
