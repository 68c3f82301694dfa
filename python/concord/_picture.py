"""Pictures drawn by matplotlib: how they look, curves over time in panels, and files of them."""
from __future__ import annotations

import contextlib
import io
import os
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._concord import write_picture
from ._curves import (MOST_PANELS, Curve, Note, Points, after_dot, enveloped, in_panels, notes_on,
                      places_of_marks)
from ._looks import COLOURS, INCH, POINT, Frame, files_of, format_of

try:
    import matplotlib
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, fontManager
    from matplotlib.lines import Line2D
    from matplotlib.ticker import Formatter, LogLocator, MaxNLocator
except ImportError as error:
    raise ImportError("pictures need matplotlib, which is not there: install it (Debian: apt-get install "
                      "python3-matplotlib; or pip install matplotlib), or name an interpreter that has it "
                      "with CONCORD_PYTHON; 'concord export' and 'concord report' need none") from error

MARKS = (("o", False), ("^", True), ("s", False), ("o", True), ("^", False), ("s", True), ("D", False), ("v", True))
DASHES: Tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (6, 1.6, 1.2, 1.6)), (0, (5, 1.6, 1.2, 1.6, 1.2, 1.6)),
    (0, (9, 3)), (0, (2.6, 1.6)), (0, (9, 2, 3, 2)))
# matplotlib's own, then those with letters that it lacks, as far as they are there.
FAMILIES = ["DejaVu Sans", *sorted({font.name for font in fontManager.ttflist} & {
    "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"}), "sans-serif"]
AXIS, INK, GRID = "#606060", "#303030", "#dddddd"
_PRINT = 300.0  # dots per inch on paper
_PAGE = "#ffffff"


class Picture(Sequence[Figure]):
    """Pages of a picture: matplotlib's figures, one each.

    Attributes
    ----------
    left_out : dict
        Why, and the names of variables that are not drawn.
    """

    def __init__(self, figures: Sequence[Figure], dots: float = INCH) -> None:
        self._figures = list(figures)
        self._dots = dots
        self.left_out: Dict[str, List[str]] = {}

    def __getitem__(self, page: Any) -> Any:
        return self._figures[page]

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"<concord.Picture of {len(self)} page{'s' * (len(self) > 1)}>"

    def _repr_png_(self) -> bytes:
        """For notebooks: the first page."""
        return self._drawn(self[0], "png")

    def save(self, path: Union[str, os.PathLike]) -> List[str]:
        """Writes .png, .svg or .pdf, whole or not at all, and gives the files' names. The same
        pictures have the same bytes. Raises InputError where the file cannot be written, or holds
        something else than a picture."""
        files, form = files_of(path, len(self)), format_of(path)
        if len(files) < len(self):
            write_picture(files[0], self._in_one())
        else:
            for file, figure in zip(files, self):
                write_picture(file, self._drawn(figure, form))
        return files

    def _drawn(self, figure: Figure, form: str) -> bytes:
        stream = io.BytesIO()
        with looks():
            figure.savefig(stream, format=form, dpi=self._dots, metadata={"svg": {"Date": None},
                           "pdf": {"CreationDate": None}}.get(form, {}))
        return stream.getvalue()

    def _in_one(self) -> bytes:
        from matplotlib.backends.backend_pdf import PdfPages
        stream = io.BytesIO()
        with looks(), PdfPages(stream, metadata={"CreationDate": None}) as pages:
            for figure in self:
                pages.savefig(figure)
        return stream.getvalue()


@contextlib.contextmanager
def looks(size: float = 12.0) -> Iterator[None]:
    """The same whatever the user's own settings of matplotlib are; names are no formulas."""
    own = {"font.size": size, "font.family": FAMILIES, "font.sans-serif": FAMILIES[:1], "text.parse_math": False, "svg.fonttype": "none",
           "svg.hashsalt": "concord", "pdf.fonttype": 42, "axes.edgecolor": AXIS, "axes.linewidth": 0.07 * size,
           "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
           "grid.color": GRID, "grid.linewidth": 0.06 * size, "xtick.color": AXIS, "ytick.color": AXIS,
           "xtick.labelcolor": INK, "ytick.labelcolor": INK, "xtick.major.size": 0.3 * size,
           "ytick.major.size": 0.3 * size, "xtick.minor.size": 0.18 * size, "ytick.minor.size": 0.18 * size,
           "xtick.major.width": 0.07 * size, "ytick.major.width": 0.07 * size, "xtick.minor.width": 0.05 * size,
           "ytick.minor.width": 0.05 * size, "path.simplify": True, "lines.scale_dashes": True,
           "lines.solid_joinstyle": "round", "lines.dash_joinstyle": "round", "legend.frameon": False,
           "legend.borderpad": 0.0, "legend.borderaxespad": 0.0, "legend.handlelength": 2.6,
           "legend.labelspacing": 0.3, "legend.columnspacing": 1.2, "legend.fontsize": size,
           "axes.titlesize": 1.25 * size, "axes.titlepad": 0.7 * size, "axes.labelsize": size,
           "xtick.labelsize": size, "ytick.labelsize": size, "figure.facecolor": _PAGE, "savefig.facecolor": _PAGE,
           "savefig.bbox": None, "axes.unicode_minus": True}
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items()
                if "backend" not in name and not name.startswith(("animation", "keymap", "date", "toolbar"))}
    with matplotlib.rc_context():
        dict.update(matplotlib.rcParams, defaults)
        dict.update(matplotlib.rcParams, own)
        yield


