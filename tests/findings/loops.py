"""Findings 1.7, 4, 8.1, 8.5: algebraic loops in any units, singular ones, poles, slow contraction."""
import unittest

import numpy as np
from equation_models import Model, Subsystem
from kinds import Kinds, errors, exact_outputs, run

EVERY_METHOD = ("-cosim_type jfm", "-cosim_type missiles", "-cosim_type ifosmondi",
                "-cosim_type jacobi", "-cosim_type gauss_seidel", "-cosim_type monolithic",
                "-cosim_type jfm -snes_type anderson", "-cosim_type jfm -snes_mf")


def hydraulic(head, drop, valve, gain):
    """Pump p = head w^2 - drop q^2 and pipe q = valve sqrt(p - rest s): pascals against m^3/s."""
    slope = 100 * head / 5000
    return Model(
        [Subsystem("pump", {"w": 100.0}, {"w": f"-(w - 100) - {gain!r}*q + 5*sin(3*t)"},
                   {"p": f"{head!r}*w^2 - {drop!r}*q^2"}, {"q": 0.0}),
         Subsystem("pipe", {"s": 0.0}, {"s": f"p/{head * 2e4!r} - s"},
                   {"q": f"{valve!r}*sqrt(p - {slope!r}*s)"}, {"p": head * 2000})],
        [("pump.p", "pipe.p"), ("pipe.q", "pump.q")])


def hydraulic_solved(head, drop, valve, gain):
    """The same with the loop solved by hand: q^2 = valve^2 (head w^2 - rest s)/(1 + valve^2 drop)."""
    slope = 100 * head / 5000
    factor = valve / np.sqrt(1 + valve**2 * drop)
    q = f"{factor!r}*sqrt({head!r}*w^2 - {slope!r}*s)"
    p = f"({head!r}*w^2 - {drop!r}*({q})^2)"
    return Model([Subsystem("both", {"w": 100.0, "s": 0.0},
                            {"w": f"-(w - 100) - {gain!r}*{q} + 5*sin(3*t)",
                             "s": f"{p}/{head * 2e4!r} - s"}, {"p": p, "q": q})])


class Hydraulic(Kinds, unittest.TestCase):
    """8.1: one scaled Newton, whatever the units."""
    CASES = [(5000.0, drop, valve, 10.0 / flow) for valve, flow, drop in (
        (1e-9, 7e-6, 1e17), (1e-6, 7e-3, 1e11), (1e-3, 7.0, 1e5), (1e-12, 7e-9, 3e23),
        (1e-9, 7e-6, 1e19))] + [(0.05, 1e3, 1e-4, 1e5), (5e6, 1e20, 1e-9, 1e3), (5.0, 2.0, 0.5, 0.3)]

    def check(self, method, allowed):
        for case in self.CASES:
            with self.subTest(method=method, case=case):
                solved = hydraulic_solved(*case)
                model = hydraulic(*case)
                done = run(model, method)
                self.assertTrue(done.completed, done.reason)
                from_hand = errors(model, done.results,
                                   exact=lambda time, solved=solved: self.solution(solved, time)).max()
                print(f"{method} {case}: error {from_hand:.1e}")
                self.assertLess(from_hand, allowed)

    @staticmethod
    def solution(solved, grid):
        return exact_outputs(solved, grid, pieces=1)

    def test_jfm(self):
        self.check("-cosim_type jfm", 1e-6)

    def test_missiles(self):
        self.check("-cosim_type missiles", 1e-5)

    def test_monolithic(self):
        self.check("-cosim_type monolithic", 1e-6)

    def test_explicit(self):
        self.check("-cosim_type jacobi", 1e-1)

    def test_gauss_seidel(self):
        self.check("-cosim_type gauss_seidel", 1e-1)


def loop(gain_a, gain_b="1", size=1.0):
    """Two outputs that answer to each other at once: y_a = x + gain_a u, y_b = x + gain_b u."""
    return Model(
        [Subsystem("a", {"x": 1.0}, {"x": f"-x + {0.1 * size!r}*u"},
                   {"y": f"(x + ({gain_a})*u*{size!r})"}, {"u": 0.0}),
         Subsystem("b", {"x": 0.5 / size}, {"x": f"-2*x + {0.2 / size!r}*u"},
                   {"y": f"x + ({gain_b})*u/{size!r}"}, {"u": 0.0})],
        [("a.y", "b.u"), ("b.y", "a.u")])


def ring(gains):
    """A loop through several subsystems without states of their own in the way."""
    parts = [Subsystem(f"p{k}", {"x": 0.3 + 0.1 * k}, {"x": "-x"}, {"y": f"x + {g!r}*u"}, {"u": 0.0})
             for k, g in enumerate(gains)]
    count = len(gains)
    return Model(parts, [(f"p{k}.y", f"p{(k + 1) % count}.u") for k in range(count)])


