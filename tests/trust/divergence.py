"""A run whose own estimate is as large as its signals fails; growth of the model does not."""
import tempfile
import unittest

from concord_runs import TWO_MASS, run_here, write_model
from estimates import Run, chain

SERVO = """
name: servo
experiment: {start: 0, stop: 3}
subsystems:
  motor:
    equations:
      inputs: {torque: 0}
      states: {phi: 0, w: 1}
      derivatives: {phi: w, w: torque/1e-3}
      outputs: {phi: phi, w: w}
  shaft:
    equations:
      inputs: {phi: 0, w: 0}
      outputs: {torque: -50*phi - 0.02*w}
connections: [shaft.torque -> motor.torque, motor.phi -> shaft.phi, motor.w -> shaft.w]
"""

PENDULUM = """
name: inverted pendulum that falls
experiment: {start: 0, stop: 3}
subsystems:
  arm:
    equations:
      inputs: {m: 0}
      states: {phi: 1e-6, w: 0}
      derivatives: {phi: w, w: m - 0.1*w}
      outputs: {phi: phi, w: w}
  gravity:
    equations: {inputs: {phi: 0}, outputs: {m: 9.81*sin(phi)}}
connections: [arm.phi -> gravity.phi, gravity.m -> arm.m]
"""


def growth(start, rate, stop):
    return f"""
name: exponential growth
experiment: {{start: 0, stop: {stop}}}
subsystems:
  a:
    equations:
      {{inputs: {{u: 0}}, states: {{x: {start}}}, derivatives: {{x: u}}, outputs: {{x: x}}}}
  b:
    equations: {{inputs: {{x: 0}}, outputs: {{y: {rate}*x}}}}
connections: [a.x -> b.x, b.y -> a.u]
"""


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def model(self, text):
        return write_model(self.folder.name, self.id().rsplit(".", 1)[1], text)


class Diverges(Models):
    def fails(self, model, *options):
        for ranks in (1, 2):
            run = Run(model, *options, ranks=ranks)
            self.assertEqual(run.run.returncode, 1, run.run.stdout)
            self.assertNotIn("completed", run.run.stdout)
            self.assertEqual(run.run.stderr.count("concord: error:"), 1)
            for word in ("t = ", "the run has diverged", "subsystem '", "output '",
                         "-cosim_step", "-cosim_diverged warn"):
                self.assertIn(word, run.run.stderr)
            self.assertEqual(run.attributes["status"], "failed")

    def test_two_masses(self):
        self.fails(TWO_MASS, "-cosim_type", "jacobi", "-cosim_step", 1e-2)

    def test_servo(self):
        self.fails(self.model(SERVO), "-cosim_type", "jacobi", "-cosim_step", 3e-3)

    def test_warned_only(self):
        run = Run(TWO_MASS, "-cosim_type", "jacobi", "-cosim_step", 1e-2,
                  "-cosim_diverged", "warn")
        self.assertEqual(run.run.returncode, 0, run.run.stderr)
        self.assertNotIn("completed", run.run.stdout)
        self.assertIn("diverged", run.run.stdout.splitlines()[0])
        self.assertEqual(run.attributes["status"], "diverged")
        self.assertIn("the run has diverged", run.attributes["diverged"])

    def test_the_choices_are_listed(self):
        run = run_here(TWO_MASS, "-cosim_diverged", "never")
        self.assertEqual(run.returncode, 2)
        self.assertIn("fail, warn", run.stderr)


class GrowsByItself(Models):
    def completes(self, text, h, methods=("jfm", "missiles", "jacobi", "gauss_seidel")):
        model = self.model(text)
        for method in methods:
            with self.subTest(method=method):
                run = Run(model, "-cosim_type", method, "-cosim_step", h)
                self.assertEqual(run.run.returncode, 0, run.run.stderr)
                status = run.attributes["status"]
                if method in ("jfm", "missiles") or status != "inaccurate":
                    self.assertEqual(status, "completed")
                else:
                    self.assertGreaterEqual(run.attributes["error_estimate"], 0.1)

    def test_e_to_the_50(self):
        self.completes(growth(1, 1, 50), 5e-3)

    def test_from_tiny_values(self):
        self.completes(growth(1e-300, 2, 20), 2e-3)

    def test_from_huge_values(self):
        self.completes(growth(1e120, 1, 20), 5e-3)

    def test_a_pendulum_falls(self):
        self.completes(PENDULUM, 1e-3)

    def test_a_wave_enters_a_chain_at_rest(self):
        """What has reached its far end, like t^k, doesn't say yet how large it will be."""
        for stop in (1, 5):
            self.completes(chain(60).replace("stop: 20", f"stop: {stop}"), 1e-2)


class Baselines(unittest.TestCase):
    """Rows of methods of low order (26 % and 37 % in the mean) stay runs, and say how good."""

    def check(self, h, *options):
        run = Run(TWO_MASS, "-cosim_step", h, *options)
        self.assertEqual(run.run.returncode, 0, run.run.stderr)
        self.assertGreater(run.attributes["error_estimate"], 0.2)
        self.assertLess(run.attributes["error_estimate"], 0.6)

    def test_explicit(self):
        self.check(1e-3, "-cosim_type", "jacobi")

    def test_implicit(self):
        self.check(1e-2, "-cosim_solve", "snes", "-cosim_hold", "zoh")


if __name__ == "__main__":
    unittest.main()
