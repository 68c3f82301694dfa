"""A whole run, by the code of the command `concord run`."""
from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Union

from . import _concord
from ._errors import InputError, SimulationError
from ._model import ModelBuilder
from ._options import changes_of, path_of, texts_of, words_of
from ._progress import Progress
from ._results import Result

#: With one of these the run prints what the command prints; else nothing.
_TELLING = ("cosim_monitor", "cosim_progress", "cosim_view")


def run(model: Union[str, os.PathLike, ModelBuilder], *,
        start_values: Optional[Mapping[str, Any]] = None,
        parameters: Union[str, os.PathLike, None] = None, progress: Optional[bool] = None,
        **options: Any) -> Result:
    """Simulates a model, as the command `concord run`, and gives its results.

    Parameters
    ----------
    model :
        Path of a model file, an .ssp or .ssd or an FMU alone; or a ModelBuilder.
    start_values :
        Parameters and start values other than the model says, by "subsystem.name", in the
        variables' units; "parameters.g" of the whole model, "cell[*].k" of many.
    parameters :
        A file with many of them (.yaml, .ssv, .csv).
    progress :
        Shows a bar (in a notebook, or by tqdm where installed; else lines on stderr). None: in a
        notebook, of runs that take more than half a second; elsewhere nothing.
    **options :
        The command's options without their dash: `cosim_type="jfm"`, `cosim_step=1e-3`,
        `subsystem_left_rtol=1e-9`. `concord run --help-all` lists them.

    The results file is a temporary one, which ends up in memory, unless `cosim_output` names one.
    Under mpirun all ranks call it with the same arguments and get the same results.

    Raises InputError, SimulationError. Ctrl-C ends the run at the next communication point, with a
    checkpoint where one is wanted, and raises KeyboardInterrupt; so with other signals.

    Examples
    --------
    >>> r = concord.run("bouncing_ball.yaml", cosim_type="jfm", start_values={"ball.e": 0.9})
    >>> r["ball.h"].min() > -0.11
    True
    """
    texts = texts_of(options)
    source = _Source(model, start_values, parameters)
    with _Files(texts) as files:
        words = source.words + words_of({**texts, **files.options})
        with Progress(progress) as shown:
            if progress and not shown.active:
                words += ["-cosim_progress", "true"]
            tells = any(f"-{name}" in words for name in _TELLING)
            try:
                ending = _concord.run(words, source.built, tells, shown.begins, shown.step)
            except SimulationError as error:
                error.results = files.partial()
                raise
        if ending["signal"]:
            signal.raise_signal(ending["signal"])
        for option in ending["without_effect"]:
            warnings.warn(f"option {option}", stacklevel=2)
        return files.result(ending["reason"])


class _Source:
    """The model, in the command's words or built."""

    def __init__(self, model: Any, start_values: Optional[Mapping[str, Any]],
                 parameters: Any) -> None:
        self.words: List[str] = []
        self.built = None
        if isinstance(model, ModelBuilder):
            if parameters is not None:
                raise InputError("parameters: a file of them belongs to a model file; give a model "
                                 "that was built start_values")
            self.built = model.built(start_values)
            return
        path = path_of(model)
        self.words = [path]
        lone = path.lower().endswith(".fmu")
        for change in changes_of(start_values):
            self.words += ["--start-value", *change.split("=", 1)] if lone else ["--set", change]
        if parameters is not None:
            self.words += ["--parameters", path_of(parameters)]


class _Files:
    """Where the results go: to a file that was asked for, or to a temporary one."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._asked: Optional[str] = texts.get("cosim_output")
        self._summary: Optional[str] = texts.get("cosim_summary")
        if self._asked is None and "cosim_record_split" in texts:
            raise InputError("option cosim_record_split: the parts belong to a results file; name "
                             "one with cosim_output")
        self._folder = ""

    def __enter__(self) -> _Files:
        # Several ranks may be on several machines: these share the present folder.
        if _concord.rank() == 0:
            shared = _concord.ranks() > 1
            try:
                self._folder = tempfile.mkdtemp(prefix=".concord-", dir="." if shared else None)
            except OSError as error:
                self._folder = f"!cannot write a temporary file: {error}"
        self._folder = _concord.broadcast(self._folder)
        if self._folder.startswith("!"):
            raise InputError(self._folder[1:])
        return self

    def __exit__(self, *_: Any) -> None:
        _concord.barrier()  # every rank has read what it holds
        if _concord.rank() == 0:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def options(self) -> Dict[str, str]:
        """Those that were not given."""
        added = {}
        if self._asked is None:
            added["cosim_output"] = self._path
        if self._summary is None:
            added["cosim_summary"] = os.path.join(self._folder, "summary.json")
        return added

    @property
    def _path(self) -> str:
        return self._asked or os.path.join(self._folder, "results.h5")

    def result(self, reason: str = "") -> Result:
        """Of a run that has ended."""
        _concord.barrier()
        summary_path = self._summary or os.path.join(self._folder, "summary.json")
        with open(summary_path, encoding="utf-8") as file:
            summary = json.load(file)
        return Result(self._path, in_memory=self._asked is None, summary=summary, reason=reason)

    def partial(self) -> Optional[Result]:
        """What a run that has failed has recorded."""
        try:
            return Result(self._path, in_memory=self._asked is None)
        except InputError:
            return None
