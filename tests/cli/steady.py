"""concord steady: operating points against closed forms, and runs that begin there and stay."""
import re
import unittest

import numpy as np
from concord_runs import EXAMPLES, TWO_MASS, ModelTest, execute, simulate, write_model

CRUISE = """
experiment: {start: 0, stop: 100}
subsystems:
  car:
    equations:
      parameters: {m: 1200, c: 0.4}
      inputs: {f: 0, wind: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: (f - c*(v + wind)*abs(v + wind))/m}
      outputs: {v: v, x: x}
  engine:
    equations:
      parameters: {k: 3000, tau: 0.5}
      inputs: {pedal: 0.1}
      states: {f: 0}
      derivatives: {f: (k*pedal - f)/tau}
      outputs: {f: f}
connections: [engine.f -> car.f]
"""
# Two tanks that exchange water: the sum of both stays.
TANKS = """
experiment: {start: 0, stop: 100}
templates:
  tank:
    equations: {parameters: {area: 1}, inputs: {other: 0}, states: {level: 0},
                derivatives: {level: "(other - level)/area"}, outputs: {level: level}}
subsystems:
  a: {template: tank, parameters: {area: 2}, start: {level: 3}}
  b: {template: tank, parameters: {area: 1}}
connections: [a.level -> b.other, b.level -> a.other]
"""
PENDULUM = """
experiment: {start: 0, stop: 10}
subsystems:
  rod: {equations: {inputs: {torque: 0}, states: {phi: PHI, w: 0}, derivatives: {phi: w, w: 9.81*sin(phi) + torque - 0.1*w},
                    outputs: {w: w}}}
  motor: {equations: {inputs: {w: 0}, outputs: {torque: -0.05*w}}}
connections: [rod.w -> motor.w, motor.torque -> rod.torque]
"""
# Heat pumps in a chain of rooms, whose power falls with the fourth power of temperature.
ROOMS = """
experiment: {start: 0, stop: 1e5}
templates:
  room:
    equations:
      parameters: {loss: 0.001}
      inputs: {left: 280, right: 280}
      states: {T: START}
      derivatives: {T: loss*(left - 2*T + right) + 0.02*exp(-(T/300)^4)}
      outputs: {T: T}
subsystems:
  room: {template: room, repeat: {i: [1, 12]}}
connections:
  - {connect: "room[i].T -> room[i+1].left", repeat: {i: [1, 11]}}
  - {connect: "room[i+1].T -> room[i].right", repeat: {i: [1, 11]}}
"""
# At rest, d's slope is a difference of terms of 2500 and 50.
PI_LOOP = """
experiment: {start: 0, stop: 10}
subsystems:
  plant: {equations: {inputs: {d: 0}, states: {x: 0}, derivatives: {x: d - x}, outputs: {y: x}}}
  control:
    equations:
      parameters: {r: 1.3}
      inputs: {y: 0}
      states: {i: 0, d: 0}
      derivatives: {i: 20*(r - y), d: 50*(50*(r - y) + i - d)}
      outputs: {d: d}
connections: [plant.y -> control.y, control.d -> plant.d]
"""
# What its controller gets is rounding of 65, from another subsystem.
SUM_BLOCK = """
experiment: {start: 0, stop: 10}
subsystems:
  plant: {equations: {inputs: {d: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: 50*(0.3 - x) + d - 3*v}, outputs: {y: x}}}
  sum: {equations: {parameters: {r: 1.3}, inputs: {y: 0}, outputs: {e: 50*(r - y)}}}
  control: {equations: {inputs: {e: 0}, states: {i: 0, d: 0}, derivatives: {i: 0.2*e, d: 20*(i + 0.1*e - d)}, outputs: {d: d}}}
connections: [plant.y -> sum.y, sum.e -> control.e, control.d -> plant.d]
"""
GEARED = """
experiment: {start: 0, stop: 100}
parameters: {g: 0.5}
subsystems:
  car:
    equations:
      parameters: {m: 1200, c: 0.4}
      inputs: {f: 0}
      states: {v: 0}
      derivatives: {v: (f - c*v*abs(v))/m}
      outputs: {v: v}
  train:
    system:
      parameters: {gear: 2, ratio: gear^2}
      subsystems:
        motor:
          equations:
            parameters: {k: 3000*g, tau: 0.5}
            inputs: {pedal: 0.1}
            states: {f: 0}
            derivatives: {f: "(k*ratio*pedal*(f > 100 ? 2 : 1) - f)/tau"}
            outputs: {f: f}
      outputs: {f: motor.f}
connections: [train.f -> car.f]
"""
UNBOUNDED = """
experiment: {start: 0, stop: 10}
subsystems:
  tank: {equations: {inputs: {inflow: 0.3}, states: {level: 1}, derivatives: {level: inflow}, outputs: {level: level, full: "level > 5 ? 1 : 0"}}}
"""


