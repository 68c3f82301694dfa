"""Algebraic loops are solved to rounding in any units, or refused with a reason that is true."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), os.path.dirname(__file__)]
from concord_runs import run_here, simulate, write_model  # noqa: E402
from loop_models import ring, solution  # noqa: E402

STEPS = ("-cosim_step", "0.05", "-subsystem_rtol", "1e-12", "-subsystem_atol", "1e-14")

LOOPS = (
    (("root", "exp"), (0.7, 0.6)),
    (("linear", "log"), (-0.8, 1.1)),
    (("square", "exp"), (-0.3, 0.4)),
    (("exp", "log", "root"), (0.5, 0.7, -0.6)),
    (("linear", "linear", "linear"), (3.0, -2.0, 1.5)),
)

TWO_UNITS = """name: hydraulics
experiment: {{start: 0, stop: 0.2}}
subsystems:
  pump:
    equations:
      inputs: {{q: {q}}}
      states: {{w: 100}}
      derivatives: {{w: 0*w}}
      outputs: {{p: "5000*w^2 - 1e17*q^2"}}
  pipe:
    equations:
      inputs: {{p: {p}}}
      states: {{s: 0}}
      derivatives: {{s: 0*s}}
      outputs: {{q: "1e-9*sqrt(p - 1e6*s)"}}
connections:
  - pump.p -> pipe.p
  - pipe.q -> pump.q
"""


def run(text, *options, ranks=1):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(write_model(folder, "model", text), *options, ranks=ranks)


def refused(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        ended = run_here(write_model(folder, "model", text), *options, "-cosim_output",
                        Path(folder) / "out.h5")
        return ended.returncode, ended.stderr


class Units(unittest.TestCase):
    def test_rings_in_random_units(self):
        random = np.random.default_rng(7)
        for functions, gains in LOOPS:
            count = len(gains)
            for _ in range(3):
                units = 10.0 ** random.uniform(-12, 12, count)
                results = run(ring(functions, gains, units, random.choice([0.0, 0.5, 1.0], count)),
                              "-cosim_type", "monolithic", *STEPS)
                found = np.stack([results.outputs[f"s{i}.y"] for i in range(count)], 1) / units
                exact = solution(functions, gains, results.time, found[0])
                with self.subTest(functions=functions, units=units):
                    self.assertLess(np.abs(found[0] - exact[0]).max(), 1e-13)
                    self.assertLess(np.abs(found - exact).max(), 1e-10)

    def test_pressure_and_flow(self):
        """p = 5000 w^2 - 1e17 q^2, q = 1e-9 sqrt(p): p = 5e7/1.1."""
        for q, p in ((0, 1e7), (1e-6, 1e5), (7e-6, 5e7)):
            for method in ("jfm", "missiles", "jacobi", "monolithic"):
                results = run(TWO_UNITS.format(q=q, p=p), "-cosim_type", method, *STEPS)
                error = np.abs(results.outputs["pump.p"] / (5e7 / 1.1) - 1).max()
                with self.subTest(q=q, p=p, method=method):
                    self.assertLess(error, 1e-13 if method in ("jacobi", "monolithic") else 1e-6)
                    self.assertLess(abs(results.outputs["pump.p"][0] / (5e7 / 1.1) - 1), 1e-14)


LOGARITHM = """name: logarithm
experiment: {{start: 0, stop: 0.1}}
subsystems:
  a:
    equations: {{inputs: {{u: {u}}}, states: {{x: 0}}, derivatives: {{x: -x}},
                outputs: {{y: 3 - log(u) + x}}}}
  b:
    equations: {{inputs: {{v: 0.1}}, states: {{z: 0}}, derivatives: {{z: -z}}, outputs: {{w: v + z}}}}
connections:
  - a.y -> b.v
  - b.w -> a.u
"""


class Guesses(unittest.TestCase):
    def test_trials_outside_of_the_domain(self):
        """u = 3 - log u: from far away Newton's first steps lead to negative u."""
        exact = 2.207940031569323
        for guess in (0.01, 1, 100, 1e4):
            for method in ("jfm", "monolithic"):
                results = run(LOGARITHM.format(u=guess), "-cosim_type", method, *STEPS)
                with self.subTest(guess=guess, method=method):
                    self.assertLess(np.abs(results.outputs["a.y"] / exact - 1).max(), 1e-6)
                    self.assertLess(abs(results.outputs["a.y"][0] / exact - 1), 1e-14)

    def test_guess_outside_of_the_domain(self):
        """What is said names the loop, the guess, the output that fails and the remedy."""
        code, text = refused(LOGARITHM.format(u=-1), *STEPS)
        self.assertEqual(code, 1)
        for part in ("algebraic loop", "a.u = -1", "start values", "output 'y'", "t = 0 s"):
            self.assertIn(part, text)


class Refusals(unittest.TestCase):
    def test_singular(self):
        """Gains whose product is 1, in any units."""
        for gains, units in (((1, 1), (1, 1)), ((4, 0.25), (1e-9, 1e6)), ((-2, 5, -0.1), (1, 1, 1e5))):
            text = ring(["linear"] * len(gains), gains, units, [0.5] * len(gains))
            for method in ("jfm", "missiles", "jacobi", "monolithic"):
                code, error = refused(text, "-cosim_type", method, *STEPS)
                with self.subTest(gains=gains, method=method):
                    self.assertEqual(code, 1)
                    self.assertIn("singular at t = 0 s", error)
                    self.assertIn("s0.y", error)

    def test_no_solution(self):
        """v = w^2 + 0.5, w = v + 0.5: no real solution."""
        code, error = refused(ring(["square", "linear"], (1, 1), (1e5, 1e-5), (0.5, 0.5)), *STEPS)
        self.assertEqual(code, 1)
        self.assertIn("no solution that Newton's method finds at t = 0 s", error)
        self.assertIn("s0.u = ", error)


class Ranks(unittest.TestCase):
    def test_same_bits(self):
        functions, gains, units = ("exp", "log", "root"), (0.5, 0.7, -0.6), (1e-6, 1e8, 1.0)
        text = ring(functions, gains, units, (0.5, 0.5, 0.5))
        one, three = (run(text, "-cosim_type", "jacobi", *STEPS, ranks=n) for n in (1, 3))
        self.assertTrue(np.array_equal(one.outputs.values, three.outputs.values))


if __name__ == "__main__":
    unittest.main()
