"""Small coupled models by kind, each with its solution: what users' models are like where the own
estimate of a solver's error has failed. A model is made by a function of a random generator, whose
seed is its number; `cases()` gives them all.
"""
import importlib
import inspect
import re
import zlib
from dataclasses import dataclass, field

import numpy as np
from equation_models import Equations, Model
from exact import Hybrid

MODULES = ("catalogue_signals", "catalogue_smooth", "catalogue_linear", "catalogue_events",
           "catalogue_switching")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_makers = []


@dataclass
class Case:
    """The model file's text, and a function that solves it independently (`exact.py`)."""
    text: str
    solve: object
    files: dict = field(default_factory=dict)  # names and texts of what the model reads
    options: tuple = ()      # of the run, beside the accuracy
    told: bool = False       # nobody can do it: an error that says so is right
    name: str = ""
    kind: str = ""
    origin: str = ""  # changes with whatever the solution is made from


def case(kind, count=1):
    """A function of a random generator and a number that makes `count` models of a kind."""
    def registered(function):
        _makers.append((kind, count, function))
        return function
    return registered


def cases(kinds=(), names=(), seed=0):
    """All models, or those of some kinds or with one of some texts in their names."""
    for module in MODULES:
        importlib.import_module(module)
    result = []
    for kind, count, function in _makers:
        for number in range(count):
            name = function.__name__ + (f"_{number}" if count > 1 else "")
            if kinds and kind not in kinds or names and not any(n in name for n in names):
                continue
            entropy = [20261124, zlib.crc32(function.__name__.encode()), number, seed]
            made = function(np.random.default_rng(entropy), number)
            made.name, made.kind = name, kind
            source = made.text + inspect.getsource(function) + str(sorted(made.files.items()))
            made.origin = f"{zlib.crc32(source.encode()):08x}"
            result.append(made)
    return result


def uniform(rng, low, high):
    """A number of four digits, as an engineer would write it."""
    return float(f"{rng.uniform(low, high):.4g}")


def text(stop, subsystems, connections, more=""):
    """A model file; subsystems: names and what stands behind `equations:` or `table:`."""
    lines = [f"experiment: {{start: 0, stop: {stop!r}}}", "subsystems:"]
    lines += [f"  {name}: {{{body}}}" for name, body in subsystems.items()]
    if connections:
        lines.append("connections:")
        lines += [f"  - {c}" for c in connections]
    return "\n".join(lines) + "\n" + more


class _InOrder(Equations):
    """Equations whose outputs and connected inputs follow each other without a loop: one function
    of t and x computes them in this order."""

    def ordered(self):
        """(f, g), or None where there is an algebraic loop."""
        fed = {target: source for source, target in self.model.connections}
        waiting, known = {}, set()
        for s, name, expression in self._ordered_outputs():
            wanted = {f"{s.name}.{n}" for n in _NAMES.findall(str(expression))} & set(fed)
            waiting[f"{s.name}.{name}"] = (s, expression, wanted)
        lines = [f"  {_code(n)} = x[{i}]" for i, n in enumerate(self.states)]
        for s in self.model.subsystems:
            lines += [f"  {_code(f'{s.name}.{p}')} = {self._expression(v)}"
                      for p, v in s.parameters.items()]
            lines += [f"  {_code(f'{s.name}.{u}')} = {v!r}" for u, v in s.inputs.items()
                      if f"{s.name}.{u}" not in fed]
        while waiting:
            ready = [y for y, (_, _, wanted) in waiting.items() if wanted <= known]
            if not ready:
                return None
            for y in ready:
                s, expression, _ = waiting.pop(y)
                lines.append(f"  y_{_code(y)} = {self._expression(expression, s)}")
                for target in (b for b, a in fed.items() if a == y):
                    lines.append(f"  {_code(target)} = y_{_code(y)}")
                    known.add(target)
        slopes = [self._expression(s.derivatives[x], s) for s in self.model.subsystems
                  for x in s.states]
        outputs = [f"y_{_code(y)}" for y in self.model.output_names()]
        common, namespace = "\n".join(lines), {"np": np}
        for name, rows in (("f", slopes), ("g", outputs)):
            source = f"def {name}(t, x, d):\n{common}\n  return [{', '.join(rows)}]"
            exec(source, namespace)  # pylint: disable=exec-used
        return namespace["f"], namespace["g"]


def _code(name):
    return name.replace(".", "__")


def _eliminated(equations):
    """x' and y as functions of t and x, where connections close algebraic loops."""
    n = len(equations.states)

    def inputs(t, x):
        z = np.repeat(equations.guess[:, None], len(t), axis=1).astype(np.result_type(x, float))
        for _ in range(60):
            rest = equations.at(t, x, z)[1]
            jacobians = equations.jacobians(t, x, z)[:, n:, n:]
            change = np.linalg.solve(jacobians, rest.T[:, :, None])[:, :, 0].T
            z = z - change
            if np.max(np.abs(change)) <= 1e-15 * np.max(np.abs(z)):
                break
        return z
    return (lambda t, x, d: equations.at(t, x, inputs(t, x))[0],
            lambda t, x, d: equations.at(t, x, inputs(t, x))[2])


def coupled(subsystems, connections, stop, constraints=(), edit=lambda text: text, **choices):
    """A case of smooth equations, written once; `edit` changes the text in what has no part in the
    solution (holds); `choices` are those of Hybrid."""
    options = choices.pop("options", ())
    pairs = [tuple(c.split(" -> ")) for c in connections]
    model = Model(subsystems, pairs, list(constraints), 0.0, float(stop))

    def solve():
        equations = _InOrder(model)
        f, g = equations.ordered() or _eliminated(equations)
        return Hybrid(f, g, equations.start, float(stop), model.output_names(), **choices)
    return Case(edit(model.yaml()), solve, options=options)
