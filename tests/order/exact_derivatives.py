"""Equations in SI units: derivatives by form, so that no coefficient is too small to count."""
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from references import observed_orders

# Ideal gas behind a valve: amount n, temperature T, pressure p = k n T; another gas adds to p.
GAS = """name: gas
experiment: {{start: 0, stop: 2}}
subsystems:
  gas:
    equations:
      inputs: {{pv: 0, w: 0}}
      states: {{n: {n!r}, T: {T3!r}}}
      derivatives: {{n: "w*{n!r}", T: "0.1*({T4!r} - T) + {heat!r}*w"}}
      outputs: {{p: "pv + {k!r}*n*T"}}
  vapour:
    equations:
      states: {{q: {q!r}}}
      derivatives: {{q: "{dq!r}*cos(5*t)"}}
      outputs: {{pv: q}}
  valve:
    equations:
      inputs: {{p: {p!r}}}
      states: {{w: 0}}
      derivatives: {{w: "-2*w - {g!r}*(p - {p1!r})"}}
      outputs: {{w: w}}
connections:
  - vapour.pv -> gas.pv
  - gas.p -> valve.p
  - valve.w -> gas.w
"""
GAS_CONSTANT = 0.33135576  # in units of one


def gas(n=1.0, temperature=1.0, pressure=1.0):
    """The model with its variables in these units."""
    return GAS.format(n=n, T3=3 * temperature, T4=4 * temperature, heat=0.4 * temperature,
                      k=GAS_CONSTANT * pressure / (n * temperature), q=0.01 * pressure,
                      dq=0.02 * pressure, p=pressure, g=10 / pressure, p1=1.1 * pressure)


def reference(times, steps=200):
    """n, T, q, w at `times`: classical Runge-Kutta."""
    def slope(t, s):
        n, heat, q, w = s
        return np.array([w, 0.1 * (4 - heat) + 0.4 * w, 0.02 * np.cos(5 * t),
                         -2 * w - 10 * (q + GAS_CONSTANT * n * heat - 1.1)])
    states = [np.array([1, 3, 0.01, 0.0])]
    for begin, end in zip(times[:-1], times[1:]):
        h, s = (end - begin) / steps, states[-1]
        for i in range(steps):
            t = begin + i * h
            k1 = slope(t, s)
            k2 = slope(t + h / 2, s + h / 2 * k1)
            k3 = slope(t + h / 2, s + h / 2 * k2)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(t + h, s + h * k3))
        states.append(s)
    return np.array(states)


SI = {"n": 2.4e25, "temperature": 100.0, "pressure": 1e5}
STEPS = (0.1, 0.05, 0.025)


class UnitsOfGas(unittest.TestCase):
    def states(self, units, *options):
        with tempfile.TemporaryDirectory() as folder:
            results = simulate(write_model(folder, "gas", gas(**units)), *TIGHT, *options)
        unit = np.array([units.get("n", 1), units.get("temperature", 1),
                         units.get("pressure", 1), 1])
        return results.time, results.states.columns("gas.n", "gas.T", "vapour.q", "valve.w") / unit

    def test_orders(self):
        for method, lowest in (("jfm", 3.9), ("missiles", 3.9)):
            errors = []
            for step in STEPS:
                time, states = self.states(SI, "-cosim_type", method, "-cosim_step", step)
                errors.append(np.max(np.abs(states - reference(time))))
            orders = observed_orders(STEPS, errors)
            print(f"{method:10} {errors} {np.round(orders, 2)}")
            self.assertGreater(orders[-1], lowest, method)
            self.assertLess(orders[-1], 4.6, method)

    def test_units_of_one(self):
        for method in ("jfm", "missiles", "ifosmondi"):
            with self.subTest(method=method):
                options = ("-cosim_type", method, "-cosim_step", 0.05)
                time, one = self.states({}, *options)
                for units in (SI, {"n": 1e20, "temperature": 1e-2, "pressure": 1e3}):
                    other_time, other = self.states(units, *options)
                    np.testing.assert_array_equal(time, other_time)
                    np.testing.assert_allclose(other, one, rtol=0, atol=1e-8)


if __name__ == "__main__":
    unittest.main()
