"""Random networks in random units: the short form of sweep.py, a dozen networks and the methods that
differ most from each other."""
import unittest

import numpy as np
from collocation import NoSolution, reference
from comparison import BAD, Problem, problems
from concord_runs import in_short
from generator import Network


class Generator(unittest.TestCase):
    """Units change neither a network's solution nor its kinds."""

    def test_both_texts_have_the_same_solution(self):
        tried = 0
        for seed in range(12):
            network = Network(seed)
            if {"stiff", "index 2", "index 3"} & network.kinds:
                continue
            grid = np.linspace(0, network.stop, 51)
            units = network.units()
            try:
                of_one = reference(network.model(), grid)[0]
                scaled = reference(network.model(units), grid * units.time)[0]
            except NoSolution:  # the reference's own Newton iteration is tried in units of one only
                continue
            tried += 1
            for name, exact in of_one.items():
                with self.subTest(seed=seed, output=name):
                    size = np.abs(exact).max() or 1.0
                    np.testing.assert_allclose(scaled[name] / units.size[name] / size,
                                               exact / size, rtol=0, atol=1e-8)
        self.assertGreater(tried, 3)


class Networks:
    """Within ten times of the error in units of one, or refused."""

    def check(self, first):
        for problem in problems(4, first):
            for verdict in problem.verdicts(self.methods):
                one, scaled = verdict.of_one, verdict.scaled
                print(f"seed {verdict.seed} {verdict.method:18} {verdict.kind:16} "
                      f"{one.error:.1e} {scaled.error:.1e} {scaled.reason}")
                with self.subTest(seed=verdict.seed, method=verdict.method):
                    self.assertNotIn(verdict.kind, BAD,
                                     f"{one.error:.1e} in units of one, {scaled.error:.1e} "
                                     f"{scaled.output} in others")
                    if not problem.network.constraints:
                        self.assertEqual(verdict.kind, "agreed", f"{one.reason} {scaled.reason}")

    def test_networks(self):
        for first in in_short((0, 100, 200), 3):
            self.check(first)


class Cubic(Networks, unittest.TestCase):
    methods = ("jfm", "missiles")


class FixedPoint(Networks, unittest.TestCase):
    methods = ("ifosmondi",)


class Others(Networks, unittest.TestCase):
    methods = ("gauss_seidel", "monolithic")


class Layers(unittest.TestCase):
    """Stiff loops that start in a layer, or whose signals bend within a macro-step: where Newton's
    method fails with the estimators' Jacobian, one by differences is tried."""

    def test_networks(self):
        for seed in (21, 115):
            for verdict in Problem(seed).verdicts(("jfm",)):
                print(f"seed {seed} {verdict.kind} {verdict.of_one.error:.1e} "
                      f"{verdict.scaled.error:.1e}")
                with self.subTest(seed=seed):
                    self.assertEqual(verdict.kind, "agreed",
                                     f"{verdict.of_one.reason} {verdict.scaled.reason}")
                    self.assertLess(verdict.scaled.error, 1e-3)


if __name__ == "__main__":
    unittest.main()
