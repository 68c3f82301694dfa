"""Balance correction, smooth switching and Hermite extrapolation: observed orders, and what is
recorded."""
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import (LOTKA_VOLTERRA, SPRING_MASS, TIGHT, TWO_MASS, execute, in_short, run_here, simulate,
                          write_model)
from explicit_methods import JUMPS, jumps_exactly, order_options
from references import LotkaVolterra, error_percent, observed_orders, two_mass

MASSES = ("left.x", "left.v", "right.x", "right.v")
AMOUNTS = ("prey.amount", "predator.amount")
OMEGA = 2.0  # of spring_mass: sqrt(8 / 2)


def spring_mass(times):
    return np.stack([np.cos(OMEGA * times), -OMEGA * np.sin(OMEGA * times)], axis=1)


PROBLEMS = {SPRING_MASS: (("spring.x", "mass.v"), spring_mass),
            LOTKA_VOLTERRA: (AMOUNTS, LotkaVolterra.exact_states),
            TWO_MASS: (MASSES, lambda times: two_mass().exact_states(times))}


def error(model, *options):
    results = simulate(model, *TIGHT, "-cosim_record", "states", *options)
    names, exact = PROBLEMS[model]
    return error_percent(results.states.columns(*names), exact(results.time))


class OrderTest(unittest.TestCase):
    def errors(self, model, steps, label, *options):
        """And their observed orders."""
        errors = [error(model, "-cosim_step", h, *options) for h in steps]
        orders = observed_orders(steps, errors)
        print(f"{label}: errors {['%.3e' % e for e in errors]} %, orders {np.round(orders, 2)}")
        return errors, orders

    def check(self, model, steps, order, label, *options, allowed=0.25):
        with self.subTest(label):
            errors, orders = self.errors(model, steps, label, *options)
            self.assertLess(np.max(np.abs(orders - order)), allowed, label)
            return errors


class SpringMass(OrderTest):
    """Moshagen, section 4.2.2. The growth of energy against theory: examples/spring_mass."""
    steps = (0.02, 0.01, 0.005)

    def test_correction_gains_one_order(self):
        for k in range(3):
            for correction, spread in in_short((("constant", 1), ("smooth", 1), ("constant", 2),
                                                ("smooth", 4)), 3, k):
                self.check(SPRING_MASS, self.steps, k + 2, f"order {k}, {correction} over {spread}",
                           "-cosim_type", "jacobi", "-cosim_balance", correction,
                           "-cosim_balance_spread", spread, *order_options(k), allowed=0.05)

    def test_order_three_gains_one_too(self):
        self.check(SPRING_MASS, (0.08, 0.04, 0.02), 5, "order 3, smooth", "-cosim_type", "jacobi",
                   "-cosim_balance", "smooth", *order_options(3))

    def test_under_step_control(self):
        """What is given back is no error of the macro-step that does, or none would be small enough."""
        for correction, spread in (("smooth", 4), ("constant", 1)):
            with self.subTest(correction=correction, spread=spread):
                found = simulate(SPRING_MASS, "-cosim_type", "jacobi", "-cosim_accuracy", 1e-2, "-cosim_balance", correction,
                                 "-cosim_balance_spread", spread)
                self.assertLess(np.max(np.abs(found.states.columns("spring.x", "mass.v") - spring_mass(found.time))),
                                1e-2 * 2 * OMEGA)
                self.assertLess(int(re.search(r"\((\d+) rejected", found.stdout).group(1)), len(found.time) / 100)

    def test_without_correction(self):
        for k in range(1, 4):
            self.check(SPRING_MASS, self.steps, k + 1, f"order {k}, none", "-cosim_type", "jacobi",
                       *order_options(k), allowed=0.05)
        self.check(SPRING_MASS, (0.002, 0.001), 1, "order 0, none", "-cosim_type", "jacobi")

    def test_schedules_and_extripol_gain_one_order(self):
        for correction in ("constant", "smooth"):
            for k in range(2):
                for method, options in in_short((("gauss_seidel", order_options(k)),
                                                 ("hierarchical", order_options(k)),
                                                 ("extripol", ["-cosim_hold_order", k])), 3,
                                                k + len(correction)):
                    self.check(SPRING_MASS, self.steps, k + 2, f"{method}, order {k}, {correction}",
                               "-cosim_type", method, *options, "-cosim_balance", correction,
                               allowed=0.05)

    def largest_balance_error(self, *options):
        results = simulate(SPRING_MASS, *TIGHT, "-cosim_type", "jacobi", *options)
        return np.max(np.abs(results.balance.values), axis=0)

    def test_accumulated_error_is_bounded(self):
        """Four times the time: the same largest error, and much smaller than without correction
        (where it grows only with the energy: errors of an oscillation cancel by themselves)."""
        for k in range(2):
            hold = [*order_options(k), "-cosim_step", 0.01]
            plain = self.largest_balance_error(*hold, "-cosim_record", "balance")
            short, longer = (self.largest_balance_error(*hold, "-cosim_balance", "smooth", *stop)
                             for stop in ([], ["-cosim_stop", 80]))
            print(f"order {k}: largest balance error in 20 s, none {plain}, smooth {short}; smooth "
                  f"in 80 s {longer}")
            self.assertTrue(np.all(longer < 1.01 * short))
            self.assertTrue(np.all(20 * short < plain))

    def test_jfm_keeps_the_energy(self):
        results = simulate(SPRING_MASS, *TIGHT, "-cosim_step", 0.1)
        x, v = results.states.values.T
        energy = 4 * x**2 + v**2
        print(f"jfm: energy within {np.ptp(energy):.1e} of {energy[0]} J over {results.time[-1]} s")
        self.assertLess(np.ptp(energy), 1e-11)


