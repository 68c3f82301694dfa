"""Models with events: accumulating, grazing, at rest, running empty, bouncing, with kinks."""
import numpy as np
from catalogue import Case, case, text, uniform
from exact import ClosedForm, Hybrid

_G = 9.81




@case("accumulating", 4)
def comes_to_rest(rng, number):
    """A ball whose bounces accumulate: an error that says so is right, and so is rest. A meter in
    another subsystem follows it; in the last, the experiment ends before."""
    e, height = (0.5, 0.3, 0.8, 0.8)[number], uniform(rng, 0.8, 1.2)
    first = np.sqrt(2 * height / _G)
    rest = first * (1 + e) / (1 - e)
    stop = float(f"{(3 * rest, 5 * rest, 1.5 * rest, 0.7 * rest)[number]:.3g}")
    model = text(stop, {
        "ball": f"equations: {{states: {{h: {height}, v: 0}}, derivatives: {{h: v, v: -9.81}}, "
                f"when: [{{condition: h < 0, set: {{v: -{e}*v}}}}], outputs: {{h: h}}}}",
        "meter": f"equations: {{inputs: {{h: {height}}}, states: {{s: 0}}, "
                 "derivatives: {s: h - s}, outputs: {s: s}}"}, ["ball.h -> meter.h"])
    instants, speeds, t, v = [], [], first, first * _G
    while v > 1e-10:
        v *= e
        instants.append(t)
        speeds.append(v)
        t += 2 * v / _G
    ticks = [([t], lambda t, x, d, v=v: ([0, v, x[2]], d)) for t, v in zip(instants, speeds)]
    ticks.append(([rest], lambda t, x, d: ([0, 0, x[2]], (0.0,))))
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1] * d[0], -_G * d[0], x[0] - x[2]], lambda t, x, d: [x[0], x[2]],
        [height, 0, 0], stop, ["ball.h", "meter.s"], d0=(1.0,), ticks=ticks), told=number < 3)


@case("bouncing", 3)
def moving_table(rng, number):
    """A ball on a table that moves, in another subsystem, by time or by its own states."""
    e, w = uniform(rng, 0.7, 0.85), (3.0, 3.0, 8.0)[number]
    amplitude = (0.1, 0.1, 0.02)[number]
    table = (f"outputs: {{h: '{amplitude}*sin({w}*t)', v: '{amplitude * w}*cos({w}*t)'}}"
             if number == 0 else
             f"states: {{h: 0, v: {amplitude * w}}}, derivatives: {{h: v, v: -{w * w}*h}}, "
             "outputs: {h: h, v: v}")
    model = text(2.0, {
        "table": f"equations: {{{table}}}",
        "ball": "equations: {inputs: {th: 0, tv: 0}, states: {h: 1, v: 0}, "
                "derivatives: {h: v, v: -9.81}, when: [{condition: h < th, "
                f"set: {{v: (1 + {e})*tv - {e}*v}}}}], outputs: {{h: h, v: v}}}}"},
        ["table.h -> ball.th", "table.v -> ball.tv"])

    def place(t):
        return amplitude * np.sin(w * t), amplitude * w * np.cos(w * t)

    def bounce(t, x, d):
        return [x[0], (1 + e) * place(t)[1] - e * x[1]], d
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], -_G + 0 * x[0]], lambda t, x, d: [*place(t), x[0], x[1]], [1, 0],
        2.0, ["table.h", "table.v", "ball.h", "ball.v"],
        guards=[(lambda t, x, d: place(t)[0] - x[0], bounce)]))


@case("grazing", 6)
def just_touched(rng, number):
    """A condition on a signal that is true for a moment only: of another subsystem, or beside it;
    in the last it is just not touched."""
    del rng
    level = (0.99, 0.9999, 0.999999, 0.999999, 0.99999, 1.000001)[number]
    beside, stop = number == 3, 20.0
    counter = (f"discrete: {{n: 0}}, states: {{%s}}, derivatives: {{%s}}, "
               f"when: [{{condition: x > {level}, set: {{n: n + 1, s: s + 1}}}}]")
    own = "equations: {inputs: {u: 0}, states: {x: 0, v: 1}, derivatives: {x: v, v: -x + 0*u}, " \
          "outputs: {x: x}}"
    if beside:
        model = text(stop, {
            "a": "equations: {inputs: {u: 0}, " + counter % (
                "x: 0, v: 1, s: 0", "x: v, v: -x + 0*u, s: -0.1*s")
                 + ", outputs: {x: x, n: n, s: s}}",
            "b": "equations: {inputs: {s: 0}, states: {z: 0}, derivatives: {z: s - z}, "
                 "outputs: {z: z}}"}, ["a.s -> b.s", "b.z -> a.u"])
        names = ["a.x", "a.n", "a.s"]
    else:
        model = text(stop, {
            "a": own, "b": "equations: {inputs: {x: 0}, " + counter % ("s: 0", "s: -0.1*s")
                           + ", outputs: {n: n, s: s}}"}, ["a.x -> b.x", "b.s -> a.u"])
        names = ["a.x", "b.n", "b.s"]
    first = np.arcsin(level) if level < 1 else np.inf
    instants = np.array([first + 2 * np.pi * k for k in range(4) if first + 2 * np.pi * k < stop])

    def values(t, after):
        since = t - instants[:, None]
        there = since >= 0 if after else since > 0
        return [np.sin(t), there.sum(axis=0),
                np.where(there, np.exp(-0.1 * np.maximum(since, 0)), 0.0).sum(axis=0)]
    return Case(model, lambda: ClosedForm(names, stop, lambda t: values(t, True),
                                          lambda t: values(t, False), instants))


