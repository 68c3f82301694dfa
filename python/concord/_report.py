"""One page of HTML on a run, which needs nothing beside it."""
from __future__ import annotations

import html
import json
import math
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._concord import Recorded, write_text
from ._curves import thinned
from ._errors import WrongWord
from ._network import connections_of
from ._plot import Source, opened, texts_of

# What one page holds.
_VARIABLES, _POINTS, _EVENTS, _MARKS, _ERRORS = 64, 200_000, 200, 5000, 10
_PHASES = ("step", "advance", "exchange", "solve", "estimate", "record", "checkpoint")


class _Row(NamedTuple):
    """Of macro-steps: the panel that begins with it, if any, where it is recorded, its name."""

    panel: str
    path: str
    name: str
    log: bool


_STEPS = (_Row("Size [s]", "/steps/size", "size", True),
          _Row("Iterations and evaluations", "/steps/iterations", "iterations", False),
          _Row("", "/steps/coupling_evaluations", "coupling evaluations", False),
          _Row("", "/steps/linear_iterations", "linear iterations", False),
          _Row("", "/steps/rejections", "rejections", False),
          _Row("Error estimate", "/steps/error_estimate", "error estimate", True),
          _Row("Residual, over its tolerance", "/steps/residual", "residual", True),
          _Row("Wall time [s]", "/steps/wall_time", "wall time", True))


class Page:
    """A page of HTML (`text`), which notebooks show and `save(path)` writes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return f"<iframe srcdoc='{html.escape(self.text)}' style='width:100%;height:48em;border:0'></iframe>"

    def save(self, path: Union[str, os.PathLike]) -> str:
        """Gives the path. Raises InputError where it cannot be written, or holds something else."""
        write_text(os.fspath(path), self.text)
        return os.fspath(path)


def report(result: Source, *, variables: Union[None, str, Sequence[str]] = None,
           output: Union[None, str, os.PathLike] = None) -> Page:
    """One page of HTML on a run, as `concord report` writes it.

    How far to trust the run, its network, trajectories to zoom, a phase plot, macro-steps, events,
    where the time went, options and model; of runs that were interrupted, failed or still go on what
    is there. `variables`: names or patterns (default: all; of many, the first ones). `output`: the
    page to write. Raises InputError.

    >>> page = concord.report(concord.run("bouncing_ball.yaml"), variables="ball.*")
    >>> "ball.h" in page.text and "http" not in page.text.replace("http://www.w3.org", "")
    True
    """
    with opened([result]) as runs:
        page = page_of(runs[0].recorded, runs[0].file, texts_of(variables))
    if output is not None:
        page.save(output)
    return page


def require_one(files: Sequence[str]) -> None:
    """Raises WrongWord."""
    if len(files) != 1:
        raise WrongWord(f"'concord report' takes 1 results file, not {len(files)}")


def page_of(recorded: Recorded, file: str, wanted: Sequence[str]) -> Page:
    """Of a results file."""
    data = {"model": recorded.model, "status": recorded.status, "end": recorded.time[-1], "facts": _facts(recorded),
            "trust": _trust(recorded), "errors": _errors(recorded), "connections": _connections(recorded),
            **_variables(recorded, wanted), **_steps(recorded), "events": _events(recorded), **_costs(recorded),
            "run": _run(recorded, file),
            "options": (recorded.texts("/runs/options") or [recorded.text("petsc_options")])[-1],
            "model_text": recorded.text("model_text")}
    return Page(_html_page(recorded.model + ": report", _part("report.html"), data, _part("report.js")))


def _part(name: str) -> str:
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def _html_page(title: str, body: str, data: Dict[str, Any], script: str) -> str:
    """As the program's pages are (src/cli/html_page.cpp). JSON ends no script element: "<" occurs in its
    strings only."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    text = text.encode("utf-8", "replace").decode()
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{html.escape(title, quote=False)}</title>\n<style>{_part('page.css')}</style>\n</head>\n<body>\n{body}"
            "<noscript>This page draws with JavaScript, which is switched off.</noscript>\n"
            f'<script type="application/json" id="data">{text}</script>\n'
            f"<script>{_part('drawing.js')}{script}</script>\n</body>\n</html>\n")


