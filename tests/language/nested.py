"""`run:` of a system: one subsystem with steps of its own, against the same system as part of the whole."""
import re
import unittest

import h5py
import numpy as np
from concord_runs import PICTURES, TIGHT, ModelTest, execute, simulate, write_model
from equation_models import HYBRID_SYSTEM

EXACT = ("-cosim_type", "monolithic", "-subsystem_rtol", 1e-12, "-subsystem_atol", 1e-13)

MOTOR = """
name: drive
experiment: {stop: 4}
templates:
  motor:
    equations: {parameters: {k: 0.3}, inputs: {pedal: 0, speed: 0}, states: {i: 0}, outputs: {torque: k*i},
                derivatives: {i: 2*(24*pedal - 0.5*i - k*speed)}}
  shaft:
    equations: {parameters: {J: 0.1}, inputs: {torque: 0, load: 0}, states: {w: 0}, outputs: {speed: w, force: 5*w + 0.1*load},
                derivatives: {w: (torque - load - 0.02*w)/J}}
subsystems:
  drive:
    system:
      parameters: {inertia: 0.1}
      subsystems: {motor: {template: motor}, shaft: {template: shaft, parameters: {J: inertia}}}
      connections: [motor.torque -> shaft.torque, shaft.speed -> motor.speed]
      inputs: {pedal: motor.pedal, load: shaft.load}
      outputs: {force: shaft.force}
    # RUN
  car:
    equations: {inputs: {f: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: (f - 20*v)/50},
                outputs: {v: v, pedal: 0.5 + 0.4*sin(3*t) - 0.1*v, load: 0.5*v}}
connections: [drive.force -> car.f, car.pedal -> drive.pedal, car.load -> drive.load]
"""

# Inside: a loop of direct feedthrough, through which the way leads from u to y, too.
LOOP = """
name: a loop within
experiment: {stop: 3}
subsystems:
  pair:
    system:
      subsystems:
        a: {equations: {inputs: {u: 0, y: 0}, states: {x: 1}, derivatives: {x: u - x*x*x}, outputs: {y: x + 0.5*sin(y) + 0.2*u}}}
        b: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {y: x - 0.6*u}}}
      connections: [a.y -> b.u, b.y -> a.y]
      inputs: {u: a.u}
      outputs: {y: b.y}
    # RUN
  mass: {equations: {inputs: {f: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: f - 4*x}, outputs: {x: x, v: v}}}
connections: [pair.y -> mass.f, mass.x -> pair.u]
"""

# A fast oscillator between two slow masses: at a pace of its own.
FAST = """
name: fast within slow
experiment: {stop: 6}
subsystems:
  fast:
    system:
      subsystems:
        spring: {equations: {inputs: {v: 0}, states: {x: 0.01}, derivatives: {x: v}, outputs: {f: -1e4*x}}}
        mass: {equations: {inputs: {f: 0, slow: 0}, states: {v: 0}, derivatives: {v: f + slow - 2*v}, outputs: {v: v}}}
      connections: [spring.f -> mass.f, mass.v -> spring.v]
      inputs: {slow: mass.slow}
      outputs: {f: spring.f}
    # RUN
  pendulum: {equations: {inputs: {y: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -sin(x) - 0.3*x + 0.1*(1 + 0.2*x)*y},
                         outputs: {x: x}}}
connections: [fast.f -> pendulum.y, pendulum.x -> fast.slow]
"""


def within(text, run="run: {}"):
    return text.replace("# RUN", run)


def largest(run, reference, names):
    """Of rows at the same times, relative to each signal's range."""
    return max(np.abs(run.outputs[name] - reference.outputs[name]).max()/np.ptp(reference.outputs[name]) for name in names)


