"""A driver who follows a speed that is written as a list, and a gearbox that shifts by itself."""
import bisect


class Driver:
    """Proportional and integral control of the pedal; what is wanted is looked up in a list."""

    inputs = {"v": 0.0}
    states = {"sum": 0.0}
    outputs = ("pedal",)
    parameters = {"gain": 0.5, "time": 8.0}
    units = {"v": "m/s", "sum": "m"}
    wanted = [(0, 0), (10, 14), (30, 14), (40, 22), (60, 22)]  # s, m/s

    def missing(self, t, v):
        i = min(max(bisect.bisect(self.wanted, (t,)), 1), len(self.wanted) - 1)
        (t0, v0), (t1, v1) = self.wanted[i - 1:i + 1]
        return v0 + (v1 - v0) * (t - t0) / (t1 - t0) - v

    def derivatives(self, t, x, u):
        return self.missing(t, u.v)

    def outputs_at(self, t, x, u):
        return self.gain * (self.missing(t, u.v) + x.sum / self.time)


class Gearbox:
    """Takes its own steps: at the end of each it may shift."""

    inputs = {"v": 0.0, "pedal": 0.0}
    outputs = ("force",)
    parameters = {"power": 30e3}
    units = {"v": "m/s", "force": "N"}
    ratios = (9000.0, 5000.0, 3000.0)  # N with the pedal down
    limits = (7.0, 13.0)  # m/s, up

    def __init__(self):
        self.gear = 0

    def step(self, t, h, u):
        v = u(t + h).v
        if self.gear < 2 and v > self.limits[self.gear]:
            self.gear += 1
        elif self.gear > 0 and v < 0.8 * self.limits[self.gear - 1]:
            self.gear -= 1

    def outputs_at(self, t, u):
        return min(self.ratios[self.gear], self.power / max(u.v, 1)) * u.pedal
