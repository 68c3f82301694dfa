"""Frames between FMUs as FMI-LS-BUS 1.0 has them: from node to node, and over a CAN bus."""
import math
import sys
import unittest
from pathlib import Path

import clocked_fmus
import h5py
import numpy as np
from concord_runs import Results, execute, run_here, simulate
from fmu_runs import FmuTest

sys.path.append(str(Path(__file__).resolve().parents[1] / "messages"))
from can import frame_bits  # noqa: E402

JACOBI = ("-cosim_type", "jacobi", "-cosim_step", "0.07")
JFM = ("-cosim_type", "jfm", "-cosim_step", "0.07")
PLANT = "  {name}: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: u - x}}, outputs: {{x: x}}}}}}\n"


class Bus(FmuTest):
    def node(self, name, role="cs", countdown=False, **defines):
        words = [f"{key}={value}" for key, value in defines.items()]
        if countdown:
            words.append("COUNTDOWN")
        clocked_fmus.build(self.folder, "bus_node", (role,), name=name, defines=tuple(words),
                           attributes=clocked_fmus.COUNTDOWN if countdown else None)

    def text(self, *nodes, connections, more="", stop=1):
        path = self.folder / "model.yaml"
        parts = "".join(f"  {name}: {{fmu: {name}.fmu}}\n" for name in nodes)
        path.write_text(f"experiment: {{stop: {stop}}}\nsubsystems:\n{parts}{more}connections: [{connections}]\n")
        return path

    def printed(self, operations):
        """Of (time, code, id, first byte of a frame's data)."""
        value = 0.0
        for t, code, identifier, byte in operations:
            value = math.fmod(31 * value + code + identifier + math.floor(1e6 * t + 0.5), 1e6)
            if code == 0x10:
                value = math.fmod(31 * value + byte, 1e6)
        return value

    def last(self, run, name):
        return run.outputs[name][-1]


