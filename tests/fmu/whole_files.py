"""What FMUs of whole models carry, and how Concord itself runs them."""
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

from concord_runs import TWO_MASS, execute, simulate, write_model
from fmu_runs import FmuTest
from whole_fmus import OK, WholeTest, ramp_model


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
        root = self.of(ramp_model(self.folder)).root
        names = [v.get("name") for v in root.find("ModelVariables")]
        found = {names[int(unknown.get("index")) - 1]: unknown.get("dependencies").split()
                 for unknown in root.find("ModelStructure/Outputs")}
        self.assertEqual(found, {"a.x": [], "a.y": [str(names.index("a.u") + 1)], "b.z": [],
                                 "error_estimate": []})


class Libraries(WholeTest):
    def test_it_runs_on_what_it_carries(self):
        """All that its instance loads in a fresh process lies in its folder, but for the C library."""
        options = ("-cosim_step", 1e-2)
        run = simulate(TWO_MASS, *options)
        for version in (2, 3):
            folder = self.exported(TWO_MASS, "--with-libraries", *options, version=version)
            words = [sys.executable, "-B", str(Path(__file__).with_name("whole_libraries.py")), str(folder),
                     *run.outputs.names]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout)
            self.assertEqual(told["outside"], [])
            self.assertGreater(told["inside"], 50)
            self.assertEqual(told["values"], list(run.outputs.values[-1]))


class Code(WholeTest):
    """Code of others runs in processes of its own, whose program the archive brings along."""

    def check(self, model, *files, version=2):
        options = ("-cosim_step", 1 / 64, "-cosim_type", "jfm")
        run = simulate(model, *options)
        folder = self.exported(model, *options, version=version)
        for file in files:
            file.unlink()
        [host] = (folder / "binaries" / "bin").glob("concord_subsystem_host")
        host.chmod(0o644)  # as many importers unpack it
        fmu = self.instance(folder)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        outputs = run.outputs.names
        self.assertEqual(fmu.get(*outputs), list(run.outputs.values[0]))
        middle, last = run.time[len(run.time) // 2], run.time[-1]
        self.assertEqual(fmu.step(0, middle), OK, fmu.messages)
        state = fmu.state()
        self.assertEqual(fmu.step(middle, last - middle), OK, fmu.messages)
        self.assertEqual(fmu.get(*outputs), list(run.outputs.values[-1]))
        if state is not None:
            self.assertEqual(fmu.go_back(state), OK)
            self.assertEqual(fmu.step(middle, last - middle), OK, fmu.messages)
            self.assertEqual(fmu.get(*outputs), list(run.outputs.values[-1]))
            fmu.forget(state)
        return fmu

    def test_native(self):
        library = self.folder / "libcart.so"
        shutil.copy(os.environ["NATIVE_TEST_SUBSYSTEMS"], library)
        model = write_model(
            self.folder, "cart", "experiment: {start: 0, stop: 0.5}\nsubsystems:\n"
            "  a: {native: {library: libcart.so, type: cart}, start: {x: 0.5}}\n"
            "  b: {equations: {inputs: {x: 0}, states: {z: 0}, derivatives: {z: x - z}, "
            "outputs: {f: 1 - z - 3*x}}}\nconnections: [a.x -> b.x, b.f -> a.force]\n")
        for version in (2, 3):
            self.check(model, version=version)
        fmu = self.check(model, library)
        self.assertEqual(fmu.variables["a.x"].find("Real").get("start"), "0.5")

    def test_isolated_fmu(self):
        execute("export-fmu", TWO_MASS, "left", "-o", self.folder / "left.fmu")
        model = write_model(self.folder, "apart", "experiment: {start: 0, stop: 0.5}\nsubsystems:\n"
                            "  left: {fmu: left.fmu, isolated: true}\n"
                            "  b: {equations: {inputs: {x: 1}, states: {z: 0}, derivatives: {z: x - z}, "
                            "outputs: {f: 9*z}}}\nconnections: [left.x -> b.x, b.f -> left.f]\n")
        self.check(model, self.folder / "left.fmu", version=3)

    def test_python(self):
        driver = self.folder / "driver.py"
        driver.write_text("""
class Driver:
    inputs = {"v": 0.0}
    states = {"x": 1.0}
    outputs = ("a",)
    parameters = {"k": 2.0}

    def derivatives(self, t, x, u):
        return [u.v - self.k * x.x]

    def outputs_at(self, t, x):
        return [3 * x.x]
""", encoding="utf-8")
        model = write_model(self.folder, "ride", """
experiment: {stop: 1}
subsystems:
  driver: {python: {file: driver.py, class: Driver}, parameters: {k: 3}, start: {x: 0.5}}
  car: {equations: {inputs: {a: 0}, states: {v: 20}, derivatives: {v: -a - 0.1*v}, outputs: {v: v}}}
connections: [car.v -> driver.v, driver.a -> car.a]
""")
        self.check(model, driver)

    def test_compiled_into_the_program(self):
        model = write_model(self.folder, "within", "experiment: {stop: 1}\nsubsystems:\n"
                            "  a: {native: {type: nothing}}\n")
        run = execute("export-fmu", model)
        self.assertEqual(run.returncode, 2)
        self.assertIn("nothing", run.stderr)


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
