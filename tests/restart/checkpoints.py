"""Checkpoint files: who may go on from them, what becomes of them when something goes wrong."""
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest
from itertools import product

import fmu_factory
import h5py
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS, execute, in_short, run_here
from patience import wait_until
from restart_runs import RestartTest, differences, largest_difference

BALL, THERMOSTAT = (EXAMPLES / name / f"{name}.yaml" for name in ("bouncing_ball", "thermostat"))
STEPS = ("-cosim_step", 5e-3)
FEW_STEPS = ("-cosim_step", 1e-2)  # with a checkpoint at each epoch
CELLS = """experiment: {start: 0, stop: 0.1}
templates:
  cell:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {x: x}}
subsystems:
  cell: {template: cell, repeat: {i: [1, 1000]}}
connections:
  - {connect: "cell[i].x -> cell[i+1].u", repeat: {i: [1, 999]}}
"""


def limited(size, *words):
    """The program with files of `size` bytes at most."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return subprocess.run([os.environ["CONCORD_PROGRAM"], *map(str, words)], capture_output=True,
                          text=True, check=False, preexec_fn=limit)


class Files(RestartTest):
    def stopped(self, model=TWO_MASS, steps=STEPS):
        """A run that a time limit has ended."""
        run = run_here(model, *self.options("parts", *steps), "-cosim_time_limit", 1e-3)
        self.assertEqual(run.returncode, 3, run.stderr)
        return run

    def goes_on(self, *options, model=TWO_MASS, restart="auto", ranks=1):
        return run_here(model, *self.options("parts", *STEPS), "-cosim_restart", restart,
                       *options, ranks=ranks)

    def refused(self, run, *says):
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)

    def test_what_a_stopped_run_says(self):
        run = self.stopped()
        self.assertIn(f"checkpoint            {self.folder}/parts.chk, t = ", run.stdout)
        run = self.goes_on("-cosim_stop", 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("note: goes on from t = ", run.stderr)
        with h5py.File(self.folder / "parts.h5") as file:
            self.assertEqual(file["time"][-1], 1.0)
            self.assertEqual(file.attrs["status"], "completed")

    def test_named_columns(self):
        """What a checkpoint holds can be read by others, and on any number of ranks is the same."""
        states = []
        for ranks in (1, 2):
            path = self.folder / f"columns{ranks}.h5"
            run = run_here(TWO_MASS, "-cosim_step", 1e-3, "-cosim_stop", 0.05, "-cosim_output", path,
                          "-cosim_checkpoint", path.with_suffix(".chk"), "-cosim_checkpoint_epoch", 10,
                          "-cosim_checkpoint_every", 1e-6, "-cosim_checkpoint_keep", 9, ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(f"{path.with_suffix('.chk')}.old") as file, h5py.File(path) as results:
                row = int(np.flatnonzero(np.isclose(results["time"], file.attrs["time"]))[0])
                self.assertEqual((file.attrs["macro_steps"], file.attrs["ranks"]), (row, ranks))
                self.assertEqual(list(file["subsystem_names"].asstr()), ["left", "right"])
                np.testing.assert_array_equal(file["subsystems/x"], results["states/values"][row])
                self.assertEqual(file["run/stepper/point/time"][:], results["time"][row])
                np.testing.assert_array_equal(file["network/stepper/point/outputs"][:, 0],
                                              results["outputs/values"][row])
                states.append(file["subsystems/x"][:])
        self.assertEqual(len(states[0]), 4)

    def test_a_time_limit_in_hours(self):
        for text, code in (("0:00:01", 0), ("00:61:00", 2), ("1:2", 2), ("-1:00:00", 2), ("0:0:0", 2)):
            run = run_here(TWO_MASS, "-cosim_output", self.folder / "t.h5",
                          "-cosim_time_limit", text)
            self.assertEqual(run.returncode, code, text)
            self.assertEqual("HH:MM:SS" in run.stderr, code == 2)

    def test_cut(self):
        """Anywhere; the unit tests cut at every byte."""
        self.stopped()
        path = self.folder / "parts.chk"
        whole = path.read_bytes()
        earlier = self.folder / "parts.chk.old"
        earlier.write_bytes(whole)
        for size in in_short(range(0, len(whole), 100), 300):
            path.write_bytes(whole[:size])
            run = self.goes_on(restart=path)
            self.refused(run, str(path), f"-cosim_restart {earlier}")
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.refused(self.goes_on(restart=path), "check value")
        run = self.goes_on(restart=earlier)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.whole(TWO_MASS, *STEPS)
        self.require_same()

    def test_who_may_not_go_on(self):
        self.stopped()
        before = (self.folder / "parts.h5").read_bytes()
        path = self.folder / "parts.chk"
        self.refused(self.goes_on("-cosim_type", "missiles"), "-cosim_type was not given",
                     "is 'missiles'")
        self.refused(self.goes_on("--set", "left.m=6"), "another model")
        self.refused(self.goes_on(model=BALL), "another model")
        other = self.model(TWO_MASS.read_text().replace("m: 5", "m: 5.5"))
        self.refused(self.goes_on(model=other), "another model", "with another text")
        self.refused(self.goes_on(restart=self.folder / "none.chk"), "is not there")
        self.refused(self.goes_on(restart=TWO_MASS), "is no checkpoint")
        self.refused(run_here(TWO_MASS, "-cosim_restart", "auto"), "-cosim_checkpoint FILE")
        self.assertEqual((self.folder / "parts.h5").read_bytes(), before)
        path.unlink()
        run = self.goes_on()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("goes on", run.stderr)

    def test_results_that_are_not_those_of_the_run(self):
        self.stopped()
        results = self.folder / "parts.h5"
        kept = results.read_bytes()
        run_here(TWO_MASS, "-cosim_step", 7e-4, "-cosim_output", results)
        self.refused(self.goes_on("-cosim_stop", 2.5), "does not fit", "another run")
        self.refused(self.goes_on("-cosim_stop", 2.5, restart=self.folder / "parts.chk"),
                     "cannot be continued", "another run", "-cosim_output")
        results.write_bytes(TWO_MASS.read_bytes())
        self.refused(self.goes_on(), "does not fit", "no HDF5 file")
        results.write_bytes(kept)
        self.assertEqual(self.goes_on().returncode, 0)

    def test_results_that_are_lost(self):
        """Not there, cut, damaged: the run goes on, its rows begin at the checkpoint, what is there is kept."""
        self.whole(TWO_MASS, *STEPS)
        self.assertEqual(self.goes_on("-cosim_stop", 1.0025).returncode, 0)
        results, checkpoint = self.folder / "parts.h5", self.folder / "parts.chk"
        kept, saved = results.read_bytes(), checkpoint.read_bytes()
        damages = {"not there": None, "empty": b"", "cut": kept[:len(kept) // 2],
                   "without its indices": kept.replace(b"TREE", b"EERT")}
        for (name, content), restart in in_short(list(product(damages.items(), ("auto", checkpoint))), 3):
            with self.subTest(name, restart=str(restart)):
                for path in (*self.folder.glob("parts.chk*"), *self.folder.glob("*.aside*")):
                    path.unlink()
                checkpoint.write_bytes(saved)
                results.unlink() if content is None else results.write_bytes(content)
                run = self.goes_on(restart=restart)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("without the rows before, which begin here in", run.stderr)
                aside = self.folder / "parts.h5.aside"
                self.assertEqual(aside.exists(), content is not None)
                if content is not None:
                    self.assertEqual(aside.read_bytes(), content)
                    self.assertIn(f"is kept as '{aside}'", run.stderr)
                self.require_tail()

    def require_tail(self):
        with h5py.File(self.folder / "parts.h5") as file, h5py.File(self.folder / "whole.h5") as whole:
            rows = len(file["time"])
            self.assertGreater(file["time"][0], 0)
            self.assertEqual(file.attrs["status"], "completed")
            for name in ("time", "outputs/values", "states/values"):
                self.assertEqual(file[name][:].tobytes(), whole[name][-rows:].tobytes(), name)

    def test_the_newest_that_works(self):
        """Of three that are kept; whichever is damaged, or is newer than the rows, is told."""
        options = (*self.options("parts", *FEW_STEPS), "-cosim_checkpoint_every", 1e-9)
        self.whole(TWO_MASS, *FEW_STEPS)
        for damaged in (1, 2):
            self.clear_parts()
            self.assertEqual(run_here(TWO_MASS, *options).returncode, 0)
            names = [self.folder / f"parts.chk{end}" for end in ("", ".old", ".old2")]
            self.assertEqual(sorted(self.folder.glob("parts.chk*")), names)
            for path in names[:damaged]:
                path.write_bytes(path.read_bytes()[:-7])
            run = run_here(TWO_MASS, *options, "-cosim_restart", "auto")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(f"('{names[damaged]}'); the checkpoint '{names[0]}' is cut or damaged", run.stderr)
            self.require_same()
        for path in names:
            path.write_bytes(b"Concord checkpt\n")
        self.refused(run_here(TWO_MASS, *options, "-cosim_restart", "auto"), "is cut or damaged")

    def clear_parts(self):
        for path in self.folder.glob("parts*"):
            path.unlink()

    def test_how_many_are_kept(self):
        for kept in in_short((1, 2, 5), 3, 1):
            self.clear_parts()
            run = run_here(TWO_MASS, *self.options("parts", *FEW_STEPS), "-cosim_checkpoint_every", 1e-9,
                          "-cosim_checkpoint_keep", kept)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(len(list(self.folder.glob("parts.chk*"))), kept)

    def test_rows_that_do_not_reach_the_newest(self):
        """As after a failure of the machine that took rows; the checkpoint before it has its rows."""
        options = (*self.options("parts", *FEW_STEPS), "-cosim_checkpoint_every", 1e-9)
        self.whole(TWO_MASS, *FEW_STEPS)
        self.assertEqual(run_here(TWO_MASS, *options, "-cosim_stop", 1.0025).returncode, 0)
        early = (self.folder / "parts.h5").read_bytes()
        old = [(self.folder / f"parts.chk{end}").read_bytes() for end in ("", ".old")]
        self.assertEqual(run_here(TWO_MASS, *options, "-cosim_restart", "auto").returncode, 0)
        (self.folder / "parts.h5").write_bytes(early)
        newer = self.folder / "parts.chk"
        (self.folder / "parts.chk.old").write_bytes(old[0])
        self.refused(run_here(TWO_MASS, *options, "-cosim_restart", newer),
                     "its results file does not fit", f"-cosim_restart {newer}.old")
        run = run_here(TWO_MASS, *options, "-cosim_restart", "auto")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"('{newer}.old'); the results file of '{newer}' does not fit", run.stderr)
        self.require_same()

    def test_a_full_disk(self):
        """At any size; the limit of the file size stands for it. Restarts go on when there is room again."""
        self.EPOCH, steps = 25, ("-cosim_step", 1e-3)
        options = self.options("parts", *steps)
        self.whole(TWO_MASS, *steps)
        size = (self.folder / "whole.h5").stat().st_size
        ended = 0
        rooms = in_short([int(size * (0.5 + 0.04 * i)) for i in range(12)], 4, 3)
        for room in rooms:
            self.clear_parts()
            run = limited(room, "run", TWO_MASS, *options, "-cosim_checkpoint_every", 1e-9)
            if run.returncode == 2:
                continue  # no room for the checkpoint at the start
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("cannot write the results file", run.stderr)
            began = any(self.folder.glob("parts.chk*"))
            ended += began
            run = run_here(TWO_MASS, *options, "-cosim_restart", "auto")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual("goes on from t = " in run.stderr, began)
            self.require_same()
        self.assertGreater(ended, len(rooms) // 2)

    def test_what_may_change_and_is_told(self):
        self.stopped()
        run = self.goes_on("-cosim_rtol", 1e-9, "-cosim_checkpoint_epoch", 7)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("-cosim_rtol was not given and is '1e-09' from here on", run.stderr)
        self.assertIn("-cosim_checkpoint_epoch was '5' and is '7' from here on", run.stderr)

    def test_a_stop_that_is_passed(self):
        """Nothing is left to do, and what is there stays."""
        options = self.options("parts", *STEPS)
        self.assertEqual(run_here(TWO_MASS, *options).returncode, 0)
        kept = {path: path.read_bytes() for path in self.folder.iterdir()}
        for restart in ("auto", self.folder / "parts.chk"):
            run = run_here(TWO_MASS, *options, "-cosim_restart", restart, "-cosim_stop", 1)
            self.refused(run, "it stands at t = ", "is to stop at t = 1 s; give a later -cosim_stop")
            self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir()}, kept)
        run = run_here(TWO_MASS, *options, "-cosim_restart", "auto")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_twice_from_one_copy(self):
        """Where no epoch has passed since, the run that goes on writes the copy that it had."""
        self.stopped()
        for _ in range(2):
            run = self.goes_on("-cosim_checkpoint_epoch", 10**6)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_later_stop(self):
        """With FMUs that refuse to go beyond a stop time which they have been told."""
        saved = ("state", "serialize", "variable", "directional")
        model = self.model("experiment: {stop: 1}\nsubsystems: {left: {fmu: left.fmu, start: {f: 1}}}\n")
        for version, kind in ((2, "me"), (3, "me"), (2, "cs"), (3, "cs")):
            with self.subTest(version=version, kind=kind):
                fmu_factory.build(self.folder, "left", version, kinds=(kind,), capabilities=saved)
                for name, more in (("whole", ()), ("parts", ("-cosim_stop", 0.52)),
                                   ("parts", ("-cosim_restart", "auto"))):
                    run = run_here(model, *self.options(name, "-cosim_step", 0.01, *more))
                    self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("goes on from t = ", run.stderr)
                self.assertEqual(differences(self.folder / "whole.h5", self.folder / "parts.h5"), [])

    def test_runs_that_do_not_get_on_say_so(self):
        options = (*self.options("parts", *STEPS), "-cosim_checkpoint_epoch", 100000)
        for _ in range(2):
            run = run_here(THERMOSTAT, *options, "-cosim_restart", "auto",
                          "-cosim_time_limit", 0.05)
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("warning: the run stops before macro-step 100000", run.stderr)
            self.assertIn("use a smaller -cosim_checkpoint_epoch", run.stderr)

    def test_what_is_no_checkpoint_stays(self):
        for name, content in (("notes.txt", "a text"), ("empty", "")):
            path = self.folder / name
            path.write_text(content)
            run = run_here(TWO_MASS, *self.options("parts"), "-cosim_checkpoint", path)
            self.refused(run, str(path), "left untouched")
            self.assertEqual(path.read_text(), content)
        run = run_here(TWO_MASS, *self.options("parts"), "-cosim_checkpoint",
                      self.folder / "parts.h5")
        self.refused(run, "parts.h5", "name the same file")
        run = run_here(TWO_MASS, *self.options("parts"), "-cosim_checkpoint", self.folder)
        self.refused(run, str(self.folder), "is no regular file")
        self.stopped()
        run = run_here(BALL, *self.options("other"), "-cosim_checkpoint",
                      self.folder / "parts.chk")
        self.refused(run, "of another model", "left untouched")
        link = self.folder / "link.chk"
        link.symlink_to(self.folder / "parts.chk")
        run = run_here(TWO_MASS, *self.options("parts", *STEPS), "-cosim_checkpoint", link)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(link.is_symlink())

    def test_no_room_for_the_checkpoint(self):
        """The limit of the file size stands for a full disk: room for the results alone."""
        model = self.model(CELLS)
        words = ("run", model, "-cosim_record", "none", "-cosim_step", 0.01, "-cosim_output",
                 self.folder / "parts.h5")
        room = 600_000
        self.assertEqual(limited(room, *words).returncode, 0)
        run = limited(room, *words, "-cosim_checkpoint", self.folder / "parts.chk")
        self.refused(run, "cannot write the checkpoint", "File too large", "-cosim_checkpoint")
        self.assertEqual([path.name for path in self.folder.iterdir() if "chk" in path.name], [])
        run = run_here(TWO_MASS, *self.options("others"), "-cosim_checkpoint",
                      self.folder / "nowhere" / "a.chk")
        self.refused(run, "cannot write the checkpoint", "No such file", "-cosim_checkpoint")

    def test_a_checkpoint_that_cannot_be_written_on_the_way(self):
        """The run goes on; the last one before the folder went is the one to go on from."""
        wait_until(self.loses_its_folder, "a folder that goes before the run's end")

    def loses_its_folder(self):
        """Whether it was away before the run's end."""
        self.clear()
        folder, away = self.folder / "there", self.folder / "away"
        folder.mkdir()
        words = [os.environ["CONCORD_PROGRAM"], "run", THERMOSTAT, "-cosim_step", 1e-2,
                 "-cosim_output", self.folder / "parts.h5", "-cosim_checkpoint", folder / "a.chk",
                 "-cosim_checkpoint_epoch", 200, "-cosim_checkpoint_every", 1e-3]
        run = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        wait_until((folder / "a.chk").exists, "a checkpoint", run)
        folder.rename(away)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 0, errors)
        if "warning" not in errors:
            shutil.rmtree(away)
            return False
        self.assertIn("warning: cannot write the checkpoint", errors)
        self.assertIn("the run goes on", errors)
        away.rename(folder)
        again = execute(*words[1:], "-cosim_restart", "auto")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("goes on from t = ", again.stderr)
        return True

    def test_who_cannot_be_saved_is_told_at_the_start(self):
        fmu_factory.build(self.folder, "left", 2, kinds=("cs",), capabilities=("variable",))
        model = self.model("experiment: {stop: 1}\nsubsystems: {left: {fmu: left.fmu}}\n")
        run = run_here(model, *self.options("parts", "-cosim_type", "jacobi", *STEPS))
        self.refused(run, "subsystem 'left' cannot pass on what it remembers",
                     "canGetAndSetFMUState")

    def test_two_restarts_at_once(self):
        """The second comes while the first writes, and leaves all to it."""
        wait_until(self.meets_another, "a second restart before the first one's end")

    @unittest.skipUnless("CONCORD_LONG" in os.environ, "takes half a minute")
    def test_two_restarts_at_one_time(self):
        """Whichever is first."""
        steps = ("-cosim_step", 0.03)
        self.stopped(THERMOSTAT, steps)
        words = [os.environ["CONCORD_PROGRAM"], "run", THERMOSTAT,
                 *self.options("parts", *steps), "-cosim_restart", "auto"]
        runs = [subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        ends = [(run.communicate()[1], run.returncode) for run in runs]
        self.assertEqual(sorted(code for _, code in ends), [0, 2], ends)
        self.whole(THERMOSTAT, *steps)
        self.require_same()

    def meets_another(self):
        """Whether the first one was not at its end when it was halted."""
        self.clear()
        steps = ("-cosim_step", 0.5)
        self.stopped(THERMOSTAT, steps)
        words = ("run", THERMOSTAT, *self.options("parts", *steps), "-cosim_restart", "auto")
        first = subprocess.Popen([str(word) for word in (os.environ["CONCORD_PROGRAM"], *words)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            lock = self.folder / ".parts.h5.lock"
            while first.poll() is None and not (lock.exists() and str(first.pid) in lock.read_text()):
                time.sleep(1e-3)
            first.send_signal(signal.SIGSTOP)
            if not lock.exists():
                return False
            self.refused(execute(*words), f"another run is writing it (process {first.pid}")
        finally:
            first.send_signal(signal.SIGCONT)
            _, errors = first.communicate()
        self.assertEqual(first.returncode, 0, errors)
        self.whole(THERMOSTAT, *steps)
        self.require_same()
        return True


class Kills(RestartTest):
    """SIGKILL at random instants, again and again, then to the end."""
    EPOCH = 50
    CASES = ((BALL, 1, ("-cosim_type", "jfm", "-cosim_step", 2e-3)),
             (BALL, 2, ("-cosim_type", "missiles", "-cosim_step", 1e-3)),
             (TWO_MASS, 3, ("-cosim_adapt", "predictor", "-cosim_stop", 5)),
             (TWO_MASS, 1, ("-cosim_hold", "extrapolate", "-cosim_hold_order", 1, "-cosim_type",
                            "jacobi", "-cosim_balance", "constant", "-cosim_step", 1e-4)),
             (THERMOSTAT, 1, ("-cosim_type", "monolithic", "-cosim_step", 0.02)),
             (EXAMPLES / "linked_rods" / "linked_rods.yaml", 1, ("-cosim_step", 1e-3)),
             (TWO_MASS, 1, ("-subsystem_integrator", "cvode_bdf", "-cosim_step", 1e-3)),
             (TWO_MASS, 1, ("-cosim_step", 1e-4, "-cosim_record_split", 2e-4)),
             (BALL, 2, ("-cosim_step", in_short((5e-4, 4e-3), 2, 1)[0], "-cosim_record_split", 1e-4)))

    def go(self, *words, **how):
        """In a process of its own: how long that takes says when to kill others."""
        return execute("run", *words, **how)

    def test_kills(self):
        for model, ranks, options in in_short(self.CASES, 8):
            with self.subTest(model=model.name, ranks=ranks, options=options):
                self.clear()
                seconds = self.whole(model, *options, ranks=ranks)
                for _ in range(int(os.environ.get("KILLS", "1"))):
                    self.killed(model, *options, ranks=ranks,
                                after=self.random.uniform(0.1, 0.9) * seconds)
                run = self.go(model, *self.options("parts", *options), "-cosim_restart",
                              "auto", ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.require_same()

    def test_kills_and_other_ranks(self):
        options = ("-cosim_type", "jfm", "-cosim_step", 2e-3)
        seconds = self.whole(BALL, *options, ranks=2)
        for _ in range(int(os.environ.get("KILLS", "1"))):
            self.killed(BALL, *options, ranks=self.random.randint(1, 3),
                        after=self.random.uniform(0.1, 0.9) * seconds)
        run = self.go(BALL, *self.options("parts", *options), "-cosim_restart", "auto")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(largest_difference(self.folder / "whole.h5", self.folder / "parts.h5"),
                        1e-9)

    def test_signals(self):
        for name in in_short((signal.SIGTERM, signal.SIGUSR1, signal.SIGXCPU), 2, 1):
            wait_until(lambda number=name: self.stopped(number), "a signal before the run's end")
            run = self.go(THERMOSTAT, *self.options("parts", "-cosim_step", 0.02),
                          "-cosim_restart", "auto")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.require_same()

    def stopped(self, number):
        """A run to which a signal came behind its start, and before its end."""
        self.clear()
        self.whole(THERMOSTAT, "-cosim_step", 0.02)
        run = subprocess.Popen(
            [str(word) for word in (os.environ["CONCORD_PROGRAM"], "run", THERMOSTAT,
                                    *self.options("parts", "-cosim_step", 0.02))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until((self.folder / "parts.chk").exists, "a checkpoint", run)
        run.send_signal(number)
        out, errors = run.communicate()
        self.assertIn(run.returncode, (0, 3), errors)
        self.assertEqual("go on with -cosim_restart" in out, run.returncode == 3)
        return run.returncode == 3

    def test_a_chain_of_ten_limits(self):
        options = ("-cosim_step", 2e-2)

        def ten():
            """Unless the machine has become faster since the whole run, which was measured."""
            self.clear()
            seconds = self.whole(THERMOSTAT, *options)
            codes = self.disturbed(THERMOSTAT, *options, limits=[0.03 * seconds] * 10)
            self.require_same()
            return codes.count(3) == 10

        wait_until(ten, "ten parts before the end")


if __name__ == "__main__":
    unittest.main()
