"""-cosim_schedule_efforts: times of an earlier run as efforts of schedules."""
import tempfile
import unittest
from pathlib import Path

import h5py
from concord_runs import TWO_MASS, execute, write_model

ROW = "".join(f"""  s{k}:
    equations:
      inputs: {{u: 0}}
      states: {{x: 1}}
      derivatives: {{x: u - x}}
      outputs: {{y: x}}
""" for k in range(4))
CHAIN = (f"name: chain of four\nexperiment: {{start: 0, stop: 1}}\nsubsystems:\n{ROW}connections:\n" +
         "".join(f"  - s{k}.y -> s{(k + 1) % 4}.u\n" for k in range(4)))


class Efforts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = write_model(self.folder, "chain", CHAIN)
        self.first = self.folder / "first.h5"
        self.succeed("run", self.model, "-cosim_type", "jacobi", "-cosim_output", self.first)

    def succeed(self, *arguments, ranks=1):
        run = execute(*arguments, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def set_times(self, times):
        with h5py.File(self.first, "r+") as file:
            file["subsystems/wall_time"][:] = times
            for other in ("linearize", "output", "rollback", "event"):
                file[f"subsystems/{other}_time"][:] = 0

    def refuse(self, *words, command="schedule", model=None):
        run = execute(command, model or self.model, "-cosim_schedule_efforts", self.first,
                      "-cosim_output", self.folder / "refused.h5", ranks=2)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error:"), 1, run.stderr)
        for word in ("-cosim_schedule_efforts", "first.h5", *words):
            self.assertIn(word, run.stderr)

    def test_measured_times_decide(self):
        """The slow one gets a group, and a rank, of its own; costs are of the measured times."""
        self.set_times([1e-3, 7e-3, 1e-3, 1e-3])
        weight = ["-cosim_schedule_weight", 1]
        text = self.succeed("schedule", self.model, "-cosim_schedule_efforts", self.first, *weight)
        self.assertIn("measured in", text)
        self.assertIn("s0 0.1000 s1 0.7000 s2 0.1000 s3 0.1000", text)
        self.assertIn("[s1]", text)
        self.assertIn("J_D = 0.7000", text)
        text = self.succeed("schedule", self.model, *weight)
        self.assertIn("guessed: states + 1", text)
        self.assertIn("J_D = 0.2500", text)

    def test_all_work_counts(self):
        self.set_times([1e-3, 1.1e-3, 1e-3, 0.9e-3])
        with h5py.File(self.first, "r+") as file:
            file["subsystems/linearize_time"][:] = [0, 0, 4e-3, 0]
            file["subsystems/event_time"][:] = [0, 0, 2e-3, 0]
        text = self.succeed("schedule", self.model, "-cosim_schedule_efforts", self.first)
        self.assertIn("s0 0.1000 s1 0.1100 s2 0.7000 s3 0.0900", text)

    def test_run_takes_them(self):
        self.set_times([1e-3, 7e-3, 1e-3, 1e-3])
        output = self.folder / "second.h5"
        text = self.succeed("run", self.model, "-cosim_type", "hierarchical", "-cosim_view",
                            "-cosim_schedule_efforts", self.first, "-cosim_schedule_weight", 0.9,
                            "-cosim_output", output, ranks=2)
        self.assertIn("[s1]", text)
        with h5py.File(output) as file:
            ranks = list(file["subsystems/rank"][:])
        self.assertEqual(len({ranks[0], ranks[2], ranks[3]}), 1)
        self.assertNotEqual(ranks[0], ranks[1])

    def test_really_measured(self):
        text = self.succeed("schedule", self.model, "-cosim_schedule_efforts", self.first)
        shares = [float(word) for word in text.splitlines()[0].split()[-7::2]]
        self.assertAlmostEqual(sum(shares), 1.0, delta=1e-3)
        self.assertGreater(min(shares), 0.0)

    def test_another_model(self):
        self.refuse("another model", "'chain of four'", "s0, s1, s2, s3", "two masses", model=TWO_MASS)
        self.refuse("another model", model=TWO_MASS, command="run")
        self.refuse("another model", model=TWO_MASS, command="check")

    def test_no_times(self):
        self.set_times([0, 0, 0, 0])
        self.refuse("holds no times")
        self.set_times([float("nan"), 1, 1, 1])
        self.refuse("holds no times")
        self.succeed("run", self.model, "-cosim_type", "monolithic", "-cosim_output", self.first)
        self.refuse("monolithic")

    def test_no_results(self):
        for path, reason in ((self.folder / "nothing.h5", "no such file"),
                             (self.model, "not an HDF5 file"), ("", "name of a results file")):
            run = execute("schedule", self.model, "-cosim_schedule_efforts", path)
            self.assertEqual(run.returncode, 2)
            self.assertIn(reason, run.stderr)


if __name__ == "__main__":
    unittest.main()
