"""Kills a writing run at each write while its file grows: HDF5 writes rows, index and superblock
one after the other, and whatever is missing, the file must open and hold all flushed rows.

usage: kill_at_growth_test.py ENDLESS_RUN KILL_AT_WRITE [BYTES_OF_A_PART]
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from concord_runs import in_short  # noqa: E402


def run(program, shim, folder, last, part):
    """Rows that were flushed, and the ends of all writes."""
    log = os.path.join(folder, "ends.txt")
    environment = dict(os.environ, LD_PRELOAD=shim, KILL_AT_WRITE=str(last), KILL_LOG=log)
    output = subprocess.run([program, *part, os.path.join(folder, "run.h5")], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    flushed = [int(line.split()[1]) for line in output.splitlines(keepends=True)
               if line.startswith("flushed") and line.endswith("\n")]
    with open(log) as ends:
        return max(flushed, default=0), [int(end) for end in ends]


def growth(ends):
    """Writes from the second time that the file grows to where it is whole again."""
    largest = 0
    grown = []
    for number, end in enumerate(ends, 1):
        if end > largest and number > 1000:
            grown.append(number)
        largest = max(largest, end)
    assert grown, "the file did not grow"
    return range(grown[0], grown[0] + 60)


def beginning(ends):
    """Writes around a new part, which is shorter than the one before."""
    shorter = [number for number in range(1000, len(ends)) if ends[number] < ends[number - 1] / 2]
    assert shorter, "no part was begun"
    return range(shorter[0] - 60, shorter[0] + 100)


def check(path, flushed):
    with h5py.File(path) as f:
        rows = min(len(f["time"]), len(f["steps/size"]) + 1)
        assert rows >= flushed, f"{rows} rows, {flushed} were flushed"
        for name in ("outputs", "inputs", "states", "balance"):
            assert f[name + "/values"][:].shape[0] >= flushed
        f["inputs/polynomials"][:]
        count = min(len(f["events/time"]), len(f["events/outputs"]))
        assert count >= (flushed - 1) // 5 + (flushed - 1) // 10
        for name in ("subsystem", "what"):
            assert len(f[f"events/{name}"].asstr()[:count]) == count


def main():
    program, shim, *part = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        _, ends = run(program, shim, folder, 4000, part)
        for number in in_short(beginning(ends), 16) if part else in_short(growth(ends), 5):
            flushed, _ = run(program, shim, folder, number, part)
            check(os.path.join(folder, "run.h5"), flushed)
            print("killed at write", number, "after", flushed, "rows: file is whole")


main()
