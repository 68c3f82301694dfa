"""Predictions that are tested where they lead: iterated where they are far off, and no result where
signals run away."""
import unittest

from concord_runs import run_here, write_model
from networks import InFolder


def stiff_pair(stiffness, damping):
    """Two equal masses, one carrying the other by a spring that is stiffer than rounding allows."""
    return f"""name: stiff pair
experiment: {{start: 0, stop: 1}}
subsystems:
  a:
    equations:
      inputs: {{f: 0}}
      states: {{x: 1, v: 0}}
      derivatives: {{x: v, v: f - 100*x}}
      outputs: {{x: x, v: v}}
  b:
    equations:
      inputs: {{x: 1, v: 0}}
      parameters: {{k: {stiffness}, d: {damping}}}
      states: {{y: 1, w: 0}}
      derivatives: {{y: w, w: "-100*y - k*(y-x) - d*(w-v)"}}
      outputs: {{f: "k*(y-x) + d*(w-v)", y: y}}
connections: [a.x -> b.x, a.v -> b.v, b.f -> a.f]
"""


class RunAway(InFolder, unittest.TestCase):
    def refused(self, stiffness, step, *options):
        model = write_model(self.folder, f"pair{stiffness:g}", stiff_pair(stiffness, 2e6))
        return run_here(model, "-cosim_type", "missiles", "-cosim_step", step, *options,
                       "-cosim_output", f"{self.folder}/r.h5")

    def test_failed_not_completed(self):
        for stiffness, step in ((1e12, 1e-2), (1e12, 1e-3), (3e12, 5e-3)):
            with self.subTest(stiffness=stiffness, step=step):
                run = self.refused(stiffness, step)
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertNotIn("completed", run.stdout)
                self.assertRegex(run.stderr, r"error: t = \S+ s.*smaller")


if __name__ == "__main__":
    unittest.main()
