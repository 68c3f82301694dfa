"""Events of FMUs end macro-steps, are recorded, and reach the other subsystems at their instants."""
import math
import unittest
from itertools import product

import h5py
import numpy as np
from concord_runs import TIGHT, Results, execute, in_short, simulate
from event_references import impacts, thermostat_instants
from fmu_runs import FmuTest

EXCHANGE = (dict(capabilities=("state", "step_events")), dict(capabilities=("no_step_events",)),
            dict(capabilities=("state", "no_step_events", "directional")))
BALL = """
experiment: {start: 0, stop: 3}
subsystems:
  ball: {fmu: bouncer.fmu}
  table:
    equations:
      outputs: {h: 0.1*sin(3*t), v: 0.3*cos(3*t)}
connections: [table.h -> ball.table_height, table.v -> ball.table_speed]
"""
ROOM = """
experiment: {start: 0, stop: 220}
subsystems:
  room:
    equations:
      inputs: {heat: 1}
      states: {T: 20}
      derivatives: {T: -0.1*(T - 10) + 2*heat}
      outputs: {T: T}
  thermostat: {fmu: thermostat.fmu}
connections: [room.T -> thermostat.temperature, thermostat.heat -> room.heat]
"""
WALL = """
experiment: {start: 0, stop: 9}
subsystems:
  room:
    equations:
      inputs: {heat: 1, wall: 12}
      states: {T: 20}
      derivatives: {T: 8*heat - (T - wall)}
      outputs: {T: T}
  wall:
    equations:
      inputs: {room: 20}
      states: {W: 12}
      derivatives: {W: (room - W) - 0.5*(W - 10)}
      outputs: {W: W}
  thermostat: {fmu: thermostat.fmu}
connections: [room.T -> thermostat.temperature, thermostat.heat -> room.heat, wall.W -> room.wall,
              room.T -> wall.room]
"""
# A staircase of an FMU, its integral, and whoever switches when it is high.
STAIRS = """
experiment: {start: 0, stop: 2}
subsystems:
  stairs: {fmu: ticker.fmu}
  sum:
    equations:
      inputs: {u: 0}
      states: {x: 0}
      derivatives: {x: u}
      outputs: {x: x}
  alarm:
    equations:
      inputs: {u: 0}
      discrete: {on: 0}
      when: [{condition: u > 3.5, set: {on: 1}}]
      outputs: {on: on}
connections: [stairs.count -> sum.u, stairs.count -> alarm.u]
"""


FLOOR = """
experiment: {start: 0, stop: 2}
subsystems:
  ball: {fmu: ball.fmu}
  watch: {equations: {inputs: {v: 0}, states: {z: 0}, derivatives: {z: v - z}, outputs: {z: z}}}
connections: [ball.v -> watch.v]
"""


# The left mass is kicked, which the right one's force answers at once.
KICK = """
experiment: {start: 0, stop: 0.5}
subsystems:
  left:
    equations:
      parameters: {m: 5, c: 1e4, d: 10}
      inputs: {f: 20000}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: (f - c*x - d*v)/m}
      when: [{condition: t > 0.1234, set: {v: v + 200}}]
      outputs: {x: x, v: v}
  right: RIGHT
connections: [right.f -> left.f, left.x -> right.x_left, left.v -> right.v_left]
"""
RIGHT = """
    equations:
      parameters: {m: 80, c: 1e5, d: 40, c_couple: 1e4, d_couple: 10}
      inputs: {x_left: 1, v_left: 0}
      variables: {force: c_couple*(x - x_left) + d_couple*(v - v_left)}
      states: {x: 3, v: 0}
      derivatives: {x: v, v: (-c*x - d*v - force)/m}
      outputs: {f: force, x: x, v: v}"""


def floor_impacts(stop, g=9.81, e=0.7):
    """Their times, and at the stop the z of z' = v - z."""
    instants, t, v, z = [], 0.0, 0.0, 0.0
    flight = math.sqrt(2 / g)
    while True:
        end = min(t + flight, stop)
        # v - g s + g solves the equation along a flight.
        z = (v + g * (1 - (end - t))) + (z - v - g) * math.exp(t - end)
        if t + flight > stop:
            return instants, z
        v, t = e * (g * flight - v), end
        instants.append(t)
        flight = 2 * v / g


class Network(FmuTest):
    def network(self, text, part, version, **how):
        self.build(part, version, **{"kinds": ("me",), **how})
        path = self.folder / "model.yaml"
        path.write_text(text)
        return path

    def assert_instants(self, run, exact, delta):
        self.assertLess(max(np.min(np.abs(run.time - t)) for t in exact), delta)
        self.assertEqual(len(run.event_times), len(exact))


