#!/usr/bin/python3
"""What models can say, in one model and in a solution of its own: from YAML on 1 and 3 ranks, from Python, from C++ and
in an exported FMU; its derivatives against complex step. Each feature's own tests are in tests/language."""
import os
import subprocess
import unittest

import h5py
import numpy as np
from scipy.integrate import solve_ivp

from concord_runs import PICTURES, execute, simulate, write_model
from whole_fmus import OK, WholeTest

STOP = 2.0
MODEL = """
name: features
experiment: {stop: 2}
include: [library/control.yaml]
parameters: {g: 0.8, n: 4}
functions: {drag(v): 0.5*g*area(0.5)*v*abs(v), area(s): 4*s}
maps:
  lift: {points: {v: [0, 1, 2, 3.5, 5, 8], lift: [0, 0.8, 1, 1.7, 1.5, 1]}, interpolation: cubic}
  torque: {file: torque.csv, inputs: [speed, pedal], value: torque, units: {speed: km/h}}
templates:
  room:
    equations:
      functions: {wall(x): k*x + 0.01*x^3}
      parameters: {area: 1, k: 0.5}
      inputs: [supply]
      states: {T: 15}
      derivatives: {T: wall(supply - T)/area}
      outputs: {q: k*(supply - T)}
subsystems:
  pedal: {table: {file: pedal.csv, interpolation: cubic}}
  car:
    equations:
      inputs: {pedal: , wind: 0.3}
      states: {v: 3.6 km/h}
      derivatives: {v: "(torque(v, pedal) + lift(v) - drag(v + wind))/2"}
      outputs: {v: v, force: "drag(v + wind) - lift(v)"}
      units: {v: m/s, wind: m/s}
  rod:
    equations:
      parameters: {"A[2,2]": [[-1, 0.4], [0.2, -2]], "k[i in 1:n]": 1 + 0.2*i}
      inputs: {left: 0}
      states: {"T[n]": 1, "z[2]": [1, -1]}
      variables: {"flux[i in 1:n-1]": "k[i]*(T[i] - T[i+1])"}
      derivatives:
        "T[1]": left - T[1] - flux[1]
        "T[i in 2:n-1]": flux[i-1] - flux[i]
        "T[n]": flux[n-1]
        "z[i in 1:2]": "sum(A[i,j]*z[j] for j in 1:2) + dot(T, k)/10"
      outputs: {T: "sum(T)/n", "z[2]": z}
  switches:
    equations:
      inputs: [v]
      parameters: {"limit[3]": [-1, 0.5, 1.3]}
      states: {"w[3]": 0, s: 0}
      discrete: {"on[3]": 0}
      derivatives: {w: on*v - w, s: 1}
      when:
        - {condition: s > limit, initially: true, set: {on: 1}}
      outputs: [w]
  room: {template: room, repeat: {i: [1, 3]}, parameters: {area: 1 + i}}
  boiler:
    equations:
      inputs: [q]
      states: {supply: 40}
      derivatives: {supply: 30 - q - 0.1*supply}
      outputs: [supply]
  drive:
    system:
      parameters: {pace: 3}
      subsystems:
        lag: {template: second_order_lag, parameters: {k: 2, w: pace, D: 0.4}}
        filter: {template: transfer_function, parameters: {b0: 2, b1: 0.5, a0: 2, a1: 3, a2: 2.5}}
      connections: [lag.y -> filter.u]
      inputs: {u: lag.u}
      outputs: {y: filter.y}
  fast:
    system:
      subsystems:
        one: {equations: {inputs: {u: 0, x: 0}, states: {y: 1}, derivatives: {y: 20*(u - y) + x}, outputs: {y: y}}}
        two: {equations: {inputs: {y: 0}, states: {x: 0}, derivatives: {x: -30*x + y}, outputs: {x: x}}}
      connections: [one.y -> two.y, two.x -> one.x]
      inputs: {u: one.u}
      outputs: {y: one.y}
    run: {accuracy: 1e-9}
  bus:
    equations:
      inputs: {y: 0}
      states: {volt: 90}
      derivatives: {volt: "400 + 10*y - volt - homotopy(3e4/volt, 75)"}
      outputs: [volt]
connections:
  - pedal.* -> car.*
  - car.* -> switches.*
  - car.v -> rod.left
  - boiler.* -> room[*].*
  - sum(room[i].area*room[i].q) -> boiler.q
  - car.v -> drive.u
  - drive.y -> fast.u
  - fast.y -> bus.y
initial: [der(bus.volt) = 0]
"""
PEDAL = np.array([[0, 0.1], [0.4, 0.5], [0.9, 0.9], [1.5, 0.4], [2.0, 0.6], [3.0, 0.2]])
SPEEDS, PEDALS = np.array([0.0, 7.2, 36.0]), np.array([0.0, 1.0])
TORQUES = np.array([[1.0, 9.0], [0.5, 8.0], [0.0, 5.0]])


