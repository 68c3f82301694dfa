"""Laws: what a model is written like, and where it runs, does not change its results. Random models (generated.py)
in other ways (rewritten.py), each beside itself.

    PYTHONPATH=tests/support CONCORD_PROGRAM=build/bin/concord python3 tests/trust/laws.py --count 1000
        [--seed 0] [--laws units,split] [--accuracy 1e-6] [--type gauss] [--jobs 2] [--shrink] [--details]

Outputs are compared at rows of the same times, beside the sum of what both runs say of their own error; that
of `names` and `forgetting` and from checkpoints bit by bit.
"""
import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
from concord_runs import run_here
from generated import made
from rewritten import WAYS, Way
from shrinking import smaller

ROWS = 37.3       # of an experiment: their distance has nothing in common with ticks
ACCURACY = 1e-4   # by default
# As in survey.py: an estimate is short where it is below a third of the truth, and of errors below this part of
# the accuracy it says little.
SHORT, SEEN = 3.0, 1e-2
OF_CONSTRAINTS = ("force.residual", "force.corrected")  # what is left, which is no signal
ONCE = ("-cosim_time_limit", "24:00:00")  # a run that misses its accuracy is not tried again
LIMIT = 600       # s, of a run of a second, on a machine that others use, too
KEPT = 100        # checkpoints of a run


BITS, WITHIN, BOTH_FAIL, BORDER, OPEN, COSTS = "bits", "within", "both fail", "border", "open", "costs"
SHORT_OF, TOLD = "short", "told"
NO_BITS, WRONG, EXITS, ROWS_DIFFER, STUCK = "NO BITS", "WRONG", "EXITS", "ROWS", "STUCK"
MEANINGS = {
    BITS: "the same bits", WITHIN: f"within {SHORT:g} times the sum of both estimates and {SEEN:g} of the accuracy A",
    OPEN: "one says that an FMU does not tell when it jumps, and that errors there are of order 1",
    COSTS: "within, and one says that it has not reached A: what is held takes more macro-steps than it may",
    BOTH_FAIL: "both fail with the same exit code", BORDER: "within, and one of two estimates that are alike is above A",
    SHORT_OF: "beyond that, but within 2 A", TOLD: "one says that it has not reached A, the other that it has",
    NO_BITS: "not the bits that are promised", WRONG: "beyond 2 A, and neither says so",
    EXITS: "one fails, the other does not", ROWS_DIFFER: "other rows or names", STUCK: f"does not end in {LIMIT} s"}


@dataclass
class Run:
    code: int
    words: str
    status: str = ""
    reached: bool = False
    open: bool = False  # says that it knows no bound of its error
    estimate: float = np.nan
    time: np.ndarray = None
    values: dict = field(default_factory=dict)
    events: np.ndarray = None
    steps: int = 0

    def fails(self):
        return self.code != 0


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


def run(way, folder, options, name="run"):
    path, summary = folder / f"{name}.h5", folder / f"{name}.json"
    for file in (path, summary):
        file.unlink(missing_ok=True)
    model = folder / "model.yaml"
    model.write_text(way.model.yaml(), encoding="utf-8")
    interval = (way.model.stop - way.model.start) / ROWS
    words = [model, *options, *way.options, "-cosim_output", path, "-cosim_summary", summary,
             "-cosim_output_interval", repr(interval)]
    ended = run_here(*words, ranks=way.ranks, timeout=LIMIT)
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "error:" in line]
    found = Run(ended.returncode, said[-1] if said else "")
    if not summary.exists() or not path.exists():
        return found
    told = json.loads(summary.read_text(encoding="utf-8"))
    found.status = told["status"]
    found.reached = found.code == 0 and "NOT REACHED" not in ended.stdout and found.status == "completed"
    found.open = "errors there are of order 1" in ended.stdout
    quality = told.get("quality", {})
    of_range = quality.get("worst_error_of_range")
    found.estimate = np.nan if of_range is None else of_range
    found.steps = told["steps"]["accepted"]
    with h5py.File(path) as file:
        found.time = file["time"][:]
        values = file["outputs/values"][:]
        found.values = {_text(n): values[:, k] for k, n in enumerate(file["outputs/names"][:])}
        found.events = file["events/time"][:] if "events" in file else np.zeros(0)
    return found


@dataclass
class Comparison:
    law: str
    seed: int
    kind: str
    off: float = 0.0
    bound: float = 0.0
    output: str = ""
    at: float = np.nan
    words: str = ""

    def holds(self):
        return self.kind in (BITS, WITHIN, BOTH_FAIL, BORDER, OPEN, COSTS)

    def bad(self):
        """Neither told nor as promised."""
        return not self.holds() and self.kind not in (SHORT_OF, TOLD)


