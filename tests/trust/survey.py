"""Runs models of the catalogue by default options at several accuracies, and tells how right they
are and how much what they say of their own error is worth.

    PYTHONPATH=tests/support python3 tests/trust/survey.py --concord build/bin/concord --jobs 2
        [--kind narrow,late] [--name gust,saw] [--accuracies default,1e-3] [--inside]
        [--known FOLDER] [--json out.json] [--bad out.json] [--details]
    ... survey.py --compare before.json after.json
"""
import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter

import numpy as np
from catalogue import cases
from exact import Hybrid
from verdicts import (CLASSES, CRASH, DEFAULT, MEANINGS, RIGHT, SILENT, STUCK, TOLD, Truth, Verdict,
                      as_dict, judged)

ACCURACIES = ("default", "1e-3", "1e-6", "1e-8")
ROWS = 1500        # asked for with --inside
SEEN = 1e-2        # true errors below this part of the accuracy say little about estimates
BAD = (SILENT, STUCK, CRASH)


def of_case(job):
    """All runs of one case: in a process of its own."""
    name, options = job
    made = next(c for c in cases(names=[name], seed=options.seed) if c.name == name)
    truth = Truth(made, options.known)
    result = []
    for accuracy in options.accuracies:
        for inside in ((0, ROWS) if options.inside else (0,)):
            asked = None if accuracy == "default" else float(accuracy)
            result.append(judged(made, truth, asked, inside, options.timeout,
                                 options.options.split()))
    return result


def line(v):
    ratio = f"{v.ratio:8.2g}" if np.isfinite(v.ratio) else "       -"
    return (f"{v.verdict:8}{v.kind:16}{v.name:26}{v.accuracy:6.0e}{' inside' if v.inside else '':8}"
            f"true {v.true:8.1e} of {v.output} at {v.at:.6g}, estimate {v.estimate:8.1e}, "
            f"ratio {ratio}, {v.steps} macro-steps, {v.rhs} rhs, {v.seconds:.1f} s"
            + (f"\n        {v.words}" if v.code else ""))


def collect(options):
    names = [c.name for c in cases(options.kind, options.name, options.seed)]
    if options.bad:
        bad = {v.name for v in read(options.bad).values() if v.verdict not in (RIGHT, TOLD)}
        names = [name for name in names if name in bad]
    verdicts = []
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap_unordered(of_case, [(name, options) for name in names]):
            for verdict in found:
                if options.details or verdict.verdict not in (RIGHT, TOLD):
                    print(line(verdict), flush=True)
            verdicts += found
            keep(verdicts, options.json)
    order = {name: k for k, name in enumerate(names)}
    return sorted(verdicts, key=lambda v: (order[v.name], v.accuracy != DEFAULT, -v.accuracy,
                                           v.inside))


