"""Findings 1.10, 8.6, 8.7: constraints in any units, from any start."""
import unittest

import numpy as np
from concord_runs import in_short
from equation_models import Constraint, Model, Subsystem
from kinds import Kinds, exact_outputs, run


def pair(mass, size=1.0, push=1.0):
    """Index 3: two springs whose masses move as one; the force between them is known.
    x = 0.5 cos(w t), w^2 = (4 m + 9 m)/(2 m); force l = m (9 - 4)/2 x (in units of push)."""
    return Model(
        [Subsystem("a", {"x": 0.5 * size, "v": 0.0}, {"x": "v", "v": f"-4*x + l/{mass!r}"},
                   {"p": "x"}, {"l": 0.0}),
         Subsystem("b", {"x": 0.5 * size, "v": 0.0}, {"x": "v", "v": f"-9*x + l/{mass!r}"},
                   {"p": "x"}, {"l": 0.0})],
        constraints=[Constraint("force", "a.p - b.p", {"a.l": push, "b.l": -push})], stop=2.0)


class HigherIndex(Kinds, unittest.TestCase):
    """1.10: row 0 of the unknown is its value, not the guess."""

    def test_position_constraint(self):
        for mass, size, push in ((1.0, 1.0, 1.0), (80.0, 1e-3, 1.0), (1e-6, 1.0, 1e-6),
                                 (3.0, 1e-9, 1e5)):
            for method in ("jfm", "missiles"):
                with self.subTest(method=method, mass=mass, size=size, push=push):
                    done = run(pair(mass, size, push), f"-cosim_type {method} -cosim_step 0.01")
                    self.assertTrue(done.completed, done.reason)
                    t = done.results.time
                    x = 0.5 * size * np.cos(np.sqrt(6.5) * t)
                    force = -2.5 * mass / push * x
                    found = done.results.outputs["force.value"]
                    first = abs(found[0] - force[0]) / abs(force[0])
                    worst = np.max(np.abs(done.results.outputs["a.p"] - x)) / (0.5 * size)
                    print(f"{method} {mass:g} {size:g}: row 0 {first:.1e}, states {worst:.1e}")
                    self.assertLess(first, 5e-2)
                    self.assertLess(worst, 1e-3)

    def test_velocity_constraint(self):
        """Two rates that add up to cos t: x = sin(t)/2, unknown cos(t)/2."""
        for size in (1.0, 1e-9, 1e6):
            model = Model(
                [Subsystem("left", {"x": 0.0}, {"x": f"{size!r}*cos(t) + f"}, {"x": "x"}, {"f": 0.0}),
                 Subsystem("right", {"x": 0.0}, {"x": "f"}, {"x": "x"}, {"f": 0.0})],
                constraints=[Constraint("rate", "left.x - right.x",
                                        {"left.f": -1.0, "right.f": 1.0})], stop=2.0)
            for method, allowed in (("jfm", 1e-4), ("missiles", 2e-2)):
                with self.subTest(method=method, size=size):
                    done = run(model, f"-cosim_type {method} -cosim_step 0.01")
                    self.assertTrue(done.completed, done.reason)
                    t = done.results.time
                    error = np.abs(done.results.outputs["left.x"] - size * np.sin(t) / 2).max() / size
                    unknown = done.results.outputs["rate.value"]
                    first = abs(unknown[0] - size / 2) / size
                    print(f"{method} {size:g}: states {error:.1e}, row 0 {first:.1e}")
                    self.assertLess(error, allowed)
                    self.assertLess(first, 1e-2)


