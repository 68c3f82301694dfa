"""Runs in which one call fails as failing_calls.cpp can make it, and what must be true of them."""
import ctypes
import mmap
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import h5py
from patience import HANGS
from restart_runs import differences

KINDS = ("allocate", "write", "sync", "truncate", "rename", "entry", "open", "close", "read", "map", "lock",
         "process", "hdf5", "mpi")
FAILURES = {
    "allocate": ("ENOMEM",), "write": ("ENOSPC", "EIO", "EINTR", "short"), "sync": ("EIO", "ENOSPC", "EINTR"),
    "truncate": ("ENOSPC", "EIO", "EINTR"), "rename": ("ENOSPC", "EIO"), "entry": ("ENOSPC", "EIO"),
    "open": ("EMFILE", "EIO", "EINTR"), "close": ("EIO", "ENOSPC", "EINTR"), "read": ("EIO", "EINTR", "short"),
    "map": ("ENOMEM",), "lock": ("ENOLCK", "EINTR"), "process": ("EAGAIN",), "hdf5": ("EIO",), "mpi": ("EIO",)}
# What changes files: SIGKILL comes before each of these calls, and in the midst of each write.
KILLS = {"write": ("kill", "kill_half"), **{kind: ("kill",) for kind in (
    "sync", "truncate", "rename", "entry", "open", "close")}}
# OpenMPI waits for ever where one of its ranks finds no memory while it starts.
HANG_OTHERS, HANGS_OF_OTHERS = ("allocate", "map", "process"), 120.0
# Nobody but the kernel and the C library: they call for somebody.
FOR_OTHERS = ("libfailing_calls", "libc.so", "libstdc++", "ld-linux", "libm.so", "libgcc_s", "libpthread")
OWN = ("concord", "libconcord")
ROWS = ("time", "outputs/values", "inputs/values", "inputs/derivatives", "states/values")


@dataclass(frozen=True)
class Scene:
    """A run of a model in a folder. `words` name files by {folder}. `begun`: by a run that has got so far (share of
    its writes) before it was killed."""
    name: str
    model: Path
    words: tuple
    ranks: int = 1
    begun: float = 0.0
    program: str = "concord"
    kinds: tuple = KINDS

    @property
    def has_checkpoints(self):
        return "-cosim_checkpoint" in self.words


@dataclass(frozen=True)
class Injection:
    kind: str = ""
    number: int = 0
    failure: str = ""
    rank: int = 0
    everywhere: bool = False

    @property
    def kills(self):
        return self.failure.startswith("kill")

    def __str__(self):
        place = ", also outside of the folder" if self.everywhere else ""
        return f"{self.kind} {self.number} {self.failure} on rank {self.rank}{place}"


class Report(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * len(KINDS)), ("failed", ctypes.c_uint64),
                ("place", ctypes.c_char * 8192)]


@dataclass
class Ended:
    code: int
    output: str
    errors: str
    counts: dict
    failed: bool
    place: list = field(default_factory=list)

    @property
    def lines(self):
        return [line for line in self.errors.splitlines() if line.startswith("concord: error: ")]

    @property
    def caller(self):
        """The library whose call failed."""
        for line in self.place:
            library = line.split()[0]
            if not library.startswith(FOR_OTHERS):
                return library
        return "?"

    @property
    def way(self):
        return " <- ".join(line.split("+")[0] for line in self.place if not line.startswith(FOR_OTHERS))[:1200]

    @property
    def is_of_others(self):
        return not self.caller.startswith(OWN)


def kill_all_of(run):
    for process in (run.pid, *_below(run.pid)):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _below(parent):
    found = [parent]
    for process in found:
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                children = Path(f"/proc/{process}/task/{task}/children").read_text(encoding="ascii")
                found += [int(child) for child in children.split()]
        except OSError:
            pass
    return found[1:]


