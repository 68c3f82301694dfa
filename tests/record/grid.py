"""Rows at the user's times: as exact as the integrators, beside macro-steps that don't know of them."""
import unittest

import h5py
import numpy as np
from concord_runs import (ALGEBRAIC_LOOP, EXAMPLES, LOTKA_VOLTERRA, OPTIONS, TWO_MASS, ModelTest, execute, in_short,
                          run_here)
from fmu_runs import PAIR, build_parts, model_text

BALL, THERMOSTAT, CONTROLLER, RODS = (
    EXAMPLES / name / f"{name}.yaml"
    for name in ("bouncing_ball", "thermostat", "sampled_control", "linked_rods"))

# x' = a(t) - k x with a cubic signal: every hold that reproduces its degree gives no error of its
# own, so that what is left is that of the integrator.
DRIVEN = """experiment: {{start: 0, stop: 2}}
subsystems:
  source: {{equations: {{states: {{s: 1}}, derivatives: {{s: {slope}}}, outputs: {{s: s}}}}}}
  swing:
    equations:
      inputs: {{u: 1}}
      states: {{x: 1, v: 0}}
      derivatives: {{x: v, v: u - 4*x}}
      outputs: {{x: x, twice: 2*x + t}}
  stiff:
    equations: {{inputs: {{u: 1}}, states: {{z: 1}}, derivatives: {{z: "1e4*(u - z)"}}, outputs: {{z: z}}}}
connections: [source.s -> swing.u, source.s -> stiff.u]
"""
SIGNALS = {0: ("0", [1.0]), 1: ("0.3", [1.0, 0.3]), 3: ("0.3 - t + 0.9*t*t", [1.0, 0.3, -0.5, 0.3])}


def swing(t, c):
    """x'' = p(t) - 4 x, x(0) = 1, x'(0) = 0, with the polynomial p."""
    c = np.array([*c, *[0.0] * (4 - len(c))])
    particular = np.polynomial.Polynomial([(c[0] - c[2] / 2) / 4, (c[1] - 1.5 * c[3]) / 4, c[2] / 4,
                                           c[3] / 4])
    a, b = 1 - particular(0.0), -particular.deriv()(0.0) / 2
    return particular(t) + a * np.cos(2 * t) + b * np.sin(2 * t)


def stiff(t, c):
    """z' = 1e4 (p - z), z(0) = p(0)."""
    p = np.polynomial.Polynomial(c)
    slow = p - p.deriv() * 1e-4 + p.deriv(2) * 1e-8 - p.deriv(3) * 1e-12
    return slow(t) + (p(0.0) - slow(0.0)) * np.exp(-1e4 * t)


class GridTest(ModelTest):
    def simulated(self, model, *options, ranks=1, name="grid"):
        path = self.folder / f"{name}.h5"
        path.unlink(missing_ok=True)
        run = run_here(model, *options, "-cosim_output", path, ranks=ranks)
        self.assertEqual(run.returncode, 0, (options, run.stderr))
        with h5py.File(path) as file:
            data = {}
            file.visititems(lambda key, item: data.update({key: item[:]})
                            if isinstance(item, h5py.Dataset) else None)
        return data

    def column(self, data, name, kind="outputs"):
        names = [text.decode() for text in data[f"{kind}/names"]]
        return data[f"{kind}/values"][:, names.index(name)]


