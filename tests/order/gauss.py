"""Collocation on the coupled system (presets gauss and radau): orders 2k and 2k - 1 in k nodes, against
closed forms and a collocation of order 9 that owes nothing to Concord; events, rows, step control,
estimates, energy, stiffness; what cannot take part is refused."""
import json
import unittest
from pathlib import Path

import numpy as np
from collocation import Collocation
from concord_runs import (ALGEBRAIC_LOOP, EXAMPLES, LOTKA_VOLTERRA, TWO_MASS, InFolder, distance,
                          execute, simulate, write_model)
from equation_models import Model, Subsystem
from quintic import UNDAMPED
from references import LotkaVolterra, observed_orders, two_mass

FIVE = Model(stop=4.0, subsystems=[
    Subsystem("a", {"x": 1.0, "v": 0.0}, {"x": "v", "v": "f - 4*x - 0.1*v"},
              {"y": "x + 0.5*tanh(f) + 0.1*sin(t)"}, {"f": 0.0}),
    Subsystem("b", {"z": 0.5}, {"z": "p - 2*z + 0.1*q*z"}, {"f": "-z - 0.3*p*p"},
              {"p": 1.0, "q": 0.0}),
    Subsystem("c", {"w": 0.2}, {"w": "f - w"}, {"q": "w + 0.2*f*f"}, {"f": 0.0}),
    Subsystem("d", {"s": 0.0}, {"s": "y*q - s"}, {"r": "s*exp(-0.1*q)"}, {"q": 0.0, "y": 0.0}),
    Subsystem("e", {"k": 0.3}, {"k": "cos(k) + r - k"}, {"g": "k + 0.1*r^2"}, {"r": 0.0})],
    connections=[("a.y", "b.p"), ("b.f", "a.f"), ("b.f", "c.f"), ("e.g", "b.q"), ("c.q", "d.q"),
                 ("a.y", "d.y"), ("d.r", "e.r")])

# c V stays as it is, exactly in methods of Gauss: between communication points it does not.
FILLED = Model(stop=1.6, subsystems=[
    Subsystem("tank", {"V": 0.2, "c": 5.0}, {"V": "q", "c": "-q*c/V"}, {"V": "V", "c": "c"}, {"q": 0.0}),
    Subsystem("pump", {"z": 0.5}, {"z": "0*V"}, {"q": "z"}, {"V": 0.0})],
    connections=[("pump.q", "tank.q"), ("tank.V", "pump.V")])

LOOP = Model(stop=4.0, subsystems=[
    Subsystem("a", {"x": 1.0, "v": 0.0}, {"x": "v", "v": "f - 40*x - 0.1*v"},
              {"y": "x + 2.5*f + 0.1*sin(9*t)"}, {"f": 0.0}),
    Subsystem("b", {"z": 0.5}, {"z": "p - 2*z"}, {"f": "-z - p"}, {"p": 1.0})],
    connections=[("a.y", "b.p"), ("b.f", "a.f")])

# Index 1: the unknown closes 0 = x + sin(y) - u - u^3/3.
INDEX_ONE = """experiment: {start: 0, stop: 3}
subsystems:
  left:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: -x + cos(3*t) - u}
      outputs: {z: x - u - u^3/3}
  right:
    equations:
      inputs: {u: 0}
      states: {y: 0}
      derivatives: {y: u - 0.5*y}
      outputs: {z: sin(y)}
constraints:
  - {unknown: u, start: 0, equation: left.z + right.z, feeds: {left.u: 1, right.u: 1}}
"""

CHAIN = """experiment: {start: 0, stop: 2}
templates:
  mass:
    equations:
      inputs: {left: 0, right: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: 4*(left - 2*x + right) - 0.1*x^3}
      outputs: {x: x}
subsystems:
  wall: {equations: {outputs: {x: sin(t)}}}
  mass: {template: mass, repeat: {i: [1, 100]}}
connections:
  - wall.x -> mass[1].left
  - {connect: "mass[i].x -> mass[i+1].left", repeat: {i: [1, 99]}}
  - {connect: "mass[i+1].x -> mass[i].right", repeat: {i: [1, 99]}}
"""

