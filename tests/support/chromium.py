"""Debian's chromium without a window, over the pipe of its remote debugging."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

from patience import wait_until

PROGRAM = shutil.which("chromium")
_MISSING = "chromium is not there (apt-get install chromium)"


class Chromium:
    """One page; `console` has all that it has complained of."""

    missing = None if PROGRAM else _MISSING

    def __init__(self):
        self.console = []
        self._number = 0
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read, self._to = os.pipe()
        self._from, write = os.pipe()
        self._left = b""

        def give_pipes():  # Chromium reads from 3 and writes to 4
            kept = [os.dup(fd) for fd in (read, write)]
            for fd, wanted in zip(kept, (3, 4)):
                os.dup2(fd, wanted)

        self._process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self._folder.name}", "about:blank"], preexec_fn=give_pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        target = next(one for one in self._ask("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = None
        self._session = self._ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def open(self, address, width, height):
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._ask("Page.navigate", url=address)

    def value(self, script):
        """Of an expression."""
        result = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, what):
        return wait_until(lambda: self.value(script), what, self._process)

    def picture(self, path):
        size = self._ask("Page.getLayoutMetrics")["cssContentSize"]
        shot = self._ask("Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method, **parameters):
        self._number += 1
        session = {"sessionId": self._session} if getattr(self, "_session", None) else {}
        question = json.dumps({"id": self._number, "method": method, "params": parameters, **session})
        os.write(self._to, question.encode() + b"\0")
        while True:
            said = self._hear()
            if said.get("id") == self._number:
                if "error" in said:
                    raise AssertionError(f"{method}: {said['error']}")
                return said["result"]
            if said.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(said["params"])

    def _hear(self):
        while b"\0" not in self._left:
            more = os.read(self._from, 1 << 16)
            if not more:
                raise AssertionError("chromium has ended")
            self._left += more
        message, self._left = self._left.split(b"\0", 1)
        return json.loads(message)
