"""Isolated subsystems: who dies is revived or ends the run in words, nothing is left behind, and
nobody notices where nothing happens."""
import csv
import os
import signal
import subprocess
import unittest
from itertools import product
from dataclasses import replace
from pathlib import Path

import fmu_factory
import numpy as np
from concord_runs import ModelTest, execute, in_short, simulate
from fault_runs import Ended, build_fmu
from fmu_runs import PAIR, build_parts, model_text
from isolated_runs import Fault, run, working_in
from patience import HANGS, wait_until
from restart_runs import differences

CAPABILITIES = ("state", "serialize", "variable", "directional")
PRESETS = ("jfm", "missiles", "ifosmondi", "jacobi", "gauss_seidel", "hierarchical", "extripol",
           "kuebler_schiehlen", "monolithic")


class Revived(unittest.TestCase):
    """A fault that happens once costs nothing but a new process."""

    def check(self, *faults):
        for fault in faults:
            with self.subTest(fault):
                whole = run(replace(fault, fault="none"))
                ended = run(fault, times=1)
                self.assertEqual(ended.code, 0, ended.output)
                self.assertEqual(ended.status, "completed")
                self.assertEqual(sum(ended.revived), 1, ended.output)
                self.assertEqual(ended.output.count("was revived in a new process"), 1)
                self.assertEqual(ended.left, [])
                np.testing.assert_allclose(ended.outputs, whole.outputs, rtol=0, atol=1e-8)

    def test_every_fault(self):
        self.check(*(Fault("cs", fault, "fmi2DoStep", ranks=1)
                     for fault in in_short(("exit", "quick_exit", "abort", "fpe", "segfault",
                                            "stack_overflow", "_exit", "kill", "hang"), 2)))

    def test_to_begin_is_no_call(self):
        """A process takes longer to begin than calls may take."""
        quick = ("-subsystem_call_limit", "0.03", "-cosim_stop", "0.03")
        wait_until(lambda: run(Fault("native", "none", "derivatives", ranks=1), options=quick).code == 0,
                   "calls that are quick enough")

    def test_every_kind(self):
        self.check(Fault("native", "segfault", "derivatives", ranks=1),
                   Fault("me", "exit", "fmi2GetDerivatives", ranks=1),
                   Fault("cs3", "abort", "fmi3DoStep", ranks=1),
                   Fault("me3", "segfault", "fmi3GetContinuousStateDerivatives", ranks=1))

    def test_every_call(self):
        self.check(*(Fault("cs", "segfault", call, "ifosmondi", ranks=1,
                           options=("-cosim_predictor", "hold"))
                     for call in in_short(("fmi2GetFMUstate", "fmi2SetReal", "fmi2SetFMUstate",
                                           "fmi2GetReal"), 2)),
                   # Believed, as trials of saved states initialise FMUs, too.
                   Fault("cs", "segfault", "fmi2ExitInitializationMode", ranks=1, time=0,
                         options=("-subsystem_rollback", "true")))

    def test_ranks_and_methods(self):
        self.check(Fault("cs", "segfault", "fmi2DoStep", "jacobi", "first", 2),
                   Fault("cs", "hang", "fmi2DoStep", "gauss_seidel", "last", 2),
                   Fault("native", "kill", "derivatives", "missiles", "last", 3),
                   Fault("native", "exit", "derivatives", "monolithic", "first", 2))

    def test_state_that_cannot_be_copied(self):
        """The FMU crashes where it gives its state away: it goes on, and is copied no more."""
        ended = run(Fault("cs", "segfault", "fmi2SerializeFMUstate", ranks=1))
        self.assertEqual((ended.code, sum(ended.revived), ended.left), (0, 1, []), ended.output)

    def test_smaller_steps(self):
        """It crashes twice in the same macro-step, which step control then makes smaller."""
        ended = run(Fault("cs", "segfault", "fmi2DoStep", "jfm", ranks=1), times=2,
                    options=("-cosim_adapt", "predictor"))
        self.assertEqual((ended.code, sum(ended.revived)), (0, 2), ended.output)


