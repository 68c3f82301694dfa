"""A simulation step by step."""
from __future__ import annotations

import math
import os
import warnings
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _concord
from ._errors import InputError
from ._model import ModelBuilder
from ._options import changes_of, path_of, texts_of

#: What only a whole run has.
_OF_RUNS = frozenset(("cosim_checkpoint", "cosim_restart", "cosim_summary",
                      "cosim_trace", "cosim_time_limit", "cosim_realtime", "cosim_monitor", "cosim_progress"))


class Snapshot:
    """A communication point to which a simulation can return, as often as wanted. Under mpirun each
    rank has its own part."""

    def __init__(self, kept: Any) -> None:
        self._kept = kept

    @property
    def time(self) -> float:
        """s"""
        return self._kept.time


class Simulation:
    """A model at work, macro-step by macro-step.

    Values are read and set by "subsystem.variable": outputs, inputs, states and parameters are
    read; inputs that nothing feeds, and tunable parameters, are set, between macro-steps or before
    the start. Setting one is an event: nothing is interpolated across.

    Parameters
    ----------
    model :
        Path of a model file (.yaml, .ssp, .ssd), or a ModelBuilder.
    start_values :
        Parameters and start values other than the model says: {"ball.e": 0.9}.
    comm :
        A communicator of mpi4py; default: all ranks. All of its ranks make the same calls.
    **options :
        Those of `concord run`, without dash: `cosim_step=1e-2`. With `cosim_output="a.h5"` there is
        a results file, from each start or reset to the end, `close`, or a step back (`restore`).

    Examples
    --------
    >>> s = concord.Simulation("bouncing_ball.yaml", cosim_step=1e-2)
    >>> s.start()
    >>> while not s.finished:
    ...     s.advance()
    >>> round(s.time, 9), s["ball.h"] > -0.11
    (3.0, True)
    """

    def __init__(self, model: Union[str, os.PathLike, ModelBuilder], *,
                 start_values: Optional[Mapping[str, Any]] = None, comm: Any = None,
                 **options: Any) -> None:
        texts, address = texts_of(options), _address(comm)
        for name in _OF_RUNS.intersection(texts):
            warnings.warn(f"option {name} has no effect on a simulation step by step, which writes "
                          "no such files: use concord.run",
                          stacklevel=2)
        if isinstance(model, ModelBuilder):
            self._core = _concord.Simulation(model.built(start_values),
                                             _builds_again(model, start_values), texts, address)
        else:
            self._core = _concord.Simulation(path_of(model), changes_of(start_values), texts,
                                             address)

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<concord.Simulation at t = {self.time:g} of {self.stop_time:g} s>"

    def close(self) -> None:
        """Frees what it holds. Under mpirun on all ranks."""
        self._core.close()

    def start(self) -> None:
        """Consistent inputs and outputs at the start time."""
        self._core.start()

    def reset(self, values: Optional[Mapping[str, Any]] = None) -> None:
        """The start again, as `start` leaves it, with these parameters and start values other than
        the simulation was made with ({"left.m": 6.0}), and nothing of what was set before. What the
        model computes from them it computes anew. Where a value is refused (InputError) the
        simulation stays as it is. Under mpirun on all ranks.

        >>> s = concord.Simulation("bouncing_ball.yaml", cosim_step=1e-2)
        >>> for e in (0.5, 0.9):
        ...     s.reset({"ball.e": e})
        ...     s.advance(until=1.0)
        """
        self._core.reset(changes_of(values))

    def advance(self, until: Optional[float] = None) -> None:
        """One macro-step; or macro-steps until that time, s, the last of which ends exactly there
        (beyond the stop time: at the stop time). Ctrl-C ends at the next communication point with
        KeyboardInterrupt; the simulation can go on from there."""
        if until is None:
            self._core.advance()
            return
        until = float(until)
        if math.isnan(until):
            raise InputError("advance(until=nan): give a time in s")
        self._core.advance_until(until)
        end = min(until, self.stop_time)
        if not self.finished and not math.isclose(self.time, end, rel_tol=1e-14):
            raise KeyboardInterrupt  # it came to another rank

    @property
    def finished(self) -> bool:
        """Whether the stop time is reached, or a subsystem has asked for the end."""
        return self._core.finished()

    @property
    def time(self) -> float:
        """s"""
        return self._core.time()

    @property
    def stop_time(self) -> float:
        """s"""
        return self._core.stop_time()

    @property
    def end_reason(self) -> str:
        """Why a subsystem has asked for the end, or nothing."""
        return self._core.end_reason()

    @property
    def variables(self) -> List[str]:
        """Names of all outputs, inputs and states, in this order."""
        return self._core.variables()

    @property
    def parameters(self) -> List[str]:
        """Names of parameters that can be read: tunable ones of subsystems, which can be set; those
        of systems and of the whole model ("parameters.g"), from which others follow when the model
        is read, and which `reset` changes."""
        return self._core.parameters()

    def __contains__(self, name: object) -> bool:
        return name in self._core.variables() or name in self._core.parameters()

    def __getitem__(self, name: str) -> float:
        return self.values([name])[0].item()

    def __setitem__(self, name: str, value: float) -> None:
        self._core.set(name, float(value))

    def values(self, names: Sequence[str]) -> np.ndarray:
        """Of many at once, at the communication point: under mpirun with one message."""
        if isinstance(names, str):
            names = [names]
        return np.array(self._core.values(list(names)))

    def snapshot(self) -> Snapshot:
        """The communication point with all that follows from it, in memory. This simulation and
        one that restores it have the bits of one that took none; only the histories of multistep
        integrators (cvode_bdf, cvode_adams) are dropped, in both."""
        return Snapshot(self._core.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot, of this simulation or of another one with the same model, options
        and ranks."""
        if not isinstance(snapshot, Snapshot):
            raise InputError(f"restore takes what `snapshot` has given, not {snapshot!r}")
        self._core.restore(snapshot._kept)


def _builds_again(model: ModelBuilder, start_values: Optional[Mapping[str, Any]]) -> Any:
    def built(changes: List[str]) -> Any:
        values = dict(change.split("=", 1) for change in changes)
        return model.built({**(start_values or {}),
                            **{name: float(value) for name, value in values.items()}})
    return built


def _address(comm: Any) -> int:
    """Of a communicator of mpi4py, which must be of the MPI that Concord has."""
    if comm is None:
        return 0
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("comm takes a communicator of mpi4py, which is not installed: apt "
                          "install python3-mpi4py") from error
    if not isinstance(comm, MPI.Comm):
        raise InputError(f"comm: found {comm!r}, but it must be a communicator of mpi4py")
    if MPI.Get_library_version().split("\0")[0] != _concord.mpi_library().split("\0")[0]:
        raise InputError("comm: mpi4py uses another MPI than Concord: " +
                         MPI.Get_library_version() + "; install the mpi4py of the same MPI")
    return MPI._addressof(comm)
