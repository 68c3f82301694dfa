"""Linear networks, whose solution is a matrix exponential, some in units that are converted."""
import numpy as np
from catalogue import Case, case, text, uniform

# Units of one dimension, and what one of each is in the first.
_UNITS = ({"m": 1.0, "mm": 1e-3, "km": 1e3, "cm": 1e-2}, {"N": 1.0, "kN": 1e3, "mN": 1e-3},
          {"Pa": 1.0, "bar": 1e5, "hPa": 1e2}, {"m/s": 1.0, "km/h": 1 / 3.6, "mm/s": 1e-3},
          {"": 1.0})


class LinearForm:
    """y = C x(t), x' = A x, by eigenvectors, which must be well conditioned."""

    def __init__(self, names, a, c, x0, stop):
        self.names, self.stop, self.instants = list(names), stop, np.zeros(0)
        self.rates, vectors = np.linalg.eig(np.array(a, float))
        if np.linalg.cond(vectors) > 1e7:
            raise ArithmeticError("eigenvectors are nearly dependent")
        self.shares = np.array(c, float) @ vectors * np.linalg.solve(vectors,
                                                                     np.array(x0, complex))

    def solve(self, known=None):
        del known
        return self

    def at(self, times, left=False):
        del left
        return (np.exp(np.multiply.outer(times, self.rates)) @ self.shares.T).real

    def grid(self, count=2001):
        """Eight points a period and time constant, as far as these can be seen."""
        fastest = np.abs(self.rates).max()
        early = np.geomspace(0.1 / fastest, self.stop, count) if fastest > 0 else ()
        even = np.linspace(0, self.stop, int(min(50000, max(count, 2 * fastest * self.stop))))
        return np.unique(np.concatenate([even, early]))


@case("two masses", 3)
def two_masses(rng, number):
    """Displacement one way, force the other; equal ones, light beside heavy, and stiff ones."""
    m1, m2 = uniform(rng, 3, 8), uniform(rng, 3, 8) * (1, 20, 1)[number]
    c1, c2, c12 = uniform(rng, 5, 20), uniform(rng, 5, 20), (30.0, 30.0, 3000.0)[number]
    d = uniform(rng, 0.1, 1)
    model = text(20, {
        "left": f"equations: {{inputs: {{f: 0}}, states: {{x: 1, v: 0}}, derivatives: {{x: v, "
                f"v: '(f - {c1}*x - {d}*v)/{m1}'}}, outputs: {{x: x, v: v}}}}",
        "right": f"equations: {{inputs: {{x: 1, v: 0}}, states: {{s: 0.5, w: 0}}, derivatives: "
                 f"{{s: w, w: '({c12}*(x - s) + {d}*(v - w) - {c2}*s)/{m2}'}}, "
                 f"outputs: {{f: '{c12}*(s - x) + {d}*(w - v)', s: s}}}}"},
        ["left.x -> right.x", "left.v -> right.v", "right.f -> left.f"])
    force = np.array([-c12, -d, c12, d])
    a = np.array([[0, 1, 0, 0], (force - [c1, d, 0, 0]) / m1, [0, 0, 0, 1],
                  (-force - [0, 0, c2, 0]) / m2])
    c = [[1, 0, 0, 0], [0, 1, 0, 0], force, [0, 0, 1, 0]]
    return Case(model, lambda: LinearForm(["left.x", "left.v", "right.f", "right.s"], a, c,
                                          [1, 0, 0.5, 0], 20.0))


@case("random linear", 12)
def random_linear(rng, number):
    """Subsystems of one or two states at random time scales, at random wired, in random units."""
    count = 2 + number % 4
    sizes = [int(rng.integers(1, 3)) for _ in range(count)]
    offset = np.concatenate([[0], np.cumsum(sizes)])
    spread = (0.5, 1.0, 2.0)[number % 3]
    a = np.zeros((offset[-1], offset[-1]))
    subsystems, links, c, names, start = {}, [], [], [], []
    dimensions = [dict(_UNITS[int(rng.integers(len(_UNITS)))]) for _ in range(count)]
    rates = [float(f"{10**rng.uniform(0, spread):.4g}") for _ in range(count)]
    senders = []
    for k in range(count):  # what it puts out
        row = np.zeros(offset[-1])
        row[offset[k]:offset[k + 1]] = rng.uniform(0.3, 1, sizes[k]).round(3)
        unit = str(rng.choice(list(dimensions[k])))
        senders.append((row, unit, dimensions[k][unit]))
        c.append(row / dimensions[k][unit])
        names.append(f"s{k}.y")
    for k in range(count):
        n, rate = sizes[k], rates[k]
        own = np.array([[-rate]]) if n == 1 else np.array([[0.0, rate], [-rate, -0.3 * rate]])
        block = slice(offset[k], offset[k + 1])
        a[block, block] = own
        terms = [[f"{own[i, j]!r}*x{j}" for j in range(n) if own[i, j]] for i in range(n)]
        inputs, units = [], []
        others = [j for j in range(count) if j != k]
        for j in sorted(set(rng.choice(others, size=min(2, len(others))).tolist())):
            row, unit, size = senders[j]
            there = str(rng.choice(list(dimensions[j])))
            gain = float(f"{rng.uniform(0.2, 0.6) * rng.choice([-1, 1]) * rate:.4g}")
            a[offset[k + 1] - 1] += gain * row
            terms[-1].append(f"{gain * dimensions[j][there]!r}*u{j}")
            inputs.append(f"u{j}: 0")
            units += [f"u{j}: {there}"] if there else []
            links.append(f"s{j}.y -> s{k}.u{j}")
        x0 = [uniform(rng, -1, 1) for _ in range(n)]
        start += x0
        row, unit, size = senders[k]
        units += [f"y: {unit}"] if unit else []
        value = " + ".join(f"{row[offset[k] + i] / size!r}*x{i}" for i in range(n))
        states = ", ".join(f"x{i}: {x0[i]!r}" for i in range(n))
        slopes = ", ".join(f"x{i}: '{' + '.join(terms[i])}'" for i in range(n))
        subsystems[f"s{k}"] = (
            f"equations: {{inputs: {{{', '.join(inputs)}}}, states: {{{states}}}, "
            f"derivatives: {{{slopes}}}, outputs: {{y: '{value}'}}, "
            f"units: {{{', '.join(units)}}}}}")
    stop = float(f"{(10, 30, 100)[number % 3] / max(rates):.3g}")
    return Case(text(stop, subsystems, links), lambda: LinearForm(names, a, c, start, stop))


@case("stiff", 2)
def stiff_linear(rng, number):
    """A subsystem ten thousand times as fast as the other."""
    rate = (1e4, 1e6)[number]
    p = uniform(rng, 1, 3)
    model = text(5.0, {
        "fast": "equations: {inputs: {u: 0}, states: {x: 0}, "
                f"derivatives: {{x: '{rate}*(u - x)'}}, outputs: {{x: x}}}}",
        "slow": f"equations: {{inputs: {{u: 0}}, states: {{x: 1, one: 1}}, derivatives: "
                f"{{x: 'one - {p}*u', one: -0.1*one}}, outputs: {{x: x}}}}"},
        ["slow.x -> fast.u", "fast.x -> slow.u"])
    a = [[-rate, rate, 0], [-p, 0, 1], [0, 0, -0.1]]
    return Case(model, lambda: LinearForm(["fast.x", "slow.x"], a, [[1, 0, 0], [0, 1, 0]],
                                          [0, 1, 1], 5.0))