def direct(rest, size=1.0, curve="1"):
    """Index 1, between outputs that rest at `rest` and change by `size`; exact: y = u = size t^4."""
    s = repr(size)
    return Model(
        [Subsystem("left", {"y": 0.0}, {"y": f"4*{s}*t^3 + u - {s}*t^4"},
                   {"z": f"{rest!r} + 3.5*y - u - {curve}*y^3/{s}^2/2", "y": "y"}, {"u": 0.0}),
         Subsystem("right", {}, {}, {"z": f"-{rest!r} - 2.5*u + {curve}*u^3/{s}^2/2"}, {"u": 0.0})],
        constraints=[Constraint("u", "left.z + right.z", {"left.u": 1.0, "right.u": 1.0})], stop=1.0)


class Units(Kinds, unittest.TestCase):
    """8.6: exact derivatives of constraints, whatever rests beside them."""

    def error(self, model, step, size, method="jfm"):
        done = run(model, f"-cosim_type {method} -cosim_step {step} -cosim_rtol 1e-11 "
                          f"-cosim_atol {1e-12 * size!r} -subsystem_rtol 1e-12")
        self.assertTrue(done.completed, done.reason)
        exact = size * done.results.time**4
        return np.abs(done.results.outputs["left.y"] - exact).max() / size

    def test_orders(self):
        for rest, size in ((0.0, 1.0), (1e5, 1.0), (1e5, 1e3), (1.0, 1e-4), (0.0, 1e-9)):
            for method, order in (("jfm", 3.6), ("missiles", 2.6)):
                with self.subTest(rest=rest, size=size, method=method):
                    found = [self.error(direct(rest, size), h, size, method) for h in (0.1, 0.05)]
                    observed = np.log2(found[0] / found[1])
                    print(f"{method} rest {rest:g} size {size:g}: {found}, order {observed:.2f}")
                    self.assertGreater(observed, order)

    def test_root_of_small_quantities(self):
        """0 = u - sqrt(d)/1e-6 with d of 1e-12: never outside the root's domain."""
        for small in (1e-12, 1e-6, 1.0, 1e9):
            root = np.sqrt(small)
            model = Model(
                [Subsystem("a", {"d": small}, {"d": f"{small!r}*cos(t) - 0.2*d"},
                           {"d": "d", "q": "q"}, {"q": root})],
                constraints=[Constraint("flow", f"a.q - sqrt(a.d)/{root!r}", {"a.q": 1.0},
                                        start=1.0)], stop=2.0)
            for method in ("jfm", "missiles", "monolithic"):
                with self.subTest(method=method, small=small):
                    self.assert_right(model, 1e-4, f"-cosim_type {method}")


class Factors(Kinds, unittest.TestCase):
    """The solution is the constraint's, whatever factor and units its equation is written in."""
    FACTORS = (1e-9, 1e9)

    def outputs(self, model, factor, options):
        constraint = model.constraints[0]
        constraint.equation = f"{factor!r}*({constraint.equation})"
        done = run(model, options)
        self.assertTrue(done.completed, f"{factor:g} {options}: {done.reason}")
        return done.results.outputs

    def check(self, make, names, options, allowed):
        one = self.outputs(make(), 1.0, options)
        for factor in self.FACTORS:
            with self.subTest(factor=factor, options=options):
                other = self.outputs(make(), factor, options)
                for name in names:
                    far = np.abs(other[name] - one[name]).max() / np.abs(one[name]).max()
                    print(f"{options} {factor:g} {name}: {far:.1e}")
                    self.assertLess(far, allowed)

    def test_direct(self):
        for method in ("jfm", "missiles", "monolithic", "jacobi",
                       "jacobi -cosim_constraints overlapping"):
            self.check(lambda: direct(0.0), ("left.y", "u.value"),
                       f"-cosim_type {method} -cosim_step 0.02", 1e-6)

    def test_position(self):
        for method in ("jfm", "missiles"):
            self.check(lambda: pair(80.0, 1e-3), ("a.p", "b.p"),
                       f"-cosim_type {method} -cosim_step 0.01", 1e-6)
            self.check(lambda: pair(80.0, 1e-3), ("force.value",),
                       f"-cosim_type {method} -cosim_step 0.01", 1e-3)

    def test_start_values_are_looked_at_in_every_unit(self):
        for factor in (1e-9, 1.0, 1e9):
            for method in ("jfm", "missiles"):
                with self.subTest(factor=factor, method=method):
                    model = pair(1.0)
                    model.constraints[0].equation = f"{factor!r}*(a.p - b.p)"
                    model.subsystems[1].states["x"] = 0.5 * (1 + 1e-4)
                    self.assert_refused(run(model, f"-cosim_type {method} -cosim_step 0.01"),
                                        "violate its equation")
                    model.subsystems[1].states["x"] = 0.5
                    model.subsystems[1].states["v"] = 1e-3
                    self.assert_refused(run(model, f"-cosim_type {method} -cosim_step 0.01"),
                                        "time derivative of its equation")


