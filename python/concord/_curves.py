"""Curves of variables as pictures have them: thinned, with envelopes, and compared with each other."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

MOST_PANELS, MOST_CURVES = 6, 8  # of a page, of a panel
_STRETCHES = 240  # of a picture's width, in which a curve may swing too fast to be seen


class Points(NamedTuple):
    """Times, s, and values; at a jump one time twice, in a gap NaN."""

    time: np.ndarray
    value: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """On the line through the points; NaN outside of them, in their gaps, and where they jump."""
        count = len(self.time)
        behind = np.searchsorted(self.time, times, side="right")
        before = np.clip(behind - 1, 0, None)
        after = np.clip(behind, None, count - 1)
        exact = (behind > 0) & (self.time[before] == times)
        jumps = exact & (before > 0) & (self.time[before - 1] == times)
        length = np.where(after > before, self.time[after] - self.time[before], 1.0)
        share = (times - self.time[before]) / length
        between = self.value[before] + share * (self.value[after] - self.value[before])
        found = np.where(exact, self.value[before], between)
        found[jumps | (behind == 0) | ((behind == count) & ~exact)] = np.nan
        return found


class Curve(NamedTuple):
    """What is drawn as one line, or as points without one (`measured`)."""

    name: str
    unit: str
    points: Points
    run: str = ""  #: whose; empty where there is only one
    dash: int = 0  #: the same for all curves of a run
    measured: bool = False

    @property
    def legend(self) -> str:
        """`left.x`, or of several runs `left.x, coarse`."""
        return f"{self.name}, {self.run}" if self.run else self.name


class Band(NamedTuple):
    """Where a curve swings too fast for a line: smallest and largest values over time."""

    time: np.ndarray
    low: np.ndarray
    high: np.ndarray


def thinned(time: np.ndarray, values: np.ndarray, stretches: int = 2000) -> Points:
    """The first, last, smallest and largest of every stretch of time of a long series. Values that
    are not finite are left out; where all others are drawn, NaN interrupts the line in their place."""
    rows, finite = len(time), np.isfinite(values)
    if not finite.any():
        return Points(time[:0], values[:0])
    if rows <= 4 * stretches:
        first = int(np.argmax(finite))
        return Points(time[first:], np.where(finite, values, np.nan)[first:])
    stride = -(-rows // stretches)
    beginnings = np.arange(0, rows, stride)
    pad = np.full(len(beginnings) * stride - rows, np.nan)
    table = np.concatenate([np.where(finite, values, np.nan), pad]).reshape(-1, stride)
    least = np.where(np.isnan(table), np.inf, table).argmin(axis=1)
    most = np.where(np.isnan(table), -np.inf, table).argmax(axis=1)
    ends = np.minimum(beginnings + stride, rows) - 1
    keep = np.unique(np.concatenate([beginnings, beginnings + least, beginnings + most, ends]))
    keep = keep[finite[keep]]
    return Points(time[keep], values[keep])


def enveloped(curve: Curve, begin: float, end: float) -> Tuple[Points, List[Band]]:
    """The curve's line, with gaps where bands stand in its place."""
    points = curve.points
    if curve.measured or len(points.time) < 4 * _STRETCHES or not end > begin:
        return points, []
    share = (points.time - begin) / (end - begin) * _STRETCHES
    place = np.clip(share, 0.0, _STRETCHES - 1.0).astype(int)
    bands, line, done = [], [], 0
    for first, last in _runs(_is_fast(points.value, place)):
        inside = np.flatnonzero((place >= first) & (place < last))
        cuts = np.searchsorted(place[inside], np.arange(first, last))
        time, value = points.time[inside], points.value[inside]
        counts = np.diff(np.append(cuts, len(inside)))
        bands.append(Band(np.add.reduceat(time, cuts) / counts, np.minimum.reduceat(value, cuts),
                          np.maximum.reduceat(value, cuts)))
        line.append(Points(points.time[done:inside[0]], points.value[done:inside[0]]))
        if done or inside[0]:
            line.append(Points(bands[-1].time[:1], np.full(1, np.nan)))
        done = inside[-1] + 1
    line.append(Points(points.time[done:], points.value[done:]))
    return Points(*(np.concatenate(parts) for parts in zip(*line))), bands


