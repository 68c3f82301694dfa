"""Messages between subsystems: when they arrive, what is dropped and lost, and control over them."""
import unittest

import numpy as np
from concord_runs import ModelTest, Results, execute, simulate

RAMP = """
experiment: {{stop: {stop}}}
subsystems:
  ramp: {{equations: {{states: {{x: 0}}, derivatives: {{x: 1}}, outputs: {{x: x}}}}}}
  net: {{messages: {{channels: {channels}, {rules}}}}}
connections: [{connections}]
"""
COUNTS = ("sent", "delivered", "dropped", "lost", "queue_max")


class Links(ModelTest):
    def ramp(self, rules, *options, channels="{y: {every: 0.1}}", connections="ramp.x -> net.y", stop=1, ranks=1):
        text = RAMP.format(stop=stop, channels=channels, rules=rules, connections=connections)
        return simulate(self.model(text), *(options or ("-cosim_type", "jacobi", "-cosim_step", 0.07)), ranks=ranks)

    def arrivals(self, run, channel="y"):
        """Times and numbers."""
        new = np.flatnonzero(np.diff(run.outputs[f"net.{channel}.arrived"])) + 1
        return run.time[new], run.outputs[f"net.{channel}.received"][new]

    def counts(self, run):
        return {name: run.outputs[f"net.{name}"][-1] for name in COUNTS}


class Times(Links):
    def test_delay_and_rate(self):
        """8 bytes at 1280 bit/s take 0.05 s, and travel 0.02 s."""
        for method in ("jacobi", "jfm", "missiles"):
            run = self.ramp("rate: 1280, delay: 0.02", "-cosim_type", method, "-cosim_step", 0.07)
            times, numbers = self.arrivals(run)
            self.assertLess(np.abs(times - (0.1 * np.arange(10) + 0.07)).max(), 1e-14)
            self.assertLess(np.abs(numbers - 0.1 * np.arange(10)).max(), 1e-9)
            self.assertEqual(run.outputs["net.y.received"][0], 0)

    def test_one_after_the_other(self):
        """Two channels share the link: 0.03 s each, every 0.1 s, and a queue that fills where they take 0.15."""
        two = "{y: {every: 0.1, size: 3}, z: {every: 0.1, size: 3}}"
        feeds = "ramp.x -> net.y, ramp.x -> net.z"
        run = self.ramp("rate: 800", channels=two, connections=feeds)
        for channel, late in (("y", 0.03), ("z", 0.06)):
            self.assertLess(np.abs(self.arrivals(run, channel)[0] - (0.1 * np.arange(10) + late)).max(), 1e-14)
        run = self.ramp("rate: 160, queue: 3, overhead: 0", channels=two, connections=feeds)
        free, waiting, expected, sent = 0.0, [], [], 0
        for k in range(11):  # both at 0.1 k, one of which may be sent at once
            for _ in range(2):
                t = 0.1 * k
                waiting = [end for end in waiting if end > t + 1e-12]
                sent += 1
                if len(waiting) > 3:
                    continue
                free = max(free, t) + 0.15
                waiting.append(free)
                expected.append(free)
        got = np.sort(np.concatenate([self.arrivals(run, channel)[0] for channel in "yz"]))
        expected = [t for t in expected if t <= 1 + 1e-12]
        self.assertLess(np.abs(got - expected).max(), 1e-12)
        counts = self.counts(run)
        self.assertEqual(counts["sent"], sent)
        self.assertEqual(counts["queue_max"], 3)
        self.assertEqual(counts["delivered"], len(expected))
        self.assertEqual(counts["lost"], 0)
        self.assertGreater(counts["dropped"], 5)

    def test_called(self):
        """By a number that counts; two at once are two messages."""
        text = """
experiment: {stop: 1}
subsystems:
  source:
    equations:
      states: {x: 0}
      discrete: {n: 0}
      derivatives: {x: 1}
      when: [{every: 0.3, offset: 0.2, set: {n: pre(n) + 2}}]
      outputs: {x: x, n: n}
  net: {messages: {channels: {y: {start: -1}}, delay: 0.05}}
connections: [source.x -> net.y, source.n -> net.y.send]
"""
        run = simulate(self.model(text), "-cosim_type", "jacobi", "-cosim_step", 0.11)
        times, numbers = self.arrivals(run)
        self.assertLess(np.abs(times - [0.25, 0.55, 0.85]).max(), 1e-14)
        self.assertLess(np.abs(numbers - [0.2, 0.5, 0.8]).max(), 1e-9)
        self.assertEqual(run.outputs["net.y.received"][0], -1)
        self.assertEqual(run.outputs["net.y.arrived"][-1], 6)


