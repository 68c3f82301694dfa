"""Equations with relations, `discrete` and `when` exported as FMUs: described, called, and run again."""
import math
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import EXAMPLES, TIGHT, simulate, write_model
from exported_files import SWITCHED, Description, FilesTest
from exported_fmus import Fmu2, export, unpack

INTERFACES = [(version, ("-subsystem_fmu_interface", kind))
              for version in (2, 3) for kind in ("me", "cs")]

BALL = """experiment: {start: 0, stop: 3}
subsystems:
  ball:
    equations:
      parameters: {e: 0.8, g: 9.81}
      inputs: {table_height: 0, table_speed: 0}
      variables: {gap: h - table_height}
      discrete: {hit: 0}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -g}
      when:
        - {condition: gap < 0, set: {v: (1 + e)*table_speed - e*v, hit: t}}
      outputs: {h: h, v: v, hit: hit}
"""
TABLE = """  table:
    equations:
      parameters: {amplitude: 0.1, omega: 3}
      outputs: {h: amplitude*sin(omega*t), v: amplitude*omega*cos(omega*t)}
connections: [table.h -> ball.table_height, table.v -> ball.table_speed]
"""
HEATED = """experiment: {start: 0, stop: 220}
subsystems:
  room:
    equations:
      parameters: {rate: 0.1, outside: 10, power: 2, low: 19, high: 21}
      discrete: {heat: 1, last: 0, count: 0}
      states: {T: 20}
      derivatives: {T: -rate*(T - outside) + power*heat}
      when:
        - {condition: T > high, set: {heat: 0, last: t, count: pre(count) + 1}}
        - {condition: T < low, set: {heat: 1, last: t, count: pre(count) + 1}}
      outputs: {T: T, last: last, count: count}
"""
START = """experiment: {start: 0, stop: 0.5}
templates:
  sampler:
    equations: {inputs: {y: 0}, discrete: {u: -1}, when: [{every: 0.25, set: {u: y}}], outputs: {u: u}}
subsystems:
  slope: {equations: {states: {a: 2}, derivatives: {a: 1}, outputs: {a: a}}}
  relation: {equations: {inputs: {a: 0}, outputs: {y: "if(a > 1, 5, 1)"}}}
  heat:
    equations:
      inputs: {T: 15}
      discrete: {h: 0}
      when: [{condition: T < 19, initially: true, set: {h: 1}}]
      outputs: {h: h}
  count:
    equations: {inputs: {u: 0}, discrete: {n: 0}, when: [{condition: u > 3, set: {n: pre(n) + 1}}], outputs: {n: n}}
  s1: {template: sampler}
  s2: {template: sampler}
  s3: {template: sampler}
connections: [slope.a -> relation.a, relation.y -> s1.y, heat.h -> s2.y, s2.u -> s3.y, s1.u -> count.u]
"""
# Communication points at these times, whatever happens between them.
GRID = f"events: [{', '.join(str(n / 50) for n in range(1, 150))}]\n"


def root(f, a, b):
    """Of f, which rises, between a and b."""
    for _ in range(100):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if f(middle) < 0 else (a, middle)
    return b


def flights(stop, g=9.81, e=0.8):
    """Begin, height and speed of each flight of the ball on the table; exact."""
    found = [(0.0, 1.0, 0.0)]
    while True:
        begin, height, speed = found[-1]

        def depth(t):
            s = t - begin
            return 0.1 * math.sin(3 * t) - (height + speed * s - g / 2 * s * s)

        t = begin + 1e-3
        while t < stop and depth(t) < 0:
            t += 1e-3
        if t >= stop:
            return found
        t = root(depth, t - 1e-3, t)
        after = (1 + e) * 0.3 * math.cos(3 * t) - e * (speed - g * (t - begin))
        found.append((t, 0.1 * math.sin(3 * t), after))


