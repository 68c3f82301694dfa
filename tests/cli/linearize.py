"""concord linearize: A, B, C, D of the coupled system against closed forms."""
import unittest

import h5py
import numpy as np
from concord_runs import EXAMPLES, ModelTest, execute, simulate

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


class Linearize(ModelTest):
    def system(self, model, *options, ranks=1):
        path = self.folder / "abcd.h5"
        run = execute("linearize", model, *options, "-o", path, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(path) as file:
            found = {name: file[name][()] for name in file}
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

    def test_refusals(self):
        two_mass, pair = EXAMPLES / "two_mass/two_mass.yaml", EXAMPLES / "constraint_pair/constraint_pair.yaml"
        for model, options, words in (
                (pair, (), ("constraint 'u'",)), (two_mass, ("--time", "9"), ("outside the experiment",)),
                (two_mass, ("--time", "x"), ("must be a time",)),
                (two_mass, ("-cosim_type", "monolithic"), ("monolithic", "another type")),
                (two_mass, ("-subsystem_left_linearization", "false"), ("'left'", "linearization")),
                (two_mass, ("-o", self.folder / "no" / "such.h5"), ("such.h5", "-o"))):
            with self.subTest(options=options):
                run = execute("linearize", model, *options)
                self.assertEqual(run.returncode, 2, run.stderr)
                for word in ("concord: error: ", *words):
                    self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
