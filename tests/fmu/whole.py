"""Whole models exported as FMUs: the bits of `concord run`, for any importer."""
import functools
import json
import math
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np

from concord_runs import EXAMPLES, TWO_MASS, execute, simulate, write_model
from fmu_runs import FmuTest
from whole_fmus import DISCARD, ERROR, OK, WholeFmu, export_whole

MAPPED = """
name: mapped
experiment: {start: 0, stop: 4}
parameters: {gain: 2}
maps:
  torque: {file: data/map.csv, inputs: [speed, pedal], value: torque}
subsystems:
  road: {table: {file: ROAD, after: hold}}
  mass:
    equations:
      parameters: {k: 20*gain, m: 1}
      inputs: {z: 0, push: 0.5}
      states: {x: 0, v: 0}
      discrete: {hits: 0}
      derivatives: {x: v, v: '(k*(z - x) - v + torque(min(abs(v), 9), push))/m'}
      when: [{condition: x > 1, set: {hits: pre(hits) + 1}}]
      outputs: {x: x, v: 3*v, hits: hits}
  rod:
    equations:
      inputs: {left: 0}
      states: {"T[20]": 0}
      derivatives:
        "T[1]": 9*(left - 2*T[1] + T[2])
        "T[i in 2:19]": 9*(T[i-1] - 2*T[i] + T[i+1])
        "T[20]": 9*(T[19] - T[20])
      outputs: {mean: sum(T)/20}
connections: [road.height -> mass.z, mass.x -> rod.left]
"""
RAMP = """
name: ramp
experiment: {start: 0, stop: 2}
subsystems:
  a:
    equations:
      inputs: {u: 1}
      states: {x: 0}
      derivatives: {x: u}
      outputs: {x: x, y: x + u}
  b:
    equations: {inputs: {w: 0}, states: {z: 0}, derivatives: {z: w - z}, outputs: {z: z}}
connections: [a.x -> b.w]
"""


KEPT = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with


@functools.cache
def example(model, version, *options):
    """The unpacked folder of an example, exported once, and what stood on stderr."""
    return export_whole(model, Path(tempfile.mkdtemp(dir=KEPT.name)) / "whole.fmu", *options,
                        version=version)


class WholeTest(FmuTest):
    def setUp(self):
        super().setUp()
        self.living = []

    def tearDown(self):
        for fmu in self.living:
            fmu.free()

    def instance(self, folder, **how):
        fmu = WholeFmu(folder, **how)
        self.assertTrue(fmu.instance, fmu.messages)
        self.living.append(fmu)
        return fmu

    def exported(self, model, *options, version=2, says=""):
        """The unpacked folder."""
        if EXAMPLES in model.parents:
            folder, told = example(model, version, *options)
        else:
            folder, told = export_whole(model, self.folder / "whole.fmu", *options, version=version)
        self.assertIn(says, told)
        if not says:
            self.assertEqual(told, "")
        return folder

    def of(self, model, *options, version=2):
        return self.instance(self.exported(model, *options, version=version))

    def mapped(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "map.csv").write_text(
            "speed,pedal,torque\n0,0,0\n0,1,10\n10,0,-1\n10,1,5\n", encoding="utf-8")
        road = self.folder / "my road.csv"
        road.write_text("time,height\n0,0\n1,0.5\n2,0.2\n3,0.7\n", encoding="utf-8")
        return write_model(self.folder, "mapped", MAPPED.replace("ROAD", f'"{road}"'))

    def says(self, fmu, *texts):
        """The one thing that it has told."""
        self.assertEqual(len(fmu.messages), 1, fmu.messages)
        status, message = fmu.messages.pop()
        for text in texts:
            self.assertIn(text, message)
        return status


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
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[0]))
        self.assertEqual(fmu.step(run.time[0], run.time[-1] - run.time[0]), OK, fmu.messages)
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[-1]))
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

    def test_tables_maps_and_vectors(self):
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
        fmu = self.of(RAMP_MODEL(self.folder))
        fmu.begin()
        self.assertEqual(fmu.get("a.x", "a.y"), [0, 1])
        self.assertEqual(fmu.set({"a.u": 3.0, "a.x": 2.0}), OK)
        self.assertEqual(fmu.get("a.x", "a.y"), [2, 5])
        self.assertEqual(fmu("ExitInitializationMode"), OK)
        self.assertEqual(fmu.get("a.x", "a.y", "a.u"), [2, 5, 3])

    def test_inputs_hold_from_then_on(self):
        fmu = self.of(RAMP_MODEL(self.folder), version=3)
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
        model = RAMP_MODEL(self.folder)
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
        fmu = self.of(RAMP_MODEL(self.folder))
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


