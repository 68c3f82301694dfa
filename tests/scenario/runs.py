"""Scenarios within runs: ranks, restarts, what is recorded and shown, Python, sweeps."""
import hashlib
import unittest

import h5py
import numpy as np
from concord_runs import TIGHT, execute, run_here, simulate
from restart_runs import differences
from scenario_models import CAR, ScenarioTest

ACTIONS = ("{at: 1, set: {car.pedal: 0.5}}", "{at: 2, for: 2, ramp: {car.pedal: 1}}",
           "{when: car.v > 2.5, for: 2, freeze: sensor.u}", "{at: 3, for: 4, offset: {sensor.y: 0.1}}",
           "{at: 4, for: 5, noise: {filter.u: 0.01}, every: 0.5, seed: 3}",
           "{at: 6, for: 3, override: {filter.u: \"0.1*car.v\"}}", "{at: 11, for: 1, drop: sensor.y}",
           "{at: 15, set: {car.k: 0.4}}")


class Runs(ScenarioTest):
    def test_ranks_agree(self):
        for method in ("jfm", "missiles", "gauss", "jacobi"):
            options = (*TIGHT, "-cosim_type", method, "-cosim_step", 0.25)
            alone = self.acted(ACTIONS, *options)
            for ranks in (2, 3):
                several = self.acted(ACTIONS, *options, ranks=ranks)
                np.testing.assert_allclose(several.time, alone.time, 1e-12)
                np.testing.assert_allclose(several.outputs.values, alone.outputs.values, 1e-9, 1e-11)
                self.assertEqual(several.happened, alone.happened)

    def test_goes_on_within_it(self):
        model, scenario = self.model(CAR), self.scenario(*ACTIONS)
        words = (model, "-cosim_scenario", scenario, "-cosim_step", 0.25, "-cosim_checkpoint_epoch", 1)

        def run(name, *options):
            done = run_here(*words, "-cosim_output", self.folder / f"{name}.h5", "-cosim_checkpoint",
                            self.folder / f"{name}.chk", *options)
            self.assertEqual(done.returncode, 0, done.stderr)

        run("whole")
        for stop in (3.5, 7.25, 11.5):  # within a freeze, an offset, noise, an override, a drop
            run("parts", "-cosim_restart", "auto", "-cosim_stop", stop)
        run("parts", "-cosim_restart", "auto")
        different = differences(self.folder / "whole.h5", self.folder / "parts.h5")
        self.assertLessEqual(set(different), {"error_estimate"})  # that of parts knows other intervals

    def test_what_is_recorded(self):
        path = self.folder / "run.h5"
        run = run_here(self.model(CAR), "-cosim_scenario", self.scenario(*ACTIONS), "-cosim_output", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            what = list(file["events/what"].asstr())
            times = file["events/time"][:]
            listed = {name: list(file["files"][name].asstr()) for name in file["files"]} if "files" in file else {}
        for said, at in (("scenario.yaml:2: set car.pedal to 0.5", 1), ("scenario.yaml:3: ramp car.pedal to 1", 2),
                         ("scenario.yaml:3: ramp car.pedal to 1 ends", 4),
                         ("scenario.yaml:5: offset sensor.y by 0.1", 3),
                         ("scenario.yaml:5: offset sensor.y by 0.1 ends", 7),
                         ("scenario.yaml:6: noise of 0.01 on filter.u", 4),
                         ("scenario.yaml:6: noise of 0.01 on filter.u, next value", 4.5),
                         ("scenario.yaml:7: override filter.u with 0.1*car.v", 6),
                         ("scenario.yaml:8: drop sensor.y", 11), ("scenario.yaml:9: set car.k to 0.4", 15)):
            self.assertIn(said, what)
            self.assertAlmostEqual(times[what.index(said)], at, 9)
        self.assertFalse([text for text in what if "t >=" in text], what)
        digest = hashlib.sha256((self.folder / "scenario.yaml").read_bytes()).hexdigest()
        self.assertIn(digest, str(listed))

    def test_check_shows_it(self):
        run = self.execute("check", ACTIONS)
        self.assertEqual(run.returncode, 0, run.stderr)
        for part in ("scenario_sensor_y", "at t = 3 s for 4 s: offset sensor.y by 0.1",
                     "when car.v > 2.5 for 2 s: freeze sensor.u", "scenario_car_pedal.y -> car.pedal"):
            self.assertIn(part, run.stdout)

    def test_what_comes_too_late_is_noted(self):
        run = self.execute("check", ["{at: 20, set: {car.pedal: 1}}"])
        self.assertIn("not before the stop at 20 s", run.stdout)

    def test_held_signals_stay_held(self):
        model = """
experiment: {stop: 10}
subsystems:
  room: {equations: {inputs: {heat: 1}, states: {T: 20}, derivatives: {T: 1 - T/10 + 2*heat}, outputs: {T: T}}}
  thermostat:
    equations:
      inputs: {T: 20}
      discrete: {heat: 1}
      when: [{condition: T > 21, set: {heat: 0}}, {condition: T < 19, set: {heat: 1}}]
      outputs: {heat: heat}
connections: [room.T -> thermostat.T, thermostat.heat -> room.heat]
"""
        run = self.acted(["{at: 3, for: 2, freeze: thermostat.heat}"], "-cosim_accuracy", 1e-6, model=model)
        self.assertTrue(set(run.inputs["room.heat"]) <= {0.0, 1.0})
        inside = (run.time >= 3) & (run.time < 5)
        self.assertEqual(len(set(run.inputs["room.heat"][inside])), 1)
        self.assertGreater(len(set(run.outputs["thermostat.heat"][inside])), 0)

    def test_constraints_and_delays(self):
        model = """
experiment: {stop: 2}
subsystems:
  a: {equations: {inputs: {f: 0}, states: {x: 1}, derivatives: {x: f - x}, outputs: {y: x + f}}}
  b: {equations: {inputs: {f: 0}, states: {x: 0}, derivatives: {x: f - x}, outputs: {y: x + 2*f}}}
  late: {equations: {inputs: {u: 0}, outputs: {y: u}}}
constraints: [{unknown: force, equation: a.y - b.y, feeds: {a.f: -1, b.f: 1}}]
connections: [{connect: a.y -> late.u, delay: 0.25}]
"""
        plain = simulate(self.model(model), "-cosim_step", 0.125, *TIGHT)
        run = self.acted(["{at: 1, offset: {a.y: 3}}"], "-cosim_step", 0.125, *TIGHT, model=model)
        np.testing.assert_allclose(np.interp(run.time, plain.time, plain.outputs["a.y"]), run.outputs["a.y"], 0, 1e-9)
        shift = run.outputs["late.y"] - np.interp(run.time, plain.time, plain.outputs["late.y"])
        np.testing.assert_allclose(shift, np.where(run.time >= 1.25 - 1e-9, 3, 0), 0, 1e-8)

    def test_what_is_dropped_behind_delays_and_in_sums(self):
        for link, arrives in (("{connect: sensor.y -> filter.u, delay: 0.3}", 0.5), ("sum(2*sensor.y) -> filter.u", 0)):
            run = self.acted(["{at: 3, for: 2, drop: sensor.y}"], "-cosim_step", 0.25,
                             model=CAR.replace("sensor.y -> filter.u", f'"{link}"' if "sum" in link else link))
            inside = (run.time >= 3) & (run.time < 5)
            np.testing.assert_allclose(run.inputs["filter.u"][inside], arrives, 0, 1e-12)
            self.assertGreater(np.min(run.inputs["filter.u"][~inside]), 0.9)

    def test_a_sweep(self):
        run = execute("sweep", self.model(CAR), "--set", "car.k=0.2,0.3", "-cosim_scenario",
                      self.scenario("{at: 5, set: {car.pedal: 1}}"), "-o", self.folder / "table.csv")
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)


if __name__ == "__main__":
    unittest.main()
