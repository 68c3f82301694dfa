"""What laws.py has found, as small models."""
import json
import re
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate


class Inside(ModelTest):
    """Outputs that pass inputs on are wrong inside macro-steps by what these are given wrongly, also where no loop
    closes."""
    MODEL = """
experiment: {start: 0, stop: 9}
subsystems:
  osc: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -54.3169*x + u}, outputs: {x: x}}}
  gain: {equations: {inputs: {x: 1}, outputs: {y: 0.5*x}}}
  slow: {equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: 0.01*y}, outputs: {z: 0*z}}}
connections: [osc.x -> gain.x, slow.z -> osc.u, osc.x -> slow.y]
"""

    def test_rows_inside(self):
        found = simulate(self.model(self.MODEL), "-cosim_output_interval", 0.0123)
        error = np.max(np.abs(found.outputs["gain.y"] - 0.5 * np.cos(7.37 * found.time)))
        estimate = float(re.search(r"accuracy .*estimated error (\S+)", found.stdout).group(1))
        self.assertGreater(error, 1e-6)
        self.assertGreater(estimate, error / 3)


class OtherUnits(ModelTest):
    """What lies beside an output is an error of the inputs that it feeds, and not of others, where inputs before
    them are not connected or are held."""
    MODEL = """
experiment: {{start: 0, stop: 3}}
subsystems:
  alone: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: u - x}}, outputs: {{y: x}}}}}}
  first: {{equations: {{inputs: {{u: 0}}, states: {{x: 0.3}}, derivatives: {{x: '1.3*(0.5 - x) + 0.1*u*{small}'}},
                     outputs: {{y: x/{small}}}}}}}
  second: {{equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: '0.7 + 0.3*tanh(0.2*u*{small})'}},
                      outputs: {{y: x*{small}}}}}}}
connections: ['second.y -> first.u', {{connect: first.y -> second.u, delay: 0.2}}]
"""

    def estimate(self, small):
        path = self.folder / "summary.json"
        model = self.model(self.MODEL.format(small=small).replace(f"0.1*u*{small}", f"0.1*u/{small}"))
        simulate(model, "-cosim_hold", "hermite", "-cosim_step", 0.003, "-cosim_summary", path)
        return json.loads(path.read_text(encoding="utf-8"))["quality"]["worst_error_of_range"]

    def test_same_estimate(self):
        usual = self.estimate(1)
        for small in (1e-3, 1e-6):
            self.assertLess(self.estimate(small), 3 * usual + 1e-12)


class Held(ModelTest):
    """No step control sees what a connection holds where nothing follows from it: macro-steps become shorter, as a
    lower aim is in vain."""
    MODEL = """
experiment: {start: 0, stop: 5}
subsystems:
  osc: {equations: {inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: -x + 0.1*u}, outputs: {x: x}}}
  lag: {equations: {inputs: {x: 1}, states: {z: 1}, derivatives: {z: x - z}, outputs: {z: z}}}
  back: {equations: {inputs: {x: 1}, states: {z: 0}, derivatives: {z: x - z}, outputs: {z: z}}}
connections: [{connect: osc.x -> lag.x, hold: zoh}, osc.x -> back.x, back.z -> osc.u]
"""

    def test_reached(self):
        found = simulate(self.model(self.MODEL), "-cosim_accuracy", 1e-3)
        self.assertNotIn("NOT REACHED", found.stdout)
        exact = simulate(self.model(self.MODEL.replace("{connect: osc.x -> lag.x, hold: zoh}", "osc.x -> lag.x")),
                         "-cosim_accuracy", 1e-8)
        self.assertLess(abs(found.outputs["lag.z"][-1] - exact.outputs["lag.z"][-1]), 1e-3)


class Late(ModelTest):
    """What a layer leaves of an input's mean comes out of a delay as a layer, whatever macro-steps end there."""
    MODEL = """
experiment: {{start: {start}, stop: {stop}}}
subsystems:
  stiff: {{equations: {{inputs: {{u: 0}}, states: {{s: -0.334, x: 0}},
                        derivatives: {{s: -1.45*s + 0*u, x: 2e4*(s - x)}}, outputs: {{y: x}}}}}}
  gain: {{equations: {{inputs: {{u: 0}}, outputs: {{y: 0.5*u}}}}}}
  lag: {{equations: {{inputs: {{u: 0}}, states: {{z: 0}}, derivatives: {{z: 2*(u - z)}}, outputs: {{z: z}}}}}}
connections: [{{connect: stiff.y -> gain.u, delay: {first}}}, {{connect: gain.y -> lag.u, delay: {second}}}]
"""

    def test_no_false_alarm(self):
        for first, second in ((0.003, 0.481), (0.05, 0.05), (0.198, 0.003), (0.481, 0.327), (0.327, 0.05)):
            with self.subTest(first=first, second=second):
                stop = first + second + 0.4
                model = self.model(self.MODEL.format(start=0, stop=stop, first=first, second=second))
                found = simulate(model, "-cosim_time_limit", "1:00:00")
                estimate = float(re.search(r"accuracy .*estimated error (\S+?);?\n", found.stdout).group(1))
                late = np.maximum(found.time - first - second, 0.0)
                slow, fast = (2 / (2 - rate) * (np.exp(-rate * late) - np.exp(-2 * late)) for rate in (1.45, 2e4))
                exact = -0.167 * 2e4 / (2e4 - 1.45) * (slow - fast)
                error = np.max(np.abs(found.outputs["lag.z"] - exact)) / np.ptp(exact)
                self.assertLess(error, 2e-4)
                self.assertLess(estimate, 1e-4)

    def test_another_start(self):
        """Behind a delay a signal rises from exactly nothing, and steeply, wherever times are rounded."""
        ends = []
        for start in (0, -2.6, 12345.678):
            model = self.model(self.MODEL.format(start=start, stop=start + 1, first=0.594, second=0.05))
            ends.append(simulate(model, "-cosim_accuracy", 1e-6).outputs["lag.z"][-1])
        self.assertLess(np.ptp(ends), 1e-6 * abs(ends[0]))


class Constraints(ModelTest):
    """The unknown of a constraint of index 2 is known at the start, whoever else gives no slopes, and behind an event
    that it does not feel."""
    MODEL = """
experiment: {stop: 0.5}
subsystems:
  beside: PART
  ca: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: -1.69*x + 0.654*l}, outputs: {p: x}}}
  cb: {equations: {inputs: {l: 0}, states: {x: 0.4}, derivatives: {x: -0.677*x - 1.36*l}, outputs: {p: x}}}
  far: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: 'floor(6*u) - x'}, outputs: {x: x}}}
constraints: [{unknown: force, equation: ca.p - cb.p, feeds: {ca.l: 1, cb.l: 1}}]
connections: [ca.p -> far.u]
"""

    def test_start(self):
        part = "{equations: {inputs: {u: 0}, outputs: {y: 0.3*u + sin(t)}}}"
        model = self.model(self.MODEL.replace("PART", part))
        fmu = self.folder / "beside.fmu"
        done = execute("export-fmu", model, "beside", "-o", fmu)
        self.assertEqual(done.returncode, 0, done.stderr)
        for beside in (part, "{fmu: beside.fmu}"):
            found = simulate(self.model(self.MODEL.replace("PART", beside)))
            exact = 0.4 * (1.69 - 0.677) / (0.654 + 1.36) * np.exp(-found.time * (
                1.69 - 0.654 * (1.69 - 0.677) / (0.654 + 1.36)))
            self.assertLess(np.max(np.abs(found.outputs["force.value"] - exact)), 1e-4 * exact[0])


if __name__ == "__main__":
    unittest.main()