@case("grazing", 2)
def just_below_the_ceiling(rng, number):
    """A ball, thrown up, passes a light beam by a hair at its top; then a motor starts."""
    gap = (1e-3, 1e-6)[number]
    speed = uniform(rng, 4, 6)
    top = speed**2 / (2 * _G)
    level = float(f"{top - gap:.10g}")
    begin = (speed - np.sqrt(speed**2 - 2 * _G * level)) / _G
    stop = float(f"{1.9 * speed / _G:.3g}")
    model = text(stop, {
        "ball": f"equations: {{states: {{h: 0, v: {speed}}}, derivatives: {{h: v, v: -9.81}}, "
                "outputs: {h: h}}",
        "beam": "equations: {inputs: {h: 0}, discrete: {on: 0}, "
                f"when: [{{condition: h > {level}, set: {{on: 1}}}}], outputs: {{on: on}}}}",
        "motor": "equations: {inputs: {on: 0}, states: {w: 0}, derivatives: {w: 5*(on - w)}, "
                 "outputs: {w: w}}"}, ["ball.h -> beam.h", "beam.on -> motor.on"])

    def values(t, after):
        on = t >= begin if after else t > begin
        return [speed * t - _G / 2 * t * t, on * 1.0,
                np.where(on, -np.expm1(-5 * np.maximum(t - begin, 0)), 0.0)]
    return Case(model, lambda: ClosedForm(["ball.h", "beam.on", "motor.w"], stop,
                                          lambda t: values(t, True), lambda t: values(t, False),
                                          [begin]))


@case("friction", 3)
def coulomb(rng, number):
    """Dry friction by modes: at rest it is what the force is."""
    force, spring = uniform(rng, 1.3, 1.8), (0.4, 0.1, 0.4)[number]
    stop, w = (12.0, 30.0, 12.0)[number], (1.0, 0.7, 1.0)[number]
    level = 0.9 if number == 2 else 0.7
    model = text(stop, {
        "m": "equations: {inputs: {F: 0, fr: 0}, states: {x: 0, v: 0}, "
             "derivatives: {x: v, v: F - fr}, outputs: {x: x, v: v}}",
        "fric": "equations: {inputs: {v: 0, F: 0}, discrete: {mode: 0}, when: ["
                "{condition: 'mode == 0 && F > 1', set: {mode: 1}}, "
                "{condition: 'mode == 0 && F < -1', set: {mode: -1}}, "
                "{condition: 'mode == 1 && v < 0', set: {mode: 'F < -1 ? -1 : 0'}}, "
                "{condition: 'mode == -1 && v > 0', set: {mode: 'F > 1 ? 1 : 0'}}], "
                f"outputs: {{fr: 'mode == 0 ? F : {level}*mode', mode: mode}}}}",
        "src": "equations: {inputs: {x: 0}, "
               f"outputs: {{F: '{force}*sin({w}*t) - {spring}*x'}}}}"},
        ["m.v -> fric.v", "src.F -> m.F", "src.F -> fric.F", "fric.fr -> m.fr", "m.x -> src.x"])

    def pull(t, x):
        return force * np.sin(w * t) - spring * x[0]

    def friction(t, x, d):
        return pull(t, x) if d[0] == 0 else level * d[0] + 0 * x[0]

    def goes(sign):
        return (lambda t, x, d: (sign * pull(t, x) - 1) if d[0] == 0 else -1 + 0 * x[0],
                lambda t, x, d: (x, (sign,)))

    def stands(sign):
        return (lambda t, x, d: -sign * x[1] if d[0] == sign else -1 + 0 * x[0],
                lambda t, x, d: (x, (-sign,) if -sign * pull(t, x) > 1 else (0.0,)))
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], pull(t, x) - friction(t, x, d)],
        lambda t, x, d: [x[0], x[1], friction(t, x, d), d[0], pull(t, x)], [0, 0], stop,
        ["m.x", "m.v", "fric.fr", "fric.mode", "src.F"], d0=(0.0,),
        guards=[goes(1.0), goes(-1.0), stands(1.0), stands(-1.0)]))


