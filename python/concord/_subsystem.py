"""Classes that models name in `python:`, as the library takes them.

The interpreter of such a subsystem need not have the package concord, nor numpy: what is here needs
Python alone.
"""
from __future__ import annotations

import difflib
import inspect
import keyword
import os
import pickle
import re
import sys
import types
from collections import namedtuple
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\[([1-9][0-9]*)\])?")


class WrongFile(Exception):
    """Of the file that a model names."""


class WrongClass(Exception):
    """Of the class in it."""


class Variable(NamedTuple):
    """A number, or a vector of them."""

    name: str
    size: int  #: 0: a number
    start: Any = None  #: a number, None, or a list of these

    def elements(self) -> List[Tuple[str, Any]]:
        """Names and start values, as the library counts them."""
        if self.size == 0:
            return [(self.name, self.start)]
        starts = self.start if isinstance(self.start, list) else [self.start] * self.size
        return [(f"{self.name}[{i + 1}]", start) for i, start in enumerate(starts)]


_files: Dict[str, Tuple[Tuple[int, int], types.ModuleType]] = {}


def class_of(path: str, name: str) -> type:
    """The class in the file, which is read again where it has changed. What the file raises passes."""
    module = _module(path)
    found = getattr(module, name, None)
    if isinstance(found, type):
        return found
    classes = [key for key, value in vars(module).items()
               if isinstance(value, type) and value.__module__ == module.__name__]
    raise WrongClass(f"there is no class '{name}' in {path}" + _meant(name, classes, "classes"))


def _module(path: str) -> types.ModuleType:
    try:
        status = os.stat(path)
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise WrongFile(f"cannot read the Python file '{path}': {error.strerror}; "
                        "its path is relative to the model file") from None
    stamp = (status.st_mtime_ns, status.st_size)
    if path in _files and _files[path][0] == stamp:
        return _files[path][1]
    module = types.ModuleType(_module_name(path))
    module.__file__ = path
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as where the file is run as a script
    sys.modules[module.__name__] = module
    exec(compile(text, path, "exec"), vars(module))
    _files[path] = stamp, module
    return module


def _module_name(path: str) -> str:
    """The same in every process, as memories name it; of two files with one name, not the same."""
    name = "concord_" + re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    while name in sys.modules and getattr(sys.modules[name], "__file__", None) != path:
        name += "_"
    return name


def parameters_of(found: type) -> Dict[str, Any]:
    """Names and values of the class's own; None where the model must give one."""
    given = getattr(found, "parameters", {})
    if not isinstance(given, Mapping):
        raise WrongClass(f"parameters must be values by name, {{\"k\": 1.0}}, not {given!r}")
    for name in given:
        _check_name("parameter", name)
        if hasattr(found, name):
            raise WrongClass(f"the parameter '{name}' would take the place of {found.__name__}.{name}; "
                             "name one of them otherwise")
    return dict(given)


