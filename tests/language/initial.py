"""`initial:` against closed forms: what is found, by which ranks, and each mistake with its message."""
import json
import unittest

import h5py
import numpy as np
from concord_runs import ModelTest, execute, export, run_here, simulate

# Two lags in a chain behind a source, and a third subsystem whose output is what it needs.
CHAIN = """
experiment: {start: 3, stop: 5}
parameters: {half: 0.5}
functions: {twice(v): 2*v}
templates:
  lag:
    equations:
      parameters: {tau: 2, gain: 3}
      inputs: {u: 0, extra: 0}
      states: {x: 7}
      derivatives: {x: (u + extra - x)/tau}
      outputs: {y: gain*x, sum: x + u}
subsystems:
  source: {equations: {parameters: {amp: 1}, outputs: {y: amp*t}}}
  a: {template: lag}
  b: {template: lag}
connections: [source.y -> a.u, a.y -> b.u]
initial:
"""
ROD = """
experiment: {stop: 1}
subsystems:
  rod:
    equations:
      parameters: {n: 5, a: 2}
      inputs: {q: 6, left: 100}
      states: {"T[n]": 293.15}
      derivatives:
        "T[1]": q - a*(T[1] - T[2])
        "T[i in 2:n-1]": a*(T[i-1] - 2*T[i] + T[i+1])
        "T[n]": a*(T[n-1] - T[n]) + (left - T[n])
      outputs: {mean: sum(T)/n, "T[n]": T}
initial:
"""
ROD_AT_REST = 106 + 3.0 * np.arange(4, -1, -1)
# Rooms whose heating falls with temperature, and one flow that keeps the last at 300 K.
ROOMS = """
experiment: {stop: 1e5}
templates:
  room:
    equations:
      parameters: {loss: 0.001, power: 0.02}
      inputs: {left: 280, right: 280}
      states: {T: START}
      derivatives: {T: loss*(left - 2*T + right) + power*exp(-(T/300)^4)}
      outputs: {T: T}
subsystems:
  room: {template: room, repeat: {i: [1, 12]}}
connections:
  - {connect: "room[i].T -> room[i+1].left", repeat: {i: [1, 11]}}
  - {connect: "room[i+1].T -> room[i].right", repeat: {i: [1, 11]}}
initial:
  - {equation: "der(room[i].T) = 0", repeat: {i: [1, 12]}}
"""
# Motors whose torque is limited, each turning the next one's wanted angle.
SERVOS = """
experiment: {stop: 10}
templates:
  servo:
    equations:
      parameters: {J: 0.1, kp: 5, ki: 2, top: 4}
      inputs: {want: 2, load: 0.5}
      states: {phi: START, w: START, sum: START}
      variables: {u: kp*(want - phi) - 2*w + sum}
      derivatives: {phi: w, w: (top*tanh(u/top) - load - 0.3*w)/J, sum: ki*(want - phi)}
      outputs: {phi: phi}
subsystems:
  servo: {template: servo, repeat: {i: [1, 6]}}
connections:
  - {connect: "servo[i].phi -> servo[i+1].want", repeat: {i: [1, 5]}}
initial:
  - {equation: "der(servo[i].phi) = 0", repeat: {i: [1, 6]}}
  - {equation: "der(servo[i].w) = 0", repeat: {i: [1, 6]}}
  - {equation: "der(servo[i].sum) = 0", repeat: {i: [1, 6]}}
"""
# Tanks in a row, with a pump from the last one to the first; all heights are equal at first.
TANKS = """
experiment: {stop: 100}
templates:
  tank: {equations: {inputs: {more: 0, less: 0}, states: {h: START}, derivatives: {h: more - less}, outputs: {h: h}}}
  pipe: {equations: {inputs: {left: 0, right: 0}, outputs: {q: sign(left - right)*sqrt(abs(left - right))}}}
  both: {equations: {inputs: {a: 0, b: 0}, outputs: {q: a + b}}}
subsystems:
  tank: {template: tank, repeat: {i: [1, 4]}}
  pipe: {template: pipe, repeat: {i: [1, 4]}}
  first: {template: both}
  last: {template: both}
  pump: {equations: {inputs: {h: 0}, outputs: {q: 1.5/(1 + h)}}}
  rain: {equations: {parameters: {q: 2}, outputs: {q: q}}}
connections:
  - {connect: "pipe[i].q -> tank[i].less", repeat: {i: [1, 3]}}
  - {connect: "tank[i].h -> pipe[i].left", repeat: {i: [1, 4]}}
  - {connect: "tank[i+1].h -> pipe[i].right", repeat: {i: [1, 3]}}
  - {connect: "pipe[i].q -> tank[i+1].more", repeat: {i: [1, 3]}}
  - tank[4].h -> pump.h
  - pump.q -> first.a
  - rain.q -> first.b
  - pump.q -> last.a
  - pipe[4].q -> last.b
  - first.q -> tank[1].more
  - last.q -> tank[4].less
initial:
  - {equation: "der(tank[i].h) = 0", repeat: {i: [1, 4]}}
"""


