"""What goes wrong, in the words of the program `concord`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._results import Result


class ConcordError(Exception):
    """All errors of Concord."""


class InputError(ConcordError, ValueError):
    """What was asked for is wrong: a model, an option, a name (the command's exit code 2)."""


class UnknownVariable(InputError, KeyError):
    """A name that is not there."""

    __str__ = Exception.__str__  # KeyError would quote the sentence


class UnreadableResults(InputError):
    """As the file is now; while a run writes it, it may be readable a moment later."""


class WrongWord(InputError):
    """A value that a function, or a word of its command, does not take."""

    def __init__(self, told: str) -> None:
        super().__init__(told.replace("--", ""))
        self.told = told  #: as the command says it: "--width must be ..."


class SimulationError(ConcordError, RuntimeError):
    """The simulation failed (the command's exit code 1).

    `results`: of `concord.run`, what was recorded until then, if anything. `__cause__`: what a
    function of a subsystem has raised, if that is the reason.
    """

    results: Optional[Result] = None


class RecoverableFailure(ConcordError, ArithmeticError):
    """To be raised by the functions of a subsystem where a smaller step may help, outside of their
    domain of definition. Every other ArithmeticError counts as one, too."""
