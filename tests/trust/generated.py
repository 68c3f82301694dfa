"""Random small models of all kinds, as data: what stands in the model file. Expressions are texts, in which names
can be exchanged (`renamed`), so that a model can be written in another way.
"""
import copy
import re
from dataclasses import dataclass, field

import numpy as np

NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
SECTIONS = ("parameters", "inputs", "states", "discrete")


def number(value):
    """As an engineer writes it, or all digits where these are needed."""
    return f"{value:.4g}" if float(f"{value:.4g}") == value else repr(float(value))


def renamed(text, names):
    """An expression with other names or expressions in their place."""
    return NAME.sub(lambda match: names.get(match.group(), match.group()), str(text))


def names_in(text):
    return set(NAME.findall(str(text)))


@dataclass
class Part:
    """A subsystem of equations. `when`: dicts of condition or every and offset, and set."""
    inputs: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)
    discrete: dict = field(default_factory=dict)
    derivatives: dict = field(default_factory=dict)
    when: list = field(default_factory=list)
    outputs: dict = field(default_factory=dict)
    kind: str = ""
    fmu: str = ""     # a file in its place
    system: object = None  # a Model within, whose `inputs` and `outputs` lead in and out

    def expressions(self):
        return [*self.derivatives.values(), *self.outputs.values(),
                *(text for w in self.when for text in (w.get("condition", ""), *w["set"].values()))]

    def replaced(self, change):
        """With every expression changed."""
        other = copy.deepcopy(self)
        other.derivatives = {x: change(e) for x, e in self.derivatives.items()}
        other.outputs = {y: change(e) for y, e in self.outputs.items()}
        for w in other.when:
            if "condition" in w:
                w["condition"] = change(w["condition"])
            w["set"] = {x: change(e) for x, e in w["set"].items()}
        return other

    def yaml(self):
        if self.fmu:
            return f"{{fmu: {self.fmu}}}"
        if self.system:
            return self.system.within()
        entries = []
        for key in ("inputs", "states", "discrete", "derivatives", "outputs"):
            values = getattr(self, key)
            if values:
                entries.append(f"{key}: {{{', '.join(f'{n}: {_quoted(v)}' for n, v in values.items())}}}")
        if self.when:
            entries.append(f"when: [{', '.join(_clause(w) for w in self.when)}]")
        return "{equations: {" + ", ".join(entries) + "}}"


def _quoted(value):
    text = number(value) if isinstance(value, (int, float)) else str(value)
    return text if re.fullmatch(r"[\w.+-]+", text) else f'"{text}"'


def _clause(w):
    sets = ", ".join(f"{x}: {_quoted(e)}" for x, e in w["set"].items())
    first = (f"condition: {_quoted(w['condition'])}" if "condition" in w
             else f"every: {number(w['every'])}, offset: {number(w['offset'])}")
    return f"{{{first}, set: {{{sets}}}}}"


@dataclass
class Link:
    source: tuple  # subsystem, output
    target: tuple
    delay: float = 0.0
    hold: bool = False

    def yaml(self):
        ends = f"{'.'.join(self.source)} -> {'.'.join(self.target)}"
        if not self.delay and not self.hold:
            return f'"{ends}"'
        return (f'{{connect: "{ends}"' + (f", delay: {number(self.delay)}" if self.delay else "")
                + (", hold: zoh" if self.hold else "") + "}")


