"""concord.sweep and concord.study: what the commands tell, as Python values."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import concord
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS
from patience import HANGS

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"


class Sweeps(unittest.TestCase):
    def test_failures_are_kept_apart(self):
        s = concord.sweep(BALL, {"ball.e": [0.5, "no_name", np.float64(0.9)]}, ranks=2,
                          results=["ball.h:last", "ball.h:max"], cosim_stop=1.0)
        self.assertEqual([run.parameters["ball.e"] for run in s], [0.5, "no_name", 0.9])
        self.assertEqual(([run.number for run in s.failed], s.failed[0].exit_code), ([2], 2))
        self.assertIn("no_name", s.failed[0].error)
        self.assertIn("1 of 3", s.message)
        frame = s.to_pandas()
        self.assertEqual(list(frame.columns), ["ball.e", "ball.h:last", "ball.h:max"])
        alone = concord.run(BALL, start_values={"ball.e": 0.9}, cosim_stop=1.0)
        self.assertEqual(frame.loc[3, "ball.h:last"], alone["ball.h"][-1])
        np.testing.assert_array_equal(s[2].read()["ball.h"], alone["ball.h"])

    def test_files_stay_where_they_are_asked_for_only(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.csv")
            s = concord.sweep(BALL, {"ball.e": "linspace(0.5, 0.9, 2)"}, output=path,
                              start_values={"table.omega": 2}, cosim_stop=0.5)
            again = concord.sweep(BALL, {"ball.e": "linspace(0.5, 0.9, 2)"}, output=path,
                                  start_values={"table.omega": 2}, cosim_stop=0.5, resume=True)
            self.assertEqual([run.wall_time for run in s], [run.wall_time for run in again])
            self.assertTrue(os.path.exists(s[1].file))
        temporary = concord.sweep(BALL, {"ball.e": [0.5]}, cosim_stop=0.1)
        folder = os.path.dirname(temporary.path)
        self.assertTrue(os.path.exists(folder))
        del temporary
        self.assertFalse(os.path.exists(folder))

    def test_wrong_calls(self):
        m = concord.ModelBuilder("m", stop=1).add("a", lambda t, x, u: x, states={"x": 1})
        cases = {"built in Python": lambda: concord.sweep(m, {"a.x": [1]}),
                 "ball.q": lambda: concord.sweep(BALL, {"ball.q": [1]}),
                 "nothing is varied": lambda: concord.sweep(BALL),
                 "nothing.yaml": lambda: concord.sweep("nothing.yaml", {"a.b": [1]}),
                 "cosim_stepp": lambda: concord.sweep(BALL, {"ball.e": [1]}, cosim_stepp=1)}
        for words, call in cases.items():
            with self.assertRaisesRegex(concord.InputError, words):
                call()
        with mock.patch.dict(os.environ, {"OMPI_COMM_WORLD_SIZE": "2"}):
            with self.assertRaisesRegex(concord.InputError, "without mpirun"):
                concord.sweep(BALL, {"ball.e": [1]})

    def test_one_rank_of_mpirun_starts_programs(self):
        """The simulation comes first, so that MPI has been started in this process."""
        script = (f"import concord; s = concord.Simulation({str(BALL)!r}, cosim_step=0.1); s.start(); "
                  f"print(concord.linearize({str(BALL)!r}).states)")
        done = subprocess.run(["mpirun", "-n", "1", sys.executable, "-c", script], capture_output=True, text=True,
                              check=False, timeout=HANGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ball.h", done.stdout)

    def test_a_launcher_that_fails_is_heard(self):
        """As mpirun as root, or with too few slots."""
        with tempfile.TemporaryDirectory() as folder:
            launcher = Path(folder, "mpirun")
            launcher.write_text("#!/bin/sh\necho '-----' >&2\necho 'no slots left' >&2\nexit 213\n",
                                encoding="utf-8")
            launcher.chmod(0o755)
            path = folder + os.pathsep + os.environ["PATH"]
            with mock.patch.dict(os.environ, {"PATH": path}):
                with self.assertRaisesRegex(concord.SimulationError, "code 213: no slots left$"):
                    concord.sweep(BALL, {"ball.e": [0.5, 0.9]}, ranks=2)

    def test_an_interrupt_ends_the_sweep(self):
        """It reaches Python alone, which passes it on; wherever the program is."""
        call = f"""