def RAMP_MODEL(folder):  # pylint: disable=invalid-name
    return write_model(folder, "ramp", RAMP)


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
        folder = self.exported(EXAMPLES / "servo" / "servo.yaml")
        fmu = self.instance(folder)
        fmu.start()
        fmu.step(0, json.loads((folder / "resources" / "concord.json").read_text())["stop"])
        [status] = [status for status, text in fmu.messages if "estimated error" in text]
        self.assertEqual(status, 1)


class Files(WholeTest):
    def test_the_archive_needs_nothing_outside(self):
        other = self.folder / "models"
        (other / "sub").mkdir(parents=True)
        model = self.mapped()
        part = write_model(other / "sub", "part", "include: [library/sources.yaml]\nsubsystems:\n"
                           "  again: {table: {file: '../../my road.csv'}}\n")
        text = model.read_text(encoding="utf-8").replace("data/map.csv", "../data/map.csv")
        moved = write_model(other, "moved", f"include: [sub/part.yaml, {model.parent}/more.yaml]\n" + text)
        write_model(self.folder, "more", "parameters: {more: 1}\n")
        run = simulate(moved)
        folder = self.exported(moved)
        shutil.rmtree(self.folder / "data")
        for file in (model, part, moved, self.folder / "my road.csv", self.folder / "more.yaml"):
            file.unlink()
        away = self.folder / "unpacked elsewhere"
        folder.rename(away)
        fmu = self.instance(away)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.step(0, 4), OK)
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[-1]))
        for text in (away / "resources").rglob("*.*"):
            if text.suffix in (".yaml", ".json"):
                self.assertNotIn(str(self.folder), text.read_text(encoding="utf-8"))

    def test_fmus_within(self):
        execute("export-fmu", TWO_MASS, "left", "-o", self.folder / "left.fmu")
        execute("export-fmu", TWO_MASS, "right", "-o", self.folder / "right.fmu", "--fmi", 3)
        model = self.model(("left", "right"))
        text = model.read_text(encoding="utf-8").replace("fmu: right.fmu", f"fmu: {self.folder}/right.fmu")
        model.write_text(text, encoding="utf-8")
        options = ("-cosim_step", 1e-2)
        run = simulate(model, *options)
        folder = self.exported(model, *options)
        for file in ("left.fmu", "right.fmu"):
            (self.folder / file).unlink()
        fmu = self.instance(folder)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.step(0, 2), OK, fmu.messages)
        self.assertEqual(fmu.get(*run.outputs.names), list(run.outputs.values[-1]))

    def test_description(self):
        for version in (2, 3):
            fmu = self.of(self.mapped() if version == 2 else self.folder / "mapped.yaml", version=version)
            names = [(v.get("name"), v.get("causality"), v.get("variability"), v.get("initial"))
                     for v in fmu.root.find("ModelVariables")]
            for expected in (("time", "independent", "continuous", None),
                             ("mass.push", "input", "continuous", None),
                             ("mass.x", "output", "continuous", "exact"),
                             ("mass.v", "output", "continuous", "calculated"),
                             ("mass.hits", "output", "discrete", "exact"),
                             ("mass.v_state", "local", "continuous", "exact"),
                             ("rod.T[20]", "local", "continuous", "exact"),
                             ("parameters.gain", "parameter", "fixed", "exact"),
                             ("mass.k", "parameter", "tunable", "exact"),
                             ("error_estimate", "output", "discrete", "calculated")):
                self.assertIn(expected, names)
            self.assertNotIn("mass.z", [name for name, *_ in names])
            experiment = fmu.root.find("DefaultExperiment").attrib
            self.assertEqual(experiment, {"startTime": "0", "stopTime": "4", "tolerance": "1e-04"})
            self.assertEqual(fmu.root.get("variableNamingConvention"), "structured")

    def test_dependencies(self):
        """Only what depends on an input at once says so."""
        root = self.of(RAMP_MODEL(self.folder)).root
        names = [v.get("name") for v in root.find("ModelVariables")]
        found = {names[int(unknown.get("index")) - 1]: unknown.get("dependencies").split()
                 for unknown in root.find("ModelStructure/Outputs")}
        self.assertEqual(found, {"a.x": [], "a.y": [str(names.index("a.u") + 1)], "b.z": [],
                                 "error_estimate": []})