def _rounded(value: float, digits: int) -> Optional[float]:
    """As many digits as can be seen; JSON has no infinity."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _stretches(series: int) -> int:
    """Of time, into which long series are cut, so that so many of them fit."""
    least, points_per_stretch = 50, 4
    return max(least, _POINTS // (points_per_stretch * max(1, series)))


def _curve(name: str, time: np.ndarray, values: np.ndarray, stretches: int) -> Dict[str, Any]:
    points = thinned(time, values, stretches)
    return {"name": name, "x": [_rounded(t, 10) for t in points.time], "y": [_rounded(v, 7) for v in points.value]}


def _facts(recorded: Recorded) -> List[str]:
    facts = [_counted(len(recorded.time), "row"), _counted(len(recorded.numbers("/steps/size")), "macro-step")]
    ranks = recorded.number("ranks")
    return facts + ([_counted(int(ranks), "rank")] if math.isfinite(ranks) else [])


def _trust(recorded: Recorded) -> List[str]:
    """As the summary of the run says it."""
    told = [f"{word}: {recorded.text(name)}" for word, name in
            (("Diverged", "diverged"), ("Not decided, nor what follows", "undecided"), ("Accuracy", "accuracy"))
            if recorded.text(name)]
    worst = recorded.number("error_estimate")
    if math.isfinite(worst):
        how = ", by a second run in halves of the macro-steps" if recorded.text("estimated_by") == "halving" else ""
        told.append(f"Largest estimated error: {worst:.3g} of the size of {recorded.text('error_estimate_of')}{how}.")
    elif recorded.text("no_estimate"):
        told.append("No error estimate: " + recorded.text("no_estimate"))
    elif not recorded.text("undecided"):
        told.append("No error estimate: it is known when a run has ended.")
    jumps, noise = (int(number) if math.isfinite(number) else 0 for number in
                    (recorded.number("black_box_jumps"), recorded.number("macro_steps_at_noise")))
    if recorded.text("driven"):
        told.append(f"Driven: {recorded.text('driven')}.")
    if recorded.text("by_the_clock"):
        told.append(f"By the clock: {recorded.text('by_the_clock')}.")
    late = recorded.number("late_events")
    told.append(f"Events: {len(recorded.events())}; jumps found in black boxes: {jumps}; "
                f"macro-steps that ended at noise: {noise}"
                + (f"; events told too late, at the ends of their macro-steps: {late:.0f}." if late > 0 else "."))
    if recorded.text("idle_at_start"):
        told.append(f"True at the start, so that it did not act: {recorded.text('idle_at_start')}.")
    return told


def _errors(recorded: Recorded) -> List[Tuple[str, Optional[float]]]:
    """The largest first."""
    known = [(error, name) for error, name in zip(recorded.numbers("/outputs/error_estimate"),
                                                  recorded.texts("/outputs/names")) if math.isfinite(error)]
    known.sort(key=lambda one: -one[0])
    return [(name, _rounded(error, 3)) for error, name in known[:_ERRORS]]


def _connections(recorded: Recorded) -> List[Dict[str, Any]]:
    return [{"from": one.source, "to": one.target, "output": one.output, "input": one.input, "what": one.signal,
             "loop": one.loop} for one in connections_of(recorded)]


def _variables(recorded: Recorded, wanted: Sequence[str]) -> Dict[str, Any]:
    variables = recorded.chosen(list(wanted))
    drawn = variables[:_VARIABLES]
    time, found = recorded.curves(drawn, None, 300)
    stretches = _stretches(len(drawn))
    return {"variables": [{**_curve(name, time, found[name][1], stretches), "unit": unit} for name, unit in drawn],
            "left_out": [name for name, _ in variables[_VARIABLES:]], "thinned": len(time) > 4 * stretches}


def _steps(recorded: Recorded) -> Dict[str, Any]:
    times = recorded.numbers("/steps/time")
    times = times if len(times) else recorded.time[1:]
    panels: List[Dict[str, Any]] = []
    sums = []
    for row in _STEPS:
        values = recorded.numbers(row.path)
        count = min(len(values), len(times))
        known = values[:count][np.isfinite(values[:count])]
        if not len(known):
            continue
        if row.panel or not panels:
            panels.append({"title": row.panel, "log": row.log, "curves": []})
        panels[-1]["curves"].append(_curve(row.name, times[:count], values[:count], _stretches(len(_STEPS))))
        total = math.fsum(known)
        sums.append([row.name, *(_rounded(number, 5) for number in
                                 (known.min(), total / len(known), known.max(), total))])
    return {"steps": panels, "step_sums": sums}


def _events(recorded: Recorded) -> Dict[str, Any]:
    happened = recorded.events()
    return {"count": len(happened), "list": happened[:_EVENTS], "marks": [time for time, _, _ in happened[:_MARKS]]}


def _costs(recorded: Recorded) -> Dict[str, Any]:
    kinds = recorded.texts("/subsystems/kind")
    columns = {name: recorded.numbers(f"/subsystems/{path}") for name, path in
               (("rank", "rank"), ("advances", "advances"), ("rhs", "rhs_evaluations"), ("micro", "micro_steps"))}
    subsystems = [{"name": name, "kind": kinds[k] if k < len(kinds) else "", "seconds": _rounded(seconds, 5),
                   **{key: int(values[k]) if k < len(values) else 0 for key, values in columns.items()}}
                  for k, (name, seconds) in enumerate(recorded.costs())]
    times = [recorded.numbers(f"/ranks/{phase}_time") for phase in _PHASES]
    ranks = max(len(one) for one in times)
    phases = [[_rounded(one[rank], 7) if rank < len(one) else 0.0 for one in times] for rank in range(ranks)]
    return {"subsystems": subsystems, "phases": phases, "phase_names": list(_PHASES)}


def _run(recorded: Recorded, file: str) -> List[Tuple[str, str]]:
    def last(path: str) -> str:
        return ([""] + recorded.texts(path))[-1]

    rows = [("results file", os.path.abspath(file)), ("command line", recorded.text("command_line")),
            ("changes of the model", recorded.text("changes")), ("started", last("/runs/started")),
            ("host", last("/runs/host")), ("continues", last("/runs/continues")),
            ("versions", last("/runs/versions").rstrip("\n").replace("\n", ";"))]
    rows += [(name, "SHA-256 " + digest) for name, digest in
             zip(recorded.texts("/files/name"), recorded.texts("/files/sha256"))]
    return [(what, text) for what, text in rows if text]