class Instance:
    """An object of the class, which its parameters are attributes of, and what the library asks of
    it."""

    def __init__(self, found: type, parameters: Mapping[str, Any]) -> None:
        self.object = found.__new__(found)
        for name, value in parameters.items():
            setattr(self.object, name, value)
        self.object.__init__()
        self.steps = self._method("step", "t, h, u") is not None
        self.tunable = [name for name, value in parameters.items()
                        if isinstance(value, (int, float)) and not isinstance(value, bool)]
        self._read_variables()
        self._read_functions()
        self.units = self._by_name("units", "")
        self.nominal = self._by_name("nominal", 0.0)
        self.feedthrough = self._read_feedthrough()
        self.time_dependent = bool(getattr(self.object, "time_dependent", True))
        self.State, self.Input = _record("State", self.states), _record("Input", self.inputs)
        self.remarks: List[str] = []
        self.saves = self.steps and self._can_save()

    def _method(self, name: str, arguments: str) -> Optional[Callable[..., Any]]:
        """None where the class has none."""
        method = getattr(self.object, name, None)
        if method is None:
            return None
        try:
            inspect.signature(method).bind(*arguments.split(", "))
        except TypeError:
            raise WrongClass(f"{name}() must take (self, {arguments})") from None
        return method

    def _read_variables(self) -> None:
        self.inputs = _variables("input", getattr(self.object, "inputs", {}))
        self.states = _variables("state", getattr(self.object, "states", {}))
        given = getattr(self.object, "outputs", None)
        if given is None:
            given = [_written(state) for state in self.states]
        if isinstance(given, str):
            raise WrongClass(f"outputs must be names, (\"{given}\",), not {given!r}")
        self.outputs = _variables("output", dict.fromkeys(given))
        _refuse_twice([*self.inputs, *self.states])

    def _read_functions(self) -> None:
        self.derivatives = self._method("derivatives", "t, x, u")
        self.step = self._method("step", "t, h, u")
        self.slopes_at = self._method("slopes_at", "t, u, dudt") if self.steps else None
        self.jacobians = None if self.steps else self._method("jacobians", "t, x, u")
        if self.steps and (self.derivatives or self.states):
            raise WrongClass("has step(), and so integrates itself: derivatives() and states are for "
                             "what Concord integrates")
        if self.derivatives is None and not self.steps and (self.states or not self.outputs):
            meant = difflib.get_close_matches("derivatives", dir(type(self.object)), n=1)
            raise WrongClass("has neither derivatives(self, t, x, u) nor step(self, t, h, u)" +
                             (f"; did you mean '{meant[0]}'?" if meant else ""))
        self.outputs_at, self.outputs_take_inputs = self._outputs_at()
        self.output_places = [] if self.outputs_at else self._places_of_states()

    def _outputs_at(self) -> Tuple[Optional[Callable[..., Any]], bool]:
        """Without the argument u, outputs don't depend on inputs directly."""
        method = getattr(self.object, "outputs_at", None)
        if method is None:
            return None, False
        most = ["t", "u"] if self.steps else ["t", "x", "u"]
        for arguments in (most, most[:-1]):
            try:
                inspect.signature(method).bind(*arguments)
            except TypeError:
                continue
            return method, arguments is most
        raise WrongClass(f"outputs_at() must take (self, {', '.join(most)}), or the same without u")

    def _places_of_states(self) -> List[int]:
        states = [name for state in self.states for name, _ in state.elements()]
        for output in (name for each in self.outputs for name, _ in each.elements()):
            if output not in states:
                raise WrongClass(f"the output '{output}' is not a state, and there is no "
                                 f"outputs_at(self, {'t, u' if self.steps else 't, x, u'})")
        return [states.index(name) for each in self.outputs for name, _ in each.elements()]

    def _by_name(self, what: str, missing: Any) -> Dict[str, Any]:
        given = getattr(self.object, what, {})
        variables = [*self.inputs, *self.states, *self.outputs]
        known = {variable.name for variable in variables}
        for name in given:
            if name not in known:
                raise WrongClass(f"{what}: there is no variable '{name}'" +
                                 _meant(name, known, "names"))
        return {element: given.get(variable.name, missing)
                for variable in variables for element, _ in variable.elements()}

    def _read_feedthrough(self) -> Optional[List[Tuple[int, int]]]:
        """None: every output depends on every input."""
        if not self.outputs_take_inputs:
            return []
        given = getattr(self.object, "feedthrough", None)
        if given is None:
            return None
        outputs, inputs = _ranges(self.outputs), _ranges(self.inputs)
        pairs = []
        for output, sources in given.items():
            for source in [sources] if isinstance(sources, str) else sources:
                for name, ranges, kind in ((output, outputs, "output"), (source, inputs, "input")):
                    if name not in ranges:
                        raise WrongClass(f"feedthrough: there is no {kind} '{name}'" +
                                         _meant(name, ranges, f"{kind}s"))
                pairs += [(i, j) for i in outputs[output] for j in inputs[source]]
        return pairs

    def _can_save(self) -> bool:
        try:
            self.memory()
        except Exception as error:
            self.remarks.append(f"no rollback: what it remembers cannot be pickled ({error}); give "
                                "save() and restore(memory)")
            return False
        return True

    def memory(self) -> bytes:
        """All that the next steps depend on."""
        save = getattr(self.object, "save", None)
        return pickle.dumps(save() if save else vars(self.object), pickle.HIGHEST_PROTOCOL)

    def remember(self, memory: bytes) -> None:
        """What `memory` gave, of this object or one of another process."""
        what = pickle.loads(memory)
        restore = getattr(self.object, "restore", None)
        if restore:
            restore(what)
        else:
            vars(self.object).clear()
            vars(self.object).update(what)

    def get(self, name: str) -> float:
        return float(getattr(self.object, name))

    def set(self, name: str, value: float) -> None:
        """What `__init__` makes of parameters it makes anew, where there is nothing else to lose."""
        before = getattr(self.object, name)
        setattr(self.object, name, int(value) if isinstance(before, int) and value == int(value) else value)
        if not self.steps:
            self.object.__init__()


def _variables(what: str, given: Any) -> List[Variable]:
    if not isinstance(given, Mapping):
        raise WrongClass(f"{what}s must be start values by name, {{\"x\": 0.0}}, not {given!r}")
    result = []
    for written, start in given.items():
        name, size = _check_name(what, written)
        result.append(Variable(name, size, _start(what, written, size, start)))
    _refuse_twice(result)
    return result


def _start(what: str, name: str, size: int, given: Any) -> Any:
    try:
        if size == 0 or given is None or isinstance(given, (int, float)):
            return given if given is None else float(given)
        starts = [float(each) for each in given]
    except (TypeError, ValueError):
        raise WrongClass(f"the start value of the {what} '{name}' must be a number, not {given!r}") from None
    if len(starts) != size:
        raise WrongClass(f"the {what} '{name}' has {len(starts)} start values")
    return starts


def _check_name(what: str, written: Any) -> Tuple[str, int]:
    found = _NAME.fullmatch(written) if isinstance(written, str) else None
    if not found:
        raise WrongClass(f"the {what} {written!r} is not a name: use letters, digits and _, starting "
                         "with a letter; a vector is named with its size, \"T[10]\"")
    if keyword.iskeyword(found[1]):
        raise WrongClass(f"the {what} '{found[1]}' is a word of Python; name it otherwise")
    return found[1], int(found[2] or 0)


def _refuse_twice(variables: Iterable[Variable]) -> None:
    seen = set()
    for variable in variables:
        if variable.name in seen:
            raise WrongClass(f"there are two variables '{variable.name}'")
        seen.add(variable.name)


def _written(variable: Variable) -> str:
    return f"{variable.name}[{variable.size}]" if variable.size else variable.name


def _ranges(variables: Iterable[Variable]) -> Dict[str, range]:
    """Where the elements of each are."""
    result, first = {}, 0
    for variable in variables:
        result[variable.name] = range(first, first + max(variable.size, 1))
        first += max(variable.size, 1)
    return result


def _record(name: str, variables: Iterable[Variable]) -> type:
    return namedtuple(name, [variable.name for variable in variables])


def _meant(name: object, known: Iterable[str], what: str) -> str:
    names = sorted(known)
    found = difflib.get_close_matches(str(name), names, n=1)
    return ((f"; did you mean '{found[0]}'?" if found else "") +
            (f"; known {what}: {', '.join(names)}" if names else ""))
