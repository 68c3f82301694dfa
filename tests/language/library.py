"""The templates and functions that come with Concord, against closed forms and independent solutions."""
import re
import unittest
from pathlib import Path

import numpy as np
from concord_runs import ROOT, TIGHT, ModelTest, execute, simulate

FILES = ("control", "mechanics", "sources")


def rk4(f, x, t):
    """x at all of t, which are close to each other."""
    rows = [np.array(x, float)]
    for a, b in zip(t[:-1], t[1:]):
        h, x = b - a, rows[-1]
        k1 = f(a, x)
        k2 = f(a + h / 2, x + h / 2 * k1)
        k3 = f(a + h / 2, x + h / 2 * k2)
        k4 = f(b, x + h * k3)
        rows.append(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(rows)


class LibraryTest(ModelTest):
    def block(self, template, u, stop=4, parameters="", start="", options=("-cosim_step", 0.05), ranks=1):
        """y of a block that is fed with u(t)."""
        text = (f"include: [library/control.yaml, library/mechanics.yaml, library/sources.yaml]\n"
                f"experiment: {{stop: {stop}}}\nsubsystems:\n"
                f"  source: {{equations: {{outputs: {{u: \"{u}\"}}}}}}\n"
                f"  block: {{template: {template}, parameters: {{{parameters}}}, start: {{{start}}}}}\n"
                f"connections: [source.u -> block.{'force' if 'mass' in template else 'v' if template == 'lugre' else 'u'}]\n")
        return simulate(self.model(text), *TIGHT, *options, ranks=ranks)

    def close(self, found, exact, delta=1e-7):
        np.testing.assert_allclose(found, exact, atol=delta)


class Control(LibraryTest):
    def test_static(self):
        run = self.block("saturation", "2*sin(3*t)", parameters="low: -0.5, high: 1.5")
        self.close(run.outputs["block.y"], np.clip(2 * np.sin(3 * run.time), -0.5, 1.5))
        run = self.block("dead_zone", "2*sin(3*t)", parameters="low: -0.5, high: 1.5")
        u = 2 * np.sin(3 * run.time)
        self.close(run.outputs["block.y"], u - np.clip(u, -0.5, 1.5))
        run = self.block("quantiser", "t*t", 1, "step: 0.25")
        away = np.abs(run.time ** 2 * 4 % 1 - 0.5) > 1e-6
        self.close(run.outputs["block.y"][away], (0.25 * np.round(run.time ** 2 * 4))[away])

    def test_rate_limit(self):
        """A step of 1 at rise 0.5 and T 0.2: on the ramp up to 0.9, then within T."""
        run = self.block("rate_limit", "1", parameters="rise: 0.5, T: 0.2")
        t = run.time
        self.close(run.outputs["block.y"], np.where(t < 1.8, 0.5 * t, 1 - 0.1 * np.exp(-(t - 1.8) / 0.2)))

    def test_hysteresis(self):
        run = self.block("hysteresis", "2*sin(t)", 7, "off: -3, on: 5")
        up, down = np.pi / 6, np.pi + np.pi / 6
        exact = np.where((run.time < up - 1e-9) | ((run.time > down + 1e-9) & (run.time < 2 * np.pi + up - 1e-9)), -3, 5)
        np.testing.assert_array_equal(run.outputs["block.y"][np.abs(run.time - down) > 1e-6],
                                      exact[np.abs(run.time - down) > 1e-6])
        for instant in (up, down, 2 * np.pi + up):
            self.assertLess(np.abs(run.event_times - instant).min(), 1e-8)
        self.assertEqual(self.block("hysteresis", "2 - t", 1, "off: 0, on: 1").outputs["block.y"][0], 1)

    def test_lags(self):
        run = self.block("first_order_lag", "1", parameters="k: 2, T: 0.5", ranks=3)
        self.close(run.outputs["block.y"], 2 * (1 - np.exp(-2 * run.time)))
        run = self.block("second_order_lag", "1", parameters="k: 2, w: 3, D: 0.25")
        w = 3 * np.sqrt(1 - 0.25 ** 2)
        envelope = np.exp(-0.75 * run.time)
        self.close(run.outputs["block.y"],
                   2 * (1 - envelope * (np.cos(w * run.time) + 0.75 / w * np.sin(w * run.time))))

    def test_transfer_function(self):
        """Poles -1, -2, -3: the step response by partial fractions."""
        b, poles = np.array([4, -2, 1, 0.5]), np.array([-1.0, -2.0, -3.0])
        run = self.block("transfer_function", "1", parameters="b0: 4, b1: -2, b2: 1, b3: 0.5, a0: 6, a1: 11, a2: 6")
        exact = np.full_like(run.time, b[0] / 6)
        for p in poles:
            rest = np.prod([p - q for q in poles if q != p])
            exact += np.polyval(b[::-1], p) / (p * rest) * np.exp(p * run.time)
        self.close(run.outputs["block.y"], exact)

    def test_integrator_and_sampling(self):
        """cos(t) up to 0.5 at pi/6, held until it turns at pi/2, down from there."""
        run = self.block("limited_integrator", "cos(t)", 3, "low: -0.2, high: 0.5")
        t = run.time
        self.close(run.outputs["block.y"], np.where(t < np.pi / 6, np.sin(t), np.where(
            t < np.pi / 2, 0.5, np.maximum(0.5 + np.sin(t) - 1, -0.2))))
        run = self.block("sample_and_hold", "sin(t)", parameters="period: 0.3, offset: 0.1")
        ticks = 0.1 + 0.3 * np.floor((run.time - 0.1 + 1e-9) / 0.3)
        self.close(run.outputs["block.y"], np.where(ticks < 0, 0, np.sin(ticks)))

    def test_pid(self):
        """A plant 1/(s + 1)^2 that is asked for more than the limit gives at once, beside small steps of RK4."""
        text = ("include: [library/control.yaml]\nexperiment: {stop: 6}\nsubsystems:\n"
                "  c: {template: pid, parameters: {k: 3, Ti: 1.5, Td: 0.4, N: 8, low: -1, high: 1.8}}\n"
                "  plant: {equations: {inputs: {u: 0}, states: {a: 0, b: 0}, derivatives: {a: u - a, b: a - b}, outputs: {y: b}}}\n"
                "  wanted: {equations: {outputs: {r: \"t < 3 ? 1 : 0.2\"}}}\n"
                "connections: [c.y -> plant.u, plant.y -> c.measured, wanted.r -> c.wanted]\n")
        run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.02)
        back = np.sqrt(1.5 * 0.4)

        def f(t, x, r):
            a, b, integral, filtered = x
            free = 3 * (r - b) + integral - 3 * 8 * (b - filtered)
            u = min(1.8, max(-1, free))
            return np.array([u - a, a - b, 2 * (r - b) + (u - free) / back, (b - filtered) * 8 / 0.4])

        t = np.linspace(0, 3, 6001)
        first = rk4(lambda s, x: f(s, x, 1), [0, 0, 0, 0], t)
        second = rk4(lambda s, x: f(s, x, 0.2), first[-1], t)
        exact = np.interp(run.time, np.concatenate((t, t[1:] + 3)), np.concatenate((first, second[1:]))[:, 1])
        self.close(run.outputs["plant.y"], exact, 1e-5)
        self.assertGreater(len(run.event_times), 2)


    def test_state_space(self):
        """Of two states, two inputs, and D: the modes -1 and -2 by hand."""
        text = ("include: [library/control.yaml]\nexperiment: {stop: 4}\nsubsystems:\n"
                "  s: {template: state_space, parameters: {n: 2, m: 2, p: 1, A: [[0, 1], [-2, -3]], B: [[0, 1], [1, 0]], C: [[1, 2]], "
                "D: [[0, 0.5]]}, start: {x: [1, 0]}}\n"
                "  f: {equations: {outputs: {\"y[2]\": [1, \"exp(-3*t)\"]}}}\nconnections: [f.y -> s.u]\n")
        for ranks in (1, 3):
            run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.02, ranks=ranks)
            # x1'' + 3 x1' + 2 x1 = 1 + 0 e^-3t, with x1' = x2 + e^-3t: x1 = 1/2 + a e^-t + b e^-2t, x1(0) = 1, x1'(0) = 1.
            t = run.time
            a = 2.0
            x1 = 0.5 + a * np.exp(-t) - 1.5 * np.exp(-2 * t)
            x2 = -a * np.exp(-t) + 3 * np.exp(-2 * t) - np.exp(-3 * t)
            self.close(run.outputs["s.y[1]"], x1 + 2 * x2 + 0.5 * np.exp(-3 * t), 1e-7)


