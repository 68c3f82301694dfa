"""concord watch: a run that goes on, and how it ended."""
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from concord_runs import TWO_MASS, execute
from patience import HANGS, wait_until

BLOCKS = "▁▂▃▄▅▆▇█"
ENDLESS = ("-cosim_step", 1e-3, "-cosim_stop", 1e7)


class Watch(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.results = self.folder / "run.h5"

    def started(self, *options):
        run = subprocess.Popen(
            [str(word) for word in (os.environ["CONCORD_PROGRAM"], "run", TWO_MASS, *ENDLESS, "-cosim_output",
                                    self.results, *options)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        wait_until(lambda: "s apart" in execute("watch", "--once", self.results).stdout, "rows", run)
        return run

    def test_one_that_is_done(self):
        self.assertEqual(execute("run", TWO_MASS, "-cosim_output", self.results).returncode, 0)
        run = execute("watch", self.results)
        self.assertEqual(run.returncode, 0, run.stderr)
        line, end = run.stdout.splitlines()
        self.assertRegex(line, r"^100\.0 %  t = 2 s  \d+ rows, the last \S+ s apart  0 events$")
        self.assertEqual(end, "completed")

    def test_variables(self):
        """A rise is one; the outputs where none are chosen."""
        model = self.folder / "rise.yaml"
        model.write_text("experiment: {stop: 4}\nsubsystems:\n  car: {equations: {states: {x: 0}, derivatives: "
                         "{x: 2}, outputs: {x: x, rest: 1}, units: {x: m}}}\n")
        self.assertEqual(execute("run", model, "-cosim_step", 0.01, "-cosim_output", self.results).returncode, 0)
        run = execute("watch", self.results, "--once", "-v", "car.x")
        self.assertEqual(run.returncode, 0, run.stderr)
        title, _, line = run.stdout.splitlines()
        self.assertEqual(title, "rise, completed")
        name, value, unit, course = line.split()
        self.assertEqual((name, float(value), unit, len(course)), ("car.x", 8.0, "m", 48))
        heights = [BLOCKS.index(block) for block in course]
        self.assertEqual(heights, sorted(heights))
        self.assertEqual((heights[0], heights[-1]), (0, 7))
        names = [line.split()[0] for line in execute("watch", self.results, "--once").stdout.splitlines()[2:]]
        self.assertEqual(names, ["car.x", "car.rest"])

    def ends(self, run, number, code, said, *options):
        watch = self.enterContext(subprocess.Popen(
            [os.environ["CONCORD_PROGRAM"], "watch", self.results, "--every", "0.1", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        line = watch.stdout.readline()
        self.assertRegex(line, r"t = \S+ s  \d+ rows, the last 0.00\d+ s apart  0 events  left \d+:\d\d:\d\d$")
        run.send_signal(number)
        rest, errors = watch.communicate(timeout=HANGS)
        self.assertEqual((watch.returncode, errors), (code, ""))
        self.assertIn(said, rest.splitlines()[-1])

    def test_one_that_goes_on_and_is_stopped(self):
        run = self.started("-cosim_checkpoint", self.folder / "run.chk")
        self.ends(run, signal.SIGTERM, 3, "interrupted")

    def test_one_that_is_killed(self):
        self.ends(self.started(), signal.SIGKILL, 1, "is no more")

    def test_refusals(self):
        for words, said in (((self.results,), "there is no such file"), ((), "takes one results file"),
                            ((self.results, "--every", "0"), "--every takes seconds")):
            run = execute("watch", *words)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main()
