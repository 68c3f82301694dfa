"""Models that are described in Python."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _concord
from ._errors import InputError
from ._nearest import nearest

#: Start values by name, or names alone.
Variables = Union[Mapping[str, Optional[float]], Sequence[str]]


class _Part(NamedTuple):
    """A subsystem of Python functions."""

    inputs: Dict[str, Optional[float]]
    states: Dict[str, Optional[float]]
    outputs: Dict[str, Optional[float]]
    parameters: Dict[str, float]
    units: Mapping[str, str]
    nominal: Mapping[str, float]
    feedthrough: Optional[List[Tuple[int, int]]]
    time_dependent: bool
    derivatives: Callable[..., Any]
    output_values: Callable[..., Any]

    def boundary(self, start_values: Dict[str, float]) -> Any:
        """For the library, with other parameters than the model's."""
        parameters = [(name, start_values.pop(name, value))
                      for name, value in self.parameters.items()]
        described = [[(name, self.units.get(name, ""), start, self.nominal.get(name, 0.0))
                      for name, start in variables.items()]
                     for variables in (self.inputs, self.states, self.outputs)]
        return _concord.Boundary(*described, parameters, self.feedthrough, self.time_dependent)


class ModelBuilder:
    """A model built in Python: subsystems whose right-hand sides are functions, FMUs, connections.

    Variables are "subsystem.variable". Names are checked when the model is used. The member
    functions give the builder back, so that calls can be chained.

    Parameters
    ----------
    name :
        The model's.
    start, stop :
        s

    Examples
    --------
    >>> m = concord.ModelBuilder("pendulum and drive", stop=2.0)
    >>> def swing(t, x, u, p):
    ...     return [x[1], -p["k"] * x[0] + u[0]]
    >>> _ = m.add("pendulum", swing, states={"angle": 0.1, "speed": 0}, inputs={"torque": 0},
    ...           parameters={"k": 9.81}, units={"angle": "rad"})
    >>> _ = m.add("drive", lambda t, x, u: [-x[0] - u[0]], states={"torque": 0},
    ...           inputs={"angle": 0}, outputs=["torque"])
    >>> _ = m.connect("pendulum.angle", "drive.angle").connect("drive.torque", "pendulum.torque")
    >>> r = concord.run(m, cosim_step=1e-2, start_values={"pendulum.k": 4.0})
    >>> r.status
    'completed'
    """

    def __init__(self, name: str, *, stop: float, start: float = 0.0) -> None:
        self._arguments = (name, float(start), float(stop))
        self._parts: Dict[str, _Part] = {}
        self._calls: List[Callable[[Any], None]] = []
        self._start_values: Dict[str, float] = {}

    def add(self, name: str, derivatives: Optional[Callable[..., Any]] = None, *,
            states: Optional[Variables] = None, inputs: Optional[Variables] = None,
            outputs: Optional[Sequence[str]] = None,
            output_values: Optional[Callable[..., Any]] = None,
            parameters: Optional[Mapping[str, float]] = None,
            units: Optional[Mapping[str, str]] = None,
            nominal: Optional[Mapping[str, float]] = None,
            feedthrough: Optional[Sequence[Tuple[str, str]]] = None,
            time_dependent: bool = True) -> ModelBuilder:
        """Adds a subsystem x' = f(t, x, u), y = g(t, x, u) that Concord integrates.

        Parameters
        ----------
        derivatives :
            f(t, x, u) gives n_states numbers: t in s, x and u arrays in the order of `states` and
            `inputs`. May be left out without states. With `parameters`, f(t, x, u, p), with
            p["name"]. A function may be called at any t, in any order, and on any rank; what it
            gives depends on its arguments only. An ArithmeticError in it asks for a smaller step;
            any other exception ends the run with a SimulationError.
        states, inputs :
            Start values by name. An input whose start value is None must be connected.
        outputs :
            Names. Default: the states.
        output_values :
            g, likewise. May be left out where all outputs are states.
        parameters :
            Values by name; may be changed by `start_values` and between macro-steps.
        units, nominal :
            By name, of states, inputs and outputs; nominal: usual magnitudes.
        feedthrough :
            (output, input) where an output depends directly on an input. Default: all do, or none
            where `output_values` is left out.
        time_dependent :
            Whether f or g depend on t explicitly. False saves evaluations.
        """
        self._refuse_twice(name)
        known_states = _start_values(name, "states", states)
        known_inputs = _start_values(name, "inputs", inputs)
        names = list(known_states) if outputs is None else list(outputs)
        f, g = _functions(name, derivatives, output_values, list(known_states), names)
        if feedthrough is None and output_values is None:
            feedthrough = []
        self._parts[name] = _Part(
            known_inputs, {state: start or 0.0 for state, start in known_states.items()},
            dict.fromkeys(names), {key: float(value) for key, value in (parameters or {}).items()},
            dict(units or {}), dict(nominal or {}),
            _places(name, feedthrough, names, list(known_inputs)), bool(time_dependent), f, g)
        _refuse_unknown(name, {*known_states, *known_inputs, *names}, units, nominal)
        return self

    def add_fmu(self, name: str, path: Union[str, os.PathLike]) -> ModelBuilder:
        """Adds an FMU. Its start values and parameters: `start_value`."""
        self._refuse_twice(name)
        return self._later(lambda builder: builder.add_fmu(name, os.fspath(path)))

    def start_value(self, variable: str, value: float) -> ModelBuilder:
        """Of an input, a state, a parameter, or, of an FMU, any variable that may be set."""
        self._start_values[variable] = float(value)
        return self

    def connect(self, output: str, input: str, factor: float = 1.0,
                delay: float = 0.0) -> ModelBuilder:
        """input = factor * output, converted into the input's unit, of `delay` seconds before.
        "a.*" to "b.*": each output of a whose name an input of b has."""
        return self._later(lambda builder: builder.connect(output, input, float(factor),
                                                           float(delay)))

    def constrain(self, unknown: str, equation: str, feeds: Mapping[str, float],
                  start: float = 0.0) -> ModelBuilder:
        """One more unknown, such that 0 = `equation`, an expression in outputs
        ("left.x - right.x"). `feeds`: inputs, each with its factor on the unknown; `start`: a first guess."""
        pairs = [(name, float(factor)) for name, factor in feeds.items()]
        return self._later(lambda builder: builder.constrain(unknown, equation, pairs,
                                                             float(start)))

    def initial(self, equation: str, free: Sequence[str] = ()) -> ModelBuilder:
        """An equation "A = B" that holds at the start beside start values, in states, der(state),
        outputs, inputs and t. `free`: states, and inputs that nothing feeds, that are found by it;
        without it the state that stands on its left, alone or as der(state)."""
        return self._later(lambda builder: builder.initial(equation, list(free)))

    def event(self, time: float) -> ModelBuilder:
        """Something jumps at this time, s: nothing is interpolated across."""
        return self._later(lambda builder: builder.event(float(time)))

    def group(self, subsystems: Sequence[str]) -> ModelBuilder:
        """For -cosim_schedule sequential and hierarchical: these run one after the other, groups
        beside each other."""
        return self._later(lambda builder: builder.group(list(subsystems)))

    def built(self, start_values: Optional[Mapping[str, float]] = None) -> Any:
        """For the library."""
        builder = _concord.ModelBuilder(*self._arguments)
        values = {**self._start_values, **(start_values or {})}
        for name, part in self._parts.items():
            own = {key.split(".", 1)[1]: float(value) for key, value in values.items()
                   if key.startswith(name + ".")}
            boundary = part.boundary(own)
            values = {key: value for key, value in values.items()
                      if not key.startswith(name + ".") or key.split(".", 1)[1] in own}
            builder.add(name, boundary, part.derivatives, part.output_values)
        for call in self._calls:
            call(builder)
        for name, value in values.items():
            builder.start_value(name, float(value))
        return builder

    def _later(self, call: Callable[[Any], None]) -> ModelBuilder:
        self._calls.append(call)
        return self

    def _refuse_twice(self, name: str) -> None:
        if name in self._parts:
            raise InputError(f"there is a subsystem '{name}' already")


