"""Keyword arguments as options of the program."""
from __future__ import annotations

import numbers
import os
import re
from typing import Any, Dict, List, Mapping, Optional

from ._errors import InputError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\[[0-9,]+\][A-Za-z0-9_]*)?\Z")


def text_of(name: str, value: Any) -> str:
    """As the command line has it: `true`, `1e-05`, `1,2,3`, a path."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return _plain(name, os.fspath(value))
    if hasattr(value, "__iter__") and not isinstance(value, (bytes, Mapping)):
        return ",".join(text_of(name, item) for item in value)
    raise InputError(f"option {name}: found {value!r}, but the value must be True, False, a "
                     "number, a text or a list of these")


def _plain(name: str, text: Any) -> str:
    if not isinstance(text, str) or "\0" in text or re.match("--?[A-Za-z]", text):
        if text not in ("-inf", "-nan"):
            raise InputError(f"option {name}: {text!r} cannot be the value of an option")
    return text


def texts_of(options: Mapping[str, Any]) -> Dict[str, str]:
    """Names without dash, values as text; what is None was not given."""
    for name in options:
        if not _NAME.match(name):
            raise InputError(f"{name!r} is not an option's name")
    return {name: text_of(name, value) for name, value in options.items() if value is not None}


def words_of(options: Mapping[str, str]) -> List[str]:
    """As they stand on a command line."""
    return [word for name, text in options.items() for word in (f"-{name}", text)]


def path_of(model: Any) -> str:
    """Of a model file; never taken for an option."""
    if not isinstance(model, (str, os.PathLike)):
        raise InputError(f"found {model!r} where a model belongs: the path of a file (.yaml, .ssp, "
                         ".ssd, .fmu), or a concord.ModelBuilder")
    path = os.fspath(model)
    if not isinstance(path, str) or "\0" in path:
        raise InputError(f"{path!r} is not a path")
    return os.path.join(".", path) if path.startswith("-") else path


def changes_of(start_values: Optional[Mapping[str, Any]]) -> List[str]:
    """Parameters and start values: "ball.e=0.9"."""
    changes = []
    for name, value in (start_values or {}).items():
        if not isinstance(name, str) or "=" in name:
            raise InputError(f"start_values: {name!r} is not a name; write 'subsystem.variable'")
        changes.append(f"{name}={text_of(f'start value {name}', value)}")
    return changes
