"""Runs of the findings' tests: one call gives exit code, reason, results and error of a model."""
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from collocation import Collocation
from concord_runs import Results, in_short, run_here
from equation_models import Equations
from patience import HANGS

METHODS = ("jfm", "missiles", "ifosmondi", "kuebler_schiehlen", "jacobi", "gauss_seidel",
           "hierarchical", "extripol", "monolithic")
@dataclass
class Run:
    code: int
    reason: str = ""
    results: Results = None
    stdout: str = ""

    @property
    def completed(self):
        return self.code == 0

    @property
    def told(self):
        """Estimated error of a run that says it has missed its accuracy."""
        return self.results.error_estimate if "NOT REACHED" in self.stdout else 0.0


def run(model, *options, ranks=1, timeout=HANGS, by=run_here):
    """Whatever the outcome; options are texts of words. The results file is read where there is one."""
    words = [word for option in options for word in str(option).split()]
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "model.yaml", Path(folder) / "results.h5"
        path.write_text(model if isinstance(model, str) else model.yaml(), encoding="utf-8")
        done = by(path, *words, "-cosim_output", output, ranks=ranks, timeout=timeout)
        results = Results(output, done) if output.exists() else None
    return Run(done.returncode, done.stderr.strip(), results, done.stdout)


MOST_ROWS = in_short((2000, 600), 2, 1)[0]  # of which a reference is asked for: half of them the first; and events

_SOLVED = {}  # by model, grid and what it was solved with: methods and options share them


def exact_outputs(model, grid, fastest=0.0, pieces=1):
    """Outputs (len(grid), n_out) by collocation."""
    key = model.yaml(), np.asarray(grid, float).tobytes(), fastest, pieces
    if key not in _SOLVED:
        _SOLVED[key] = Collocation(model).solve(np.asarray(grid, float), pieces, fastest)[1]
    return _SOLVED[key]


def errors(model, results, fastest=0.0, pieces=1, exact=None, time=None):
    """Largest error of each output over the communication points, relative to its range. `exact`: outputs as a
    function of time, else by collocation; `time`: instead of the results'."""
    time = results.time if time is None else time
    values = results.outputs.columns(*model.output_names())
    if len(time) > MOST_ROWS:
        rows = np.unique(np.concatenate([np.arange(MOST_ROWS // 2),
                                         np.linspace(0, len(time) - 1, MOST_ROWS // 2).astype(int),
                                         np.flatnonzero(np.isin(time, model.events))]))
        time, values = time[rows], values[rows]
    exact = exact(time) if exact else exact_outputs(model, time, fastest, pieces)
    size = np.abs(exact).max(axis=0)
    with np.errstate(all="ignore"):
        worst = np.abs(values - exact).max(axis=0) / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(worst), worst, np.inf)


class Kinds:
    """Assertions for unittest classes."""

    def assert_right(self, model, allowed, *options, may_refuse=False, may_tell=False, fastest=0.0,
                     pieces=1, exact=None):
        """The run completes with an error below `allowed`; or, where it may, it is refused in one
        line; or it says that its accuracy is not reached and estimates a third of the error or more.
        `exact`: as of errors."""
        done = run(model, *options)
        label = " ".join(map(str, options))
        if not done.completed and may_refuse:
            print(f"{label}: refused: {done.reason}")
            self.assert_refused(done)
            return done
        self.assertTrue(done.completed, f"{label}: exit code {done.code}, {done.reason}")
        worst = errors(model, done.results, fastest, pieces, exact).max()
        told = done.told if may_tell else 0.0
        print(f"{label}: error {worst:.2e}, told {told:.2e}")
        self.assertLess(worst, max(allowed, 3.0 * told), label)
        return done

    def assert_refused(self, done, *words):
        """One line that starts as promised, exit code 1 or 2, with one of these words."""
        self.assertIn(done.code, (1, 2), done.reason or "completed")
        self.assertEqual(len(done.reason.splitlines()), 1, done.reason)
        self.assertTrue(done.reason.startswith("concord: error: "), done.reason)
        if words:
            self.assertTrue(any(word in done.reason for word in words), done.reason)


def shifted(model, start):
    """The same model from another start time: its t counts from there."""
    def moved(text):
        return text.replace("{t}", f"(t - {start!r})")

    parts = [replace(s, derivatives={k: moved(v) for k, v in s.derivatives.items()},
                     outputs={k: moved(v) for k, v in s.outputs.items()}) for s in model.subsystems]
    return replace(model, subsystems=parts, start=start, stop=start + model.stop - model.start,
                   events=[start + e for e in model.events])


__all__ = ["METHODS", "Equations", "Kinds", "Run", "errors", "exact_outputs", "run", "shifted"]
