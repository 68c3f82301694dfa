"""Model exchange with events: time, state, step and input events, under every integrator."""
import math
import unittest

import numpy as np
from concord_runs import TIGHT, execute, simulate
from fmu_runs import PAIR, FmuTest, build_parts, model_text

EXCHANGE = dict(kinds=("me",), capabilities=("state", "variable", "step_events"))


def heater(t, q=1.0, low=0.2, high=0.7, start=0.5):
    """Temperature and number of switches at t, from the exact solution between switches."""
    value, on, begin, count = start, True, 0.0, 0
    while True:
        rest, target = (q, high) if on else (0.0, low)
        duration = math.log((value - rest) / (target - rest))
        if begin + duration > t:
            return rest + (value - rest) * math.exp(begin - t), count
        value, on, begin, count = target, not on, begin + duration, count + 1


class Events(FmuTest):
    def alone(self, part, *options, version=2, stop=2, start=0, jumps=False, **how):
        self.build(part, version, **{**EXCHANGE, **how})
        path = self.folder / "model.yaml"
        path.write_text(f"experiment: {{start: {start}, stop: {stop}}}\n"
                        f"subsystems:\n  it: {{fmu: {part}.fmu}}\n")
        return simulate(path, *options, jumps=jumps)


class Time(Events):
    def test_hit_exactly(self):
        """The FMU counts only where its time is the event's to the last bit."""
        for version in (2, 3):
            for step in ("0.07", "0.1", "0.3", "0.65"):
                for method in ("jacobi", "jfm"):
                    results = self.alone("stair", "-cosim_type", method, "-cosim_step", step,
                                         version=version, stop=100)
                    counts = np.floor(results.time / 0.3 + 1e-9)
                    self.assertTrue(np.array_equal(results.outputs["it.count"], counts))

    def test_without_restored_states(self):
        """Methods that repeat macro-steps cannot run an FMU with events that forgets."""
        self.build("stair", kinds=("me",), capabilities=())
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 2}\nsubsystems:\n  it: {fmu: stair.fmu}\n")
        simulate(path, "-cosim_type", "jacobi")
        run = execute("check", path)
        self.assertIn("no rollback: the FMU has events, wants to know of completed steps", run.stdout)


class Inputs(Events):
    """Integers, booleans and discrete reals are set at the instants at which they change."""

    def test_discrete_to_discrete(self):
        for version in (2, 3):
            self.build("stair", version, **EXCHANGE)
            path = self.folder / "model.yaml"
            path.write_text(
                "experiment: {start: 0, stop: 3}\nsubsystems:\n"
                "  a: {fmu: stair.fmu, start: {gain: 2, offset: 0.5}}\n  b: {fmu: stair.fmu}\n"
                "connections:\n  - a.count -> b.gain\n  - a.high -> b.on\n"
                "  - a.level -> b.offset\n")
            for method in ("jacobi", "jfm"):
                results = simulate(path, "-cosim_type", method, "-cosim_step", "0.05")
                count = np.floor(results.time / 0.3 + 1e-9)
                level = np.where(count >= 3, 0.5 + 2 * count + count * count, 0.0)
                self.assertTrue(np.array_equal(results.outputs["a.level"], 0.5 + 2 * count))
                self.assertTrue(np.array_equal(results.outputs["b.level"], level))

    def test_from_equations(self):
        """A real output switches a boolean and an integer: rounded, not cut off."""
        self.build("stair", 3, **EXCHANGE)
        path = self.folder / "model.yaml"
        path.write_text(
            "experiment: {start: 0, stop: 2}\nsubsystems:\n"
            "  s: {equations: {outputs: {on: 't > 1 ? 1 : 0', gain: 1.6 + t/1000}}}\n"
            "  b: {fmu: stair.fmu}\nconnections:\n  - s.on -> b.on\n  - s.gain -> b.gain\n")
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.05")
        self.assertEqual(results.outputs["b.level"][19], 0)
        self.assertEqual(results.outputs["b.level"][-1], 2 * 6)


