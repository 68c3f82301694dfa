"""Findings 8.3, 8.4, 7.12: predictions that lead astray, matrices that are out of date, curved
outputs."""
import unittest
from itertools import product

import numpy as np
from concord_runs import in_short
from equation_models import Model, Subsystem
from kinds import Kinds, errors, run


def latch(rate, start, size=1.0):
    """Exponential growth that saturates within a macro-step: its linearisation predicts e^(rate h)."""
    return Model(
        [Subsystem("latch", {"x": start * size}, {"x": f"{rate!r}*x*(1 - x/{size!r}) + u"},
                   {"x": "x"}, {"u": 0.0}),
         Subsystem("rest", {"y": 0.0}, {"y": "x - y"}, {"y": "0.3*y"}, {"x": 0.0})],
        [("latch.x", "rest.x"), ("rest.y", "latch.u")])


class Latch(Kinds, unittest.TestCase):
    """8.3: a prediction is tested where it leads."""

    def check(self, options, steps=(0.001, 0.02), may_refuse=False):
        rates = ((1e4, 0.01), (1e3, 1e-4), (1e5, 0.01), (300.0, 1e-6))
        rows = [row for row in product(rates, steps, (1.0, 1e-9)) if row[0][0] >= 1e3 or row[1] == steps[0]]
        for (rate, start), step, size in in_short(rows, 3):
            with self.subTest(options=options, rate=rate, step=step, size=size):
                self.assert_right(latch(rate, start, size), 2e-2, options,
                                  f"-cosim_step {step}", may_refuse=may_refuse,
                                  fastest=4 * rate)

    def test_jfm(self):
        self.check("-cosim_type jfm")

    def test_missiles(self):
        self.check("-cosim_type missiles", may_refuse=True)

    def test_domain_error_at_the_prediction(self):
        """An output that the prediction drives out of its domain while the solution stays inside."""
        model = Model(
            [Subsystem("a", {"x": 0.05}, {"x": "40*(0.02 - x) - 0.5*x*u"}, {"y": "sqrt(x - 0.001)"},
                       {"u": 0.0}),
             Subsystem("b", {"z": 0.1}, {"z": "60*z*(1 - z) + y"}, {"y": "z"}, {"y": 0.2})],
            [("a.y", "b.y"), ("b.y", "a.u")])
        for method in ("jfm", "missiles", "ifosmondi"):
            with self.subTest(method=method):
                self.assert_right(model, 1e-2, f"-cosim_type {method} -cosim_step 0.02", fastest=100.)


def washout(rest, power, size=1.0):
    """An input rests until `rest`, then moves: B = c of tank has long changed by then."""
    return Model(
        [Subsystem("valve", {"a": 0.0}, {"a": f"{size!r}*(t > {rest!r})*(t - {rest!r})^{power}"},
                   {"q": f"{size!r} + a"}),
         Subsystem("tank", {"c": 1.0}, {"c": "-2*c + 0.4*sin(t)"}, {"m": "c*q"}, {"q": size}),
         Subsystem("sink", {"z": size}, {"z": "m - z"}, {"z": "z"}, {"m": size})],
        [("valve.q", "tank.q"), ("tank.m", "sink.m")], stop=rest + 3.0)


class RestingInputs(Kinds, unittest.TestCase):
    """8.4: B and D are learnt anew where inputs move."""

    def check(self, options, allowed):
        for rest, power, size in ((5.0, 1, 1.0), (2.0, 2, 1.0), (3.0, 1, 1e-9)):
            model = washout(rest, power, size)
            model.events = [rest]
            with self.subTest(options=options, rest=rest, power=power, size=size):
                self.assert_right(model, allowed, options, "-cosim_step 0.01 -subsystem_rtol 1e-12 "
                                  f"-cosim_rtol 1e-11 -cosim_atol {1e-11 * size!r} "
                                  f"-subsystem_atol {1e-13 * size!r}")

    def test_missiles(self):
        self.check("-cosim_type missiles", 1e-7)

    def test_jfm_without_rollback(self):
        self.check("-cosim_type jfm -subsystem_rollback false", 1e-7)

    def test_jfm(self):
        self.check("-cosim_type jfm", 1e-8)


