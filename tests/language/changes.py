"""Parameters of the model, variables, templates, --set and --parameters, against closed forms."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

from concord_runs import EXAMPLES, ROOT, TIGHT, execute, run_here, simulate

CELLS = """
experiment: {stop: T}
parameters: {T: 0.5, n: 4, level: 2}
templates:
  cell:
    equations:
      parameters: {k: 4}
      inputs: {left: 0}
      variables: {flow: k*difference, difference: left - x}
      states: {x: 0}
      derivatives: {x: flow}
      outputs: {x: x, flow: flow}
subsystems:
  source:
    equations: {states: {x: level}, derivatives: {x: 0}, outputs: {x: x}}
  cell:
    template: cell
    repeat: {i: [1, n]}
connections:
  - source.x -> cell[1].left
  - {connect: "cell[i].x -> cell[i+1].left", repeat: {i: [1, n - 1]}}
"""

PULLED = """
experiment: {stop: 1}
parameters: {gap: 0.25}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: -x}, outputs: {y: x + u}}}
  b: {equations: {inputs: {u: 0}, states: {x: 2}, derivatives: {x: -x}, outputs: {y: x + u}}}
constraints:
  - {unknown: force, start: 2*gap, equation: a.y - b.y - gap, feeds: {a.u: 1, b.u: -2*gap/gap}}
"""


def cascade(k, level, cells, t):
    """x of the last of `cells` equal first-order cells in a row after a step of `level`."""
    terms = sum((k * t) ** j / np.prod(np.arange(1, j + 1)) for j in range(cells))
    return level * (1.0 - np.exp(-k * t) * terms)


class ModelText(unittest.TestCase):
    text = CELLS

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.folder / "model.yaml"
        self.model.write_text(self.text, encoding="utf-8")


class Cascade(ModelText):
    def errors(self, k, level, cells, *options, ranks=1):
        results = simulate(self.model, "-cosim_type", "jfm", "-cosim_step", "1e-2", *TIGHT,
                           *options, ranks=ranks)
        exact = cascade(k, level, cells, results.time)
        last = results.outputs[f"cell[{cells}].x"]
        before = cascade(k, level, cells - 1, results.time)
        flow = results.outputs[f"cell[{cells}].flow"]
        return max(np.abs(last - exact).max(), np.abs(flow - k * (before - exact)).max())

    def test_as_it_stands(self):
        for ranks in (1, 3):
            self.assertLess(self.errors(4.0, 2.0, 4, ranks=ranks), 2e-7)

    def test_changed_on_the_command_line(self):
        self.assertLess(self.errors(4.0, -3.0, 6, "--set", "parameters.level=-3", "-set",
                                    "parameters.n=6", ranks=2), 2e-7)

    def test_changed_by_a_file_and_a_word_after_it(self):
        values = self.folder / "values.csv"
        values.write_text("name,value\nparameters.level,1\n" +
                          "".join(f"cell[{i}].k, 2*{i}/{i}\n" for i in range(1, 5)) +
                          "source.x;5\n", encoding="utf-8")
        self.assertLess(self.errors(2.0, 7.0, 4, "--parameters", values, "--set", "source.x=7*level"),
                        2e-7)

    FILES = {
        "nested.yaml": "parameters: {level: 1}\ncell[1]: {k: 2}\ncell[2].k: 2\n'cell[*]': {k: 2*n/4}\n",
        "flat.txt": "# YAML by its first line\nparameters.level: 1\n'*.k': 2\n",
        "values.ssv": """<?xml version="1.0"?>
