"""Events that come closer and closer, and what comes to rest: told, or as its user says."""
import unittest
from itertools import product

import numpy as np

from concord_runs import ModelTest, in_short, run_here, simulate

CONTROLLED = {"default": (), "jfm": ("-cosim_type", "jfm"), "missiles": ("-cosim_type", "missiles")}
AT_NODES = {name: ("-cosim_type", name) for name in ("gauss", "radau")}
FIXED = {"jacobi": ("-cosim_type", "jacobi"), "jfm steps": ("-cosim_step", 0.1)}

BALL = """
experiment: {stop: 5}
subsystems:
  ball:
    equations:
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -9.81}
      when: [{condition: h < 0, set: {v: -e*v}}]
      parameters: {e: %s}
      outputs: {h: h}
  meter: {equations: {inputs: {h: 1}, states: {s: 0}, derivatives: {s: h - s}, outputs: {s: s}}}
connections: [%s]
"""

RESTING = """
experiment: {stop: 5}
subsystems:
  ball:
    equations:
      states: {h: 1, v: 0}
      discrete: {rest: 0}
      derivatives: {h: v, v: "rest > 0.5 ? 0 : -9.81"}
      when:
        - {condition: h < 0, set: {v: "abs(v) < 1e-4 ? 0 : -%s*v", rest: "abs(v) < 1e-4 ? 1 : 0"}}
      outputs: {h: h, v: v, rest: rest}
  meter: {equations: {inputs: {h: 1}, states: {s: 0}, derivatives: {s: h - s}, outputs: {s: s}}}
connections: [ball.h -> meter.h]
"""

TANK = """
experiment: {stop: 100}
subsystems:
  upper:
    equations:
      parameters: {k: 0.05}
      states: {h: 1}
      variables: {q: %s}
      derivatives: {h: -q}
      outputs: {h: h, q: q}
  lower: {equations: {inputs: {q: 0}, states: {h: 0}, derivatives: {h: q}, outputs: {h: h}}}
connections: [upper.q -> lower.q]
"""


class Accumulating(ModelTest):
    def refused(self, text, options, *words):
        run = run_here(self.model(text), *options, "-cosim_output", self.folder / "out.h5")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        for word in ("subsystem 'ball' (h < 0)", *words):
            self.assertIn(word, run.stderr)

    def test_a_ball_that_comes_to_rest_is_told_under_every_control(self):
        """However fast it loses its speed: nothing falls through the floor."""
        for e, wires, (name, options) in in_short(
                list(product((0.8, 0.5, 0.3, 0.01, 1e-4, 1e-6), ("", "ball.h -> meter.h"),
                             {**CONTROLLED, **FIXED}.items())), 5):
            with self.subTest(e=e, wires=wires, method=name):
                self.refused(BALL % (e, wires), options, "events accumulate")

    def test_bounces_that_nobody_sees(self):
        """Hops that are lower than what the floor is exact to are bounces all the same."""
        for e, (name, options) in product((0.5, 1e-3, 1e-5, 1e-7, 1e-9, 1e-15), {**AT_NODES, **CONTROLLED}.items()):
            with self.subTest(e=e, method=name):
                self.refused(BALL % (e, "ball.h -> meter.h"), options, "events accumulate")

    def test_what_comes_to_rest_rests_where_its_user_says_so(self):
        for e in (0.3, 0.8):
            for name, options in {**CONTROLLED, **AT_NODES, **FIXED}.items():
                with self.subTest(e=e, method=name):
                    run = simulate(self.model(RESTING % e), *options)
                    self.assertEqual(run.outputs["ball.rest"][-1], 1)
                    self.assertAlmostEqual(run.outputs["ball.h"][-1], 0, delta=1e-9)


class Emptying(ModelTest):
    def test_a_tank_runs_empty(self):
        """Torricelli: sqrt(h) = 1 - k t/2 until it is empty, for good."""
        for q in ("'k*sqrt(max(h, 0))'", "'h > 0 ? k*sqrt(h) : 0'", "'if(h <= 0, 0, k*sqrt(h))'"):
            for name, options in {**CONTROLLED, **FIXED}.items():
                with self.subTest(q=q, method=name):
                    run = simulate(self.model(TANK % q), *options)
                    exact = np.maximum(1 - 0.025 * run.time, 0) ** 2
                    bound = 5e-3 if name == "jacobi" else 2e-5
                    np.testing.assert_allclose(run.outputs["upper.h"], exact, atol=bound)
                    np.testing.assert_allclose(run.outputs["lower.h"], 1 - exact, atol=bound)


if __name__ == "__main__":
    unittest.main()
