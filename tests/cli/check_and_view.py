"""What `concord check` and -cosim_view tell of a model and a method."""
import os
import pty
import re
import subprocess
import tempfile
import unittest

from concord_runs import ALGEBRAIC_LOOP, EXAMPLES, TWO_MASS, execute, write_model
from patience import HANGS

QUARTER_CAR = EXAMPLES / "quarter_car" / "quarter_car_force.yaml"


class Telling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def lines(self, *arguments, ranks=1):
        run = execute(*arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [re.sub(" +", " ", line.strip()) for line in run.stdout.splitlines()]

    def with_events(self):
        text = TWO_MASS.read_text(encoding="utf-8")
        return write_model(self.folder, "events", text + "events: [0.05, 0.0725]\n")


class Check(Telling):
    def test_execution_order(self):
        """Each after those whose outputs its own depend on directly; loops in braces."""
        self.assertIn("execution order: chassis wheel", self.lines("check", QUARTER_CAR))
        self.assertIn("execution order: { body fluid }", self.lines("check", ALGEBRAIC_LOOP))

    def test_schedule(self):
        for options, schedule in (([], "parallel: all subsystems at once"),
                                  (["-cosim_type", "gauss_seidel"], "sequential: [left, right]"),
                                  (["-cosim_type", "ifosmondi", "-cosim_schedule", "sequential"],
                                   "sequential: [left, right]"),
                                  (["-cosim_type", "hierarchical", "-cosim_schedule_weight", 1],
                                   "hierarchical: [left], [right]")):
            for ranks in (1, 2):
                self.assertIn(f"schedule: {schedule}",
                              self.lines("check", TWO_MASS, *options, ranks=ranks))

    def test_events(self):
        self.assertIn("events: none", self.lines("check", TWO_MASS))
        self.assertIn("events: 0.05, 0.0725 s", self.lines("check", self.with_events()))

    def test_large_models(self):
        """Those alike in one entry, the first connections and how many there are; -v: all."""
        text = """name: row
experiment: {stop: 0.1}
templates:
  cell:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {y: x, direct: u}
subsystems:
  source: {template: cell}
  cell: {template: cell, repeat: {i: [1, 60]}}
  other: {equations: {states: {x: 1}, derivatives: {x: -x}, outputs: {y: x}}}
connections:
  - {connect: "cell[i].y -> cell[i+1].u", repeat: {i: [1, 59]}}
"""
        path = write_model(self.folder, "row", text)
        short = self.lines("check", path)
        self.assertIn("subsystems: 62", short)
        self.assertIn("source, cell[1], cell[2] and 58 more (equations): 1 inputs, 1 states, 2 outputs",
                      short)
        self.assertIn("other (equations): 0 inputs, 1 states, 1 outputs", short)
        self.assertIn("and 56 more connections (-v lists them)", short)
        self.assertIn("(start value) -> source.u", short)
        self.assertIn("and 58 more of them (-v lists them)", short)
        self.assertLess(len(short), 50)
        for word in ("-v", "--verbose"):
            whole = self.lines("check", path, word)
            self.assertIn("subsystems:", whole)
            self.assertIn("cell[57] (equations): 1 inputs, 1 states, 2 outputs", whole)
            self.assertIn("cell[57].y -> cell[58].u", whole)
            self.assertFalse([line for line in whole if " more" in line])


class Notes(Telling):
    def test_units_that_are_none(self):
        """They are told by check and in the summary of a run."""
        text = TWO_MASS.read_text(encoding="utf-8").replace("x: m,", "x: smoot_,", 1)
        self.assertIn("smoot_", text)
        path = write_model(self.folder, "units", text.replace("connections:", "x_:", 1).split("x_:")[0])
        note = "the unit 'smoot_' of left.x is not known: it matches itself only"
        self.assertIn("note: " + note, self.lines("check", path))
        self.assertIn("note " + note, self.lines("run", path, "-cosim_stop", 0.1, "-cosim_output",
                                                 f"{self.folder}/units.h5"))

    def test_ranks_of_a_run(self):
        """`schedule` shows the ranks that a run with the same options uses."""
        for options, title in (((), "-cosim_type radau, parallel"),
                               (("-cosim_type", "gauss_seidel"), "gauss_seidel, sequential")):
            lines = self.lines("schedule", TWO_MASS, *options, ranks=2)
            place = next(i for i, line in enumerate(lines) if title in line)
            self.assertIn("ranks of a run with these options", lines[place])
            self.assertEqual(lines[place + 1:], ["rank 0: left", "rank 1: right"])


class Terminal(Telling):
    def test_progress_is_shown_and_ends_before_the_summary(self):
        leader, follower = pty.openpty()
        command = [os.environ["CONCORD_PROGRAM"], "run", str(TWO_MASS), "-cosim_stop", "0.1",
                   "-cosim_output", f"{self.folder}/shown.h5"]
        with subprocess.Popen(command, stdout=follower, stderr=follower) as process:
            process.wait(timeout=HANGS)
            os.close(follower)
            shown = os.read(leader, 100000).decode()
        os.close(leader)
        lines = re.split(r"[\r\n]+", shown)
        self.assertIn("two masses: radau, 2 subsystems on 1 rank, t from 0 to 0.1 s", lines)
        self.assertTrue(any(line.strip().startswith("100.0 %") for line in lines), shown)
        self.assertIn("two masses: completed at t = 0.1 s", lines)


class View(Telling):
    def view(self, *options, ranks=1):
        return self.lines("run", self.with_events(), "-cosim_view", "-cosim_stop", 0.1, "-cosim_step",
                          0.001, "-cosim_output", f"{self.folder}/view.h5", *options, ranks=ranks)

    def test_implicit(self):
        for ranks in (1, 2):
            lines = self.view("-cosim_adapt", "predictor", "-cosim_adapt_rtol", 1e-4, ranks=ranks)
            for line in ("schedule parallel: all subsystems at once",
                         "hold hermite, from a guess of the end of the macro-step",
                         "solve snes, first guess by missiles, rtol 1e-06, atol 1e-06, at most 50 "
                         "iterations",
                         "step control from 1e-09 to 0.001 s by predictor, rtol 0.0001, atol 0.0001",
                         "events 0.05, 0.0725 s"):
                self.assertEqual(lines.count(line), 1, line)

    def test_explicit(self):
        lines = self.view("-cosim_type", "hierarchical", "-cosim_hold_order", 2)
        for line in ("method hierarchical", "schedule hierarchical: [left, right]",
                     "hold zoh, order 2, from the past by lagrange", "balance none", "solve none",
                     "step control none: 0.001 s each"):
            self.assertIn(line, lines)
        lines = self.view("-cosim_type", "jacobi", "-cosim_balance", "smooth", "-cosim_balance_spread", 3,
                          "-cosim_smooth_switching")
        for line in ("hold zoh, order 0, from the past, switched smoothly",
                     "balance smooth, over 3 macro-steps"):
            self.assertIn(line, lines)


if __name__ == "__main__":
    unittest.main()
