"""FMUs of other platforms, whose binary a process of theirs runs. Here it is of this platform, so that results
have the same bits, and stands in another one's folder; tests/fmu/emulators.py has real ones."""
import os
import signal
import subprocess
import unittest
from pathlib import Path

import clocked_fmus
import courier_fmus
import emulated_fmus
import fmu_factory
import numpy as np
from concord_runs import Results, execute, run_here, write_model
from emulated_fmus import given, host, moved, run, script, tools
from fmu_runs import FmuTest, model_text
from patience import wait_until

CAPABLE = ("state", "serialize", "variable", "interpolate", "slopes", "directional")
STEPPED = dict(capabilities=("state", "serialize", "variable"))


class Same(FmuTest):
    """Bit for bit, whatever goes there and back."""

    def results(self, text, *options):
        path = self.folder / "out.h5"
        done = run_here(write_model(self.folder, "model", text), *options, "-cosim_output", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("STRICT", done.stderr)
        return Results(path, done), done.stderr

    def same(self, fmus, text, *options):
        here, said = self.results(text, *options)
        for fmu in fmus:
            moved(fmu)
        there, told = self.results(text, *options, *given())
        self.assertEqual(told, said)
        for kind in ("outputs", "states", "inputs"):
            np.testing.assert_array_equal(getattr(there, kind).values, getattr(here, kind).values)
        np.testing.assert_array_equal(there.event_times, here.event_times)

    def pair(self, version, *options, **how):
        fmus = [self.build(part, version, **how) for part in ("left", "right")]
        self.same(fmus, model_text(("left", "right"), 0.01), "-cosim_step", "1e-3", *options)

    def one(self, part, version, *options, stop=1, **how):
        self.same([self.build(part, version, **how)],
                  f"experiment: {{stop: {stop}}}\nsubsystems:\n  a: {{fmu: {part}.fmu}}\n", *options)

    def test_co_simulation(self):
        self.pair(2, "-cosim_type", "jfm", capabilities=CAPABLE)
        self.pair(3, "-cosim_type", "missiles", capabilities=CAPABLE)
        self.pair(1, "-cosim_type", "jacobi", capabilities=("variable", "interpolate", "slopes"))
        self.pair(3, "-cosim_type", "jfm", capabilities=("state", "variable", "update"))

    def test_model_exchange(self):
        self.pair(2, "-cosim_type", "monolithic", kinds=("me",), capabilities=CAPABLE)
        self.one("ball", 2, kinds=("me",), **STEPPED)
        self.one("bouncer", 3, kinds=("me",), **STEPPED)
        self.one("ball", 1, kinds=("me",), capabilities=())

    def test_events_and_types(self):
        self.one("ball", 3, capabilities=("state", "variable", "event_mode"))
        self.one("mixed", 3, **STEPPED)
        self.one("mixed", 2, **STEPPED)
        self.one("arrays", 3, **STEPPED)
        self.one("single", 3, **STEPPED)

    def test_texts_and_bytes(self):
        for version in (2, 3):
            fmu = courier_fmus.build(self.folder, "alice", version)
            self.same([fmu], "experiment: {stop: 1.2}\nsubsystems:\n  alice: {fmu: alice.fmu, start: {x: 1}}\n"
                      "  bob: {fmu: alice.fmu}\nconnections: [alice.said -> bob.message"
                      + (", alice.sent -> bob.data]" if version == 3 else "]"), "-cosim_type", "jacobi")

    def test_clocks(self):
        for model, kind in (("regulator", "cs"), ("waker", "me"), ("tasks", "se")):
            fmu = clocked_fmus.build(self.folder, model, (kind,))
            self.same([fmu], f"experiment: {{stop: 1}}\nsubsystems:\n  a: {{fmu: {model}.fmu}}\n")

    def test_checkpoints(self):
        """The state is serialised in one process and goes on in another one."""
        def restarted(*options):
            kept = self.folder / f"kept{len(options)}"
            text = model_text(("left",), 0.2)
            self.results(text, "-cosim_type", "jacobi", "-cosim_stop", "0.1", "-cosim_checkpoint", kept, *options)
            return self.results(text, "-cosim_type", "jacobi", "-cosim_restart", kept, *options)[0]

        self.build("left", **STEPPED)
        here = restarted()
        moved(self.folder / "left.fmu")
        np.testing.assert_array_equal(restarted(*given()).outputs.values, here.outputs.values)


class Found(FmuTest):
    """Without options: what is there is used, and what is not is named."""

    def setUp(self):
        super().setUp()
        self.build("left")
        moved(self.folder / "left.fmu")
        self.path = self.model(("left",), 0.1)
        self.tools = self.folder / "tools"

    def test_by_itself(self):
        environment = tools(self.tools)
        checked = run(environment, "check", self.path)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("its binary for aarch64-linux is run by a process of that platform, which qemu-aarch64 -L",
                      checked.stdout)
        for _ in range(2):
            ended = run(environment, "run", self.path, "-cosim_type", "jacobi", folder=self.folder)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual((self.tools / "compiled").read_text(), "called\n")
        self.assertEqual(len(list((self.tools / "concord").iterdir())), 1)

    def test_what_to_install(self):
        environment = {**tools(self.tools), "PATH": str(self.folder)}
        (self.folder / "sh").symlink_to("/bin/sh")
        ended = run(environment, "run", self.path, "-cosim_type", "jacobi")
        self.assertEqual(ended.returncode, 2)
        for words in ("no binary for this platform", "that for aarch64-linux runs here where the Debian packages",
                      "qemu-user", "gcc-aarch64-linux-gnu", "concord serve"):
            self.assertIn(words, ended.stderr)

    def test_compiler_fails(self):
        environment = tools(self.tools)
        script(self.tools / "aarch64-linux-gnu-gcc", "echo no headers; exit 1")
        ended = run(environment, "run", self.path, "-cosim_type", "jacobi")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("cannot be compiled with 'aarch64-linux-gnu-gcc': no headers", ended.stderr)
        self.assertEqual(list((self.tools / "concord").iterdir()), [])

    def test_another_folder(self):
        self.fails(2, ["no binary for the platform 'win64'"], "-cosim_type", "jacobi", "-subsystem_fmu_platform",
                   "win64")


class Ends(FmuTest):
    """Hosts and binaries that are none, and FMUs that end their process."""

    def refused(self, *says, program=None, emulator="env"):
        if not (self.folder / "left.fmu").exists():
            moved(self.build("left"))
        self.fails(2, says, "-cosim_type", "jacobi", *given(program, emulator=emulator))

    def ended(self, behaviour, *says, options=(), **how):
        moved(self.build("left", behaviour=behaviour, **how))
        self.fails(1, says, "-cosim_type", "jacobi", *given(), *options)
        os.unlink(self.folder / "left.fmu")

    def test_hosts(self):
        self.refused("there is no program", program=self.folder / "none")
        self.refused("cannot start", "no_such_emulator", emulator="no_such_emulator")
        self.refused("ended with exit code 0", program=script(self.folder / "talks", "echo hello, world"))
        self.refused("answers nonsense", program=script(self.folder / "zeros", "head -c 999 /dev/zero"))
        self.refused("ended with exit code 3", program=script(self.folder / "ends", "exit 3"))
        half = script(self.folder / "half", r"printf '\001\000\000\000\000'; sleep 0.1; "
                      r"printf '\003\000\000\000\000ab'; sleep 1")
        self.fails(1, ["answers nonsense, before it was instantiated"], "-cosim_type", "jacobi", *given(half))

    def test_binaries(self):
        moved(self.build("left"), suffix=".so")
        whole = fmu_factory.zipfile.ZipFile(self.folder / "left.fmu")
        description = whole.read("modelDescription.xml")
        with fmu_factory.zipfile.ZipFile(self.folder / "left.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", description)
            archive.writestr("binaries/aarch64-linux/left.so", b"no library")
        self.refused("its binary for aarch64-linux cannot be loaded", "left.so")
        moved(self.build("left", defines=("WITHOUT_DO_STEP",)))
        self.refused("lacks the function fmi2DoStep")

    def test_calls(self):
        self.ended("crashes", "the FMU was ended by SIGABRT in fmi2Instantiate of subsystem 'left'")
        self.ended("crashes_later", "the FMU was ended by SIGSEGV in fmi2DoStep of subsystem 'left' (", "at t = ")
        self.ended("fatal", "fmi2DoStep", "fatal")
        self.ended("hangs", "has not returned after 0.3 s in fmi2DoStep", options=("-cosim_hang_limit", "0.3"))

    def test_nothing_is_left(self):
        """Concord is killed while the FMU computes for ever."""
        moved(self.build("left", behaviour="hangs"))
        path = self.model(("left",))
        alone = script(self.folder / "alone", f'echo $$ > "{self.folder}/process"\nexec "{host()}"')
        hangs = self.folder / "hangs"
        concord = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "run", path, "-cosim_type", "jacobi",
                                    *map(str, given(alone))], cwd=self.folder, stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, env={**os.environ, "FMU_HANGS": str(hangs)})
        wait_until(hangs.exists, "an endless call", concord)
        process = Path("/proc", (self.folder / "process").read_text().strip())
        concord.send_signal(signal.SIGKILL)
        concord.wait()
        wait_until(lambda: not process.exists(), "the end of the process")

    def test_isolated(self):
        """A process in a process: the one of the FMU dies, the one around it is revived, and both begin anew."""
        moved(self.build("left", behaviour="crashes_later", **STEPPED))
        ended = execute("run", self.model(("left",)), "-cosim_type", "jacobi", "-subsystem_isolated", *given())
        self.assertEqual(ended.returncode, 1)
        self.assertIn("was revived in a new process: the FMU was ended by SIGSEGV in fmi2DoStep", ended.stderr)
        self.assertIn("it was revived and ended in the same call again", ended.stderr)


if __name__ == "__main__":
    unittest.main()
