"""Wrong constraints, and methods that cannot solve for an unknown: exit code 2, place and remedy."""
import tempfile
import unittest

from concord_runs import execute, write_model
from constrained_models import PAIR, RODS

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
        for options in ("-cosim_type missiles", "-cosim_type ifosmondi", "-cosim_type jacobi",
                        "-cosim_type gauss_seidel", "-cosim_type hierarchical",
                        "-cosim_type kuebler_schiehlen", "-cosim_type monolithic",
                        "-cosim_solve none -cosim_hold extrapolate", "-cosim_adapt predictor"):
            with self.subTest(options):
                message = refused(self, RODS, *options.split())
                for word in ("linked_rods.yaml:", "'force'"):
                    self.assertIn(word, message)

    def test_fixed_point_by_option(self):
        message = refused(self, RODS, "-snes_type", "nrichardson")
        self.assertIn("unknowns of constraints", message)

    def test_predictor(self):
        message = refused(self, RODS, "-cosim_predictor", "missiles")
        self.assertIn("know no constraints", message)

    def test_rollback(self):
        message = refused(self, RODS, "-subsystem_long_rollback", "false")
        self.assertIn("'long' offers no rollback", message)

    def test_check_names_those_that_can(self):
        run = execute("check", RODS)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("jfm                can run", run.stdout)
        self.assertIn("missiles           cannot run", run.stdout)


if __name__ == "__main__":
    unittest.main()
