"""Explicit methods beyond jacobi: observed orders, schedules, step control, events."""
import tempfile
import unittest

import numpy as np
from accuracy import SWAPPED_DISPLACEMENTS
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, TIGHT, TWO_MASS, simulate, write_model
from references import LotkaVolterra, error_percent, expm, observed_orders, two_mass

MASSES = ("left.x", "left.v", "right.x", "right.v")
AMOUNTS = ("prey.amount", "predator.amount")


def order_options(k):
    return ["-cosim_hold", "extrapolate", "-cosim_hold_order", k] if k else []


def error(model, exact_states, names, *options):
    results = simulate(model, *TIGHT, *options)
    return error_percent(results.states.columns(*names), exact_states(results.time))


class Orders(unittest.TestCase):
    def check(self, errors_at, steps, order, label, allowed=0.3):
        errors = [errors_at(h) for h in steps]
        orders = observed_orders(steps, errors)
        print(f"{label}: errors {errors} %, observed orders {np.round(orders, 3)}")
        for observed in orders:
            self.assertLess(abs(observed - order), allowed, label)
        return errors

    def test_gauss_seidel_is_of_order_k_plus_1(self):
        for k in range(4):
            with self.subTest(k=k):
                self.check(lambda h, k=k: error(LOTKA_VOLTERRA, LotkaVolterra.exact_states, AMOUNTS,
                                                "-cosim_type", "gauss_seidel", "-cosim_step", h,
                                                *order_options(k)),
                           [0.05, 0.025, 0.0125], k + 1, f"gauss_seidel, order {k}")

    def test_extripol_is_of_order_k_plus_1(self):
        for k in range(2):
            with self.subTest(k=k):
                self.check(lambda h, k=k: error(LOTKA_VOLTERRA, LotkaVolterra.exact_states, AMOUNTS,
                                                "-cosim_type", "extripol", "-cosim_hold_order", k,
                                                "-cosim_step", h),
                           [0.01, 0.005, 0.0025], k + 1, f"extripol, order {k}")

    def test_direct_feedthrough_without_a_loop(self):
        """The force that right puts out is one extrapolation late, which costs accuracy; measured,
        the order of the states stays k + 1."""
        for method in ("jacobi", "gauss_seidel"):
            for k in range(4):
                with self.subTest(method=method, k=k):
                    self.check(lambda h, k=k, m=method: error(TWO_MASS, two_mass().exact_states,
                                                              MASSES, "-cosim_type",
                                                              m, "-cosim_step", h,
                                                              *order_options(k)),
                               [2e-4, 1e-4], k + 1, f"{method} with feedthrough, order {k}")

    def test_what_the_loss_of_an_order_leaves_globally(self):
        """With direct feedthrough outputs have local errors O(h^{k+1}) instead of O(h^{k+2})
        (unit_coupling); without a loop they don't add up over the run: states and outputs keep the
        global order k + 1 of the other coupling."""
        for coupling, force in (("displacement", []), ("force", ["wheel.f"])):
            model = EXAMPLES / "quarter_car" / f"quarter_car_{coupling}.yaml"
            names = ["chassis.x", "chassis.v", "wheel.x", "wheel.v", *force]
            steps = [4e-4, 2e-4, 1e-4]
            to_middle = (model, *TIGHT, "-cosim_stop", 0.5, "-cosim_step")
            finest = simulate(*to_middle, steps[-1], "-cosim_type", "monolithic").outputs.columns(*names)
            for k in range(3):
                errors = []
                for h in steps:
                    results = simulate(*to_middle, h, "-cosim_type", "jacobi", *order_options(k))
                    far = results.outputs.columns(*names) - finest[::round(h / steps[-1])]
                    # The start, where the past is short, is another matter.
                    errors.append(np.max(np.abs(far)[results.time > 0.1], axis=0))
                for name, column in zip(names, np.transpose(errors)):
                    orders = observed_orders(steps, column)
                    print(f"{coupling} coupling, order {k}, {name}: {np.round(orders, 2)}")
                    self.assertLess(np.max(np.abs(orders - (k + 1))), 0.25, name)

    def test_sequential_is_more_accurate_than_parallel(self):
        with tempfile.TemporaryDirectory() as folder:
            displacements = write_model(folder, "displacements", SWAPPED_DISPLACEMENTS)
            for model in (TWO_MASS, displacements):
                for k in range(3):
                    with self.subTest(model=model, k=k):
                        parallel, sequential = (
                            error(model, two_mass().exact_states, MASSES,
                                  "-cosim_type", method, "-cosim_step", 2e-4, *order_options(k))
                            for method in ("jacobi", "gauss_seidel"))
                        print(f"order {k}: parallel {parallel:.3e} %, sequential {sequential:.3e} %")
                        self.assertLess(sequential, parallel)


