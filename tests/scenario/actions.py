"""Each action against a model with the same thing written in."""
import unittest

import numpy as np
from concord_runs import TIGHT, in_short, simulate
from scenario_models import CAR, PARTS, ScenarioTest

METHODS = ("jfm", "missiles", "gauss", "jacobi", "gauss_seidel", "monolithic")
GRID = (*TIGHT, "-cosim_step", 0.25, "-cosim_output_interval", 0.125)
NAMES = ("car.v", "filter.x")


def between(source, target, parts):
    """The model with a subsystem `fault` in the place of a connection."""
    links = ["car.v -> sensor.u", "sensor.y -> filter.u"]
    if source:
        links.remove(f"{source} -> {target}")
        links.append(f"{source} -> fault.u")
    links.append(f"fault.y -> {target}")
    return PARTS + f"  fault: {{equations: {parts}}}\nconnections: [{', '.join(links)}]\n"


def fed(outputs, more=""):
    return "{inputs: {u: 0.5}, " + more + "outputs: {y: \"" + outputs + "\"}}"


WHILE = "discrete: {kept: 0, on: 0, end: 0}, "
CASES = {
    "set": (["{at: 1, set: {car.pedal: 0.5}}", "{at: 7, set: {car.pedal: \"0.05*car.v\"}}"],
            between("", "car.pedal", "{inputs: {v: 0}, discrete: {p: 0.2}, when: [{condition: t >= 1, set: {p: 0.5}}, "
                    "{condition: t >= 7, set: {p: 0.05*v}}], outputs: {y: p}}")
            .replace("connections: [", "connections: [car.v -> fault.v, ")),
    "set_for_a_while": (["{at: 1, for: 2, set: {car.pedal: 0.5}}"],
                        between("", "car.pedal", "{outputs: {y: \"t >= 1 && t < 3 ? 0.5 : 0.2\"}}")),
    "ramp": (["{at: 2, for: 2, ramp: {car.pedal: 1}}", "{at: 11, for: 4, ramp: {car.pedal: 0.25}}",
              "{at: 13, set: {car.pedal: 0}}"],
             between("", "car.pedal", "{outputs: {y: \"t < 2 ? 0.2 : t < 4 ? 0.2 + 0.4*(t - 2) : t < 11 ? 1 : t < 13 ? "
                     "1 - 0.75/4*(t - 11) : 0\"}}")),
    "override": (["{at: 5, for: 1, override: {filter.u: 0}}", "{at: 8, until: 9, override: {filter.u: \"sin(t)\"}}"],
                 between("sensor.y", "filter.u", fed("t >= 5 && t < 6 ? 0 : t >= 8 && t < 9 ? sin(t) : u"))),
    "offset": (["{at: 3, for: 1.5, offset: {sensor.y: 0.1}}", "{at: 4, offset: {sensor.y: \"0.01*(t - 4)\"}}"],
               between("sensor.y", "filter.u", fed("u + (t >= 3 && t < 4.5 ? 0.1 : 0) + (t >= 4 ? 0.01*(t - 4) : 0)"))),
    "freeze": (["{at: 1.7, for: 3.1, freeze: filter.u}"],
               between("sensor.y", "filter.u",
                       fed("on ? kept : u", WHILE + "when: [{condition: t >= 1.7, set: {kept: u, on: 1}}, "
                           "{condition: t >= 4.8, set: {on: 0}}], "))),
    "drop": (["{at: 7, for: 1, drop: sensor.y}"],
             between("sensor.y", "filter.u", fed("t >= 7 && t < 8 ? 0.5 : u"))),
    "when": (["{when: car.v > 1.5, for: 1, override: {filter.u: 0}}"],
             between("sensor.y", "filter.u",
                     "{inputs: {u: 0, v: 0}, " + WHILE + "when: [{condition: v > 1.5, set: {on: 1, end: t + 1}}, "
                     "{condition: on && t >= end, set: {on: 0}}], outputs: {y: \"on ? 0 : u\"}}")
             .replace("connections: [", "connections: [car.v -> fault.v, ")),
    "parameter": (["{at: 6, set: {car.k: 0.4}}", "{at: 10, for: 2, ramp: {car.k: 0.1}}"],
                  between("", "car.k", "{outputs: {y: \"t < 6 ? 0.2 : t < 10 ? 0.4 : t < 12 ? 0.4 - 0.15*(t - 10) : "
                          "0.1\"}}").replace("parameters: {k: 0.2}", "").replace("pedal: 0.2}", "pedal: 0.2, k: 0.2}")),
}


class WrittenIn(ScenarioTest):
    def require_same(self, name, *options):
        actions, model = CASES[name]
        acted = self.acted(actions, *options)
        expected = simulate(self.model(model), *options)
        np.testing.assert_array_equal(acted.time, expected.time)
        for variable in NAMES:
            np.testing.assert_allclose(acted.outputs[variable], expected.outputs[variable], 0, 1e-10)

    def test_by_every_action(self):
        for number, name in enumerate(CASES):
            for method in in_short(METHODS, 3, number):
                with self.subTest(action=name, method=method):
                    self.require_same(name, *GRID, "-cosim_type", method)

    def test_by_accuracy(self):
        for name in ("ramp", "freeze"):
            with self.subTest(action=name):
                self.require_same(name, "-cosim_accuracy", 1e-6, *GRID[-2:])