@dataclass
class Model:
    parts: dict
    links: list
    start: float = 0.0
    stop: float = 1.0
    constraints: list = field(default_factory=list)  # unknown, equation, feeds
    inputs: dict = field(default_factory=dict)       # of a system: name -> (part, input)
    outputs: dict = field(default_factory=dict)
    own_pace: bool = False                           # of a system

    def yaml(self):
        lines = [f"experiment: {{start: {number(self.start)}, stop: {number(self.stop)}}}", "subsystems:"]
        lines += [f"  {name}: {part.yaml()}" for name, part in self.parts.items()]
        if self.links:
            lines += ["connections:", *(f"  - {link.yaml()}" for link in self.links)]
        if self.constraints:
            lines.append("constraints:")
        for unknown, equation, feeds in self.constraints:
            factors = ", ".join(f"{name}: {number(factor)}" for name, factor in feeds.items())
            lines.append(f'  - {{unknown: {unknown}, equation: "{equation}", feeds: {{{factors}}}}}')
        return "\n".join(lines) + "\n"

    def within(self):
        lead = [f"{key}: {{{', '.join(f'{n}: {a}.{b}' for n, (a, b) in ends.items())}}}"
                for key, ends in (("inputs", self.inputs), ("outputs", self.outputs)) if ends]
        return ("{system: {subsystems: {" + ", ".join(f"{n}: {p.yaml()}" for n, p in self.parts.items())
                + "}, connections: [" + ", ".join(link.yaml() for link in self.links) + "], "
                + ", ".join(lead) + "}" + (", run: {}" if self.own_pace else "") + "}")

    def feeding(self, name):
        """The link to each connected input of a subsystem."""
        return {link.target[1]: link for link in self.links if link.target[0] == name}

    def constrained(self):
        return {end.split(".")[0] for _, equation, feeds in self.constraints
                for end in [*feeds, *re.findall(r"\w+\.\w+", equation)]}


KINDS = {"lag": 4, "oscillator": 4, "nonlinear": 2, "stiff": 2, "direct": 2, "thermostat": 2, "relay": 1.5,
         "ball": 1, "sampler": 2, "counter": 1, "kinked": 1.5, "clocked": 1, "integrator": 1, "reset": 1}


# What is held by a connection passes a threshold at communication points only, wherever they are.
CONDITIONAL = ("relay", "counter", "reset", "kinked", "sampler")