def bound_of(one, other, accuracy):
    """By what both say of their error; the accuracy where one says nothing."""
    parts = [r.estimate if np.isfinite(r.estimate) else accuracy for r in (one, other)]
    return SHORT * sum(parts) + SEEN * accuracy


def compared(law, seed, way, one, other, accuracy):
    if one.fails() or other.fails():
        if one.code == other.code:
            return Comparison(law, seed, BOTH_FAIL, words=one.words)
        return Comparison(law, seed, EXITS, words=f"{one.code}/{other.code}: {one.words or other.words}")
    bound = bound_of(one, other, accuracy)
    found = Comparison(law, seed, WITHIN, bound=bound)
    n = min(len(one.time), len(other.time))
    times = (other.time[:n] / way.pace) - way.shift
    if len(one.time) != len(other.time) or np.max(np.abs(times - one.time), initial=0) > 1e-9 * (
            abs(way.shift) + one.time[-1]):
        return Comparison(law, seed, ROWS_DIFFER, words=f"{len(one.time)} and {len(other.time)} rows")
    same = len(one.events) == len(other.events)
    near = _near_events(one.time, [one.events, other.events / way.pace - way.shift], max(bound, 1e-9))
    for name, values in one.values.items():
        if name.startswith("delay_") or name in OF_CONSTRAINTS:
            continue
        there = way.names.get(name, name)
        if there not in other.values:
            return Comparison(law, seed, ROWS_DIFFER, words=f"no {there} among {list(other.values)}")
        theirs = other.values[there] * way.factors.get(name, 1.0)
        same = same and values.tobytes() == theirs.tobytes()
        size = np.ptp(values) or np.max(np.abs(values)) or 1.0
        off = np.where(near, 0.0, np.abs(values - theirs) / size)
        if np.max(off) > found.off or not np.isfinite(off).all():
            found.off, found.output, found.at = float(np.max(off)), name, float(one.time[np.argmax(off)])
    if same:
        found.kind = BITS
    elif law == "as_fmu" and (one.open or other.open):
        found.kind = OPEN
        return found
    elif way.bits:
        found.kind = NO_BITS
    elif not found.off <= bound:
        found.kind = SHORT_OF if found.off <= 2 * accuracy else WRONG
    if one.reached != other.reached and found.holds():
        close = max(one.estimate, other.estimate) < SHORT * min(one.estimate, other.estimate)
        held = "hold: zoh" in way.model.yaml()
        found.kind = BORDER if close else COSTS if held else TOLD
        found.words = f"reached: {one.reached}/{other.reached}, estimates {one.estimate:.1e}/{other.estimate:.1e}"
    return found


def _near_events(times, events, bound):
    """A signal that jumps a little early or late is wrong by this part of the experiment's length."""
    near = np.zeros(len(times), bool)
    for instants in events:
        for t in instants:
            near |= np.abs(times - t) <= bound * (times[-1] - times[0])
    return near


def rng_of(law, seed):
    return np.random.default_rng([zlib.crc32(law.encode()), seed])


def integrator_of(model):
    return "dirk" if any(part.kind in ("stiff", "nonlinear") for part in model.parts.values()) else "erk"


def tried(law, model, seed, folder, options, accuracy, one=None):
    """One law on one model."""
    way = WAYS[law](rng_of(law, seed), model, folder)
    if way is None:
        return None
    # A multistep method begins anew where its history is dropped.
    more = (*ONCE, "-subsystem_integrator", integrator_of(model)) if law == "forgetting" else ()
    if one is None or more:
        one = run(Way(model), folder, (*options, *more))
    other = run(way, folder, (*options, *more), "other")
    return compared(law, seed, way, one, other, accuracy)


