"""A rod of 10^4 cells, coupled to a controller by one input and one output, under methods that linearise: as one
subsystem that has the controller within, and in memory that no matrix of 10^4 x 10^4 would fit into."""
import os
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

ROD = """
experiment: {stop: 1e-3}
subsystems:
  rod:
    equations:
      parameters: {n: 10000, a: 1, k: 20, ti: 1e-3, w: 3000}
      inputs: {q: 0}
      states: {"T[n]": 293.15}
      derivatives:
        "T[1]": a*n^2*(T[2] - T[1]) + n*q
        "T[i in 2:n-1]": a*n^2*(T[i-1] - 2*T[i] + T[i+1])
        "T[n]": a*n^2*(T[n-1] - T[n])
      outputs: {left: "T[1]"}
"""
CONTROLLER = """
  controller:
    equations:
      parameters: {k: 20, ti: 1e-3, w: 3000}
      inputs: {T: 293.15}
      states: {s: 0}
      variables: {e: 293.15 + 10*(1 - cos(w*t)) - T}
      derivatives: {s: e/ti}
      outputs: {q: k*e + s}
connections: [rod.left -> controller.T, controller.q -> rod.q]
"""
COUPLED = ROD + CONTROLLER.lstrip("\n")
WHOLE = (ROD.replace("      inputs: {q: 0}\n", "").replace('{"T[n]": 293.15}', '{"T[n]": 293.15, s: 0}').replace(
    "      derivatives:\n", "      variables: {e: \"293.15 + 10*(1 - cos(w*t)) - T[1]\", q: k*e + s}\n"
    "      derivatives:\n        s: e/ti\n"))


class Coupled(unittest.TestCase):
    def simulated(self, text, *options):
        """Times, the end of the rod, MB, s of processor time, the estimate."""
        with tempfile.TemporaryDirectory() as name:
            model, results = Path(name) / "rod.yaml", Path(name) / "rod.h5"
            model.write_text(text, encoding="utf-8")
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run = subprocess.run([os.environ["CONCORD_PROGRAM"], "run", str(model), "-cosim_output_interval", "1e-4",
                                  "-cosim_output", str(results), *options], capture_output=True, text=True, check=False)
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(results) as file:
                column = list(file["outputs/names"]).index(b"rod.left")
                return (file["time"][:], file["outputs/values"][:, column], file["ranks/memory"][:].max() / 1e6, seconds,
                        file["outputs/error_estimate"][column] if "error_estimate" in file["outputs"] else None)

    def test_rod(self):
        time, exact, alone, seconds, _ = self.simulated(WHOLE, "-cosim_step", "1e-3", "-subsystem_rtol", "1e-9")
        print(f"the rod with its controller within: {alone:.0f} MB, {seconds:.1f} s")
        fixed = ["-cosim_step", "1e-5", "-subsystem_rtol", "1e-8"]
        for most, options in ((1e-5, []), (3e-4, ["-cosim_type", "jfm", *fixed]),
                              (3e-4, ["-cosim_type", "missiles", *fixed])):
            found_at, found, memory, seconds, estimate = self.simulated(COUPLED, *options)
            error = np.abs(found - exact).max() / np.ptp(exact)
            print(f"{' '.join(options) or 'default'}: {memory:.0f} MB, {seconds:.1f} s, error {error:.1e}, "
                  f"estimated {estimate:.1e}")
            np.testing.assert_allclose(found_at, time, rtol=1e-12)
            self.assertLess(memory, 300)
            self.assertLess(error, most)


if __name__ == "__main__":
    unittest.main()