def switches(count):
    """Instants of the heated room."""
    t, temperature, heat, instants = 0.0, 20.0, 1, []
    for _ in range(count):
        rest, goal = 10 + 20 * heat, 21 if heat else 19
        t -= math.log((goal - rest) / (temperature - rest)) / 0.1
        temperature, heat = goal, 1 - heat
        instants.append(t)
    return np.array(instants)


class EventsTest(FilesTest):
    def run_fmu(self, source, part, rest, stop, version, *options, ranks=1):
        """The model with `part` as an FMU."""
        export(source, part, self.folder / f"{part}.fmu", "--fmi", version)
        model = write_model(self.folder, "coupled", f"experiment: {{start: 0, stop: {stop}}}\n"
                            f"subsystems:\n  {part}: {{fmu: {part}.fmu}}\n{rest}")
        return simulate(model, *options, *TIGHT, ranks=ranks, jumps="cs" in options)


COLD = """experiment: {start: 0, stop: 5}
subsystems:
  room:
    equations:
      discrete: {on: 0, starts: 0}
      states: {T: 15}
      derivatives: {T: 4*on - 1}
      when:
        - {condition: T < 19, initially: true, set: {on: 1, starts: pre(starts) + 1}}
        - {condition: T > 21, set: {on: 0}}
        - {condition: T < 50, set: {starts: 100}}
      outputs: {T: T, on: on, starts: starts}
"""


SAW = """experiment: {start: 0, stop: 5}
maps:
  lift: {points: {angle: [0, 1, 3], y: [1, 3, 1]}}
subsystems:
  cam:
    equations:
      discrete: {turns: 0}
      states: {phase: 0, sum: 0}
      variables: {angle: "mod(phase, 3)"}
      derivatives: {phase: 2, sum: lift(angle)}
      when:
        - {condition: angle < 0.5, set: {turns: pre(turns) + 1}}
      outputs: {lift: lift(angle), sum: sum, turns: turns}
"""


