"""Models for -cosim_adapt predictor, and their solutions at any time: damped and undamped, linear
and not, loops, curved outputs, signals that begin at 0, short and long runs."""
from dataclasses import replace

import numpy as np
from collocation import Collocation
from equation_models import Model, Subsystem
from kinds import shifted


def two_masses():
    return Model(
        [Subsystem("left", {"x": 1.0, "v": 0.0},
                   {"x": "v", "v": "(f - 1e4*x - 10*v)/5"}, {"x": "x", "v": "v"}, {"f": 20000.0}),
         Subsystem("right", {"x": 3.0, "v": 0.0},
                   {"x": "v", "v": "(-1e5*x - 40*v - 1e4*(x - xl) - 10*(v - vl))/80"},
                   {"f": "1e4*(x - xl) + 10*(v - vl)"}, {"xl": 1.0, "vl": 0.0})],
        [("right.f", "left.f"), ("left.x", "right.xl"), ("left.v", "right.vl")], stop=2.0)


def lotka_volterra():
    return Model(
        [Subsystem("prey", {"x": 1.0}, {"x": "2*x/3 - 4*x*u/3"}, {"x": "x"}, {"u": 1.0}),
         Subsystem("predator", {"x": 1.0}, {"x": "x*u - x"}, {"x": "x"}, {"u": 1.0})],
        [("predator.x", "prey.u"), ("prey.x", "predator.u")], stop=20.0)


def spring_mass():
    """Undamped: errors of every macro-step stay to the end."""
    return Model(
        [Subsystem("spring", {"x": 1.0}, {"x": "v"}, {"f": "-8*x"}, {"v": 0.0}),
         Subsystem("mass", {"v": 0.0}, {"v": "f/2"}, {"v": "v"}, {"f": 0.0})],
        [("mass.v", "spring.v"), ("spring.f", "mass.f")], stop=20.0)


def quarter_car():
    return Model(
        [Subsystem("body", {"x": 0.0, "v": 0.0},
                   {"x": "v", "v": "(15000*(xw - x) + 1000*(vw - v))/400"},
                   {"x": "x", "v": "v"}, {"xw": 0.0, "vw": 0.0}),
         Subsystem("wheel", {"x": 0.0, "v": 0.0},
                   {"x": "v", "v": "(150000*(0.1 - x) - 15000*(x - xc) - 1000*(v - vc))/40"},
                   {"x": "x", "v": "v"}, {"xc": 0.0, "vc": 0.0})],
        [("wheel.x", "body.xw"), ("wheel.v", "body.vw"), ("body.x", "wheel.xc"),
         ("body.v", "wheel.vc")], stop=2.0)


def algebraic_loop():
    return Model(
        [Subsystem("body", {"x": 1.0, "v": 0.0}, {"x": "v", "v": "f - 12*x"},
                   {"x": "x", "v": "v", "a": "f - 12*x"}, {"f": 0.0}),
         Subsystem("fluid", {"e": 0.0}, {"e": "0.6*v*v"}, {"f": "-2*a - 0.6*v", "e": "e"},
                   {"v": 0.0, "a": 0.0})],
        [("body.v", "fluid.v"), ("body.a", "fluid.a"), ("fluid.f", "body.f")], stop=10.0)


def swing():
    return Model(
        [Subsystem("a", {"x": 0.9, "v": 0.0},
                   {"x": "v", "v": "-9*sin(x) + 2*u + 0.3*sin({t})"}, {"y": "x"}, {"u": 0.0}),
         Subsystem("b", {"z": 0.0}, {"z": "-z + cos(2*y)"}, {"y": "z"}, {"y": 0.0})],
        [("a.y", "b.y"), ("b.y", "a.u")], stop=4.0)


def curved_outputs():
    return Model(
        [Subsystem("a", {"x": 1.0, "v": 0.0}, {"x": "v", "v": "-9*sin(x) + 2*y"},
                   {"x": "sin(x) + 0.1*x^2"}, {"y": 0.0}),
         Subsystem("b", {"y": 0.0}, {"y": "-y + cos(2*x)"}, {"y": "y*(1 + 0.2*y)"}, {"x": 0.0})],
        [("a.x", "b.x"), ("b.y", "a.y")], stop=4.0)


