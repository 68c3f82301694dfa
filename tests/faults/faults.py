"""Subsystems that fail in every way, in every call: no rank waits, no word is lost, rows are kept."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from fault_runs import PROGRAM, Fault, build_fmu, model, run, watch


class Faults(unittest.TestCase):
    def check(self, *faults):
        for fault in faults:
            with self.subTest(fault):
                ended = run(fault)
                self.assertEqual(list(ended.complaints(fault)), [], ended.output)


class Native(Faults):
    def test_alone(self):
        """Every kind of fault."""
        self.check(*(Fault("native", fault, "derivatives", ranks=1, place="all")
                     for fault in ("throw", "throw_number", "exit", "quick_exit", "abort",
                                   "segfault", "fpe", "stack_overflow", "nan")))

    def test_every_call(self):
        self.check(*(Fault("native", "exit", call, method="missiles", ranks=1, place="all")
                     for call in ("constructor", "interface", "outputs", "jacobians",
                                  "time_derivatives", "output_slopes", "destructor")))

    def test_two_ranks(self):
        self.check(Fault("native", "exit", "derivatives", "jfm", "last"),
                   Fault("native", "segfault", "outputs", "jacobi", "first"),
                   Fault("native", "throw", "derivatives", "monolithic", "last"),
                   Fault("native", "abort", "derivatives", "missiles", "all"))


    def test_made_again(self):
        """Subsystems that cannot be made anew on the way: as those that fail."""
        fault = Fault("native", "throw", "constructor", ranks=1, place="all")
        fifth = model(fault).replace("rank: -1", "rank: -1, instance: 5")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.yaml").write_text(fifth)
            ended = watch([PROGRAM, "run", "model.yaml", "-cosim_step", "0.01", "-cosim_forget", "20"], folder,
                          os.environ)
        self.assertEqual((ended.code, len(ended.errors), ended.status, ended.rows), (2, 1, "failed", 21), ended.output)


    def test_made_on_one_rank(self):
        """One that the first rank only asks, and the last cannot make: the first does not wait."""
        fault = Fault("native", "throw", "constructor")
        second = model(fault).replace("rank: -1", "rank: -1, instance: 2")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.yaml").write_text(second)
            ended = watch(["mpirun", "--oversubscribe", "-n", "2", PROGRAM, "run", "model.yaml", "-cosim_step", "0.01"],
                          folder, os.environ)
        self.assertEqual((ended.code, len(ended.errors)), (2, 1), ended.output)


class Traps(unittest.TestCase):
    """-fp_trap, in equations and in what the program computes itself, is one line and exit code 1."""

    def test_equations(self):
        text = ("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                "  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, "
                "outputs: {y: x}}}\n  b: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: "
                "{x: sqrt(0.45 - t)}, outputs: {y: x}}}\nconnections: [a.y -> b.u, b.y -> a.u]\n")
        for launcher in ((), ("mpirun", "--oversubscribe", "-n", "2")):
            for method in ("jacobi", "jfm", "monolithic"):
                with self.subTest(method=method, launcher=launcher), \
                        tempfile.TemporaryDirectory() as folder:
                    (Path(folder) / "model.yaml").write_text(text)
                    ended = watch([*launcher, PROGRAM, "run", "model.yaml", "-cosim_step", "0.1",
                                   "-cosim_type", method, "-fp_trap"], folder, os.environ)
                    self.assertEqual(ended.code, 1, ended.output)
                    self.assertEqual(len(set(ended.errors)), 1, ended.output)
                    self.assertIn("was trapped (-fp_trap)", ended.errors[0])
                    self.assertNotIn("*** ", ended.output)


class Fmu(Faults):
    def test_co_simulation(self):
        self.check(*(Fault("cs", fault, "fmi2DoStep", ranks=1)
                     for fault in ("throw", "exit", "segfault", "nan", "fatal")),
                   Fault("cs", "abort", "fmi2SetFMUstate", "ifosmondi", "last", 1,
                         options=("-cosim_predictor", "hold")),
                   *(Fault("cs", "throw", call, ranks=1)
                     for call in ("fmi2Terminate", "fmi2FreeInstance", "fmi2Instantiate")))

    def test_model_exchange(self):
        self.check(*(Fault("me", fault, "fmi2GetDerivatives", ranks=1)
                     for fault in ("throw", "exit", "stack_overflow", "fatal")),
                   Fault("me", "exit", "fmi2Instantiate", ranks=1))

    def test_two_ranks(self):
        self.check(Fault("cs", "exit", "fmi2GetFMUstate", "jfm", "last"),
                   Fault("me", "fatal", "fmi2GetDerivatives", "missiles", "last"))


class Fmu3(Faults):
    """FMI 3.0: event mode, and an FMU that fails within its own request for inputs."""

    def test_co_simulation(self):
        self.check(*(Fault("cs3", fault, "fmi3DoStep", ranks=1)
                     for fault in ("exit", "segfault", "nan", "fatal")),
                   Fault("cs3", "throw", "fmi3IntermediateUpdate", "jacobi", ranks=1),
                   Fault("cs3", "abort", "fmi3UpdateDiscreteStates", ranks=1, time=0),
                   Fault("cs3", "exit", "fmi3InstantiateCoSimulation", ranks=1))

    def test_model_exchange(self):
        self.check(*(Fault("me3", fault, "fmi3GetContinuousStateDerivatives", ranks=1)
                     for fault in ("throw", "stack_overflow", "fatal")),
                   Fault("me3", "segfault", "fmi3GetEventIndicators", ranks=1))

    def test_fatal_of_an_instance_that_is_only_asked(self):
        """Named, although it happens before the subsystem is there."""
        self.check(Fault("cs3", "fatal", "fmi3EnterInitializationMode", ranks=1, time=0))

    def test_two_ranks(self):
        self.check(Fault("cs3", "exit", "fmi3GetFMUState", "jfm", "last"),
                   Fault("me3", "abort", "fmi3SetContinuousStates", "missiles", "first"))


class Hangs(Faults):
    """Who does not return, or only late again and again, is told, and the last copy is written."""
    LIMIT = ("-cosim_hang_limit", "0.4")

    def test_one_rank(self):
        self.check(Fault("cs", "hang", "fmi2DoStep", ranks=1, options=self.LIMIT),
                   Fault("me", "hang", "fmi2GetDerivatives", "missiles", ranks=1,
                         options=self.LIMIT),
                   Fault("cs3", "hang", "fmi3EnterInitializationMode", ranks=1, time=0,
                         options=self.LIMIT),
                   Fault("native", "hang", "derivatives", ranks=1, place="all",
                         options=self.LIMIT),
                   Fault("native", "crawl", "derivatives", ranks=1, place="all",
                         options=self.LIMIT))

    def test_before_the_run(self):
        """The model's reading asks for interfaces: the limit counts from there on."""
        self.check(*(Fault("native", "hang", call, ranks=1, place="all", options=self.LIMIT)
                     for call in ("constructor", "interface")),
                   Fault("native", "hang", "constructor", options=self.LIMIT),
                   Fault("me3", "hang", "fmi3InstantiateModelExchange", ranks=1, options=self.LIMIT))
        fault = Fault("native", "hang", "interface", ranks=1, place="all")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.yaml").write_text(model(fault))
            ended = watch([PROGRAM, "check", "model.yaml", *self.LIMIT], folder, os.environ)
            self.assertEqual(ended.code, 1, ended.output)
            self.assertIn("has not returned after 0.4 s in interface of subsystem 'a'", ended.output)

    def test_other_ranks_do_not_wait(self):
        for method in ("jfm", "monolithic"):
            self.check(Fault("native", "hang", "outputs", method, "last", options=self.LIMIT))

    def test_words_and_checkpoint(self):
        fault = Fault("native", "hang", "derivatives", ranks=1, place="all", options=self.LIMIT)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.yaml").write_text(model(fault))
            ended = watch([PROGRAM, "run", "model.yaml", "-cosim_step", "0.01", *self.LIMIT,
                           "-cosim_checkpoint", "run.chk", "-cosim_checkpoint_epoch", "10"],
                          folder, os.environ)
            self.assertIn("has not returned after 0.4 s in derivatives of subsystem",
                          ended.output)
            self.assertIn("-cosim_hang_limit", ended.output)
            again = watch([PROGRAM, "run", "model.yaml", "-cosim_step", "0.01", *self.LIMIT,
                           "-cosim_restart", "run.chk"], folder, os.environ)
            self.assertRegex(again.output, r"goes on from t = 0\.[34]")


