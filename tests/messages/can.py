"""A CAN bus: lengths of frames, who sends first, and response times against the analysis of Davis, Burns, Bril
and Lukkien (2007)."""
import math
import struct
import unittest

import numpy as np
from concord_runs import ModelTest, simulate

BAUD = 125000
MODEL = """
experiment: {{stop: {stop}}}
subsystems:
  source: {{equations: {{parameters: {{value: 0.1}}, outputs: {{y: value}}}}}}
  bus: {{messages: {{can: {{baudrate: {baud}}}, channels: {channels}}}}}
connections: {connections}
"""


def check_sum(bits):
    """The remainder of a division of polynomials over GF(2), by long division."""
    rest = [*bits, *[0] * 15]
    divisor = [1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1]
    for i in range(len(bits)):
        if rest[i]:
            rest[i:i + 16] = [a ^ b for a, b in zip(rest[i:i + 16], divisor)]
    return rest[-15:]


def frame_bits(identifier, data, extended=False):
    """Without the three between frames."""
    if extended:
        head = f"0{identifier >> 18:011b}11{identifier & 0x3ffff:018b}000"
    else:
        head = f"0{identifier:011b}000"
    bits = [int(c) for c in head + f"{len(data):04b}" + "".join(f"{byte:08b}" for byte in data)]
    sent = []
    for bit in bits + check_sum(bits):
        sent.append(bit)
        if len(sent) >= 5 and len(set(sent[-5:])) == 1:
            sent.append(1 - bit)
    return len(sent) + 10


def data_of(size, value=0.1):
    return struct.pack("<d", value)[:size]


class Bus(ModelTest):
    def run_bus(self, channels, *options, stop=0.1, ranks=1, baud=BAUD):
        """Arrivals of each channel: name: (id, size, period, offset[, extended])."""
        words = ", ".join(
            f"{name}: {{id: {c[0]}, size: {c[1]}, every: {c[2]}, offset: {c[3]}"
            f"{', extended: true' if len(c) > 4 else ''}}}" for name, c in channels.items())
        text = MODEL.format(stop=stop, baud=baud, channels="{" + words + "}",
                            connections="[" + ", ".join(f"source.y -> bus.{name}" for name in channels) + "]")
        run = simulate(self.model(text), *(options or ("-cosim_type", "jacobi", "-cosim_step", stop)), ranks=ranks)
        return run, {name: run.time[np.flatnonzero(np.diff(run.outputs[f"bus.{name}.arrived"])) + 1]
                     for name in channels}

    def expected(self, channels, stop):
        """The same bus, written otherwise: by bits, frame by frame."""
        waiting, ends, free = [], {name: [] for name in channels}, 0.0
        for name, c in channels.items():
            k = 0
            while c[3] + k * c[2] <= stop:
                waiting.append((c[3] + k * c[2], c[0], name))
                k += 1
        while waiting:
            begin = max(free, min(t for t, _, _ in waiting))
            ready = [one for one in waiting if one[0] <= begin + 1e-12]
            sent = min(ready, key=lambda one: one[1])
            waiting.remove(sent)
            c = channels[sent[2]]
            end = begin + frame_bits(c[0], data_of(c[1])) / BAUD
            ends[sent[2]].append(end)
            free = end + 3 / BAUD
        return {name: np.array([t for t in times if t <= stop]) for name, times in ends.items()}


