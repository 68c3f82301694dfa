"""Every preset, hold, step control, integrator and kind of subsystem goes on with the same bits."""
import json
import os
import unittest

import fmu_factory
from concord_runs import ALGEBRAIC_LOOP, EXAMPLES, LOTKA_VOLTERRA, OPTIONS, TWO_MASS, execute, in_short, run_here
from fmu_runs import PAIR, build_parts, model_text
from pace_models import linear
from restart_runs import RestartTest

BALL, THERMOSTAT = (EXAMPLES / name / f"{name}.yaml" for name in ("bouncing_ball", "thermostat"))
FIXED = ("-cosim_step", 5e-4, "-cosim_stop", 0.2)
ANYWAY = ("-cosim_diverged", "warn")  # explicit methods, over events

# What a choice needs beside itself.
HOLDS = {"hermite": ("-cosim_type", "jfm"), "quintic": ("-cosim_type", "jfm"), "zoh": ("-cosim_type", "jacobi"),
         "foh": ("-cosim_type", "jfm"), "soh": ("-cosim_type", "jfm"),
         "extrapolate": ("-cosim_type", "jacobi", "-cosim_hold_order", 3),
         "extripol": ("-cosim_type", "jacobi", "-cosim_hold_order", 1)}
ADAPTS = {"none": (), "iteration": ("-cosim_type", "jfm"), "predictor": ("-cosim_type", "jfm"),
          "richardson": ("-cosim_type", "jacobi"), "richardson_modified": ("-cosim_type", "jacobi")}
PREDICTORS = dict.fromkeys(("missiles", "extrapolate", "hold", "linear_implicit"), ())
BALANCES = {word: ("-cosim_type", "jacobi", "-cosim_hold", "extrapolate", "-cosim_hold_order", 1)
            for word in ("none", "constant", "smooth")}

KINDS = {
    "equations": "equations: {inputs: {u: 1}, states: {x: 1}, derivatives: {x: u - x}, "
                 "outputs: {y: x}}",
    "table": "table: {file: road.csv, outputs: {y: z}}",
    "fmu": "fmu: left.fmu\n    start: {f: 1}",
    "native": "native: {library: LIBRARY, type: cart}\n    start: {force: 0}",
    "python": "python: {file: lag.py, class: Lag}",
    "messages": "messages: {channels: {y: {every: 0.07}}, rate: 4000, delay: [0.02, 0.2], loss: 0.2}",
    "template": "template: cell",
    "system": "system: {subsystems: {inner: {template: cell}}, inputs: {u: inner.u}, outputs: {y: inner.y}}",
}
LAG = """class Lag:
    inputs, states, outputs = {"u": 1.0}, {"x": 0.0}, ("y",)
    def derivatives(self, t, x, u): return u.u - x.x
    def outputs_at(self, t, x): return x.x
"""


def words_of(option):
    """As the help lists them."""
    for line in execute("run", "--help-all").stdout.splitlines():
        if line.split()[:1] == [f"-{option}"]:
            return line.split(": ")[-1].split(" (default")[0].split(", ")
    raise AssertionError(option)


def slow_right():
    """Two masses, the second with steps of seven macro-steps."""
    return TWO_MASS.read_text(encoding="utf-8").replace("  right: ", "  right:\n    step: 3.5e-3 ")


class EveryMethod(RestartTest):
    EVERY = 3600  # files at the ends of parts only; kills in checkpoints.py need more


