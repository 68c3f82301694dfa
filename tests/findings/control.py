"""Findings 8.10, 4: step control by the worst signal, to an error of the run near the tolerance.
The whole table of doc/numerics.md is tables.py's."""
import unittest

import numpy as np
from control_models import MODELS, elapsed, scaled, solutions, with_idle
from equation_models import Model, Subsystem
from kinds import Kinds, errors, run, shifted

OPTIONS = "-cosim_adapt predictor -cosim_adapt_rtol"


class StepControl(Kinds, unittest.TestCase):
    """8.10: error/tolerance of the worst output, beside its largest value, between 0.05 and 5."""

    @classmethod
    def setUpClass(cls):
        cls.exact = solutions()

    def ratio(self, name, model, tolerance, options):
        done = run(model if model.start else shifted(model, 0.0), f"{OPTIONS} {tolerance}", options)
        self.assertTrue(done.completed, done.reason)
        plain = MODELS[name]()
        found = errors(plain, done.results, exact=self.exact[name], time=elapsed(done.results)).max() / tolerance
        return found, done.results

    def check(self, name, model, tolerance, options="-cosim_type jfm"):
        with self.subTest(model=name, tolerance=tolerance, options=options):
            found, results = self.ratio(name, model, tolerance, options)
            print(f"{name:15} {options} {tolerance:g}: {found:.3f}, {len(results.time) - 1} steps")
            self.assertLess(found, 5)
            self.assertGreater(found, 0.05)
            return results

    def test_tolerances(self):
        for name in MODELS:
            for tolerance in (1e-2, 1e-6, 1e-10):
                self.check(name, MODELS[name](), tolerance)

    def test_missiles(self):
        for name in MODELS:
            self.check(name, MODELS[name](), 1e-5, "-cosim_type missiles")

    def test_idle_signals(self):
        """Thirty signals that are always 0 change nothing."""
        for name in ("swing", "curved_outputs", "quarter_car"):
            few = self.check(name, MODELS[name](), 1e-5)
            many = self.check(name, with_idle(MODELS[name]()), 1e-5)
            with self.subTest(model=name):
                self.assertLess(abs(len(many.time) - len(few.time)), 0.1 * len(few.time) + 1)

    def test_units(self):
        """Numbers a thousand million times smaller or larger need the same steps."""
        for name in ("two_masses", "chain"):
            for tolerance in (1e-3, 1e-6):
                steps = [len(run(scaled(MODELS[name](), size),
                                 f"{OPTIONS} {tolerance} -cosim_type jfm").results.time)
                         for size in (1.0, 1e-9, 1e9)]
                print(name, tolerance, steps)
                with self.subTest(model=name, tolerance=tolerance):
                    self.assertLessEqual(max(steps) - min(steps), 0.02 * steps[0] + 1)

    def test_many_small_idle_signals(self):
        """Forty beside signals of 1e-9."""
        few = run(scaled(MODELS["chain"](), 1e-9), f"{OPTIONS} 1e-6 -cosim_type jfm").results
        many = run(with_idle(scaled(MODELS["chain"](), 1e-9), 40),
                   f"{OPTIONS} 1e-6 -cosim_type jfm").results
        self.assertLess(abs(len(many.time) - len(few.time)), 0.1 * len(few.time) + 1)

    def test_far_start_time(self):
        """Times are rounded to 2.4e-7 s at 1.7e9 s, which f(t) sees."""
        for name in MODELS:
            self.check(name, shifted(MODELS[name](), 1.7e9), 1e-4)

    def test_controller_forgets_at_events(self):
        """Steps after an event are as after a start, whatever came before."""
        def model(before):
            m = shifted(MODELS["swing"](), 0.0)
            m.events = [2.0]
            m.subsystems[0].derivatives["v"] += f" + (t < 2.0)*{before!r}*sin(60*t)"
            return m

        steps = {}
        for before in (0.0, 30.0):
            done = run(model(before), "-cosim_type jfm -cosim_adapt predictor -cosim_step 1")
            self.assertTrue(done.completed, done.reason)
            time = done.results.time
            steps[before] = np.count_nonzero(time > 2.0)
            self.assertLess(done.results.steps["rejections"][time[1:] > 2.0].sum(), 6)
        print(steps)
        self.assertLess(steps[30.0], 1.6 * steps[0.0] + 5)

    def test_largest_step_is_free(self):
        """4: without -cosim_step macro-steps grow as far as the tolerance lets them."""
        model = Model([Subsystem("a", {"x": 1.0}, {"x": "-x + 0.1*u"}, {"y": "x"}, {"u": 0.0}),
                       Subsystem("b", {"z": 0.0}, {"z": "u - z"}, {"y": "z"}, {"u": 1.0})],
                      [("a.y", "b.u"), ("b.y", "a.u")], stop=100.0)
        done = run(model, "-cosim_type jfm -cosim_adapt predictor")
        self.assertTrue(done.completed, done.reason)
        print(len(done.results.time) - 1, "macro-steps")
        self.assertLess(len(done.results.time) - 1, 500)


if __name__ == "__main__":
    unittest.main()