class Akima:
    """Akima (1970), lines extended at both ends; takes complex arguments."""

    def __init__(self, x, y):
        m = np.diff(y) / np.diff(x)
        m = np.concatenate(([3 * m[0] - 2 * m[1], 2 * m[0] - m[1]], m, [2 * m[-1] - m[-2], 3 * m[-1] - 2 * m[-2]]))
        turn = np.abs(np.diff(m))
        w = turn[2:] + turn[:-2]
        even = np.where(w > 0, w, 1)
        self.slopes = np.where(w > 0, (turn[2:] * m[1:-2] + turn[:-2] * m[2:-1]) / even, (m[1:-2] + m[2:-1]) / 2)
        self.x, self.y = x, y

    def __call__(self, at):
        i = np.clip(np.searchsorted(self.x, np.real(at), side="right") - 1, 0, len(self.x) - 2)
        h = self.x[i + 1] - self.x[i]
        s = (at - self.x[i]) / h
        return ((1 + 2 * s) * (1 - s)**2 * self.y[i] + s**2 * (3 - 2 * s) * self.y[i + 1] +
                h * s * (1 - s) * ((1 - s) * self.slopes[i] - s * self.slopes[i + 1]))


pedal_at = Akima(*PEDAL.T)
lift = Akima(np.array([0, 1, 2, 3.5, 5, 8]), np.array([0, 0.8, 1, 1.7, 1.5, 1]))


def torque(v, pedal):
    speed = 3.6 * v
    i = int(np.clip(np.searchsorted(SPEEDS, np.real(speed), side="right") - 1, 0, 1))
    s = (speed - SPEEDS[i]) / (SPEEDS[i + 1] - SPEEDS[i])
    low, high = ((1 - s) * TORQUES[i] + s * TORQUES[i + 1])
    return low + pedal * (high - low)


def drag(v):
    return 0.5 * 0.8 * 4 * 0.5 * v * v  # v > 0


# In the order of the model.
STATES = ["car.v", *(f"rod.T[{i}]" for i in range(1, 5)), "rod.z[1]", "rod.z[2]", *(f"switches.w[{i}]" for i in (1, 2, 3)),
          "switches.s", *(f"room[{i}].T" for i in (1, 2, 3)), "boiler.supply", "drive.lag.y", "drive.lag.slope",
          "drive.filter.x0", "drive.filter.x1", "drive.filter.x2", "fast.one.y", "fast.two.x", "bus.volt"]
K, AREA = 1 + 0.2 * np.arange(1, 5), np.array([2.0, 3.0, 4.0])


def rates(t, x, on, wind=0.3):
    v, T, z, w, room, supply, lag, low, fast, volt = (x[0], x[1:5], x[5:7], x[7:10], x[11:14], x[14], x[15:17], x[17:20],
                                                      x[20:22], x[22])
    flux = K[:-1] * (T[:-1] - T[1:])
    q = 0.5 * (supply - room)
    y = low[2]
    return np.concatenate((
        [(torque(v, pedal_at(t)) + lift(v) - drag(v + wind)) / 2, v - T[0] - flux[0]], flux[:-1] - flux[1:], [flux[-1]],
        np.array([[-1, 0.4], [0.2, -2]]) @ z + T @ K / 10, on * v - w, [1],
        (0.5 * (supply - room) + 0.01 * (supply - room)**3) / AREA, [30 - AREA @ q - 0.1 * supply],
        [lag[1], 9 * (2 * v - lag[0]) - 2 * 0.4 * 3 * lag[1]],
        [2 * lag[0] - 2 * y, low[0] + 0.5 * lag[0] - 3 * y, low[1] - 2.5 * y],
        [20 * (y - fast[0]) + fast[1], fast[0] - 30 * fast[1]], [400 + 10 * fast[0] - volt - 3e4 / volt]))