class Foreign(unittest.TestCase):
    """What FMUs of other tools do, and may do."""

    def run_model(self, command, *options, fault="none", **environment):
        with tempfile.TemporaryDirectory() as folder:
            build_fmu(folder)
            (Path(folder) / "model.yaml").write_text(
                model(Fault("cs", fault, "fmi2DoStep", ranks=1)))
            return watch([PROGRAM, command, "model.yaml", "-cosim_step", "0.1",
                          "-subsystem_fmu_interface", "cs", *options], folder,
                         {**os.environ, **environment})

    def test_own_sundials(self):
        """The FMU has functions of SUNDIALS' names and refuses to work with those of the program."""
        for interface in ("cs", "me"):
            ended = self.run_model("run", "-subsystem_fmu_interface", interface)
            self.assertEqual(ended.code, 0, ended.output)

    def test_nothing_to_bind_to(self):
        """The library shows names of its own only: no templates of std or Eigen, of which one copy
        serves a whole process (STB_GNU_UNIQUE) whatever RTLD_DEEPBIND says."""
        symbols = subprocess.run(["nm", "-DC", "--defined-only", os.environ["CONCORD_LIBRARY"]],
                                 check=True, capture_output=True, text=True).stdout.splitlines()
        names = [line.split(maxsplit=2)[2] for line in symbols]
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if "concord::" not in name], [])

    def test_logger_with_any_pointer(self):
        ended = self.run_model("run", "-subsystem_fmu_log", "true", fault="odd_logger")
        self.assertEqual(ended.code, 0, ended.output)
        self.assertIn("an odd message", ended.output)

    def test_probe_of_an_fmu_that_exists_once_per_process(self):
        ended = self.run_model("check", "--probe", ONCE_PER_PROCESS="1")
        self.assertEqual(ended.code, 0, ended.output)
        for text in ("after a restore gives the same bits", "honoured up to order 3"):
            self.assertIn(text, ended.output)


if __name__ == "__main__":
    unittest.main()