def new_figure(frame: Frame, width: float, height: float) -> Tuple[Figure, float]:
    """Of so many px, and dots per inch for PNG."""
    dots = _PRINT if frame.width else INCH
    whole = [round(length / INCH * dots) + 1e-6 for length in (width, height)]  # of dots
    return Figure(figsize=(whole[0] / dots, whole[1] / dots), dpi=dots), dots


class Numbers(Formatter):
    """Labels of ticks, less `offset`: as few digits as tell them apart."""

    def __init__(self, offset: float = 0.0) -> None:
        super().__init__()
        self._offset = offset

    def __call__(self, value: float, pos: Optional[int] = None) -> str:
        return _short(value - self._offset, 6)

    def format_ticks(self, values: Sequence[float]) -> List[str]:
        shown = np.asarray(values, dtype=float) - self._offset
        step = np.min(np.diff(np.unique(shown))) if len(np.unique(shown)) > 1 else np.max(np.abs(shown), initial=0.0)
        shown = np.where(np.abs(shown) < 1e-9 * step, 0.0, shown)
        for digits in range(1, 17):
            texts = [f"{value:.{digits}g}" for value in shown]
            if all(abs(float(text) - value) <= 1e-3 * step for text, value in zip(texts, shown)):
                break
        return [_short(value, digits) for value in shown]


class Powers(Formatter):
    """Labels of logarithmic axes: powers of ten, the small ones written out."""

    def __call__(self, value: float, pos: Optional[int] = None) -> str:
        power = round(float(np.log10(value)))
        if -4 < power < 4:
            return _short(value, 6)
        return "10" + str(power).translate(str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075"
                                                         "\u2076\u2077\u2078\u2079"))


def _short(value: float, digits: int) -> str:
    """As %g; powers of ten of four digits and less are written out."""
    text = f"{value:.{digits}g}"
    if "e+0" in text and abs(value) < 1e6:
        text = f"{value:.0f}"
    return re.sub(r"e\+?(-?)0*", r"e\1", text).replace("-", "\u2212")


def offset_of(low: float, high: float) -> float:
    """What ticks of a narrow range leave out, or 0: it would hide what they differ in."""
    longest = 1e5  # of values, in units of the range
    if not high > low or max(abs(low), abs(high)) < longest * (high - low):
        return 0.0
    power = 10.0 ** np.ceil(np.log10(high - low))
    return float(np.round(0.5 * (low + high) / power) * power)


