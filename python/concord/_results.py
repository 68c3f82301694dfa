"""Results files, and the results of runs."""
from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._errors import InputError
from ._concord import resampled
from ._html import page
from ._nearest import unknown_variable

if TYPE_CHECKING:
    import pandas
    import xarray

_GROUPS = ("outputs", "inputs", "states", "balance")
_LEFT, _RIGHT, _ROW = 0, 1, 2  # where a line is: before and behind an event, in the file's rows


class Event(NamedTuple):
    """Something that happened: when, in s, where, and what (the model's own words)."""

    time: float
    subsystem: str
    what: str


class TextChange(NamedTuple):
    """From when on, in s, a text output is what: `bytes` where it is of type Binary."""

    time: float
    value: Union[str, bytes]


class _Lines(NamedTuple):
    """Times in s, where each one's values are, and at which place there."""

    time: np.ndarray
    kind: np.ndarray
    index: np.ndarray


class _CurvePoints(NamedTuple):
    """Rows and instants that curves go through: both limits at events, at which `time` is once."""

    lines: _Lines
    is_left: np.ndarray
    time: np.ndarray
    events: np.ndarray  #: places of instants in `time`

    def values(self, result: Result, name: str, times: np.ndarray, side: str) -> Any:
        """Of a variable at times within `time`, in their shape."""
        given = result._at(name, self.lines)
        left = given[self.is_left]
        slopes = result._slopes_at(name, self.lines)
        found = np.array(resampled(self.time, times.ravel(), self.events, given[~self.is_left], left,
                                   slopes[~self.is_left], slopes[self.is_left]))
        if side == "left" and len(self.events):
            instants = self.time[self.events]
            nearest = _nearest_of(instants, times.ravel())
            rounding = 64 * np.finfo(float).eps * np.abs(self.time[[0, -1]]).max()
            there = np.abs(instants[nearest] - times.ravel()) <= rounding
            found[there] = left[nearest[there]]
        return found.reshape(times.shape)[()]