class Exact(GridTest):
    RTOL = 1e-8

    def check(self, degree, *options, ranks=1):
        with self.subTest(degree=degree, options=options, ranks=ranks):
            slope, c = SIGNALS[degree]
            model = self.model(DRIVEN.format(slope=slope))
            data = self.simulated(model, *options, "-cosim_output_interval", 0.0437, ranks=ranks)
            t = data["time"]
            np.testing.assert_allclose(t[:-1], 0.0437 * np.arange(46), rtol=0, atol=1e-15)
            self.assertEqual(t[-1], 2.0)
            bound = 10 * self.RTOL
            for name, exact in (("swing.x", swing(t, c)), ("swing.twice", 2 * swing(t, c) + t),
                                ("stiff.z", stiff(t, c))):
                error = np.max(np.abs(self.column(data, name) - exact)) / np.max(np.abs(exact))
                self.assertLess(error, bound, name)
            u = self.column(data, "swing.u", "inputs")
            self.assertLess(np.max(np.abs(u - np.polynomial.Polynomial(c)(t))), bound)
            np.testing.assert_array_equal(self.column(data, "swing.x"),
                                          self.column(data, "swing.x", "states"))
            self.assertEqual(len(data["steps/time"]), len(data["steps/size"]))
            np.testing.assert_allclose(np.cumsum(data["steps/size"]), data["steps/time"],
                                       rtol=1e-13)
            return data

    def test_holds(self):
        for hold, degree, others in (
                ("zoh", 0, ("-cosim_type", "jacobi")), ("zoh", 0, ("-cosim_type", "jfm")),
                ("foh", 1, ("-cosim_type", "jfm")), ("hermite", 3, ("-cosim_type", "jfm")),
                ("hermite", 3, ("-cosim_type", "missiles")),
                ("extrapolate", 1, ("-cosim_type", "jacobi", "-cosim_hold_order", 1)),
                ("extrapolate", 1, ("-cosim_type", "gauss_seidel", "-cosim_hold_order", 1))):
            self.check(degree, *others, "-cosim_hold", hold, "-cosim_step", 0.1)

    def test_at_nodes(self):
        """Of states that only the coupling has integrated, and that begin at 0."""
        slope, c = SIGNALS[3]
        model = self.model(DRIVEN.format(slope=slope).replace("states: {z: 1}", "states: {z: 0}"))
        for method in ("gauss", "radau"):
            data = self.simulated(model, "-cosim_type", method, "-cosim_accuracy", 1e-7, "-cosim_output_interval", 0.0437)
            t = data["time"]
            for name, exact in (("swing.x", swing(t, c)), ("stiff.z", stiff(t, c) - np.exp(-1e4 * t))):
                error = np.max(np.abs(self.column(data, name) - exact)) / np.max(np.abs(exact))
                self.assertLess(error, 2e-7, (method, name))

    def test_macro_steps_are_those_without_a_grid(self):
        """Also where the accuracy alone decides how large they may be."""
        model = self.model("experiment: {stop: 60}\nsubsystems:\n  wind: {equations: {states: {x: 1}, "
                           "derivatives: {x: -x/9}, outputs: {x: x}}}\n  mast: {equations: {inputs: "
                           "{x: 0}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}}\n"
                           "connections: [wind.x -> mast.x]\n")
        for options in ((), ("-cosim_type", "missiles"), ("-cosim_accuracy", 1e-6)):
            plain = self.simulated(model, *options)
            gridded = self.simulated(model, *options, "-cosim_output_interval", 0.7)
            np.testing.assert_array_equal(gridded["steps/size"], plain["steps/size"])

    def test_integrators(self):
        for kind in ("auto", "erk", "dirk", "cvode_bdf", "cvode_adams"):
            if kind == "erk":
                self.check(3, "-subsystem_swing_integrator", kind, "-cosim_step", 0.1)
            elif kind == "cvode_adams":
                self.check(3, "-subsystem_swing_integrator", kind, "-cosim_step", 0.25)
            else:
                self.check(3, "-subsystem_integrator", kind, "-cosim_step", 0.1)

    def test_solves(self):
        self.check(3, "-cosim_type", "monolithic", "-cosim_step", 0.5, "-subsystem_rtol", 1e-9)
        self.check(3, "-cosim_type", "ifosmondi", "-cosim_step", 0.1)
        self.check(3, "-cosim_adapt", "predictor")
        self.check(1, "-cosim_type", "jacobi", "-cosim_adapt", "richardson", "-cosim_hold_order", 1,
                   "-cosim_adapt_rtol", 1e-6)
        self.check(3, "-cosim_step", 2.0)

    def test_ranks(self):
        for options in (("-cosim_step", 0.1), ("-cosim_type", "missiles", "-cosim_step", 0.1),
                        ("-cosim_type", "monolithic", "-cosim_step", 0.1)):
            one = self.check(3, *options)
            for ranks in (2, 3):
                other = self.check(3, *options, ranks=ranks)
                for name in ("time", "outputs/values", "inputs/values", "states/values"):
                    self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    def test_what_subsystems_were_given(self):
        """x' = v on rows far apart from communication points, whatever was put on top of holds."""
        for name in ("jacobi_balance", "jacobi_balance_smooth", "staggered_grid", "extripol"):
            data = self.simulated(TWO_MASS, "-options_file", OPTIONS / f"{name}.opts",
                                  "-cosim_step", 1e-2, "-cosim_stop", 0.1,
                                  "-cosim_output_interval", 1e-4, "-cosim_diverged", "warn")
            t = data["time"]
            x, v = (self.column(data, f"left.{state}", "states") for state in "xv")
            trapezium = np.diff(t) / 2 * (v[1:] + v[:-1])
            self.assertEqual(len(t), 1001)
            self.assertLess(np.max(np.abs(np.diff(x) - trapezium)), 1e-5 * np.ptp(x), name)

    def test_times(self):
        """A file of times, at communication points and between them."""
        for text in ("0.1\n0.123\n0.5\n", "t;x\n0.1;1\n0.123;2\n0.5;3\n",
                     "# wanted\n0.1\n\n0.123 # here\n0.5\n9\n"):
            (self.folder / "times.csv").write_text(text)
            slope, c = SIGNALS[3]
            data = self.simulated(self.model(DRIVEN.format(slope=slope)), "-cosim_step", 0.1,
                                  "-cosim_output_times", self.folder / "times.csv")
            np.testing.assert_allclose(data["time"], [0, 0.1, 0.123, 0.5, 2], rtol=1e-15)
            error = np.max(np.abs(self.column(data, "swing.x") - swing(data["time"], c)))
            self.assertLess(error, 10 * self.RTOL)


