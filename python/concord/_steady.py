"""Operating points, by the command `concord steady`."""
from __future__ import annotations

import os
import re
import tempfile
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Union

from ._options import changes_of, texts_of, words_of
from ._program import call, words_at


class OperatingPoint(NamedTuple):
    """Where a coupled model rests, each value in its variable's unit."""

    start_values: Dict[str, float]  #: states, inputs that are held, what was freed: for `run`
    freed: Dict[str, float]  #: what was found for `free`
    stability: str  #: "stable: disturbances fall by e within 12 s at last"


def steady(model: Union[str, os.PathLike], *, hold: Optional[Mapping[str, float]] = None,
           free: Union[str, Sequence[str]] = (), time: Optional[float] = None,
           start_values: Optional[Mapping[str, Any]] = None, **options: Any) -> OperatingPoint:
    """States whose derivatives are zero at `time`, s (default: the start). `hold`: values of inputs
    that nothing feeds, and of outputs or states, for each of which a parameter or such an input
    is found, `free`.

    >>> rest = concord.steady("two_mass.yaml")
    >>> rest.stability[:6]
    'stable'
    >>> r = concord.run("two_mass.yaml", start_values=rest.start_values)
    """
    free = [free] if isinstance(free, str) else list(free)
    words = words_at("steady", model, time, start_values)
    words += [word for held in changes_of(hold) for word in ("--hold", held)]
    words += [word for name in free for word in ("--free", name)]
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        path = os.path.join(folder, "start.yaml")
        ended = call([*words, "-o", path, *words_of(texts_of(options))], 1)
        if ended.code != 0:
            ended.refuse()
        with open(path, encoding="utf-8") as file:
            values = {name: float(value)
                      for name, value in re.findall(r'^"(.*)": (\S+)$', file.read(), re.M)}
    stability = next(line.strip() for line in ended.output.splitlines()
                     if re.match(r"  (stable|unstable|neutral|no states)", line))
    return OperatingPoint(values, {name: values[name] for name in free}, stability)
