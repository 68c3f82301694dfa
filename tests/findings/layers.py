"""Findings 1.5, 1.8: fast layers at fixed macro-steps, stiff subsystems in short macro-steps."""
import unittest

import numpy as np
from concord_runs import ModelTest, simulate
from equation_models import Model, Subsystem
from kinds import Kinds, errors, run


def layer(rate, size=1.0, start=0.0):
    """A subsystem of this rate (1/s) that starts off its equilibrium 0.67 - 0.3 y feeds a slow one."""
    return Model(
        [Subsystem("fast", {"x": start * size}, {"x": f"{rate!r}*({0.67 * size!r} - 0.3*y - x)"},
                   {"x": "x"}, {"y": 0.0}),
         Subsystem("slow", {"y": 0.0}, {"y": "u - y"}, {"y": "y"}, {"u": 0.0})],
        [("fast.x", "slow.u"), ("slow.y", "fast.y")])


class InitialLayer(Kinds, unittest.TestCase):
    """1.5: below 0.5 % of the slow signal, and of the fast one behind the layer."""
    METHODS = ("jfm", "missiles", "ifosmondi")

    def check(self, rate, step, **start):
        for method in self.METHODS:
            with self.subTest(method=method, rate=rate, step=step, **start):
                model = layer(rate, **start)
                done = run(model, f"-cosim_type {method} -cosim_step {step}")
                self.assertTrue(done.completed, done.reason)
                worst = errors(model, done.results, fastest=rate)
                print(f"{method} rate {rate:g}, h = {step}, {start}: {worst}")
                self.assertLess(worst.max(), 5e-3)

    def test_rate_of_ten_thousand(self):
        self.check(1e4, 0.025)

    def test_other_rates_and_steps(self):
        for rate, step in ((1e3, 0.025), (1e5, 0.025), (1e4, 0.01), (3e3, 0.05), (1e6, 0.02),
                           (1.3e6, 0.02), (3e6, 0.025)):
            self.check(rate, step)

    def test_other_units_and_starts(self):
        for size in (1e-9, 1e9):
            self.check(1e4, 0.025, size=size)
        self.check(1e4, 0.025, start=-1.0)
        self.check(1e4, 0.025, start=3.0, size=1e-6)

    def test_layer_after_an_event(self):
        """The same layer in the middle of the run, after an event."""
        model = layer(1e4)
        fast = model.subsystems[0]
        fast.states["x"] = 0.67
        fast.derivatives["x"] = "1e4*((t >= 0.5)*0.4 + 0.67 - 0.3*y - x)"
        model.events = [0.5]
        for method in self.METHODS:
            with self.subTest(method=method):
                done = run(model, f"-cosim_type {method} -cosim_step 0.025")
                self.assertTrue(done.completed, done.reason)
                worst = errors(model, done.results, fastest=1e4)
                print(f"{method} after an event: {worst}")
                self.assertLess(worst.max(), 5e-3)


SWINGS = """
experiment: {start: 0, stop: 40}
templates:
  source:
    equations:
      parameters: {rate: 2, part: 1, phase: 0}
      states: {a: sin(phase), va: rate*cos(phase), b: 0, vb: 2.5}
      derivatives: {a: va, va: -rate^2*a, b: vb, vb: -6.25*b}
      outputs: {y: part*a + b}
  lag: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: 5*(u - x)}, outputs: {x: x}}}
subsystems:
  source:
    template: source
    repeat: {i: [1, 40]}
    parameters: {rate: 1.5 + 0.083*i, part: "0.5 + mod(0.618*i, 1)", phase: "6.28*mod(0.414*i, 1)"}
  lag: {template: lag, repeat: {i: [1, 40]}}
connections: [{connect: "source[i].y -> lag[i].u", repeat: {i: [1, 40]}}]
"""


class Swings(ModelTest):
    """A signal that comes back to where it was within a macro-step is in no layer."""

    def test_inputs_are_joined(self):
        for method in ("jfm", "missiles", "jfm6", "missiles6"):
            for step in (0.2, 0.3):
                run = simulate(self.model(SWINGS), "-cosim_type", method, "-cosim_step", step,
                               "-cosim_record", "outputs,inputs,polynomials")
                polynomials, sizes = run.inputs.polynomials, np.diff(run.time)[:, None]
                ends = sum(polynomials[:, :, p]*sizes**p for p in range(polynomials.shape[2]))
                with self.subTest(method=method, step=step):
                    np.testing.assert_allclose(polynomials[1:, :, 0], ends[:-1], atol=1e-9)


def stiff(rate, size=1.0):
    """A stiff subsystem that follows a slow oscillation, nonlinearly."""
    return Model(
        [Subsystem("fast", {"x": size, "w": 0.0},
                   {"x": f"-{rate!r}*(x - u - 0.3*x^3/{size**2!r})", "w": "x - w"},
                   {"y": "x + 0.1*w"}, {"u": size}),
         Subsystem("slow", {"p": 0.6 * size, "v": 0.0}, {"p": "v", "v": "-4*p - 0.2*y"},
                   {"y": "p"}, {"y": 0.0})],
        [("fast.y", "slow.y"), ("slow.y", "fast.u")], stop=2.0)


class StiffSubsystems(Kinds, unittest.TestCase):
    """1.8: shorter macro-steps don't make a stiff subsystem worse."""

    def error(self, options, rate, size, step):
        model = stiff(rate, size)
        done = run(model, options, f"-cosim_step {step}")
        self.assertTrue(done.completed, done.reason)
        return errors(model, done.results, fastest=rate).max()

    def check(self, options, allowed):
        for rate, size in ((1e4, 1.0), (1e5, 1e-8)):
            with self.subTest(options=options, rate=rate, size=size):
                found = [self.error(options, rate, size, h) for h in (0.1, 0.01, 8e-4)]
                print(f"{options} rate {rate:g} size {size:g}: {found}")
                self.assertLess(found[2], max(3 * found[1], allowed))
                self.assertLess(found[2], allowed)

    def test_cvode_bdf(self):
        self.check("-cosim_type jfm -subsystem_integrator cvode_bdf -subsystem_rtol 1e-6", 3e-4)

    def test_dirk(self):
        self.check("-cosim_type jfm -subsystem_integrator dirk -subsystem_rtol 1e-6", 1e-4)

    def test_auto(self):
        self.check("-cosim_type jfm -subsystem_rtol 1e-6", 1e-4)

    def test_what_grows_beyond_numbers(self):
        """Where f still is a number, and its differences are none, a macro-step comes to an end."""
        model = Model(
            [Subsystem("a", {"v": 1e-3}, {"v": "1000*(1 - x^2)*v - x"}, {"v": "v"}, {"x": 0.0}),
             Subsystem("b", {"z": 0.0}, {"z": "-1e4*z + 0*v"}, {"x": "1.5 - t/20 + z"}, {"v": 0.0})],
            [("b.x", "a.x"), ("a.v", "b.v")], stop=36.0)
        done = run(model, "-cosim_type jfm -cosim_step 36 -subsystem_integrator dirk")
        self.assertEqual(done.code, 1, done.reason)
        self.assertIn("does not converge", done.reason)


if __name__ == "__main__":
    unittest.main()