class Direct(Bus):
    """Three frames at once every 0.1 s one way, one every 0.2 s the other way."""

    PAIR = "one.Powertrain -> other.Powertrain"

    def pair(self, role, countdown, stop=1, **more):
        self.node("one", role, countdown, BURST=3, ID=5, FIRST=0.1, PERIOD=0.1, **more)
        self.node("other", "me" if role == "cs" else "cs", not countdown, ID=9, FIRST=0.05, PERIOD=0.2, SIZE=2)
        return self.text("one", "other", connections=self.PAIR, stop=stop)

    def check(self, run):
        count = 3 * np.floor(10 * run.time + 1e-9)
        self.assertTrue(np.array_equal(run.outputs["other.frames"], count))
        self.assertTrue(np.array_equal(run.outputs["one.frames"], np.floor(5 * (run.time + 0.15) + 1e-9)))
        self.assertEqual(self.last(run, "other.order"), ((7 * 2048 + 5) * 2048 + 6) * 2048 + 7)
        sent = [(0.1 * (k // 3 + 1), 0x10, 5 + k % 3, k) for k in range(30)]
        self.assertEqual(self.last(run, "other.print"), self.printed(sent))
        self.assertEqual(self.last(run, "one.print"),
                         self.printed([(0.05 + 0.2 * k, 0x10, 9, k) for k in range(5)]))

    def test_frames(self):
        """None lost, all in order, at their instants: as output clocks and as clocks that count down."""
        for role in ("cs", "me"):
            for countdown in (False, True):
                path = self.pair(role, countdown)
                runs = [simulate(path, *options, ranks=ranks) for options, ranks in
                        ((JACOBI, 1), (JFM, 1), ((*JACOBI, "-subsystem_rollback", "false"), 1), (JACOBI, 2))]
                for run in runs:
                    self.check(run)
                self.assertTrue(np.array_equal(runs[0].outputs.values, runs[-1].outputs.values))

    def test_step_control(self):
        """Beside what makes macro-steps short and takes some of them back."""
        path = self.pair("cs", True)
        text = path.read_text().replace("connections: [", PLANT.format(name="a") + PLANT.format(name="b") +
                                        "connections: [a.x -> b.u, b.x -> a.u, ")
        path.write_text(text)
        self.check(simulate(path, "-cosim_type", "jacobi", "-cosim_adapt", "richardson", "-cosim_step", "0.3"))

    def test_at_the_start(self):
        self.node("one", BURST=2, FIRST=0, MOST_FRAMES=2)
        self.node("other", "me", FIRST=100)
        run = simulate(self.text("one", "other", connections=self.PAIR, stop=0.2), *JACOBI)
        self.assertTrue(np.all(run.outputs["other.frames"] == 2))
        self.assertTrue(np.all(run.outputs["other.at"] == 0))

    def test_untold(self):
        """Where the FMU says behind a step only that something has happened: there."""
        self.node("one", UNTOLD=1, BURST=2, ID=5, FIRST=0.1, PERIOD=0.1)
        self.node("other", "me", FIRST=100)
        run = simulate(self.text("one", "other", connections=self.PAIR), "-cosim_type", "jacobi", "-cosim_step", "0.04",
                       "-subsystem_rollback", "false", "-cosim_halving", "none")
        times = run.time[np.flatnonzero(np.diff(run.outputs["other.frames"])) + 1]
        self.assertTrue(np.allclose(times, 0.04 * np.ceil(0.1 * np.arange(1, 11) / 0.04 - 1e-9)))
        self.assertEqual(self.last(run, "other.frames"), 20)

    def test_restart(self):
        path = self.pair("cs", True)
        checkpoint, output = self.folder / "c.chk", self.folder / "rest.h5"
        whole = simulate(path, *JACOBI, "-cosim_checkpoint", checkpoint, "-cosim_checkpoint_every", "1e-9",
                         "-cosim_checkpoint_epoch", 5, "-cosim_checkpoint_keep", 3)
        self.check(whole)
        run = execute("run", path, *JACOBI, "-cosim_restart", f"{checkpoint}.old2", "-cosim_output", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        rest = Results(output, run)
        self.assertGreater(rest.time[0], 0.2)
        self.assertTrue(np.array_equal(whole.outputs.values[-len(rest.time):], rest.outputs.values))

    def test_recorded(self):
        """All frames of an instant."""
        path, output = self.pair("cs", False, stop=0.25), self.folder / "out.h5"
        run = run_here(path, *JACOBI, "-cosim_output", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(output) as file:
            found = [(t, value.decode().removeprefix("0x")) for t, name, value in
                     zip(file["texts/time"], file["texts/variable"], file["texts/value"]) if name == b"one.Powertrain.Tx_Data"]
        self.assertTrue(np.allclose([t for t, _ in found], [0.1] * 3 + [0.2] * 3))
        self.assertEqual([value[16:18] + value[32:34] for _, value in found],
                         ["0500", "0601", "0702", "0503", "0604", "0705"])


class Link(Bus):
    """Operations of 24 bytes as messages of a link: 1920 bit/s are 0.1 s for each, and they travel 0.03 s."""

    def test_bytes(self):
        self.node("one", BURST=3, ID=5, FIRST=0.1, PERIOD=0.5)
        self.node("other", "me", FIRST=100)
        path = self.text("one", "other", connections="one.Powertrain.Tx_Data -> net.b, one.Powertrain.Tx_Clock -> net.b.send, "
                         "net.b.received -> other.Powertrain.Rx_Data, net.b.arrived -> other.Powertrain.Rx_Clock",
                         more="  net: {messages: {channels: {b: {type: bytes}}, rate: 1920, delay: 0.03, queue: 1}}\n")
        for ranks in (1, 2):
            run = simulate(path, *JACOBI, ranks=ranks)
            times = run.time[np.flatnonzero(np.diff(run.outputs["other.frames"])) + 1]
            self.assertLess(np.abs(times - [0.23, 0.33, 0.73, 0.83]).max(), 1e-14)
            self.assertEqual(self.last(run, "other.order"), ((5 * 2048 + 6) * 2048 + 5) * 2048 + 6)
            self.assertEqual(self.last(run, "net.dropped"), 2)


class Can(Bus):
    """Three nodes on a bus, whose frames are each for the two others."""

    BAUD = 100000
    NET = "  bus: {{messages: {{can: {{{baud}}}, nodes: [n1, n2, n3]}}}}\n"
    WIRES = "one.Powertrain -> bus.n1, bus.n2 -> two.Powertrain, three.Powertrain -> bus.n3"

    def three(self, baud="", stop=0.25, roles=("cs", "me", "cs"), **more):
        """At 0.1 and 0.2 s: `two` 2 frames, `one` and `three` one each."""
        self.node("one", roles[0], ID=30, FIRST=0.1, PERIOD=0.1, BAUD=self.BAUD, **more)
        self.node("two", roles[1], True, ID=20, FIRST=0.1, PERIOD=0.1, BURST=2, SIZE=3)
        self.node("three", roles[2], ID=10, FIRST=0.1, PERIOD=0.1, SIZE=0)
        return self.text("one", "two", "three", connections=self.WIRES, more=self.NET.format(baud=baud), stop=stop)

    @staticmethod
    def data(number, size):
        return bytes([number % 256, *(0x55 + i for i in range(1, size))][:size])

    def sent(self, counts=(0, 0)):
        """(end, node, id, data), in the order of the bus."""
        result = []
        for instant in (0.1, 0.2):
            k = round(10 * instant) - 1
            t = instant
            for node, identifier, number, size in (("three", 10, k, 0), ("two", 20, 2 * k, 3), ("two", 21, 2 * k + 1, 3),
                                                   ("one", 30, k, 8)):
                data = self.data(number, size)
                end = t + frame_bits(identifier, data) / self.BAUD
                result.append((end, node, identifier, data))
                t = end + 3 / self.BAUD
        return result

    def check(self, run):
        for node in ("one", "two", "three"):
            seen = [(t, 0x20 if own == node else 0x10, i, data[0] if data else 0) for t, own, i, data in self.sent()]
            frames = [t for t, code, _, _ in seen if code == 0x10]
            confirmed = [t for t, code, _, _ in seen if code == 0x20]
            for name, times in (("at", frames), ("confirmed_at", confirmed)):
                values = run.outputs[f"{node}.{name}"]
                found = np.unique(values[values > 0])
                self.assertEqual(len(found), len(times), (node, name))
                self.assertLess(np.abs(found - times).max(), 1e-14)
            self.assertEqual(self.last(run, f"{node}.frames"), len(frames))
            self.assertEqual(self.last(run, f"{node}.confirmed"), len(confirmed))
        self.assertEqual(self.last(run, "bus.queue_max"), 3)
        self.assertEqual(self.last(run, "bus.delivered"), 8)

    def test_three_nodes(self):
        """The rate is the model's or what a node says first; ranks, methods, without rollback."""
        path = self.three(f"baudrate: {self.BAUD}")
        runs = [simulate(path, *options, ranks=ranks) for options, ranks in
                ((JACOBI, 1), (JFM, 1), ((*JACOBI, "-subsystem_rollback", "false"), 1), (JACOBI, 2), (JACOBI, 3))]
        for run in runs:
            self.check(run)
        for run in runs[3:]:
            self.assertTrue(np.array_equal(runs[0].outputs.values, run.outputs.values))

    def test_lost(self):
        """One that wants its frames back where they lose is told at the end of the arbitration, 13 bits later."""
        path = self.three(f"baudrate: {self.BAUD}", LOST=2)
        run = simulate(path, *JACOBI)
        self.assertEqual(self.last(run, "one.lost"), 2)
        self.assertEqual(self.last(run, "one.confirmed"), 0)
        self.assertEqual(self.last(run, "bus.dropped"), 2)
        when = run.time[np.flatnonzero(np.diff(run.outputs["one.lost"])) + 1]
        self.assertLess(np.abs(when - (np.array([0.1, 0.2]) + 13 / self.BAUD)).max(), 1e-14)

    def test_restart(self):
        """In the midst of frames."""
        path = self.three(f"baudrate: {self.BAUD}")
        checkpoint, output = self.folder / "c.chk", self.folder / "rest.h5"
        whole = simulate(path, *JACOBI, "-cosim_checkpoint", checkpoint, "-cosim_checkpoint_every", "1e-9",
                         "-cosim_checkpoint_epoch", 4, "-cosim_checkpoint_keep", 3)
        self.check(whole)
        run = execute("run", path, *JACOBI, "-cosim_restart", f"{checkpoint}.old2", "-cosim_output", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        rest = Results(output, run)
        self.assertTrue(np.array_equal(whole.outputs.values[-len(rest.time):], rest.outputs.values))

    def test_wrong(self):
        path = self.three("baudrate: 500000")
        run = execute("run", path, *JACOBI)
        self.assertEqual(run.returncode, 1, run.stderr)
        for words in ("'n1'", "100000 bit/s", "500000 bit/s", "baudrate", "t = 0.1"):
            self.assertIn(words, run.stderr)
        self.node("one", ID=30)
        run = execute("run", self.text("one", "two", connections="one.Powertrain -> bus.n1, two.Powertrain -> bus.n2",
                                       more=self.NET.format(baud="")), *JACOBI)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("nobody has said how fast", run.stderr)


if __name__ == "__main__":
    unittest.main()
