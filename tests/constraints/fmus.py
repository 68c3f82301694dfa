"""FMUs in constraints: two masses joined rigidly (index 3), a joint between springs (index 1)."""
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import TIGHT, execute, simulate, write_model

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fmu"))
import fmu_factory  # noqa: E402

ME = dict(kinds=("me", "cs"), capabilities=("state", "variable", "directional"))
INTERPOLATING = dict(capabilities=("state", "variable", "interpolate", "slopes"))
PLAIN = dict(capabilities=("state", "variable"))

# The FMU's mass (5 kg, 1e4 N/m, 10 Ns/m) and one of 80 kg (1e5, 40) move as one.
RIGID = """
experiment: {start: 0, stop: 1}
subsystems:
  left: {fmu: left.fmu}
  other:
    equations:
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: (f - 1e5*x - 40*v)/80}
      outputs: {x: x}
constraints:
  - unknown: force
    equation: left.x - other.x
    feeds: {left.f: 1, other.f: -1}
"""

# The FMU's coupling spring (1e4 N/m) and another of 2e4 N/m in series: the joint has no mass.
JOINT = """
experiment: {start: 0, stop: 1}
subsystems:
  right:
    fmu: right.fmu
    parameters: {d_couple: 0}
  spring:
    equations:
      inputs: {end: 0}
      states: {}
      derivatives: {}
      outputs: {f: 2e4*end}
constraints:
  - unknown: joint
    start: 1
    equation: right.f - spring.f
    feeds: {right.x_left: 1, spring.end: 1}
"""


def swing(t, start, mass, stiffness, damping):
    """Position of a damped oscillator that starts at rest."""
    decay = damping / (2 * mass)
    omega = np.sqrt(stiffness / mass - decay**2)
    return start * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))


class FmuConstraint(unittest.TestCase):
    def error(self, text, part, output, exact, *options, version=2, **how):
        with tempfile.TemporaryDirectory() as folder:
            fmu_factory.build(folder, part, version, **how)
            results = simulate(write_model(folder, "model", text), *options, *TIGHT)
        gap = np.max(np.abs(results.outputs[results.outputs.names[-2]]))
        return np.max(np.abs(results.outputs[output] - exact(results.time))), gap

    def rigid(self, *options, **how):
        return self.error(RIGID, "left", "left.x", lambda t: swing(t, 1, 85, 1.1e5, 50), *options,
                          **how)

    def joint(self, *options, **how):
        series = 1e4 * 2e4 / (1e4 + 2e4)
        return self.error(JOINT, "right", "right.x",
                          lambda t: swing(t, 3, 80, 1e5 + series, 40), *options, **how)

    def assert_order(self, run, order, *options, tolerance=0.35, **how):
        (coarse, _), (fine, gap) = (run("-cosim_step", h, *options, **how) for h in (2e-3, 1e-3))
        observed = np.log2(coarse / fine)
        print(options, how, f"errors {coarse:.2e} {fine:.2e}, order {observed:.2f}, gap {gap:.1e}")
        self.assertLess(abs(observed - order), tolerance)


class Rigid(FmuConstraint):
    def test_model_exchange(self):
        for version in (2, 3):
            for method in ("jfm", "missiles"):
                self.assert_order(self.rigid, 4, "-cosim_type", method, version=version, **ME)
        self.assertLess(self.rigid("-cosim_step", 1e-3, **ME)[0], 1e-9)

    def test_interpolated_inputs_keep_the_order(self):
        self.assert_order(self.rigid, 4, **INTERPOLATING)

    def test_held_micro_steps_with_a_held_force(self):
        """Slopes by differences over micro-steps don't fix the force's slope: it is held."""
        error, gap = self.rigid("-cosim_step", 1e-3, "-cosim_hold", "zoh", **PLAIN)
        print(f"rigid, 10 micro-steps, zoh: error {error:.1e}, gap {gap:.1e}")
        self.assertLess(gap, 1e-10)
        self.assertLess(error, 1e-2)


class Joint(FmuConstraint):
    def test_implicit(self):
        for version in (2, 3):
            self.assert_order(self.joint, 4, version=version, **ME)
        self.assert_order(self.joint, 4, tolerance=1.7, **INTERPOLATING)

    def test_projection_and_overlapping(self):
        extrapolate = ("-cosim_hold", "extrapolate")
        for treatment in ("projection", "overlapping"):
            options = ("-cosim_type", "jacobi", "-cosim_constraints", treatment)
            for version in (2, 3):
                self.assert_order(self.joint, 1, *options, version=version, **ME)
            self.assert_order(self.joint, 2, *options, *extrapolate, **ME)

    def test_explicit_without_outputs_for_given_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            fmu_factory.build(folder, "right", 2, **PLAIN)
            run = execute("run", write_model(folder, "model", JOINT), "-cosim_type", "jacobi")
        self.assertEqual(run.returncode, 2)
        self.assertIn("'right' offers no outputs for given inputs", run.stderr)


if __name__ == "__main__":
    unittest.main()
