"""Models of equations as data: the text of the model file, and the same equations in numpy.

Expressions are in Concord's language as far as Python shares it (`^` is turned into `**`); they are
evaluated for many points at once, complex ones too, which gives derivatives to the last digit.
"""
import re
from dataclasses import dataclass, field

import numpy as np

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)?")
_FUNCTIONS = {name: f"np.{name}" for name in ("sin", "cos", "tan", "exp", "sqrt", "log", "tanh")}


@dataclass
class Subsystem:
    name: str
    states: dict = field(default_factory=dict)
    derivatives: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    inputs: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)
    nominal: dict = field(default_factory=dict)

    def yaml(self):
        lines = [f"  {self.name}:", "    equations:"]
        for key in ("parameters", "inputs", "states", "nominal"):
            values = getattr(self, key)
            if values:
                items = ", ".join(f"{name}: {value!r}" for name, value in values.items())
                lines.append(f"      {key}: {{{items}}}")
        for key in ("derivatives", "outputs"):
            if getattr(self, key):
                lines.append(f"      {key}:")
                lines += [f'        {n}: "{text}"' for n, text in getattr(self, key).items()]
        return "\n".join(lines) + "\n"


@dataclass
class Constraint:
    unknown: str
    equation: str
    feeds: dict
    start: float = 0.0


@dataclass
class Model:
    subsystems: list
    connections: list = field(default_factory=list)  # ("a.y", "b.u")
    constraints: list = field(default_factory=list)
    start: float = 0.0
    stop: float = 1.0
    events: list = field(default_factory=list)

    def yaml(self):
        text = "name: generated\n" + f"experiment: {{start: {self.start!r}, stop: {self.stop!r}}}\n"
        if self.events:
            text += f"events: {self.events!r}\n"
        text += "subsystems:\n" + "".join(s.yaml() for s in self.subsystems)
        if self.connections:
            text += "connections:\n" + "".join(f"  - {a} -> {b}\n" for a, b in self.connections)
        if self.constraints:
            text += "constraints:\n"
        for c in self.constraints:
            feeds = ", ".join(f"{name}: {factor!r}" for name, factor in c.feeds.items())
            text += (f"  - unknown: {c.unknown}\n    start: {c.start!r}\n"
                     f'    equation: "{c.equation}"\n    feeds: {{{feeds}}}\n')
        return text

    def output_names(self):
        return [f"{s.name}.{o}" for s in self.subsystems for o in s.outputs]


def _code(name):
    return name.replace(".", "__")


