"""Random networks, each in units of one and in random units.

A network is made of terms: a coefficient times factors (powers, sin, exp, sqrt and fractions of
variables, sines of time). Changing units (x = s x~, time too) changes coefficients and nothing else,
as when an engineer writes the same model in pascals and cubic metres; the two texts have the same
solution up to the rounding of coefficients.
"""
from dataclasses import dataclass, field

import numpy as np
from equation_models import Constraint, Model, Subsystem

LARGEST_VALUE = 50.0


@dataclass
class Term:
    """coefficient * product of factors; a factor is (kind, numbers, variable)."""
    coefficient: float
    factors: tuple = ()

    def text(self, size, time, target):
        """Its text where the variable v is measured in units of 1/size[v], and the result in units
        of 1/target; `size` may be 1 for all."""
        coefficient, parts = self.coefficient * target, []
        for kind, numbers, variable in self.factors:
            s = size.get(variable, 1.0)
            if kind == "power":
                coefficient /= s**numbers
                parts.append(variable if numbers == 1 else f"{variable}^{numbers}")
            elif kind == "sin":
                parts.append(f"sin({numbers / s!r}*{variable})")
            elif kind == "exp":
                parts.append(f"exp(-{numbers / s**2!r}*{variable}^2)")
            elif kind == "fraction":
                parts.append(f"1/(1 + {numbers / s**2!r}*{variable}^2)")
            elif kind == "sqrt":  # sqrt(r^2 + r^2 c (v/s)^2)/r: under the root large or small
                r = s
                coefficient /= r
                parts.append(f"sqrt({r**2!r} + {numbers * r**2 / s**2!r}*{variable}^2)")
            elif kind == "time":
                parts.append(f"sin({numbers / time!r}*t)")
        return "*".join([f"({coefficient!r})", *parts])


@dataclass
class Part:
    """A subsystem: states' starts, derivatives and outputs as lists of terms."""
    name: str
    inputs: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)
    derivatives: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)

    def variables(self):
        return [*self.inputs, *self.states, *self.outputs]


@dataclass
class Units:
    """Factor of every variable, "part.variable", of unknowns and equations of constraints, of time."""
    size: dict
    time: float = 1.0

    def of(self, part):
        prefix = part.name + "."
        return {name[len(prefix):]: s for name, s in self.size.items() if name.startswith(prefix)}


