"""Events of co-simulation FMUs without event mode, which tell nobody of them: where macro-steps are taken
back anyway, their instants are those of the equations that the FMUs were made from."""
import functools
import unittest
from itertools import product
from pathlib import Path

import numpy as np
from concord_runs import InFolder, Results, execute, export, in_short, simulate, write_model

RELAY = {
    "lag": "{inputs: {u: 0}, states: {x: 0}, derivatives: {x: (u - x)/0.2}, outputs: {x: x}}",
    "relay": """
      inputs: {x: 0}
      discrete: {on: 1, n: 0}
      when:
        - {condition: x > 0.7 + 0.05*n, set: {on: 0, n: pre(n) + 1}}
        - {condition: x < 0.2, set: {on: 1}}
      outputs: {u: 1.3*on, n: n}""",
}
SAMPLED = {
    "plant": "{inputs: {u: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: u - 0.1*v - x}, outputs: {x: x, v: v}}",
    "fast": """
      inputs: {x: 1, v: 0, w: 0}
      discrete: {u: 0}
      when: [{every: 0.01, set: {u: -4*x - 2*v + w}}]
      outputs: {u: u}""",
    "slow": """
      inputs: {x: 1}
      discrete: {w: 0}
      when: [{every: 0.13, set: {w: pre(w) - 0.1*x}}]
      outputs: {w: w}""",
}
TIMER = {
    "proc": "{inputs: {u: 0}, states: {x: 0}, derivatives: {x: (2*u - x)/1.3}, outputs: {x: x}}",
    "seq": """
      inputs: {x: 0}
      discrete: {mode: 0, t0: 0, dur: 1}
      when:
        - {condition: x > 0.8 && mode == 0, set: {mode: 1, t0: t, dur: 0.5 + x}}
        - {condition: t > t0 + dur && mode == 1, set: {mode: 2, t0: t, dur: 2*dur}}
        - {condition: x < 0.3 && mode == 2, set: {mode: 0, t0: t}}
      outputs: {u: "mode == 0 ? 1 : (mode == 1 ? 0.3 : -0.2)"}""",
}
SPIKES = {
    "pre": """
      inputs: {fb: 0}
      discrete: {n: 0}
      states: {v: 0}
      derivatives: {v: 30*(1.3 - v) - 5*fb}
      when: [{condition: v > 1, set: {v: 0, n: n + 1}}]
      outputs: {n: n}""",
    "syn": """
      inputs: {n: 0}
      discrete: {k: 0}
      states: {a: 0, b: 0}
      derivatives: {a: -a/0.02, b: (a - b)/0.01}
      when: [{condition: n > k + 0.5, set: {k: n, a: a + 1}}]
      outputs: {b: b}""",
}
# What switches shows in no output that only events change.
LIMITED = {
    "act": "{inputs: {c: 0}, states: {y: 0}, derivatives: {y: 'min(0.5, max(-0.5, 10*(c - y)))'}, outputs: {y: y}}",
    "plant": "{inputs: {u: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: 3*u - v}, outputs: {x: x, v: v}}",
    "control": "{inputs: {x: 0, v: 0}, outputs: {c: 'min(1, max(-1, 1.5*(sin(0.5*t) > 0 ? 1 : -1) - 1.5*x - 0.8*v))'}}",
}
GEARS = {
    "engine": "{inputs: {w: 0}, states: {f: 0}, derivatives: {f: w/1000}, outputs: {T: 100*(1 - (w/400)^2), f: f}}",
    "box": """
      inputs: {v: 0, T: 0}
      discrete: {g: 1, last: -1}
      when:
        - {condition: v > 10 && g == 1 && t > last + 0.5, set: {g: 2, last: t}}
        - {condition: v > 20 && g == 2 && t > last + 0.5, set: {g: 3, last: t}}
      variables: {ratio: "g == 1 ? 30 : g == 2 ? 16 : 9"}
      outputs: {w: v*ratio, F: "(t < last + 0.2 ? 0 : T)*ratio"}""",
    "car": "{inputs: {F: 0}, states: {v: 0.1, x: 0}, derivatives: {v: (F - 0.8*v*v - 150)/900, x: v}, "
           "outputs: {v: v, x: x}}",
}
# Parts, connections, stop in s.
MODELS = {
    "relay": (RELAY, "lag.x -> relay.x, relay.u -> lag.u", 4),
    "sampled": (SAMPLED, "plant.x -> fast.x, plant.v -> fast.v, plant.x -> slow.x, slow.w -> fast.w, "
                         "fast.u -> plant.u", 1),
    "timer": (TIMER, "proc.x -> seq.x, seq.u -> proc.u", 6),
    "spikes": (SPIKES, "pre.n -> syn.n, syn.b -> pre.fb", 1),
}
HIDDEN = {
    "limited": (LIMITED, "control.c -> act.c, act.y -> plant.u, plant.x -> control.x, plant.v -> control.v", 8),
    "gears": (GEARS, "box.w -> engine.w, engine.T -> box.T, box.F -> car.F, car.v -> box.v", 12),
}
# Two act at one instant, each by what the other was before.
TOUCHING = {
    name: f"""
      inputs: {{px: {other}, pv: 0}}
      states: {{x: {x}, v: 0}}
      derivatives: {{x: v, v: "-9*(x - {rest})"}}
      when: [{{condition: {touches}, set: {{v: pv}}}}]
      outputs: {{x: x, v: v}}"""
    for name, x, other, rest, touches in (("left", -0.1, 0.01, 0, "x > px"), ("right", 0.01, -0.1, 0.01, "x < px"))}