def from_checkpoints(model, seed, folder, options, steps):
    """A run that goes on from a checkpoint on its way has the bits of that which was not stopped."""
    law, rng = "checkpoint", rng_of("checkpoint", seed)
    chk = folder / "parts.chk"
    for file in folder.glob("parts.chk*"):
        file.unlink()
    epoch = max(int(rng.integers(1, 8)), steps // KEPT)
    more = (*options, *ONCE, "-cosim_checkpoint", chk, "-cosim_checkpoint_epoch", epoch,
            "-cosim_checkpoint_every", 1e-9, "-cosim_checkpoint_keep", KEPT)
    one = run(Way(model), folder, more, "parts")
    kept = sorted(folder.glob("parts.chk.old*"))
    if one.fails():
        return Comparison(law, seed, EXITS, words=one.words)
    if not kept:
        return None
    chosen = kept[int(rng.integers(len(kept)))]
    chosen.rename(folder / "from.chk")
    for file in folder.glob("parts.chk*"):
        file.unlink()
    results = folder / "parts.h5"
    results.rename(folder / "kept.h5")
    (folder / "kept.h5").rename(results)
    words = [folder / "model.yaml", *options, *ONCE, "-cosim_output", results, "-cosim_restart", folder / "from.chk",
             "-cosim_checkpoint", chk, "-cosim_checkpoint_epoch", epoch,
             "-cosim_output_interval", repr((model.stop - model.start) / ROWS)]
    ended = run_here(*words, timeout=LIMIT)
    if ended.returncode != 0:
        return Comparison(law, seed, EXITS, words=ended.stderr.strip())
    with h5py.File(results) as file:
        time, values = file["time"][:], file["outputs/values"][:]
    same = time.tobytes() == one.time.tobytes() and values.tobytes() == np.stack(
        list(one.values.values()), axis=1).tobytes()
    return Comparison(law, seed, BITS if same else NO_BITS, words=f"from {chosen.name}")


LAWS = (*WAYS, "checkpoint")


def of_law(law, model, seed, folder, options, accuracy, one=None):
    if law == "checkpoint":
        return from_checkpoints(model, seed, folder, options, one.steps if one else 0)
    return tried(law, model, seed, folder, options, accuracy, one)


def of_seed(job):
    seed, laws, options, accuracy = job
    model, found, one = made(seed), [], None
    for law in ("", *laws):
        with tempfile.TemporaryDirectory() as name:
            try:
                if not law:
                    one = run(Way(model), Path(name), options)
                elif comparison := of_law(law, model, seed, Path(name), options, accuracy, one):
                    found.append(comparison)
            except subprocess.TimeoutExpired:
                found.append(Comparison(law or "as it is", seed, STUCK))
    return found


def line(c):
    return (f"{c.kind:10}{c.law:14}{c.seed:7} off {c.off:.1e}, bound {c.bound:.1e} of {c.output} at {c.at:.6g}"
            + (f"  {c.words}" if c.words else ""))


def table(found):
    """How many of each kind, by law, and the largest difference beside its bound."""
    rows = defaultdict(Counter)
    worst = defaultdict(float)
    for c in found:
        rows[c.law][c.kind] += 1
        if c.bound:
            worst[c.law] = max(worst[c.law], c.off / c.bound)
    kinds = [k for k in MEANINGS if any(c.kind == k for c in found)]
    print(f"\n{'law':14}{'models':>8}" + "".join(f"{k:>11}" for k in kinds) + f"{'off/bound':>11}")
    for law in ("as it is", *LAWS):
        if law in rows:
            print(f"{law:14}{sum(rows[law].values()):8}" + "".join(f"{rows[law][k] or '.':>11}" for k in kinds)
                  + f"{worst[law]:11.2g}")
    print("\n" + "\n".join(f"  {k:10} {MEANINGS[k]}" for k in kinds))


def shrunk(law, seed, options, accuracy):
    """The smallest model found by leaving out that still breaks the law."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def breaks(model):
            try:
                found = of_law(law, model, seed, folder, options, accuracy)
            except Exception:  # pylint: disable=broad-exception-caught
                return False
            return found is not None and not found.holds()
        model = smaller(made(seed), breaks)
        way = WAYS[law](rng_of(law, seed), model, folder) if law in WAYS else None
        return model.yaml(), way.model.yaml() if way else ""


def arguments(given=None):
    def words(text):
        return tuple(word for word in text.split(",") if word)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    parser.add_argument("--laws", type=words, default=LAWS)
    parser.add_argument("--accuracy", type=float, help="of the runs; else the default")
    parser.add_argument("--options", default="", help="more options of the runs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shrink", action="store_true", help="print the smallest model that breaks a law")
    parser.add_argument("--details", action="store_true", help="a line for laws that hold, too")
    return parser.parse_args(given)


def main():
    asked = arguments()
    options = tuple(asked.options.split()) + (("-cosim_accuracy", asked.accuracy) if asked.accuracy else ())
    accuracy = asked.accuracy or ACCURACY
    jobs = [(seed, asked.laws, options, accuracy) for seed in range(asked.seed, asked.seed + asked.count)]
    found = []
    with multiprocessing.Pool(asked.jobs) as pool:
        for comparisons in pool.imap(of_seed, jobs):
            for c in comparisons:
                if asked.details or not c.holds():
                    print(line(c), flush=True)
            found += comparisons
    table(found)
    broken = [c for c in found if not c.holds()]
    if asked.shrink:
        for c in broken:
            if c.law in LAWS:
                print(f"\n{line(c)}\n" + "\nbeside\n".join(shrunk(c.law, c.seed, options, accuracy)), flush=True)
    return any(c.bad() for c in found)


if __name__ == "__main__":
    sys.exit(main())
