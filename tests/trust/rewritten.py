"""Other ways to write a generated model, which must give the same results. Each way is a function of a random
generator, a model and a folder for files; None where it does not apply.
"""
import copy
import itertools
import zlib
from dataclasses import dataclass, field

import numpy as np
from concord_runs import export
from generated import Link, Model, Part, names_in, number, renamed


@dataclass
class Way:
    """A run of a model that is written in another way, and what in it is what: times are moved by `shift` and then
    multiplied by `pace`; `names` and `factors` of outputs, by those of the model."""
    model: object
    options: tuple = ()
    ranks: int = 1
    shift: float = 0.0
    pace: float = 1.0
    names: dict = field(default_factory=dict)
    factors: dict = field(default_factory=dict)
    bits: bool = False  # the same bits are promised


def _scaled(part, sizes, pace):
    """The same in other units: x = size x~, t = pace t~."""
    def change(text):
        return renamed(text, {**{n: f"({number(s)}*{n})" for n, s in sizes.items() if s != 1},
                              **({"t": f"({number(pace)}*t)"} if pace != 1 else {})})

    def by(text, factor):
        return text if factor == 1 else f"({text})*{number(factor)}"
    other = part.replaced(change)
    other.derivatives = {x: by(e, pace / sizes.get(x, 1)) for x, e in other.derivatives.items()}
    other.outputs = {y: by(e, 1 / sizes.get(f"out {y}", 1)) for y, e in other.outputs.items()}
    for w in other.when:
        w["set"] = {x: by(e, 1 / sizes.get(x, 1)) for x, e in w["set"].items()}
        if "every" in w:
            w["every"], w["offset"] = w["every"] / pace, w["offset"] / pace
    for values in (other.inputs, other.states, other.discrete):
        for name in values:
            values[name] /= sizes.get(name, 1)
    return other


def _in_units(rng, model, sizes_of, pace):
    """All states and signals in units that `sizes_of(rng)` draws, each by its name, so that a model that is made
    smaller keeps them."""
    key = int(rng.integers(2**32))

    def size(name, variable):
        return sizes_of(np.random.default_rng([key, zlib.crc32(f"{name}.{variable}".encode())]))
    sizes = {name: {v: size(name, v) for v in [*part.states, *(f"out {y}" for y in part.outputs)]}
             for name, part in model.parts.items()}
    bound = model.constrained()
    for name in bound:
        sizes[name] = {v: 1.0 for v in sizes[name]}
    for link in model.links:
        sizes[link.target[0]][link.target[1]] = sizes[link.source[0]][f"out {link.source[1]}"]
    other = copy.deepcopy(model)
    other.parts = {name: _scaled(part, sizes[name], pace) for name, part in model.parts.items()}
    other.start, other.stop = model.start / pace, model.stop / pace
    for link in other.links:
        link.delay /= pace
    factors = {f"{name}.{y}": sizes[name][f"out {y}"] for name, part in model.parts.items() for y in part.outputs}
    return Way(other, pace=1 / pace, factors=factors)


def units(rng, model, folder):
    """Millimetres for metres, and the like."""
    del folder
    return _in_units(rng, model, lambda r: float(r.choice([1e-6, 1e-3, 1e-2, 1.0, 60.0, 1e3, 1e5])), 1.0)


def binary_units(rng, model, folder):
    """Units that are powers of two, in which nothing is rounded in another way."""
    del folder
    return _in_units(rng, model, lambda r: float(2.0**int(r.integers(-20, 21))), 1.0)


def pace(rng, model, folder):
    """Minutes, or milliseconds, for seconds."""
    del folder
    return _in_units(rng, model, lambda r: 1.0, float(rng.choice([1e-3, 60.0, 1e3, 3600.0])))


def binary_pace(rng, model, folder):
    del folder
    return _in_units(rng, model, lambda r: 1.0, float(2.0**int(rng.integers(-12, 13))))


def order(rng, model, folder):
    """Subsystems and connections in another order."""
    del folder
    other = copy.deepcopy(model)
    names = [str(n) for n in rng.permutation(list(other.parts))]
    other.parts = {n: other.parts[n] for n in names}
    other.links = [other.links[int(k)] for k in rng.permutation(len(other.links))]
    return Way(other) if names != list(model.parts) else None


def names(rng, model, folder):
    """Other names, which are in another order of the alphabet."""
    del folder
    letters = [str(c) for c in rng.permutation(list("abcdefghijklmnop"))]
    new = {n: f"{letters[k]}_{n}" for k, n in enumerate(model.parts)}
    other = copy.deepcopy(model)
    other.parts = {new[n]: p for n, p in other.parts.items()}
    for link in other.links:
        link.source, link.target = ((new[n], v) for n, v in (link.source, link.target))
    other.constraints = [(u, renamed_ends(e, new), {renamed_ends(n, new): f for n, f in feeds.items()})
                         for u, e, feeds in other.constraints]
    return Way(other, names=_moved_names(model, new), bits=True)


