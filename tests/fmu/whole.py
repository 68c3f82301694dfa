"""Whole models exported as FMUs: the bits of `concord run`, for any importer."""
import math
import shutil
import unittest

import numpy as np

from concord_runs import EXAMPLES, TWO_MASS, simulate, write_model
from whole_fmus import DISCARD, ERROR, OK, WholeFmu, WholeTest, ramp_model


class Bits(WholeTest):
    def test_communication_steps_are_the_macro_steps(self):
        options = ("-cosim_step", 1 / 64, "-cosim_type", "jfm")
        run = simulate(TWO_MASS, *options)
        for version in (2, 3):
            fmu = self.of(TWO_MASS, *options, version=version)
            self.assertEqual(fmu.start(), OK, fmu.messages)
            rows = [fmu.get(*run.outputs.names)]
            for begin, end in zip(run.time[:-1], run.time[1:]):
                self.assertEqual(fmu.step(begin, end - begin), OK, fmu.messages)
                rows.append(fmu.get(*run.outputs.names))
            self.assertTrue(np.array_equal(rows, run.outputs.values))
            self.assertEqual(fmu("Terminate"), OK)
            self.assertEqual(fmu.messages, [])

    def one_step(self, model, version):
        """From the start to the stop: macro-steps are the run's, whatever controls them."""
        run = simulate(model)
        fmu = self.of(model, version=version)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        names = [name for name in run.outputs.names if not name.startswith("delay_")]  # of what stands in a connection
        self.assertEqual(fmu.get(*names), [run.outputs[name][0] for name in names])
        self.assertEqual(fmu.step(run.time[0], run.time[-1] - run.time[0]), OK, fmu.messages)
        self.assertEqual(fmu.get(*names), [run.outputs[name][-1] for name in names])
        self.assertEqual(fmu.get(*(f"mass.{name}" for name in ("x", "hits")
                                   if f"mass.{name}" in fmu.references)),
                         [run.outputs[name][-1] for name in run.outputs.names if name in
                          ("mass.x", "mass.hits")])
        states = [name for name in run.states.names if name in fmu.references and
                  name not in run.outputs.names]
        self.assertEqual(fmu.get(*states), [run.states[name][-1] for name in states])
        return fmu

    def test_adaptive_ones_and_events(self):
        self.one_step(EXAMPLES / "thermostat" / "thermostat.yaml", 3)

    def test_constraints(self):
        self.one_step(EXAMPLES / "constraint_pair" / "constraint_pair.yaml", 2)

    def test_tables_maps_vectors_and_delays(self):
        fmu = self.one_step(self.mapped(), 3)
        for name in ("rod.T[20]", "mass.v_state", "parameters.gain", "mass.push"):
            self.assertIn(name, fmu.references)

    def test_state_and_output_of_one_name(self):
        fmu = self.of(self.mapped())
        self.assertEqual(fmu.start(mass__v_state=0.25), OK, fmu.messages)
        self.assertEqual(fmu.get("mass.v_state", "mass.v"), [0.25, 0.75])
        self.assertEqual(fmu.step(0, 0.5), OK)
        state, output = fmu.get("mass.v_state", "mass.v")
        self.assertAlmostEqual(output, 3 * state, delta=1e-12)

    def test_estimate(self):
        """It covers the error that is there."""
        exact = simulate(TWO_MASS, "-cosim_accuracy", 1e-9)
        fmu = self.of(TWO_MASS)
        fmu.start()
        fmu.step(0, 2)
        [value, estimate] = fmu.get("left.x", "error_estimate")
        error = abs(value - exact.outputs["left.x"][-1]) / np.ptp(exact.outputs["left.x"])
        self.assertLess(error, estimate)
        self.assertLess(estimate, 1e-4)


