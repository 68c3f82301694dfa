"""The number of ranks changes nothing but the time: same rows, columns, names, and the same numbers
to 1e-12 of each variable's largest value."""
import fnmatch
import json
import tempfile
import unittest

import numpy as np
from concord_runs import ALGEBRAIC_LOOP, TIGHT, TWO_MASS, execute, in_short, simulate, write_model
from models import integrate, ring, ring_derivative

PRESETS = ("jacobi", "gauss_seidel", "hierarchical", "extripol", "kuebler_schiehlen", "ifosmondi", "jfm",
           "jfm6", "missiles", "missiles6", "monolithic", "staggered_grid", "gauss", "radau")
SAME = 1e-12


class SameOnEveryNumberOfRanks:
    ranks = (2, 3, 5)

    def assert_same(self, one, other):
        np.testing.assert_array_equal(one.time, other.time)
        self.assertEqual(one.groups, other.groups)
        np.testing.assert_array_equal(one.subsystems["name"], other.subsystems["name"])
        np.testing.assert_array_equal(one.subsystems["advances"] > 0,
                                      other.subsystems["advances"] > 0)
        for kind in ("outputs", "inputs", "states", "balance"):
            a, b = getattr(one, kind), getattr(other, kind)
            self.assertEqual(a.names, b.names)
            self.assertEqual(a.units, b.units)
            self.assertEqual(a.values.shape, b.values.shape)
            if a.values.size:
                size = np.maximum(np.max(np.abs(a.values), axis=0), 1e-3)
                far = np.max(np.abs(a.values - b.values) / size, axis=0)
                self.assertLess(np.max(far), SAME, f"{kind} {a.names[int(np.argmax(far))]}")

    def check(self, model, preset, options):
        one = simulate(model, "-cosim_type", preset, *TIGHT, *options)
        self.assertEqual(set(one.subsystems["rank"]), {0})
        for ranks in in_short(self.ranks, 3, PRESETS.index(preset)):
            with self.subTest(preset=preset, ranks=ranks):
                other = simulate(model, "-cosim_type", preset, *TIGHT, *options, ranks=ranks)
                self.assertGreater(len(set(other.subsystems["rank"])), 1)
                self.assertLess(max(other.subsystems["rank"]), ranks)
                self.assert_same(one, other)


class Coverage(unittest.TestCase):
    def test_every_preset_is_here(self):
        """-cosim_type lists nothing that is not tried on several ranks."""
        line = next(line for line in execute("--help-all").stdout.splitlines()
                    if line.startswith("  -cosim_type "))
        listed = line.split(": ")[-1].split(" (default")[0].split(", ")
        self.assertEqual(sorted(PRESETS), sorted(listed))


class TwoMass(SameOnEveryNumberOfRanks, unittest.TestCase):
    """Fewer subsystems than ranks."""
    def test_presets(self):
        # Weight 1: a group, and so a rank, for each of both.
        for preset in in_short(PRESETS, 2):
            self.check(TWO_MASS, preset, ["-cosim_step", 1e-3, "-cosim_stop", 0.1,
                                          "-cosim_schedule_weight", 1])


class AlgebraicLoop(SameOnEveryNumberOfRanks, unittest.TestCase):
    """The loop goes through two ranks."""

    def test_presets(self):
        for preset in ("jfm", "monolithic", "gauss"):
            self.check(ALGEBRAIC_LOOP, preset, ["-cosim_stop", 2, "-cosim_step", 0.02])
        # Unstable: a few steps, before the explicit method's error has grown beyond all numbers.
        self.check(ALGEBRAIC_LOOP, "jacobi", ["-cosim_stop", 0.05, "-cosim_step", 0.01])


class RingOfSeven(SameOnEveryNumberOfRanks, unittest.TestCase):
    """7 subsystems of 3 kinds, with fan-out, units and an unconnected input across ranks."""
    n, stop, step = 7, 1.0, 0.02

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.model = write_model(cls.folder.name, "ring", ring(cls.n))


class Ring(RingOfSeven):
    def test_presets(self):
        for preset in in_short(PRESETS, 2, 1):
            if preset == "staggered_grid":
                continue  # 7 in a ring are not two groups
            self.check(self.model, preset, ["-cosim_step", self.step, "-cosim_stop", in_short((1.0, 0.4), 2, 1)[0]])

    def test_against_own_integration(self):
        """Units, fan-out and the unconnected input are what the model says."""
        derivative, start = ring_derivative(self.n)
        for preset, bound in (("monolithic", 1e-9), ("jfm", 1e-7)):
            results = simulate(self.model, "-cosim_type", preset, *TIGHT, "-cosim_step", self.step,
                               ranks=3)
            exact = integrate(derivative, start, results.time, 4)
            far = np.max(np.abs(results.states.values - exact)) / np.max(np.abs(exact))
            print(f"ring, {preset}: {far:.1e} from own integration")
            self.assertLess(far, bound)


