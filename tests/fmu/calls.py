"""The log of calls of FMUs: every call of a run, in order, up to the one in which it ends."""
import csv
import os
import unittest
import unittest.mock
from itertools import product
from collections import defaultdict
from pathlib import Path

import h5py
import numpy as np
from concord_runs import in_short, run_here
from fmu_runs import FmuTest, model_text

WITNESS = Path(__file__).resolve().parent / "witness" / "witness.c"
COLUMNS = ["time", "rank", "process", "call", "event", "subsystem", "instance", "function",
           "arguments", "status", "microseconds"]
ALL = ("state", "serialize", "variable", "directional", "interpolate", "slopes")
KINDS = [(2, "cs"), (2, "me"), (3, "cs"), (3, "me")]

ANYWHERE = {"GetReal", "SetReal", "GetFMUstate", "SetFMUstate", "FreeFMUstate", "FreeInstance",
            "SerializedFMUstateSize", "SerializeFMUstate", "DeSerializeFMUstate",
            "GetDirectionalDerivative"}
MODEL = {"SetTime", "SetContinuousStates", "GetContinuousStates", "GetDerivatives",
         "GetEventIndicators"}
# FMI 2.0.4, figures of 3.2.3 and 4.2.4: by mode what may be called, and where that leads.
MODES = {
    "instantiated": {"SetReal": "instantiated", "SetInteger": "instantiated",
                     "SetupExperiment": "set up", "FreeInstance": "over"},
    "set up": {"EnterInitializationMode": "initializing", "SetReal": "set up"},
    "initializing": {**dict.fromkeys(ANYWHERE, "initializing"), "FreeInstance": "over",
                     "SetRealInputDerivatives": "initializing",
                     "ExitInitializationMode": ("stepping", "event")},
    "stepping": {**dict.fromkeys(ANYWHERE, "stepping"), "DoStep": "stepping",
                 "SetRealInputDerivatives": "stepping", "GetRealOutputDerivatives": "stepping",
                 "Terminate": "terminated"},
    "event": {**dict.fromkeys(ANYWHERE | MODEL, "event"), "NewDiscreteStates": "event",
              "EnterContinuousTimeMode": "continuous", "Terminate": "terminated"},
    "continuous": {**dict.fromkeys(ANYWHERE | MODEL, "continuous"), "EnterEventMode": "event",
                   "CompletedIntegratorStep": "continuous", "Terminate": "terminated"},
    "terminated": {"FreeFMUstate": "terminated", "FreeInstance": "over", "GetReal": "terminated",
                   "SetFMUstate": "stepping"},
    "over": {},
}


def values_in(arguments, name):
    """"vr=[1 2] value=[0.5 1]" -> the numbers of one name."""
    found = arguments.split(f"{name}=")[1]
    text = found[1:].split("]")[0] if found.startswith("[") else found.split()[0]
    return [float(word) for word in text.split()]


class CallTest(FmuTest):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "calls.csv"
        self.witness = self.folder / "witness.txt"

    def watched(self, part="left", version=2, kind="cs", capabilities=ALL):
        return self.build(part, version, kinds=(kind,), capabilities=capabilities,
                          libraries=("-finstrument-functions", str(WITNESS), "-ldl"))

    def run_logged(self, model, *options, ranks=1, ends=""):
        environment = {"WITNESS": str(self.witness), **({"WITNESS_ENDS": ends} if ends else {})}
        with unittest.mock.patch.dict(os.environ, environment):
            return run_here(model, "-cosim_output", self.folder / "out.h5",
                           "-cosim_fmu_calls", self.log, *options, ranks=ranks)

    def rows(self, path=None):
        with open(path or self.log, newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines[0], COLUMNS)
        self.assertEqual({len(line) for line in lines}, {len(COLUMNS)})
        return [dict(zip(COLUMNS, line)) for line in lines[1:]]

    def calls(self, path=None):
        return [row for row in self.rows(path) if row["event"] == "call"]

    def witnessed(self):
        """By process the functions that the FMU itself has seen."""
        result = defaultdict(list)
        for line in self.witness.read_text().splitlines():
            process, function = line.split()
            result[process].append(function)
        return result

    def require_all(self, rows):
        """What is logged is what the FMUs have seen, process by process."""
        logged = defaultdict(list)
        for row in rows:
            if row["event"] == "call":
                logged[row["process"]].append(row["function"])
        self.assertEqual(logged, self.witnessed())

    def alone(self, stop=0.1, start="{f: 1}"):
        return self.model(("left",), stop, {"left": f"{{fmu: left.fmu, start: {start}}}"})