def renamed_ends(text, new):
    return " ".join(_end(word, new) for word in text.split())


def _end(word, new):
    first, dot, last = word.partition(".")
    return f"{new.get(first, first)}{dot}{last}"


def _moved_names(model, new):
    return {f"{n}.{y}": f"{new.get(n, n)}.{y}" for n, p in model.parts.items() for y in p.outputs}


def ranks(rng, model, folder):
    """Two or three; what is held takes so many macro-steps that these take their time."""
    del folder
    held = any(link.hold for link in model.links)
    return Way(model, ranks=int(rng.integers(2, 4))) if len(model.parts) > 1 and not held else None


def forgetting(rng, model, folder):
    """Every n macro-steps it goes on in a simulation that is made anew."""
    del folder
    return Way(model, ("-cosim_forget", int(rng.integers(1, 8))), bits=True)


def idle(rng, model, folder):
    """One subsystem more, which at most listens."""
    del folder
    other = copy.deepcopy(model)
    part = Part(states={"z": 1.0}, derivatives={"z": "0"}, outputs={"z": "z"})
    if rng.random() < 0.5:
        source = str(rng.choice(list(model.parts)))
        part.inputs = {"u": 0.0}
        other.links.append(Link((source, next(iter(model.parts[source].outputs))), ("idle", "u")))
    front = rng.random() < 0.5
    other.parts = {"idle": part, **other.parts} if front else {**other.parts, "idle": part}
    return Way(other)


def shift(rng, model, folder):
    """The experiment begins at another time."""
    del folder
    by = float(rng.choice([1.0, 7.3, 1000.0, -2.6, 12345.678]))
    other = copy.deepcopy(model)
    other.parts = {name: part.replaced(lambda text: renamed(text, {"t": f"(t - ({number(by)}))"}))
                   for name, part in other.parts.items()}
    for part in other.parts.values():
        for w in part.when:
            if "every" in w:
                w["offset"] += by
    other.start, other.stop = model.start + by, model.stop + by
    return Way(other, shift=by)


# ---- splitting and joining ----

def _components(part):
    """Variables that are set together."""
    groups = [{name} for name in [*part.states, *part.discrete]]
    for w in part.when:
        met = [g for g in groups if g & set(w["set"])]
        groups = [g for g in groups if not g & set(w["set"])] + [set().union(*met)]
    return groups


def _half(part, own, others):
    """What of a part is about the variables `own`, with those of `others` as inputs where it names them."""
    half = Part(states={x: v for x, v in part.states.items() if x in own},
                discrete={x: v for x, v in part.discrete.items() if x in own},
                derivatives={x: e for x, e in part.derivatives.items() if x in own},
                when=[copy.deepcopy(w) for w in part.when if set(w["set"]) <= own], kind=part.kind)
    for y, e in part.outputs.items():
        mine = names_in(e) & own
        if mine and not (len(names_in(e) & others) > len(mine)) or not names_in(e) & (own | others):
            half.outputs[y] = e
    return half


def split(rng, model, folder):
    """One subsystem becomes two."""
    del folder
    fit = [n for n, p in model.parts.items() if len(_components(p)) > 1 and n not in model.constrained()]
    if not fit:
        return None
    name = str(rng.choice(fit))
    part, groups = model.parts[name], _components(model.parts[name])
    groups = [groups[int(k)] for k in rng.permutation(len(groups))]
    cut = int(rng.integers(1, len(groups)))
    own = [set().union(*groups[:cut]), set().union(*groups[cut:])]
    new = [f"{name}a", f"{name}b"]
    halves = [_half(part, own[k], own[1 - k]) for k in (0, 1)]
    halves[1].outputs = {y: e for y, e in part.outputs.items() if y not in halves[0].outputs}
    other = copy.deepcopy(model)
    where = {y: new[k] for k in (0, 1) for y in halves[k].outputs}
    for link in other.links:
        if link.source[0] == name:
            link.source = (where[link.source[1]], link.source[1])
    fed, other.links = model.feeding(name), [x for x in other.links if x.target[0] != name]
    starts = {**part.states, **part.discrete}
    for k in (0, 1):
        used = set().union(*map(names_in, halves[k].expressions()))
        for u in part.inputs:
            if u in used:
                halves[k].inputs[u] = part.inputs[u]
                if u in fed:
                    link = fed[u]
                    source = (where[link.source[1]], link.source[1]) if link.source[0] == name else link.source
                    other.links.append(Link(source, (new[k], u), link.delay, link.hold))
        for x in sorted(used & own[1 - k]):
            halves[k].inputs[x] = starts[x]
            halves[1 - k].outputs[f"of_{x}"] = x
            other.links.append(Link((new[1 - k], f"of_{x}"), (new[k], x)))
    other.parts = dict(itertools.chain.from_iterable(
        zip(new, halves) if n == name else [(n, p)] for n, p in other.parts.items()))
    moved = {f"{name}.{y}": f"{where[y]}.{y}" for y in part.outputs}
    return Way(other, names=moved)


