"""When state events happen, what they set, and what order is left across them."""
import math
import unittest

import h5py
import numpy as np

from concord_runs import EXAMPLES, TIGHT, ModelTest, in_short, run_here, simulate
from event_references import first_root, impacts, thermostat_instants

THERMOSTAT, BALL, SAMPLED, STICK_SLIP, DRIVE = (
    EXAMPLES / name / f"{name}.yaml"
    for name in ("thermostat", "bouncing_ball", "sampled_control", "stick_slip", "drive"))

RELAY = """
name: relay
experiment: {start: 0.0, stop: 6.0}
subsystems:
  swing:
    equations:
      inputs: {push: 0}
      discrete: {force: 1}
      states: {x: 0.2, v: 0.1}
      derivatives: {x: v, v: "-x - 0.1*v + 0.4*push + force"}
      when:
        - {condition: push > 0.35, set: {force: -1}}
        - {condition: push < -0.2, set: {force: 1}}
      outputs: {x: x, v: v}
  lag:
    equations: {inputs: {x: 0.2}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}
connections: [swing.x -> lag.x, lag.y -> swing.push]
"""


def stick_slip_instants(stop):
    """x' = v; sticking: v = 0.2; slipping: v' = 0.4 - x, an exact harmonic oscillation."""
    t, x, instants = 0.0, 0.0, []
    while True:
        t += (0.5 - x) / 0.2
        if t > stop:
            return instants
        instants.append(t)
        # Slipping from x = 0.5, v = 0.2: x = 0.4 + 0.1 cos s + 0.2 sin s, v = 0.2 cos s - 0.1 sin s.
        s = first_root(lambda s: 0.2 * math.cos(s) - 0.1 * math.sin(s) - 0.2, 0.5, 10.0)
        t, x = t + s, 0.4 + 0.1 * math.cos(s) + 0.2 * math.sin(s)
        if t > stop:
            return instants
        instants.append(t)


class RelayFlow:
    """Piecewise linear: exact by eigenvectors."""

    A = np.array([[0, 1, 0], [-1, -0.1, 0.4], [1, 0, -1.0]])

    def __init__(self):
        self.values, self.vectors = np.linalg.eig(self.A)

    def __call__(self, z, force, t):
        rest = np.linalg.solve(self.A, [0.0, -force, 0.0])
        start = np.linalg.solve(self.vectors, z - rest)
        return (self.vectors @ (np.exp(self.values * t) * start)).real + rest

    def end(self, stop):
        z, force, t = np.array([0.2, 0.1, 0.0]), 1.0, 0.0
        while True:
            def beyond(s):
                y = self(z, force, s)[2]
                return y - 0.35 if force > 0 else -0.2 - y

            found = first_root(beyond, 0.0, stop - t)
            if found is None:
                return self(z, force, stop - t)
            z, force, t = self(z, force, found), -force, t + found


class Drive:
    """The example's loop, linear in each of its modes; z = position, speed, 1, t."""

    K_P, K_D, LIMIT, GAIN, TIME = 30.0, 2.0, 2.0, 2.0, 0.1

    def __init__(self):
        rows = np.loadtxt(DRIVE.parent / "reference.csv", delimiter=",", skiprows=1)
        self.times, self.goals = rows[:, 0], rows[:, 1]

    def wanted(self, piece):
        """The unsaturated voltage as a row in z."""
        slope = ((self.goals[piece + 1] - self.goals[piece]) /
                 (self.times[piece + 1] - self.times[piece]))
        constant = self.goals[piece] - slope * self.times[piece]
        return np.array([-self.K_P, -self.K_D, self.K_P * constant, self.K_P * slope])

    def matrix(self, wanted, mode):
        voltage = wanted if mode == 0 else np.array([0, 0, mode * self.LIMIT, 0])
        motion = self.GAIN * voltage / self.TIME
        motion[1] -= 1 / self.TIME
        return np.array([[0, 1, 0, 0], motion, [0, 0, 0, 0], [0, 0, 1, 0]])

    def end(self, stop):
        z = np.array([0.0, 0.0, 1.0, 0.0])
        for piece in range(len(self.times) - 1):
            wanted, last = self.wanted(piece), min(self.times[piece + 1], stop)
            while z[3] < last - 1e-13:
                ahead = wanted @ z + 1e-9 * (wanted @ self.matrix(wanted, 0) @ z)
                mode = 1 if ahead > self.LIMIT else -1 if ahead < -self.LIMIT else 0
                a = self.matrix(wanted, mode)

                def beyond(s, a=a, mode=mode, z=z, wanted=wanted):
                    voltage = wanted @ (exponential(a * s) @ z)
                    inside = self.LIMIT - mode * voltage if mode else abs(voltage) - self.LIMIT
                    return inside

                rest = last - z[3]
                found = first_root(beyond, 1e-9, rest, 2e-3)
                z = exponential(a * (rest if found is None or found > rest else found)) @ z
        return z[:2]


