"""Quintic inputs need second derivatives of outputs: FMUs in model exchange with directional
derivatives have them as differences of the first ones, co-simulation has none."""
import unittest

from accuracy import two_mass_error
from concord_runs import TIGHT, Results, run_here
from fmu_runs import PAIR, FmuTest, build_parts

# Coupled to what FMUs leave of noise (1e-10), not further.
OPTIONS = ("-cosim_step", 5e-3, *TIGHT, "-cosim_rtol", "1e-9", "-cosim_atol", "1e-9")


class ModelExchange(FmuTest):
    def test_two_masses(self):
        """The errors of methods 13, with one evaluation per macro-step."""
        for version in (2, 3):
            for preset in ("jfm6", "missiles6"):
                with self.subTest(version=version, preset=preset):
                    run = self.simulate(PAIR, "-cosim_type", preset, *OPTIONS, version=version,
                                        kinds=("me",), capabilities=("directional",))
                    error = two_mass_error(run)
                    self.assertLess(error, 1.2 * 1.42e-6)
                    self.assertGreater(error, 1.42e-6 / 1.2)
                    self.assertLess(run.steps["coupling_evaluations"].mean(), 1.05)

    def test_wrong_directional_derivatives(self):
        """They are told, and differences take their place: the errors are the same."""
        for version in (2, 3):
            build_parts(self.folder, PAIR, version, kinds=("me",), behaviour="wrong_directionals",
                        capabilities=("directional",))
            for preset, usual in (("jfm6", 1.42e-6), ("jfm", 1.96e-3)):
                with self.subTest(version=version, preset=preset):
                    path = self.folder / f"{preset}.h5"
                    done = run_here(self.model(PAIR), "-cosim_type", preset, *OPTIONS, "-cosim_output", path)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for name in ("left", "right"):
                        self.assertIn(f"'{name}' ({self.folder / name}.fmu): its directional derivatives are wrong: "
                                      "output", done.stderr)
                    error = two_mass_error(Results(path, done))
                    self.assertLess(error, 1.2 * usual)
                    self.assertGreater(error, usual / 1.2)

    def test_without_directional_derivatives(self):
        self.build("left", kinds=("me",), capabilities=())
        self.fails(2, ("subsystem 'left'", "second derivatives of its outputs", "quintic"),
                   "-cosim_type", "jfm6")


class CoSimulation(FmuTest):
    def test_refused(self):
        self.build("left", kinds=("cs",), capabilities=("state", "variable", "directional"))
        for preset in ("jfm6", "missiles6"):
            self.fails(2, ("subsystem 'left'", "second derivatives of its outputs", "quintic"),
                       "-cosim_type", preset)


if __name__ == "__main__":
    unittest.main()
