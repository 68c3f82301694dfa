"""What is recorded may change where a run goes on; its course keeps its bits."""
import shutil
import unittest

import h5py
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS, execute, in_short, run_here
from restart_runs import RestartTest, differences

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"
STEPS = ("-cosim_step", 1e-3)
PARTS = ("-cosim_record_split", 2e-4)


class RecordingTest(RestartTest):
    EPOCH = 100

    def leg(self, *options, model=TWO_MASS, file="parts.h5", to=2, ranks=1):
        """A part of the run, from the checkpoint if there is one."""
        return run_here(model, *STEPS, *options, "-cosim_output", self.folder / file,
                       "-cosim_checkpoint", self.folder / "parts.chk", "-cosim_checkpoint_epoch",
                       self.EPOCH, "-cosim_checkpoint_every", 1e-9, "-cosim_restart", "auto",
                       "-cosim_stop", to, ranks=ranks)

    def whole(self, model, *options, ranks=1):
        super().whole(model, *options, "-cosim_stop", 2, ranks=ranks)

    def goes_on(self, *options, says=(), **how):
        run = self.leg(*options, **how)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)

    def refused(self, *options, says=(), **how):
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        run = self.leg(*options, **how)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)
        self.assertEqual(before, {path: path.read_bytes() for path in self.folder.rglob("*")
                                  if path.is_file()})

    def rows(self, file, name="outputs/values"):
        with h5py.File(self.folder / file) as results:
            return {t: row.tobytes() for t, row in zip(results["time"][:], results[name][:])}

    def require_rows_of(self, whole, file, name="outputs/values"):
        """The same bits at the same times; the times of those rows."""
        all_rows, found = self.rows(whole, name), self.rows(file, name)
        for t, row in found.items():
            self.assertEqual(row, all_rows[t], t)
        return np.array(list(found))