class Schedules(unittest.TestCase):
    def outputs(self, *options, schedule=""):
        with tempfile.TemporaryDirectory() as folder, open(TWO_MASS, encoding="utf-8") as source:
            model = write_model(folder, "scheduled", source.read() + schedule)
            return simulate(model, "-cosim_step", 1e-3, "-cosim_stop", 0.1, *options).outputs.values

    def test_groups_of_single_subsystems_are_parallel(self):
        groups = "schedule: {groups: [[left], [right]]}\n"
        np.testing.assert_array_equal(
            self.outputs("-cosim_type", "hierarchical", schedule=groups),
            self.outputs("-cosim_type", "jacobi"))

    def test_one_group_is_sequential(self):
        groups = "schedule: {groups: [[right, left]]}\n"
        hierarchical = self.outputs("-cosim_type", "hierarchical", schedule=groups)
        np.testing.assert_array_equal(
            hierarchical, self.outputs("-cosim_type", "gauss_seidel", schedule=groups))
        self.assertGreater(np.max(np.abs(hierarchical - self.outputs("-cosim_type",
                                                                     "gauss_seidel"))), 0)


class RichardsonControl(unittest.TestCase):
    """Quarter car: the wheel's fast motion is over soon, and steps can grow."""
    names = ("chassis.x", "chassis.v", "wheel.x", "wheel.v")

    def test_fewer_steps_than_fixed_ones_for_the_same_error(self):
        for coupling in ("displacement", "force"):
            model = EXAMPLES / "quarter_car" / f"quarter_car_{coupling}.yaml"

            exact = simulate(model, "-cosim_type", "monolithic", *TIGHT, "-cosim_step", 1e-3)

            def far(results, exact=exact):
                last = results.states.columns(*self.names)
                error_ = 0.0
                for i in range(4):
                    reference = exact.states.columns(*self.names)[:, i]
                    interpolated = np.interp(exact.time[::10], results.time, last[:, i])
                    error_ = max(error_, np.max(np.abs(interpolated - reference[::10])) /
                                 np.max(np.abs(reference)))
                return error_

            for preset, control in (("jacobi", "richardson"), ("jacobi", "richardson_modified"),
                                    ("gauss_seidel", "richardson")):
                for k in (0, 1, 2):
                    with self.subTest(coupling=coupling, preset=preset, control=control, k=k):
                        method = ["-cosim_type", preset, *order_options(k)]
                        adaptive = simulate(model, *method, "-cosim_step", 0.02, "-cosim_adapt",
                                            control, "-cosim_adapt_rtol", 1e-4, "-cosim_adapt_atol",
                                            1e-6)
                        count = len(adaptive.time) - 1
                        fixed = simulate(model, *method, "-cosim_step", 2.0 / count)
                        print(f"{coupling}, {preset}, {control}, order {k}: {count} steps, "
                              f"{np.sum(adaptive.steps['rejections'])} rejected, size "
                              f"{np.min(adaptive.steps['size']):.1e} to "
                              f"{np.max(adaptive.steps['size']):.1e}, error {far(adaptive):.2e}; "
                              f"as many fixed steps {far(fixed):.2e}")
                        self.assertLess(far(adaptive), far(fixed))
                        self.assertEqual(adaptive.time[-1], 2.0)
                        self.assertTrue(np.all(np.diff(adaptive.time) > 0))
                        self.assertLess(np.max(adaptive.steps["error_estimate"]), 1.0 + 1e-12)

    def test_error_follows_the_tolerance(self):
        model = EXAMPLES / "quarter_car" / "quarter_car_displacement.yaml"
        exact = simulate(model, "-cosim_type", "monolithic", *TIGHT, "-cosim_step", 2.0)
        errors = []
        for rtol in (1e-3, 1e-4, 1e-5, 1e-6):
            results = simulate(model, "-cosim_type", "jacobi", *order_options(1), "-cosim_step",
                               0.02, "-cosim_adapt", "richardson_modified", "-cosim_adapt_rtol",
                               rtol, "-cosim_adapt_atol", rtol / 100)
            errors.append(np.max(np.abs(results.states.values[-1] - exact.states.values[-1])))
            print(f"rtol {rtol:g}: {len(results.time) - 1} steps, error at the end {errors[-1]:.2e}")
        self.assertTrue(np.all(np.diff(errors) < 0))


