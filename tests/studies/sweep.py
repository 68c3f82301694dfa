"""concord sweep: combinations, groups of ranks, failed runs, going on, the table."""
import csv
import os
import signal
import subprocess
import unittest

import h5py
import numpy as np
from concord_runs import TWO_MASS, ModelTest, execute
from patience import HANGS, wait_until

# A decay with its closed form; rate 0 is refused by the expression of its start.
DECAY = """
name: decay
experiment: {start: 0, stop: 1}
subsystems:
  tank:
    equations:
      parameters: {rate: 1, level: 2}
      inputs: {inflow: 0}
      states: {x: level}
      derivatives: {x: inflow - rate*x}
      outputs: {x: x}
  gauge:
    equations: {inputs: {x: 0}, states: {mean: 0}, derivatives: {mean: x}, outputs: {y: mean}}
connections: [tank.x -> gauge.x]
"""
# Far from t = 0.5 nobody knows the logarithm of a negative number.
FRAGILE = DECAY.replace("derivatives: {x: inflow - rate*x}",
                        "derivatives: {x: inflow - rate*x + 0*log(level - t)}")


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def without_times(path):
    return [{name: value for name, value in row.items() if name != "wall_time"} for row in table(path)]


class SweepTest(ModelTest):
    def sweep(self, model, *words, ranks=1, code=0, name="out"):
        path = self.folder / f"{name}.csv"
        run = execute("sweep", model, *words, "-o", path, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return path, run


class Sweep(SweepTest):
    def test_every_combination_and_its_results(self):
        path, _ = self.sweep(self.model(DECAY), "--set", "tank.rate=1,2", "--set", "tank.level=linspace(1, 3, 3)",
                             "--results", "tank.x:last,tank.x:max,tank.x:min,tank.x:rms", "-cosim_accuracy", 1e-7,
                             "-cosim_output_interval", 1e-3)
        rows = table(path)
        self.assertEqual([(row["tank.rate"], row["tank.level"]) for row in rows],
                         [(r, v) for r in "12" for v in "123"])
        for row in rows:
            rate, level = float(row["tank.rate"]), float(row["tank.level"])
            last = level * np.exp(-rate)
            rms = level * np.sqrt((1 - np.exp(-2 * rate)) / (2 * rate))
            for what, value in (("last", last), ("max", level), ("min", last), ("rms", rms)):
                self.assertAlmostEqual(float(row[f"tank.x:{what}"]), value, delta=1e-6 * level)
            with h5py.File(row["file"]) as file:
                self.assertEqual(file.attrs["status"], "completed")
                self.assertEqual(file["outputs/values"][-1, 0], float(row["tank.x:last"]))
        with h5py.File(path.with_suffix(".h5")) as file:
            np.testing.assert_array_equal(file["parameters/tank.level"], [1, 2, 3, 1, 2, 3])
            np.testing.assert_array_equal(file["results/tank.x:max"], [float(row["tank.x:max"]) for row in rows])
            self.assertEqual(file["file"].asstr()[4], rows[4]["file"])
            self.assertEqual(file.attrs["model_name"], "decay")

    def test_extremes_between_long_macro_steps(self):
        """x = sin(t): eight macro-steps a period, none of which ends at a peak."""
        model = self.model('''
name: swing
experiment: {start: 0, stop: 20}
subsystems:
  mass: {equations: {inputs: {F: 0}, states: {x: 0, v: 1}, derivatives: {x: v, v: F}, outputs: {x: x}}}
  spring: {equations: {parameters: {k: 1}, inputs: {x: 0}, outputs: {F: -k*x}}}
connections: [mass.x -> spring.x, spring.F -> mass.F]
''')
        path, _ = self.sweep(model, "--set", "spring.k=1", "--results", "mass.x:max,mass.x:min,mass.x:rms",
                             "-cosim_type", "radau", "-cosim_step", 0.8)
        row = table(path)[0]
        with h5py.File(row["file"]) as file:
            self.assertLess(np.max(file["outputs/values"][:, 0]), 0.9999)
        rms = np.sqrt((1 - np.sin(40) / 40) / 2)
        for what, value in (("max", 1), ("min", -1), ("rms", rms)):
            self.assertAlmostEqual(float(row[f"mass.x:{what}"]), value, delta=1e-4)

    def test_ranks_change_nothing(self):
        """Groups of one rank give the bits of one rank; groups of two what two ranks give."""
        words = ["--set", "left.m=1,2,5", "--set", "right.m=range(70, 90, 10)", "-cosim_stop", 0.2, "-cosim_step", 1e-3]
        alone, _ = self.sweep(TWO_MASS, *words)
        rows = [list(row.values())[-5:] for row in without_times(alone)]
        three, _ = self.sweep(TWO_MASS, *words, ranks=3, name="three")
        self.assertEqual([list(row.values())[-5:] for row in without_times(three)], rows)
        pairs, _ = self.sweep(TWO_MASS, *words, "--ranks_per_run", 2, ranks=5, name="pairs")
        np.testing.assert_allclose(
            np.array([list(row.values())[-5:] for row in without_times(pairs)], float), np.array(rows, float), rtol=1e-7)

    def test_failed_runs_are_kept_apart(self):
        model = self.model(FRAGILE)
        words = ["--set", "tank.level=2,0.5,a,3,0.7"]
        path, run = self.sweep(model, *words, ranks=2, code=1)
        self.assertEqual([row["exit_code"] for row in table(path)], ["0", "1", "2", "0", "1"])
        self.assertIn("t = 0.5", table(path)[1]["error"])
        self.assertIn("'a'", table(path)[2]["error"])
        self.assertEqual(table(path)[1]["tank.x:last"], "")
        self.assertEqual(run.stderr.count("concord: error: 3 of 5 runs failed: 2, 3, 5"), 1)
        with h5py.File(path.with_suffix(".h5")) as file:
            self.assertEqual(list(np.isnan(file["results/tank.x:last"])), [False, True, True, False, True])
            self.assertEqual(file["parameters/tank.level"].asstr()[2], "a")
        # What fails is tried again, what is done is not.
        before = table(path)
        _, again = self.sweep(model, *words, "--resume", "-cosim_stop", 0.3, code=1)
        self.assertEqual(again.stdout.count(": completed"), 2)
        self.assertEqual([row["exit_code"] for row in table(path)], ["0", "0", "2", "0", "0"])
        self.assertEqual(table(path)[0], before[0])
        _, other = self.sweep(model, "--set", "tank.level=2,0.6,a,3,0.7", "--resume", code=2)
        self.assertIn("other values", other.stderr)

    def test_all_wrong(self):
        _, run = self.sweep(self.model(DECAY), "--set", "tank.level=a,b", code=2)
        self.assertIn("'a'", run.stderr)

    def test_events_options_and_numbered_files(self):
        self.sweep(TWO_MASS, "--samples", self.samples("left.m,right.m\n4,70\n5,80\n"), "-cosim_output",
                   self.folder / "r.h5", "-cosim_summary", self.folder / "s.json", "-cosim_stop", 0.01)
        for name in ("r_1.h5", "r_2.h5", "s_1.json", "s_2.json", "out.csv", "out.h5"):
            self.assertTrue((self.folder / name).exists(), name)

    def samples(self, text):
        path = self.folder / "design.csv"
        path.write_text(text, encoding="utf-8")
        return path

    def test_refusals(self):
        model = self.model(DECAY)
        for words, named in (((), "--set"), (("--set", "tank.rat=1,2"), "rate"),
                             (("--set", "tank.rate=1", "--results", "tank.z"), "tank.x"),
                             (("--set", "tank.rate=1", "--results", "tank.x:mean"), "rms"),
                             (("--set", "tank.rate=uniform(1,2)"), "--latin"),
                             (("--set", "tank.rate=1", "--ranks_per_run", 2), "1 rank"),
                             (("--set", "tank.rate=1", "--latin", "x"), "whole number"),
                             (("--set", "tank.rate=1", "-cosim_typ", "jfm"), "cosim_type"),
                             (("--samples", self.folder / "no.csv"), "no.csv")):
            with self.subTest(words=words):
                _, run = self.sweep(model, *words, code=2)
                self.assertIn("concord: error: ", run.stderr)
                self.assertIn(named, run.stderr)


class Stopped(SweepTest):
    """Endless runs, stopped by a signal; then a sweep that is killed."""

    WORDS = ("--set", "left.m=range(1, 4)", "-cosim_stop")

    def begun(self, *words, ranks):
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        process = subprocess.Popen([*launcher, os.environ["CONCORD_PROGRAM"], "sweep", str(TWO_MASS), *map(str, words)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, path):
        wait_until(path.exists, path)

    def test_signal(self):
        path = self.folder / "out.csv"
        words = ["-cosim_step", 1e-3, "-cosim_checkpoint", self.folder / "c.chk", "-o", path]
        process = self.begun(*self.WORDS, 1e9, *words, ranks=2)
        self.wait_for(self.folder / "out" / "run_2.h5")
        process.send_signal(signal.SIGUSR1)  # mpirun passes it on
        stdout, stderr = process.communicate(timeout=HANGS)
        self.assertEqual(process.returncode, 3, stderr)
        self.assertIn("go on with --resume", stdout)
        self.assertEqual([row["exit_code"] for row in table(path)], ["3", "3"])

    def test_signals_between_runs(self):
        """A line is printed where a run has ended and the next has not begun."""
        for number in (signal.SIGTERM, signal.SIGINT):
            for _ in range(3):
                process = self.begun("--set", "left.m=range(1, 2000)", "-cosim_stop", 1e-3, "-o",
                                     self.folder / "out.csv", ranks=1)
                self.assertIn("run 1 of 2000", process.stdout.readline())
                process.send_signal(number)
                stdout, stderr = process.communicate()
                self.assertEqual(process.returncode, 3, stderr)
                self.assertIn("go on with --resume", stdout)

    def test_killed(self):
        """Of what was done nothing is lost, an unfinished line is done again."""
        path = self.folder / "out.csv"
        words = [*self.WORDS, 0.01, "-o", path]
        self.sweep(TWO_MASS, *words[:-2])
        whole = path.read_text(encoding="utf-8")
        before = without_times(path)
        lines = whole.splitlines(keepends=True)
        path.write_text("".join(lines[:3]) + lines[3][:20], encoding="utf-8")
        _, run = self.sweep(TWO_MASS, *words[:-2], "--resume", ranks=2)
        self.assertEqual(run.stdout.count(": completed"), 2)
        self.assertEqual(without_times(path), before)


if __name__ == "__main__":
    unittest.main()
