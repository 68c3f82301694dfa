"""`functions:` of one's own, against the same models written out by hand: the same bits."""
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, execute, export, simulate, write_model

# With functions, and by hand: {drag}, {limited}, {start}, {pull} stand for what is called.
CAR = """
experiment: {{stop: 1.5}}
parameters: {{rho: 1.2, limit: 0.4}}
{functions}
templates:
  car:
    equations:
      parameters: {{m: 2, width: 0.7}}
      {own}
      inputs: {{wind: 0}}
      discrete: {{gear: 1}}
      states: {{x: 0, v: "{start}"}}
      variables: {{pull: "{limited}"}}
      derivatives: {{x: v, v: "(pull*gear - {drag})/m"}}
      when:
        - {{condition: "{late}", set: {{gear: "{shift}"}}}}
      outputs: {{x: x, v: v}}
subsystems:
  car: {{template: car, parameters: {{width: "{width}"}}}}
  wind:
    equations:
      parameters: {{rho: 3}}
      states: {{w: 2}}
      derivatives: {{w: "{pull}"}}
      outputs: {{w: w}}
connections: [wind.w -> car.wind, car.v -> wind.x]
"""
CAR = CAR.replace("      states: {{w: 2}}", "      inputs: {{x: 0}}\n      states: {{w: 2}}")
CALLED = CAR.format(
    functions='functions: {drag(v): 0.5*rho*v*abs(v), "limited(u, most)": "max(-most, min(most, u))",\n'
              '  square(a): a*a, fourth(a): square(square(a))}',
    own="functions: {resistance(v): width*drag(v) + 0.01*m*v}",
    start="fourth(1.5) + 0.1", limited="limited(sin(3*t), limit)", drag="resistance(v - wind)",
    late="square(x) > 1.5", shift="limited(gear + x, 1.2)", width="0.5 + square(0.3)",
    pull="drag(x - w)")
BY_HAND = CAR.format(
    functions="", own="", start="(1.5*1.5)*(1.5*1.5) + 0.1",
    limited="max(-limit, min(limit, sin(3*t)))",
    drag="(width*(0.5*rho*(v - wind)*abs(v - wind)) + 0.01*m*(v - wind))", late="x*x > 1.5",
    shift="max(-1.2, min(1.2, gear + x))", width="0.5 + 0.3*0.3",
    pull="0.5*1.2*(x - w)*abs(x - w)")


class Functions(ModelTest):
    def test_the_bits_of_what_is_written_by_hand(self):
        by_hand = write_model(self.folder, "by_hand", BY_HAND)
        for ranks in (1, 3):
            run = simulate(self.model(CALLED), ranks=ranks)
            reference = simulate(by_hand, ranks=ranks)
            np.testing.assert_array_equal(run.time, reference.time)
            np.testing.assert_array_equal(run.outputs.values, reference.outputs.values)
            np.testing.assert_array_equal(np.unique(run.event_times), np.unique(reference.event_times))
            self.assertGreater(len(run.event_times), 3)

    def test_values_that_are_set(self):
        changes = ("--set", "parameters.rho=2", "--set", "car.m=3", "--set", "car.v=drag(1)")
        run = simulate(self.model(CALLED), *changes)
        changes = ("--set", "parameters.rho=2", "--set", "car.m=3", "--set", "car.v=0.5*2")
        text = BY_HAND.replace("0.5*1.2*(x - w)", "0.5*2*(x - w)")
        np.testing.assert_array_equal(run.outputs.values, simulate(self.model(text), *changes).outputs.values)

    def test_exported(self):
        reference = simulate(self.model(CALLED), "-cosim_step", 0.05, *TIGHT)
        for version, kind in ((2, "me"), (3, "cs")):
            export(self.model(CALLED), "car", self.folder / "car.fmu", version)
            text = CALLED.replace('{template: car, parameters: {width: "0.5 + square(0.3)"}}', "{fmu: car.fmu}")
            run = simulate(self.model(text), "-cosim_step", 0.05, *TIGHT, "-subsystem_fmu_interface",
                           kind, jumps=True)
            np.testing.assert_allclose(run.outputs["car.x"][-1], reference.outputs["car.x"][-1], rtol=1e-5)

    def test_in_constraints(self):
        text = """
experiment: {stop: 1}
functions: {"gap(a, b)": a - b - 0.25}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: -x}, outputs: {y: x + u}}}
  b: {equations: {inputs: {u: 0}, states: {x: 2}, derivatives: {x: -x}, outputs: {y: x + u}}}
constraints: [{unknown: force, equation: "EQUATION", feeds: {a.u: 1, b.u: -1}}]
"""
        called = simulate(self.model(text.replace("EQUATION", "gap(a.y, b.y)")))
        by_hand = simulate(self.model(text.replace("EQUATION", "a.y - b.y - 0.25")))
        np.testing.assert_array_equal(called.outputs.values, by_hand.outputs.values)

    def test_from_an_included_file(self):
        (self.folder / "drag.yaml").write_text('functions:\n  drag(v): c*v*abs(v)\n  twice(v): 2*drag(v)\n')
        run = simulate(self.model(
            "include: [drag.yaml]\nexperiment: {stop: 1}\nparameters: {c: 0.5}\nsubsystems:\n"
            "  a: {equations: {states: {v: 1}, derivatives: {v: -twice(v)}, outputs: {v: v}}}\n"), *TIGHT)
        np.testing.assert_allclose(run.outputs["a.v"], 1 / (1 + run.time), rtol=1e-5)


