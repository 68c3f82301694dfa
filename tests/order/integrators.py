"""The integrators of a subsystem agree, and stiff subsystems take bounded time."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TWO_MASS, simulate, write_model
from references import LotkaVolterra, hermite, two_mass

INTEGRATORS = ("auto", "erk", "dirk", "cvode_bdf", "cvode_adams")

ROBERTSON = """name: Robertson's reaction, heated by a slow oscillator
experiment: {start: 0, stop: 40}
subsystems:
  reaction:
    equations:
      inputs: {heat: 0}
      states: {a: 1, b: 0, c: 0}
      derivatives:
        a: -0.04*(1 + 0.1*heat)*a + 1e4*b*c
        b: 0.04*(1 + 0.1*heat)*a - 1e4*b*c - 3e7*b*b
        c: 3e7*b*b
      outputs: {c: c}
  oscillator:
    equations:
      inputs: {c: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: -0.1*x - 0.05*v + 0.1*c}
      outputs: {x: x}
connections:
  - oscillator.x -> reaction.heat
  - reaction.c -> oscillator.c
"""

# Van der Pol's oscillator with mu = 1e5 in time units of mu: relaxation with jumps that take 1e-10.
VAN_DER_POL = """name: van der Pol's oscillator with mu = 1e5, driven
experiment: {start: 0, stop: 2}
subsystems:
  oscillator:
    equations:
      parameters: {mu: 1e5}
      inputs: {push: 0}
      states: {x: 2, v: -0.66}
      derivatives:
        x: v
        v: mu*mu*((1 - x*x)*v - x + push)
      outputs: {x: x}
  driver:
    equations:
      inputs: {x: 2}
      states: {z: 0, w: 1}
      derivatives: {z: w, w: -30*z + 0.1*x}
      outputs: {push: 0.1*z}
connections:
  - oscillator.x -> driver.x
  - driver.push -> oscillator.push
"""


class Agreement(unittest.TestCase):
    """Under jfm; errors against the method's own trajectory, of each state's largest value."""

    def check(self, model, problem, step, stop, states):
        _, expected = problem.implicit(hermite, step, stop)
        size = np.max(np.abs(expected), axis=0)
        for integrator in INTEGRATORS:
            for rtol in (1e-7, 1e-10):
                with self.subTest(integrator=integrator, rtol=rtol):
                    results = simulate(model, "-cosim_type", "jfm", "-cosim_step", step,
                                       "-subsystem_integrator", integrator, "-subsystem_rtol",
                                       rtol, "-subsystem_atol", rtol / 100,
                                       "-cosim_rtol", 10 * rtol, "-cosim_atol", 10 * rtol)
                    far = np.max(np.abs(results.states.columns(*states) - expected) / size)
                    print(f"{model.stem:15} {integrator:12} rtol {rtol:.0e}: {far:.1e}")
                    # Multistep methods begin every macro-step at order 1 with a step as long as the
                    # tolerance allows: each macro-step may add a few tolerances.
                    one_step = integrator in ("auto", "erk")
                    macro_steps = len(results.time) - 1
                    self.assertLess(far, (20 if one_step else 3 * macro_steps) * rtol)

    def test_two_mass(self):
        self.check(TWO_MASS, two_mass(), 2e-3, 2.0, ("left.x", "left.v", "right.x", "right.v"))

    def test_lotka_volterra(self):
        self.check(LOTKA_VOLTERRA, LotkaVolterra, 0.1, 20.0, ("prey.amount", "predator.amount"))


class Swinging(unittest.TestCase):
    """Six swings in a macro-step, by the default absolute tolerance: what rounding is taken to leave in
    a state doesn't grow with the run."""
    MODEL = """experiment: {start: 0, stop: 12.8}
subsystems:
  spring:
    equations:
      states: {p: 0.1, q: 0}
      derivatives: {p: q, q: "-10000*p + 2000"}
      outputs: {p: p}
"""

    def test_agrees_with_its_closed_form(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "spring", self.MODEL)
            for integrator in INTEGRATORS:
                for rtol in (1e-8, 1e-10):
                    with self.subTest(integrator=integrator, rtol=rtol):
                        run = simulate(model, "-cosim_type", "jfm", "-cosim_step", 0.4,
                                       "-subsystem_integrator", integrator, "-subsystem_rtol", rtol)
                        exact = 0.2 - 0.1 * np.cos(100 * run.time)
                        far = np.max(np.abs(run.outputs["spring.p"] - exact)) / 0.3
                        print(f"{integrator:12} rtol {rtol:.0e}: {far / rtol:.1e} tolerances")
                        # By 1280 rad; multistep methods leave as much as the smallest steps that they
                        # take behind each communication point let them.
                        one_step = integrator in ("auto", "erk", "dirk")
                        self.assertLess(far, (1e3 if one_step else 1e4) * rtol)


