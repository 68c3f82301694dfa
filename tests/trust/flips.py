"""Single bits that flip: in what a run remembers between two macro-steps (states, inputs, matrices, all else that
decides the next one), and in checkpoints on the disk; and what comes of it.

    PYTHONPATH=tests/support CONCORD_PROGRAM=build/bin/concord python3 tests/trust/flips.py --count 1000
        [--seed 0] [--where states,matrices,disk] [--jobs 2] [--details]

A flip in memory is made in the memory of a run that goes on from a checkpoint: the bit is changed in the file, and the
file's check value after it, so that the run begins with it as if it had flipped while it ran.
"""
import argparse
import json
import multiprocessing
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from concord_runs import run_here
from generated import made

ACCURACY = 1e-4
HEADER = struct.Struct("<16sIIQ")  # magic, format, check value, size (src/checkpoint/checkpoint_file.cpp)
CONTENT = 512
KEPT = 100
ONCE = ("-cosim_time_limit", "24:00:00")
LIMIT = 60

# Which datasets of a checkpoint's memory are what; the first that fits.
KINDS = (("states", r"subsystems/now/x$"),
         ("inputs", r"stepper/point/|subsystems/now/inputs|subsystems/past/pieces|/held/values$"),
         ("matrices", r"linearization|gains|local/at|part/last|factor|over_interval"),
         ("control", r""))

DETECTED, BELOW, WITHIN, NONE, CRASH, SILENT = ("detected", "below its estimate", "within the accuracy",
                                                "without effect", "crash", "wrong in silence")
OUTCOMES = (DETECTED, BELOW, WITHIN, NONE, CRASH, SILENT)


@dataclass
class Flip:
    where: str
    seed: int
    what: str            # dataset, element, bit; or byte of the file
    outcome: str = ""
    off: float = 0.0
    words: str = ""


def kind_of(name):
    return next(kind for kind, pattern in KINDS if re.search(pattern, name))


def write_check_value(path):
    """As Concord would have written it."""
    data = bytearray(path.read_bytes())
    magic, form, _, size = HEADER.unpack_from(data)
    HEADER.pack_into(data, 0, magic, form, zlib.crc32(data[CONTENT:]), size)
    path.write_bytes(data)


def results(path):
    with h5py.File(path) as file:
        return file["time"][:], file["outputs/values"][:], file["events/time"][:]


