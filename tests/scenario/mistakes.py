"""Scenarios with mistakes: exit code 2, one error with place, value and remedy."""
import unittest

from concord_runs import execute
from scenario_models import CAR, ScenarioTest

LINE = "scenario.yaml:2: "
MISTAKES = {
    "{set: {car.pedal: 1}}": ("needs either 'at', a time in s, or 'when', a condition",),
    "{at: 1, when: t > 1, set: {car.pedal: 1}}": ("needs either 'at'",),
    "{at: 1}": ("does nothing", "one of set, ramp, override, offset, freeze, drop, noise"),
    "{at: 1, set: {car.pedal: 1}, drop: sensor.y}": ("has both 'set' and 'drop'", "make two actions"),
    "{at: 1, sets: {car.pedal: 1}}": ("unknown key 'sets'", "did you mean 'set'?"),
    "{at: soon, set: {car.pedal: 1}}": ("'at' of the action", "'soon'"),
    "{at: 1, for: -2, set: {car.pedal: 1}}": ("'for' of the action", "greater than 0, not -2"),
    "{at: 1, for: 2, until: 3, set: {car.pedal: 1}}": ("'until'", "beside 'for'"),
    "{at: 4, until: 3, set: {car.pedal: 1}}": ("'until'", "behind 4 s"),
    "{at: 1, initially: true, set: {car.pedal: 1}}": ("'initially'", "belongs to 'when'"),
    "{at: 1, once: true, set: {car.pedal: 1}}": ("'once'", "belongs to 'when'"),
    "{at: 1, set: {car.pedel: 1}}": ("no 'car.pedel'", "did you mean 'car.pedal'?"),
    "{at: 1, set: {pedal: 1}}": ("'subsystem.variable', not 'pedal'",),
    "{at: 1, set: {filter.u: 1}}": ("'filter.u' is fed by 'sensor.y'", "use override"),
    "{at: 1, set: {filter.x: 1}}": ("'filter.x' is an output", "use override"),
    "{at: 1, freeze: filter.x}": ("'filter.x' is an output that feeds no input",),
    "{at: 1, freeze: []}": ("names nothing that it acts on",),
    "{at: 1, drop: \"*.z\"}": ("the pattern stands for nothing",),
    "{at: 1, ramp: {car.pedal: 1}}": ("lacks 'for'", "add for: 5"),
    "{at: 1, set: {car.pedal: 2 +}}": ("the value", "2 +"),
    "{at: 1, set: {car.pedal: \"car.w\"}}": ("the value", "car.w", "did you mean 'car.v'?"),
    "{when: v > 2, set: {car.pedal: 1}}": ("the condition", "'v'"),
    "{when: car.pedal > 2, drop: sensor.y}": ("'car.pedal' is an input that nothing feeds",),
    "{at: 1, noise: {sensor.y: 0.1}}": ("lacks 'every'", "add every: 0.1"),
    "{at: 1, noise: {sensor.y: -0.1}, every: 1}": ("standard deviation", "'-0.1'"),
    "{at: 1, noise: {sensor.y: 0.1}, every: 1, seed: 0.5}": ("'seed'", "whole number", "0.5"),
    "{at: 1, noise: {sensor.y: 0.1}, every: 1e-9}": ("every 1e-09 s", "give a larger 'every'"),
    "{at: 1, every: 1, drop: sensor.y}": ("'every'", "belongs to 'noise'"),
    "{at: 1, set: {unused.p: 1}}": ("no expression of 'unused' names 'p'",),
}
MODEL = CAR.replace("connections", "  unused: {equations: {parameters: {p: 1}, outputs: {y: t}}}\nconnections")


class Mistakes(ScenarioTest):
    def refuse(self, run, *says):
        self.assertEqual(run.returncode, 2, run.stderr)
        errors = run.stderr.strip().splitlines()
        self.assertEqual(len([line for line in errors if line.startswith("concord: error: ")]), 1, run.stderr)
        for part in says:
            self.assertIn(part, run.stderr)

    def test_each_is_one_error(self):
        for number, (action, says) in enumerate(MISTAKES.items()):
            with self.subTest(action=action):
                command = ("run", "check")[number % 2]
                self.refuse(self.execute(command, [action], model=MODEL), LINE, *says)

    def test_on_several_ranks(self):
        self.refuse(self.execute("run", ["{at: 1, set: {car.pedel: 1}}"], ranks=3), LINE, "did you mean")

    def test_files(self):
        scenario = self.scenario()
        for text, says in ((None, "there is no such file"), ("", "scenario.yaml:1: the scenario is empty"),
                           ("action: []", "unknown key 'action' in the scenario; did you mean 'actions'?"),
                           ("name: x", "lacks 'actions'"), ("actions: {at: 1}", "must be a list"),
                           ("actions: [at: 1", "not valid YAML"), ("- 1", "must be a map")):
            with self.subTest(text=text):
                if text is None:
                    scenario.unlink()
                else:
                    scenario.write_text(text, encoding="utf-8")
                self.refuse(execute("run", self.model(CAR), "-cosim_scenario", scenario), says)


if __name__ == "__main__":
    unittest.main()
