"""The program `concord` as a process of its own."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ._errors import InputError, SimulationError
from ._location import PROGRAM_FOLDER
from ._model import ModelBuilder
from ._options import changes_of, path_of, text_of

_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
#: Begin the names of what launchers tell a process about itself; the rest is the user's.
_OF_LAUNCHERS = ("PMIX_", "PMI_", "OMPI_COMM_WORLD_", "OMPI_APP_CTX_", "OMPI_UNIVERSE_", "OMPI_MCA_ess", "OMPI_MCA_orte")
_ERROR = "concord: error: "
_MOST = 2000  #: characters of a message that is not Concord's


class Ended(NamedTuple):
    """What the program has said."""

    code: int
    output: str
    error: str  #: its message, or nothing

    def refuse(self) -> None:
        """Raises what the exit code means."""
        message = self.error or f"concord has ended with exit code {self.code}"
        raise InputError(message) if self.code == 2 else SimulationError(message)


def model_words(model: object, what: str) -> List[str]:
    """The model as the program takes it."""
    if isinstance(model, ModelBuilder):
        raise InputError(f"concord.{what} runs in processes of its own, which do not know models "
                         "that are built in Python: give the path of a model file (for many "
                         "runs of one that is built, call concord.run in a loop)")
    return [path_of(model)]


def words_at(command: str, model: object, time: Optional[float],
             start_values: Optional[Mapping[str, Any]]) -> List[str]:
    """A command that looks at a model at one time."""
    words = [command, *model_words(model, command)]
    words += [word for change in changes_of(start_values) for word in ("--set", change)]
    return words + ([] if time is None else ["--time", text_of("time", time)])


def call(words: Sequence[str], ranks: int, line: Callable[[str], None] = lambda _: None) -> Ended:
    """Runs the program on that many ranks; `line` gets what it prints, as it comes. Ctrl-C goes on
    to the program, which ends at its next communication point, and is raised then."""
    if any(int(os.environ.get(name, "1")) > 1 for name in _LAUNCHERS):
        raise InputError("this starts ranks of its own (ranks=n): call it from a program that was "
                         "started without mpirun")
    launcher = ["mpirun", "-n", str(int(ranks))] if ranks > 1 else []
    said: List[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with subprocess.Popen([*launcher, _program(), *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, env=_environment()) as process:
            try:
                for text in process.stdout or ():
                    said.append(text)
                    line(text.rstrip("\n"))
                code = process.wait()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
                process.communicate()
                raise
        errors.seek(0)
        return Ended(code, "".join(said), _message(code, errors.read()))


def _environment() -> Dict[str, str]:
    """Tables in others' formats are read by this interpreter's libraries. A program that `mpirun -n 1` has
    started starts others by themselves."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_OF_LAUNCHERS)}
    return {"CONCORD_PYTHON": sys.executable or "python3", **own}


def _message(code: int, errors: str) -> str:
    """The program's own; else, where it has failed, what its launcher or a library has said."""
    told = [text for text in errors.splitlines() if text.startswith(_ERROR)]
    if told:
        return told[0][len(_ERROR):].strip()
    others = [text.strip() for text in errors.splitlines() if text.strip(" -")]
    if code in (0, 3) or not others:
        return ""
    return f"concord has ended with exit code {code}: " + " ".join(others)[:_MOST]


def _program() -> str:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), PROGRAM_FOLDER, "concord")
    found = beside if os.access(beside, os.X_OK) else shutil.which("concord")
    if found is None:
        raise InputError(f"the program concord is neither {os.path.normpath(beside)} nor on the "
                         "PATH")
    return os.path.normpath(found)
