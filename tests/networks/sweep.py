"""The whole sweep: 200 random networks, every method, in units of one and in random units.

    CONCORD_PROGRAM=build/bin/concord PYTHONPATH=tests/support \\
        /usr/bin/python3 tests/networks/sweep.py [--count 200] [--first 0] [--jobs 1] [--details] \\
        [--seconds 3600] [--known FOLDER]

Prints the table of doc/numerics.md: how many networks agreed, were refused and why, or were wrong.
Exit code 1 where a run was wrong in silence.
"""
import argparse
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor

from collocation import NoSolution
from comparison import BAD, KINDS, METHODS, Problem, pattern


def of_seed(arguments):
    """Verdicts of one network; None where its solution isn't sure."""
    seed, methods, known = arguments
    try:
        problem = Problem(seed, known)
    except NoSolution:
        return seed, None, ()
    return seed, sorted(problem.network.kinds), list(problem.verdicts(methods))


def collect(options):
    """How many networks (fewer than asked for where the time is over), their verdicts and kinds."""
    verdicts, kinds, done, seed = [], Counter(), 0, options.first
    begin = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        while done < options.count and time.monotonic() - begin < options.seconds:
            batch = range(seed, seed + min(options.count - done, 4 * options.jobs))
            tasks = [(s, options.methods, options.known) for s in batch]
            for number, of_network, found in pool.map(of_seed, tasks):
                if of_network is None:
                    continue
                done += 1
                kinds.update(of_network)
                verdicts += found
                report(number, of_network, found, options.details)
            seed = batch.stop
    return done, verdicts, kinds


def report(seed, kinds, verdicts, details):
    for v in verdicts:
        if v.kind in BAD or details:
            print(f"seed {seed:4} {v.method:22} {v.kind:20} {v.of_one.code} {v.of_one.error:8.1e} | "
                  f"{v.scaled.code} {v.scaled.error:8.1e} {v.scaled.output} "
                  f"({', '.join(kinds)})\n      {v.of_one.reason} | {v.scaled.reason}", flush=True)


def table(verdicts, methods):
    counts = {method: Counter() for method in methods}
    for v in verdicts:
        counts[v.method][v.kind] += 1
    print("\n| method | " + " | ".join(KINDS) + " |\n|---" + "|---" * len(KINDS) + "|")
    for method in methods:
        print(f"| {method} | " + " | ".join(str(counts[method][k]) for k in KINDS) + " |")


def reasons(verdicts):
    found = defaultdict(set)
    total = Counter()
    for v in verdicts:
        for outcome in (v.of_one, v.scaled):
            if outcome.code:
                key = outcome.code, pattern(outcome.reason)
                total[key] += 1
                found[key].add((v.method, v.seed))
    print("\n| refusals (runs) | exit code | reason | methods |\n|---|---|---|---|")
    for key, count in total.most_common():
        methods = ", ".join(sorted({m for m, _ in found[key]}))
        print(f"| {count} | {key[0]} | {key[1]} | {methods} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", type=lambda text: text.split(";"), default=list(METHODS))
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--known")
    options = parser.parse_args()
    done, verdicts, kinds = collect(options)
    print(f"\n{done} networks: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()))
    table(verdicts, options.methods)
    reasons(verdicts)
    return any(v.kind in BAD for v in verdicts)


if __name__ == "__main__":
    sys.exit(main())
