"""`system:` against the same models with all subsystems at the top, by other names: the same bits."""
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, execute, simulate, write_model

TEMPLATES = """
templates:
  motor:
    equations:
      parameters: {k: 2, J: 0.1}
      inputs: {pedal: 0, load: 0}
      states: {w: 0}
      derivatives: {w: (k*pedal - load)/J}
      outputs: {w: w, torque: k*pedal}
  shaft:
    equations:
      parameters: {c: c0, d: 0.05}
      inputs: {w: 0, wheel: 0}
      states: {twist: 0}
      derivatives: {twist: w - wheel}
      outputs: {load: c*twist + d*(w - wheel)}
"""
SYSTEM = """system:
      parameters: {c0: 5, ratio: 2}
      subsystems:
        motor: {template: motor, parameters: {k: ratio*scale}}
        shaft: {template: shaft}
      connections: [motor.w -> shaft.w, shaft.load -> motor.load]
      inputs: {pedal: motor.pedal, wheel: shaft.wheel}
      outputs: {force: shaft.load}
"""
CAR = """
experiment: {stop: 2}
parameters: {scale: 1.5, c0: 99}
# TEMPLATES
subsystems:
  driver: {equations: {parameters: {f: 3}, outputs: {pedal: 1 + sin(f*t)}}}
# DRIVE
  wheel:
    equations: {parameters: {m: 4}, inputs: {force: 0}, states: {v: 0}, derivatives: {v: force/m - 0.1*v}, outputs: {v: v}}
# CONNECTIONS
"""
NESTED = (CAR.replace("# TEMPLATES", TEMPLATES).replace("# DRIVE", "  drive:\n    " + SYSTEM)
          .replace("# CONNECTIONS", "connections: [driver.pedal -> drive.pedal, drive.force -> wheel.force, wheel.v -> drive.wheel]"))
FLAT = (CAR.replace("# TEMPLATES", TEMPLATES.replace("c: c0", "c: 5")).replace(
    "# DRIVE", "  motor: {template: motor, parameters: {k: 2*scale}}\n  shaft: {template: shaft}")
    .replace("# CONNECTIONS", "connections: [motor.w -> shaft.w, shaft.load -> motor.load, driver.pedal -> motor.pedal, "
             "shaft.load -> wheel.force, wheel.v -> shaft.wheel]"))


