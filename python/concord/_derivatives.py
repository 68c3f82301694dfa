"""Derivatives of runs and fits to data, by the commands `concord gradient` and `concord fit`."""
from __future__ import annotations

import json
import os
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import InputError
from ._options import changes_of, path_of, text_of, texts_of, words_of
from ._program import call, model_words

#: Of differences on one side and on both, absolute or relative to a number, as SciPy takes them.
_STEPS = np.finfo(float).eps ** 0.5, np.finfo(float).eps ** (1 / 3)


class Gradient(NamedTuple):
    """A number that a run gives, and its derivatives by parameters and start values."""

    value: float
    derivatives: Dict[str, float]  #: by name, in the cost's unit through that of the name
    errors: Dict[str, float]  #: of these, estimated
    runs: int


class Fit(NamedTuple):
    """Numbers of a model with which it goes through measured data."""

    start_values: Dict[str, float]  #: what was found, for `run`
    half_widths: Dict[str, float]  #: of 95 % intervals; inf where nothing is known
    correlations: np.ndarray  #: in the order of the names
    residuals: Dict[str, float]  #: by variable, root mean square, in its unit
    deviations: Dict[str, float]  #: by variable, of the errors of its data, estimated or given
    condition: float  #: largest to smallest singular value; large: numbers are not told apart
    runs: int


