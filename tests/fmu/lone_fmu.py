"""`concord run x.fmu` and `concord check x.fmu`: one FMU alone, in the words of FMI tools."""
import csv
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path

import fmu_factory
import numpy as np
import variables
from concord_runs import Results, execute, simulate, write_model
from exported_fmus import export
from fmu_runs import FmuTest

TANK = """experiment: {start: 0, stop: 3}
subsystems:
  tank:
    equations:
      parameters: {k: 2, g: 1}
      inputs: {inflow: 0.5, other: 0}
      states: {level: 1}
      derivatives: {level: k*inflow + other}
      outputs: {level: level, flow: g*inflow}
      units: {level: m}
"""
# A ramp that jumps at t = 1; constant from t = 2 on.
INFLOW = "time,inflow\n0,0\n1,2\n1,-1\n2,1\n"


def exact_level(t):
    """1 plus twice the integral of INFLOW."""
    ramp = np.minimum(t, 1)
    second = np.clip(t - 1, 0, 1)
    return 1 + 2 * (ramp**2 - second + second**2 + np.maximum(t - 2, 0))


class LoneTest(FmuTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.exported = Path(folder.name)
        path = write_model(cls.exported, "tank", TANK)
        for version in (2, 3):
            (cls.exported / f"fmi{version}").mkdir()
            export(path, "tank", cls.exported / f"fmi{version}" / "tank.fmu", "--fmi", version)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.exported, self.folder, dirs_exist_ok=True)
        self.fmus = {version: self.folder / f"fmi{version}" / "tank.fmu" for version in (2, 3)}

    def run_alone(self, fmu, *words, code=0):
        run = execute("run", fmu, *words, "-cosim_output", self.folder / "out.h5")
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def rows(self, fmu, *words):
        """Columns of the CSV file."""
        self.run_alone(fmu, *words, "--output-file", self.folder / "out.csv")
        with open(self.folder / "out.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        return dict(zip(header, np.array(rows, float).T))

    def refused(self, fmu, words, *says, command="run"):
        run = execute(command, fmu, *words)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)


# A valve that opens and shuts.
VALVE = """experiment: {start: 0, stop: 3}
subsystems:
  tank:
    equations:
      inputs: {inflow: 0.5}
      states: {level: 1}
      discrete: {open: 0, n: 0}
      derivatives: {level: inflow - 3*open}
      when:
        - {condition: level > 1.5, set: {open: 1, n: n + 1}}
        - {condition: level < 1.2, set: {open: 0}}
      outputs: {level: level, n: n}
"""
FED = """  source: {table: {file: in.csv, outputs: {inflow: inflow}}}
connections: [source.inflow -> tank.inflow]
"""


