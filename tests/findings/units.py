"""Findings 1.6, 8.2, 8.10: what is right in one unit is right in every other."""
import unittest
from itertools import product

import numpy as np
from concord_runs import TWO_MASS, in_short
from equation_models import Model, Subsystem
from kinds import METHODS, Kinds, errors, run

LEAK_METHODS = ("-cosim_type jfm", "-cosim_type jfm -subsystem_linearization false",
                "-cosim_type ifosmondi", "-cosim_type kuebler_schiehlen", "-cosim_type missiles",
                "-cosim_type monolithic")


def leak(amount, rate, nominal=False):
    """A tank that empties: m = amount exp(-rate t)."""
    return Model([Subsystem("tank", {"m": amount}, {"m": "q"}, {"m": "m"}, {"q": 0.0},
                            nominal={"m": amount} if nominal else {}),
                  Subsystem("leak", {}, {}, {"q": f"-{rate!r}*m"}, {"m": amount})],
                 [("tank.m", "leak.m"), ("leak.q", "tank.q")], stop=5 / rate)


class SmallSignals(Kinds, unittest.TestCase):
    """1.6: signals below a tolerance of 1e-6 are coupled; so are large ones."""

    def check(self, methods, amounts, rate, allowed):
        for method in methods:
            for amount in amounts:
                with self.subTest(method=method, amount=amount):
                    self.assert_right(leak(amount, rate), allowed, method, exact=lambda t, a=amount:
                                      np.stack([a * np.exp(-rate * t),
                                                -rate * a * np.exp(-rate * t)], axis=1))

    def test_small_and_large_amounts(self):
        self.check(LEAK_METHODS, (1e-9, 1e-14, 1.0, 1e8), 0.1, 1e-4)

    def test_explicit_methods(self):
        self.check([f"-cosim_type {m}" for m in ("jacobi", "gauss_seidel", "extripol")],
                   (1e-12, 1e12), 2.0, 2e-2)

    def test_integrators(self):
        self.check([f"-cosim_type {m} -subsystem_integrator {i}" for m in ("jfm", "missiles")
                    for i in ("erk", "cvode_bdf", "cvode_adams")], (1e-13, 1.0), 0.7, 1e-3)

    def test_zero_start_that_wakes_up(self):
        """From nothing to 1e-10: a size that isn't known at the start."""
        for size, method in in_short(list(product((1e-10, 1.0, 1e10), LEAK_METHODS)), 5):
            model = Model(
                [Subsystem("pump", {"m": 0.0}, {"m": f"{size!r}*sin(t)^2 - m + 0.5*q"}, {"m": "m"},
                           {"q": 0.0}),
                 Subsystem("sink", {"z": 0.0}, {"z": "m - 2*z"}, {"q": "z"}, {"m": 0.0})],
                [("pump.m", "sink.m"), ("sink.q", "pump.q")], stop=4.0)
            with self.subTest(method=method, size=size):
                self.assert_right(model, 1e-3, method)

    def test_absolute_tolerances_given_are_in_the_unit(self):
        """A user who asks for 1e-6 kg where all is 1e-9 kg gets what was asked for."""
        done = run(leak(1e-9, 0.1), "-cosim_type ifosmondi -cosim_atol 1e-15")
        self.assertTrue(done.completed, done.reason)
        exact = 1e-9 * np.exp(-0.1 * done.results.time)
        self.assertLess(np.abs(done.results.outputs["tank.m"] - exact).max(), 1e-13)


