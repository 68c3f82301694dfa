"""Runs with checkpoints, and those that forget, are the runs without: what is not saved was no fact.

    /usr/bin/python3 with_and_without.py Examples Presets ...     as a test
    /usr/bin/python3 with_and_without.py --table [PATTERN]        the table of doc/long_runs.md

Every run that writes checkpoints reads what it saves at each epoch back into the simulation that is
there (also where no file is written then); -cosim_forget reads it into one that is made anew. 1 does
so after every macro-step.
"""
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

import fmu_factory
import h5py
import numpy as np
from concord_runs import ALGEBRAIC_LOOP, EXAMPLES, LOTKA_VOLTERRA, OPTIONS, TWO_MASS, in_short, run_here, write_model
from every_method import ADAPTS, BALANCES, HOLDS, words_of
from fmu_runs import PAIR, model_text

EPOCHS = (1, 2, 7)
# A run that has missed its accuracy is tried again, but not beside this.
ONCE = ("-cosim_time_limit", "24:00:00")
SAME = ("time", "outputs/values", "states/values", "inputs/values", "events/time",
        "events/subsystem", "events/what", "events/outputs", "events/states", "events/inputs")
SERIALIZED = ("state", "serialize", "variable", "directional")

# A multistep method begins anew where its history is dropped, and chooses other micro-steps: errors
# of the usual tolerance, 1e-8, which hundreds of micro-steps add up, in units of a signal's range.
MULTISTEP = 1e-5

COUNTER = """experiment: {start: 0, stop: 60}
subsystems:
  osc:
    equations:
      inputs: {u: 0}
      states: {x: 0.5, v: 1}
      discrete: {n: 0}
      derivatives: {x: v, v: -x + 0*u}
      when: [{condition: x < 0, set: {n: n + 1}}]
      outputs: {x: x, n: n}
  follow:
    equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}
connections: [osc.x -> follow.x, follow.y -> osc.u]
"""

# All that makes an event in equations: relations, conditions with and without hysteresis, ticks,
# floor, equality, jumps and kinks of a table, inputs that are held.
EVENTS = """experiment: {start: 0, stop: 6}
subsystems:
  source:
    equations:
      states: {x: 1, v: 0.3}
      discrete: {count: 0, sampled: 0}
      derivatives: {x: v, v: "-9*x - (v > 0 ? 0.2 : -0.2)"}
      when:
        - {condition: x < 0, set: {count: count + 1}}
        - {every: 0.3, offset: 0.1, set: {sampled: pre(sampled) + x}}
      outputs: {x: x, count: count, sampled: sampled, stairs: floor(2*x), wave: abs(sin(2*t))}
  road: {table: {file: road.csv, outputs: {z: z}}}
  ball:
    equations:
      inputs: {ground: 0, push: 0}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -9.81 + 0.1*push}
      when: [{condition: h < 0.1*ground, set: {v: -0.9*v}}]
      outputs: {h: h, v: v}
  sum:
    equations:
      inputs: {stairs: 0, z: 0, sampled: 0, h: 0}
      states: {s: 0}
      derivatives: {s: stairs + z + sampled - 0.5*s + 0.1*h}
      outputs: {s: s}
connections:
  - source.stairs -> sum.stairs
  - source.sampled -> sum.sampled
  - road.z -> sum.z
  - ball.h -> sum.h
  - source.x -> ball.ground
  - sum.s -> ball.push
"""

STIFF = """experiment: {start: 0, stop: 3}
subsystems:
  vdp:
    equations:
      inputs: {u: 0}
      states: {x: 2, v: 0}
      derivatives: {x: v, v: 200*(1 - x*x)*v - x + u}
      outputs: {x: x}
  pendulum:
    equations:
      inputs: {u: 0}
      states: {a: 0.5, w: 0}
      derivatives: {a: w, w: -50*sin(a) + u}
      outputs: {a: a}
connections: [vdp.x -> pendulum.u, pendulum.a -> vdp.u]
"""

DELAYED = """experiment: {stop: 5}
subsystems:
  left:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: -x + 0.5*u}, outputs: {y: x}}
  right:
    equations:
      inputs: {u: 0}
      states: {x: 0.5}
      discrete: {n: 0}
      derivatives: {x: -2*x - u}
      when: [{condition: x < 0, set: {n: n + 1}}]
      outputs: {y: x, n: n}
connections:
  - {connect: left.y -> right.u, delay: 0.3}
  - {connect: right.y -> left.u, delay: 0.17}
"""

