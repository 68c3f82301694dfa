"""-cosim_record_split: rows in several files of bounded size, which one file shows as its own."""
import os
import resource
import shutil
import signal
import subprocess
import unittest

import h5py
import numpy as np
from concord_runs import (EXAMPLES, LOTKA_VOLTERRA, PICTURES, SPRING_MASS, TWO_MASS, ModelTest, execute, in_short,
                          run_here)
from running import RunningTest

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"
OF_THE_CLOCK = ("_time", "runs/", "ranks/", "parts/")
STEPS = ("-cosim_step", 1e-3)
SPLIT = ("-cosim_record_split", 4e-4)


def content(path):
    """Values of datasets, attributes, and scales of dimensions."""
    values, attributes, scales = {}, {}, {}

    def take(name, item):
        attributes.update({(name, key): repr(value) for key, value in item.attrs.items()
                           if "LIST" not in key})
        if isinstance(item, h5py.Dataset):
            values[name] = item[()]
            scales[name] = [[scale.name for scale in dim.values()] for dim in item.dims]

    with h5py.File(path) as file:
        file.visititems(take)
        attributes.update({key: repr(value) for key, value in file.attrs.items()
                           if key not in ("run", "command_line", "petsc_options")})
    return values, attributes, scales


class SplitTest(ModelTest):
    def run_to(self, name, model, *options, ranks=1):
        path = self.folder / name
        run = run_here(model, "-cosim_output", path, *options, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def parts(self, path):
        """As the file names them; nothing else is there."""
        folder = path.parent / f"{path.name}.parts"
        with h5py.File(path) as file:
            named = [path.parent / name for name in file["parts/name"].asstr()]
        self.assertEqual(sorted(folder.iterdir()), named)
        return named

    def require_same(self, whole, split):
        one, other = content(whole), content(split)
        for name, values in one[0].items():
            if not any(word in name for word in OF_THE_CLOCK):
                again = other[0][name]
                self.assertEqual(values.shape, again.shape, name)
                same = (list(values) == list(again) if values.dtype == object
                        else values.tobytes() == again.tobytes())
                self.assertTrue(same, name)
        self.assertEqual({name for name in other[0] if name not in one[0]},
                         {"parts/name", "parts/rows", "parts/steps", "parts/events"})
        self.assertEqual(one[1], {name: text for name, text in other[1].items()
                                  if "parts" not in name[0]})
        self.assertEqual(one[2], {name: text for name, text in other[2].items()
                                  if "parts" not in name})

    def refused(self, *words, says=()):
        run = execute(*words)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)