class Scene:
    """An undisturbed run with its checkpoints."""

    def __init__(self, seed, folder):
        self.seed, self.folder = seed, folder
        self.model = folder / "model.yaml"
        self.model.write_text(made(seed).yaml(), encoding="utf-8")
        self.rng = np.random.default_rng([20261128, seed])
        self.epoch = int(self.rng.integers(3, 9))
        self.good = self._run() and len(self.checkpoints) > 2

    def _words(self, name):
        return (self.model, *ONCE, "-cosim_output", self.folder / f"{name}.h5", "-cosim_summary",
                self.folder / f"{name}.json", "-cosim_checkpoint_epoch", self.epoch)

    def _run(self):
        ended = run_here(*self._words("whole"), "-cosim_checkpoint", self.folder / "whole.chk",
                         "-cosim_checkpoint_every", 1e-9, "-cosim_checkpoint_keep", KEPT, timeout=LIMIT)
        self.checkpoints = sorted(self.folder.glob("whole.chk.old*"))
        if ended.returncode != 0 or "NOT REACHED" in ended.stdout:
            return False
        self.time, self.values, self.events = results(self.folder / "whole.h5")
        return True

    def goes_on(self, checkpoint, name="flipped"):
        """What follows from a checkpoint."""
        for file in self.folder.glob(f"{name}.*"):
            file.unlink()
        whole, mine = self.folder / "whole.h5", self.folder / f"{name}.h5"
        shutil.copy(whole, mine)
        try:
            return run_here(*self._words(name), "-cosim_restart", checkpoint, "-cosim_checkpoint",
                            self.folder / f"{name}.out", timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return None

    def judged(self, flip, ended, name="flipped"):
        """What came of it."""
        if ended is None:
            flip.outcome, flip.words = DETECTED, "does not end"
            return flip
        said = [line for line in (ended.stdout + ended.stderr).splitlines() if "error:" in line]
        flip.words = said[-1] if said else ""
        told = "NOT REACHED" in ended.stdout or "inaccurate at" in ended.stdout or "damaged" in ended.stderr
        if ended.returncode != 0 or told:
            flip.outcome = DETECTED if ended.returncode in (0, 1, 2, 3) else CRASH
            return flip
        time, values, _ = results(self.folder / f"{name}.h5")
        if time.tobytes() == self.time.tobytes() and values.tobytes() == self.values.tobytes():
            flip.outcome = NONE
            return flip
        flip.off = self._difference(time, values)
        estimate = self._estimate(name)
        flip.outcome = BELOW if flip.off <= estimate else WITHIN if flip.off <= ACCURACY else SILENT
        return flip

    def _estimate(self, name):
        told = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))["quality"]
        return told["worst_error_of_range"] or 0.0

    def _difference(self, time, values):
        """At common times that are no events, of each signal's range."""
        _, mine, theirs = np.intersect1d(self.time, time, return_indices=True)
        size = np.ptp(self.values, axis=0)
        size = np.where(size > 0, size, 1.0)
        length = self.time[-1] - self.time[0]
        near = np.array([np.min(np.abs(self.events - t), initial=np.inf) <= ACCURACY * length for t in self.time[mine]])
        off = np.abs(self.values[mine] - values[theirs]) / size
        return float(np.max(np.where(near[:, None], 0.0, off), initial=0.0))

    # ---- flips ----

    def in_memory(self, kind):
        chosen = self.checkpoints[int(self.rng.integers(len(self.checkpoints)))]
        path = self.folder / "changed.chk"
        path.write_bytes(chosen.read_bytes())
        with h5py.File(path, "r+") as file:
            names = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.size
                            and name.split("/")[0] in ("subsystems", "network", "run") and kind_of(name) == kind
                            else None)
            if not names:
                return None
            name = names[int(self.rng.integers(len(names)))]
            data = file[name][...]
            raw = data.view(np.uint8).reshape(-1) if data.dtype.hasobject is False else None
            if raw is None:
                return None
            byte, bit = int(self.rng.integers(len(raw))), int(self.rng.integers(8))
            raw[byte] ^= np.uint8(1 << bit)
            file[name][...] = data
        write_check_value(path)
        flip = Flip(kind, self.seed, f"{name}[{byte // data.dtype.itemsize}] bit {byte % data.dtype.itemsize * 8 + bit}")
        return self.judged(flip, self.goes_on(path))

    def on_disk(self):
        chosen = self.checkpoints[int(self.rng.integers(len(self.checkpoints)))]
        path = self.folder / "changed.chk"
        data = bytearray(chosen.read_bytes())
        begin = CONTENT if self.rng.random() < 0.8 else 0
        byte, bit = int(self.rng.integers(begin, len(data) if begin else CONTENT)), int(self.rng.integers(8))
        data[byte] ^= 1 << bit
        path.write_bytes(data)
        return self.judged(Flip("disk", self.seed, f"byte {byte} bit {bit}"), self.goes_on(path))


def flips_of(job):
    seed, wanted, each = job
    with tempfile.TemporaryDirectory() as name:
        scene = Scene(seed, Path(name))
        if not scene.good:
            return []
        found = []
        for where in wanted:
            for _ in range(each):
                flip = scene.on_disk() if where == "disk" else scene.in_memory(where)
                if flip:
                    found.append(flip)
        return found


def table(found):
    rows = defaultdict(Counter)
    for flip in found:
        rows[flip.where][flip.outcome] += 1
    print("\n| in | flips | " + " | ".join(OUTCOMES) + " |\n|---|---|" + "---|" * len(OUTCOMES))
    for where, row in rows.items():
        total = sum(row.values())
        print(f"| {where} | {total} | " + " | ".join(f"{100 * row[n] / total:.1f} %" for n in OUTCOMES) + " |")


def line(flip):
    return f"{flip.outcome:20}{flip.where:10}{flip.seed:5} {flip.what}: {flip.off:.1e} {flip.words}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="flips of each kind, about")
    parser.add_argument("--each", type=int, default=10, help="flips of each kind in one model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--where", default="states,inputs,matrices,control,disk")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--details", action="store_true")
    asked = parser.parse_args()
    wanted = asked.where.split(",")
    jobs = [(seed, wanted, asked.each) for seed in range(asked.seed, asked.seed + -(-asked.count // asked.each))]
    found = []
    with multiprocessing.Pool(asked.jobs) as pool:
        for flips in pool.imap(flips_of, jobs):
            for flip in flips:
                if asked.details or flip.outcome in (CRASH, SILENT):
                    print(line(flip), flush=True)
            found += flips
    table(found)
    # What is on the disk has a check value; memory has none but what stands still between macro-steps.
    return any(f.outcome != DETECTED for f in found if f.where == "disk")


if __name__ == "__main__":
    sys.exit(main())
