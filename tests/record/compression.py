"""-cosim_record_compression: the same numbers in a smaller file, also for runs that go on."""
import unittest
from itertools import product

import h5py
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, SPRING_MASS, ModelTest, execute, in_short, run_here

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"


def content(path):
    """Values, attributes, scales of dimensions and filters."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: list(item[:].ravel())})
                        if isinstance(item, h5py.Dataset) else None)
        attributes = {name: file.attrs[name] for name in file.attrs}
        labels = {name: [[scale.name for scale in dim.values()] for dim in file[name].dims]
                  for name in found}
        filters = {name: (file[name].compression, file[name].shuffle) for name in found}
    return found, attributes, labels, filters


class Compression(ModelTest):
    TIMES = ("_time", "runs/", "ranks/")

    def run_to(self, name, model, *options, ranks=1):
        path = self.folder / name
        run = run_here(model, "-cosim_output", path, *options, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def test_same_numbers(self):
        models = ((SPRING_MASS, ("-cosim_step", 2e-3)), (BALL, ()),
                  (LOTKA_VOLTERRA, ("-cosim_record", "outputs,polynomials", "-cosim_output_interval", 0.01)))
        for ranks, (model, options) in in_short(list(product((1, 2), models)), 2):
            name = model.stem
            plain = self.run_to(f"{name}{ranks}.h5", model, *options, ranks=ranks)
            small = self.run_to(f"{name}{ranks}_small.h5", model, *options,
                                "-cosim_record_compression", 4, ranks=ranks)
            one, other = content(plain), content(small)
            self.assertEqual(set(one[0]), set(other[0]))
            for dataset, values in one[0].items():
                if not any(word in dataset for word in self.TIMES):
                    self.assertEqual(repr(values), repr(other[0][dataset]), dataset)
            self.assertEqual(set(one[1]), set(other[1]))
            self.assertEqual(other[1]["status"], "completed")
            self.assertEqual(one[2], other[2])
            self.assertEqual(other[3]["time"], ("gzip", True))
            self.assertEqual(one[3]["time"], (None, False))
            self.assertEqual(list(self.folder.glob(".*h5*")), [])
            self.assertEqual(execute("compare", plain, small).returncode, 0)
        sizes = [(self.folder / f"spring_mass1{end}.h5").stat().st_size for end in ("", "_small")]
        self.assertLess(sizes[1], 0.8 * sizes[0])

    def test_a_run_that_goes_on(self):
        """Of a file that was compressed already: with a later stop."""
        options = ("-cosim_step", 1e-3, "-cosim_checkpoint", self.folder / "run.chk",
                   "-cosim_checkpoint_epoch", 100, "-cosim_checkpoint_every", 1e-9,
                   "-cosim_record_compression", 2)
        whole = self.run_to("whole.h5", SPRING_MASS, *options, "-cosim_stop", 2)
        for path in self.folder.glob("run.chk*"):
            path.unlink()
        self.run_to("parts.h5", SPRING_MASS, *options, "-cosim_stop", 1.05)
        parts = self.run_to("parts.h5", SPRING_MASS, *options, "-cosim_stop", 2, "-cosim_restart",
                            self.folder / "run.chk")
        one, other = content(whole), content(parts)
        for dataset in ("time", "outputs/values", "states/values", "steps/size"):
            self.assertEqual(one[0][dataset], other[0][dataset], dataset)
        self.assertEqual(len(other[0]["runs/host"]), 2)
        self.assertEqual(other[3]["time"], ("gzip", True))

    def test_refused(self):
        for value in (-1, 10, "much"):
            run = run_here(SPRING_MASS, "-cosim_record_compression", value)
            self.assertEqual(run.returncode, 2)
            self.assertIn("cosim_record_compression", run.stderr)


if __name__ == "__main__":
    unittest.main()
