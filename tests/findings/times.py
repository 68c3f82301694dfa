"""Findings 8.8, 8.9: close events, far times."""
import unittest

import numpy as np
from concord_runs import execute
from equation_models import Model, Subsystem
from kinds import Kinds, errors, exact_outputs, run, shifted


def twin_events(first, distance):
    """Two events close to each other; a pulse of 3 sin x from the first on."""
    return Model(
        [Subsystem("a", {"x": 1.0, "v": 0.0},
                   {"x": "v", "v": f"-9*sin(x) + 2*y + (t >= {first!r})*3*sin(x)"},
                   {"x": "sin(x) + 0.1*x^2"}, {"y": 0.0}),
         Subsystem("b", {"y": 0.0}, {"y": "-y + cos(2*x)"}, {"y": "y*(1 + 0.2*y)"}, {"x": 0.0})],
        [("a.x", "b.x"), ("b.y", "a.y")], events=[first, first + distance])


class CloseEvents(Kinds, unittest.TestCase):
    """8.8: however close two events are, the model runs."""

    def test_distances(self):
        for first, distance in ((0.3, 7e-5), (0.3, 1e-6), (0.29, 1e-3), (0.52, 1e-9)):
            model = twin_events(first, distance)
            for method in ("jfm", "missiles", "ifosmondi"):
                for step in (0.001, 0.02):
                    with self.subTest(method=method, distance=distance, step=step):
                        self.assert_right(model, 1e-3, f"-cosim_type {method} -cosim_step {step}",
                                          pieces=1)

    def test_step_control(self):
        for distance in (7e-5, 1e-8):
            with self.subTest(distance=distance):
                self.assert_right(twin_events(0.3, distance), 1e-4, "-cosim_type jfm -cosim_adapt "
                                  "predictor -cosim_step 0.1", pieces=4)


def swing(size=1.0, idle=0):
    """A nonlinear pair; `idle` outputs more that are always 0."""
    rests = {f"r{i}": 0.0 for i in range(idle)}
    return Model(
        [Subsystem("a", {"x": 0.9 * size, "v": 0.0, **rests},
                   {"x": "v", "v": f"-9*{size!r}*sin(x/{size!r}) + 2*u + {0.3 * size!r}*sin({{t}})",
                    **{name: f"-{name}" for name in rests}},
                   {"y": "x", **{f"o{i}": f"r{i}" for i in range(idle)}}, {"u": 0.0}),
         Subsystem("b", {"z": 0.0}, {"z": f"-z + {size!r}*cos(2*y/{size!r})"}, {"y": "z"},
                   {"y": 0.0, **{f"i{i}": 0.0 for i in range(idle)}})],
        [("a.y", "b.y"), ("b.y", "a.u")] + [(f"a.o{i}", f"b.i{i}") for i in range(idle)], stop=4.0)


STARTS = (0.0, 1e6, 1.7e9)


def timed(model, options):
    """A run in a process of its own, and its processor time, s."""
    seconds = []

    def by(*words, **how):
        ended = execute("run", *words, **how)
        seconds.append(ended.processor_seconds)
        return ended

    done = run(model, options, by=by)
    assert done.completed, done.reason
    return done, sum(seconds)


class FarTimes(Kinds, unittest.TestCase):
    """8.9: as accurate and as cheap at Unix time as at 0."""

    def check(self, options, allowed):
        known = None
        for start in STARTS:
            with self.subTest(options=options, start=start):
                model = shifted(swing(), start)
                done, seconds = timed(model, options)
                worst = errors(model, done.results, exact=lambda time, start=start: exact_outputs(
                    shifted(swing(), 0.0), time - start, pieces=1)).max()
                work = done.results.subsystems["rhs_evaluations"].sum()
                rows = len(done.results.time)
                known = known or (work, seconds, rows)
                print(f"{options} from {start:g}: error {worst:.1e}, {work} right-hand sides, "
                      f"{seconds / known[1]:.2f} times the processor time, {rows} rows")
                self.assertLess(worst, allowed)
                self.assertLess(work, 1.3 * known[0] + 50)
                self.assertLess(seconds, 6 * known[1])
                self.assertLess(abs(rows - known[2]), 0.1 * known[2])

    def test_fixed_steps(self):
        for method in ("jfm", "missiles"):
            self.check(f"-cosim_type {method} -cosim_step 0.001", 3e-6)

    def test_control(self):
        for method in ("jfm", "missiles"):
            self.check(f"-cosim_type {method} -cosim_step 0.5 -cosim_adapt predictor", 3e-5)

    def test_linear_subsystems_keep_their_matrices(self):
        """Affine subsystems on steps of one size: never a second exponential, wherever they start."""
        count = 24
        states = {f"x{i}": 1.0 / (1 + i) for i in range(count)}
        parts = [Subsystem(name, dict(states), {f"x{i}": f"-{0.1 * (i + 1)!r}*x{i} + 0.05*u"
                                                for i in range(count)}, {"y": "x0 + x3"}, {"u": 0.0})
                 for name in ("a", "b")]
        model = Model(parts, [("a.y", "b.u"), ("b.y", "a.u")], stop=1.0)
        options = "-cosim_type missiles -subsystem_integrator erk -cosim_step 1e-4"
        times = [min(timed(shifted(model, start), options)[1] for _ in range(3))
                 for start in STARTS]
        print("processor times beside start 0:", np.array(times) / times[0])
        self.assertLess(times[2], 2 * times[0])


if __name__ == "__main__":
    unittest.main()
