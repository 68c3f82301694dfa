"""Jumps travel: what jumps at the source jumps T later, at the instant; and only what breaks does."""
import unittest

import h5py
import numpy as np
from concord_runs import TIGHT, ModelTest, run_here, simulate
from delay_models import SCALAR, scalar

METHODS = ("jfm", "missiles", "ifosmondi", "kuebler_schiehlen", "jacobi", "gauss_seidel")


class Jumps(ModelTest):
    STEP = """
experiment: {{stop: 2}}
subsystems:
  step: {{equations: {{outputs: {{y: "if(t > 0.533, 1, 0)"}}}}}}
  sum: {{equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: u}}, outputs: {{x: x, u: u}}}}}}
connections:
  - {{connect: step.y -> sum.u, delay: {delay}}}
"""

    def test_a_step_arrives_at_its_instant(self):
        for delay in (0.3, 0.0123, 1.0):
            for method in METHODS:
                with self.subTest(delay=delay, method=method):
                    run = simulate(self.model(self.STEP.format(delay=delay)), *TIGHT, "-cosim_step",
                                   0.1, "-cosim_type", method)
                    exact = np.maximum(run.time - 0.533 - delay, 0.0)
                    self.assertLess(np.max(np.abs(run.outputs["sum.x"] - exact)), 1e-6)

    def test_left_limits_are_recorded(self):
        path = self.folder / "run.h5"
        run = run_here(self.model(self.STEP.format(delay=0.3)), "-cosim_output", path,
                      "-cosim_step", 0.1)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            column = list(file["outputs/names"].asstr()).index("sum.u")
            names = list(file["events/subsystem"].asstr())
            at = names.index("delay_sum_u")
            time = file["events/time"][at]
            self.assertAlmostEqual(time, 0.833, 9)
            self.assertAlmostEqual(file["events/outputs"][at, column], 0.0, 9)
            row = list(file["time"][:]).index(time)
            self.assertAlmostEqual(file["outputs/values"][row, column], 1.0, 9)
            inputs = list(file["inputs/names"].asstr())
            self.assertAlmostEqual(file["events/inputs"][at, inputs.index("sum.u")], 0.0, 9)
            self.assertAlmostEqual(file["inputs/values"][row, inputs.index("sum.u")], 1.0, 9)
            self.assertAlmostEqual(file["events/states"][at, 0], 0.0, 9)

    def test_an_echo_comes_back_and_back(self):
        text = """
experiment: {stop: 3}
subsystems:
  a: {equations: {inputs: {u: 0}, outputs: {y: "if(t > 0.1, 1, 0) + 0.5*u"}}}
  sum: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u}, outputs: {x: x}}}
connections:
  - {connect: a.y -> a.u, delay: 0.37}
  - a.y -> sum.u
"""
        for method in METHODS:
            with self.subTest(method=method):
                run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.1, "-cosim_type", method)
                exact = sum(0.5**k * np.maximum(run.time - 0.1 - 0.37 * k, 0) for k in range(8))
                self.assertLess(np.max(np.abs(run.outputs["sum.x"] - exact)), 1e-6)

    def test_samples_come_late(self):
        """What only events change is held; its steps arrive at their instants."""
        text = """
experiment: {stop: 2}
subsystems:
  clock:
    equations:
      discrete: {n: 0}
      when: [{every: 0.25, offset: 0.25, set: {n: n + 1}}]
      outputs: {n: n}
  sum: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u}, outputs: {x: x}}}
connections:
  - {connect: clock.n -> sum.u, delay: 0.11}
"""
        for method in ("jfm", "missiles", "jacobi"):
            with self.subTest(method=method):
                run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.1, "-cosim_type", method)
                exact = sum(np.maximum(run.time - 0.11 - 0.25 * k, 0) for k in range(1, 9))
                self.assertLess(np.max(np.abs(run.outputs["sum.x"] - exact)), 1e-6)

    def test_on_several_ranks(self):
        model = self.model(self.STEP.format(delay=0.3))
        one = simulate(model, *TIGHT, "-cosim_step", 0.1)
        for ranks in (2, 3):
            other = simulate(model, *TIGHT, "-cosim_step", 0.1, ranks=ranks)
            np.testing.assert_array_equal(one.time, other.time)
            self.assertLess(np.max(np.abs(one.outputs.values - other.outputs.values)), 1e-12)


class Kinks(ModelTest):
    """What a break of a slope makes downstream is smoother every time it comes round."""

    def test_order_4_off_the_grid(self):
        for method in ("jfm", "missiles"):
            with self.subTest(method=method):
                model = self.model(SCALAR.format(start=0, stop=3.9, delay=1))
                errors = []
                for step in (0.3, 0.15, 0.075):
                    run = simulate(model, *TIGHT, "-cosim_type", method, "-cosim_step", step)
                    exact = np.array([scalar(t, 1.0) for t in run.time])
                    errors.append(np.max(np.abs(run.outputs["a.x"] - exact)))
                order = np.log2(errors[0] / errors[-1]) / 2
                self.assertGreater(order, 3.6, errors)
                self.assertLess(order, 4.7, errors)

    ROAD = """
experiment: {stop: 4}
subsystems:
  road: {table: {file: road.csv}}
  axle:
    equations:
      inputs: {z: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: 40*(z - x) - 4*v}
      outputs: {x: x, z: z}
connections:
  - {connect: road.z -> axle.z, delay: 0.1999999}
"""

    def test_kinks_right_behind_other_events(self):
        """What arrives makes an event 1e-7 s before each second kink of the road."""
        t = np.array([0.0, 0.5, 0.7, 1.1, 1.2, 2.0, 2.3, 3.5])
        z = np.array([0.0, 0.0, 0.1, 0.15, 0.3, 0.5, 0.1, 0.0])
        rows = "".join(f"{a},{b}\n" for a, b in zip(t, z))
        (self.folder / "road.csv").write_text("t,z\n" + rows, encoding="utf-8")
        for accuracy in (1e-4, 1e-6):
            with self.subTest(accuracy):
                run = simulate(self.model(self.ROAD), "-cosim_accuracy", accuracy)
                arrivals = t[1:] + 0.1999999
                for arrival in arrivals[arrivals < 4]:
                    self.assertLess(np.abs(run.time - arrival).min(), 1e-12)
                exact = np.interp(run.time, t + 0.1999999, z)
                self.assertLess(np.abs(run.outputs["axle.z"] - exact).max(), 1e-9)

    def test_smooth_signals_make_no_events(self):
        path = self.folder / "run.h5"
        model = self.model(SCALAR.format(start=0, stop=20, delay=0.7))
        for method in ("jfm", "missiles", "jacobi"):
            with self.subTest(method=method):
                run = run_here(model, "-cosim_output", path, "-cosim_step", 0.05, "-cosim_type",
                              method)
                self.assertEqual(run.returncode, 0, run.stderr)
                with h5py.File(path) as file:
                    self.assertLessEqual(len(file["events/time"]), 3, file["events/time"][:])


if __name__ == "__main__":
    unittest.main()
