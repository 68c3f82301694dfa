"""concord.run and concord.read against the command."""
import concurrent.futures
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import concord
import numpy as np
import pandas
from concord_runs import EXAMPLES, TWO_MASS, execute

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"

FAILS = """name: fails
experiment: {start: 0, stop: 1}
subsystems:
  a:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: sqrt(0.55 - t) + 0*u}
      outputs: {x: x}
"""


class InFolder(unittest.TestCase):
    """Each test in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def refused(self, error, words, call, *arguments, **options):
        with self.assertRaises(error) as caught:
            call(*arguments, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))
        return caught.exception


class Run(InFolder):
    def test_has_the_bits_of_the_command(self):
        execute("run", BALL, "-cosim_type", "jfm", "-cosim_step", "1e-2", "--set", "ball.e=0.9",
                "-cosim_output", "command.h5")
        here = concord.run(BALL, cosim_type="jfm", cosim_step=1e-2, start_values={"ball.e": 0.9})
        command = concord.read("command.h5")
        self.assertEqual(here.keys(), command.keys())
        for name in ["time", *command]:
            np.testing.assert_array_equal(here[name], command[name], name)
        self.assertEqual(here.events, command.events)
        self.assertEqual(here.attribute("changes"), "ball.e=0.9")

    def test_leaves_no_files_and_says_nothing(self):
        code = (f"import concord; r = concord.run({str(TWO_MASS)!r}); "
                "assert r.path is None and r.status == 'completed'")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             check=True)
        self.assertEqual((run.stdout, run.stderr), ("", ""))
        self.assertEqual(os.listdir(), [])

    def test_writes_the_file_that_is_asked_for(self):
        r = concord.run(str(TWO_MASS), cosim_output=Path("here.h5"), cosim_stop=0.5,
                        cosim_record=["outputs", "states"])
        self.assertEqual((r.path, os.listdir()), ("here.h5", ["here.h5"]))
        self.assertEqual(r["time"][-1], 0.5)
        self.assertEqual(r.summary["status"], "completed")
        self.assertLess(len(r), len(concord.run(TWO_MASS)))

    def test_options_of_a_file_and_of_one_run_only(self):
        Path("few.opts").write_text("-cosim_step 0.25\n-cosim_type ifosmondi\n")
        coarse = concord.run(TWO_MASS, options_file="few.opts", cosim_type="missiles",
                             cosim_diverged="warn")
        self.assertEqual((len(coarse.steps["size"]), coarse.summary["method"]), (8, "missiles"))
        self.assertGreater(len(concord.run(TWO_MASS)["time"]), 20)

    def test_options_without_effect_are_told(self):
        with self.assertWarnsRegex(UserWarning, "ksp_rtol"):
            concord.run(TWO_MASS, cosim_type="monolithic", cosim_stop=0.1, ksp_rtol=1e-3)

    def test_progress_is_shown_by_tqdm(self):
        shown = []

        class Bar:
            def __init__(self, total, **_):
                self.total, self.n = total, 0.0
                shown.append(self)

            def update(self, more):
                self.n += more

            def close(self):
                pass

        tqdm = mock.Mock(tqdm=Bar)
        with mock.patch.dict(sys.modules, {"tqdm": mock.Mock(auto=tqdm), "tqdm.auto": tqdm}):
            concord.run(TWO_MASS, progress=True)
        self.assertEqual(len(shown), 1)
        self.assertAlmostEqual(shown[0].n, shown[0].total)

    def notebook(self, **attributes):
        """IPython as a front end sees it, and what it was given to show."""
        shown = []

        def display(what, display_id=False):
            shown.append(what._repr_html_())
            return mock.Mock(update=lambda again: shown.append(again._repr_html_()))

        ipython = mock.Mock(get_ipython=lambda: mock.Mock(spec=list(attributes), **attributes),
                            display=mock.Mock(display=display))
        return shown, mock.patch.dict(sys.modules, {"IPython": ipython, "tqdm": None})

    def test_progress_is_shown_in_a_notebook(self):
        shown, notebook = self.notebook(kernel=True)
        with notebook:
            concord.run(TWO_MASS, progress=True)
            self.assertIn("<progress value='1.0000'", shown[-1])
            self.assertIn("2 simulated of 2 s", shown[-1])
            shown.clear()
            with mock.patch("concord._progress._QUICK", 0.0):
                concord.run(TWO_MASS)
            self.assertIn("<progress value='1.0000'", shown[-1])
            shown.clear()
            concord.run(TWO_MASS, progress=False)
            with mock.patch("concord._progress._QUICK", 1e9):
                concord.run(TWO_MASS)
            self.assertEqual(shown, [])

    def test_no_progress_at_a_prompt(self):
        shown, prompt = self.notebook()
        with prompt, mock.patch("concord._progress._QUICK", 0.0):
            concord.run(TWO_MASS)
        self.assertEqual(shown, [])

    def test_time_limit_is_told(self):
        r = concord.run(TWO_MASS, cosim_stop=1e6, cosim_step=1e-4, cosim_time_limit=0.2,
                        cosim_record="none")
        self.assertEqual(r.status, "interrupted")
        self.assertIn("cosim_time_limit", r.reason)


class Results(InFolder):
    def setUp(self):
        super().setUp()
        self.r = concord.run(BALL, cosim_output="ball.h5")

    def same_as_exported(self, file, **chosen):
        words = [word for name, value in chosen.items() for word in (f"--{name}", value)]
        execute("export", file, *words, "-o", "ball.csv")
        csv = pandas.read_csv("ball.csv", index_col="time", float_precision="round_trip")
        frame = concord.read(file).to_pandas(**chosen)
        self.assertEqual(frame.attrs.pop("units")["ball.h"], "m")
        pandas.testing.assert_frame_equal(frame, csv, rtol=0, atol=0)
        return frame

    def test_pandas_has_what_export_has(self):
        for chosen in ({}, {"events": "both"}, {"events": "right"}, {"rows": "all"}, {"rows": "events"}):
            self.same_as_exported("ball.h5", **chosen)
        self.assertGreater(len(self.r.to_pandas()), len(self.r["time"]))
        with self.assertRaises(concord.InputError):
            self.r.to_pandas(rows="grid")

    def test_rows_on_a_grid(self):
        r = concord.run(BALL, cosim_output="grid.h5", cosim_output_interval=0.05)
        for events in ({}, {"events": "both"}, {"events": "right"}):
            for rows in ({}, {"rows": "grid"}, {"rows": "events"}, {"rows": "all"}):
                self.same_as_exported("grid.h5", **rows, **events)
        np.testing.assert_allclose(r["time"], 0.05 * np.arange(61), atol=1e-12)
        np.testing.assert_array_equal(r.to_pandas().index, r["time"])
        np.testing.assert_array_equal(r.to_xarray()["ball.h"].values, r["ball.h"])

    def test_xarray(self):
        data = self.r.to_xarray(["ball.h"])
        self.assertEqual((data["ball.h"].attrs["units"], data["time"].attrs["units"]), ("m", "s"))
        np.testing.assert_array_equal(data["ball.h"].values, self.r["ball.h"])
        self.assertAlmostEqual(float(data["ball.h"].sel(time=3.0)), self.r["ball.h"][-1], 15)
        self.assertEqual(len(self.r.to_xarray(events="both")["time"]), len(self.r.to_pandas()))

    def test_pickles(self):
        """With its data where the file was a temporary one, else by the file's path."""
        for r in (self.r, concord.run(BALL), pickle.loads(pickle.dumps(concord.run(BALL)))):
            again = pickle.loads(pickle.dumps(r))
            self.assertEqual((again.keys(), again.events, again.summary, again.status),
                             (r.keys(), r.events, r.summary, "completed"))
            np.testing.assert_array_equal(again["ball.h"], r["ball.h"])
        self.assertEqual(pickle.loads(pickle.dumps(self.r)).path, os.path.abspath("ball.h5"))
        with concurrent.futures.ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn")) as pool:
            there = pool.submit(concord.run, BALL, cosim_stop=0.5).result()
        self.assertEqual(there["time"][-1], 0.5)
        self.r.close()
        self.refused(concord.InputError, ["closed"], pickle.dumps, self.r)

    def test_html(self):
        """A page of well-formed HTML: status, estimate, a curve of each output with jumps at events."""
        text = self.r._repr_html_()
        page = ElementTree.fromstring(text)
        self.assertIn(f"{self.r.model}: completed", "".join(page.itertext()))
        self.assertIn(f"{self.r.attribute('error_estimate'):.2g} of the size", text)
        self.assertNotIn("#b00020", text)
        curves = {curve.get("aria-label"): curve[0].get("d") for curve in page.iter("svg")}
        self.assertLessEqual({"ball.h", "ball.v"}, set(curves))
        points = [[float(number) for number in pair.split()] for pair in re.split("[ML]", curves["ball.v"])[1:]]
        x, y = np.array(points).T
        self.assertTrue(0 <= x.min() and x.max() <= 320 and 0 <= y.min() and y.max() <= 36)
        bounces = np.array([event.time for event in self.r.events])
        jumps = x[1:][(np.diff(x) == 0) & (np.abs(np.diff(y)) > 1)]
        np.testing.assert_allclose(jumps, 320 * bounces / 3, atol=0.06)
        self.r.close()
        self.assertIsNone(self.r._repr_html_())

    def test_html_of_many_rows(self):
        r = concord.run(BALL, cosim_output_interval=1e-3)
        text = r._repr_html_()
        self.assertLess(len(text), 200e3)
        self.assertEqual(text.count("<svg"), min(len(r), 8))

    def test_what_is_wrong_is_said_first(self):
        """In HTML and in a line: an accuracy that is not reached, a run that has stopped early."""
        missed = concord.run(TWO_MASS, cosim_type="jacobi", cosim_accuracy=1e-6, cosim_step=1e-4, cosim_stop=0.1)
        self.assertIn("NOT REACHED", missed.attribute("accuracy"))
        self.assertIn("NOT REACHED", repr(missed))
        self.assertRegex(missed._repr_html_(), r"#b00020[^<]*>[^<]*NOT REACHED")
        late = concord.run(TWO_MASS, cosim_stop=1e6, cosim_step=1e-4, cosim_time_limit=0.2, cosim_record="none")
        self.assertRegex(late._repr_html_(), "#b00020[^<]*>interrupted")
        self.assertNotIn("NOT REACHED", repr(self.r))
        self.assertEqual(self.r.attribute("accuracy"), self.r.summary["quality"]["accuracy"])

    def test_what_is_absent_is_named(self):
        for module, call in (("xarray", self.r.to_xarray), ("pandas", self.r.to_pandas)):
            with mock.patch.dict(sys.modules, {module: None}):
                self.refused(ImportError, [f"needs {module}", f"python3-{module}"], call)

    def test_is_a_mapping(self):
        self.assertIn("ball.h", self.r)
        self.assertNotIn("ball.x", self.r)
        self.assertEqual(dict(self.r.units)["ball.v"], "m/s")
        self.assertEqual(len(self.r), len(list(self.r)))
        self.assertIn("bouncing ball: completed", repr(self.r))
        self.refused(KeyError, ["'ball.hh'", "did you mean 'ball.h'"], lambda: self.r["ball.hh"])
        self.refused(concord.InputError, ["ball.hh"], self.r.to_pandas, ["ball.hh"])
        self.assertEqual([subsystem for subsystem in self.r.subsystems["name"]], ["ball", "table"])

    def test_closed_and_wrong_files(self):
        with concord.read("ball.h5") as r:
            kept = r["ball.h"]
        self.assertEqual(len(kept), len(self.r["ball.h"]))
        self.refused(concord.InputError, ["closed"], lambda: r["ball.h"])
        self.refused(concord.InputError, ["no such file"], concord.read, "nothing.h5")
        Path("text.h5").write_text("no HDF5")
        self.refused(concord.InputError, ["cannot read 'text.h5'"], concord.read, "text.h5")


