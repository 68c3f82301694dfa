"""Runs the program on bad input and looks at what it says and leaves behind.

A case is a function with one argument, the Bench it works on; `@case` gives it to ctest.
"""
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from one_after_the_other import OneAfterTheOther
from patience import HANGS

PROGRAM = Path(os.environ["CONCORD_PROGRAM"]).resolve()
COMMANDS = OneAfterTheOther("command_after_command")


@functools.cache
def runs(ranks):
    return OneAfterTheOther("run_after_run", "mpirun", "--oversubscribe", "-n", str(ranks))


# What a user must never see. `mpirun` names the rank that ended first: that is its own affair.
NEVER = ("PETSC ERROR", "MPI_ABORT", "MPI_ERRORS", "HDF5-DIAG", "Segmentation", "core dumped",
         "terminate called", "what():", "Traceback", "Signal:", "Caught signal", "AddressSanitizer")

# Two subsystems that feed each other; the cases change a word or two.
PAIR = """\
name: pair
experiment: {start: 0, stop: 1}
subsystems:
  left:
    equations:
      parameters: {k: 2}
      inputs: {f: 0}
      states: {x: 1}
      derivatives: {x: f - k*x}
      outputs: {x: x}
      units: {x: m, f: N}
  right:
    equations:
      inputs: {x: 1}
      states: {v: 0}
      derivatives: {v: x - v}
      outputs: {f: v}
      units: {x: m, f: N}
connections:
  - right.f -> left.f
  - left.x -> right.x
"""

cases = {}


def case(function):
    """Registers a test under the function's name."""
    cases[function.__name__] = function
    return function


def changed(*changes, text=PAIR):
    """The model with each (old, new) applied once; old must be there."""
    for old, new in changes:
        assert old in text, f"{old!r} is not in the model"
        text = text.replace(old, new, 1)
    return text


class Ended:
    """What a run of the program printed and returned."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    def require(self, condition, message):
        assert condition, (f"{message}\n$ {self.command}\nexit code {self.code}\n"
                           f"--- stdout\n{self.out[-2000:]}\n--- stderr\n{self.err[-4000:]}")

    def clean(self):
        for word in NEVER:
            self.require(word not in self.out + self.err, f"{word!r} was printed")
        return self

    def fails(self, code, *says):
        """One error, with `says` in it, and nothing that frightens."""
        self.clean()
        self.require(self.code == code, f"exit code {self.code} instead of {code}")
        errors = [line for line in self.err.splitlines() if line.startswith("concord: error: ")]
        self.require(len(errors) == 1, f"{len(errors)} errors instead of 1")
        self.require(self.err.startswith("concord: error: "), "something stands before the error")
        for text in says:
            self.require(text in errors[0], f"the error does not say {text!r}")
        return self

    def succeeds(self):
        self.clean()
        self.require(self.code == 0, f"exit code {self.code} instead of 0")
        self.require("concord: error:" not in self.err, "an error was printed")
        return self


class Bench:
    """An empty folder in which the program is run."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    @staticmethod
    def command(*words, ranks=1):
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        return [*launcher, str(PROGRAM), *map(str, words)]

    def start(self, *words, ranks=1, launcher=(), **how):
        """A run in the background, in a process group of its own."""
        return subprocess.Popen([*launcher, *self.command(*words, ranks=ranks)], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True, **how)

    def end(self, process):
        """Waits for a run."""
        try:
            out, err = process.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", "-9", "-s", str(process.pid)], check=False)  # mpirun's, too
            out, err = process.communicate()
            raise AssertionError(f"{process.args} hangs: no end after {HANGS:g} s\n{out}{err}") \
                from None
        return Ended(" ".join(process.args), process.returncode, out, err)

    def run(self, *words, ranks=1, **how):
        if ranks > 1 or how:
            return self.end(self.start(*words, ranks=ranks, **how))
        command = self.command(*words)
        ended = COMMANDS.run(command, HANGS, self.folder)
        return Ended(" ".join(command), ended.returncode, ended.stdout, ended.stderr)

    def run_kept(self, *words, ranks=1):
        """A run of a model by processes that are kept: for what ends well."""
        ended = runs(ranks).run(words, HANGS, self.folder)
        return Ended(f"run {' '.join(words)} on {ranks} ranks", ended.returncode, ended.stdout, ended.stderr)

    def results(self):
        return sorted(path.name for path in self.folder.rglob("*.h5*"))

    def refuses(self, *words, says=(), ranks=(1,), keeps=()):
        """The program refuses its input with exit code 2 and leaves no results file."""
        for count in ranks:
            ended = self.run(*words, ranks=count).fails(2, *says)
            ended.require(self.results() == sorted(keeps), f"left behind: {self.results()}")

    def record(self, name="model.h5", killed=False):
        """Status and rows of a results file; its parts must agree on the number of rows, or, where
        a kill may have hit a flush, the shortest counts (FORMAT.md)."""
        import h5py  # pylint: disable=import-outside-toplevel
        with h5py.File(self.folder / name, "r") as file:
            status = file.attrs["status"]
            status = status.decode() if isinstance(status, bytes) else status
            time = file["time"][:]
            lengths = {part: len(file[part + "/values"]) for part in ("outputs", "inputs", "states")
                       if part in file}
            lengths["steps"] = len(file["steps/size"]) + min(len(time), 1)
            if killed:
                time = time[:min(lengths.values())]
            assert killed or set(lengths.values()) == {len(time)}, f"other rows: {lengths}"
            assert all(time[1:] > time[:-1]), "time does not grow"
        return status, time


def fails(name):
    """Whether a case fails, which is told."""
    with tempfile.TemporaryDirectory(prefix="concord_bad_input_", ignore_cleanup_errors=True) as folder:
        try:
            cases[name](Bench(folder))
        except AssertionError as failure:
            print(f"{name}: {failure}", file=sys.stderr)
            return True
    return False


def main():
    """harness.py's users: FILE.py [CASE...], all of them without one; FILE.py --part K N: each N-th from K on."""
    names = sys.argv[1:] or list(cases)
    if names[0] == "--part":
        names = list(cases)[int(names[1])::int(names[2])]
    failed = [name for name in names if fails(name)]
    print(f"{len(names)} cases: {' '.join(names)}")
    if failed:
        sys.exit(f"{len(failed)} of {len(names)} failed: {' '.join(failed)}")