@case("running empty", 3)
def torricelli(rng, number):
    """A tank above another; the first runs empty, in the last both do."""
    c1, c2 = uniform(rng, 0.3, 0.5), uniform(rng, 0.1, 0.2)
    h1, h2, stop = 1.0, 0.2, (8.0, 8.0, 40.0)[number]
    # The outflow of an empty tank, written in two ways.
    flow = ("sqrt(max(h, 0))", "(h > 0 ? sqrt(h) : 0)", "sqrt(max(h, 0))")[number]
    model = text(stop, {
        "upper": f"equations: {{states: {{h: {h1}}}, derivatives: {{h: '-{c1}*{flow}'}}, "
                 f"outputs: {{h: h, q: '{c1}*{flow}'}}}}",
        "lower": f"equations: {{inputs: {{q: 0}}, states: {{h: {h2}}}, "
                 f"derivatives: {{h: 'q - {c2}*{flow}'}}, outputs: {{h: h}}}}"},
        ["upper.q -> lower.q"])

    def rows(t, x, d):  # of the roots of levels, in which the outflow is a line
        del t
        return [-c1 / 2 * d[0] + 0 * x[0],
                (c1 * x[0] / x[1] - c2) / 2 if d[1] else 0 * x[1]]
    return Case(model, lambda: Hybrid(
        rows, lambda t, x, d: [x[0]**2, c1 * x[0], x[1]**2], np.sqrt([h1, h2]), stop,
        ["upper.h", "upper.q", "lower.h"], d0=(1.0, 1.0),
        guards=[(lambda t, x, d: -x[0] * d[0] - (1 - d[0]),
                 lambda t, x, d: ([0, x[1]], (0.0, d[1]))),
                (lambda t, x, d: -x[1] * d[1] - (1 - d[1]),
                 lambda t, x, d: ([x[0], 0], (d[0], 0.0)))]))


@case("kinks", 2)
def rectifier(rng, number):
    """|x| of an oscillator in one subsystem feeds a filter in another, and back."""
    w, back = uniform(rng, 2, 4), (0.0, 0.5)[number]
    model = text(15.0, {
        "source": f"equations: {{inputs: {{u: 0}}, states: {{x: 0, v: {w}}}, "
                  f"derivatives: {{x: v, v: '-{w * w}*x - {back}*u*v'}}, outputs: {{y: abs(x)}}}}",
        "filter": "equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: 2*(y - z)}, "
                  "outputs: {z: z}}"}, ["source.y -> filter.y", "filter.z -> source.u"])

    def side(sign):
        return (lambda t, x, d: sign * x[0] if d[0] != sign else -1 + 0 * x[0],
                lambda t, x, d: (x, (sign,)))
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], -w * w * x[0] - back * x[2] * x[1], 2 * (d[0] * x[0] - x[2])],
        lambda t, x, d: [d[0] * x[0], x[2]], [0, w, 0], 15.0, ["source.y", "filter.z"], d0=(1.0,),
        guards=[side(1.0), side(-1.0)]))


@case("kinks", 3)
def elastic_stop(rng, number):
    """A mass meets a wall of springs; the wall is another subsystem."""
    stiffness, damping = (1e2, 1e4, 1e5)[number], uniform(rng, 0.05, 0.2)
    wall = uniform(rng, 0.6, 0.8)
    stop = 12.0
    model = text(stop, {
        "mass": f"equations: {{inputs: {{f: 0}}, states: {{x: 0, v: 1}}, "
                f"derivatives: {{x: v, v: '-x - {damping}*v + f + 0.5*cos(1.3*t)'}}, "
                "outputs: {x: x}}",
        "wall": "equations: {inputs: {x: 0}, "
                f"outputs: {{f: 'x > {wall} ? -{stiffness}*(x - {wall}) : 0'}}}}"},
        ["mass.x -> wall.x", "wall.f -> mass.f"])

    def force(x, d):
        return -stiffness * (x[0] - wall) * d[0]
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], -x[0] - damping * x[1] + force(x, d) + 0.5 * np.cos(1.3 * t)],
        lambda t, x, d: [x[0], force(x, d)], [0, 1], stop, ["mass.x", "wall.f"], d0=(0.0,),
        guards=[(lambda t, x, d: x[0] - wall if not d[0] else -1 + 0 * x[0],
                 lambda t, x, d: (x, (1.0,))),
                (lambda t, x, d: wall - x[0] if d[0] else -1 + 0 * x[0],
                 lambda t, x, d: (x, (0.0,)))]))
