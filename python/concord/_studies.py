"""Many runs of one model, by the commands `concord sweep` and `concord study`."""
from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
import weakref
from typing import (TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional,
                    Sequence, Union)

from ._options import changes_of, path_of, text_of, texts_of, words_of
from ._program import call, model_words
from ._progress import Count
from ._results import Result, imported, read

if TYPE_CHECKING:
    import pandas

Path = Union[str, os.PathLike]


class _Table:
    """Where a table goes, and what goes beside it: where it is asked for, else into a temporary
    folder that lives as long as this object."""

    def __init__(self, asked: Optional[Path]) -> None:
        if asked is not None:
            self.path = path_of(asked)
            return
        folder = tempfile.mkdtemp(prefix="concord-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.path.join(folder, "table.csv")


class SweepRun(NamedTuple):
    """A run of a sweep."""

    number: int  #: from 1, in the table's order
    parameters: Dict[str, Any]  #: numbers, or texts where the sweep's values are expressions
    results: Dict[str, float]  #: "ball.h:last"; empty where the run has failed
    exit_code: int  #: as of `concord run`: 0, 1 failed, 2 wrong input, 3 stopped early
    error: str
    wall_time: float  #: s
    file: str  #: the results file, or nothing

    @property
    def completed(self) -> bool:
        """Whether it went to its end."""
        return self.exit_code == 0

    def read(self) -> Result:
        """All of its results."""
        return read(self.file)


def sweep(model: Path, values: Optional[Mapping[str, Any]] = None, *,
          samples: Optional[Path] = None, latin: Optional[int] = None, seed: int = 1,
          results: Sequence[str] = (), start_values: Optional[Mapping[str, Any]] = None,
          output: Optional[Path] = None, resume: bool = False, ranks: int = 1,
          ranks_per_run: int = 1, progress: Optional[bool] = None, **options: Any) -> Sweep:
    """A run for every combination of values: the command `concord sweep`.

    Parameters
    ----------
    model :
        Path of a model file.
    values :
        Of each parameter or start value a list, or the command's words: {"ball.e": [0.5, 0.9],
        "table.omega": "linspace(1, 5, 9)"}.
    samples :
        A CSV file with a header of names and a row a run.
    latin, seed :
        Points of a Latin hypercube over values like "uniform(1, 5)".
    results :
        "ball.h:last", or min, max, rms. Default: the last value of every output.
    start_values :
        The same in all runs.
    output :
        The table, a .csv; results files go in a folder beside it. Default: temporary files, which
        go with the Sweep.
    resume :
        Does what the table `output` lacks.
    ranks, ranks_per_run :
        MPI ranks, shared out in groups among the runs.
    progress :
        A bar of the runs, as in `concord.run`.
    **options :
        Those of `concord run`, for every run.

    A run that fails is kept apart; the others go on. Raises InputError where all had wrong input.

    Examples
    --------
    >>> s = concord.sweep("bouncing_ball.yaml", {"ball.e": [0.5, 0.9, -1]}, cosim_stop=1)
    >>> [run.parameters["ball.e"] for run in s.completed], len(s.failed)
    ([0.5, 0.9, -1.0], 0)
    >>> s.to_pandas().loc[2, "ball.h:last"] == s[1].read()["ball.h"][-1]
    True
    """
    words = ["sweep", *model_words(model, "sweep")]
    given = {**{name: [value] for name, value in (start_values or {}).items()}, **(values or {})}
    words += [word for change in changes_of(given) for word in ("--set", change)]
    for name, value in (("samples", samples), ("latin", latin)):
        words += [] if value is None else [f"--{name}", text_of(name, value)]
    words += ["--seed", text_of("seed", seed), "--ranks_per_run", text_of("ranks", ranks_per_run)]
    words += ["--results", ",".join(results)] if results else []
    words += ["--resume"] if resume else []
    table = _Table(output)
    with Count(progress, "runs") as count:
        ended = call([*words, "-o", table.path, *words_of(texts_of(options))], ranks, count.line)
    if ended.code == 2 or not os.path.exists(table.path):
        ended.refuse()
    return Sweep(table, ended.error)


class Sweep:
    """The runs of a sweep: a sequence of SweepRun.

    Attributes
    ----------
    path : str
        The table; there is an HDF5 file beside it.
    message : str
        What the command has said of failures, or nothing.
    """

    def __init__(self, table: _Table, message: str) -> None:
        self.path: str = table.path
        self.message: str = message
        self._table = table
        with open(self.path, encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file)
        self._runs = [_run(header, line, os.path.dirname(self.path)) for line in lines]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self._runs)

    def __getitem__(self, index: int) -> SweepRun:
        return self._runs[index]

    def __repr__(self) -> str:
        return f"<concord.Sweep of {len(self)} runs, {len(self.failed)} failed>"

    @property
    def completed(self) -> List[SweepRun]:
        """Runs that went to their end."""
        return [run for run in self._runs if run.completed]

    @property
    def failed(self) -> List[SweepRun]:
        """The others, with exit code and message."""
        return [run for run in self._runs if not run.completed]

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame of the completed runs: index `run`, columns parameters and results."""
        frames = imported("pandas", "to_pandas")
        rows = [{**run.parameters, **run.results} for run in self.completed]
        return frames.DataFrame(rows, index=frames.Index([run.number for run in self.completed],
                                                         name="run"))


class Study:
    """Methods and steps compared, the worst output of each run.

    Attributes
    ----------
    runs : list of dict
        Of each: `type`, `step`, `failure` (empty where it completed), `relative_l2`,
        `maximum_of_range`, `order`, `coupling_evaluations`, `rhs_evaluations`, `wall_time`,
        `outputs` (errors of each), `file`.
    reference : dict
        What they were compared with: `type`, `step`, `file`, and `why` not monolithic.
    recommended : dict or None
        `type`, `step` and `work` for the accuracy that was asked for; `reached`: by some run, else
        it was continued by its order.
    advice : str
        The same in words.
    picture : str or None
        A PNG of error over step and over work, where matplotlib was there.
    """

    def __init__(self, told: Mapping[str, Any], table: _Table) -> None:
        self.runs: List[Dict[str, Any]] = list(told["runs"])
        self.reference: Dict[str, Any] = dict(told["reference"])
        self.recommended: Optional[Dict[str, Any]] = told["recommended"]
        self.advice: str = told["recommended_in_words"]
        self.path: str = table.path
        self._table = table
        picture = os.path.splitext(self.path)[0] + ".png"
        self.picture: Optional[str] = picture if os.path.exists(picture) else None

    def __repr__(self) -> str:
        return f"<concord.Study of {len(self.runs)} runs; {self.advice}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row a run."""
        frames = imported("pandas", "to_pandas")
        return frames.DataFrame([{name: value for name, value in run.items() if name != "outputs"}
                                 for run in self.runs])