def lines(*equations):
    return "".join(f"  - {equation}\n" for equation in equations)


class Meaning(ModelTest):
    def start(self, text, *options, ranks=1):
        """Names and values at the start: outputs, inputs, states."""
        run = simulate(self.model(text), *options, ranks=ranks)
        self.said = run.stdout
        return {name: value for table in (run.outputs, run.inputs, run.states)
                for name, value in zip(table.names, table.values[0])}

    def assert_start(self, at, **values):
        for name, value in values.items():
            self.assertAlmostEqual(at[name.replace("__", ".")], value, delta=1e-9 * max(1, abs(value)), msg=name)

    def test_states_stand_alone_or_rest(self):
        """At t = 3: x = u rests, and x = 2*y + t of another subsystem's output; functions, parameters."""
        at = self.start(CHAIN + lines("der(a.x) = 0", "b.x = twice(a.y) + t*half"))
        self.assert_start(at, a__x=3, b__u=9, b__x=19.5)
        self.assertRegex(self.said, r"initial equations     2 solved, residual [0-9.e-]+\n")
        at = self.start(CHAIN + lines("der(a.x) = t", "a.x + half = b.x").replace("a.x + half = b.x", "b.x = a.x + half"))
        self.assert_start(at, a__x=3 - 2 * 3, b__x=-2.5)

    def test_what_is_free_may_be_said(self):
        """A state through an output, a parameter, an input that nothing feeds, and several at once."""
        self.assert_start(self.start(CHAIN + lines("{equation: b.sum = 5, free: a.x}")), b__u=-2, a__x=-2 / 3, b__x=7)
        at = self.start(CHAIN + lines("{equation: der(b.x) = 0, free: source.amp}", "der(a.x) = 0"))
        self.assert_start(at, source__y=7 / 3, a__x=7 / 3, b__x=7)
        self.assert_start(self.start(CHAIN + lines("{equation: der(b.x) = 1, free: b.extra}")), b__extra=9 - 21)
        at = self.start(CHAIN + lines("{equation: a.x*b.x = 6, free: [a.x, b.x]}", "{equation: b.x - a.x = 1, free: []}"))
        self.assert_start(at, a__x=2, b__x=3)
        self.assert_start(self.start(CHAIN + lines("{equation: a.gain*b.x = 14, free: a.gain}")), a__y=14)

    def test_what_is_free_may_be_repeated(self):
        at = self.start(ROOMS.replace("START", "280").split("initial:")[0] + "initial:\n" + lines(
            '{equation: "der(room[i].T) = 0", free: "room[i].power", repeat: {i: [1, 12]}}'))
        self.assert_start(at, **{"room[4]__T": 280})

    def test_all_else_keeps_its_value(self):
        """The start value that is given is where the search begins: of two solutions the one beside it."""
        for given, found in ((7, 2), (-7, -2)):
            at = self.start(CHAIN + lines("{equation: a.x^2 = 4, free: a.x}"), "--set", f"a.x={given}")
            self.assert_start(at, a__x=found, b__x=7)

    def test_whole_network(self):
        """Through an algebraic loop: y = 1 + k*u, u = y - x with k = 1/2, so that y = 2 - x."""
        at = self.start("""
experiment: {stop: 1}
subsystems:
  a: {equations: {parameters: {k: 0.5}, inputs: {u: 0}, outputs: {y: 1 + k*u}}}
  b: {equations: {inputs: {y: 0}, states: {x: 9}, derivatives: {x: -x}, outputs: {u: y - x}}}
connections: [a.y -> b.y, b.u -> a.u]
initial: ["{equation: a.y = 12, free: b.x}"]
""".replace('"{', "{").replace('}"]', "}]"))
        self.assert_start(at, b__x=-10, a__u=22)

    def test_vectors(self):
        """All of it, one element, a range, a sum, and a vector beside another one."""
        at = self.start(ROD + lines("der(rod.T) = 0"))
        for i, wanted in enumerate(ROD_AT_REST, 1):
            self.assertAlmostEqual(at[f"rod.T[{i}]"], wanted, delta=1e-9)
        at = self.start(ROD + lines("der(rod.T[1]) = 0", "rod.T[2:4] = 300", "{equation: sum(rod.T) = 1500, free: 'rod.T[5]'}"))
        np.testing.assert_allclose([at[f"rod.T[{i}]"] for i in range(1, 6)], [303, 300, 300, 300, 297], rtol=1e-12)
        other = ROD.replace("initial:", "  goal: {equations: {states: {\"z[5]\": 0}, derivatives: {z: 1 - z}, outputs: {\"z[5]\": z}}}\ninitial:")
        at = self.start(other + lines("goal.z = 2*rod.T + der(rod.T)"))
        np.testing.assert_allclose([at[f"goal.z[{i}]"] for i in (1, 2, 5)], [2 * 293.15 + 6, 2 * 293.15, 293.15 + 100], rtol=1e-12)

    def test_systems_and_repeats(self):
        """Equations inside a system, of its outputs outside, and one for each of many."""
        at = self.start(CHAIN.replace("  b: {template: lag}\n", """  b: {template: lag}
  many: {template: lag, repeat: {i: [1, 3]}}
  drive:
    system:
      parameters: {k: 4}
      subsystems: {one: {template: lag}, two: {template: lag}}
      connections: [one.y -> two.u]
      outputs: {force: two.y}
      initial: [one.x = k, der(two.x) = 1]
""") + lines('{equation: "many[i].x = i*twice(t)", repeat: {i: [1, 3]}}',
             "{equation: 'drive.force + many[1].y = 50', free: drive.two.extra}"))
        self.assert_start(at, drive__one__x=4, **{f"many[{i}]__x": 6 * i for i in (1, 2, 3)})
        self.assert_start(at, drive__two__y=50 - 18, drive__two__extra=32 / 3 + 2 - 12)

    def test_units(self):
        """An input is what arrives there, in its own unit."""
        at = self.start("""
experiment: {stop: 1}
subsystems:
  rule: {equations: {states: {x: 1}, derivatives: {x: 0*x}, outputs: {x: x}, units: {x: m}}}
  gauge: {equations: {inputs: {x: 0}, outputs: {y: x}, units: {x: mm}}}
connections: [rule.x -> gauge.x]
initial: [{equation: gauge.x = 250, free: rule.x}]
""")
        self.assert_start(at, rule__x=0.25, gauge__y=250)

    def test_dimensions(self):
        """Metres are no seconds, and metres beside millimetres are a note."""
        text = """
experiment: {stop: 1}
subsystems:
  a: {equations: {states: {x: 1, v: 2}, derivatives: {x: v, v: 0*v}, outputs: {y: x}, units: {x: m, v: m/s}}}
  b: {equations: {states: {x: 1}, derivatives: {x: 0*x}, units: {x: mm}}}
initial: [EQUATION]
"""
        for equation, code, says in (
                ("der(a.x) = a.v", 0, "note: "), ("a.x = a.v", 2, "brings different dimensions together"),
                ("der(a.x) = a.x", 2, "brings different dimensions together"), ("b.x = 3*a.x", 0, "nothing is converted in it")):
            with self.subTest(equation=equation):
                run = execute("check", self.model(text.replace("EQUATION", equation)))
                self.assertEqual(run.returncode, code, run.stderr)
                (self.assertNotIn if says == "note: " else self.assertIn)(says, run.stdout + run.stderr)

    def test_events(self):
        """Discrete variables have their start values; relations those of what is found."""
        at = self.start("""
experiment: {stop: 1}
subsystems:
  a:
    equations:
      states: {x: -5}
      discrete: {d: 3}
      derivatives: {x: "d - (x > 2 ? 0.5*x : x)"}
      outputs: {x: x}
      when: [{condition: x > 100, set: {d: 0}}]
initial: [der(a.x) = 0]
""")
        self.assert_start(at, a__x=6)

    def test_ranks(self):
        """The same bits on 1 and 3 ranks, and the start values of what is not free."""
        text = ROOMS.replace("START", "280") + lines("{equation: room[12].T = 300, free: 'room[12].power'}").replace("room[12].T = 300, free", "'room[12].T = 300', free")
        alone, three = self.start(text), self.start(text, ranks=3)
        self.assertEqual(alone, three)


