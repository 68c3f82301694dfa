"""Runs one after the other in one process, or one on each rank, which start once: that takes longer than most
runs do."""
import atexit
import os
import select
import subprocess
import tempfile
from pathlib import Path


class RunAfterRun:
    """The processes behind `run`. Where folder or environment have changed they are others, as are those that
    follow upon a crash."""

    def __init__(self, ranks):
        self._launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        self._process = self._born_in = None
        atexit.register(self.end)

    def run(self, words, timeout):
        """CompletedProcess of `concord run WORDS`; a crash has the exit code of its signal."""
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("stdout", "stderr")]
            for file in files:
                file.touch()
            code = self._ask([*files, *words], timeout)
            return subprocess.CompletedProcess(["concord", "run", *words], code, *(file.read_text() for file in files))

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
        return int(answer) if answer else process.wait()

    def _started(self):
        here = (os.getcwd(), dict(os.environ))
        if self._process is None or self._process.poll() is not None or here != self._born_in:
            self.end()
            program = Path(os.environ["CONCORD_PROGRAM"]).with_name("run_after_run")
            self._process = subprocess.Popen([*self._launcher, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._born_in = here
        return self._process

    def end(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None