class Language(EventsTest):
    def test_relations_that_change_with_what_jumps(self):
        """A cam whose angle comes to the end of its map where it jumps back; 2 is its mean lift."""
        source = write_model(self.folder, "saw", SAW)
        for version, interface in INTERFACES:
            with self.subTest(version=version, interface=interface):
                run = self.run_fmu(source, "cam", "", 5, version, *interface, "-cosim_step", 0.1)
                exact = np.interp(np.mod(2 * run.time + 1e-9, 3), [0, 1, 3], [1, 3, 1])
                np.testing.assert_allclose(run.outputs["cam.lift"], exact, atol=1e-6)
                np.testing.assert_allclose(run.outputs["cam.sum"][-1], 3 * 2 * 1.5 + 1, atol=1e-6)
                self.assertEqual(run.outputs["cam.turns"][-1], 3)

    def test_what_acts_initially(self):
        """Heated from the start on: 15 + 3 t up to 21 at t = 2, down to 19 at t = 4, and again."""
        source = write_model(self.folder, "cold", COLD)
        for version, interface in INTERFACES:
            with self.subTest(version=version, interface=interface):
                run = self.run_fmu(source, "room", "", 5, version, *interface, "-cosim_step", 0.1)
                self.assertEqual((run.outputs["room.on"][0], run.outputs["room.starts"][0]), (1, 1))
                self.assertEqual(run.outputs["room.starts"][-1], 2)
                exact = np.interp(run.time, [0, 2, 4, 14 / 3, 5], [15, 21, 19, 21, 62 / 3])
                np.testing.assert_allclose(run.outputs["room.T"], exact, atol=1e-6)

    def test_description(self):
        expected = {"on": ("output", "discrete", "exact", "1"),
                    "y": ("output", "continuous", "calculated", None),
                    "stairs": ("output", "discrete", "calculated", None),
                    "late": ("output", "discrete", "calculated", None),
                    "n": ("output", "discrete", "calculated", None),
                    "count": ("local", "discrete", "exact", "0"),
                    "x": ("local", "continuous", "exact", "0.5"),
                    **{f"event_indicator_{i}": ("local", "continuous", "calculated", None)
                       for i in (1, 2, 3, 4)}}
        for version in (2, 3):
            folder = self.exported("switched", version, "--no-binary")
            parsed = Description.parse((folder / "modelDescription.xml").read_bytes())
            rows = {row[0]: row for row in Description.variables(parsed, version)}
            for name, wanted in expected.items():
                self.assertEqual(rows[name][2:6], wanted, name)
            self.assertNotIn("event_indicator_5", rows)
            order = list(rows)
            structure = parsed.find("ModelStructure")
            for name, uses in (("n", "count"), ("late", "time"), ("y", "x on")):
                key = str(order.index(name) + 1 if version == 2 else rows[name][1])
                at_start = next(node for node in structure.iter() if key in (
                    node.get("index"), node.get("valueReference")) and "Initial" in (
                        node.tag if version == 3 else self.parent(structure, node).tag))
                keys = {str(order.index(use) + 1 if version == 2 else rows[use][1])
                        for use in uses.split()}
                self.assertEqual(set(at_start.get("dependencies").split()), keys)

    @staticmethod
    def parent(structure, node):
        return next((group for group in structure if node in list(group)), structure)

    def test_as_in_the_model_file(self):
        """Every kind of event, against the model run directly."""
        source = write_model(self.folder, "switched", SWITCHED)
        for version, interface in INTERFACES:
            found = self.run_fmu(source, "switched", GRID, 3, version, "-cosim_step", "0.02",
                                 *interface)
            native = self.direct(source)
            rows = [i for i, t in enumerate(found.time)
                    if np.abs(self.happened(native) - t).min() > 1e-9]
            self.assertGreater(len(rows), 100)
            same = [np.abs(native.time - found.time[i]).argmin() for i in rows]
            self.assertLess(np.abs(native.time[same] - found.time[rows]).max(), 1e-12)
            for name in found.outputs.names:
                worst = np.abs(found.outputs[name][rows] - native.outputs[name][same]).max()
                self.assertLess(worst, 1e-9, (name, version, interface))

    @staticmethod
    def happened(native):
        """Times at which something else than the grid's own events happened."""
        return native.event_times[[who != "" for who, _ in native.happened]]

    def direct(self, source):
        model = write_model(self.folder, "direct", source.read_text() + GRID)
        return simulate(model, "-cosim_step", "0.02", *TIGHT)


class Ball(EventsTest):
    """On a table that moves in another subsystem. (Not in FMI 3's co-simulation, where Concord
    holds inputs in pieces of a step: the table then jumps up into the ball that leaves it.)"""

    def test_impacts(self):
        source = write_model(self.folder, "ball", BALL + TABLE)
        exact = flights(3.0)
        for version, interface in INTERFACES[:3]:
            found = self.run_fmu(source, "ball", TABLE, 3, version, "-cosim_step", "0.005",
                                 *interface)
            hits = np.unique(found.outputs["ball.hit"])[1:]
            self.assertEqual(len(hits), len(exact) - 1)
            worst = np.abs(hits - [begin for begin, *_ in exact[1:]]).max()
            self.assertLess(worst, 1e-8, (version, interface))
            self.check_flights(found, exact)

    def check_flights(self, found, exact):
        for t, h, v in zip(found.time, found.outputs["ball.h"], found.outputs["ball.v"]):
            begin, height, speed = [flight for flight in exact if flight[0] <= t + 1e-8][-1]
            s = t - begin
            self.assertAlmostEqual(h, height + speed * s - 9.81 / 2 * s * s, 7)
            self.assertAlmostEqual(v, speed - 9.81 * s, 7)


