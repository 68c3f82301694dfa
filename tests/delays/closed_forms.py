"""What arrives late is what was put out: closed forms, on the grid of the delay and off it, for
delays longer and shorter than the macro-step."""
import unittest

import h5py
import numpy as np
from concord_runs import TIGHT, ModelTest, execute, run_here, simulate, write_model
from delay_models import LOOP, PURE, SCALAR, loop, pure, scalar

IMPLICIT = ("jfm", "missiles", "ifosmondi")


class Delays(ModelTest):
    def run_model(self, text, *options, ranks=1):
        return simulate(self.model(text), *TIGHT, *options, ranks=ranks)


class Scalar(Delays):
    def check(self, delay, step, method, bound, start=0.0):
        text = SCALAR.format(start=start, stop=start + 3.9, delay=delay)
        run = self.run_model(text, "-cosim_type", method, "-cosim_step", step)
        exact = [scalar(t - start, delay) for t in run.time]
        self.assertLess(np.max(np.abs(run.outputs["a.x"] - exact)), bound)

    def test_on_the_grid(self):
        """Pieces of degree up to 3 are exact; the fourth piece has degree 4."""
        for method in IMPLICIT:
            with self.subTest(method=method):
                self.check(1.0, 0.1, method, 1e-6)

    def test_shorter_than_the_macro_step(self):
        for method in IMPLICIT:
            with self.subTest(method=method):
                self.check(0.04, 0.1, method, 1e-4)

    def test_a_start_far_from_zero(self):
        self.check(1.0, 0.1, "jfm", 1e-6, start=1e6)


class Pure(Delays):
    def test_a_wave_comes_late(self):
        for delay, step, bound, methods in (
                (0.3, 0.1, 1e-9, IMPLICIT), (0.25, 0.1, 3e-5, IMPLICIT),
                (0.03, 0.1, 3e-5, ("jfm", "missiles")), (5.0, 0.1, 1e-12, IMPLICIT)):
            for method in methods:
                with self.subTest(delay=delay, method=method):
                    run = self.run_model(PURE.format(stop=2, delay=delay), "-cosim_type", method,
                                         "-cosim_step", step)
                    u, x = pure(run.time, delay)
                    self.assertLess(np.max(np.abs(run.outputs["sum.u"] - u)), bound)
                    self.assertLess(np.max(np.abs(run.outputs["sum.x"] - x)), 3e-5)

    def test_nothing_is_late_without_delay(self):
        late = self.run_model(PURE.format(stop=1, delay=0), "-cosim_step", 0.1)
        self.assertEqual(late.outputs.names, ["wave.y", "sum.x", "sum.u"])
        self.assertLess(np.max(np.abs(late.outputs["sum.u"] - late.outputs["wave.y"])), 1e-14)


class Loop(Delays):
    def test_two_delays(self):
        for to_right, to_left, step in ((0.5, 0.3, 0.1), (0.47, 0.31, 0.1), (0.06, 0.31, 0.1)):
            with self.subTest(to_right=to_right, to_left=to_left):
                run = self.run_model(LOOP.format(stop=2, to_right=to_right, to_left=to_left),
                                     "-cosim_step", step)
                exact = loop(run.time, to_right, to_left)
                found = run.outputs.columns("left.y", "right.y")
                self.assertLess(np.max(np.abs(found - exact)), 2e-5)

    def test_no_algebraic_loop(self):
        """Gains that no explicit method survives, and no solution without the delay."""
        text = """
experiment: {stop: 1}
subsystems:
  a: {equations: {inputs: {u: 0}, outputs: {y: 1 + 0.5*u}}}
  b: {equations: {inputs: {u: 0}, outputs: {y: u}}}
connections:
  - {connect: a.y -> b.u, delay: 0.25}
  - b.y -> a.u
"""
        listed = execute("check", write_model(self.folder, "model", text))
        self.assertIn("algebraic loops:\n  none", listed.stdout)
        # At the start what is delayed is itself: y = 1 + y/2.
        run = self.run_model(text, "-cosim_step", 0.05)
        self.assertLess(np.max(np.abs(run.outputs["a.y"] - 2.0)), 1e-12)


class Wiring(Delays):
    TEXT = """
experiment: {{stop: 1}}
parameters: {{T: 0.05}}
subsystems:
  wave: {{equations: {{outputs: {{y: 2*t}}, units: {{y: m}}}}}}
  late: {{equations: {{inputs: {{u: 0}}, outputs: {{y: u}}, units: {{u: mm}}}}}}
  cell:
    repeat: {{i: [1, 3]}}
    equations: {{inputs: {{u: 0}}, outputs: {{y: u}}}}
connections:
  - {{connect: wave.y -> late.u, delay: 4*T}}
  - {{connect: "wave.y -> cell[i].u", repeat: {{i: [1, 3]}}, delay: T*i}}
{more}
"""

    def test_units_parameters_and_rounds(self):
        run = self.run_model(self.TEXT.format(more=""), "-cosim_step", 0.05)
        wave = lambda delay: 2 * np.maximum(run.time - delay, 0.0)
        self.assertLess(np.max(np.abs(run.outputs["late.y"] - 1000 * wave(0.2))), 1e-9)
        for i in (1, 2, 3):
            self.assertLess(np.max(np.abs(run.outputs[f"cell[{i}].y"] - wave(0.05 * i))), 1e-12)

    def test_schedules_need_not_name_them(self):
        run = self.run_model(
            self.TEXT.format(more='schedule: {groups: [[wave, late], ["cell[1]", "cell[2]", "cell[3]"]]}'),
            "-cosim_type", "hierarchical", "-cosim_step", 0.05)
        self.assertLess(abs(run.outputs["late.y"][-1] - 1600), 150)

    def test_polynomials_of_the_hold_are_what_arrives(self):
        """zoh: what is delayed is the staircase."""
        path = self.folder / "run.h5"
        run_here(write_model(self.folder, "model", self.TEXT.format(more="")), "-cosim_type",
                "jacobi", "-cosim_step", 0.1, "-cosim_record",
                "outputs,inputs,polynomials", "-cosim_output", path)
        with h5py.File(path) as file:
            names = list(file["inputs/names"].asstr())
            c = file["inputs/polynomials"][:, names.index("delay_late_u.u")]
        self.assertEqual(np.max(np.abs(c[:, 1:])), 0.0)


if __name__ == "__main__":
    unittest.main()