class EveryCall(CallTest):
    def test_as_the_fmu_sees_them(self):
        for (version, kind), method, isolated in in_short(
                list(product(KINDS, ("jfm", "jacobi"), ("false", "true"))), 5):
            with self.subTest(version=version, kind=kind, method=method, isolated=isolated):
                self.witness.unlink(missing_ok=True)
                self.watched(version=version, kind=kind)
                run = self.run_logged(self.alone(), "-cosim_type", method, "-cosim_step", 0.02,
                                      "-subsystem_isolated", isolated)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.require_all(self.rows())

    def test_before_and_behind(self):
        """Each call has a line behind it, in the order of brackets, with status and time."""
        self.watched(version=3, kind="cs")
        self.run_logged(self.alone(), "-cosim_step", 0.02)
        open_calls, last = [], 0.0
        for row in self.rows():
            self.assertGreaterEqual(float(row["time"]), last)
            last = float(row["time"])
            if row["event"] == "call":
                open_calls.append((row["call"], row["function"], row["instance"]))
                self.assertEqual((row["status"], row["microseconds"]), ("", ""))
            else:
                self.assertEqual(open_calls.pop(), (row["call"], row["function"], row["instance"]))
                self.assertEqual(row["status"], "ok")
                self.assertGreater(float(row["microseconds"]), 0)
        self.assertEqual(open_calls, [])

    def test_the_state_machine_of_the_standard(self):
        for kind, method in in_short(list(product(("cs", "me"), ("jfm", "jacobi", "missiles"))), 5):
            with self.subTest(kind=kind, method=method):
                self.watched(kind=kind)
                run = self.run_logged(self.alone(), "-cosim_type", method, "-cosim_step", 0.02)
                self.assertEqual(run.returncode, 0, run.stderr)
                modes = {}
                for row in self.calls():
                    name = row["function"].removeprefix("fmi2")
                    who = row["process"], row["instance"]
                    if name == "Instantiate":
                        self.assertNotIn(who, modes)
                        modes[who] = "instantiated"
                        continue
                    self.assertIn(name, MODES[modes[who]], (modes[who], row))
                    to = MODES[modes[who]][name]
                    modes[who] = to if isinstance(to, str) else to[kind == "me"]
                self.assertEqual(set(modes.values()), {"over"})

    def test_arguments(self):
        """Steps lie end to end; what is read is what the results file has."""
        self.watched(capabilities=("variable",))
        run = self.run_logged(self.alone(1, "{f: 2}"), "-cosim_type", "jacobi", "-cosim_step", 0.25,
                              "-subsystem_fmu_micro_steps", 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        steps = [row["arguments"] for row in self.calls() if row["function"] == "fmi2DoStep"]
        self.assertEqual([(values_in(step, "currentCommunicationPoint"),
                           values_in(step, "communicationStepSize")) for step in steps],
                         [([0.25 * n], [0.25]) for n in range(4)])
        inputs = [row["arguments"] for row in self.calls() if row["function"] == "fmi2SetReal"]
        self.assertIn("vr=[200] value=[2]", inputs)
        read = [values_in(row["arguments"], "value") for row in self.rows()
                if row["function"] == "fmi2GetReal" and row["event"] == "return"]
        with h5py.File(self.folder / "out.h5") as file:
            for x, v in file["outputs/values"]:
                self.assertTrue(any(np.array_equal([x, v], values) for values in read), (x, v))

    def test_the_run_is_the_same(self):
        self.watched()
        kept = []
        for options in ((), ("-cosim_fmu_calls", self.log)):
            run = run_here(self.alone(), "-cosim_step", 0.02, "-cosim_output",
                          self.folder / "out.h5", *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                kept.append(file["outputs/values"][:].tobytes())
        self.assertEqual(kept[0], kept[1])

    def test_probes_are_no_part_of_it(self):
        self.watched()
        run = self.run_logged(self.alone(), "-cosim_step", 0.02, "-subsystem_fmu_probe", "true")
        self.assertEqual(run.returncode, 0, run.stderr)
        processes = {row["process"] for row in self.rows()}
        self.assertEqual(len(processes), 1)
        self.assertGreater(len(self.witnessed()), 1)
        self.assertEqual([row["function"] for row in self.calls()],
                         self.witnessed()[processes.pop()])

    def test_trials_are_part_of_it(self):
        """Those of saved states in a process of its own, and those of stiffness in the run's."""
        for version in (2, 3):
            self.witness.unlink(missing_ok=True)
            self.watched(version=version)
            run = self.run_logged(self.alone(), "-cosim_type", "jfm", "-cosim_step", 0.02)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.require_all(self.rows())
            self.assertEqual(len(self.witnessed()), 3)
        self.witness.unlink()
        for part in ("left", "right"):
            self.watched(part, kind="me")
        run = self.run_logged(self.model(("left", "right"), 0.02), "-cosim_accuracy", "1e-5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.require_all(self.rows())
        self.assertGreater(len({row["instance"] for row in self.rows()}), 1)


class Ends(CallTest):
    """The last line is that of the call in which the process ends."""

    def last_of(self, rows):
        result = {}
        for row in rows:
            result[row["process"]] = (row["event"], row["function"], row["arguments"])
        return result

    def test_crashes(self):
        for version in (2, 3):
            for function, how in (("DoStep 3", "abort"), ("DoStep 2", "kill"),
                                  ("Instantiate 1", "abort"), ("ExitInitializationMode 1", "kill")):
                name = f"fmi{version}{function}"
                if version == 3:
                    name = name.replace("Instantiate", "InstantiateCoSimulation")
                with self.subTest(name, how=how):
                    self.watched(version=version)
                    run = self.run_logged(self.alone(), "-cosim_type", "jacobi", "-cosim_step",
                                          0.02, ends=f"{name} {how}")
                    self.assertNotEqual(run.returncode, 0)
                    [(event, found, arguments)] = self.last_of(self.rows()).values()
                    self.assertEqual((event, found), ("call", name.split()[0]))
                    if "DoStep 3" in function:
                        self.assertIn("currentCommunicationPoint=", arguments)

    def test_isolated(self):
        """Of each process that dies, those that were revived, too, in the same file."""
        for how in ("abort", "kill"):
            for revive, code in (("true", 0), ("false", 1)):
                self.watched()
                run = self.run_logged(self.alone(), "-cosim_type", "jacobi", "-cosim_step", 0.02,
                                      "-subsystem_isolated", "true", "-subsystem_revive", revive,
                                      ends=f"fmi2DoStep 3 {how}")
                self.assertEqual(run.returncode, code, run.stderr)
                ends = [end[:2] for end in self.last_of(self.rows()).values()]
                self.assertEqual(ends.pop(), ("return", "fmi2FreeInstance") if code == 0
                                 else ("call", "fmi2DoStep"))
                self.assertEqual(set(ends), {("call", "fmi2DoStep")} if code == 0 else set())


class Files(CallTest):
    def two_masses(self, **how):
        for part in ("left", "right"):
            self.watched(part, **how)
        path = self.folder / "model.yaml"
        path.write_text(model_text(("left", "right"), 0.1))
        return path

    def test_a_file_for_each_rank(self):
        for isolated in ("false", "true"):
            self.witness.unlink(missing_ok=True)
            run = self.run_logged(self.two_masses(), "-cosim_step", 0.02, "-subsystem_isolated",
                                  isolated, ranks=2)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertFalse(self.log.exists())
            both = []
            for rank, name in enumerate(("left", "right")):
                rows = self.rows(self.folder / f"calls.{rank}.csv")
                self.assertEqual({row["rank"] for row in rows}, {str(rank)})
                self.assertEqual({row["subsystem"] for row in rows}, {name})
                both += rows
            self.require_all(both)

    def test_many_processes_in_one_file(self):
        """Lines of isolated subsystems on one rank don't mix."""
        text = "experiment: {stop: 0.1}\nsubsystems:\n" + "".join(
            f"  m{k}: {{fmu: left.fmu, start: {{f: 1}}, isolated: true}}\n" for k in range(6))
        self.watched()
        path = self.folder / "model.yaml"
        path.write_text(text)
        run = self.run_logged(path, "-cosim_step", 0.005)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = self.rows()
        self.assertEqual({row["subsystem"] for row in rows}, {f"m{k}" for k in range(6)})
        self.require_all(rows)

    def test_a_full_disk(self):
        """The log ends there, in whole lines but the last, and the run goes on."""
        self.watched()
        self.log.symlink_to("/dev/full")
        run = self.run_logged(self.alone(), "-cosim_step", 0.02)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("the log of calls ends here"), 1, run.stderr)

    def test_what_cannot_be_written(self):
        model = self.two_masses()
        results = self.folder / "out.h5"
        results.write_text("an earlier file")
        for path, ranks in ((self.folder, 1), (self.folder / "nowhere" / "calls.csv", 1),
                            (self.folder / "nowhere" / "calls.csv", 2)):
            run = run_here(model, "-cosim_output", results, "-cosim_fmu_calls", path,
                          ranks=ranks)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
            self.assertIn("choose another file with -cosim_fmu_calls", run.stderr)
            self.assertEqual(results.read_text(), "an earlier file")


if __name__ == "__main__":
    unittest.main()
