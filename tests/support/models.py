"""Generated models, each with the same equations in numpy."""
import numpy as np

_SWING = """  swing{k}:
    equations:
      parameters: {{stiffness: {stiffness}}}
      inputs: {{push: 0, gravity: 0.3}}
      states: {{x: {x}, v: 0}}
      derivatives:
        x: v
        v: gravity - stiffness*sin(1*x) - 0.2*v + 1*push
      outputs: {{x: x, v: v}}
      units: {{x: m, v: m/s, push: m}}
"""
_DELAY = """  delay{k}:
    equations:
      inputs: {{position: 0, speed: 0}}
      states: {{s: 0.1}}
      derivatives:
        s: 2*(position/100 - s) + 0.1*cos(t)
      outputs: {{s: 1000*s, quick: s + 0.05*speed, both: s*s}}
      units: {{position: cm, speed: km/h, s: mm}}
"""
_MIXER = """  mixer{k}:
    equations:
      inputs: {{a: 0, b: 0, c: 0}}
      states: {{p: 0.2, q: -0.1, r: 0}}
      derivatives:
        p: a - p + 0.1*q*r
        q: 0.3*b - q
        r: c - r + 0.1*p
      outputs: {{y: 0.3*p - 0.2*q + 0.1*r}}
      units: {{a: m, y: m}}
"""


def ring(n):
    """A ring of n subsystems of three kinds in turn: each gets the first output of the one before.

    Inputs, outputs and states differ in number; swing0.v feeds every `speed` (m/s to km/h) and every
    c; x reaches `position` in cm, s leaves in mm; `gravity` is connected nowhere; `quick` has
    direct feedthrough, without a loop.
    """
    kinds = ("swing", "delay", "mixer")
    first_output = {"swing": "x", "delay": "s", "mixer": "y"}
    first_input = {"swing": "push", "delay": "position", "mixer": "a"}
    text = f"name: ring of {n}\nexperiment: {{start: 0, stop: 1}}\nsubsystems:\n"
    wires = []
    for k in range(n):
        kind = kinds[k % 3]
        before = (k - 1) % n
        before_kind = kinds[before % 3]
        text += {"swing": _SWING, "delay": _DELAY, "mixer": _MIXER}[kind].format(
            k=k, stiffness=4 + k, x=0.5 - 0.1 * k)
        wires.append(f"{before_kind}{before}.{first_output[before_kind]} -> "
                     f"{kind}{k}.{first_input[kind]}")
        if kind == "delay":
            wires.append(f"swing0.v -> {kind}{k}.speed")
        if kind == "mixer":
            wires.append(f"{before_kind}{before}.quick -> {kind}{k}.b")
            wires.append(f"swing0.v -> {kind}{k}.c")
    return text + "connections:\n" + "".join(f"  - {wire}\n" for wire in wires)


def ring_derivative(n):
    """x' of the same ring, states in the model's order, lengths in m."""
    offset = np.concatenate([[0], np.cumsum([(2, 1, 3)[k % 3] for k in range(n)])])

    def first_output(k, x):
        own = x[offset[k]:offset[k + 1]]
        return 0.3 * own[0] - 0.2 * own[1] + 0.1 * own[2] if k % 3 == 2 else own[0]

    def derivative(t, x):
        speed = x[1]
        slope = np.empty_like(x)
        for k in range(n):
            own = x[offset[k]:offset[k + 1]]
            fed = first_output((k - 1) % n, x)
            if k % 3 == 0:
                slope[offset[k]:offset[k + 1]] = (own[1], 0.3 - (4 + k) * np.sin(own[0])
                                                  - 0.2 * own[1] + fed)
            elif k % 3 == 1:
                slope[offset[k]] = 2 * (fed - own[0]) + 0.1 * np.cos(t)
            else:
                quick = fed + 0.05 * 3.6 * speed
                p, q, r = own
                slope[offset[k]:offset[k + 1]] = (fed - p + 0.1 * q * r, 0.3 * quick - q,
                                                  speed - r + 0.1 * p)
        return slope

    start = np.concatenate([((0.5 - 0.1 * k, 0), (0.1,), (0.2, -0.1, 0))[k % 3] for k in range(n)])
    return derivative, start


def integrate(derivative, start, grid, substeps):
    """Classical Runge-Kutta of order 4 with Richardson extrapolation, at the points of grid."""
    def over(x, t, h, count):
        size = h / count
        for i in range(count):
            s = t + i * size
            k1 = derivative(s, x)
            k2 = derivative(s + size / 2, x + size / 2 * k1)
            k3 = derivative(s + size / 2, x + size / 2 * k2)
            k4 = derivative(s + size, x + size * k3)
            x = x + size / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    rows = [np.array(start, float)]
    for t, h in zip(grid[:-1], np.diff(grid)):
        coarse, fine = (over(rows[-1], t, h, count) for count in (substeps, 2 * substeps))
        rows.append(fine + (fine - coarse) / 15)
    return np.array(rows)