class Mechanics(LibraryTest):
    def test_backlash(self):
        """sin(t) with a gap of 0.5: at a distance of 0.25 but for rests behind the turning points."""
        text = ("include: [library/mechanics.yaml]\nexperiment: {stop: 9}\nsubsystems:\n"
                "  f: {equations: {outputs: {x: sin(t), v: cos(t)}}}\n  b: {template: backlash, parameters: {gap: 0.5}}\n"
                "connections: [f.x -> b.x, f.v -> b.v]\n")
        for ranks in (1, 3):
            run = simulate(self.model(text), "-cosim_step", 0.05, ranks=ranks)
            exact = [0.0]
            for x in np.sin(run.time[1:]):
                exact.append(min(x + 0.25, max(x - 0.25, exact[-1])))
            self.close(run.outputs["b.y"], exact, 1e-9)
            self.assertGreater(len(run.event_times), 5)

    def test_spring_with_play(self):
        text = ("include: [library/mechanics.yaml]\nexperiment: {stop: 3}\nsubsystems:\n"
                "  f: {equations: {outputs: {x: sin(t), v: cos(t)}}}\n"
                "  c: {template: spring_with_play, parameters: {c: 10, d: 0.5, gap: 1}}\nconnections: [f.x -> c.x2, f.v -> c.v2]\n")
        run = simulate(self.model(text), "-cosim_step", 0.05)
        away = np.abs(np.sin(run.time) - 0.5) > 1e-6
        exact = np.where(np.sin(run.time) > 0.5, 10 * (np.sin(run.time) - 0.5) + 0.5 * np.cos(run.time), 0)
        self.close(run.outputs["c.force"][away], exact[away], 1e-9)

    def test_clutch(self):
        """Slips until 20/9 s, is locked, and parts at 21/4 s, where the torque held is the grip."""
        text = ("include: [library/mechanics.yaml]\nexperiment: {stop: 7}\nsubsystems:\n"
                "  c: {template: clutch, parameters: {J2: 2}, start: {w1: 10, grip: 3}}\n"
                "  engine: {equations: {outputs: {T: \"max(0, 2*(t - 3))\"}}}\nconnections: [engine.T -> c.torque1]\n")
        for ranks in (1, 3):
            run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.05, ranks=ranks)
            t, s = run.time, np.maximum(run.time - 3, 0)
            late = np.maximum(t - 5.25, 0)
            w1 = np.where(t < 20 / 9, 10 - 3 * t, 10 / 3 + s**2 / 3) + late**2 * 2 / 3
            w1 = np.where(t > 5.25, 10 / 3 + 2.25**2 / 3 + (s**2 - 2.25**2) - 3 * late, w1)
            w2 = np.where(t < 20 / 9, 1.5 * t, 10 / 3 + s**2 / 3)
            w2 = np.where(t > 5.25, 10 / 3 + 2.25**2 / 3 + 1.5 * late, w2)
            self.close(run.outputs["c.w1"], w1, 1e-5)
            self.close(run.outputs["c.w2"], w2, 1e-5)
            for instant in (20 / 9, 5.25):
                self.assertLess(np.abs(run.event_times - instant).min(), 1e-5)

    def test_sliding_and_sticking(self):
        """Slides to rest, sticks while the force rises from 0 to `static`, then slides again."""
        run = self.block("sliding_mass", "2*(t - 1)", 3, "m: 2, static: 1.5, sliding: 1, vs: 1e-9, d: 0", "v: 0.5")
        t, v = run.time, run.outputs["block.v"]
        # 2 v' = 2 (t - 1) - 1 from 0.5; at rest where t^2 - 3 t + 1 = 0.
        rest, off = (3 - np.sqrt(5)) / 2, 1.75
        self.close(v[t < rest], 0.5 + 0.5 * t[t < rest] ** 2 - 1.5 * t[t < rest], 1e-6)
        np.testing.assert_array_equal(v[(t > rest + 1e-9) & (t < off - 1e-9)], 0)
        late = t > off
        self.close(v[late], 0.5 * (t[late] ** 2 - off ** 2) - 1.5 * (t[late] - off), 1e-6)

    def test_stribeck(self):
        text = ("include: [library/mechanics.yaml]\nexperiment: {stop: 1}\nsubsystems:\n  a: {equations: {outputs: "
                "{y: \"stribeck(t, 2, 1, 0.3)\", z: \"smooth_coulomb(t - 0.5, 2, 0.1)\"}}}\n")
        run = simulate(self.model(text), "-cosim_step", 0.1)
        self.close(run.outputs["a.y"], 1 + np.exp(-(run.time / 0.3) ** 2), 1e-12)
        self.close(run.outputs["a.z"], 2 * np.tanh((run.time - 0.5) / 0.1), 1e-12)

    def test_lugre(self):
        """At a steady speed the force is Stribeck's; the way there is an exponential of the bristles."""
        run = self.block("lugre", "0.02", 0.4, "d: 3, stiffness: 1e3")
        g = 0.8 + 0.2 * np.exp(-(0.02 / 0.01) ** 2)
        z = g / 1e3 * (1 - np.exp(-1e3 * 0.02 / g * run.time))
        exact = 1e3 * z + 100 * (0.02 - 1e3 * 0.02 / g * z) + 3 * 0.02
        self.close(run.outputs["block.force"], exact, 1e-6)

    def test_mass_and_spring(self):
        text = ("include: [library/mechanics.yaml]\nexperiment: {stop: 2}\nsubsystems:\n"
                "  m: {template: mass, parameters: {m: 2}, start: {x: 1}}\n"
                "  c: {template: spring_damper, parameters: {c: 18}}\n"
                "connections: [m.x -> c.x1, m.v -> c.v1, c.force -> m.force]\n")
        run = simulate(self.model(text), *TIGHT, "-cosim_step", 0.01)
        self.close(run.outputs["m.x"], np.cos(3 * run.time), 1e-6)