def curved(size=1.0):
    """Outputs that are nonlinear functions of states and of inputs."""
    return Model(
        [Subsystem("a", {"x": 0.9 * size, "v": 0.0}, {"x": "v", "v": "-9*x + 2*u"},
                   {"y": f"{size!r}*sin(x/{size!r}) + 0.4*x^2/{size!r}"}, {"u": 0.0}),
         Subsystem("b", {"z": 0.0}, {"z": f"-z + {size!r}*cos(2*y/{size!r})"},
                   {"y": f"z*(1 + 0.3*z/{size!r}) + 0.1*y^2/{size!r}"}, {"y": 0.0})],
        [("a.y", "b.y"), ("b.y", "a.u")], stop=4.0)


class CurvedOutputs(Kinds, unittest.TestCase):
    """5, 7.12: g is evaluated at the predicted state, so that curved outputs cost no order."""

    def observed(self, options, steps=(0.04, 0.02, 0.01)):
        found = []
        for step in steps:
            done = run(curved(), options, f"-cosim_step {step} -cosim_rtol 1e-12 -subsystem_rtol 1e-12")
            self.assertTrue(done.completed, done.reason)
            found.append(errors(curved(), done.results).max())
        orders = -np.diff(np.log(found)) / np.log(2)
        print(f"{options}: {found} orders {orders}")
        return found, orders

    def test_orders(self):
        for options, order in (("-cosim_type jfm", 3.7), ("-cosim_type missiles", 3.4),
                               ("-cosim_type missiles -missiles_defect linear", 3.4),
                               ("-cosim_type missiles -missiles_defect none", 2.5)):
            with self.subTest(options=options):
                self.assertGreater(self.observed(options)[1].max(), order)

    def test_errors_without_defect_correction(self):
        """Once 6.7e-3 to 4.2e-4, of order 2."""
        found, _ = self.observed("-cosim_type missiles -missiles_defect none")
        self.assertLess(max(found), 1e-5)

    def test_control_needs_at_most_twice_the_steps(self):
        for tolerance in (1e-3, 1e-5, 1e-7):
            steps = {}
            for method in ("jfm", "missiles"):
                done = self.assert_right(
                    curved(), 20 * tolerance, f"-cosim_type {method} -cosim_adapt predictor "
                    f"-cosim_step 0.5 -cosim_adapt_rtol {tolerance}")
                steps[method] = len(done.results.time) - 1
            print(tolerance, steps)
            with self.subTest(tolerance=tolerance):
                self.assertLess(steps["missiles"], 2 * steps["jfm"])


class IdleStates(Kinds, unittest.TestCase):
    """8.10: a fast state at rest hides no change of the others from the matrices' comparison."""

    def test_order(self):
        known = None
        for fast in (0.0, 1e3, 1e6, 1e9):
            found = [self.error(fast, step) for step in (0.04, 0.02)]
            known = known or found
            print(f"idle state of {fast:g}: {found}, order {np.log2(found[0] / found[1]):.2f}")
            with self.subTest(fast=fast):
                self.assertLess(found[1], 1.5 * known[1])
                self.assertLess(found[1], found[0] / 2**2.6)

    @staticmethod
    def error(fast, step):
        model = curved()
        part = model.subsystems[0]
        part.derivatives["v"] = "-9*sin(x)*(1 + 0.3*u) + 2*u"
        part.outputs["y"] = "x"
        if fast:
            part.states["idle"] = 0.0
            part.derivatives["idle"] = f"-{fast!r}*idle"
            part.outputs["idle"] = "idle"
        done = run(model, f"-cosim_type missiles -cosim_step {step} -subsystem_rtol 1e-11")
        return errors(model, done.results).max()


if __name__ == "__main__":
    unittest.main()