class Failed(unittest.TestCase):
    """A fault that stays ends the run with exit code 1 in the usual words."""

    def check(self, fault, *words, **how):
        with self.subTest(fault):
            ended = run(fault, **how)
            self.assertEqual(list(ended.complaints(fault)), [], ended.output)
            self.assertEqual(ended.left, [])
            for word in words:
                self.assertIn(word, ended.errors[0])

    def test_again(self):
        self.check(Fault("cs", "segfault", "fmi2DoStep", ranks=1),
                   "the FMU crashed (SIGSEGV) in fmi2DoStep of subsystem 'b' (faulty.fmu)",
                   "revived")
        self.check(Fault("native", "exit", "derivatives", ranks=1), "the C++ code called exit(0)",
                   "revived")
        self.check(Fault("me", "hang", "fmi2GetDerivatives", ranks=1),
                   "did not return within 2 s (-subsystem_call_limit, ", "fmi2GetDerivatives")
        self.check(Fault("cs", "kill", "fmi2DoStep", "jacobi", ranks=1), "was ended by SIGKILL",
                   "advance")
        self.check(Fault("cs", "_exit", "fmi2DoStep", "jacobi", ranks=1), "exit code 3")

    def test_without_serialised_state(self):
        self.check(Fault("cs", "segfault", "fmi2DoStep", ranks=1),
                   "it cannot be revived: the FMU faulty.fmu cannot give its state away "
                   "(canSerializeFMUState)", times=1, serializes=False)

    def test_not_wanted(self):
        self.check(Fault("cs", "segfault", "fmi2DoStep", ranks=1,
                         options=("-subsystem_b_revive", "false")),
                   "cannot be revived: -subsystem_revive is false")

    def test_at_the_start(self):
        for call in ("constructor", "interface"):
            self.check(Fault("native", "segfault", call, ranks=1), "(SIGSEGV)")
            self.check(Fault("native", "hang", call, ranks=1), "did not return within 2 s")
        self.check(Fault("cs", "abort", "fmi2Instantiate", ranks=1), "(SIGABRT)")
        self.check(Fault("cs", "exit", "fmi2EnterInitializationMode", ranks=1, time=0), "exit(0)")

    def test_ranks(self):
        self.check(Fault("cs", "segfault", "fmi2DoStep", "jfm", "last", 2))
        self.check(Fault("native", "exit", "derivatives", "jacobi", "first", 3))
        self.check(Fault("native", "hang", "derivatives", "missiles", "all", 2))

    def test_at_the_end(self):
        """Nothing is lost any more: a note."""
        for call in ("Terminate", "FreeInstance"):
            ended = run(Fault("cs", "segfault", f"fmi2{call}", ranks=1))
            self.assertEqual((ended.code, ended.status, ended.left), (0, "completed", []))
            self.assertIn("nobody needs any more: the FMU crashed (SIGSEGV) in ", ended.output)
            self.assertIn(f"{call} of subsystem 'b'", ended.output)
        ended = run(Fault("cs", "hang", "fmi2FreeInstance", ranks=1))
        self.assertEqual((ended.code, ended.status, ended.left), (0, "completed", []), ended.output)
        self.assertIn("nobody needs any more: the FMU did not return within 2 s", ended.output)


