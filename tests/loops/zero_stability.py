"""Explicit methods on algebraic loops: right by default, or refused where they are not stable."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), os.path.dirname(__file__)]
from concord_runs import run_here, simulate, write_model  # noqa: E402
from loop_models import linear_pair, linear_pair_states, ring  # noqa: E402

HOLDS = (("zoh",), ("extrapolate",), ("extrapolate", "-cosim_hold_order", "2"),
         ("extrapolate", "-cosim_hold_order", "3"))
LIMITS = (1, 1 / 9, 1 / 49, 1 / 225)


def ends(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        ended = run_here(write_model(folder, "model", text), *options, "-cosim_step", "0.02",
                        "-cosim_consistent_outputs", "false", "-cosim_diverged", "warn",
                        "-cosim_stop", "0.2", "-cosim_output",
                        Path(folder) / "out.h5")
        return ended.returncode, ended.stderr


class Limits(unittest.TestCase):
    def around(self, model, limit, *options):
        code, error = ends(model(0.98 * limit), *options)
        self.assertEqual(code, 0, f"{limit} {options} {error}")
        code, error = ends(model(1.02 * limit), *options)
        self.assertEqual(code, 1, f"{limit} {options}")
        self.assertIn("unstable on the algebraic loop", error)

    def test_two_in_parallel(self):
        for hold, limit in zip(HOLDS, LIMITS):
            self.around(linear_pair, limit, "-cosim_type", "jacobi", "-cosim_hold", *hold)
            if len(hold) == 1:  # linear extrapolation goes wrong at -1/9, too
                self.around(linear_pair, -1 if hold[0] == "zoh" else -limit_of_rotation(),
                            "-cosim_type", "jacobi", "-cosim_hold", *hold)

    def test_two_in_sequence(self):
        """One extrapolated input: gains of -1/3 and 1 for linear extrapolation."""
        for limit in (-1 / 3, 1):
            self.around(linear_pair, limit, "-cosim_type", "gauss_seidel", "-cosim_hold",
                        "extrapolate")

    def test_three_in_parallel(self):
        """Constant inputs: a gain of one; where units differ, too."""
        for units in ((1, 1, 1), (1e-6, 1e7, 1)):
            self.around(lambda gain: ring(["linear"] * 3, (gain, 1, 1), units, (0, 0, 0)), -1,
                        "-cosim_type", "jacobi")


def limit_of_rotation():
    """Gain -g of two in parallel: J's eigenvalues are +-i sqrt(g), for linear extrapolation."""
    gains = np.linspace(0.05, 1, 100001)
    mu = 1j * np.sqrt(gains)
    root = np.sqrt(mu * mu - mu + 0j)
    radius = np.maximum(np.abs(mu + root), np.abs(mu - root))
    return gains[np.argmax(radius >= 1)]


class Consistent(unittest.TestCase):
    def test_default_in_loops(self):
        """Gains beyond every limit: the solution, with the order of the hold."""
        for hold, order in (("zoh", 1), ("extrapolate", 2)):
            for gain in (3, -4, 0.5):
                errors = []
                for step in ("0.02", "0.01"):
                    with tempfile.TemporaryDirectory() as folder:
                        results = simulate(write_model(folder, "model", linear_pair(gain)),
                                           "-cosim_type", "jacobi", "-cosim_hold", hold,
                                           "-cosim_step", step, "-subsystem_rtol", "1e-12")
                    exact = linear_pair_states(gain, results.time)
                    errors.append(np.abs(results.states.values - exact).max())
                with self.subTest(hold=hold, gain=gain, errors=errors):
                    self.assertGreater(np.log2(errors[0] / errors[1]), order - 0.2)
                    self.assertLess(errors[1], 0.05 if order == 1 else 1e-3)


if __name__ == "__main__":
    unittest.main()
