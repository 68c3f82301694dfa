"""The house against small steps of RK4 that end where thermostats switch."""
import unittest

import numpy as np
from concord_runs import EXAMPLES, ModelTest, simulate

HOUSE = EXAMPLES / "house"
N = 20


def slopes(t, z):
    """Akima's (1970), lines extended at both ends."""
    m = np.diff(z) / np.diff(t)
    m = np.concatenate(([3 * m[0] - 2 * m[1], 2 * m[0] - m[1]], m, [2 * m[-1] - m[-2], 3 * m[-1] - 2 * m[-2]]))
    turn = np.abs(np.diff(m))
    w = turn[2:] + turn[:-2]
    return np.where(w > 0, (turn[2:] * m[1:-2] + turn[:-2] * m[2:-1]) / np.where(w > 0, w, 1), (m[1:-2] + m[2:-1]) / 2)


class Reference:
    def __init__(self):
        self.rows = np.loadtxt(HOUSE / "weather.csv", delimiter=",", skiprows=1)
        self.slopes = [slopes(self.rows[:, 0], self.rows[:, c]) for c in (1, 2)]
        i = np.arange(1, N + 1)
        self.k, self.area = 100 + 5 * i, 2 - (-1.0) ** i
        self.x = np.concatenate((15 + 0.2 * i, np.zeros(N), [50, 0]))
        self.on, self.boiler = np.zeros(N, bool), True

    def weather(self, t):
        n = min(int(t // 3600), len(self.rows) - 2)
        s = (t - self.rows[n, 0]) / 3600
        return [(1 + 2 * s) * (1 - s) ** 2 * self.rows[n, c] + s**2 * (3 - 2 * s) * self.rows[n + 1, c] +
                3600 * s * (1 - s) * ((1 - s) * self.slopes[c - 1][n] - s * self.slopes[c - 1][n + 1]) for c in (1, 2)]

    def rate(self, t, x):
        T, q, boiler = x[:N], x[N:2 * N], x[2 * N]
        outside, sun = self.weather(t)
        flow = 80 * (T[:-1] - T[1:])
        warm = q + self.area * sun - self.k * (T - outside)
        warm[:-1] -= flow
        warm[1:] += flow
        return np.concatenate((warm / 4e6, (45 * self.on * (boiler - T) - q) / 600,
                               [(4e4 * self.boiler - q.sum()) / 4e5, self.boiler / 81]))

    def step(self, t, h):
        x = self.x
        a = self.rate(t, x)
        b = self.rate(t + h / 2, x + h / 2 * a)
        c = self.rate(t + h / 2, x + h / 2 * b)
        d = self.rate(t + h, x + h * c)
        return x + h / 6 * (a + 2 * b + 2 * c + d)

    def beyond(self, x, wanted):
        """By how much each switch is beyond the threshold at which it turns."""
        rooms = np.where(self.on, x[:N] - (wanted + 0.5), wanted - 0.5 - x[:N])
        return np.append(rooms, x[2 * N] - 60 if self.boiler else 50 - x[2 * N])

    def switch(self, x, wanted):
        which = self.beyond(x, wanted) > -1e-9
        self.on ^= which[:N]
        self.boiler ^= which[N]

    def go(self, t, end, wanted):
        self.switch(self.x, wanted)
        while t < end:
            h = min(20.0, end - t)
            if (self.beyond(self.step(t, h), wanted) > 0).any():
                below = 0.0
                for _ in range(50):
                    middle = (below + h) / 2
                    if (self.beyond(self.step(t, middle), wanted) > 0).any():
                        h = middle
                    else:
                        below = middle
            self.x = self.step(t, h)
            self.switch(self.x, wanted)
            t += h


class House(ModelTest):
    def test_against_rk4(self):
        run = simulate(HOUSE / "heated_house.yaml", "-cosim_accuracy", 1e-6, "-cosim_output_interval", 3600)
        reference, rows = Reference(), []
        for hour in range(48):
            rows.append(reference.x)
            reference.go(3600 * hour, 3600 * (hour + 1), 21 if 6 <= hour % 24 < 22 else 17)
        rows = np.array(rows + [reference.x])
        for name, exact in [(f"rooms.T[{i}]", rows[:, i - 1]) for i in range(1, N + 1)] + [
                ("rooms.q", rows[:, N:2 * N].sum(axis=1)), ("boiler.T", rows[:, 2 * N]), ("boiler.gas", rows[:, -1])]:
            error = np.abs(run.outputs[name] - exact).max() / np.ptp(exact)
            if name in ("rooms.T[1]", "rooms.q", "boiler.T", "boiler.gas"):
                print(f"{name}: {error:.1e} of its range")
            self.assertLess(error, 1e-5, name)


if __name__ == "__main__":
    unittest.main()