class Bits(Bus):
    def test_lengths(self):
        """A frame of its own for each size; identifiers with many stuff bits, with few, of 29 bits."""
        for identifier in (0, 0x555, 0x7ff, 0x078):
            channels = {f"c{n}": (identifier ^ n << 3, n, 10, 0.01 * n) for n in range(9)}
            _, arrivals = self.run_bus(channels)
            for n, (name, c) in enumerate(channels.items()):
                self.assertAlmostEqual(arrivals[name][0] - c[3], frame_bits(c[0], data_of(n)) / BAUD, delta=1e-15)
        channels = {"a": (0x1fffffff, 8, 10, 0, True), "b": (0x12345678, 3, 10, 0.01, True)}
        _, arrivals = self.run_bus(channels)
        for name, c in channels.items():
            self.assertAlmostEqual(arrivals[name][0] - c[3], frame_bits(c[0], data_of(c[1]), True) / BAUD, delta=1e-15)

    def test_by_hand(self):
        """Identifier 0 without data: 19 bits of 0, so that the 15 of the check sum are, too: 34 of them, behind every
        five of which there is a one, which are six, and 10 bits that end the frame."""
        self.assertEqual(frame_bits(0, b""), 50)
        _, arrivals = self.run_bus({"a": (0, 0, 10, 0), "b": (1, 0, 10, 0.05)})
        self.assertAlmostEqual(arrivals["a"][0], 50 / BAUD, delta=1e-15)

    def test_extended_loses(self):
        """Against a standard frame with the same first eleven bits."""
        _, arrivals = self.run_bus({"e": (0x100 << 18, 0, 10, 0, True), "s": (0x100, 0, 10, 0)})
        self.assertLess(arrivals["s"][0], arrivals["e"][0])


class Responses(Bus):
    SET = {"low": (0x700, 8, 0.02, 0), "b": (0x200, 4, 0.007, 1e-6), "a": (0x100, 8, 0.005, 1e-6),
           "c": (0x300, 2, 0.011, 1e-6), "d": (0x400, 6, 0.013, 1e-6)}

    def test_every_frame(self):
        expected = self.expected(self.SET, 0.1)
        first = None
        for options, ranks in ((("-cosim_type", "jacobi", "-cosim_step", 0.1), 1), (("-cosim_type", "jfm", "-cosim_step", 0.003), 1),
                               (("-cosim_type", "jacobi", "-cosim_step", 0.1), 2)):
            run, arrivals = self.run_bus(self.SET, *options, ranks=ranks)
            for name, times in expected.items():
                self.assertEqual(len(arrivals[name]), len(times), name)
                self.assertLess(np.abs(arrivals[name] - times).max(), 1e-14, (options, name))
            first = first or run
        self.assertTrue(np.array_equal(first.outputs.values, run.outputs.values))
        self.assertEqual(run.outputs["bus.sent"][-1], sum(math.floor((0.1 - c[3]) / c[2] + 1e-9) + 1 for c in self.SET.values()))

    def response(self, name, bits, blocking):
        """w = B + sum over higher priorities of ceil((w + tau_bit) / T) C; R = w + C: the fixed point."""
        higher = [c for c in self.SET.values() if c[0] < self.SET[name][0]]
        w = 0.0
        while True:
            new = blocking + sum(math.ceil((w + 1 / BAUD) / c[2] - 1e-12) * bits(c) / BAUD for c in higher)
            if new <= w + 1e-15:
                return w + bits(self.SET[name]) / BAUD
            w = new

    def test_analysis(self):
        """Behind a frame that has begun just before all others are ready each has its worst response, which is that
        of the analysis with its true length; no response is longer than with the worst stuffing, 8 s + 47 +
        floor((34 + 8 s - 1) / 4) bits, the three between frames among them."""
        _, arrivals = self.run_bus(self.SET)
        for name, c in self.SET.items():
            released = c[3] + c[2] * np.arange(len(arrivals[name]))
            responses = arrivals[name] - released
            worst = self.response(name, lambda c: 8 * c[1] + 47 + (34 + 8 * c[1] - 1) // 4, (8 * 8 + 47 + 24) / BAUD)
            self.assertLess(responses.max(), worst)
            if name == "low":
                continue
            true = lambda c: frame_bits(c[0], data_of(c[1])) + 3
            exact = self.response(name, true, true(self.SET["low"]) / BAUD - 1e-6)
            self.assertAlmostEqual(responses[0], exact - 3 / BAUD, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