def exponential(a):
    """By its series, after halvings."""
    term = result = np.eye(len(a))
    for k in range(1, 20):
        term = term @ (a / 64) / k
        result = result + term
    return np.linalg.matrix_power(result, 64)


class Models(ModelTest):
    def assert_instants(self, run, exact, delta):
        worst = max(np.min(np.abs(run.time - t)) for t in exact)
        self.assertLess(worst, delta)


class Instants(Models):
    def test_thermostat(self):
        exact = thermostat_instants(220.0)
        self.assertGreater(len(exact), 100)
        for method in ("jfm", "missiles", "ifosmondi", "monolithic"):
            with self.subTest(method=method):
                run = simulate(THERMOSTAT, "-cosim_type", method, "-cosim_step", 0.1,
                               *TIGHT)
                self.assert_instants(run, exact, 1e-8)
                self.assertEqual(np.count_nonzero(np.diff(run.outputs["thermostat.heat"])),
                                 len(exact))

    def test_thermostat_without_options(self):
        run = simulate(THERMOSTAT, "-cosim_step", 0.1)
        self.assert_instants(run, thermostat_instants(220.0), 1e-8)

    def test_ball_on_a_moving_table(self):
        exact = impacts(3.0)
        for method in ("jfm", "missiles", "gauss_seidel", "extripol", "jacobi", "monolithic"):
            with self.subTest(method=method):
                run = simulate(BALL, "-cosim_type", method, "-cosim_step", 0.1)
                self.assert_instants(run, [t for t, _ in exact], 1e-8)
                for t, speed in exact:
                    row = np.argmin(np.abs(run.time - t))
                    if method not in ("jacobi", "extripol"):
                        self.assertAlmostEqual(run.states["ball.v"][row], speed, delta=1e-6)

    def test_in_both_halves_of_macro_steps_that_are_taken_twice(self):
        exact = impacts(3.0)
        for estimate in ("richardson", "richardson_modified"):
            with self.subTest(estimate=estimate):
                run = simulate(BALL, "-cosim_type", "jacobi", "-cosim_adapt", estimate,
                               "-cosim_adapt_rtol", 1e-6)
                self.assert_instants(run, [t for t, _ in exact], 1e-4)

    def test_sampled_control(self):
        step = 0.01
        system = np.array([[0.0, 1.0, 0.0], [-1.0, -0.5, 1.0], [0.0, 0.0, 0.0]])
        transition, term = np.eye(3), np.eye(3)
        for k in range(1, 25):
            term = term @ system * (step / k)
            transition = transition + term
        z, total, exact = np.zeros(3), 0.0, []
        for _ in range(101):
            z[2], total = 2 * (1 - z[0]) + total, total + step * (1 - z[0])
            exact.append(z.copy())
            z = transition @ z
        for method in ("jfm", "missiles", "jacobi", "gauss_seidel", "extripol", "monolithic"):
            with self.subTest(method=method):
                run = simulate(SAMPLED, "-cosim_type", method, "-cosim_step", 0.05)
                rows = [np.argmin(np.abs(run.time - step * k)) for k in range(101)]
                np.testing.assert_allclose(run.states["plant.x"][rows], [z[0] for z in exact],
                                           atol=1e-9)
                np.testing.assert_allclose(run.outputs["controller.u"][rows],
                                           [z[2] for z in exact], atol=1e-8)

    def test_stick_slip(self):
        exact = stick_slip_instants(30.0)
        self.assertGreater(len(exact), 3)
        for method in ("jfm", "missiles", "monolithic"):
            with self.subTest(method=method):
                run = simulate(STICK_SLIP, "-cosim_type", method, "-cosim_step", 0.02)
                self.assert_instants(run, exact, 1e-7)


    def test_drive(self):
        """Saturated four times; the stop is close behind the last one."""
        stop = 1.95
        exact = Drive().end(stop)
        errors = []
        for step in (0.01, 0.005):
            run = simulate(DRIVE, "-cosim_type", "jfm", "-cosim_step", step, "-cosim_stop", stop,
                           *TIGHT)
            end = [run.states[f"motor.{name}"][-1] for name in ("position", "speed")]
            errors.append(np.max(np.abs(end - exact)))
        self.assertLess(errors[0], 3e-5)
        self.assertLess(errors[1], errors[0] / 13)
        self.assertGreater(errors[1], errors[0] / 19)


