"""Runs that are killed again and again, their restarts as well: at the n-th change of a file (a write, a
cut, another name), which is the same every time, and at random instants. After each kill the results file opens
and holds rows of the undisturbed run, and in the end it has that run's bits.

By itself: kill_chains.py --kills 3000 runs chains of all CASES (or of --cases) and prints a table.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import h5py
from concord_runs import EXAMPLES, TWO_MASS, in_short
from restart_runs import RestartTest, differences

BALL, THERMOSTAT, RODS, RING, STICK, SERVO = (EXAMPLES / name / f"{name}.yaml" for name in (
    "bouncing_ball", "thermostat", "linked_rods", "power_ring", "stick_slip", "servo"))
# Model, ranks, options, macro-steps of an epoch.
CASES = {
    "events": (BALL, 1, ("-cosim_type", "jfm", "-cosim_step", 1e-3), 100),
    "step control": (TWO_MASS, 1, ("-cosim_adapt", "predictor", "-cosim_stop", 5), 50),
    "parts": (BALL, 1, ("-cosim_step", 5e-4, "-cosim_record_split", 1e-4), 200),
    "two ranks": (BALL, 2, ("-cosim_type", "missiles", "-cosim_step", 1e-3), 100),
    "three ranks": (THERMOSTAT, 3, ("-cosim_step", 0.5, "-cosim_stop", 2000), 400),
    "constraint": (RODS, 2, (), 100),
    "network": (RING, 3, (), 25),
    "stick and slip": (STICK, 1, (), 20),
    "compressed": (BALL, 1, ("-cosim_step", 1e-3, "-cosim_record_compression", 4), 100),
    "grid": (TWO_MASS, 1, ("-cosim_step", 2e-3, "-cosim_stop", 2, "-cosim_output_interval", 3.1e-3), 100),
}
ROWS = ("time", "outputs/values", "inputs/values", "inputs/derivatives", "states/values")
STEPS = ("steps/size", "steps/iterations")


class Chain:
    """Of kills of one run, in a folder of its own."""
    def __init__(self, case, folder):
        self.model, self.ranks, self.options, self.epoch = case
        self.folder = Path(folder)
        self.whole, self.parts = self.folder / "whole.h5", self.folder / "parts.h5"
        began = time.time()
        run = self.begin("whole")
        _, errors = run.communicate()
        assert run.returncode == 0, errors
        self.seconds = time.time() - began
        with h5py.File(self.whole) as file:
            self.rows = {name: file[name][:] for name in (*ROWS, *STEPS)}
            self.what = list(file["events/what"])

    def begin(self, name, change=None, restart=()):
        """`change`: at which it kills itself."""
        launcher = ["mpirun", "--oversubscribe", "-n", str(self.ranks)] if self.ranks > 1 else []
        words = [*launcher, os.environ["CONCORD_PROGRAM"], "run", self.model, *self.options, "-cosim_output",
                 self.folder / f"{name}.h5", "-cosim_checkpoint", self.folder / f"{name}.chk",
                 "-cosim_checkpoint_epoch", self.epoch, "-cosim_checkpoint_every", 1e-9, *restart]
        environment = dict(os.environ)
        if change is not None:
            shim = os.environ["KILL_AT_WRITE_LIBRARY"]
            environment.update(KILL_AT_WRITE=str(change), KILL_LOG=str(self.folder / "changes"), KILL_RANK="0")
            if launcher:
                words[1:1] = ["-x", f"LD_PRELOAD={shim}"]
            else:
                environment.update(LD_PRELOAD=shim, OMPI_COMM_WORLD_RANK="0")
        return subprocess.Popen([str(word) for word in words], env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def restart(self, change=None):
        return self.begin("parts", change, ("-cosim_restart", "auto"))

    def changes(self):
        """Of files, in a run that nobody kills; the run's exit code."""
        run = self.restart(0)
        _, errors = run.communicate()
        assert run.returncode == 0, errors
        return len((self.folder / "changes").read_text().split())

    def killed_at(self, change):
        """Whether it was killed before its end."""
        run = self.restart(change)
        _, errors = run.communicate()
        self.check()
        assert run.returncode == 0 or "concord: error:" not in errors, errors
        return run.returncode != 0

    def killed_after(self, seconds):
        run = self.restart()
        try:
            _, errors = run.communicate(timeout=seconds)
            assert run.returncode == 0, errors
            return False
        except subprocess.TimeoutExpired:
            kill_all(run)
            run.communicate()
            self.check()
            return True

    def killed_soon_after_touch(self, seconds):
        """Of the folder, by a restart."""
        run = self.restart()
        before = self.state()
        while run.poll() is None and self.state() == before:
            pass
        time.sleep(seconds)
        kill_all(run)
        _, errors = run.communicate()
        assert "concord: error:" not in errors, errors
        self.check()
        return run.returncode != 0

    def state(self):
        found = set()
        for entry in os.scandir(self.folder):
            if "lock" in entry.name or "changes" in entry.name:
                continue
            try:
                found.add((entry.name, entry.stat().st_ino, entry.stat().st_mtime_ns))
            except FileNotFoundError:  # the run has just removed or renamed it
                continue
        return found

    def check(self):
        """What a kill has left."""
        if not self.parts.exists():
            return
        with h5py.File(self.parts) as file:
            assert file.attrs["status"] in ("running", "completed"), file.attrs["status"]
            rows = min(len(file[name]) for name in ROWS)
            assert rows > 0 or file.attrs["status"] == "running"
            steps = min(rows - 1, *(len(file[name]) for name in STEPS))  # fewer, where rows are those of a grid
            for name, count in [(name, rows) for name in ROWS] + [(name, max(steps, 0)) for name in STEPS]:
                assert file[name][:count].tobytes() == self.rows[name][:count].tobytes(), name
            events = min(len(file["events/time"]), len(file["events/outputs"]))
            assert list(file["events/what"][:events]) == self.what[:events]

    def finish(self):
        run = self.restart()
        _, errors = run.communicate()
        assert run.returncode == 0, errors
        found = differences(self.whole, self.parts)
        assert not found, found
        left = [path.name for path in self.folder.iterdir() if "aside" in path.name]
        assert not left, left

    def clear(self):
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.relative_to(self.folder).parts[0].startswith("whole"):
                continue
            if path.is_dir():
                path.rmdir() if not any(path.iterdir()) else None
            else:
                path.unlink()