class Sources(LibraryTest):
    def test_sources(self):
        text = ("include: [library/sources.yaml]\nexperiment: {stop: 2}\nsubsystems:\n"
                "  step: {template: step, parameters: {at: 0.5, before: 1, after: 3}}\n"
                "  ramp: {template: ramp, parameters: {from: 0.5, to: 1.5, start: 1, height: -2}}\n"
                "  sine: {template: sine, parameters: {mean: 1, amplitude: 2, frequency: 0.7, phase: 0.3}}\n"
                "  pulse: {template: pulse, parameters: {low: -1, high: 2, period: 0.4, on: 0.25, at: 0.3}}\n")
        run = simulate(self.model(text), "-cosim_step", 0.07)
        t = run.time
        self.close(run.outputs["step.y"], np.where(t < 0.5 - 1e-12, 1, 3), 1e-12)
        self.close(run.outputs["ramp.y"], 1 - 2 * np.clip(t - 0.5, 0, 1), 1e-9)
        self.close(run.outputs["sine.y"], 1 + 2 * np.sin(2 * np.pi * 0.7 * t + 0.3), 1e-9)
        phase = (t - 0.3 + 1e-9) % 0.4
        self.close(run.outputs["pulse.y"], np.where((t > 0.3 - 1e-9) & (phase < 0.1), 2, -1), 1e-12)


    def test_noise(self):
        """Park and Miller's numbers by whole ones, and what a normal distribution has."""
        def next_random(s, times=1):
            return s if times == 0 else next_random(48271 * s % 2147483647, times - 1)

        text = ("include: [library/sources.yaml]\nexperiment: {stop: 40}\nsubsystems:\n"
                "  a: {template: noise, parameters: {seed: 3, mean: 1, deviation: 2}}\n"
                "  b: {template: noise, parameters: {seed: 4}}\n"
                "  lag: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {x: x}}}\n"
                "connections: [a.y -> lag.u]\n")
        for ranks in (1, 3):
            run = simulate(self.model(text), "-cosim_step", 0.01, "-cosim_type", "jfm", ranks=ranks)
            s, r, x, values, states = next_random(8, 2), next_random(9, 3), 0.0, [], []
            for _ in range(4000):
                s, r = next_random(s), next_random(r, 2)
                values.append(1 + 2 * np.sqrt(-2 * np.log(s / 2147483647)) * np.cos(2 * np.pi * r / 2147483647))
                states.append(x)
                x = values[-1] + (x - values[-1]) * np.exp(-0.01)
            ticks = np.searchsorted(run.time, 0.01 * np.arange(4000) - 1e-9)
            self.close(run.outputs["a.y"][ticks], values, 1e-9)
            self.close(run.outputs["lag.x"][ticks], states, 1e-6)
        n = len(ticks)
        a, b = (run.outputs["a.y"][ticks] - 1) / 2, run.outputs["b.y"][ticks]
        for z in (a, b):
            self.assertLess(abs(z.mean()), 4 / np.sqrt(n))
            self.assertLess(abs(z.std() - 1), 4 / np.sqrt(2 * n))
            self.assertLess(abs(np.mean(z**4) - 3), 4 * np.sqrt(96 / n))
            self.assertLess(abs(np.mean(z[1:] * z[:-1])), 4 / np.sqrt(n))
        self.assertLess(abs(np.mean(a * b)), 4 / np.sqrt(n))