class Network:
    def __init__(self, seed):
        self.seed, self.rng = seed, np.random.default_rng([20261121, seed])
        self.parts, self.connections, self.constraints = [], [], []
        self.stop = float(self.rng.choice([1.0, 2.0]))
        self.kinds = set()
        self._build()

    # ---- choices ----

    def _uniform(self, low, high):
        return round(float(self.rng.uniform(low, high)), 3)

    def _signed(self, low, high):
        return self._uniform(low, high) * float(self.rng.choice([-1, 1]))

    def _chance(self, share):
        return self.rng.random() < share

    def _build(self):
        rng = self.rng
        count = int(rng.integers(2, 7))
        self.loops = self._chance(0.5)
        for k in range(count):
            kind = rng.choice(["relaxing", "oscillating", "stiff", "direct"], p=[.4, .25, .2, .15])
            self.parts.append(getattr(self, f"_{kind}")(f"s{k}"))
        if self._chance(0.3) and count < 6:
            self.parts.append(self._idle(f"s{count}"))
            self.kinds.add("idle")
        for k, part in enumerate(self.parts):
            self._connect(k, part)
        for part in self.parts:
            self._outputs(part)
        if self._chance(0.35) and count > 1:
            self._constrain()

    def _relaxing(self, name):
        part = Part(name)
        for i in range(int(self.rng.integers(1, 3))):
            x = f"x{i}"
            part.states[x] = 0.0 if self._chance(0.3) else self._signed(0.2, 1.5)
            part.derivatives[x] = [Term(-self._uniform(0.5, 4), (("power", 1, x),)),
                                   Term(self._signed(0.2, 1), (("time", self._uniform(1, 6), ""),))]
            if i:
                part.derivatives[x].append(self._bounded(self._signed(0.2, 0.8), "x0"))
            if self._chance(0.4):
                part.derivatives[x].append(Term(-self._uniform(0.1, 0.5), (("power", 3, x),)))
        return part

    def _oscillating(self, name):
        w = self._uniform(2, 12)
        part = Part(name, states={"x0": self._signed(0.2, 1), "x1": 0.0})
        part.derivatives = {
            "x0": [Term(1.0, (("power", 1, "x1"),))],
            "x1": [Term(-w**2, (("sin", 1.0, "x0"),) if self._chance(0.4)
                        else (("power", 1, "x0"),)),
                   Term(-self._uniform(0.1, 1), (("power", 1, "x1"),))]}
        self.kinds.add("oscillating")
        return part

    def _stiff(self, name):
        rate = float(f"{10**self.rng.uniform(2, 4):.3g}")
        start = self._signed(0.2, 1)
        part = Part(name, states={"x0": start, "x1": start if self._chance(0.5) else 0.0})
        part.derivatives = {
            "x0": [Term(-self._uniform(0.5, 2), (("power", 1, "x0"),))],
            "x1": [Term(-rate, (("power", 1, "x1"),)), Term(rate, (("power", 1, "x0"),))]}
        if self._chance(0.5):
            part.derivatives["x1"].append(
                Term(0.2 * rate, (("power", 1, "x0"), ("fraction", 1.0, "x0"))))
        part.fast = rate
        self.kinds.add("stiff")
        return part

    def _direct(self, name):
        return Part(name)

    def _idle(self, name):
        """A state that is zero, and one that wakes up slowly."""
        part = Part(name, states={"x0": 0.0, "x1": 0.0})
        part.derivatives = {"x0": [Term(-2.0, (("power", 1, "x0"),))],
                            "x1": [Term(0.5, (("time", 0.7, ""), ("time", 0.7, ""),
                                              ("time", 0.7, "")))]}
        return part

    def _bounded(self, gain, variable):
        """A term of at most this slope in its variable."""
        kind = self.rng.choice(["linear", "sin", "fraction", "sqrt"])
        if kind == "linear":
            return Term(gain, (("power", 1, variable),))
        if kind == "fraction":
            return Term(gain, (("power", 1, variable), ("fraction", 1.0, variable)))
        return Term(gain, ((str(kind), 1.0, variable),))

    def _curved(self, gain, variable, other=None):
        """Squares and products; only where no loop can amplify them."""
        if other and self._chance(0.6):
            return Term(gain, (("power", 1, variable), ("power", 1, other)))
        if self._chance(0.5):
            return Term(gain, (("power", 2, variable),))
        return Term(gain, (("power", 1, variable), ("exp", 0.5, variable)))

    def _connect(self, k, part):
        """One or two inputs; which output feeds them is known by name before outputs are made."""
        part.sources = {}
        for i in range(int(self.rng.integers(1, 3))):
            others = [j for j in range(len(self.parts)) if j != k]
            source = int(self.rng.choice(others))
            u = f"u{i}"
            part.inputs[u] = 0.0
            part.sources[u] = source
            self.connections.append((f"{self.parts[source].name}.y{int(self.rng.integers(0, 2))}",
                                     f"{part.name}.{u}"))
            for x in part.states:
                if part.name.endswith("idle") or (x == "x0" and "x1" in part.states and
                                                  self._is_position(part)):
                    continue
                if self._chance(0.7) and not self._rests(part):
                    part.derivatives[x].append(self._answer(part, x, u))

    def _is_position(self, part):
        first = part.derivatives["x0"]
        return len(first) == 1 and first[0].factors == (("power", 1, "x1"),)

    def _rests(self, part):
        return bool(part.states) and part.derivatives["x0"][0].coefficient == -2.0

    def _answer(self, part, x, u):
        gain = self._signed(0.2, 0.8) * (getattr(part, "fast", 1.0) if x == "x1" else 1.0)
        if x == "x1" and hasattr(part, "fast"):
            return self._bounded(0.3 * gain, u)
        if self._chance(0.3):
            return Term(gain, (("power", 1, x), ("sin", 1.0, u)))
        return self._bounded(gain, u)

    def _outputs(self, part):
        states = list(part.states)
        for i in range(2):
            terms = []
            if states:
                x = states[int(self.rng.integers(len(states)))]
                terms.append(Term(self._signed(0.3, 1), (("power", 1, x),)))
                if self._chance(0.4):
                    terms.append(self._curved(self._signed(0.1, 0.3), x, states[0]))
            else:
                terms.append(Term(self._signed(0.3, 1), (("time", self._uniform(1, 5), ""),)))
            if self._chance(0.45) or not states:
                terms += self._feedthrough(part, states)
            part.outputs[f"y{i}"] = terms

    def _feedthrough(self, part, states):
        k = self.parts.index(part)
        usable = [u for u, source in part.sources.items() if self.loops or source < k]
        terms = []
        for u in usable:
            if self.loops:
                terms.append(self._bounded(self._signed(0.1, 0.7) / len(usable), u))
                self.kinds.add("feedthrough")
            else:
                terms.append(self._curved(self._signed(0.2, 0.6), u, states[0] if states else None))
                self.kinds.add("chain")
        return terms

    def _constrain(self):
        """Two parts more, joined by a constraint of index 1, 2 or 3."""
        index = int(self.rng.integers(1, 4))
        a, b = Part("ca", {"l": 0.0, "u0": 0.0}), Part("cb", {"l": 0.0, "u0": 0.0})
        source = self.parts[0].name
        start = self._signed(0.2, 0.8)
        for part, sign in ((a, 1.0), (b, -1.0)):
            self._constrained_part(part, index, sign, start)
            self.connections.append((f"{source}.y{int(self.rng.integers(0, 2))}",
                                     f"{part.name}.u0"))
        if index > 1 and self._chance(0.5):  # an output that is curved in the state
            a.outputs["p"].append(Term(0.2, (("power", 2, "x0"),)))
            b.states["x0"] = start + 0.2 * start**2
        self.parts += [a, b]
        self.constraints.append(index)
        self.kinds.add(f"index {index}")

    def _constrained_part(self, part, index, sign, start):
        rate = self._uniform(0.5, 4)
        push = Term(sign * self._uniform(0.5, 2), (("power", 1, "l"),))
        fed = self._bounded(self._signed(0.2, 0.6), "u0")
        if index == 3:
            part.states = {"x0": start, "x1": 0.0}
            part.derivatives = {"x0": [Term(1.0, (("power", 1, "x1"),))],
                                "x1": [Term(-rate**2, (("power", 1, "x0"),)), fed, push]}
            part.outputs["p"] = [Term(1.0, (("power", 1, "x0"),))]
            return
        part.states = {"x0": start}
        part.derivatives = {"x0": [Term(-rate, (("power", 1, "x0"),)), fed, push]}
        part.outputs["p"] = [Term(1.0, (("power", 1, "x0"),))]
        if index == 1:
            part.derivatives["x0"][-1] = Term(0.3 * sign, (("sin", 1.0, "l"),))
            part.outputs["p"] = [Term(sign * self._uniform(0.5, 2), (("power", 1, "x0"),)),
                                 Term(self._uniform(0.5, 2), (("power", 1, "l"),)),
                                 Term(0.1, (("sin", 1.0, "l"),))]

    # ---- texts ----

    def units(self):
        """Random ones: every variable's factor between 1e-12 and 1e12, time's, for some, 1e-6 to
        1e6."""
        rng = np.random.default_rng([20261122, self.seed])
        names = [f"{p.name}.{v}" for p in self.parts for v in p.variables()]
        # What a connection joins has one unit: factors of conversion are not what is tried here.
        size = {name: float(f"{10**rng.uniform(-12, 12):.6g}") for name in [*names, "lambda",
                                                                             "rest"]}
        for a, b in self.connections:
            size[b] = size[a]
        time = float(f"{10**rng.uniform(-6, 6):.6g}") if rng.random() < 0.25 else 1.0
        return Units(size, time)

    def model(self, units=Units({})):
        subsystems = []
        for part in self.parts:
            size = units.of(part)
            scaled = {name: value * size.get(name, 1.0) for name, value in part.states.items()}
            subsystems.append(Subsystem(
                part.name, scaled,
                {x: self._sum(terms, size, units.time, size.get(x, 1.0) / units.time)
                 for x, terms in part.derivatives.items()},
                {y: self._sum(terms, size, units.time, size.get(y, 1.0))
                 for y, terms in part.outputs.items()},
                dict(part.inputs)))
        return Model(subsystems, list(self.connections), self._constraints(units), 0.0,
                     self.stop * units.time)

    @staticmethod
    def _sum(terms, size, time, target):
        return " + ".join(term.text(size, time, target) for term in terms)

    def _constraints(self, units):
        size = units.size
        result = []
        for index in self.constraints:
            rest, sign = size.get("rest", 1.0), 1.0 if index == 1 else -1.0
            weights = [rest / size.get("ca.p", 1.0), sign * rest / size.get("cb.p", 1.0)]
            feeds = {f"{name}.l": size.get(f"{name}.l", 1.0) / size.get("lambda", 1.0)
                     for name in ("ca", "cb")}
            result.append(Constraint("lambda_", f"({weights[0]!r})*ca.p + ({weights[1]!r})*cb.p",
                                     feeds))
        return result