class TriedAgain(Chain):
    """Of runs of which the first miss the accuracy: rows are those of whichever was killed."""
    def check(self):
        if self.parts.exists():
            h5py.File(self.parts).close()


def processes_below(parent):
    """The launcher first, so that it does not see them go."""
    found = [parent]
    for process in found:
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as children:
                    found += [int(child) for child in children.read().split()]
        except OSError:
            pass
    return found


def has_ended(process):
    """Whether it holds no file any more: it is gone, or a zombie that nobody has waited for yet."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def kill_all(run):
    """Until all have ended; the launcher is stopped before, so that it starts nobody else."""
    if run.poll() is None:
        os.kill(run.pid, signal.SIGSTOP)
    processes = processes_below(run.pid)
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while not all(has_ended(process) for process in processes):
        time.sleep(1e-3)


class Chains(RestartTest):
    def chain(self, name):
        return Chain(CASES[name], self.folder)

    def kill_at_all(self, name, step):
        """A chain: each restart is killed one change, or a few, later than the one before."""
        chain = self.chain(name)
        change, kills = 1, 0
        while chain.killed_at(change):
            change += step
            kills += 1
        self.assertGreater(kills, 3)
        chain.finish()

    def test_events(self):
        self.kill_at_all("events", 97)

    def test_tried_again(self):
        """Whichever of the runs is killed, its restart has the same aim, and those after it follow."""
        chain = TriedAgain((SERVO, 1, ("-subsystem_integrator", "erk"), 40), self.folder)
        change, kills = 1, 0
        while chain.killed_at(change):
            change += 199
            kills += 1
        self.assertGreater(kills, 3)
        chain.finish()

    def test_parts(self):
        self.kill_at_all("parts", 367)

    def test_two_ranks(self):
        self.kill_at_all("two ranks", 290)

    def kill_restarts(self, name, changes):
        """From one state that a kill has left, at one change after the other, up to where rows are appended
        again."""
        chain = self.chain(name)
        chain.killed_at(400)
        kept = {path: path.read_bytes() for path in self.folder.iterdir() if path.name.startswith("parts")}
        for i, change in enumerate(changes):
            chain.clear()
            for path, content in kept.items():
                path.write_bytes(content)
            self.assertTrue(chain.killed_at(change))
            if i % 5 == 0:
                chain.finish()

    def test_each_change_of_a_restart(self):
        self.kill_restarts("events", in_short(range(1, 400, 27), 3))

    def test_each_change_of_a_restart_on_two_ranks(self):
        self.kill_restarts("two ranks", in_short(range(1, 120, 17), 4))


def main():
    """Chains of all cases, until there were enough kills."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--kills", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=35)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--ranks", type=int, help="instead of those of each case")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    bad = 0
    for name in arguments.cases:
        model, ranks, *rest = CASES[name]
        case = (model, arguments.ranks or ranks, *rest)
        with tempfile.TemporaryDirectory() as folder:
            chain = Chain(case, folder)
            kills = dict.fromkeys(("at a change", "at random", "in the first 20 ms"), 0)
            chains = restarts = failures = 0
            changes = chain.changes()
            while sum(kills.values()) < arguments.kills / len(arguments.cases):
                chain.clear()
                try:
                    for _ in range(chance.randint(5, 25)):
                        how = chance.choice(list(kills))
                        restarts += 1
                        if how == "at a change":
                            kills[how] += chain.killed_at(chance.randint(1, int(0.5 * changes)))
                        elif how == "at random":
                            kills[how] += chain.killed_after(chance.uniform(0.0, 0.9) * chain.seconds)
                        else:
                            kills[how] += chain.killed_soon_after_touch(chance.uniform(0.0, 0.02))
                    chain.finish()
                except (AssertionError, OSError) as error:
                    failures += 1
                    print(f"{name}, chain {chains}: {error}", flush=True)
                chains += 1
            bad += failures
            print(f"{name:14} {case[1]} ranks, {chains} chains, {sum(kills.values())} kills of {restarts} starts "
                  f"({', '.join(f'{number} {how}' for how, number in kills.items())}): "
                  f"{failures} lost or different", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("--kills"):
        sys.exit(main())
    unittest.main()
