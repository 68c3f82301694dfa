"""Whom an event reaches: it alone starts anew, and is counted."""
import unittest

import numpy as np

from concord_runs import TIGHT, ModelTest, simulate

CHAIN = """
name: chain
experiment: {start: 0.0, stop: 0.1}
templates:
  cell:
    equations:
      inputs: {left: 0, right: 0, push: 0}
      states: {x: 0.1, y: 0}
      derivatives: {x: "20*(left + right - 2*x) + 30*push", y: "x - sin(y)"}
      outputs: {x: x, y: "y%s"}
subsystems:
  clock: {equations: {outputs: {y: "mod(floor(1000*t + 0.5), 2)"}}}
  cell: {template: cell, repeat: {i: [1, 99]}}
connections:
  - clock.y -> cell[50].push
  - {connect: "cell[i].x -> cell[i+1].left", repeat: {i: [1, 98]}}
  - {connect: "cell[i+1].x -> cell[i].right", repeat: {i: [1, 98]}}
"""

KINKS = """
name: kinks
experiment: {start: 0.0, stop: 1.0}
subsystems:
  road: {table: {file: road.csv, interpolation: linear, outputs: {z: z}}}
  wheel: {equations: {inputs: {z: 0}, states: {x: 0}, derivatives: {x: z - x}, outputs: {x: x}}}
  far: {equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}}
  named: {equations: {inputs: {u: 0}, states: {y: 1}, derivatives: {y: u - y}, outputs: {y: y}}}
connections: [road.z -> wheel.z, wheel.x -> far.x, far.y -> named.u]
"""


class Touched(ModelTest):
    def restarts(self, run):
        return dict(zip((name.decode() for name in run.subsystems["name"]),
                        run.subsystems["restarts"]))

    def test_only_who_is_reached_of_a_hundred(self):
        model = self.model(CHAIN % "")
        exact = simulate(model, "-cosim_type", "monolithic", *TIGHT)
        for method in ("jfm", "missiles", "jacobi"):
            run = simulate(model, "-cosim_type", method, "-cosim_step", 0.01, *TIGHT)
            restarts = self.restarts(run)
            with self.subTest(method=method):
                self.assertEqual(restarts.pop("clock"), 100)
                self.assertEqual(restarts.pop("cell[50]"), 100)
                self.assertEqual(set(restarts.values()), {0})
                bound = 1e-3 if method == "jacobi" else 1e-10
                self.assertAlmostEqual(run.outputs["cell[50].y"][-1],
                                       exact.outputs["cell[50].y"][-1], delta=bound)

    def test_ranks_agree(self):
        model = self.model(CHAIN % " + 2*push")
        alone = simulate(model, "-cosim_step", 0.01)
        for ranks in (2, 3):
            run = simulate(model, "-cosim_step", 0.01, ranks=ranks)
            self.assertEqual(self.restarts(run), self.restarts(alone))
            np.testing.assert_allclose(run.outputs.values, alone.outputs.values, atol=1e-12)

    def test_kinks_of_a_table(self):
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n0.6,-1\n0.8,-1\n1,2\n")
        run = simulate(self.model(KINKS), "-cosim_step", 0.05)
        restarts = self.restarts(run)
        self.assertEqual(restarts["road"], 4)
        self.assertEqual((restarts["far"], restarts["named"]), (0, 0))

    def test_a_time_of_nobody_in_particular_reaches_everybody(self):
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n1,2\n")
        model = self.model(KINKS.replace("stop: 1.0}", "stop: 1.0}\nevents: [0.5]"))
        run = simulate(model, "-cosim_step", 0.05)
        restarts = self.restarts(run)
        self.assertEqual(restarts["road"], 3)
        self.assertEqual((restarts["far"], restarts["named"]), (1, 1))


if __name__ == "__main__":
    unittest.main()