STIFF = """experiment: {{start: 0, stop: 2}}
subsystems:
  fast:
    equations:
      inputs: {{u: 0}}
      states: {{x: 1}}
      derivatives: {{x: "{rate}*(cos(u) - x)"}}
      outputs: {{x: x}}
  slow: {{equations: {{inputs: {{x: 0}}, states: {{y: 0.5}}, derivatives: {{y: x - y^2}}, outputs: {{y: y}}}}}}
connections: [fast.x -> slow.x, slow.y -> fast.u]
"""


def nodes(kind, k):
    return ("-cosim_type", kind, "-cosim_nodes", k)


def order_of(kind, k):
    return 2 * k if kind == "gauss" else 2 * k - 1


def kinds_and_nodes(least=2, most=5):
    return [(kind, k) for kind in ("gauss", "radau") for k in range(least, most + 1)]


def relative(values, exact):
    return np.max(np.abs(values - exact) / np.max(np.abs(exact), axis=0))


def steps_for(k, steps, of_five_nodes):
    """Five nodes leave only rounding of steps that are small for others."""
    return of_five_nodes if k == 5 else steps


class Orders(InFolder, unittest.TestCase):
    """Errors above what rounding and references leave: between half an order less and one more."""

    def check(self, kind, k, steps, errors, least=1e-13):
        found = observed_orders(steps, errors)
        print(kind, k, np.array(errors), "orders", np.round(found, 2))
        seen = [order for order, error in zip(found, errors[1:]) if error > least]
        self.assertTrue(seen, "all errors are rounding")
        for order in seen:
            self.assertGreater(order, order_of(kind, k) - 0.5)
            self.assertLess(order, order_of(kind, k) + 1.0)

    def test_two_masses(self):
        for kind, k in kinds_and_nodes():
            steps, errors = steps_for(k, (1.6e-2, 8e-3, 4e-3), (1.6e-2, 8e-3)), []
            for step in steps:
                run = simulate(TWO_MASS, *nodes(kind, k), "-cosim_step", step)
                errors.append(relative(run.states.values, two_mass().exact_states(run.time)))
            self.check(kind, k, steps, errors)

    def test_lotka_volterra(self):
        for kind, k in kinds_and_nodes():
            steps, errors = steps_for(k, (0.4, 0.2, 0.1), (0.4, 0.25)), []
            for step in steps:
                run = simulate(LOTKA_VOLTERRA, *nodes(kind, k), "-cosim_step", step)
                errors.append(relative(run.states.values, LotkaVolterra.exact_states(run.time)))
            self.check(kind, k, steps, errors, least=1e-14)

    def network(self, model, steps, of_five_nodes=()):
        """Where all runs have communication points."""
        path = write_model(self.folder, "network", model.yaml())
        apart = 5 * steps[0]
        grid = np.arange(0.0, model.stop + 0.5 * apart, apart)
        exact = Collocation(model).solve(grid, pieces=64)[0]
        for kind, k in kinds_and_nodes(2, 5 if of_five_nodes else 4):
            chosen, errors = steps_for(k, steps, of_five_nodes), []
            for step in chosen:
                run = simulate(path, *nodes(kind, k), "-cosim_step", step)
                errors.append(relative(run.states.values[::int(round(apart / step))], exact))
            self.check(kind, k, chosen, errors, least=1e-12)

    def test_five_with_curved_feedthrough(self):
        """With five nodes steps small enough for an order of 10 leave nothing but rounding."""
        self.network(FIVE, (0.4, 0.2, 0.1))

    def test_algebraic_loop(self):
        self.network(LOOP, (0.1, 0.05, 0.025), (0.125, 0.1))

    def test_constraint_of_index_one(self):
        path = write_model(self.folder, "index_one", INDEX_ONE)
        exact = simulate(path, "-cosim_type", "monolithic", "-subsystem_rtol", "1e-13",
                         "-subsystem_atol", "1e-15", "-cosim_step", 0.2)
        for kind, k in kinds_and_nodes(2, 3):
            steps = (0.2, 0.1, 0.05)
            errors = []
            for step in steps:
                run = simulate(path, *nodes(kind, k), "-cosim_step", step)
                every = int(round(steps[0] / step))
                errors.append(relative(run.states.values[::every], exact.states.values))
            self.check(kind, k, steps, errors, least=1e-10)


