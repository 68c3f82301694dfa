"""A subsystem of a model, or an FMU, that runs elsewhere have as `remote:` (`concord serve`)."""
import os
import re
import signal
import subprocess
import threading
import unittest
from pathlib import Path

import concord
import msgpack
import numpy as np
import zmq

from concord_runs import TWO_MASS, execute, export, simulate
from patience import HANGS, wait_until
from remote_runs import HELD, MODEL, Process, RemoteTest

RIGHT = """  right:
    equations:
      parameters: {m: 80, c: 1e5, d: 40, c_couple: 1e4, d_couple: 10}
      inputs: {x_left: 1, v_left: 0}
      states: {x: 3, v: 0}
      derivatives: {x: v, v: (-c*x - d*v - c_couple*(x - x_left) - d_couple*(v - v_left))/m}
      outputs: {f: c_couple*(x - x_left) + d_couple*(v - v_left), x: x, v: v}
connections: [right.f -> left.f, left.x -> right.x_left, left.v -> right.v_left]
"""
#: What the protocol does not tell of the same subsystem inside.
PLAIN = ("-subsystem_left_linearization", "false", "-subsystem_left_state_derivatives", "false")
STEPS = ("-cosim_step", "0.01", "-cosim_stop", "0.3", "-cosim_halving", "none", "-cosim_diverged", "warn")
METHODS = {"zoh": ("-cosim_type", "jacobi"), "order 2": ("-cosim_type", "jacobi", "-cosim_hold_order", 2),
           "sequential": ("-cosim_type", "gauss_seidel", "-cosim_hold_order", 1), "jfm": ("-cosim_type", "jfm")}

# Lives in a process of its own, and kills who has started that and serves it, at given times, once each.
MORTAL = """
import os, signal
class Mortal:
    inputs = {"y": 0.0}
    outputs = ("u",)
    def __init__(self):
        self.sum = self.u = 0.0
    def step(self, t, h, u):
        for i, time in enumerate((0.5, 1.2)):
            if DEADLY and t > time and not os.path.exists(f"{__file__}.{i}"):
                open(f"{__file__}.{i}", "w").close()
                os.kill(os.getppid(), signal.SIGKILL)
        error = 1 - u(t).y
        self.sum += h * error
        self.u = 8 * error + 4 * self.sum
    def outputs_at(self, t):
        return self.u
"""


class ServeTest(RemoteTest):
    def serve_model(self, *words, way="--at", address=None):
        """`concord serve`, started again where it ends by itself."""
        address = address or self.address
        process = Process(os.environ["CONCORD_PROGRAM"], "serve", *words, way, address)
        self.addCleanup(process.end)
        if way == "--at":
            wait_until(Path(address[len("ipc://"):]).exists, f"somebody at {address}")
        return process

    def two_masses(self, left):
        return self.write("masses.yaml", f"experiment: {{stop: 1}}\nsubsystems:\n  left: {{{left}}}\n" + RIGHT)

    def outside(self, way="connect", beside=""):
        return self.two_masses(f'remote: {{{way}: "{self.address}", offers: [state, polynomials, slopes]}}, '
                               f"inputs: {{f: 20000}}, outputs: {{x: 1, v: 0}}{beside}")


class Same(ServeTest):
    """The bits of the same subsystem inside."""

    def expect(self, run, reference, *names):
        np.testing.assert_array_equal(run.time, reference.time)
        for name in names or ("left.x", "left.v", "right.x"):
            np.testing.assert_array_equal(run.outputs[name], reference.outputs[name], name)

    def test_every_method(self):
        self.serve_model(TWO_MASS, "--subsystem", "left")
        for name, choices in METHODS.items():
            reference = simulate(TWO_MASS, *choices, *STEPS, *PLAIN)
            for ranks in (1, 2) if name == "jfm" else (1,):
                with self.subTest(name, ranks=ranks):
                    self.expect(simulate(self.outside(), *choices, *STEPS, ranks=ranks), reference)

    def test_parameters(self):
        """Of the model that is served, and of the run."""
        self.serve_model(TWO_MASS, "--subsystem", "left", "--set", "left.x=1.5", way="--connect")
        run = simulate(self.outside("listen", ", parameters: {m: 6}"), *METHODS["zoh"], *STEPS)
        self.expect(run, simulate(self.two_masses("equations: {parameters: {m: 6, c: 1e4, d: 10}, inputs: {f: 20000}, "
                                                  "states: {x: 1.5, v: 0}, derivatives: {x: v, v: (f - c*x - d*v)/m}, "
                                                  "outputs: {x: x, v: v}}"), *METHODS["zoh"], *STEPS, *PLAIN))

    def test_an_fmu(self):
        for version, kind in ((2, "cs"), (3, "me")):
            fmu = self.folder / f"left{version}.fmu"
            export(TWO_MASS, "left", fmu, version)
            address, of_kind = self.address, ("-subsystem_fmu_interface", kind)
            self.address += kind
            self.serve_model(fmu, *of_kind)
            run = simulate(self.outside(), *METHODS["zoh"], *STEPS)
            self.expect(run, simulate(self.two_masses(f"fmu: {fmu.name}"), *METHODS["zoh"], *STEPS, *PLAIN, *of_kind))
            self.address = address

    def test_killed_and_several_at_once(self):
        """Twice, and each time another one takes its place; beside it another run has the same."""
        for name, deadly in (("mortal", True), ("immortal", False)):
            self.write(f"{name}.py", MORTAL.replace("DEADLY", str(deadly)))
        reference = simulate(self.inside("immortal.py", "Mortal"), *HELD)
        for self.address in (self.address, self.memory):
            for mark in self.folder.glob("mortal.py.*"):
                mark.unlink()
            self.two_runs_and_two_deaths(reference)

    def two_runs_and_two_deaths(self, reference):
        process = self.serve_model(self.inside("mortal.py", "Mortal"), "--subsystem", "controller")
        model = self.remote(", offers: [state]")
        runs = [None, None]

        def run(i):
            runs[i] = execute("run", model, *HELD, "-cosim_output", self.folder / f"run{i}.h5")
        threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(process.starts, 3)
        for i, done in enumerate(runs):
            self.assertEqual(done.returncode, 0, done.stderr)
            found = concord.read(self.folder / f"run{i}.h5")
            np.testing.assert_array_equal(found["plant.x"], reference.outputs["plant.x"])


