"""How far a run is, or how many of several are done."""
from __future__ import annotations

import re
import sys
import time as clock
from typing import Any, Optional

from . import _concord
from ._html import bar

_QUICK = 0.5  # s: what takes less shows no bar that nobody has asked for
_REDRAWN = 0.2  # s


class _NotebookBar:
    """A bar of HTML where IPython has a front end that shows it."""

    def __init__(self, display: Any, total: float, unit: str, desc: str, wait: float) -> None:
        self.n, self._total = 0.0, total
        self._words = f"{desc} of {total:g} {unit}".strip()
        self._display, self._shown = display, None
        self._next = clock.monotonic() + wait

    def update(self, more: float) -> None:
        self.n += more
        if clock.monotonic() < self._next:
            return
        self._next = clock.monotonic() + _REDRAWN
        if self._shown is None:
            self._shown = self._display(self, display_id=True)
        else:
            self._shown.update(self)

    def close(self) -> None:
        if self._shown is not None:
            self._shown.update(self)

    def __repr__(self) -> str:
        return f"{self.n:.4g} {self._words}"

    def _repr_html_(self) -> str:
        return bar(self.n / self._total if self._total else 1.0, repr(self))


def _notebook() -> Optional[Any]:
    """IPython's `display`, where it has a kernel: notebooks, not its prompt."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return python.display.display if hasattr(shell, "kernel") else None


def _bars(wanted: Optional[bool]) -> Optional[Any]:
    """What makes a bar of `total`, `unit`, `desc`; None where there is nothing or none is wanted."""
    display = _notebook() if wanted is not False else None
    if display is not None:
        return lambda total, unit, desc, **_: _NotebookBar(display, total, unit, desc,
                                                           0.0 if wanted else _QUICK)
    if not wanted:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class Progress:
    """A bar of simulated seconds; inactive where it is not wanted, not there, or not this rank's.
    `begins` and `step` are what the library calls, or None."""

    def __init__(self, wanted: Optional[bool]) -> None:
        self._bars: Optional[Any] = _bars(wanted)
        self._bar: Optional[Any] = None
        self.active = self._bars is not None
        silent = not self.active or _concord.rank() != 0
        self.begins = None if silent else self._begins
        self.step = None if silent else self._step

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def _begins(self, start: float, stop: float) -> None:
        self._start = start
        self._bar = self._bars(total=stop - start, unit="s", unit_scale=True, desc="simulated")

    def _step(self, time: float) -> None:
        self._bar.update(time - self._start - self._bar.n)


class Count:
    """A bar of runs, from the lines "run 3 of 8, ..." of a sweep; without a bar the lines."""

    def __init__(self, wanted: Optional[bool], unit: str) -> None:
        self._wanted = wanted
        self._unit = unit
        self._bars = _bars(wanted)
        self._bar: Optional[Any] = None

    def __enter__(self) -> Count:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def line(self, text: str) -> None:
        """What the command says."""
        counted = re.match(r"run \d+ of (\d+)", text)
        if not counted:
            return
        if self._bars is None:
            if self._wanted:
                print(text, file=sys.stderr)
            return
        if self._bar is None:
            self._bar = self._bars(total=int(counted[1]), unit=self._unit, desc="")
        self._bar.update(1)
