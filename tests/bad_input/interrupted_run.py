#!/usr/bin/python3
"""Runs that are stopped: by a time limit and by signals, exit code 3; by SIGKILL, a file that opens."""
import os
import signal
import subprocess

from harness import PAIR, case, changed, main
from patience import wait_until

# Hours, if nobody stops it.
ENDLESS = ("run", "model.yaml", "-cosim_step", "1e-7")


def ranks_of(process):
    """Process ids of the program itself, below mpirun."""
    found = subprocess.run(["pgrep", "-s", str(process.pid), "-x", "concord"], text=True,
                           capture_output=True, check=False).stdout.split()
    return [int(pid) for pid in found]


def begin(bench, ranks, *options, launcher=()):
    """A run that is at work: some macro-steps are done."""
    bench.write("model.yaml", PAIR)
    process = bench.start(*ENDLESS, *options, ranks=ranks, launcher=launcher)
    wait_until(lambda: rows_of(bench.folder / "model.h5") > 2, "flushed rows", process)
    return process


def rows_of(path):
    """Those that are in the file by now; none between two flushes."""
    import h5py  # pylint: disable=import-outside-toplevel
    try:
        with h5py.File(path, "r") as file:
            return len(file["time"])
    except (OSError, KeyError):
        return 0


def interrupted(bench, ended, code=3):
    """Exit code, and a file with what was done."""
    ended.clean()
    ended.require(ended.code == code, f"exit code {ended.code} instead of {code}")
    ended.require("concord: error" not in ended.err, "an error was printed")
    status, times = bench.record()
    ended.require(status == "interrupted", f"status {status}")
    ended.require(len(times) > 2 and times[-1] < 1, f"{len(times)} rows")
    if code == 3:
        ended.require("stopped early" in ended.out, "the summary does not say so")


def stopped(name, number, ranks, to_all=False):
    """Registers a case: the signal goes to one rank (or all of them)."""
    def run(bench):
        process = begin(bench, ranks)
        pids = ranks_of(process)
        assert len(pids) == ranks, f"{len(pids)} processes"
        for pid in pids if to_all else pids[-1:]:
            subprocess.run(["kill", f"-{int(number)}", str(pid)], check=True)
        interrupted(bench, bench.end(process))
    run.__name__ = name
    case(run)


stopped("sigterm", signal.SIGTERM, 1)
stopped("sigusr1", signal.SIGUSR1, 1)
for other in ("SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGXCPU", "SIGPIPE", "SIGXFSZ"):
    stopped(other.lower(), getattr(signal, other), 1)
stopped("sigterm_to_last_rank", signal.SIGTERM, 3)
stopped("sigusr1_to_all_ranks", signal.SIGUSR1, 3, to_all=True)


@case
def sigusr1_before_the_start(bench):
    """What comes while the model is made ends the run at its first communication point."""
    bench.write("slow_start.py", '''
import pathlib, time
class Source:
    states = {"x": 1.0}
    def __init__(self):
        pathlib.Path("here").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
    def derivatives(self, t, x, u):
        return [-x.x]
''')
    bench.write("model.yaml", "experiment: {start: 0, stop: 1}\n"
                "subsystems: {s: {python: {file: slow_start.py, class: Source}}}\n")
    process = bench.start("run", "model.yaml", "-cosim_step", "1e-3", "-cosim_checkpoint", "run.chk")
    wait_until((bench.folder / "here").exists, "a model that is being made", process)
    process.send_signal(signal.SIGUSR1)
    bench.write("go", "")
    ended = bench.end(process)
    ended.clean()
    ended.require(ended.code == 3, f"exit code {ended.code} instead of 3")
    status, times = bench.record()
    ended.require(status == "interrupted" and len(times) == 2, f"{status}, {len(times)} rows")
    ended.require((bench.folder / "run.chk").exists(), "no checkpoint")


@case
def sighup_under_nohup(bench):
    """What the user has had ignored stays so."""
    process = begin(bench, 1, launcher=["nohup"])
    process.send_signal(signal.SIGHUP)
    before = rows_of(bench.folder / "model.h5")
    wait_until(lambda: rows_of(bench.folder / "model.h5") > before, "a run that goes on", process)
    process.send_signal(signal.SIGTERM)
    interrupted(bench, bench.end(process))