class Choices(EveryMethod):
    def all_of(self, option, needs, model=TWO_MASS, others=FIXED):
        words = words_of(option)
        self.assertEqual(set(needs), set(words), "the table lacks a word of the help, or has more")
        for word in in_short(words, 3, len(words)):
            self.same(model, *needs[word], f"-{option}", word, *others)

    def test_methods(self):
        for path in in_short(sorted(OPTIONS.glob("*.opts")), 6):
            self.same(TWO_MASS, "-options_file", path, *FIXED)

    def test_holds(self):
        self.all_of("cosim_hold", HOLDS)

    def test_step_control(self):
        for word in in_short(words_of("cosim_adapt"), 3, 1):
            self.same(LOTKA_VOLTERRA, *ADAPTS[word], "-cosim_adapt", word, "-cosim_step", 0.05)

    def test_integrators(self):
        for word in in_short(words_of("subsystem_integrator"), 3, 1):
            self.same(TWO_MASS, "-subsystem_integrator", word, *FIXED)
            self.same(LOTKA_VOLTERRA, "-subsystem_integrator", word, "-cosim_adapt", "predictor")

    def test_predictors(self):
        self.all_of("cosim_predictor", PREDICTORS)

    def test_paces(self):
        """With a group, kept by the checkpoint."""
        self.same(self.model(linear(50, 0.1, stop=2)), "-cosim_paces", "auto")

    def test_balance(self):
        self.all_of("cosim_balance", BALANCES)

    def test_events(self):
        for method in in_short(("jfm", "missiles", "jacobi", "monolithic"), 3):
            self.same(BALL, "-cosim_type", method, "-cosim_step", 0.01)
            self.same(BALL, "-cosim_type", method, "-cosim_output_interval", 0.013, "-cosim_step",
                      0.01)
            self.same(THERMOSTAT, "-cosim_type", method, "-cosim_step", 0.5, *ANYWAY)

    def test_loops_and_constraints(self):
        self.same(ALGEBRAIC_LOOP, "-cosim_step", 0.02)
        for name in ("constraint_pair", "linked_rods"):
            for method in in_short(("jfm", "missiles"), 2, len(name)):
                self.same(EXAMPLES / name / f"{name}.yaml", "-cosim_type", method, "-cosim_step",
                          0.01)

    def times(self):
        path = self.folder / "times.txt"
        path.write_text("".join(f"{0.0013 * k * k}\n" for k in range(20)))
        return path

    def test_recording(self):
        for options in in_short(
                (("-cosim_record_every", 7), ("-cosim_record", "none"),
                 ("-cosim_record", "outputs,polynomials,inputs"),
                 ("-cosim_type", "jacobi", "-cosim_record", "outputs,balance"),
                 ("-cosim_output_interval", 7.3e-4), ("-cosim_record_variables", "left.*"),
                 ("-cosim_output_interval", 1.7e-4, "-cosim_record", "outputs,polynomials"),
                 ("-cosim_output_interval", 7.3e-4, "-cosim_type", "monolithic"),
                 ("-cosim_output_interval", 7.3e-4, "-subsystem_integrator", "cvode_bdf"),
                 ("-cosim_record_compression", 4), ("-cosim_record_split", 2e-4),
                 ("-cosim_record_split", 2e-4, "-cosim_record_compression", 1),
                 ("-cosim_output_times", self.times()),
                 ("-cosim_record_split", 2e-4, "-cosim_output_interval", 7.3e-4)), 5):
            self.same(TWO_MASS, *FIXED, *options)


class Kinds(EveryMethod):
    def all_kinds(self):
        """A model with a subsystem of each kind."""
        fmu_factory.build(self.folder, "left", 2, kinds=("me",),
                          capabilities=("state", "serialize", "variable", "directional"))
        (self.folder / "lag.py").write_text(LAG)
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n0.6,-1\n1,2\n")
        subsystems = "".join(f"  {kind}:\n    {text}\n" for kind, text in KINDS.items())
        return self.model(
            "experiment: {start: 0, stop: 1}\ntemplates:\n  cell: {equations: {inputs: {u: 0}, "
            "states: {x: 0}, derivatives: {x: u - x}, outputs: {y: x}}}\nsubsystems:\n"
            + subsystems.replace("LIBRARY", os.environ["NATIVE_TEST_SUBSYSTEMS"])
            + "connections:\n  - {connect: table.y -> equations.u, delay: 0.15}\n"
            "  - equations.y -> template.u\n  - equations.y -> messages.y\n")