<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
    version="1.0" name="values"><ssv:Parameters>
  <ssv:Parameter name="parameters.level"><ssv:Real value="1"/></ssv:Parameter>
  <ssv:Parameter name="cell[?].k"><ssv:Real value="2"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet>""",
        "values.csv": "parameters.level,1\ncell[1].k,7\ncell[*].k,2\n",
        "quoted.csv": '"name","value"\n"parameters.level",1\n"cell[*].k","2"\n'}

    def test_the_same_twice_in_a_file_is_refused(self):
        for name, text in {"twice.csv": "cell[1].k,1\nparameters.level,2\ncell[1].k,3\n",
                           "twice.yaml": "cell[1].k: 1\nparameters.level: 2\ncell[1].k: 3\n"}.items():
            path = self.folder / name
            path.write_text(text, encoding="utf-8")
            run = execute("check", self.model, "--parameters", path)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(f"{name}:3: 'cell[1].k' is there twice in the file; remove one", run.stderr)

    def test_files_of_each_kind_with_patterns(self):
        for name, text in self.FILES.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_text(text, encoding="utf-8")
                self.assertLess(self.errors(2.0, 1.0, 4, "--parameters", path), 2e-7)

    def test_parameters_of_the_model_are_others_for_one_subsystem(self):
        """A name that its equations use; also what `steady` has found."""
        path = self.folder / "two.yaml"
        path.write_text("""
