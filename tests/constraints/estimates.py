"""The error that a run with constraints estimates of itself, per output, beside closed forms."""
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

from concord_runs import in_short, run_here, write_model
from constrained_models import CONNECTED, FEEDBACK, NONLINEAR, OSCILLATING, THREE, VELOCITY

IMPLICIT = ("jfm", "missiles")
EXPLICIT = ("jacobi", "jacobi -cosim_hold_order 1", "gauss_seidel", "extripol")


class Run:
    def __init__(self, folder, text, method, step, ranks=1):
        path = Path(folder) / "results.h5"
        self.run = run_here(write_model(folder, "model", text), "-cosim_output", path,
                           "-cosim_type", *method.split(), "-cosim_step", step, ranks=ranks)
        if self.run.returncode:
            raise AssertionError(self.run.stderr)
        with h5py.File(path) as file:
            self.time = file["time"][:]
            self.names = list(file["outputs/names"].asstr())
            self.outputs = dict(zip(self.names, file["outputs/values"][:].T))
            self.errors = dict(zip(self.names, file["outputs/error_estimate"][:]))


class Estimates(unittest.TestCase):
    """Within a factor of three both ways: index 1 under every method, index 2 of its states."""

    def check(self, text, exact, methods, step=0.02, factor=3.0):
        for method in methods:
            with self.subTest(method=method), tempfile.TemporaryDirectory() as folder:
                run = Run(folder, text, method, step)
                for name, solution in exact.items():
                    values = run.outputs[name]
                    true = np.abs(values - solution(run.time)).max() / np.abs(values).max()
                    print(f"{method:28} {name:8} true {true:.2e}, estimated {run.errors[name]:.2e}")
                    self.assertGreater(true, 1e-12)
                    self.assertLess(run.errors[name], factor * true)
                    self.assertGreater(run.errors[name], true / factor)

    def test_feedback(self):
        self.check(FEEDBACK, {"left.y": lambda t: t**4, "u.value": lambda t: t**4},
                   IMPLICIT + EXPLICIT)

    def test_curved(self):
        self.check(NONLINEAR, {"left.y": lambda t: t**4}, IMPLICIT + EXPLICIT)

    def test_oscillating(self):
        self.check(OSCILLATING, {"left.y": lambda t: np.sin(5 * t),
                                 "u.value": lambda t: np.sin(5 * t)}, IMPLICIT + EXPLICIT)

    def test_three_in_one(self):
        self.check(THREE, {"a.y": np.sin, "b.y": np.sin, "u.value": np.sin}, IMPLICIT + EXPLICIT)

    def test_beside_connections(self):
        self.check(CONNECTED, {"left.y": lambda t: t**4, "right.y": lambda t: t},
                   IMPLICIT + EXPLICIT)

    def test_index_2(self):
        self.check(VELOCITY, {"left.x": lambda t: np.sin(t) / 2}, IMPLICIT, step=0.04)

    def test_what_only_solves_constraints_is_no_signal(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, OSCILLATING, "jacobi", 0.02)
            self.assertEqual(run.errors["u.residual"], 0.0)
            self.assertEqual(run.errors["u.corrected"], 0.0)

    def test_ranks_agree(self):
        for method in in_short(IMPLICIT + EXPLICIT, 3):
            with tempfile.TemporaryDirectory() as folder:
                one, three = (Run(folder, CONNECTED, method, 0.04, ranks) for ranks in (1, 3))
                for name in one.names:
                    with self.subTest(method=method, name=name):
                        self.assertAlmostEqual(three.errors[name] / max(one.errors[name], 1e-300),
                                               1.0 if one.errors[name] else 0.0, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