class States(WholeTest):
    def test_round_trips(self):
        for model, version in ((TWO_MASS, 2), (EXAMPLES / "thermostat" / "thermostat.yaml", 3)):
            folder = self.exported(model, version=version)
            fmu, other, new = (self.instance(folder) for _ in range(3))
            outputs = [name for name, v in fmu.variables.items() if v.get("causality") == "output"]
            h = 2.0 / 16 if model is TWO_MASS else 40.0
            fmu.start(stop=100 * h)
            fmu.step(0, h)
            state = fmu.state()
            fmu.step(h, 3 * h)
            expected = fmu.get(*outputs)
            for _ in range(2):
                self.assertEqual(fmu.go_back(state), OK)
                self.assertEqual(fmu.get("time"), [h])
                self.assertEqual(fmu.step(h, 3 * h), OK)
                self.assertEqual(fmu.get(*outputs), expected)
            content = fmu.bytes_of(state)
            other.start(stop=100 * h)
            other.step(0, 5 * h)
            for one in (other, new):
                read = one.state_of(content)
                self.assertEqual(one.go_back(read), OK, one.messages)
                self.assertEqual(one.step(h, 3 * h), OK)
                self.assertEqual(one.get(*outputs), expected)
                self.assertEqual(one.forget(read), OK)
            self.assertEqual(fmu.forget(state), OK)
            self.broken(fmu, content)

    def broken(self, fmu, content):
        for wrong in (content[:5], content[:-1], content[:90] + bytes([content[90] ^ 1]) + content[91:]):
            self.assertIsNone(fmu.state_of(wrong))
            self.assertEqual(self.says(fmu, "no state that this FMU has serialised"), ERROR)

    def test_before_and_behind_initialisation(self):
        fmu = self.of(TWO_MASS)
        fmu.set(left__m=6.0)
        before = fmu.state()
        self.assertEqual(fmu.start(), OK)
        fmu.step(0, 1)
        expected = fmu.get("left.x")
        self.assertEqual(fmu.go_back(before), OK)
        self.assertEqual(fmu.set(left__m=7.0), OK)
        self.assertEqual(fmu.go_back(before), OK)
        self.assertEqual(fmu.start(), OK)
        fmu.step(0, 1)
        self.assertEqual(fmu.get("left.x", "left.m"), expected + [6.0])
        self.assertEqual(fmu("Reset"), OK)
        self.assertEqual(fmu.get("left.m"), [5.0])

    def test_many_in_one_process(self):
        folder = self.exported(TWO_MASS)
        fmus = [self.instance(folder) for _ in range(3)]
        for mass, fmu in zip((5, 6, 5), fmus):
            fmu.start(left__m=mass)
        for k in range(8):
            for fmu in fmus:
                self.assertEqual(fmu.step(k / 8, 1 / 8), OK)
        first, second, third = (fmu.get("left.x") for fmu in fmus)
        self.assertEqual(first, third)
        self.assertNotEqual(first, second)

    def test_of_what_cannot_be_saved(self):
        """An FMU inside that keeps no states."""
        self.build("left", 2, capabilities=("variable",))
        model = write_model(self.folder, "inner", "experiment: {start: 0, stop: 1}\n"
                            "subsystems: {left: {fmu: left.fmu}}\n")
        folder = self.exported(model, "-cosim_step", 0.125, "-cosim_type", "jacobi",
                               says="can be neither saved nor restored")
        fmu = self.instance(folder)
        self.assertNotIn("canGetAndSetFMUstate", fmu.root.find("CoSimulation").attrib)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertIsNone(fmu.state())
        self.assertEqual(self.says(fmu, "left", "no snapshot can be taken"), ERROR)
        self.assertEqual(fmu.step(0, 1), OK, fmu.messages)
        self.assertEqual(fmu.step(1, 1), ERROR)
        self.says(fmu, "behind the model's own stop time 1 s", "say the stop time")