class State(Events):
    """A stiff model that switches 1.2 times a second."""

    INTEGRATORS = ("erk", "dirk", "cvode_bdf", "cvode_adams", "auto")

    def test_accuracy(self):
        """Also with several events in one macro-step, and with none for long."""
        for integrator in self.INTEGRATORS:
            for step in ("0.01", "1.7"):
                results = self.alone("heater", "-cosim_type", "jacobi", "-cosim_step", step,
                                     "-subsystem_integrator", integrator,
                                     "-subsystem_rtol", "1e-9", "-subsystem_atol", "1e-11",
                                     stop=5.1,
                                     defines=("STIFFNESS=50",))
                exact = np.array([heater(t) for t in results.time])
                switches = [heater(t + 1e-6)[1] for t in results.time]  # right limits
                error = np.abs(results.outputs["it.T"] - exact[:, 0]).max()
                bound = 2e-6 if integrator.startswith("cvode") else 1e-7
                self.assertLess(error, bound, (integrator, step))
                self.assertTrue(np.array_equal(results.outputs["it.switches"], switches))

    def test_stiff(self):
        """cvode_bdf and auto need a small part of erk's work."""
        work = {}
        for integrator in ("erk", "cvode_bdf", "auto"):
            for version in (2, 3):
                results = self.alone("heater", "-cosim_type", "jacobi", "-cosim_step", "0.1",
                                     "-subsystem_integrator", integrator, version=version,
                                     stop=2, defines=("STIFFNESS=1e5",))
                exact = np.array([heater(t)[0] for t in results.time])
                self.assertLess(np.abs(results.outputs["it.T"] - exact).max(), 1e-5)
                work[integrator] = results.subsystems["rhs_evaluations"][0]
        self.assertLess(work["cvode_bdf"], work["erk"] / 100)
        self.assertLess(work["auto"], work["erk"] / 50)

    def test_rollback_gives_the_same_bits(self):
        """Repeating macro-steps because of others changes nothing."""
        for version in (2, 3):
            self.build("ball", version, **EXCHANGE)
            build_parts(self.folder, PAIR, version, kinds=("me",))
            alone = self.folder / "alone.yaml"
            alone.write_text(model_text(("ball",), 1.5))
            together = self.folder / "together.yaml"
            together.write_text(model_text(("ball", *PAIR), 1.5))
            for step in ("0.01", "0.5"):
                once = simulate(alone, "-cosim_type", "jacobi", "-cosim_step", step)
                often = simulate(together, "-cosim_type", "ifosmondi" if step == "0.01" else "jfm",
                                 "-cosim_step", step, "-cosim_max_it", "60", "-cosim_rtol", "1e-10",
                                 "-cosim_predictor", "hold", "-cosim_diverged", "warn")
                self.assertGreater(often.steps["coupling_evaluations"].mean(), 1.5)
                for name in ("ball.h", "ball.v", "ball.bounces"):
                    self.assertTrue(np.array_equal(once.outputs[name], often.outputs[name]))

    def test_chattering(self):
        self.build("chatter", **EXCHANGE)
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 2}\nsubsystems:\n  it: {fmu: chatter.fmu}\n")
        for integrator in ("erk", "cvode_bdf", "auto"):
            run = execute("run", path, "-cosim_type", "jacobi", "-subsystem_integrator", integrator)
            self.assertEqual(run.returncode, 1, run.stderr)
            for text in ("'it'", "events accumulate", "(state event 0)", "t = 0.5"):
                self.assertIn(text, run.stderr)


class Step(Events):
    def test_after_completed_steps(self):
        for version in (2, 3):
            for integrator in ("erk", "cvode_bdf", "auto"):
                results = self.alone("counter", "-cosim_type", "jfm", "-cosim_step", "0.3",
                                     "-subsystem_integrator", integrator, *TIGHT, version=version,
                                     stop=6, jumps=True)
                x, count = results.outputs["it.x"], results.outputs["it.count"]
                self.assertLess(np.abs(x + count - results.time).max(), 1e-10)
                self.assertLess(x.max(), 1.3)
                self.assertGreaterEqual(count[-1], 4)

    def test_not_asked_for(self):
        results = self.alone("counter", "-cosim_type", "jacobi", stop=3,
                             capabilities=("state", "no_step_events"))
        self.assertEqual(results.outputs["it.count"][-1], 0)

    def test_the_model_ends_the_simulation(self):
        for version in (2, 3):
            self.build("stair", version, behaviour="ends", **EXCHANGE)
            path = self.folder / "model.yaml"
            path.write_text("experiment: {start: 0, stop: 2}\nsubsystems:\n  it: {fmu: stair.fmu}\n")
            run = execute("run", path, "-cosim_type", "jacobi")
            self.assertEqual(run.returncode, 3, run.stderr)
            for text in ("'it'", "stair.fmu", "terminateSimulation", "t = 0.6"):
                self.assertIn(text, run.stderr)


if __name__ == "__main__":
    unittest.main()
