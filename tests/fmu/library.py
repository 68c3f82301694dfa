"""FMUs in a concord::Simulation: parameters that are set between macro-steps, and snapshots."""
import os
import subprocess
import unittest
from itertools import product

import black_boxes
import network_events
import numpy as np
from concord_runs import in_short, write_model
from fmu_runs import FmuTest
from patience import HANGS

KINDS = ((2, "cs", ()), (2, "me", ()), (3, "cs", ()), (3, "cs", ("event_mode",)), (3, "me", ()))
OPTIONS = {"jacobi": {"cosim_type": "jacobi", "cosim_step": 1e-2},
           "jfm": {"cosim_type": "jfm", "cosim_step": 1e-2},
           "missiles": {"cosim_type": "missiles", "cosim_step": 1e-2},
           "adaptive": {"cosim_type": "jfm", "cosim_adapt": "predictor"}}


class Library(FmuTest):
    def script(self, model, options, *words, ranks=1, code=0):
        """The rows that `print` gives: {name: bits}."""
        given = [word for name, value in options.items() for word in ("option", name, value)]
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        run = subprocess.run([*launcher, os.environ["LIBRARY_RUN"], model,
                              *map(str, [*given, *words])],
                             capture_output=True, text=True, check=False, timeout=HANGS)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertNotIn("STRICT", run.stderr)
        self.message = run.stderr
        return [dict(entry.split("=") for entry in line.split()[1:])
                for line in run.stdout.splitlines()]

    def numbers(self, row, *names):
        return np.array([float.fromhex(row[name]) for name in names])


def spring(x, force, m, c, d, h):
    """(x, v) after h."""
    rates, modes = np.linalg.eig(np.array([[0, 1], [-c / m, -d / m]]))
    rest = np.array([force / c, 0])
    return rest + (modes @ (np.exp(rates * h) * np.linalg.solve(modes, x - rest))).real


class Tunable(Library):
    def test_a_spring_against_its_solution(self):
        """Stiffness and damping change at the start and twice later, once in the input's midst."""
        x = spring([1, 0], 2e4, 5, 2e4, 10, 0.25)
        x = spring(x, 2e4, 5, 5e3, 40, 0.25)
        x = spring(x, 1e4, 5, 5e3, 80, 0.5)
        for version, kind, more in KINDS:
            self.build("left", version, kinds=(kind,),
                       capabilities=("state", "variable", "tunable", *more))
            model = self.model(("left",), 1)
            for method in ("jacobi", "jfm") if version == 2 else ("jfm",):
                with self.subTest(version=version, kind=kind, more=more, method=method):
                    options = OPTIONS[method] | {"subsystem_rtol": 1e-10}
                    row, = self.script(
                        model, options, "set", "left.c", 2e4, "start", "until", 0.25,
                        "set", "left.c", 5e3, "set", "left.d", 40, "until", 0.5,
                        "set", "left.d", 80, "set", "left.f", 1e4, "until", 1, "print")
                    np.testing.assert_allclose(self.numbers(row, "left.x", "left.v"), x,
                                               rtol=1e-5, atol=1e-5)

    def test_coupled_as_equations(self):
        """Two masses whose left one is an FMU, or equations with the same parameters."""
        left = ("{equations: {parameters: {m: 5, c: 1e4, d: 10}, inputs: {f: 20000}, states: {x: 1, "
                "v: 0}, derivatives: {x: v, v: (f - c*x - d*v)/m}, outputs: {x: x, v: v}}}")
        words = ("start", "until", 0.1, "set", "left.c", 3e4, "until", 0.2, "set", "left.m", 2,
                 "until", 0.4, "print")
        for version, kind, more in KINDS:
            for part in ("left", "right"):
                self.build(part, version, kinds=(kind,),
                           capabilities=("state", "variable", "tunable", *more))
            options = OPTIONS["jfm"] | {"cosim_step": 1e-3, "subsystem_rtol": 1e-10}
            names = ("left.x", "left.v", "right.x", "right.f")
            own = {"left": left, "right": "{fmu: right.fmu}"}
            expected, = self.script(self.model(("left", "right"), 1, own), options, *words)
            expected = self.numbers(expected, *names)
            for ranks in (1, 2):
                with self.subTest(version=version, kind=kind, more=more, ranks=ranks):
                    row, = self.script(self.model(("left", "right"), 1), options, *words,
                                       ranks=ranks)
                    np.testing.assert_allclose(self.numbers(row, *names), expected, rtol=1e-4,
                                               atol=1e-4 * np.abs(expected).max() / 1e3)

    def test_parameters_of_events(self):
        """The heater's switching points move: times of switches follow from the new ones."""
        for version in (2, 3):
            self.build("heater", version, kinds=("me",), defines=("STIFFNESS=10",),
                       capabilities=("state", "variable", "tunable"))
            model = write_model(self.folder, "model", "experiment: {start: 0, stop: 2}\n"
                                "subsystems: {it: {fmu: heater.fmu}}\n")
            row, = self.script(model, OPTIONS["jacobi"], "start", "until", 0.25, "set", "it.high",
                               0.6, "set", "it.q", 2, "until", 0.5, "print")
            self.assertEqual(self.numbers(row, "it.switches")[0], 1)
            # T = 1 - e^-t/2 has passed 0.6 at t = 0.25: off from there on.
            warm = 1 - 0.5 * np.exp(-0.25)
            np.testing.assert_allclose(self.numbers(row, "it.T")[0], warm * np.exp(-0.25), rtol=1e-6)

    def test_what_may_not_be_set(self):
        self.build("left", 2, capabilities=("state", "variable"))
        self.script(self.model(("left",), 1), OPTIONS["jacobi"], "start", "set", "left.c", 1, code=2)
        self.assertIn("'left.c' is neither an input that nothing feeds nor a tunable parameter",
                      self.message)