class Nested(ModelTest):
    def flat_model(self, text):
        return write_model(self.folder, "flat", text)

    def reference(self, text, *options):
        return simulate(self.flat_model(text), *EXACT, *options)

    def test_order(self):
        for text, names in ((MOTOR, ("drive.shaft.force", "drive.motor.torque", "car.v")), (LOOP, ("pair.a.y", "pair.b.y", "mass.x"))):
            model = self.model(within(text))
            for method, order, steps in (("jfm", 4, (0.2, 0.1)), ("missiles", 4, (0.2, 0.1)), ("jfm6", 6, (0.2, 0.1)), ("gauss", 6, (0.5, 0.25))):
                tight = (*TIGHT, "-cosim_type", method, "-subsystem_rtol", 1e-13, "-subsystem_atol", 1e-14)
                errors = [largest(simulate(model, *tight, "-cosim_step", h), self.reference(text, "-cosim_step", h), names) for h in steps]
                with self.subTest(text=text[:20], method=method, errors=errors):
                    self.assertGreater(np.log2(errors[0]/errors[1]), order - 0.6)

    def test_ranks_and_forgetting(self):
        for text in (MOTOR, LOOP, HYBRID_SYSTEM):
            model = self.model(within(text))
            whole = simulate(model)
            for run in (simulate(model, ranks=2), simulate(model, ranks=3), simulate(model, "-cosim_forget", 1), simulate(model, "-cosim_forget", 7)):
                np.testing.assert_array_equal(run.time, whole.time)
                np.testing.assert_array_equal(run.outputs.values, whole.outputs.values)

    def test_events(self):
        """The same instants, in the same words, and the same ways between them."""
        every = ("-cosim_output_interval", 0.1)
        reference = self.reference(HYBRID_SYSTEM, "-cosim_step", 0.01, *every)
        run = simulate(self.model(within(HYBRID_SYSTEM)), *every)
        self.assertEqual([(who + "." + what.split(": ")[0], what.split(": ")[1]) for who, what in run.happened], reference.happened)
        np.testing.assert_allclose(run.event_times, reference.event_times, rtol=0, atol=1e-6)
        self.assertLess(largest(run, reference, ("house.room.T", "house.clock.mean", "house.ball.h", "wall.w")), 1e-5)

    def test_pace(self):
        """What is fast is within: the error is what was asked for, and told."""
        model = self.model(within(FAST))
        options = ("-cosim_output_interval", 0.05)
        run = simulate(model, *options)
        error = largest(run, self.reference(FAST, "-cosim_step", 0.005, *options), ("pendulum.x", "fast.spring.f"))
        self.assertLess(error, 1e-4)
        self.assertLess(error, 3*run.error_estimate)

    def test_accuracy(self):
        """Of the inside alone, which does more for more of it."""
        options = ("-cosim_type", "jfm", "-cosim_step", 0.2, "-subsystem_rtol", 1e-4, "-subsystem_atol", 1e-6)
        loose, tight = (simulate(self.model(within(MOTOR, run)), *options).subsystems["rhs_evaluations"]
                        for run in ("run: {}", "run: {accuracy: 1e-9}"))
        self.assertGreater(tight[0], 2*loose[0])
        self.assertLess(tight[1], 1.1*loose[1])

    def test_depth(self):
        """A system with `run` in a system with `run`."""
        inner = within(MOTOR)
        inner = inner[inner.index("  drive:"):inner.index("  car:")]
        indented = "".join("      " + line + "\n" for line in inner.splitlines())
        outer = (MOTOR[:MOTOR.index("  drive:")] + "  vehicle:\n    system:\n      subsystems:\n" + indented
                 + "        wheel: {equations: {inputs: {f: 0}, states: {a: 0}, derivatives: {a: 30*(f - a)}, outputs: {a: a}}}\n"
                 + "      connections: [drive.force -> wheel.f]\n      inputs: {pedal: drive.pedal, load: drive.load}\n"
                 + "      outputs: {force: wheel.a}\n    # RUN\n" + MOTOR[MOTOR.index("  car:"):].replace("drive.", "vehicle."))
        model = self.model(within(outer))
        run = simulate(model, *TIGHT, "-cosim_type", "jfm", "-cosim_step", 0.02)
        self.assertEqual(len(run.subsystems["name"]), 2)
        flattened = simulate(write_model(self.folder, "flattened", re.sub(" *run: {}\n", "", outer)), *EXACT, "-cosim_step", 0.02)
        self.assertLess(largest(run, flattened, ("vehicle.drive.motor.torque", "vehicle.wheel.a", "car.v")), 1e-7)

    def test_linearize(self):
        def matrices(model, name):
            done = execute("linearize", model, "-o", self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            with h5py.File(self.folder / name) as file:
                return [file[key][()] for key in "AB"] + [np.sort_complex(np.linalg.eigvals(file["A"][()]))]
        for text in (MOTOR, LOOP):
            for one, other in zip(matrices(self.model(within(text)), "n.h5"), matrices(self.flat_model(text), "f.h5")):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-9*np.abs(other).max(initial=1.0))

    def test_changes(self):
        """Parameters and start values within are what they are in the whole."""
        sets = ("--set", "drive.motor.k=0.4", "--set", "drive.inertia=0.2", "--set", "drive.shaft.w=3")
        model = self.model(within(MOTOR))
        names = ("drive.shaft.force", "car.v")
        run = simulate(model, *TIGHT, *sets, "-cosim_type", "jfm", "-cosim_step", 0.02)
        self.assertLess(largest(run, self.reference(MOTOR, *sets, "-cosim_step", 0.02), names), 1e-6)

    def test_mistakes(self):
        def refused(text, *words):
            done = execute("run", self.model(text), "-cosim_output", "none.h5")
            self.assertEqual(done.returncode, 2, done.stdout)
            for word in words:
                self.assertIn(word, done.stderr)
        refused(within(MOTOR, "run: {type: jacobi}"), ":19:", "'jacobi'", "monolithic")
        refused(within(MOTOR, "run: {accuracy: 2}"), ":19:", "from 1e-12 to 0.1", "not 2")
        refused(within(MOTOR, "run: {step: 2}"), ":19:", "'step'")
        refused(within(MOTOR).replace("[motor.torque", "[motor.torqe"), "'torqe'", "did you mean 'torque'")
        refused(within(MOTOR).replace("shaft.speed -> motor.speed]", "shaft.speed -> motor.pedal]"), "pedal", "fed")
        refused(within(MOTOR).replace("shaft: {template: shaft,", "slow: {template: shaft, rank: 1}, shaft: {template: shaft,"),
                "'drive.slow'", "'rank'", "leave 'run' out")

    def test_told(self):
        done = execute("check", self.model(within(MOTOR, "run: {type: jfm, accuracy: 1e-6}")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("drive (system): 2 inputs, 2 states, 3 outputs", done.stdout)
        with self.subTest("the picture of the network, whose variables have dots in their names"):
            picture, results = self.folder / "network.svg", self.folder / "drive.h5"
            self.assertEqual(execute("run", self.model(within(MOTOR)), "-cosim_output", results).returncode, 0)
            if PICTURES:
                drawn = execute("plot", results, "--network", "-o", picture)
                self.assertEqual(drawn.returncode, 0, drawn.stderr)
                for signal in ("shaft.force", "pedal, load"):
                    self.assertIn(">" + signal + "<", picture.read_text())
        self.assertIn("integrated as one (monolithic), which is what jfm converges to", re.sub(r"\s+", " ", done.stdout))


if __name__ == "__main__":
    unittest.main()