def gradient(model: Union[str, os.PathLike], of: str,
             by: Union[str, Sequence[str], Mapping[str, float]] = (), *, ranks: int = 1,
             start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> Gradient:
    """The cost `of` a run, "integral((left.x - right.x)^2) + final(left.v)", and its derivatives by
    parameters and start values: names, or names with the values at which they are taken.

    >>> g = concord.gradient("two_mass.yaml", "final(left.x)", ["left.m", "left.c"])
    >>> sorted(g.derivatives)
    ['left.c', 'left.m']
    """
    by = [by] if isinstance(by, str) else by
    names = changes_of(by) if isinstance(by, Mapping) else [text_of("by", name) for name in by]
    words = ["gradient", *model_words(model, "gradient"), "--of", text_of("of", of)]
    words += [word for name in names for word in ("--by", name)]
    found = _found(words, start_values, options, ranks)
    entries = found["by"]
    return Gradient(found["value"], {one["name"]: one["derivative"] for one in entries},
                    {one["name"]: one["error"] for one in entries}, found["runs"])


def fit(model: Union[str, os.PathLike], data: Any,
        free: Union[str, Sequence[str], Mapping[str, Optional[Tuple[float, float]]]], *,
        deviations: Optional[Mapping[str, float]] = None,
        plot: Optional[Union[str, os.PathLike]] = None, ranks: int = 1,
        start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> Fit:
    """Finds parameters and start values of a model from measured data.

    Parameters
    ----------
    data :
        CSV files with a column `time` and columns that are called as variables of the model, one
        path or several; or the columns themselves: a mapping, or a DataFrame of pandas, with
        `time` among them.
    free :
        Names of what is to be found, or a mapping of these to bounds, (lower, upper) or None.
    deviations :
        Standard deviations of measured variables that are known; others are estimated.
    plot :
        Path of a picture of data and fitted run.
    ranks :
        Which share the runs.
    **options :
        Those of `concord run`.

    Raises SimulationError where it does not converge.

    >>> r = concord.run("two_mass.yaml", cosim_output_interval=0.1)
    >>> data = {"time": r["time"], "left.x": r["left.x"]}
    >>> found = concord.fit("two_mass.yaml", data, {"left.m": (4, 7)}, start_values={"left.m": 6})
    >>> round(found.start_values["left.m"], 3)
    5.0
    """
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        words = ["fit", *model_words(model, "fit"), *_files(data, folder)]
        words += [word for bounds in _bounded(free) for word in ("--free", bounds)]
        for change in changes_of(deviations):
            words += ["--deviation", change]
        if plot is not None:
            words += ["--plot", path_of(plot)]
        found = _found(words, start_values, options, ranks)
    numbers, variables = found["numbers"], found["variables"]
    return Fit({one["name"]: one["value"] for one in numbers},
               {one["name"]: _finite(one["half_width"]) for one in numbers},
               np.array(found["correlations"]),
               {one["name"]: one["residual"] for one in variables},
               {one["name"]: one["deviation"] for one in variables},
               _finite(found["condition"]), found["runs"])


class Function:
    """A number that a run gives as a function of parameters and start values, with its derivatives,
    for optimisers: `scipy.optimize.minimize(f, f.start, jac=f.gradient)`.

    >>> f = concord.Function("two_mass.yaml", "integral(left.x^2)", ["left.d"], start=[10.0])
    >>> f([20.0]) < f(f.start)
    True
    """

    def __init__(self, model: Union[str, os.PathLike], of: str, by: Sequence[str], *,
                 start: Sequence[float], ranks: int = 1,
                 start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> None:
        """`start`: values of `by`, from which an optimiser may begin. Others are as in
        `concord.gradient`."""
        self.by: List[str] = list(by)
        self.start = np.asarray(start, dtype=float)
        if self.start.shape != (len(self.by),):
            raise InputError(f"a function of {len(self.by)} numbers starts at as many, not at "
                             f"{np.shape(start)}")
        self._model, self._of, self._ranks = model, of, ranks
        self._start_values, self._options = dict(start_values or {}), options
        self._last: Optional[np.ndarray] = None

    def _at(self, x: Sequence[float]) -> Dict[str, float]:
        values = np.asarray(x, dtype=float).ravel()
        if len(values) != len(self.by):
            raise InputError(f"found {len(values)} numbers for {', '.join(self.by)}")
        return dict(zip(self.by, values.tolist()))

    def __call__(self, x: Sequence[float]) -> float:
        """The value alone, by one run."""
        self._watch_steps(np.asarray(x, dtype=float).ravel())
        return gradient(self._model, self._of, ranks=self._ranks, **self._options,
                        start_values={**self._start_values, **self._at(x)}).value

    def _watch_steps(self, x: np.ndarray) -> None:
        """Runs choose their steps anew: values that are as near as finite differences take them
        differ by what that makes of them."""
        last, self._last = self._last, x.copy()
        if last is None or last.shape != x.shape or np.count_nonzero(x != last) != 1:
            return
        step, size = np.abs(x - last).max(), np.abs(last[x != last]).max()
        if any(abs(step - h * scale) < 0.01 * step for h in _STEPS for scale in (1.0, size)):
            warnings.warn(f"values {step:.1e} apart look like finite differences, which are lost in the "
                          "errors of runs that choose their own steps: give the optimiser "
                          "jac=f.gradient", stacklevel=3)

    def value_and_gradient(self, x: Sequence[float]) -> Tuple[float, np.ndarray]:
        """For `minimize(f.value_and_gradient, f.start, jac=True)`."""
        found = gradient(self._model, self._of, self._at(x), ranks=self._ranks, **self._options,
                         start_values=self._start_values)
        return found.value, np.array([found.derivatives[name] for name in self.by])

    def gradient(self, x: Sequence[float]) -> np.ndarray:
        """[len(by)]"""
        return self.value_and_gradient(x)[1]


def _found(words: List[str], start_values: Optional[Mapping[str, Any]], options: Mapping[str, Any],
           ranks: int) -> Dict[str, Any]:
    """What the command has written as JSON."""
    words += [word for change in changes_of(start_values) for word in ("--set", change)]
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        path = os.path.join(folder, "found.json")
        ended = call([*words, "-o", path, *words_of(texts_of(options))], ranks)
        if ended.code != 0:
            ended.refuse()
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def _finite(value: Optional[float]) -> float:
    return float("inf") if value is None else value


def _bounded(free: Union[str, Sequence[str], Mapping[str, Optional[Tuple[float, float]]]]
             ) -> List[str]:
    if isinstance(free, str):
        free = [free]
    if not isinstance(free, Mapping):
        return [text_of("free", name) for name in free]
    return [text_of("free", name) if bounds is None else
            f"{text_of('free', name)}={text_of(name, bounds[0])}:{text_of(name, bounds[1])}"
            for name, bounds in free.items()]


def _files(data: Any, folder: str) -> List[str]:
    """Paths; columns are written to a file."""
    if isinstance(data, (str, os.PathLike)):
        return [path_of(data)]
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        return [path_of(path) for path in data]
    columns = {str(name): np.asarray(data[name], dtype=float) for name in data}
    index = getattr(data, "index", None)
    if "time" not in columns and getattr(index, "name", None) == "time":
        columns = {"time": np.asarray(index, dtype=float), **columns}
    if "time" not in columns or len({column.shape for column in columns.values()}) != 1:
        raise InputError("data are columns of one length with 'time' among them, not "
                         f"{ {name: column.shape for name, column in columns.items()} }")
    path = os.path.join(folder, "data.csv")
    names = ["time"] + [name for name in columns if name != "time"]
    np.savetxt(path, np.column_stack([columns[name] for name in names]), delimiter=",",
               comments="", fmt="%.17g", header=",".join(f'"{name}"' for name in names))
    return [path]
