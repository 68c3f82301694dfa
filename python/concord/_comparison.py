"""One run against another, by the command `concord compare`."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._options import text_of
from ._plot import Source, files_of_sources, texts_of
from ._program import call
from ._results import imported

if TYPE_CHECKING:
    import pandas


class Comparison(Mapping[str, Dict[str, Any]]):
    """Errors of a run against another, by variable: `relative_l2` (of the difference over time, against the
    norm of the other's), `maximum` (in `unit`), `time_of_maximum` (s), `range` (of the other), `maximum_of_range`.

    Attributes
    ----------
    rows, begin, end : int, float, float
        Communication points that count, and the time that both have, s.
    not_in_a, not_in_b : list of str
        Variables that one of them lacks.
    within : bool or None
        Whether every variable stays in its tube; None where no tolerance was given.
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.rows: int = told["rows"]
        self.begin: float = told["begin"]
        self.end: float = told["end"]
        self.not_in_a: List[str] = told["not_in_a"]
        self.not_in_b: List[str] = told["not_in_b"]
        self.within: Optional[bool] = told.get("within")
        self._variables = {one["name"]: {key: value for key, value in one.items() if key != "name"}
                           for one in told["variables"]}

    def __getitem__(self, name: str) -> Dict[str, Any]:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        errors = [one["relative_l2"] for one in self.values()]
        largest = max(errors) if errors and None not in errors else float("nan")
        verdict = {None: "", True: ", within the tolerance", False: ", NOT within the tolerance"}[self.within]
        return f"<concord.Comparison of {len(self)} variables: largest relative error {largest:.3g}{verdict}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each variable."""
        return imported("pandas", "to_pandas").DataFrame.from_dict(self._variables, orient="index")


def compare(a: Source, b: Source, *, variables: Union[None, str, Sequence[str]] = None,
            tolerance: Optional[float] = None) -> Comparison:
    """The errors of a run against another one, as `concord compare`: results, or paths of files, tables
    among them, whose time grids may differ; nothing is interpolated across an event.

    `variables`: names or patterns (default: all that both have). `tolerance`: a tube around `b`, in units of each
    variable's range, which gives the verdict `within`. Raises InputError.

    >>> runs = [concord.run("two_mass.yaml", cosim_accuracy=accuracy) for accuracy in (1e-4, 1e-7)]
    >>> c = concord.compare(*runs, variables="left.*", tolerance=1e-3)
    >>> c.within, c["left.x"]["relative_l2"] < 1e-3
    (True, True)
    """
    with files_of_sources([a, b]) as files:
        words = ["compare", *files, "--json"]
        names = texts_of(variables)
        words += ["--variables", ",".join(names)] if names else []
        words += [] if tolerance is None else ["--tolerance", text_of("tolerance", tolerance)]
        ended = call(words, 1)
    if ended.error or ended.code not in (0, 1):
        ended.refuse()
    return Comparison(json.loads(ended.output))
