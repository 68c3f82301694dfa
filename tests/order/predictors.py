"""First guesses of iterative solves: their order in h, and what they cost."""
import tempfile
import unittest

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, in_short, simulate, write_model
from references import observed_orders

# A chamber so small that its pressure follows at once, behind a valve that knows no flow back. The
# start is away from the balance: what comes next is no continuation of what was.
VALVE = """name: valve
experiment: {start: 0, stop: 4}
subsystems:
  chamber:
    equations:
      parameters: {c: 1e-4}
      inputs: {q: 1.4}
      states: {p: 3}
      derivatives: {p: (1 + 0.5*sin(3*t) - q)/c}
      outputs: {p: p}
  tank:
    equations:
      inputs: {p_in: 3}
      states: {p: 1}
      derivatives: {p: sqrt(p_in - p) - p}
      outputs: {q: sqrt(p_in - p), p: p}
connections: [chamber.p -> tank.p_in, tank.q -> chamber.q]
"""


FLOOR = "-cosim_rtol 1e-15 -cosim_atol 1e-10".split()


def first_norms(model, h, stop, *options):
    """Norms of the scaled residual at the first guess, one per macro-step after the start. A floor
    above all values keeps the scales the same."""
    results = simulate(model, "-cosim_type", "jfm", *TIGHT, *FLOOR, "-cosim_step", h,
                       "-cosim_stop", stop, "-snes_monitor", *options)
    norms = [float(line.split()[-1]) for line in results.stdout.splitlines()
             if line.strip().startswith("0 SNES Function norm")]
    return np.array(norms[3:])


class FirstGuess(unittest.TestCase):
    orders = {("hermite", "missiles"): 5, ("hermite", "extrapolate"): 4, ("foh", "extrapolate"): 3,
              ("zoh", "extrapolate"): 2, ("hermite", "linear_implicit"): 2,
              ("foh", "linear_implicit"): 2, ("zoh", "linear_implicit"): 2, ("hermite", "hold"): 1,
              ("foh", "hold"): 1, ("zoh", "hold"): 1}

    def test_order(self):
        problems = {"Lotka-Volterra": (LOTKA_VOLTERRA, 10, [0.05, 0.025, 0.0125]),
                    "two masses": (TWO_MASS, 0.3, [1e-3, 5e-4, 2.5e-4])}
        for name, (model, stop, steps) in problems.items():
            for (hold, predictor), order in in_short(list(self.orders.items()), 3, len(name)):
                if predictor == "missiles" and model == TWO_MASS:
                    continue  # exact on linear subsystems
                with self.subTest(model=name, hold=hold, predictor=predictor):
                    options = ["-cosim_hold", hold, "-cosim_predictor", predictor]
                    norms = [np.median(first_norms(model, h, stop, *options)) for h in steps]
                    observed = observed_orders(steps, norms)
                    count = np.mean(simulate(model, "-cosim_type", "jfm", *options, "-cosim_step",
                                             steps[1], "-cosim_stop", stop)
                                    .steps["coupling_evaluations"])
                    print(f"{name}, {hold}, {predictor}: first residual {norms[-1]:.1e}, orders "
                          f"{np.round(observed, 2)}, {count:.2f} evaluations per step")
                    self.assertLess(np.max(np.abs(observed - order)), 0.2)


class StiffValve(unittest.TestCase):
    """Extrapolated pressures leave the valve's domain; a linearly implicit step doesn't. A linear
    hold smears the first jump of the input: for a macro-step the chamber's pressure is wrong by half
    of its range, which fails a run that isn't told to go on."""

    HOLD = "-cosim_hold foh -cosim_diverged warn".split()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = write_model(self.folder, "valve", VALVE)

    def run_with(self, predictor, h):
        return execute("run", self.model, *self.HOLD, "-cosim_predictor", predictor, "-cosim_step",
                       h, "-cosim_output", f"{self.folder}/{predictor}.h5")

    def test_extrapolation_gives_way(self):
        """Where the guess cannot be evaluated, the next one is taken: results are the same."""
        for h in (0.02, 0.05, 0.1):
            run = self.run_with("extrapolate", h)
            self.assertEqual(run.returncode, 0, run.stderr)
            one, other = (simulate(self.model, *self.HOLD, "-cosim_predictor", predictor,
                                   "-cosim_step", h) for predictor in ("extrapolate", "hold"))
            far = np.max(np.abs(one.states["tank.p"] - other.states["tank.p"]))
            print(f"h = {h}: {far:.1e} between extrapolate and hold")
            self.assertLess(far, 1e-5)

    def test_linear_implicit_converges_and_is_cheaper_than_hold(self):
        exact = simulate(self.model, "-cosim_type", "monolithic", *TIGHT, "-cosim_step", 0.01)
        for h in (0.02, 0.05, 0.1):
            results = {predictor: simulate(self.model, *self.HOLD, "-cosim_predictor", predictor,
                                           "-cosim_step", h)
                       for predictor in ("linear_implicit", "hold")}
            counts = {name: np.mean(r.steps["coupling_evaluations"]) for name, r in results.items()}
            pressure = results["linear_implicit"].states["tank.p"]
            reference = np.interp(results["linear_implicit"].time, exact.time, exact.states["tank.p"])
            error = np.max(np.abs(pressure - reference))
            print(f"h = {h}: {counts} evaluations per step, {error:.1e} from the exact pressure")
            self.assertLess(counts["linear_implicit"], counts["hold"])
            self.assertLess(error, h)
            self.assertLess(np.max(np.abs(pressure - results["hold"].states["tank.p"])), 1e-5)


class Refusals(unittest.TestCase):
    def test_what_it_needs(self):
        for withheld in ("linearization", "state_derivatives", "rollback"):
            run = execute("run", TWO_MASS, "-cosim_predictor", "linear_implicit",
                          f"-subsystem_left_{withheld}", "false", "-cosim_output", "refused.h5")
            self.assertEqual(run.returncode, 2)
            self.assertIn("-cosim_predictor linear_implicit: subsystem 'left' offers no", run.stderr)
            self.assertIn(withheld.split("_")[-1], run.stderr)

    def test_no_iterative_solve(self):
        for method in ("jacobi", "missiles", "monolithic"):
            run = execute("run", TWO_MASS, "-cosim_type", method, "-cosim_predictor", "hold",
                          "-cosim_output", "refused.h5")
            self.assertEqual(run.returncode, 2)
            self.assertIn("-cosim_predictor", run.stderr)


if __name__ == "__main__":
    unittest.main()
