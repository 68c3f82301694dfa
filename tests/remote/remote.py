"""Processes outside that are subsystems of a run (`remote:` of a model)."""
import mmap
import os
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import concord
import numpy as np
from concord._concord import ServingLink

from concord_runs import EXAMPLES, execute, run_here, simulate
from patience import HANGS, wait_until
from remote_runs import HELD, Process, RemoteTest
from restart_runs import RestartTest

EXAMPLE = EXAMPLES / "remote"
CONTROLLER = EXAMPLE / "controller.py"

# What is killed kills itself: at given times, once each.
MORTAL = """
import os, signal
class Mortal:
    inputs = {"y": 0.0}
    outputs = ("u",)
    parameters = {"k": 8.0}
    def __init__(self):
        self.sum = self.u = 0.0
        self.past = (0.0, [1.0])
    def step(self, t, h, u):
        for i, time in enumerate((0.5, 1.2)):
            if t > time and not os.path.exists(f"{__file__}.{i}"):
                open(f"{__file__}.{i}", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        error = 1 - u(t).y
        self.sum += h * error
        self.past = (error, [self.past[0]])
        self.u = self.k * error + 4 * self.sum + 0.1 * self.past[1][0]
    def outputs_at(self, t):
        return self.u
class Fearless(Mortal):
    def __init__(self):
        super().__init__()
        self.device = open(os.devnull)  # nothing that could be passed on
"""
IMMORTAL = MORTAL.replace("if t > time", "if False")


class Same(RemoteTest):
    """The bits of the same controller inside."""

    def expect(self, run, reference):
        np.testing.assert_array_equal(run.time, reference.time)
        for name in ("plant.x", "controller.u"):
            np.testing.assert_array_equal(run.outputs[name], reference.outputs[name])

    def test_python_and_c(self):
        program = self.folder / "controller"
        subprocess.run(["cc", EXAMPLE / "controller.c", "-o", program, "-lzmq"], check=True, timeout=HANGS)
        equations = simulate(EXAMPLE / "inside.yaml", "-cosim_step", "0.01", "-cosim_stop", 1, *HELD[:2])
        reference = simulate(self.inside(CONTROLLER, "Controller", stop=1), *HELD, "-cosim_step", "0.01")
        self.expect(reference, equations)
        for address in (self.address, self.memory):
            c = Process(program, f"{address}c")
            self.addCleanup(c.end)
            wait_until(Path(f"{address[6:]}c").exists, "the C program's socket")
            self.serve(CONTROLLER, "Controller", address=address)
        for address in (self.address, f"{self.address}c", self.memory, f"{self.memory}c"):
            for ranks in (1, 3) if address == self.address else (1,):
                run = simulate(self.remote(stop=1, address=address), *HELD, "-cosim_step", "0.01", ranks=ranks)
                self.expect(run, reference)

    def test_listening_and_defaults(self):
        """Concord listens, over TCP; the method is chosen as for others that lack so much."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.serve(CONTROLLER, "Controller", "connect", address=address)
        reference = simulate(self.inside(CONTROLLER, "Controller"), *HELD)
        for ranks in (1, 2):
            run = simulate(self.remote(way="listen", address=address), "-cosim_step", "0.02", ranks=ranks)
            self.assertIn("jacobi", run.stdout)
            self.assertIn("not made beside processes outside", run.stdout)
            self.expect(run, reference)

    def test_every_offer(self):
        """Rollback, cubic inputs, slopes that are given or tried: implicit methods, two of them in a loop."""
        path = self.write("step.py", STEPPING)
        offers = ", offers: [state, polynomials, slopes]"
        given = {"Fine": (("-cosim_type", "jfm", "-cosim_step", "0.1"),
                          ("-cosim_type", "jacobi", "-cosim_hold_order", 1, "-cosim_step", "0.1")),
                 "Slopes": ((),)}
        for name, choices in given.items():
            address = self.address + name
            self.serve(path, name, address=address)
            inside, outside = (self.folder / f"{name}{each}.yaml" for each in (0, 1))
            kind = f"python: {{file: step.py, class: {name}}}"
            remote = f'remote: {{connect: "{address}"{offers}}}, inputs: {{u: 0}}, outputs: {{x: 0}}'
            for model, each in ((inside, kind), (outside, remote)):
                model.write_text(SPIRAL.format(kind=each))
            for options in choices:
                ranks = 2 if name == "Fine" else 1  # each of which has one of the two, and speaks for it alone
                run, reference = (simulate(model, *options, ranks=ranks) for model in (outside, inside))
                np.testing.assert_array_equal(run.time, reference.time)
                np.testing.assert_array_equal(run.outputs.columns("a.x", "b.x"),
                                              reference.outputs.columns("a.x", "b.x"))

    def test_forgetting(self):
        self.serve(CONTROLLER, "Controller")
        model = self.remote(", offers: [state]")
        self.expect(simulate(model, *HELD, "-cosim_forget", 7), simulate(model, *HELD))

    def test_step_by_step(self):
        """Parameters, the way back and the start again."""
        self.serve(self.write("mortal.py", IMMORTAL), "Mortal")
        inside = self.inside("mortal.py", "Mortal")
        outside = self.remote(", offers: [state]", ", parameters: {k: 8}")
        ends = []
        for model in (inside, outside):
            options = dict(cosim_step=0.02, cosim_type="jacobi")
            with concord.Simulation(model, **options) as s:
                s.start()
                s.advance(until=0.5)
                kept = s.snapshot()
                s["controller.k"] = 3
                s.advance(until=1)
                changed = s["plant.x"]
                s.restore(kept)
                s.advance(until=1)
                ends.append([changed, s["plant.x"]])
                s.reset({"controller.k": 5})
                s.advance(until=1)
                ends[-1].append(s["plant.x"])
        self.assertEqual(*ends)
        self.assertEqual(len(set(ends[0])), 3)


STEPPING = """
class Fine:
    inputs = {"u": 0.0}
    outputs = ("x",)
    parameters = {"k": 2.0, "x": 1.0}
    def __init__(self):
        self.value = self.x
    def step(self, t, h, u):
        slope = lambda s, x: u(s).u - self.k * x
        d = h / 4
        for i in range(4):
            s, x = t + i * d, self.value
            a = slope(s, x)
            b = slope(s + d / 2, x + d / 2 * a)
            c = slope(s + d / 2, x + d / 2 * b)
            e = slope(s + d, x + d * c)
            self.value += d / 6 * (a + 2 * b + 2 * c + e)
    def outputs_at(self, t):
        return self.value