class Exchange(Network):
    """Model exchange: as precise as subsystems written as equations."""

    def test_ball_on_a_moving_table(self):
        exact = impacts(3.0)
        for version, how in in_short(list(product((2, 3), EXCHANGE)), 2):
            model = self.network(BALL, "bouncer", version, **how)
            for method in ("jfm", "missiles", "jacobi"):
                with self.subTest(version=version, how=how, method=method):
                    run = simulate(model, "-cosim_type", method, "-cosim_step", 0.1)
                    self.assert_instants(run, [t for t, _ in exact], 1e-8)
                    self.assertEqual(run.outputs["ball.bounces"][-1], len(exact))
                    self.assertEqual(set(run.happened), {("ball", "state event 0")})
                    for t, speed in exact if method != "jacobi" else ():
                        row = np.argmin(np.abs(run.time - t))
                        self.assertAlmostEqual(run.outputs["ball.v"][row], speed, delta=1e-6)

    def test_thermostat(self):
        exact = thermostat_instants(220.0)
        for version, how in ((2, EXCHANGE[0]), (3, EXCHANGE[1])):
            model = self.network(ROOM, "thermostat", version, **how)
            for method in ("jfm", "missiles"):
                with self.subTest(version=version, method=method):
                    run = simulate(model, "-cosim_type", method, "-cosim_step", 0.1)
                    self.assert_instants(run, exact, 1e-8)
                    self.assertEqual(np.count_nonzero(np.diff(run.outputs["thermostat.heat"])),
                                     len(exact))

    def test_ranks(self):
        for text, part in ((BALL, "bouncer"), (ROOM.replace("220", "20"), "thermostat")):
            model = self.network(text, part, 2, **EXCHANGE[0])
            for method in ("jfm", "missiles", "jacobi"):
                alone = simulate(model, "-cosim_type", method, "-cosim_step", 0.1)
                for ranks in in_short((2, 3), 2, len(method)):
                    with self.subTest(part=part, method=method, ranks=ranks):
                        run = simulate(model, "-cosim_type", method, "-cosim_step", 0.1, ranks=ranks)
                        np.testing.assert_allclose(run.time, alone.time, atol=1e-12)
                        np.testing.assert_allclose(run.outputs.values, alone.outputs.values,
                                                   atol=1e-12)
                        self.assertEqual(run.happened, alone.happened)

    def test_left_limits(self):
        """What is recorded beside an event is what was before it."""
        path = self.folder / "out.h5"
        run = execute("run", self.network(BALL, "bouncer", 3), "-cosim_step", 0.1,
                      "-cosim_output", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            left = file["events/outputs"][:]
        results = Results(path, run)
        for k, (t, speed) in enumerate(impacts(3.0)):
            row = np.argmin(np.abs(results.time - t))
            table = 0.3 * np.cos(3 * t)
            self.assertAlmostEqual(left[k, 1], (1.8 * table - speed) / 0.8, delta=1e-6)
            self.assertEqual(left[k, 2], k)
            self.assertEqual(results.outputs["ball.bounces"][row], k + 1)

    def test_order_across_events(self):
        """4, as without events: room and wall are two subsystems, and the FMU switches."""
        model = self.network(WALL, "thermostat", 3)
        def end(step):
            return simulate(model, "-cosim_step", step, *TIGHT).outputs["room.T"][-1]

        exact = end(0.0125)
        errors = [abs(end(step) - exact) for step in (0.4, 0.2, 0.1)]
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(np.log2(coarse / fine), 3.7)
            self.assertLess(np.log2(coarse / fine), 4.3)

    def test_time_events(self):
        """They are known ahead, whoever else needs them, and need no rollback."""
        ticks = np.arange(1, 9) / 4
        for version, capabilities in in_short(list(product((2, 3), (("state",), ()))), 3):
            model = self.network(STAIRS, "ticker", version, capabilities=capabilities)
            for method in ("jfm", "missiles", "jacobi"):
                with self.subTest(version=version, capabilities=capabilities, method=method):
                    run = simulate(model, "-cosim_type", method, "-cosim_step", 0.1)
                    np.testing.assert_allclose(np.unique(run.event_times), ticks, atol=1e-13)
                    self.assertAlmostEqual(run.outputs["sum.x"][-1], 7.0, delta=1e-9)
                    self.assertIn(("stairs", "time event"), run.happened)
                    on = run.time[run.outputs["alarm.on"] == 1]
                    self.assertAlmostEqual(on[0], 1.0, delta=1e-13)

    def test_without_rollback(self):
        """The FMU handles them itself, on time, and tells; the others learn of them too late."""
        model = self.network(BALL, "bouncer", 2, capabilities=("step_events",))
        run = simulate(model, "-cosim_type", "gauss_seidel", "-cosim_step", 0.01)
        self.assertEqual(run.outputs["ball.bounces"][-1], 6)
        self.assertEqual(run.happened, [("ball", "state event 0")] * 6)
        self.assertIn("6 events within macro-steps", run.stdout)


class Steps(Network):
    """Co-simulation with event mode (FMI 3): events where the FMU returns early for them."""

    def setUp(self):
        super().setUp()
        self.capable = dict(kinds=("cs",), capabilities=("state", "variable", "event_mode"))

    def test_ball_on_the_floor(self):
        """Exact impacts, and who is fed by the ball's speed follows it through its jumps."""
        exact, follower = floor_impacts(2.0)
        model = self.network(FLOOR, "ball", 3, **self.capable)
        for method in ("jfm", "ifosmondi", "gauss_seidel", "jacobi"):
            for ranks in (1, 2, 3):
                with self.subTest(method=method, ranks=ranks):
                    run = simulate(model, "-cosim_type", method, "-cosim_step", 0.1, *TIGHT,
                                   "-cosim_halving", "none", ranks=ranks)
                    self.assert_instants(run, exact, 1e-10)
                    self.assertEqual(set(run.happened), {("ball", "event")})
                    if method in ("jfm", "ifosmondi"):
                        self.assertAlmostEqual(run.outputs["watch.z"][-1], follower, delta=1e-6)

    def test_inputs_in_micro_steps(self):
        """An FMU that takes no polynomials sees its inputs no better than its micro-steps do."""
        exact = [t for t, _ in impacts(3.0)]
        model = self.network(BALL, "bouncer", 3, **self.capable)
        for micro_steps, delta in ((10, 2e-3), (100, 2e-4)):
            run = simulate(model, "-cosim_step", 0.1, "-subsystem_fmu_micro_steps", micro_steps)
            self.assert_instants(run, exact, delta)

    def test_time_events_and_inputs(self):
        """Time events clip ahead; held inputs act at the instant, in event mode."""
        model = self.network(STAIRS, "ticker", 3, **self.capable)
        run = simulate(model, "-cosim_step", 0.1)
        self.assertAlmostEqual(run.outputs["sum.x"][-1], 7.0, delta=1e-9)
        self.assertIn(("stairs", "time event"), run.happened)
        model = self.network("experiment: {start: 0, stop: 2}\nsubsystems:\n"
                             "  switch: {equations: {outputs: {on: 't > 1.234 ? 1 : 0'}}}\n"
                             "  stair: {fmu: stair.fmu}\nconnections: [switch.on -> stair.on]\n",
                             "stair", 3, **self.capable)
        run = simulate(model, "-cosim_step", 0.1)
        level = np.where(run.time >= 1.234 - 1e-12, np.floor(run.time / 0.3 + 1e-9), 0.0)
        np.testing.assert_array_equal(run.outputs["stair.level"], level)

    def test_without_rollback(self):
        how = dict(kinds=("cs",), capabilities=("variable", "event_mode"))
        exact, _ = floor_impacts(2.0)
        run = simulate(self.network(FLOOR, "ball", 3, **how), "-cosim_type", "jacobi",
                       "-cosim_step", 0.1)
        self.assertEqual(run.happened, [("ball", "event")] * len(exact))
        self.assertIn("4 events within macro-steps", run.stdout)


class Answers(Network):
    """Co-simulation whose outputs answer directly to inputs that jump, though nothing may be read
    behind a Set without a step: the right limits count all the same."""

    def error(self, how, version, *options, ranks=1):
        """Relative L2 error of the left mass's speed against equations alone."""
        exact = self.folder / "exact.yaml"
        exact.write_text(KICK.replace("RIGHT", RIGHT))
        model = self.network(KICK.replace("RIGHT", "{fmu: right.fmu}"), "right", version,
                             kinds=("cs",), capabilities=how)
        wanted, run = (simulate(path, *TIGHT, *more, ranks=ranks) for path, more in (
            (exact, ("-cosim_type", "monolithic", *options[-2:])), (model, options)))
        wanted, found = (r.outputs["left.v"] for r in (wanted, run))
        return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)

    def test_with_rollback(self):
        ways = ((2, ("interpolate",)), (2, ("interpolate", "slopes")),
                (2, ("interpolate", "directional")), (3, ("event_mode",)), (3, ("update",)), (2, ()))
        for version, more in ways:
            how = ("state", "variable", *more)
            with self.subTest(version=version, how=how):
                error = self.error(how, version, "-cosim_step", 2e-3)
                print(version, how, error)
                self.assertLess(error, 3e-6)

    def test_ranks(self):
        error = self.error(("state", "variable", "interpolate"), 2, "-cosim_step", 2e-3, ranks=2)
        self.assertLess(error, 3e-6)

    def test_order(self):
        errors = [self.error(("state", "variable", "interpolate"), 2, "-cosim_step", step)
                  for step in (4e-3, 2e-3, 1e-3)]
        print(errors)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(np.log2(coarse / fine), 3.7)
            self.assertLess(np.log2(coarse / fine), 4.3)

    def test_without_rollback(self):
        """Directional derivatives lead from the old inputs to the new ones; or else it is told."""
        error = self.error(("variable", "interpolate", "directional"), 2, "-cosim_type", "missiles",
                           "-cosim_step", 2e-3)
        print(error)
        self.assertLess(error, 3e-6)
        model = self.network(KICK.replace("RIGHT", "{fmu: right.fmu}"), "right", 2, kinds=("cs",),
                             capabilities=("variable", "interpolate"))
        run = execute("run", model, "-cosim_type", "jacobi", "-cosim_step", 2e-3, "-cosim_halving",
                      "none", "-cosim_output", self.folder / "out.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("its outputs answer one macro-step late"), 1, run.stderr)


if __name__ == "__main__":
    unittest.main()
