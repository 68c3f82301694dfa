"""Processes that are subsystems of runs, for tests."""
import subprocess
import sys
import threading
from pathlib import Path

import msgpack
import zmq

from concord_runs import ModelTest
from patience import wait_until

SERVED = Path(__file__).with_name("served.py")

MODEL = """
experiment: {{stop: {stop}}}
subsystems:
  plant: {{equations: {{inputs: {{u: 0}}, states: {{x: 0, v: 0}}, derivatives: {{x: v, v: u - 2*v - x}}, outputs: {{x: x}}}}}}
  controller: {{{kind}}}
connections: [plant.x -> controller.y, controller.u -> plant.u]
"""
#: Step by step, and no estimate that would take a second run.
HELD = ("-cosim_type", "jacobi", "-cosim_step", "0.02", "-cosim_halving", "none")


class Process:
    """One that is started, and started again where it has ended by itself, until `end`."""

    def __init__(self, *words):
        self._words = [str(word) for word in words]
        self._wanted = True
        self.starts = 0
        self._began = threading.Event()
        self._thread = threading.Thread(target=self._keep)
        self._thread.start()
        self._began.wait()

    def _keep(self):
        while self._wanted:
            self._process = subprocess.Popen(self._words)
            self.starts += 1
            self._began.set()
            self._process.wait()

    def end(self):
        self._wanted = False
        self._process.kill()
        self._thread.join()


class Peer:
    """Answers each question by what `answer` makes of it: bytes, a dictionary, or None for nothing."""

    def __init__(self, address, answer):
        self.asked = []
        self._answer = answer
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(address)
        self._ends = self._context.socket(zmq.PULL)
        self._ends.bind("inproc://end")
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._ends, zmq.POLLIN)
        while True:
            if self._ends in dict(poller.poll()):
                return
            *way, message = self._socket.recv_multipart()
            question = msgpack.unpackb(message)
            self.asked.append(question)
            answer = self._answer(question)
            if isinstance(answer, dict):
                answer = msgpack.packb({"n": question["n"], **answer})
            if answer is not None:
                self._socket.send_multipart([*way, answer])

    def end(self):
        with self._context.socket(zmq.PUSH) as order:
            order.connect("inproc://end")
            order.send(b"")
            self._thread.join()
        self._context.destroy(linger=0)


class RemoteTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.address = f"ipc://{self.folder}/socket"
        self.memory = f"shm://{self.folder}/memory"
        self.served = 0

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def remote(self, words="", beside="", stop=2, way="connect", address=None):
        """The model with the controller outside."""
        kind = (f'remote: {{{way}: "{address or self.address}"{words}}}, inputs: {{y: 0}}, outputs: {{u: 0}}{beside}')
        return self.model(MODEL.format(kind=kind, stop=stop))

    def inside(self, path, name, stop=2):
        """And with it in Python, inside."""
        kind = f"python: {{file: {path}, class: {name}}}"
        path = self.folder / "inside.yaml"
        path.write_text(MODEL.format(kind=kind, stop=stop), encoding="utf-8")
        return path

    def serve(self, path, name, *words, address=None):
        self.served += 1
        up = self.folder / f"up{self.served}"
        process = Process(sys.executable, "-B", SERVED, path, name, address or self.address, up, *words)
        self.addCleanup(process.end)
        wait_until(up.exists, f"{name} at {address or self.address}")
        return process

    def peer(self, answer):
        peer = Peer(self.address, answer)
        self.addCleanup(peer.end)
        return peer