class Control(Links):
    """A controller that gets what was measured 0.013 s before, as messages and as equations."""

    PARTS = """
experiment: {stop: 1}
subsystems:
  plant: {equations: {inputs: {u: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: -x - 0.5*v + u}, outputs: {y: x}}}
  controller: {equations: {inputs: {y: 0}, outputs: {u: 4*(1 - y)}}}
"""
    NET = PARTS + """  net: {messages: {channels: {y: {every: 0.05, size: 10}}, rate: 10000, delay: 0.005}}
connections: [plant.y -> net.y, net.y.received -> controller.y, controller.u -> plant.u]
"""
    SAME = PARTS + """  net:
    equations:
      inputs: {y: 0}
      discrete: {old: 0, way: 0, new: 0}
      when:
        - {every: 0.05, set: {old: y}}
        - {every: 0.05, offset: 0.008, set: {way: old}}
        - {every: 0.05, offset: 0.013, set: {new: way}}
      outputs: {y: new}
connections: [plant.y -> net.y, net.y -> controller.y, controller.u -> plant.u]
"""
    TIGHT = ("-cosim_step", 0.03, "-cosim_rtol", "1e-11", "-cosim_atol", "1e-13",
             "-subsystem_rtol", "1e-11", "-subsystem_atol", "1e-13")

    def test_as_equations(self):
        for method in ("jacobi", "jfm"):
            options = ("-cosim_type", method, *self.TIGHT)
            run = simulate(self.model(self.NET), *options)
            same = simulate(self.model(self.SAME), *options)
            self.assertLess(np.abs(run.time - same.time).max(), 1e-14)
            for name in ("plant.y", "controller.u"):
                self.assertLess(np.abs(run.outputs[name] - same.outputs[name]).max(), 1e-9, (method, name))

    def test_ranks(self):
        path = self.model(self.NET.replace("delay: 0.005", "delay: [0.001, 0.02], loss: 0.2"))
        for method in (("-cosim_type", "jacobi", "-cosim_step", 0.03), ("-cosim_accuracy", "1e-5")):
            one = simulate(path, *method)
            for ranks in (2, 3):
                other = simulate(path, *method, ranks=ranks)
                self.assertTrue(np.array_equal(one.time, other.time), (method, ranks))
                self.assertTrue(np.array_equal(one.outputs.values, other.outputs.values), (method, ranks))

    def test_restart(self):
        path = self.model(self.NET.replace("delay: 0.005", "delay: [0.03, 0.2], loss: 0.2, order: free"))
        checkpoint, output = self.folder / "c.chk", self.folder / "rest.h5"
        options = ("-cosim_type", "jacobi", "-cosim_step", 0.03)
        whole = simulate(path, *options, "-cosim_checkpoint", checkpoint, "-cosim_checkpoint_every", "1e-9",
                         "-cosim_checkpoint_epoch", 5, "-cosim_checkpoint_keep", 3)
        run = execute("run", path, *options, "-cosim_restart", f"{checkpoint}.old2", "-cosim_output", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        rest = Results(output, run)
        self.assertGreater(rest.time[0], 0.3)
        self.assertGreater(len(rest.time), 5)
        self.assertTrue(np.array_equal(whole.outputs.values[-len(rest.time):], rest.outputs.values))


class Chances(Links):
    def test_loss(self):
        """Of 2000 messages a fifth, up to four standard deviations; by the seed alone."""
        found = []
        for seed in (1, 1, 2):
            run = self.ramp(f"loss: 0.2, seed: {seed}", "-cosim_type", "jacobi", "-cosim_step", 1,
                            channels="{y: {every: 0.001}}", stop=1.9995)
            counts = self.counts(run)
            self.assertEqual(counts["sent"], 2000)
            self.assertEqual(counts["delivered"] + counts["lost"], 2000)
            self.assertLess(abs(counts["lost"] - 400), 4 * np.sqrt(2000 * 0.2 * 0.8))
            found.append(self.arrivals(run)[0])
        self.assertTrue(np.array_equal(found[0], found[1]))
        self.assertFalse(np.array_equal(found[0], found[2]))

    def test_order(self):
        """Evenly late by 0 to 0.5 s: some overtake others, where they may."""
        for order in ("kept", "free"):
            run = self.ramp(f"delay: [0, 0.5], order: {order}", channels="{y: {every: 0.05}}", stop=5)
            times, numbers = self.arrivals(run)
            late = times - numbers
            self.assertTrue(np.all((late > -1e-9) & (late < 0.5)))
            overtaken = np.count_nonzero(np.diff(numbers) < -1e-9)
            self.assertEqual(overtaken, 0) if order == "kept" else self.assertGreater(overtaken, 10)
        self.assertLess(abs(late.mean() - 0.25), 4 * 0.5 / np.sqrt(12 * len(late)))


class Wrong(Links):
    def test_refused(self):
        for rules, channels, words in (
                ("delay: [0.2, 0.1]", "{y: {every: 0.1}}", ("delay", "the least and the most")),
                ("loss: 1.5", "{y: {every: 0.1}}", ("loss", "from 0 to 1", "1.5")),
                ("queue: 0.5", "{y: {every: 0.1}}", ("queue", "a whole number", "0.5")),
                ("rate: 0", "{y: {every: 0.1}}", ("rate", "greater than zero")),
                ("order: never", "{y: {every: 0.1}}", ("kept or free", "never")),
                ("seed: 1", "{y: {every: 0}}", ("every", "greater than zero")),
                ("seed: 1", "{y: {every: 1e-12}}", ("'net.y' come every 1e-12 s", "until the stop", "give at least")),
                ("seed: 1", "{y: {type: bytes, every: 1}}", ("every", "is of channels of numbers")),
                ("seed: 1", "{y: {id: 5}}", ("id", "is for a CAN bus")),
                ("seed: 1", "{y: {offset: 1}}", ("needs 'every'",)),
                ("seed: 1", "{}", ("needs channels",)),
                ("nodes: [a, b]", "{y: {every: 0.1}}", ("are of a CAN bus",)),
                ("can: {}, delay: 1", "{y: {id: 1}}", ("delay", "leave it out")),
                ("can: {}", "{y: {id: 1}}", ("at least two",)),
                ("can: {}", "{y: {id: 1}, z: {id: 1}}", ("is that of the channel 'y'",)),
                ("can: {}", "{y: {id: 2048}, z: {id: 1}}", ("0 to 2047", "2048")),
                ("can: {}", "{y: {}, z: {id: 1}}", ("needs 'id'",)),
                ("can: {baudrate: -1}", "{y: {id: 3}, z: {id: 1}}", ("baudrate", "greater than zero")),
                ("speed: 1", "{y: {every: 0.1}}", ("unknown key 'speed'",))):
            self.check_refuses(RAMP.format(stop=1, channels=channels, rules=rules, connections="ramp.x -> net.y"), *words)


if __name__ == "__main__":
    unittest.main()