def limit_cycle():
    return Model(
        [Subsystem("a", {"x": 2.0}, {"x": "v"}, {"x": "x"}, {"v": 0.0}),
         Subsystem("b", {"v": 0.0}, {"v": "(1 - x*x)*v - x + 0.1*sin({t})"}, {"v": "v"},
                   {"x": 0.0})],
        [("b.v", "a.v"), ("a.x", "b.x")], stop=20.0)


def chain(count=6):
    """All but one begin at 0, with ever more derivatives that are 0."""
    parts = [Subsystem(f"m{i}", {"x": 1.0 if i == 0 else 0.0, "v": 0.0},
                       {"x": "v", "v": "l - 2*x + r - 0.02*v"}, {"x": "x"}, {"l": 0.0, "r": 0.0})
             for i in range(count)]
    links = [link for i in range(count - 1)
             for link in ((f"m{i}.x", f"m{i + 1}.l"), (f"m{i + 1}.x", f"m{i}.r"))]
    return Model(parts, links, stop=20.0)


def heating():
    """Stores of heat that warm up from nothing; weakly coupled, and over many time constants."""
    return Model(
        [Subsystem("oven", {"a": 0.0}, {"a": "2 - a - 0.2*(a - q)"}, {"y": "a"}, {"q": 0.0}),
         Subsystem("wall", {"w": 0.0}, {"w": "0.2*(y - w) - 0.1*(w - r)"}, {"q": "w"},
                   {"y": 0.0, "r": 0.0}),
         Subsystem("room", {"r": 0.0}, {"r": "0.1*(q - r) - 0.02*r"}, {"r": "r"}, {"q": 0.0})],
        [("oven.y", "wall.y"), ("wall.q", "oven.q"), ("room.r", "wall.r"), ("wall.q", "room.q")],
        stop=100.0)


MODELS = {f.__name__: f for f in (two_masses, lotka_volterra, spring_mass, quarter_car,
                                  algebraic_loop, swing, curved_outputs, limit_cycle, chain,
                                  heating)}
SPACING = {"two_masses": 2e-3, "quarter_car": 2e-3, "heating": 0.05}


def scaled(model, size):
    """A linear one in another unit."""
    return replace(model, subsystems=[
        replace(part, states={name: size * value for name, value in part.states.items()},
                inputs={name: size * value for name, value in part.inputs.items()})
        for part in model.subsystems])


def with_idle(model, count=30):
    """The same with signals that are always 0."""
    names = [f"r{i}" for i in range(count)]
    speaker = Subsystem("rests", {n: 0.0 for n in names}, {n: f"-{n}" for n in names},
                        {f"o{n}": n for n in names})
    hearer = Subsystem("hears", {"x": 0.0}, {"x": "-x + " + " + ".join(f"i{n}" for n in names)},
                       {"y": "x"}, {f"i{n}": 0.0 for n in names})
    return replace(model, subsystems=[*model.subsystems, speaker, hearer], connections=[
        *model.connections, *((f"rests.o{n}", f"hears.i{n}") for n in names)])


class Solution:
    """Outputs of a model at any time: collocation of order 9 on a fine grid, and between its points
    polynomials through fourteen of them."""

    points = 14

    def __init__(self, model, spacing):
        count = max(self.points, int(np.ceil((model.stop - model.start) / spacing)))
        self.model = shifted(model, 0.0)
        self.grid = np.linspace(model.start, model.stop, count + 1)
        self.values = Collocation(self.model).solve(self.grid)[1]

    def __call__(self, times):
        """Barycentric interpolation; `times` since the model's own start."""
        h = self.grid[1] - self.grid[0]
        place = (np.asarray(times, float) - self.grid[0]) / h
        first = np.clip(np.floor(place).astype(int) - self.points // 2 + 1, 0,
                        len(self.grid) - self.points)
        nodes = np.arange(self.points)
        weights = np.array([np.prod([1.0 / (i - j) for j in nodes if j != i]) for i in nodes])
        distance = place[:, None] - first[:, None] - nodes
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = weights / distance
            shares /= shares.sum(axis=1, keepdims=True)
        hit = distance == 0.0
        shares[hit.any(axis=1)] = hit[hit.any(axis=1)]
        return np.einsum("tp,tpo->to", shares, self.values[first[:, None] + nodes])


def solutions(names=MODELS):
    return {name: Solution(MODELS[name](), SPACING.get(name, 0.02)) for name in names}


def elapsed(results):
    """Since the start, at the communication points: far from t = 0 times themselves are rounded."""
    return np.concatenate([[0.0], np.cumsum(results.steps["size"])])