class Systems(ModelTest):
    def same(self, run, reference, prefix="drive.", others=("wheel.v",)):
        np.testing.assert_array_equal(run.time, reference.time)
        for name in ("motor.w", "motor.torque", "shaft.load"):
            np.testing.assert_array_equal(run.outputs[prefix + name], reference.outputs[name])
        for name in others:
            np.testing.assert_array_equal(run.outputs[name], reference.outputs[name])

    def flat(self, *options, ranks=1):
        return simulate(write_model(self.folder, "flat", FLAT), *options, ranks=ranks)

    def test_flattened(self):
        for ranks in (1, 3):
            self.same(simulate(self.model(NESTED), ranks=ranks), self.flat(ranks=ranks))

    def test_a_file_and_a_template(self):
        (self.folder / "parts").mkdir()
        text = SYSTEM.replace("system:\n", "", 1).replace("\n      ", "\n").lstrip()
        (self.folder / "parts" / "drive.yaml").write_text("name: drive\nexperiment: {stop: 1}\n" + text)
        base = CAR.replace("# CONNECTIONS", NESTED[NESTED.index("connections: [driver"):])
        run = simulate(self.model(base.replace("# TEMPLATES", TEMPLATES).replace("# DRIVE", "  drive: {system: parts/drive.yaml}")))
        self.same(run, self.flat())
        run = simulate(self.model(base.replace("# TEMPLATES", TEMPLATES + "  drive: {system: parts/drive.yaml}\n")
                                  .replace("# DRIVE", "  drive: {template: drive}")))
        self.same(run, self.flat())

    def test_nested(self):
        """A system in a system, whose terminals lead through."""
        outer = ("  car:\n    system:\n      subsystems:\n        drive:\n          " +
                 SYSTEM.replace("\n", "\n      ").rstrip() + "\n      inputs: {pedal: drive.pedal, wheel: drive.wheel}\n"
                 "      outputs: {force: drive.force}\n")
        text = (CAR.replace("# TEMPLATES", TEMPLATES).replace("# DRIVE", outer).replace(
            "# CONNECTIONS", "connections: [driver.pedal -> car.pedal, car.force -> wheel.force, wheel.v -> car.wheel]"))
        run = simulate(self.model(text))
        self.same(run, self.flat(), "car.drive.")
        run = simulate(self.model(text), "--set", "car.drive.motor.J=0.2", "--set", "car.drive.c0=7")
        self.same(run, self.flat("--set", "motor.J=0.2", "--set", "shaft.c=7"), "car.drive.")

    def test_values(self):
        nested = self.model(NESTED)
        run = simulate(nested, "--set", "drive.motor.J=0.2", "--set", "drive.ratio=3")
        self.same(run, self.flat("--set", "motor.J=0.2", "--set", "motor.k=4.5"))
        run = simulate(nested, "--set", "drive.*.J=0.3")
        self.same(run, self.flat("--set", "motor.J=0.3"))
        run = simulate(self.model(NESTED.replace("  wheel:\n", "    parameters: {ratio: 3, c0: 2*scale}\n  wheel:\n")))
        self.same(run, self.flat("--set", "motor.k=4.5", "--set", "shaft.c=3"))
        run = simulate(nested, "-cosim_record_variables", "drive.motor.*", "-subsystem_drive.motor_rtol", "1e-9")
        self.assertEqual(run.outputs.names, ["drive.motor.w", "drive.motor.torque"])

    def test_repeated(self):
        """Three, whose forces are summed; each is what one is alone at a third of the mass."""
        text = (NESTED.replace("  wheel:\n", "    repeat: {i: [1, 3]}\n    parameters: {ratio: 1 + i/i}\n  wheel:\n")
                .replace("driver.pedal -> drive.pedal, drive.force -> wheel.force, wheel.v -> drive.wheel",
                         '"driver.pedal -> drive[*].pedal", '
                         '"sum(drive[*].force) -> wheel.force", '
                         '{connect: "wheel.v -> drive[i].wheel", repeat: {i: [1, 3]}}'))
        run = simulate(self.model(text), "--set", "wheel.m=12", *TIGHT)
        alone = simulate(self.model(NESTED.replace("- 0.1*v", "- 0.1*v")), *TIGHT)
        for i in (1, 2, 3):
            self.assertAlmostEqual(run.outputs[f"drive[{i}].motor.w"][-1], alone.outputs["drive.motor.w"][-1], delta=1e-5)
        text = text.replace('"driver.pedal -> drive[*].pedal"',
                            ", ".join(f'"driver.pedal -> drive[{i}].motor.pedal"' for i in (1, 2, 3)))
        again = simulate(self.model(text), "--set", "wheel.m=12", *TIGHT)
        np.testing.assert_array_equal(run.outputs["wheel.v"], again.outputs["wheel.v"])

    def test_inputs_that_feed_many_and_constraints(self):
        text = """
experiment: {stop: 1}
subsystems:
  pair:
    system:
      subsystems:
        a: {equations: {inputs: {f: 0, u: 0}, states: {x: 1}, derivatives: {x: u + f - x}, outputs: {y: x + f}}}
        b: {equations: {inputs: {f: 0, u: 0}, states: {x: 0}, derivatives: {x: u + f - x}, outputs: {y: x + 2*f}}}
      inputs: {u: [a.u, b.u], left: a.f, right: b.f}
      outputs: {a: a.y, b: b.y}
  s: {equations: {outputs: {u: sin(t)}}}
connections: [s.u -> pair.u]
constraints: [{unknown: force, equation: pair.a - pair.b, feeds: {pair.left: -1, pair.right: 1}}]
"""
        run = simulate(self.model(text))
        self.assertLess(np.abs(run.outputs["pair.a.y"] - run.outputs["pair.b.y"]).max(), 1e-5)
        np.testing.assert_array_equal(run.inputs["pair.a.u"], run.inputs["pair.b.u"])

    def test_exported(self):
        run = execute("export-fmu", self.model(NESTED), "drive.motor", "-o", self.folder / "motor.fmu")
        self.assertEqual(run.returncode, 0, run.stderr)
        text = FLAT.replace("motor: {template: motor, parameters: {k: 2*scale}}", "motor: {fmu: motor.fmu}")
        run = simulate(self.model(text), *TIGHT)
        self.assertAlmostEqual(run.outputs["wheel.v"][-1], self.flat(*TIGHT).outputs["wheel.v"][-1], delta=1e-6)
        run = execute("export-ssp", self.model(NESTED), "-o", self.folder / "car.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = simulate(self.folder / "car.ssp", *TIGHT)
        self.assertAlmostEqual(run.outputs["wheel.v"][-1], self.flat(*TIGHT).outputs["wheel.v"][-1], delta=1e-6)

    def test_functions_within(self):
        text = """
experiment: {stop: 1}
parameters: {k: 2}
functions: {twice(v): k*v}
subsystems:
  s:
    system:
      parameters: {k: 5}
      functions: {fast(v): k*twice(v)}
      subsystems: {a: {equations: {states: {x: 1}, derivatives: {x: -fast(x)}, outputs: {x: x}}}}
"""
        run = simulate(self.model(text), *TIGHT)
        np.testing.assert_allclose(run.outputs["s.a.x"], np.exp(-10 * run.time), rtol=1e-5, atol=1e-9)


class Rules(ModelTest):
    def refused(self, old, new, *words, options=()):
        self.assertIn(old, NESTED)
        self.check_refuses(NESTED.replace(old, new), *words, options=options)

    def test_terminals(self):
        self.refused("-> drive.pedal", "-> drive.pedl", "system 'drive' has no input 'pedl'", "did you mean 'pedal'")
        self.refused("drive.force ->", "drive.torque ->", "system 'drive' has no output 'torque'", "force")
        self.refused("force: shaft.load", "force: shaft.laod", "model.yaml:", "'drive.force'", "'drive.shaft.laod'", "did you mean")
        self.refused("pedal: motor.pedal", "pedal: pedal", "'subsystem.input' within", "'pedal'")
        self.refused("motor.w -> shaft.w", "motor.w -> shaft.speed", "'drive.shaft' has no input 'speed'")
        self.refused("-> drive.pedal", "-> drive.motor.pedl", "'drive.motor' has no input 'pedl'")

    def test_keys(self):
        self.refused("      inputs: {pedal", "      input: {pedal", "unknown key 'input'", "inputs")
        self.refused("      parameters: {c0: 5, ratio: 2}", "      parameters: {c0: 5, ratio: 2, pi: 3}", "'pi'", "another name")
        self.refused("  wheel:\n", "    start: {w: 1}\n  wheel:\n", "no start values")
        self.refused("  wheel:\n", "    effort: 2\n  wheel:\n", "subsystems within")
        self.refused("  wheel:\n", "    parameters: {k: 2}\n  wheel:\n", "no parameter 'k'", "c0, ratio")
        self.refused("  driver: {", "  driver: {run: {type: jfm}, ", "for systems")

    def test_values(self):
        self.refused("stop: 2", "stop: 2", "no parameter 'k'", options=("--set", "drive.k=1"))
        self.refused("stop: 2", "stop: 2", "'k2'", "known", options=("--set", "drive.motor.k2=1"))
        self.refused("stop: 2", "stop: 2", "motr", options=("--set", "drive.motr.k=1"))

    def test_files(self):
        self.refused("system:\n", "system: none.yaml\n    x:\n", "unknown key 'x'")
        (self.folder / "self.yaml").write_text("subsystems: {a: {system: self.yaml}}\n")
        path = self.model("experiment: {stop: 1}\nsubsystems: {s: {system: self.yaml}, n: {system: none.yaml}}\n")
        run = execute("check", path)
        self.assertEqual(run.returncode, 2)
        for word in ("self.yaml:1", "part of itself"):
            self.assertIn(word, run.stderr)
        (self.folder / "self.yaml").write_text("subsystems: {a: {equations: {outputs: {y: t}}}}\n")
        run = execute("check", path)
        self.assertEqual(run.returncode, 2)
        for word in ("model.yaml:2", "none.yaml", "not there"):
            self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