class Thermostat(EventsTest):
    def test_a_hundred_switches(self):
        source = write_model(self.folder, "heated", HEATED)
        exact = switches(120)
        for version, interface in INTERFACES:
            for step in ("0.5", "7"):  # with several in one step
                found = self.run_fmu(source, "room", "", 220, version, "-cosim_step", step,
                                     *interface)
                count = np.searchsorted(exact, found.time)
                self.assertGreater(count[-1], 100)
                self.assertTrue(np.array_equal(found.outputs["room.count"], count))
                seen = count > 0
                worst = np.abs(found.outputs["room.last"][seen] - exact[count[seen] - 1]).max()
                self.assertLess(worst, 1e-8, (version, interface, step))


    def test_across_the_network(self):
        """The thermostat of the example as an FMU: its switches end the macro-steps of all."""
        source = EXAMPLES / "thermostat" / "thermostat.yaml"
        text = source.read_text()
        rest = (text[text.index("  room:"):text.index("  thermostat:\n")] +
                text[text.index("connections:"):])
        exact = switches(120)
        for version, ranks in ((2, 1), (3, 1), (3, 2)):
            found = self.run_fmu(source, "thermostat", rest, 220, version, "-cosim_step", "0.5",
                                 ranks=ranks)
            late = [np.abs(exact - t).min() for t in found.event_times]
            self.assertEqual(len(late), np.searchsorted(exact, 220))
            self.assertLess(max(late), 1e-9, version)
            if ranks == 1:
                alone = found
        self.assertLess(np.abs(alone.outputs.values - found.outputs.values).max(), 1e-12)


class Sampled(EventsTest):
    """The controller of the example as an FMU; it has neither states nor indicators."""

    def test_against_the_model_file(self):
        source = EXAMPLES / "sampled_control" / "sampled_control.yaml"
        text = source.read_text()
        rest = (text[text.index("  plant:"):text.index("  controller:")] +
                text[text.index("connections:"):])
        for step in ("0.01", "0.0025"):
            native = simulate(source, "-cosim_step", step, *TIGHT)
            for version, interface in INTERFACES[:3]:  # FMI 3 holds inputs in pieces of a step
                found = self.run_fmu(source, "controller", rest, 1, version, "-cosim_step", step,
                                     *interface)
                self.assertTrue(np.allclose(found.time, native.time, 0, 1e-15))
                for name in native.outputs.names:
                    worst = np.abs(found.outputs[name] - native.outputs[name]).max()
                    self.assertLess(worst, 1e-9, (name, version, interface))


class Start(EventsTest):
    """What happens at the start: one order for all kinds of subsystems."""

    def test_kinds_agree(self):
        """Ticks at t = 0 read relations that have settled and nothing that another tick sets; what they
        set makes conditions act."""
        model = write_model(self.folder, "start", START)
        for name, version in [(name, version) for name in ("s1", "s2", "s3", "slope") for version in (2, 3)]:
            export(model, name, self.folder / f"{name}_{version}.fmu", "--fmi", version)
        names = ("s1.u", "s2.u", "s3.u", "relation.y", "count.n")
        native = simulate(model, *TIGHT)
        self.assertEqual([native.outputs[name][0] for name in names], [5, 0, -1, 5, 1])
        runs = [(f"{kind} {version} {which} {ranks}", which, version, ("-subsystem_fmu_interface", kind), ranks)
                for kind in ("me", "cs") for version in (2, 3) for which in (("s1", "s2"), ("s3",))
                for ranks in ((1, 3) if version == 2 else (1,))]
        runs += [("monolithic", ("slope",), 2, ("-cosim_type", "monolithic", *TIGHT), 1),
                 ("jacobi", ("s1", "s3"), 3, ("-cosim_type", "jacobi", "-cosim_step", 0.05), 1)]
        for label, which, version, options, ranks in runs:
            with self.subTest(label):
                text = START
                for name in which:
                    text = re.sub(f"^  {name}: .*", f"  {name}: {{fmu: {name}_{version}.fmu}}", text, flags=re.M)
                found = simulate(write_model(self.folder, "mixed", text), *options, ranks=ranks)
                for time in (0.0, 0.25) if "cs" not in options else (0.0,):  # whose ticks end a step
                    row, other = (np.searchsorted(run.time, time) for run in (found, native))
                    self.assertEqual((found.time[row], native.time[other]), (time, time))
                    self.assertEqual([found.outputs[name][row] for name in names],
                                     [native.outputs[name][other] for name in names], time)


