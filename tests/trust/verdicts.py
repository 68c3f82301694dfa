"""Runs a case of the catalogue by the program in $CONCORD_PROGRAM, compares with the truth, and
says what the run's own words were worth."""
import json
import os
import signal
import subprocess
import tempfile
import time as clock
from dataclasses import asdict, dataclass, field
from pathlib import Path

import h5py
import numpy as np

RIGHT, TWICE, TOLD, SHORT = "right", "twice", "told", "short"
SILENT, ALARM, REFUSED, STUCK, CRASH = "SILENT", "alarm", "refused", "stuck", "crash"
CLASSES = (RIGHT, TWICE, TOLD, SHORT, SILENT, ALARM, REFUSED, STUCK, CRASH)
MEANINGS = {
    RIGHT: "true error at most the accuracy A", TWICE: "at most 2 A", SHORT: "above 2 A, not told, "
    "but estimated at a third of it or more", SILENT: "above 2 A, and neither told nor estimated",
    TOLD: "not reached, and the run says so (or fails)",
    ALARM: "within A as far as it went, but failed, or 'NOT REACHED' by an estimate above 10 times",
    REFUSED: "exit code 2", STUCK: "beyond the limit of processor time", CRASH: "by a signal, or else"}
DEFAULT = 1e-4


@dataclass
class Verdict:
    name: str
    kind: str
    accuracy: float
    inside: bool
    verdict: str = ""
    true: float = np.nan       # of the worst output, relative to its range
    output: str = ""           # that one
    at: float = np.nan         # where
    estimate: float = np.nan   # of the worst output, relative to its range, as the run says
    of_size: float = np.nan    # the other one that the run says
    code: int = 0
    steps: int = 0
    rhs: int = 0
    seconds: float = 0.0
    words: str = ""            # the error's line, or what the accuracy's line says
    outputs: dict = field(default_factory=dict)  # true errors of all

    @property
    def ratio(self):
        return self.estimate / self.true if self.true > 0 else np.nan


class Truth:
    """A case's solution, and each output's range over the whole experiment."""

    def __init__(self, made, known=None):
        path = Path(known) / f"{made.name}-{made.origin}.steps" if known else None
        self.solution = made.solve().solve(path)
        grid = self.solution.grid()
        values = np.concatenate([self.solution.at(grid), self.solution.at(grid, left=True)])
        if not np.isfinite(values).all():
            raise ArithmeticError(f"{made.name}: the reference is not a number")
        self.start, self.stop = grid[0], grid[-1]
        largest = np.abs(values).max(axis=0)
        self.sizes = np.where(np.ptp(values, axis=0) > 1e-9 * largest, np.ptp(values, axis=0),
                              np.where(largest > 0, largest, 1.0))
        self.instants = self.solution.instants
        if len(self.instants):
            self.before = self.solution.at(self.instants, left=True)
            self.behind = self.solution.at(self.instants)

    def errors(self, times, values, limits=False):
        """Of every row and output, relative to ranges. An event that comes a little early or late
        makes a signal that jumps there wrong by this little of the experiment's length, not by the
        jump. `limits`: rows are left limits."""
        errors = np.abs(values - self.solution.at(times, left=limits)) / self.sizes
        if len(self.instants):
            errors = np.minimum(errors, self._shifted(times, values, -1))
            errors = np.minimum(errors, self._shifted(times, values, 0))
        return np.where(np.isfinite(values), errors, np.inf)

    def _shifted(self, times, values, which):
        """As if the instant before (-1) had not come yet, or the next one (0) had come."""
        index = np.searchsorted(self.instants, times, "right") + which
        there = (index >= 0) & (index < len(self.instants))
        index = np.where(there, index, 0)
        limits = (self.before if which else self.behind)[index]
        jumps = np.abs(self.behind - self.before)[index] > 1e-9 * self.sizes
        late = np.abs(times - self.instants[index]) / (self.stop - self.start)
        errors = np.maximum(np.abs(values - limits) / self.sizes, late[:, None])
        return np.where(there[:, None] & jumps, errors, np.inf)


