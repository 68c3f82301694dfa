"""Subsystems `table`: interpolation, what is beyond the rows, jumps, against closed forms."""
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

from concord_runs import TIGHT, execute, run_here, simulate

MODEL = """
experiment: {{stop: {stop}}}
subsystems:
  road: {{table: {{file: rows.csv, {table}}}}}
  sum:
    equations: {{inputs: {{u: 0}}, states: {{x: 0}}, derivatives: {{x: u}}, outputs: {{x: x}}}}
connections: [road.z -> sum.u]
"""


def akima(t, z, at):
    """Akima's curve (1970) and its integral from t[0], row by row: lines extended at both ends."""
    m = np.diff(z) / np.diff(t)
    m = np.concatenate(([3 * m[0] - 2 * m[1], 2 * m[0] - m[1]], m,
                        [2 * m[-1] - m[-2], 3 * m[-1] - 2 * m[-2]]))
    turn = np.abs(np.diff(m))
    w = turn[2:] + turn[:-2]
    slope = np.where(w > 0, (turn[2:] * m[1:-2] + turn[:-2] * m[2:-1]) / np.where(w > 0, w, 1.0),
                     0.5 * (m[1:-2] + m[2:-1]))
    values, integrals = [], []
    for x in at:
        k = min(int(np.searchsorted(t, x, side="right")) - 1, len(t) - 2)
        pieces = []
        for j in range(k + 1):
            h = t[j + 1] - t[j]
            # Power basis from the four conditions of the piece.
            conditions = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, h, h**2, h**3],
                                   [0, 1, 2 * h, 3 * h**2]])
            pieces.append(np.linalg.solve(conditions, [z[j], slope[j], z[j + 1], slope[j + 1]]))
        powers = np.arange(4)
        values.append(pieces[k] @ (x - t[k]) ** powers)
        integrals.append(sum(
            (c / (powers + 1)) @ (min(x, t[j + 1]) - t[j]) ** (powers + 1.0)
            for j, c in enumerate(pieces)))
    return np.array(values), np.array(integrals)


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def model(self, rows, table="", stop=2.0):
        header = "t,z\n" if not isinstance(rows, str) else ""
        text = rows if isinstance(rows, str) else "".join(f"{t!r},{z!r}\n" for t, z in rows)
        (self.folder / "rows.csv").write_text(header + text, encoding="utf-8")
        path = self.folder / "model.yaml"
        path.write_text(MODEL.format(table=table, stop=stop), encoding="utf-8")
        return path

    def run_model(self, rows, table="", stop=2.0, method="jfm", step="0.1", ranks=1):
        return simulate(self.model(rows, table, stop), "-cosim_type", method, "-cosim_step", step,
                        *TIGHT, ranks=ranks)


class Repeated(Tables):
    """A saw with a jump at each seam, into an integral: exact by hand."""

    def test_a_stop_at_a_seam(self):
        for period, stop in ((1.0, 2.0), (0.1, 0.7), (0.3, 0.9), (0.25, 2.0)):
            rows = [(0.0, 0.0), (period, 1.0)]
            for method, *options in (("jfm",), ("missiles",), ("jacobi", "-cosim_hold_order", 1, "-cosim_step", 0.05)):
                with self.subTest(period=period, method=method):
                    run = simulate(self.model(rows, "after: repeat", stop), "-cosim_type", method,
                                   *options)
                    self.assertAlmostEqual(run.outputs["sum.x"][-1], 0.5 * stop, delta=1e-4)

    def test_kinks_without_number_are_refused(self):
        run = execute("check", self.model([(0.0, 0.0), (1e-3, 1.0)], "after: repeat", 3e6))
        self.assertEqual(run.returncode, 2)
        for word in ("model.yaml:", "subsystem 'road'", "3000000000 kinks", "mod(t, period)"):
            self.assertIn(word, run.stderr)


