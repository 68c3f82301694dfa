"""Findings 1.3, 1.4: explicit methods where they are unstable."""
import unittest
from itertools import product

import numpy as np
from concord_runs import TWO_MASS, in_short
from equation_models import Model, Subsystem
from kinds import Kinds, errors, run

EXPLICIT = ("jacobi", "gauss_seidel", "hierarchical")


def loop(gain_a, gain_b, size=1.0):
    """A direct-feedthrough loop of this gain between two relaxing subsystems."""
    return Model(
        [Subsystem("a", {"x": size}, {"x": "-x + 0.1*u + 0.3*sin(2*t)*" + repr(size)},
                   {"y": f"x + {gain_a!r}*u"}, {"u": 0.0}),
         Subsystem("b", {"x": 0.5 * size}, {"x": "-2*x + 0.2*u"}, {"y": f"x + {gain_b!r}*u"},
                   {"u": 0.0})],
        [("a.y", "b.u"), ("b.y", "a.u")], stop=2.0)


class ZeroStability(Kinds, unittest.TestCase):
    """1.3: extrapolation of order k multiplies errors of loops; gains below 1, 1/9, 1/49, 1/225."""

    def test_defaults_are_right(self):
        """Loops of any gain, every order: completed means right."""
        gains = ((0.1, 1.0), (0.5, 0.5), (-0.9, 0.9), (3.0, 1.0), (-2.0, 1.5))
        for method, order, two in in_short(list(product(EXPLICIT, (0, 1, 2, 3), gains)), 3):
            with self.subTest(method=method, order=order, gains=two):
                self.assert_right(loop(*two), 5e-2, "-cosim_step 4e-3 "
                                  f"-cosim_type {method} -cosim_hold_order {order}")

    def test_orders_with_consistent_outputs(self):
        for method in ("jacobi", "gauss_seidel"):
            for order in (0, 1, 2):
                model = loop(0.6, 0.8)
                found = []
                for step in (0.02, 0.01):
                    done = run(model, f"-cosim_type {method} -cosim_hold_order {order} "
                                      f"-cosim_step {step} -subsystem_rtol 1e-11")
                    self.assertTrue(done.completed, done.reason)
                    found.append(errors(model, done.results).max())
                observed = np.log2(found[0] / found[1])
                print(f"{method} k = {order}: {found[0]:.1e}, {found[1]:.1e}, order {observed:.2f}")
                with self.subTest(method=method, order=order):
                    self.assertGreater(observed, order + 0.6)

    def test_without_consistent_outputs_refused_or_right(self):
        gains = ((0, 0.5), (0, 3.0), (1, 0.05), (1, 0.3), (2, 0.01), (2, 0.1), (3, 0.1))
        for (order, gain), size in in_short(list(product(gains, (1.0, 1e-9))), 3):
            with self.subTest(order=order, gain=gain, size=size):
                self.assert_right(loop(gain, 1.0, size), 5e-2, "-cosim_type jacobi "
                                  f"-cosim_hold_order {order} -cosim_consistent_outputs false",
                                  may_refuse=True)

    def test_prediction_control(self):
        for order in (1, 2):
            with self.subTest(order=order):
                self.assert_right(loop(0.4, 1.0), 1e-2, "-cosim_type jacobi -cosim_adapt predictor "
                                  f"-cosim_hold_order {order} -cosim_adapt_rtol 1e-4")


def spring(stiffness, damping, size=1.0):
    """Two masses; the right one's spring pulls at the left one."""
    return Model(
        [Subsystem("a", {"x": size, "v": 0.0}, {"x": "v", "v": "f - 100*x"}, {"x": "x", "v": "v"},
                   {"f": 0.0}),
         Subsystem("b", {"y": size, "w": 0.0},
                   {"y": "w", "w": f"-400*y - {stiffness!r}*(y - x) - {damping!r}*(w - v)"},
                   {"f": f"{stiffness!r}*(y - x) + {damping!r}*(w - v)", "y": "y"},
                   {"x": size, "v": 0.0})],
        [("a.x", "b.x"), ("a.v", "b.v"), ("b.f", "a.f")])


class Explosions(Kinds, unittest.TestCase):
    """1.4: what leaves every scale of the model has failed; growth of the model's own has not."""

    def check(self, model, *options):
        done = run(model, *options)
        print(*options, done.code, done.reason)
        self.assert_refused(done)
        self.assertEqual(done.code, 1)

    def test_two_masses(self):
        text = TWO_MASS.read_text(encoding="utf-8")
        for size in in_short((1.0, 1e-9, 1e6), 2):
            model = text.replace("{x: 1, v: 0}", f"{{x: {size!r}, v: 0}}").replace(
                "{x: 3, v: 0}", f"{{x: {3 * size!r}, v: 0}}")
            for options in ("-cosim_type jacobi", "-cosim_type extripol",
                            "-cosim_type jacobi -cosim_hold_order 1 -cosim_extrapolation hermite"):
                with self.subTest(size=size, options=options):
                    self.check(model, options, "-cosim_step 1e-2")

    def test_stiff_springs(self):
        for stiffness, damping in ((1e6, 1.0), (1e5, 50.0), (1e8, 100.0)):
            with self.subTest(stiffness=stiffness):
                self.check(spring(stiffness, damping), "-cosim_type jacobi -cosim_step 5e-3")

    def test_missiles_right_refused_or_told(self):
        """The force begins with a layer of 1e-4 to 1e-6 s, of which its first row keeps a rest of two
        percent at 1e10 N/m; and y is integrated to 1e-10, which 1e10 N/m make one of 150 N."""
        for stiffness, damping, allowed in ((1e12, 2e6, 1e-2), (1e10, 2e5, 3e-2), (1e8, 2e4, 1e-2),
                                            (1e14, 1e7, 1e-2)):
            for size in in_short((1e-9, 1.0), 2):
                with self.subTest(stiffness=stiffness, size=size):
                    self.assert_right(spring(stiffness, damping, size), allowed,
                                      "-cosim_type missiles", may_refuse=True, may_tell=True,
                                      fastest=1e4)

    def test_diverged_warn_goes_on(self):
        done = run(TWO_MASS.read_text(encoding="utf-8"),
                   "-cosim_type jacobi -cosim_step 1e-2 -cosim_diverged warn")
        self.assertEqual(done.code, 0, done.reason)

    def test_growth_of_the_model_is_none(self):
        """x' = r x, 12 decades: not a failed run."""
        for rate in (3.0, 14.0):
            model = Model(
                [Subsystem("a", {"x": 1e-6}, {"x": f"{rate!r}*x + 0.1*u"}, {"y": "x"}, {"u": 0.0}),
                 Subsystem("b", {"z": 0.0}, {"z": "u - z"}, {"y": "z"}, {"u": 1e-6})],
                [("a.y", "b.u"), ("b.y", "a.u")], stop=2.0)
            for method, allowed in (("jfm", 1e-5), ("missiles", 1e-5), ("gauss_seidel", 0.1)):
                with self.subTest(rate=rate, method=method):
                    self.assert_right(model, allowed, f"-cosim_type {method} -cosim_adapt none")


if __name__ == "__main__":
    unittest.main()