class Run(LoneTest):
    def test_words(self):
        """Both versions and interfaces; the experiment, start values and rows that were asked for."""
        for version in (2, 3):
            for interface in ("me", "cs", "ModelExchange", "CoSimulation"):
                columns = self.rows(self.fmus[version], "--interface-type", interface, "--start-time",
                                    "1", "--stop-time", "2", "--output-interval", "0.25",
                                    "--start-value", "k", "3", "--start-values", "level", "-2",
                                    "inflow", "1", "--relative-tolerance", "1e-9")
                self.assertEqual(list(columns), ["time", "level", "flow"])
                self.assertTrue(np.array_equal(columns["time"], [1, 1.25, 1.5, 1.75, 2]))
                error = columns["level"] - (-2 + 3 * (columns["time"] - 1))
                self.assertLess(np.abs(error).max(), 1e-12)

    def test_events_beside_inputs(self):
        """What happens to the FMU happens with inputs from a file, too."""
        (self.folder / "in.csv").write_text("time,inflow\n0,0\n1,2\n2,1\n3,1\n")
        whole = simulate(write_model(self.folder, "whole", VALVE + FED)).outputs
        self.assertEqual(whole["tank.n"][-1], 6)
        valve = write_model(self.folder, "valve", VALVE)
        for version in (2, 3):
            (self.folder / str(version)).mkdir()
            fmu = self.folder / str(version) / "valve.fmu"
            export(valve, "tank", fmu, "--fmi", str(version))
            for interface in ("me", "cs"):
                with self.subTest(version=version, interface=interface):
                    columns = self.rows(fmu, "--interface-type", interface, "--stop-time", "3",
                                        "--input-file", self.folder / "in.csv")
                    self.assertEqual(columns["n"][-1], 6)
                    self.assertAlmostEqual(columns["level"][-1], whole["tank.level"][-1], delta=1e-5)

    def test_inputs(self):
        """Linear between rows, a jump, constant at the end: exact at any distance of the rows."""
        (self.folder / "in.csv").write_text(INFLOW)
        for version in (2, 3):
            for interface in ("me", "cs"):
                for interval in ("0.5", "0.3"):
                    columns = self.rows(self.fmus[version], "--interface-type", interface,
                                        "--input-file", self.folder / "in.csv", "--output-interval",
                                        interval, "--start-value", "other", "0")
                    error = columns["level"] - exact_level(columns["time"])
                    self.assertLess(np.abs(error).max(), 1e-9 if interface == "me" else 1e-3)
                    self.assertEqual(columns["inflow"][-1], 1)

    def test_inputs_under_other_methods(self):
        (self.folder / "in.csv").write_text(INFLOW.replace(",", ";"))
        for method in ("jfm", "gauss_seidel", "ifosmondi"):
            columns = self.rows(self.fmus[2], "--input-file", self.folder / "in.csv", "-cosim_type",
                                method)
            self.assertLess(np.abs(columns["level"] - exact_level(columns["time"])).max(), 1e-9)

    def test_held_inputs(self):
        """Integers stay until the next row."""
        fmu_factory.build(self.folder, "left", 2)  # the compiler's folder is there
        typed = variables.Types()
        typed.folder = self.folder
        typed.typed()
        (self.folder / "in.csv").write_text('"time"\t"n"\n0\t1\n0.5\t4\n1\t7\n')
        columns = self.rows(self.folder / "typed.fmu", "--input-file", self.folder / "in.csv",
                            "--stop-time", "1", "--output-interval", "0.25", "--start-value", "a",
                            "10 20", "--output-variable", "y[2]", "--output-variable", "next")
        self.assertEqual(list(columns), ["time", "y[2]", "next"])
        self.assertTrue(np.array_equal(columns["next"], [2, 2, 2, 5, 5]))
        self.assertTrue(np.array_equal(columns["y[2]"], [21, 21, 21, 24, 24]))

    def test_step_size(self):
        columns = self.rows(self.fmus[2], "--interface-type", "cs", "--step-size", "0.125",
                            "--output-interval", "0.5", "--stop-time", "1")
        self.assertTrue(np.array_equal(columns["time"], [0, 0.5, 1]))
        results = Results(self.folder / "out.h5", self.run_alone(self.fmus[2], "--step-size", "0.5"))
        self.assertEqual(results.steps["size"][0], 0.5)

    def test_the_experiment_of_the_fmu(self):
        columns = self.rows(self.fmus[3])
        self.assertEqual((columns["time"][0], columns["time"][-1]), (0, 3))
        self.assertEqual(len(columns["time"]), 501)

    def test_ranks(self):
        run = execute("run", self.fmus[2], "--stop-time", "1", "--output-file",
                      self.folder / "two.csv", "-cosim_output", self.folder / "two.h5", ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "two.csv").exists())
        run = execute("run", self.fmus[2], "--stop-time", "one", ranks=2)
        self.assertEqual(run.stderr.count("concord: error: "), 1)


