"""The whole sweep: 200 random networks, every method, in units of one and in random units.

    CONCORD_PROGRAM=build/bin/concord PYTHONPATH=tests/support \\
        /usr/bin/python3 tests/networks/sweep.py [--count 200] [--first 0] [--jobs 1] [--details]

Prints the table of doc/numerics.md: how many networks agreed, were refused and why, or were wrong.
Exit code 1 where a run was wrong in silence.
"""
import argparse
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor

from collocation import NoSolution
from comparison import BAD, KINDS, METHODS, Problem, pattern


def of_seed(arguments):
    """Verdicts of one network; None where its solution isn't sure."""
    seed, methods = arguments
    try:
        problem = Problem(seed)
    except (NoSolution, FloatingPointError):
        return seed, None, ()
    return seed, sorted(problem.network.kinds), list(problem.verdicts(methods))


def collect(options):
    """Verdicts of `count` networks, and the kinds that they are of."""
    verdicts, kinds, done, seed = [], Counter(), 0, options.first
    with ProcessPoolExecutor(options.jobs) as pool:
        while done < options.count:
            batch = range(seed, seed + min(options.count - done, 4 * options.jobs))
            for number, of_network, found in pool.map(of_seed,
                                                      [(s, options.methods) for s in batch]):
                if of_network is None:
                    continue
                done += 1
                kinds.update(of_network)
                verdicts += found
                report(number, of_network, found, options.details)
            seed = batch.stop
    return verdicts, kinds


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
    options = parser.parse_args()
    verdicts, kinds = collect(options)
    print(f"\n{options.count} networks: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()))
    table(verdicts, options.methods)
    reasons(verdicts)
    return any(v.kind in BAD for v in verdicts)


if __name__ == "__main__":
    sys.exit(main())
