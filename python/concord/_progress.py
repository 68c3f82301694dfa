"""How far a run is."""
from __future__ import annotations

import re
import sys
from typing import Any, Optional

from . import _concord


def _tqdm() -> Optional[Any]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class Progress:
    """A bar of simulated seconds, by tqdm; inactive where it is not wanted, not there, or not this
    rank's. `begins` and `step` are what the library calls, or None."""

    def __init__(self, wanted: bool) -> None:
        self._tqdm: Optional[Any] = _tqdm() if wanted else None
        self._bar: Optional[Any] = None
        self.active = self._tqdm is not None
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
        self._bar = self._tqdm(total=stop - start, unit="s", unit_scale=True, desc="simulated")

    def _step(self, time: float) -> None:
        self._bar.update(time - self._start - self._bar.n)


class Count:
    """A bar of runs, from the lines "run 3 of 8, ..." of a sweep; without tqdm the lines."""

    def __init__(self, wanted: bool, unit: str) -> None:
        self._wanted = wanted
        self._unit = unit
        self._tqdm = _tqdm() if wanted else None
        self._bar: Optional[Any] = None

    def __enter__(self) -> Count:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def line(self, text: str) -> None:
        """What the command says."""
        counted = re.match(r"run \d+ of (\d+)", text)
        if not self._wanted or not counted:
            return
        if self._tqdm is None:
            print(text, file=sys.stderr)
            return
        if self._bar is None:
            self._bar = self._tqdm(total=int(counted[1]), unit=self._unit)
        self._bar.update(1)