class Runs(InFolder, unittest.TestCase):
    def test_ranks(self):
        path = write_model(self.folder, "five", FIVE.yaml())
        for kind in ("gauss", "radau"):
            alone = simulate(path, "-cosim_type", kind, "-cosim_step", 0.1)
            for ranks in (2, 3, 5):
                other = simulate(path, "-cosim_type", kind, "-cosim_step", 0.1, ranks=ranks)
                self.assertLess(distance(other, alone), 1e-12)

    def test_what_has_hardly_begun(self):
        """Along a chain at rest nothing but powers of the macro-step moves at first, down to 1e-300."""
        path = write_model(self.folder, "chain", CHAIN)
        exact = simulate(path, "-cosim_type", "monolithic", "-cosim_step", 0.05, "-subsystem_rtol", 1e-11)
        for kind in ("gauss", "radau"):
            run = simulate(path, "-cosim_type", kind, "-cosim_step", 0.05)
            for name in ("mass[1].x", "mass[2].x", "mass[4].x"):
                error = np.max(np.abs(run.outputs[name] - exact.outputs[name]))
                self.assertLess(error, 1e-8 * np.max(np.abs(exact.outputs[name])), (kind, name))

    def test_kept_derivatives(self):
        """Whatever is kept, all nodes are converged: one node more in the sweeps changes nothing."""
        for step in (0.4, 0.1, 0.025):
            run = simulate(LOTKA_VOLTERRA, "-cosim_type", "gauss", "-cosim_step", step)
            tighter = simulate(LOTKA_VOLTERRA, "-cosim_type", "gauss", "-cosim_step", step,
                               "-cosim_rtol", 1e-14)
            self.assertLess(distance(run, tighter), 1e-11)

    def test_rows(self):
        """Inside macro-steps they are as exact as at their ends, and of the same order."""
        for kind, k in kinds_and_nodes(2, 4):
            steps, errors = (0.4, 0.2), []
            for step in steps:
                run = simulate(LOTKA_VOLTERRA, *nodes(kind, k), "-cosim_step", step,
                               "-cosim_output_interval", 0.05)
                error = np.abs(run.states.values - LotkaVolterra.exact_states(run.time))
                ends = np.isclose(run.time / step, np.round(run.time / step))
                errors.append(np.max(error))
                self.assertLess(np.max(error), 3 * np.max(error[ends]) + 1e-13, (kind, k, step))
            self.assertGreater(observed_orders(steps, errors)[0], order_of(kind, k) - 0.6)

    def test_work(self):
        """Right-hand sides of a subsystem for an error, of methods 20's table."""
        for k, step, error, work in ((4, 0.4, 2.1e-5, 280), (5, 0.4, 5.1e-11, 340)):
            run = simulate(LOTKA_VOLTERRA, *nodes("gauss", k), "-cosim_step", step, "-cosim_stop", 8)
            exact = LotkaVolterra.exact_states(run.time)
            self.assertLess(np.max(np.abs(run.states.values - exact)), error)
            self.assertLessEqual(max(run.subsystems["rhs_evaluations"]), work)


