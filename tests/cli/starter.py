"""concord new: a starter that runs, with everything that its comments offer."""
import unittest

import h5py
import numpy as np
from concord_runs import ModelTest, execute


class Starter(ModelTest):
    def done(self, *words, code=0):
        run = execute(*words)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stdout if code == 0 else run.stderr

    def test_it_runs(self):
        """The closed form of the damped oscillation around -m g/k."""
        path = self.folder / "mine.yaml"
        self.assertIn(str(path), self.done("new", self.folder / "mine"))
        self.assertNotIn("note:", self.done("check", path))
        results = self.folder / "mine.h5"
        self.done("run", path, "-cosim_output", results, "-cosim_accuracy", 1e-7)
        with h5py.File(results) as file:
            self.assertEqual(file.attrs["model_name"], "mine")
            names = list(file["outputs/names"].asstr())
            time, x = file["time"][:], file["outputs/values"][:, names.index("mass.x")]
        m, k, d, g = 2, 50, 1.5, 9.81
        rest, decay = -m * g / k, d / (2 * m)
        w = np.sqrt(k / m - decay**2)
        exact = rest + (.5 - rest) * np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
        np.testing.assert_allclose(x, exact, atol=1e-6)

    def test_what_it_offers(self):
        path = self.folder / "all.yaml"
        self.done("new", path)
        text = path.read_text(encoding="utf-8")
        self.assertGreater(text.count("\n#+"), 9)
        path.write_text(text.replace("\n#+", "\n  "), encoding="utf-8")
        self.assertIn("controller", self.done("check", path))
        self.done("run", path, "-cosim_output", self.folder / "all.h5")

    def test_refusals(self):
        path = self.folder / "mine.yaml"
        path.write_text("precious", encoding="utf-8")
        for words, named in (((path,), "already"), ((), "one"), (("a", "b"), "one"), ((self.folder,), "folder"),
                             ((self.folder / "no" / "such",), "No such file")):
            with self.subTest(words=words):
                self.assertIn(named, self.done("new", *words, code=2))
        self.assertEqual(path.read_text(encoding="utf-8"), "precious")


if __name__ == "__main__":
    unittest.main()