class Snapshots(Library):
    def same_bits(self, model, options, middle=0.3, stop=0.7, words=(), ranks=1):
        end = (*words, "until", stop, "print")
        first, back, fresh = self.script(model, options, "start", "until", middle, "snapshot", *end,
                                         "restore", *end, "fresh", *end, ranks=ranks)
        self.assertEqual(first, back)
        self.assertEqual(first, fresh)
        undisturbed, = self.script(model, options, "start", "until", middle, *end, ranks=ranks)
        for name, bits in undisturbed.items():
            there = float.fromhex(bits)
            self.assertAlmostEqual(float.fromhex(first[name]), there,
                                   delta=1e-4 * max(1.0, abs(there)), msg=name)

    def test_two_masses(self):
        for version, kind, more in in_short(KINDS, 2):
            for part in ("left", "right"):
                self.build(part, version, kinds=(kind,), capabilities=(
                    "state", "serialize", "variable", "directional", "tunable", *more))
            for method in OPTIONS if (version, kind) == (2, "cs") else ("jfm",):
                with self.subTest(version=version, kind=kind, more=more, method=method):
                    options = OPTIONS[method] | {"cosim_step": 1e-3}
                    self.same_bits(self.model(("left", "right"), 1), options, 0.1, 0.15,
                                   ("set", "left.c", 2e4), ranks=2 if method == "jfm" else 1)

    def test_events_and_held_signals(self):
        parts = (("ball", 0.1), ("heater", 0.07), ("counter", 0.07), ("stair", 0.07))
        for (version, kind, more), (part, step) in in_short(list(product(KINDS, parts)), 5):
            with self.subTest(part=part, version=version, kind=kind, more=more):
                self.build(part, version, kinds=(kind,), defines=("STIFFNESS=10",),
                           capabilities=("state", "serialize", "variable", "step_events", *more))
                model = write_model(self.folder, "model", "experiment: {start: 0, stop: 3}\n"
                                    f"subsystems: {{it: {{fmu: {part}.fmu}}}}\n")
                method = "jfm" if kind == "me" else "jacobi"
                self.same_bits(model, {"cosim_type": method, "cosim_step": step}, 1.1, 2.5)

    def test_events_of_the_network(self):
        """Located, known ahead, told by event mode, and those of black boxes; `middle` is between
        events."""
        saved = ("state", "serialize", "variable")
        for text, part, kind, version, more in (
                (network_events.BALL, "bouncer", "me", 2, ("step_events",)),
                (network_events.BALL, "bouncer", "me", 3, ()),
                (network_events.STAIRS, "ticker", "me", 3, ()),
                (network_events.FLOOR, "ball", "cs", 3, ("event_mode",)),
                (black_boxes.MODEL, "square", "cs", 2, ())):
            self.build(part, version, kinds=(kind,), capabilities=(*saved, *more))
            model = write_model(self.folder, "model", text)
            with self.subTest(part=part, kind=kind, version=version):
                self.same_bits(model, OPTIONS["jfm"] | {"cosim_step": 0.05}, 0.8, 1.6, ranks=2)

    def test_monolithic(self):
        for part in ("left", "right"):
            self.build(part, 2, kinds=("me",), capabilities=("state", "serialize", "tunable"))
        self.same_bits(self.model(("left", "right"), 1), {"cosim_type": "monolithic"}, 0.1, 0.2,
                       ("set", "left.c", 2e4))

    def test_once_per_process(self):
        self.build("left", 2, capabilities=("state", "serialize", "variable", "single"))
        self.same_bits(self.model(("left",), 1), OPTIONS["jacobi"])

    def test_refused_with_the_reason(self):
        for capabilities, options, reason in (
                (("variable",), {}, "cannot save its state (canGetAndSetFMUState)"),
                (("variable", "state"), {}, "cannot give its state away (canSerializeFMUState)"),
                (("variable", "state", "serialize"), {"subsystem_rollback": "false"},
                 "withheld (-subsystem_rollback false)")):
            for kind in ("cs", "me"):
                self.build("left", 2, kinds=(kind,), capabilities=capabilities)
                self.script(self.model(("left",), 1), OPTIONS["jacobi"] | options, "start", "until",
                            0.5, "snapshot", code=2)
                self.assertIn("subsystem 'left' cannot pass on what it remembers: ", self.message)
                self.assertIn(reason, self.message)


if __name__ == "__main__":
    unittest.main()
