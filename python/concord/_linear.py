"""The coupled system, linearised, by the command `concord linearize`."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Union

import numpy as np

from ._options import texts_of, words_of
from ._program import call, words_at
from ._results import imported, texts_in

if TYPE_CHECKING:
    import control


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

    def to_control(self) -> control.StateSpace:
        """For python-control, with these names."""
        return imported("control", "to_control").ss(
            self.A, self.B, self.C, self.D, states=self.states, inputs=self.inputs,
            outputs=self.outputs)


def linearize(model: Union[str, os.PathLike], *, time: Optional[float] = None,
              start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> LinearSystem:
    """The coupled system at `time`, s, where a run with these options has come to (default: the
    start).

    >>> masses = concord.linearize("two_mass.yaml")
    >>> masses.states, masses.A.shape
    (['left.x', 'left.v', 'right.x', 'right.v'], (4, 4))
    """
    words = words_at("linearize", model, time, start_values)
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        path = os.path.join(folder, "abcd.h5")
        ended = call([*words, "-o", path, *words_of(texts_of(options))], 1)
        if ended.code != 0:
            ended.refuse()
        with imported("h5py", "concord.linearize").File(path, "r") as file:
            matrices = [file[name][:] for name in "ABCD"]
            names = [texts_in(file[name]) for name in ("states", "inputs", "outputs")]
            eigenvalues = file["eigenvalues_real"][:] + 1j * file["eigenvalues_imag"][:]
            parts = file["participation"][:] if "participation" in file else None
            return LinearSystem(*matrices, *names, eigenvalues, parts, float(file.attrs["time"]))
