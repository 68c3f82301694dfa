"""The electric vehicle against steps of RK4 of a millisecond that end where the gearbox touches."""
import math
import unittest

import numpy as np
from concord_runs import EXAMPLES, ModelTest, simulate

FOLDER = EXAMPLES / "electric_vehicle"
R = 0.31


class Reference:
    """x: motor's torque and speed, angle in the gearbox, speed, charge, temperature of the battery."""

    def __init__(self):
        table = np.loadtxt(FOLDER / "torque.csv", delimiter=",", skiprows=1)
        self.volts, self.rpm, self.most = [300, 350, 400], table[:, 0].tolist(), table[:, 1:].tolist()
        self.x = [0.0, 0.0, 0.0, 0.0, 80.0, 25.0]
        self.u = self.sum = 0.0
        self.side = 0

    def most_at(self, w, volt):
        n = min(max(w * 30 / math.pi, 0), 14000)
        i = min(int(n // 2000), 6)
        a = (n - self.rpm[i]) / 2000
        volt = min(max(volt, 300), 400)
        j = min(int((volt - 300) // 50), 1)
        b = (volt - self.volts[j]) / 50
        row = [(1 - b) * self.most[k][j] + b * self.most[k][j + 1] for k in (i, i + 1)]
        return (1 - a) * row[0] + a * row[1]

    def battery(self, x):
        T, w = x[0], x[1]
        ocv = 320 + 0.9 * x[4] - 0.001 * x[4] ** 2 + 4 * math.tanh((x[4] - 10) / 5)
        inner = 0.08 * (1.2 - 0.01 * x[5])
        return ocv, inner, (ocv - math.sqrt(ocv**2 - 4 * inner * (T * w + 0.06 * T**2 + 300))) / (2 * inner)

    def rate(self, x):
        T, w, phi, v = x[:4]
        ocv, inner, current = self.battery(x)
        drive, brake = max(self.u, 0), max(-self.u, 0)
        turn = w / 9 - v / R
        gear = 0 if self.side == 0 else 2e4 * (phi - 0.02 * self.side) + 150 * turn
        most = self.most_at(w, ocv - inner * current) if drive > 0 else 0
        return [(drive * most - 60 * brake * min(max(w / 50, 0), 1) - T) / 0.02, (T - gear / 9) / 0.05, turn,
                (gear / R - 0.372 * v * abs(v) - (156.96 + 3000 * brake / R) * math.tanh(v / 0.05)) / 1600,
                -current / 5400, (inner * current**2 - 15 * (x[5] - 20)) / 2.5e5]

    def step(self, h):
        x = self.x
        a = self.rate(x)
        b = self.rate([p + h / 2 * q for p, q in zip(x, a)])
        c = self.rate([p + h / 2 * q for p, q in zip(x, b)])
        d = self.rate([p + h * q for p, q in zip(x, c)])
        return [p + h / 6 * (q + 2 * r + 2 * s + e) for p, q, r, s, e in zip(x, a, b, c, d)]

    def touches(self, x):
        return 1 if x[2] > 0.02 else -1 if x[2] < -0.02 else 0

    def advance(self, h):
        while h > 0:
            there, taken = self.step(h), h
            if self.touches(there) != self.side:
                below, above = 0.0, h
                for _ in range(60):
                    middle = (below + above) / 2
                    below, above = (below, middle) if self.touches(self.step(middle)) != self.side else (middle, above)
                there, taken = self.step(above), above
            self.x, self.side = there, self.touches(there)
            h -= taken

    def tick(self, wanted):
        e = wanted - self.x[3] * 3.6
        raw = 0.15 * e + self.sum
        self.u = min(max(raw, -1), 1)
        self.sum += 0.01 * (0.05 * e + 2 * (self.u - raw))


class Vehicle(ModelTest):
    def test_against_rk4(self):
        stop = 40
        run = simulate(FOLDER / "electric_vehicle.yaml", "-cosim_stop", stop, "-cosim_output_interval", 1)
        cycle = np.loadtxt(FOLDER / "cycle.csv", delimiter=",", skiprows=1)
        reference, rows = Reference(), [[0.0, 0.0, 0.0, 0.0, 80.0, 25.0]]
        for second in range(stop):
            for n in range(100):
                reference.tick(np.interp(second + n / 100, cycle[:, 0], cycle[:, 1]))
                for _ in range(10):
                    reference.advance(1e-3)
            rows.append(list(reference.x))
        rows = np.array(rows)
        for name, column in (("car.v", 3), ("motor.T", 0), ("motor.w", 1), ("battery.charge", 4), ("battery.T", 5)):
            error = np.abs(run.states[name] - rows[:, column]).max() / np.ptp(rows[:, column])
            print(f"{name}: {error:.1e} of its range")
            self.assertLess(error, 1e-5, name)


if __name__ == "__main__":
    unittest.main()