class Sequence(EventsTest):
    """Model exchange, call by call."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        exports = tempfile.TemporaryDirectory()
        cls.addClassCleanup(exports.cleanup)
        cls.exports, cls.unpacked = exports.name, {}  # folders, by text

    def fmu(self, text, **starts):
        if text not in self.unpacked:
            folder = Path(tempfile.mkdtemp(dir=self.exports))
            model = write_model(folder, "one", "experiment: {start: 0, stop: 9}\nsubsystems:\n"
                                f"  one:\n    equations:\n{text}")
            export(model, "one", folder / "one.fmu", "--fmi", 2)
            self.unpacked[text] = unpack(folder / "one.fmu")
        fmu = Fmu2(self.unpacked[text], cosimulation=False)
        self.addCleanup(fmu.free)
        fmu.set(**starts)
        fmu.start()
        return fmu

    SWITCH = """      inputs: {u: 0}
      discrete: {on: 1, n: 0}
      when:
        - {condition: u > 2, set: {on: 0, n: pre(n) + 1}}
        - {condition: u < 1, set: {on: 1, n: pre(n) + 1}}
      outputs: {on: on, above: u > 2}
"""

    def test_held_between_events(self):
        fmu = self.fmu(self.SWITCH)
        self.assertEqual(len(fmu.events()), 1)
        self.assertEqual(fmu.get("on", "n", "above"), [1, 0, 0])  # u < 1 at the start acts not
        for u, positive in ((1.9, True), (2, True), (2.1, False), (5, False)):
            self.assertEqual(fmu.set(u=u), 0)
            self.assertEqual(fmu.get("on", "n", "above"), [1, 0, 0])
            self.assertEqual(fmu.indicators(2)[0] > 0, positive)
        self.assertEqual(fmu("EnterEventMode"), 0)
        self.assertEqual(fmu.get("on", "n", "above"), [1, 0, 0])
        told = fmu.events()
        self.assertEqual([info.needed for info in told], [1, 0])
        self.assertEqual([info.states_changed + info.time_defined for info in told], [0, 0])
        self.assertEqual(fmu.get("on", "n", "above"), [0, 1, 1])
        self.assertGreater(min(fmu.indicators(2)), 0)

    def test_indicator_is_positive_behind_the_event(self):
        """Wherever close to the crossing the importer finds it; from both sides, and at 0."""
        for text, point in (("u > 2", 2.0), ("2 - u < 0", 2.0), ("u > 0", 0.0), ("3*u >= 6", 2.0)):
            for offset in (1e-15, 1e-9, 1e-300):
                fmu = self.fmu(self.SWITCH.replace("condition: u > 2", f"condition: '{text}'")
                               .replace(", above: u > 2", ""))
                fmu.set(u=point - 0.5)
                fmu.events()
                fmu.set(u=point + offset)
                while fmu.indicators(2)[0] > 0:  # as far as rounding lets it see
                    offset *= 10
                    fmu.set(u=point + offset)
                self.assertLess(offset, 1e-8)
                fmu("EnterEventMode")
                fmu.events()
                self.assertEqual(fmu.get("on")[0], 0, text)
                self.assertGreater(fmu.indicators(2)[0], 0)
                fmu.set(u=point - 1e-8)
                self.assertLess(fmu.indicators(2)[0], 0)

    def test_events_that_follow(self):
        fmu = self.fmu("""      inputs: {u: 0}
      discrete: {a: 0, b: 0, c: 10}
      states: {x: 1}
      derivatives: {x: 0}
      when:
        - {condition: u > 1, set: {a: 1, b: a + 5}}
        - {condition: a > 0, set: {c: c + b, x: 2*x}}
        - {condition: c > 12, set: {a: a + c}}
      outputs: {x: x}