def join(rng, model, folder):
    """Two subsystems become one."""
    del folder
    free = [n for n in model.parts if n not in model.constrained()]
    pairs = [(a, b) for a, b in itertools.combinations(free, 2) if len(model.parts) > 2 and not any(
        {x.source[0], x.target[0]} <= {a, b} and (x.delay or x.hold) for x in model.links)]
    if not pairs:
        return None
    pair = pairs[int(rng.integers(len(pairs)))]
    both, inner, moved = Part(kind="joined"), {}, {}
    parts = {}
    for n in pair:
        part = model.parts[n]
        local = {v: f"{n}_{v}" for v in [*part.inputs, *part.states, *part.discrete]}
        parts[n] = part.replaced(lambda text, local=local: renamed(text, local))
        for u, link in model.feeding(n).items():
            if link.source[0] in pair:
                inner[f"{n}_{u}"] = link.source
    for n in pair:
        for y, e in parts[n].outputs.items():
            moved[(n, y)] = f"{n}_out_{y}"
    known = {}
    for _ in range(5):  # what is fed from within becomes what feeds it
        known = {u: "(" + renamed(parts[a].outputs[y], known) + ")" for u, (a, y) in inner.items()}
    if any(names_in(text) & set(inner) for text in known.values()):
        return None  # an algebraic loop
    for n in pair:
        part = parts[n].replaced(lambda text: renamed(text, known))
        for key in ("inputs", "states", "discrete"):
            getattr(both, key).update({f"{n}_{v}": start for v, start in getattr(part, key).items()
                                       if f"{n}_{v}" not in inner})
        both.derivatives.update({f"{n}_{x}": e for x, e in part.derivatives.items()})
        both.when += [{**w, "set": {f"{n}_{x}": e for x, e in w["set"].items()}} for w in part.when]
        both.outputs.update({moved[(n, y)]: e for y, e in part.outputs.items()})
    other = copy.deepcopy(model)
    other.links = [x for x in other.links if not (x.target[0] in pair and f"{x.target[0]}_{x.target[1]}" in inner)]
    for link in other.links:
        if link.source[0] in pair:
            link.source = ("joined", moved[link.source])
        if link.target[0] in pair:
            link.target = ("joined", f"{link.target[0]}_{link.target[1]}")
    other.parts = {**{n: p for n, p in other.parts.items() if n not in pair}, "joined": both}
    return Way(other, names={f"{n}.{y}": f"joined.{m}" for (n, y), m in moved.items()})


# ---- systems, FMUs ----

def _nested(rng, model, own_pace):
    """Two neighbours within a system."""
    names_ = [n for n in model.parts]
    places = [k for k in range(len(names_) - 1) if not {names_[k], names_[k + 1]} & model.constrained()]
    if not places or len(names_) < 3:
        return None
    k = int(rng.choice(places))
    pair = (names_[k], names_[k + 1])
    system = Model({n: model.parts[n] for n in pair}, [])
    other = copy.deepcopy(model)
    other.links = []
    for link in copy.deepcopy(model.links):
        if link.source[0] in pair and link.target[0] in pair:
            system.links.append(link)
            continue
        if link.target[0] in pair:
            u = f"{link.target[0]}_{link.target[1]}"
            system.inputs[u] = link.target
            link.target = ("box", u)
        if link.source[0] in pair:
            y = f"{link.source[0]}_{link.source[1]}"
            system.outputs[y] = link.source
            link.source = ("box", y)
        other.links.append(link)
    if not system.outputs:
        return None
    system.own_pace = own_pace
    before, after = names_[:k], names_[k + 2:]
    other.parts = {**{n: model.parts[n] for n in before}, "box": Part(system=system),
                   **{n: model.parts[n] for n in after}}
    return Way(other, names=_moved_names(model, {n: f"box.{n}" for n in pair}), bits=False)


def nested(rng, model, folder):
    del folder
    return _nested(rng, model, False)


def own_pace(rng, model, folder):
    del folder
    return _nested(rng, model, True)


def as_fmu(rng, model, folder):
    """One subsystem is exported, and takes part as an FMU."""
    free = [n for n, p in model.parts.items() if not p.system]
    name = str(rng.choice(free))
    path = folder / "model.yaml"
    path.write_text(model.yaml(), encoding="utf-8")
    version = int(rng.integers(2, 4))
    (folder / "part.fmu").unlink(missing_ok=True)
    export(path, name, folder / "part.fmu", version)
    other = copy.deepcopy(model)
    other.parts[name] = Part(fmu="part.fmu", outputs=model.parts[name].outputs)
    return Way(other)


WAYS = {way.__name__: way for way in (units, binary_units, pace, binary_pace, order, names, ranks, forgetting, idle,
                                      shift, split, join, nested, own_pace, as_fmu)}