class Integrals(Tables):
    LINES = [(0.0, 0.0), (0.33, 1.0), (0.71, -2.0), (0.71, 3.0), (1.5, 3.0), (1.9, 0.5)]

    def exact(self, t):
        """Integral of LINES up to t, held after the last row."""
        times = np.array([row[0] for row in self.LINES] + [10.0])
        values = np.array([row[1] for row in self.LINES] + [self.LINES[-1][1]])
        total = 0.0
        for k in range(len(times) - 1):
            begin, end = times[k], min(times[k + 1], t)
            if end <= begin:
                continue
            slope = (values[k + 1] - values[k]) / (times[k + 1] - times[k])
            total += (end - begin) * (values[k] + 0.5 * slope * (end - begin))
        return total

    def test_lines_with_kinks_and_a_jump_off_the_grid(self):
        for method, bound in (("jfm", 1e-9), ("missiles", 1e-9), ("monolithic", 1e-9),
                              ("ifosmondi", 1e-9)):
            for ranks in (1, 2) if method == "jfm" else (1,):
                with self.subTest(method=method, ranks=ranks):
                    results = self.run_model(self.LINES, method=method, ranks=ranks)
                    exact = np.array([self.exact(t) for t in results.time])
                    self.assertLess(np.abs(results.outputs["sum.x"] - exact).max(), bound)
                    for event in (0.33, 0.71, 1.5, 1.9):
                        self.assertIn(event, results.time)

    def test_steps(self):
        rows = [(0.0, 1.0), (0.25, -1.0), (0.85, 4.0), (1.6, 0.0)]
        for method in ("jfm", "missiles", "jacobi"):
            with self.subTest(method):
                results = self.run_model(rows, "interpolation: step", method=method)
                t = results.time
                exact = (np.minimum(t, 0.25) - np.clip(t - 0.25, 0.0, 0.6) +
                         4.0 * np.clip(t - 0.85, 0.0, 0.75))
                self.assertLess(np.abs(results.outputs["sum.x"] - exact).max(), 1e-9)

    def test_kinks_and_jumps_at_the_ends(self):
        """At the start and the stop of the experiment: nothing of what follows is integrated."""
        for table, rows, exact in (
                ("interpolation: step", [(0.0, 1.0), (2.0, 100.0)], 2.0),
                ("", [(-1.0, 0.0), (0.0, 5.0), (0.0, 1.0), (2.0, 3.0), (2.0, -50.0)], 4.0),
                ("interpolation: cubic", [(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)], 8.0 / 3.0)):
            for method in ("jfm", "missiles", "monolithic"):
                with self.subTest(table, method=method):
                    results = self.run_model(rows, table, method=method, step="0.25")
                    self.assertLess(abs(results.outputs["sum.x"][-1] - exact), 1e-9)

    def test_akima(self):
        t = np.array([0.0, 0.3, 0.5, 0.9, 1.2, 1.45, 1.8, 2.0])
        z = np.array([0.0, 1.0, 0.2, 0.2, 0.2, 3.0, -1.0, 0.0])
        results = self.run_model(list(zip(t.tolist(), z.tolist())), "interpolation: cubic",
                                 step="0.01")
        values, integrals = akima(t, z, results.time)
        inside = results.time < 2.0
        self.assertLess(np.abs(results.outputs["road.z"] - values)[inside].max(), 1e-11)
        self.assertLess(np.abs(results.outputs["sum.x"] - integrals).max(), 1e-7)

    PULSE = [(0.0, 0.0), (0.0, 2.0), (0.01, 2.0), (0.01, 0.0), (1.0, 0.0)]
    METHODS = ("jfm", "missiles", "jacobi", "monolithic")

    def test_a_shifted_pulse_has_its_area(self):
        """Sums of times round to either side of the rows."""
        for method in self.METHODS:
            for shift in (0.1, 0.3, 0.7):
                with self.subTest(method=method, shift=shift):
                    results = self.run_model(self.PULSE, f"shift: {shift}", stop=1.0, method=method,
                                             step="5e-3")
                    self.assertLess(abs(results.outputs["sum.x"][-1] - 0.02), 1e-12)

    def test_repeated_pulses_have_their_areas(self):
        rows = [(0.0, 0.0), (0.1, 0.0), (0.1, 1.0), (0.2, 1.0), (0.2, 0.0), (0.3, 0.0)]
        for method in self.METHODS:
            with self.subTest(method):
                results = self.run_model(rows, "after: repeat", stop=9.0, method=method, step="0.05")
                self.assertLess(abs(results.outputs["sum.x"][-1] - 3.0), 1e-12)

    def test_repeated_beyond_the_model_s_own_stop(self):
        """A saw of period 0.4 until 3 s, where the model says 2."""
        model = self.model([(0.0, 0.0), (0.4, 1.0)], "after: repeat")
        results = simulate(model, "-cosim_type", "jfm", "-cosim_step", "0.1", "-cosim_stop", "3",
                           *TIGHT)
        whole, rest = np.divmod(results.time / 0.4 + 1e-12, 1.0)
        exact = 0.4 * (0.5 * whole + 0.5 * rest**2)
        self.assertLess(np.abs(results.outputs["sum.x"] - exact).max(), 1e-9)


