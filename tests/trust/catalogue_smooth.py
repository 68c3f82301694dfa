"""Smooth models: chaotic, resonant, stiff, nearly singular, unstable without their controller, with
algebraic loops, constraints and delays."""
import numpy as np
from catalogue import Case, case, coupled, text, uniform
from equation_models import Subsystem
from exact import ClosedForm, Delayed, Hybrid


@case("chaotic", 3)
def lorenz(rng, number):
    """In three; what is wrong at first is multiplied by up to e^9."""
    stop = (3.0, 6.0, 10.0)[number]
    start = [uniform(rng, 0.5, 3) for _ in range(3)]
    subsystems = [
        Subsystem("a", {"x": start[0]}, {"x": "10*(y - x)"}, {"x": "x"}, {"y": 0}),
        Subsystem("b", {"y": start[1]}, {"y": "x*(28 - z) - y"}, {"y": "y"}, {"x": 0, "z": 0}),
        Subsystem("c", {"z": start[2]}, {"z": "x*y - 8/3*z"}, {"z": "z"}, {"x": 0, "y": 0})]
    return coupled(subsystems, ["b.y -> a.y", "a.x -> b.x", "c.z -> b.z", "a.x -> c.x",
                                "b.y -> c.y"], stop)


@case("chaotic", 1)
def roessler(rng, number):
    del number
    subsystems = [
        Subsystem("a", {"x": uniform(rng, 1, 3)}, {"x": "-y - z"}, {"x": "x"}, {"y": 0, "z": 0}),
        Subsystem("b", {"y": 0.5}, {"y": "x + 0.2*y"}, {"y": "y"}, {"x": 0}),
        Subsystem("c", {"z": 0}, {"z": "0.2 + z*(x - 5.7)"}, {"z": "z"}, {"x": 0})]
    return coupled(subsystems, ["b.y -> a.y", "c.z -> a.z", "a.x -> b.x", "a.x -> c.x"], 60)


@case("chaotic", 2)
def duffing(rng, number):
    force, stop = (0.3, 0.5)[number], (40, 40)[number]
    subsystems = [
        Subsystem("mass", {"x": uniform(rng, 0.5, 1.5), "v": 0}, {"x": "v", "v": "f - 0.2*v"},
                  {"x": "x"}, {"f": 0}),
        Subsystem("spring", outputs={"f": f"x - x^3 + {force}*cos(1.2*t)"}, inputs={"x": 0})]
    return coupled(subsystems, ["mass.x -> spring.x", "spring.f -> mass.f"], stop)


@case("resonant", 3)
def periods(rng, number):
    """x'' = -w^2 x over many periods."""
    w, count = uniform(rng, 0.8, 1.3), (100, 300, 1000)[number]
    subsystems = [
        Subsystem("position", {"x": 1}, {"x": "v"}, {"x": "x"}, {"v": 0}),
        Subsystem("speed", {"v": 0}, {"v": f"-{w * w}*x"}, {"v": "v"}, {"x": 0})]
    made = coupled(subsystems, ["speed.v -> position.v", "position.x -> speed.x"],
                   count * 2 * np.pi / w)
    made.solve = lambda: ClosedForm(["position.x", "speed.v"], count * 2 * np.pi / w,
                                    lambda t: [np.cos(w * t), -w * np.sin(w * t)],
                                    at=np.linspace(0, count * 2 * np.pi / w, 40 * count))
    return made


@case("resonant", 2)
def resonance(rng, number):
    """x'' + w^2 x = sin(w t) in two, and driven by a third."""
    w = uniform(rng, 1, 4)
    stop = (60.0, 200.0)[number] / w
    drive = (f"sin({w}*t)", "u")[number]
    subsystems = [
        Subsystem("position", {"x": 0}, {"x": "v"}, {"x": "x"}, {"v": 0}),
        Subsystem("speed", {"v": 0}, {"v": f"-{w}^2*x + {drive}"}, {"v": "v"},
                  {"x": 0, **({"u": 0} if number else {})})]
    links = ["speed.v -> position.v", "position.x -> speed.x"]
    if number:
        subsystems.append(Subsystem("drive", outputs={"u": f"sin({w}*t)"}))
        links.append("drive.u -> speed.u")
    made = coupled(subsystems, links, stop)
    made.solve = lambda: ClosedForm(
        ["position.x", "speed.v"], stop,
        lambda t: [(np.sin(w * t) - w * t * np.cos(w * t)) / (2 * w * w), t * np.sin(w * t) / 2],
        at=np.linspace(0, stop, 5000))
    return made


