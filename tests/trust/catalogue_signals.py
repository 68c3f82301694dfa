"""Models whose signals are narrow, late, growing, decaying, held or from tables."""
import numpy as np
from catalogue import Case, case, coupled, text, uniform
from equation_models import Subsystem
from exact import ClosedForm, Hybrid


def _mast(force, more=()):
    """A mast in the wind; `force` of t."""
    return [Subsystem("wind", outputs={"F": force}, **dict(more)),
            Subsystem("mast", {"x": 0, "v": 0}, {"x": "v", "v": "(F - 40*x - 2*v)/10"},
                      {"x": "x"}, {"F": 0})]


def _around(width, *centres):
    """The reference's largest step: small enough to see a pulse before it is in it."""
    return lambda t: max(width, min(abs(t - c) for c in centres)) / 4


@case("narrow", 5)
def gust(rng, number):
    """Half a second in a minute, or less in more."""
    width = (0.3, 0.1, 1.0, 0.03, 0.01)[number]
    stop = (60, 60, 300, 60, 20)[number]
    at = uniform(rng, 0.3 * stop, 0.8 * stop)
    return coupled(_mast(f"100*exp(-((t - {at})/{width})^2)"), ["wind.F -> mast.F"], stop,
                   largest=_around(width, at))


@case("narrow", 2)
def two_gusts(rng, number):
    """One that is wide and, later, one that is narrow."""
    wide, narrow = uniform(rng, 8, 12), uniform(rng, 25, 38)
    width = (0.2, 0.05)[number]
    force = f"40*exp(-((t - {wide})/3)^2) + 100*exp(-((t - {narrow})/{width})^2)"
    return coupled(_mast(force), ["wind.F -> mast.F"], 40,
                   largest=_around(width, wide, narrow))


@case("narrow", 3)
def spike_of_another(rng, number):
    """A pulse made from another subsystem's state: a peak each time a slow oscillation passes."""
    sharp = (50, 300, 2000)[number]
    level = uniform(rng, 0.3, 0.7)
    subsystems = [
        Subsystem("slow", {"x": 0, "v": 1}, {"x": "v", "v": "-0.25*x"}, {"x": "x"}),
        Subsystem("peak", outputs={"y": f"1/(1 + ({sharp}*(x - {level}))^2)"}, inputs={"x": 0}),
        Subsystem("sum", {"s": 0}, {"s": "y - 0.1*s"}, {"s": "s"}, {"y": 0})]
    return coupled(subsystems, ["slow.x -> peak.x", "peak.y -> sum.y"], 25, largest=0.02)


@case("narrow", 2)
def spike_back(rng, number):
    """... and what comes of it pushes the oscillation."""
    sharp = (50, 500)[number]
    level = uniform(rng, 0.3, 0.7)
    subsystems = [
        Subsystem("slow", {"x": 0, "v": 1}, {"x": "v", "v": "-x + 0.5*u"}, {"x": "x"}, {"u": 0}),
        Subsystem("peak", outputs={"y": f"exp(-({sharp}*(x - {level}))^2)"}, inputs={"x": 0})]
    return coupled(subsystems, ["slow.x -> peak.x", "peak.y -> slow.u"], 20,
                   largest=(0.02, 0.005)[number])


@case("late", 3)
def late_push(rng, number):
    """Nothing for most of the experiment, then a push that comes smoothly or at an event."""
    stop, at, rate = 50.0, uniform(rng, 35, 45), (2, 10, 50)[number]
    subsystems = [
        Subsystem("switch", outputs={"u": f"1/(1 + exp(-{rate}*(t - {at})))"}),
        Subsystem("a", {"x": 0}, {"x": "3*(y - x) + u"}, {"x": "x"}, {"u": 0, "y": 0}),
        Subsystem("b", {"y": 0}, {"y": "x - 2*y"}, {"y": "y"}, {"x": 0})]
    return coupled(subsystems, ["switch.u -> a.u", "a.x -> b.x", "b.y -> a.y"], stop,
                   largest=_around(1 / rate, at))


