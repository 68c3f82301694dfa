"""The coupled system, linearised, by the command `concord linearize`."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._options import texts_of, words_of
from ._program import call, words_at
from ._results import imported, texts_in

if TYPE_CHECKING:
    import control


class Transfer(NamedTuple):
    """From one input to one output; of an opened loop L = -output/input, closed where it is -1."""

    A: np.ndarray  #: n_states x n_states
    B: np.ndarray  #: n_states x 1
    C: np.ndarray  #: 1 x n_states
    D: np.ndarray  #: 1 x 1
    poles: np.ndarray  #: complex, 1/s
    zeros: np.ndarray  #: complex, 1/s
    cancelled: np.ndarray  #: poles that zeros cancel, complex, 1/s

    def at(self, s: Any) -> np.ndarray:
        """C (s I - A)^-1 B + D for each `s`, complex, 1/s: `1j * angular_frequency`."""
        n = len(self.A)
        values = [(self.C @ np.linalg.solve(one * np.eye(n) - self.A, self.B) + self.D)[0, 0]
                  for one in np.ravel(s)]
        return np.reshape(np.array(values, complex), np.shape(s))


class Reduced(NamedTuple):
    """A system of lower order by balanced truncation."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    hankel: np.ndarray  #: singular values of the decaying part, falling
    bound: float  #: of the error at any frequency: twice the sum of those left out
    error: float  #: at the frequencies tried


class LinearSystem(NamedTuple):
    """x' = A x + B u, y = C x + D u about a point: deviations of all subsystems' states and
    outputs, and of the inputs that nothing feeds; algebraic loops are solved."""

    A: np.ndarray  #: n_states x n_states
    B: np.ndarray  #: n_states x n_inputs
    C: np.ndarray  #: n_outputs x n_states
    D: np.ndarray  #: n_outputs x n_inputs
    states: List[str]
    inputs: List[str]
    outputs: List[str]
    eigenvalues: np.ndarray  #: of A, complex, 1/s
    participation: Optional[np.ndarray]  #: state x mode; None: eigenvectors nearly dependent
    time: float  #: s
    transfer: Optional[Transfer] = None  #: where a loop is opened, or from and to are named
    reduced: Optional[Reduced] = None  #: where asked for, of `transfer` if there is one

    def to_control(self) -> control.StateSpace:
        """For python-control, with these names."""
        return imported("control", "to_control").ss(
            self.A, self.B, self.C, self.D, states=self.states, inputs=self.inputs,
            outputs=self.outputs)


def _complex(group: Any, name: str) -> np.ndarray:
    return group[name + "_real"][:] + 1j * group[name + "_imag"][:]


def _transfer_in(file: Any) -> Optional[Transfer]:
    if "path" not in file:
        return None
    group = file["path"]
    return Transfer(*(group[name][:] for name in "ABCD"),
                    *(_complex(group, name) for name in ("poles", "zeros", "cancelled")))


def _reduced_in(file: Any) -> Optional[Reduced]:
    if "reduced" not in file:
        return None
    group = file["reduced"]
    return Reduced(*(group[name][:] for name in "ABCD"), group["hankel"][:],
                   float(group["bound"][0]), float(group["error"][0]))


def linearize(model: Union[str, os.PathLike], *, time: Optional[float] = None,
              open: Union[None, str, Sequence[str]] = None, input: Optional[str] = None,
              output: Optional[str] = None, reduce: Optional[int] = None,
              start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> LinearSystem:
    """The coupled system at `time`, s, where a run with these options has come to (default: the
    start). `open`: connections that are cut, "pid.y:motor.u"; `input`, `output`: of `transfer`,
    else around the first one that is cut; `reduce`: to so many states.

    >>> masses = concord.linearize("two_mass.yaml")
    >>> masses.states, masses.A.shape
    (['left.x', 'left.v', 'right.x', 'right.v'], (4, 4))
    """
    words = words_at("linearize", model, time, start_values)
    for connection in [open] if isinstance(open, str) else open or ():
        words += ["--open", connection]
    for word, value in (("--from", input), ("--to", output), ("--reduce", reduce)):
        if value is not None:
            words += [word, str(value)]
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        path = os.path.join(folder, "abcd.h5")
        ended = call([*words, "-o", path, *words_of(texts_of(options))], 1)
        if ended.code != 0:
            ended.refuse()
        with imported("h5py", "concord.linearize").File(path, "r") as file:
            matrices = [file[name][:] for name in "ABCD"]
            names = [texts_in(file[name]) for name in ("states", "inputs", "outputs")]
            parts = file["participation"][:] if "participation" in file else None
            return LinearSystem(*matrices, *names, _complex(file, "eigenvalues"), parts,
                                float(file.attrs["time"]), _transfer_in(file), _reduced_in(file))
