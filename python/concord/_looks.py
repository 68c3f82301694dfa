"""What all pictures have in common, whoever draws them."""
from __future__ import annotations

import os
from typing import List, NamedTuple, Optional, Union

from ._errors import InputError

# Okabe and Ito's, told apart by everybody; the yellow darkened for white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
INCH = 96.0  #: of a screen, px
POINT = 72.0 / INCH  #: of a pixel


def format_of(path: Union[str, os.PathLike]) -> str:
    """`png`, `svg` or `pdf`, by the name's ending. Raises InputError."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in (".png", ".svg", ".pdf"):
        raise InputError(f"'{os.fspath(path)}' must end in .png, .svg or .pdf: what it is to be")
    return ending[1:]


def files_of(path: Union[str, os.PathLike], pages: int) -> List[str]:
    """Of a picture's pages: those of a PDF are in one, others in `out.png`, `out_2.png`, ..."""
    stem, ending = os.path.splitext(os.fspath(path))
    more = range(2, 2 if format_of(path) == "pdf" else pages + 1)
    return [os.fspath(path), *(f"{stem}_{page}{ending}" for page in more)]


class Frame(NamedTuple):
    """What holds for a whole picture."""

    title: str = ""
    begin: float = 0.0  #: s, of the time axis
    end: float = 0.0
    log: str = ""  #: axes: "x", "y" or "xy"
    width: Optional[float] = None  #: mm, on paper; without it 1200 pixels, for a screen
    font: Optional[float] = None  #: points; without it 8 on paper, 12 on a screen
    letters: bool = False  #: (a), (b) ... at panels

    @property
    def size(self) -> float:
        """Of letters, points."""
        return self.font or (8.0 if self.width else 12.0)

    @property
    def em(self) -> float:
        """The same in pixels of 1/96 inch, as all lengths here are."""
        return self.size / POINT

    def across(self, screen: float = 1200.0) -> float:
        """Width of the picture, px."""
        return self.width / 25.4 * INCH if self.width else screen

    @property
    def weight(self) -> float:
        """Points of a line of one pixel; on paper lines are as strong as letters."""
        return POINT * (self.size / 13.0 if self.width else 1.0)
