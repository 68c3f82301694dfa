"""Conditions that hardly touch, or hardly don't: decided by a lower aim, or told."""
import json
import math
import unittest

from accumulating import RESTING
from concord_runs import ModelTest, simulate

WAVE = """
experiment: {stop: 20}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 0, v: 1}, derivatives: {x: v, v: "-x + 0*u"},
      outputs: {x: x}}}
  b: {equations: {inputs: {x: 0}, discrete: {n: %s}, states: {s: 0}, derivatives: {s: "-0.1*s"},
      when: [{condition: "%s", set: {n: %s}}], outputs: {n: n, s: s}}}
connections: [a.x -> b.x, b.s -> a.u]
"""

FRICTION = """
experiment: {stop: 12}
subsystems:
  m: {equations: {inputs: {F: 0, fr: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: F - fr},
      outputs: {x: x, v: v}}}
  fric:
    equations:
      inputs: {v: 0, F: 0}
      discrete: {mode: 0}
      when:
        - {condition: "mode == 0 && F > 1", set: {mode: 1}}
        - {condition: "mode == 0 && F < -1", set: {mode: -1}}
        - {condition: "mode == 1 && v < 0", set: {mode: "F < -1 ? -1 : 0"}}
        - {condition: "mode == -1 && v > 0", set: {mode: "F > 1 ? 1 : 0"}}
      outputs: {fr: "mode == 0 ? F : 0.7*mode", mode: mode}
  src: {equations: {inputs: {x: 0}, outputs: {F: "%s*sin(t) - 0.4*x"}}}
connections: [m.v -> fric.v, src.F -> m.F, src.F -> fric.F, fric.fr -> m.fr, m.x -> src.x]
"""


class Grazing(ModelTest):
    def test_a_lower_aim_decides(self):
        for level, count in ((0.999999, 3), (1.000001, 0), (0.99, 3), (1 - 1e-9, 3), (1 - 1e-10, 3), (1 + 1e-10, 0)):
            with self.subTest(level=level):
                run = simulate(self.model(WAVE % (0, f"x > {level}", "n + 1")))
                self.assertEqual(run.status, "completed")
                self.assertEqual(run.outputs["b.n"][-1], count)

    def test_what_comes_and_goes_close_to_the_end(self):
        """Of a macro-step: both crossings within its last twentieth."""
        step = (0.5 * math.pi + 0.005) / 4
        run = simulate(self.model(WAVE % (0, "x > 0.999999", "n + 1")), "-cosim_type", "missiles6",
                       "-cosim_step", repr(step), "-cosim_stop", repr(8 * step))
        self.assertEqual(run.outputs["b.n"][-1], 1)

    def test_what_no_aim_decides_is_told(self):
        for level in (1 - 1e-12, 1 + 1e-12):
            summary = self.folder / "summary.json"
            run = simulate(self.model(WAVE % (0, f"x > {level!r}", "n + 1")),
                           "-cosim_summary", summary)
            with self.subTest(level=level):
                self.assertEqual(run.status, "inaccurate")
                self.assertIn("whether it happens is not decided", run.stdout)
                self.assertIn("estimated error       unknown", run.stdout)
                self.assertIn("NOT REACHED: an event is not decided", run.stdout)
                quality = json.loads(summary.read_text(encoding="utf-8"))["quality"]
                self.assertIn("subsystem 'b' (x > ", quality["undecided"])
                self.assertIsNone(quality["worst_error_of_range"])

    def test_with_fixed_steps_it_is_told(self):
        for level in (0.99999, 1.00001):
            run = simulate(self.model(WAVE % (0, f"x > {level}", "n + 1")), "-cosim_type", "jfm",
                           "-cosim_step", 0.5)
            self.assertEqual(run.status, "inaccurate", level)
            self.assertIn("undecided             subsystem 'b' (x > ", run.stdout)

    def test_what_can_change_nothing_decides_nothing(self):
        """Sets what is there; in the second case only an event beside it would count."""
        for condition in (f"x > {1 - 1e-12!r}", f"x > {1 - 1e-12!r} && n > 0.5"):
            run = simulate(self.model(WAVE % (0, condition, "0")))
            self.assertEqual(run.status, "completed", condition)

    def test_what_bounces_or_rests_is_no_graze(self):
        ball = simulate(self.model(RESTING % 0.5))
        self.assertEqual(ball.status, "completed")
        self.assertEqual(ball.outputs["ball.rest"][-1], 1)

    def test_friction_at_rest(self):
        """The force is up to the limit, or above it; at rest the difference of both is rounding."""
        rest = simulate(self.model(FRICTION % 0.9))
        self.assertEqual(rest.status, "completed")
        self.assertEqual(rest.outputs["fric.mode"][-1], 0)
        self.assertLess(abs(rest.outputs["m.x"][-1]), 1e-12)
        moves = simulate(self.model(FRICTION % 1.5))
        self.assertEqual(moves.status, "completed")
        self.assertLess(len(moves.time), 1000)


if __name__ == "__main__":
    unittest.main()
