"""What SSP itself has no words for, times of events, constraints, equations at the start: out and in again."""
import re
import unittest
from xml.etree import ElementTree

import numpy as np
from concord_runs import TIGHT, execute, export, simulate, write_model
from ssp_export import SPACES, SspTest, local

# Two FMUs that a constraint holds together, and two springs that begin where equations say.
PARTS = """
experiment: {stop: 1}
subsystems:
  a: {equations: {inputs: {f: 0}, states: {x: 1}, derivatives: {x: f - x}, outputs: {y: x + f}}}
  b: {equations: {inputs: {f: 0}, states: {x: 0.2}, derivatives: {x: f - 3*x}, outputs: {y: x + 2*f}}}
  cell: {equations: {inputs: {f: 0}, states: {x: 1, v: 0.5}, derivatives: {x: v, v: f - 30*x - t}, outputs: {x: x, w: 2*v}}}
"""
HELD = """
experiment: {stop: 1}
parameters: {k: -1.5}
functions: {"pull(x, w)": "half(k)^2*x - 0.1*(-w)^2", half(x): x/2}
subsystems:
  a: {fmu: a.fmu}
  b: {fmu: b.fmu}
  cell: {fmu: cell.fmu, repeat: {i: [1, 2]}}
connections: ["cell[1].x -> cell[2].f"]
events: [0.7, 0.25]
constraints:
  - {unknown: force, start: 0.1, equation: "a.y - b.y + pull(0.1, k)", feeds: {a.f: -1, b.f: 1.5}}
initial:
  - {equation: "a.x = pull(b.x, 2) + k", free: a.x}
  - {equation: "der(cell[1].v) = k - t", free: "cell[1].x"}
  - {equation: "der(cell[2].v) = 2*k - time", free: ["cell[2].x"]}
"""


