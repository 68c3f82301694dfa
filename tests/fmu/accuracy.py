"""Coupled FMUs against exact solutions: as accurate as their capabilities allow."""
import unittest

import h5py
import numpy as np
import references
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, TIGHT, Results, execute, simulate
from fmu_runs import FmuTest, build_parts

ME = dict(kinds=("me", "cs"), capabilities=("state", "variable", "directional"))
INTERPOLATING = dict(capabilities=("state", "variable", "interpolate", "slopes"))
ROOM = """
experiment: {start: 0, stop: 10}
subsystems:
  relay: {fmu: relay.fmu}
  room:
    equations:
      inputs: {heat: 0}
      states: {T: 0.5}
      derivatives: {T: heat - T}
      outputs: {T: T}
connections: [relay.heat -> room.heat, room.T -> relay.u]
"""
PLAIN = dict(capabilities=("state", "variable"))


def percent(values, reference):
    return 100 * np.linalg.norm(values - reference) / np.linalg.norm(reference)


def two_mass_error(results):
    reference = references.two_mass().exact_states(results.time)[:, 0]
    return percent(results.outputs["left.x"], reference)


def lotka_volterra_error(results):
    reference = references.LotkaVolterra.exact_states(results.time)[:, 0]
    return percent(results.outputs["prey.amount"], reference)


class TwoMasses(FmuTest):
    """Methods 6: hermite at h = 1e-3 reaches 3.48e-6 %, jacobi 26.1 %."""

    def error(self, *options, **how):
        return two_mass_error(self.simulate(("left", "right"), "-cosim_step", "1e-3", *options,
                                            *TIGHT, **how))

    def test_model_exchange_is_as_accurate_as_native(self):
        for version in (2, 3):
            for method in ("jfm", "missiles"):
                error = self.error("-cosim_type", method, version=version, **ME)
                self.assertLess(error, 3.6e-6)

    def test_interpolated_inputs_keep_the_order(self):
        self.assertLess(self.error(**INTERPOLATING), 3.6e-6)

    def test_directional_derivatives_allow_missiles(self):
        error = self.error("-cosim_type", "missiles",
                           capabilities=("state", "variable", "interpolate", "directional"))
        self.assertLess(error, 3.6e-6)

    def test_micro_steps_converge_with_second_order(self):
        for version in (2, 3):
            coarse, fine = (self.error("-subsystem_fmu_micro_steps", n, version=version, **PLAIN)
                            for n in (10, 20))
            self.assertLess(coarse, 4e-4)
            self.assertGreater(coarse / fine, 3.0)
            self.assertLess(coarse / fine, 5.0)

    def test_explicit_needs_no_capability(self):
        for version in (2, 3):
            error = self.error("-cosim_type", "jacobi", version=version, capabilities=())
            self.assertAlmostEqual(error, 26.1, delta=0.1)

    def test_intermediate_update(self):
        coarse, fine = (self.error(version=3, capabilities=("state", "update", "slopes"),
                                   defines=(f"SUBSTEP={size}",)) for size in ("2e-4", "1e-4"))
        self.assertLess(coarse, 3.0)
        self.assertGreater(coarse / fine, 1.7)

    def test_event_mode_and_early_return(self):
        error = self.error(version=3, behaviour="returns_early",
                           capabilities=("state", "variable", "event_mode"))
        self.assertLess(error, 4e-4)


class LotkaVolterra(FmuTest):
    """Methods 6, first step with known slopes: 3.9e-5 % at h = 0.1."""

    def error(self, *options, **how):
        return lotka_volterra_error(self.simulate(("prey", "predator"), "-cosim_step", "0.1",
                                                  *options, *TIGHT, stop=20, **how))

    def test_model_exchange(self):
        for version in (2, 3):
            self.assertLess(self.error(version=version, **ME), 4.1e-5)

    def test_co_simulation(self):
        self.assertLess(self.error(**INTERPOLATING), 4.1e-5)
        for version in (2, 3):
            self.assertLess(self.error(version=version, **PLAIN), 1.3e-3)