class Failures(InFolder):
    def test_wrong_input(self):
        Path("wrong.yaml").write_text("name: x\nexperiment: {stop: 1}\nsubsystems: {a: {equations: {statess: {x: 1}}}}\n")
        refused = self.refused
        wrong = concord.InputError
        refused(wrong, ["nothing.yaml"], concord.run, "nothing.yaml")
        refused(wrong, ["wrong.yaml:3", "statess"], concord.run, "wrong.yaml")
        refused(wrong, ["cosim_stepp", "did you mean"], concord.run, BALL, cosim_stepp=1)
        refused(wrong, ["start_value"], concord.run, BALL, start_value={"ball.e": 1})
        refused(wrong, ["cosim_step", "greater than zero"], concord.run, BALL, cosim_step=-1)
        refused(wrong, ["ball.q"], concord.run, BALL, start_values={"ball.q": 1})
        refused(wrong, ["cosim_output"], concord.run, BALL, cosim_output="-x.h5")
        refused(wrong, ["cosim_step"], concord.run, BALL, cosim_step={"a": 1})
        refused(wrong, ["where a model belongs"], concord.run, 3)
        refused(wrong, ["cosim_record_split"], concord.run, BALL, cosim_record_split=1)
        refused(ValueError, ["text.opts:1"], self._with_options, "hallo\n")
        self.assertEqual(concord.run(BALL, cosim_stop=0.1).status, "completed")

    def _with_options(self, text):
        Path("text.opts").write_text(text)
        concord.run(BALL, options_file="text.opts")

    def test_failed_run_keeps_its_results(self):
        Path("fails.yaml").write_text(FAILS)
        error = self.refused(RuntimeError, ["'a'", "t = 0.5"], concord.run, "fails.yaml",
                             cosim_step=0.1)
        self.assertIsInstance(error, concord.SimulationError)
        self.assertEqual(error.results.status, "failed")
        self.assertGreaterEqual(error.results["time"][-1], 0.5)
        self.assertEqual(os.listdir(), ["fails.yaml"])


if __name__ == "__main__":
    unittest.main()
