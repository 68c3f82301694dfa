"""r.at(t): values between rows against closed forms, limits at events, slopes of outputs."""
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import concord
import h5py
import numpy as np

# x = sin t in one subsystem, y = -cos t driven by it from another.
WAVE = """
experiment: {start: 0, stop: 12}
subsystems:
  a: {equations: {inputs: {y: 0}, states: {x: 0}, derivatives: {x: -y}, outputs: {x: x}}}
  b: {equations: {inputs: {x: 0}, states: {y: -1}, derivatives: {y: x}, outputs: {y: y, twice: 2*y + x}}}
connections: [a.x -> b.x, b.y -> a.y]
"""
TIGHT = {"subsystem_rtol": 1e-12, "subsystem_atol": 1e-12}
# h = 1 - g t^2/2 up to the ground, then up again with half the speed.
BALL = """
experiment: {start: 0, stop: 1.2}
subsystems:
  ball:
    equations:
      states: {h: 1, v: 0}
      derivatives: {h: v, v: "-10"}
      outputs: {h: h, v: v}
      when: [{condition: h < 0, set: {h: "0", v: -0.5*v}}]
"""
# T goes to 2 up to 1.5, then to 0 down to 0.5; q, which nobody sees, follows T.
THERMOSTAT = """
experiment: {start: 0, stop: 12}
subsystems:
  room: {equations: {inputs: {heat: 2}, states: {T: 0, q: 0}, derivatives: {T: heat - T, q: T - q}, outputs: {T: T}}}
  relay:
    equations:
      inputs: {T: 0}
      discrete: {heat: 2}
      when: [{condition: T > 1.5, set: {heat: 0}}, {condition: T < 0.5, set: {heat: 2}}]
      outputs: {heat: heat}
connections: [room.T -> relay.T, relay.heat -> room.heat]
"""


def thermostat(times):
    """T and q where heat is a and c = T - a, d = q - a at the last event: T = a + c e^-s and
    q = a + (d + c s) e^-s."""
    result, a, t0, T, q = [], 2.0, 0.0, 0.0, 0.0
    for t in times:
        while t > (end := t0 + math.log((T - a) / ((1.5 if a else 0.5) - a))):
            s = end - t0
            q = a + (q - a + (T - a) * s) * math.exp(-s)
            T, t0, a = (1.5, end, 0.0) if a else (0.5, end, 2.0)
        s = t - t0
        result.append((a + (T - a) * math.exp(-s), a + (q - a + (T - a) * s) * math.exp(-s)))
    return np.transpose(result)