class Slopes(Fine):
    def slopes_at(self, t, u, dudt):
        return u.u - self.k * self.value
"""
SPIRAL = """
experiment: {{stop: 2}}
subsystems:
  a: {{{kind}, parameters: {{k: 2, x: 1}}}}
  turn: {{equations: {{inputs: {{y: 0}}, outputs: {{y: -y}}}}}}
  b: {{{kind}, parameters: {{k: 2, x: 0}}}}
connections: [b.x -> turn.y, turn.y -> a.u, a.x -> b.u]
"""


class Restarted(RemoteTest):
    """Killed in the middle, twice, and started again by who watches over it."""

    def run_beside(self, name, *words, way="connect"):
        path = self.write("mortal.py", MORTAL)
        process = self.serve(path, name, *words)
        done = execute("run", self.remote(beside=", parameters: {k: 8}", way=way), *HELD, "-cosim_output",
                       self.folder / "run.h5", "-subsystem_call_limit", HANGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(process.starts, 3)
        self.assertIn("2 times an isolated or remote subsystem", done.stdout)
        return concord.read(self.folder / "run.h5"), done.stderr

    def test_with_state(self):
        self.write("immortal.py", IMMORTAL)
        reference = simulate(self.inside("immortal.py", "Mortal"), *HELD)
        for scheme, way, words in (("ipc", "connect", ()), ("ipc", "listen", ("connect",)), ("shm", "listen", ("connect",))):
            for i in range(2):
                (self.folder / f"mortal.py.{i}").unlink(missing_ok=True)
            self.address = f"{scheme}://{self.folder}/{scheme}{way}"
            run, stderr = self.run_beside("Mortal", *words, way=way)
            self.assertIn("goes on from the last communication point", stderr)
            for name in ("plant.x", "controller.u"):
                np.testing.assert_array_equal(run[name], reference.outputs[name])

    def test_without_state(self):
        """It is told the time, and begins anew: its sum is lost, which is said."""
        run, stderr = self.run_beside("Fearless")
        self.assertIn("began anew; what the one before remembered is lost", stderr)
        self.assertEqual(stderr.count("began anew"), 2)
        self.assertTrue(np.all(np.isfinite(run["plant.x"])))


class Kept(RemoteTest, RestartTest):
    """As tests/restart/every_method.py has it of every other kind."""
    EVERY = 3600

    def test_checkpoints(self):
        path = self.write("step.py", STEPPING)
        self.serve(path, "Slopes")
        kind = f'remote: {{connect: "{self.address}", offers: [state, polynomials, slopes]}}, inputs: {{u: 0}}, outputs: {{x: 0}}'
        model = self.model(SPIRAL.format(kind=kind))
        for method in ("jfm", "jacobi"):
            self.same(model, "-cosim_type", method, "-cosim_step", 0.01)


class Strangers(RemoteTest):
    def test_they_are_sent_away(self):
        """Whoever else comes to the port changes no bit: at each of some communication points another one."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        calls = (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 5000, b"\xff" + b"\x00" * 8 + b"\x7f\x03\x00NULL" + b"\x91" * 500, b"")
        path = self.write("host.py", f"""
import socket
class Host:
    inputs, outputs, sum, u = {{"y": 0.0}}, ("u",), 0.0, 0.0
    def step(self, t, h, u):
        for i, call in enumerate({calls!r}):
            if round(t / h) == 10 * i + 5:
                with socket.create_connection(("127.0.0.1", {port})) as line:
                    line.sendall(call)
        error = 1 - u(t).y
        self.sum += h * error
        self.u = 8 * error + 4 * self.sum
    def outputs_at(self, t):
        return self.u
""")
        self.serve(path, "Host", "connect", address=f"tcp://127.0.0.1:{port}")
        run = simulate(self.remote(way="listen", address=f"tcp://127.0.0.1:{port}"), *HELD)
        reference = simulate(self.inside(CONTROLLER, "Controller"), *HELD)
        np.testing.assert_array_equal(run.outputs["plant.x"], reference.outputs["plant.x"])


