"""-cosim_realtime: a run is no faster than the clock, and says where it was slower."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

from concord_runs import LOTKA_VOLTERRA, TWO_MASS, execute, simulate
from patience import HANGS, wait_until

STEPS = ("-cosim_step", 0.02, "-cosim_stop", 0.4)


class Realtime(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.results, self.summary = self.folder / "run.h5", self.folder / "run.json"

    def run_paced(self, *options, ranks=1, code=0):
        begin = time.monotonic()
        run = execute("run", TWO_MASS, *STEPS, "-cosim_output", self.results, "-cosim_summary", self.summary,
                      *options, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr)
        return run, json.loads(self.summary.read_text()), time.monotonic() - begin

    def values(self):
        with h5py.File(self.results) as file:
            return file["outputs/values"][:].tobytes()

    def test_no_faster_than_the_clock(self):
        self.run_paced()
        expected = self.values()
        for factor, ranks in ((1, 1), (0.5, 2)):
            run, summary, seconds = self.run_paced("-cosim_realtime", factor, ranks=ranks)
            self.assertGreaterEqual(seconds, 0.38 / factor)
            self.assertRegex(run.stdout, rf"by the clock +{factor:g} s in each second, \d+ of 20 macro-steps late")
            found = summary["realtime"]
            self.assertEqual(found["macro_steps"], 20)
            half, most, all_ = (found["passed_within"][share] for share in ("0.5", "0.99", "0.9999"))
            self.assertTrue(0 < half <= most <= all_, found)
            with h5py.File(self.results) as file:
                self.assertIn(f"{factor:g} s in each second, {found['late']} of 20", file.attrs["by_the_clock"])
            if ranks == 1:
                self.assertEqual(self.values(), expected)

    def test_locked(self):
        """Or told what is not: an ordinary user may lock neither."""
        run, _, _ = self.run_paced("-cosim_realtime", 100, "-cosim_realtime_lock", "-cosim_progress")
        told = "concord: note: -cosim_realtime_lock: the system does not let this be locked: "
        self.assertLessEqual(run.stderr.count(told), 1)
        allowed = subprocess.run(["chrt", "-f", "1", "true"], capture_output=True, check=False).returncode == 0
        self.assertEqual("scheduling (SCHED_FIFO: " in run.stderr, not allowed)
        self.assertRegex(run.stderr, r"100\.0 %.* late \d+")
        run, _, _ = self.run_paced("-cosim_realtime", 100, "-cosim_realtime_lock", ranks=3)
        self.assertEqual("more ranks than processors" in run.stderr, len(os.sched_getaffinity(0)) < 3)

    def test_late(self):
        """Nobody is fast enough for 10^9 s in each second."""
        fast = ("-cosim_realtime", 1e9)
        for late in ((), ("-cosim_realtime_late", "skip")):
            run, summary, _ = self.run_paced(*fast, *late)
            found = summary["realtime"]
            self.assertEqual((found["late"], sum(found["late_by_limit"])), (20, 20))
            self.assertGreater(found["latest"], 0)
            self.assertIn("20 of 20 macro-steps late, at most ", run.stdout)
            self.assertEqual(run.stderr.count("after its time"), 0 if late else 1)
        for ranks in (1, 2):
            run, summary, _ = self.run_paced(*fast, "-cosim_realtime_late", "fail", ranks=ranks, code=1)
            self.assertEqual(run.stderr.count("concord: error: "), 1)
            self.assertIn("t = 0.02 s: the macro-step was done", run.stderr)
            self.assertEqual(summary["status"], "failed")

    def test_no_time_left(self):
        """The prediction and as many corrections as must be, whose error the run knows."""
        cases = [(LOTKA_VOLTERRA, 0.1, "ifosmondi", 1, 1), (LOTKA_VOLTERRA, 0.1, "ifosmondi", 2, 2),
                 (LOTKA_VOLTERRA, 0.2, "jfm", 0, 0), (LOTKA_VOLTERRA, 0.2, "radau", 0, 1), (LOTKA_VOLTERRA, 0.2, "gauss", 1, 2),
                 (TWO_MASS, 0.01, "ifosmondi", 2, 2)]
        for model, step, method, corrections, iterations in cases:
            common = ("-cosim_step", step, "-cosim_stop", 60 * step)
            exact = simulate(model, *common, "-cosim_type", "gauss", "-cosim_nodes", 6)
            for ranks in (1, 2):
                with self.subTest(method=method, corrections=corrections, ranks=ranks):
                    run = simulate(model, *common, "-cosim_type", method, "-cosim_realtime", 1e9, "-cosim_realtime_late", "skip",
                                   "-cosim_realtime_anytime", corrections, ranks=ranks)
                    self.assertEqual(run.steps["iterations"].max(), iterations)
                    self.assertRegex(run.stdout, r"; \d+ ended before they had converged, at most \S+ times the coupling")
                    errors = np.abs(run.outputs.values - exact.outputs.values) / np.abs(exact.outputs.values).max(0)
                    if method != "gauss":  # whose error is that of `exact`
                        self.assertTrue(0.3 < run.error_estimate / np.max(errors) < 3, run.error_estimate)

    def test_missiles_with_no_time_left(self):
        """Where its prediction is far off, as in these coarse steps, it is corrected so often and no more."""
        model = self.folder / "coarse.yaml"
        model.write_text("""