class Stiff(unittest.TestCase):
    def run_both(self, text, step, *options):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "stiff", text)
            reference = simulate(model, "-cosim_type", "monolithic", "-subsystem_rtol", 1e-9,
                                 "-subsystem_atol", 1e-12, "-cosim_step", step, *options)
            results = simulate(model, "-cosim_type", "jfm", "-cosim_step", step, *options)
        evaluations = dict(zip(results.subsystems["name"],
                               results.subsystems["rhs_evaluations"]))
        print(f"evaluations of f {evaluations}")
        self.assertLess(sum(evaluations.values()), 120000)
        return results, reference, evaluations

    def distance(self, results, reference):
        size = np.max(np.abs(reference.states.values), axis=0)
        return np.max(np.abs(results.states.values - reference.states.values) / size, axis=0)

    def test_robertson(self):
        results, reference, evaluations = self.run_both(ROBERTSON, 0.1)
        far = self.distance(results, reference)
        print(f"Robertson: {dict(zip(results.states.names, far))}")
        # The reaction restarts 400 times at rtol 1e-8.
        self.assertLess(np.max(far[:3]), 1e-5)
        # c' jumps from 0 to 0.044 at once, which the first hold can't know: its integral is wrong by
        # 0.044 h^2 / 12, of which v gets a tenth: 1.3e-5 of its largest value.
        self.assertLess(np.max(far[3:]), 2e-5)
        mass = sum(results.states[f"reaction.{s}"] for s in "abc")
        self.assertLess(np.max(np.abs(mass - 1)), 1e-6)
        # Explicit micro-steps are bounded by stability: about 1e3 per second here.
        self.assertLess(evaluations[b"reaction"], 400 * 3 * 60)

    def test_van_der_pol_on_the_slow_manifold(self):
        results, reference, _ = self.run_both(VAN_DER_POL, 1e-3, "-cosim_stop", 0.7)
        far = self.distance(results, reference)
        print(f"van der Pol before the jump: {dict(zip(results.states.names, far))}")
        # 700 restarts at rtol 1e-8; the driver sees a tenth of x.
        self.assertLess(far[0], 7e-6)
        self.assertLess(np.max(far[2:]), 7e-7)

    def test_van_der_pol_with_jumps(self):
        results, reference, _ = self.run_both(VAN_DER_POL, 1e-3)
        x, expected = (r.outputs["oscillator.x"] for r in (results, reference))
        jumps, expected_jumps = (np.nonzero(np.diff(np.sign(a)))[0] for a in (x, expected))
        print(f"jumps in macro-steps {jumps} and {expected_jumps}")
        self.assertGreaterEqual(len(jumps), 2)
        # A jump inside a macro-step is beyond what its cubic polynomial can follow: order 1 there.
        self.assertLessEqual(np.max(np.abs(jumps - expected_jumps)), 1)
        away = np.abs(x - expected) < 0.01
        self.assertGreater(np.mean(away), 0.995)


class Defaults(unittest.TestCase):
    """Without any option: as accurate as -cosim_accuracy 1e-4 promises, and quick."""

    def test_two_mass(self):
        results = simulate(TWO_MASS)
        exact = two_mass().exact_states(results.time)
        errors = {name: 100 * np.linalg.norm(results.outputs[name] - exact[:, i])
                  / np.linalg.norm(exact[:, i])
                  for i, name in enumerate(("left.x", "left.v", "right.x", "right.v"))}
        work = results.subsystems["rhs_evaluations"].sum()
        print(f"default options: errors {errors} %, {work} right-hand sides")
        self.assertLess(max(errors.values()), 1e-2)
        self.assertLess(work, 40000)


if __name__ == "__main__":
    unittest.main()
