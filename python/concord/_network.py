"""A run's subsystems and connections, laid out by Graphviz."""
from __future__ import annotations

import os
import re
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from ._concord import Recorded, write_picture
from ._errors import InputError
from ._looks import COLOURS, format_of

_LINE, _LOOP = "#6a717c", "#b3261e"
_MOST = 1000  # boxes
_MOST_IN_LAYERS, _MOST_ARROWS_IN_LAYERS = 40, 150  # beyond, layers are neither clear nor quick
_MOST_AROUND_BOXES = 200  # beyond, arrows go straight, behind boxes, too
_MOST_AT_AN_ARROW = 4  # signals


class Connection(NamedTuple):
    """As it was recorded: subsystems by their order, names, the algebraic loop (0: none), the signal."""

    source: int
    target: int
    output: str
    input: str
    loop: int
    signal: str


class _Box(NamedTuple):
    """A subsystem, or all that are repeated under one name."""

    name: str
    subsystems: List[int]


def connections_of(recorded: Recorded) -> List[Connection]:
    """None where the results file holds none: it is older, or the network very large."""
    position = {name: place for place, name in enumerate(recorded.texts("/subsystems/name"))}
    found = []
    for output, target, loop in zip(recorded.texts("/network/output"), recorded.texts("/network/input"),
                                    recorded.numbers("/network/loop")):
        owner, fed = _owner(output, position), _owner(target, position)
        if owner and fed:
            found.append(Connection(position[owner], position[fed], output, target, int(loop),
                                    output[len(owner) + 1:]))
    return found


def _owner(variable: str, subsystems: Dict[str, int]) -> Optional[str]:
    """Names of both may have dots: the longest."""
    owner = variable
    while "." in owner:
        owner = owner.rpartition(".")[0]
        if owner in subsystems:
            return owner
    return None


class NetworkPicture:
    """A network in Graphviz's language (`graph`), which notebooks show and `save(path)` draws."""

    def __init__(self, graph: str) -> None:
        self.graph = graph

    def _repr_svg_(self) -> str:
        return self._drawn("svg").decode()

    def save(self, path: Union[str, os.PathLike]) -> List[str]:
        """Writes .png, .svg or .pdf, and gives the files' names. Raises InputError where Graphviz is missing."""
        write_picture(os.fspath(path), self._drawn(format_of(path)))
        return [os.fspath(path)]

    def _drawn(self, form: str) -> bytes:
        form = "png:cairo" if form == "png" else form
        try:
            done = subprocess.run(["dot", f"-T{form}"], input=self.graph.encode(), stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=False)
        except OSError as error:
            raise InputError("pictures of networks need dot, which is not there: install it (Debian: apt-get install "
                             "graphviz), or use 'concord export' or 'concord report'") from error
        if done.returncode != 0 or not done.stdout:
            raise InputError("the network could not be drawn: is the cairo plugin of Graphviz missing?")
        return done.stdout


def network_picture(recorded: Recorded, file: str, title: str) -> NetworkPicture:
    """An arrow per pair of subsystems names its signals. Algebraic loops are red; with several ranks
    each has a colour. Raises InputError for networks that are not there or too large to look at."""
    names = recorded.texts("/subsystems/name")
    boxes = _boxes_of(names)
    if len(boxes) > _MOST:
        raise InputError(f"'{file}' has {len(names)} subsystems; a picture shows at most {_MOST}: "
                         "'concord check MODEL -v' lists all connections")
    connections = connections_of(recorded)
    if not connections and len(names) > 1:
        raise InputError(f"'{file}' holds no connections: was it written by an older version?")
    box_of = {k: place for place, box in enumerate(boxes) for k in box.subsystems}
    arrows: Dict[Tuple[int, int], Tuple[Dict[str, None], int]] = {}
    for one in connections:
        ends = box_of[one.source], box_of[one.target]
        signals, loop = arrows.get(ends, ({}, 0))
        signals[one.signal] = None
        arrows[ends] = signals, max(loop, one.loop)
    layers = len(boxes) <= _MOST_IN_LAYERS and len(arrows) <= _MOST_ARROWS_IN_LAYERS
    layout = "rankdir=LR, nodesep=0.35, ranksep=0.7" if layers else \
        'layout=sfdp, overlap=prism, sep="+10", splines=true' if len(boxes) <= _MOST_AROUND_BOXES else \
        "layout=sfdp, overlap=prism, splines=line"
    lines = [f'digraph {{\n  graph [fontname="sans-serif", labelloc=t, fontsize=16, pad=0.2, '
             f'label={_quoted(title)}, {layout}];',
             f'  node [shape=box, style=rounded, fontname="sans-serif", fontsize=12, penwidth=1.5, color="{_LINE}"];',
             f'  edge [fontname="sans-serif", fontsize=10, color="{_LINE}"];', *_nodes(recorded, boxes)]
    for (source, target), (signals, loop) in sorted(arrows.items()):
        label = _quoted(_arrow_label(list(signals)) if layers else "")
        red = f', color="{_LOOP}", fontcolor="{_LOOP}", penwidth=1.5' if loop else ""
        lines.append(f"  s{source} -> s{target} [label={label}{red}];")
    return NetworkPicture("\n".join(lines) + "\n}\n")


def _boxes_of(names: List[str]) -> List[_Box]:
    """Repeated ones are one box, `cell[*]` of cell[7] and cell[3,4], where there are more subsystems than
    layers can show."""
    members: Dict[str, List[int]] = {}
    for place, name in enumerate(names):
        folded = re.sub(r"\[[^]]*\]?", lambda part: "[*" + "]" * part[0].endswith("]"), name) \
            if len(names) > _MOST_IN_LAYERS else name
        members.setdefault(folded, []).append(place)
    return [_Box(names[places[0]] if len(places) == 1 else name, places) for name, places in members.items()]


def _nodes(recorded: Recorded, boxes: List[_Box]) -> List[str]:
    kinds, ranks = recorded.texts("/subsystems/kind"), recorded.numbers("/subsystems/rank")
    coloured = recorded.number("ranks") > 1
    tells_kind = len(boxes) <= _MOST_IN_LAYERS or len(set(kinds)) > 1
    lines = []
    for place, (name, members) in enumerate(boxes):
        first, label, looks = members[0], name, ", peripheries=2" if len(members) > 1 else ""
        if first < len(kinds) and (len(members) > 1 or tells_kind):
            label += "\n" + (f"{len(members)} x " if len(members) > 1 else "") + kinds[first]
        if coloured and first < len(ranks):
            one = len({ranks[k] for k in members}) == 1
            rank = max(0, int(ranks[first]))
            label += f", rank {rank}" if one else ", several ranks"
            looks += f', color="{COLOURS[rank % len(COLOURS)]}"' if one else ""
        lines.append(f"  s{place} [label={_quoted(label)}{looks}];")
    return lines


def _arrow_label(signals: List[str]) -> str:
    more = len(signals) - _MOST_AT_AN_ARROW
    return ", ".join(signals[:_MOST_AT_AN_ARROW]) + (f" and {more} more" if more > 0 else "")


def _quoted(text: str) -> str:
    """As a string of Graphviz's language."""
    text = re.sub(r'(["\\])', r"\\\1", text).replace("\n", "\\n")
    return '"' + re.sub(r"[\x00-\x1f]", " ", text) + '"'