NATIVE = """experiment: {{stop: 1}}
subsystems:
  cart: {{native: {{library: {library}, type: cart}}, start: {{force: 0}}}}
  spring:
    equations: {{inputs: {{x: 0}}, states: {{f: 0}}, derivatives: {{f: -20*x - 3*f}}, outputs: {{f: f}}}}
connections: [cart.x -> spring.x, spring.f -> cart.force]
"""

SLOW = TWO_MASS.read_text(encoding="utf-8").replace("  right: ", "  right:\n    step: 3.5e-3 ")

ROAD = "t,z\n0,0\n0.25,1\n0.6,-1\n1,2\n1,0\n2,1\n4,0.5\n"

BALL, THERMOSTAT, RODS, PAIR_BY_CONSTRAINT, STICK_SLIP, SAMPLED = (
    EXAMPLES / name / f"{name}.yaml" for name in (
        "bouncing_ball", "thermostat", "linked_rods", "constraint_pair", "stick_slip",
        "sampled_control"))


class Models:
    """Those that are written here, in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "road.csv").write_text(ROAD, encoding="utf-8")

    def text(self, name, text):
        return write_model(self.folder, name, text)

    def pair(self, version, kind):
        """Two masses as FMUs."""
        name = f"pair_{kind}{version}"
        for part in PAIR:
            fmu_factory.build(self.folder, part, version, kinds=(kind,), capabilities=SERIALIZED,
                              name=f"{name}_{part}")
        return self.text(name, model_text(PAIR, 0.2, {
            part: f"{{fmu: {name}_{part}.fmu}}" for part in PAIR}))

    def eventful(self, version):
        """FMUs with state events, and with time and input events."""
        for part in ("bouncer", "square", "heater"):
            fmu_factory.build(self.folder, part, version, kinds=("me",),
                              capabilities=(*SERIALIZED, "step_events"), name=f"{part}{version}")
        return self.text(f"eventful{version}", (
            "experiment: {stop: 2}\nsubsystems:\n"
            f"  bouncer: {{fmu: bouncer{version}.fmu}}\n  square: {{fmu: square{version}.fmu}}\n"
            f"  heater: {{fmu: heater{version}.fmu}}\n"
            "connections: [square.x -> bouncer.table_height, bouncer.h -> square.u, "
            "heater.T -> bouncer.table_speed]\n"))

    def native(self):
        return self.text("native", NATIVE.format(library=os.environ["NATIVE_TEST_SUBSYSTEMS"]))


def each(option, needs, *others):
    for word in words_of(option):
        yield word, (*needs.get(word, ()), f"-{option}", word, *others)


ANYWAY = ("-cosim_diverged", "warn")  # explicit methods, over events
FIXED = ("-cosim_step", 5e-4, "-cosim_stop", 0.1)


def examples(_):
    for path in sorted(set(EXAMPLES.glob("*/*.yaml")) - set(EXAMPLES.glob("remote/*"))):  # tests/remote
        # A rod in 100 cells is stiff: by default its integrator has a history.
        yield path.stem, path, ("-subsystem_rod_integrator", "dirk") if path.stem == "rod" else ()
    for path in (THERMOSTAT, BALL):
        for preset in ("gauss_seidel", "jacobi"):
            yield f"{path.stem}, {preset}", path, ("-cosim_type", preset)


def presets(models):
    road = models.text("events", EVENTS)
    for word, options in each("cosim_type", {}):
        yield f"two_mass, {word}", TWO_MASS, (*options, *FIXED)
        yield f"lotka_volterra, {word}", LOTKA_VOLTERRA, (*options, "-cosim_step", 0.1)
        yield f"events, {word}", road, (*options, "-cosim_step", 0.05, *ANYWAY)
        yield f"counter, {word}", models.text("counter", COUNTER), (*options, "-cosim_step", 7)
        yield f"thermostat, {word}", THERMOSTAT, (*options, "-cosim_step", 0.5, *ANYWAY)
    for path in sorted(OPTIONS.glob("*.opts")):
        yield path.name, TWO_MASS, ("-options_file", path, *FIXED)


def holds(models):
    for word, options in each("cosim_hold", HOLDS):
        yield f"two_mass, {word}", TWO_MASS, (*options, *FIXED)
        yield (f"events, {word}", models.text("events", EVENTS),
               (*options, "-cosim_step", 0.05, *ANYWAY))
    for word, options in each("cosim_predictor", {}):
        yield f"predictor {word}", LOTKA_VOLTERRA, (*options, "-cosim_step", 0.1)
    for word, options in each("cosim_balance", BALANCES):
        yield f"balance {word}", TWO_MASS, (*options, *FIXED)


def controls(models):
    for word, options in each("cosim_adapt", ADAPTS):
        yield f"lotka_volterra, {word}", LOTKA_VOLTERRA, (*options, "-cosim_step", 0.05)
        yield f"events, {word}", models.text("events", EVENTS), (*options, *ANYWAY)
        yield f"bouncing_ball, {word}", BALL, options
    for accuracy in (1e-3, 1e-6, 1e-8):
        yield f"lotka_volterra, {accuracy}", LOTKA_VOLTERRA, ("-cosim_accuracy", accuracy)
        yield f"events, {accuracy}", models.text("events", EVENTS), ("-cosim_accuracy", accuracy)


def integrators(models):
    for word, options in each("subsystem_integrator", {}):
        yield f"two_mass, {word}", TWO_MASS, (*options, "-cosim_step", 5e-3, "-cosim_stop", 0.5)
        for preset in ("jfm", "jacobi", "missiles"):
            yield (f"stiff, {preset}, {word}", models.text("stiff", STIFF),
                   (*options, "-cosim_type", preset, "-cosim_step", 0.05))
        yield f"events, {word}", models.text("events", EVENTS), (*options, "-cosim_step", 0.1)
    yield "stiff", models.text("stiff", STIFF), ()
    for preset in ("jfm", "jacobi"):
        yield (f"long macro-steps, {preset}", TWO_MASS,
               ("-cosim_type", preset, "-cosim_step", 0.02, *ANYWAY))


def kinds(models):
    for preset in ("jfm", "jacobi", "missiles"):
        step = ("-cosim_type", preset, "-cosim_step")
        for version in (2, 3):
            for kind in ("me", "cs"):
                yield f"FMI {version} {kind}, {preset}", models.pair(version, kind), (*step, 1e-3)
            yield (f"FMI {version} events, {preset}", models.eventful(version),
                   (*step, 0.02, "-subsystem_heater_integrator", "dirk"))
        yield f"delay, {preset}", models.text("delayed", DELAYED), (*step, 0.1)
        yield f"native, {preset}", models.native(), (*step, 0.02)
        yield (f"isolated, {preset}", models.text("counter", COUNTER),
               (*step, 7, "-subsystem_isolated", "true"))
    for preset in ("jfm", "missiles"):
        for model in (RODS, PAIR_BY_CONSTRAINT):
            yield (f"constraint, {model.stem}, {preset}", model,
                   ("-cosim_type", preset, "-cosim_step", 0.01, "-cosim_stop", 1))
    yield ("steps of their own", models.text("slow", SLOW), (*HOLDS["extrapolate"], *FIXED))
    yield "loop", ALGEBRAIC_LOOP, ("-cosim_step", 0.02)


def is_multistep(name, options):
    """Whether some subsystem, or all of them, may have a history."""
    words = {Path(str(word)).name for word in options}
    chosen = words & {"erk", "dirk", "cvode_bdf", "cvode_adams"}
    return bool(chosen & {"cvode_bdf", "cvode_adams"}) or (
        not chosen and (bool(words & {"monolithic", "monolithic.opts"}) or "stiff" in name))


def run(model, folder, name, options, *more):
    """The results file of a run, and how the run has ended."""
    path = Path(folder) / f"{name}.h5"
    path.unlink(missing_ok=True)
    more = [Path(folder, word) if word == "parts.chk" else word for word in more]
    ended = run_here(model, *options, "-cosim_output", path, *more)
    return path, ended


def differing(one, other):
    """The datasets that have not the same bits."""
    found = []
    with h5py.File(one) as a, h5py.File(other) as b:
        for name in SAME:
            x, y = (file[name][:] if name in file else np.zeros(0) for file in (a, b))
            same = x.shape == y.shape and (
                list(x) == list(y) if x.dtype == object else x.tobytes() == y.tobytes())
            if not same:
                found.append(name)
    return found


def distance(one, other):
    """The largest difference of an output where both runs have a row, relative to its range."""
    with h5py.File(one) as a, h5py.File(other) as b:
        times, first, second = np.intersect1d(a["time"][:], b["time"][:], return_indices=True)
        values = a["outputs/values"][:]
        off = np.abs(values[first] - b["outputs/values"][:][second])
        return float(np.max(off / (np.ptp(values, axis=0) + 1e-300), initial=0.0))


def checkpoints_at(epoch):
    return ("-cosim_checkpoint", "parts.chk", "-cosim_checkpoint_epoch", epoch)


def forgets_at(epoch):
    return ("-cosim_forget", epoch)


WAYS = [way(epoch) for way in (checkpoints_at, forgets_at) for epoch in EPOCHS]
EVERY_STEP = (checkpoints_at(1), forgets_at(1))


class Compared:
    """One case with checkpoints, or forgetting, against itself without."""

    def __init__(self, folder, model, options, ways):
        whole, ended = run(model, folder, "whole", options, *ONCE)
        self.code, self.failure = ended.returncode, ended.stderr.strip()
        self.found = {}  # by way: exit code, what differs, by how much
        for way in ways:
            parts, ended = run(model, folder, "parts", options, *ONCE, *way)
            Path(folder, "parts.chk").unlink(missing_ok=True)
            good = ended.returncode == self.code == 0
            self.found[way] = (ended.returncode, differing(whole, parts) if good else [],
                               distance(whole, parts) if good else 0.0)

    def words(self, way):
        code, what, off = self.found[way]
        if code != 0:
            return f"exit code {code}"
        return "same bits" if not what else f"{off:.1e}"


class WithAndWithout(unittest.TestCase):
    def check(self, cases):
        """In short, every third one, in both ways, and after every macro-step only."""
        with tempfile.TemporaryDirectory() as folder:
            short = in_short([False, True], 2) == [False]
            for name, model, options in in_short(list(cases(Models(folder))), 3):
                with self.subTest(name, options=options):
                    found = Compared(folder, model, options, EVERY_STEP if short else WAYS)
                    for way, (code, what, off) in found.found.items():
                        self.assertEqual(code, found.code, found.failure)
                        if is_multistep(name, options):
                            self.assertLess(off, MULTISTEP, way)
                        else:
                            self.assertEqual(what, [], f"{way}: {off:.1e}")


class Examples(WithAndWithout):
    def test_all(self):
        self.check(examples)


class NoWay(unittest.TestCase):
    def test_at_nodes_that_have_not_converged(self):
        """An attempt that nobody has followed tells no events: those would be of the one before."""
        model, options = EXAMPLES / "power_ring" / "power_ring.yaml", ("-cosim_type", "radau", "-cosim_stop", 0.5)
        with tempfile.TemporaryDirectory() as folder:
            compared = Compared(folder, model, options, EVERY_STEP)
            for way, (code, what, off) in compared.found.items():
                self.assertEqual((code, what), (0, []), f"{way}: {off:.1e}")


class TriedAgain(unittest.TestCase):
    def test_beside_checkpoints(self):
        """A run that misses its accuracy is tried again with a smaller aim, beside checkpoints, too."""
        model, options = EXAMPLES / "servo" / "servo.yaml", ("-subsystem_integrator", "erk", "-cosim_accuracy", 5e-5)
        with tempfile.TemporaryDirectory() as folder:
            whole, plain = run(model, folder, "whole", options)
            self.assertIn("after a run that had missed it", plain.stdout)
            for epoch in (1, 100):
                parts, ended = run(model, folder, "parts", options, "-cosim_checkpoint", "parts.chk",
                                   "-cosim_checkpoint_epoch", epoch)
                self.assertIn("after a run that had missed it", ended.stdout)
                self.assertEqual(differing(whole, parts), [])


class Presets(WithAndWithout):
    def test_all(self):
        self.check(presets)


class Holds(WithAndWithout):
    def test_all(self):
        self.check(holds)


class Controls(WithAndWithout):
    def test_all(self):
        self.check(controls)


class Integrators(WithAndWithout):
    def test_all(self):
        self.check(integrators)


class Kinds(WithAndWithout):
    def test_all(self):
        self.check(kinds)


GROUPS = {"Examples": examples, "Presets": presets, "Holds": holds, "Controls": controls,
          "Integrators": integrators, "Kinds": kinds}


def table(pattern):
    for group, cases in GROUPS.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, model, options in cases(Models(folder)):
                if not re.search(pattern, f"{group}: {name}"):
                    continue
                found = Compared(folder, model, options, WAYS)
                words = [found.words(way) for way in WAYS] if found.code == 0 else [
                    f"no run: {found.failure[:80]}"]
                print(f"| {group}: {name} | {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        table(sys.argv[2] if len(sys.argv) > 2 else "")
    else:
        unittest.main()
