"""Jumps of FMUs that tell of no events: found, counted, and no polynomial leads through them."""
import math
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from concord_runs import Results, execute, in_short, simulate
from fmu_runs import FmuTest

HALF = 0.737  # s, half a period of the square wave
MODEL = """
experiment: {start: 0, stop: 6}
subsystems:
  source: {fmu: square.fmu}
  lag:
    equations:
      inputs: {u: 0, s: 0}
      states: {x: 0, i: 0}
      derivatives: {x: u - x, i: s}
      outputs: {x: x, i: i}
connections: [source.wave -> lag.u, source.saw -> lag.s, lag.x -> source.u]
"""
SMOOTH = """
experiment: {start: 0, stop: 6}
subsystems:
  it: {fmu: FMU.fmu}
  drive:
    equations:
      inputs: {y: 0}
      states: {z: 0, w: 0}
      derivatives: {z: w, w: -25*z - 0.1*w + 0.3*y}
      outputs: {u: U}
connections: [it.OUT -> drive.y, drive.u -> it.IN]
"""
LOOP = """
experiment: {start: 0, stop: 4}
subsystems:
  it: {fmu: PART.fmu}
  lag:
    equations:
      inputs: {u: 0}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: 4*(u - x) - 2*v}
      outputs: {x: x}
connections: [it.OUT -> lag.u, lag.x -> it.u]
"""
SAMPLED = """
experiment: {start: 0, stop: 6}
subsystems:
  it: {fmu: follow.fmu}
  source:
    equations:
      inputs: {y: 0, n: 0, m: 0}
      discrete: {k: 0}
      states: {z: 0}
      derivatives: {z: y - z + n - m}
      when: [{every: 0.4, set: {k: k + 1}}]
      outputs: {z: z, u: U}
connections: [source.u -> it.u, LINK]
"""
BLACK_BOXES = (dict(kinds=("cs",), capabilities=("state", "variable")),
               dict(kinds=("cs",), capabilities=("state", "variable", "interpolate")),
               dict(kinds=("cs",), capabilities=("state", "variable", "slopes", "interpolate")),
               dict(kinds=("me",), capabilities=("state",)))
JUMPS = int(6 / HALF)
STIFF = ("left", "right")


def lag_of_square_wave(stop):
    x, t, k = 0.0, 0.0, 0
    while t < stop:
        end, u = min(t + HALF, stop), 1 - 2 * (k % 2)
        x, t, k = u + (x - u) * math.exp(t - end), end, k + 1
    return x