CHARGES = {
    name: f"""
      inputs: {{w: 0}}
      states: {{v: 0}}
      derivatives: {{v: {rate}}}
      when: [{{every: 0.1, set: {{v: "{share}*v + {1 - share}*w"}}}}]
      outputs: {{v: v}}"""
    for name, rate, share in (("source", "3*(1 - v)", 0.25), ("sink", "-0.5*v", 0.625))}
AT_ONCE = {
    "touching": (TOUCHING, "left.x -> right.px, left.v -> right.pv, right.x -> left.px, right.v -> left.pv", 3.5),
    "charges": (CHARGES, "source.v -> sink.w, sink.v -> source.w", 2),
}
ALL = MODELS | HIDDEN | AT_ONCE
CONTINUOUS = ("act.y", "plant.x", "plant.v", "engine.f", "car.v", "car.x")


def rows_of(name):
    return "-cosim_output_interval", ALL[name][2] / 97


class Instants(InFolder, unittest.TestCase):
    @classmethod
    def write(cls, name, parts, ending=""):
        _, connections, stop = ALL[name]
        lines = [f"experiment: {{start: 0, stop: {stop}}}", "subsystems:",
                 *(f"  {part}: {text}" for part, text in parts.items()), f"connections: [{connections}]"]
        return write_model(cls.folder, name + ending, "\n".join(lines) + "\n")

    @classmethod
    def equations(cls, name):
        return cls.write(name, {part: "{equations: " + text + "}" if text.startswith("{")
                                 else "\n    equations:" + text for part, text in ALL[name][0].items()})

    @classmethod
    @functools.cache
    def fmus(cls, name, version):
        """Every subsystem as an FMU, which is to be used for co-simulation."""
        model = cls.equations(name)
        files = {part: f"{part}{version}.fmu" for part in ALL[name][0]}
        for part, file in files.items():
            export(model, part, Path(cls.folder) / file, version)
        return cls.write(name, {part: f"{{fmu: {file}}}" for part, file in files.items()}, str(version))

    @classmethod
    @functools.cache
    def exact(cls, name):
        return simulate(cls.equations(name), "-cosim_accuracy", 1e-8, *rows_of(name))

    def compare(self, name, version, *options, ranks=1, jumps=False):
        """The largest difference of any output from the equations, of its range; and the run."""
        exact = self.exact(name)
        run = simulate(self.fmus(name, version), "-subsystem_fmu_interface", "cs", *rows_of(name), *options,
                       ranks=ranks, jumps=jumps)
        rows = len(run.time)
        np.testing.assert_allclose(run.time, exact.time[:rows], rtol=1e-12)
        ranges = np.ptp(exact.outputs.values, axis=0)
        self.assertTrue(np.all(ranges > 0))
        # Nothing follows the stop, so that nobody asks what a tick there would put out.
        off = np.abs(run.outputs.values - exact.outputs.values[:rows])[:-1]
        return np.max(off / ranges), run

    def test_as_equations(self):
        """To the accuracy, by default options; and the second run in halves, which tells the error where
        nothing else does, tells it."""
        for name, version in in_short(list(product(MODELS, (2, 3))), 3):
            with self.subTest(model=name, version=version):
                error, run = self.compare(name, version)
                self.assertLess(error, 1e-4)
                self.assertEqual(run.status, "completed")
                self.assertIn("in halves", run.stdout)
                self.assertGreater(run.error_estimate, 0.3 * error)
                self.assertLess(run.error_estimate, 1e-4)
                self.assertGreaterEqual(len(set(run.event_times)), 5)

    def test_what_nothing_tells(self):
        """The step control leads up to what it cannot follow and over it, to a few times the accuracy."""
        for name, version in in_short((("limited", 2), ("gears", 2), ("gears", 3)), 2):
            with self.subTest(model=name, version=version):
                exact = self.exact(name)
                out = Path(self.folder) / f"{name}{version}.h5"
                done = execute("run", self.fmus(name, version), "-subsystem_fmu_interface", "cs", *rows_of(name),
                               "-cosim_output", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("jumps found in black boxes", done.stdout)
                run = Results(out, done)
                for output in set(CONTINUOUS) & set(run.outputs.names):
                    off = np.abs(run.outputs[output] - exact.outputs[output])
                    self.assertLess(np.max(off) / np.ptp(exact.outputs[output]), 5e-4)

    def test_at_once(self):
        """Bodies that exchange their speeds, capacitors their charges: nobody sees first what the other becomes."""
        for name, version in in_short(list(product(AT_ONCE, (2, 3))), 3):
            with self.subTest(model=name, version=version):
                error, run = self.compare(name, version, jumps=True)
                self.assertLess(error, 1e-5)
                self.assertEqual(run.status, "completed")
                self.assertGreater(run.error_estimate, 0.3 * error)
                self.assertLess(run.error_estimate, 1e-4)

    def test_ranks(self):
        options = ("-cosim_stop", ALL["relay"][2] * 48 / 97, "-cosim_halving", "none")
        alone = self.compare("relay", 2, *options)
        for ranks in in_short((2, 3), 2):
            error, run = self.compare("relay", 2, *options, ranks=ranks)
            self.assertLess(error, 1e-4)
            np.testing.assert_allclose(run.outputs.values, alone[1].outputs.values, rtol=1e-9, atol=1e-12)

    def test_accuracy(self):
        """Asked for more, more comes."""
        self.assertLess(self.compare("relay", 2, "-cosim_accuracy", 1e-7)[0], 1e-7)

    def test_forgetting(self):
        """A simulation made anew from what a checkpoint holds goes on as the one before."""
        usual = self.compare("timer", 2, "-cosim_halving", "none")
        anew = self.compare("timer", 2, "-cosim_halving", "none", "-cosim_forget", 1)
        np.testing.assert_allclose(anew[1].outputs.values, usual[1].outputs.values, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
