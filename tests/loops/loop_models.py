"""Algebraic loops of subsystems in a ring, in any units, and their solutions by numpy."""
import numpy as np

# Each in a variable of order one: expression, value, slope.
FUNCTIONS = {
    "linear": ("({v})", lambda v: v, lambda v: 1.0),
    "square": ("({v})^2", lambda v: v * v, lambda v: 2 * v),
    "root": ("sqrt(1 + ({v})^2)", lambda v: np.sqrt(1 + v * v), lambda v: v / np.sqrt(1 + v * v)),
    "exp": ("exp(-({v}))", lambda v: np.exp(-v), lambda v: -np.exp(-v)),
    "log": ("log(2 + ({v})^2)", lambda v: np.log(2 + v * v), lambda v: 2 * v / (2 + v * v)),
}


def ring(functions, gains, units, starts, stop=0.5):
    """y_i = unit_i (s_i/2 + gain_i f_i(u_i/unit_{i-1})), s_i' = -s_i/2, each feeding the next."""
    count = len(gains)
    text = f"name: ring\nexperiment: {{start: 0, stop: {stop}}}\nsubsystems:\n"
    for i in range(count):
        before = units[i - 1]
        value = FUNCTIONS[functions[i]][0].format(v=f"u/{before:.17g}")
        text += (f"  s{i}:\n    equations:\n      inputs: {{u: {starts[i] * before:.17g}}}\n"
                 f"      states: {{s: 1}}\n      derivatives: {{s: -0.5*s}}\n"
                 f"      outputs: {{y: \"{units[i]:.17g}*(0.5*s + {gains[i]}*{value})\"}}\n")
    wires = "".join(f"  - s{i}.y -> s{(i + 1) % count}.u\n" for i in range(count))
    return text + "connections:\n" + wires


def solution(functions, gains, time, guess):
    """Outputs in units of one at each time, by Newton's method on the loop, from the last ones."""
    count = len(gains)
    y = np.array(guess, float)
    rows = []
    for t in time:
        for _ in range(100):
            rest, slope = np.empty(count), np.eye(count)
            for i in range(count):
                _, value, derivative = FUNCTIONS[functions[i]]
                rest[i] = y[i] - 0.5 * np.exp(-0.5 * t) - gains[i] * value(y[i - 1])
                slope[i, i - 1] -= gains[i] * derivative(y[i - 1])
            step = np.linalg.solve(slope, rest)
            y = y - step
            if np.abs(step).max() < 1e-15 * np.abs(y).max():
                break
        rows.append(y)
    return np.array(rows)


LINEAR_PAIR = """name: pair
experiment: {{start: 0, stop: {stop}}}
subsystems:
  a:
    equations:
      inputs: {{u: 0}}
      states: {{x: 1}}
      derivatives: {{x: -x + 0.1*u}}
      outputs: {{y: "x + ({gain})*u"}}
  b:
    equations:
      inputs: {{u: 0}}
      states: {{x: 0.5}}
      derivatives: {{x: -2*x + 0.2*u}}
      outputs: {{y: x + u}}
connections:
  - a.y -> b.u
  - b.y -> a.u
"""


def linear_pair(gain, stop=1):
    """a.y = x_a + gain b.y, b.y = x_b + a.y."""
    return LINEAR_PAIR.format(gain=gain, stop=stop)


def linear_pair_states(gain, time):
    """x_a, x_b by the matrix exponential (eigenvalues) of the pair with the loop solved."""
    loop = np.linalg.inv(np.array([[1, -gain], [-1, 1]], float))  # outputs of the states
    feed = np.diag([0.1, 0.2]) @ np.array([[0, 1], [1, 0]], float) @ loop
    values, vectors = np.linalg.eig(np.diag([-1.0, -2.0]) + feed)
    weights = np.linalg.solve(vectors, np.array([1, 0.5]))
    return np.real(np.array([vectors @ (weights * np.exp(values * t)) for t in time]))