class Rules(Tables):
    ROWS = [(0.5, 1.0), (1.0, 2.0)]

    def values(self, table, at, stop=2.0):
        results = self.run_model(self.ROWS, table, stop=stop)
        return np.interp(at, results.time, results.outputs["road.z"])

    def test_beyond_the_rows(self):
        at = np.array([0.2, 0.4, 0.75, 1.2, 1.9])
        for table, expected in (
                ("", [1.0, 1.0, 1.5, 2.0, 2.0]),
                ("before: linear, after: linear", [0.4, 0.8, 1.5, 2.4, 3.8]),
                ("before: repeat, after: repeat", [1.4, 1.8, 1.5, 1.4, 1.8])):
            with self.subTest(table):
                self.assertLess(np.abs(self.values(table, at) - expected).max(), 1e-9)

    def test_shift_and_other_columns(self):
        rows = "height;s;speed\n1;0;10\n3;1;20\n"
        results = self.run_model(
            rows, "time_column: s, shift: 0.5, outputs: {z: speed, height: height}, "
                  "units: {height: mm}")
        t = results.time
        self.assertLess(np.abs(results.outputs["road.z"] -
                               (10.0 + 10.0 * np.clip(t - 0.5, 0.0, 1.0))).max(), 1e-12)
        unit = results.outputs.units[results.outputs.names.index("road.height")]
        self.assertEqual(unit, "mm")

    def test_time_in_another_unit(self):
        results = self.run_model("t,z\n0,1\n0.5,3\n0.5,7\n1,7\n", "time_unit: min, shift: 6", stop=60.0)
        t = results.time
        self.assertLess(np.abs(results.outputs["road.z"] - np.where(t < 36, 1 + np.clip(t - 6, 0, None)/15, 7)).max(), 1e-12)
        np.testing.assert_allclose(results.event_times, [6, 36], atol=1e-12)


RECORDED = """
experiment: {stop: 2}
events: [0.37]
subsystems:
  source:
    equations:
      inputs: {u: 4}
      states: {x: 1}
      derivatives: {x: -x}
      outputs: {w: "t >= 0.37 ? 5 - t : 1 + t", slope: 3*t, same: u}
      units: {slope: mm, x: kg}
connections: [source.slope -> source.u]
"""