class Orders(Models):
    EXACT = RelayFlow().end(6.0)

    def order(self, *options, steps=(0.1, 0.05, 0.025)):
        model = self.model(RELAY)
        errors = []
        for step in steps:
            run = simulate(model, *options, "-cosim_step", step, *TIGHT)
            end = [run.states[name][-1] for name in ("swing.x", "swing.v", "lag.y")]
            errors.append(np.max(np.abs(end - self.EXACT)))
        return errors, np.log2(errors[0] / errors[-1]) / (len(errors) - 1)

    def test_implicit(self):
        for method in ("jfm", "missiles", "ifosmondi"):
            with self.subTest(method=method):
                errors, order = self.order("-cosim_type", method)
                self.assertLess(errors[-1], 5e-9)
                self.assertGreater(order, 3.8)
                self.assertLess(order, 4.2)

    def test_quintic(self):
        for method in ("jfm6", "missiles6"):
            with self.subTest(method=method):
                errors, order = self.order("-cosim_type", method, "-subsystem_rtol", "1e-13",
                                           steps=(0.4, 0.2, 0.1))
                self.assertLess(errors[-1], 2e-11)
                self.assertGreater(order, 5.5)

    def test_collocation(self):
        for kind, k, order_of in (("gauss", 2, 4), ("gauss", 3, 6), ("radau", 3, 5)):
            with self.subTest(kind=kind, k=k):
                errors, order = self.order("-cosim_type", kind, "-cosim_nodes", k, steps=(0.4, 0.2, 0.1))
                self.assertGreater(order, order_of - 0.3)
                self.assertLess(order, order_of + 0.3)

    def test_explicit(self):
        for k in (0, 1, 2):
            with self.subTest(k=k):
                _, order = self.order("-cosim_type", "jacobi", "-cosim_hold", "extrapolate",
                                      "-cosim_hold_order", k, steps=(0.1, 0.05, 0.025, 0.0125))
                self.assertGreater(order, k + 1 - 0.35)
                self.assertLess(order, k + 1 + 0.35)

    def test_reference(self):
        errors, _ = self.order("-cosim_type", "monolithic", steps=(0.2, 0.1))
        self.assertLess(max(errors), 1e-11)

    def test_step_control(self):
        for tolerance in (1e-4, 1e-7):
            run = simulate(self.model(RELAY), "-cosim_type", "jfm", "-cosim_adapt", "predictor",
                           "-cosim_adapt_rtol", tolerance)
            end = [run.states[name][-1] for name in ("swing.x", "swing.v", "lag.y")]
            self.assertLess(np.max(np.abs(end - self.EXACT)), 5 * tolerance)


