"""FMUs that misbehave, and requests that make no sense: the right exit code and message."""
import subprocess
import unittest

import h5py
import numpy as np
from concord_runs import Results, execute, export, simulate
from fmu_runs import FmuTest


EXCHANGE = dict(kinds=("me",), capabilities=("state", "step_events"))


class Behaviour(FmuTest):
    """Every message names subsystem, FMU, function and time."""

    def run_left(self, code, says, *options, version=2, method="jacobi", **how):
        self.build("left", version, **how)
        self.fails(code, ["'left'", "left.fmu", *says], "-cosim_type", method, *options)

    def test_discard(self):
        for version in (2, 3):
            self.run_left(1, [f"fmi{version}DoStep", "discard", "t = 0.5"],
                          version=version, behaviour="discards")

    def test_fatal(self):
        for version in (2, 3):
            self.run_left(1, [f"fmi{version}DoStep", "fatal", "t = 0.5"],
                          version=version, behaviour="fatal")

    def test_model_exchange(self):
        for version, call in ((2, "fmi2GetDerivatives"), (3, "fmi3GetContinuousStateDerivatives")):
            for method in ("jacobi", "jfm"):
                for behaviour in ("discards", "fatal"):
                    self.run_left(1, [call, behaviour[:5], "t = 0.5"], version=version,
                                  method=method, behaviour=behaviour, **EXCHANGE)

    def test_not_a_number(self):
        for version in (2, 3):
            for kinds in (("cs",), ("me",)):
                self.run_left(1, ["output 'x'", "nan", "t = 0.50"], version=version, kinds=kinds,
                              behaviour="nan_output")

    def test_time_that_drifts(self):
        self.run_left(1, ["fmi2DoStep", "the time is", "t = "], "-cosim_step", "1e-3",
                      behaviour="drifts")
        self.run_left(1, ["fmi3DoStep", "has come to t = 0.00100001 s instead of 0.001 s",
                          "drifts"], "-cosim_step", "1e-3", version=3, behaviour="drifts")

    def test_time_is_told_without_drift(self):
        """An FMU that adds up its own steps must find its time to the last bit in the next call."""
        for version in (2, 3):
            for step in ("1e-3", "7e-4"):
                self.build("left", version, behaviour="own_clock")
                run = execute("run", self.model(("left",), 2), "-cosim_type", "jacobi",
                              "-cosim_step", step, "-cosim_record", "none")
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_states_that_get_lost(self):
        for version, call in ((2, "fmi2GetFMUstate"), (3, "fmi3GetFMUState")):
            for how in ({}, EXCHANGE):
                self.run_left(1, [call, "t = 0.50"], version=version, method="jfm",
                              behaviour="loses_state", **how)

    def test_the_fmu_ends_the_simulation(self):
        """An end that the FMU asks for is no failure: exit code 3, and everything up to there."""
        for version in (2, 3):
            for ranks in (1, 2):
                self.build("left", version, behaviour="ends")
                out = self.folder / "out.h5"
                run = execute("run", self.model(("left",)), "-cosim_type", "jacobi", "-cosim_step",
                              "1e-2", "-cosim_output", out, ranks=ranks)
                self.assertEqual(run.returncode, 3, run.stderr)
                for text in ("concord: note: ", "'left'", "left.fmu", f"fmi{version}DoStep",
                             "terminateSimulation", "t = 0.5"):
                    self.assertIn(text, run.stderr)
                self.assertNotIn("error:", run.stderr)
                results = Results(out, run)
                self.assertEqual(results.status, "interrupted")
                self.assertGreater(results.time[-1], 0.48)

    def test_another_step_size_never_reaches_an_fmu_that_takes_one(self):
        self.build("left", capabilities=("state", "interpolate", "slopes"))
        for options, says in ((("-cosim_step", "7e-4", "-cosim_stop", "1e-3"), "end at t = 0.001 s"),
                              (("-cosim_step", "1e-2", "-cosim_adapt", "iteration"),
                               "-cosim_adapt")):
            self.fails(2, ["'left'", "one size only", says], "-cosim_type", "ifosmondi", *options)
        simulate(self.model(("left",)), "-cosim_step", "1e-2", "-cosim_type", "ifosmondi")

    def test_instantiation_refused(self):
        for version, says in ((2, ["fmi2Instantiate", "guid"]),
                              (3, ["fmi3InstantiateCoSimulation", "token"])):
            self.run_left(1, ["left.fmu", *says], version=version, behaviour="refuses")

    def test_crash(self):
        for version, call in ((2, "fmi2Instantiate"), (3, "fmi3InstantiateCoSimulation")):
            self.run_left(1, ["crashed", "SIGABRT", call, "before the start"], version=version,
                          behaviour="crashes")

    def test_crash_later(self):
        for version in (2, 3):
            self.run_left(1, ["crashed", "SIGSEGV", f"fmi{version}DoStep", "t = 0.5 s"],
                          version=version, behaviour="crashes_later")
            self.run_left(1, ["crashed", "SIGSEGV", f"fmi{version}CompletedIntegratorStep",
                              "t = 0.50"], version=version, behaviour="crashes_later", **EXCHANGE)

    def test_sleep(self):
        """A time limit is seen at the next communication point."""
        self.build("left", behaviour="sleeps")
        run = execute("run", self.model(("left",), 200), "-cosim_type", "jacobi", "-cosim_step",
                      "0.1", "-cosim_time_limit", "0.5", "-cosim_output", self.folder / "out.h5")
        self.assertEqual(run.returncode, 3, run.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            times = file["steps/wall_time"][:]
        self.assertLess(len(times), 2000)
        self.assertLess(times[:-1].sum(), 0.5)

    def test_missing_function(self):
        for version in (2, 3):
            self.run_left(2, ["left.fmu", f"fmi{version}DoStep"], version=version,
                          defines=("WITHOUT_DO_STEP",))

    def test_missing_shared_library(self):
        library = self.folder / "libnot_there.so"
        subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
        self.build("left", libraries=("-Wl,--no-as-needed", library))
        library.unlink()
        self.fails(2, ["left.fmu", "libnot_there.so", "LD_LIBRARY_PATH"], "-cosim_type", "jacobi")

    def test_log_flood_is_quiet(self):
        self.build("left", behaviour="floods", capabilities=())
        run = execute("run", self.model(("left",)), "-cosim_type", "jacobi")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        run = execute("run", self.model(("left",)), "-cosim_type", "jacobi", "-subsystem_fmu_log",
                      "true", "-cosim_output", self.folder / "b.h5")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(len(run.stderr.splitlines()), 22)
        self.assertIn("further messages are not shown", run.stderr)
        self.assertRegex(run.stderr.splitlines()[-1], r"^left: messages not shown: [1-9][0-9]+$")


class Requests(FmuTest):
    def test_needs_tool(self):
        """Told by `check`; whether the tool is here the FMU knows."""
        self.build("left", capabilities=("tool", "state", "variable"))
        self.assertIn("needsExecutionTool", execute("check", self.model(("left",))).stdout)
        self.assertGreater(np.ptp(simulate(self.model(("left",))).outputs["left.x"]), 0)

    def test_single_instance(self):
        self.build("left", capabilities=("single",))
        text = ("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                "  a: {fmu: left.fmu}\n  b: {fmu: left.fmu}\n")
        path = self.folder / "model.yaml"
        path.write_text(text)
        run = execute("run", path, "-cosim_type", "jacobi")
        self.assertEqual(run.returncode, 2)
        self.assertIn("only once per process", run.stderr)

    def test_names(self):
        self.build("left")
        for key, says in (("parameters: {mass: 1}", ["parameter 'mass'", "known", "model.yaml:3"]),
                          ("start: {x_stat: 1}", ["did you mean 'x_state'"]),
                          ("parameters: {m: heavy}", ["'m'", "Float64", "'heavy'"]),
                          ("parameters: {m: [1, 2]}", ["takes 1 values, found 2"])):
            self.fails(2, says, subsystems={"left": f"{{fmu: left.fmu, {key}}}"})

    def test_missing_file_and_interface(self):
        self.fails(2, ["no FMU", "model.yaml:3"], subsystems={"left": "{fmu: right.fmu}"})
        self.build("left")
        self.fails(2, ["offers no model exchange"], "-subsystem_fmu_interface", "me")
        self.fails(2, ["-subsystem_fmu_interface", "auto, me, cs"], "-subsystem_fmu_interface",
                   "both")

    def test_model_exchange_of_nothing(self):
        """Without states, indicators and outputs that events change `auto` takes co-simulation
        (3.10), and says so."""
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 1}\nsubsystems: {it: {equations: {inputs: {u: 1}, "
                        "outputs: {y: u + sin(t)}}}}\n")
        for version in (2, 3):
            export(path, "it", self.folder / f"it{version}.fmu", version)
        alone = self.folder / "alone.yaml"
        for version in (2, 3):
            alone.write_text(f"experiment: {{start: 0, stop: 1}}\nsubsystems: {{it: {{fmu: it{version}.fmu}}}}\n")
            self.assertIn("co-simulation: the model exchange that the FMU offers has neither states nor",
                          execute("check", alone).stdout)

    def test_events_by_time_alone(self):
        """An output that only events change: model exchange tells when."""
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 1}\nsubsystems: {it: {fmu: stair.fmu}}\n")
        options = ("-cosim_type", "jacobi", "-cosim_step", "0.05")
        for version in (2, 3):
            self.build("stair", version, kinds=("me", "cs"))
            self.assertNotIn("has neither states nor", execute("check", path).stdout)
            found = simulate(path, *options)
            exchange = simulate(path, *options, "-subsystem_fmu_interface", "me")
            self.assertTrue(np.array_equal(found.outputs.values, exchange.outputs.values))
            self.assertGreater(len(found.event_times), 0)
            self.assertGreater(np.ptp(found.outputs["it.count"]), 0)

    def test_unknown_dependencies(self):
        """Loops on paper only (3.13): told, of no effect where a method runs, and those that run
        are named where one does not."""
        how = dict(capabilities=("state", "variable", "interpolate", "slopes"))
        results = {}
        for known in (True, False):
            for part in ("left", "right"):
                self.build(part, dependencies=known, **how)
            path = self.model(("left", "right"))
            results[known] = [simulate(path, "-cosim_type", method, "-cosim_step", "1e-2",
                                       "-cosim_halving", "none")
                              for method in ("jfm", "jacobi")]
            run = execute("check", path)
            says = "no dependencies of its outputs on its inputs are given"
            self.assertEqual(says in run.stdout, not known, run.stdout)
        for with_them, without in zip(results[True], results[False]):
            away = np.abs(with_them.outputs["left.x"] - without.outputs["left.x"])
            self.assertLess(np.max(away), 2e-2)
        for part in ("left", "right"):
            self.build(part, dependencies=False, capabilities=("variable",), states=False)
        self.fails(2, ["'left' offers no rollback", "can run this model: jacobi"], "-cosim_type",
                   "jfm", parts=("left", "right"))

    def test_the_best_method_that_can_run(self):
        """Chosen whether a step is given or not, and the summary says why."""
        for version in (2, 3):
            for capabilities, chosen in ((("variable",), "gauss_seidel"), ((), "jacobi")):
                for part in ("left", "right"):
                    self.build(part, version, capabilities=capabilities, states=False)
                path = self.model(("left", "right"), 0.1)
                for options in ((), ("-cosim_step", "1e-3"), ("-cosim_accuracy", "1e-3")):
                    run = execute("run", path, *options, "-cosim_output", self.folder / "out.h5")
                    self.assertEqual(run.returncode, 0, run.stderr)
                    for text in (f"  method                {chosen}\n",
                                 "as others cannot run: jfm: subsystem 'left' offers no rollback"):
                        self.assertIn(text, run.stdout)
                self.assertIn(f"recommended: {chosen} (", execute("check", path).stdout)
                self.fails(2, ["'left' offers no rollback", "jacobi"], "-cosim_type", "jfm",
                           "-cosim_step", "1e-3", parts=("left", "right"))

    def test_methods_that_cannot_run(self):
        for part in ("left", "right"):
            self.build(part, capabilities=("interpolate", "slopes"))
        self.fails(2, ["'left' offers no rollback"], "-cosim_type", "jfm", parts=("left", "right"))
        run = execute("check", self.model(("left", "right")))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("polynomial inputs yes, output derivatives yes", run.stdout)
        self.assertIn("rollback no", run.stdout)


class Probe(FmuTest):
    """concord check --probe, and runs that trust what it finds."""

    FULL = ("state", "serialize", "variable", "interpolate", "directional")

    def probe(self, *options):
        run = execute("check", self.model(("left",)), "--probe", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout[run.stdout.index("probe:"):]

    def test_honest_fmus(self):
        for version in (2, 3):
            for kinds in (("cs",), ("me",)):
                self.build("left", version, capabilities=self.FULL, kinds=kinds)
                found = self.probe()
                for text in ("after a restore gives the same bits",
                             "that was serialised gives the same bits",
                             "a new process goes on from the state with the same bits",
                             "agree with differences"):
                    self.assertIn(text, found)
                for text in ("OTHER", "stopped", "CRASHES"):
                    self.assertNotIn(text, found)
                if version == 2 and kinds == ("cs",):
                    self.assertIn("honoured up to order 3", found)

    def test_rollback_that_forgets(self):
        for version in (2, 3):
            self.build("left", version, behaviour="forgets", capabilities=("state", "variable"))
            self.assertIn("OTHER values", self.probe())
            self.fails(2, ["'left' offers no rollback"], "-cosim_type", "jfm", "-subsystem_fmu_probe", "true")
            self.build("left", version, behaviour="forgets", **EXCHANGE)
            self.assertIn("OTHER values", self.probe())
            # Equations without events go back without the FMU's help.
            careful = simulate(self.model(("left",)), "-subsystem_fmu_probe", "true")
            self.build("left", version, **EXCHANGE)
            usual = simulate(self.model(("left",)))
            self.assertLess(np.max(np.abs(careful.outputs.values - usual.outputs.values)), 1e-6)

    def test_a_trial_that_ends_in_an_error(self):
        """Its claim is withheld, and the trials that follow are made (3.5)."""
        for version in (2, 3):
            for kinds in (("cs",), ("me",)):
                self.build("left", version, behaviour="no_restores", capabilities=self.FULL,
                           kinds=kinds)
                found = self.probe()
                self.assertIn("stopped while saving and restoring its state: ", found)
                self.assertIn("agree with differences", found)
                if version == 2 and kinds == ("cs",):
                    self.assertIn("honoured up to order 3", found)
            self.build("left", version, behaviour="no_restores",
                       capabilities=("state", "variable"))
            self.fails(2, ["'left' offers no rollback", "can run this model: jacobi"],
                       "-cosim_type", "jfm", "-subsystem_fmu_probe", "true")
            self.build("left", version, behaviour="no_later_directionals", defines=("LATER=0.0",),
                       capabilities=self.FULL)
            self.assertIn("stopped while asking for directional derivatives after a step",
                          self.probe())
            self.fails(2, ["'left' offers no linearization"], "-cosim_type", "missiles",
                       "-subsystem_fmu_probe", "true")

    def test_discrete_states_that_are_forgotten(self):
        """Only an event between save and restore shows it."""
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 2}\nsubsystems: {it: {fmu: stair.fmu}}\n")
        for behaviour, says in (("behaves", "the same bits"), ("forgets", "OTHER values")):
            self.build("stair", behaviour=behaviour, **EXCHANGE)
            run = execute("check", path, "--probe")
            self.assertIn(says, run.stdout)

    def test_crash(self):
        self.build("left", behaviour="crashes")
        self.assertIn("CRASHES while instantiating", self.probe())
        self.fails(2, ["'left'", "crashes while instantiating"], "-subsystem_fmu_probe", "true")


if __name__ == "__main__":
    unittest.main()
