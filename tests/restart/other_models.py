"""A run goes on with the model that it began with: every file of it counts, wherever it lies."""
import hashlib
import os
import shutil
import unittest
import unittest.mock
import zipfile

import fmu_factory
import h5py
from concord_runs import execute
from restart_runs import RestartTest
from ssp import TWO_MASSES, VALUES

STRUCTURE = TWO_MASSES.replace("{version}", "1.0").replace("{stop}", "2")
MODEL = """include: [parts/more.yaml]
experiment: {start: 0, stop: 1}
subsystems:
  road: {table: {file: road.csv}}
  motor: {fmu: motor.fmu, start: {f: 1}}
  cart: {native: {library: carts.so, type: cart}, start: {force: 0}}
connections: [road.z -> cell.u]
"""
MORE = """subsystems:
  cell: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {y: x}}}
  lane: {table: {file: lane.csv}}
"""
SAVED = dict(kinds=("me",), capabilities=("state", "serialize", "variable", "directional"))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class OtherModels(RestartTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "model"
        (self.place / "parts").mkdir(parents=True)

    def written(self):
        """A model of all kinds of files, and the file of its parameters."""
        (self.place / "model.yaml").write_text(MODEL)
        (self.place / "parts" / "more.yaml").write_text(MORE)
        for path in (self.place / "road.csv", self.place / "parts" / "lane.csv"):
            path.write_text("t,z\n0,0\n0.25,1\n0.6,-1\n1,2\n")
        shutil.copy(os.environ["NATIVE_TEST_SUBSYSTEMS"], self.place / "carts.so")
        fmu_factory.build(self.place, "left", 2, name="motor", **SAVED)
        (self.place / "values.csv").write_text("cell.x,0.5\n")
        return self.place / "model.yaml"

    def run_it(self, model, *options, name="parts"):
        return execute("run", model, *self.options(name, "-cosim_step", 0.01, *options))

    def stopped(self, model, *options):
        run = self.run_it(model, *options, "-cosim_time_limit", 1e-3)
        self.assertEqual(run.returncode, 3, run.stderr)

    def refused(self, run, *says):
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in ("belongs to another model", *says):
            self.assertIn(text, run.stderr)

    def refuses_each(self, files, model, *options):
        """One byte more in any of the files; a moved folder with the files as they were goes on."""
        self.stopped(model, *options)
        again = (*options, "-cosim_restart", "auto")
        for role, path in files:
            with self.subTest(file=path.name):
                before = path.read_bytes()
                path.write_bytes(before + b"\n")
                self.refused(self.run_it(model, *again), f"the {role} '{path}' has changed")
                path.write_bytes(before)
        moved = self.folder / "moved"
        self.place.rename(moved)
        again = [moved / word.name if word in (self.place / "values.csv", self.place / "in.csv")
                 else word for word in again]
        run = self.run_it(moved / model.name, *again)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("goes on from", run.stderr)

    def test_every_file_counts(self):
        model = self.written()
        values = self.place / "values.csv"
        files = (("model file", model), ("included file", self.place / "parts" / "more.yaml"),
                 ("table", self.place / "road.csv"), ("table", self.place / "parts" / "lane.csv"),
                 ("FMU", self.place / "motor.fmu"), ("library", self.place / "carts.so"),
                 ("file of parameters", values))
        self.refuses_each(files, model, "--parameters", values)

    def test_two_files_at_once(self):
        model = self.written()
        self.stopped(model)
        for name in ("road.csv", "parts/lane.csv"):
            with open(self.place / name, "a", encoding="utf-8") as file:
                file.write("2,2\n")
        self.refused(self.run_it(model, "-cosim_restart", "auto"), "road.csv' has changed",
                     "lane.csv' has changed")

    def test_other_values(self):
        model = self.written()
        self.stopped(model, "--set", "cell.x=0.25")
        self.refused(self.run_it(model, "--set", "cell.x=0.75", "-cosim_restart", "auto"),
                     "other values of --set: cell.x=0.25 then, cell.x=0.75 now")
        self.refused(self.run_it(model, "-cosim_restart", "auto"), "cell.x=0.25 then, none now")
        self.refused(self.run_it(model, "--set", "cell.x=0.25", "--parameters",
                                 self.place / "values.csv", "-cosim_restart", "auto"),
                     "the file of parameters", "values.csv' was not there")

    def test_an_fmu_alone(self):
        fmu = fmu_factory.build(self.place, "left", 2, name="motor", **SAVED)
        inputs = self.place / "in.csv"
        inputs.write_text("time,f\n0,0\n1,3\n")
        self.refuses_each((("FMU", fmu), ("input file", inputs)), fmu, "--input-file", inputs)

    def test_start_values_of_an_fmu_alone(self):
        fmu = fmu_factory.build(self.place, "left", 2, name="motor", **SAVED)
        self.stopped(fmu, "--start-value", "m", 6)
        self.refused(self.run_it(fmu, "--start-value", "m", 7, "-cosim_restart", "auto"),
                     "motor.m=6 then, motor.m=7 now")

    def package(self):
        path = self.place / "masses.ssp"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("SystemStructure.ssd", STRUCTURE)
            archive.writestr("resources/values.ssv", VALUES)
            for part in ("left", "right"):
                archive.write(fmu_factory.build(self.folder, part, 2, **SAVED),
                              f"resources/{part}.fmu")
        return path

    def test_ssp(self):
        package = self.package()
        self.refuses_each((("model file", package),), package)
        with h5py.File(self.folder / "parts.h5") as file:
            self.assertEqual(file.attrs["model_text"], STRUCTURE)
            names = [name.decode() for name in file["files/name"]]
        self.assertEqual(names, [str(package), *(f"{package}/{name}" for name in (
            "SystemStructure.ssd", "resources/left.fmu", "resources/right.fmu",
            "resources/values.ssv"))])

    def test_a_description_alone(self):
        with zipfile.ZipFile(self.package()) as archive:
            archive.extractall(self.place)
        resources = self.place / "resources"
        self.refuses_each((("model file", self.place / "SystemStructure.ssd"),
                           ("SSP file", resources / "values.ssv"), ("FMU", resources / "left.fmu"),
                           ("FMU", resources / "right.fmu")), self.place / "SystemStructure.ssd")

    def test_a_library_that_is_searched_for(self):
        """Isolated, only its own process knows where it was found."""
        shutil.copy(os.environ["NATIVE_TEST_SUBSYSTEMS"], self.folder / "libsearched.so")
        model = self.place / "model.yaml"
        model.write_text("experiment: {stop: 1}\nsubsystems:\n  cart: {native: {library: "
                         "libsearched.so, type: cart}, start: {force: 0}}\n")
        found = {}
        with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(self.folder)):
            for isolated in ("false", "true"):
                run = self.run_it(model, "-subsystem_isolated", isolated, name=isolated)
                self.assertEqual(run.returncode, 0, run.stderr)
                with h5py.File(self.folder / f"{isolated}.h5") as file:
                    found[isolated] = [(name.decode(), sha.decode()) for name, sha in zip(
                        file["files/name"], file["files/sha256"]) if b"searched" in name][0]
        library = self.folder / "libsearched.so"
        self.assertEqual(found["false"], (str(library), sha256(library)))
        self.assertEqual(found["true"][0], "libsearched.so")
        self.assertIn("not known", found["true"][1])

    def test_the_results_file_says_the_same(self):
        model = self.written()
        values = self.place / "values.csv"
        run = self.run_it(model, "--parameters", values, name="whole")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "whole.h5") as file:
            found = {name.decode(): (role.decode(), sha.decode()) for name, role, sha in zip(
                file["files/name"], file["files/role"], file["files/sha256"])}
        wanted = {model: "model file", self.place / "parts" / "more.yaml": "included file",
                  self.place / "road.csv": "table", self.place / "parts" / "lane.csv": "table",
                  self.place / "motor.fmu": "FMU", self.place / "carts.so": "library",
                  values: "file of parameters"}
        self.assertEqual(found, {str(path): (role, sha256(path)) for path, role in wanted.items()})


if __name__ == "__main__":
    unittest.main()