class Values(WholeTest):
    def test_parameters_and_starts_are_those_of_set(self):
        model = self.mapped()
        given = {"mass.m": 1.5, "parameters.gain": 2.5, "mass.x": 0.25, "rod.T[3]": 1.0, "mass.push": 0.125,
                 "mass.hits": 4.0}
        run = simulate(model, *(word for name, value in given.items()
                                for word in ("--set", f"{name}={value}")))
        fmu = self.of(model, version=3)
        self.assertEqual(fmu.set(given), OK, fmu.messages)
        self.assertEqual(fmu.get(*given), list(given.values()))
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[0]))
        self.assertEqual(fmu.step(0, 4), OK)
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[-1]))

    def test_initialisation_follows_what_is_set(self):
        fmu = self.of(ramp_model(self.folder))
        fmu.begin()
        self.assertEqual(fmu.get("a.x", "a.y"), [0, 1])
        self.assertEqual(fmu.set({"a.u": 3.0, "a.x": 2.0}), OK)
        self.assertEqual(fmu.get("a.x", "a.y"), [2, 5])
        self.assertEqual(fmu("ExitInitializationMode"), OK)
        self.assertEqual(fmu.get("a.x", "a.y", "a.u"), [2, 5, 3])

    def test_inputs_hold_from_then_on(self):
        fmu = self.of(ramp_model(self.folder), version=3)
        fmu.start()
        x, z = 0.0, 0.0
        for k in range(16):
            u = math.sin(k)
            self.assertEqual(fmu.set({"a.u": u}), OK, fmu.messages)
            self.assertEqual(fmu.get("a.u"), [u])
            self.assertEqual(fmu.step(k / 8, 1 / 8), OK, fmu.messages)
            decay = math.exp(-1 / 8)  # z' = w - z, w = x + u t
            z = (z - x + u) * decay + (x + u / 8) - u
            x += u / 8
            self.assertAlmostEqual(fmu.get("a.x")[0], x, delta=1e-12)
            self.assertAlmostEqual(fmu.get("b.z")[0], z, delta=2e-5)
            self.assertAlmostEqual(fmu.get("a.y")[0], x + u, delta=1e-12)

    def test_what_is_set_again_is_no_event(self):
        model = ramp_model(self.folder)
        folder = self.exported(model, "-cosim_step", 0.125)
        fmu, other = self.instance(folder), self.instance(folder)
        for one in (fmu, other):
            one.start()
        for k in range(16):
            fmu.set({"a.u": 1.0})
            fmu.step(k / 8, 1 / 8)
            other.step(k / 8, 1 / 8)
            self.assertEqual(fmu.get("a.x", "b.z"), other.get("a.x", "b.z"))

    def test_tunable_parameters(self):
        fmu = self.of(TWO_MASS)
        self.assertEqual(fmu.variables["left.c"].get("variability"), "tunable")
        fmu.start()
        fmu.step(0, 0.5)
        state = fmu.state()
        fmu.set(left__c=0.0, left__d=0.0, right__c_couple=0.0, right__d_couple=0.0)
        v, x = fmu.get("left.v", "left.x")
        fmu.step(0.5, 0.5)
        self.assertAlmostEqual(fmu.get("left.v")[0], v, delta=1e-9 * abs(v))
        self.assertAlmostEqual(fmu.get("left.x")[0], x + v / 2, delta=1e-9 * abs(x + v / 2))
        fmu.go_back(state)
        self.assertEqual(fmu.get("left.c"), [1e4])
        fmu.forget(state)

    def test_experiment(self):
        """Another start, and steps behind a stop time that nobody has said."""
        fmu = self.of(ramp_model(self.folder))
        self.assertEqual(fmu.start(1.0), OK)
        self.assertEqual(fmu.get("time"), [1])
        for k in range(1, 8):
            self.assertEqual(fmu.step(k, 1), OK, fmu.messages)
        time, x, z = fmu.get("time", "a.x", "b.z")
        self.assertEqual(time, 8)
        self.assertAlmostEqual(x, 7, delta=1e-9)
        self.assertAlmostEqual(z, 6 + math.exp(-7), delta=1e-3)

    def test_tolerance_is_the_accuracy(self):
        folder = self.exported(TWO_MASS)
        fine = simulate(TWO_MASS, "-cosim_accuracy", 1e-7)
        fmu = self.instance(folder)
        fmu.start(tolerance=1e-7)
        fmu.step(0, 2)
        self.assertEqual(fmu.get("left.x")[0], fine.outputs["left.x"][-1])

    def test_set_at_the_export(self):
        run = simulate(TWO_MASS, "--set", "left.m=6", "-cosim_type", "missiles", "-cosim_step", 1e-2)
        fmu = self.of(TWO_MASS, "--set", "left.m=6", "-cosim_type", "missiles", "-cosim_step", 1e-2)
        fmu.start()
        self.assertEqual(fmu.get("left.m"), [6])
        fmu.step(0, 2)
        self.assertEqual(fmu.get("left.x")[0], run.outputs["left.x"][-1])


