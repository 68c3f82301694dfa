"""Models that switch: sampled controllers, relays, thermostats, several at once, cascades."""
import numpy as np
from catalogue import Case, case, text, uniform
from exact import Hybrid


def _ticks(period, stop, offset=0.0):
    return offset + period * np.arange(int(np.floor((stop - offset) / period + 1e-9)) + 1)


@case("sampled", 6)
def sampled_loop(rng, number):
    """A sampled PI controller of two lags; macro-steps of the period, twice and half of it,
    and by accuracy."""
    period = (0.01, 0.01, 0.01, 0.01, 0.05, 0.003)[number]
    share = (1, 2, 0.5, None, None, 1)[number]
    rate, stop = uniform(rng, 250, 350) * 0.01 / period, 100 * period
    offset = 0.4 * period if number == 4 else 0.0
    p, i = uniform(rng, 0.3, 0.5), uniform(rng, 0.05, 0.15)
    tick = f"every: {period}" + (f", offset: {offset}" if offset else "")
    model = text(stop, {
        "pi": "equations: {inputs: {y: 0}, discrete: {u: 0, I: 0}, "
              f"when: [{{{tick}, set: {{u: '{p}*(1 - y) + pre(I)', I: 'pre(I) + {i}*(1 - y)'}}}}], "
              "outputs: {u: u}}",
        "a": "equations: {inputs: {u: 0, y: 0}, states: {x: 0}, "
             f"derivatives: {{x: {rate}*(u - y)}}, outputs: {{x: x}}}}",
        "b": "equations: {inputs: {x: 0}, states: {y: 0}, "
             f"derivatives: {{y: {rate}*(x - y)}}, outputs: {{y: y}}}}"},
        ["pi.u -> a.u", "a.x -> b.x", "b.y -> a.y", "b.y -> pi.y"])

    def control(t, x, d):
        return x, (p * (1 - x[1]) + d[1], d[1] + i * (1 - x[1]))
    options = ("-cosim_step", repr(share * period)) if share else ()
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [rate * (d[0] - x[1]), rate * (x[0] - x[1])],
        lambda t, x, d: [d[0], x[0], x[1]], [0, 0], stop, ["pi.u", "a.x", "b.y"], d0=(0.0, 0.0),
        ticks=[(_ticks(period, stop, offset), control)]), options=options)


@case("sampled", 3)
def sampled_oscillator(rng, number):
    """The plant moves much between samples; steps of the sampling period in the first two."""
    period, w = (0.5, 0.1, 0.25)[number], (8.0, 30.0, 12.0)[number] * uniform(rng, 0.9, 1.1)
    stop = 40 * period
    model = text(stop, {
        "control": "equations: {inputs: {x: 0}, discrete: {u: 0, old: 0}, "
                   f"when: [{{every: {period}, "
                   "set: {u: '0.3 - 0.15*x + 0.05*pre(old)', old: x}}], outputs: {u: u}}",
        "plant": f"equations: {{inputs: {{u: 0}}, states: {{x: 1, v: 0}}, derivatives: {{x: v, "
                 f"v: '{w * w}*(u - x) - {0.1 * w}*v'}}, outputs: {{x: x}}}}",
        "meter": "equations: {inputs: {x: 1}, states: {z: 0}, derivatives: {z: x - z}, "
                 "outputs: {z: z}}"},
        ["control.u -> plant.u", "plant.x -> control.x", "plant.x -> meter.x"])
    options = ("-cosim_step", repr(period)) if number < 2 else ()
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], w * w * (d[0] - x[0]) - 0.1 * w * x[1], x[0] - x[2]],
        lambda t, x, d: [d[0], x[0], x[2]], [1, 0, 0], stop,
        ["control.u", "plant.x", "meter.z"], d0=(0.0, 0.0),
        ticks=[(_ticks(period, stop),
                lambda t, x, d: (x, (0.3 - 0.15 * x[0] + 0.05 * d[1], float(x[0]))))]),
                options=options)


