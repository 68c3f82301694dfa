"""One model with many sets of parameters, in memory."""
from __future__ import annotations

import os
from collections.abc import Mapping as AbstractMapping
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._errors import InputError, SimulationError
from ._model import ModelBuilder
from ._nearest import unknown_variable
from ._simulation import Simulation


class Ensemble(AbstractMapping):
    """What the members of an ensemble have done: `e["left.x"]` is an array [members, times].

    A member that has failed has NaN from there on.

    Attributes
    ----------
    time : numpy.ndarray
        s.
    values : dict
        Of each name that was varied, the members' values.
    failed : dict
        By the number of the member, from 0, why.
    """

    def __init__(self, time: np.ndarray, values: Dict[str, np.ndarray],
                 results: Dict[str, np.ndarray], failed: Dict[int, str]) -> None:
        self.time, self.values, self.failed = time, values, failed
        self._results = results

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._results:
            raise unknown_variable(f"'{name}' is not among the results of the ensemble", name,
                                   self._results)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        members = len(next(iter(self.values.values())))
        return (f"<concord.Ensemble of {members} members, {len(self.failed)} failed, "
                f"{len(self)} results at {len(self.time)} times>")

    def mean(self, name: str) -> np.ndarray:
        """[times], of the members that have come so far; NaN where none has."""
        return self._over_members(np.mean, name)

    def std(self, name: str) -> np.ndarray:
        """[times], standard deviation with n - 1; NaN where fewer than two have come so far."""
        return self._over_members(lambda a: np.std(a, ddof=1) if len(a) > 1 else np.nan, name)

    def quantile(self, name: str, q: Union[float, Sequence[float]]) -> np.ndarray:
        """[times] of one q in [0, 1], [len(q), times] of several."""
        rows = [self._over_members(lambda a, part=part: np.quantile(a, part), name)
                for part in np.atleast_1d(q)]
        return rows[0] if np.ndim(q) == 0 else np.array(rows)

    def _over_members(self, statistic: Any, name: str) -> np.ndarray:
        columns = [column[np.isfinite(column)] for column in self[name].T]
        return np.array([statistic(column) if len(column) else np.nan for column in columns])


def ensemble(model: Union[str, os.PathLike, ModelBuilder], values: Mapping[str, Any], *,
             results: Optional[Sequence[str]] = None, times: Optional[Sequence[float]] = None,
             start_values: Optional[Mapping[str, Any]] = None, comm: Any = None,
             **options: Any) -> Ensemble:
    """Runs a model once for each set of values, in memory: it is made once, and then begun anew.

    Parameters
    ----------
    model :
        Path of a model file, or a ModelBuilder.
    values :
        Of each parameter or start value an array with an entry for each member, or one number for
        all: {"left.m": [4.0, 5.0, 6.0], "left.d": 10}.
    results :
        Names of outputs, inputs and states. Default: all of them.
    times :
        s, ascending; a macro-step ends at each. Default: the stop time alone.
    start_values :
        The same for all members, set before what is varied.
    comm :
        A communicator of mpi4py, on whose ranks each member runs; default: all ranks.
    **options :
        Those of `concord run`, for every member.

    A member's results are those of a run by itself with these macro-steps. One that fails is kept
    apart, and the others go on. Raises InputError where values or names are wrong. What comes back
    takes 8 bytes for each member, time and result. For results files and tables, and members on
    ranks of their own, there is `concord.sweep`.

    Examples
    --------
    >>> e = concord.ensemble("bouncing_ball.yaml", {"ball.e": [0.5, 0.7, 0.9]}, results=["ball.h"],
    ...                      times=[0.2, 1.0])
    >>> e["ball.h"].shape, e.failed
    ((3, 2), {})
    >>> e.quantile("ball.h", 0.5)[1] == e["ball.h"][1, 1]
    True
    """
    members = _members(values)
    with Simulation(model, start_values=start_values, comm=comm, **options) as simulation:
        names = _chosen(simulation, results)
        at = _times(simulation, times)
        found = np.full((len(members), len(at), len(names)), np.nan)
        failed: Dict[int, str] = {}
        for number, changes in enumerate(members):
            try:
                simulation.reset(changes)
                for column, time in enumerate(at):
                    if simulation.time < time:
                        simulation.advance(until=time)
                    found[number, column] = simulation.values(names)
            except SimulationError as error:
                failed[number] = str(error)
    varied = {name: np.array([member[name] for member in members]) for name in values}
    return Ensemble(at, varied, {name: found[..., i] for i, name in enumerate(names)}, failed)


def _members(values: Mapping[str, Any]) -> List[Dict[str, float]]:
    """The set of values of each member."""
    columns = {name: np.asarray(column, dtype=float) for name, column in values.items()}
    sizes = {len(column) for column in columns.values() if column.ndim == 1}
    if any(column.ndim > 1 for column in columns.values()) or len(sizes) != 1 or 0 in sizes:
        found = ", ".join(f"'{name}' {list(column.shape)}" for name, column in columns.items())
        raise InputError("values of an ensemble are arrays of one length, an entry for each member, "
                         f"or single numbers, not {found or 'nothing'}")
    rows = np.broadcast_arrays(*columns.values())
    return [dict(zip(columns, map(float, row))) for row in zip(*rows)]


def _chosen(simulation: Simulation, results: Optional[Sequence[str]]) -> List[str]:
    if isinstance(results, str):
        results = [results]
    names = simulation.variables if results is None else list(results)
    for name in names:
        if name not in simulation:
            raise unknown_variable(f"the model has no output, input or state '{name}'", name,
                                   simulation.variables)
    return names


def _times(simulation: Simulation, times: Optional[Sequence[float]]) -> np.ndarray:
    at = np.array([simulation.stop_time]) if times is None else np.asarray(times, dtype=float)
    ascending = at.ndim == 1 and len(at) > 0 and np.all(np.diff(at) > 0)
    if not ascending or not (at[0] >= simulation.time and at[-1] <= simulation.stop_time):
        raise InputError(f"times of an ensemble ascend from {simulation.time:g} to "
                         f"{simulation.stop_time:g} s, the experiment, not {at.tolist()}")
    return at