def set_ticks(axis: Any, low: float, high: float, most: float, log: bool) -> float:
    """Round ones, at most so many. Gives what their labels leave out."""
    if log:
        few = high < 100.0 * low
        axis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0) if few else (1.0,), numticks=max(3, int(most) + 1)))
        axis.set_minor_locator(LogLocator(10, np.arange(2.0, 10.0), numticks=max(3, int(most) + 1)))
        axis.set_major_formatter(Numbers() if few else Powers())
        axis.set_minor_formatter("")
        return 0.0
    offset = offset_of(low, high)
    axis.set_major_locator(MaxNLocator(nbins=int(np.clip(most, 2, 10)), steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(Numbers(offset))
    return offset


def with_room(low: float, high: float, log: bool, share: float = 0.06) -> Tuple[float, float]:
    """An axis for values from `low` to `high`, with room beyond."""
    if not np.isfinite(low) or not np.isfinite(high):
        return (0.1, 1.0) if log else (0.0, 1.0)
    if log:
        factor = (high / low) ** (0.6 * share) if high > low else 2.0
        return low / factor, high * factor
    room = share * (high - low) or 0.02 * abs(high) or 1.0
    return low - room, high + room


def reach_of(points: Sequence[Points], begin: float, end: float, log: bool) -> Tuple[float, float]:
    """Smallest and largest value from `begin` to `end`, where lines come in and leave, too."""
    low, high = np.inf, -np.inf
    for one in points:
        inside = one.value[(one.time >= begin) & (one.time <= end)]
        edges = one.at(np.array([begin, end])) if len(one.time) else inside
        known = np.concatenate([inside, edges])
        known = known[np.isfinite(known) & ((known > 0.0) | (not log))]
        if len(known):
            low, high = min(low, known.min()), max(high, known.max())
    return low, high


def time_unit(duration: float) -> Tuple[str, float]:
    """What time is shown in, and its length in s."""
    least = 3.0  # of the unit
    for name, seconds in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if duration >= least * seconds:
            return name, seconds
    return "s", 1.0


class _Letters:
    """How wide texts are."""

    def __init__(self, size: float) -> None:
        self._font = FontProperties(family=FAMILIES, size=size)
        self._renderer = RendererAgg(1, 1, INCH)

    def width(self, text: str) -> float:
        """px"""
        return self._renderer.get_text_width_height_descent(text, self._font, False)[0]

    def cut(self, text: str, width: float) -> str:
        """What is too long loses its middle."""
        half = len(text) // 2
        while half > 2 and self.width(text) > width:
            half -= 1
            text = text[:half] + "\u2026" + text[-half:]
        return text


    def lines(self, text: str, width: float) -> List[str]:
        """One, or two where it is long."""
        words = text.split(" ")
        fitting = max((count for count in range(len(words) + 1) if self.width(" ".join(words[:count])) <= width), default=1)
        behind = [count for count in range(1, fitting + 1) if words[count - 1].endswith((",", ":"))]
        count = fitting if fitting == len(words) else max([*behind, 0]) or max(fitting, 1)
        return [self.cut(line, width) for line in (" ".join(words[:count]), " ".join(words[count:])) if line]


_TITLE = 1.25  # of the size of letters


def _title_lines(text: str, frame: Frame, width: float) -> List[str]:
    return _Letters(_TITLE * frame.size).lines(text, 0.96 * width)


def height_of_title(text: str, frame: Frame, width: float) -> float:
    """How far down the rest of a picture begins, px."""
    lines = len(_title_lines(text, frame, width))
    return frame.em * (1.2 + 1.6 * lines if lines else 0.8)


def titled(figure: Figure, text: str, frame: Frame, width: float, height: float) -> float:
    """Writes it at the top of a figure of so many px, and gives how far down the rest begins."""
    for place, line in enumerate(_title_lines(text, frame, width)):
        figure.text(0.5, 1.0 - (1.4 + 1.6 * place) * frame.em / height, line, ha="center", va="center",
                    size=_TITLE * frame.size)
    return height_of_title(text, frame, width)


class _Panel:
    """Curves over time, in one pair of axes."""

    def __init__(self, curves: List[Curve], frame: Frame) -> None:
        self.curves = curves
        self._frame = frame
        self.log = "y" in frame.log
        self.notes = notes_on(curves, frame.begin, frame.end, not self.log)
        self.names = list(dict.fromkeys(curve.name for curve in curves))

    def labels(self, letters: _Letters, width: float) -> List[str]:
        """Of the legend, on one or two lines."""
        texts = [letters.cut(curve.legend, width) for curve in self.curves]
        return [text + (f"\n{letters.cut(note.text, width)}" if note.text else "")
                for text, note in zip(texts, self.notes)]

    def axis_label(self, offset: float) -> str:
        """`x [m]` when all curves are called x, else `[m]`; what ticks leave out is said."""
        names = {after_dot(curve.name) for curve in self.curves}
        name, unit = names.pop() if len(names) == 1 else "", self.curves[0].unit
        less = f"\u2212 {_short(offset, 15)}" if offset > 0 else f"+ {_short(-offset, 15)}" if offset else ""
        return " ".join(part for part in (name, less, f"[{unit}]" if unit else "") if part)

    def draw(self, axes: Any, seconds: float) -> List[Any]:
        """Gives what stands for each curve in the legend."""
        frame = self._frame
        carriers = {note.on for note in self.notes}
        handles = []
        for place, (curve, note) in enumerate(zip(self.curves, self.notes)):
            variable = self.names.index(curve.name)
            handles.append(self._draw_curve(axes, seconds, curve, note, variable, place in carriers))
        drawn = [curve.points for curve in self.curves]
        axes.set_ylim(with_room(*reach_of(drawn, frame.begin, frame.end, self.log), self.log))
        return handles

    def _draw_curve(self, axes: Any, seconds: float, curve: Curve, note: Note, variable: int, carries: bool) -> Any:
        frame = self._frame
        colour, weight = COLOURS[variable % len(COLOURS)], frame.weight
        if curve.measured or len(curve.points.time) == 1:
            return axes.plot(curve.points.time / seconds, curve.points.value, linestyle="none", marker="o",
                             color=colour, markersize=0.35 * frame.size, markeredgewidth=1.2 * weight,
                             markerfacecolor="none" if curve.measured else colour)[0]
        line, bands = (curve.points, []) if self.log else enveloped(curve, frame.begin, frame.end)
        for band in bands:
            axes.fill_between(band.time / seconds, band.low, band.high, color=colour, alpha=0.35, linewidth=0)
            for edge in (band.low, band.high):
                axes.plot(band.time / seconds, edge, color=colour, linewidth=weight)
        look = {"color": colour, "linestyle": DASHES[curve.dash % len(DASHES)], "linewidth": 2 * weight}
        # Wide and pale below what lies on it, so that both are seen.
        below = {**look, "color": _pale(colour), "linewidth": 6 * weight}
        above = {**look, "linewidth": 1.5 * weight} if note.on is not None else look
        if len(line.time):
            axes.plot(line.time / seconds, line.value, **(below if carries else above))
        if bands and not len(line.time):
            return Line2D([], [], color=colour, alpha=0.35, linewidth=0.7 * frame.size)
        mark = {}
        if len(self.names) > 1:
            form, filled = MARKS[variable % len(MARKS)]
            mark = {"marker": form, "markersize": 0.45 * frame.size, "markeredgecolor": colour,
                    "markeredgewidth": 1.5 * weight, "markerfacecolor": colour if filled else _PAGE}
            places = places_of_marks(line, variable, frame.begin, frame.end)
            axes.plot(places.time / seconds, places.value, linestyle="none", zorder=3, **mark)
        return Line2D([], [], **(look if carries else above), **mark)


def _pale(colour: str) -> str:
    """Half as dark."""
    parts = (int(colour[place:place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02X}" for part in parts)


class TimePicture:
    """Curves over time, in panels by unit, on as many pages as they need.

    Curves of one variable have one colour and one kind of marks, those of one run one kind of
    dashes, so that they are told apart in black and white, too; what lies on another curve is said
    and drawn thinner over it; where a curve swings faster than can be seen its envelope is drawn.
    """

    def __init__(self, frame: Frame, curves: Sequence[Curve]) -> None:
        self.curves = list(curves)
        self.panels = [_Panel(panel, frame) for panel in in_panels(curves)]
        self._frame = frame
        self._letters = _Letters(frame.size)

    @property
    def pages(self) -> int:
        """How many."""
        return max(1, -(-len(self.panels) // MOST_PANELS))

    def picture(self) -> Picture:
        """All pages."""
        with looks(self._frame.size):
            figures, dots = zip(*(self._page(page) for page in range(self.pages)))
        return Picture(figures, dots[0])

    def _page(self, number: int) -> Tuple[Figure, float]:
        frame, em = self._frame, self._frame.em
        panels = self.panels[number * MOST_PANELS:(number + 1) * MOST_PANELS]
        width = frame.across()
        above = width < 600.0  # legends
        left, handle = 6.2 * em, 3.8 * em
        most = (width - left - 1.2 * em if above else 0.4 * width) - handle
        labels = [panel.labels(self._letters, most) for panel in panels]
        lines = [line for texts in labels for text in texts for line in text.split("\n")]
        entry = max(self._letters.width(line) for line in lines) + handle
        right = 1.2 * em if above else float(np.clip(entry, 0.1 * width, 0.4 * width)) + 1.0 * em
        columns = max(1, int((width - left - right + em) / (entry + em)))
        title = frame.title + (f" ({number + 1} of {self.pages})" if self.pages > 1 and frame.title else "")
        tops, bottoms, y = [], [], height_of_title(title, frame, width)
        least = float(np.clip(0.42 * width, 110.0, 230.0)) if frame.width else 274.0
        for texts in labels:
            rows = [texts[i:i + columns] for i in range(0, len(texts), columns)] if above else [[text] for text in texts]
            legend = sum(1.45 * em + 1.15 * em * max(text.count("\n") for text in row) for row in rows)
            y += legend + 0.3 * em if above else 0.0
            tops.append(y)
            y += least if above else max(least, legend)
            bottoms.append(y)
            y += 1.6 * em
        height = y + 2.3 * em
        figure, dots = new_figure(frame, width, height)
        titled(figure, title, frame, width, height)
        unit, seconds = time_unit(frame.end - frame.begin)
        for place, (panel, top, bottom, texts) in enumerate(zip(panels, tops, bottoms, labels)):
            axes = figure.add_axes([left / width, 1.0 - bottom / height, (width - left - right) / width,
                                    (bottom - top) / height], yscale="log" if panel.log else "linear",
                                   xscale="log" if "x" in frame.log else "linear")
            handles = panel.draw(axes, seconds)
            self._finish(axes, panel, (width - left - right, bottom - top), seconds)
            if place + 1 == len(panels):
                axes.set_xlabel(f"time [{unit}]")
            else:
                axes.tick_params(labelbottom=False)
            if above:
                handles, texts = ([one for i in range(columns) for one in both[i::columns]] for both in (handles, texts))
                axes.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0 + 0.3 * em / (bottom - top)),
                            ncol=min(columns, len(texts)))
            else:
                axes.legend(handles, texts, loc="upper left",
                            bbox_to_anchor=(1.0 + 0.8 * em / (width - left - right), 1.0))
            if frame.letters:
                letter = chr(ord("a") + (number * MOST_PANELS + place) % 26)
                figure.text(0.3 * em / width, 1.0 - (top - 0.2 * em) / height, f"({letter})", weight="bold", va="top")
        return figure, dots

    def _finish(self, axes: Any, panel: _Panel, size: Tuple[float, float], seconds: float) -> None:
        """Axes of so many px."""
        frame, em = self._frame, self._frame.em
        slack = 0.5 if frame.begin == frame.end else 0.0
        begin, end = (frame.begin - slack) / seconds, (frame.end + slack) / seconds
        axes.set_xlim(begin, end)
        set_ticks(axes.xaxis, begin, end, size[0] / (4.4 * em), "x" in frame.log)
        offset = set_ticks(axes.yaxis, *axes.get_ylim(), size[1] / (2.4 * em), panel.log)
        axes.set_ylabel(panel.axis_label(offset))
        axes.yaxis.set_label_coords(-4.9 * em / size[0], 0.5)


def phase_picture(frame: Frame, curves: Sequence[Curve], labels: Tuple[str, str]) -> Picture:
    """Values over values, a curve for each run. `labels`: of both axes."""
    width = frame.across(920.0)
    height, em = (0.85 * width if frame.width else 760.0), frame.em
    with looks(frame.size):
        figure, dots = new_figure(frame, width, height)
        left, bottom, top = 6.2 * em, 4.2 * em, titled(figure, frame.title, frame, width, height)
        legend = 1.5 * em if len(curves) > 1 else 0.0
        inner = (width - left - 1.2 * em, height - bottom - top - legend)
        axes = figure.add_axes([left / width, bottom / height, inner[0] / width, inner[1] / height],
                               xscale="log" if "x" in frame.log else "linear",
                               yscale="log" if "y" in frame.log else "linear")
        for place, curve in enumerate(curves):
            axes.plot(curve.points.time, curve.points.value, color=COLOURS[place % len(COLOURS)],
                      linestyle=DASHES[curve.dash % len(DASHES)], linewidth=2 * frame.weight, label=curve.legend)
        both = [[values[np.isfinite(values) & ((values > 0) | (name not in frame.log))] for values in parts]
                for name, parts in zip("xy", zip(*(curve.points for curve in curves)))]
        spans = [with_room(np.concatenate(parts).min(), np.concatenate(parts).max(), name in frame.log,
                           0.03 if name == "x" else 0.06) for name, parts in zip("xy", both)]
        axes.set_xlim(spans[0])
        axes.set_ylim(spans[1])
        for axis, text, span, most, name in ((axes.xaxis, labels[0], spans[0], inner[0] / (4.0 * em), "x"),
                                             (axes.yaxis, labels[1], spans[1], inner[1] / (2.6 * em), "y")):
            offset = set_ticks(axis, *span, most, name in frame.log)
            less = f"\u2212 {_short(offset, 15)} " if offset > 0 else f"+ {_short(-offset, 15)} " if offset else ""
            axis.set_label_text(text.replace(" [", f" {less}[") if less else text)
        if len(curves) > 1:
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0 + 0.3 * em / inner[1]), ncol=len(curves))
    return Picture([figure], dots)