class Subsystems(Kinds):
    def test_kinds(self):
        schema = json.loads(execute("schema").stdout)
        fields = schema["properties"]["subsystems"]["additionalProperties"]
        self.assertEqual({kind for one in fields["oneOf"] for kind in one["required"]}, set(KINDS) | {"remote"},  # tests/remote
                         "the table lacks a kind of the schema, or has more")
        model = self.all_kinds()
        for method in in_short(("jfm", "jacobi", "missiles"), 2):
            self.same(model, "-cosim_type", method, "-cosim_step", 0.01)

    def test_fmus(self):
        for version, kind in in_short(((2, "cs"), (2, "me"), (3, "cs"), (3, "me")), 2, 1):
            build_parts(self.folder, PAIR, version, kinds=(kind,), capabilities=(
                "state", "serialize", "variable", "directional"))
            model = self.model(model_text(PAIR, 0.2))
            for method in in_short(("jfm", "jacobi"), 2):
                self.same(model, "-cosim_type", method, "-cosim_step", 1e-3)
            self.same(model, "-cosim_step", 1e-3, "-cosim_stop", 0.05, "-subsystem_isolated", "true")

    def test_ranks(self):
        cases = [(2, TWO_MASS, "-cosim_type", "jfm", *FIXED), (3, TWO_MASS, "-cosim_type", "jacobi", *FIXED),
                 (2, TWO_MASS, "-cosim_type", "missiles", *FIXED), (3, BALL, "-cosim_adapt", "predictor"),
                 (2, THERMOSTAT, "-cosim_step", 0.5)]
        cases += [(5 - ranks, *case) for ranks, *case in cases]
        for ranks, *case in in_short(cases, 4):
            self.same(*case, ranks=ranks)

    def test_steps_of_their_own(self):
        """Parts end within the steps of the slow mass."""
        self.same(self.model(slow_right()), *HOLDS["extrapolate"], *FIXED)


class OtherRanks(Kinds):
    def test_steps_of_their_own(self):
        self.near(self.model(slow_right()), *HOLDS["extrapolate"], *FIXED, ranks=2, then=1)

    def test_kinds(self):
        model = self.all_kinds()
        for method in in_short(("jfm", "jacobi", "missiles"), 3):
            self.near(model, "-cosim_type", method, "-cosim_step", 0.01, ranks=2, then=3)

    def test_methods(self):
        for number, path in enumerate(in_short(sorted(OPTIONS.glob("*.opts")), 19)):
            ranks, then = ((1, 2), (3, 1), (2, 3))[number % 3]
            self.near(TWO_MASS, "-options_file", path, *FIXED, ranks=ranks, then=then)

    def test_step_control(self):
        for number, word in enumerate(in_short(words_of("cosim_adapt"), 4, 2)):
            self.near(LOTKA_VOLTERRA, *ADAPTS[word], "-cosim_adapt", word, "-cosim_step", 0.05,
                      ranks=1 + number % 2, then=2 - number % 2)

    def test_balance(self):
        for word in in_short(("constant", "smooth"), 2, 1):
            self.near(TWO_MASS, *BALANCES[word], "-cosim_balance", word, *FIXED, then=2)

    def test_events(self):
        for method in in_short(("jfm", "missiles", "jacobi", "monolithic"), 3):
            self.near(BALL, "-cosim_type", method, "-cosim_step", 0.01, ranks=2, then=1)
        for method in in_short(("jfm", "missiles", "jacobi", "monolithic"), 3, 1):
            self.near(THERMOSTAT, "-cosim_type", method, "-cosim_step", 0.5, *ANYWAY, then=2)

    def test_loops_and_constraints(self):
        self.near(ALGEBRAIC_LOOP, "-cosim_step", 0.02, then=2)
        for name in ("constraint_pair", "linked_rods"):
            for method in in_short(("jfm", "missiles"), 2):
                self.near(EXAMPLES / name / f"{name}.yaml", "-cosim_type", method, "-cosim_step",
                          0.01, ranks=3, then=2)

    def test_recording(self):
        self.near(TWO_MASS, *FIXED, "-cosim_record_every", 7, ranks=2, then=1)
        self.near(BALL, "-cosim_step", in_short((1e-3, 4e-3), 2, 1)[0], "-cosim_record_split", 1e-4, ranks=1,
                  then=3)


if __name__ == "__main__":
    unittest.main()
