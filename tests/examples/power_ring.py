"""Generators and loads in a ring: equations against FMUs, and the mean speed's closed form."""
import math
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import EXAMPLES, TIGHT, execute, simulate
from references import expm, observed_orders

FOLDER = EXAMPLES / "power_ring"
OMEGA_0 = 2 * math.pi * 50
N, P_0, RISE, AT, K, LAG, M, D = 6, 0.8, 0.4, 1.0, 1.5, 0.2, 2 * 5 / OMEGA_0, 1 / (0.05 * OMEGA_0)


def mean_frequency(time):
    """Hz: what lines transport cancels in the mean of all generators, which is linear."""
    a = np.array([[-D / M, -1 / M], [K * P_0 / OMEGA_0 / LAG, -1 / LAG]])
    settled = np.linalg.solve(a, [RISE / N / M, 0])
    omega = [((np.eye(2) - expm(a * max(0, t - AT))) @ settled)[0] for t in time]
    return 50 + np.array(omega) / (2 * math.pi)


class PowerRing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        copy = Path(shutil.copytree(FOLDER, Path(folder.name) / "power_ring"))
        cls.equations, cls.fmus = copy / "power_ring.yaml", copy / "power_ring_fmus.yaml"
        made = execute("export-fmu", cls.equations, "load[1]", "-o", copy / "load.fmu")
        assert made.returncode == 0, made.stderr

    def omega(self, model, *options, ranks=1):
        """Times, s, and speeds against the frame, rad/s, [time, generator]."""
        run = simulate(model, *options, *TIGHT, ranks=ranks)
        return run.time, run.outputs.columns(*(f"generator[{k}].omega" for k in range(1, N + 1)))

    def error(self, step, *options):
        """Relative L2 error of all speeds with FMUs against `monolithic` of equations alone."""
        options += ("-cosim_step", step, "-cosim_stop", 2)
        _, exact = self.omega(self.equations, *options, "-cosim_type", "monolithic")
        _, found = self.omega(self.fmus, *options)
        return np.linalg.norm(found - exact) / np.linalg.norm(exact)

    def test_mean(self):
        """An equilibrium until the load rises; then the mean's closed form."""
        for model in (self.equations, self.fmus):
            time, omega = self.omega(model, "-cosim_step", 0.02)
            wanted = mean_frequency(time)
            found = 50 + omega.mean(axis=1) / (2 * math.pi)
            settled = 50 - RISE / (N * (D + K * P_0 / OMEGA_0)) / (2 * math.pi)
            self.assertLess(np.max(np.abs(omega[time < AT])), 1e-9)
            self.assertLess(np.max(np.abs(found - wanted)), 1e-7)
            self.assertAlmostEqual(found[-1], settled, delta=1e-5)

    def test_orders(self):
        for method, order, around, steps, largest in (
                ("jacobi", 1, 0.1, (0.004, 0.002), 0.045), ("jfm", 4, 0.1, (0.02, 0.01), 3e-7)):
            errors = [self.error(step, "-cosim_type", method) for step in steps]
            print(method, errors)
            self.assertLess(errors[-1], largest)
            self.assertLess(abs(observed_orders(steps, errors)[0] - order), around)

    def test_equations_and_fmus(self):
        """The same loads, whoever computes them; also monolithic, also on two ranks."""
        for method, ranks in (("monolithic", 1), ("jfm", 2)):
            options = ("-cosim_type", method, "-cosim_step", 0.02, "-cosim_stop", 2)
            _, wanted = self.omega(self.equations, *options)
            _, found = self.omega(self.fmus, *options, ranks=ranks)
            self.assertLess(np.max(np.abs(found - wanted)), 1e-11)

    def test_co_simulation(self):
        """A load answers to the jump at its instant, although nothing may be read behind a Set."""
        exchange, stepped = (self.error(0.02, "-subsystem_fmu_interface", role) for role in ("me", "cs"))
        self.assertLess(abs(stepped / exchange - 1), 1e-2)


if __name__ == "__main__":
    unittest.main()