@case
def reader_that_goes(bench):
    """A run whose output nobody reads any more closes its file."""
    bench.write("model.yaml", PAIR)
    reader, writer = os.pipe()
    process = subprocess.Popen(bench.command(*ENDLESS, "-cosim_monitor"), cwd=bench.folder,
                               stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    os.read(reader, 1000)
    os.close(reader)
    assert process.wait() == 3, f"exit code {process.returncode}"
    assert bench.record()[0] == "interrupted"


@case
def sigusr1_to_mpirun(bench):
    """mpirun passes SIGUSR1 on: what batch systems send before their time limit."""
    process = begin(bench, 3)
    process.send_signal(signal.SIGUSR1)
    interrupted(bench, bench.end(process))


@case
def sigterm_to_mpirun(bench):
    """mpirun ends the ranks itself, and gives them a moment: the record is complete."""
    process = begin(bench, 3)
    process.send_signal(signal.SIGTERM)
    ended = bench.end(process)
    ended.clean()
    status, times = bench.record()
    ended.require(status in ("interrupted", "running"), f"status {status}")
    ended.require(ended.code != 0, "exit code 0")
    ended.require(times is not None, "no times")


@case
def signal_twice(bench):
    """An impatient user."""
    process = begin(bench, 1)
    for _ in range(5):
        process.send_signal(signal.SIGTERM)
    interrupted(bench, bench.end(process))


def killed(name, ranks, rows):
    """Registers a case: all ranks are killed; what was flushed before is there."""
    def run(bench):
        process = begin(bench, ranks)
        wait_until(lambda: rows_of(bench.folder / "model.h5") >= rows, "flushed rows", process)
        for pid in ranks_of(process):
            subprocess.run(["kill", "-9", str(pid)], check=False)
        bench.end(process)
        status, times = bench.record(killed=True)
        assert status == "running", f"status {status}"
        assert len(times) >= rows, f"{len(times)} rows"
        table = bench.run("export", "model.h5")
        if len(times) == 0 and table.code != 0:
            table.fails(2, "no rows yet")
        else:
            table.require(table.code == 0, "the reader refuses what the kill has left")
            table.require(len(table.out.splitlines()) > len(times), "rows are missing")
    run.__name__ = name
    case(run)


killed("sigkill_at_once", 1, rows=0)
killed("sigkill_after_flush", 1, rows=1000)
killed("sigkill_on_three_ranks", 3, rows=0)


@case
def time_limit(bench):
    """-cosim_time_limit, alone and on three ranks."""
    bench.write("model.yaml", PAIR)
    for ranks in (1, 3):
        interrupted(bench, bench.run(*ENDLESS, "-cosim_time_limit", "0.3", ranks=ranks))


@case
def time_limit_at_once(bench):
    """The first communication point is always reached."""
    bench.write("model.yaml", PAIR)
    ended = bench.run(*ENDLESS, "-cosim_time_limit", "1e-12")
    ended.require(ended.code == 3, f"exit code {ended.code}")
    assert len(bench.record()[1]) == 2


@case
def time_limit_with_rows_pending(bench):
    """The last communication point is recorded though it is not the n-th."""
    bench.write("model.yaml", PAIR)
    ended = bench.run(*ENDLESS, "-cosim_time_limit", "1e-12", "-cosim_record_every", "1000")
    ended.require(ended.code == 3, f"exit code {ended.code}")
    assert list(bench.record()[1]) == [0, 1e-7]


@case
def failure_with_rows_pending(bench):
    """Rows that are not written yet when the run fails get into the file."""
    bench.write("model.yaml", changed(("{x: f - k*x}", "{x: x*x}")))
    bench.run("run", "model.yaml", "-cosim_stop", "2", "-cosim_step", "0.03",
              "-cosim_record_every", "1000").fails(1, "'left'", "t = 0.99")
    assert abs(bench.record()[1][-1] - 0.99) < 1e-9


if __name__ == "__main__":
    main()
