"""-cosim_accuracy: one number, from which method, step control and tolerances follow."""
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from concord_runs import EXAMPLES, ModelTest, in_short, run_here

EXACT = ("-cosim_type", "monolithic", "-subsystem_rtol", 1e-12, "-subsystem_atol", 1e-14)
# Steady but for a hundredth of its size.
OFFSET = """
experiment: {start: 0, stop: 10}
subsystems:
  room:
    equations:
      inputs: {q: 0}
      states: {T: 300}
      derivatives: {T: q - 0.5*(T - 299)}
      outputs: {T: T}
  heater:
    equations:
      inputs: {T: 300}
      states: {q: 0}
      derivatives: {q: -2*(T - 299.5) - 0.1*q}
      outputs: {q: q}
connections: [room.T -> heater.T, heater.q -> room.q]
"""
ALONE = """
experiment: {start: 0, stop: 2}
subsystems: {one: {equations: {states: {x: 1}, derivatives: {x: -x}, outputs: {x: x}}}}
"""
# At rest, with a tail that grows faster than any power of time.
GUST = """
experiment: {stop: 60}
subsystems:
  wind: {equations: {outputs: {F: "100*exp(-((t - 20.19)/0.03)^2)"}}}
  mast: {equations: {inputs: {F: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: (F - 40*x - 2*v)/10}, outputs: {x: x}}}
connections: [wind.F -> mast.F]
"""
LATE = """
experiment: {stop: 50}
subsystems:
  switch: {equations: {outputs: {u: 1/(1 + exp(-50*(t - 42.05)))}}}
  a: {equations: {inputs: {u: 0, y: 0}, states: {x: 0}, derivatives: {x: 3*(y - x) + u}, outputs: {x: x}}}
  b: {equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: x - 2*y}, outputs: {y: y}}}
connections: [switch.u -> a.u, a.x -> b.x, b.y -> a.y]
"""
# A reactor that runs away within what had become a long macro-step.
RUNAWAY = """
experiment: {stop: 600}
subsystems:
  reactor:
    equations:
      inputs: {Tj: 300, c_in: 1}
      states: {c: 0.5, T: 350}
      variables: {rate: 7.2e10*exp(-8750/T)*c}
      derivatives: {c: (c_in - c - rate)/60, T: (350 - T + 209*rate + 2.09*(Tj - T))/60}
      outputs: {T: T, c: c}
  jacket: {equations: {inputs: {T: 350, u: 0}, states: {Tj: 300}, derivatives: {Tj: (290 + u - Tj + 0.3*(T - Tj))/5}, outputs: {Tj: Tj}}}
  control: {equations: {inputs: {T: 350}, states: {z: 0}, derivatives: {z: (340 - T)/40}, outputs: {u: 0.5*(340 - T) + z}}}
  feed: {equations: {outputs: {c: 1 + 0.2*(t > 200) - 0.1*(t > 400)}}}
connections: [reactor.T -> jacket.T, jacket.Tj -> reactor.Tj, reactor.T -> control.T, control.u -> jacket.u,
              feed.c -> reactor.c_in]
"""
MODELS = {name: EXAMPLES / name / f"{name}.yaml" for name in
          ("two_mass", "lotka_volterra", "spring_mass", "algebraic_loop", "drive", "stick_slip",
           "hybrid_vehicle", "power_ring")}