class Wrong(WholeTest):
    """Everything is told by the importer's logger, in Concord's words."""

    def test_a_run_that_fails_and_begins_anew(self):
        for version in (2, 3):
            fmu = self.of(TWO_MASS, version=version)
            self.assertEqual(fmu.start(left__m=0.0), ERROR)
            self.assertEqual(self.says(fmu, "subsystem 'left': derivative of state 'v' is inf at t = 0 s",
                                       "two_mass.yaml:12"), ERROR)
            self.assertEqual(fmu.try_get("right.f")[0], ERROR)
            self.says(fmu, "has failed; reset it")
            self.assertEqual(fmu.step(0, 1), ERROR)
            self.says(fmu, "has failed; reset it")
            self.assertEqual(fmu("Reset"), OK)
            self.assertEqual(fmu.start(), OK)
            self.assertEqual(fmu.step(0, 1), OK)

    def test_one_that_fails_on_the_way(self):
        model = write_model(self.folder, "pole", """
experiment: {start: 0, stop: 2}
subsystems:
  a: {equations: {states: {x: 1}, derivatives: {x: x^2}, outputs: {x: x}}}
  b: {equations: {inputs: {u: 0}, states: {z: 0}, derivatives: {z: u - z}, outputs: {z: z}}}
connections: [a.x -> b.u]
""")
        fmu = self.of(model)
        fmu.start()
        self.assertEqual(fmu.step(0, 0.5), OK)
        state = fmu.state()
        self.assertEqual(fmu.step(0.5, 1), ERROR)
        self.says(fmu, "DoStep: t = 1 s: the run has diverged: subsystem 'a', output 'x'")
        self.assertEqual(fmu.go_back(state), OK)
        self.assertEqual(fmu.step(0.5, 0.25), OK)
        self.assertAlmostEqual(fmu.get("a.x")[0], 4.0, delta=1e-4)

    def test_calls(self):
        for version in (2, 3):
            fmu = self.of(TWO_MASS, version=version)
            for call, says in (
                    (lambda: fmu.step(0, 1), "steps come after initialisation"),
                    (lambda: fmu("Terminate"), "it ends what was initialised"),
                    (lambda: fmu.begin(1.0, 0.5), "the stop time 0.5 does not lie behind the start time 1"),
                    (lambda: fmu.begin(math.nan), "the start time nan"),
                    (lambda: fmu.set(left__m=math.nan), "'left.m' cannot be set to nan"),
                    (lambda: fmu.set(right__f=1.0), "'right.f' is computed"),
                    (lambda: fmu.try_get("right.f")[0], "'right.f' has no value yet")):
                self.assertEqual(call(), ERROR)
                self.says(fmu, says)
            self.assertEqual(fmu.start(0.0, 2.0), OK)
            fmu.references["nobody"] = 999
            for call, says in (
                    (lambda: fmu.step(0.5, 1), "begins at t = 0.5 s, and the FMU is at t = 0 s"),
                    (lambda: fmu.step(0, -1), "a step of -1 s"), (lambda: fmu.step(0, 0), "a step of 0 s"),
                    (lambda: fmu.step(0, math.inf), "a step of inf"), (lambda: fmu.step(0, 3), "behind the stop"),
                    (lambda: fmu.set(left__x=1.0), "only until initialisation ends"),
                    (lambda: fmu.try_get("nobody")[0], "no variable with the value reference 999"),
                    (lambda: fmu("ExitInitializationMode"), "initialisation has to begin first")):
                self.assertEqual(call(), ERROR)
                self.says(fmu, says)
            self.assertEqual(fmu.step(0, 2), OK)

    def test_instances(self):
        for version in (2, 3):
            folder = self.folder / f"unpacked{version}"
            shutil.copytree(self.exported(TWO_MASS, version=version), folder)
            wrong = WholeFmu(folder, token="{x}")
            self.assertIsNone(wrong.instance)
            self.says(wrong, "Instantiate", "'{x}' is not this FMU's")
            shutil.rmtree(folder / "resources" / "model")
            fmu = self.instance(folder)
            self.assertEqual(fmu.start(), ERROR)
            self.says(fmu, "two_mass.yaml: there is no such file")
            (folder / "resources" / "concord.json").write_text("{", encoding="utf-8")
            wrong = WholeFmu(folder)
            self.assertIsNone(wrong.instance)
            self.says(wrong, "concord.json: is not what 'concord export-fmu' has written")

    def test_the_end_that_a_subsystem_asks_for(self):
        for version in (2, 3):
            self.build("left", version, behaviour="ends")
            folder = self.exported(self.model(("left",)), "-cosim_step", 1e-2, "-cosim_type", "jacobi",
                                   version=version, says="no output error_estimate")
            fmu = self.instance(folder)
            self.assertEqual(fmu.start(), OK, fmu.messages)
            status = fmu.step(0, 1)
            [time] = fmu.get("time")
            self.assertGreater(time, 0.48)
            self.assertLess(time, 0.52)
            if version == 2:
                self.assertEqual(status, DISCARD)
                self.says(fmu, "'left'", "terminateSimulation")
                self.assertEqual(fmu.ended(), (True, time))
            else:
                self.assertEqual((status, fmu.told[1].value, fmu.last_time.value), (OK, True, time))
            self.assertEqual(fmu.step(time, 1), ERROR)
            self.assertEqual(fmu("Terminate"), OK)

    def test_an_estimate_that_misses_the_accuracy_is_told(self):
        fmu = self.of(TWO_MASS, "-cosim_type", "jacobi", "-cosim_step", 1e-3)
        fmu.start()
        self.assertEqual(fmu.step(0, 2), OK)
        self.assertEqual(self.says(fmu, "the estimated error, 0.", "take a smaller -cosim_step"), 1)
        self.assertGreater(fmu.get("error_estimate")[0], 0.1)


if __name__ == "__main__":
    unittest.main()
