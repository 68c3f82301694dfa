"""Slow and fast subsystems coupled both ways, for -cosim_paces auto, with exact solutions where there are some."""
import numpy as np

SLOW = 'slow: {equations: {inputs: {f: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: "-x + 0.05*f"}, outputs: {x: x}, units: {x: m}}}'
PENDULUM = 'slow: {equations: {inputs: {f: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: "-sin(x) - 0.3*v + 0.1*f*(1 + 0.2*x)"}, outputs: {x: x}}}'
LINKS = "connections: [a.x -> b.u, b.x -> a.u, slow.x -> a.s, a.x -> slow.f]"


def left(rate, damping=0.0, more="", spring="x - s"):
    k = rate**2
    return (f'a: {{equations: {{inputs: {{u: 0, s: 0}}, states: {{x: 0.5, v: 0}}, derivatives: {{x: v, '
            f'v: "-{k}*({spring}) + {0.3*k}*(u - x) - {damping*rate}*v"}}, outputs: {{x: x, v: v}}{more}}}}}')


def right(rate, damping=0.0):
    k = rate**2
    return (f'b: {{equations: {{inputs: {{u: 0}}, states: {{x: 0, v: 0}}, derivatives: {{x: v, '
            f'v: "-{1.5*k}*x + {0.3*k}*(u - x) - {damping*rate}*v"}}, outputs: {{x: x}}}}}}')


def network(*subsystems, connections=LINKS, stop=5.0, more=""):
    return f"experiment: {{stop: {stop}}}\nsubsystems:\n" + "".join(f"  {one}\n" for one in subsystems) + connections + "\n" + more


def linear(rate, damping=0.0, stop=5.0):
    """a and b swing at about `rate`, in the model file on both sides of what is slow."""
    return network(left(rate, damping), SLOW, right(rate, damping), stop=stop)


def exact(rate, times, damping=0.0):
    """a.x, a.v, slow.x, b.x of that, by eigenvectors."""
    k = rate**2
    a = np.zeros((6, 6))
    a[0, 1] = a[2, 3] = a[4, 5] = 1
    a[1, 0], a[1, 1], a[1, 2], a[1, 4] = -1.3*k, -damping*rate, k, 0.3*k
    a[3, 2], a[3, 0] = -1, 0.05
    a[5, 4], a[5, 5], a[5, 0] = -1.8*k, -damping*rate, 0.3*k
    values, vectors = np.linalg.eig(a)
    start = np.linalg.solve(vectors, np.array([0.5, 0, 1, 0, 0, 0], complex))
    return ((vectors*start) @ np.exp(np.outer(values, times))).real[[0, 1, 2, 4]].T