def _rows(path, names):
    """Times and values of all rows, and those of left limits."""
    with h5py.File(path, "r") as file:
        columns = [list(file["outputs/names"].asstr()).index(name) for name in names]
        rows = file["time"][:], file["outputs/values"][:][:, columns]
        if "events" not in file:
            return rows, (np.zeros(0), np.zeros((0, len(names))))
        return rows, (file["events/time"][:], file["events/outputs"][:][:, columns])


def _judge(verdict, truth, path):
    rows, limits = _rows(path, truth.solution.names)
    errors = np.concatenate([truth.errors(*rows), truth.errors(*limits, limits=True)])
    times = np.concatenate([rows[0], limits[0]])
    worst = errors.max(axis=0)
    verdict.outputs = dict(zip(truth.solution.names, worst.tolist()))
    k = int(np.argmax(worst))
    verdict.true, verdict.output = float(worst[k]), truth.solution.names[k]
    verdict.at = float(times[np.argmax(errors[:, k])])
    return rows[0][-1] >= truth.stop - 1e-9 * (truth.stop - truth.start)


def _read_summary(verdict, path):
    """What the run says of itself; its status."""
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    verdict.steps = summary["steps"]["accepted"]
    verdict.rhs = sum(s["rhs_evaluations"] for s in summary["subsystems"])
    quality = summary.get("quality", {})
    numbers = [quality.get(key) for key in ("worst_error_of_range", "worst_error")]
    of_range, verdict.of_size = [np.nan if number is None else number for number in numbers]
    verdict.estimate = verdict.of_size if np.isnan(of_range) else of_range
    return summary["status"]


def _class(verdict, told, told_is_right):
    true, accuracy = verdict.true, verdict.accuracy
    if verdict.code == 2:
        return REFUSED
    if verdict.code not in (0, 1):
        return CRASH
    if verdict.code == 1:
        return TOLD if told_is_right or not true <= accuracy else ALARM
    if true <= accuracy:
        # What is told of an error that is estimated well, a little above the truth, is no alarm.
        return ALARM if told and not verdict.ratio <= 10 else RIGHT
    if told:
        return TOLD
    if true <= 2 * accuracy:
        return TWICE
    return SHORT if verdict.estimate >= true / 3 else SILENT


def judged(made, truth, accuracy, inside=0, timeout=60.0, extra=()):
    """One run of a case. Without an accuracy the run gets none; `inside`: so many rows, evenly."""
    verdict = Verdict(made.name, made.kind, accuracy or DEFAULT, bool(inside))
    options = [*made.options, *extra] + (["-cosim_accuracy", accuracy] if accuracy else [])
    if inside:
        options += ["-cosim_output_interval", repr((truth.stop - truth.start) / inside)]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**made.files, "model.yaml": made.text}.items():
            (Path(folder) / name).write_text(content, encoding="utf-8")
        results, summary = Path(folder) / "run.h5", Path(folder) / "summary.json"
        begin = clock.monotonic()
        # The limit is of processor time, which a busy machine does not change.
        run = subprocess.run(
            ["prlimit", f"--cpu={timeout:.0f}", os.environ["CONCORD_PROGRAM"], "run",
             Path(folder) / "model.yaml", *map(str, options), "-cosim_output", results,
             "-cosim_summary", summary], capture_output=True, text=True, check=False)
        verdict.seconds, verdict.code = clock.monotonic() - begin, run.returncode
        if run.returncode in (-signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGKILL):
            verdict.verdict = STUCK
            return verdict
        status = _read_summary(verdict, summary)
        lines = [line.strip() for line in (run.stdout + run.stderr).splitlines()]
        said = [line for line in lines if line.startswith(("concord: error", "accuracy "))]
        verdict.words = said[-1] if said else ""
        arrived = results.exists() and _judge(verdict, truth, results)
        if verdict.code == 0 and not arrived:
            verdict.true = np.inf
        told = "NOT REACHED" in run.stdout or status != "completed"
        verdict.verdict = _class(verdict, told, made.told)
    return verdict


def as_dict(verdict):
    return {key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in asdict(verdict).items()}