class Untouched(GridTest):
    """Macro-steps, and rows at communication points, have the same bits."""

    NOT_THE_SAME = {"steps/wall_time", "events/left/outputs/derivatives",
                    "events/left/states/derivatives"}

    def same(self, model, *options, grid=("-cosim_output_interval", 7.3e-3), jumps=False):
        with self.subTest(model=model.name, options=options):
            with_grid = self.simulated(model, *options, *grid)
            without = self.simulated(model, *options)
            for name, values in without.items():
                if name.startswith(("steps/", "events/")) and name not in self.NOT_THE_SAME:
                    other = with_grid[name]
                    same = (values.tobytes() == other.tobytes() if values.dtype != object
                            else list(values) == list(other))
                    self.assertTrue(same, name)
            common, one, other = np.intersect1d(without["time"], with_grid["time"],
                                                return_indices=True)
            self.assertGreaterEqual(len(common), 2)
            for kind in ("outputs", "inputs", "states"):
                self.assertEqual(without[f"{kind}/values"][one].tobytes(),
                                 with_grid[f"{kind}/values"][other].tobytes(), kind)
            self.assertEqual(with_grid["subsystems/micro_steps"].tobytes(),
                             without["subsystems/micro_steps"].tobytes())

    def test_options_files(self):
        for path in in_short(sorted(OPTIONS.glob("*.opts")), 4, 1):
            self.same(TWO_MASS, "-options_file", path, "-cosim_step", 1e-3, "-cosim_stop", 0.2)

    def test_integrators(self):
        for kind in ("auto", "erk", "dirk", "cvode_bdf", "cvode_adams"):
            self.same(LOTKA_VOLTERRA, "-subsystem_integrator", kind, "-cosim_adapt", "predictor",
                      grid=("-cosim_output_interval", 0.073))

    def test_events_loops_and_constraints(self):
        for method in ("jfm", "jacobi", "missiles", "monolithic"):
            self.same(BALL, "-cosim_type", method, "-cosim_step", 0.01)
            self.same(THERMOSTAT, "-cosim_type", method, "-cosim_step", 0.01, "-cosim_stop", 30,
                      grid=("-cosim_output_interval", 0.237))
        self.same(ALGEBRAIC_LOOP, "-cosim_step", 0.02)
        self.same(RODS, "-cosim_step", 0.01)