def _nearest_of(instants: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Of instants, which ascend, the place of that next to each of the times."""
    behind = np.clip(np.searchsorted(instants, times), 1, max(len(instants) - 1, 1))
    before = np.clip(behind - 1, 0, len(instants) - 1)
    behind = np.clip(behind, 0, len(instants) - 1)
    return np.where(times - instants[before] <= instants[behind] - times, before, behind)


def _lines_of(stretches) -> _Lines:
    time = np.concatenate([times for _, times, _ in stretches])
    kind = np.concatenate([np.full(len(times), kind) for kind, times, _ in stretches])
    index = np.concatenate([places for _, _, places in stretches])
    order = np.lexsort((kind, time))
    return _Lines(time[order], kind[order], index[order])


def read(path: Union[str, os.PathLike]) -> Result:
    """The results in a file that `concord run` or `concord.run` has written.

    Columns are read when they are asked for; the file is open until `close`, or until the result
    is gone. A run that still goes on may be read: rows so far are there. Raises InputError where
    the file is not there or holds no results.

    >>> r = concord.run("bouncing_ball.yaml", cosim_output="ball.h5")
    >>> with concord.read("ball.h5") as r:
    ...     r.units["ball.h"], r.events[0].what
    ('m', 'gap < 0')
    """
    return Result(os.fspath(path))


class Result:
    """Trajectories, by names: `r["time"]`, `r["ball.h"]` are numpy arrays of length T.

    An output counts before an input, an input before a state of the same name. Rows are the start
    and the communication points (at an event, what follows it), or the times that
    `cosim_output_interval` or `cosim_output_times` wanted. As a mapping it has the names of
    all variables, without `time`. It can be pickled: with its data where the file was a temporary
    one, else by the file's path.

    Attributes
    ----------
    path : str or None
        The results file; None where it was a temporary one, which is in memory now.
    summary : dict
        Of `concord.run`: what `concord run -cosim_summary` writes: steps, evaluations, estimated
        errors, costs. Empty for a file that was read.
    """

    def __init__(self, path: str, *, in_memory: bool = False,
                 summary: Optional[Dict[str, Any]] = None, reason: str = "") -> None:
        self.path: Optional[str] = None if in_memory else path
        self.summary: Dict[str, Any] = summary or {}
        self.reason: str = reason  #: why the run has stopped early, or nothing
        self._take(_opened(path, in_memory), path)

    def _take(self, file: Any, path: str) -> None:
        self._file = file
        try:
            self._time = _increasing(self._file["time"][:])
            self._columns = _columns_of(self._file)
        except (KeyError, OSError, RuntimeError, AttributeError) as error:
            self._file.close()
            raise InputError(f"'{path}' is not a Concord results file: {error}") from error
        for group in _GROUPS:
            if f"{group}/values" in self._file:  # a kill may have left them of different length
                self._time = self._time[:len(self._file[f"{group}/values"])]

    def __getstate__(self) -> Dict[str, Any]:
        """For `pickle`: of a temporary file all that it holds, else its absolute path."""
        self._require_open()
        temporary = self.path is None
        return {"path": None if temporary else os.path.abspath(self.path),
                "image": self._file.id.get_file_image() if temporary else None,
                "summary": self.summary, "reason": self.reason}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.path, self.summary, self.reason = state["path"], state["summary"], state["reason"]
        if self.path is None:
            self._take(_file_of(state["image"]), "a temporary file")
        else:
            self._take(_opened(self.path, False), self.path)

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; what was read before stays."""
        self._file.close()

    def copied_to(self, path: str) -> str:
        """All of it, in a file of that path, which it gives."""
        self._require_open()
        with open(path, "wb") as file:
            file.write(self._file.id.get_file_image())
        return path

    def __repr__(self) -> str:
        if not self._file:
            return "<concord.Result, closed>"
        missed = ", accuracy NOT REACHED" if "NOT REACHED" in self.attribute("accuracy", "") else ""
        return (f"<concord.Result of {self.model}: {self.status}{missed}, {len(self._columns)} "
                f"variables, {len(self._time)} rows, t from {self._time[0]:g} to "
                f"{self._time[-1]:g} s>")

    def _repr_html_(self) -> Optional[str]:
        """For notebooks: status, estimated error, and curves of the first outputs."""
        return page(self) if self._file else None

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self._columns or name in self.texts

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self._time.copy()
        if name not in self._columns and name in self.texts:
            return self._texts_at(self.texts[name])
        group, column = self._place(name)
        return self._data(f"{group}/values")[:len(self._time), column]

    def keys(self) -> List[str]:
        """Names of all variables, in the order of the file, without `time`."""
        return list(self._columns)

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the file: `petsc_options`, `error_estimate`, `model_text`, ..."""
        self._require_open()
        return _plain(self._file.attrs.get(name, default))

    @property
    def model(self) -> str:
        """The model's name."""
        return self.attribute("model_name", "")

    @property
    def status(self) -> str:
        """`completed`, `inaccurate`, `interrupted`, `failed`, `diverged`, or `running`."""
        return self.attribute("status", "")

    @property
    def units(self) -> Dict[str, str]:
        """By name; empty where the model gives none. `time` is in s."""
        self._require_open()
        return {"time": "s", **self._texts_by_name("units")}

    @property
    def display_units(self) -> Dict[str, str]:
        """The units to show variables in, by name, as `display` of the model has them; else their own."""
        self._require_open()
        return {"time": "s", **self._texts_by_name("display_units")}

    @property
    def events(self) -> List[Event]:
        """All that happened, in the order of time."""
        self._require_open()
        if "events/time" not in self._file:
            return []
        group = self._file["events"]
        return [Event(float(time), subsystem, what) for time, subsystem, what in
                zip(group["time"][:], texts_in(group["subsystem"]), texts_in(group["what"]))]

    @property
    def texts(self) -> Dict[str, List[TextChange]]:
        """By name, what text outputs of FMUs (String, Binary) were from when on; `r[name]` has one entry per
        row, as all variables have."""
        self._require_open()
        if "texts/time" not in self._file:
            return {}
        group = self._file["texts"]
        types = dict(zip(texts_in(group["names"]), texts_in(group["types"])))
        result: Dict[str, List[TextChange]] = {name: [] for name in types}
        for time, name, value in zip(group["time"][:], texts_in(group["variable"]), group["value"][:]):
            text = value if isinstance(value, str) else value.decode(errors="surrogateescape")
            is_bytes = types[name] == "Binary"
            result[name].append(TextChange(float(time), bytes.fromhex(text[2:]) if is_bytes else text))
        return result

    @property
    def steps(self) -> Dict[str, np.ndarray]:
        """Of each macro-step `size`, `iterations`, `coupling_evaluations`, `error_estimate`, ..."""
        self._require_open()
        return {name: data[:] for name, data in self._file["steps"].items()}

    @property
    def subsystems(self) -> Dict[str, np.ndarray]:
        """Of each subsystem `name`, `kind`, `rank`, `rhs_evaluations`, `wall_time`, ..."""
        self._require_open()
        return {name: np.array(texts_in(data)) if data.dtype.kind == "O" else data[:]
                for name, data in self._file["subsystems"].items()}

    def at(self, t: Any, names: Union[None, str, Sequence[str]] = None,
           side: str = "right") -> Any:
        """Values at any times `t`, in s, a number or an array: between rows, too.

        Of one name an array of the shape of `t` (a number where `t` is one), of several, or all,
        a dictionary of these. Between rows it goes as `concord export --interval`, plots and
        comparisons: by polynomials of up to degree 7 through rows nearby and their slopes where
        these are recorded, never across an event. At an
        event's instant what follows it; `side="left"`: what was before. Raises ValueError outside
        of the recorded time.

        >>> r = concord.run("bouncing_ball.yaml")
        >>> float(round(r.at(0.1, "ball.v"), 6))
        -0.981
        """
        if side not in ("left", "right"):
            raise InputError(f"side={side!r}: must be 'left' or 'right'")
        times = np.asarray(t, dtype=float)
        points = self._curve_points()
        first, last = points.time[0], points.time[-1]
        if not np.all((times >= first) & (times <= last)):
            raise InputError(f"t must lie within the recorded time, {first:.17g} to {last:.17g} s")
        chosen = self._chosen(names)
        values = {name: points.values(self, name, times, side) for name in chosen}
        return values[names] if isinstance(names, str) else values

    def to_pandas(self, variables: Optional[Sequence[str]] = None,
                  rows: Optional[str] = None, events: Optional[str] = None) -> pandas.DataFrame:
        """A pandas.DataFrame: index `time` in s, a column for each of `variables` (default: all).

        Its rows are those of `concord export`. `rows="grid"`: where `cosim_output_interval` or
        `cosim_output_times` wanted them (the default where they did); `"events"`: the instants of
        events; `"all"`: both (else the default). At an event there are two rows of one time: what
        was before it (NaN where that is not known), and what follows. `events="right"`: the second
        only (the default on a grid). `attrs["units"]` has the units.

        >>> frame = concord.run("bouncing_ball.yaml").to_pandas(["ball.h"])
        >>> frame.index.name, frame.attrs["units"]["ball.h"]
        ('time', 'm')
        """
        frames = imported("pandas", "to_pandas")
        names = self._chosen(variables)
        lines = self._lines(rows, events)
        data = {name: self._at(name, lines) for name in names}
        frame = frames.DataFrame(data, index=frames.Index(lines.time, name="time"))
        units = self.units
        frame.attrs["units"] = {name: units[name] for name in ["time", *names]}
        return frame

    def to_xarray(self, variables: Optional[Sequence[str]] = None,
                  rows: Optional[str] = None, events: str = "right") -> xarray.Dataset:
        """An xarray.Dataset: dimension `time`, units in the variables' `attrs`.

        `rows` and `events` as in `to_pandas`. `events="both"`: times are then not unique, which
        selecting and interpolating by time need. Raises ImportError where xarray is missing.
        """
        datasets = imported("xarray", "to_xarray")
        names = self._chosen(variables)
        lines = self._lines(rows, events)
        units = self.units
        data = {name: ("time", self._at(name, lines), {"units": units[name]}) for name in names}
        return datasets.Dataset(data, {"time": ("time", lines.time, {"units": "s"})},
                              {"model": self.model, "status": self.status})

    def _texts_at(self, changes: List[TextChange]) -> np.ndarray:
        result = np.full(len(self._time), None, dtype=object)
        for change in changes:
            result[np.searchsorted(self._time, change.time):] = change.value
        return result

    def _texts_by_name(self, what: str) -> Dict[str, str]:
        """A group's texts; of older files, which have no units to show, its units."""
        groups = {group for group, _ in self._columns.values()}
        known = {group: texts_in(self._file[group].get(what, self._file[group]["units"]))
                 for group in groups}
        return {name: known[group][column] for name, (group, column) in self._columns.items()}

    def _place(self, name: str):
        if name not in self._columns:
            raise unknown_variable(f"the results have no variable '{name}'", name, self._columns)
        return self._columns[name]

    def _chosen(self, variables: Optional[Sequence[str]]) -> List[str]:
        if isinstance(variables, str):
            variables = [variables]
        chosen = list(self._columns) if variables is None else list(variables)
        for name in chosen:
            self._place(name)
        return chosen

    def _lines(self, rows: Optional[str], events: Optional[str]) -> _Lines:
        self._require_open()
        has_grid = "steps/time" in self._file
        rows = rows or ("grid" if has_grid else "all")
        events = events or ("right" if rows == "grid" else "both")
        if rows not in ("grid", "events", "all"):
            raise InputError(f"rows={rows!r}: must be 'grid', 'events' or 'all'")
        if rows == "grid" and not has_grid:
            raise InputError("rows='grid': the results have no rows on a grid; run with "
                             "cosim_output_interval, or take 'all'")
        if events not in ("both", "right"):
            raise InputError(f"events={events!r}: must be 'both' or 'right'")
        instants, entries = self._instants()
        known = np.isin(instants, self._time)
        if not has_grid:  # later ones were flushed before their rows
            instants, entries, known = instants[known], entries[known], known[known]
        own = np.flatnonzero((rows != "events") | np.isin(self._time, instants))
        more = ~known & (rows != "grid")
        left = (known | more) & (events == "both")
        return _lines_of([(_LEFT, instants[left], entries[left]),
                          (_RIGHT, instants[more], entries[more]),
                          (_ROW, self._time[own], own)])

    def _instants(self):
        """When something happened, and the first entry of each of these times."""
        if "events/time" not in self._file:
            return np.zeros(0), np.zeros(0, dtype=int)
        return np.unique(self._file["events/time"][:], return_index=True)

    def _curve_points(self) -> _CurvePoints:
        lines = self._lines("all", "both")
        is_left = lines.kind == _LEFT
        events = np.flatnonzero(is_left) - np.arange(np.count_nonzero(is_left))
        return _CurvePoints(lines, is_left, lines.time[~is_left], events)

    def _at(self, name: str, lines: _Lines, what: str = "values") -> np.ndarray:
        group, column = self._columns[name]
        values = np.full(len(lines.time), np.nan)
        paths = ((_RIGHT, f"events/right/{group}/{what}"), (_ROW, f"{group}/{what}"))
        paths += ((_LEFT, f"events/{group}" if what == "values" else f"events/left/{group}/{what}"),)
        for kind, path in paths:
            chosen = lines.kind == kind
            if chosen.any() and path in self._file:
                values[chosen] = self._file[path][:, column][lines.index[chosen]]
        return values

    def _slopes_at(self, name: str, lines: _Lines) -> np.ndarray:
        """Not those of holds, which files of explicit methods have for inputs."""
        if not any(f"{group}/derivatives" in self._file for group in ("outputs", "states")):
            return np.full(len(lines.time), np.nan)
        return self._at(name, lines, "derivatives")

    def _data(self, path: str):
        self._require_open()
        return self._file[path]

    def _require_open(self) -> None:
        if not self._file:
            raise InputError("the results are closed")


def _opened(path: str, in_memory: bool):
    h5py = imported("h5py", "concord.read")
    if not os.path.isfile(path):
        raise InputError(f"cannot read '{path}': there is no such file")
    memory = {"driver": "core", "backing_store": False} if in_memory else {}
    try:
        return h5py.File(path, "r", **memory)
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error}") from error


def _file_of(image: bytes):
    """A file in memory. HDF5 takes two of one name for the same file."""
    h5py = imported("h5py", "concord.read")
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_core(backing_store=False)
    access.set_file_image(image)
    return h5py.File(h5py.h5f.open(uuid.uuid4().hex.encode(), h5py.h5f.ACC_RDONLY, fapl=access))


def _columns_of(file) -> Dict[str, Any]:
    columns: Dict[str, Any] = {}
    for group in _GROUPS:
        if group in file:
            for column, name in enumerate(texts_in(file[group]["names"])):
                columns.setdefault(name, (group, column))
    return columns


def _increasing(time: np.ndarray) -> np.ndarray:
    if not len(time) or np.any(np.diff(time) <= 0.0):
        raise KeyError("it holds no rows yet, or its times do not increase")
    return time


def texts_in(data: Any) -> List[str]:
    """The texts of a dataset."""
    return [_plain(item) for item in data[:]]


def _plain(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode()
    return item.item() if isinstance(item, np.generic) else item


def imported(module: str, what: str):
    """A module that is optional; an ImportError that says how to get it."""
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module}, which is not installed: apt install "
                          f"python3-{module}, or pip install {module}") from error
