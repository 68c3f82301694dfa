"""Schedules of implicit solves: the same solution as in parallel, in fewer evaluations."""
import tempfile
import unittest

import numpy as np
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, simulate, write_model
from models import ring

SAME = 1e-10
PAIRS = {"two masses": (TWO_MASS, ["-cosim_step", 1e-3, "-cosim_stop", 0.2]),
         "Lotka-Volterra": (LOTKA_VOLTERRA, ["-cosim_step", 0.1, "-cosim_stop", 10])}

# One evaluation in sequence contracts by about 1e-6 here.
WEAK = """
name: weak loop
experiment: {start: 0.5, stop: 1.0}
subsystems:
  first:
    equations:
      inputs: {a: 0, b: 0}
      states: {x: 0.3}
      derivatives: {x: "-1.16*x + 0.07*a - 0.27*b + 0.3*sin(x*a) + 0.2*cos(2*t)"}
      outputs: {y: -0.13*x}
  second:
    equations:
      inputs: {u: 0}
      states: {x: -0.4, z: -0.7}
      derivatives:
        x: "-1.73*x + 0.63*z + 0.16*u + 0.3*sin(z*u) + 0.2*cos(2*t)"
        z: "-2.3*z + 0.1*x - 0.59*u + 0.3*sin(z*u) + 0.2*cos(2*t)"
      outputs: {y: 0.05*x + 0.75*z}
  third:
    equations:
      inputs: {u: 0}
      states: {x: 0.5}
      derivatives: {x: "-1.6*x + 0.34*u + 0.3*sin(x*u) + 0.2*cos(2*t)"}
      outputs: {y: 0.46*x}
connections:
  - third.y -> first.a
  - second.y -> first.b
  - first.y -> second.u
  - second.y -> third.u
"""


def far(a, b):
    """Largest difference of the states, relative to each one's largest value."""
    size = np.max(np.abs(a.states.values), axis=0)
    return np.max(np.abs(a.states.values - b.states.values) / size)


def evaluations(results):
    return np.mean(results.steps["coupling_evaluations"])


