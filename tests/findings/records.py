"""Findings 1.9, 1.11, 1.13: what is recorded, counted and compared is what was accepted."""
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import LOTKA_VOLTERRA, TWO_MASS, Results, execute, run_here
from equation_models import Model, Subsystem
from kinds import Kinds, run


def blow_up(start, size=1.0):
    """x' = x^2/size: leaves every bound at t = 1/start."""
    return Model(
        [Subsystem("left", {"x": start * size}, {"x": f"x*x/{size!r} + 0*f"}, {"x": "x", "twice":
                                                                              "2*x"}, {"f": 0.0}),
         Subsystem("right", {"z": size}, {"z": "u - z"}, {"z": "z"}, {"u": size})],
        [("left.x", "right.u"), ("right.z", "left.f")], stop=5.0)


class FailedRuns(Kinds, unittest.TestCase):
    """1.9: the last row of a run that fails holds accepted values only."""

    def check(self, model, *options):
        done = run(model, *options)
        self.assertEqual(done.code, 1, done.reason or "completed")
        states, outputs = done.results.states, done.results.outputs
        np.testing.assert_array_equal(outputs["left.x"], states["left.x"])
        np.testing.assert_array_equal(outputs["left.twice"], 2 * states["left.x"])
        np.testing.assert_array_equal(outputs["right.z"], states["right.z"])
        self.assertTrue((np.diff(done.results.time) > 0).all())
        size, start = model.subsystems[1].states["z"], model.subsystems[0].states["x"]
        exact = start / (1 - start / size * done.results.time)
        near = done.results.time * start / size < 0.9
        np.testing.assert_allclose(states["left.x"][near], exact[near], rtol=1e-2)

    def test_recorded_rarely(self):
        for start, size in ((1.0, 1.0), (0.7, 1.0), (1.3, 1e-9)):
            for every in (1, 7, 100):
                for method in ("jfm", "ifosmondi", "missiles", "jacobi"):
                    with self.subTest(start=start, size=size, every=every, method=method):
                        self.check(blow_up(start, size), f"-cosim_type {method}",
                                   f"-cosim_record_every {every}")

    def test_step_control(self):
        for options in ("-cosim_adapt iteration", "-cosim_adapt predictor -cosim_step 0.1"):
            with self.subTest(options=options):
                self.check(blow_up(0.8), "-cosim_type jfm -cosim_record_every 50", options)


class Counts(Kinds, unittest.TestCase):
    """1.11: rejected attempts are counted."""

    def check(self, model, *options):
        done = run(model, *options)
        self.assertTrue(done.completed, done.reason)
        counted = done.results.steps["coupling_evaluations"].sum()
        advances = done.results.subsystems["advances"]
        rejected = done.results.steps["rejections"].sum()
        print(*options, f"{counted} counted, {advances} done, {rejected} rejections")
        self.assertGreater(rejected, 0)
        self.assertEqual(counted, advances.max())

    def test_rejections(self):
        pairs = LOTKA_VOLTERRA.read_text(encoding="utf-8"), TWO_MASS.read_text(encoding="utf-8")
        for k, text in enumerate(pairs):
            for options in ("-cosim_type jfm -cosim_adapt predictor "
                            "-cosim_adapt_rtol 1e-4",
                            "-cosim_type ifosmondi -cosim_adapt iteration -cosim_step 0.5 "
                            "-cosim_max_it 6"):
                with self.subTest(model=k, options=options):
                    self.check(text, options)


class Compare(unittest.TestCase):
    """1.13: two exact runs on different grids differ by nothing, also at events."""

    MODEL = """
name: relay
experiment: {{start: {start!r}, stop: {stop!r}}}
events: [{event!r}]
subsystems:
  a:
    equations:
      states: {{x: 0}}
      derivatives: {{x: "t >= {event!r} ? 1 - x : -2*x + 1"}}
      outputs: {{x: x, force: "t >= {event!r} ? {size!r}*5 : -{size!r}"}}
  b:
    equations:
      inputs: {{u: 0}}
      states: {{z: 0}}
      derivatives: {{z: u - z}}
      outputs: {{z: z}}
connections: [a.x -> b.u]
"""

    def compare(self, options, **values):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "relay.yaml"
            model.write_text(self.MODEL.format(**values), encoding="utf-8")
            files = []
            for k, choice in enumerate(options):
                files.append(Path(folder) / f"{k}.h5")
                done = run_here(model, "-subsystem_rtol", "1e-12", *choice.split(),
                               "-cosim_output", files[-1])
                self.assertEqual(done.returncode, 0, done.stderr)
                Results(files[-1], done)
            done = execute("compare", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stdout)
        return done.stdout

    def test_events(self):
        for event, size, start in ((0.5, 1.0, 0.0), (0.3137, 1e-9, 0.0), (10.25, 1e6, 10.0)):
            with self.subTest(event=event, size=size):
                text = self.compare(("-cosim_step 0.01", "-cosim_step 0.007"), event=event,
                                    size=size, start=start, stop=start + 1)
                rows = [line.split() for line in text.splitlines() if line.startswith(("a.", "b."))]
                self.assertEqual(len(rows), 4, text)
                for row in rows:  # name, perhaps a unit, then the relative L2 norm
                    relative = next(float(word) for word in row[1:] if word[0].isdigit())
                    self.assertLess(relative, 1e-5, row[0])


if __name__ == "__main__":
    unittest.main()