""")
        fmu.events()
        fmu.set(u=2)
        fmu("EnterEventMode")
        told = fmu.events()
        self.assertEqual([info.needed for info in told], [1, 1, 1, 0])
        self.assertEqual([info.states_changed for info in told], [0, 1, 1, 1])
        self.assertEqual(fmu.get("a", "b", "c", "x"), [16, 5, 15, 2])

    TIMED = """      parameters: {first: 0.35}
      discrete: {n: 0, until: 0.7}
      when:
        - {every: 0.3, offset: 0.1, set: {n: n + 1, until: "n > 1.5 ? 10 : until"}}
      outputs: {n: n, stair: floor(2*t), late: t >= first, early: t < until}
"""

    def test_time_events(self):
        """Ticks, and relations of t alone with what only events or the importer change."""
        fmu = self.fmu(self.TIMED)
        self.assertEqual(fmu.get("n", "stair", "late", "early"), [0, 0, 0, 1])
        wanted = [0.1, 0.35, 0.4, 0.5, 0.7, 1.0]
        for time, values in zip(wanted, ([1, 0, 0, 1], [1, 0, 1, 1], [2, 0, 1, 1], [2, 1, 1, 1],
                                         [3, 1, 1, 1], [4, 2, 1, 1])):
            info = fmu.events()[-1]
            self.assertTrue(info.time_defined)
            self.assertAlmostEqual(info.time, time, 14)
            fmu.go_to(info.time)
            fmu("EnterEventMode")
            told = [fmu.new_discrete_states()]
            while told[-1].needed:
                told.append(fmu.new_discrete_states())
            self.assertEqual(fmu.get("n", "stair", "late", "early"), values, time)
        tuned = self.fmu(self.TIMED, first=0.05)
        self.assertAlmostEqual(tuned.events()[-1].time, 0.05, 15)
        tuned("EnterEventMode")
        tuned.set(first=0.03)
        self.assertAlmostEqual(tuned.events()[-1].time, 0.03, 15)

    def test_saved_and_passed_on(self):
        """Discrete variables and relations go with the state, into another instance too."""
        fmu = self.fmu(self.TIMED)
        for _ in range(3):
            fmu.go_to(fmu.events()[-1].time)
            fmu("EnterEventMode")
        saved, before = fmu.save(), fmu.get("n", "stair", "late", "early")

        def three_more(instance):
            seen = []
            for _ in range(3):
                time = instance.events()[-1].time
                instance.go_to(time)
                instance("EnterEventMode")
                seen.append((time, *instance.get("n", "stair", "late", "early")))
            return seen

        first = three_more(fmu)
        fmu.restore(saved)
        self.assertEqual(fmu.get("n", "stair", "late", "early"), before)
        self.assertEqual(three_more(fmu), first)
        other = self.fmu(self.TIMED)
        other.restore(saved)
        self.assertEqual(three_more(other), first)
        self.assertEqual(fmu("Reset"), 0)
        self.assertEqual(fmu.get("n", "stair", "late", "early"), [0, 0, 0, 1])

    def test_discrete_variables_start_as_told(self):
        fmu = self.fmu(self.SWITCH, on=0, n=7)
        fmu.events()
        self.assertEqual(fmu.get("on", "n"), [0, 7])
        self.assertEqual(fmu.set(on=1), 3)
        self.assertIn("may not be set, or not now", fmu.messages[-1][1])


class Steps(EventsTest):
    """Co-simulation: events within steps of any size."""

    BOUNCE = """      parameters: {e: 0.8}
      discrete: {n: 0}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -2}
      when: [{condition: h < 0, set: {v: -e*v, n: n + 1}}]
      outputs: {h: h, v: v, n: n}
