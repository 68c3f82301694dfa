"""Models with constraints and their solutions."""
import functools

import numpy as np
from concord_runs import EXAMPLES

PAIR = EXAMPLES / "constraint_pair" / "constraint_pair.yaml"
RODS = EXAMPLES / "linked_rods" / "linked_rods.yaml"

# Arnold's pair; the state answers to the unknown, so that the hold's error reaches it.
# Exact: y = u = t^4.
FEEDBACK = PAIR.read_text(encoding="utf-8").replace("4*t^3", "4*t^3 + u - t^4")

# The same with what is known of y fed back and forth, for orders of execution. Exact: y = t^4, t.
CONNECTED = (FEEDBACK.replace("{u: 0}\n      states:  {y: 0}\n      derivatives: {y: 4*t^3 +",
                              "{u: 0, v: 0}\n      states:  {y: 0}\n"
                              "      derivatives: {y: 4*t^3 + v - t +")
             .replace("inputs:  {u: 0}", "inputs:  {u: 0, w: 0}")
             .replace("{y: 1}", "{y: 1 + w - t^4 - (y - t)}")
             .replace("constraints:", "connections:\n  - left.y -> right.w\n"
                                      "  - right.y -> left.v\nconstraints:"))

# Both sides answer to u nonlinearly. Exact: y = u = t^4.
NONLINEAR = (FEEDBACK.replace("z: 7/2*y - u", "z: 7/2*y - u + y^3/2")
             .replace("z: 5/2*u", "z: 5/2*u + u^3/2"))

# Three subsystems carry one constraint; staggered, alpha = (1 + 2)/0.5. Exact: y = u = sin t.
THREE = """
experiment: {start: 0, stop: 2}
subsystems:
  a:
    equations:
      inputs: {u: 0}
      states: {y: 0}
      derivatives: {y: cos(t) + u - sin(t)}
      outputs: {y: y, z: 3.5*y - u}
  b:
    equations:
      inputs: {u: 0}
      states: {y: 0}
      derivatives: {y: cos(t) - u + sin(t)}
      outputs: {y: y, z: -2*u}
  c:
    equations:
      inputs: {u: 0}
      states: {y: 0}
      derivatives: {y: cos(t)}
      outputs: {y: y, z: -0.5*u}
constraints:
  - unknown: u
    equation: a.z + b.z + c.z
    feeds: {a.u: 1, b.u: 1, c.u: 1}
"""

# As FEEDBACK, without an end to what happens. Exact: y = u = sin 5t.
OSCILLATING = (FEEDBACK.replace("4*t^3 + u - t^4", "5*cos(5*t) + u - sin(5*t)")
               .replace("stop: 1.0", "stop: 4.0"))

# Index 2: two velocities sum up to cos t and the positions stay equal.
# Exact: x = sin(t)/2, lambda = cos(t)/2.
VELOCITY = """
experiment: {start: 0, stop: 2}
subsystems:
  left:
    equations:
      inputs: {f: 0}
      states: {x: 0}
      derivatives: {x: cos(t) + f}
      outputs: {x: x}
  right:
    equations:
      inputs: {f: 0}
      states: {x: 0}
      derivatives: {x: f}
      outputs: {x: x}
constraints:
  - unknown: lambda
    equation: left.x - right.x
    feeds: {left.f: -1, right.f: 1}
"""


@functools.cache
def rods(stop):
    """Times, states (phi, omega of short and long) and force of linked_rods: the constraint,
    differentiated twice, gives the force; classical Runge-Kutta with small steps."""
    mass, length, g = np.array([1.0, 3.0]), np.array([1.0, 2.0]), 9.81
    inertia = mass * length**2 / 3

    def force_and_slope(x):
        phi, omega = x[[0, 2]], x[[1, 3]]
        arm = length * np.cos(phi)
        weight = mass * g * length / 2 * np.sin(phi)
        free = -arm * weight / inertia - length * np.sin(phi) * omega**2
        force = (free[0] - free[1]) / np.sum(arm**2 / inertia)
        turn = (np.array([-force, force]) * arm - weight) / inertia
        return force, np.array([omega[0], turn[0], omega[1], turn[1]])

    steps = 4000
    h = stop / steps
    x = np.array([0.6, 0.0, np.arcsin(np.sin(0.6) / 2), 0.0])
    states, forces = [x], [force_and_slope(x)[0]]
    for _ in range(steps):
        k1 = force_and_slope(x)[1]
        k2 = force_and_slope(x + h / 2 * k1)[1]
        k3 = force_and_slope(x + h / 2 * k2)[1]
        k4 = force_and_slope(x + h * k3)[1]
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(x)
        forces.append(force_and_slope(x)[0])
    return np.linspace(0, stop, steps + 1), np.array(states), np.array(forces)
