#!/usr/bin/python3
"""What an event costs against the number of subsystems: the table of doc/scaling.md, section "Events".

events.py PROGRAM [--sizes 10,100,1000] [--stop 2]: a chain of masses, one of which is pushed by a clock that
ticks (its instants are known) or by a heater that switches (they are found), and the same without events.
Macro-steps count those that were taken back; right-hand sides are those of the median mass, which no event
reaches. Times are processor times of runs, which differ by the events alone.
"""
import argparse
import statistics
import tempfile

import h5py

from scaling import Runs

METHODS = {"jacobi": ["-cosim_type", "jacobi", "-cosim_hold_order", "1", "-cosim_step", "0.01"],
           "missiles": ["-cosim_type", "missiles"],
           "jfm": ["-cosim_type", "jfm"]}
CLOCK = """
      when: [{{every: {quiet} + 0.0337, set: {{push: 1 - push}}}}]"""
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


def figures(runs, n, pusher, method, stop, repeats):
    """Microseconds, macro-steps, right-hand sides of the median mass and instants of a run."""
    path = runs.folder / "events.yaml"

    def once(quiet, until):
        path.write_text(model(n, pusher, stop, quiet), encoding="utf-8")
        options = [*METHODS[method], "-cosim_stop", str(until)]
        seconds, summary = min((runs.run_file(path, options) for _ in range(repeats)),
                               key=lambda result: result[0])
        with h5py.File(summary["results"]) as results:
            sides = statistics.median(results["subsystems/rhs_evaluations"][:])
            instants = len(set(results["events/time"][:])) if "events" in results else 0
        taken = summary["steps"]["accepted"] + summary["steps"]["rejected"]
        return 1e6*seconds, taken, sides, instants

    with_events, without, begun = once(False, stop), once(True, stop), once(True, stop/20)
    events = with_events[3]
    per_event = [(a - b)/events for a, b in zip(with_events[:3], without[:3])]
    macro_step = (without[0] - begun[0])/(without[1] - begun[1])
    return events, *per_event, macro_step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sizes", default="10,100,1000")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--stop", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print("| instants | method | N | events | macro-steps per event | right-hand sides per mass and event | "
          "us per event | in macro-steps |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(given.program, folder)
        for pusher in PUSHERS:
            for method in given.methods.split(","):
                for n in map(int, given.sizes.split(",")):
                    events, cost, steps, sides, macro_step = figures(runs, n, pusher, method, given.stop,
                                                                     given.repeats)
                    print(f"| {pusher} | {method} | {n} | {events} | {steps:.1f} | {sides:.0f} | {cost:.0f} | "
                          f"{cost/macro_step:.1f} |", flush=True)


if __name__ == "__main__":
    main()