RAMP = """experiment: {start: 0, stop: 2}
subsystems:
  source:
    equations:
      states: {level: 0}
      derivatives: {level: 1}
      outputs: {flow: level}
      units: {flow: kg/s}
  tank:
    equations:
      inputs: {inflow: 0}
      states: {content: 0}
      derivatives: {content: inflow}
      outputs: {content: content}
      units: {inflow: kg/s, content: kg}
connections:
  - source.flow -> tank.inflow
"""


class Ramp(unittest.TestCase):
    """A flow u = t, held: a macro-step misses h^2/2, in closed form."""
    h = 0.1

    def simulate(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            results = simulate(write_model(folder, "ramp", RAMP), "-cosim_type", "jacobi", *TIGHT,
                               "-cosim_step", self.h, *options)
        balance = results.balance["source.flow -> tank.inflow"]
        missing = results.time**2 / 2 - results.states["tank.content"]
        np.testing.assert_allclose(missing, balance, rtol=0, atol=1e-12)
        return balance

    def test_without_correction_it_grows(self):
        balance = self.simulate("-cosim_record", "states,balance")
        np.testing.assert_allclose(balance, self.h**2 / 2 * np.arange(21), rtol=0, atol=1e-12)

    def test_what_is_missing_is_what_is_still_to_be_given_back(self):
        for correction in ("constant", "smooth"):
            for spread in range(1, 5):
                with self.subTest(correction=correction, spread=spread):
                    balance = self.simulate("-cosim_balance", correction, "-cosim_balance_spread",
                                            spread)
                    owed = [sum((spread - age) / spread for age in range(min(n, spread)))
                            for n in range(21)]
                    np.testing.assert_allclose(balance, self.h**2 / 2 * np.array(owed), rtol=0,
                                               atol=1e-12)

    def test_steps_that_vary(self):
        """Under step control, and to an event and a stop that the steps don't meet."""
        for correction in ("none", "constant", "smooth"):
            for options in (["-cosim_adapt", "predictor", "-cosim_adapt_rtol", 1e-3,
                             "-cosim_adapt_atol", 1e-6],
                            ["-cosim_step", 0.3]):
                spread = ["-cosim_balance_spread", 2] if correction != "none" else []
                self.simulate("-cosim_record", "states,balance", "-cosim_balance", correction,
                              *spread, *options)

    def test_switching_misses_twice_as_much(self):
        balance = self.simulate("-cosim_smooth_switching", "true", "-cosim_record",
                                "states,balance")
        np.testing.assert_allclose(balance[1:], self.h**2 * (np.arange(1, 21) - 0.5), rtol=0,
                                   atol=1e-12)


class OtherModels(OrderTest):
    def test_lotka_volterra_gains_one_order(self):
        for method in ("jacobi", "gauss_seidel"):
            for k in range(3):
                for correction in ("constant", "smooth"):
                    self.check(LOTKA_VOLTERRA, (0.025, 0.0125), k + 2,
                               f"{method}, order {k}, {correction}", "-cosim_type", method,
                               "-cosim_balance", correction, *order_options(k))


class DirectFeedthrough(OrderTest):
    """Two masses: what one side puts out follows its own held inputs."""
    steps = (1e-4, 5e-5)

    def test_parallel_keeps_its_order_with_smaller_errors(self):
        for k in range(3):
            plain = error(TWO_MASS, "-cosim_type", "jacobi", "-cosim_step", self.steps[0],
                          *order_options(k))
            for correction in ("constant", "smooth"):
                errors = self.check(TWO_MASS, self.steps, k + 1, f"order {k}, {correction}",
                                    "-cosim_type", "jacobi", "-cosim_balance", correction,
                                    *order_options(k), allowed=0.1)
                self.assertLess(errors[0], 0.75 * plain)

    def test_consistent_outputs_gain_one_order(self):
        for method in ("jacobi", "gauss_seidel"):
            for k in range(2):
                for correction in ("constant", "smooth"):
                    self.check(TWO_MASS, self.steps, k + 2, f"{method}, order {k}, {correction}",
                               "-cosim_type", method, "-cosim_consistent_outputs", "true",
                               "-cosim_balance", correction, *order_options(k), allowed=0.1)


class HermiteExtrapolation(OrderTest):
    def test_orders_and_smaller_errors(self):
        for model, steps, better in ((SPRING_MASS, (0.02, 0.01), 0.6),
                                     (LOTKA_VOLTERRA, (0.02, 0.01), 0.6),
                                     (TWO_MASS, (2e-4, 1e-4), 0.9)):
            for method in ("jacobi", "gauss_seidel"):
                for k in range(1, 4):
                    label = f"{model.stem}, {method}, order {k}"
                    words = ["-cosim_type", method, *order_options(k)]
                    errors = self.check(model, steps, k + 1, label, *words, "-cosim_extrapolation",
                                        "hermite")
                    lagrange = error(model, "-cosim_step", steps[0], *words)
                    with self.subTest(label):
                        self.assertLess(errors[0], better * lagrange)

    def test_extripol(self):
        self.check(SPRING_MASS, (0.02, 0.01), 2, "extripol", "-cosim_type", "extripol",
                   "-cosim_hold_order", 1, "-cosim_extrapolation", "hermite", allowed=0.05)

    def test_with_correction(self):
        for k in range(1, 3):
            self.check(SPRING_MASS, (0.04, 0.02), k + 2, f"order {k}, smooth", "-cosim_type",
                       "jacobi", *order_options(k), "-cosim_extrapolation", "hermite",
                       "-cosim_balance", "smooth")

    def test_under_richardson(self):
        """Its constants 2^{k+1} hold for every method of order k + 1."""
        def controlled(k, extrapolation):
            results = simulate(LOTKA_VOLTERRA, "-cosim_type", "jacobi", *order_options(k),
                               "-cosim_extrapolation", extrapolation, "-cosim_step", 1,
                               "-cosim_adapt", "richardson", "-cosim_adapt_rtol", 1e-6,
                               "-cosim_adapt_atol", 1e-6)
            exact = LotkaVolterra.exact_states(results.time)
            return len(results.time) - 1, np.max(np.abs(results.states.values - exact))
        for k in (1, 2):
            (lagrange_steps, lagrange), (steps, far) = (controlled(k, extrapolation) for
                                                        extrapolation in ("lagrange", "hermite"))
            print(f"richardson, order {k}: lagrange {lagrange_steps} steps, error {lagrange:.1e}; "
                  f"hermite {steps}, {far:.1e}")
            self.assertLess(far, lagrange)
            self.assertLess(steps, 0.8 * lagrange_steps)


class SmoothSwitching(OrderTest):
    def test_keeps_the_order(self):
        for model, steps in ((SPRING_MASS, (0.02, 0.01)), (LOTKA_VOLTERRA, (0.025, 0.0125))):
            for method in ("jacobi", "gauss_seidel"):
                for k in range(1, 4):
                    self.check(model, steps, k + 1, f"{model.stem}, {method}, order {k}",
                               "-cosim_type", method, *order_options(k), "-cosim_smooth_switching",
                               "true")
        self.check(SPRING_MASS, (0.001, 0.0005), 1, "order 0", "-cosim_type", "jacobi",
                   "-cosim_smooth_switching", "true")

    def test_with_correction_gains_one_order(self):
        for k in range(3):
            self.check(SPRING_MASS, (0.02, 0.01), k + 2, f"order {k}, smooth", "-cosim_type",
                       "jacobi", *order_options(k), "-cosim_smooth_switching", "true",
                       "-cosim_balance", "smooth", allowed=0.1)

    def test_multistep_integrators_need_not_restart(self):
        """Inputs are C1, so that CVODE goes on with its steps and orders. On small macro-steps
        with extrapolated inputs that saves more than the pieces cost."""
        def evaluations(*options):
            results = simulate(LOTKA_VOLTERRA, "-cosim_type", "jacobi", *order_options(2),
                               "-cosim_step", 0.02, "-subsystem_integrator", "cvode_adams",
                               *options)
            return np.sum(results.subsystems["rhs_evaluations"])
        plain, switched = evaluations(), evaluations("-cosim_smooth_switching", "true")
        print(f"right-hand sides: {plain} with jumps, {switched} with smooth switching")
        self.assertLess(switched, 0.5 * plain)


# Without correction this adds energy until the force is half as large again as it can be.
GROWING = ("-cosim_type", "jacobi", "-cosim_diverged", "warn")


class Record(unittest.TestCase):
    connections = ["mass.v -> spring.v", "spring.f -> mass.f"]

    @staticmethod
    def by_quadrature(results):
        """The sums of the integrals of (cubic through values and slopes - hold)."""
        h = np.diff(results.time)[:, None]
        u, slope = results.inputs.values, results.inputs.derivatives
        true = h * (u[:-1] + u[1:]) / 2 + h**2 * (slope[:-1] - slope[1:]) / 12
        powers = np.stack([h**(p + 1) / (p + 1) for p in range(4)], axis=2)
        held = np.sum(results.inputs.polynomials * powers, axis=2)
        return np.vstack([0 * u[:1], np.cumsum(true - held, axis=0)])

    def test_errors_are_the_integrals_of_what_was_recorded(self):
        """From recorded values, slopes and polynomials: int (Hermite - hold) dt, summed up."""
        for method in ("jacobi", "gauss_seidel", "extripol"):
            for k in range(1, 4 if method != "extripol" else 2):
                hold = (["-cosim_hold_order", k] if method == "extripol" else order_options(k))
                results = simulate(SPRING_MASS, "-cosim_type", method, *hold, "-cosim_step", 0.03,
                                   "-cosim_record", "inputs,polynomials,balance")
                np.testing.assert_allclose(results.balance.values, self.by_quadrature(results),
                                           rtol=0, atol=1e-13)

    def test_errors_under_step_control_with_rejections(self):
        """A sudden flow makes steps fail."""
        sudden = RAMP.replace("{level: 1}", "{level: 50*exp(-((t - 1)/0.02)^2)}")
        with tempfile.TemporaryDirectory() as folder:
            results = simulate(write_model(folder, "sudden", sudden), "-cosim_type", "jacobi",
                               *order_options(1), "-cosim_step", 1, "-cosim_adapt", "predictor",
                               "-cosim_adapt_rtol", 1e-4, "-cosim_adapt_atol", 1e-4,
                               "-cosim_record", "inputs,polynomials,balance")
        print(f"{len(results.time) - 1} steps, {np.sum(results.steps['rejections'])} rejected, size "
              f"{np.min(results.steps['size']):.1e} to {np.max(results.steps['size']):.1e}")
        self.assertGreater(np.sum(results.steps["rejections"]), 0)
        np.testing.assert_allclose(results.balance.values, self.by_quadrature(results), rtol=0,
                                   atol=1e-13)

    def test_correction_under_step_control(self):
        """The same tolerance: smaller errors with it."""
        def far(*options):
            results = simulate(LOTKA_VOLTERRA, "-cosim_type", "jacobi", "-cosim_step", 1,
                               "-cosim_adapt", "predictor", "-cosim_adapt_rtol", 1e-4,
                               "-cosim_adapt_atol", 1e-4, *options)
            exact = LotkaVolterra.exact_states(results.time)
            error_ = np.max(np.abs(results.states.values - exact))
            print(f"{options}: {len(results.time) - 1} steps, "
                  f"{np.sum(results.steps['rejections'])} rejected, error {error_:.1e}")
            return error_
        plain = far()
        for correction in ("constant", "smooth"):
            self.assertLess(far("-cosim_balance", correction), 0.3 * plain)

    def test_names_units_and_summary(self):
        results = simulate(SPRING_MASS, "-cosim_type", "jacobi", "-cosim_balance", "constant")
        self.assertEqual(results.balance.names, self.connections)
        self.assertEqual(results.balance.units, ["(m/s).s", "N.s"])
        self.assertEqual(results.balance.values.shape, (len(results.time), 2))
        np.testing.assert_array_equal(results.balance.values[0], 0)
        largest = np.max(np.abs(results.balance["spring.f -> mass.f"]))
        self.assertIn(f"balance error         at most {largest:.3e} N.s of spring.f -> mass.f\n",
                      results.stdout)

    def test_only_where_it_is_measured(self):
        for options, there in (([], False), (["-cosim_smooth_switching", "true"], False),
                               (["-cosim_record", "states,balance"], True),
                               (["-cosim_balance", "smooth"], True),
                               (["-cosim_balance", "smooth", "-cosim_record", "states"], False)):
            results = simulate(SPRING_MASS, *GROWING, *options)
            self.assertEqual("balance" in results.groups, there, options)
            measured = there or "-cosim_balance" in options
            self.assertEqual("balance error" in results.stdout, measured, options)

    def test_recording_changes_no_result(self):
        plain = simulate(SPRING_MASS, *GROWING, "-cosim_step", 0.02)
        recorded = simulate(SPRING_MASS, *GROWING, "-cosim_step", 0.02,
                            "-cosim_record", "states,balance")
        np.testing.assert_array_equal(plain.states.values, recorded.states.values)

    def test_patterns_and_every_nth_row(self):
        whole = simulate(SPRING_MASS, "-cosim_type", "jacobi", "-cosim_balance", "smooth")
        part = simulate(SPRING_MASS, "-cosim_type", "jacobi", "-cosim_balance", "smooth",
                        "-cosim_record_variables", "mass.*", "-cosim_record_every", 7)
        self.assertEqual(part.balance.names, self.connections[1:])
        rows = [*range(0, len(whole.time) - 1, 7), len(whole.time) - 1]
        np.testing.assert_array_equal(part.balance.values[:, 0], whole.balance.values[rows, 1])

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.h5"
            run_here(SPRING_MASS, "-cosim_type", "jacobi", "-cosim_balance", "smooth",
                    "-cosim_output", path)
            exported = execute("export", path, "--variables", "*-> mass.f")
            self.assertEqual(exported.stdout.splitlines()[0], "time,spring.f -> mass.f")
            compared = execute("compare", path, path)
            self.assertNotIn("->", compared.stdout)
            self.assertEqual(compared.returncode, 0, compared.stderr)


class Events(unittest.TestCase):
    """Jumps of the true inputs at events are no error that could be given back."""

    def test_orders_survive_jumps(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "events", JUMPS + "events: [2.5, 1.0]\n")
            for k in range(2):
                for options in (["-cosim_balance", "constant"],
                                ["-cosim_balance", "smooth", "-cosim_smooth_switching", "true"]):
                    steps, errors = [0.035, 0.0175, 0.00875], []
                    for h in steps:
                        results = simulate(model, "-cosim_type", "jacobi", *order_options(k),
                                           "-cosim_step", h, *TIGHT, *options)
                        exact = jumps_exactly(results.time)
                        errors.append(np.max(np.abs(results.states.values - exact)))
                    orders = observed_orders(steps, errors)
                    print(f"order {k}, {options[1::2]}: errors {errors}, orders {orders}")
                    self.assertGreater(np.min(orders), k + 2 - 0.4)


if __name__ == "__main__":
    unittest.main()