@case("stiff", 4)
def van_der_pol(rng, number):
    """In two, at ever larger mu."""
    mu = (5, 30, 100, 1000)[number]
    start = uniform(rng, 1.8, 2.2)
    subsystems = [
        Subsystem("a", {"x": start}, {"x": "v"}, {"x": "x"}, {"v": 0}),
        Subsystem("b", {"v": 0}, {"v": f"{mu}*(1 - x^2)*v - x"}, {"v": "v"}, {"x": start})]
    return coupled(subsystems, ["b.v -> a.v", "a.x -> b.x"], (30, 60, 200, 1800)[number],
                   stiff=mu > 10)


@case("stiff", 2)
def robertson(rng, number):
    """Three reactants, three subsystems."""
    del rng
    subsystems = [
        Subsystem("a", {"x": 1}, {"x": "-0.04*x + 1e4*y*z"}, {"x": "x"}, {"y": 0, "z": 0}),
        Subsystem("b", {"y": 0}, {"y": "0.04*x - 1e4*y*z - 3e7*y^2"}, {"y": "y"}, {"x": 1, "z": 0}),
        Subsystem("c", {"z": 0}, {"z": "3e7*y^2"}, {"z": "z"}, {"y": 0})]
    return coupled(subsystems, ["a.x -> b.x", "b.y -> a.y", "c.z -> a.z", "c.z -> b.z",
                                "b.y -> c.y"], (40, 4000)[number], stiff=True)


@case("stiff late", 3)
def stiffens(rng, number):
    """A rate that grows by many orders of magnitude late in the experiment."""
    rate, at = (1e3, 1e5, 1e4)[number], uniform(rng, 7, 9)
    sharp = (20, 20, 100)[number]
    subsystems = [
        Subsystem("a", {"x": 1}, {"x": f"(1 + {rate}/(1 + exp(-{sharp}*(t - {at}))))*(u - x)"},
                  {"x": "x"}, {"u": 0}),
        Subsystem("b", {"u": 0.5}, {"u": "-0.5*u + sin(2*t) + 0.3*x"}, {"u": "u"}, {"x": 1})]
    return coupled(subsystems, ["a.x -> b.x", "b.u -> a.u"], 10, stiff=True,
                   largest=lambda t: max(0.5 / sharp, abs(t - at) / 4))


@case("stiff late", 1)
def oregonator(rng, number):
    """Three subsystems, where nothing happens for long."""
    del rng, number
    subsystems = [
        Subsystem("a", {"x": 1}, {"x": "77.27*(y + x*(1 - 8.375e-6*x - y))"}, {"x": "x"}, {"y": 2}),
        Subsystem("b", {"y": 2}, {"y": "(z - (1 + x)*y)/77.27"}, {"y": "y"}, {"x": 1, "z": 3}),
        Subsystem("c", {"z": 3}, {"z": "0.161*(x - z)"}, {"z": "z"}, {"x": 1})]
    return coupled(subsystems, ["a.x -> b.x", "a.x -> c.x", "b.y -> a.y", "c.z -> b.z"], 320,
                   stiff=True)


@case("smooth", 2)
def predator_prey(rng, number):
    a, b = uniform(rng, 0.5, 1.5), uniform(rng, 0.5, 1.5)
    subsystems = [
        Subsystem("prey", {"x": 2}, {"x": f"{a}*x*(1 - y)"}, {"x": "x"}, {"y": 0}),
        Subsystem("predator", {"y": (1.0, 0.05)[number]}, {"y": f"{b}*y*(x - 1)"}, {"y": "y"},
                  {"x": 0})]
    return coupled(subsystems, ["prey.x -> predator.x", "predator.y -> prey.y"], (20, 40)[number])


@case("smooth", 2)
def pendulum(rng, number):
    """Almost upside down each time."""
    start = np.pi - (0.1, 0.01)[number]
    subsystems = [
        Subsystem("arm", {"phi": float(f"{start:.6g}"), "w": 0}, {"phi": "w", "w": "m"},
                  {"phi": "phi", "w": "w"}, {"m": 0}),
        Subsystem("gravity", outputs={"m": f"-{uniform(rng, 3, 10)}*sin(phi)"}, inputs={"phi": 0})]
    return coupled(subsystems, ["arm.phi -> gravity.phi", "gravity.m -> arm.m"], 10)


@case("smooth", 2)
def fermi_pasta_ulam(rng, number):
    """A chain of masses and springs that stiffen, one mass a subsystem."""
    count, alpha = (6, 12)[number], uniform(rng, 0.2, 0.3)
    subsystems, links = [], []
    for k in range(count):
        start = float(f"{np.sin(np.pi * (k + 1) / (count + 1)):.4g}")
        subsystems.append(Subsystem(
            f"m{k}", {"x": start, "v": 0},
            {"x": "v", "v": f"(r - x) - (x - l) + {alpha}*((r - x)^2 - (x - l)^2)"},
            {"x": "x"}, {"l": 0, "r": 0}))
        if k:
            links += [f"m{k - 1}.x -> m{k}.l", f"m{k}.x -> m{k - 1}.r"]
    return coupled(subsystems, links, 50)


