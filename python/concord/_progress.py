"""How far a run is."""
from __future__ import annotations

from typing import Any, Optional

from . import _concord


class Progress:
    """A bar of simulated seconds, by tqdm; inactive where it is not wanted, not there, or not this
    rank's. `begins` and `step` are what the library calls, or None."""

    def __init__(self, wanted: bool) -> None:
        self._tqdm: Optional[Any] = None
        self._bar: Optional[Any] = None
        self.active = False
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._tqdm = tqdm
            self.active = True
        silent = not self.active or _concord.rank() != 0
        self.begins = None if silent else self._begins
        self.step = None if silent else self._step

    begins = None
    step = None

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