def _start_values(subsystem: str, what: str,
                  given: Optional[Variables]) -> Dict[str, Optional[float]]:
    if isinstance(given, str):
        raise InputError(f"subsystem '{subsystem}': {what} must be start values by name, "
                         f"{{{given!r}: 0}}")
    if isinstance(given, Mapping):
        return {name: None if start is None else float(start) for name, start in given.items()}
    return dict.fromkeys(given or ())


def _functions(subsystem: str, derivatives, output_values, states: List[str], outputs: List[str]):
    """f and g, those that were left out replaced."""
    if derivatives is None:
        if states:
            raise InputError(f"subsystem '{subsystem}' has states, and so needs derivatives: a "
                             "function of (t, x, u)")
        derivatives = _nothing
    if output_values is None:
        for name in outputs:
            if name not in states:
                raise InputError(f"subsystem '{subsystem}': the output '{name}' is not a state; "
                                 "give output_values, a function of (t, x, u)")
        places = [states.index(name) for name in outputs]
        output_values = lambda t, x, u, p=None: x[places]  # noqa: E731
    for what, function in (("derivatives", derivatives), ("output_values", output_values)):
        if not callable(function):
            raise InputError(f"subsystem '{subsystem}': {what} must be a function of (t, x, u), "
                             f"not {function!r}")
    return derivatives, output_values


def _nothing(t: float, x: Any, u: Any, p: Any = None) -> Tuple[()]:
    return ()


def _places(subsystem: str, feedthrough: Optional[Sequence[Tuple[str, str]]], outputs: List[str],
            inputs: List[str]) -> Optional[List[Tuple[int, int]]]:
    if feedthrough is None:
        return None
    for output, source in feedthrough:
        for name, names, kind in ((output, outputs, "output"), (source, inputs, "input")):
            if name not in names:
                raise InputError(f"subsystem '{subsystem}', feedthrough: there is no {kind} "
                                 f"'{name}'")
    return [(outputs.index(output), inputs.index(source)) for output, source in feedthrough]


def _refuse_unknown(subsystem: str, known, *given: Optional[Mapping[str, Any]]) -> None:
    for values in given:
        for name in values or ():
            if name not in known:
                hint = nearest(name, known)
                raise InputError(f"subsystem '{subsystem}' has no variable '{name}'" +
                                 (f"; did you mean '{hint}'?" if hint else ""))