class Run:
    def __init__(self, model, *options, ranks=1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out.h5"
            done = run_here(model, *options, "-cosim_output", path, ranks=ranks)
            if done.returncode:
                raise AssertionError(f"{options}: {done.stderr}")
            self.stdout = done.stdout
            with h5py.File(path) as file:
                self.time, self.values = file["time"][:], file["outputs/values"][:]
                self.sizes = file["steps/size"][:]

    @property
    def accuracy(self):
        return next(line for line in self.stdout.splitlines() if line.startswith("  accuracy "))


def error(model, run):
    """The largest of all outputs, in units of each one's range."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as times:
        times.write("\n".join(repr(float(t)) for t in run.time))
        times.flush()
        exact = Run(model, *EXACT, "-cosim_output_times", times.name)
    rows = np.clip(np.searchsorted(exact.time, run.time - 1e-12), 0, len(exact.time) - 1)
    same = np.abs(exact.time[rows] - run.time) < 1e-9
    if np.count_nonzero(same) < 0.9 * len(run.time):
        raise AssertionError("the times differ")
    spread = np.ptp(exact.values, axis=0)
    moves = spread > 1e-9 * np.abs(exact.values).max(axis=0)
    errors = np.abs(run.values[same] - exact.values[rows][same]).max(axis=0)
    return np.max(errors[moves] / spread[moves])


class Promise(ModelTest):
    """The true error is near the accuracy, and never above three times that."""

    def ratios(self, *options):
        """True error over accuracy, and how many macro-steps it took."""
        found = []
        models = {**MODELS, "offset": self.model(OFFSET)}
        for name, model in models.items():
            for accuracy in in_short((1e-4, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8), 2):
                with self.subTest(model=name, accuracy=accuracy, options=options):
                    run = Run(model, "-cosim_accuracy", accuracy, *options)
                    found.append((error(model, run) / accuracy, len(run.sizes)))
                    print(f"{name:16} {accuracy:g}: error/accuracy {found[-1][0]:.3f}, "
                          f"{found[-1][1]} macro-steps")
                    self.assertLess(found[-1][0], 3)
        return np.array(found).T

    def test_examples(self):
        """Where the largest macro-steps, a fiftieth of the experiment, leave less, few are taken."""
        ratios, steps = self.ratios()
        self.assertGreaterEqual(np.mean((ratios <= 1) & ((ratios >= 0.01) | (steps < 200))), 0.95)

    def test_examples_from_end_to_end(self):
        """By what is chosen where estimators are asked for."""
        ratios, _ = self.ratios("-missiles_defect", "constant")
        self.assertGreaterEqual(np.mean((ratios <= 1) & (ratios >= 0.01)), 0.95)

    def test_default(self):
        """Without options it is 1e-4."""
        plain, said = (Run(MODELS["two_mass"], *options) for options in
                       ((), ("-cosim_accuracy", 1e-4)))
        np.testing.assert_array_equal(plain.values, said.values)
        self.assertIn("0.0001 of each signal's range, by radau, step control predictor",
                      plain.accuracy)
        self.assertIn("; estimated error ", plain.accuracy)

    def test_what_begins_late(self):
        """What rises after a rest, or runs away within a macro-step."""
        for text, accuracies in ((GUST, (1e-6, 1e-8)), (LATE, (1e-6, 1e-8)), (RUNAWAY, (1e-3, 1e-4))):
            model = self.model(text)
            for accuracy in accuracies:
                with self.subTest(model=text, accuracy=accuracy):
                    run = Run(model, "-cosim_accuracy", accuracy)
                    self.assertLess(error(model, run), accuracy)
                    self.assertNotIn("NOT REACHED", run.accuracy)

    def test_ranks(self):
        alone, two = (Run(MODELS["two_mass"], ranks=ranks) for ranks in (1, 2))
        np.testing.assert_allclose(two.values, alone.values, rtol=1e-9,
                                   atol=1e-9 * np.abs(alone.values).max())

    def test_missed(self):
        """A method of low order says where it stays short."""
        run = Run(MODELS["two_mass"], "-cosim_type", "gauss_seidel", "-cosim_accuracy", 1e-4)
        self.assertIn("NOT REACHED: estimated error", run.accuracy)
        self.assertIn("use -cosim_type jfm or missiles", run.accuracy)


class Choices(ModelTest):
    def accuracy_of(self, *options, model=MODELS["two_mass"]):
        return Run(model, *options).accuracy

    def test_capabilities(self):
        """What the subsystems can do decides."""
        neither = ("-subsystem_rollback", "false", "-subsystem_linearization", "false")
        for options, chosen in (
                (("-subsystem_rollback", "false"), "by radau, step control predictor"),
                (("-subsystem_linearization", "false"), "by jfm, step control predictor"),
                (neither, "by gauss_seidel, macro-steps of 0.002 s; NOT REACHED: estimated error 0."),
                ((*neither, "-cosim_halving", "none"),
                 "by gauss_seidel, macro-steps of 0.002 s, as nothing tells their error")):
            with self.subTest(options=options):
                self.assertIn(chosen, self.accuracy_of(*options))

    def test_options_overrule(self):
        self.assertIn("by missiles, ", self.accuracy_of("-cosim_type", "missiles"))
        run = Run(MODELS["two_mass"], "-cosim_accuracy", 1e-6, "-cosim_step", 0.01)
        np.testing.assert_allclose(run.sizes, 0.01, rtol=1e-9)
        run = Run(MODELS["two_mass"], "-cosim_accuracy", 1e-6, "-cosim_step", 0.01, "-cosim_view")
        for line in ("-cosim_rtol                      1e-8", "-cosim_adapt                     none"):
            self.assertIn(line, run.stdout)
        run = Run(MODELS["two_mass"], "-cosim_rtol", 1e-7, "-subsystem_rtol", 1e-9, "-cosim_view")
        for line in ("-cosim_rtol                      1e-7", "-subsystem_rtol                  1e-9"):
            self.assertIn(line, run.stdout)

    def test_step_alone(self):
        """-cosim_step and -cosim_adapt have defaults of their own."""
        run = Run(MODELS["two_mass"], "-cosim_step", 0.01, "-cosim_view")
        self.assertNotIn("  accuracy ", run.stdout)
        self.assertIn("-cosim_rtol                      1e-6", run.stdout)

    def test_methods_of_low_order(self):
        """That were chosen, or put together, take fixed steps unless an accuracy is given."""
        for options in (("-cosim_type", "jacobi"), ("-cosim_hold", "foh"),
                        ("-snes_type", "nrichardson")):
            run = Run(MODELS["lotka_volterra"], *options)
            self.assertNotIn("  accuracy ", run.stdout)
            self.assertEqual(len(run.sizes), 1000)

    def test_nothing_coupled(self):
        run = Run(self.model(ALONE))
        self.assertEqual(len(run.sizes), 1000)

    def test_rows(self):
        """Fifty macro-steps at least, and the same wherever rows are."""
        model = self.model(OFFSET)
        sizes = Run(model, "-cosim_accuracy", 1e-2).sizes
        self.assertGreaterEqual(len(sizes), 50)
        run = Run(model, "-cosim_accuracy", 1e-2, "-cosim_output_interval", 0.1)
        self.assertEqual(len(run.sizes), len(sizes))

    def test_wrong_values(self):
        for value in ("0", "-1e-3", "1", "x"):
            run = run_here(MODELS["two_mass"], "-cosim_accuracy", value)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("-cosim_accuracy", run.stderr)


if __name__ == "__main__":
    unittest.main()