class Equations:
    """x' = f(t, x, z), 0 = r(t, x, z), y = g(t, x, z); z: connected inputs, then unknowns of
    constraints. Arrays have one column per point."""

    def __init__(self, model):
        self.model = model
        self.states = [f"{s.name}.{x}" for s in model.subsystems for x in s.states]
        self.start = np.array([float(v) for s in model.subsystems for v in s.states.values()])
        self.unknowns = [b for _, b in model.connections] + [c.unknown for c in model.constraints]
        starts = {f"{s.name}.{u}": v for s in model.subsystems for u, v in s.inputs.items()}
        self.guess = np.array([float(starts[b]) for _, b in model.connections] +
                              [c.start for c in model.constraints])
        namespace = {"np": np}
        exec(self._source(), namespace)  # pylint: disable=exec-used
        self._values = namespace["values"]

    def _expression(self, text, subsystem=None):
        """Python text; names of a subsystem's own variables get its prefix."""
        own = set()
        if subsystem:
            own = {*subsystem.parameters, *subsystem.inputs, *subsystem.states}

        def replaced(match):
            name = match.group()
            if name in own:
                return _code(f"{subsystem.name}.{name}")
            if name in _FUNCTIONS:
                return _FUNCTIONS[name]
            return _code(name)

        return _NAME.sub(replaced, str(text)).replace("^", "**")

    def _ordered_outputs(self):
        return [(s, name, text) for s in self.model.subsystems for name, text in s.outputs.items()]

    def _source(self):
        model, lines = self.model, ["def values(t, x, z):"]
        lines += [f"  {_code(n)} = x[{i}]" for i, n in enumerate(self.states)]
        lines += [f"  {_code(n)} = z[{i}]" for i, n in enumerate(self.unknowns)]
        fed = {name for c in model.constraints for name in c.feeds}
        for c in model.constraints:
            lines += [f"  {_code(name)} = ({factor!r})*{_code(c.unknown)}"
                      for name, factor in c.feeds.items()]
        for s in model.subsystems:
            lines += [f"  {_code(f'{s.name}.{p}')} = {self._expression(v)}"
                      for p, v in s.parameters.items()]
            lines += [f"  {_code(f'{s.name}.{u}')} = {v!r}" for u, v in s.inputs.items()
                      if f"{s.name}.{u}" not in self.unknowns and f"{s.name}.{u}" not in fed]
        outputs = self._ordered_outputs()
        lines += [f"  y{i} = {self._expression(text, s)}"
                  for i, (s, _, text) in enumerate(outputs)]
        index = {f"{s.name}.{name}": i for i, (s, name, _) in enumerate(outputs)}
        slopes = [self._expression(s.derivatives[x], s) for s in model.subsystems for x in s.states]
        rests = [f"{_code(b)} - y{index[a]}" for a, b in model.connections]
        rests += [re.sub(_NAME, lambda m: f"y{index[m.group()]}" if m.group() in index
                         else _FUNCTIONS.get(m.group(), m.group()), c.equation).replace("^", "**")
                  for c in model.constraints]
        lines.append(f"  return ([{', '.join(slopes)}], [{', '.join(rests)}], "
                     f"[{', '.join(f'y{i}' for i in range(len(outputs)))}])")
        return "\n".join(lines)

    def at(self, t, x, z):
        """f, r, g as arrays with a column per point of t (m), x (n_st, m), z (n_z, m)."""
        found = []
        for rows in self._values(t, x, z):
            found.append(np.empty((len(rows), len(t)), np.result_type(x, z, float)))
            for values, row in zip(found[-1], rows):
                values[:] = row
        return found

    def jacobians(self, t, x, z):
        """d(f, r)/d(x, z) at every point: (m, n_st + n_z, n_st + n_z), by complex steps."""
        (n, m), total = x.shape, len(x) + len(z)
        step = 1e-40
        points = np.repeat(np.concatenate([x, z]).astype(complex), total, axis=1)
        points.reshape(total, m, total)[range(total), :, range(total)] += 1j * step
        with np.errstate(all="ignore"):
            f, r, _ = self.at(np.repeat(t, total), points[:n], points[n:])
        rows = np.concatenate([f, r]).imag / step
        return rows.reshape(total, m, total).transpose(1, 0, 2)


# A system within which are relations, discrete variables, states that are set, ticks; '# RUN': its `run:`, if any.
HYBRID_SYSTEM = """
name: events within
experiment: {stop: 4}
subsystems:
  house:
    system:
      subsystems:
        room: {equations: {inputs: {heat: 1, wall: 10}, states: {T: 18}, derivatives: {T: 2*(wall - T) + 20*heat}, outputs: {T: T}}}
        relay: {equations: {inputs: {T: 18}, discrete: {heat: 1}, outputs: {heat: heat},
                            when: [{condition: T > 20, set: {heat: 0}}, {condition: T < 18.5, set: {heat: 1}}]}}
        clock: {equations: {inputs: {T: 18}, discrete: {mean: 18}, outputs: {mean: mean},
                            when: [{every: 0.4, offset: 0.1, set: {mean: 0.5*pre(mean) + 0.5*T}}]}}
        ball: {equations: {inputs: {T: 18}, states: {h: 1, v: 0}, derivatives: {h: v, v: -9.81 + 0.05*(T - 18)}, outputs: {h: h},
                           when: [{condition: h < 0, set: {v: -0.9*v}}]}}
      connections: [room.T -> relay.T, relay.heat -> room.heat, room.T -> clock.T, room.T -> ball.T]
      inputs: {wall: room.wall}
      outputs: {T: room.T, mean: clock.mean}
    # RUN
  wall: {equations: {inputs: {T: 18, mean: 18}, states: {w: 10}, derivatives: {w: 0.5*(T - w) + 0.1*(mean - 18) - 2*(w - 5)}, outputs: {w: w}}}
connections: [house.T -> wall.T, house.mean -> wall.mean, wall.w -> house.wall]
"""