class Jumps(FmuTest):
    def run_model(self, how, *options, ranks=1):
        """What the lag's inputs went through, its error, and how many jumps were found."""
        self.build("square", 2, **how)
        path = self.folder / "model.yaml"
        path.write_text(MODEL)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.h5"
            run = execute("run", path, *options, "-cosim_output", out, "-cosim_record",
                          "outputs,inputs,polynomials", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(out) as file:
                time, found = file["time"][:], file.attrs["black_box_jumps"]
                names = [name.decode() for name in file["inputs/names"][:]]
                polynomials = file["inputs/polynomials"][:]
                x = file["outputs/values"][:, [name.decode() for name in
                                               file["outputs/names"][:]].index("lag.x")]
        if found:
            self.assertIn(f"{found} jumps found in black boxes", run.stdout)
        parts = np.linspace(0, 1, 21)[:, None] * np.diff(time)
        ways = {name: sum(polynomials[:, i, p] * parts ** p for p in range(4))
                for i, name in enumerate(names)}
        error = max(abs(value - lag_of_square_wave(t)) for t, value in zip(time, x))
        return ways, error, found

    def test_no_overshoot(self):
        """Wherever in a macro-step the jumps lie, and whoever takes the slopes."""
        for how in BLACK_BOXES:
            for method in ("jfm", "ifosmondi"):
                for step in (0.1, 0.05, 0.01, 0.005):  # the last ends where one jumps
                    with self.subTest(how=how, method=method, step=step):
                        ways, error, found = self.run_model(how, "-cosim_type", method,
                                                            "-cosim_step", step)
                        self.assertLess(np.max(np.abs(ways["lag.u"])), 1 + 1e-6)
                        self.assertLess(np.max(ways["lag.s"]), HALF + 1e-6)
                        self.assertGreater(np.min(ways["lag.s"]), -1e-6)
                        self.assertLess(error, 1.2 * step)
                        self.assertEqual(found, 2 * JUMPS)

    def test_step_control(self):
        """No macro-step is short enough for a jump: the shortest leads over it and the next one
        begins anew, so that its instant is found and the run does not end there."""
        for how in (BLACK_BOXES[0], BLACK_BOXES[1], BLACK_BOXES[3]):
            for method in ((), ("-cosim_type", "jfm")):
                _, error, found = self.run_model(how, *method)
                self.assertLess(error, 1e-5)
                self.assertEqual(found, 2 * JUMPS)

    def test_ranks(self):
        options = ("-cosim_type", "jfm", "-cosim_step", 0.05)
        alone, _, found = self.run_model(BLACK_BOXES[0], *options)
        ways, _, found_by_two = self.run_model(BLACK_BOXES[0], *options, ranks=2)
        self.assertEqual(found_by_two, found)
        for name, way in alone.items():
            np.testing.assert_allclose(ways[name], way, atol=1e-12)

    def test_explicit(self):
        for order in (0, 1, 2):
            ways, error, found = self.run_model(BLACK_BOXES[1], "-cosim_type", "jacobi", "-cosim_step",
                                            0.01, "-cosim_hold", "extrapolate",
                                            "-cosim_hold_order", order)
            self.assertLess(np.max(np.abs(ways["lag.u"])), 1 + 1e-6)
            self.assertLess(error, 0.02)
            self.assertEqual(found > 0, order > 0)


class Switches(FmuTest):
    """By default: what switches by what comes back to it, what jumps right behind a jump."""

    def run_model(self, part, output, *options, code=0, **how):
        self.build(part, 2, **how)
        path = self.folder / "model.yaml"
        path.write_text(LOOP.replace("PART", part).replace("OUT", output))
        run = execute("run", path, *options, "-cosim_output", self.folder / "out.h5")
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return Results(self.folder / "out.h5", run)

    def test_relay(self):
        ends = [self.run_model("relay", "heat", **how).outputs["lag.x"][-1]
                for how in BLACK_BOXES[:3]]
        np.testing.assert_allclose(ends, ends[-1], atol=2e-3)

    def test_right_behind_a_jump(self):
        for how in BLACK_BOXES[:2]:
            for at, gap in ((1e-6, 1e-5), (1, 1e-3), (1, 1e-6), (1, 1e-9), (3.9999999, 10)):
                with self.subTest(how=how, at=at, gap=gap):
                    results = self.run_model("leaps", "y", defines=(f"AT={at}", f"GAP={gap}"), **how)
                    self.assertEqual(results.status, "completed")
                    self.assertGreater(results.outputs["it.y"][-1], 0.9)

    def test_no_solution_across_it(self):
        """Told with what helps, which does."""
        results = self.run_model("chop", "y", code=1, **BLACK_BOXES[0])
        self.assertIn("an output of a black box jumps", results.stderr)
        self.run_model("chop", "y", "-cosim_type", "jacobi", "-cosim_step", 1e-3,
                       "-cosim_halving", "none", **BLACK_BOXES[0])


class Stairs(FmuTest):
    """Of inputs that move in stairs, or of counts: no internal step of the FMU's own."""

    def test_sampled_inputs(self):
        for how in BLACK_BOXES[:2]:
            self.build("follow", 2, **how)
            for u in ("k", "sin(k)"):
                for link in ("it.y -> source.y", "it.n -> source.n", "it.m -> source.m"):
                    path = self.folder / "model.yaml"
                    path.write_text(SAMPLED.replace("U}", f"{u}}}").replace("LINK", link))
                    for options in ((), ("-cosim_step", 0.01)):
                        with self.subTest(how=how, u=u, link=link, options=options):
                            run = execute("run", path, *options, "-cosim_output",
                                          self.folder / "out.h5")
                            self.assertEqual(run.returncode, 0, run.stderr)
                            self.assertNotIn("stairs", run.stderr)


class Smooth(FmuTest):
    """Oscillations, from rest, coarse and fine: never taken for jumps (simulate refuses them)."""

    def test_oscillations(self):
        drives = {"square": ("x", "u", "sin(7*t)"), "left": ("x", "f", "2e4 + 1e3*z"),
                  "prey": ("amount", "predators", "1 + 0.5*sin(3*t) + z/10"),
                  "single": ("exact", "u", "t^6"), "right": ("x", "x_left", "1 - cos(5*t) + z/9")}
        for part, (out, into, u) in drives.items():
            for how in in_short(BLACK_BOXES[:3], 3, len(part)):
                self.build(part, 2, **how)
                path = self.folder / "model.yaml"
                path.write_text(SMOOTH.replace("FMU", part).replace("OUT", out).replace("IN", into)
                                .replace("U}", f"{u}}}"))
                for step in (0.3, 0.1, 0.03, 0.01) if part not in STIFF else (0.01, 0.003):
                    with self.subTest(part=part, how=how, step=step):
                        simulate(path, "-cosim_type", "jfm", "-cosim_step", step,
                                 "-cosim_record_variables", f"it.{out},drive.*",
                                 "-cosim_diverged", "warn", jumps=part == "square")


if __name__ == "__main__":
    unittest.main()