class Memory(RemoteTest):
    """shm://: what it takes to share memory with another process."""

    def test_the_place(self):
        """For this user alone; what a killed process leaves is replaced, a live one's is not."""
        place = self.folder / "memory"
        link = ServingLink(self.memory, False)
        self.assertEqual(place.stat().st_mode & 0o777, 0o600)
        with self.assertRaisesRegex(concord.InputError, "in use"):
            ServingLink(self.memory, False)
        del link
        self.assertFalse(place.exists())
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
            left.bind(str(place))
        ServingLink(self.memory, False)
        for address in ("shm://", "shm://a/b", "udp://a"):
            with self.assertRaisesRegex(concord.InputError, "must be an address like"):
                ServingLink(address, False)
        with self.assertRaisesRegex(concord.InputError, "too long"):
            ServingLink("shm:///" + 200 * "a", False)

    def test_strangers_are_sent_away(self):
        """Whoever greets otherwise, brings no memory, or some that could be taken away; then a run comes."""
        self.serve(CONTROLLER, "Controller", address=self.memory)
        loose = tempfile.TemporaryFile()
        self.addCleanup(loose.close)
        loose.truncate(1 << 16)
        for greeting, files in ((b"", []), (b"hello", []), (b"concord memory 1", []), (b"concord memory 1", [loose.fileno()])):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
                wait_until(lambda: stranger.connect_ex(f"{self.folder}/memory") == 0, "somebody there")
                self.assertEqual(stranger.recv(100), b"concord memory 1")
                socket.send_fds(stranger, [greeting], files) if greeting else None
                if greeting:
                    self.assertEqual(stranger.recv(100), b"")
        run = simulate(self.remote(address=self.memory), *HELD)
        np.testing.assert_array_equal(run.outputs["plant.x"], simulate(self.inside(CONTROLLER, "Controller"), *HELD).outputs["plant.x"])

    def test_what_answers_is_no_subsystem(self):
        """Garbage in the greeting and in the memory; silence."""
        cases = ((b"220 smtp", b"", "has not come within 0.5 s", "somebody else was there"),
                 (b"concord memory 1", b"\xc1" * 9, "9 bytes to 'hello'", "no MessagePack"),
                 (b"concord memory 1", None, "a message from another process is damaged"),
                 (b"concord memory 1", b"", "has not answered 'hello' within 0.5 s"))
        for i, (greeting, answer, *words) in enumerate(cases):
            self.address = f"{self.memory}{i}"
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(self.address[6:])
                listener.listen()
                speaker = threading.Thread(target=speak, args=(listener, greeting, answer), daemon=True)
                speaker.start()
                done = run_here(self.remote(", timeout: 0.5"), *HELD, "-cosim_output", self.folder / "run.h5")
                speaker.join()
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(done.stderr.count("concord: error:"), 1, done.stderr)
            for word in ("'controller'", self.address, *words):
                self.assertIn(word, done.stderr)


