"""concord fit: numbers, intervals and deviations against least squares on closed forms, and what is refused."""
import json
import unittest

import numpy as np
from concord_runs import PICTURES, TWO_MASS, ModelTest, execute
from gradient import STOP, TwoMasses

DECAY = """
experiment: {start: 0, stop: 3}
subsystems:
  a:
    equations:
      parameters: {k: 1, b: 2}
      states: {x: 1}
      derivatives: {x: -k*b*x}
      outputs: {x: x}
  c:
    equations:
      inputs: {u: 1}
      states: {s: 0}
      derivatives: {s: u}
      outputs: {s: s}
connections: [a.x -> c.u]
"""


def gauss_newton(model, start, deviations, data):
    """Numbers, standard deviations of them, residuals' deviation, by complex step."""
    numbers = dict(start)
    for _ in range(30):
        off = (model(numbers).real - data) / deviations
        by = np.array([model({**numbers, name: numbers[name] + 1e-30j}).imag.ravel() / 1e-30
                       for name in numbers]).T / np.broadcast_to(deviations, data.shape).ravel()[:, None]
        step = np.linalg.lstsq(by, -off.ravel(), rcond=None)[0]
        numbers = {name: value + s for (name, value), s in zip(numbers.items(), step)}
    variance = np.sum(off**2) / (off.size - len(numbers))
    return numbers, np.sqrt(variance * np.diag(np.linalg.inv(by.T @ by)))