class RingVariants(RingOfSeven):
    some_steps = ("-cosim_step", RingOfSeven.step, "-cosim_stop", in_short((1.0, 0.5), 2, 1)[0])

    def test_hierarchical(self):
        """Groups, some of several subsystems; each whole on one rank."""
        self.check(self.model, "hierarchical", [*self.some_steps, "-cosim_schedule_weight", 0.75])

    def test_schedules_of_implicit_solves(self):
        """A sequence goes from rank to rank and back."""
        for preset in ("ifosmondi", "kuebler_schiehlen", "jfm"):
            for schedule in in_short(("sequential", "hierarchical"), 2, len(preset)):
                self.check(self.model, preset, [*self.some_steps, "-cosim_schedule", schedule])

    def test_shaped_inputs(self):
        """Corrections, switching and Hermite extrapolation; balance errors too."""
        for preset, options in (
                ("jacobi", ["-cosim_record", "outputs,states,balance"]),
                ("jacobi", ["-cosim_balance", "constant", "-cosim_balance_spread", 3]),
                ("gauss_seidel", ["-cosim_balance", "smooth", "-cosim_smooth_switching", "true"]),
                ("hierarchical", ["-cosim_hold", "extrapolate", "-cosim_extrapolation", "hermite",
                                  "-cosim_balance", "smooth"])):
            self.check(self.model, preset, [*self.some_steps, *options])


class Front(unittest.TestCase):
    """A displacement enters a chain of 150 masses: where it has not arrived, signals rise like t^k,
    down to 1e-100, and the coupled system of 600 unknowns and more is solved across ranks."""
    n, stop, step = 150, 1.0, 0.02

    def model(self, folder):
        equations = {"parameters": {"c": 100, "d": 0.1},
                     "inputs": {f"{q}_{side}": 0 for side in ("left", "right") for q in "xv"},
                     "states": {"x": 0, "v": 0},
                     "derivatives": {"x": "v", "v": "c*(x_left - 2*x + x_right) + d*(v_left - 2*v + v_right)"},
                     "outputs": {"x": "x", "v": "v"}, "units": {"x": "m", "v": "m/s"}}
        connections = [{"connect": f"mass[{a}].{q} -> mass[{b}].{q}_{side}", "repeat": {"i": [1, self.n - 1]}}
                       for q in "xv" for a, b, side in (("i", "i+1", "left"), ("i+1", "i", "right"))]
        connections += [f"source.{q} -> mass[1].{q}_left" for q in "xv"]
        source = {"equations": {"outputs": {"x": "sin(2*t)", "v": "2*cos(2*t)"}}}
        return write_model(folder, "front", json.dumps({
            "experiment": {"start": 0, "stop": self.stop}, "templates": {"mass": {"equations": equations}},
            "subsystems": {"source": source, "mass": {"template": "mass", "repeat": {"i": [1, self.n]}}},
            "connections": connections}))

    def test_ranks(self):
        """Within the contract's 1e-9 of each signal's range, once it has one."""
        with tempfile.TemporaryDirectory() as folder:
            model = self.model(folder)
            exact = simulate(model, "-cosim_type", "monolithic", "-cosim_step", self.step)
            size = np.max(np.abs(exact.outputs.values), axis=0)
            for preset in ("jfm", "missiles"):
                one = simulate(model, "-cosim_type", preset, "-cosim_step", self.step)
                far = np.max(np.abs(one.outputs.values - exact.outputs.values)) / np.max(size)
                print(f"front, {preset}: {far:.1e} from monolithic")
                self.assertLess(far, 1e-4)
                for ranks in (2, 3):
                    with self.subTest(preset=preset, ranks=ranks):
                        other = simulate(model, "-cosim_type", preset, "-cosim_step", self.step, ranks=ranks)
                        far = np.max(np.abs(one.outputs.values - other.outputs.values), axis=0)
                        self.assertLess(np.max(far / np.maximum(size, 1e-6)), 1e-9)


