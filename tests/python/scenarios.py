"""Scenarios from Python: whole runs, and step by step."""
import tempfile
import unittest
from pathlib import Path

import concord
import numpy as np

CAR = """
experiment: {stop: 20}
subsystems:
  car:
    equations: {parameters: {k: 0.2}, inputs: {pedal: 0.2}, states: {v: 1}, derivatives: {v: 2*pedal - k*v}, outputs: {v: v}}
"""
ACTIONS = """
actions:
  - {at: 5, set: {car.pedal: 1}}
  - {when: car.v > 3, set: {car.k: 0.4}}
"""


class Scenarios(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model, self.scenario = str(folder / "car.yaml"), str(folder / "scenario.yaml")
        Path(self.model).write_text(CAR, encoding="utf-8")
        Path(self.scenario).write_text(ACTIONS, encoding="utf-8")

    def test_runs_and_steps(self):
        run = concord.run(self.model, cosim_scenario=self.scenario, cosim_step=0.5)
        self.assertEqual(run["car.pedal"][-1], 1)
        simulation = concord.Simulation(self.model, cosim_scenario=self.scenario, cosim_step=0.5)
        simulation.start()
        simulation.advance(until=4.0)
        self.assertEqual(simulation["car.pedal"], 0.2)
        kept = simulation.snapshot()
        for _ in range(2):
            simulation.advance(until=20.0)
            self.assertEqual((simulation["car.pedal"], simulation["car.k"]), (1.0, 0.4))
            np.testing.assert_allclose(simulation["car.v"], run["car.v"][-1], 1e-9)
            simulation.restore(kept)
        simulation.reset({"car.v": 2.0})
        simulation.advance(until=20.0)
        self.assertEqual(simulation["car.k"], 0.4)


if __name__ == "__main__":
    unittest.main()