class Wrong(LoneTest):
    def test_words(self):
        fmu = self.fmus[2]
        for words, *says in (
                (["--stop-time", "late"], "--stop-time", "'late'", "finite number"),
                (["--stop-time"], "--stop-time", "needs a number"),
                (["--stop-time", "-1"], "not after"),
                (["--output-interval", "0"], "--output-interval", "'0'", "greater than zero"),
                (["--output-interval", "1", "--step-size", "0.3"], "multiple of --step-size"),
                (["--interface-type", "xe"], "'xe'", "ModelExchange"),
                (["--start-value", "k"], "'k' has no value"),
                (["--start-value"], "a name and a value"),
                (["--start-value", "kk", "1"], "'kk'", "names: "),
                (["--start-value", "k", "many"], "'k' must be of type Float64, not 'many'"),
                (["--start-value", "flow", "1"], "'flow'", "output"),
                (["--tolerance", "-1"], "--tolerance", "'-1'"),
                (["--output-variable", "levl"], "'levl'", "level"),
                (["--output-variable", "level"], "--output-file"),
                (["--output-file"], "--output-file", "name of a file"),
                (["--input-file", "gone.csv"], "gone.csv", "cannot be read"),
                (["--stop_time", "1"], "--stop_time", "--stop-time")):
            self.refused(fmu, words, *says)
        self.refused(self.folder / "gone.fmu", [], "gone.fmu: there is no such file")

    def test_input_files(self):
        path = self.folder / "in.csv"
        for text, *says in (("", "in.csv", "is empty"),
                            ("time,inflow\n", "no row"),
                            ("time,infow\n0,1\n", "'infow' is no input", "did you mean 'inflow'"),
                            ("time,level\n0,1\n", "'level' is no input"),
                            ("time,inflow,inflow\n0,1,1\n", "in.csv:1", "twice"),
                            ("0,1\n1,2\n", "in.csv:1", "'1'", "name of a column"),
                            ("time,inflow\n0,1\n1\n", "in.csv:3", "1 fields"),
                            ("time,inflow\n1,1\n0,1\n", "in.csv:3", "before"),
                            ("time,inflow\n0,much\n", "in.csv:2", "'inflow'", "'much'"),
                            ("time,inflow\n0,nan\n", "in.csv:2", "'nan'"),
                            ('time,"inflow\n0,1\n', "in.csv:1", "quote")):
            path.write_text(text)
            self.refused(self.fmus[2], ["--input-file", path], *says)


class Check(LoneTest):
    def test_shows_the_description(self):
        for version in (2, 3):
            run = execute("check", self.fmus[version], "--start-value", "k", "3")
            self.assertEqual(run.returncode, 0, run.stderr)
            for text in (f"FMI version           {version}.0", "used as               model exchange",
                         "model exchange        state", "co-simulation         state",
                         "default experiment    start 0 s, stop 3 s", "states                1",
                         "Float64, parameter, tunable, start 2", "Float64, input, continuous, start 0.5",
                         "output, continuous, unit m", "polynomial inputs yes"):
                self.assertIn(text, run.stdout)

    def test_what_cannot_be_loaded(self):
        """Exit code 2 where the binary is none, whether for an FMU alone or in a model."""
        path = self.fmus[2]
        with zipfile.ZipFile(path) as good:
            text = good.read("modelDescription.xml")
        for content in (b"no library", None):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("modelDescription.xml", text)
                if content:
                    archive.writestr("binaries/linux64/tank.so", content)
            model = write_model(self.folder, "model", "experiment: {stop: 1}\nsubsystems:\n"
                                "  tank: {fmu: fmi2/tank.fmu}\n")
            for checked in (path, model):
                for options in ([], ["--probe"]):
                    self.refused(checked, options,
                                 "cannot be loaded" if content else "has no binary",
                                 command="check")
        run = execute("check", self.fmus[3], "--probe")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("probe:", run.stdout)

    def test_words_before_the_fmu(self):
        fmu = self.fmus[3]
        for before, after in ((["--probe"], []), (["--start-value", "k", "3"], ["--probe"]),
                              (["--probe", "-cosim_type", "jacobi", "--stop-time", "2"], [])):
            run = execute("check", *before, fmu, *after)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, execute("check", fmu, *before, *after).stdout)
            self.assertIn("probe:", run.stdout)


if __name__ == "__main__":
    unittest.main()
