"""concord repair: what is cut, damaged or unfinished becomes readable as far as its rows are whole."""
import unittest

import h5py
from concord_runs import EXAMPLES, ModelTest, execute

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"
NAMES = ("time", "outputs/values", "inputs/values", "states/values")


class Repair(ModelTest):
    def run_to(self, name, *options):
        path = self.folder / name
        run = execute("run", BALL, "-cosim_step", 1e-3, "-cosim_checkpoint", self.folder / "run.chk",
                      "-cosim_checkpoint_epoch", 100, "-cosim_checkpoint_every", 1e-9, "-cosim_output", path,
                      *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def repaired(self, path, *says):
        run = execute("repair", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in says:
            self.assertIn(text, run.stdout)
        return run.stdout

    def require_first_rows(self, path, whole, at_least):
        with h5py.File(path) as file, h5py.File(whole) as other:
            rows = len(file["time"])
            self.assertGreaterEqual(rows, at_least)
            for name in NAMES:
                self.assertEqual(len(file[name]), rows)
                self.assertEqual(file[name][:].tobytes(), other[name][:rows].tobytes(), name)
            self.assertEqual(len(file["steps/size"]), rows - 1)
            events = list(file["events/what"])
            self.assertEqual(events, list(other["events/what"])[:len(events)])
            self.assertEqual(file.attrs["status"], "interrupted")
        self.assertEqual(execute("export", path, "-o", self.folder / "out.csv").returncode, 0)

    def test_sound(self):
        for options in ((), ("-cosim_record_split", 1e-4), ("-cosim_record_compression", 3)):
            path = self.run_to("run.h5", *options)
            before = path.read_bytes()
            self.repaired(path, "is sound: ", "status completed")
            self.assertEqual(path.read_bytes(), before)

    def test_unfinished(self):
        """Nothing is lost, so that no other file stays."""
        whole = self.run_to("whole.h5")
        path = self.folder / "run.h5"
        path.write_bytes(whole.read_bytes())
        with h5py.File(path, "r+") as file:
            file.attrs.modify("status", "running")
        self.assertNotIn("lost", self.repaired(path, "is repaired: ", "status interrupted"))
        self.require_first_rows(path, whole, 3000)
        self.assertFalse((self.folder / "run.h5.damaged").exists())

    def test_cut(self):
        """Anywhere behind the frame; the file as it was stays."""
        whole = self.run_to("whole.h5")
        content = whole.read_bytes()
        rows = []
        for part in (0.97, 0.8, 0.6):
            path = self.folder / "run.h5"
            cut = content[:int(part * len(content))]
            path.write_bytes(cut)
            self.assertEqual(execute("export", path).returncode, 2)
            self.repaired(path, "is repaired: ", "lost: ", "run.h5.damaged")
            self.require_first_rows(path, whole, 1)
            damaged = self.folder / "run.h5.damaged"
            self.assertEqual(damaged.read_bytes(), cut)
            damaged.unlink()
            with h5py.File(path) as file:
                rows.append(len(file["time"]))
        self.assertEqual(rows, sorted(rows, reverse=True))
        self.assertGreater(rows[0], 1000)

    def test_a_part_that_is_cut(self):
        whole = self.run_to("whole.h5")
        path = self.run_to("run.h5", "-cosim_record_split", 1e-4)
        part = sorted((self.folder / "run.h5.parts").iterdir())[-1]
        part.write_bytes(part.read_bytes()[:part.stat().st_size // 2])
        self.repaired(path, "is repaired: ", "lost: ", part.name)
        self.require_first_rows(path, whole, 1)
        self.repaired(path, "is sound: ")

    def test_what_cannot_be_repaired(self):
        text = self.model("experiment: {stop: 1}\n")
        whole = self.run_to("whole.h5")
        destroyed = self.folder / "destroyed.h5"
        destroyed.write_bytes(whole.read_bytes().replace(b"TREE", b"EERT"))
        before = destroyed.read_bytes()
        for path, says in ((text, "no HDF5 file"), (self.folder / "none.h5", "no such file"),
                           (destroyed, "cannot repair")):
            run = execute("repair", path)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
            self.assertIn(says, run.stderr)
        self.assertEqual(destroyed.read_bytes(), before)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".destroyed")], [])
        self.assertEqual(execute("repair").returncode, 2)


if __name__ == "__main__":
    unittest.main()
