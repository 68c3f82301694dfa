"""Results files are read while the run that writes them goes on."""
import os
import random
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np
from concord_runs import PICTURES, SPRING_MASS, ModelTest, execute, in_short
from patience import HANGS, wait_until


class RunningTest(ModelTest):
    """Runs that go on until they are ended; in short by the clock, 1000 rows in a second."""
    PACE = in_short(((), ("-cosim_realtime", 1)), 2, 1)[0]

    def begin(self, *options, ranks=1):
        path = self.folder / f"run{len(list(self.folder.iterdir()))}.h5"
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        words = [*launcher, os.environ["CONCORD_PROGRAM"], "run", SPRING_MASS, "-cosim_step", 1e-3,
                 "-cosim_stop", 1e6, "-cosim_output", path, *self.PACE, *options]
        run = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.end, run)
        wait_until(path.exists, "a results file", run)
        return run, path

    def read(self, path):
        """Anew where a flush came in between, as the format page says."""
        def rows():
            try:
                with h5py.File(path) as file:
                    self.assertEqual(file.attrs["status"], "running")
                    count = min(len(file["time"]), len(file["outputs/values"]))
                    return file["time"][:count], file["outputs/values"][:count]
            except OSError:
                return None

        return wait_until(rows, "rows between two flushes")

    def end(self, run, number=signal.SIGKILL):
        if run.poll() is None:
            os.killpg(run.pid, number)
        run.wait()

    def read_until(self, path, enough):
        """At random instants; what is there only grows."""
        chance, sizes = random.Random(7), [0]

        def grown():
            time.sleep(chance.uniform(0.0, 0.2))
            t, y = self.read(path)
            self.assertTrue((np.diff(t) > 0).all())
            self.assertTrue(np.isfinite(y).all())
            sizes.append(len(t))
            return enough(sizes)

        wait_until(grown, "a file that grows")
        self.assertEqual(sizes, sorted(sizes))

    def require_plot_follows(self, run, path, number=signal.SIGTERM):
        """Until the run ends, or is no more."""
        wait_until(lambda: len(self.read(path)[0]) > 1, "rows to draw", run)
        picture = self.folder / "run.png"
        plot = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "plot", "--follow", path, "-o",
                                 picture], stdout=subprocess.PIPE, text=True)
        self.addCleanup(plot.kill)
        drawn = set()

        def drawn_anew():
            if picture.exists() and picture.stat().st_size:
                drawn.add(picture.stat().st_mtime_ns)
            return len(drawn) > 1

        wait_until(drawn_anew, "a second picture", plot)
        self.assertIsNone(plot.poll())
        self.end(run, number)
        said, _ = plot.communicate(timeout=HANGS)
        self.assertEqual(plot.returncode, 0)
        self.assertEqual("is no more" in said, number == signal.SIGKILL)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))


class Running(RunningTest):
    def test_read_at_random_instants(self):
        for ranks, options in in_short(((1, ()), (2, ()), (1, ("-cosim_output_interval", 7e-3))), 2):
            run, path = self.begin(*options, ranks=ranks)
            self.read_until(path, lambda sizes: len(set(sizes)) > 3)
            self.end(run, signal.SIGTERM)  # mpirun ends its ranks

    @unittest.skipUnless(PICTURES, "pictures need the Python package")
    def test_plot_follows(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.require_plot_follows(*self.begin(), number)

    @unittest.skipUnless(PICTURES, "pictures need the Python package")
    def test_plot_follows_what_is_done(self):
        path = self.folder / "done.h5"
        run = execute("run", SPRING_MASS, "-cosim_stop", 1, "-cosim_output", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(execute("plot", "-f", path).returncode, 0)


if __name__ == "__main__":
    unittest.main()