class TwoMasses(Kinds, unittest.TestCase):
    """1.6: two masses in other units, within 1e-4 of the same run in metres."""
    NAMES = ("left.x", "left.v", "right.x")

    @staticmethod
    def scaled(size):
        text = TWO_MASS.read_text(encoding="utf-8")
        assert "{x: 1, v: 0}" in text and "{x: 3, v: 0}" in text
        return text.replace("{x: 1, v: 0}", f"{{x: {size!r}, v: 0}}").replace(
            "{x: 3, v: 0}", f"{{x: {3 * size!r}, v: 0}}")

    def check(self, methods, sizes, step="1e-3"):
        for method in methods:
            usual = run(self.scaled(1.0), method, "-cosim_step", step)
            self.assertTrue(usual.completed, usual.reason)
            expected = usual.results.outputs.columns(*self.NAMES)
            for size in sizes:
                with self.subTest(method=method, size=size):
                    done = run(self.scaled(size), method, "-cosim_step", step)
                    self.assertTrue(done.completed, done.reason)
                    values = done.results.outputs.columns(*self.NAMES) / size
                    worst = np.max(np.abs(values - expected) / np.abs(expected).max(axis=0))
                    print(f"{method} {size:g}: {worst:.1e} from the run in metres")
                    self.assertLess(worst, 1e-4)

    def test_implicit_methods(self):
        self.check([f"-cosim_type {m}" for m in METHODS if m in (
            "jfm", "missiles", "ifosmondi", "kuebler_schiehlen")], (1e-9, 1e-12, 1e9))

    def test_explicit_methods(self):
        self.check([f"-cosim_type {m}" for m in ("gauss_seidel", "hierarchical")], (1e-12, 1e7),
                   "2e-4")

    def test_monolithic(self):
        self.check(["-cosim_type monolithic"], (1e-9, 1e-12, 1e12))

    def test_other_solvers(self):
        self.check(["-cosim_type jfm -snes_type anderson",
                    "-cosim_type jfm -subsystem_linearization false",
                    "-cosim_type jfm -subsystem_integrator cvode_bdf"], (1e-9, 1e-12))


def cubic(size, other, apart):
    """A state that rises from 0 at rest and is held by a cubic spring, beside one of another size; in
    a subsystem of its own, or in the same."""
    rising = f"-3*x + {size!r}*sin(3*t) - {1 / size**2!r}*x^3"
    if not apart:
        return Model([Subsystem("a", {"x": 0.0, "z": other}, {"x": rising, "z": "-z + x"},
                                {"x": "x", "z": "z"})], stop=2.0)
    return Model([Subsystem("a", {"x": 0.0}, {"x": rising}, {"x": "x"}),
                  Subsystem("b", {"z": other}, {"z": "-z + u"}, {"z": "z"}, {"u": 0.0})],
                 [("a.x", "b.u")], stop=2.0)


class BesideOthers(Kinds, unittest.TestCase):
    """8.10: what another state's size is says nothing of a state that has none yet."""

    def check(self, apart, methods):
        for method, size, other in in_short(list(product(methods, (1e-12, 1e-8, 1.0, 1e12), (1e-10, 1e10))), 3):
            with self.subTest(method=method, size=size, other=other, apart=apart):
                self.assert_right(cubic(size, other, apart), 1e-5, method, "-cosim_step 0.01")

    def test_apart(self):
        self.check(True, ["-cosim_type monolithic", "-cosim_type jfm", "-cosim_type missiles",
                          "-cosim_type monolithic -subsystem_integrator dirk"])

    def test_in_one_subsystem(self):
        self.check(False, [f"-cosim_type jfm -subsystem_integrator {integrator}"
                           for integrator in ("cvode_bdf", "dirk", "erk")])


def gas(coefficient, heat=40.0):
    """Ideal gas p V = k n T with n of order 1/k: a product whose coefficient is small, of order one or
    large, with the same pressure whatever k is."""
    amount = 331.4 / coefficient
    return Model(
        [Subsystem("gas", {"n": amount, "T": 300.0},
                   {"n": f"w*{amount!r}", "T": f"0.1*(400 - T) + {heat!r}*w"},
                   {"p": f"pv + {coefficient!r}*n*T"}, {"pv": 0.0, "w": 0.0}),
         Subsystem("vapour", {"q": 1000.0}, {"q": "2000*cos(5*t)"}, {"pv": "q"}),
         Subsystem("valve", {"w": 0.0}, {"w": "-2*w - 1e-4*(p - 1.1e5)"}, {"w": "w"}, {"p": 1e5})],
        [("vapour.pv", "gas.pv"), ("gas.p", "valve.p"), ("valve.w", "gas.w")], stop=2.0)