class SameSolution(unittest.TestCase):
    solvers = {
        "fixed point": "-cosim_type ifosmondi",
        "fixed point, foh": "-cosim_type kuebler_schiehlen",
        "fixed point, soh": "-cosim_type ifosmondi -cosim_hold soh",
        "fixed point, zoh": "-cosim_type ifosmondi -cosim_hold zoh",
        "Newton, estimators": "-cosim_type jfm",
        "Newton, differences": "-cosim_type jfm -cosim_predictor extrapolate",
        "Newton, matrix-free": "-cosim_type jfm -cosim_predictor hold -snes_mf",
        "Newton, matrix-free and estimators": "-cosim_type jfm -snes_mf_operator -ksp_type gmres",
        "Anderson": "-cosim_type jfm -cosim_predictor hold -snes_type anderson",
        "ngmres": "-cosim_type jfm -cosim_predictor hold -snes_type ngmres",
    }
    # Evaluations in sequence, of those in parallel. The loop through two subsystems contracts once
    # per evaluation in sequence, once per two in parallel.
    shares = {"fixed point": (0.4, 0.75), "fixed point, foh": (0.4, 0.75),
              "fixed point, soh": (0.4, 0.75), "fixed point, zoh": (0.4, 0.75),
              "Anderson": (0.4, 0.8), "ngmres": (0.3, 0.8)}

    def test_quasi_newton_where_little_is_left(self):
        """PETSc's line search would stop at the first directions, which are small."""
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "weak", WEAK)
            parallel, sequential = (
                simulate(model, *TIGHT, "-cosim_step", 0.05, "-snes_type", "qn", "-cosim_schedule",
                         schedule) for schedule in ("parallel", "sequential"))
        self.assertLess(far(sequential, parallel), SAME)

    def test_every_solver(self):
        for name, (model, steps) in PAIRS.items():
            for solver, options in self.solvers.items():
                with self.subTest(model=name, solver=solver):
                    parallel, sequential = (
                        simulate(model, *TIGHT, *options.split(), *steps, "-cosim_schedule", schedule)
                        for schedule in ("parallel", "sequential"))
                    share = evaluations(sequential) / evaluations(parallel)
                    print(f"{name}, {solver}: {evaluations(parallel):.2f} evaluations per step in "
                          f"parallel, {evaluations(sequential):.2f} in sequence; "
                          f"{far(parallel, sequential):.1e} apart")
                    self.assertLess(far(parallel, sequential), SAME)
                    low, high = self.shares.get(solver, (0.0, 1.05))
                    self.assertGreater(share, low)
                    self.assertLess(share, high)


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_ring_on_any_number_of_ranks(self):
        """7 subsystems with fan-out and feedthrough; the sequence crosses ranks."""
        model = write_model(self.folder, "ring", ring(7))
        for options in ("-cosim_type ifosmondi", "-cosim_type jfm",
                        "-cosim_type jfm -cosim_predictor hold"):
            options = [*options.split(), *TIGHT, "-cosim_step", 0.02, "-cosim_stop", 0.4]
            parallel = simulate(model, *options)
            for schedule in ("sequential", "hierarchical"):
                counts = []
                for ranks in (1, 2, 3):
                    with self.subTest(options=options, schedule=schedule, ranks=ranks):
                        other = simulate(model, *options, "-cosim_schedule", schedule, ranks=ranks)
                        self.assertLess(far(parallel, other), SAME)
                        counts.append(evaluations(other))
                print(f"ring, {options[1]}, {schedule}: {counts} evaluations, in parallel "
                      f"{evaluations(parallel):.2f}")
                self.assertEqual(len(set(counts)), 1)

    def test_algebraic_loop(self):
        """Gain -2: no fixed point converges in any order, Newton does."""
        model = EXAMPLES / "algebraic_loop" / "algebraic_loop.yaml"
        options = [*TIGHT, "-cosim_step", 0.02, "-cosim_stop", 2]
        parallel, sequential = (simulate(model, *options, "-cosim_schedule", schedule)
                                for schedule in ("parallel", "sequential"))
        self.assertLess(far(parallel, sequential), SAME)
        run = execute("run", model, *options, "-cosim_type", "ifosmondi", "-cosim_schedule",
                      "sequential", "-cosim_output", f"{self.folder}/diverges.h5")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the fixed point diverges", run.stderr)

    def test_constraints(self):
        """The constraint runs where the schedule has it; its unknown is solved for all the same."""
        for name, bound in (("constraint_pair", 1e-8), ("linked_rods", 1e-8)):
            model = EXAMPLES / name / f"{name}.yaml"
            options = ["-cosim_rtol", 1e-11, "-cosim_atol", 1e-11, "-subsystem_rtol", 1e-12,
                       "-subsystem_atol", 1e-14, "-cosim_step", 0.01]
            parallel, sequential = (simulate(model, *options, "-cosim_schedule", schedule)
                                    for schedule in ("parallel", "sequential"))
            print(f"{name}: {far(parallel, sequential):.1e} apart")
            self.assertLess(far(parallel, sequential), bound)

    def test_one_side_without_rollback(self):
        """The estimator of the one that runs first feeds the other; the coupling is the same."""
        for name in ("left", "right"):
            options = [*TIGHT, "-cosim_step", 1e-3, "-cosim_stop", 0.1, f"-subsystem_{name}_rollback",
                       "false"]
            parallel, sequential = (simulate(TWO_MASS, *options, "-cosim_schedule", schedule)
                                    for schedule in ("parallel", "sequential"))
            self.assertLess(far(parallel, sequential), SAME)

    def test_events_and_step_control(self):
        for options in ("-cosim_adapt predictor -cosim_adapt_rtol 1e-5 -cosim_adapt_atol 1e-5",
                        "-cosim_adapt iteration"):
            results = simulate(LOTKA_VOLTERRA, "-cosim_type", "ifosmondi", "-cosim_schedule",
                               "sequential", "-cosim_step", 0.5, *options.split())
            self.assertEqual(results.time[-1], 20.0)

    def test_a_failing_rank_blocks_nobody(self):
        """The first in the sequence fails at t = 0.5 whatever the step: the others don't wait."""
        model = write_model(self.folder, "fails", """name: fails
experiment: {start: 0, stop: 1}
subsystems:
  a:
    equations:
      inputs: {u: 1}
      states: {x: 1}
      derivatives: {x: "sqrt(0.5 - t) + u"}
      outputs: {x: x}
  b:
    equations:
      inputs: {u: 1}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {x: x}
connections: [a.x -> b.u, b.x -> a.u]
""")
        for ranks in (1, 2, 3):
            run = execute("run", model, "-cosim_type", "ifosmondi", "-cosim_schedule", "sequential",
                          "-cosim_step", 0.1, "-cosim_output", f"{self.folder}/fails.h5", ranks=ranks)
            self.assertEqual(run.returncode, 1)
            self.assertIn("subsystem 'a'", run.stderr)

    def test_differences_of_the_whole_residual_are_refused(self):
        run = execute("run", TWO_MASS, "-cosim_schedule", "sequential", "-snes_fd", "-cosim_output",
                      f"{self.folder}/refused.h5")
        self.assertEqual(run.returncode, 2)
        self.assertIn("-snes_fd", run.stderr)


if __name__ == "__main__":
    unittest.main()