class Tangle(unittest.TestCase):
    """300 gains in random order. In blocks most connections cross ranks: each rank's own block says
    little of the whole, the iterative solver gives up, and a factorisation takes its place."""
    n, gain = 300, 0.95
    options = ("-cosim_type", "jfm", "-cosim_predictor", "hold", "-cosim_step", 0.1)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.order = np.random.default_rng(14).permutation(self.n)
        gains = {"inputs": {"u": 0}, "parameters": {"a": 0, "g": self.gain},
                 "outputs": {"y": "cos(t + a) + g*u"}}
        self.model = write_model(folder.name, "tangle", json.dumps({
            "experiment": {"start": 0, "stop": 0.3}, "templates": {"gain": {"equations": gains}},
            "subsystems": {f"g{i}": {"template": "gain", "parameters": {"a": i}} for i in range(self.n)},
            "connections": [f"g{k}.y -> g{i}.u" for i, k in enumerate(self.order)]}))

    def check(self, found):
        """Against the solution of the whole linear system."""
        loops = np.eye(self.n)
        loops[np.arange(self.n), self.order] -= self.gain
        values = np.array([[found.outputs[f"g{i}.y"][n] for i in range(self.n)]
                           for n in range(len(found.time))])
        for t, y in zip(found.time, values):
            exact = np.linalg.solve(loops, np.cos(t + np.arange(self.n)))
            self.assertLess(np.max(np.abs(y - exact)), 1e-9 * np.max(np.abs(exact)))

    def test_factorised(self):
        blocks = (*self.options, "-cosim_placement", "blocks")
        found = simulate(self.model, *blocks, ranks=2)
        watched = execute("run", self.model, *blocks, "-ksp_converged_reason", "-cosim_record", "none",
                          ranks=2)
        self.assertEqual(watched.returncode, 0, watched.stderr)
        self.assertIn("DIVERGED_ITS", watched.stdout)
        self.check(found)
        iterations = found.steps["linear_iterations"]
        self.assertGreater(iterations[0], 50, "the iterative solver was enough: nothing is tested")
        self.assertLess(np.max(iterations[1:]), 10)


class TangleInPieces(Tangle):
    """Pieces of the graph, which are found by themselves, need few iterations."""
    def test_factorised(self):
        pieces = simulate(self.model, *self.options, ranks=2)
        self.assertLess(max(pieces.steps["linear_iterations"]), 10)
        self.check(pieces)
        blocks = simulate(self.model, *self.options, "-cosim_placement", "blocks", ranks=2)
        far = np.max(np.abs(pieces.outputs.values - blocks.outputs.values))
        self.assertLess(far, 1e-9 * np.max(np.abs(blocks.outputs.values)))


class StepControl(RingOfSeven):
    """Macro-steps chosen by errors: each rank must choose the same."""

    def test_ring(self):
        for preset, control, rtol in (
                ("jfm", "predictor", 1e-5), ("missiles", "predictor", 1e-5),
                ("ifosmondi", "iteration", 1e-4), ("jacobi", "predictor", 3e-2),
                ("jacobi", "richardson", 3e-2), ("jacobi", "richardson_modified", 3e-2)):
            with self.subTest(preset=preset, control=control):
                options = ["-cosim_adapt", control, "-cosim_adapt_rtol", rtol, "-cosim_adapt_atol",
                           0.1 * rtol, "-cosim_step", 0.2, "-cosim_stop", in_short((0.5, 0.3), 2, 1)[0]]
                self.check(self.model, preset, options)
                sizes = simulate(self.model, "-cosim_type", preset, *TIGHT, *options).steps["size"]
                self.assertGreater(max(sizes), 1.5 * min(sizes))


class RingRecording(RingOfSeven):
    def test_recording(self):
        """-cosim_record_variables, -cosim_record_every and none, on several ranks."""
        options = ["-cosim_type", "jfm", *TIGHT, "-cosim_step", self.step, "-cosim_record",
                   "outputs,inputs,states,polynomials"]
        whole = simulate(self.model, *options)
        pattern, every = "*1.s*", 7
        for ranks in (1, 3, 5):
            with self.subTest(ranks=ranks):
                part = simulate(self.model, *options, "-cosim_record_variables", pattern,
                                "-cosim_record_every", every, ranks=ranks)
                rows = [*range(0, len(whole.time) - 1, every), len(whole.time) - 1]
                np.testing.assert_array_equal(part.time, whole.time[rows])
                for kind in ("outputs", "inputs", "states"):
                    a, b = getattr(whole, kind), getattr(part, kind)
                    names = [name for name in a.names if fnmatch.fnmatch(name, pattern)]
                    self.assertEqual(b.names, names)
                    self.assertTrue(names, kind)
                    np.testing.assert_allclose(b.values, a.columns(*names)[rows], rtol=0,
                                               atol=1e-12 * np.max(np.abs(a.values)))
                self.assertAlmostEqual(np.sum(part.steps["size"]), self.stop, delta=1e-12)
                self.assertEqual(np.sum(part.steps["coupling_evaluations"]),
                                 np.sum(whole.steps["coupling_evaluations"]))

    def test_recording_nothing(self):
        for ranks in (1, 3, 5):
            with self.subTest(ranks=ranks):
                nothing = simulate(self.model, "-cosim_type", "jfm", "-cosim_step", self.step,
                                   "-cosim_record", "none", ranks=ranks)
                self.assertEqual(len(nothing.time), 51)
                for kind in ("outputs", "inputs", "states"):
                    self.assertEqual(getattr(nothing, kind).names, [])
                self.assertEqual(len(nothing.steps["size"]), 50)


del RingOfSeven

if __name__ == "__main__":
    unittest.main()