@case("late", 2)
def late_step(rng, number):
    """A step at an instant, found as an event, into two coupled states."""
    at = uniform(rng, 70, 90)
    c = (4.0, 400.0)[number]
    model = text(100, {
        "source": f"equations: {{outputs: {{u: 't < {at} ? 0 : 1'}}}}",
        "a": "equations: {inputs: {u: 0, w: 0}, states: {x: 0}, "
             "derivatives: {x: 'w + 0*u'}, outputs: {x: x}}",
        "b": f"equations: {{inputs: {{x: 0, u: 0}}, states: {{v: 0}}, "
             f"derivatives: {{v: '{c}*(u - x) - 0.3*v'}}, outputs: {{v: v}}}}"},
        ["source.u -> a.u", "source.u -> b.u", "b.v -> a.w", "a.x -> b.x"])

    def solve():
        return Hybrid(lambda t, x, d: [x[1], c * (d[0] - x[0]) - 0.3 * x[1]],
                      lambda t, x, d: [d[0], x[0], x[1]], [0, 0], 100.0,
                      ["source.u", "a.x", "b.v"], d0=(0.0,),
                      ticks=[([at], lambda t, x, d: (x, (1.0,)))])
    return Case(model, solve)


@case("late", 2)
def fall_from_rest(rng, number):
    """An upright pendulum that stands for long and falls at last."""
    start = (1e-6, 1e-9)[number]
    subsystems = [
        Subsystem("arm", {"phi": start, "w": 0}, {"phi": "w", "w": "m - 0.1*w"},
                  {"phi": "phi", "w": "w"}, {"m": 0}),
        Subsystem("gravity", outputs={"m": "2*sin(phi)"}, inputs={"phi": 0})]
    return coupled(subsystems, ["arm.phi -> gravity.phi", "gravity.m -> arm.m"],
                   (14, 18)[number])


@case("growing", 3)
def growth(rng, number):
    """e^50, e^50 from 1e-20, and e^20."""
    rate, start = uniform(rng, 4.6, 5.2), (1.0, 1e-20, 1.0)[number]
    stop = (10.0, 10.0, 4.0)[number]
    body = f"equations: {{inputs: {{u: {start}}}, states: {{x: {start}}}, " \
           f"derivatives: {{x: '{rate}*u'}}, outputs: {{y: x}}}}"
    model = text(stop, {"a": body, "b": body}, ["a.y -> b.u", "b.y -> a.u"])
    return Case(model, lambda: ClosedForm(["a.y", "b.y"], stop,
                                          lambda t: [start * np.exp(rate * t)] * 2))


@case("growing", 2)
def growing_oscillation(rng, number):
    """x'' - 2 d x' + w^2 x = 0."""
    d, w, stop = (0.3, 1.0)[number], uniform(rng, 3, 5), (40.0, 25.0)[number]
    subsystems = [Subsystem("a", {"x": 1}, {"x": "v"}, {"x": "x"}, {"v": 0}),
                  Subsystem("b", {"v": d}, {"v": f"{2 * d}*v - {w * w + d * d}*x"}, {"v": "v"},
                            {"x": 0})]
    made = coupled(subsystems, ["b.v -> a.v", "a.x -> b.x"], stop)
    made.solve = lambda: ClosedForm(
        ["a.x", "b.v"], stop,
        lambda t: [np.exp(d * t) * np.cos(w * t),
                   np.exp(d * t) * (d * np.cos(w * t) - w * np.sin(w * t))])
    return made