def keep(verdicts, path):
    """What has been found so far, for --compare and --bad."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump([as_dict(v) for v in verdicts], file, indent=1)


def ratios(verdicts):
    """Estimate over truth where a run completed and its error can be seen."""
    return np.array([v.ratio for v in verdicts if v.code == 0 and np.isfinite(v.ratio)
                     and v.true > SEEN * v.accuracy])


def _row(title, verdicts):
    counts = Counter(v.verdict for v in verdicts)
    found = ratios(verdicts)
    inside = f"{np.mean((found >= 0.3) & (found <= 10)):6.0%}" if len(found) else "     -"
    lowest = f"{found.min():8.1e}" if len(found) else "       -"
    below = np.count_nonzero(found < 0.1)
    return (f"{title:16}{len({v.name for v in verdicts}):7}{len(verdicts):6}"
            + "".join(f"{counts[c] or '.':>8}" for c in CLASSES)
            + f"{inside}{below or '.':>6} {lowest}{sum(v.steps for v in verdicts):10}"
            f"{sum(v.rhs for v in verdicts):12}")


def table(verdicts):
    print(f"\n{'kind':16}{'models':>7}{'runs':>6}" + "".join(f"{c:>8}" for c in CLASSES)
          + f"{'.3-10':>6}{'<.1':>6} {'lowest':>8}{'steps':>10}{'rhs':>12}")
    kinds = dict.fromkeys(v.kind for v in verdicts)
    for kind in kinds:
        print(_row(kind, [v for v in verdicts if v.kind == kind]))
    for accuracy in sorted({v.accuracy for v in verdicts}, reverse=True):
        print(_row(f"all, {accuracy:.0e}", [v for v in verdicts if v.accuracy == accuracy]))
    print(_row("all", verdicts))
    print("\n" + "\n".join(f"  {c:8} {MEANINGS[c]}" for c in CLASSES))
    print("  .3-10: estimate over truth between 0.3 and 10, where the run completed with an error "
          f"of at least {SEEN:g} of the accuracy; <.1: how many are below 0.1; lowest: the lowest")


def read(path):
    with open(path, encoding="utf-8") as file:
        return {(v.name, v.accuracy, v.inside): v for v in
                (Verdict(**{k: np.nan if x is None else x for k, x in item.items()})
                 for item in json.load(file))}


def compare(before, after):
    """What has changed between two programs, run by run."""
    old, new = read(before), read(after)
    both = [key for key in old if key in new]
    costs = []
    for key in both:
        a, b = old[key], new[key]
        if a.code == b.code == 0 and a.rhs and b.rhs:
            costs.append((b.rhs / a.rhs, key, a, b))
        if a.verdict != b.verdict:
            print(f"{a.verdict:8} -> {b.verdict:8} {key[0]:26}{key[1]:6.0e}"
                  f"{' inside' if key[2] else '':8} true {a.true:8.1e} -> {b.true:8.1e}, ratio "
                  f"{a.ratio:8.1e} -> {b.ratio:8.1e}, rhs {a.rhs} -> {b.rhs}")
    print(f"\n{len(both)} runs in both; right-hand sides, after over before:")
    for ratio, key, a, b in sorted(costs, key=lambda c: -c[0])[:15]:
        print(f"{ratio:8.2f} {key[0]:26}{key[1]:6.0e} {a.rhs} -> {b.rhs}, macro-steps {a.steps} -> "
              f"{b.steps}")
    values = np.array([c[0] for c in costs])
    if len(values):
        print("quartiles " + ", ".join(f"{q:.3f}" for q in np.quantile(values, (.05, .25, .5, .75,
                                                                                  .95))))
    for title, verdicts in (("before", old), ("after", new)):
        print(_row(title, [verdicts[key] for key in both]))


def arguments():
    def words(given):
        return tuple(word for word in given.split(",") if word)
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concord", help="the program; else $CONCORD_PROGRAM")
    parser.add_argument("--kind", type=words, default=())
    parser.add_argument("--name", type=words, default=(), help="parts of names")
    parser.add_argument("--accuracies", type=words, default=ACCURACIES)
    parser.add_argument("--inside", action="store_true", help="runs with rows inside, too")
    parser.add_argument("--options", default="", help="more options of the runs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="s of processor time of a run")
    parser.add_argument("--bad", help="a file of --json: only models that were not right there")
    parser.add_argument("--seed", type=int, default=0, help="others of the same kinds")
    parser.add_argument("--known", help="a folder where solutions are kept for the next time")
    parser.add_argument("--json")
    parser.add_argument("--details", action="store_true", help="a line for right ones, too")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true", help="how sure solutions are; no runs")
    parser.add_argument("--write", help="a folder to write the models to")
    parser.add_argument("--compare", nargs=2)
    return parser.parse_args()


def check(chosen):
    """How far solutions with ten times the tolerance are from those that are used."""
    for made in chosen:
        model = made.solve()
        if isinstance(model, Hybrid):
            truth = Truth(made)
            model.tolerance *= 10
            grid = truth.solution.grid()
            doubt = truth.errors(grid, model.solve().at(grid)).max()
            print(f"{made.kind:16}{made.name:26}{doubt:8.1e}{'  UNSURE' if doubt > 5e-9 else ''}",
                  flush=True)


def write(folder, chosen):
    for made in chosen:
        path = os.path.join(folder, made.name)
        os.makedirs(path, exist_ok=True)
        for name, content in {**made.files, f"{made.name}.yaml": made.text}.items():
            with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                file.write(content)


def main():
    options = arguments()
    if options.compare:
        compare(*options.compare)
        return 0
    if options.list or options.write:
        chosen = cases(options.kind, options.name, options.seed)
        if options.write:
            write(options.write, chosen)
        print("\n".join(f"{c.kind:16} {c.name}" for c in chosen))
        return 0
    if options.check:
        check(cases(options.kind, options.name, options.seed))
        return 0
    if options.concord:
        os.environ["CONCORD_PROGRAM"] = os.path.abspath(options.concord)
    verdicts = collect(options)
    table(verdicts)
    keep(verdicts, options.json)
    return any(v.verdict in BAD for v in verdicts)


if __name__ == "__main__":
    sys.exit(main())
