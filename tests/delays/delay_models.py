"""Models with delays and what they do, by the method of steps."""
import math

import numpy as np

SCALAR = """
name: scalar
experiment: {{start: {start}, stop: {stop}}}
parameters: {{T: {delay}}}
subsystems:
  a:
    equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: -u}}, outputs: {{x: x}}}}
connections:
  - {{connect: a.x -> a.u, delay: T}}
"""

PURE = """
name: pure
experiment: {{stop: {stop}}}
subsystems:
  wave: {{equations: {{outputs: {{y: sin(3*t)}}}}}}
  sum:
    equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: u}}, outputs: {{x: x, u: u}}}}
connections:
  - {{connect: wave.y -> sum.u, delay: {delay}}}
"""

# Two subsystems, each fed with what the other was; l and r.
LOOP = """
name: loop
experiment: {{stop: {stop}}}
subsystems:
  left:
    equations:
      inputs: {{u: 0}}
      states: {{x: 1}}
      derivatives: {{x: -x + 0.5*u}}
      outputs: {{y: x}}
  right:
    equations:
      inputs: {{u: 0}}
      states: {{x: 0.5}}
      derivatives: {{x: -2*x - u}}
      outputs: {{y: x}}
connections:
  - {{connect: left.y -> right.u, delay: {to_right}}}
  - {{connect: right.y -> left.u, delay: {to_left}}}
"""


def scalar(t, delay):
    """x' = -x(t - T), x = 1 before: sum over k of (-1)^k (t - (k-1) T)^k / k!."""
    return sum((-1)**k * max(t - (k - 1) * delay, 0.0)**k / math.factorial(k)
               for k in range(int(t / delay + 1e-9) + 2))


def pure(t, delay):
    """u and its integral."""
    late = np.maximum(t - delay, 0.0)
    return np.sin(3 * late), (1 - np.cos(3 * late)) / 3


def loop(t, to_right, to_left, n=40):
    """By the method of steps, each as a Chebyshev series of degree n: l(t), r(t)."""
    from numpy.polynomial import chebyshev

    breaks = sorted({round(i * to_right + j * to_left, 12)
                     for i in range(60) for j in range(60) if i * to_right + j * to_left < t[-1]}
                    | {0.0, float(t[-1])})
    # Levels beyond the fifth derivative don't show.
    pieces = []

    def value(k, at):
        if at <= 0:
            return (1.0, 0.5)[k]
        for begin, end, series in pieces:
            if at <= end + 1e-12:
                return chebyshev.chebval(2 * (at - begin) / (end - begin) - 1, series[k])
        raise AssertionError(at)

    x = np.array([1.0, 0.5])
    nodes = np.cos(np.pi * np.arange(n + 1) / n)
    for begin, end in zip(breaks, breaks[1:]):
        if end - begin < 1e-9:
            continue
        at = begin + (nodes + 1) / 2 * (end - begin)
        fed = (np.array([0.5 * value(1, s - to_left) for s in at]),
               np.array([-value(0, s - to_right) for s in at]))
        series = []
        for k, rate in enumerate((-1.0, -2.0)):
            # x' = rate x + f by collocation at Chebyshev points.
            T = chebyshev.chebvander(nodes, n)
            D = np.array([chebyshev.chebval(nodes, chebyshev.chebder(np.eye(n + 1)[j]))
                          for j in range(n + 1)]).T * 2 / (end - begin)
            A, b = D - rate * T, fed[k].copy()
            A[-1], b[-1] = T[-1], x[k]
            series.append(np.linalg.solve(A, b))
        pieces.append((begin, end, series))
        x = np.array([chebyshev.chebval(1.0, s) for s in series])
    return np.array([[value(k, s) for k in (0, 1)] for s in t])