class Files(ModelTest):
    def test_each_template_has_a_picture_and_a_solution(self):
        shown, drawn = ((ROOT / "examples" / "blocks" / name).read_text() for name in ("blocks.yaml", "draw.py"))
        here = Path(__file__).read_text()
        for name in FILES:
            templates = re.findall(r"^  (\w+):$", (ROOT / "library" / f"{name}.yaml").read_text().split("\ntemplates:")[1], re.M)
            self.assertGreater(len(templates), 4)
            for template in templates:
                self.assertIn(f"template: {template}", shown)
                self.assertIn(f'("{template}", ', drawn)
                self.assertRegex(here, f'"{template}"|template: {template}[,}}]')

    def test_is_found_and_named(self):
        for name in FILES:
            self.assertTrue((ROOT / "library" / f"{name}.yaml").exists())
        run = execute("check", self.model("include: [library/controls.yaml]\nexperiment: {stop: 1}\n"
                                          "subsystems: {a: {equations: {outputs: {y: t}}}}\n"))
        self.assertEqual(run.returncode, 2)
        self.assertIn("library/control.yaml", run.stderr)
        (self.folder / "library").mkdir()
        (self.folder / "library" / "control.yaml").write_text("functions: {own(v): 2*v}\n")
        run = simulate(self.model("include: [library/control.yaml]\nexperiment: {stop: 1}\n"
                                  "subsystems: {a: {equations: {outputs: {y: own(3)}}}}\n"))
        self.assertEqual(run.outputs["a.y"][0], 6)


if __name__ == "__main__":
    unittest.main()