class HeldInputs(ModelTest):
    """What is held between communication points moves all the same: conditions at an instant are looked at with the
    slopes of what feeds them, so that explicit methods find the events that others find."""
    COLLISION = """
experiment: {start: 0, stop: 6}
subsystems:
  a: {equations: {parameters: {m: 1, k: 4}, inputs: {xb: 3, vb: 0, mb: 2}, states: {x: 0, v: 2}, derivatives: {x: v, v: "-k*(x - 0.5)/m"},
      when: [{condition: x > xb - 0.4, set: {v: v - 2*mb/(m + mb)*(v - vb)}}], outputs: {x: x, v: v, m: m}}}
  b: {equations: {parameters: {m: 2, k: 3}, inputs: {xa: 0, va: 0, ma: 1}, states: {x: 1.6, v: 0}, derivatives: {x: v, v: "-k*(x - 1.6)/m"},
      when: [{condition: xa > x - 0.4, set: {v: v - 2*ma/(m + ma)*(v - va)}}], outputs: {x: x, v: v, m: m}}}
connections: [a.x -> b.xa, a.v -> b.va, a.m -> b.ma, b.x -> a.xb, b.v -> a.vb, b.m -> a.mb]
"""
    FROM_THE_THRESHOLD = """
experiment: {start: 0, stop: 5}
subsystems:
  mass: {equations: {inputs: {F: 0}, states: {x: 0, v: 1}, derivatives: {x: v, v: -30*x - 0.3*v + F}, outputs: {x: x, v: v}}}
  pulse: {equations: {inputs: {x: 0, v: 1}, discrete: {on: 0, until: 0, size: 0}, outputs: {F: on*size},
          when: [{condition: x > 0, set: {on: 1, until: t + 0.1*abs(v), size: 1.5*v}}, {condition: t > until, set: {on: 0}}]}}
connections: [mass.x -> pulse.x, mass.v -> pulse.v, pulse.F -> mass.F]
"""
    KINDS = (("jacobi",), ("gauss_seidel",), ("kuebler_schiehlen",), ("ifosmondi", "-cosim_hold", "zoh"),
             ("jfm", "-cosim_hold", "zoh"))
    BALLS = """
experiment: {start: 0, stop: 3}
subsystems:
  a: {equations: {inputs: {xo: 1, vo: 1}, states: {x: 0, v: 2}, derivatives: {x: v, v: 0},
      when: [{condition: x > xo - 0.1, set: {v: vo}}], outputs: {x: x, v: v}}}
  b: {equations: {inputs: {xo: 0, vo: 2}, states: {x: 1, v: 1}, derivatives: {x: v, v: 0},
      when: [{condition: x < xo + 0.1, set: {v: vo}}], outputs: {x: x, v: v}}}
connections: [a.x -> b.xo, a.v -> b.vo, b.x -> a.xo, b.v -> a.vo]
"""

    def agree(self, text, events, output, largest):
        model = self.model(text)
        rows = ("-cosim_output_interval", 0.0317)
        exact = simulate(model, "-cosim_type", "monolithic", "-cosim_accuracy", 1e-9, *rows)
        self.assertEqual(len(exact.event_times), events)
        for kind in self.KINDS:
            with self.subTest(kind=kind):
                found = simulate(model, "-cosim_type", *kind, "-cosim_step", 1e-3, *rows)
                self.assertEqual(found.happened, exact.happened)
                self.assertLess(np.max(np.abs(found.event_times - exact.event_times)), largest)
                self.assertLess(np.max(np.abs(found.outputs[output] - exact.outputs[output])), largest)

    def test_two_collide(self):
        """At the instant each has a condition on both."""
        self.agree(self.COLLISION, 6, "b.x", 1e-5)

    def test_two_meet_at_a_communication_point(self):
        """Where the macro-step ends by itself, and what is held from its begin on had crossed there."""
        self.agree(self.BALLS, 2, "b.x", 1e-8)

    def test_begins_at_a_threshold(self):
        """What holds right behind the start does not act there."""
        self.agree(self.FROM_THE_THRESHOLD, 16, "mass.x", 1e-3)


