"""concord study: errors, orders and work over methods and steps, and its advice; concord compare's verdict."""
import csv
import json
import unittest

import h5py
import numpy as np
from concord_runs import EXAMPLES, PICTURES, TIGHT, TWO_MASS, ModelTest, execute


class Study(ModelTest):
    def study(self, model, *words, ranks=1, code=0):
        path = self.folder / f"{model.stem}.csv"
        run = execute("study", model, *words, "-o", path, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return path, run

    def json(self, *words, ranks=1):
        return json.loads(self.study(TWO_MASS, *words, "--json", ranks=ranks)[1].stdout)

    def test_orders_and_errors(self):
        """jfm and missiles have order 4, Jacobi with held inputs 1; the errors are those of compare."""
        steps = ["--steps", "2e-3,1e-3"]
        found = self.json("--types", "jfm,missiles", *steps, *TIGHT, "-cosim_stop", 0.5)
        for run in found["runs"]:
            if run["step"] == 1e-3:
                self.assertAlmostEqual(run["order"], 4, delta=0.1)
            with self.subTest(run=run["file"]):
                compared = execute("compare", run["file"], found["reference"]["file"], "--json")
                errors = {e["name"]: e for e in json.loads(compared.stdout)["variables"]}
                for name, error in run["outputs"].items():
                    self.assertEqual(error["relative_l2"], errors[name]["relative_l2"])
                self.assertEqual(run["relative_l2"], max(e["relative_l2"] for e in run["outputs"].values()))
                with h5py.File(run["file"]) as file:
                    self.assertEqual(run["coupling_evaluations"], sum(file["steps/coupling_evaluations"]))
                    self.assertEqual(run["rhs_evaluations"], sum(file["subsystems/rhs_evaluations"]))
        self.assertEqual(found["reference"]["type"], "monolithic")
        model = EXAMPLES / "linear_pair" / "linear_pair_mutual.yaml"
        path, _ = self.study(model, "--types", "jacobi", "--steps", "2e-2,1e-2", "-cosim_hold", "zoh")
        with open(path, encoding="utf-8") as file:
            self.assertAlmostEqual(float(list(csv.DictReader(file))[1]["order"]), 1, delta=0.1)

    def test_failures_are_listed(self):
        path, run = self.study(TWO_MASS, "--types", "jacobi,jfm", "--steps", "1e-2", "--accuracy", 1e-2)
        self.assertIn("the run has diverged", run.stdout)
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertIn("the run has diverged", rows[0]["failure"])
        self.assertEqual(rows[0]["relative_l2"], "")
        self.assertLess(float(rows[1]["left.x:l2"]), 1e-3)
        self.assertIn("-cosim_type jfm", run.stdout)
        if PICTURES:
            picture = path.with_suffix(".png").read_bytes()
            self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(len(picture), 5000)
        self.study(TWO_MASS, "--types", "jacobi", "--steps", "1e-2", code=1)

    def test_advice_holds(self):
        """A run as advised has the error that was wanted, and not a tenth of it; ranks change nothing."""
        words = ["--types", "jfm,ifosmondi", "--steps", "2e-2,1e-2,5e-3", "--accuracy", 1e-3]
        found = self.json(*words, ranks=2)
        advice = found["recommended"]
        self.assertEqual((advice["type"], advice["reached"]), ("jfm", True))
        again = self.json("--types", "jfm", "--steps", advice["step"])["runs"][0]
        self.assertLess(again["maximum_of_range"], 1.1e-3)
        self.assertGreater(again["maximum_of_range"], 1e-4)
        alone = self.json(*words)
        for one, two in zip(alone["runs"], found["runs"]):
            self.assertAlmostEqual(one["relative_l2"] / two["relative_l2"], 1, delta=1e-4)

    def test_without_monolithic(self):
        _, run = self.study(EXAMPLES / "linked_rods" / "linked_rods.yaml", "--steps", "2e-2", "--types", "missiles")
        self.assertIn("errors against jfm, steps of 0.005 s", run.stdout)
        self.assertIn("not monolithic: ", run.stdout)
        self.assertNotIn("residual", run.stdout)

    def test_refusals(self):
        for words, named in ((("--types", "jmf"), "did you mean 'jfm'"), (("--steps", "0"), "macro-step"),
                             (("--steps", "a"), "macro-step"), (("-cosim_step", 1e-3), "--steps"),
                             (("--accuracy", "-1"), "positive"), (("-v", "left.y"), "left.x")):
            with self.subTest(words=words):
                _, run = self.study(TWO_MASS, *words, code=2)
                self.assertIn("concord: error: ", run.stderr)
                self.assertIn(named, run.stderr)

    def test_where_results_cannot_be_is_wrong_input(self):
        (self.folder / "taken").write_text("")
        (self.folder / "other").mkdir()
        (self.folder / "other/reference.h5").write_text("of somebody else")
        for table, told in (("taken/a.csv", "choose another place with -o"), ("other.csv", "the reference, monolithic")):
            run = execute("study", TWO_MASS, "--types", "jfm", "--steps", "2e-2", "-o", self.folder / table)
            self.assertEqual((run.returncode, run.stderr.count("concord: error: ")), (2, 1), run.stderr)
            self.assertIn(told, run.stderr)


class Recommended(unittest.TestCase):
    def test_check_says_which_and_why(self):
        for options, method, others in (
                ((), "radau", ()), (("-subsystem_right_rollback", "false"), "radau", ()),
                (("-subsystem_rollback", "false", "-subsystem_linearization", "false"), "gauss_seidel",
                 ("not radau: ", "not jfm: ", "not missiles: "))):
            with self.subTest(options=options):
                run = execute("check", TWO_MASS, *options)
                self.assertIn(f"\nrecommended: {method} (", run.stdout)
                for other in others:
                    self.assertIn(other, run.stdout)


class Verdict(ModelTest):
    """compare --tolerance against numpy."""

    def test_tube(self):
        coarse, fine = self.folder / "coarse.h5", self.folder / "fine.h5"
        for path, step in ((coarse, 1e-2), (fine, 5e-3)):
            run = execute("run", TWO_MASS, "-cosim_type", "jfm", "-cosim_step", step, "-cosim_output", path)
            self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(coarse) as a, h5py.File(fine) as b:
            column = list(b["outputs/names"].asstr()).index("right.f")
            f_a, f_b = a["outputs/values"][:, column], b["outputs/values"][:, column]
        error = np.max(np.abs(f_a - f_b[::2])) / np.ptp(f_b)
        for factor, code in ((1.01, 0), (0.99, 1)):
            words = ["compare", coarse, fine, "--tolerance", factor * error]
            run = execute(*words, "-v", "right.f")
            self.assertEqual((run.returncode, run.stderr), (code, ""))
            self.assertIn("kept" if code == 0 else "right.f leaves its tube", run.stdout)
            found = json.loads(execute(*words, "-v", "right.f,left.x", "--json").stdout)
            self.assertEqual(found["within"], code == 0)
            self.assertAlmostEqual(found["variables"][-1]["maximum_of_range"], error, delta=1e-12)
        self.assertEqual(execute("compare", coarse, coarse, "--tolerance", 0).returncode, 0)
        for wrong in ("-1", "x"):
            run = execute("compare", coarse, fine, "--tolerance", wrong)
            self.assertEqual(run.returncode, 2)
            self.assertIn("not negative", run.stderr)


if __name__ == "__main__":
    unittest.main()
