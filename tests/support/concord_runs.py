"""Runs the program (environment variable CONCORD_PROGRAM) and reads what it records."""
import functools
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import h5py
import numpy as np

from drawing import draw_in_one_python
from patience import HANGS
from one_after_the_other import OneAfterTheOther

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
OPTIONS = ROOT / "petsc_options"

TWO_MASS = EXAMPLES / "two_mass" / "two_mass.yaml"
LOTKA_VOLTERRA = EXAMPLES / "lotka_volterra" / "lotka_volterra.yaml"
SPRING_MASS = EXAMPLES / "spring_mass" / "spring_mass.yaml"
ALGEBRAIC_LOOP = EXAMPLES / "algebraic_loop" / "algebraic_loop.yaml"

# Whether this build has the Python package, which draws.
PICTURES = os.environ.get("CONCORD_HAS_PYTHON", "1") == "1"
DRAW = ("plot", "report", "linearize", "study", "fit")

# As methods 6 says: only the error of the coupling method itself remains.
TIGHT = ("-cosim_rtol 1e-12 -cosim_atol 1e-12 "
         "-subsystem_rtol 1e-12 -subsystem_atol 1e-14").split()


def _text(item):
    return item.decode() if isinstance(item, bytes) else item


class Table:
    """One group of the results file: names, units and values, columns by name."""

    def __init__(self, group):
        self.names = [_text(name) for name in group["names"][:]] if group else []
        self.units = [_text(unit) for unit in group["units"][:]] if group else []
        self.values = group["values"][:] if group else np.zeros((0, 0))
        self.derivatives = group["derivatives"][:] if group and "derivatives" in group else None
        self.polynomials = group["polynomials"][:] if group and "polynomials" in group else None

    def __getitem__(self, name):
        return self.values[:, self.names.index(name)]

    def columns(self, *names):
        return np.stack([self[name] for name in names], axis=1)


class Results:
    def __init__(self, path, run):
        self.stdout, self.stderr, self.code = run.stdout, run.stderr, run.returncode
        with h5py.File(path, "r") as file:
            self.status = _text(file.attrs["status"])
            self.time = file["time"][:]
            self.outputs, self.inputs, self.states, self.balance = (
                Table(file.get(kind)) for kind in ("outputs", "inputs", "states", "balance"))
            self.steps = {name: file["steps"][name][:] for name in file["steps"]}
            self.subsystems = {name: file["subsystems"][name][:] for name in file["subsystems"]}
            self.groups = sorted(file)
            self.black_box_jumps = file.attrs.get("black_box_jumps", 0)
            self.error_estimate = file.attrs.get("error_estimate", np.nan)
            self.event_times, self.happened = np.zeros(0), []
            if "events" in file:
                self.event_times = file["events/time"][:]
                self.happened = [(_text(who), _text(what)) for who, what in
                                 zip(file["events/subsystem"][:], file["events/what"][:])]


def in_short(choices, step, first=0):
    """Every step-th, beginning at one of them; with CONCORD_LONG (tests/long.sh) all."""
    return choices if "CONCORD_LONG" in os.environ else choices[first % step::step]


@functools.cache
def _commands(_thread):
    return OneAfterTheOther("command_after_command")


def execute(*arguments, ranks=1, timeout=HANGS):
    """The program's CompletedProcess, whatever its exit code."""
    if PICTURES and arguments[0] in DRAW:
        draw_in_one_python()
    command = [os.environ["CONCORD_PROGRAM"], *map(str, arguments)]
    if ranks == 1:
        return _commands(threading.get_ident()).run(command, timeout)
    return subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), *command], capture_output=True, text=True,
                          check=False, timeout=timeout)


@functools.cache
def _runs(ranks):
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    return OneAfterTheOther("run_after_run", *launcher)


def run_here(*words, ranks=1, timeout=HANGS):
    """The CompletedProcess of `concord run WORDS`, but that its process goes on to the next one: for what no
    signal or crash ends, and what looks at nothing but results and what is said."""
    return _runs(ranks).run(words, timeout)


def simulate(model, *options, ranks=1, timeout=HANGS, jumps=False):
    """Results of a run that must end with exit code 0 and nothing on stderr, and, unless it was
    told to go on (-cosim_diverged warn), may not have diverged. `jumps`: some black box does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.h5"
        done = run_here(model, *options, "-cosim_output", path, ranks=ranks, timeout=timeout)
        call = " ".join(map(str, ("run", model, *options)))
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"exit code {done.returncode} of '{call}' on {ranks} rank(s)\n"
                                 f"{done.stdout}\n{done.stderr}")
        results = Results(path, done)
    allowed = ("completed", "inaccurate") + (("diverged",) if "warn" in options else ())
    if results.status not in allowed:
        raise AssertionError(f"status {results.status} of '{call}'")
    if not jumps and results.black_box_jumps > 0:
        raise AssertionError(f"{results.black_box_jumps} jumps in black boxes of '{call}'")
    return results


def export(model, subsystem, path, version):
    """One subsystem as an FMU."""
    run = execute("export-fmu", model, subsystem, "--fmi", version, "-o", path)
    if run.returncode != 0:
        raise AssertionError(f"export of '{subsystem}': {run.stderr}")


def write_model(folder, name, text):
    path = Path(folder) / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


class ModelTest(unittest.TestCase):
    """A test with a folder of its own, where models are written."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def model(self, text):
        return write_model(self.folder, "model", text)

    def check_refuses(self, text, *words, options=()):
        """`concord check` of the model ends with exit code 2, and says all that."""
        run = execute("check", self.model(text), *options)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)


def distance(results, reference):
    """Of the states, relative to each one's largest value."""
    return np.max(np.abs(results.states.values - reference.states.values)
                  / np.max(np.abs(reference.states.values), axis=0))


class InFolder:
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