def start():
    """Of two solutions that of the simplified model's way: the higher voltage."""
    volt = (410 + np.sqrt(410**2 - 4 * 3e4)) / 2
    return np.array([1, 1, 1, 1, 1, 1, -1, 0, 0, 0, 0, 15, 15, 15, 40, 0, 0, 0, 0, 0, 1, 0, volt], float)


def solution():
    """At the end: pieces between switches, which come at 0, 0.5 and 1.3 s."""
    x, on = start(), np.array([1.0, 0, 0])
    for begin, end, place in ((0, 0.5, 1), (0.5, 1.3, 2), (1.3, STOP, None)):
        for a, b in zip(*(lambda k: (k[:-1], k[1:]))(sorted({begin, end, *(k for k in PEDAL[:, 0] if begin < k < end)}))):
            x = solve_ivp(rates, (a, b), x, "DOP853", rtol=1e-11, atol=1e-12, args=(on,)).y[:, -1]
        if place is not None:
            on[place] = 1
    return dict(zip(STATES, x))


def write_features(folder):
    """The model and its tables."""
    for name, header, rows in (("pedal", "t,pedal", PEDAL), ("torque", "speed,pedal,torque",
                               [(s, p, TORQUES[i, j]) for i, s in enumerate(SPEEDS) for j, p in enumerate(PEDALS)])):
        np.savetxt(folder / f"{name}.csv", rows, "%.17g", ",", header=header, comments="")
    return write_model(folder, "features", MODEL)


class Features(WholeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.expected = solution()

    def close(self, found, rtol=2e-6):
        names = [name for name in STATES if name in found]
        self.assertGreater(len(names), 10)
        np.testing.assert_allclose([found[name] for name in names], [self.expected[name] for name in names], rtol, 1e-7)

    def test_from_everywhere(self):
        model, options = write_features(self.folder), {"cosim_accuracy": 1e-7}
        words = [word for name, value in options.items() for word in (f"-{name}", value)]
        runs = [simulate(model, *words, ranks=ranks) for ranks in (1, 3)]
        for run in runs:
            self.close({name: run.states[name][-1] for name in run.states.names})
        names = [name for name in runs[0].outputs.names if not name.startswith("sum_")]
        if PICTURES:
            import concord  # pylint: disable=import-outside-toplevel
            here = concord.run(str(model), **options)
            np.testing.assert_array_equal([here[name][-1] for name in names], [runs[0].outputs[name][-1] for name in names])
        told = subprocess.run([os.environ["LIBRARY_RUN"], model, "option", *map(str, *options.items()), "start", "until",
                               str(STOP), "print"], capture_output=True, text=True, check=True).stdout
        found = dict(word.split("=") for word in told.split()[1:])
        self.assertEqual([float.fromhex(found[name]) for name in names], [runs[0].outputs[name][-1] for name in names])
        fmu = self.of(model, *words, version=3)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.step(0.0, STOP), OK, fmu.messages)
        self.assertEqual(fmu.get(*names), [runs[0].outputs[name][-1] for name in names])

    def test_derivatives(self):
        model, tiny = write_features(self.folder), 1e-30
        run = execute("linearize", model, "-o", self.folder / "abcd.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "abcd.h5") as file:
            names = [name.decode() for name in file["states"][:]]
            found = file["A"][()]
        self.assertEqual(names, STATES)
        x = start()
        expected = np.stack([rates(0, x + 1j * tiny * e, np.array([1.0, 0, 0])).imag / tiny for e in np.eye(len(x))], axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        fmu = self.of(model, version=2)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        np.testing.assert_allclose(fmu.derivative(["car.force"], ["car.wind"], [1]), [1.6 * 1.3], rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
