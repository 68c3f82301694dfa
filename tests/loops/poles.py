"""A loop whose gain passes 1 has a pole, which no method may step over."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), os.path.dirname(__file__)]
from concord_runs import run_here, simulate, write_model  # noqa: E402
from loop_models import linear_pair  # noqa: E402

METHODS = (("missiles",), ("jacobi",), ("gauss_seidel",), ("jfm",), ("monolithic",),
           ("jfm", "-snes_mf"), ("jfm", "-snes_type", "anderson"))


class Pole(unittest.TestCase):
    def test_nothing_steps_over_it(self):
        for gain in ("0.5 + t", "1.5 - t", "0.5 + t^2*2"):
            for step in ("0.03", "0.07"):
                for method in METHODS:
                    with tempfile.TemporaryDirectory() as folder:
                        model = write_model(folder, "model", linear_pair(gain))
                        ended = run_here(model, "-cosim_type", *method, "-cosim_step", step,
                                        "-cosim_output", Path(folder) / "out.h5")
                    with self.subTest(gain=gain, step=step, method=method):
                        self.assertEqual(ended.returncode, 1, ended.stdout)
                        # The integrator of the whole may be the first to meet the pole.
                        place = "t = 0." if method[0] == "monolithic" else "algebraic loop"
                        self.assertIn(place, ended.stderr)
                        if method[0] in ("missiles", "jacobi", "gauss_seidel"):
                            self.assertIn("becomes singular between t = ", ended.stderr)


class NoPole(unittest.TestCase):
    def test_gains_beside_it(self):
        for gain in ("0.5 + 0.4*t", "1.1 + t", "-3*cos(t)"):
            for method in METHODS[:5]:
                with tempfile.TemporaryDirectory() as folder:
                    simulate(write_model(folder, "model", linear_pair(gain)), "-cosim_type",
                             *method, "-cosim_step", "0.01")


if __name__ == "__main__":
    unittest.main()