class Events(GridTest):
    def test_right_limits_and_nothing_across(self):
        """A saw tooth: x' = 1, back to 0 at 1; rows beside the jumps are on the tooth's line."""
        model = self.model("""experiment: {start: 0, stop: 3.5}
subsystems:
  tooth:
    equations:
      states: {x: 0}
      derivatives: {x: 1}
      when: [{condition: x > 1, set: {x: 0}}]
      outputs: {x: x, square: x*x}
  sum: {equations: {inputs: {u: 0}, states: {s: 0}, derivatives: {s: u}, outputs: {s: s}}}
connections: [tooth.x -> sum.u]
""")
        for options in (("-cosim_type", "jfm"), ("-cosim_type", "jacobi", "-cosim_hold_order", 1),
                        ("-cosim_type", "missiles"), ("-cosim_type", "monolithic")):
            for ranks in (1, 2):
                data = self.simulated(model, *options, "-cosim_step", 0.3,
                                      "-cosim_output_interval", 0.07, ranks=ranks)
                t, x = data["time"], self.column(data, "tooth.x")
                events = data["events/time"]
                np.testing.assert_allclose(events, [1, 2, 3], atol=1e-7)
                np.testing.assert_allclose(t, 0.07 * np.arange(51), atol=1e-12)
                np.testing.assert_allclose(data["events/outputs"][:, 0], 1.0, atol=1e-7)
                for name, right in (("outputs/values", 0.0), ("states/values", 0.0),
                                    ("inputs/derivatives", 1.0)):
                    np.testing.assert_allclose(data[f"events/right/{name}"][:, 0], right, atol=1e-7)
                expected = t - np.concatenate([[0.0], events])[np.searchsorted(events, t, "right")]
                np.testing.assert_allclose(x, expected, atol=1e-8)
                np.testing.assert_allclose(self.column(data, "tooth.square"), expected ** 2,
                                           atol=1e-8)
                whole = np.searchsorted(events, t, "right") / 2 + expected ** 2 / 2
                if "jacobi" not in options:
                    np.testing.assert_allclose(self.column(data, "sum.s"), whole, atol=2e-7)

    def exported(self, path, *words):
        run = execute("export", path, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return np.genfromtxt(run.stdout.splitlines(), delimiter=",", names=True)

    def test_exported_rows(self):
        """All that a run without a grid has at events is there beside the grid, with the same bits."""
        plain, path = self.folder / "plain.h5", self.folder / "ball.h5"
        split = ("-cosim_record_split", 1e-5)
        for options in ((), ("-cosim_step", 0.2), split, ("-cosim_checkpoint", self.folder / "c", *split)):
            for file, grid in ((plain, ()), (path, ("-cosim_output_interval", 0.05))):
                run = run_here(BALL, "-cosim_output", file, *options, *grid)
                self.assertEqual(run.returncode, 0, run.stderr)
            found = {rows: self.exported(path, "--rows", rows) for rows in ("grid", "events", "all")}
            np.testing.assert_allclose(found["grid"]["time"], 0.05 * np.arange(61), atol=1e-12)
            for words in ((), ("--events", "right")):
                np.testing.assert_array_equal(self.exported(path, *words), found["grid"])
            of_plain = self.exported(plain, "--rows", "events")
            self.assertGreater(len(of_plain), 4)
            np.testing.assert_array_equal(found["events"], of_plain)
            together = np.sort(np.concatenate([found["grid"]["time"], of_plain["time"]]))
            np.testing.assert_array_equal(found["all"]["time"], together)
            self.assertEqual(execute("compare", plain, path, "-v", "ball.h,ball.v", "--tolerance", 5e-3).returncode, 0)

    def test_an_event_on_the_grid(self):
        """One row; both lines where all, or events, are wanted."""
        model = self.model("experiment: {stop: 1}\nsubsystems:\n  clock: {equations: {discrete: {n: 0}, "
                           "when: [{every: 0.25, offset: 0.25, set: {n: pre(n) + 1}}], outputs: {n: n}}}\n")
        path = self.folder / "grid.h5"
        self.simulated(model, "-cosim_output_interval", 0.125)
        for rows, times, values in (("grid", np.arange(9) / 8, [0, 0, 1, 1, 2, 2, 3, 3, 4]),
                                    ("events", [.25, .25, .5, .5, .75, .75, 1, 1], [0, 1, 1, 2, 2, 3, 3, 4])):
            lines = self.exported(path, "--rows", rows)
            np.testing.assert_allclose(lines["time"], times)
            np.testing.assert_array_equal(lines["clockn"], values)
        self.assertEqual(len(self.exported(path, "--rows", "all")), 13)
        self.assertEqual(len(self.exported(path, "--events", "both")), 13)

    def test_refusals(self):
        path = self.folder / "plain.h5"
        self.assertEqual(run_here(BALL, "-cosim_output", path).returncode, 0)
        for words, said in ((("--rows", "grid"), "-cosim_output_interval"), (("--rows", "one"), "must be grid")):
            run = execute("export", path, *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)


class BlackBoxes(GridTest):
    def run_pair(self, kind, version, capabilities, *options):
        build_parts(self.folder, PAIR, version, kinds=(kind,), capabilities=capabilities)
        model = self.model(model_text(PAIR, 0.2))
        path = self.folder / "fmus.h5"
        grid = ("-cosim_output_interval", 7.3e-4, "-cosim_output", path)
        run = run_here(model, "-cosim_step", 2e-3, *options, *grid)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            return run.stdout, {name: file[name][:] for name in
                                ("time", "outputs/values", "steps/size", "outputs/names")}

    def test_rolled_back_and_interpolated(self):
        every = ("state", "serialize", "variable", "directional")
        for version in (2, 3):
            texts, found = {}, {}
            for name, kind, capabilities in (("me", "me", every), ("back", "cs", every),
                                             ("cubic", "cs", ("variable", "directional"))):
                texts[name], found[name] = self.run_pair(kind, version, capabilities,
                                                         "-cosim_type", "missiles")
            for name, bound in (("back", 1e-5), ("cubic", 1e-3)):
                scale = np.ptp(found["me"]["outputs/values"], axis=0)
                error = np.abs(found[name]["outputs/values"] - found["me"]["outputs/values"])
                self.assertLess(np.max(error / scale), bound, name)
            self.assertNotIn("interpolated", texts["me"] + texts["back"])
            self.assertIn("rows interpolated", texts["cubic"])
            self.assertIn("'left'", texts["cubic"])


class Outside(GridTest):
    def test_times_are_told(self):
        times = self.folder / "times.csv"
        times.write_text("-1\n0.5\n2\n3\n")
        run = run_here(TWO_MASS, "-cosim_output_times", times, "-cosim_output", self.folder / "x.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("without effect        2 of the times of -cosim_output_times: outside the experiment",
                      run.stdout)


class Refusals(GridTest):
    def refused(self, words, *options):
        run = run_here(TWO_MASS, *options, "-cosim_output", self.folder / "x.h5")
        self.assertEqual(run.returncode, 2, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_values(self):
        times = self.folder / "times.csv"
        self.refused(["cosim_output_interval", "greater than"], "-cosim_output_interval", 0)
        self.refused(["cosim_output_interval", "too small"], "-cosim_output_interval", 1e-30)
        self.refused(["none.csv"], "-cosim_output_times", self.folder / "none.csv")
        for text, place in (("0.1\nnan\n", ":2:"), ("t\n0.1\n0.1\n", ":3:"), ("0.1\n\n-1\n", ":3:"),
                            ("t\n", "no times"), ("0.1\n0.2 0.3\n", ":2:")):
            times.write_text(text)
            self.refused([times.name, place], "-cosim_output_times", times)
        times.write_text("-2\n2.5\n7\n")
        self.refused(["-cosim_output_times", "all 3 times, from -2 to 7 s", "from 0 to 2 s"],
                     "-cosim_output_times", times)
        times.write_text("0.1\n")
        self.refused(["give one"], "-cosim_output_times", times, "-cosim_output_interval", 0.1)
        self.refused(["balance"], "-cosim_type", "jacobi", "-cosim_record", "outputs,balance",
                     "-cosim_output_interval", 0.1)

    def test_more_than_there_is_room_for(self):
        """Rows of one macro-step, which are in memory together: told before they are made, on any ranks."""
        for ranks in (1, 2):
            run = run_here(TWO_MASS, "-cosim_step", 0.5, "-cosim_output_interval", 1e-11, "-cosim_output",
                           self.folder / "x.h5", ranks=ranks)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(run.stderr.count("concord: error: "), 1)
            self.assertRegex(run.stderr, r"t = 0 s, macro-step 0\.5 s: 50000000000 rows in one macro-step are more than memory "
                             r"has room for \(\S+\); give a longer -cosim_output_interval, or a -cosim_step of at most")
            with h5py.File(self.folder / "x.h5") as file:
                self.assertEqual((file.attrs["status"], len(file["time"])), ("failed", 1))


if __name__ == "__main__":
    unittest.main()
