"""Kills a writing run with SIGKILL again and again; every file must open and hold all flushed rows.

usage: kill_test.py ENDLESS_RUN RANKS TIMES [BYTES_OF_A_PART]
"""
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py


def number(kind, column, row):
    return math.sin(0.1 * row + column) + ord(kind)


def run_and_kill(program, ranks, path, seconds, part):
    """Rows that the run said were flushed before it was killed."""
    command = [program, *part, path]
    if ranks > 1:
        command = ["mpirun", "--oversubscribe", "-n", str(ranks)] + command
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           env=environment, start_new_session=True)
    pids, lines = [], []
    for line in run.stdout:
        lines.append(line)
        if line.startswith("rank "):
            pids.append(int(line.split()[1]))
        if len(pids) == ranks and line.startswith("flushed"):
            break
    assert len(pids) == ranks, "the run ended by itself:\n" + "".join(lines)
    time.sleep(seconds)
    for pid in random.sample(pids, ranks):
        os.kill(pid, signal.SIGKILL)
    lines += run.stdout.readlines()
    run.wait()
    return max(int(line.split()[1]) for line in lines
               if line.startswith("flushed") and line.endswith("\n"))


def check(path, flushed):
    with h5py.File(path) as f:
        assert f.attrs["status"] == "running"
        assert f.attrs["model_name"] == "example"
        rows = min(len(f["time"]), len(f["steps/size"]) + 1)
        assert rows >= flushed, f"{rows} rows, {flushed} were flushed"
        assert list(f["outputs/names"].asstr()[:2]) == ["s0.y0", "s0.y1"]
        for path, kind in (("outputs", "y"), ("inputs", "u"), ("states", "x"),
                           ("balance", "b")):
            values = f[path + "/values"][:rows]
            for row in (0, rows // 2, rows - 1):
                for column in range(values.shape[1]):
                    assert abs(values[row, column] - number(kind, column, row)) < 1e-12, \
                        (path, row, column, values[row, column])
        assert f["inputs/polynomials"].shape[0] >= rows - 1
        check_events(f["events"], flushed)


def check_events(events, flushed):
    """Of every 5th row one, of every 10th two."""
    count = min(len(events["time"]), len(events["outputs"]))
    entries = [row for row in range(5, flushed, 5) for _ in range(1 + (row % 10 == 0))]
    assert count >= len(entries), f"{count} events, {len(entries)} were flushed"
    what = events["what"].asstr()[:count]
    assert list(what[:len(entries)]) == [f"what of row {row}" for row in entries]
    assert len(events["subsystem"].asstr()[:count]) == count


def main():
    program, ranks, times, part = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    seed = random.randrange(10**6)
    print("seed", seed)
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(times):
            path = os.path.join(folder, "run.h5")
            flushed = run_and_kill(program, ranks, path, random.uniform(0.0, 0.3), part)
            check(path, flushed)
            print("kill", i, "after", flushed, "rows: file is whole")
            if i % 2:  # the next run replaces the file that the kill left, or starts anew
                os.remove(path)


main()