def _is_fast(value: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of each stretch, whether the curve turns thrice in it."""
    turns_to_see = 3
    together = place[2:] == place[:-2]
    rises = np.diff(value)
    with np.errstate(invalid="ignore"):
        turns = together & (rises[:-1] * rises[1:] < 0.0)
    gaps = together & np.isnan(value[:-2] + value[1:-1] + value[2:])
    count = np.bincount(place[2:][turns], minlength=_STRETCHES)
    return (count >= turns_to_see) & (np.bincount(place[2:][gaps], minlength=_STRETCHES) == 0)


def _runs(fast: np.ndarray) -> List[Tuple[int, int]]:
    """First and behind the last of neighbours that are so, of four at least."""
    least = 4
    edges = np.flatnonzero(np.diff(np.concatenate([[0], fast.astype(int), [0]])))
    return [(first, last) for first, last in edges.reshape(-1, 2) if last - first >= least]


def coincide(one: Points, other: Points, span: float) -> bool:
    """Whether the one is hidden by the other where both are, in a picture of this range of values."""
    line = 0.004  # of the range: about the width of a line
    there = other.at(one.time)
    known = ~np.isnan(there) & ~np.isnan(one.value) & ~np.isnan(one.at(one.time))
    if np.any(np.abs(one.value - there)[known] > line * span):
        return False
    return len(one.time) > 0 and 2 * np.count_nonzero(known) >= len(one.time)


def places_of_marks(line: Points, number: int, begin: float, end: float) -> Points:
    """A few places of a curve, others for the next one."""
    count, shift = 6, 0.13
    share = (np.arange(count) + 0.3 + shift * (number % 8)) / (count + 0.6)
    times = begin + share * (end - begin)
    values = line.at(times) if len(line.time) else np.full(count, np.nan)
    return Points(times[~np.isnan(values)], values[~np.isnan(values)])


def after_dot(name: str) -> str:
    """What a variable is called within its subsystem."""
    return name.rpartition(".")[2]


def key_of(name: str, unit: str) -> str:
    """Variables with one key share a panel."""
    return f"unit {unit}" if unit else f"name {after_dot(name)}"


def in_panels(curves: Sequence[Curve]) -> List[List[Curve]]:
    """By unit. Panels that are full are followed by others of the same kind; curves of one variable
    stay together."""
    runs = max((curve.dash + 1 for curve in curves), default=1)
    most = max(1, MOST_CURVES // runs)
    panels: Dict[str, List[List[Curve]]] = {}
    for curve in curves:
        same = panels.setdefault(key_of(curve.name, curve.unit), [])
        for panel in same:
            names = {one.name for one in panel}
            if len(names) < most or curve.name in names:
                panel.append(curve)
                break
        else:
            same.append([curve])
    return [panel for same in panels.values() for panel in same]


def excess(variables: Sequence[Tuple[str, str]], runs: int) -> List[str]:
    """Of names and units, in that many runs each, the names that one page has no place for."""
    most = max(1, MOST_CURVES // runs)
    panels: Dict[str, int] = {}
    dropped = []
    for name, unit in variables:
        key = key_of(name, unit)
        if key not in panels and len(panels) == MOST_PANELS or panels.get(key, 0) == most:
            dropped.append(name)
        else:
            panels[key] = panels.get(key, 0) + 1
    return dropped


class Note(NamedTuple):
    """What else is to be said of a curve."""

    text: str = ""  #: "on left.x", "envelope"
    on: Optional[int] = None  #: which of the panel's curves it lies on


def notes_on(panel: Sequence[Curve], begin: float, end: float, bands_are_drawn: bool) -> List[Note]:
    """Of each curve of a panel."""
    known = np.concatenate([curve.points.value for curve in panel])
    known = known[np.isfinite(known)]
    span = float(np.ptp(known)) if len(known) else 0.0
    said: List[Note] = []
    for curve in panel:
        banded = bands_are_drawn and bool(enveloped(curve, begin, end)[1])
        note = Note("envelope" if banded else "")
        for place, other in enumerate(panel[:len(said)]):
            if curve.measured or other.measured or said[place].on is not None:
                continue
            if coincide(curve.points, other.points, span):
                note = Note("on " + (other.run if other.name == curve.name else other.legend), place)
                break
        said.append(note)
    return said
