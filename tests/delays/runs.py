"""Runs with delays: on several ranks, with step control, what is refused."""
import os
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, execute, run_here, simulate
from delay_models import LOOP, SCALAR, loop, scalar

METHODS = ("jfm", "missiles", "ifosmondi", "kuebler_schiehlen", "jacobi", "gauss_seidel",
           "hierarchical", "extripol")


class Ranks(ModelTest):
    def test_the_number_of_ranks_changes_nothing(self):
        model = self.model(LOOP.format(stop=1.5, to_right=0.47, to_left=0.04))
        for number, method in enumerate(METHODS):
            options = ["-cosim_type", method, "-cosim_step", 0.05, *TIGHT]
            one = simulate(model, *options)
            for ranks in (2, 3) if "CONCORD_LONG" in os.environ else (2 + number % 2,):
                with self.subTest(method=method, ranks=ranks):
                    other = simulate(model, *options, ranks=ranks)
                    np.testing.assert_array_equal(one.time, other.time)
                    self.assertEqual(one.outputs.names, other.outputs.names)
                    self.assertLess(np.max(np.abs(one.outputs.values - other.outputs.values)), 1e-12)


class StepControl(ModelTest):
    """The error of the whole run follows the tolerance."""

    def errors(self, options, tolerances):
        model = self.model(LOOP.format(stop=3, to_right=0.47, to_left=0.31))
        result = []
        for tolerance in tolerances:
            run = simulate(model, *options, "-cosim_adapt_rtol", tolerance, *TIGHT)
            found = run.outputs.columns("left.y", "right.y")
            result.append(np.max(np.abs(found - loop(run.time, 0.47, 0.31))))
        return result

    def test_predictor(self):
        for method in ("jfm", "missiles"):
            with self.subTest(method=method):
                coarse, fine = self.errors(["-cosim_type", method, "-cosim_adapt", "predictor"],
                                           (1e-3, 1e-6))
                self.assertLess(coarse, 1e-2)
                self.assertLess(fine, 1e-5)

    def test_richardson(self):
        """Macro-steps twice and once: both find the same past."""
        for order in (0, 1):
            with self.subTest(order=order):
                coarse, fine = self.errors(["-cosim_type", "jacobi", "-cosim_adapt", "richardson",
                                            "-cosim_hold_order", order], (1e-2, 1e-4))
                self.assertLess(coarse, 0.1)
                self.assertLess(fine, 1e-2)

    def test_iteration(self):
        model = self.model(SCALAR.format(start=0, stop=3, delay=0.05))
        run = simulate(model, "-cosim_type", "ifosmondi", "-cosim_adapt", "iteration", "-cosim_step",
                       0.2, "-cosim_max_it", 4)
        exact = np.array([scalar(t, 0.05) for t in run.time])
        self.assertGreater(np.sum(run.steps["rejections"]), 0)
        self.assertLess(np.max(np.abs(run.outputs["a.x"] - exact)), 1e-3)


class Refusals(ModelTest):
    TEXT = """experiment: {{stop: 1}}
parameters: {{T: 0.1}}
subsystems:
  a: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: -u}}, outputs: {{x: x}}}}}}
connections:
  - {connection}
"""

    def refused(self, connection, *options):
        model = self.model(self.TEXT.format(connection=connection))
        run = run_here(model, *options)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr

    def test_delays_that_are_none(self):
        for delay, words in (("-0.1", "must not be negative, but is -0.1"), ("T - 1", "but is -0.9"),
                             ("soon", "soon"), (".nan", "nan"), ("1/0", ":6"), ("t", "'t'"),
                             ("[0.1]", "delay")):
            with self.subTest(delay=delay):
                error = self.refused(f"{{connect: a.x -> a.u, delay: {delay}}}")
                self.assertIn("model.yaml:6: ", error)
                self.assertIn(words, error)

    def test_names(self):
        self.assertIn("has no output 'y'", self.refused("{connect: a.y -> a.u, delay: 1}"))
        self.assertIn("has no input 'v'", self.refused("{connect: a.x -> a.v, delay: 1}"))
        twice = "{connect: a.x -> a.u, delay: 1}\n  - {connect: a.x -> a.u, delay: 2}"
        self.assertIn("fed twice: by 'a.x' and by 'a.x'", self.refused(twice))
        self.assertIn("unknown key 'late'", self.refused("{connect: a.x -> a.u, late: 1}"))

    def test_monolithic(self):
        error = self.refused("{connect: a.x -> a.u, delay: T}", "-cosim_type", "monolithic")
        self.assertIn("the delay of a.x -> a.u offers no equations", error)
        self.assertIn("Methods that can run this model: jfm", error)

    def test_ssp(self):
        model = self.model(self.TEXT.format(connection="{connect: a.x -> a.u, delay: T}"))
        run = execute("export-ssp", model, "-o", self.folder / "model.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("the delay of a.x -> a.u is a part of its own: it becomes an FMU", run.stderr)
        check = execute("check", self.folder / "model.ssp")
        self.assertIn("delay_a_u (delay)", check.stdout)

    def test_start_values_that_don_t_settle(self):
        text = """
experiment: {stop: 1}
subsystems:
  a: {equations: {inputs: {u: 0}, outputs: {y: 1 - 2*u}}}
connections:
  - {connect: a.y -> a.u, delay: 0.25}
"""
        run = run_here(self.model(text))
        self.assertEqual(run.returncode, 1)
        self.assertIn("the start values don't settle", run.stderr)


if __name__ == "__main__":
    unittest.main()