class Steady(ModelTest):
    def found(self, model, *options, ranks=1, code=0):
        self.path = self.folder / "start.yaml"
        run = execute("steady", model, *options, "-o", self.path, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr)
        self.said = run.stdout + run.stderr
        return {name: float(value) for name, value in
                re.findall(r'^"(.*)": (\S+)$', self.path.read_text(), re.M)} if code == 0 else {}

    def assert_stays(self, model, *names):
        """A run from there moves by nothing."""
        run = simulate(model, "--parameters", self.path, "-cosim_step", 0.5)
        for name in names:
            self.assertLess(np.ptp(run.states[name]), 1e-7 * np.abs(run.states[name]).max(), name)

    def test_from_rest(self):
        """v = sqrt(k*pedal/c), though nothing pulls at v = 0, where df/dv is 0; x may move."""
        model = self.model(CRUISE)
        at = self.found(model)
        self.assertAlmostEqual(at["car.v"], np.sqrt(300 / 0.4), delta=1e-7)
        self.assertAlmostEqual(at["engine.f"], 300, delta=1e-6)
        self.assertIn("moves by 27.3861 in a second: nothing depends on it", self.said)
        self.assert_stays(model, "car.v", "engine.f")

    def test_runs_that_begin_at_rest_are_short(self):
        """What is left there is rounding, on which no coupling and no step control works."""
        implicit = ("jfm", "jfm6", "missiles", "gauss", "radau")
        for model, methods, state, *options in (
                (TWO_MASS, (*implicit, "ifosmondi"), "left.x", "--hold", "left.x=0.5", "--free", "left.c"),
                (self.model(PI_LOOP), (*implicit, "ifosmondi"), "plant.x"),
                (write_model(self.folder, "sum", SUM_BLOCK), implicit, "plant.x")):
            self.found(model, *options)
            for method in methods:
                with self.subTest(state=state, method=method):
                    run = simulate(model, "--parameters", self.path, "-cosim_type", method, "-cosim_accuracy", 1e-6)
                    self.assertLess(len(run.time), 1000)
                    self.assertLess(np.ptp(run.states[state]), 1e-12)

    def test_held_and_freed(self):
        model = self.model(CRUISE)
        at = self.found(model, "--hold", "car.v=20", "--hold", "car.wind=5", "--free", "engine.pedal")
        self.assertAlmostEqual(at["engine.pedal"], 0.4 * 625 / 3000, delta=1e-10)
        self.assertEqual(at["car.wind"], 5)
        self.assert_stays(model, "car.v")
        at = self.found(model, "--hold", "car.v=20", "--free", "car.c")
        self.assertAlmostEqual(at["car.c"], 300 / 400, delta=1e-9)

    def test_parameters_from_which_others_follow(self):
        """Of the model and of a system: k g r p = c v^2 with r = gear^2, and a relation on the way."""
        model = self.model(GEARED)
        force = 0.4 * 400
        for name, value in (("train.gear", np.sqrt(force / (3000 * 0.5 * 0.1 * 2))),
                            ("parameters.g", force / (3000 * 4 * 0.1 * 2)),
                            ("train.motor.pedal", force / (1500 * 4 * 2)),
                            ("train.motor.k", force / (4 * 0.1 * 2))):
            with self.subTest(free=name):
                at = self.found(model, "--hold", "car.v=20", "--free", name)
                self.assertAlmostEqual(at[name], value, delta=1e-8 * value)
                self.assertAlmostEqual(at["car.v"], 20, delta=1e-8)
                self.assert_stays(model, "car.v", "train.motor.f")
        at = self.found(model, "--hold", "car.v=20", "--hold", "train.motor.f=160", "--free", "train.gear",
                        "--free", "car.c")
        self.assertAlmostEqual(at["car.c"], 0.4, delta=1e-9)
        self.found(self.model("experiment: {stop: 1}\nparameters: {n: 3}\nsubsystems:\n  a: {equations: {states: "
                              "{'x[n]': 0}, derivatives: {'x[i in 1:n]': '1 - x[i]'}, outputs: {y: sum(x)}}}\n"),
                   "--hold", "a.y=4", "--free", "parameters.n", code=1)

    def test_inputs_of_fmus(self):
        """That nothing feeds: what is held of them counts in the FMU."""
        execute("export-fmu", self.model(CRUISE), "engine", "-o", self.folder / "engine.fmu")
        begin, end = CRUISE.index("  engine:"), CRUISE.index("connections:")
        model = self.model(CRUISE[:begin] + "  engine: {fmu: engine.fmu}\n" + CRUISE[end:])
        at = self.found(model, "--hold", "engine.pedal=0.4")
        self.assertAlmostEqual(at["car.v"], np.sqrt(1200 / 0.4), delta=1e-6)

    def test_conserved_sums(self):
        """As the transient does: 2 a + b stays."""
        for ranks in (1, 3):
            at = self.found(self.model(TANKS), ranks=ranks)
            self.assertAlmostEqual(at["a.level"], 2, delta=1e-8)
            self.assertAlmostEqual(at["b.level"], 2, delta=1e-8)
            self.assertIn("neutral", self.said)

    def test_stability(self):
        """Upright it is unstable: growth by the larger root of s^2 + .15 s - 9.81; hanging, stable."""
        self.found(self.model(PENDULUM.replace("PHI", "0.1")))
        grows = (-0.15 + np.sqrt(0.15**2 + 4 * 9.81)) / 2
        self.assertRegex(self.said, f"unstable: disturbances grow by e within {1 / grows:.6g}")
        at = self.found(self.model(PENDULUM.replace("PHI", "2.9")))
        self.assertAlmostEqual(at["rod.phi"], np.pi, delta=1e-9)
        self.assertIn("stable: disturbances fall by e within 13.333333", self.said)

    def test_far_start_values(self):
        """Ten times off; against the run's own end."""
        exact = simulate(self.model(ROOMS.replace("START", "280").replace("1e5", "1e6")),
                         "-cosim_accuracy", 1e-8).states
        for start in ("30", "280", "3000"):
            at = self.found(self.model(ROOMS.replace("START", start)))
            for i in range(1, 13):
                self.assertAlmostEqual(at[f"room[{i}].T"], exact[f"room[{i}].T"][-1], delta=1e-4)

    def test_what_only_fades_is_no_rest(self):
        """Rates that fall below any bound on the way to infinity; behind a hump they have a zero, too."""
        for rate, start, code in (("exp(x)", 1, 1), ("-exp(x)", 1, 1), ("1/(1 + x^2)", 10, 1), ("x*exp(-x)", 3, 1),
                                  ("x*exp(-x)", 0.5, 0), ("-x^2", 1, 0), ("1e-9*(5 - x)", 50, 0)):
            with self.subTest(rate=rate):
                model = self.model("experiment: {stop: 1}\nsubsystems:\n  a: {equations: {states: {x: %s}, derivatives: "
                                   "{x: %s}, outputs: {x: x}}}\n  b: {equations: {inputs: {x: 0}, states: {y: 3}, derivatives: "
                                   "{y: 1e4*(1 - y)}}}\n" % (start, rate))
                self.found(model, code=code)
                if code == 1:
                    self.assertIn("rates fall off without an end, and 'a.x' goes on and on", self.said)

    def test_time_and_relations(self):
        """Of time and of what is found."""
        model = self.model("experiment: {stop: 10}\nsubsystems:\n  a: {equations: {states: {x: 0}, derivatives: "
                           "{x: '(t < 5 ? 1 : 4) - (x > 2 ? 0.5*x : x)'}, outputs: {x: x}}}\n")
        self.assertAlmostEqual(self.found(model)["a.x"], 1, delta=1e-9)
        self.assertAlmostEqual(self.found(model, "--time", 7)["a.x"], 8, delta=1e-9)

    def test_examples(self):
        for name, says in (("two_mass", "stable"), ("heat_grid", "stable"), ("power_ring", "neutral")):
            self.found(EXAMPLES / name / f"{name}.yaml")
            self.assertIn(f"  {says}: ", self.said)
        self.found(EXAMPLES / "thermostat" / "thermostat.yaml")
        self.assertIn("the condition temperature > 21 of subsystem 'thermostat' holds there", self.said)

    def test_refusals(self):
        model = self.model(CRUISE)
        for options, code, says in (
                (("--hold", "car.v"), 2, "--hold 'car.v' must be a name and a number"),
                (("--hold", "car.v=20"), 2, "overdetermined"),
                (("--free", "engine.pedal"), 2, "underdetermined"),
                (("--hold", "car.c=1"), 2, "--set car.c=1"),
                (("--hold", "car.u=1"), 2, "'car.u' is neither"),
                (("--hold", "car.f=1"), 2, "is fed by engine.f -> car.f"),
                (("--hold", "car.v=20", "--free", "engine.paddle"), 2, "did you mean 'engine.pedal'?"),
                (("--hold", "car.v=-20", "--free", "car.m"), 1, "no steady state was found"),
                (("-cosim_type", "jfm"), 2, "-cosim_type jfm has no meaning")):
            with self.subTest(options=options):
                self.found(model, *options, code=code)
                self.assertEqual(self.said.count("concord: error: "), 1, self.said)
                self.assertIn(says, self.said)
        self.found(self.model(UNBOUNDED), code=1)
        self.assertIn("der(tank.level) = 0 is missed by 3 ", self.said)


if __name__ == "__main__":
    unittest.main()