@case("smooth", 1)
def brusselator(rng, number):
    del number
    b = uniform(rng, 2.8, 3.2)
    subsystems = [
        Subsystem("a", {"x": 1.5}, {"x": f"1 + x^2*y - {b + 1}*x"}, {"x": "x"}, {"y": 3}),
        Subsystem("b", {"y": 3}, {"y": f"{b}*x - x^2*y"}, {"y": "y"}, {"x": 1})]
    return coupled(subsystems, ["a.x -> b.x", "b.y -> a.y"], 25)


def _kepler(e, start_at_far_end):
    """x, y of the orbit of period 2 pi from Kepler's equation."""
    begin = np.pi if start_at_far_end else 0.0

    def place(t):
        m = np.mod(t + begin + np.pi, 2 * np.pi) - np.pi
        low, high = np.full_like(m, -np.pi), np.full_like(m, np.pi)
        for _ in range(60):
            middle = 0.5 * (low + high)
            above = middle - e * np.sin(middle) > m
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        a = 0.5 * (low + high)
        for _ in range(3):
            a = a - (a - e * np.sin(a) - m) / (1 - e * np.cos(a))
        return np.cos(a) - e, np.sqrt(1 - e * e) * np.sin(a)
    return place


@case("kepler", 5)
def kepler(rng, number):
    """In x and y parts, from near or far."""
    del rng
    e = (0.5, 0.9, 0.97, 0.9, 0.97)[number]
    far, stop = number >= 3, (4 * np.pi, 4 * np.pi, 9.0, 9.0, 9.0)[number]
    if far:
        x, vy = -(1 + e), -np.sqrt((1 - e) / (1 + e))
    else:
        x, vy = 1 - e, np.sqrt((1 + e) / (1 - e))
    subsystems = [
        Subsystem("px", {"x": float(x), "v": 0},
                  {"x": "v", "v": "-x/sqrt(x*x + y*y)^3"}, {"x": "x"}, {"y": 0}),
        Subsystem("py", {"y": 0, "v": float(vy)},
                  {"y": "v", "v": "-y/sqrt(x*x + y*y)^3"}, {"y": "y"}, {"x": float(x)})]
    made = coupled(subsystems, ["px.x -> py.x", "py.y -> px.y"], stop)
    made.solve = lambda: ClosedForm(["px.x", "py.y"], stop, _kepler(e, far))
    return made


_CART = {
    "a": "(9.81*sin(p) - cos(p)*(f + 0.05*w*w*sin(p))/1.1)/(0.5*(4/3 - 0.1*cos(p)^2/1.1))",
    "b": "(f + 0.05*w*w*sin(p))/1.1 - 0.05/1.1*cos(p)*"}
_GAINS = "3*x + 4*v + 45*p + 12*w"


@case("unstable plant", 2)
def cart_pole(rng, number):
    """An upright pole on a cart; a controller without or with a state of its own."""
    angle = uniform(rng, 0.05, 0.3)
    plant = Subsystem("plant", {"x": 0, "v": 0, "p": angle, "w": 0},
                      {"x": "v", "v": _CART["b"] + _CART["a"], "p": "w", "w": _CART["a"]},
                      {"x": "x", "v": "v", "p": "p", "w": "w"}, {"f": 0})
    inputs = {"x": 0, "v": 0, "p": angle, "w": 0}
    if number:
        control = Subsystem("control", {"u": 0}, {"u": f"60*({_GAINS} - u)"}, {"f": "u"}, inputs)
    else:
        control = Subsystem("control", outputs={"f": _GAINS}, inputs=inputs)
    return coupled([plant, control],
                   [*(f"plant.{s} -> control.{s}" for s in "xvpw"), "control.f -> plant.f"], 10)


@case("unstable plant", 2)
def levitation(rng, number):
    """x'' = k^2 x + u with a lead controller in a subsystem of its own."""
    k = (5, 20)[number]
    start = uniform(rng, 0.5, 1.5)
    subsystems = [
        Subsystem("plant", {"x": start, "v": 0}, {"x": "v", "v": f"{k * k}*x + u"}, {"x": "x"},
                  {"u": 0}),
        Subsystem("lead", {"z": 0}, {"z": f"{20 * k}*(y - z)"},
                  {"u": f"-{3 * k * k}*y - {60 * k * k}*(y - z)"}, {"y": start})]
    return coupled(subsystems, ["plant.x -> lead.y", "lead.u -> plant.u"], 50 / k)