class Maker:
    """Signals are of the order of one, and what comes in is bounded where a loop could amplify it."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([20261127, seed])

    def _uniform(self, low, high):
        return float(f"{self.rng.uniform(low, high):.3g}")

    def _signed(self, low, high):
        return self._uniform(low, high) * float(self.rng.choice([-1, 1]))

    def _chance(self, share):
        return self.rng.random() < share

    def _bounded(self, u, gain=0.7):
        form = str(self.rng.choice(["{g}*u", "{g}*u", "{g}*sin(u)", "{g}*tanh(u)", "{g}*u/(1 + u^2)"]))
        return renamed(form.replace("{g}", f"({number(self._signed(0.2, gain))})"), {"u": u})

    def _fed(self, part, count=1):
        """What `count` inputs do, as a sum."""
        for k in range(count):
            part.inputs[f"u{k}"] = 0.0
        return " + ".join(self._bounded(f"u{k}", 0.7 / count) for k in range(count))

    # ---- kinds ----

    def _lag(self):
        part, rate = Part(), self._uniform(0.4, 5)
        fed = self._fed(part, int(self.rng.integers(1, 3)))
        wave = f" + {number(self._uniform(0.2, 1))}*sin({number(self._uniform(0.5, 6))}*t)" if self._chance(.4) else ""
        part.states = {"x": 0.0 if self._chance(0.3) else self._signed(0.2, 1.5)}
        part.derivatives = {"x": f"{number(rate)}*({fed}{wave} - x)"}
        part.outputs = {"y": "x"}
        if self._chance(0.3):
            part.outputs["z"] = f"x + {self._bounded('x', 0.3)}"
        return part

    def _oscillator(self):
        part, w = Part(), self._uniform(0.7, 8)
        fed = self._fed(part)
        part.states = {"x": self._signed(0.2, 1), "v": 0.0}
        shape = "sin(x)" if self._chance(0.3) else "x"
        part.derivatives = {"x": "v", "v": f"-{number(w * w)}*{shape} - {number(self._uniform(0.05, 0.6))}*v + "
                                           f"{number(w)}*({fed})"}
        part.outputs = {"y": "x"} if self._chance(0.6) else {"y": "x", "z": f"v/{number(w)}"}
        return part

    def _nonlinear(self):
        part = Part()
        if self._chance(0.5):
            part.states = {"x": self._signed(0.3, 2), "v": 0.0}
            fed = self._fed(part)
            part.derivatives = {"x": "v", "v": f"{number(self._uniform(0.3, 4))}*(1 - x^2)*v - x + {fed}"}
            part.outputs = {"y": "x/2"}
        else:
            part.states = {"p": self._uniform(0.5, 1.5), "q": self._uniform(0.5, 1.5)}
            fed = self._fed(part)
            part.derivatives = {"p": f"p*(1 - q) + 0.05*sin({fed})", "q": "q*(p - 1)"}
            part.outputs = {"y": "p/2", "z": "q/2"}
        return part

    def _stiff(self):
        part, rate = Part(), number(float(f"{10**self.rng.uniform(1.5, 5):.3g}"))
        fed = self._fed(part)
        start = self._signed(0.2, 1)
        part.states = {"s": start, "x": start if self._chance(0.5) else 0.0}
        part.derivatives = {"s": f"-{number(self._uniform(0.3, 2))}*s + {fed}", "x": f"{rate}*(s - x - 0.2*x^3)"}
        part.outputs = {"y": "x"}
        return part

    def _direct(self):
        part = Part()
        fed = self._fed(part, int(self.rng.integers(1, 3)))
        part.outputs = {"y": f"{fed} + {number(self._uniform(0.2, 0.8))}*sin({number(self._uniform(0.5, 5))}*t)"}
        return part

    def _thermostat(self):
        part = Part()
        fed = self._fed(part)
        part.states, part.discrete = {"x": self._uniform(0.3, 0.7)}, {"h": 1}
        high, low = self._uniform(0.75, 0.9), self._uniform(0.1, 0.3)
        part.derivatives = {"x": f"{number(self._uniform(0.5, 3))}*(1.6*h - 0.3 - x) + 0.3*({fed})"}
        part.when = [{"condition": f"x > {number(high)}", "set": {"h": "0"}},
                     {"condition": f"x < {number(low)}", "set": {"h": "1"}}]
        part.outputs = {"y": "x"} if self._chance(0.5) else {"y": "x", "z": "h"}
        return part

    def _relay(self):
        part = Part()
        part.inputs = {"u0": 0.0}
        level = self._uniform(-0.3, 0.4)
        part.discrete = {"h": 0}
        part.when = [{"condition": f"u0 > {number(level)}", "set": {"h": "1"}},
                     {"condition": f"u0 < {number(level - self._uniform(0.1, 0.3))}", "set": {"h": "0"}}]
        part.outputs = {"y": f"{number(self._signed(0.2, 0.6))}*h"}
        return part

    def _ball(self):
        part = Part()
        fed = self._fed(part)
        part.states = {"h": self._uniform(0.5, 1.2), "v": 0.0}
        part.derivatives = {"h": "v", "v": f"-2 - 0.1*v + 0.3*sin({fed})"}
        part.when = [{"condition": "h < 0", "set": {"v": f"-{number(self._uniform(0.85, 0.95))}*v + 0.3"}}]
        part.outputs = {"y": "h"} if self._chance(0.5) else {"y": "h", "z": "v/2"}
        return part

    def _sampler(self):
        part = Part(inputs={"u0": 0.0}, discrete={"m": 0})
        every = self._uniform(0.1, 1)
        part.when = [{"every": every, "offset": 0.0 if self._chance(0.3) else self._uniform(0, every),
                      "set": {"m": f"{number(self._uniform(0, 0.6))}*pre(m) + {self._bounded('u0')}"}}]
        part.outputs = {"y": "m"}
        return part

    def _counter(self):
        """How often what comes in has passed a level, modulo three."""
        part = Part(inputs={"u0": 0.0}, discrete={"n": 0})
        part.when = [{"condition": f"u0 > {number(self._uniform(-0.2, 0.3))}", "set": {"n": "n > 1.5 ? 0 : n + 1"}}]
        part.outputs = {"y": "n/4"}
        return part

    def _kinked(self):
        part = Part()
        part.inputs = {"u0": 0.0}
        form = str(self.rng.choice(["abs(u0)", "max(u0, 0.1)", "min(0.5, max(-0.5, u0))", "(u0 > 0 ? u0 : -0.3*u0)",
                                    "floor(3*u0)/4"]))
        part.states = {"x": self._signed(0.2, 1)}
        part.derivatives = {"x": f"{number(self._uniform(0.5, 4))}*({form} - x)"}
        part.outputs = {"y": "x"} if self._chance(0.6) else {"y": "x", "z": f"0.6*{form}"}
        return part

    def _clocked(self):
        """What jumps and bends at times."""
        part, w = Part(), self._uniform(0.6, 3)
        form = str(self.rng.choice([f"(t > {number(self._uniform(0.5, 3))} ? 0.7 : 0)", f"abs(sin({number(w)}*t))",
                                    f"mod({number(w)}*t, 1)", f"0.3*floor({number(w)}*t)/(1 + t)",
                                    f"(mod({number(w)}*t, 1) < 0.3 ? 1 : 0)"]))
        part.outputs = {"y": form}
        return part

    def _integrator(self):
        part = Part()
        fed = self._fed(part)
        part.states = {"s": 0.0}
        part.derivatives = {"s": f"{fed} - 0.1*s"}
        part.outputs = {"y": "0.5*tanh(s)"}
        return part

    def _reset(self):
        """A state that begins anew: by what comes in, by itself, or by the clock."""
        part = Part()
        fed = self._fed(part)
        part.states = {"x": 0.0}
        part.derivatives = {"x": f"0.7 + 0.3*tanh({fed})"}
        part.when = [[{"condition": "x > 1", "set": {"x": "x - 1.2"}}],
                     [{"condition": "u0 > 0.1", "set": {"x": "-0.2*x"}}],
                     [{"every": self._uniform(0.3, 1), "offset": self._uniform(0, 0.3), "set": {"x": "0.2*x"}}]][
                         int(self.rng.integers(3))]
        part.outputs = {"y": "x"}
        return part

    # ---- the whole ----

    def _constrained(self, parts, constraints):
        """Two, held together by a force between them."""
        for name, sign in (("ca", 1), ("cb", -1)):
            part = Part(inputs={"l": 0.0, "u0": 0.0}, states={"x": 0.4}, outputs={"p": "x"}, kind="constrained")
            part.derivatives = {"x": f"-{number(self._uniform(0.5, 4))}*x + {self._bounded('u0')} + "
                                     f"({number(sign * self._uniform(0.5, 2))})*l"}
            parts[name] = part
        constraints.append(("force", "ca.p - cb.p", {"ca.l": 1.0, "cb.l": 1.0}))

    def model(self):
        weights = np.array(list(KINDS.values()))
        kinds = [str(k) for k in self.rng.choice(list(KINDS), int(self.rng.integers(2, 6)),
                                                 p=weights / weights.sum())]
        parts, links, constraints = {}, [], []
        for k, kind in enumerate(kinds):
            parts[f"s{k}"] = getattr(self, f"_{kind}")()
            parts[f"s{k}"].kind = kind
        if self._chance(0.1):
            self._constrained(parts, constraints)
        for name, part in parts.items():
            others = [n for n in parts if n != name]
            for u in part.inputs:
                if u == "l":
                    continue
                source = str(self.rng.choice(others))
                link = Link((source, str(self.rng.choice(list(parts[source].outputs)))), (name, u))
                if self._chance(0.1):
                    link.delay = self._uniform(0.05, 0.6)
                elif self._chance(0.03) and part.kind not in CONDITIONAL:
                    link.hold = True
                links.append(link)
        model = Model(parts, links, 0.0, self._uniform(3, 12), constraints)
        return model


def made(seed):
    return Maker(seed).model()
