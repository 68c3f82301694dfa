"""Outputs and derivatives that are curved, and linearisations that change while nothing moves: the
estimators follow f and g to where their predictions lead. Against `monolithic`."""
import functools
import unittest

import numpy as np
from concord_runs import TIGHT, simulate, write_model
from networks import InFolder, distance
from references import observed_orders

ONE_INTEGRATION = "-cosim_type missiles"


def loop(position, slope, force, unit=1.0):
    """An oscillator and a filter that see each other; `unit` scales all values of the oscillator."""
    u = unit
    return f"""name: curved
experiment: {{start: 0, stop: 4}}
subsystems:
  a:
    equations:
      inputs: {{f: 0}}
      states: {{x: {u}, v: 0}}
      derivatives: {{x: v, v: "{u}*f - 4*x - 0.1*v"}}
      outputs: {{p: "{position}", v: v}}
  b:
    equations:
      inputs: {{p: 1, v: 0}}
      states: {{z: 0.5}}
      derivatives: {{z: "{slope}"}}
      outputs: {{f: "{force}"}}
connections: [a.p -> b.p, a.v -> b.v, b.f -> a.f]
"""


MODELS = {
    "f curved": loop("x", "p - z - 0.3*z*z*z", "-z"),
    "g curved in states": loop("x*x + sin(v)", "p - z", "-z - 0.2*z*z"),
    "g curved in inputs": loop("x", "p - z", "-z*z - 0.3*v*v"),
    "all curved": loop("x*x + sin(v)", "p*cos(z) - z", "-z - 0.2*z*z"),
    "micrometres": loop("1e12*x*x + sin(1e6*v)", "p*cos(z) - z", "-z - 0.2*z*z", 1e-6),
}


class Orders(InFolder, unittest.TestCase):
    steps = (0.1, 0.05, 0.025)

    def errors(self, model, options):
        for step in self.steps:
            results = self.run_with(model, options, step)
            reference = self.run_with(model, "-cosim_type monolithic", step)
            if "missiles" in options:
                self.assertEqual(set(results.steps["coupling_evaluations"]), {1})
            yield distance(results, reference)

    @staticmethod
    @functools.cache
    def run_with(model, options, step):
        return simulate(model, *options.split(), *TIGHT, "-cosim_step", step)

    def test_orders(self):
        """One integration, the error of the fully implicit method, with any defect."""
        for name, text in MODELS.items():
            model = write_model(self.folder, name.replace(" ", "_"), text)
            implicit = list(self.errors(model, "-cosim_type jfm"))
            for defect in ("none", "constant", "linear"):
                with self.subTest(model=name, defect=defect):
                    errors = list(self.errors(model, f"{ONE_INTEGRATION} -missiles_defect {defect}"))
                    orders = observed_orders(self.steps, errors)
                    print(f"{name:20} {defect:8} {np.array(errors)} orders {np.round(orders, 3)}")
                    for order in orders:
                        self.assertLess(abs(order - 4), 0.2)
                    for error, of_jfm in zip(errors, implicit):
                        self.assertLess(error, 1.2 * of_jfm)


class Control(InFolder, unittest.TestCase):
    """-cosim_adapt predictor: as many macro-steps as jfm."""

    def test_steps(self):
        for name in ("g curved in states", "g curved in inputs", "all curved"):
            model = write_model(self.folder, name.replace(" ", "_"), MODELS[name])
            for tolerance in (1e-3, 1e-5, 1e-7):
                with self.subTest(model=name, tolerance=tolerance):
                    missiles, jfm = (len(simulate(
                        model, "-cosim_type", preset, "-cosim_adapt", "predictor", "-cosim_step",
                        0.5, "-cosim_adapt_rtol", tolerance, "-cosim_adapt_atol",
                        tolerance).time) - 1 for preset in ("missiles", "jfm"))
                    print(f"{name:20} tolerance {tolerance:g}: missiles {missiles}, jfm {jfm}")
                    self.assertLessEqual(missiles, 2 * jfm)
                    self.assertGreaterEqual(missiles, 0.5 * jfm)


def asleep(unit, begins):
    """An inflow that rests until `begins`, into a tank whose outflow is a product with what has
    decayed meanwhile. `unit` scales the flows."""
    u = unit
    return f"""name: asleep
experiment: {{start: 0, stop: 6}}
subsystems:
  valve:
    equations:
      states: {{a: 0}}
      derivatives: {{a: "(t>{begins})*(t-{begins})"}}
      outputs: {{q: "{u}*(1 + a)"}}
  tank:
    equations:
      inputs: {{q: {u}}}
      states: {{c: 1}}
      derivatives: {{c: "-2*c"}}
      outputs: {{m: "c*q"}}
  sink:
    equations:
      inputs: {{m: {u}}}
      states: {{z: 0}}
      derivatives: {{z: "m - z"}}
      outputs: {{z: z}}
connections: [valve.q -> tank.q, tank.m -> sink.m]
"""


class Relearnt(InFolder, unittest.TestCase):
    """Derivatives by inputs that rest change with the states. Closed form: m = c q, c = e^{-2t}."""

    @staticmethod
    def outflow(time, unit, begins):
        late = np.maximum(time - begins, 0.0)
        return unit * np.exp(-2 * time) * (1 + late**2 / 2)

    def test_inputs_at_rest(self):
        for unit, begins, step in ((1.0, 3.0, 0.01), (1e-9, 2.0, 0.02), (1e7, 3.0, 0.01)):
            model = write_model(self.folder, f"asleep{begins:g}_{unit:g}", asleep(unit, begins))
            for options in (ONE_INTEGRATION, "-cosim_type jfm -subsystem_rollback false"):
                with self.subTest(unit=unit, options=options):
                    results = simulate(model, *options.split(), "-cosim_step", step,
                                       "-subsystem_rtol", 1e-11)
                    after = results.time >= begins
                    exact = self.outflow(results.time, unit, begins)
                    far = np.abs(results.inputs["sink.m"] - exact)[after]
                    worst = np.max(far) / np.max(exact[after])
                    print(f"unit {unit:g}, {options}: {worst:.1e}")
                    self.assertLess(worst, 5e-5)


if __name__ == "__main__":
    unittest.main()