experiment: {stop: 2}
subsystems:
  a: {equations: {inputs: {y: 0}, states: {x: 1, v: 0}, outputs: {x: "sin(2*x)"},
                  derivatives: {x: v, v: "-9*sin(x) + 8*sin(3*y)"}}}
  b: {equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: "-2*y + 3*cos(4*x)"}, outputs: {y: "y*(1 + y^2)"}}}
connections: [a.x -> b.x, b.y -> a.y]
""", encoding="utf-8")
        common = ("-cosim_step", 0.08, "-cosim_type", "missiles", "-cosim_diverged", "warn")
        self.assertGreater(simulate(model, *common).steps["iterations"].max(), 2)
        for corrections, ranks in ((0, 1), (1, 2), (2, 1)):
            with self.subTest(corrections=corrections, ranks=ranks):
                run = simulate(model, *common, "-cosim_realtime", 1e9, "-cosim_realtime_late", "skip",
                               "-cosim_realtime_anytime", corrections, ranks=ranks)
                self.assertEqual(run.steps["iterations"].max(), corrections)
                self.assertRegex(run.stdout, r"; \d+ ended before they had converged, at most \S+ times the coupling")

    def test_time_enough(self):
        """Four seconds for a macro-step that takes one millisecond."""
        choices = ("-cosim_type", "ifosmondi", "-cosim_stop", 0.02)
        self.run_paced(*choices)
        expected = self.values()
        _, summary, _ = self.run_paced(*choices, "-cosim_realtime", 0.005, "-cosim_realtime_anytime", 0)
        self.assertEqual(summary["realtime"]["ended_early"], 0)
        self.assertEqual(self.values(), expected)

    def test_a_signal_ends_the_wait(self):
        """The next macro-step would be due after hours."""
        run = subprocess.Popen(
            [str(word) for word in (os.environ["CONCORD_PROGRAM"], "run", TWO_MASS, *STEPS, "-cosim_output",
                                    self.results, "-cosim_realtime", 1e-6)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(run.kill)
        wait_until(self.results.exists, "a results file", run)
        run.send_signal(signal.SIGTERM)
        wait_until(lambda: run.poll() is not None or run.send_signal(signal.SIGTERM), "the end")
        self.assertEqual(run.wait(HANGS), 3)
        with h5py.File(self.results) as file:
            self.assertEqual(file.attrs["status"], "interrupted")

    def test_refusals(self):
        for words, said in ((("-cosim_realtime", 0), "cosim_realtime"), (("-cosim_realtime", -1), "cosim_realtime"),
                            (("-cosim_realtime_late", "later"), "warn, fail, skip"),
                            (("-cosim_realtime_anytime", -1), "cosim_realtime_anytime")):
            run = execute("run", TWO_MASS, *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)
        for words in (("-cosim_realtime_late", "fail"), ("-cosim_realtime_anytime", 0)):
            run, _, _ = self.run_paced(*words)
            self.assertIn(words[0], run.stdout)  # has no effect


if __name__ == "__main__":
    unittest.main()
