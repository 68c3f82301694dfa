"""Runs that are stopped or killed and go on, and what they must have in common with others."""
import os
import random
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
from concord_runs import ModelTest, run_here

SAME = ("time", "outputs/values", "inputs/values", "inputs/derivatives", "inputs/polynomials",
        "states/values", "balance/values", "events/time", "events/subsystem", "events/what",
        "events/outputs", "events/inputs", "events/states", "steps/size", "steps/time", "steps/iterations",
        "steps/rejections", "subsystems/advances", "subsystems/restarts")
ATTRIBUTES = ("status", "error_estimate", "error_estimate_of", "black_box_jumps")


def differences(one, other):
    """The datasets whose bits are not the same."""
    found = []
    with h5py.File(one) as a, h5py.File(other) as b:
        for name in SAME:
            if (name in a) != (name in b):
                found.append(name)
            elif name in a and (a[name].shape != b[name].shape or a[name][:].tobytes()
                                != b[name][:].tobytes() if a[name].dtype != object
                                else list(a[name][:]) != list(b[name][:])):
                found.append(name)
        found += [name for name in ATTRIBUTES if str(a.attrs.get(name)) != str(b.attrs.get(name))]
    return found


class RestartTest(ModelTest):
    EPOCH = 5
    EVERY = 0.02  # s between two files

    def setUp(self):
        super().setUp()
        self.random = random.Random(20261122)

    def options(self, name, *given):
        return (*given, "-cosim_output", self.folder / f"{name}.h5", "-cosim_checkpoint",
                self.folder / f"{name}.chk", "-cosim_checkpoint_epoch", self.EPOCH,
                "-cosim_checkpoint_every", self.EVERY)

    def go(self, *words, **how):
        """A run that nobody kills."""
        return run_here(*words, **how)

    def whole(self, model, *options, ranks=1):
        """An undisturbed run, which leaves one file behind; its seconds."""
        began = time.time()
        run = self.go(model, *self.options("whole", *options), "-cosim_checkpoint_every", 3600, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return time.time() - began

    def disturbed(self, model, *options, ranks=1, limits=(0.03,), then=None):
        """In parts that a time limit ends; `then`: the ranks of the last part."""
        codes = []
        for limit in limits:
            run = self.go(model, *self.options("parts", *options), "-cosim_restart", "auto",
                          "-cosim_time_limit", limit, ranks=ranks)
            self.assertIn(run.returncode, (0, 3), run.stderr)
            codes.append(run.returncode)
        run = self.go(model, *self.options("parts", *options), "-cosim_restart", "auto",
                      ranks=then or ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("goes on from t = ", run.stderr)
        if then:
            self.assertIn(f"on {then} instead of {ranks} ranks from here on", run.stderr)
        return codes

    def killed(self, model, *options, ranks=1, after=0.3):
        """SIGKILL to every process of a run, wherever it is."""
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        words = [*launcher, os.environ["CONCORD_PROGRAM"], "run", model,
                 *self.options("parts", *options), "-cosim_restart", "auto"]
        run = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            _, errors = run.communicate(timeout=after)
            self.assertEqual(run.returncode, 0, errors)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            subprocess.run(["pkill", "-KILL", "-f", str(self.folder)], check=False)
            run.communicate()

    def require_same(self, one="whole", other="parts"):
        self.assertEqual(differences(self.folder / f"{one}.h5", self.folder / f"{other}.h5"), [])

    def same(self, model, *options, **how):
        """A run in parts is that in one go."""
        self.clear()
        with self.subTest(model=model.name, options=options, **how):
            self.whole(model, *options, **how)
            self.disturbed(model, *options, **how)
            self.require_same()

    def near(self, model, *options, ranks=1, then=3, bound=1e-9):
        """A run that goes on on another number of ranks is the undisturbed one of one rank."""
        self.clear()
        with self.subTest(model=model.name, options=options, ranks=ranks, then=then):
            self.whole(model, *options)
            self.disturbed(model, *options, ranks=ranks, then=then)
            with h5py.File(self.folder / "parts.h5") as file:
                self.assertEqual(file.attrs["ranks"], then)
                self.assertEqual(len(file["ranks/memory"]), then)
                self.assertTrue(np.all(file["ranks/memory"][:] > 0))
                self.assertLess(max(file["subsystems/rank"]), then)
            for name in ("outputs/values", "inputs/values", "states/values"):
                off = largest_difference(self.folder / "whole.h5", self.folder / "parts.h5", name)
                self.assertLess(off, bound, name)

    def clear(self):
        for path in self.folder.iterdir():
            if path.suffix == ".parts":
                shutil.rmtree(path)
            elif path.suffix == ".h5" or ".chk" in path.name:
                path.unlink()


def largest_difference(one, other, name="outputs/values"):
    """Relative to each column's range."""
    with h5py.File(one) as a, h5py.File(other) as b:
        x, y = a[name][:], b[name][:]
        return np.max(np.abs(x - y) / (np.ptp(x, axis=0) + 1e-300))