class Singular(Kinds, unittest.TestCase):
    """4: a loop without a solution is called singular, with the time."""

    def check(self, model):
        for method in EVERY_METHOD:
            with self.subTest(method=method):
                done = run(model, method)
                print(method, done.code, done.reason)
                self.assert_refused(done, "singular")
                self.assertRegex(done.reason, r"t = |at t|\bt=")

    def test_gain_of_one(self):
        self.check(loop("1"))

    def test_in_other_units(self):
        self.check(loop("1", size=1e9))

    def test_product_of_gains(self):
        self.check(ring((0.5, -4.0, -0.5)))


class Pole(Kinds, unittest.TestCase):
    """1.7: where the loop's gain passes 1 the solution ends; nobody goes on behind it."""

    def check(self, model):
        for method in EVERY_METHOD:
            with self.subTest(method=method):
                done = run(model, method)
                print(method, done.code, done.reason)
                self.assert_refused(done)

    def test_on_the_grid(self):
        self.check(loop("0.5 + t"))

    def test_off_the_grid(self):
        self.check(loop("0.37177 + 1.7*t"))

    def test_downwards(self):
        self.check(loop("1.8 - 1.31*t"))

    def test_in_other_units(self):
        self.check(loop("0.5 + t", size=1e8))

    def test_gain_beyond_one_without_a_pole(self):
        """A gain of 3, or one that falls, is no reason to refuse where Newton solves."""
        for model in (loop("3"), loop("1.5 + t"), loop("-4"), loop("3", size=1e-9)):
            for method in ("-cosim_type jfm", "-cosim_type missiles", "-cosim_type monolithic"):
                with self.subTest(method=method):
                    self.assert_right(model, 1e-4, method)


class Domain(Kinds, unittest.TestCase):
    """4: a loop whose trials leave the domain of a function is solved, not refused."""

    def check(self, text, exact, guess):
        """b gives v + z to a, a gives `text` of u to b; x = z = 0: u solves u = text."""
        model = Model([Subsystem("a", {"x": 0.0}, {"x": "-x"}, {"y": text}, {"u": guess}),
                       Subsystem("b", {"z": 0.0}, {"z": "-z"}, {"w": "v + z"}, {"v": 0.1})],
                      [("a.y", "b.v"), ("b.w", "a.u")])
        for method in ("-cosim_type jfm", "-cosim_type missiles", "-cosim_type monolithic",
                       "-cosim_type gauss_seidel"):
            with self.subTest(method=method, text=text, guess=guess):
                self.assert_right(model, 1e-6, method,
                                  exact=lambda t: np.full((len(t), 2), exact))

    def test_logarithm(self):
        self.check("3 - log(u) + x", 2.2079400315693, 100.0)
        self.check("3 - log(u) + x", 2.2079400315693, 1e-3)

    def test_root(self):
        self.check("6 - 5*sqrt(u) + x", 1.0, 400.0)
        self.check("6 - 5*sqrt(u) + x", 1.0, 0.01)

    def test_logarithm_in_other_units(self):
        for size in (1e-9, 1e9):
            self.check(f"{3 * size!r} - {size!r}*log(u/{size!r}) + x", 2.2079400315693 * size,
                       100 * size)


def slow(gain, size=1.0):
    """A loop that a fixed point contracts by `gain` only; the solution is of order `size`."""
    rest = 1 - gain
    return Model(
        [Subsystem("a", {"x": size}, {"x": "-x + 0.2*u"}, {"y": f"{gain!r}*u + x*{rest!r}"},
                   {"u": 0.0}),
         Subsystem("b", {"z": 0.0}, {"z": "u - z"},
                   {"y": f"u + {0.1 * size!r}*sin(2*t)*{rest!r}", "z": "z"}, {"u": 0.0})],
        [("a.y", "b.u"), ("b.y", "a.u")], stop=5.0)


class SlowContraction(Kinds, unittest.TestCase):
    """8.5: converged means a small error, not a small residual; noise is where contraction stops."""

    def check(self, gains, options, allowed, size=1.0):
        for gain in gains:
            with self.subTest(gain=gain, options=options, size=size):
                self.assert_right(slow(gain, size), allowed, options, may_refuse=True)

    def test_exact_subsystems(self):
        for gain in (0.5, 0.9, 0.97):
            with self.subTest(gain=gain):
                self.assert_right(slow(gain), 1e-4, "-cosim_type ifosmondi -cosim_max_it 2000")
        self.check((0.99, 0.999, -0.99), "-cosim_type ifosmondi", 1e-3)

    def test_loose_subsystems(self):
        for method in ("ifosmondi", "kuebler_schiehlen"):
            self.check((0.5, 0.9, 0.99, -0.95), f"-cosim_type {method} -subsystem_rtol 1e-3", 1e-2)

    def test_other_units(self):
        self.check((0.9, 0.99), "-cosim_type ifosmondi -subsystem_rtol 1e-3", 1e-2, 1e-9)
        self.check((0.9, 0.99), "-cosim_type ifosmondi -subsystem_rtol 1e-3", 1e-2, 1e9)

    def test_newton_doesnt_mind(self):
        for gain in (0.9, 0.999):
            with self.subTest(gain=gain):
                self.assert_right(slow(gain), 1e-4, "-cosim_type jfm")


if __name__ == "__main__":
    unittest.main()