def carried(units):
    """Index 1: two carriers of one unknown, each variable in a unit of its own: a.p = 2 x + 2 l + sin
    l/10, b.p = 2 l + sin l/10 - x; `units`: of x, y, the carriers' inputs and outputs, the unknown,
    the equation."""
    x, y, in_a, in_b, p_a, p_b, unknown, rest = units
    carrier = lambda name, at, state, push, answer, u, p: Subsystem(
        name, {"x": state * at},
        {"x": f"-2.5*x + {0.6 * at!r}*cos(3*t) + {push * at!r}*sin(l/{u!r})"},
        {"p": f"{answer * p / at!r}*x + {2 * p / u!r}*l + {0.1 * p!r}*sin(l/{u!r})"}, {"l": 0.0})
    return Model([carrier("a", x, 0.3, 0.3, 2.0, in_a, p_a), carrier("b", y, 0.7, -0.3, -1.0, in_b, p_b)],
                 constraints=[Constraint("l", f"{rest / p_a!r}*a.p + {rest / p_b!r}*b.p",
                                         {"a.l": in_a / unknown, "b.l": in_b / unknown})], stop=1.0)


class AllUnits(Kinds, unittest.TestCase):
    """A constraint of index 1 with every variable in a unit of its own, between 1e-12 and 1e12: starts
    from 0, and what is left of the equation is not taken for the unknown's, whatever it is beside."""

    @staticmethod
    def draws(count):
        """Units of one, and random ones."""
        rng = np.random.default_rng(20261122)
        return [[float(f"{u:.6g}") for u in units]
                for units in [np.ones(8)] + [10**rng.uniform(-12, 12, 8) for _ in range(count)]]

    def test_index_1(self):
        exact = None
        for units in in_short(self.draws(10), 4):
            sizes = np.array(units[4:6])
            for method in ("jfm", "missiles", "monolithic", "jfm -subsystem_linearization false"):
                with self.subTest(units=units, method=method):
                    done = run(carried(units), f"-cosim_type {method} -cosim_step 0.01")
                    self.assertTrue(done.completed, done.reason)
                    if exact is None:
                        exact = exact_outputs(carried(units), done.results.time)
                    found = done.results.outputs.columns("a.p", "b.p") / sizes
                    self.assert_balanced(done.results, units)
                    worst = np.abs(found - exact).max() / np.abs(exact).max()
                    print(f"{method}: error {worst:.1e}, unknown's unit {units[6]:g}, "
                          f"equation's {units[7]:g}")
                    self.assertLess(worst, 1e-6)

    def test_step_control(self):
        """What is left of an equation is no signal, and an unknown's hold no error of its equation."""
        for options in ("jfm -cosim_adapt predictor", "missiles -cosim_adapt predictor",
                        "jacobi -cosim_adapt richardson", "jacobi -cosim_adapt predictor",
                        "gauss_seidel -cosim_hold_order 1 -cosim_adapt predictor"):
            steps = []
            for units in in_short(self.draws(5), 3):
                with self.subTest(units=units, options=options):
                    done = run(carried(units), f"-cosim_type {options} -cosim_adapt_rtol 1e-4")
                    self.assertTrue(done.completed, done.reason)
                    exact = exact_outputs(carried([1.0] * 8), done.results.time)
                    found = done.results.outputs.columns("a.p", "b.p") / np.array(units[4:6])
                    steps.append(len(done.results.time) - 1)
                    worst = np.abs(found - exact).max() / np.abs(exact).max()
                    print(f"{options}: {steps[-1]} macro-steps, error {worst:.1e}")
                    self.assertLess(worst, 1e-3)
                    self.assertLess(abs(steps[-1] / steps[0] - 1), 0.1)

    def assert_balanced(self, results, units):
        """The unknown is what a.p and a.x make of it, and the guess is the unknown."""
        l = results.outputs["l.value"] / units[6]
        x = results.states["a.x"] / units[0]
        np.testing.assert_allclose(2 * x + 2 * l + 0.1 * np.sin(l), results.outputs["a.p"] / units[4],
                                   rtol=0, atol=1e-6)
        np.testing.assert_allclose(results.inputs["l.guess"] / units[6], l, rtol=0, atol=1e-6)