class Fit(ModelTest):
    def fit(self, model, *words, code=0, ranks=1):
        path = self.folder / "fit.json"
        run = execute("fit", model, *words, "-o", path, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return json.loads(path.read_text()) if code == 0 else None, run

    def data(self, name, times, names, values):
        path = self.folder / name
        np.savetxt(path, np.column_stack([times, values]), delimiter=",", comments="", fmt="%.17g",
                   header=",".join(["time", *names]))
        return path

    def decay(self):
        path = self.folder / "decay.yaml"
        path.write_text(DECAY)
        return path

    def test_two_masses(self):
        """Two variables of two sizes of error in two files, against Gauss and Newton on matrix exponentials;
        ranks change nothing; the file of numbers is one for --parameters."""
        noise = np.random.default_rng(7)
        times = np.linspace(0, STOP, 61)

        def model(numbers):
            masses = TwoMasses(numbers)
            states = masses.at(times)
            return np.column_stack([states[:, 0], states @ masses.force])

        data = model({}).real + noise.standard_normal((61, 2)) * [0.05, 500.0]
        first = self.data("first.csv", times[:31], ["left.x", "right.f"], data[:31])
        second = self.data("second.csv", times[31:], ["right.f", "left.x"], data[31:, ::-1])
        words = [first, second, "--free", "left.m=2:12", "--free", "left.c", "--set", "left.m=9"]
        picture, yaml = self.folder / "fit.png", self.folder / "fit.yaml"
        found, _ = self.fit(TWO_MASS, *words, *(("--plot", picture) if PICTURES else ()), "-o", yaml)
        self.assertEqual(found, self.fit(TWO_MASS, *words, ranks=2)[0])
        if PICTURES:
            self.assertGreater(len(picture.read_bytes()), 5000)
        deviations = [one["deviation"] for one in found["variables"]]
        expected, spread = gauss_newton(model, {"left.m": 5.0, "left.c": 1e4}, deviations, data)
        for one, sigma in zip(found["numbers"], spread):
            self.assertAlmostEqual(one["value"], expected[one["name"]], delta=1e-2 * sigma)
            student = 1.9801  # of 120 values less 2
            self.assertAlmostEqual(one["half_width"], student * sigma, delta=1e-2 * sigma)
        self.assertAlmostEqual(deviations[0], 0.05, delta=0.015)
        self.assertAlmostEqual(deviations[1], 500, delta=150)
        self.assertLess(found["runs"], 90)
        run = execute("gradient", TWO_MASS, "--of", "left.x", "--parameters", yaml)
        value = TwoMasses({one["name"]: one["value"] for one in found["numbers"]}).at([STOP])[0, 0].real
        self.assertAlmostEqual(float(run.stdout.split("=")[1].split()[0]), value, delta=1e-7)

    def test_exact_data_and_start_values(self):
        times = np.linspace(0, 3, 13)
        data = self.data("exact.csv", times, ["a.x"], 1.7 * np.exp(-0.6 * times))
        found, _ = self.fit(self.decay(), data, "--free", "a.x=0.1:5", "--free", "a.k=0:10")
        numbers = {one["name"]: one for one in found["numbers"]}
        self.assertAlmostEqual(numbers["a.x"]["value"], 1.7, delta=1e-7)
        self.assertAlmostEqual(numbers["a.k"]["value"], 0.3, delta=1e-7)
        self.assertLess(numbers["a.k"]["half_width"], 1e-6)

    def test_parameters_of_the_model_and_of_systems(self):
        """Without a value they begin at the file's."""
        model = self.folder / "around.yaml"
        model.write_text("experiment: {start: 0, stop: 3}\nparameters: {g: 1}\nsubsystems:\n  s:\n    system:\n"
                         "      parameters: {gear: 0.5}\n      subsystems: {a: {equations: {states: {x: g}, derivatives: "
                         "{x: -2*gear*x}, outputs: {x: x}}}}\n")
        times = np.linspace(0, 3, 13)
        data = self.data("around.csv", times, ["s.a.x"], 1.7 * np.exp(-0.6 * times))
        found, _ = self.fit(model, data, "--free", "parameters.g", "--free", "s.gear=0.1:0.9")
        numbers = {one["name"]: one["value"] for one in found["numbers"]}
        self.assertAlmostEqual(numbers["parameters.g"], 1.7, delta=1e-7)
        self.assertAlmostEqual(numbers["s.gear"], 0.3, delta=1e-7)

    def test_deviations_that_are_known(self):
        """They count as they are given: intervals are theirs, not those of the residuals."""
        times = np.linspace(0, 3, 13)
        noise = 0.01 * np.random.default_rng(3).standard_normal(13)
        data = self.data("noisy.csv", times, ["a.x"], np.exp(-0.6 * times) + noise)
        words = [self.decay(), data, "--free", "a.k=0.01:10"]
        estimated = self.fit(*words)[0]
        given = self.fit(*words, "--deviation", "a.x=0.01")[0]
        self.assertTrue(given["variables"][0]["deviation_given"])
        self.assertEqual(given["variables"][0]["deviation"], 0.01)
        slope = -2 * times * np.exp(-2 * given["numbers"][0]["value"] * times)
        self.assertAlmostEqual(given["numbers"][0]["half_width"] / (1.959964 * 0.01 / np.linalg.norm(slope)), 1,
                               delta=1e-4)
        residual = estimated["variables"][0]["residual"] * np.sqrt(13 / 12)
        student = 2.178813  # of 13 values less 1
        self.assertAlmostEqual(estimated["numbers"][0]["half_width"] / (student * residual / np.linalg.norm(slope)), 1,
                               delta=1e-4)
        self.assertAlmostEqual(given["numbers"][0]["value"], estimated["numbers"][0]["value"], delta=1e-5)

    def test_fields_without_value(self):
        """Nothing was measured there: the fit, and a misfit, are those of the values that are there."""
        times = np.linspace(0, 3, 13)
        noise = 0.01 * np.random.default_rng(5).standard_normal((13, 2))
        values = np.column_stack([np.exp(-0.6 * times), (1 - np.exp(-0.6 * times)) / 0.6]) + noise
        gaps = np.zeros((13, 2), bool)
        gaps[[2, 5, 11], 0] = gaps[[0, 5], 1] = True
        data = self.data("gaps.csv", times, ["a.x", "c.s"], np.where(gaps, np.nan, values))
        data.write_text(data.read_text().replace("nan", ""))
        apart = [self.data(f"{name}.csv", times[~gaps[:, i]], [name], values[~gaps[:, i], i])
                 for i, name in enumerate(["a.x", "c.s"])]
        found, whole = (self.fit(self.decay(), *files, "--free", "a.k=0.01:10")[0] for files in ([data], apart))
        self.assertEqual([one["values"] for one in found["variables"]], [10, 11])
        for key in ("value", "half_width"):
            self.assertAlmostEqual(found["numbers"][0][key], whole["numbers"][0][key], delta=1e-6)
        costs = [float(execute("gradient", self.decay(), "--of", of).stdout.split("=")[1].split()[0])
                 for of in (f"misfit({data})", " + ".join(f"misfit({one})" for one in apart))]
        self.assertAlmostEqual(costs[0] / costs[1], 1, delta=1e-6)

    def test_bounds_and_numbers_that_the_data_do_not_tell(self):
        times = np.linspace(0, 3, 13)
        data = self.data("slow.csv", times, ["a.x", "c.s"],
                         np.column_stack([np.exp(-times), 1 - np.exp(-times)]))
        found, run = self.fit(self.decay(), data, "--free", "a.k=0.6:2")
        self.assertEqual(found["numbers"][0]["value"], 0.6)
        self.assertIn("at its lower bound", run.stdout)
        _, run = self.fit(self.decay(), data, "--free", "a.k=0.1:2", "--free", "a.b=0.1:4")
        self.assertIn("the data do not tell these numbers apart", run.stderr)

    def test_across_events(self):
        """A ball whose restitution is found from its heights, to rounding."""
        model = self.folder / "ball.yaml"
        model.write_text("""
experiment: {start: 0, stop: 1.5}
subsystems:
  ball:
    equations:
      parameters: {e: 0.7}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -9.81}
      when: [{condition: "h < 0 && v < 0", set: {v: -e*v}}]
      outputs: {h: h}
""")
        fall = np.sqrt(2 / 9.81)
        times = np.linspace(0, 1.2, 25)
        late = times - fall
        height = np.where(times < fall, 1 - 9.81 * times**2 / 2,
                          0.85 * 9.81 * fall * late - 9.81 * late**2 / 2)
        data = self.data("heights.csv", times, ["ball.h"], height)
        found, _ = self.fit(model, data, "--free", "ball.e=0.6:0.95")
        self.assertAlmostEqual(found["numbers"][0]["value"], 0.85, delta=1e-6)

    def test_refusals(self):
        model = self.decay()
        times = np.linspace(0, 3, 4)
        data = self.data("data.csv", times, ["a.x"], np.exp(-times))
        other = self.data("other.csv", times, ["a.y"], np.exp(-times))
        untimed, lone = self.folder / "untimed.csv", self.folder / "lone.csv"
        untimed.write_text("a.x,b\n0,1\n1,1\n")
        lone.write_text("time\n0\n1\n")
        (self.folder / "nothing.csv").write_text("time,a.x\n0,\n1,\n")
        for words, message in [
                ([data], "--free left.m=1:10"),
                (["--free", "a.k"], "needs measured data"),
                ([data, "--free", "a.k=2:1"], "--free 'a.k=2:1' must be a name"),
                ([data, "--free", "a.k=1"], "--free 'a.k=1' must be a name"),
                ([data, "--free", "a.q"], "--free 'a.q'"),
                ([data, "--free", "a.q=1:2"], "a.q"),
                ([other, "--free", "a.k"], "'a.y'"),
                ([data, "--free", "a.k", "--deviation", "a.x=0"], "a positive number"),
                ([data, "--free", "a.k", "--deviation", "a.y=1"], "the data have no such variable"),
                ([data, "--free", "a.k", "--free", "a.k=1:2"], "--free names 'a.k' twice"),
                ([untimed, "--free", "a.k"], "no column is called 'time'; the first one is 'a.x'"),
                ([lone, "--free", "a.k"], "has no column beside the time"),
                ([self.folder / "nothing.csv", "--free", "a.k"], "the column 'a.x' has no value at all"),
                ([data, "none.csv", "--free", "a.k"], "none.csv")]:
            with self.subTest(words=words):
                _, run = self.fit(model, *words, code=2)
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stderr.count("concord: error:"), 1)
        few = self.data("few.csv", times[:2], ["a.x"], np.exp(-times[:2]))
        _, run = self.fit(model, few, "--free", "a.k", "--free", "a.b", code=2)
        self.assertIn("too few for 2 numbers", run.stderr)


if __name__ == "__main__":
    unittest.main()
