"""What laws.py has found, as small models."""
import json
import re
import unittest

import numpy as np
from concord_runs import ModelTest, simulate


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


if __name__ == "__main__":
    unittest.main()