class ErrorsOfInstants(ModelTest):
    """A late event is told where conditions are looked at with what inputs are fed, which the coupling leaves a
    little of: under holds without slopes that hid it."""
    LEVELS = """
experiment: {start: 0, stop: 10}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {x: x}}}
  b: {equations: {inputs: {x: 1}, discrete: {s: 0}, states: {y: 0}, derivatives: {y: 10*(s - y)},
      when: [{condition: x < 0.3, set: {s: 1}}, {condition: x > 0.7, set: {s: 0}}], outputs: {y: y}}}
connections: [a.x -> b.x, b.y -> a.u]
"""

    def test_are_told(self):
        model, rows = self.model(self.LEVELS), ("-cosim_output_interval", 0.010031)
        exact = simulate(model, "-cosim_type", "monolithic", "-cosim_accuracy", 1e-9, *rows)
        for kind in (("kuebler_schiehlen",), ("ifosmondi", "-cosim_hold", "foh"), ("ifosmondi",)):
            with self.subTest(kind=kind):
                found = simulate(model, "-cosim_type", *kind, "-cosim_step", 0.01, *rows)
                self.assertEqual(found.happened, exact.happened)
                shift = np.max(np.abs(found.event_times - exact.event_times))
                error = np.max(np.abs(found.outputs["b.y"] - exact.outputs["b.y"]))
                print(*kind, "error", error, "estimate", found.error_estimate, "instants", shift)
                self.assertGreater(found.error_estimate, error / 3)
                self.assertLess(found.error_estimate, 5 * error)


class Ranks(Models):
    def test_agree(self):
        for method in ("jfm", "missiles", "jacobi", "gauss_seidel", "monolithic", "gauss"):
            alone = simulate(self.model(RELAY), "-cosim_type", method, "-cosim_step", 0.1)
            for ranks in in_short((2, 3), 2, len(method)):
                with self.subTest(method=method, ranks=ranks):
                    run = simulate(self.model(RELAY), "-cosim_type", method, "-cosim_step", 0.1,
                                   ranks=ranks)
                    np.testing.assert_allclose(run.time, alone.time, atol=1e-12)
                    np.testing.assert_allclose(run.outputs.values, alone.outputs.values,
                                               atol=1e-12)

    def test_left_limits_of_who_has_no_outputs(self):
        """A sink, alone on its rank: what it was fed with and had before its state jumped."""
        model = self.model("""
experiment: {stop: 1}
subsystems:
  source: {equations: {outputs: {y: "t > 0.512 ? 3 : 1"}}}
  sink:
    equations:
      inputs: {u: 0}
      states: {x: 0}
      derivatives: {x: u}
      when: [{condition: u > 2, set: {x: x + 10}}]
connections: [source.y -> sink.u]
""")
        for ranks in (1, 2):
            path = self.folder / f"{ranks}.h5"
            run = run_here(model, "-cosim_step", 0.1, "-cosim_output", path, ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stderr)
            with self.subTest(ranks=ranks), h5py.File(path) as file:
                np.testing.assert_allclose(file["events/states"][:], 0.512, atol=1e-12)
                np.testing.assert_allclose(file["events/inputs"][:], 1.0, atol=1e-12)
                row = list(file["time"][:]).index(file["events/time"][0])
                self.assertAlmostEqual(file["states/values"][row, 0], 10.512, delta=1e-12)

    def test_three_parts_on_five_ranks(self):
        alone = simulate(THERMOSTAT, "-cosim_step", 0.1, "-cosim_stop", 20)
        run = simulate(THERMOSTAT, "-cosim_step", 0.1, "-cosim_stop", 20, ranks=5)
        np.testing.assert_allclose(run.time, alone.time, atol=1e-12)
        np.testing.assert_allclose(run.outputs.values, alone.outputs.values, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