"""

    def fmu(self, text, **starts):
        model = write_model(self.folder, "one", "experiment: {start: 0, stop: 9}\nsubsystems:\n"
                            f"  one:\n    equations:\n{text}")
        fmu = Fmu2(self.exported("one", source=model))
        self.addCleanup(fmu.free)
        fmu.set(**starts)
        fmu.start(tolerance=1e-12)
        return fmu

    def test_bounces(self):
        """Impacts at 1, 1 + 2 e, 1 + 2 e + 2 e^2, ...; speeds 2 e^k."""
        for size in (0.1, 0.75, 3.0):
            fmu = self.fmu(self.BOUNCE)
            for k in range(round(6 / size)):
                self.assertEqual(fmu.step(k * size, size), 0)
                t, begin, speed, n = (k + 1) * size, 1.0, 1.6, 1
                if t < 1 + 1e-9:
                    continue
                while begin + speed < t + 1e-9:
                    begin, speed, n = begin + speed, 0.8 * speed, n + 1
                s = t - begin
                if s < 1e-9:
                    continue
                h, v, count = fmu.get("h", "v", "n")
                self.assertEqual(count, n)
                self.assertAlmostEqual(h, speed * s - s * s, 9)
                self.assertAlmostEqual(v, speed - 2 * s, 9)

    def test_events_that_come_together(self):
        fmu = self.fmu(self.BOUNCE, e=0.5)
        self.assertEqual(fmu.step(0, 2.9), 0)
        self.assertEqual(fmu.step(2.9, 0.2), 2)
        self.assertRegex(fmu.messages[-1][1], r"events accumulate: .* at t = 2\.99999")
        self.assertAlmostEqual(fmu.get("h")[0], 0, 2)

    def test_events_without_end(self):
        fmu = self.fmu("""      discrete: {a: 0}
      when:
        - {condition: t > 1 && a < 1, set: {a: 1}}
        - {condition: a > 0, set: {a: 0}}
      outputs: {a: a}
""")
        self.assertEqual(fmu.step(0, 0.9), 0)
        self.assertEqual(fmu.step(0.9, 0.2), 2)
        self.assertRegex(fmu.messages[-1][1], "follow from each other without end at t = 1, the last")
        self.assertEqual(fmu.step(0.9, 0.05), 0)

    def test_short_crossings_are_seen(self):
        """One step over 90 short pulses, in time with a state that is exact."""
        fmu = self.fmu("""      discrete: {n: 0}
      states: {x: 0}
      derivatives: {x: 1}
      when: [{condition: "sin(6.2831853071795862*x) > 0.99", set: {n: n + 1}}]
      outputs: {n: n}
""")
        for k in range(9):
            self.assertEqual(fmu.step(k, 1), 0)
        self.assertEqual(fmu.get("n"), [9])

    def test_inputs_and_parameters_that_jump(self):
        """Between steps they act as the next one begins."""
        fmu = self.fmu("""      parameters: {limit: 2}
      inputs: {u: 0}
      discrete: {n: 0}
      when: [{condition: u > limit, set: {n: n + 1}}]
      outputs: {n: n}
""")
        for time, change, n in ((0, {"u": 1}, 0), (1, {"u": 3}, 1), (2, {"u": 1}, 1),
                                (3, {"limit": 0.5}, 2)):
            self.assertEqual(fmu.set(**change), 0)
            self.assertEqual(fmu.step(time, 1), 0)
            self.assertEqual(fmu.get("n"), [n])

    def test_polynomial_inputs(self):
        """u = t^2 crosses 2 within the step; n counts, at = t then."""
        fmu = self.fmu("""      inputs: {u: 0}
      discrete: {at: 0}
      when: [{condition: u > 2, set: {at: t}}]
      outputs: {at: at}
""")
        self.assertEqual(fmu.input_derivative("u", 2, 2.0), 0)
        self.assertEqual(fmu.step(0, 2), 0)
        self.assertAlmostEqual(fmu.get("at")[0], math.sqrt(2), 11)


if __name__ == "__main__":
    unittest.main()