class Estimates(InFolder, unittest.TestCase):
    def test_of_fixed_steps(self):
        """Of the right size wherever it is above rounding."""
        for k, step in ((2, 0.2), (3, 0.2), (4, 0.4), (5, 0.8)):
            run = simulate(LOTKA_VOLTERRA, *nodes("gauss", k), "-cosim_step", step)
            exact = LotkaVolterra.exact_states(run.time)
            ratio = run.error_estimate / relative(run.states.values, exact)
            print("k", k, "estimate over error", ratio)
            self.assertGreater(ratio, 0.25)
            self.assertLess(ratio, 5.0)

    def test_of_rows(self):
        """Inside a macro-step a run may be further off than at its ends, and says so."""
        model = write_model(self.folder, "filled", FILLED.yaml())
        for kind, k, step in (("gauss", 3, 0.2), ("gauss", 4, 0.4), ("gauss", 5, 0.4), ("radau", 4, 0.4)):
            options = (*nodes(kind, k), "-cosim_step", step)
            run = simulate(model, *options, "-cosim_output_interval", 0.01)
            error = np.max(np.abs(run.outputs["tank.c"] - 1 / (0.2 + 0.5 * run.time))) / 4
            with self.subTest(kind=kind, k=k):
                self.assertGreater(run.error_estimate, 0.5 * error)
                self.assertLess(run.error_estimate, 5 * error)
            if kind == "gauss":
                self.assertLess(simulate(model, *options).error_estimate, 1e-2 * error)

    def test_step_control(self):
        sizes = []
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
            run = simulate(LOTKA_VOLTERRA, "-cosim_type", "gauss", "-cosim_adapt", "predictor",
                           "-cosim_adapt_rtol", tolerance)
            error = relative(run.states.values, LotkaVolterra.exact_states(run.time))
            print("tolerance", tolerance, "error", error, "macro-steps", len(run.time) - 1)
            self.assertLess(error, 10 * tolerance)
            sizes.append(len(run.time) - 1)
        self.assertLess(sizes[-1], 5 * sizes[0])

    def test_what_is_not_damped_is_told(self):
        """Gauss' methods don't damp a layer: the run has failed, or says so."""
        path = write_model(self.folder, "stiff", STIFF.format(rate=1e6))
        run = execute("run", path, "-cosim_type", "gauss", "-cosim_step", 0.1, "-cosim_output",
                      f"{self.folder}/stiff.h5")
        self.assertEqual(run.returncode, 1)
        self.assertIn("diverged", run.stderr)


# Its layers want more nodes, again and again, beside a part whose derivatives never change.
LAYERS = """experiment: {start: 0, stop: 60}
subsystems:
  a: {equations: {inputs: {v: 0}, states: {x: 2}, derivatives: {x: v}, outputs: {x: x}}}
  b: {equations: {inputs: {x: 2}, states: {v: 0}, derivatives: {v: "20*(1 - x^2)*v - x"}, outputs: {v: v}}}
  c: {equations: {inputs: {x: 0}, states: {p: 1, q: 0}, derivatives: {p: q, q: "-4*p + 0.1*x"}, outputs: {p: p}}}
connections: [b.v -> a.v, a.x -> b.x, a.x -> c.x]
"""


def exact_undamped(t):
    """Of UNDAMPED, by its modes x + y and x - y."""
    fast = np.sqrt(1.6)
    total, total_rate = 0.5 * np.cos(t), -0.5 * np.sin(t)
    rest, rest_rate = 1.5 * np.cos(fast * t), -1.5 * fast * np.sin(fast * t)
    return 0.5 * np.stack([total + rest, total_rate + rest_rate, total - rest,
                           total_rate - rest_rate], axis=1)


AUTO = ("-cosim_nodes", "auto")