class Starts(Kinds, unittest.TestCase):
    """8.7: constraints start from what the outputs are, and from the guess that a user gives."""

    def test_root_of_an_output(self):
        """0 = q - sqrt(d): never started, since both were tried at 0."""
        for level, guess in ((0.25, 0.0), (9.0, 0.0), (9.0, 5.0), (1e-8, 0.0), (1e8, 1e4)):
            leak = 0.01 * float(np.sqrt(level))
            model = Model(
                [Subsystem("tank", {"d": level}, {"d": f"{0.1 * level!r} - 0.2*d - {leak!r}*q"},
                           {"d": "d"}, {"q": 0.0}),
                 Subsystem("valve", {"z": 0.0}, {"z": "q - z"}, {"q": "q", "z": "z"}, {"q": 0.0})],
                constraints=[Constraint("flow", "valve.q - sqrt(tank.d)",
                                        {"tank.q": 1.0, "valve.q": 1.0}, start=guess)], stop=2.0)
            for method in ("jfm", "missiles", "monolithic"):
                with self.subTest(method=method, level=level, guess=guess):
                    solved = Model([Subsystem(
                        "s", {"d": level, "z": 0.0},
                        {"d": f"{0.1 * level!r} - 0.2*d - {leak!r}*sqrt(d)", "z": "sqrt(d) - z"},
                        {"d": "d", "q": "sqrt(d)", "z": "z"})], stop=2.0)
                    self.check(model, solved, method)

    def check(self, model, solved, method):
        from_hand = self.solution(solved)
        self.assert_right(model, 1e-4, f"-cosim_type {method}", exact=from_hand)

    @staticmethod
    def solution(solved):
        return lambda grid: exact_outputs(solved, grid)

    def test_curved_unknown(self):
        """0 = l^3 + l - 10 - x: one root, far from the guess of 0."""
        for size in (1.0, 1e-9):
            s = repr(size)
            model = Model(
                [Subsystem("a", {"x": size}, {"x": "-x + 0.1*l"},
                           {"z": f"l^3/{s}^2 + l - 10*{s} - x"}, {"l": 0.0})],
                constraints=[Constraint("l", "a.z", {"a.l": 1.0})], stop=2.0)
            for method in ("jfm", "missiles", "monolithic"):
                with self.subTest(method=method, size=size):
                    done = run(model, f"-cosim_type {method}")
                    self.assertTrue(done.completed, done.reason)
                    rest = np.abs(done.results.outputs["a.z"]).max()
                    self.assertLess(rest, 1e-4 * size)
                    l = done.results.outputs["l.value"]
                    self.assertLess(abs(l[0] - 2.0711 * size), 1e-2 * size)


if __name__ == "__main__":
    unittest.main()