class Far(ModelTest):
    """From start values ten times off, below and above."""

    def found(self, text, start):
        run = simulate(self.model(text.replace("START", str(start))), "-cosim_step", 0.5, "-cosim_stop", 2)
        return run.states

    def test_heat(self):
        exact = simulate(self.model(ROOMS.replace("START", "280").split("initial:")[0].replace("1e5", "1e6")),
                         "-cosim_accuracy", 1e-8).states
        for start in (28, 280, 2800):
            np.testing.assert_allclose(self.found(ROOMS, start).values[0], exact.values[-1], rtol=1e-6)

    def test_servos(self):
        """phi = 2 everywhere, and the torque of the load."""
        rest = [2, 0, 4 * np.arctanh(0.5 / 4)]
        for start in (0.2, 20, -20):
            np.testing.assert_allclose(self.found(SERVOS, start).values[0], rest * 6, rtol=1e-9, atol=1e-9)

    def test_tanks(self):
        """h4 = 2^2, and from one tank to the next (2 + 1.5/5)^2."""
        for start in (0, 0.4, 4, 40, 400):
            np.testing.assert_allclose(self.found(TANKS, start).values[0],
                                       4 + 2.3**2 * np.arange(3, -1, -1), rtol=1e-9)


class Runs(ModelTest):
    def test_what_is_recorded(self):
        model, path, summary = self.model(CHAIN + lines("der(a.x) = 0", "{equation: b.y = 12, free: source.amp}").replace(
            "b.y = 12", "b.u = 12")), self.folder / "run.h5", self.folder / "summary.json"
        run = run_here(model, "-cosim_output", path, "-cosim_summary", summary)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            found = dict(line.split("=") for line in file.attrs["initial_values"].split())
        self.assertAlmostEqual(float(found["a.x"]), 4, delta=1e-9)
        self.assertAlmostEqual(float(found["source.amp"]), 4 / 3, delta=1e-9)
        told = json.loads(summary.read_text())["initial"]
        self.assertEqual(told["equations"], 2)
        self.assertLess(told["residual"], 1e-10)
        self.assertEqual({name: repr(value) for name, value in told["values"].items()},
                         {name: repr(float(value)) for name, value in found.items()})

    def test_check_lists(self):
        """And does not solve: this one has no solution."""
        run = execute("check", self.model(CHAIN + lines("{equation: a.x^2 = -1, free: a.x}")))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"initial equations:\n  a\.x\^2 = -1 \(\S*model\.yaml:19\)\n"
                                     r"free at the start:\n  a\.x, looked for from 7 on\n")

    def test_restart(self):
        """Goes on with the same bits, freed parameters too, and solves nothing."""
        model = self.model(CHAIN + lines("{equation: b.u = 12, free: source.amp}", "der(a.x) = 0"))
        whole = simulate(model, "-cosim_step", 0.1)
        path, checkpoint = self.folder / "run.h5", self.folder / "point"
        options = ("-cosim_step", 0.1, "-cosim_output", path, "-cosim_checkpoint", checkpoint)
        run = run_here(model, *options, "-cosim_stop", 4)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = run_here(model, *options, "-cosim_restart", "auto")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("initial equations ", run.stdout)
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["outputs/values"][:], whole.outputs.values)
            self.assertIn("source.amp=", file.attrs["initial_values"])

    def test_same_as_given(self):
        """A run from what is found, given as start values, has the same bits."""
        model = self.model(ROD + lines("der(rod.T) = rod.q"))
        run = simulate(model)
        found = [word for name, value in zip(run.states.names, run.states.values[0])
                 for word in ("--set", f"{name}={value!r}".replace("np.float64(", "").replace(")", ""))]
        plain = simulate(self.model(ROD.replace("initial:\n", "")), *found)
        np.testing.assert_array_equal(plain.outputs.values, run.outputs.values)

    def test_sweep_and_steady(self):
        model = self.model(CHAIN + lines("der(a.x) = 0"))
        run = execute("sweep", model, "--set", "source.amp=1,2", "-o", self.folder / "table.csv")
        self.assertEqual(run.returncode, 0, run.stderr)
        starts = sorted(h5py.File(path)["states/values"][0][0] for path in self.folder.glob("*/*.h5"))
        np.testing.assert_allclose(starts, [3, 6], rtol=1e-12)
        run = execute("steady", model, "-o", self.folder / "start.yaml")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"b\.x +9 ")

    def test_model_exchange(self):
        """A state of an FMU whose start value can be set; its outputs are those of the equations."""
        equations = self.model(CHAIN + lines("b.x = 2*a.y", "der(a.x) = 0"))
        whole = simulate(equations, "-cosim_step", 0.1)
        for version in ("2", "3"):
            equations = self.model(CHAIN.replace("initial:\n", ""))
            export(equations, "b", self.folder / "b.fmu", version)
            model = self.model(CHAIN.replace("b: {template: lag}", "b: {fmu: b.fmu}") + lines("b.x = 2*a.y", "der(a.x) = 0"))
            run = simulate(model, "-cosim_step", 0.1)
            np.testing.assert_allclose(run.outputs["b.y"], whole.outputs["b.y"], rtol=1e-6)
            self.assertAlmostEqual(run.outputs["b.y"][0], 3 * 18, delta=1e-9)
            run = run_here(model, "-subsystem_fmu_interface", "cs", "-cosim_output", self.folder / "no.h5")
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn("'b'", run.stderr)