@case("sampled", 2)
def sampled_cart(rng, number):
    """An unstable plant that a sampled controller holds."""
    k, period = uniform(rng, 3, 5), (0.02, 0.05)[number]
    model = text(4.0, {
        "plant": f"equations: {{inputs: {{u: 0}}, states: {{x: 0.5, v: 0}}, "
                 f"derivatives: {{x: v, v: '{k * k}*x + u'}}, outputs: {{x: x, v: v}}}}",
        "control": f"equations: {{inputs: {{x: 0.5, v: 0}}, discrete: {{u: 0}}, "
                   f"when: [{{every: {period}, set: {{u: '-{2.5 * k * k}*x - {2.2 * k}*v'}}}}], "
                   "outputs: {u: u}}"},
        ["plant.x -> control.x", "plant.v -> control.v", "control.u -> plant.u"])
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], k * k * x[0] + d[0]], lambda t, x, d: [x[0], x[1], d[0]], [0.5, 0],
        4.0, ["plant.x", "plant.v", "control.u"], d0=(0.0,),
        ticks=[(_ticks(period, 4.0),
                lambda t, x, d: (x, (float(-2.5 * k * k * x[0] - 2.2 * k * x[1]),)))]))


@case("sampled", 2)
def pulse_width(rng, number):
    """A converter whose pulses end where a sampled controller has said: errors of what is held move instants, and
    grow where the loop does."""
    period, gain = 1e-4, (0.1, 0.05)[number] * uniform(rng, 0.95, 1.05)
    slow, load, stop = uniform(rng, 1.5e-3, 2.5e-3), uniform(rng, 0.15, 0.2), 200 * period
    model = text(stop, {
        "pulse": "equations: {inputs: {v: 0}, discrete: {on: 1, d: 0.5, i: 0, last: 0}, when: ["
                 f"{{every: {period}, set: {{on: 1, last: t, d: 'min(0.9, max(0.05, {gain}*(5 - v) + pre(i)))', "
                 f"i: 'pre(i) + {slow}*(5 - v)'}}}}, {{condition: t - last > {period}*d, set: {{on: 0}}}}], "
                 "outputs: {on: on}}",
        "coil": "equations: {inputs: {on: 1, v: 0}, states: {i: 0}, derivatives: {i: (12*on - v - 0.05*i)/1e-4}, "
                "outputs: {i: i}}",
        "cap": f"equations: {{inputs: {{i: 0}}, states: {{v: 0}}, derivatives: {{v: (i - {load}*v)/2e-4}}, "
               "outputs: {v: v}}"},
        ["pulse.on -> coil.on", "cap.v -> coil.v", "coil.i -> cap.i", "cap.v -> pulse.v"])

    def tick(t, x, d):
        return x, (1.0, min(0.9, max(0.05, gain * (5 - x[1]) + d[2])), d[2] + slow * (5 - x[1]), t)
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [(12 * d[0] - x[1] - 0.05 * x[0]) / 1e-4, (x[0] - load * x[1]) / 2e-4],
        lambda t, x, d: [d[0], x[0], x[1]], [0, 0], stop, ["pulse.on", "coil.i", "cap.v"], d0=(1.0, 0.5, 0.0, 0.0),
        guards=[(lambda t, x, d: t - d[3] - period * d[1], lambda t, x, d: (x, (0.0, *d[1:])))],
        ticks=[(_ticks(period, stop), tick)]))


def _relay(state, low, high, heat):
    """Guards of a thermostat on a state: its heat is the discrete value of this number."""
    def switched(d, value):
        return tuple(value if i == heat else other for i, other in enumerate(d))
    return [(lambda t, x, d: x[state] - high, lambda t, x, d: (x, switched(d, 0.0))),
            (lambda t, x, d: low - x[state], lambda t, x, d: (x, switched(d, 1.0)))]


_THERMOSTAT = ("equations: {{inputs: {{T: 20}}, discrete: {{heat: 1}}, when: ["
               "{{condition: T > {high}, set: {{heat: 0}}}}, "
               "{{condition: T < {low}, set: {{heat: 1}}}}], outputs: {{heat: heat}}}}")


