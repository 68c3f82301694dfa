"""What a results file says of the runs that have written it, and of its rows and columns."""
import datetime
import hashlib
import platform
import unittest

import fmu_factory
import h5py
from concord_runs import TWO_MASS, ModelTest, execute


class Provenance(ModelTest):
    def test_files_and_runs(self):
        fmu_factory.build(self.folder, "left", 2, kinds=("me",))
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n1,2\n")
        text = ("experiment: {start: 0, stop: 0.1}\nsubsystems:\n"
                "  road: {table: {file: road.csv}}\n  cart: {fmu: left.fmu, start: {f: 1}}\n")
        path, out = self.model(text), self.folder / "out.h5"
        run = execute("run", path, "-cosim_step", 0.01, "-cosim_rtol", 1e-7, "-cosim_output", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(out) as file:
            self.assertEqual(file.attrs["model_text"], text)
            names = [name.decode() for name in file["files/name"]]
            self.assertEqual([name.rsplit("/")[-1] for name in names],
                             ["left.fmu", "model.yaml", "road.csv"])
            for name, sha in zip(names, file["files/sha256"][:]):
                with open(name, "rb") as bytes_of_it:
                    self.assertEqual(hashlib.sha256(bytes_of_it.read()).hexdigest(), sha.decode())
            runs = {name: [text.decode() for text in file[f"runs/{name}"]] for name in file["runs"]}
        self.assertEqual({len(texts) for texts in runs.values()}, {1})
        self.assertEqual(runs["host"], [platform.node()])
        self.assertEqual(runs["ranks"], ["1"])
        started = datetime.datetime.fromisoformat(runs["started"][0])
        age = datetime.datetime.now(datetime.timezone.utc) - started
        self.assertLess(abs(age.total_seconds()), 60)
        for line in ("-cosim_rtol 1e-7", "-cosim_step 0.01", "-cosim_type jacobi"):
            self.assertIn(line, runs["options"][0].splitlines())
        for word in ("Concord ", "PETSc 3.", "SUNDIALS 6.", "HDF5 1.1", "Open MPI", "compiler "):
            self.assertIn(word, runs["versions"][0])

    def test_a_restart_adds_its_own(self):
        out, checkpoint = self.folder / "out.h5", self.folder / "run.chk"
        options = ("-cosim_step", 1e-3, "-cosim_output", out, "-cosim_checkpoint", checkpoint,
                   "-cosim_restart", "auto", "-cosim_checkpoint_epoch", 10)
        codes = [execute("run", TWO_MASS, *options, "-cosim_time_limit", 1e-9).returncode,
                 execute("run", TWO_MASS, *options, ranks=2).returncode]
        self.assertEqual(codes, [3, 0])
        with h5py.File(out) as file:
            self.assertEqual([text.decode() for text in file["runs/ranks"]], ["1", "2"])
            self.assertEqual(len(file["runs/started"]), 2)

    def test_dimension_scales(self):
        for grid in ((), ("-cosim_output_interval", 0.0073)):
            for ranks in (1, 2):
                out = self.folder / f"out{ranks}{len(grid)}.h5"
                run = execute("run", TWO_MASS, "-cosim_step", 1e-3, *grid, "-cosim_output", out,
                              ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                with h5py.File(out) as file:
                    for group in ("outputs", "inputs", "states"):
                        dims = file[f"{group}/values"].dims
                        self.assertEqual(dims[0][0], file["time"])
                        self.assertEqual(dims[1][0], file[f"{group}/names"])
                    steps = file["steps/time" if grid else "steps/size"]
                    self.assertTrue(h5py.h5ds.is_scale(steps.id))
                    self.assertEqual(file["steps/iterations"].dims[0][0], steps)
                    self.assertEqual(file["events/outputs"].dims[0][0], file["events/time"])
                    unlabelled = []
                    file.visititems(lambda name, item: unlabelled.append(name)
                                    if isinstance(item, h5py.Dataset) and not h5py.h5ds.is_scale(item.id)
                                    and not all(len(dim) for dim in item.dims) else None)
                    self.assertEqual(unlabelled, [])


if __name__ == "__main__":
    unittest.main()
