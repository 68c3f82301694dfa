#!/usr/bin/python3
"""Event mode of whole models exported as FMUs (FMI 3), against their runs."""
import unittest

import numpy as np

from concord_runs import EXAMPLES, simulate, write_model
from whole_fmus import ERROR, OK, WholeTest

THERMOSTAT = EXAMPLES / "thermostat" / "thermostat.yaml"
COUNTER = """
name: counter
experiment: {start: 0, stop: 1}
subsystems:
  a:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      discrete: {n: 0, kept: 0}
      derivatives: {x: -x}
      when:
        - {condition: u > 0.5, set: {n: pre(n) + 1}}
        - {every: 0.25, offset: 0.25, set: {kept: x}}
      outputs: {x: x, y: x + u, n: n, kept: kept}
  b:
    equations: {inputs: {n: 0}, outputs: {twice: 2*n}}
connections: [a.n -> b.n]
"""


class EventMode(WholeTest):
    def handled(self, fmu):
        """From an event to the next step; the next time that is known."""
        self.assertEqual(fmu("EnterEventMode"), OK, fmu.messages)
        status, time = fmu.update()
        self.assertEqual(status, OK, fmu.messages)
        self.assertEqual(fmu("EnterStepMode"), OK)
        return time

    def begun(self, folder, early_return=True):
        fmu = self.instance(folder, event_mode=True, early_return=early_return)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        return fmu

    def test_events_end_steps_with_both_limits(self):
        """Times, values before and behind, and the end, have the bits of the run; a state that is
        taken in between goes on as its instance does."""
        run = simulate(THERMOSTAT)
        names = run.outputs.names
        folder = self.exported(THERMOSTAT, version=3)
        fmu, other = self.begun(folder), self.begun(folder)
        for one in (fmu, other):
            self.assertEqual(one.update()[0], OK)
            self.assertEqual(one("EnterStepMode"), OK)
        time, events = 0.0, []
        while time < 220:
            self.assertEqual(fmu.step(time, 220 - time), OK, fmu.messages)
            needed, ends, early = (told.value for told in fmu.told)
            time = fmu.last_time.value
            self.assertFalse(ends)
            self.assertEqual((needed, early), (time < 220, time < 220))
            if not needed:
                break
            left = fmu.get(*names)
            kept = fmu.bytes_of(fmu.state())
            self.handled(fmu)
            right = fmu.get(*names)
            events.append((time, left, right))
            if len(events) == 3:
                self.assertEqual(other.go_back(other.state_of(kept)), OK, other.messages)
                self.assertEqual(other.get(*names), left)
                self.handled(other)
                self.assertEqual(other.get(*names), right)
        self.assertEqual([time for time, _, _ in events], list(run.event_times))
        rows = {time: list(row) for time, row in zip(run.time, run.outputs.values)}
        for time, left, right in events:
            self.assertEqual(right, rows[time])
            heat = names.index("thermostat.heat")
            self.assertNotEqual(left[heat], right[heat])
            self.assertEqual(left[1 - heat], right[1 - heat])
        self.assertEqual(fmu.get(*names), list(run.outputs.values[-1]))

    def test_without_early_return(self):
        """What happens within a step is handled inside; what happens at its end is told."""
        run = simulate(THERMOSTAT)
        fmu = self.begun(self.exported(THERMOSTAT, version=3), early_return=False)
        self.assertEqual(fmu("EnterStepMode"), OK)
        self.assertEqual(fmu.step(0, 220), OK, fmu.messages)
        self.assertEqual([told.value for told in fmu.told], [False, False, False])
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[-1]))

    def test_ticks_are_known_ahead(self):
        fmu = self.begun(self.exported(write_model(self.folder, "counter", COUNTER), version=3))
        self.assertEqual(fmu.update(), (OK, 0.25))
        self.assertEqual(fmu("EnterStepMode"), OK)
        for k in range(4):
            self.assertEqual(fmu.step(k / 4, 1 / 4), OK, fmu.messages)
            self.assertEqual([told.value for told in fmu.told], [True, False, False])
            [x, kept] = fmu.get("a.x", "a.kept")
            self.assertNotEqual(x, kept)
            if k < 3:
                self.assertEqual(self.handled(fmu), (k + 2) / 4)
                self.assertEqual(fmu.get("a.x", "a.kept"), [x, x])

    def test_inputs_act_when_discrete_states_are_updated(self):
        """What follows from inputs follows at once; conditions act at the update, once for each rise."""
        fmu = self.begun(self.exported(write_model(self.folder, "counter", COUNTER), version=3))
        for count, u in enumerate((0.75, 0.25, 1.0, 0.0), 1):
            rises = (count + 1) // 2
            self.assertEqual(fmu.set({"a.u": 0.6}), OK)
            self.assertEqual(fmu.set({"a.u": u}), OK)
            self.assertEqual(fmu.get("a.y", "a.u"), [1 + u, u])
            self.assertEqual(fmu.get("a.n"), [count // 2])
            self.assertEqual(fmu.update()[0], OK, fmu.messages)
            self.assertEqual(fmu.get("a.n", "b.twice", "a.y"), [rises, 2 * rises, 1 + u])
            self.assertEqual(fmu.update()[0], OK)
            self.assertEqual(fmu.get("a.n"), [rises])
        self.assertEqual(fmu("EnterStepMode"), OK)
        self.assertEqual(fmu.step(0, 0.125), OK)
        np.testing.assert_allclose(fmu.get("a.x", "a.n"), [np.exp(-0.125), 2], rtol=1e-5)

    def test_refusals(self):
        folder = self.exported(write_model(self.folder, "counter", COUNTER), version=3)
        fmu = self.begun(folder)
        self.assertEqual(fmu.step(0, 0.125), ERROR)
        self.says(fmu, "steps come after initialisation")
        self.assertEqual(fmu("EnterEventMode"), ERROR)
        self.says(fmu, "event mode comes between steps")
        state = fmu.state()
        self.assertEqual(fmu("EnterStepMode"), OK)
        self.assertEqual(fmu.update()[0], ERROR)
        self.says(fmu, "discrete states are updated in event mode")
        self.assertEqual(fmu.step(0, 0.25), OK)
        self.assertEqual(fmu.try_derivative(("a.y",), ("a.u",), (1,))[0], ERROR)
        self.says(fmu, "an event is to be handled first")
        self.handled(fmu)
        self.assertEqual(fmu.derivative(("a.y", "a.x"), ("a.u",), (3,)), [3, 0])
        plain = self.instance(folder)
        self.assertEqual(plain.go_back(plain.state_of(fmu.bytes_of(state))), ERROR)
        self.says(plain, "made without")
        self.assertEqual(plain.start(), OK)
        self.assertEqual(plain("EnterEventMode"), ERROR)
        self.says(plain, "the instance was made without event mode")
        self.assertEqual(plain.step(0, 0.25), OK)
        self.assertEqual([told.value for told in plain.told], [False, False, False])


if __name__ == "__main__":
    unittest.main()