JUMPS = """name: jumps
experiment: {start: 0, stop: 3}
subsystems:
  a:
    equations:
      inputs: {u: 1}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {x: x}
  b:
    equations:
      inputs: {u: 1}
      states: {x: 0.5}
      derivatives: {x: "-u - 2*x + (t < 1 ? 0 : (t < 2.5 ? 3 : -2))"}
      outputs: {y: "x + (t < 1 ? 0 : (t < 2.5 ? 1 : -1))"}
connections:
  - a.x -> b.u
  - b.y -> a.u
"""


def jumps_exactly(times):
    """x' = A x + b, b constant between the events."""
    a = np.array([[-1.0, 1.0], [-1.0, -2.0]])
    levels = [(0.0, [0.0, 0.0]), (1.0, [1.0, 3.0]), (2.5, [-1.0, -2.0]), (np.inf, None)]
    rows, x = [], np.array([1.0, 0.5])
    for (begin, b), (end, _) in zip(levels, levels[1:]):
        rest = np.linalg.solve(a, -np.array(b))
        for t in times[(times >= begin) & (times < end)]:
            rows.append(rest + expm(a * (t - begin)) @ (x - rest))
        if np.isfinite(end):
            x = rest + expm(a * (end - begin)) @ (x - rest)
    return np.array(rows)


class Events(unittest.TestCase):
    methods = {"jfm": 4, "missiles": 4, "ifosmondi": 4, "kuebler_schiehlen": 2, "jacobi": 1,
               "gauss_seidel": 1, "extripol": 2, "extrapolate": 2, "gauss_seidel 2": 3}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.with_events = write_model(folder.name, "events", JUMPS + "events: [2.5, 1.0, 7]\n")
        self.without = write_model(folder.name, "no_events", JUMPS)

    def run_method(self, model, method, step, *options):
        words = {"extrapolate": ["jacobi", *order_options(1)],
                 "gauss_seidel 2": ["gauss_seidel", *order_options(2)]}.get(method, [method])
        results = simulate(model, "-cosim_type", *words, *TIGHT, "-cosim_step", step, *options)
        return results, np.max(np.abs(results.states.values - jumps_exactly(results.time)))

    def test_orders_survive_jumps(self):
        """Steps of 0.07 and its halves meet neither event by themselves."""
        for method, order in self.methods.items():
            with self.subTest(method=method):
                runs = [self.run_method(self.with_events, method, h) for h in (0.07, 0.035, 0.0175)]
                errors = [far for _, far in runs]
                orders = observed_orders([0.07, 0.035, 0.0175], errors)
                _, without = self.run_method(self.without, method, 0.0175)
                print(f"{method}: errors {errors}, orders {np.round(orders, 2)}; without a "
                      f"list {without:.1e}")
                for results, _ in runs:
                    self.assertIn(1.0, results.time)
                    self.assertIn(2.5, results.time)
                self.assertGreater(np.min(orders), order - 0.4)
                # Relations are events by themselves: a list of them changes nothing.
                self.assertLess(abs(without - errors[-1]), 0.05 * errors[-1])

    def test_every_step_control_hits_events(self):
        for method, control in (("jfm", "none"), ("jfm", "iteration"), ("jfm", "predictor"),
                                ("missiles", "predictor"), ("jacobi", "richardson"),
                                ("extrapolate", "richardson_modified"), ("monolithic", "none")):
            with self.subTest(method=method, control=control):
                results, far = self.run_method(self.with_events, method, 0.07, "-cosim_adapt",
                                               control)
                print(f"{method}, {control}: {len(results.time) - 1} steps, error {far:.1e}")
                self.assertIn(1.0, results.time)
                self.assertIn(2.5, results.time)
                self.assertEqual(results.time[-1], 3.0)
                self.assertLess(far, 2e-3)


if __name__ == "__main__":
    unittest.main()