class Annotation(SspTest):
    """What SSP has no words for: the same bits again, from FMUs; from equations the same to rounding."""

    def parts(self):
        source = write_model(self.folder, "parts", PARTS)
        for part in ("a", "b", "cell"):
            export(source, part, self.folder / f"{part}.fmu", 2)
        return source

    def held(self, text=HELD):
        self.parts()
        return write_model(self.folder, "held", text)

    def assert_same_bits(self, first, second, *options):
        """Repeated subsystems have other names in SSP."""
        one, two = (simulate(model, "-cosim_step", "1e-2", *options) for model in (first, second))
        for table in ("outputs", "inputs", "states"):
            a, b = getattr(one, table), getattr(two, table)
            self.assertEqual([re.sub(r"[][]", "_", name) for name in a.names],
                             [re.sub(r"[][]", "_", name) for name in b.names])
            self.assertTrue(np.array_equal(a.values, b.values), table)
        self.assertTrue(np.array_equal(one.time, two.time))

    def test_same_bits(self):
        model = self.held()
        for name in ("out.ssp", "out.ssd"):
            path = self.export(model, name)
            self.assertIn("become an annotation (concord.network)", self.told)
            for method in ("jacobi", "jfm"):
                self.assert_same_bits(model, path, "-cosim_type", method)
        again = self.export(path, "again.ssp")
        self.assert_same_bits(model, again, "-cosim_type", "jfm")
        first, second = (ElementTree.tostring(self.structure(p).find(".//{urn:concord:network}Network"))
                         for p in (path, again))
        self.assertEqual(first.replace(b"cell[", b"cell_").replace(b"]", b"_"), second)

    def test_it_acts(self):
        """Without it there is another solution: the events are there, and the equations hold at the start."""
        results = simulate(self.export(self.held()), "-cosim_step", "0.1")
        for time in (0.25, 0.7):
            self.assertIn(time, results.time)
        start = {name: row for name, row in zip(results.states.names, results.states.values[0])}
        pull = lambda x, w: (-0.75) ** 2 * x - 0.1 * w**2
        self.assertAlmostEqual(start["a.x"], pull(0.2, 2) - 1.5, delta=1e-12)
        self.assertAlmostEqual(start["cell_1_.x"], 1.5 / 30, delta=1e-12)
        self.assertAlmostEqual(start["cell_2_.x"], (3 + 0.05) / 30, delta=1e-12)
        left = results.outputs["a.y"] - results.outputs["b.y"] + pull(0.1, -1.5)
        self.assertLess(np.abs(left).max(), 1e-6)

    def test_place(self):
        """Where the schema has annotations: behind connections, one element in it."""
        root = self.structure(self.export(self.held()))
        system = root.find("ssd:System", SPACES)
        self.assertEqual([local(child) for child in system], ["Elements", "Connections", "Annotations"])
        annotation, = system.find("ssd:Annotations", SPACES)
        self.assertEqual((annotation.get("type"), len(annotation)), ("concord.network", 1))

    def test_equations(self):
        """Subsystems of equations become FMUs, whose outputs may have other names."""
        text = HELD.replace("{fmu: a.fmu}", "{equations: {inputs: {f: 0}, states: {x: 1}, derivatives: {x: f - x}, outputs: "
                            "{y: x + f, f: 3*x}}}").replace("+ pull(0.1, k)", "+ 0.01*a.f + pull(0.1, k)")
        text = text.replace("pull(b.x, 2) + k", "pull(b.x, 2) + k + 0*a.f")
        text = text.replace("{fmu: cell.fmu,", "{equations: {inputs: {f: 0}, states: {x: 1, v: 0.5}, derivatives: "
                            "{x: v, v: f - 30*x - t}, outputs: {x: 2*x, v: -v}},")
        model = self.held(text)
        path = self.export(model)
        options = ("-cosim_step", "0.01", *TIGHT)
        native, results = (simulate(file, *options) for file in (model, path))
        for name in ("a.y", "b.y", "force.value"):
            np.testing.assert_allclose(results.outputs[name], native.outputs[name], atol=1e-7)

    def test_refusals(self):
        self.parts()
        maps = HELD.replace("functions:", "maps:\n  m: {points: {x: [0, 1], y: [0, 2]}}\nfunctions:")
        for text, says in (
                (maps.replace("half(k)^2*x", "m(x)"), "calls the map 'm', whose rows SSP has no place for"),
                (HELD.replace("{fmu: b.fmu}", "{equations: {parameters: {p: 1}, inputs: {f: 0}, states: {x: 0.2}, derivatives: "
                              "{x: f - p*x}, outputs: {y: x + 2*f}}}").replace("k, 2) + k\", free: a.x", "").replace(
                                  "free: a.x", "free: b.p").replace("a.x = pull(b.x, 2) + k", "der(b.x) = -1 - 0*a.x"),
                 "initial equations find the parameter 'b.p', which is fixed in the FMU that SSP holds")):
            run = execute("export-ssp", write_model(self.folder, "held", text), "-o", self.folder / "out.ssp")
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertEqual(run.stderr.count("error"), 1)
            self.assertIn(says, run.stderr)
            self.assertFalse((self.folder / "out.ssp").exists())

    def test_broken(self):
        """As somebody else may have changed it."""
        text = self.export(self.held(), "out.ssd").read_text(encoding="utf-8")
        for old, new, says in (
                ('time="0.25"', 'time="soon"', "the attribute time of <Event> must be a number, not 'soon'"),
                ("a.y - b.y", "a.y - c.y", "c.y"), ('unknown="force"', 'unknown=""', "needs a name"),
                ('arguments="x"', 'arguments=""', "function 'half' is there twice, or has no arguments"),
                ("der(cell[2].v)", "der(cell[2].w)", "cell_2_.w")):
            self.assertIn(old, text)
            path = self.folder / "broken.ssd"
            path.write_text(text.replace(old, new), encoding="utf-8")
            run = execute("check", path)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(f"{path}: annotation concord.network", run.stderr)
            self.assertIn(says, run.stderr)


if __name__ == "__main__":
    unittest.main()
