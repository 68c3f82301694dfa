"""Pictures of results files."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._concord import Recorded, goes_on, names_in
from ._curves import Curve, Points, excess, thinned
from ._errors import InputError, WrongWord
from ._network import NetworkPicture, network_picture
from ._looks import Frame
from ._results import Result

if TYPE_CHECKING:
    from ._picture import Picture, TimePicture

_MOST_FILES = 8
Source = Union[str, os.PathLike, Result]


class Run(NamedTuple):
    """A run to draw, and what it is called in the legend: nothing where it is alone."""

    file: str
    recorded: Recorded
    name: str = ""


def plot(*results: Source, variables: Union[None, str, Sequence[str]] = None,
         phase: Union[None, str, Sequence[str]] = None, range: Union[None, str, Sequence[float]] = None,
         log: str = "", title: Optional[str] = None, width: Union[None, str, float] = None,
         font: Union[None, str, float] = None, letters: bool = False, network: bool = False,
         output: Union[None, str, os.PathLike] = None) -> Union[Picture, NetworkPicture]:
    """Draws variables over time as `concord plot` does: its options are the arguments.

    Of one run or of several: results, or paths of files, tables among them. `variables`: names or
    patterns (default: the outputs, or what is recorded in their place; of many, the first ones);
    `phase`: two names, the second over the first; `range`: two times, s; `log`: axes, x, y or xy;
    `title`: in place of the model's name; `width`: on paper, "84mm", or a number, mm; `font`: points;
    `letters`: (a), (b) ... at panels; `network`: subsystems and connections instead; `output`: .png,
    .svg or .pdf to write. Gives the picture: a sequence of matplotlib's figures, a page each, that
    notebooks show, with `save(path)`. Raises InputError, and ImportError without matplotlib.

    >>> picture = concord.plot(concord.run("bouncing_ball.yaml"), variables="ball.h,ball.v")
    >>> [axes.get_ylabel() for axes in picture[0].axes]
    ['h [m]', 'v [m/s]']
    """
    wish = wish_of(variables, phase, range, log, title, width, font, letters)
    with opened(results) as runs:
        if network:
            drawn: Union[Picture, NetworkPicture] = network_of(runs[0], wish)
        else:
            drawn = drawing_of(runs, wish).picture()
    if output is not None:
        drawn.save(output)
    return drawn


class Wish(NamedTuple):
    """What is to be drawn, and how."""

    variables: List[str]
    phase: Optional[Tuple[str, str]]
    span: Optional[Tuple[float, float]]
    log: str
    title: Optional[str]
    width: Optional[float]
    font: Optional[float]
    letters: bool


def wish_of(variables: Union[None, str, Sequence[str]] = None, phase: Union[None, str, Sequence[str]] = None,
            span: Union[None, str, Sequence[float]] = None, log: str = "", title: Optional[str] = None,
            width: Union[None, str, float] = None, font: Union[None, str, float] = None,
            letters: bool = False) -> Wish:
    """As `plot` and its command take them. Raises WrongWord."""
    return Wish(texts_of(variables), _pair_of_names(phase, variables), _times(span), _log(log), title, _width(width),
                _font(font), letters)


def network_of(run: Run, wish: Wish) -> NetworkPicture:
    """The network instead of variables."""
    return network_picture(run.recorded, run.file, title_of(run.recorded) if wish.title is None else wish.title)


class Drawing(NamedTuple):
    """What a picture will be."""

    frame: Frame
    curves: List[Curve]
    labels: Optional[Tuple[str, str]]  #: of axes; None: over time
    left_out: Dict[str, List[str]]

    def over_time(self) -> TimePicture:
        """Its panels."""
        from ._picture import TimePicture
        return TimePicture(self.frame, self.curves)

    def picture(self) -> Picture:
        """Drawn."""
        from ._picture import phase_picture
        drawn = self.over_time().picture() if self.labels is None else \
            phase_picture(self.frame, self.curves, self.labels)
        drawn.left_out = self.left_out
        return drawn


def drawing_of(runs: Sequence[Run], wish: Wish) -> Drawing:
    """Reads the curves. Raises InputError where there is none."""
    first = runs[0].recorded
    begin, end = wish.span or (min(run.recorded.time[0] for run in runs), max(run.recorded.time[-1] for run in runs))
    left_out: Dict[str, List[str]] = {}
    if wish.phase:
        told = [first.chosen([name])[0] for name in wish.phase]
        curves = _in_phase(runs, told, wish.span)
        labels = tuple(name + (f" [{unit}]" if unit else "") for name, unit in told)
    else:
        curves, labels = _over_time(runs, wish.variables, wish.span, left_out), None
    if not curves:
        raise InputError(f"'{runs[0].file}': the chosen variables have no finite value to draw")
    least = _require_logarithms(curves, wish.log)
    frame = Frame(title_of(first) if wish.title is None else wish.title,
                  max(begin, least) if "x" in wish.log else begin, end, wish.log, wish.width, wish.font, wish.letters)
    return Drawing(frame, curves, labels, left_out)


def title_of(recorded: Recorded) -> str:
    """The model, and how it ended where that is not well."""
    return recorded.model + ("" if recorded.status == "completed" else f" ({recorded.status})")


def require_count(files: Sequence[str]) -> None:
    """Raises WrongWord."""
    if not 1 <= len(files) <= _MOST_FILES:
        raise WrongWord(f"'concord plot' takes 1 or more results files, at most {_MOST_FILES}, not {len(files)}")


def runs_of(files: Sequence[str]) -> List[Run]:
    """Of results files, by which they are called where there are several."""
    require_count(files)
    stems = [os.path.splitext(os.path.basename(file))[0] for file in files]
    names = [file if stems.count(stem) > 1 else stem for file, stem in zip(files, stems)] if len(files) > 1 else [""]
    return [Run(file, Recorded(file), name) for file, name in zip(files, names)]


@contextlib.contextmanager
def files_of_sources(results: Sequence[Source]) -> Iterator[List[str]]:
    """Paths; results in memory are files for as long as they are read."""
    with tempfile.TemporaryDirectory() as folder:
        yield [os.fspath(result) if not isinstance(result, Result) else
               result.path or result.copied_to(os.path.join(folder, f"run {place + 1}.h5"))
               for place, result in enumerate(results)]


@contextlib.contextmanager
def opened(results: Sequence[Source]) -> Iterator[List[Run]]:
    """Runs of these."""
    with files_of_sources(results) as files:
        yield runs_of(files)


def _over_time(runs: Sequence[Run], wanted: Sequence[str], span: Optional[Tuple[float, float]],
               left_out: Dict[str, List[str]]) -> List[Curve]:
    variables = runs[0].recorded.shown(list(wanted))
    many = excess(variables, len(runs)) if not wanted else []
    variables = [(name, unit) for name, unit in variables if name not in set(many)]
    curves, without, missing = [], [], []
    for number, run in enumerate(runs):
        time, found = run.recorded.curves(variables, span, 1000)
        for name, unit in variables:
            if name not in found:
                missing.append(f"{name} in {run.file}")
                continue
            own_unit, values = found[name]
            curve = Curve(name, own_unit or unit, thinned(time, values), run.name, number)
            if len(curve.points.time):
                curves.append(curve)
            else:
                without.append(name)
    for why, names in (("choose with --variables", many), ("without any finite value", without),
                       ("not there", missing)):
        if names:
            left_out[why] = names
    return curves


def _in_phase(runs: Sequence[Run], variables: Sequence[Tuple[str, str]],
              span: Optional[Tuple[float, float]]) -> List[Curve]:
    """One curve per run: every n-th point of a long one."""
    most = 20000
    curves = []
    for number, run in enumerate(runs):
        for name, _ in variables:
            run.recorded.chosen([name])  # or says that it is not there
        _, found = run.recorded.curves(list(variables), span, 1000)
        x, y = (found[name][1] for name, _ in variables)
        stride = 1 + len(x) // most
        x, y = x[::stride], y[::stride]
        there = np.isfinite(x) & np.isfinite(y)
        if there.any():
            curves.append(Curve(run.name or variables[1][0], "", Points(x[there], y[there]), "", number))
    return curves


def _require_logarithms(curves: Sequence[Curve], log: str) -> float:
    """A logarithm needs something above 0 on its axis, in every panel. Gives the least time, or x, of these."""
    least = np.inf
    for curve in curves:
        x, y = curve.points
        if not np.any(((x > 0.0) | ("x" not in log)) & ((y > 0.0) | ("y" not in log))):
            raise InputError(f"--log: '{curve.name}' has no positive value to draw; leave it out")
        least = min(least, np.min(x[x > 0.0], initial=np.inf))
    return float(least)


def texts_of(names: Union[None, str, Sequence[str]]) -> List[str]:
    """Names or patterns, of a list or between commas."""
    return [] if names is None else names_in(names) if isinstance(names, str) else list(names)


def _pair_of_names(phase: Union[None, str, Sequence[str]], variables: object) -> Optional[Tuple[str, str]]:
    if phase is None:
        return None
    if variables:
        raise WrongWord("--phase names its variables itself; leave out --variables")
    names = texts_of(phase)
    if len(names) != 2:
        raise WrongWord(f"--phase takes two variables, left.x,left.v, not '{phase}'")
    return names[0], names[1]


def _times(span: Union[None, str, Sequence[float]]) -> Optional[Tuple[float, float]]:
    if span is None:
        return None
    with contextlib.suppress(ValueError, TypeError):
        begin, end = (float(time) for time in (span.split(",") if isinstance(span, str) else span))
        if begin < end:
            return begin, end
    raise WrongWord(f"--range takes two times in s, 0.5,2, not '{span}'")


def _log(text: str) -> str:
    """Axes that are logarithmic."""
    if text not in ("", "x", "y", "xy"):
        raise WrongWord(f"--log takes x, y or xy, not '{text}'")
    return text


def _width(text: Union[None, str, float]) -> Optional[float]:
    """`84mm`, `8.4cm`, `3.3in`, or a number, in mm."""
    if text is None:
        return None
    units = {"mm": 1.0, "cm": 10.0, "in": 25.4}
    words = text if isinstance(text, str) else f"{text}mm"
    with contextlib.suppress(ValueError, KeyError):
        width = float(words[:-2]) * units[words[-2:]]
        if 30.0 <= width <= 2000.0:
            return width
    raise WrongWord(f"--width must be 30mm to 2000mm, in mm, cm or in: 84mm, not '{text}'")


def _font(text: Union[None, str, float]) -> Optional[float]:
    """Points."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        if 3.0 <= float(text) <= 100.0:
            return float(text)
    raise WrongWord(f"--font must be a size from 3 to 100 points, not '{text}'")
