"""A class in Python as a subsystem of a run in another process (`remote:` of a model).

Needs msgpack (Debian: python3-msgpack).
"""
from __future__ import annotations

import sys
import traceback
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ._concord import ServingLink
from ._errors import InputError
from ._subsystem import Instance, WrongClass, parameters_of

_PROTOCOL = 1
_MOST_SESSIONS = 64  # of which those that have ended without a word are forgotten
_TRIAL_SHARE = 1e-3  # of a macro-step, in which slopes are tried


def serve(subsystem: type, address: str, *, connect: bool = False) -> None:
    """Is a subsystem `remote:` of models, for one run after the other or several at once, until Ctrl-C.

    `subsystem` is a class with step(self, t, h, u), as `python:` takes them; each run has an object of
    its own. Listens at `address` ("tcp://127.0.0.1:5555", or "shm://bench" on this machine), for models with `connect:`; with `connect`
    it goes to models with `listen:`. Who can connect can run the class: listen at 127.0.0.1 unless the
    network is yours.

    Raises InputError where the address cannot be used, or msgpack is missing.
    """
    served = _Served(subsystem)
    link = ServingLink(address, connect)
    try:
        while True:
            question = link.next()
            if question is not None:
                link.answer(served.answer(question))
    except KeyboardInterrupt:
        pass


class _Served:
    """Answers questions as doc/remote_subsystems.md says."""

    def __init__(self, subsystem: type) -> None:
        try:
            import msgpack
        except ImportError:
            raise InputError("concord.serve needs msgpack: install python3-msgpack") from None
        self._pack, self._unpack = msgpack.packb, msgpack.unpackb
        self._subsystem = subsystem
        self._sessions: "OrderedDict[int, _Session]" = OrderedDict()

    def answer(self, message: bytes) -> bytes:
        question: Mapping[str, Any] = {}
        try:
            question = self._unpack(message)
            answer = self._answer(question)
        except ArithmeticError as error:
            answer = {"refused": f"{type(error).__name__}: {error}"}
        except WrongClass as error:
            answer = {"error": f"the class {self._subsystem.__name__} {error}"}
        except Exception as error:  # the run says it and ends, the next one may come
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}{_place_of(error)}"}
        number = question.get("n", 0) if isinstance(question, dict) else 0
        return self._pack({"n": number, **answer})

    def _answer(self, question: Mapping[str, Any]) -> Dict[str, Any]:
        ask, session = question["ask"], question["session"]
        if ask == "hello":
            self._sessions[session] = _Session(self._subsystem, question)
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
            return self._sessions[session].introduction()
        if ask == "end":
            self._sessions.pop(session, None)
            return {}
        if session not in self._sessions:
            return {"unknown": True}
        self._sessions.move_to_end(session)
        if ask not in ("start", "step", "outputs", "set"):
            raise ValueError(f"unknown question {ask!r}")
        return getattr(self._sessions[session], ask)(question)


