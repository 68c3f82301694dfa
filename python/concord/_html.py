"""How results look in a notebook: HTML with curves in SVG, which needs no other package."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, List

import numpy as np

from ._curves import thinned

if TYPE_CHECKING:
    from ._results import Result

_WIDTH, _HEIGHT = 320.0, 36.0  # of a curve, px
_MOST_CURVES, _TIMES = 8, 321
_WARNING = "color:#b00020;font-weight:bold"


def page(result: Result) -> str:
    """What the run says of itself, and a curve for each of the first outputs."""
    lines = [f"<b>{html.escape(result.model)}</b>: " + _marked(_status(result), _is_wrong(result))]
    lines += [_marked(text, "NOT REACHED" in text) for text in _trust(result)]
    names = list(result)[:_MOST_CURVES]
    rows = "".join(_row(result, name) for name in names)
    more = len(result) - len(names)
    after = f"<div>and {more} more variables: <code>r.keys()</code></div>" if more else ""
    start, stop = result["time"][[0, -1]]
    head = "".join(f"<th style='text-align:{side}'>{text}</th>" for side, text in
                   (("left", "variable"), ("center", f"t = {start:.6g} to {stop:.6g} s"),
                    ("right", "smallest"), ("right", "largest"), ("right", "last"), ("left", "unit")))
    return ("<div>" + "".join(f"<div>{line}</div>" for line in lines) +
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{after}</div>")


def bar(done: float, words: str) -> str:
    """A progress bar; `done` from 0 to 1."""
    return (f"<div><progress value='{done:.4f}' max='1' style='width:20em'></progress> "
            f"{html.escape(words)}</div>")


def _marked(text: str, wrong: bool) -> str:
    return f"<span style='{_WARNING}'>{html.escape(text)}</span>" if wrong else html.escape(text)


def _is_wrong(result: Result) -> bool:
    return result.status not in ("completed", "running")


def _status(result: Result) -> str:
    rows, events = len(result["time"]), len(result.events)
    reason = f" ({result.reason})" if result.reason else ""
    return f"{result.status}{reason}, {rows} rows, {events} events"


def _trust(result: Result) -> List[str]:
    """As the summary of the run says it."""
    told = [f"{what}: {text}" for what in ("diverged", "undecided")
            for text in [result.attribute(what, "")] if text]
    worst = result.attribute("error_estimate", float("nan"))
    if np.isfinite(worst):
        told.append(f"estimated error: {worst:.2g} of the size of "
                    f"{result.attribute('error_estimate_of', '')}")
    elif result.attribute("no_estimate", ""):
        told.append("no estimate: " + result.attribute("no_estimate"))
    if result.attribute("accuracy", ""):
        told.append("accuracy: " + result.attribute("accuracy"))
    if result.attribute("driven", ""):
        told.append(result.attribute("driven"))
    return told


def _row(result: Result, name: str) -> str:
    values = result[name]
    known = values[np.isfinite(values)]
    figures = [f"{value:.5g}" for value in (known.min(), known.max(), values[-1])] if len(known) \
        else ["", "", ""]
    cells = "".join(f"<td style='text-align:right'>{figure}</td>" for figure in figures)
    return (f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{_curve(result, name)}</td>"
            f"{cells}<td style='text-align:left'>{html.escape(result.units[name])}</td></tr>")


def _curve(result: Result, name: str) -> str:
    """A line between rows as the method went, with jumps at events; of many rows, their ends in
    each pixel."""
    rows = result["time"]
    times = thinned(rows, result[name], _TIMES).time if len(rows) > 2 * _TIMES else \
        np.union1d(np.linspace(rows[0], rows[-1], _TIMES), rows)
    left, right = (result.at(times, name, side=side) for side in ("left", "right"))
    known = np.concatenate([left, right])
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    low, span = known.min(), np.ptp(known)
    scale = _HEIGHT - 4.0
    x = _WIDTH * (times - rows[0]) / (rows[-1] - rows[0] or 1.0)

    def height(value: float) -> float:
        return 2.0 + scale * (1.0 - (value - low) / span if span > 0.0 else 0.5)

    path, pen_down = [], False
    for i, (before, behind) in enumerate(zip(left, right)):
        steps = [before] if before == behind else [before, behind]
        for value in steps:
            if np.isfinite(value):
                path.append(f"{'L' if pen_down else 'M'}{x[i]:.1f} {height(value):.1f}")
            pen_down = bool(np.isfinite(value))
    return (f"<svg width='{_WIDTH:g}' height='{_HEIGHT:g}' role='img' aria-label='{html.escape(name)}'>"
            f"<path d='{''.join(path)}' fill='none' stroke='currentColor' stroke-width='1.2'/></svg>")