class Choice(InFolder, unittest.TestCase):
    """How many nodes there are, where the run chooses."""

    def work(self, name, model, exact, *options):
        summary = f"{self.folder}/{name}.json"
        run = simulate(model, *options, "-cosim_summary", summary)
        error = relative(run.states.values, exact(run.time))
        found = json.loads(Path(summary).read_text(encoding="utf-8"))
        nodes_each = found["nodes"] / found["steps"]["accepted"]
        work = int(np.max(run.subsystems["rhs_evaluations"]))
        print(name, *options, "error", error, "nodes", nodes_each, "right-hand sides", work)
        return error, nodes_each, work

    def test_follows_the_accuracy(self):
        """Undamped masses over 318 periods: more where less may be wrong, for less work than four."""
        model = write_model(self.folder, "undamped", UNDAMPED)
        for accuracy, most in ((1e-6, 1.0), (1e-9, 0.7)):
            options = ("-cosim_type", "gauss", "-cosim_accuracy", accuracy)
            chosen = self.work("chosen", model, exact_undamped, *options, *AUTO)
            four = self.work("four", model, exact_undamped, *options, "-cosim_nodes", 4)
            self.assertLess(chosen[0], accuracy)
            self.assertEqual(four[1], 4.0)
            self.assertGreater(chosen[1], 4.0)
            self.assertLess(chosen[2], most * four[2])

    def test_is_part_of_what_is_saved(self):
        """Systems that go from one number of nodes to another remember nothing that others don't."""
        model = write_model(self.folder, "layers", LAYERS)
        for accuracy in (1e-4, 1e-6):
            whole, forgetful = (simulate(model, "-cosim_accuracy", accuracy, *more)
                                for more in (AUTO, (*AUTO, "-cosim_forget", 1)))
            np.testing.assert_array_equal(forgetful.states.values, whole.states.values)


class LongRuns(InFolder, unittest.TestCase):
    def test_no_energy_is_made(self):
        model = write_model(self.folder, "undamped", UNDAMPED)
        run = simulate(model, "-cosim_type", "gauss", "-cosim_step", 0.5, "-cosim_stop", 10000)
        energy = run.outputs["left.energy"] + run.outputs["right.energy"]
        self.assertEqual(len(energy), 20001)
        self.assertLess(np.max(np.abs(energy / energy[0] - 1.0)), 1e-12)

    def test_stiff(self):
        """The slow solution keeps the order, however fast the fast one is."""
        for rate in (1e2, 1e4, 1e6, 1e8):
            path = write_model(self.folder, "stiff", STIFF.format(rate=rate))
            exact = simulate(path, *nodes("radau", 6), "-cosim_step", 0.01).states.values[-1]
            errors = [np.max(np.abs(simulate(path, *nodes("radau", 3), "-cosim_step", step)
                                    .states.values[-1] - exact)) for step in (0.2, 0.1)]
            print("rate", rate, errors)
            self.assertLess(errors[0], 1e-7)
            self.assertGreater(observed_orders((0.2, 0.1), errors)[0], 4.5)
            run = simulate(path, "-cosim_type", "radau", "-cosim_adapt", "predictor",
                           "-cosim_adapt_rtol", 1e-8)
            self.assertLess(np.max(np.abs(run.states.values[-1] - exact)), 1e-8)
            self.assertLess(len(run.time), 100)


class Refusals(InFolder, unittest.TestCase):
    def refused(self, words, model, *options):
        run = execute("run", model, *options)
        self.assertEqual(run.returncode, 2, run.stdout)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_choices(self):
        for kind in ("gauss", "radau"):
            self.refused(("-cosim_hold", "leave"), TWO_MASS, "-cosim_type", kind, "-cosim_hold", "zoh")
            self.refused(("-cosim_schedule", "leave"), TWO_MASS, "-cosim_type", kind,
                         "-cosim_schedule", "sequential")
            self.refused(("-cosim_nodes", "7"), TWO_MASS, "-cosim_type", kind, "-cosim_nodes", 7)

    def test_subsystems(self):
        self.refused(("force", "index 2 or 3", "jfm"), EXAMPLES / "linked_rods" / "linked_rods.yaml",
                     "-cosim_type", "radau")
        delayed = write_model(self.folder, "delayed", """experiment: {stop: 1}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {y: x}}}
  b: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {y: x}}}
connections: [{connect: a.y -> b.u, delay: 0.3}, b.y -> a.u]
""")
        self.refused(("delay", "equations", "jfm"), delayed, "-cosim_type", "gauss")

    def test_no_nodes_elsewhere(self):
        run = execute("run", ALGEBRAIC_LOOP, "-cosim_type", "jfm", "-cosim_nodes", 3, "-cosim_step",
                      0.1, "-cosim_output", f"{self.folder}/loop.h5")
        self.assertEqual(run.returncode, 0)
        self.assertIn("-cosim_nodes", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