class Same(SplitTest):
    CASES = ((1, SPRING_MASS, ("-cosim_step", 5e-3)),
             (2, TWO_MASS, ("-cosim_type", "missiles", "-cosim_step", 5e-4)),
             (3, TWO_MASS, ("-cosim_type", "jacobi", "-cosim_step", 5e-4, "-cosim_record",
                            "outputs,states,balance")),
             (2, BALL, STEPS),
             (1, BALL, ("-cosim_step", 3e-4, "-cosim_record_variables", "ball.h")),
             (1, LOTKA_VOLTERRA, ("-cosim_record", "outputs,polynomials",
                                  "-cosim_output_interval", 2e-3)))

    def test_same_numbers_in_files_of_bounded_size(self):
        for number, (ranks, model, options) in in_short(list(enumerate(self.CASES)), 2):
            with self.subTest(model=model.name, ranks=ranks, options=options):
                whole = self.run_to(f"whole{number}.h5", model, *options, ranks=ranks)
                split = self.run_to(f"split{number}.h5", model, *options, *SPLIT, ranks=ranks)
                parts = self.parts(split)
                self.assertGreater(len(parts), 2)
                self.assertLess(max(part.stat().st_size for part in parts), 4e5)
                self.require_same(whole, split)
                with h5py.File(split) as file:
                    for extent, name in (("rows", "time"), ("steps", "steps/size"),
                                         ("events", "events/time")):
                        self.assertEqual(sum(file[f"parts/{extent}"]), len(file[name]))

    def test_commands(self):
        whole = self.run_to("whole.h5", BALL, *STEPS)
        split = self.run_to("split.h5", BALL, *STEPS, *SPLIT)
        compared = execute("compare", whole, split)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("largest 0.000000e+00", compared.stdout)
        tables = [execute("export", path, "-o", self.folder / f"{path.stem}.csv")
                  and (self.folder / f"{path.stem}.csv").read_text() for path in (whole, split)]
        self.assertEqual(*tables)
        if PICTURES:
            self.assertEqual(execute("plot", split).returncode, 0)
            self.assertTrue(split.with_suffix(".png").read_bytes().startswith(b"\x89PNG"))
        efforts = execute("schedule", BALL, "-cosim_schedule_efforts", split)
        self.assertEqual(efforts.returncode, 0, efforts.stderr)

    def test_a_results_table_of_another_model(self):
        split = self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-4, *SPLIT)
        model = self.model(
            "experiment: {start: 0, stop: 1}\nsubsystems:\n"
            "  road:\n    table: {file: split.h5, outputs: {x: left.x}}\n"
            "  car:\n    equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, "
            "outputs: {x: x}}\nconnections:\n  - road.x -> car.u\n")
        shown = self.run_to("car.h5", model, "-cosim_step", 1e-2)
        with h5py.File(split) as file, h5py.File(shown) as car:
            names = list(file["outputs/names"].asstr())
            x = np.interp(car["time"][:], file["time"][:],
                          file["outputs/values"][:, names.index("left.x")])
            column = list(car["outputs/names"].asstr()).index("road.x")
            self.assertLess(np.max(np.abs(car["outputs/values"][:, column] - x)), 1e-12)

    def test_moved_together(self):
        split = self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-4, *SPLIT)
        before = content(split)[0]["outputs/values"]
        (self.folder / "there").mkdir()
        for name in ("split.h5", "split.h5.parts"):
            shutil.move(self.folder / name, self.folder / "there" / name)
        moved = self.folder / "there" / "split.h5"
        self.assertEqual(content(moved)[0]["outputs/values"].tobytes(), before.tobytes())
        self.assertEqual(execute("export", moved).returncode, 0)

    def test_a_part_is_a_results_file(self):
        split = self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-4, *SPLIT)
        times = []
        for part in self.parts(split):
            self.assertEqual(execute("export", part, "-o", self.folder / "p.csv").returncode, 0)
            with h5py.File(part) as file:
                self.assertEqual(file.attrs["status"], "part")
                times += list(file["time"])
        with h5py.File(split) as file:
            self.assertEqual(times, list(file["time"]))

    def test_compression(self):
        whole = self.run_to("whole.h5", TWO_MASS, *STEPS)
        split = self.run_to("split.h5", TWO_MASS, *STEPS, "-cosim_record_split", 1e-4,
                            "-cosim_record_compression", 3, ranks=2)
        self.assertGreater(len(self.parts(split)), 1)
        for part in self.parts(split):
            with h5py.File(part) as file:
                self.assertEqual(file["time"].compression, "gzip")
        one, other = content(whole)[0], content(split)[0]
        for name in ("time", "outputs/values", "states/values", "steps/size"):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-12)
        self.assertEqual(execute("compare", whole, split).returncode, 0)