BALL = """  ball:
    equations:
      parameters: {e: 0.8, g: 9.81}
      inputs: {f: 0}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: f - g}
      outputs: {h: h, v: v}
      when: [{condition: h < 0, set: {h: 0, v: -e*pre(v)}}]
  pull: {equations: {inputs: {h: 0}, states: {x: 0}, derivatives: {x: h - x}, outputs: {f: -x}}}
connections: [pull.f -> ball.f, ball.h -> pull.h]
"""


class Whole(ServeTest):
    """`whole: true`: events, linearisations, estimates, as inside to the bit."""

    def outside(self, *beside):
        ball, rest = BALL.index("  pull"), "".join(f", {words}" for words in beside)
        return self.write("outside.yaml", f'experiment: {{stop: 1}}\nsubsystems:\n  ball: {{remote: {{connect: "{self.memory}", '
                                          f"whole: true}}{rest}}}\n{BALL[ball:]}")

    def inside(self, text=BALL):
        return self.write("inside.yaml", f"experiment: {{stop: 1}}\nsubsystems:\n{text}")

    def expect(self, run, reference):
        np.testing.assert_array_equal(run.time, reference.time)
        for name in ("ball.h", "ball.v", "pull.f"):
            np.testing.assert_array_equal(run.outputs[name], reference.outputs[name], name)

    def test_as_inside(self):
        self.serve_model(self.inside(), "--subsystem", "ball", address=self.memory)
        for method, ranks in (("jfm", 2), ("missiles", 1), ("gauss", 1), ("radau", 1)):
            with self.subTest(method):
                options = ("-cosim_type", method, "-cosim_step", "0.05")
                run, reference = simulate(self.outside(), *options, ranks=ranks), simulate(self.inside(), *options)
                self.expect(run, reference)
                estimates = [re.findall(r"estimated error +[a-z]+\..*", each.stdout) for each in (run, reference)]
                self.assertTrue(estimates[0])
                self.assertEqual(*estimates)
        done = execute("run", self.outside(), "-cosim_type", "monolithic")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'ball' has events in another process", done.stderr)

    def test_an_fmu(self):
        """Its events, and what they are wrong by."""
        fmu = self.folder / "ball.fmu"
        export(self.inside(), "ball", fmu, 3)
        exchange = ("-subsystem_fmu_interface", "me")
        self.serve_model(fmu, *exchange, address=self.memory)
        alone = self.write("alone.yaml", f"experiment: {{stop: 1}}\nsubsystems:\n  ball: {{fmu: ball.fmu}}\n{BALL[BALL.index('  pull'):]}")
        options = ("-cosim_type", "jfm", "-cosim_step", "0.05")
        self.expect(simulate(self.outside(), *options), simulate(alone, *options, *exchange))

    def test_parameters_and_starts(self):
        """Of the run, and wrong ones."""
        self.serve_model(self.inside(), "--subsystem", "ball", address=self.memory)
        options = ("-cosim_type", "jfm", "-cosim_step", "0.05")
        self.expect(simulate(self.outside("parameters: {e: 0.5}", "start: {h: 0.7}"), *options),
                    simulate(self.inside(BALL.replace("e: 0.8", "e: 0.5").replace("h: 1,", "h: 0.7,")), *options))
        for beside, word in (("start: {x: 1}", "no input or state 'x'"), ("inputs: {f: 0}", "leave it out"),
                             ("parameters: {q: 1}", "no tunable parameter 'q'")):
            done = execute("run", self.outside(beside), *options, "-cosim_output", self.folder / "run.h5")
            self.assertEqual((done.returncode, done.stderr.count("concord: error:")), (2, 1), done.stderr)
            self.assertIn(word, done.stderr)

    def test_killed(self):
        """Another one goes on from the last communication point."""
        for name, deadly in (("mortal", True), ("immortal", False)):
            self.write(f"{name}.py", MORTAL.replace("DEADLY", str(deadly)))
        model = RemoteTest.inside(self, "immortal.py", "Mortal")
        reference = simulate(model, *HELD)
        process = self.serve_model(RemoteTest.inside(self, "mortal.py", "Mortal"), "--subsystem", "controller")
        outside = self.model(MODEL.format(kind=f'remote: {{connect: "{self.address}", whole: true}}', stop=2))
        run = execute("run", outside, *HELD, "-cosim_output", self.folder / "run.h5")
        self.assertEqual((run.returncode, process.starts), (0, 3), run.stderr)
        self.assertIn("'controller' was revived in a new process: the process at", run.stderr)
        np.testing.assert_array_equal(concord.read(self.folder / "run.h5")["plant.x"], reference.outputs["plant.x"])

    def test_an_older_one(self):
        self.peer(lambda question: {"calls": "0.0.1 8"})
        model = self.model(f'experiment: {{stop: 1}}\nsubsystems:\n  a: {{remote: {{connect: "{self.address}", whole: true}}}}\n')
        done = execute("run", model)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("is another Concord ('0.0.1 8'", done.stderr)


