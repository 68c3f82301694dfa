"""Two subsystems joined by n connections each way take memory in proportion to n, and are right: against the closed
form, with an estimate, on one rank and on two."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

MODEL = """
experiment: {{stop: 0.5}}
subsystems:
  a:
    equations:
      inputs: {{"u[{n}]": }}
      states: {{"x[i in 1:{n}]": 1 + i/{n}}}
      derivatives: {{x: u - 2*x}}
      outputs: {{"y[{n}]": x}}
  b:
    equations:
      inputs: {{"u[{n}]": }}
      states: {{"x[{n}]": 0.5}}
      derivatives: {{x: u - 2*x}}
      outputs: {{"y[{n}]": x}}
connections:
  - a.y -> b.u
  - b.y -> a.u
"""


class Wide(unittest.TestCase):
    def simulated(self, n, ranks=1):
        with tempfile.TemporaryDirectory() as name:
            model, results = Path(name) / "wide.yaml", Path(name) / "wide.h5"
            model.write_text(MODEL.format(n=n), encoding="utf-8")
            mpi = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
            run = subprocess.run([*mpi, os.environ["CONCORD_PROGRAM"], "run", str(model), "-cosim_type", "jacobi",
                                  "-cosim_step", "0.01", "-cosim_output", str(results)],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(results) as file:
                a = [i for i, output in enumerate(file["outputs/names"]) if output.startswith(b"a.")]
                return (file["ranks/memory"][:].max(), file["time"][:], file["outputs/values"][:][:, a],
                        file["outputs/error_estimate"][:][a])

    def test_memory(self):
        few, many = self.simulated(10)[0], self.simulated(1000)[0]
        # Of 6n variables. One matrix n x n alone would take 1333 bytes for each, and there were forty.
        self.assertLess((many - few) / (6 * 990), 5000.0)

    def test_result_and_estimate(self):
        n = 1000
        _, time, y, estimate = self.simulated(n)
        a, b = 1 + np.arange(1, n + 1) / n, 0.5
        exact = ((a + b) * np.exp(-time)[:, None] + (a - b) * np.exp(-3 * time)[:, None]) / 2
        error = np.abs(y - exact).max(axis=0)
        self.assertLess(error.max(), 0.01)
        np.testing.assert_allclose(estimate, error / np.abs(exact).max(axis=0), rtol=0.2)
        _, _, on_two, estimate_on_two = self.simulated(n, 2)
        np.testing.assert_allclose(on_two, y, rtol=1e-12)
        np.testing.assert_allclose(estimate_on_two, estimate, rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
