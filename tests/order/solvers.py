"""Every way to solve the coupling finds the same solution; what cannot solve it says so."""
import shlex
import tempfile
import unittest

import numpy as np
from concord_runs import (ALGEBRAIC_LOOP, LOTKA_VOLTERRA, OPTIONS, TIGHT, TWO_MASS, execute,
                          distance, simulate, write_model)
from models import ring

# Those that solve the coupling with cubic inputs: by file, and what no file has.
SOLVERS = {path.stem: f"-options_file '{path}'" for path in
           [OPTIONS / "ifosmondi.opts", *sorted(OPTIONS.glob("jfm*.opts"))] if path.stem != "jfm6"}
SOLVERS |= {"newtonls_mf": "-cosim_type jfm -snes_mf",
            "newtonls_mf_operator": "-cosim_type jfm -snes_mf_operator",
            "newtonls_l2": "-cosim_type jfm -snes_linesearch_type l2",
            "newtontr": "-cosim_type jfm -snes_type newtontr"}
NEWTON = ("jfm", "jfm_newton_mf", "newtonls_mf", "newtonls_mf_operator")
FIXED_POINT = ("ifosmondi", "jfm_nrichardson")

SAME = 1e-9


class SameTrajectory:
    def assert_coupled(self, results):
        """Inputs fit outputs to the tolerance, or to the integrators' noise where that is larger."""
        for output, name in self.wires:
            u, y = results.inputs[name], results.outputs[output]
            allowed = np.maximum(1e-12 * (np.abs(u) + 1), 1e-11 * np.max(np.abs(u)))
            self.assertLess(np.max(np.abs(u - y) / allowed), 1.0, f"{output} -> {name}")

    def test_all_solvers(self):
        reference = simulate(self.model, "-cosim_type", "jfm", *TIGHT, "-cosim_step", self.step)
        for name, options in SOLVERS.items():
            with self.subTest(solver=name):
                results = simulate(self.model, *shlex.split(options), *TIGHT, "-cosim_step", self.step)
                far = distance(results, reference)
                print(f"{name:24} {far:.1e}  evaluations per step "
                      f"{np.mean(results.steps['coupling_evaluations']):.2f}")
                self.assertLess(far, SAME)
                self.assert_coupled(results)

    def test_linear_holds_have_one_solution_too(self):
        one, *others = (simulate(self.model, "-options_file", OPTIONS / f"{name}.opts", *TIGHT,
                                 "-cosim_step", self.step)
                        for name in ("implicit_foh", "implicit_foh_linear_implicit",
                                     "kuebler_schiehlen"))
        for other in others:
            self.assertLess(distance(one, other), SAME)


class TwoMassSolvers(SameTrajectory, unittest.TestCase):
    model, step = TWO_MASS, 1e-3
    wires = (("right.f", "left.f"), ("left.x", "right.x_left"), ("left.v", "right.v_left"))


class LotkaVolterraSolvers(SameTrajectory, unittest.TestCase):
    model, step = LOTKA_VOLTERRA, 0.1
    wires = (("prey.amount", "predator.prey"), ("predator.amount", "prey.predators"))


class AlgebraicLoop(unittest.TestCase):
    def test_newton(self):
        same_size = (*TIGHT, "-cosim_adapt", "none")
        reference = simulate(ALGEBRAIC_LOOP, "-cosim_type", "jfm", *same_size)
        for name in NEWTON:
            with self.subTest(solver=name):
                results = simulate(ALGEBRAIC_LOOP, *shlex.split(SOLVERS[name]), *same_size)
                far = distance(results, reference)
                print(f"{name:24} {far:.1e}")
                self.assertLess(far, SAME)

    def test_fixed_point_explains_itself(self):
        for name in FIXED_POINT:
            with self.subTest(solver=name), tempfile.TemporaryDirectory() as folder:
                # Without the estimators' prediction, which solves this linear loop at once.
                run = execute("run", ALGEBRAIC_LOOP, *shlex.split(SOLVERS[name]),
                              "-cosim_predictor", "hold", "-cosim_output", f"{folder}/r.h5")
                self.assertEqual(run.returncode, 1)
                self.assertEqual(run.stderr.count("concord: error:"), 1)
                self.assertIn("diverges", run.stderr)
                loop = ["body.a", "fluid.a", "fluid.f", "body.f"]
                turns = [" -> ".join([*loop[i:], *loop[:i], loop[i]]) for i in range(4)]
                self.assertTrue(any(turn in run.stderr for turn in turns), run.stderr)
                self.assertIn("-cosim_type jfm", run.stderr)
                self.assertIn("t = 0 s", run.stderr)

    def test_other_solvers_do_not_claim_success(self):
        """Where a solver gives up, the exit code is 1; where it doesn't, the solution is right."""
        reference = simulate(ALGEBRAIC_LOOP, "-cosim_type", "jfm", *TIGHT, "-cosim_stop", 2,
                             "-cosim_step", 0.01)
        for name in ("jfm_anderson", "jfm_ngmres", "jfm_qn", "newtontr"):
            with self.subTest(solver=name):
                options = [*shlex.split(SOLVERS[name]), "-cosim_stop", 2, "-cosim_step", 0.01]
                with tempfile.TemporaryDirectory() as folder:
                    code = execute("run", ALGEBRAIC_LOOP, *options, *TIGHT, "-cosim_output",
                                   f"{folder}/r.h5").returncode
                self.assertIn(code, (0, 1))
                if code == 0:
                    self.assertLess(distance(simulate(ALGEBRAIC_LOOP, *options, *TIGHT), reference),
                                    SAME)


class Jacobian(unittest.TestCase):
    """Built by colouring, and kept."""
    subsystems = 24
    widest = 3  # inputs of a mixer

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "ring", ring(cls.subsystems))
            cls.predicted = simulate(model, "-cosim_type", "jfm", "-cosim_step", 0.02)
            # No line search, and a guess that leaves something to do.
            cls.results = simulate(model, "-cosim_type", "jfm", "-cosim_step", 0.02,
                                   "-snes_linesearch_type", "basic", "-cosim_predictor", "hold")

    def test_colouring(self):
        evaluations = self.results.steps["coupling_evaluations"][0]
        iterations = self.results.steps["iterations"][0]
        print(f"first step: {evaluations} evaluations, {iterations} iterations")
        self.assertGreaterEqual(iterations, 1)
        # One residual at the beginning and one per iteration; the Jacobian's are the rest.
        self.assertLessEqual(evaluations - 1 - iterations, 2 * self.widest)

    def test_reuse(self):
        steps = self.results.steps
        for evaluations, iterations in zip(steps["coupling_evaluations"][1:],
                                           steps["iterations"][1:]):
            self.assertLessEqual(evaluations, iterations + 1)

    def test_none_where_the_estimators_give_it(self):
        evaluations = self.predicted.steps["coupling_evaluations"]
        print(f"predicted: at most {np.max(evaluations)} evaluations, {np.mean(evaluations):.2f}")
        self.assertLessEqual(np.max(evaluations), 2)


if __name__ == "__main__":
    unittest.main()