class Rules(ModelTest):
    """Each rule broken once."""

    def refused(self, functions, expression, *words, own="", line=2):
        self.check_refuses(f"experiment: {{stop: 1}}\nfunctions:\n{functions}\nparameters: {{g: 9}}\nsubsystems:\n  a:\n"
                           f"    equations:\n      functions: {{{own}}}\n      parameters: {{k: 1}}\n"
                           f"      states: {{x: 1}}\n      derivatives: {{x: \"{expression}\"}}\n"
                           "      outputs: {x: x}\n", f"model.yaml:{line}", *words)

    def test_names(self):
        good = "  drag(v): v*v"
        self.refused(good, "drag", "needs its arguments", line=11)
        self.refused(good, "drag(x, 1)", "'drag(v)'", "model.yaml:3", "too many", line=11)
        self.refused("  mix(a, b): a*b", "mix(x)", "too few", "1", line=11)
        self.refused(good, "drga(x)", "unknown function 'drga'", "did you mean 'drag'", line=11)
        self.refused("  drag(v): v*w", "x", "unknown name 'w'", "arguments", line=3)
        self.refused("  drag(v): v*x", "x", "unknown name 'x'", line=3)
        self.refused("  drag(v): v*t", "x", "unknown name 't'", line=3)
        self.refused("  drag(v): v*k", "x", "unknown name 'k'", line=3)

    def test_signatures(self):
        self.refused("  drag: 1", "x", "arguments", "drag(v)", line=3)
        self.refused("  drag(): 1", "x", "argument", line=3)
        self.refused("  drag(v, v): 1", "x", "'v'", "twice", line=3)
        self.refused("  drag(2): 1", "x", "'2'", "no name", line=3)
        self.refused("  sin(v): 1", "x", "'sin'", "choose another", line=3)
        self.refused("  drag(t): 1", "x", "'t'", "choose another", line=3)
        self.refused("  drag(v): pre(v)", "x", "pre", "'when' only", line=3)
        self.refused("  g(v): v", "x", "parameter of that name", line=3)
        self.refused("  {mix(a, b): a}", "x", "in quotes", line=3)
        self.refused("  drag(v): v + ", "x", "ends too early", line=3)

    def test_twice(self):
        self.refused("  drag(v): v\n  drag(w): w", "x", "twice", "model.yaml:3", line=4)
        self.refused("  drag(v): v", "x", "twice", "model.yaml:3", own="drag(v): v", line=8)

    def test_circles(self):
        self.refused("  f(v): g2(v)\n  g2(v): h(v) + 1\n  h(v): f(v)", "x", "f -> g2 -> h -> f", line=3)
        self.refused("  f(v): f(v)", "x", "f -> f", line=3)

    def test_too_many_calls(self):
        chain = "".join(f"  f{i}(v): f{i - 1}(v) + f{i - 1}(2*v)\n" for i in range(1, 40))
        self.refused(f"  f0(v): v\n{chain}", "f39(x)", "more than 100000", line=51)
        chain = "".join(f"  f{i}(v): f{i - 1}(v)\n" for i in range(1, 2000))
        self.refused(f"  f0(v): v\n{chain}", "x", "levels deep", line="")
        nest = "f(2*" * 2000 + "x" + ")" * 2000
        path = self.model("experiment: {stop: 1}\nfunctions: {f(v): v}\nsubsystems:\n  a: {equations: {states: {x: 0}, "
                          f"derivatives: {{x: \"{nest}\"}}, outputs: {{x: x}}}}}}\n")
        self.assertEqual(execute("check", path).returncode, 0)

    def test_results_that_are_no_numbers(self):
        path = self.model("experiment: {stop: 1}\nfunctions: {f(v): 1/v}\nparameters: {k: f(0)}\nsubsystems:\n"
                          "  a: {equations: {outputs: {x: k}}}\n")
        run = execute("check", path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("model.yaml:3: parameter 'k' must be a finite number; 'f(0)' is inf", run.stderr)


if __name__ == "__main__":
    unittest.main()