class Stage:
    """A scene in a folder of its own: what was there before it, what it gives undisturbed, its calls."""
    def __init__(self, scene, folder):
        self.scene, self.folder = scene, Path(folder)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.whole = self.folder / "whole.h5"
        self.results = self.work / "results.h5"
        self.before = {}
        self.run(more=("-cosim_stop", "0.4"), must_end=0)
        earlier = self.results.read_bytes()
        self.clear()
        self.results.write_bytes(earlier)
        self.before = self.content()
        with h5py.File(self.results) as file:
            self.earlier = {name: file[name][:] for name in ROWS}
        undisturbed = self.run(must_end=0)
        self.summary = undisturbed.output
        self.results.rename(self.whole)
        with h5py.File(self.whole) as file:
            self.rows = {name: file[name][:] for name in ROWS}
            self.what = list(file["events/what"]) if "events/what" in file else []
        if scene.begun:
            self.reset()
            writes = self.count()["write"]
            ended = self.run(Injection("write", int(scene.begun * writes), "kill"))
            assert ended.failed, "the run was to be killed"
            self.before = self.content()
        self.restart = ("-cosim_restart", "auto") if scene.has_checkpoints else ()
        self.reset()

    def content(self):
        return {path.relative_to(self.work): path.read_bytes() for path in self.work.rglob("*") if path.is_file()}

    def clear(self):
        for path in sorted(self.work.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def reset(self):
        self.clear()
        for name, content in self.before.items():
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_bytes(content)

    def run(self, injection=Injection(), more=(), must_end=None):
        scene = self.scene
        report = self.folder / "report"
        report.write_bytes(bytes(ctypes.sizeof(Report)))
        told = {"CALLS_REPORT": report, "CALLS_PROGRAM": scene.program,
                "LD_PRELOAD": os.environ["FAILING_CALLS_LIBRARY"]}
        if not injection.everywhere:
            told["CALLS_FOLDER"] = self.work
        if injection.number:
            told.update(CALLS_KIND=injection.kind, CALLS_NUMBER=injection.number, CALLS_FAILURE=injection.failure)
        if scene.ranks > 1:
            told["CALLS_RANK"] = injection.rank
        told = {name: str(value) for name, value in told.items()}
        words = [os.environ["CONCORD_PROGRAM"], "run", scene.model,
                 *(str(word).format(folder=self.work) for word in scene.words), "-cosim_output", self.results,
                 *(("-cosim_restart", "auto") if scene.begun and not more else ()), *more]
        environment = dict(os.environ)
        if scene.ranks > 1:
            launcher = ["mpirun", "--oversubscribe", "-n", scene.ranks]
            for name, value in told.items():
                launcher += ["-x", f"{name}={value}"]
            words = launcher + words
        else:
            environment.update(told)
        run = subprocess.Popen([str(word) for word in words], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        try:
            output, errors = run.communicate(timeout=HANGS_OF_OTHERS if injection.kind in HANG_OTHERS else HANGS)
            code = run.returncode
        except subprocess.TimeoutExpired:
            kill_all_of(run)
            output, errors = run.communicate()
            code = None
        with open(report, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            found = Report.from_buffer_copy(memory)
        ended = Ended(code, output, errors, dict(zip(KINDS, found.counts)), found.failed != 0,
                      found.place.decode(errors="replace").splitlines())
        assert must_end is None or code == must_end, f"exit code {code}: {errors}"
        return ended

    def count(self, rank=0, everywhere=False):
        """Calls of an undisturbed run, by kind."""
        self.reset()
        counts = self.run(Injection(rank=rank, everywhere=everywhere), must_end=0).counts
        self.reset()
        return counts

    def injections(self, per_kind, chance, ways, rank=0, everywhere=False):
        """The calls of an undisturbed run, by kind; and of each kind in `ways` so many, evenly."""
        counts = self.count(rank, everywhere)
        chosen = []
        for kind, failures in ways.items():
            all_of_kind = [(number, way) for number in range(1, counts[kind] + 1) for way in failures]
            if len(all_of_kind) > per_kind:
                all_of_kind = [all_of_kind[int((i + chance.random()) * len(all_of_kind) / per_kind)]
                               for i in range(per_kind)]
            chosen += [Injection(kind, number, way, rank, everywhere) for number, way in all_of_kind]
        return counts, chosen

    def chain(self, step, first=1):
        """The run and its restarts, each killed at a later write than the one before; the number of kills."""
        self.reset()
        write = first
        while (ended := self.run(Injection("write", write, "kill_half"), self.restart)).failed:
            self.require_sound(self.of_file(killed=True))
            write += step
        assert ended.code == 0, ended.errors
        self.require_sound(self.of_file(ended))
        return (write - first) // step

    @staticmethod
    def require_sound(found):
        found = list(found)
        assert not found, found

    # What must be true.

    def judge(self, injection):
        """What became of it, in a word, and what is not as promised."""
        self.reset()
        ended = self.run(injection)
        if not ended.failed:
            return "not reached", []
        if injection.kills:
            found = [*self.of_file(killed=True), *self.of_way_on()]
            return ("killed, same bits in the end" if not found else "killed"), found
        if ended.is_of_others and self.is_dead(ended):
            found = [*self.of_file(killed=True), *self.of_way_on()]
            return f"{'hangs in' if ended.code is None else 'ended by'} {ended.caller}", found
        found = [*self.of_end(ended, injection), *self.of_file(ended=ended), *self.of_way_on()]
        outcome = {0: "same bits", 1: "told, exit code 1", 2: "told, exit code 2", 3: "stopped"}.get(
            ended.code, f"exit code {ended.code}")
        if ended.code == 0 and "concord: warning: " in ended.errors:
            outcome = "same bits, told"
        if found:
            found.append(f"stderr: {ended.errors[:1500] if len(ended.lines) != 1 else ended.lines[0]}"
                         f"\n    called by: {ended.way}")
        return outcome, found

    @staticmethod
    def is_dead(ended):
        """Whether it has ended otherwise than a program of ours ends."""
        return ended.code not in (0, 1, 2, 3) or (len(ended.lines) == 0 and ended.code != 0)

    def of_end(self, ended, injection):
        if ended.code is None:
            yield "hangs"
        elif ended.code not in (0, 1, 2, 3):
            yield f"exit code {ended.code}"
        expected = 0 if ended.code in (0, 3) else 1
        if len(ended.lines) != expected:
            yield f"{len(ended.lines)} error lines, exit code {ended.code}"
        known = ("concord: error: ", "concord: warning: ", "concord: note: ")
        strange = [line for line in ended.errors.splitlines() if not line.startswith(known)]
        if self.scene.ranks > 1 and ended.code != 0:
            strange = [line for line in strange if re.search(
                r"terminate called|PETSC ERROR|HDF5-DIAG|Segmentation|signal|\*\*\*|Traceback", line)]
        if strange and not ended.is_of_others:
            yield f"strange: {strange[:3]}"
        if any(re.search(r": (Success|)$|\(Success\)|: Success", line) for line in ended.lines):
            yield "a reason is missing"
        if ended.code != 0 and not ended.lines == [] and re.search(r"std::|basic_string|bad_alloc", ended.lines[0]):
            yield "words of the library"
        left = [str(name) for name in self.content()
                if name.name.endswith((".new", ".lock")) and name not in self.before]
        at_once = any("MPI: " in line or " alone: " in line for line in ended.lines)
        if left and not at_once and injection.kind not in ("entry", "close"):
            yield f"left behind: {left}"

    def of_file(self, ended=None, killed=False):
        code = None if killed else ended.code
        if not self.results.exists():
            yield "the results file is gone"
            return
        if code == 0:
            found = differences(self.whole, self.results)
            if found:
                yield f"other bits: {found}"
            return
        if self.results.read_bytes() == self.before.get(Path("results.h5")):
            return
        try:
            with h5py.File(self.results) as file:
                status = file.attrs["status"]
                count = min(len(file[name]) for name in ROWS)
                same = [all(file[name][:count].tobytes() == rows[name][:count].tobytes() for name in ROWS)
                        for rows in (self.rows, self.earlier)]
                events = min(len(file["events/time"]), len(file["events/outputs"])) if "events" in file else 0
                if not any(same):
                    yield f"{count} rows that are not those of the run"
                if same[0] and events and list(file["events/what"][:events]) != self.what[:events]:
                    yield "events that are not those of the run"
                # "running": where it is the status that could not be written.
                whole = same[0] and count == len(self.rows["time"])
                if not killed and status not in ("failed", "running", "interrupted") and not whole:
                    yield f"status {status}, exit code {code}"
        except (OSError, KeyError) as error:
            yield f"the results file does not open: {error}"

    def of_way_on(self):
        """The next submission of the same job."""
        if not self.restart:
            return
        again = self.run(more=self.restart)
        if again.code != 0 or again.lines:
            yield f"restart: exit code {again.code}, {again.errors[-400:]}"
            return
        found = differences(self.whole, self.results)
        if found:
            yield f"restart: other bits {found}, {again.errors[-300:]}"