class ClosedForms(ScenarioTest):
    def test_a_set_pedal(self):
        run = self.acted(["{at: 10, set: {car.pedal: 0.5}}"], *TIGHT, "-cosim_step", 1)
        late = run.time >= 10
        before = 2 - np.exp(-0.2 * run.time)
        after = 5 + (2 - np.exp(-2) - 5) * np.exp(-0.2 * (run.time - 10))
        np.testing.assert_allclose(run.outputs["car.v"], np.where(late, after, before), 0, 1e-10)

    def test_the_instant_of_a_condition(self):
        run = self.acted(["{when: car.v > 1.5, override: {filter.u: 0}}"], *TIGHT, "-cosim_step", 0.1)
        self.assertAlmostEqual(run.event_times[0], 5 * np.log(2), 7)

    def test_what_was_before_the_start_has_happened(self):
        run = self.acted(["{at: 2, for: 4, ramp: {car.pedal: 1}}", "{at: 1, for: 1, override: {filter.u: 9}}"],
                         "-cosim_start", 4, "-cosim_stop", 8, *GRID[:-2])
        pedal = run.inputs["car.pedal"]
        np.testing.assert_allclose(pedal, np.minimum(0.2 + 0.2 * (run.time - 2), 1), 0, 1e-12)
        self.assertNotIn(9, run.inputs["filter.u"])

    def test_a_condition_acts_each_time(self):
        model = ("experiment: {stop: 20}\nsubsystems:\n  wave: {equations: {outputs: {y: sin(t)}}}\n"
                 "  count: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u}, outputs: {x: x}}}\n"
                 "connections: [wave.y -> count.u]\n")
        run = self.acted(["{when: wave.y > 0.5, for: 0.25, override: {count.u: 100}}"], *GRID, model=model)
        begins = np.arcsin(0.5) + 2 * np.pi * np.arange(4)
        inside = sum((run.time >= b) & (run.time < b + 0.25) for b in begins) > 0
        np.testing.assert_array_equal(run.inputs["count.u"] == 100, inside)

    def test_once(self):
        run = self.acted(["{when: sin(t) > 0.5, once: true, set: {car.pedal: \"t\"}}"], *GRID)
        np.testing.assert_allclose(run.inputs["car.pedal"], np.where(run.time < np.pi / 6, 0.2, np.pi / 6), 0, 1e-9)

    def test_true_at_the_start(self):
        for initially, value in (("false", 0), ("true", 9)):
            run = self.acted([f"{{when: car.v > 0.5, initially: {initially}, override: {{filter.u: 9}}}}"],
                             "-cosim_stop", 2)
            self.assertEqual(run.inputs["filter.u"][-1] == 9, value == 9)

    def test_patterns_stand_for_all(self):
        run = self.acted(["{at: 0, override: {\"*.u\": 3}}"], "-cosim_stop", 2)
        for name in ("sensor.u", "filter.u"):
            np.testing.assert_array_equal(run.inputs[name], 3)


class Noise(ScenarioTest):
    ACTION = "{at: 0, noise: {sensor.y: 0.25}, every: 0.01, seed: %d}"
    OPTIONS = ("-cosim_step", 0.01, "-cosim_stop", 20)

    def noise(self, *options, seed=7, **how):
        run = self.acted([self.ACTION % seed], *self.OPTIONS, *options, **how)
        return (run.outputs["scenario_sensor_y.y"] - run.outputs["sensor.y"])[:-1]

    def test_normally_distributed(self):
        drawn = self.noise() / 0.25
        count = len(drawn)
        self.assertGreaterEqual(count, 2000)
        self.assertLess(abs(np.mean(drawn)), 4 / np.sqrt(count))
        self.assertLess(abs(np.mean(drawn ** 2) - 1), 4 * np.sqrt(2 / count))
        self.assertLess(abs(np.mean(drawn ** 4) - 3), 4 * np.sqrt(96 / count))
        self.assertLess(abs(np.mean(drawn[1:] * drawn[:-1])), 4 / np.sqrt(count))

    def test_by_the_seed_alone(self):
        short = ("-cosim_stop", 1)
        first = self.noise(*short)
        np.testing.assert_allclose(self.noise(*short, "-cosim_type", "jacobi", ranks=2), first, 0, 1e-12)
        self.assertGreater(np.max(np.abs(self.noise(*short, seed=8) - first)), 0.1)

    def test_held_between_ticks(self):
        run = self.acted(["{at: 1, for: 2, noise: {sensor.y: 0.1}, every: 0.5}"], "-cosim_step", 0.125,
                         "-cosim_stop", 4)
        noise = run.outputs["scenario_sensor_y.y"] - run.outputs["sensor.y"]
        ticks = np.floor((run.time - 1) / 0.5 + 1e-9)
        on = (run.time >= 1) & (run.time < 3 - 1e-9)
        self.assertLess(np.max(np.abs(noise[~on])), 1e-14)
        levels = [np.unique(np.round(noise[on & (ticks == tick)], 12)) for tick in range(4)]
        self.assertEqual([len(level) for level in levels], [1, 1, 1, 1])
        self.assertEqual(len(np.unique(levels)), 4)


if __name__ == "__main__":
    unittest.main()