class Halving(FmuTest):
    """Where nothing tells the error, a second run in halves of the macro-steps does."""

    def run_pair(self, *options, parts=("prey", "predator"), stop=20, code=0, ranks=1, **how):
        """What is printed, the attributes and the true error, in units of the largest amount."""
        build_parts(self.folder, parts, **{"capabilities": (), **how})
        out = self.folder / "out.h5"
        run = execute("run", self.model(parts, stop), *options, "-cosim_output", out, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        results = Results(out, run)
        with h5py.File(out) as file:
            return results, dict(file.attrs)

    @staticmethod
    def true_error(results):
        exact = references.LotkaVolterra.exact_states(results.time)
        return max(np.max(np.abs(results.outputs[name] - exact[:, k])) / np.max(np.abs(exact[:, k]))
                   for k, name in enumerate(("prey.amount", "predator.amount")))

    def test_estimate(self):
        for options in ((), ("-cosim_type", "jacobi", "-cosim_step", 0.004),
                        ("-cosim_type", "gauss_seidel", "-cosim_step", 0.02)):
            with self.subTest(options=options):
                results, told = self.run_pair(*options, capabilities=("variable",))
                truth = self.true_error(results)
                self.assertEqual((told["estimated_by"], told["no_estimate"]), ("halving", ""))
                self.assertGreater(told["error_estimate"], 0.5 * truth)
                self.assertLess(told["error_estimate"], 2 * truth)
                self.assertIn("second run in halves of the macro-steps", results.stdout)
                self.assertEqual(results.status, "inaccurate" if truth > 0.1 else "completed")

    def test_estimate_under_step_control(self):
        for options in (("-cosim_type", "jacobi", "-cosim_adapt", "richardson", "-cosim_adapt_rtol", 1e-4),
                        ("-cosim_accuracy", 1e-2)):
            with self.subTest(options=options):
                results, told = self.run_pair(*options, capabilities=("state", "variable"))
                truth = self.true_error(results)
                print(f"{options}: true {truth:.1e}, estimated {told['error_estimate']:.1e}")
                self.assertEqual((told["estimated_by"], told["no_estimate"]), ("halving", ""))
                self.assertGreater(told["error_estimate"], 0.5 * truth)
                self.assertLess(told["error_estimate"], 3 * truth)

    def test_failed(self):
        """Half of a range."""
        results, told = self.run_pair("-cosim_step", 0.2, code=1)
        self.assertEqual(results.status, "failed")
        self.assertIn("has diverged", told["diverged"])
        self.assertIn("-cosim_step", results.stderr)
        results, _ = self.run_pair("-cosim_step", 0.2, "-cosim_diverged", "warn")
        self.assertEqual(results.status, "diverged")

    def test_rows_are_those_of_the_run(self):
        with_, _ = self.run_pair("-cosim_step", 0.01)
        without, told = self.run_pair("-cosim_step", 0.01, "-cosim_halving", "none")
        self.assertTrue(np.array_equal(with_.time, without.time))
        self.assertTrue(np.array_equal(with_.outputs.values, without.outputs.values))
        self.assertIn("-cosim_halving none", told["no_estimate"])

    def test_ranks(self):
        (_, one), (_, two) = (self.run_pair("-cosim_step", 0.01, ranks=ranks) for ranks in (1, 2))
        self.assertEqual(one["error_estimate"], two["error_estimate"])
        self.assertEqual(one["error_estimate_of"], two["error_estimate_of"])

    def test_what_runs_once(self):
        for options in (("-cosim_checkpoint", self.folder / "c"), ("-cosim_time_limit", 1000),
                        ("-cosim_monitor",), ("-cosim_fmu_calls", self.folder / "calls.csv")):
            results, told = self.run_pair("-cosim_type", "jacobi", "-cosim_step", 0.05, *options,
                                          capabilities=("state", "serialize", "variable"))
            self.assertIn(f"not made beside {options[0]}", told["no_estimate"])
            self.assertIn(f"not made beside {options[0]}", results.stdout)
            self.assertEqual((results.status, told["estimated_by"]), ("completed", ""))

    def test_a_second_run_that_fails(self):
        """Steps of half the size are refused."""
        results, told = self.run_pair("-cosim_step", 0.1, defines=("LEAST_STEP=0.09",))
        self.assertEqual(results.status, "completed")
        self.assertIn("which has failed: ", told["no_estimate"])

    def test_what_switches_earlier(self):
        """No false alarm: it is elsewhere for a while only."""
        self.build("relay", capabilities=())
        path = self.folder / "model.yaml"
        path.write_text(ROOM)
        results = simulate(path, jumps=True)
        self.assertGreater(np.sum(np.diff(results.outputs["relay.heat"]) != 0), 3)
        self.assertEqual(results.code, 0)


class Missiles(FmuTest):
    """Estimators take f at the ends of macro-steps, of an FMU that was given another input in the
    middle of its last micro-step (7.12): as good as one that takes the cubic."""

    def error(self, version, *more):
        results = self.simulate(("prey", "predator"), "-cosim_type", "missiles", "-cosim_step",
                                "0.1", version=version, kinds=("cs",),
                                capabilities=("state", "variable", "directional", *more))
        return lotka_volterra_error(results)

    def test_held_inputs(self):
        cubic = self.error(2, "interpolate")
        for version in (2, 3):
            self.assertLess(self.error(version), 2.0 * cubic)


class Monolithic(FmuTest):
    """Event-free FMUs for model exchange offer their right-hand side."""

    def test_two_masses(self):
        for version in (2, 3):
            results = self.simulate(("left", "right"), "-cosim_type", "monolithic", "-cosim_step",
                                    "1e-2", *TIGHT, version=version, **ME)
            self.assertLess(two_mass_error(results), 1e-6)

    def test_start_values_of_the_fmu(self):
        self.build("left", **ME)
        path = self.model(("left",), 1, {"left": "{fmu: left.fmu, parameters: {m: 10, d: 0, c: 40},"
                                                 " start: {x_state: 2, f: 0}}"})
        results = simulate(path, "-cosim_type", "monolithic", *TIGHT)
        exact = 2 * np.cos(2 * results.time)
        self.assertLess(np.abs(results.outputs["left.x"] - exact).max(), 1e-8)

    def test_events_are_refused(self):
        self.build("ball", **ME)
        self.fails(2, ["'ball' offers no equations"], "-cosim_type", "monolithic", parts=("ball",))
        self.build("ticker", **ME)
        self.fails(2, ["'ticker' offers no equations", "Methods that can run this model"], "-cosim_type", "monolithic",
                   "-subsystem_fmu_interface", "me", parts=("ticker",))


class Mixed(FmuTest):
    """An FMU beside a subsystem of equations."""

    def test_two_masses(self):
        text = (EXAMPLES / "two_mass" / "two_mass.yaml").read_text()
        begin, end = text.index("  left:"), text.index("  right:")
        for version, kinds in ((2, ME), (3, ME), (2, INTERPOLATING)):
            self.build("left", version, **kinds)
            path = self.folder / "mixed.yaml"
            path.write_text(text[:begin] + "  left: {fmu: left.fmu}\n" + text[end:])
            results = simulate(path, "-cosim_step", "1e-3", *TIGHT)
            self.assertLess(two_mass_error(results), 3.6e-6)

    def test_lotka_volterra(self):
        text = LOTKA_VOLTERRA.read_text()
        begin, end = text.index("  prey:"), text.index("  predator:")
        for version, kinds in ((2, ME), (3, ME), (2, INTERPOLATING)):
            self.build("prey", version, **kinds)
            path = self.folder / "mixed.yaml"
            path.write_text(text[:begin] + "  prey: {fmu: prey.fmu}\n" + text[end:])
            results = simulate(path, "-cosim_step", "0.1", *TIGHT)
            self.assertLess(lotka_volterra_error(results), 4.1e-5)

    def test_parameters_and_start_values(self):
        self.build("left", **ME)
        left = ("{fmu: left.fmu, parameters: {m: 10, d: 0, c: 40}, "
                "start: {x_state: 2, f: 0}}")
        results = simulate(self.model(("left",), 1, {"left": left}), *TIGHT)
        exact = 2 * np.cos(2 * results.time)
        self.assertLess(np.abs(results.outputs["left.x"] - exact).max(), 1e-9)


class Ball(FmuTest):
    """State events within macro-steps, with and without rollback."""

    def test_bounces(self):
        for version in (2, 3):
            for method in ("jacobi", "jfm"):
                results = self.simulate(("ball",), "-cosim_type", method, "-cosim_step", "0.07",
                                        *TIGHT, version=version, stop=1.5, **ME)
                self.assertAlmostEqual(results.outputs["ball.h"][-1], 0.05340238983353707, 10)
                self.assertEqual(results.outputs["ball.bounces"][-1], 2)


class Ranks(FmuTest):
    def test_same_bits_on_two_ranks(self):
        for how in (ME, PLAIN):
            one, two = (self.simulate(("left", "right"), "-cosim_step", "1e-3", stop=0.1,
                                      ranks=ranks, **how) for ranks in (1, 2))
            self.assertTrue(np.array_equal(one.outputs.values, two.outputs.values))

    def test_single_instance_per_process(self):
        self.build("left", capabilities=("single", "variable"))
        self.build("ball")
        text = ("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                "  a: {fmu: left.fmu}\n  b: {fmu: left.fmu}\n"
                "  c: {fmu: ball.fmu}\n  d: {fmu: ball.fmu}\n")
        path = self.folder / "model.yaml"
        path.write_text(text)
        results = simulate(path, "-cosim_type", "jacobi", ranks=2, jumps=True)
        self.assertNotEqual(*results.subsystems["rank"][:2])


if __name__ == "__main__":
    unittest.main()