class Refusals(ModelTest):
    def refused(self, text, *says, code=2, command="run"):
        run = execute(command, self.model(text), *(("-cosim_output", self.folder / "no.h5") if command == "run" else ()))
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for each in says:
            self.assertIn(each, run.stderr)

    def test_names(self):
        for equation, says in (
                ("a.x", "model.yaml:19: initial equation 'a.x' must read 'A = B'"),
                ("a.x == 3", "must read 'A = B'"),
                ("a.z = 3", "names what is no state, output, input or parameter of equations: 'a.z'; did you mean"),
                ("nobody.x = 3", "'nobody.x'; known subsystems: source, a, b"),
                ("a.x = halff", "unknown name 'halff'; did you mean 'half'? known names: a.x, half, t"),
                ("der(a.y) = 0", "takes the derivative of 'a.y', which is no state"),
                ("der(a.x = 0", "has a der( that is not closed"),
                ("der(a.x + b.x) = 0", "takes the derivative of more than one state: der(a.x + b.x)"),
                ("der(3) = 0", "has a der() that names no state"),
                ("half = 0.5", "names no variable"),
                ("a.y = 3", "frees nothing, as 'a.y' is an output, which follows from states and inputs; say what is "
                            "found by it: {equation: \"a.y = 3\", free: <state or parameter>}"),
                ("b.u = 3", "frees nothing, as 'b.u' is an input that is fed"),
                ("2*a.x = 3", "frees nothing, as neither a state nor its derivative stands alone on its left"),
                ("{equation: a.x = 3, free: a.y}", "cannot free 'a.y', which is an output"),
                ("{equation: a.x = 3, free: a.q}", "frees what is not there: 'a.q'"),
                ("{equation: a.x = 3, free: x}", "must name states, parameters or inputs as 'subsystem.variable'"),
                ("{equation: a.x = 3, fre: a.x}", "did you mean 'free'?"),
                ("{free: a.x}", "equation: der(subsystem.state) = 0")):
            with self.subTest(equation=equation):
                self.refused(CHAIN + lines(equation), says, command="check")

    def test_vectors(self):
        self.refused(ROD + lines("rod.T[2:3] = rod.T[1:3]"), "has a vector of 2 elements on its left and a vector of 3", command="check")
        self.refused(ROD + lines("rod.T[6] = 3"), "outside its range 1 to 5", command="check")

    def test_counts(self):
        """Which equations, and for what."""
        self.refused(CHAIN + lines("der(a.x) = 0", "a.x = 2"), "model.yaml:19: the start is overdetermined",
                     "2 ('der(a.x) = 0' at ", "'a.x = 2' at ", "model.yaml:20)", "1 (a.x)", command="check")
        self.refused(CHAIN + lines("{equation: a.y = 2, free: [a.x, b.x]}"), "the start is underdetermined", "2 (a.x, b.x)",
                     command="check")

    def test_structure(self):
        """What nothing that is free moves, and what no equation depends on."""
        self.refused(CHAIN + lines("der(a.x) = 0", "{equation: a.y = 2, free: b.x}"),
                     "2 equations (", "'a.y = 2' at", "depend on 1 unknown only, a.x (free at",
                     "no equation depends on b.x (free at")
        self.refused(CHAIN + lines("{equation: a.y = 2, free: b.x}"), "nothing that is free moves 'a.y = 2' at")

    def test_dependence(self):
        """Closed tanks at rest: both equations are the same, and any level would do."""
        text = """
experiment: {stop: 1}
templates:
  tank: {equations: {inputs: {other: 0}, states: {h: 3}, derivatives: {h: other - h}, outputs: {h: h}}}
subsystems:
  a: {template: tank}
  b: {template: tank, start: {h: 1}}
connections: [a.h -> b.other, b.h -> a.other]
initial:
"""
        self.refused(text + lines("der(a.h) = 0", "der(b.h) = 0"), "'der(a.h) = 0' at", "'der(b.h) = 0' at",
                     "depend on each other", "a.h (free at", "may together be changed without changing any")
        self.refused(text + lines("der(a.h) = 1", "der(b.h) = 1"), "no start was found", "depend on each other", code=1)

    def test_no_solution(self):
        self.refused(CHAIN + lines("{equation: exp(-a.x) = 0, free: a.x}"), "model.yaml:19: no start was found",
                     "what they miss falls off without an end, and 'a.x' goes on and on", code=1)
        self.refused(CHAIN + lines("{equation: a.x^2 = -1, free: a.x}"), "model.yaml:19: no start was found",
                     "'a.x^2 = -1' at", "is missed by ", ", at a.x = ", code=1)
        self.refused(CHAIN + lines("{equation: log(a.x - 8) = 1, free: a.x}"), "'log(a.x - 8) = 1' at",
                     "has no finite sides there", code=1)

    def test_ssp_and_export(self):
        model = self.model(CHAIN + lines("der(a.x) = 0"))
        run = execute("export-ssp", model, "-o", self.folder / "model.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        starts = [dict(zip(run.states.names, run.states.values[0])) for run in (
            simulate(model), simulate(self.folder / "model.ssp"))]
        self.assertEqual(starts[0].keys(), starts[1].keys())
        for name, value in starts[0].items():
            self.assertAlmostEqual(starts[1][name], value, delta=1e-12 * max(1, abs(value)))
        run = execute("export-fmu", model, "a", "-o", self.folder / "a.fmu")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("the model's initial equations are no part of the FMU", run.stderr)


if __name__ == "__main__":
    unittest.main()
