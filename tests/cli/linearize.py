"""concord linearize: A, B, C, D of the coupled system against closed forms."""
import re
import unittest

import h5py
import numpy as np
from concord_runs import EXAMPLES, PICTURES, ModelTest, execute, simulate

# A spring in cm and N, driven from outside, around a loop of direct feedthrough: f = 3 + 2 e, e = g - f/4.
LOOP = """
experiment: {start: 0, stop: 1}
subsystems:
  mass:
    equations:
      parameters: {m: 2, k: 8}
      inputs: {f: 0, wind: 1}
      states: {x: 0.5, v: 0}
      derivatives: {x: v, v: (f + 3*wind - k*x)/m}
      outputs: {x: x, sum: x + wind}
      units: {x: m}
  gauge:
    equations:
      inputs: {x: 0, f: 0}
      outputs: {e: 0.01*x - f/4}
      units: {x: cm}
  motor:
    equations: {inputs: {e: 0}, outputs: {f: 2*e}}
connections: [mass.x -> gauge.x, gauge.e -> motor.e, motor.f -> gauge.f, motor.f -> mass.f]
"""

# A motor under a PD controller whose derivative is filtered; a flexible load hangs on it, which it does not feel.
SERVO = """
experiment: {start: 0, stop: 1}
subsystems:
  controller:
    equations:
      parameters: {k: 20, td: 0.2, tf: 0.01}
      inputs: {x: 0, wanted: 0}
      states: {f: 0}
      derivatives: {f: (wanted - x - f)/tf}
      outputs: {u: k*(wanted - x + td*(wanted - x - f)/tf)}
  motor:
    equations:
      inputs: {u: 0}
      states: {x: 0, v: 0, i: 0}
      derivatives: {x: v, v: 5*i - 0.5*v, i: (u - 10*i)/0.1}
      outputs: {x: x}
      units: {u: V, x: m}
  load:
    equations:
      inputs: {x: 0}
      states: {y: 0, w: 0}
      derivatives: {y: w, w: 400*(0.001*x - y) - 0.4*w}
      outputs: {y: y}
      units: {x: mm}
connections: [controller.u -> motor.u, motor.x -> controller.x, motor.x -> load.x]
"""
# Of numerator and denominator of the motor and of the controller.
MOTOR = np.polynomial.Polynomial([50]), np.polynomial.Polynomial.fromroots([0, -0.5, -100])
PD = np.polynomial.Polynomial([20, 20 * 0.21]), np.polynomial.Polynomial([1, 0.01])