experiment: {stop: 1}
parameters: {g: 2, h: 3, unused: 1}
functions: {f(x): h*x}
templates: {one: {equations: {parameters: {d: 10*g}, states: {x: 0}, derivatives: {x: g + f(1) - x}, outputs: {x: x, d: d}}}}
subsystems: {a: {template: one}, b: {template: one}}
""", encoding="utf-8")
        for words, rates, factors in (((), (5, 5), (20, 20)), (("--set", "a.g=4"), (7, 5), (40, 20)),
                                      (("--set", "b.h=1"), (5, 3), (20, 20))):
            run = simulate(path, *words)
            decay = 1 - np.exp(-1)
            np.testing.assert_allclose(run.outputs.columns("a.x", "b.x")[-1], np.array(rates) * decay, rtol=1e-6)
            np.testing.assert_array_equal(run.outputs.columns("a.d", "b.d")[0], factors)
        start = self.folder / "start.yaml"
        found = execute("steady", path, "--hold", "a.x=6", "--free", "a.g", "-o", start)
        self.assertEqual(found.returncode, 0, found.stderr)
        run = simulate(path, "--parameters", start)
        np.testing.assert_allclose(run.outputs.columns("a.x", "b.x"), [[6, 5]] * len(run.time), rtol=1e-9)
        for words, says in (("a.unused=1", "do not name the model's parameter 'unused'; known parameters: d, g, h"),
                            ("a.nix=1", "has no parameter, input or state 'nix'")):
            run = execute("check", path, "--set", words)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(says, run.stderr)

    def test_patterns_and_single_names_in_their_order(self):
        words = ("--set", "cell[3].k=1", "--set", "cell[*].k=3", "--set", "*.k=2")
        self.assertLess(self.errors(2.0, 2.0, 4, *words, ranks=2), 2e-7)
        one = execute("check", self.model, "--set", "cell[*].k=2", "--set", "cell[2].x=1")
        self.assertEqual(one.returncode, 0, one.stderr)

    def test_what_was_set_is_recorded(self):
        values = self.folder / "values.yaml"
        values.write_text("cell[1].k: 7\n", encoding="utf-8")
        results = self.folder / "r.h5"
        for words, told in (((), ""), (("--set", "cell[*].x=1", "--parameters", values),
                                       "cell[1].k=7\ncell[*].x=1")):
            run = run_here(self.model, "-cosim_output", results, "-cosim_step", "0.1", *words)
            self.assertEqual(run.returncode, 0, run.stderr)
            with h5py.File(results) as file:
                self.assertEqual(file.attrs["changes"], told)

    def test_patterns_choose_what_is_recorded_and_shown(self):
        results = self.folder / "r.h5"
        names = ["cell[1].x", "cell[2].x", "cell[3].x", "cell[4].x"]
        run = run_here(self.model, "-cosim_record_variables", "cell[*].x, source.x",
                      "-cosim_step", "0.1", "-cosim_output", results, ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        for words, columns in (((), ["source.x", *names]), (("--variables", "cell[*].x"), names),
                               (("--variables", "source.*,cell[2].x"), ["source.x", "cell[2].x"])):
            export = execute("export", results, *words)
            self.assertEqual(export.returncode, 0, export.stderr)
            self.assertEqual(export.stdout.splitlines()[0].split(",")[1:1 + len(columns)], columns)
        compare = execute("compare", results, results, "--variables", "cell[?].x")
        self.assertEqual(compare.returncode, 0, compare.stderr)
        self.assertNotIn("source", compare.stdout)

    def test_on_the_model_words_may_stand_before_it(self):
        run = execute("check", "--set", "parameters.n=2", self.model)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("cell[2]", run.stdout)
        self.assertNotIn("cell[3]", run.stdout)

    def test_wrong_words_are_told_once_on_several_ranks(self):
        for words, told in ((["--set", "cel.k=1"], "there is no subsystem 'cel'"),
                            (["--set", "source.k=1"], "has no parameter, input or state 'k'"),
                            (["--set", "parameters.n=2.5"], "must be a whole number, not 2.5"),
                            (["--set"], "--set needs a value"),
                            (["--parameters", "nowhere.csv"], "nowhere.csv: cannot be read")):
            run = run_here(self.model, *words, ranks=2)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
            self.assertIn(told, run.stderr)


class Constraint(ModelText):
    text = PULLED

    def test_equation_and_feeds_name_parameters(self):
        for words, gap in (((), 0.25), (("--set", "parameters.gap=0.5"), 0.5)):
            results = simulate(self.model, "-cosim_type", "jfm", "-cosim_step", "1e-2", *TIGHT, *words)
            a, b = (results.outputs[f"{name}.y"] for name in "ab")
            self.assertLess(np.abs(a - b - gap).max(), 1e-9)
            force = (gap + np.exp(-results.time)) / 3.0
            self.assertLess(np.abs(a - np.exp(-results.time) - force).max(), 1e-8)


class Fmus(ModelText):
    def test_parameters_of_fmus(self):
        subprocess.run(["bash", EXAMPLES / "two_fmus" / "make_fmus.sh", self.folder], check=True,
                       capture_output=True, cwd=ROOT)
        written = self.folder / "written.yaml"
        text = (self.folder / "two_fmus.yaml").read_text(encoding="utf-8")
        self.assertIn("k: 50", text)
        written.write_text("parameters: {stiffness: 100}\n" + text.replace("k: 50", "k: stiffness"),
                           encoding="utf-8")
        expected = simulate(written, "-cosim_step", "1e-2").outputs["cart.x"]
        for name in ("two_fmus.yaml", "two_fmus.ssd"):
            with self.subTest(name):
                model = self.folder / name
                changed = simulate(model, "-cosim_step", "1e-2", "--set", "spring_cart.k=100",
                                   ranks=2).outputs["cart.x"]
                plain = simulate(model, "-cosim_step", "1e-2").outputs["cart.x"]
                self.assertLess(np.abs(changed - expected).max(), 1e-12)
                self.assertGreater(np.abs(plain - expected).max(), 0.01)
                (self.folder / "k.ssv").write_text(
                    "<ParameterSet><Parameters><Parameter name='spring*.k'><Real value='100'/>"
                    "</Parameter></Parameters></ParameterSet>", encoding="utf-8")
                for words in (("--set", "spring*.k=100"), ("--parameters", self.folder / "k.ssv")):
                    same = simulate(model, "-cosim_step", "1e-2", *words).outputs["cart.x"]
                    self.assertLess(np.abs(same - expected).max(), 1e-12)
                none = run_here(model, "--set", "spring*.kk=1")
                self.assertEqual(none.returncode, 2)
                self.assertIn("nearest names are spring_cart.k", none.stderr)
                wrong = run_here(model, "--set", "cart.xx=1")
                self.assertEqual(wrong.returncode, 2)
                self.assertIn("--set cart.xx=1", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
