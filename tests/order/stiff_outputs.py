"""Outputs of stiff states: what integrators leave of these, within their tolerances, is in slopes times
the stiffness and in second derivatives times its square, and must not get into inputs from there.

Rows at communication points are compared with those of `monolithic` by another integrator, at the same times.
"""
import functools
import tempfile
import unittest
from itertools import product
from pathlib import Path

import numpy as np
from concord_runs import InFolder, in_short, simulate, write_model

MODEL = """name: stiff
experiment: {{start: 0, stop: 10}}
subsystems:
  fast:
    equations:
      parameters: {{L: {stiffness}}}
      inputs: {{u: 0}}
      states: {{w: 1}}
      derivatives: {{w: -L*(w - cos(u))}}
      outputs: {{w: w}}
  slow:
    equations:
      inputs: {{w: 1}}
      states: {{x: 0, v: 0}}
      derivatives: {{x: v, v: w - x - 0.1*v}}
      outputs: {{x: x, z: w*w}}
connections: [fast.w -> slow.w, slow.x -> fast.u]
"""
EXACT = ("-cosim_type", "monolithic", "-subsystem_integrator", "dirk", "-subsystem_rtol", "1e-11",
         "-subsystem_atol", "1e-13", "-cosim_step", "0.05")
STIFFNESS = ("1e4", "1e6", "1e8")


@functools.cache
def exactly(text, times):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "times.txt")
        file.write_text("\n".join(map(repr, times)))
        return simulate(write_model(folder, "stiff", text), *EXACT, "-cosim_output_times", file)


class Stiff(InFolder, unittest.TestCase):
    def error(self, stiffness, *options, model=MODEL, ranks=1):
        """(largest of all outputs and rows, whose ranges are near 1; the run)."""
        model = write_model(self.folder, f"stiff_{stiffness}", model.format(stiffness=stiffness))
        run = simulate(model, *options, ranks=ranks)
        exact = exactly(model.read_text(encoding="utf-8"), tuple(map(float, run.time[1:-1])))
        places = [int(np.argmin(np.abs(exact.time - t))) for t in run.time]
        np.testing.assert_allclose(exact.time[places], run.time, rtol=0, atol=1e-12)
        error = max(np.abs(run.outputs[name] - exact.outputs[name][places]).max() for name in run.outputs.names)
        print(stiffness, options, len(run.time), f"{error:.1e}")
        return error, run

    def test_fixed_macro_steps(self):
        """As good with second derivatives as without, by any integrator; 0.03 and worse before."""
        for stiffness, preset, integrator in in_short(
                list(product(("1e4", "1e8"), ("jfm", "missiles", "jfm6", "missiles6"),
                             ("auto", "dirk", "cvode_bdf"))), 5):
            with self.subTest(stiffness=stiffness, preset=preset, integrator=integrator):
                error, _ = self.error(stiffness, "-cosim_type", preset, "-cosim_step", 0.05,
                                      "-subsystem_integrator", integrator)
                self.assertLess(error, 3e-6)

    def test_accuracy(self):
        """Reached, and in no more macro-steps than a model takes that is not stiff."""
        for stiffness, accuracy, (options, most) in in_short(
                list(product(STIFFNESS, (1e-4, 1e-7, 1e-5, 1e-6), (((), 150), (("-cosim_type", "jfm"), 1500)))), 5):
            with self.subTest(stiffness=stiffness, accuracy=accuracy, options=options):
                error, run = self.error(stiffness, "-cosim_accuracy", accuracy, *options)
                self.assertLess(error, accuracy)
                self.assertLess(len(run.time), most)

    def test_what_moves_stiff_states(self):
        """They follow a quick wave: what cancels in their slopes, L times what moves them, excuses no error of the
        states. Macro-steps of 55 served every accuracy once."""
        driven = MODEL.replace("-L*(w - cos(u))", '"-L*(w - cos(30*t) - 0.3*u*u) - 30*sin(30*t)"').replace(
            "stop: 10", "stop: 3")
        for stiffness in in_short(STIFFNESS, 2, 1):
            for kind in in_short(("jfm", "missiles", "gauss", "radau"), 3):
                with self.subTest(stiffness=stiffness, kind=kind):
                    rough, fine = (self.error(stiffness, "-cosim_type", kind, "-cosim_accuracy", accuracy, model=driven)
                                   for accuracy in (1e-3, 1e-6))
                    self.assertLess(rough[0], 1e-3)
                    self.assertLess(fine[0], 3e-6)
                    self.assertLess(fine[0], 0.2 * rough[0])
                    self.assertGreater(len(fine[1].time), 1.5 * len(rough[1].time))

    def test_ranks(self):
        """One rank's stiffness is all ranks'."""
        for options in (("-cosim_accuracy", 1e-6), ("-cosim_type", "jfm6", "-cosim_step", 0.05)):
            one, two = (self.error("1e6", *options, ranks=ranks)[1] for ranks in (1, 2))
            self.assertEqual(len(one.time), len(two.time))
            np.testing.assert_allclose(two.outputs.values, one.outputs.values, rtol=0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
