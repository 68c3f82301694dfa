"""Ten subsystems with the graph of Holzinger and Benedikt 2019: its schedules, and what they gain."""
import functools
import re
import unittest

import numpy as np
from concord_runs import EXAMPLES, execute, in_short, simulate
from references import observed_orders

MODEL = EXAMPLES / "hybrid_vehicle" / "hybrid_vehicle.yaml"
TIGHT = ("-subsystem_rtol", 1e-11)
STEPS = (0.04, 0.02, 0.01)


@functools.cache
def exact(step):
    return simulate(MODEL, "-cosim_type", "monolithic", "-cosim_step", step, *TIGHT).outputs.values


@functools.cache
def errors(*options, ranks=1, steps=STEPS):
    """Largest relative L2 error of an output against `monolithic`, for each step."""
    found = []
    for step in steps:
        run = simulate(MODEL, *options, "-cosim_step", step, *TIGHT, "-cosim_diverged", "warn",
                       ranks=ranks)
        difference = run.outputs.values - exact(step)
        found.append(np.max(np.linalg.norm(difference, axis=0)
                            / np.linalg.norm(exact(step), axis=0)))
    print(" ".join(map(str, options)), found)
    return np.array(found)


class Vehicle(unittest.TestCase):
    def test_schedules(self):
        """The optima of the paper's graph."""
        for weight, cost in ((0, 0.2414), (0.25, 0.4110), (0.5, 0.4538), (0.75, 0.3704), (1, 0.2870)):
            text = execute("schedule", MODEL, "-cosim_schedule_weight", weight).stdout
            self.assertAlmostEqual(float(re.search(r"w = \S+ +(\S+)", text)[1]), cost, delta=5e-5)

    def test_sequences_gain(self):
        parallel = errors("-cosim_type", "jacobi")
        grouped = errors("-cosim_type", "hierarchical")
        sequence = errors("-cosim_type", "gauss_seidel")
        self.assertTrue(np.all(sequence < 0.85 * parallel))
        self.assertTrue(np.all(grouped < 0.85 * parallel))

    def test_weighted_signals_gain(self):
        """What an error does one subsystem ahead tells which signals must be known."""
        weighted = ("-cosim_schedule_signals", "weighted")
        counted = errors("-cosim_type", "gauss_seidel")
        self.assertTrue(np.all(errors("-cosim_type", "gauss_seidel", *weighted) < 0.1 * counted))
        text = execute("schedule", MODEL, *weighted, ranks=2).stdout
        self.assertRegex(text, r"mean \(from a trial run\):\n +\d+\.\d+  \w+\.\w+ -> \w+\.\w+\n")

    def test_weights_that_cannot_be_had(self):
        options = ("-cosim_schedule_signals", "weighted", "-cosim_type", "jacobi")
        one = execute("schedule", MODEL, *options, "-subsystem_vehicle_linearization", "false")
        self.assertIn("note: -cosim_schedule_signals weighted: what 'vehicle' receives counts 1",
                      one.stderr)
        none = execute("schedule", MODEL, *options, "-subsystem_linearization", "false")
        self.assertIn("every signal counts the same", none.stderr)
        self.assertNotIn("from a trial run", none.stdout)

    def test_orders(self):
        for options, order, around, largest in (
                (("-cosim_type", "jacobi", "-cosim_hold", "extrapolate", "-cosim_hold_order", 1),
                 2, 0.1, 2e-4),
                (("-cosim_type", "gauss_seidel", "-cosim_hold", "extrapolate", "-cosim_hold_order",
                  1), 2, 0.15, 2e-4)):
            found = errors(*options)
            self.assertLess(found[-1], largest)
            for observed in observed_orders(STEPS, found):
                self.assertLess(abs(observed - order), around)

    def test_solved(self):
        for method, ranks in in_short((("missiles", 1), ("missiles", 3), ("jfm", 1), ("jfm", 3)), 3):
            steps = STEPS if ranks == 1 else in_short(STEPS, 3)
            found = errors("-cosim_type", method, ranks=ranks, steps=steps)
            self.assertTrue(np.all(found < (6e-6, 3e-7, 2e-8)[:len(steps)]))


if __name__ == "__main__":
    unittest.main()
