#!/usr/bin/python3
"""Cost of a macro-step, memory and start-up against the number of subsystems: the tables of doc/scaling.md.

scaling.py PROGRAM [--largest N] [--ranks 1,2]: a chain of masses from one template, 10^2 subsystems to N in
steps of ten, by jacobi, missiles and jfm. Times of macro-steps are the difference of two runs of different
lengths, of one rank in processor time, of several, whose waiting counts, in wall time; memory is what N
subsystems take beyond ten.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from patience import processor_seconds  # noqa: E402

METHODS = {"jacobi": ["-cosim_type", "jacobi", "-cosim_hold_order", "1"],
           "missiles": ["-cosim_type", "missiles"],
           "jfm": ["-cosim_type", "jfm"]}
MODEL = """name: chain of cells
experiment: {{stop: 1}}
templates:
  cell:
    equations:
      parameters: {{k: 100, d: 0.1, m: 1.5}}
      inputs: {{x_left: 0, v_left: 0, x_right: 0, v_right: 0}}
      states: {{x: 0, v: 0}}
      derivatives: {{x: v, v: (k*(x_left + x_right - 2*x) + d*(v_left + v_right - 2*v))/m}}
      outputs: {{px: x, pv: v}}
subsystems:
  cell: {{template: cell, repeat: {{i: [1, {n}]}}, start: {{x: sin(0.01*i), v: cos(0.02*i)}}}}
connections:
  - {{connect: "cell[i].px -> cell[i+1].x_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i].pv -> cell[i+1].v_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i+1].px -> cell[i].x_right", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i+1].pv -> cell[i].v_right", repeat: {{i: [1, {n} - 1]}}}}
"""
STEP = 1e-2
MOST_SUBSYSTEM_STEPS = 2_000_000


class Runs:
    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)

    def model(self, n):
        path = self.folder / f"chain_{n}.yaml"
        path.write_text(MODEL.format(n=n), encoding="utf-8")
        return path

    def run(self, n, method, steps, ranks):
        """Processor seconds of the whole, and the summary."""
        results, summary = self.folder / "chain.h5", self.folder / "chain.json"
        results.unlink(missing_ok=True)
        command = ["mpirun", "-n", str(ranks), self.program, "run", str(self.model(n)), *METHODS[method],
                   "-cosim_step", str(STEP), "-cosim_stop", str(STEP * steps), "-cosim_record_every",
                   "1000000", "-cosim_diverged", "warn", "-cosim_output", str(results), "-cosim_summary",
                   str(summary)]
        begin = processor_seconds()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = processor_seconds() - begin
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return seconds, json.loads(summary.read_text(encoding="utf-8"))


def figures(runs, n, method, ranks, base_memory):
    steps = max(4, min(200, MOST_SUBSYSTEM_STEPS // (4 * n)))
    few_seconds, few = runs.run(n, method, 2, ranks)
    many_seconds, many = runs.run(n, method, 2 + steps, ranks)
    per_run = [max(rank["step_time"] for rank in summary["ranks"]) for summary in (few, many)]
    difference = many_seconds - few_seconds if ranks == 1 else per_run[1] - per_run[0]
    memory = sum(rank["memory"] for rank in few["ranks"])
    solves = max(many["coupling_evaluations"], 1)
    return {"microseconds": difference / steps / n * 1e6,
            "kilobytes": (memory - base_memory) / n / 1e3,
            "start": few_seconds / ranks,
            "iterations": many["linear_iterations"] / solves}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--largest", type=int, default=10_000)
    parser.add_argument("--ranks", default="1,2")
    given = parser.parse_args()
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    print("| N | method | ranks | us per subsystem and macro-step | kB per subsystem | start-up and two steps, s | "
          "linear iterations per evaluation |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(given.program, folder)
        for ranks in map(int, given.ranks.split(",")):
            for method in METHODS:
                _, small = runs.run(10, method, 2, ranks)
                base = sum(rank["memory"] for rank in small["ranks"])
                n = 100
                while n <= given.largest:
                    found = figures(runs, n, method, ranks, base)
                    print(f"| {n} | {method} | {ranks} | {found['microseconds']:.2f} | "
                          f"{found['kilobytes']:.1f} | {found['start']:.2f} | {found['iterations']:.1f} |",
                          flush=True)
                    n *= 10


if __name__ == "__main__":
    main()
