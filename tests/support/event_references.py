"""Instants of events from closed forms between them."""
import math


def bisected(f, a, b):
    """The root of f, which rises, between a and b."""
    for _ in range(100):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if f(middle) < 0 else (a, middle)
    return b


def first_root(f, begin, end, step=1e-3):
    """The first time at which f rises through zero, or None."""
    t = begin
    while t < end:
        if f(t) < 0 <= f(t + step):
            return bisected(f, t, t + step)
        t += step
    return None


def thermostat_instants(stop):
    t, temperature, heat, instants = 0.0, 20.0, 1, []
    while True:
        rest, goal = 10 + 20 * heat, 21 if heat else 19
        t -= math.log((goal - rest) / (temperature - rest)) / 0.1
        temperature, heat = goal, 1 - heat
        if t > stop:
            return instants
        instants.append(t)


def impacts(stop):
    g, e = 9.81, 0.8
    t, h, v, instants = 0.0, 1.0, 0.0, []
    while True:
        begin, height, speed = t, h, v

        def depth(s):
            return 0.1 * math.sin(3 * s) - (height + speed * (s - begin) - g / 2 * (s - begin) ** 2)

        found = first_root(depth, t + 1e-6, stop, 1e-4)
        if found is None:
            return instants
        h, before = 0.1 * math.sin(3 * found), v - g * (found - t)
        v = (1 + e) * 0.3 * math.cos(3 * found) - e * before
        t = found
        instants.append((t, v))