import sys
sys.modules["tqdm"] = None
import concord
concord.sweep({str(BALL)!r}, {{"ball.e": "linspace(0.5, 0.9, 5000)"}}, progress=True, cosim_stop=0.1)
"""
        with subprocess.Popen([sys.executable, "-c", call], stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            self.assertIn("run 1 of 5000", process.stderr.readline())
            process.send_signal(signal.SIGINT)
            told = process.stderr.read()
        self.assertIn("KeyboardInterrupt", told)
        self.assertNotIn("run 5000 of 5000", told)


class Studies(unittest.TestCase):
    def test_errors_orders_and_advice(self):
        s = concord.study(TWO_MASS, steps=[0.02, 0.01], types=["jfm", "jacobi"], accuracy=1e-3,
                          cosim_stop=0.5)
        runs = {(run["type"], run["step"]): run for run in s.runs}
        self.assertEqual(len(runs), 4)
        self.assertGreater(runs["jfm", 0.01]["order"], 3)
        self.assertEqual(s.recommended["type"], "jfm")
        self.assertEqual(s.reference["type"], "monolithic")
        self.assertIn("jfm", s.advice)
        frame = s.to_pandas()
        self.assertEqual(len(frame), 4)
        self.assertIn("rhs_evaluations", frame)

    def test_none_completes(self):
        with self.assertRaisesRegex(concord.SimulationError, "diverged"):
            concord.study(TWO_MASS, steps=[0.1], types=["jacobi"])
        with self.assertRaisesRegex(concord.InputError, "no_type"):
            concord.study(TWO_MASS, steps=[0.1], types=["no_type"])


class Linear(unittest.TestCase):
    def test_matrices_with_names(self):
        here = concord.linearize(TWO_MASS, start_values={"left.m": 4})
        self.assertEqual(here.A.shape, (4, 4))
        np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(here.A)),
                                   np.sort_complex(here.eigenvalues), rtol=1e-9)
        self.assertEqual((len(here.outputs), here.inputs, here.time), (5, [], 0.0))
        self.assertNotEqual(here.A.tolist(), concord.linearize(TWO_MASS).A.tolist())
        self.assertEqual(concord.linearize(TWO_MASS, time=0.25, cosim_step=0.05).time, 0.25)
        self.assertEqual(here.participation.shape, (4, 4))
        self.assertIsNone(concord.linearize(BALL).participation)
        with mock.patch.dict("sys.modules", {"control": mock.Mock()}) as modules:
            here.to_control()
            self.assertEqual(modules["control"].ss.call_args.kwargs["states"], here.states)
        with self.assertRaisesRegex(concord.InputError, "time"):
            concord.linearize(TWO_MASS, time=-1)

    def test_opened_and_reduced(self):
        """The spring between the masses cut at its force: left is the left mass alone."""
        here = concord.linearize(TWO_MASS, open="right.f:left.f", reduce=2)
        self.assertIn("left.f", here.inputs)
        self.assertIsNone(concord.linearize(TWO_MASS).transfer)
        s = 1j * np.array([1.0, 20.0, 300.0])
        column, row = here.inputs.index("left.f"), here.outputs.index("right.f")
        expected = [-(here.C @ np.linalg.solve(z * np.eye(4) - here.A, here.B) + here.D)[row, column] for z in s]
        np.testing.assert_allclose(here.transfer.at(s), expected, rtol=1e-9)
        self.assertEqual(here.transfer.at(2j).shape, ())
        self.assertEqual(here.reduced.A.shape, (2, 2))
        self.assertLessEqual(here.reduced.error, here.reduced.bound)
        with self.assertRaisesRegex(concord.InputError, "does not feed"):
            concord.linearize(TWO_MASS, open=["left.x:left.f"])

    def test_operating_point(self):
        """Weights that a force holds: c x = f, and back; a run begins there."""
        at = concord.steady(TWO_MASS, start_values={"left.m": 4})
        self.assertEqual(sorted(at.start_values), ["left.v", "left.x", "right.v", "right.x"])
        self.assertRegex(at.stability, "^stable: ")
        held = concord.steady(TWO_MASS, hold={"left.x": 0.5}, free="left.c")
        self.assertEqual(list(held.freed), ["left.c"])
        run = concord.run(TWO_MASS, start_values=held.start_values, cosim_record="states")
        self.assertLess(np.ptp(run["left.x"]), 1e-9)
        with self.assertRaisesRegex(concord.InputError, "overdetermined"):
            concord.steady(TWO_MASS, hold={"left.x": 1})


if __name__ == "__main__":
    unittest.main()