def study(model: Path, *, steps: Sequence[float] = (), types: Sequence[str] = (),
          accuracy: Optional[float] = None, variables: Sequence[str] = (),
          start_values: Optional[Mapping[str, Any]] = None, output: Optional[Path] = None,
          ranks: int = 1, **options: Any) -> Study:
    """Which method and which step: the command `concord study`.

    Runs every method of `types` (default: all that can) with every step of `steps` (s; default: a
    few), and compares with `monolithic`, or the finest run: errors, observed orders, evaluations,
    time. `accuracy`: what the advice is for, relative to each output's range (1e-4). `variables`:
    outputs that count. `output`: the table, a .csv; default: temporary files, which go with the
    Study. Raises SimulationError where no run has completed.

    >>> s = concord.study("bouncing_ball.yaml", steps=[0.02, 0.01], types=["jfm", "jacobi"])
    >>> sorted({run["type"] for run in s.runs}), s.recommended["type"] in ("jfm", "jacobi")
    (['jacobi', 'jfm'], True)
    """
    words = ["study", *model_words(model, "study")]
    words += [word for change in changes_of(start_values) for word in ("--set", change)]
    for name, value in (("steps", steps), ("types", types), ("variables", variables)):
        words += [f"--{name}", text_of(name, value)] if len(value) else []
    words += [] if accuracy is None else ["--accuracy", text_of("accuracy", accuracy)]
    table = _Table(output)
    ended = call([*words, "--json", "-o", table.path, *words_of(texts_of(options))], ranks)
    if ended.code != 0:
        ended.refuse()
    return Study(json.loads(ended.output), table)


def _run(header: List[str], line: List[str], folder: str) -> SweepRun:
    """A row of the table: run, parameters, exit_code, error, wall_time, file, results."""
    row = dict(zip(header, line))
    first = header.index("exit_code")
    file = row["file"]
    return SweepRun(
        int(row["run"]), {name: _number(row[name]) for name in header[1:first]},
        {name: float(row[name]) for name in header[first + 4:] if row[name]},
        int(row["exit_code"]), row["error"], float(row["wall_time"]),
        file if not file or os.path.isabs(file) else os.path.join(folder, file))


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
