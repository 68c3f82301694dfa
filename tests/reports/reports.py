"""-cosim_summary, -cosim_trace, and the times in the results file agree with the run and each other."""
import json
import unittest
from pathlib import Path

import h5py
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS, ModelTest, execute
from patience import wait_until

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"
PHASES = ("step", "advance", "exchange", "solve", "estimate", "record", "checkpoint")
EARLY = 1.0  # the results file of a run that fails at this time has its rows up to there
FAILING = f"""experiment: {{start: 0, stop: 2}}
subsystems:
  a: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: sqrt({EARLY} - t) + u}}, outputs: {{y: x}}}}}}
"""


class Reports(ModelTest):
    def run_model(self, model, *options, ranks=1, code=0):
        """The summary's content, and what stdout says."""
        path = self.folder / "summary.json"
        self.results = self.folder / f"{model.stem}.h5"
        run = execute("run", model, "-cosim_output", self.results, "-cosim_summary", path, *options,
                      ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr)
        self.errors = run.stderr
        return json.loads(path.read_text()), run.stdout


class Summary(Reports):
    def test_is_what_the_results_file_says(self):
        for ranks in (1, 2):
            summary, _ = self.run_model(TWO_MASS, "-cosim_adapt", "predictor", ranks=ranks)
            with h5py.File(self.results) as file:
                self.assertEqual(summary["status"], file.attrs["status"])
                self.assertEqual(summary["model"], file.attrs["model_name"])
                self.assertEqual(summary["steps"]["accepted"], len(file["steps/size"]))
                self.assertEqual(summary["steps"]["rejected"], sum(file["steps/rejections"]))
                self.assertEqual(summary["steps"]["largest"], max(file["steps/size"]))
                self.assertEqual(summary["iterations"], sum(file["steps/iterations"]))
                self.assertEqual(summary["coupling_evaluations"],
                                 sum(file["steps/coupling_evaluations"]))
                self.assertEqual(summary["quality"]["worst_error"], file.attrs["error_estimate"])
                self.assertEqual(len(summary["ranks"]), ranks)
                for k, subsystem in enumerate(summary["subsystems"]):
                    self.assertEqual(subsystem["name"], file["subsystems/name"].asstr()[k])
                    self.assertEqual(subsystem["rank"], file["subsystems/rank"][k])
                    self.assertEqual(subsystem["rhs_evaluations"],
                                     file["subsystems/rhs_evaluations"][k])
                    for time in ("linearize", "output", "rollback", "event"):
                        self.assertEqual(subsystem[f"{time}_time"],
                                         file[f"subsystems/{time}_time"][k])

    def test_reasons_of_rejections(self):
        summary, out = self.run_model(BALL, "-cosim_step", 0.01)
        steps = summary["steps"]
        self.assertGreater(steps["rejected_for"]["event"], 5)
        self.assertEqual(sum(steps["rejected_for"].values()), steps["rejected"])
        self.assertIn(f"({steps['rejected']} rejected: {steps['rejected']} event)", out)
        summary, _ = self.run_model(TWO_MASS, "-cosim_type", "jacobi", "-cosim_hold", "extrapolate",
                                    "-cosim_hold_order", 2, "-cosim_adapt", "richardson")
        self.assertGreater(summary["steps"]["rejected_for"]["error"], 0)

    def test_of_runs_that_stop_or_fail(self):
        summary, _ = self.run_model(TWO_MASS, "-cosim_step", 1e-6, "-cosim_time_limit", 0.1, code=3)
        self.assertEqual(summary["status"], "interrupted")
        self.assertIn("-cosim_time_limit", summary["reason"])
        self.assertLess(summary["time"], 2)
        summary, _ = self.run_model(self.model(FAILING), "-cosim_step", 0.1, code=1)
        self.assertEqual(summary["status"], "failed")
        self.assertGreater(summary["subsystems"][0]["rhs_evaluations"], 0)
        self.assertIn("subsystem 'a'", summary["reason"])
        self.assertIn(summary["reason"], self.errors)
        self.assertAlmostEqual(summary["time"], EARLY, delta=0.11)

    def test_what_cannot_be_written_is_told_before_the_start(self):
        for option in ("-cosim_summary", "-cosim_trace"):
            run = execute("run", TWO_MASS, option, self.folder / "nowhere" / "a.json",
                          "-cosim_output", self.folder / "none.h5")
            self.assertEqual(run.returncode, 2)
            self.assertRegex(run.stderr, "cannot write '.*a.json': No such file.*" + option)
            self.assertFalse((self.folder / "none.h5").exists())

    def test_runs_that_do_not_begin_leave_files_as_they_are(self):
        path = self.folder / "summary.json"
        for content in (None, "an earlier one"):
            if content:
                path.write_text(content)
            run = execute("run", TWO_MASS, "-cosim_summary", path, "-cosim_output",
                          self.folder / "nowhere" / "a.h5")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(path.read_text() if path.exists() else None, content)

    def test_the_first_error_is_the_one_that_is_told(self):
        """Where the summary of a failed run cannot be written, that is a warning beside it."""
        if not Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        run = execute("run", self.model(FAILING), "-cosim_step", 0.1, "-cosim_summary", "/dev/full",
                      "-cosim_output", self.folder / "first.h5")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, "concord: error: .*subsystem 'a'")
        self.assertRegex(run.stderr, "concord: warning: .*/dev/full")
        self.assertEqual(run.stderr.count("concord: error"), 1)