class Between(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.wave = self.folder / "wave.yaml"
        self.wave.write_text(WAVE)

    def run_wave(self, kind, **options):
        return concord.run(self.wave, cosim_type=kind, cosim_step=0.5, cosim_diverged="warn", **TIGHT, **options)

    def test_slopes_are_those_of_the_values(self):
        for kind in ("monolithic", "jfm", "missiles", "gauss", "jacobi", "jfm6"):
            r = self.run_wave(kind, cosim_output=str(self.folder / f"{kind}.h5"))
            with h5py.File(r.path) as file:
                self.assertEqual("outputs/derivatives" in file, kind != "jacobi")
                if kind == "jacobi":
                    continue
                slopes, y, x = file["outputs/derivatives"][:], r["b.y"], r["a.x"]
                np.testing.assert_allclose(slopes[:, 0], -y, atol=1e-9, err_msg=kind)
                np.testing.assert_allclose(slopes[:, 1], x, atol=1e-9, err_msg=kind)
                np.testing.assert_allclose(slopes[:, 2], 2 * x - y, atol=1e-9, err_msg=kind)

    def test_sine_from_25_rows(self):
        """Seven degrees: through eight rows; through four with slopes, and these are nearer."""
        r = self.run_wave("monolithic", cosim_output=str(self.folder / "wave.h5"))
        self.assertEqual(len(r["time"]), 25)
        t = np.linspace(2, 10, 1001)
        with_slopes = np.abs(r.at(t, "a.x") - np.sin(t)).max()
        r.close()
        with h5py.File(self.folder / "wave.h5", "a") as file:
            del file["outputs/derivatives"]
        without = np.abs(concord.read(self.folder / "wave.h5").at(t, "a.x") - np.sin(t)).max()
        self.assertLess(with_slopes, 5e-8)
        self.assertLess(without, 1e-5)
        self.assertGreater(without, 20 * with_slopes)

    def test_states_and_inputs_of_few_rows(self):
        (self.folder / "thermostat.yaml").write_text(THERMOSTAT)
        t = np.linspace(0, 12, 1201)
        T, q = thermostat(t)
        for kind in ({}, {"cosim_type": "jfm"}, {"cosim_type": "monolithic"}):
            r = concord.run(self.folder / "thermostat.yaml", cosim_accuracy=1e-6, **kind)
            if not kind:
                self.assertLess(len(r["time"]), 200)
            for name, exact in (("room.T", T), ("relay.T", T), ("room.q", q)):
                np.testing.assert_allclose(r.at(t, name), exact, atol=1e-5, err_msg=f"{name} {kind}")

    def test_slopes_that_nobody_knows_are_not_zero(self):
        path = str(self.folder / "slopes.h5")
        self.run_wave("monolithic", cosim_output=path, cosim_output_interval=0.3).close()
        with h5py.File(path) as file:
            t, slopes = file["time"][:], file["inputs/derivatives"][:, 0]
        self.assertTrue(np.isnan(slopes[np.abs(t % 0.5 - 0.25) < 0.2]).all())
        self.assertEqual(slopes[0], 0)

    def test_slopes_of_holds_are_not_those_of_signals(self):
        r = concord.run(self.wave, cosim_type="jacobi", cosim_step=0.05)
        t = np.linspace(0, 12, 777)
        np.testing.assert_array_equal(r.at(t, "b.x"), r.at(t, "a.x"))

    def test_as_the_command_goes(self):
        r = self.run_wave("jfm", cosim_output=str(self.folder / "wave.h5"))
        csv = self.folder / "even.csv"
        subprocess.run([os.environ["CONCORD_PROGRAM"], "export", r.path, "--interval", "0.07", "-o", csv], check=True)
        table = np.genfromtxt(csv, delimiter=",", names=True, deletechars="")
        every = r.at(table["time"])
        self.assertEqual(list(every), r.keys())
        for name, values in every.items():
            np.testing.assert_array_equal(values, table[name], err_msg=name)

    def test_ball(self):
        """Parabolas, from one bounce to the next."""
        ball = self.folder / "ball.yaml"
        ball.write_text(BALL)
        for options in ({}, {"cosim_type": "monolithic"}, {"cosim_type": "jfm", "cosim_output_interval": 0.3}):
            r = concord.run(ball, **options)
            g, bounces = 10, [event.time for event in r.events]
            first = math.sqrt(2 / g)
            self.assertAlmostEqual(bounces[0], first, delta=1e-6)
            t = np.linspace(0, bounces[0], 201)[:-1]
            np.testing.assert_allclose(r.at(t, "ball.h"), 1 - g * t**2 / 2, atol=1e-6)
            hit = g * first
            before, after = r.at(bounces[0], "ball.v", side="left"), r.at(bounces[0], "ball.v")
            self.assertAlmostEqual(before, -hit, delta=1e-5)
            self.assertAlmostEqual(after, hit / 2, delta=1e-5)
            s = np.linspace(0, bounces[1] - bounces[0], 101)[:-1]
            np.testing.assert_allclose(r.at(bounces[0] + s, "ball.v"), after - g * s, atol=1e-5)
            np.testing.assert_allclose(r.at(bounces[0] + s, "ball.h"), after * s - g * s**2 / 2, atol=1e-5)
            both = r.at([bounces[0], 0.1], ["ball.v"], side="left")
            self.assertEqual(list(both), ["ball.v"])
            np.testing.assert_allclose(both["ball.v"], [-hit, -1], atol=1e-5)

    def test_shapes_and_rows(self):
        r = self.run_wave("jfm")
        np.testing.assert_array_equal(r.at(r["time"], "a.x"), r["a.x"])
        self.assertEqual(r.at(np.ones((2, 3)), "a.x").shape, (2, 3))
        self.assertEqual(r.at([], "a.x").shape, (0,))
        self.assertIsInstance(float(r.at(1, "a.x")), float)
        self.assertEqual(np.shape(r.at(1, "a.x")), ())
        np.testing.assert_array_equal(r.at([3, 1, 2], "a.x"), [r.at(t, "a.x") for t in (3, 1, 2)])

    def test_what_is_refused(self):
        r = self.run_wave("jfm")
        for t in (-1e-3, 12.1, [1, 13], math.nan, math.inf):
            with self.assertRaisesRegex(ValueError, "0 to 12 s"):
                r.at(t)
        with self.assertRaisesRegex(concord.InputError, "side='up'"):
            r.at(1, side="up")
        with self.assertRaisesRegex(KeyError, "no variable 'a.z'"):
            r.at(1, "a.z")
        r.close()
        with self.assertRaisesRegex(concord.InputError, "closed"):
            r.at(1)

    def test_units_to_show(self):
        self.wave.write_text(WAVE.replace("outputs: {x: x}", "outputs: {x: x}, units: {x: K}, display: {x: degC}"))
        r = self.run_wave("jfm")
        self.assertEqual((r.units["a.x"], r.display_units["a.x"], r.display_units["b.y"]), ("K", "degC", ""))


if __name__ == "__main__":
    unittest.main()