class Linearize(ModelTest):
    def system(self, model, *options, ranks=1):
        path = self.folder / "abcd.h5"
        run = execute("linearize", model, *options, "-o", path, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            found = {name: value[()] for name, value in file.items() if isinstance(value, h5py.Dataset)}
            found["time"] = file.attrs["time"]
        for name in ("states", "inputs", "outputs"):
            found[name] = [text.decode() for text in found[name]]
        found["eigenvalues"] = found["eigenvalues_real"] + 1j * found["eigenvalues_imag"]
        return found, run.stdout

    def test_loop_units_and_inputs(self):
        """Of the loop follows f = 4/3 x; x arrives in cm."""
        found, _ = self.system(self.model(LOOP))
        self.assertEqual((found["states"], found["inputs"]), (["mass.x", "mass.v"], ["mass.wind"]))
        self.assertEqual(found["outputs"], ["mass.x", "mass.sum", "gauge.e", "motor.f"])
        np.testing.assert_allclose(found["A"], [[0, 1], [(4 / 3 - 8) / 2, 0]], atol=1e-12)
        np.testing.assert_allclose(found["B"], [[0], [1.5]], atol=1e-12)
        np.testing.assert_allclose(found["C"], [[1, 0], [1, 0], [2 / 3, 0], [4 / 3, 0]], atol=1e-12)
        np.testing.assert_allclose(found["D"], [[0], [1], [0], [0]], atol=1e-12)
        np.testing.assert_allclose(sorted(found["eigenvalues"].imag), [-(10 / 3)**.5, (10 / 3)**.5])

    def test_inputs_of_fmus(self):
        """The same with the mass as an FMU, of whose inputs one is fed by nothing."""
        model = self.model(LOOP)
        expected, _ = self.system(model)
        self.assertEqual(execute("export-fmu", model, "mass", "-o", self.folder / "mass.fmu").returncode, 0)
        begin, end = LOOP.index("  mass:"), LOOP.index("  gauge:")
        found, _ = self.system(self.model(LOOP[:begin] + "  mass: {fmu: mass.fmu}\n" + LOOP[end:]))
        for name in "ABCD":
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12)

    def test_modes(self):
        """Participation factors by numpy; columns add up to 1."""
        found, said = self.system(EXAMPLES / "two_mass/two_mass.yaml")
        a = np.array([[0, 1, 0, 0], [-4000, -4, 2000, 2], [0, 0, 0, 1], [125, .125, -1375, -.625]])
        np.testing.assert_allclose(found["A"], a, rtol=1e-12)
        values, v = np.linalg.eig(a)
        w = np.linalg.inv(v)
        for value, parts in zip(found["eigenvalues"], found["participation"].T):
            k = np.argmin(abs(values - value))
            self.assertLess(abs(values[k] - value), 1e-9 * abs(value))
            expected = abs(w[k] * v[:, k])
            np.testing.assert_allclose(parts, expected / expected.sum(), atol=1e-10)
        self.assertIn("right.x 0.48, right.v 0.48", said)
        self.assertIn("5.70059", said)

    def test_later(self):
        """Where a run has come to: the Jacobian of Lotka and Volterra's equations there."""
        model = EXAMPLES / "lotka_volterra/lotka_volterra.yaml"
        found, _ = self.system(model, "--time", 3.3, "-cosim_accuracy", 1e-9)
        self.assertAlmostEqual(found["time"], 3.3, delta=1e-12)
        run = simulate(model, "-cosim_type", "monolithic", "-cosim_stop", 3.3, "-subsystem_rtol", 1e-12)
        x, y = run.states.values[-1]
        np.testing.assert_allclose(found["A"], [[2 / 3 - 4 / 3 * y, -4 / 3 * x], [y, x - 1]], rtol=1e-6)

    def test_ranks(self):
        model = EXAMPLES / "power_ring/power_ring.yaml"
        alone, three = (self.system(model, "--time", 1.5, "-cosim_rtol", 1e-13, ranks=ranks)[0] for ranks in (1, 3))
        for name in "ABCD":
            np.testing.assert_allclose(three[name], alone[name], rtol=1e-9, atol=1e-9)
        self.assertEqual(three["states"], alone["states"])

    def test_defective(self):
        """A ball in flight: nobody's part in a double eigenvalue is known."""
        _, said = self.system(EXAMPLES / "bouncing_ball/bouncing_ball.yaml")
        self.assertEqual(said.count("not told: eigenvectors nearly dependent"), 2)

    def group(self, name):
        with h5py.File(self.folder / "abcd.h5") as file:
            return {key: value[()] for key, value in file[name].items()}

    @staticmethod
    def number(said, label):
        """The first one behind a label."""
        return float(re.search(rf"{label} +(\S+)", said)[1])

    def test_opened_loop(self):
        """Poles, zeros, transfer function and margins of the loop against the product of its parts."""
        _, said = self.system(self.model(SERVO), "--open", "controller.u:motor.u")
        path = self.group("path")
        poles, zeros = (path[f"{kind}_real"] + 1j * path[f"{kind}_imag"] for kind in ("poles", "zeros"))
        # The double pole at -100 is known to the root of rounding; the load is not in the loop.
        np.testing.assert_allclose(np.sort(poles.real), [-100, -100, -0.5, 0], rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(zeros, [-1 / 0.21], rtol=1e-9)
        np.testing.assert_allclose(np.sort(path["cancelled_imag"]),
                                   [-(400 - 0.04)**.5, (400 - 0.04)**.5], rtol=1e-9)
        top, bottom = MOTOR[0] * PD[0], MOTOR[1] * PD[1]
        for s in (0.1j, 3j, 200j, 1 + 2j):
            x = np.linalg.solve(s * np.eye(6) - path["A"], path["B"])
            self.assertAlmostEqual((path["C"] @ x + path["D"])[0, 0] / (top(s) / bottom(s)), 1, delta=1e-9)
        grid = np.geomspace(1, 1000, 2_000_001)
        loop = top(1j * grid) / bottom(1j * grid)
        crossing = np.argmin(abs(abs(loop) - 1))
        at = np.flatnonzero(np.diff(np.sign(loop.imag)))[0]
        self.assertAlmostEqual(self.number(said, "gain margin"), 1 / abs(loop[at]), delta=1e-3)
        self.assertAlmostEqual(self.number(said, "phase margin"), 180 + np.degrees(np.angle(loop[crossing])), delta=1e-3)
        self.assertAlmostEqual(self.number(said, "modulus margin"), np.min(abs(1 + loop)), delta=1e-6)
        self.assertAlmostEqual(self.number(said, "delay margin"),
                               (np.pi + np.angle(loop[crossing])) / grid[crossing], delta=1e-5)
        self.assertRegex(said, "closed +stable")
        self.assertRegex(said, r"(?m)^  0 +0 +1 ")

    def test_closed_path(self):
        """From what is wanted to where it is, and to the load, in its own unit."""
        for output, factor in (("motor.x", 1), ("load.y", 1)):
            _, said = self.system(self.model(SERVO), "--from", "controller.wanted", "--to", output)
            self.assertAlmostEqual(self.number(said, "gain at frequency 0"), factor, delta=1e-5)
        path = self.group("path")
        expected = (MOTOR[1] * PD[1] + MOTOR[0] * PD[0]).roots()
        np.testing.assert_allclose(np.sort_complex(np.append(expected, [-0.2 + 19.9989999j, -0.2 - 19.9989999j])),
                                   np.sort_complex(path["poles_real"] + 1j * path["poles_imag"]), rtol=1e-6)

    def test_reduced(self):
        """Hankel singular values by the gramians' linear equations; the error at any frequency is within its bound."""
        found, said = self.system(self.model(SERVO), "--from", "controller.wanted", "--to", "load.y", "--reduce", 3)
        path, less = self.group("path"), self.group("reduced")
        eye = np.eye(6)

        def gramian(a, q):
            """P of a P + P a' + q = 0, as 36 linear equations."""
            return np.linalg.solve(np.kron(a, eye) + np.kron(eye, a), -q.ravel()).reshape(6, 6)
        reach, sight = gramian(path["A"], path["B"] @ path["B"].T), gramian(path["A"].T, path["C"].T @ path["C"])
        hankel = np.sqrt(np.sort(np.linalg.eigvals(reach @ sight).real.clip(0))[::-1])
        np.testing.assert_allclose(less["hankel"], hankel, rtol=1e-6, atol=1e-7 * hankel[0])
        self.assertAlmostEqual(less["bound"][0], 2 * hankel[3:].sum(), delta=1e-5 * hankel[0])
        self.assertEqual(less["A"].shape, (3, 3))

        def at(system, s):
            n = len(system["A"])
            return (system["C"] @ np.linalg.solve(s * np.eye(n) - system["A"], system["B"]) + system["D"])[0, 0]
        error = max(abs(at(path, 1j * w) - at(less, 1j * w)) for w in np.geomspace(1e-2, 1e4, 3000))
        self.assertLessEqual(error, less["bound"][0])
        self.assertGreaterEqual(1.0001 * less["error"][0], error)
        self.assertGreaterEqual(error, 0.999 * hankel[3])
        self.assertIn("error at most", said)
        # What does not decay is kept: the motor's position, alone with the load's oscillation.
        _, said = self.system(self.model(SERVO), "--open", "controller.u:motor.u", "--reduce", 1)
        self.assertIn("of which 1 do not decay and are kept", said)
        self.assertAlmostEqual(self.group("reduced")["A"][0, 0], 0, delta=1e-9)
        self.assertEqual(found["A"].shape, (6, 6))

    @unittest.skipUnless(PICTURES, "pictures need the Python package")
    def test_pictures(self):
        """Of each kind, in each format, whole and reduced; what is drawn is what was asked for."""
        for kind, ending in (("bode", "svg"), ("nyquist", "png"), ("step", "pdf"), ("poles", "svg")):
            picture = self.folder / f"{kind}.{ending}"
            _, said = self.system(self.model(SERVO), "--open", "controller.u:motor.u", f"--{kind}", picture, "--reduce", 3)
            self.assertIn(str(picture), said)
            self.assertGreater(picture.stat().st_size, 2000)
        text = (self.folder / "bode.svg").read_text()
        for words in ("gain [dB]", "frequency [rad/s]", "controller.u", "reduced", "\u2212180"):
            self.assertIn(words, text)

    def test_refusals(self):
        servo = self.model(SERVO)
        two_mass, pair = EXAMPLES / "two_mass/two_mass.yaml", EXAMPLES / "constraint_pair/constraint_pair.yaml"
        for model, options, words in (
                (pair, (), ("constraint 'u'",)), (two_mass, ("--time", "9"), ("outside the experiment",)),
                (two_mass, ("--time", "x"), ("must be a time",)),
                (two_mass, ("-cosim_type", "monolithic"), ("monolithic", "another type")),
                (two_mass, ("-subsystem_left_linearization", "false"), ("'left'", "linearization")),
                (servo, ("--open", "controller.u"), ("--open 'controller.u'", "controller.u:motor.u")),
                (servo, ("--open", "controller.y:motor.u"), ("no output 'controller.y'", "controller.u")),
                (servo, ("--open", "motor.x:motor.u"), ("does not feed 'motor.u'", "'controller.u' does")),
                (servo, ("--from", "controller.want"), ("'controller.want'", "controller.wanted")),
                (servo, ("--bode", "loop.png"), ("--to controller.u", "3")),
                (servo, ("--open", "controller.u:motor.u", "--bode", "loop.gif"), ("loop.gif", ".svg")),
                (servo, ("--until", "2"), ("--until", "--step")),
                (servo, ("--from", "controller.wanted", "--to", "controller.u", "--set", "controller.k=0", "--bode", "x.png"),
                 ("does not depend on the input", "--to")),
                (servo, ("--reduce", "6"), ("--reduce 6", "6 states")),
                (servo, ("--open", "controller.u:motor.u", "--reduce", "0"), ("--reduce 0", "1 modes")),
                (two_mass, ("-o", self.folder / "no" / "such.h5"), ("such.h5", "-o"))):
            if "--bode" in options and not PICTURES:
                continue
            with self.subTest(options=options):
                run = execute("linearize", model, *options)
                self.assertEqual(run.returncode, 2, run.stderr)
                for word in ("concord: error: ", *words):
                    self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