class InTheSameFile(RecordingTest):
    def test_every_nth(self):
        for first, then in ((7, 3), (3, 7)):
            self.clear()
            self.whole(TWO_MASS, *STEPS)
            self.goes_on("-cosim_record_every", first, to=0.503)
            self.goes_on("-cosim_record_every", then, says=(
                f"-cosim_record_every was '{first}' and is '{then}' from here on",))
            t = self.require_rows_of("whole.h5", "parts.h5")
            apart = np.rint(np.diff(t) / 1e-3).astype(int)
            self.assertEqual(apart[0], first)
            self.assertEqual(apart[-2], then)
            others = [count for count in apart[:-1] if count not in (first, then)]
            self.assertLessEqual(len(others), 1)  # where the run went on
            with h5py.File(self.folder / "parts.h5") as a, \
                    h5py.File(self.folder / "whole.h5") as b:
                for sums in ("iterations", "coupling_evaluations", "rejections"):
                    self.assertEqual(np.sum(a[f"steps/{sums}"]), np.sum(b[f"steps/{sums}"]))
                self.assertEqual(list(a["runs/continues"].asstr()), ["", ""])

    def test_the_grid(self):
        self.whole(TWO_MASS, *STEPS, "-cosim_output_interval", 2.5e-3)
        self.goes_on("-cosim_output_interval", 1e-2, to=0.503)
        times = self.folder / "times.txt"
        times.write_text("1.5\n1.75\n")
        self.goes_on("-cosim_output_times", times, says=("-cosim_output_interval was '0.01' and is "
                     "not given from here on", "-cosim_output_times was not given"))
        t = self.require_rows_of("whole.h5", "parts.h5")
        self.assertEqual(list(t[-3:]), [1.5, 1.75, 2.0])
        with h5py.File(self.folder / "parts.h5") as a, h5py.File(self.folder / "whole.h5") as b:
            self.assertEqual(a["steps/size"][:].tobytes(), b["steps/size"][:].tobytes())

    def test_compression_and_parts(self):
        """One file, then parts, compressed, and no new ones any more; on other ranks."""
        self.whole(TWO_MASS, *STEPS, "-cosim_type", "jacobi")
        jacobi = ("-cosim_type", "jacobi")
        self.goes_on(*jacobi, to=0.503)
        self.goes_on(*jacobi, *PARTS, to=1.303, says=("-cosim_record_split was not given and is",))
        self.goes_on(*jacobi, *PARTS, "-cosim_record_compression", 2, to=1.903)
        with h5py.File(self.folder / "parts.h5") as file:
            names = list(file["parts/name"].asstr())
            self.assertGreater(len(names), 2)
            self.assertEqual(len(file["runs/host"]), 3)
        for name, compression in ((names[0], None), (names[-1], "gzip")):
            with h5py.File(self.folder / name) as part:
                self.assertEqual(part.attrs["status"], "part")
                self.assertEqual(part["time"].compression, compression)
        self.goes_on(*jacobi)
        self.require_same()
        self.assertEqual(execute("compare", self.folder / "whole.h5",
                                 self.folder / "parts.h5").returncode, 0)
        with h5py.File(self.folder / "parts.h5") as file:
            self.assertLessEqual(len(file["parts/name"]), len(names))

    def test_parts_that_a_restart_leaves_behind(self):
        """Those behind the checkpoint go."""
        self.whole(TWO_MASS, *STEPS)
        self.goes_on(*PARTS, to=0.503)
        checkpoint = self.folder / "parts.chk"
        early = checkpoint.read_bytes()
        self.goes_on(*PARTS)
        folder = self.folder / "parts.h5.parts"
        count = len(list(folder.iterdir()))
        checkpoint.write_bytes(early)
        self.goes_on(*PARTS, to=0.703)
        self.assertLess(len(list(folder.iterdir())), count)
        self.assertEqual(execute("export", self.folder / "parts.h5").returncode, 0)
        checkpoint.write_bytes(early)
        self.goes_on(*PARTS)
        self.require_same()

    def test_parts_that_are_not_those_of_the_run(self):
        self.goes_on(*PARTS, to=0.503)
        part = sorted((self.folder / "parts.h5.parts").iterdir())[0]
        kept = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        content = kept[part]
        self.whole(TWO_MASS, *STEPS)
        part.write_bytes(content[:len(content) // 2])
        self.goes_on(*PARTS, says=("without the rows before", part.name))
        for path in kept:
            path.write_bytes(kept[path])
        part.unlink()
        self.goes_on(*PARTS, says=("without the rows before", part.name, "it is not there"))
        for path in kept:
            path.write_bytes(kept[path])
        self.goes_on(*PARTS)
        self.require_same()


class InAnotherFile(RecordingTest):
    CHANGES = ((TWO_MASS, ("-cosim_record", "outputs"), ("-cosim_record", "states,inputs")),
               (TWO_MASS, ("-cosim_record", "none"), ()),
               (BALL, ("-cosim_record_variables", "ball.h"), ("-cosim_record_variables", "*.v")),
               (TWO_MASS, (), ("-cosim_output_interval", 2e-3)),
               (TWO_MASS, ("-cosim_output_interval", 3e-3, *PARTS), PARTS))

    def test_other_columns(self):
        for number, (model, first, then) in in_short(list(enumerate(self.CHANGES)), 2):
            with self.subTest(model=model.name, first=first, then=then):
                self.clear()
                ranks = 1 + number % 2
                self.whole(model, *STEPS, *then)
                self.goes_on(*first, model=model, to=0.503, ranks=ranks)
                self.refused(*then, model=model, says=("cannot go on with -cosim_record",
                                                       "choose another file with -cosim_output"))
                before = (self.folder / "parts.h5").read_bytes()
                self.goes_on(*then, model=model, file="next.h5", to=1.303, ranks=ranks,
                             says=("rows from here on are in", "next.h5', those before in",
                                   "parts.h5'"))
                self.goes_on(*then, model=model, file="next.h5", ranks=ranks)
                self.assertEqual((self.folder / "parts.h5").read_bytes(), before)
                self.require_tail(then)

    def require_tail(self, then):
        name = "states/values" if "states,inputs" in then else "outputs/values"
        t = self.require_rows_of("whole.h5", "next.h5", name)
        with h5py.File(self.folder / "next.h5") as file, \
                h5py.File(self.folder / "whole.h5") as whole:
            self.assertGreater(t[0], 0.0)
            self.assertEqual(t[-1], whole["time"][-1])
            self.assertEqual(len(t), np.count_nonzero(whole["time"][:] > t[0]) + 1)
            sizes = file["steps/size"][:]
            self.assertEqual(sizes.tobytes(), whole["steps/size"][-len(sizes):].tobytes())
            continues = list(file["runs/continues"].asstr())
            self.assertEqual([text.endswith("parts.h5") for text in continues], [True, False])

    def test_a_file_of_an_earlier_leg_stays(self):
        self.goes_on("-cosim_record", "outputs", to=0.503)
        self.goes_on("-cosim_record", "states", file="next.h5", to=1.303)
        self.refused("-cosim_record", "inputs", says=("parts.h5' was begun with",))
        self.goes_on("-cosim_record", "inputs", file="last.h5")

    def test_a_file_that_was_moved(self):
        """What is recorded has not changed, the file has another name."""
        self.whole(TWO_MASS, *STEPS)
        self.goes_on(*PARTS, to=0.503)
        shutil.move(self.folder / "parts.h5", self.folder / "moved.h5")
        self.goes_on(*PARTS, file="moved.h5")
        self.assertEqual(differences(self.folder / "whole.h5", self.folder / "moved.h5"), [])

    def test_balance_errors_cannot_begin_on_the_way(self):
        self.goes_on("-cosim_type", "jacobi", to=0.503)
        self.refused("-cosim_type", "jacobi", "-cosim_record", "outputs,balance", file="next.h5",
                     says=("balance errors add up from the start",))


if __name__ == "__main__":
    unittest.main()
