"""Rows that a run sends to whoever watches (-cosim_stream, concord watch ADDRESS)."""
import json
import os
import re
import signal
import subprocess
import threading
import time
import unittest

import concord
import zmq

from concord_runs import TWO_MASS, execute, run_here
from patience import HANGS, wait_until
from remote_runs import HELD, RemoteTest


class Streams(RemoteTest):
    """A run whose controller lets it end when somebody has seen it."""

    def setUp(self):
        super().setUp()
        self.seen = threading.Event()
        self.last = {"y": [1]}

    def answer(self, question):
        if question["ask"] == "hello":
            return {"protocol": 1}
        if question["ask"] != "step":
            return {}
        if self.seen.is_set():
            return self.last
        time.sleep(0.01)  # there are 20 s of these for them to come
        return {"y": [1]}

    def run_of(self, *options, ranks=1, stop=40):
        """That is streamed, and where."""
        self.peer(self.answer)
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        words = [*launcher, os.environ["CONCORD_PROGRAM"], "run", self.remote(stop=stop), *HELD, "-cosim_output",
                 self.folder / "run.h5", *options]
        told = self.folder / "told.txt"
        with told.open("w") as file:
            run = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=file)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        found = wait_until(lambda: re.search("concord watch '(.*)'", told.read_text()), "the address", run)
        return run, found[1]

    def watch(self, *words):
        return subprocess.Popen([os.environ["CONCORD_PROGRAM"], "watch", *words], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.PIPE)

    def watched_to(self, code, status, end=None, last=None):
        run, address = self.run_of("-cosim_stream", "plant.*")
        with self.watch(address, "--every", "0.1") as watch:
            first = watch.stdout.readline()
            self.assertRegex(first, r"^ *[\d.]+ %  t = [\d.]+ s  \d+ rows")
            self.last = last or self.last
            self.seen.set()
            if end:
                run.send_signal(end)
            rest, _ = watch.communicate(timeout=HANGS)
            self.assertEqual((rest.splitlines()[-1], watch.returncode, run.wait()), (status, code, code))

    def test_completed(self):
        self.watched_to(0, "completed")

    def test_interrupted(self):
        self.watched_to(3, "interrupted", end=signal.SIGTERM)

    def test_failed(self):
        self.watched_to(1, "failed", last={"error": "no power"})

    def test_killed(self):
        run, address = self.run_of("-cosim_stream", "plant.*", stop=1e6)
        with self.watch(address, "--every", "0.1") as watch:
            watch.stdout.readline()
            run.kill()
            self.assertIn("is no more", watch.communicate(timeout=HANGS)[0].splitlines()[-1])
            self.assertEqual(watch.returncode, 1)

    def test_once(self):
        _, address = self.run_of("-cosim_stream", "*", "-cosim_stream_address", f"ipc://{self.folder}/rows#secret")
        self.assertEqual(address, f"ipc://{self.folder}/rows#secret")
        shown = execute("watch", address, "--once", "-v", "plant.v,controller.*")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?s)^model, running\n.* controller\.u .* plant\.v .* controller\.y ")
        wrong = execute("watch", address, "--once", "-v", "plant.z")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("plant.x", wrong.stderr)
        self.seen.set()

    def test_rows(self):
        """Bits of the results file, on any number of ranks; nothing to who does not know the token."""
        for ranks in (1, 3):
            self.address = f"ipc://{self.folder}/socket{ranks}"
            self.seen.clear()
            run, address = self.run_of("-cosim_stream", "controller.u,plant.x,plant.v,plant.u", ranks=ranks)
            endpoint, token = address.split("#")
            self.assertTrue(endpoint.startswith("tcp://127.0.0.1:") and len(token) == 32, address)
            context = zmq.Context()
            self.addCleanup(context.destroy, 0)
            listeners = [context.socket(zmq.SUB) for _ in range(3)]
            for listener, topic in zip(listeners, (token, "", token[:-1])):
                self.addCleanup(listener.close)
                listener.subscribe(topic)
                listener.connect(endpoint)
            said = []
            while not said or "end" not in said[-1]:
                start, text = listeners[0].recv_multipart()
                self.assertEqual(start.decode(), token)
                said.append(json.loads(text))
                if len(said) == 20:
                    self.seen.set()
            run.wait()
            self.assertEqual(said[-1], {"end": {"status": "completed", "code": 0}})
            head = said[0]["run"]
            self.assertEqual(head["names"], ["plant.x", "controller.u", "plant.v", "plant.u"])
            self.assertEqual((head["model"], head["start"], head["stop"]), ("model", 0, 40))
            results = concord.read(self.folder / "run.h5")
            rows = dict(zip(results["time"], zip(*(results[name] for name in head["names"]))))
            streamed = [each["row"] for each in said if "row" in each]
            self.assertGreater(len(streamed), 18)
            for t, *values in streamed:
                self.assertEqual(tuple(values), rows[t])
            for listener in listeners[1:]:
                self.assertEqual(listener.poll(0), 0)


class Refused(RemoteTest):
    def test_options(self):
        for options, *words in ((("-cosim_stream", "lft.*"), "'lft.*'", "left.f"),
                                (("-cosim_stream", "*", "-cosim_stream_address", "http://x"), "'http://x'", "no address"),
                                (("-cosim_stream", "*", "-cosim_stream_address", "ipc:///nowhere/at/all"), "cannot listen")):
            run = run_here(TWO_MASS, *options, "-cosim_output", self.folder / "run.h5")
            self.assertEqual((run.returncode, run.stderr.count("concord: error:")), (2, 1), run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)

    def test_watch(self):
        """Nobody, who speaks something else, and what is no stream."""
        run = execute("watch", "tcp://127.0.0.1:x")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no address", run.stderr)
        with zmq.Context() as context, context.socket(zmq.PUB) as junk:
            junk.bind(f"{self.address}")
            watch = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "watch", self.address], stderr=subprocess.PIPE, text=True)
            wait_until(lambda: junk.send(b"[" * 100_000) or watch.poll() is not None, "its end")
            self.assertEqual(watch.returncode, 2)
            self.assertIn("streams no run of Concord", watch.communicate()[1])


if __name__ == "__main__":
    unittest.main()
