"""Runs and commands one after the other, by processes that start once: that takes longer than most of them do."""
import atexit
import math
import os
import select
import subprocess
import tempfile
from pathlib import Path


class OneAfterTheOther:
    """The process behind `run`, a program of tests/support behind its launcher. Where the environment has changed it
    is another, as is the one that follows upon a crash."""

    def __init__(self, program, *launcher):
        self._words = [*launcher, Path(os.environ["CONCORD_PROGRAM"]).with_name(program)]
        self._process = self._environment = None
        atexit.register(self.end)

    def run(self, words, timeout, folder=None):
        """The CompletedProcess of these words in that folder, or this one; a crash has the exit code of its signal.
        `processor_seconds`: those of a command in a process of its own."""
        with tempfile.TemporaryDirectory() as said:
            files = [Path(said, name) for name in ("stdout", "stderr")]
            for file in files:
                file.touch()
            code, *spent = self._ask([*files, folder or os.getcwd(), *words], timeout)
            done = subprocess.CompletedProcess(list(words), int(code), *(file.read_text() for file in files))
            done.processor_seconds = float(spent[0]) if spent else math.nan
            return done

    def _ask(self, words, timeout):
        process = self._started()
        text = "".join(f"{word}\0" for word in (len(words), *words))
        process.stdin.write(text.encode())
        process.stdin.flush()
        if not select.select([process.stdout], [], [], timeout)[0]:
            process.kill()
            process.wait()
            raise subprocess.TimeoutExpired(words, timeout)
        answer = process.stdout.readline()
        return answer.split() or (process.wait(),)

    def _started(self):
        if self._process is None or self._process.poll() is not None or self._environment != dict(os.environ):
            self.end()
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._environment = dict(os.environ)
        return self._process

    def end(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None
