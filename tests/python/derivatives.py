"""concord.gradient, concord.fit and concord.Function: what the commands tell, as Python values."""
import math
import tempfile
import unittest
import warnings
from pathlib import Path

import concord
import numpy as np
import pandas

MODEL = """
experiment: {start: 0, stop: 2}
subsystems:
  a:
    equations:
      parameters: {k: 1.5}
      states: {x: 2}
      derivatives: {x: -k*x}
      outputs: {x: x}
"""


class Derivatives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.folder / "decay.yaml"
        self.model.write_text(MODEL)

    def test_gradient(self):
        """x(2) = x0 exp(-2 k), by names and at other values."""
        g = concord.gradient(self.model, "final(a.x)", ["a.k", "a.x"])
        end = 2 * math.exp(-3)
        self.assertAlmostEqual(g.value, end, delta=1e-9)
        self.assertAlmostEqual(g.derivatives["a.k"], -2 * end, delta=1e-8)
        self.assertAlmostEqual(g.derivatives["a.x"], end / 2, delta=1e-8)
        self.assertLess(max(g.errors.values()), 1e-7)
        g = concord.gradient(self.model, "a.x", {"a.k": 0.5}, start_values={"a.x": 3})
        self.assertAlmostEqual(g.derivatives["a.k"], -6 * math.exp(-1), delta=1e-7)

    def test_fit_of_columns_and_files(self):
        time = np.linspace(0, 2, 11)
        data = {"time": time, "a.x": 3 * np.exp(-0.7 * time)}
        frame = pandas.DataFrame(data)
        frame.to_csv(self.folder / "data.csv", index=False)
        expected = {"a.k": 0.7, "a.x": 3.0}
        picture = self.folder / "fit.svg"
        for given in (data, frame, frame.set_index("time"), self.folder / "data.csv",
                      [self.folder / "data.csv"]):
            found = concord.fit(self.model, given, {"a.k": (0.1, 5), "a.x": None}, plot=picture)
            for name, value in expected.items():
                self.assertAlmostEqual(found.start_values[name], value, delta=1e-7)
            self.assertEqual(found.correlations.shape, (2, 2))
            self.assertEqual(list(found.deviations), ["a.x"])
        self.assertIn("fitted", picture.read_text())
        known = concord.fit(self.model, data, ["a.k", "a.x"], deviations={"a.x": 0.5})
        self.assertEqual(known.deviations["a.x"], 0.5)

    def test_function_is_what_optimisers_take(self):
        """(x(2) - 1)^2 is least where exp(-2 k) = 1/2."""
        f = concord.Function(self.model, "(a.x - 1)^2", ["a.k"], start=[0.5])
        k = f.start
        for _ in range(6):  # Gauss and Newton by hand: scipy is not asked for here
            value, slope = f.value_and_gradient(k)
            self.assertAlmostEqual(value, f(k), delta=1e-12)
            np.testing.assert_array_equal(slope, f.gradient(k))
            k = k - 2 * value / slope
        self.assertAlmostEqual(k[0], math.log(2) / 2, delta=1e-4)

    def test_finite_differences_are_noticed(self):
        f = concord.Function(self.model, "(a.x - 1)^2", ["a.k"], start=[0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for k in (0.5, 0.5, 0.6, 0.6 + 1e-11):
                f([k])
        for step in (2.0**-26, 0.5 * 2.0**-26, 0.5 * 2.0**(-52 / 3)):  # minimize, curve_fit, both with "3-point"
            f([0.5])
            with self.assertWarnsRegex(UserWarning, "apart look like finite differences.*jac=f.gradient"):
                f([0.5 + step])

    def test_wrong_calls(self):
        data = {"time": [0, 1], "a.x": [1, 2]}
        cases = {"'a.y'": lambda: concord.gradient(self.model, "a.y", ["a.k"]),
                 "--by 'a.q'": lambda: concord.gradient(self.model, "a.x", "a.q"),
                 "'time' among them": lambda: concord.fit(self.model, {"a.x": [1, 2]}, ["a.k"]),
                 "columns of one length": lambda: concord.fit(self.model, {**data, "b": [1]}, "a.k"),
                 "must be a name": lambda: concord.fit(self.model, data, {"a.k": (2, 1)}),
                 "too few for 2 numbers": lambda: concord.fit(self.model, data, ["a.k", "a.x"]),
                 "starts at as many": lambda: concord.Function(self.model, "a.x", ["a.k"], start=[1, 2]),
                 "found 2 numbers": lambda: concord.Function(self.model, "a.x", ["a.k"], start=[1])([1, 2])}
        for words, call in cases.items():
            with self.subTest(words=words):
                with self.assertRaisesRegex(concord.InputError, words):
                    call()


if __name__ == "__main__":
    unittest.main()
