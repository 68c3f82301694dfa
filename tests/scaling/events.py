#!/usr/bin/python3
"""What an event costs against the number of subsystems: the table of doc/scaling.md, section "Events".

events.py PROGRAM [--sizes 10,100,1000] [--stop 0.6]: a chain of masses, one of which is pushed by a clock that
ticks (its instants are known) or by a heater that switches (they are found), and the same without events.
events.py PROGRAM --relays: weakly coupled oscillators, of which one or each has a relay that switches where its
own oscillator passes zero, and the same without.
Macro-steps count those that were taken back; right-hand sides are those of the median subsystem, which hardly any
event reaches. Costs are instructions in macro-steps, as valgrind's callgrind counts them, whatever else runs.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from relay_models import relays  # noqa: E402 pylint: disable=wrong-import-position

FIXED = ["-cosim_adapt", "none", "-cosim_step", "0.01"]
METHODS = {"jacobi, h = 0.01": ["-cosim_type", "jacobi", "-cosim_hold_order", "1", *FIXED],
           "jfm, h = 0.01": ["-cosim_type", "jfm", *FIXED],
           "jfm, step control": ["-cosim_type", "jfm"]}
OF_RELAYS = {"jacobi": ["-cosim_type", "jacobi"], "jfm": ["-cosim_type", "jfm"],
             "missiles": ["-cosim_type", "missiles"], "gauss": ["-cosim_type", "gauss"],
             "radau": ["-cosim_type", "radau"], "the default": []}
CLOCK = """
      when: [{{every: {quiet} + 0.0337, set: {{push: -x}}}}]"""
HEATER = """
      states: {{T: 0}}
      derivatives: {{T: 20*push - 10 + 0.1*x}}
      when:
        - {{condition: T > 0.18 + {quiet}, set: {{push: 0}}}}
        - {{condition: T < -0.18 - {quiet}, set: {{push: 1}}}}"""
MODEL = """name: chain of masses
experiment: {{stop: {stop}}}
templates:
  cell:
    equations:
      parameters: {{k: 100, d: 0.1, m: 1.5}}
      inputs: {{x_left: 0, v_left: 0, x_right: 0, v_right: 0, push: 0}}
      states: {{x: 0, v: 0}}
      derivatives: {{x: v, v: (k*(x_left + x_right - 2*x) + d*(v_left + v_right - 2*v) + push)/m}}
      outputs: {{px: x, pv: v}}
subsystems:
  pusher:
    equations:
      inputs: {{x: 0}}
      discrete: {{push: 1}}{pusher}
      outputs: {{push: push}}
  cell: {{template: cell, repeat: {{i: [1, {n}]}}, start: {{x: sin(0.01*i), v: cos(0.02*i)}}}}
connections:
  - pusher.push -> cell[{middle}].push
  - cell[{middle}].px -> pusher.x
  - {{connect: "cell[i].px -> cell[i+1].x_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i].pv -> cell[i+1].v_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i+1].px -> cell[i].x_right", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "cell[i+1].pv -> cell[i].v_right", repeat: {{i: [1, {n} - 1]}}}}
"""
PUSHERS = {"known": CLOCK, "found": HEATER}


def model(n, pusher, stop, quiet):
    """`quiet`: nothing happens."""
    waits = 1e6 if quiet else 0
    return MODEL.format(n=n, middle=n // 2, stop=stop, pusher=PUSHERS[pusher].format(quiet=waits))


def counted(program, folder, text, options):
    """Instructions in macro-steps, macro-steps, right-hand sides of the median mass, and instants."""
    path, results, summary, counts = (folder / name for name in
                                      ("events.yaml", "events.h5", "events.json", "callgrind"))
    path.write_text(text, encoding="utf-8")
    results.unlink(missing_ok=True)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}",
               "--toggle-collect=concord::MacroStepper::advance()", program, "run", str(path), *options,
               "-cosim_record_every", "1000000", "-cosim_diverged", "warn", "-cosim_output", str(results),
               "-cosim_summary", str(summary)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    instructions = next(float(line.split()[1]) for line in counts.read_text(encoding="utf-8").splitlines()
                        if line.startswith("totals:"))
    steps = json.loads(summary.read_text(encoding="utf-8"))["steps"]
    with h5py.File(results) as file:
        sides = statistics.median(file["subsystems/rhs_evaluations"][:])
        instants = len(set(file["events/time"][:])) if "events" in file else 0
    return instructions, steps["accepted"] + steps["rejected"], sides, instants


def row(program, folder, n, kind, method, options, texts):
    """`texts`: of the model with its events and without."""
    runs = [counted(program, folder, text, options) for text in texts]
    events = runs[0][3]
    cost, steps, sides = ((a - b)/events for a, b in zip(*(run[:3] for run in runs)))
    macro_step = runs[1][0]/runs[1][1]
    return (f"| {kind} | {method} | {n} | {events} | {steps:.1f} | {sides:.0f} | {cost/1e6:.2f} | "
            f"{cost/macro_step:.1f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sizes", default="10,100,1000")
    parser.add_argument("--stop", type=float, default=0.6)
    parser.add_argument("--relays", action="store_true")
    given = parser.parse_args()
    if given.relays:
        kinds, methods = {"one": False, "each": True}, OF_RELAYS
        def models(kind, n):
            # Of all of them about as many events for every n.
            return [relays(n, 180/n if kinds[kind] else 20, kinds[kind], quiet) for quiet in (False, True)]
    else:
        kinds, methods = PUSHERS, METHODS
        def models(kind, n):
            return [model(n, kind, given.stop, quiet) for quiet in (False, True)]
    print(f"| {'relays' if given.relays else 'instants'} | method | N | events | macro-steps per event | "
          "right-hand sides per subsystem and event | 10^6 instructions per event | in macro-steps |\n"
          "|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            for method, options in methods.items():
                for n in map(int, given.sizes.split(",")):
                    print(row(given.program, Path(folder), n, kind, method, options, models(kind, n)),
                          flush=True)


if __name__ == "__main__":
    main()