class SmallCoefficients(Kinds, unittest.TestCase):
    """8.2: a product is no affine function, however small its coefficient."""
    COEFFICIENTS = (1.380649e-23, 1e-30, 1e-12, 8.314, 1e15)

    def error(self, method, coefficient, step):
        model = gas(coefficient)
        done = run(model, f"-cosim_type {method} -cosim_step {step} -cosim_rtol 1e-11 "
                          "-subsystem_rtol 1e-12")
        self.assertTrue(done.completed, done.reason)
        return errors(model, done.results)[[1, 2]].max()

    def check(self, method, order):
        for coefficient in self.COEFFICIENTS:
            with self.subTest(method=method, coefficient=coefficient):
                coarse, fine = (self.error(method, coefficient, h) for h in (0.05, 0.025))
                observed = np.log2(coarse / fine)
                print(f"{method} k = {coefficient:g}: errors {coarse:.2e}, {fine:.2e}, order "
                      f"{observed:.2f}")
                self.assertGreater(observed, order)
                self.assertLess(fine, 1e-6 if method == "jfm" else 1e-5)

    def test_jfm(self):
        self.check("jfm", 3.75)

    def test_missiles(self):
        self.check("missiles", 3.1)

    def test_stiff_products_cost_no_more(self):
        """Jacobians of stiff products: right-hand sides within twice those in units of one."""
        def stiff(k):
            return Model(
                [Subsystem("react", {"a": 1.0 / k, "b": 1.0},
                           {"a": f"-0.2*a + u/{k!r}", "b": f"-1e4*{k!r}*a*b + 1e4"}, {"y": "b"},
                           {"u": 0.0}),
                 Subsystem("rest", {"z": 0.0}, {"z": "y - z"}, {"y": "0.1*z"}, {"y": 0.0})],
                [("react.y", "rest.y"), ("rest.y", "react.u")], stop=1.0)

        counts = {}
        for k in (1.0, 1e-20, 1e-9, 1e14):
            done = self.assert_right(stiff(k), 1e-4, "-subsystem_integrator cvode_bdf "
                                     "-cosim_step 0.02", fastest=1e4)
            counts[k] = done.results.subsystems["rhs_evaluations"].sum()
        print(counts)
        for k, count in counts.items():
            with self.subTest(k=k):
                self.assertLess(count, 2 * counts[1.0])
                self.assertGreater(count, 0.5 * counts[1.0])


class Zeros(Kinds, unittest.TestCase):
    """8.10: a tiny absolute tolerance and states that start at zero."""

    def model(self, size):
        return Model(
            [Subsystem("a", {"x": 0.0, "v": 0.0}, {"x": "v", "v": f"{size!r}*sin(3*t) - 4*x + u"},
                       {"y": f"x + x^2/{size!r}"}, {"u": 0.0}),
             Subsystem("b", {"z": 0.0, "idle": 0.0}, {"z": f"y - z^3/{size**2!r}", "idle": "-idle"},
                       {"y": "0.5*z + idle"}, {"y": 0.0})],
            [("a.y", "b.y"), ("b.y", "a.u")], stop=3.0)

    def test_tiny_absolute_tolerance(self):
        for method in ("jfm", "missiles", "monolithic"):
            common = f"-cosim_type {method} -cosim_step 0.02"
            usual = self.model(1.0)
            allowed = max(3 * errors(usual, run(usual, common).results).max(), 1e-6)
            for size in (1.0, 1e-9, 1e9):
                with self.subTest(size=size, method=method):
                    self.assert_right(self.model(size), allowed, common,
                                      f"-subsystem_atol {1e-18 * size!r}")


if __name__ == "__main__":
    unittest.main()