def speak(listener, greeting, answer):
    """One connection; an answer of None is larger than the memory."""
    with listener.accept()[0] as run:
        run.send(greeting)
        message, files, *_ = socket.recv_fds(run, 100, 1)
        if message and answer != b"":
            with mmap.mmap(files[0], 1 << 16) as memory:
                wait_until(lambda: memory[0] == 1, "the first question")
                memory[128:136] = (1 << 40 if answer is None else len(answer)).to_bytes(8, "little")
                memory[4096:4096 + len(answer or b"")] = answer or b""
                memory[64:68] = memory[0:4]
                run.recv(100)
        elif message:
            run.recv(100)
        for file in files:
            os.close(file)


class Refused(RemoteTest):
    """One error, with the subsystem, the address and the time."""

    def refused(self, *words, model=None, options=(), code=1):
        done = run_here(model or self.remote(), *HELD, "-cosim_output", self.folder / "run.h5", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("concord: error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_nobody(self):
        for address, way in ((self.address, "connect"), (self.address, "listen"), (self.memory, "connect"), (self.memory, "listen")):
            self.refused("'controller'", address, "has not come within 0.2 s", "t = 0 s",
                         model=self.remote(", timeout: 0.2", way=way, address=address))
        self.refused("0.1 s", model=self.remote(", timeout: 100"), options=("-subsystem_controller_call_limit", 0.1))
        self.refused("0.1 s", options=("-cosim_hang_limit", 0.1))

    def test_silence(self):
        """The answer never comes, or not within the time that it may take."""
        self.peer(lambda q: {"protocol": 1} if q["ask"] == "hello" else {"y": [0]} if q.get("t", 0) < 0.4 else None)
        self.refused("'controller'", self.address, "has not answered 'step' within 2 s", "t = 0.4 s",
                     model=self.remote(", timeout: 2"))

    def answers(self, hello=None, start=None, step=None):
        usual = {"hello": {"protocol": 1}, "start": {}, "step": {"y": [0]}}
        given = {ask: answer for ask, answer in (("hello", hello), ("start", start), ("step", step)) if answer is not None}
        return lambda question: {**usual, **given}.get(question["ask"], {})

    def test_garbage(self):
        """Whatever comes; the address is another one each time, as the one before may be in use yet."""
        cases = [
            ({"hello": b"HTTP/1.1 400 Bad Request"}, "speak the protocol of Concord", "24 bytes to 'hello'"),
            ({"hello": b""}, "0 bytes"), ({"hello": b"\xc1\xff"}, "no MessagePack"),
            ({"hello": b"\x91" * 1_000_000}, "is no map"),
            ({"hello": b"\x81\xa1z" + b"\x91" * 1_000_000}, "without end"),
            ({"hello": b"\xdf\xff\xff\xff\xff"}, "no MessagePack"),
            ({"hello": b"\x80"}, "to which question"), ({"hello": {"protocol": "x"}}, "a text under 'protocol'"),
            ({"hello": {"protocol": 7}}, "version 7"), ({"hello": {"x": [{}]}}, "without protocol"),
            ({"hello": {"protocol": 1, "inputs": ["v"], "outputs": ["u"]}}, "its inputs are v", "those of the model y"),
            ({"hello": {"protocol": 1, "offers": 3}}, "a number under 'offers'"),
            ({"hello": {"protocol": 1, "offers": ["state"]}}, "gave none with 'start'"),
            ({"start": {"error": "no power"}}, "failed in 'start': no power"),
            ({"step": {"y": [1, 2]}}, "gave 2 numbers", "t = 0 s"), ({"step": {"y": 1}}, "a number under 'y'"),
            ({"step": {"y": [[1]]}}, "a list under 'y'"), ({"step": {"y": ["1"]}}, "a text under 'y'"),
            ({"step": {"q": 1}}, "no outputs (y)"), ({"step": {"y": [float("nan")]}}, "output 'u'", "nan"),
            ({"step": {"unknown": True}}, "works for another run"), ({"step": {"refused": "too fast"}}, "too fast"),
        ]
        first = self.address
        for i, (given, *words) in enumerate(cases):
            with self.subTest(given):
                self.address = f"{first}{i}"
                self.peer(self.answers(**given))
                self.refused("'controller'", self.address, *words)

    def test_no_zeromq(self):
        """What answers there speaks something else."""
        def chat():
            while True:
                try:
                    with server.accept()[0] as client:
                        client.sendall(b"220 smtp.example.org ready\r\n" * 20)
                        client.recv(1000)
                except OSError:
                    return
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=chat, daemon=True).start()
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            self.refused("'controller'", address, "has not come", "somebody who does not speak ZeroMQ was there",
                         model=self.remote(", timeout: 1", address=address))

    def test_two_at_once(self):
        """Of which one alone can be the subsystem: messages would go to one and the other."""
        self.write("immortal.py", IMMORTAL)
        for address in (self.address, self.memory):
            for _ in range(2):
                self.serve(self.folder / "immortal.py", "Mortal", "connect", address=address)
            self.refused("'controller'", address, "a second one has connected",
                         model=self.remote(way="listen", stop=1e4, address=address))

    def test_offers(self):
        self.peer(self.answers())
        self.refused("model.yaml:", "offers no state, which the model names", model=self.remote(", offers: [state]"))

    def test_exceptions(self):
        path = self.write("bad.py", "class Bad:\n    inputs = {'y': 0.0}\n    outputs = ('u',)\n"
                          "    def step(self, t, h, u):\n        if t > 0.4: raise OSError('no power')\n"
                          "    def outputs_at(self, t): return 0\n")
        self.serve(path, "Bad")
        self.refused("failed in 'step': OSError: no power (", "bad.py:5) at t = 0.42 s")
        self.refused("has no parameter 'k'", model=self.remote(beside=", parameters: {k: 1}"))

    def test_checkpoints_need_state(self):
        self.peer(self.answers())
        self.refused("cannot pass on what it remembers", "offers no state",
                     options=("-cosim_checkpoint", self.folder / "check.h5"), code=2)

    def test_models(self):
        for words, beside, *expected in (
                (", listen: \"tcp://127.0.0.1:1\"", "", "either 'connect'"), (", timeout: 0", "", "greater than zero"),
                (", offers: [states]", "", "did you mean 'state'?"), ("", ", start: {y: 1}", "under 'inputs' and 'outputs'"),
                ("", ", units: {z: m}", "no input or output 'z'"), ("", ", isolated: true", "has nothing to isolate")):
            self.refused("model.yaml:5", *expected, model=self.remote(words, beside), code=2)
        for address in ("tcp://127.0.0.1", "127.0.0.1:5555", "tcp://*:5555", "tcp://host:99999", "udp://a:1", "shm://a/b"):
            self.refused("model.yaml:5", "must be an address", address, model=self.remote(address=address), code=2)
        self.refused("is for remote: only", code=2, model=self.model(
            "experiment: {stop: 1}\nsubsystems:\n  a: {native: {type: x}, outputs: {y: 0}}\n"))


if __name__ == "__main__":
    unittest.main()