class InTheWay(SplitTest):
    def setUp(self):
        super().setUp()
        self.split = self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-4, *SPLIT)

    def require_named(self, part, *says):
        for words in (("export", self.split), ("plot", self.split),
                      ("compare", self.split, self.split)):
            self.refused(*words, says=(f"split.h5.parts/{part.name}", *says))

    def test_a_missing_part(self):
        part = self.parts(self.split)[1]
        part.unlink()
        self.require_named(part, "it is missing")
        with h5py.File(self.split) as file:  # others read on, and see that there is nothing
            first, gone = file["parts/rows"][:2]
            values = file["outputs/values"][:]
            self.assertTrue(np.isnan(values[first:first + gone]).all())
            self.assertEqual(np.isnan(values).any(axis=1).sum(), gone)
            self.assertEqual((file["steps/iterations"][:] == -1).sum(), file["parts/steps"][1])

    def test_a_part_that_is_cut_off(self):
        part = self.parts(self.split)[1]
        with open(part, "r+b") as file:
            file.truncate(part.stat().st_size // 2)
        self.require_named(part, "truncated")

    def test_a_part_with_less_rows(self):
        for number in (1, -1):
            part = self.parts(self.split)[number]
            with h5py.File(part, "r+") as file:
                rows = len(file["time"])
                file["time"].resize((rows - 1,))
            self.require_named(part, f"'/time' has {rows - 1} rows, not {rows}")
            self.setUp()

    def test_a_part_of_another_run(self):
        other = self.run_to("other.h5", TWO_MASS, "-cosim_step", 1.9e-4, *SPLIT)
        part = self.parts(self.split)[1]
        shutil.copy(self.parts(other)[1], part)
        self.require_named(part, "it is that of another run")

    def test_earlier_parts_go_and_foreign_files_stay(self):
        folder = self.folder / "split.h5.parts"
        before = set(folder.iterdir())
        foreign = folder / "notes.txt"
        foreign.write_text("mine")
        again = self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-3, *SPLIT)
        with h5py.File(again) as file:
            named = {self.folder / name for name in file["parts/name"].asstr()}
        self.assertEqual(set(folder.iterdir()), named | {foreign})
        self.assertFalse(named & before)
        self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-3)  # one file
        self.assertEqual(list(folder.iterdir()), [foreign])
        with h5py.File(again) as file:
            self.assertNotIn("parts", file)
        foreign.unlink()
        self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-3, *SPLIT)
        self.run_to("split.h5", TWO_MASS, "-cosim_step", 2e-3)
        self.assertFalse(folder.exists())

    def test_a_run_that_does_not_start_leaves_the_earlier_one(self):
        model = self.model(TWO_MASS.read_text().replace("experiment:", "experiment: "))
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        run = run_here(model, "-cosim_output", self.split, *SPLIT, "-cosim_step", 1e-3,
                      "-cosim_restart", self.folder / "none.chk")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(before, {path: path.read_bytes() for path in self.folder.rglob("*")
                                  if path.is_file()})

    def test_parts_of_a_copied_file_stay(self):
        copy = self.folder / "copy.h5"
        shutil.copy(self.split, copy)
        self.run_to("copy.h5", TWO_MASS, "-cosim_step", 2e-3, *SPLIT)
        self.assertEqual(execute("export", self.split).returncode, 0)

    def test_a_file_under_the_folders_name(self):
        way = self.folder / "new.h5.parts"
        way.write_text("mine")
        self.refused("run", TWO_MASS, "-cosim_output", self.folder / "new.h5", *SPLIT,
                     says=("new.h5.parts' is not a folder", "choose another file"))
        self.assertEqual(way.read_text(), "mine")
        self.assertFalse((self.folder / "new.h5").exists())

    def test_a_full_disk(self):
        """A limit on the size of files stands for it: rows fit into the first parts only, and those that do are kept, also
        where the run is shorter than the time between two flushes."""
        path = self.folder / "full.h5"
        words = ("run", BALL, "-cosim_step", 1e-4, "-cosim_output", path)
        for limit, parts, least in ((100000, ("-cosim_record_split", 2e-4), 0), (320000, SPLIT, 0), (320000, (), 0),
                                    (600000, (), 1000), (1000000, (), 3000)):
            def limited(limit=limit):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            run = subprocess.run([os.environ["CONCORD_PROGRAM"], *map(str, (*words, *parts))],
                                 capture_output=True, text=True, check=False, preexec_fn=limited)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
            self.assertIn("File too large; it keeps its first ", run.stderr)
            with h5py.File(path) as file:
                self.assertEqual(file.attrs["status"], "failed")
                self.assertIn(f"its first {len(file['time'])} rows", run.stderr)
                self.assertGreaterEqual(len(file["time"]), least)
                self.assertFalse(np.isnan(file["outputs/values"][:]).any())

    def test_values_that_are_none(self):
        for value in (0, -1, "much"):
            self.refused("run", TWO_MASS, "-cosim_record_split", value,
                         says=("cosim_record_split",))


class Running(RunningTest):
    def test_read_while_parts_are_begun(self):
        for ranks in (1, 2):
            run, path = self.begin(*SPLIT, *(("-cosim_realtime", 5) if self.PACE else ()), ranks=ranks)
            self.read_until(path, lambda sizes: sizes[-1] > 5000)
            exported = execute("export", path, "-o", self.folder / "now.csv")
            again = exported.returncode and execute("export", path, "-o", self.folder / "now.csv")
            self.assertFalse(again and again.returncode, exported.stderr)
            self.end(run, signal.SIGKILL if ranks == 1 else signal.SIGTERM)
            self.assertEqual(execute("export", path, "-o", self.folder / "now.csv").returncode, 0)
            with h5py.File(path) as file:
                self.assertGreater(len(file["time"]), 5000)
                self.assertGreater(len(file["parts/name"]), 2)

    @unittest.skipUnless(PICTURES, "pictures need the Python package")
    def test_plot_follows(self):
        run, path = self.begin(*SPLIT)
        self.require_plot_follows(run, path)


if __name__ == "__main__":
    unittest.main()