class Coupled(FmuTest):
    """Concord runs what it has exported."""

    def export(self, name, *options, model=None, version=2):
        run = execute("export-fmu", model or self.folder / f"{name}.yaml", "-o", self.folder / f"{name}.fmu",
                      "--fmi", version, *options)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_alone(self):
        options = ("-cosim_step", 1 / 64)
        expected = simulate(TWO_MASS, *options)
        for version in (2, 3):
            self.export("whole", "-cosim_step", 1 / 64, model=TWO_MASS, version=version)
            run = simulate(self.folder / "whole.fmu", *options)
            for name in expected.outputs.names:
                self.assertTrue(np.array_equal(run.outputs["whole." + name], expected.outputs[name]))

    def test_checked(self):
        self.export("whole", model=TWO_MASS)
        check = execute("check", self.folder / "whole.fmu", "--probe")
        self.assertEqual(check.returncode, 0, check.stderr)
        for line in ("rollback: claimed; the same step after a restore gives the same bits",
                     "a new process goes on from the state with the same bits"):
            self.assertIn(line, check.stdout)

    def test_in_another_model_on_several_ranks(self):
        """The second of the two masses; the first, with a mass of its own, is a whole model."""
        text = TWO_MASS.read_text(encoding="utf-8")
        left, right = text[text.index("  left:"):text.index("  right:")], \
            text[text.index("  right:"):text.index("connections:")]
        head = "experiment: {start: 0, stop: 2}\nsubsystems:\n"
        write_model(self.folder, "first", "name: first\n" + head + left)
        self.export("first", version=3)
        model = write_model(self.folder, "both", head + "  first: {fmu: first.fmu}\n" + right + """connections:
  - right.f -> first.left.f
  - first.left.x -> right.x_left
  - first.left.v -> right.v_left
""")
        options = ("-cosim_stop", 0.5, "-cosim_type", "jfm", "-cosim_halving", "none")
        errors = []
        for step in (5e-3, 2.5e-3):
            run = simulate(model, "-cosim_step", step, *options)
            exact = simulate(TWO_MASS, "-cosim_step", step / 10, "-cosim_record_every", 10,
                             *options).outputs["left.x"]
            errors.append(np.abs(run.outputs["first.left.x"] - exact).max() / np.ptp(exact))
        self.assertLess(errors[0], 1e-3)
        self.assertGreater(errors[0] / errors[1], 3)  # held inputs in micro-steps: second order
        self.assertLess(errors[0] / errors[1], 5)
        for ranks in (2, 3):
            again = simulate(model, "-cosim_step", step, *options, ranks=ranks)
            self.assertTrue(np.array_equal(again.outputs.values, run.outputs.values))


if __name__ == "__main__":
    unittest.main()