@case("loops", 4)
def algebraic_loop(rng, number):
    """Of gain 0.5 and 2.5, linear or not."""
    gain = (0.5, 2.5, 0.5, -2.5)[number]
    through = ("{g}*u", "{g}*u", "{g}*sin(u)", "{g}*sin(u)")[number].format(g=gain)
    p = uniform(rng, 0.5, 1.5)
    sign = 1 if number == 1 else -1  # beyond a gain of one the loop turns its sign
    subsystems = [
        Subsystem("a", {"x": 1}, {"x": f"{sign}*{p}*u - 0.3*x"}, {"y": f"x + {through}"}, {"u": 0}),
        Subsystem("b", {"x": 0.2}, {"x": "u - x"}, {"y": "0.8*x + u"}, {"u": 0})]
    return coupled(subsystems, ["a.y -> b.u", "b.y -> a.u"], 10)


@case("constraints", 3)
def constraint(rng, number):
    """Of index 1; driven late in the third."""
    p, q = uniform(rng, 0.5, 2), (1.0, 40.0, 1.0)[number]
    push = "5*exp(-((t - 7.3)/0.1)^2)" if number == 2 else "sin(2*t)"
    model = text(10.0, {
        "a": f"equations: {{inputs: {{f: 0}}, states: {{x: 1}}, "
             f"derivatives: {{x: '{p}*f - x + {push}'}}, outputs: {{x: x, y: x + f}}}}",
        "b": f"equations: {{inputs: {{f: 0}}, states: {{x: 0}}, "
             f"derivatives: {{x: '{q}*(f - x)'}}, outputs: {{x: x, y: x + 2*f}}}}"},
        [], "constraints:\n  - {unknown: force, start: 0, equation: a.y - b.y, "
            "feeds: {a.f: -1, b.f: 1}}\n")

    def forcing(t):
        return 5 * np.exp(-((t - 7.3) / 0.1)**2) if number == 2 else np.sin(2 * t)

    def rows(t, x, d):
        del d
        force = (x[0] - x[1]) / 3
        return [-p * force - x[0] + forcing(t), q * (force - x[1])]

    def outputs(t, x, d):
        del t, d
        force = (x[0] - x[1]) / 3
        return [x[0], x[0] - force, x[1], force]
    largest = (lambda t: max(0.1, abs(t - 7.3)) / 4) if number == 2 else np.inf
    return Case(model, lambda: Hybrid(rows, outputs, [1, 0], 10.0,
                                      ["a.x", "a.y", "b.x", "force.value"], largest=largest))


@case("delays", 3)
def delayed_loop(rng, number):
    """Two states that answer each other late, on one or both ways; nearly unstable."""
    gain, delay = uniform(rng, 0.8, 1.2), (0.7, 0.31, 1.3)[number]
    stop = (10.0, 5.0, 20.0)[number]
    model = text(stop, {
        "a": "equations: {inputs: {u: 0}, states: {x: 1}, "
             f"derivatives: {{x: '-0.2*x - {gain}*u'}}, outputs: {{x: x}}}}",
        "b": "equations: {inputs: {u: 0}, states: {y: 0}, derivatives: {y: 2*(u - y)}, "
             "outputs: {y: y}}"},
        ["a.x -> b.u", f"{{connect: b.y -> a.u, delay: {delay}}}"])
    return Case(model, lambda: Delayed(
        lambda t, x, z: [-0.2 * x[0] - gain * z[0], 2 * (x[0] - x[1])], lambda x: [x[1]],
        lambda t, x, z: [x[0], x[1]], [1, 0], stop, ["a.x", "b.y"], delay))


@case("delays", 2)
def delayed_gust(rng, number):
    """What arrives late is narrow."""
    width, at = (0.3, 0.05)[number], uniform(rng, 10, 20)
    model = text(40, {
        "wind": f"equations: {{outputs: {{F: '100*exp(-((t - {at})/{width})^2)'}}}}",
        "mast": "equations: {inputs: {F: 0}, states: {x: 0, v: 0}, "
                "derivatives: {x: v, v: (F - 40*x - 2*v)/10}, outputs: {x: x}}"},
        ["{connect: wind.F -> mast.F, delay: 3.7}"])

    def force(t):
        return 100 * np.exp(-((t - at) / width)**2)
    return Case(model, lambda: Hybrid(
        lambda t, x, d: [x[1], (force(t - 3.7) - 40 * x[0] - 2 * x[1]) / 10],
        lambda t, x, d: [force(t), x[0]], [0, 0], 40.0, ["wind.F", "mast.x"],
        largest=lambda t: max(width, min(abs(t - at), abs(t - at - 3.7))) / 4))