class _Session:
    """One object of the class, and when it is."""

    def __init__(self, subsystem: type, question: Mapping[str, Any]) -> None:
        values = parameters_of(subsystem)
        for name, value in question["parameters"].items():
            if name not in values:
                raise WrongClass(f"has no parameter '{name}'; known parameters: {', '.join(values) or 'none'}")
            whole = isinstance(values[name], int) and value == int(value)
            values[name] = int(value) if whole else value
        missing = [name for name, value in values.items() if value is None]
        if missing:
            raise WrongClass(f"has no value for the parameter '{missing[0]}'; give it in the model")
        self._own = Instance(subsystem, values)
        if not self._own.steps:
            raise WrongClass("has no step(self, t, h, u)")
        names = [each.name for each in [*self._own.inputs, *self._own.outputs] if each.size]
        if names:
            raise WrongClass(f"has the vector '{names[0]}'; subsystems in other processes have numbers")
        self._inputs, self._outputs = question["inputs"], question["outputs"]
        self._saves = self._can_save()
        self._t = self._h = 0.0

    def _can_save(self) -> bool:
        try:
            self._state()
        except Exception:
            return False
        return self._own.saves

    def introduction(self) -> Dict[str, Any]:
        offers = ["polynomials"]
        if self._saves:
            offers.append("state")
        if self._saves or self._own.slopes_at is not None:
            offers.append("slopes")
        names = {"inputs": self._own.inputs, "outputs": self._own.outputs}
        return {"protocol": _PROTOCOL, "offers": offers,
                **{role: [each.name for each in variables] for role, variables in names.items()}}

    def start(self, question: Mapping[str, Any]) -> Dict[str, Any]:
        self._t, self._h = question["t"], question["h"]
        return self._result(question["u"])

    def step(self, question: Mapping[str, Any]) -> Dict[str, Any]:
        self._take_state(question)
        self._t, self._h = question["t"], question["h"]
        inputs = question["u"]
        self._step(self._h, inputs)
        self._t = question["to"]
        return self._result([_value(each, self._h) for each in inputs], question.get("slopes"))

    def outputs(self, question: Mapping[str, Any]) -> Dict[str, Any]:
        self._take_state(question)
        self._t = question["t"]
        return self._result(question["u"], question)

    def set(self, question: Mapping[str, Any]) -> Dict[str, Any]:
        self._take_state(question)
        for name, value in question["parameters"].items():
            if name not in self._own.tunable:
                raise WrongClass(f"has no parameter '{name}' that is a number")
            self._own.set(name, value)
        return self._result(None)

    def _step(self, h: float, inputs: Sequence[Any]) -> None:
        given = self._own.step(self._t, h, self._function(inputs))
        if given is not None:
            raise TypeError("step() must give nothing: outputs are what outputs_at() gives")

    def _record(self, values: Sequence[float]) -> Any:
        by_name = dict(zip(self._inputs, values))
        return self._own.Input(*(by_name[each.name] for each in self._own.inputs))

    def _function(self, inputs: Sequence[Any]) -> Callable[[float], Any]:
        begin = self._t
        return lambda t: self._record([_value(each, t - begin) for each in inputs])

    def _outputs_for(self, values: Sequence[float]) -> List[float]:
        """In the order of the class."""
        own = self._own
        if own.outputs_at is None:
            return []
        given = (own.outputs_at(self._t, self._record(values)) if own.outputs_take_inputs
                 else own.outputs_at(self._t))
        return _numbers("outputs_at", given, len(own.outputs))

    def _result(self, values: Optional[Sequence[float]], slopes: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        answer: Dict[str, Any] = {}
        if values is not None:
            y = self._outputs_for(values)
            answer["y"] = self._ordered(y)
            if slopes is not None:
                answer["dy"] = self._ordered(self._slopes(slopes["u"], slopes["du"], y))
        if self._saves:
            answer["state"] = self._state()
        return answer

    def _ordered(self, numbers: Sequence[float]) -> List[float]:
        """From the order of the class to that of the model."""
        by_name = dict(zip((each.name for each in self._own.outputs), numbers))
        return [by_name[name] for name in self._outputs]

    def _slopes(self, u: Sequence[float], du: Sequence[float], y: Sequence[float]) -> List[float]:
        if self._own.slopes_at is not None:
            given = self._own.slopes_at(self._t, self._record(u), self._record(du))
            return _numbers("slopes_at", given, len(y))
        return self._tried_slopes(u, du, y)

    def _tried_slopes(self, u: Sequence[float], du: Sequence[float], y: Sequence[float]) -> List[float]:
        """Two short steps on, and back: (-3 y0 + 4 y1 - y2) / 2d."""
        here, t, d = self._own.memory(), self._t, _TRIAL_SHARE * self._h
        tried = []
        try:
            for i in range(2):
                self._step(d, [[value + i * d * slope, slope] for value, slope in zip(u, du)])
                self._t += d
                tried.append(self._outputs_for([value + (i + 1) * d * slope for value, slope in zip(u, du)]))
        finally:
            self._own.remember(here)
            self._t = t
        return [(-3 * y0 + 4 * y1 - y2) / (2 * d) for y0, y1, y2 in zip(y, *tried)]

    def _take_state(self, question: Mapping[str, Any]) -> None:
        if "state" in question:
            memory = _unpacked(question["state"])
            restore = getattr(self._own.object, "restore", None)
            if restore:
                restore(memory)
            else:
                vars(self._own.object).clear()
                vars(self._own.object).update(memory)

    def _state(self) -> bytes:
        """Unlike pickle, what is unpacked of it runs nobody's code."""
        save = getattr(self._own.object, "save", None)
        return _packed(save() if save else vars(self._own.object))


def _value(input_: Any, tau: float) -> float:
    """Of an input that is held, or a polynomial: coefficients, the constant one first."""
    if not isinstance(input_, list):
        return input_
    result = 0.0
    for coefficient in reversed(input_):
        result = coefficient + tau * result
    return result


def _numbers(what: str, given: Any, count: int) -> List[float]:
    numbers = [float(each) for each in (given if hasattr(given, "__iter__") else [given])]
    if len(numbers) != count:
        raise ValueError(f"{what}() gave {len(numbers)} numbers, not one for each of {count} outputs")
    return numbers


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""


_TUPLE, _ARRAY = 1, 2


def _packed(value: Any) -> bytes:
    import msgpack

    def other(each: Any) -> Any:
        if isinstance(each, tuple):
            return msgpack.ExtType(_TUPLE, _packed(list(each)))
        if type(each).__module__ == "numpy" and hasattr(each, "dtype") and not each.dtype.hasobject:
            return msgpack.ExtType(_ARRAY, _packed([each.dtype.str, list(each.shape), each.tobytes()]))
        raise TypeError(f"{type(each).__name__} is no plain value")

    return msgpack.packb(value, default=other, strict_types=True)


def _unpacked(data: bytes) -> Any:
    import msgpack

    def other(code: int, inner: bytes) -> Any:
        if code == _TUPLE:
            return tuple(_unpacked(inner))
        if code == _ARRAY and "numpy" in sys.modules:
            kind, shape, content = _unpacked(inner)
            array = sys.modules["numpy"].frombuffer(content, dtype=kind).reshape(shape)
            return array.copy() if shape else array[()]
        return msgpack.ExtType(code, inner)

    return msgpack.unpackb(data, ext_hook=other, strict_map_key=False)
