"""Tests wait for conditions, and never for times: they pass on a machine that is twenty times as slow."""
import resource
import time

#: Seconds after which something hangs. No measure of anything: what is in time takes a hundredth of it.
HANGS = 1200.0


def processor_seconds():
    """Of all programs that have been run: what else the machine has to do hardly shows."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def wait_until(condition, what, process=None):
    """What the condition gives when it is true; fails where `process`, which is to bring it about, ends first."""
    deadline = time.monotonic() + HANGS
    while True:
        ended = process is not None and process.poll() is not None
        if found := condition():
            return found
        if ended:
            raise AssertionError(f"{what}: not before the end, exit code {process.returncode}")
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {HANGS:g} s")
        time.sleep(0.02)