class Trace(Reports):
    def test_intervals(self):
        path = self.folder / "trace.json"
        for ranks in (1, 2):
            summary, _ = self.run_model(TWO_MASS, "-cosim_trace", path, ranks=ranks)
            trace = json.loads(path.read_text())
            events = trace["traceEvents"]
            self.assertEqual(trace["otherData"]["intervals left out"], 0)
            names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                     if e["ph"] == "M" and e["name"] == "thread_name"}
            self.assertEqual({name for name in names.values() if name != "phases"},
                             {"left", "right"})
            self.assertEqual({pid for pid, _ in names}, set(range(ranks)))
            done = [e for e in events if e["ph"] == "X"]
            for rank in range(ranks):
                steps = [e for e in done if e["pid"] == rank and e["name"] == "step"]
                self.assertEqual(len(steps), summary["steps"]["accepted"])
                ends = [e["ts"] + e["dur"] for e in steps]
                self.assertTrue(all(e["ts"] >= end - 1 for e, end in zip(steps[1:], ends)))
                total = sum(e["dur"] for e in steps) * 1e-6
                self.assertAlmostEqual(total, summary["ranks"][rank]["step_time"],
                                       delta=1e-3 * total + 1e-6)
            advances = [e for e in done if e["tid"] > 0 and e["name"] == "advance"]
            self.assertEqual(len(advances), sum(s["advances"] for s in summary["subsystems"]))

    def test_of_a_run_that_fails(self):
        path = self.folder / "trace.json"
        self.run_model(self.model(FAILING), "-cosim_step", 0.1, "-cosim_trace", path, code=1)
        self.assertGreater(len(json.loads(path.read_text())["traceEvents"]), 10)


class Times(Reports):
    def times(self, method, ranks):
        """Of the phases per rank, and the sum of the macro-steps' own."""
        summary, out = self.run_model(
            TWO_MASS, "-cosim_type", method, "-cosim_diverged", "warn", "-cosim_checkpoint", self.folder / "a.chk",
            "-cosim_trace", self.folder / "all_macro_steps_are_timed.json", ranks=ranks)
        (self.folder / "a.chk").unlink()
        self.assertRegex(out, r"time in s +step [0-9.e-]+")
        self.assertLessEqual(summary["load_balance"], 1)
        with h5py.File(self.results) as file:
            self.assertTrue(np.all(file["ranks/memory"][:] > 1e6))
            return ({phase: file[f"ranks/{phase}_time"][:] for phase in PHASES},
                    sum(file["steps/wall_time"]))

    def test_phases_fit_into_macro_steps(self):
        for method in ("jfm", "missiles", "jacobi", "monolithic"):
            for ranks in (1, 2):
                def fit(method=method, ranks=ranks):
                    """Unless a rank had to wait for a processor between two clocks."""
                    times, steps = self.times(method, ranks)
                    for phase in ("solve", "estimate"):
                        self.assertTrue(np.all(times[phase] <= times["step"]), (method, phase))
                    self.assertTrue(np.all(times["checkpoint"] > 0))
                    self.assertTrue(np.all(times["record"] > 0))
                    # Each row of /steps has the clock of one of the ranks.
                    return 0.95 * min(times["step"]) < steps < 1.05 * sum(times["step"])

                wait_until(fit, f"phases within macro-steps of {method} on {ranks} ranks")


if __name__ == "__main__":
    unittest.main()