class Refused(ServeTest):
    def refused(self, words, *said):
        run = execute("serve", *words)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error:"), 1)
        for word in said:
            self.assertIn(word, run.stderr)

    def test_command_line(self):
        model = self.model("experiment: {stop: 1}\nsubsystems:\n  a: {equations: {states: {x: 1}, derivatives: {x: -x}, "
                           "outputs: {x: x}, when: [{condition: x < 0.5, set: {x: 1}}]}}\n"
                           "  b: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u}, outputs: {x: x}}}\n")
        self.refused((model,), "there are 2 subsystems; say which, --subsystem a")
        self.refused((model, "--subsystem", "c"), "'c' is none of the model's", "a, b")
        self.refused((model, "--subsystem", "a", "--connect", self.address), "'a' has events")
        self.refused((model, "--subsystem", "b", "--at", "udp://a"), "--at must be an address", "udp://a")
        self.refused((model, "--subsystem", "b", "--connect", "tcp://*:1"), "--connect must be an address")
        self.refused((model, "--subsystem", "b", "--at", "ipc:///nowhere/x"), "cannot listen at 'ipc:///nowhere/x'")

    def test_questions(self):
        """Whatever is asked is answered, and the next one may come; a signal ends it."""
        serving = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "serve", TWO_MASS, "--subsystem", "left", "--at", self.address],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(serving.kill)
        told = "".join(serving.stdout.readline() for _ in range(3))
        self.assertRegex(told, re.escape(f'left: {{remote: {{connect: "{self.address}", offers: [state, polynomials, slopes]}}, '
                                         "inputs: {f: 0}, outputs: {x: 0, v: 0}}"))
        hello = {"ask": "hello", "n": 1, "session": 5, "inputs": ["f"], "outputs": ["v", "x"], "parameters": {}}
        step = {"ask": "step", "n": 3, "session": 5, "t": 0, "to": 0.1, "h": 0.1, "u": [[1, 2]]}
        with zmq.Context() as context, context.socket(zmq.REQ) as socket:
            socket.linger = 0
            socket.connect(self.address)

            def ask(question):
                socket.send(question if isinstance(question, bytes) else msgpack.packb(question))
                return msgpack.unpackb(socket.recv())
            for question, *words in (
                    (b"", "no map"), (b"\x91" * 100_000, "no map"), (b"\x81\xa1u" + b"\x91" * 100_000, "too deep"), ({}, "ask"),
                    ({"ask": "hello", "session": 1}, "inputs"), ({**hello, "parameters": {"q": 1}}, "'q'", "m, c, d"),
                    ({**hello, "session": "x"}, "number"), ({**hello, "ask": "sing"}, None)):
                answer = ask(question)
                if words == [None]:
                    self.assertTrue(answer["unknown"])
                    continue
                for word in words:
                    self.assertIn(word, answer["error"])
            self.assertEqual(ask(hello)["offers"], ["state", "polynomials", "slopes"])
            start = ask({"ask": "start", "n": 2, "session": 5, "t": 0, "h": 0.1, "u": [0], "y": [0, 1], "resumes": False})
            self.assertEqual(start["y"], [0, 1])
            self.assertIn("degree 6", ask({**step, "u": [[0] * 7]})["error"])
            self.assertIn("error", ask({**step, "state": b"rubbish"}))
            one, two = (ask({**step, "state": start["state"], "slopes": {"u": [1], "du": [2]}}) for _ in range(2))
            self.assertEqual((one["y"], one["dy"]), (two["y"], two["dy"]))
            self.assertEqual(one["dy"][1], one["y"][0])
            self.assertEqual(ask({**step, "ask": "end"}), {"n": 3})
            self.assertTrue(ask(step)["unknown"])
        serving.send_signal(signal.SIGTERM)
        self.assertEqual(serving.wait(HANGS), 0)


if __name__ == "__main__":
    unittest.main()