@case("relays", 3)
def thermostats(rng, number):
    """One to three rooms side by side, each with its thermostat."""
    count, stop = number + 1, 30.0
    outside, loss, wall = 10.0, uniform(rng, 0.08, 0.12), 0.05
    power = [uniform(rng, 2, 3) for _ in range(count)]
    subsystems, links, guards, names = {}, [], [], []
    for k in range(count):
        low, high = 19 - 0.5 * k, 21 + 0.25 * k
        left = f" + {wall}*(l - T)" if k else ""
        right = f" + {wall}*(r - T)" if k + 1 < count else ""
        subsystems[f"room{k}"] = (
            f"equations: {{inputs: {{heat: 1, l: 20, r: 20}}, states: {{T: 20}}, derivatives: "
            f"{{T: '{loss}*({outside} - T) + {power[k]}*heat{left}{right}'}}, outputs: {{T: T}}}}")
        subsystems[f"th{k}"] = _THERMOSTAT.format(low=low, high=high)
        links += [f"room{k}.T -> th{k}.T", f"th{k}.heat -> room{k}.heat"]
        if k:
            links += [f"room{k - 1}.T -> room{k}.l", f"room{k}.T -> room{k - 1}.r"]
        guards += _relay(k, low, high, k)
        names += [f"room{k}.T", f"th{k}.heat"]

    def rows(t, x, d):
        del t
        result = [loss * (outside - x[k]) + power[k] * d[k] for k in range(count)]
        for k in range(count - 1):
            result[k] = result[k] + wall * (x[k + 1] - x[k])
            result[k + 1] = result[k + 1] + wall * (x[k] - x[k + 1])
        return result
    return Case(text(stop, subsystems, links), lambda: Hybrid(
        rows, lambda t, x, d: [v for k in range(count) for v in (x[k], d[k])],
        [20.0] * count, stop, names, d0=(1.0,) * count, guards=guards))


@case("relays", 2)
def relay_oscillator(rng, number):
    """A relay with hysteresis drives a second-order plant around."""
    width, damping = (0.2, 0.02)[number], uniform(rng, 0.8, 1.2)
    stop = (20.0, 8.0)[number]
    model = text(stop, {
        "relay": f"equations: {{inputs: {{x: 0}}, discrete: {{u: 1}}, when: ["
                 f"{{condition: x > {width}, set: {{u: -1}}}}, {{condition: x < -{width}, "
                 "set: {u: 1}}], outputs: {u: u}}",
        "plant": f"equations: {{inputs: {{u: 1}}, states: {{x: 0, v: 0}}, "
                 f"derivatives: {{x: v, v: 5*u - {damping}*v}}, outputs: {{x: x, v: v}}}}"},
        ["relay.u -> plant.u", "plant.x -> relay.x"])
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], 5 * d[0] - damping * x[1]], lambda t, x, d: [d[0], x[0], x[1]],
        [0, 0], stop, ["relay.u", "plant.x", "plant.v"], d0=(1.0,),
        guards=[(lambda t, x, d: x[0] - width, lambda t, x, d: (x, (-1.0,))),
                (lambda t, x, d: -width - x[0], lambda t, x, d: (x, (1.0,)))]))


@case("together", 3)
def relays_together(rng, number):
    """Several that watch one signal and switch at the same instant, in subsystems of their own."""
    count, w = (2, 4, 8)[number], uniform(rng, 0.8, 1.2)
    stop = 15.0
    subsystems = {"source": f"equations: {{states: {{x: 1, v: 0}}, derivatives: {{x: v, "
                            f"v: '-{w * w}*x'}}, outputs: {{x: x}}}}"}
    links = []
    for k in range(count):
        subsystems[f"r{k}"] = (
            f"equations: {{inputs: {{x: 1}}, discrete: {{on: 1}}, states: {{y: 0}}, derivatives: "
            f"{{y: '{k + 1}*(on - y)'}}, when: [{{condition: x < 0.3, set: {{on: 0}}}}, "
            "{condition: x > 0.3, set: {on: 1}}], outputs: {y: y, on: on}}")
        links.append(f"source.x -> r{k}.x")
    names = ["source.x"] + [f"r{k}.{v}" for k in range(count) for v in ("y", "on")]
    return Case(text(stop, subsystems, links), lambda: Hybrid(
        lambda t, x, d: [x[1], -w * w * x[0]] + [(k + 1) * (d[0] - x[2 + k]) for k in range(count)],
        lambda t, x, d: [x[0]] + [v for k in range(count) for v in (x[2 + k], d[0])],
        [1, 0] + [0] * count, stop, names, d0=(1.0,),
        guards=[(lambda t, x, d: 0.3 - x[0], lambda t, x, d: (x, (0.0,))),
                (lambda t, x, d: x[0] - 0.3, lambda t, x, d: (x, (1.0,)))]))


