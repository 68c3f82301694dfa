"""Pictures of studies, fits and linear systems, from what the program has computed."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._curves import Curve, Points
from ._looks import COLOURS, Frame
from ._picture import (AXIS, DASHES, MARKS, Numbers, Picture, TimePicture, looks, new_figure, set_ticks,
                       titled, with_room)

Data = Mapping[str, Any]


def study_picture(data: Data) -> Picture:
    """The error of each method over its step and over its work, all axes logarithmic.

    `runs`: of each `type`, `step` (s), `work` and `error`, above 0; `work`: what is counted. Lines go
    from the largest step, and from the least work: they do not turn back, whatever a clock has said.
    """
    types = list(dict.fromkeys(run["type"] for run in data["runs"]))
    frame, width, height = Frame(), 1200.0, 560.0
    with looks(frame.size):
        figure, dots = new_figure(frame, width, height)
        top = titled(figure, data["title"], frame, width, height)
        all_axes = [figure.add_axes([left / width, 62.0 / height, 400.0 / width, (height - 62.0 - top) / height],
                                    xscale="log", yscale="log") for left in (92.0, 585.0)]
        for axes, measure, label in zip(all_axes, ("step", "work"), ("macro-step [s]", data["work"])):
            for place, kind in enumerate(types):
                points = sorted((run[measure], run["error"]) for run in data["runs"] if run["type"] == kind)
                form, filled = MARKS[place % len(MARKS)]
                colour = COLOURS[place % len(COLOURS)]
                axes.plot(*zip(*points), color=colour, linestyle=DASHES[place % 5], linewidth=2 * frame.weight,
                          marker=form, markersize=0.55 * frame.size, markeredgecolor=colour, label=kind,
                          markerfacecolor=colour if filled else "#ffffff")
            axes.set_xlabel(label)
            for axis, values, length in ((axes.xaxis, [run[measure] for run in data["runs"]], 400.0),
                                         (axes.yaxis, [run["error"] for run in data["runs"]], height - 62.0 - top)):
                low, high = with_room(min(values), max(values), True)
                axis.set_view_interval(low, high, ignore=True)
                set_ticks(axis, low, high, length / (3.2 * frame.em), True)
        all_axes[0].set_ylabel("relative L2 error, worst output")
        all_axes[1].legend(loc="upper left", bbox_to_anchor=(1.0 + 16.0 / 400.0, 1.0))
    return Picture([figure], dots)


def fit_picture(data: Data) -> Picture:
    """A panel for each variable with its data as points and the fitted run as a line. `variables`: of
    each `name`, `time` (s), `measured` and `fitted`, [row]."""
    curves = []
    for one in data["variables"]:
        time = np.asarray(one["time"], dtype=float)
        order = np.lexsort((np.asarray(one["fitted"]), time))
        curves.append(Curve(one["name"], "", Points(time, _numbers(one["measured"])), "measured", measured=True))
        curves.append(Curve(one["name"], "", Points(time[order], _numbers(one["fitted"])[order]), "fitted"))
    times = np.concatenate([curve.points.time for curve in curves])
    return TimePicture(Frame(data["title"], times.min(), times.max()), curves).picture()


def _numbers(values: Sequence[Optional[float]]) -> np.ndarray:
    return np.array(values, dtype=float)  # None becomes NaN


def _response(told: Data) -> Tuple[np.ndarray, np.ndarray]:
    """Frequencies, rad/s, and complex values."""
    return _numbers(told["frequency"]), _numbers(told["real"]) + 1j * _numbers(told["imag"])


def _phase(values: np.ndarray, loop: bool) -> np.ndarray:
    """Without jumps of a whole turn, in degrees; begins at -180 to 180. Of a loop it is between -360 and 0
    where its gain first becomes 1, so that its distance from -180 is seen."""
    phase = np.degrees(np.unwrap(np.angle(values)))
    if loop and len(phase):
        crossings = np.flatnonzero(np.diff(np.abs(values) > 1.0)) + 1
        phase -= 360.0 * np.ceil(phase[crossings[0] if len(crossings) else 0] / 360.0)
    return phase


class _View:
    """A picture of a path from one input to one output; `less` is what was reduced, dashed beside it."""

    def __init__(self, data: Data, width: float, height: float, panels: int = 1) -> None:
        self.data = data
        self.frame = Frame()
        self._whole = {"color": COLOURS[0], "linewidth": 2 * self.frame.weight, "label": "whole"}
        self._less = {"color": COLOURS[1], "linewidth": 2 * self.frame.weight, "label": "reduced",
                      "linestyle": DASHES[1]}
        self.figure, self._dots = new_figure(self.frame, width, height)
        top = titled(self.figure, data["title"], self.frame, width, height)
        gap, foot = 22.0, 66.0
        self.size = (width - 104.0 - 30.0, (height - top - foot - gap * (panels - 1)) / panels)
        self.axes = [self.figure.add_axes([104.0 / width, (foot + place * (self.size[1] + gap)) / height,
                                           self.size[0] / width, self.size[1] / height])
                     for place in reversed(range(panels))]

    def kinds(self) -> List[Tuple[Data, Dict[str, Any]]]:
        """What is drawn, and how."""
        less = self.data.get("less")
        return [(self.data["whole"], self._whole)] + ([(less, self._less)] if less else [])

    def ticks(self, axes: Any, x_log: bool = False) -> None:
        """Where the limits are set."""
        set_ticks(axes.xaxis, *axes.get_xlim(), self.size[0] / (5.0 * self.frame.em), x_log)
        set_ticks(axes.yaxis, *axes.get_ylim(), self.size[1] / (2.4 * self.frame.em), False)

    def legend(self, axes: Any, always: bool = False, **place: Any) -> None:
        """Where there is something to tell apart."""
        if always or self.data.get("less"):
            axes.legend(**{"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none", "borderpad": 0.3,
                           "borderaxespad": 0.4, **place})

    def picture(self) -> Picture:
        """Done."""
        return Picture([self.figure], self._dots)


def _bode(data: Data) -> Picture:
    view = _View(data, 1000.0, 760.0, 2)
    gain, phase = view.axes
    whole = _phase(_response(data["whole"])[1], data["loop"])
    for told, look in view.kinds():
        frequency, values = _response(told)
        gain.plot(frequency, 20.0 * np.log10(np.abs(values)), **look)
        phase.plot(frequency, _phase(values, data["loop"]), **look)
    for axes, label, line in ((gain, "gain [dB]", 0.0), (phase, "phase [degrees]", -180.0)):
        axes.set_xscale("log")
        axes.set_ylabel(label)
        axes.set_xlim(min(told["frequency"][0] for told, _ in view.kinds()),
                      max(told["frequency"][-1] for told, _ in view.kinds()))
        if data["loop"]:
            axes.axhline(line, color=AXIS, linewidth=view.frame.weight)
        axes.set_ylim(with_room(axes.dataLim.y0, axes.dataLim.y1, False, 0.04))
        view.ticks(axes, True)
        axes.yaxis.set_label_coords(-70.0 / view.size[0], 0.5)
    eighth, most = 45.0, 8.0
    step = eighth * max(1.0, np.ceil(np.ptp(whole) / (most * eighth)))
    low, high = phase.get_ylim()
    phase.set_yticks(np.arange(np.ceil(low / step), np.floor(high / step) + 1.0) * step)
    phase.yaxis.set_major_formatter(Numbers())
    phase.set_ylim(low, high)
    gain.tick_params(labelbottom=False)
    phase.set_xlabel("frequency [rad/s]")
    view.legend(gain)
    return view.picture()


def _nyquist(data: Data) -> Picture:
    """What is far from -1 against what happens near it is drawn out of the picture."""
    view = _View(data, 800.0, 760.0)
    axes, least, most = view.axes[0], 2.0, 3.0
    sizes = np.abs(_response(data["whole"])[1])
    reach = max(least, 1.1 * np.max(sizes[sizes <= most], initial=0.0))
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    axes.plot(np.cos(angle), np.sin(angle), color="#a0a0a0", linewidth=view.frame.weight)
    for told, look in view.kinds():
        values = _response(told)[1]
        values = np.where(np.abs(values) > 4.0 * reach, np.nan, values)
        axes.plot(values.real, values.imag, **look)
        if told is data["whole"]:
            mirrored = values.conj()
    axes.plot(mirrored.real, mirrored.imag, color=COLOURS[0], linewidth=view.frame.weight, linestyle=DASHES[2],
              label="negative frequencies")
    if data["loop"]:
        axes.plot([-1.0], [0.0], marker="x", color="#000000", linestyle="none", markersize=0.7 * view.frame.size,
                  markeredgewidth=2 * view.frame.weight)
        axes.annotate("\u22121", (-1.0, 0.0), (-0.5 * view.frame.size, 0.6 * view.frame.size),
                      textcoords="offset points", ha="right")
    axes.set_aspect("equal")
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="real part", ylabel="imaginary part")
    view.ticks(axes)
    view.legend(axes, True, loc="upper right")
    return view.picture()


def _step(data: Data) -> Picture:
    view = _View({**data, "title": data["title"] + ", to a step of 1"}, 1000.0, 520.0)
    axes = view.axes[0]
    for told, look in view.kinds():
        axes.plot(_numbers(told["time"]), _numbers(told["value"]), **look)
    axes.set_xlim(0.0, data["whole"]["time"][-1])
    axes.set_ylim(with_room(axes.dataLim.y0, axes.dataLim.y1, False))
    axes.set(xlabel="time [s]", ylabel="response")
    view.ticks(axes)
    view.legend(axes)
    return view.picture()


def _poles(data: Data) -> Picture:
    view = _View(data, 1000.0, 520.0)
    axes, size = view.axes[0], view.frame.size
    for line in (axes.axhline, axes.axvline):
        line(0.0, color=AXIS, linewidth=view.frame.weight)
    x, y = [0.0], []
    for name, form, colour, scale, strength in (
            ("poles", "x", COLOURS[0], 0.75, 2.0), ("zeros", "o", COLOURS[1], 0.75, 2.0),
            ("cancelled, or not seen", "+", "#808080", 0.55, 1.0), ("poles, reduced", "s", COLOURS[2], 0.95, 1.0)):
        real, imaginary = (_numbers(values) for values in data["points"].get(name, ([], [])))
        x, y = [*x, *real], [*y, *imaginary]
        if len(real):
            axes.plot(real, imaginary, linestyle="none", marker=form, color=colour, markersize=scale * size,
                      markeredgewidth=strength * view.frame.weight, markerfacecolor="none", label=name)
    axes.set_xlim(with_room(min(x), max(x), False, 0.08))
    axes.set_ylim(with_room(min(y, default=0.0), max(y, default=0.0), False, 0.1))
    axes.set(xlabel="real part [1/s]", ylabel="imaginary part [1/s]")
    view.ticks(axes)
    if axes.get_legend_handles_labels()[0]:
        view.legend(axes, True)
    return view.picture()


def _dressed(draw: Callable[[Data], Picture]) -> Callable[[Data], Picture]:
    def dressed(data: Data) -> Picture:
        with looks(Frame().size):
            return draw(data)
    return dressed


VIEWS: Dict[str, Callable[[Data], Picture]] = {
    "study": study_picture, "fit": fit_picture, "bode": _dressed(_bode), "nyquist": _dressed(_nyquist),
    "step": _dressed(_step), "poles": _dressed(_poles)}