@case("decaying", 3)
def decay(rng, number):
    """To nothing, in two coupled states; two rates, or oscillating."""
    p, q = uniform(rng, 2, 4), ((0.5, 0.5), (15.0, 0.6), (1.0, -9.0))[number]
    subsystems = [
        Subsystem("a", {"x": 1}, {"x": f"-{p}*x + {q[0]}*u"}, {"x": "x"}, {"u": 0}),
        Subsystem("b", {"y": 0.3}, {"y": f"{q[1]}*u - {5 * p}*y"}, {"y": "y"}, {"u": 1})]
    return coupled(subsystems, ["b.y -> a.u", "a.x -> b.u"], (20, 20, 30)[number])


@case("held", 4)
def held_connection(rng, number):
    """`hold: zoh` on one connection, with steps by accuracy or fixed ones."""
    w = uniform(rng, 1.5, 2.5)
    subsystems = [
        Subsystem("a", {"x": 1, "v": 0}, {"x": "v", "v": f"-{w * w}*x - 0.2*v + u"}, {"x": "x"},
                  {"u": 0}),
        Subsystem("b", {"w": 0}, {"w": "-w + x"}, {"w": "w"}, {"x": 1})]
    step = (None, 0.1, 0.01, 0.001)[number]
    return coupled(subsystems, ["a.x -> b.x", "b.w -> a.u"], 10,
                   edit=lambda t: t.replace("- a.x -> b.x",
                                            "- {connect: a.x -> b.x, hold: zoh}"),
                   options=("-cosim_step", step) if step else ())


def _jagged(stop, rows, after, number):
    """Oscillator on a road of straight lines: rows of (time, height), the last repeated or held."""
    c, damping = (40.0, 9.0, 400.0)[number % 3], (2.0, 0.5, 8.0)[number % 3]
    times, heights = np.array(rows, float).T
    period = times[-1]
    model = text(stop, {
        "road": f"table: {{file: road.csv, after: {after}}}",
        "car": f"equations: {{inputs: {{z: 0}}, states: {{x: 0.2, v: 0}}, derivatives: {{x: v, "
               f"v: '{c}*(z - x) - {damping}*v'}}, outputs: {{x: x}}}}"},
        ["road.z -> car.z"])
    csv = "time,z\n" + "".join(f"{t!r},{z!r}\n" for t, z in zip(times.tolist(), heights.tolist()))
    lines = []  # begin, value there, slope
    for round_ in range(int(np.ceil(stop / period)) + 1 if after == "repeat" else 1):
        for i in range(len(times) - 1):
            if times[i + 1] > times[i] and round_ * period + times[i] <= stop:
                lines.append((round_ * period + times[i], heights[i],
                              (heights[i + 1] - heights[i]) / (times[i + 1] - times[i])))
    if after == "hold":
        lines.append((times[-1], heights[-1], 0.0))

    def solve():
        def road(t, d):
            return d[1] + d[2] * (t - d[0])
        ticks = [([line[0]], lambda t, x, d, line=line: (x, line)) for line in lines[1:]]
        return Hybrid(lambda t, x, d: [x[1], c * (road(t, d) - x[0]) - damping * x[1]],
                      lambda t, x, d: [road(t, d), x[0]], [0.2, 0], float(stop),
                      ["road.z", "car.x"], d0=lines[0], ticks=ticks)
    return Case(model, solve, files={"road.csv": csv})


@case("tables", 3)
def saw(rng, number):
    """Repeated, with a jump, up to a multiple of its period or beyond."""
    del rng
    return _jagged((2.0, 7.3, 10.0)[number], [(0, 0), (1, 1)], "repeat", number)


@case("tables", 3)
def steps_and_ramps(rng, number):
    """A jump, ramps and a plateau; held, or repeated."""
    t = np.sort(rng.uniform(0.5, 4.5, 3)).round(2)
    z = rng.uniform(-1, 1, 4).round(2)
    rows = [(0, 0), (t[0], z[0]), (t[0], z[1]), (t[1], z[1]), (t[2], z[2]), (5, z[3])]
    return _jagged((12.0, 12.0, 8.0)[number], rows, ("hold", "repeat", "repeat")[number], number)