@case("together", 2)
def samplers_together(rng, number):
    """Two sampled controllers whose ticks meet every second or third time."""
    fast, slow = ((0.1, 0.2), (0.04, 0.12))[number]
    stop, gain = 50 * fast, uniform(rng, 0.3, 0.6)
    one = "equations: {{inputs: {{x: 0}}, discrete: {{u: 0}}, when: [{{every: {p}, " \
          "set: {{u: '{g}*(1 - x)'}}}}], outputs: {{u: u}}}}"
    model = text(stop, {
        "c1": one.format(p=fast, g=gain), "c2": one.format(p=slow, g=2 * gain),
        "p1": "equations: {inputs: {u: 0, o: 0}, states: {x: 0}, "
              "derivatives: {x: 3*(u - x) + o}, outputs: {x: x}}",
        "p2": "equations: {inputs: {u: 0, o: 0}, states: {x: 0.5}, "
              "derivatives: {x: 2*(u - x) + o}, outputs: {x: x}}"},
        ["c1.u -> p1.u", "c2.u -> p2.u", "p1.x -> c1.x", "p2.x -> c2.x", "p1.x -> p2.o",
         "p2.x -> p1.o"])
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [3 * (d[0] - x[0]) + x[1], 2 * (d[1] - x[1]) + x[0]],
        lambda t, x, d: [d[0], d[1], x[0], x[1]], [0, 0.5], stop, ["c1.u", "c2.u", "p1.x", "p2.x"],
        d0=(0.0, 0.0),
        ticks=[(_ticks(fast, stop), lambda t, x, d: (x, (float(gain * (1 - x[0])), d[1]))),
               (_ticks(slow, stop), lambda t, x, d: (x, (d[0], float(2 * gain * (1 - x[1])))))]))


@case("together", 3)
def cascade(rng, number):
    """What one subsystem counts makes another act at the same instant, which kicks a third; in the
    last, by a count that is reached exactly."""
    w, after = uniform(rng, 0.8, 1.2), (2, 1, 2)[number]
    condition = (f"> {after - 0.5}", f"> {after - 0.5}", f">= {after}")[number]
    stop = 25.0
    model = text(stop, {
        "source": f"equations: {{inputs: {{k: 0}}, states: {{x: 1, v: 0}}, derivatives: {{x: v, "
                  f"v: '-{w * w}*x + 0.2*k'}}, outputs: {{x: x}}}}",
        "count": "equations: {inputs: {x: 1}, discrete: {n: 0}, when: [{condition: x < 0, "
                 "set: {n: n + 1}}], outputs: {n: n}}",
        "act": f"equations: {{inputs: {{n: 0}}, discrete: {{done: 0}}, when: [{{condition: "
               f"'n - done {condition}', set: {{done: n}}}}], outputs: {{done: done}}}}",
        "kicked": "equations: {inputs: {done: 0}, states: {y: 0}, derivatives: {y: done - 0.5*y}, "
                  "outputs: {y: y}}"},
        ["source.x -> count.x", "count.n -> act.n", "act.done -> kicked.done",
         "kicked.y -> source.k"])

    def counted(t, x, d):
        n = d[0] + 1
        return x, (n, n if n - d[1] >= after else d[1])
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], -w * w * x[0] + 0.2 * x[2], d[1] - 0.5 * x[2]],
        lambda t, x, d: [x[0], d[0], d[1], x[2]], [1, 0, 0], stop,
        ["source.x", "count.n", "act.done", "kicked.y"], d0=(0.0, 0.0),
        guards=[(lambda t, x, d: -x[0], counted)]))