class Results(Tables):
    """Variables of a results file: what has been recorded, with its jumps."""

    def setUp(self):
        super().setUp()
        (self.folder / "recorded.yaml").write_text(RECORDED, encoding="utf-8")
        run = run_here(self.folder / "recorded.yaml", "-cosim_type", "jfm", "-cosim_step", "0.1",
                      "-cosim_output", self.folder / "run.h5", *TIGHT)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "run.h5", "r+") as file:
            row = int(np.argmin(np.abs(file["time"][:] - 0.37)))
            file["outputs/values"][row, 0] = 5 - 0.37  # right limits, as the format says

    def from_run(self, variable, table="", stop=2.0, file="run.h5"):
        path = self.folder / "model.yaml"
        path.write_text(MODEL.format(table=f"{table} outputs: {{z: '{variable}'}}", stop=stop)
                        .replace("rows.csv", file), encoding="utf-8")
        return path

    def test_a_jump_at_an_event_is_one(self):
        for method, ranks, left in (("jfm", 1, True), ("jfm", 2, True), ("missiles", 1, True),
                                    ("monolithic", 1, True), ("jfm", 1, False)):
            with self.subTest(method=method, ranks=ranks, left=left):
                if not left:  # limits that are not known are where the rows before lead
                    with h5py.File(self.folder / "run.h5", "r+") as file:
                        file["events/outputs"][:] = np.nan
                results = simulate(self.from_run("source.w"), "-cosim_type", method, "-cosim_step",
                                   "0.25", *TIGHT, ranks=ranks)
                t = results.time
                self.assertIn(0.37, t)
                late = np.maximum(t - 0.37, 0.0)
                early = np.minimum(t, 0.37)
                exact = early + early**2 / 2 + 4.63 * late - late**2 / 2
                self.assertLess(np.abs(results.outputs["sum.x"] - exact).max(), 1e-9)

    def test_inputs_states_shift_and_units(self):
        for variable, table, exact in (("source.u", "shift: 0.5,", lambda t: 3 * np.maximum(t - 0.5, 0)),
                                       ("source.slope", "", lambda t: 3 * t)):
            results = simulate(self.from_run(variable, table), "-cosim_step", "0.25", *TIGHT)
            values = results.outputs["road.z"]
            self.assertLess(np.abs(values - exact(results.time)).max(), 1e-9)
        self.assertEqual(results.outputs.units[results.outputs.names.index("road.z")], "mm")

    def test_cubic_through_a_smooth_variable_beside_events(self):
        results = simulate(self.from_run("source.x", "interpolation: cubic,"), "-cosim_step", "0.01",
                           *TIGHT)
        self.assertLess(np.abs(results.outputs["road.z"] - np.exp(-results.time)).max(), 2e-4)
        unit = results.outputs.units[results.outputs.names.index("road.z")]
        self.assertEqual(unit, "kg")

    def test_a_run_that_goes_on_may_be_read(self):
        with h5py.File(self.folder / "run.h5", "r+") as file:
            file.attrs["status"] = "running"
        run = execute("check", self.from_run("source.w"))
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_what_is_wrong_is_named(self):
        (self.folder / "fake.h5").write_text("no")
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = 1.0
        for variable, table, file, told in (
                ("source.ww", "", "run.h5", "model.yaml:4: there is no variable 'source.ww' in "),
                ("source.ww", "", "run.h5", "the nearest names are source.w, "),
                ("source.w", "", "fake.h5", "fake.h5': it is not an HDF5 file"),
                ("source.w", "", "none.h5", "none.h5'; paths are relative"),
                ("source.w", "", "other.h5", "is not a Concord results file"),
                ("source.w", "time_column: s,", "run.h5", "'time_column' of "),
                ("source.w", "time_unit: h,", "run.h5", "is for CSV files"),
                ("source.w", "interpolation: cubic,", "run.h5", "a cubic has none")):
            with self.subTest(told):
                run = execute("check", self.from_run(variable, table, file=file))
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(told, run.stderr)


class Errors(Tables):
    def refused(self, told, rows, table="", code=2):
        for ranks in (1, 2):
            run = run_here(self.model(rows, table), ranks=ranks)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
            self.assertIn(told, run.stderr)

    def test_what_is_wrong_is_named(self):
        rows = [(0.0, 1.0), (1.0, 2.0)]
        self.refused("must be one of linear, cubic, step, not 'spline'", rows,
                     "interpolation: spline")
        self.refused("names no column of the table: 'y'", rows, "outputs: {z: y}")
        self.refused("comes before that of the row above", [(1.0, 1.0), (0.5, 2.0)])
        self.refused("a cubic has none", [(0.0, 1.0), (1.0, 2.0), (1.0, 3.0)],
                     "interpolation: cubic")
        self.refused("has no column 'time'", rows, "time_column: time")
        self.refused("must be a unit of time: ms, s, min, h, d; not 'm'", rows, "time_unit: m")
        self.refused("has no values at t = ", rows, "after: error", code=1)
        model = self.model(rows)
        run = run_here(model, "--set", "road.z=1")
        self.assertEqual(run.returncode, 2)
        self.assertIn("a table has no parameters", run.stderr)


if __name__ == "__main__":
    unittest.main()