class Nothing(unittest.TestCase):
    """However the program ends, its children do."""

    def killed(self, number, ranks):
        left = []

        def kill(command, folder, environment):
            process = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       start_new_session=True)
            hosts = lambda: [words for words in working_in(folder) if "subsystem_host" in words]
            results = [Path(folder, name) for name in ("model.h5", "faults.h5")]
            wait_until(lambda: len(hosts()) == 2 and any(path.exists() for path in results),
                       "a run with two children", process)
            os.killpg(process.pid, number)
            out, err = process.communicate(timeout=HANGS)
            wait_until(lambda: not working_in(folder), "the end of all children")
            return Ended(process.returncode, 0, [], out + err)

        fault = Fault("cs", "none", "fmi2DoStep", "jacobi", "all", ranks)
        ended = run(fault, options=("-cosim_stop", "1e5"), watching=kill)
        self.assertEqual(left, [], ended.output)
        return ended

    def test_killed(self):
        self.killed(signal.SIGKILL, 1)
        self.killed(signal.SIGKILL, 2)

    def test_stopped(self):
        """What everybody in a terminal gets is the program's to answer."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            ended = self.killed(number, 1)
            self.assertEqual(ended.code, 3, ended.output)
            self.assertNotIn("revived", ended.output)


class Same(ModelTest):
    """Isolated or not: the same bits."""

    def check(self, model, *options, ranks=1):
        with self.subTest(model=model.name, options=options, ranks=ranks):
            paths = {}
            for isolated in ("false", "true"):
                paths[isolated] = self.folder / f"{model.stem}_{isolated}.h5"
                paths[isolated].unlink(missing_ok=True)
                run_ = execute("run", model, *options, "-cosim_output", paths[isolated],
                               "-subsystem_isolated", isolated, ranks=ranks)
                self.assertEqual(run_.returncode, 0, run_.stderr)
            self.assertEqual(differences(paths["false"], paths["true"]), [])

    def masses(self, version, kind):
        build_parts(self.folder, PAIR, version, kinds=(kind,), capabilities=CAPABILITIES)
        return self.model(model_text(PAIR, 0.1))

    def test_fmus(self):
        for version, kind in ((2, "cs"), (2, "me"), (3, "cs"), (3, "me")):
            model = self.masses(version, kind)
            for method in in_short(PRESETS[:-1] if kind == "cs" else PRESETS, 6):
                self.check(model, "-cosim_type", method, "-cosim_step", 1e-3)
            self.check(model, "-cosim_adapt", "predictor")
            if kind == "me" or "CONCORD_LONG" in os.environ:
                self.check(model, "-cosim_type", "jfm", "-cosim_step", 1e-3, ranks=2)
            for method in in_short(("jfm", "jacobi"), 2):
                self.check(model, "-cosim_type", method, "-cosim_step", 1e-3,
                           "-cosim_output_interval", 3.7e-4)

    def test_native(self):
        library = os.environ["NATIVE_TEST_SUBSYSTEMS"]
        model = self.model(
            "experiment: {start: 0, stop: 0.2}\nsubsystems:\n"
            f"  a: {{native: {{library: {library}, type: cart}}, start: {{x: 0.5}}}}\n"
            "  b: {equations: {inputs: {x: 0}, states: {z: 0}, derivatives: {z: x - z}, "
            "outputs: {f: 1 - z - 3*x}}}\nconnections: [a.x -> b.x, b.f -> a.force]\n")
        for method in in_short(PRESETS, 3, 1):
            self.check(model, "-cosim_type", method, "-cosim_step", 1e-2)
        self.check(model, "-cosim_adapt", "predictor", "-subsystem_integrator", "cvode_bdf")

    def test_native_start(self):
        """Found by equations at the start: z = x, and 1 - z - 3 x = 0."""
        library = os.environ["NATIVE_TEST_SUBSYSTEMS"]
        model = self.model(
            "experiment: {start: 0, stop: 0.2}\nsubsystems:\n"
            f"  a: {{native: {{library: {library}, type: cart}}}}\n"
            "  b: {equations: {inputs: {x: 0}, states: {z: 0}, derivatives: {z: x - z}, "
            "outputs: {f: 1 - z - 3*x}}}\nconnections: [a.x -> b.x, b.f -> a.force]\n"
            "initial: [der(b.z) = 0, {equation: der(a.v) = 0, free: a.x}]\n")
        self.check(model, "-cosim_step", 1e-2)
        found = simulate(model, "-cosim_step", 1e-2, "-subsystem_a_isolated", "true")
        np.testing.assert_allclose(found.states["a.x"], 0.25, rtol=1e-9)

    def test_events(self):
        for version, kind, method in in_short(
                list(product((2, 3), ("me", "cs"), ("jfm", "jacobi"))), 3):
            fmu_factory.build(self.folder, "ball", version, kinds=(kind,),
                              capabilities=(*CAPABILITIES, "event_mode"))
            model = self.model("experiment: {start: 0, stop: 2}\nsubsystems:\n"
                               "  ball: {fmu: ball.fmu}\n")
            self.check(model, "-cosim_type", method, "-cosim_step", 0.01)


class Kept(ModelTest):
    """Checkpoints read into the subsystems that are there, in the process that is there."""

    def processes(self, *options, epoch=3):
        """Those of each subsystem in the log of calls, and its instances."""
        run_ = execute("run", self.model(model_text(PAIR, 0.1)), *options, "-cosim_step", 1e-3,
                       "-cosim_output", self.folder / "run.h5", "-subsystem_isolated",
                       "-cosim_checkpoint", self.folder / "run.chk", "-cosim_checkpoint_epoch", epoch,
                       "-cosim_fmu_calls", self.folder / "calls.csv")
        self.assertEqual(run_.returncode, 0, run_.stderr)
        with open(self.folder / "calls.csv", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["event"] == "call"]
        numbers = [(row["process"], row["call"]) for row in rows]
        self.assertEqual(len(numbers), len(set(numbers)))
        of = lambda what, name: {row[what] for row in rows if row["subsystem"] == name}
        return [(of("process", name), of("instance", name)) for name in ("left", "right")]

    def test_one_process_each(self):
        for version, kind in ((2, "cs"), (3, "me")):
            build_parts(self.folder, PAIR, version, kinds=(kind,), capabilities=CAPABILITIES)
            (left, instances), (right, _) = self.processes("-subsystem_rollback", "true")
            self.assertEqual((len(left), len(right), len(left | right)), (1, 1, 2))
            self.assertLessEqual(len(instances), 2)  # a look at it, and the run

    def test_same_bits(self):
        build_parts(self.folder, PAIR, 2, kinds=("me",), capabilities=CAPABILITIES)
        model = self.model(model_text(PAIR, 0.1))
        paths = [self.folder / f"{name}.h5" for name in ("inside", "isolated")]
        for path, isolated in zip(paths, ("false", "true")):
            run_ = execute("run", model, "-cosim_step", 1e-3, "-cosim_output", path,
                           "-subsystem_isolated", isolated, "-cosim_checkpoint", path.with_suffix(".chk"),
                           "-cosim_checkpoint_epoch", 1)
            self.assertEqual(run_.returncode, 0, run_.stderr)
        self.assertEqual(differences(*paths), [])

    def test_revived(self):
        """Who dies between two epochs goes on in a new process, which is kept then."""
        for fault in (Fault("cs", "segfault", "fmi2DoStep", ranks=1),
                      Fault("native", "kill", "derivatives", ranks=1)):
            ended = run(fault, times=1, options=("-cosim_checkpoint", "run.chk",
                                                 "-cosim_checkpoint_epoch", "4"))
            self.assertEqual((ended.code, sum(ended.revived), ended.left), (0, 1, []), ended.output)


class Together(ModelTest):
    """What only isolation makes possible, and how a model asks for it."""

    def test_once_per_process(self):
        """Two instances of an FMU that only allows one per process, on one rank."""
        build_fmu(self.folder)
        text = ("experiment: {{start: 0, stop: 0.1}}\nsubsystems:\n"
                "  a: {{fmu: faulty.fmu{0}}}\n  b: {{fmu: faulty.fmu{0}}}\n"
                "connections: [a.x -> b.load, b.x -> a.load]\n")
        options = ("-subsystem_fmu_interface", "cs", "-cosim_step", 0.01)
        refused = execute("run", self.model(text.format("")), *options)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("isolated: true", refused.stderr)
        model = self.model(text.format(", isolated: true"))
        accepted = execute("run", model, *options)
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        told = execute("check", model, *options)
        self.assertEqual(told.stdout.count("isolated: in a process of its own"), 2, told.stdout)

    def test_what_cannot_be_isolated(self):
        model = self.model("experiment: {start: 0, stop: 1}\nsubsystems:\n  a:\n    isolated: true\n"
                           "    equations: {states: {x: 1}, derivatives: {x: -x}, outputs: {y: x}}\n")
        refused = execute("check", model)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("has nothing to isolate: only fmu, native and python run code of others",
                      refused.stderr)
        model = self.model("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                           "  a: {isolated: maybe, native: {type: wing}}\n")
        self.assertIn("must be true or false, not 'maybe'", execute("check", model).stderr)
        model = self.model("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                           "  a: {isolated: true, native: {type: wing}}\n")
        self.assertIn("compiled into the program cannot be isolated", execute("check", model).stderr)


if __name__ == "__main__":
    unittest.main()
