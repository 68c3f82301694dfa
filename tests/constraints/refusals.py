"""Wrong constraints, and methods that cannot solve for an unknown: exit code 2, place and remedy."""
import tempfile
import unittest

from concord_runs import execute, write_model
from constrained_models import PAIR, RODS, VELOCITY

TEXT = PAIR.read_text(encoding="utf-8")
EQUATION_LINE = 1 + TEXT[:TEXT.index("equation: left.z")].count("\n")
FEEDS_LINE = EQUATION_LINE + 1


def refused(case, model, *options):
    run = execute("run", model, *options)
    case.assertEqual(run.returncode, 2, run.stderr)
    case.assertEqual(run.stdout, "")
    case.assertEqual(run.stderr.count("concord: error:"), 1)
    return run.stderr


class Names(unittest.TestCase):
    def test_place_and_remedy(self):
        cases = {
            "unknown output": ("left.z - right.z", "left.zz - right.z", EQUATION_LINE,
                               "unknown name 'left.zz'", "left.z"),
            "unknown subsystem": ("left.z - right.z", "lift.z - right.z", EQUATION_LINE,
                                  "unknown name 'lift.z'", "left.z"),
            "an input, no output": ("left.z - right.z", "left.u - right.z", EQUATION_LINE,
                                    "unknown name 'left.u'"),
            "no output at all": ("left.z - right.z", "2", EQUATION_LINE, "names no output"),
            "no expression": ("left.z - right.z", "left.z -", EQUATION_LINE, "ends too early"),
            "unknown input": ("left.u: 1,", "left.v: 1,", FEEDS_LINE, "has no input 'v'",
                              "did you mean 'u'"),
            "factor 0": ("left.u: 1,", "left.u: 0,", FEEDS_LINE, "factor 0"),
            "factor no number": ("left.u: 1,", "left.u: x,", FEEDS_LINE, "number"),
            "named like a subsystem": ("unknown: u", "unknown: left", EQUATION_LINE - 2,
                                       "has the name of a subsystem"),
            "fed twice": ("constraints:", "connections:\n  - right.y -> left.u\nconstraints:",
                          FEEDS_LINE + 2, "is fed twice", "right.y", "u.value"),
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, (old, new, line, *words) in cases.items():
                with self.subTest(name):
                    self.assertIn(old, TEXT)
                    model = write_model(folder, "model", TEXT.replace(old, new, 1))
                    message = refused(self, model)
                    for word in (f"model.yaml:{line}:", *words):
                        self.assertIn(word, message)

    def test_two_constraints_on_one_input(self):
        second = ("  - unknown: w\n    equation: left.y - right.y\n"
                  "    feeds: {left.u: 1}\n")
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "model", TEXT.rstrip("\n") + "\n" + second)
            message = refused(self, model)
        self.assertIn("'left.u' is fed twice: by 'u.value' and by 'w.value'", message)


class Methods(unittest.TestCase):
    def test_refused_with_the_way_out(self):
        """An indirect constraint (index 3)."""
        for options, *words in (
                ("-cosim_type ifosmondi", "Newton method"),
                ("-cosim_type kuebler_schiehlen", "Newton method"),
                ("-cosim_type jacobi", "through states only", "-cosim_solve snes"),
                ("-cosim_type gauss_seidel", "through states only"),
                ("-cosim_type hierarchical", "through states only"),
                ("-cosim_type staggered_grid", "through states only"),
                ("-cosim_solve none -cosim_hold extrapolate", "through states only"),
                ("-cosim_type monolithic", "index 2 or 3", "-cosim_type jfm"),
                ("-cosim_adapt predictor", "begins every macro-step afresh")):
            with self.subTest(options):
                message = refused(self, RODS, *options.split())
                for word in ("linked_rods.yaml:", "'force'", *words):
                    self.assertIn(word, message)

    def test_direct(self):
        for options, *words in (
                ("-cosim_type staggered_grid", "at one time"),
                ("-cosim_type jacobi -cosim_hold extrapolate -cosim_adapt richardson_modified",
                 "no constants", "-cosim_adapt richardson")):
            with self.subTest(options):
                message = refused(self, PAIR, *options.split())
                for word in ("constraint_pair.yaml:", "'u'", *words):
                    self.assertIn(word, message)

    def test_treatment_without_explicit_method(self):
        message = refused(self, PAIR, "-cosim_constraints", "overlapping")
        self.assertIn("ways to end an explicit macro-step", message)

    def test_fixed_point_by_option(self):
        message = refused(self, RODS, "-snes_type", "nrichardson")
        self.assertIn("unknowns of constraints", message)

    def test_rollback(self):
        message = refused(self, RODS, "-subsystem_long_rollback", "false", "-cosim_hold", "zoh")
        self.assertIn("'long' offers no rollback", message)

    def test_check_names_those_that_can(self):
        run = execute("check", RODS)
        self.assertEqual(run.returncode, 0, run.stderr)
        for method in ("jfm", "missiles"):
            self.assertRegex(run.stdout, rf"{method} +can run")
        self.assertRegex(run.stdout, r"jacobi +cannot run")


class Starts(unittest.TestCase):
    """Start values that only an impulse could make consistent."""

    def refused_start(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            return refused(self, write_model(folder, "model", text), "-cosim_output",
                           f"{folder}/results.h5", *options)

    def test_position(self):
        text = RODS.read_text(encoding="utf-8").replace("0.2862129196786886", "0.28621")
        for options in ((), ("-cosim_type", "missiles"), ("-cosim_hold", "zoh")):
            message = self.refused_start(text, *options)
            for word in ("constraint 'force'", "its equation, which is 5.60", "start values"):
                self.assertIn(word, message)

    def test_position_to_the_tolerance(self):
        text = RODS.read_text(encoding="utf-8").replace("0.2862129196786886", "0.28621292")
        with tempfile.TemporaryDirectory() as folder:
            run = execute("run", write_model(folder, "model", text), "-cosim_stop", 0.01,
                          "-cosim_output", f"{folder}/results.h5")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_velocity_of_a_position(self):
        text = RODS.read_text(encoding="utf-8").replace("omega: 0}", "omega: 0.3}", 1)
        message = self.refused_start(text)
        for word in ("'force'", "the time derivative of its equation, which is 0.2476",
                     "velocities"):
            self.assertIn(word, message)

    def test_velocity(self):
        """Index 2: the derivative is the unknown's business, the value is not."""
        message = self.refused_start(VELOCITY.replace("{x: 0}", "{x: 0.1}", 1))
        self.assertIn("constraint 'lambda': the start values violate its equation", message)

    def test_on_every_rank(self):
        text = RODS.read_text(encoding="utf-8").replace("0.2862129196786886", "0.2862")
        with tempfile.TemporaryDirectory() as folder:
            run = execute("run", write_model(folder, "model", text), "-cosim_output",
                          f"{folder}/results.h5", ranks=2)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr.count("concord: error:"), 1)


if __name__ == "__main__":
    unittest.main()
