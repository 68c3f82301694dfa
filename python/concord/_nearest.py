"""What a name that is not there was meant to be."""
import difflib
from typing import Iterable, Optional

from ._errors import UnknownVariable


def nearest(name: object, names: Iterable[str]) -> Optional[str]:
    """The name most like it, or None."""
    found = difflib.get_close_matches(str(name), list(names), n=1)
    return found[0] if found else None


def unknown_variable(problem: str, name: object, names: Iterable[str]) -> UnknownVariable:
    """The error that says so, and what was meant."""
    hint = nearest(name, names)
    return UnknownVariable(problem + (f"; did you mean '{hint}'?" if hint else ""))
