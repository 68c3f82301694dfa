"""A few of the calls that table.py lets fail one by one, and chains of kills, one more write into each."""
import random
import unittest

from concord_runs import ModelTest
from injection import FAILURES, KILLS, Injection, Stage
from scenes import scenes

SEED = 45


class InjectedTest(ModelTest):
    def stage(self, name):
        return Stage(scenes(self.folder)[name], self.folder)

    def require(self, stage, injections):
        for injection in injections:
            with self.subTest(scene=stage.scene.name, injection=str(injection)):
                outcome, found = stage.judge(injection)
                self.assertEqual(found, [], outcome)


class Failures(InjectedTest):
    """Calls that fail."""
    def some_fail(self, name, per_kind, ways, rank=0):
        stage = self.stage(name)
        _, chosen = stage.injections(per_kind, random.Random(SEED), ways, rank=rank)
        self.assertGreaterEqual(len(chosen), len(ways) - 2)  # some runs make no call of a kind
        self.require(stage, chosen)

    def test_results(self):
        self.some_fail("results", 1, FAILURES)

    def test_checkpoints_and_events(self):
        self.some_fail("events", 2, {kind: FAILURES[kind] for kind in ("write", "sync", "rename")})

    def test_files_that_fail_to_close(self):
        """HDF5 does not survive one of its own."""
        self.some_fail("results", 5, {"close": ("EIO",)})

    def test_disk_that_cannot_be_read(self):
        """A restart gives no rows up for it."""
        self.some_fail("restart", 5, {"open": ("EIO",)})

    def test_restart(self):
        self.some_fail("restart", 1, {kind: FAILURES[kind] for kind in ("write", "read", "hdf5", "allocate")})

    def test_two_ranks(self):
        stage = self.stage("two ranks")
        for rank, kind in enumerate(("write", "mpi")):
            _, chosen = stage.injections(1, random.Random(SEED), {kind: FAILURES[kind]}, rank=rank)
            self.assertEqual(len(chosen), 1)
            self.require(stage, chosen)

    def test_a_failure_is_seen(self):
        """What is not as promised is found: a file that others have damaged."""
        stage = self.stage("results")
        stage.rows = {name: values + 1.0 for name, values in stage.rows.items()}
        outcome, found = stage.judge(Injection("write", stage.count()["write"], "EIO"))
        self.assertEqual(outcome, "told, exit code 1")
        self.assertIn("rows that are not those of the run", " ".join(found))


class Killed(InjectedTest):
    """SIGKILL before a call, and in the midst of a write."""
    def test_kills(self):
        stage = self.stage("events")
        _, chosen = stage.injections(1, random.Random(SEED), KILLS)
        self.require(stage, chosen)

    def test_chain(self):
        stage = self.stage("events")
        self.assertGreater(stage.chain(step=90, first=40), 2)


if __name__ == "__main__":
    unittest.main()
