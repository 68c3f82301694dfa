#!/usr/bin/python3
"""Directional derivatives of whole models exported as FMUs, against complex steps."""
import cmath
import unittest

import numpy as np

from concord_runs import EXAMPLES, TWO_MASS, write_model
from whole_fmus import ERROR, OK, WholeTest

LOOP = """
name: loop
experiment: {start: 0, stop: 2}
subsystems:
  a:
    equations:
      inputs: {u: 0.5, v: 0}
      states: {x: 1}
      derivatives: {x: u - x*v}
      outputs: {y: sin(u)*x + 0.2*v^2, x: x}
      units: {y: m}
  b:
    equations:
      parameters: {one: 1}
      inputs: {p: 0, q: 2}
      outputs: {z: p*q + exp(-p/one), twice: 2*q}
      units: {p: km, one: km}
  c: {equations: {inputs: {z: 0}, outputs: {o: 0.5*z}}}
connections: [a.y -> b.p, b.z -> c.z, c.o -> a.v]
"""
UNKNOWNS = ("a.y", "b.z", "c.o", "b.twice", "a.x")
KNOWNS = ("a.u", "b.q")


def loop_outputs(x, u, q):
    """Of LOOP, in complex numbers."""
    v = 0.5 + 0j
    for _ in range(60):
        p = (cmath.sin(u) * x + 0.2 * v**2) / 1000
        v = 0.5 * (p * q + cmath.exp(-p))
    y = cmath.sin(u) * x + 0.2 * v**2
    return np.array([y, 2 * v, v, 2 * q, x])


def loop_derivative(x, u, q, direction):
    tiny = 1e-30j
    return loop_outputs(x, u + tiny * direction[0], q + tiny * direction[1]).imag / 1e-30


class Derivatives(WholeTest):
    def along(self, fmu, x, u, q):
        for direction in ((1, 0), (0, 1), (0.3, -2)):
            found = fmu.derivative(UNKNOWNS, KNOWNS, direction)
            np.testing.assert_allclose(found, loop_derivative(x, u, q, direction), rtol=1e-12, atol=1e-14)

    def test_of_a_loop(self):
        """At the start, before and behind the end of initialisation, on the way, with inputs that
        are set and not yet stepped with; asking changes nothing."""
        for version, attribute in ((2, "providesDirectionalDerivative"), (3, "providesDirectionalDerivatives")):
            fmu, quiet = (self.of(write_model(self.folder, "loop", LOOP), version=version) for _ in range(2))
            self.assertEqual(fmu.root.find("CoSimulation").get(attribute), "true")
            for one in (fmu, quiet):
                self.assertEqual(one.begin(), OK, one.messages)
            self.along(fmu, 1, 0.5, 2)
            for one in (fmu, quiet):
                self.assertEqual(one("ExitInitializationMode"), OK)
            self.along(fmu, 1, 0.5, 2)
            for k in range(4):
                self.assertEqual(fmu.step(k / 4, 1 / 4), OK, fmu.messages)
                self.assertEqual(quiet.step(k / 4, 1 / 4), OK)
                u, q = 0.5 + 0.3 * k, 2 - k
                for one in (fmu, quiet):
                    one.set({"a.u": u, "b.q": q})
                self.along(fmu, fmu.get("a.x")[0], u, q)
                np.testing.assert_allclose(fmu.get(*UNKNOWNS),
                                           loop_outputs(fmu.get("a.x")[0], u, q).real, rtol=1e-9)
            for one in (fmu, quiet):
                self.assertEqual(one.step(1, 1), OK)
            self.assertEqual(fmu.get(*UNKNOWNS), quiet.get(*UNKNOWNS))

    def test_adjoint(self):
        fmu = self.of(write_model(self.folder, "loop", LOOP), version=3)
        self.assertEqual(fmu.root.find("CoSimulation").get("providesAdjointDerivatives"), "true")
        self.assertEqual(fmu.start(), OK)
        self.assertEqual(fmu.step(0, 1), OK)
        matrix = np.transpose([fmu.derivative(UNKNOWNS, KNOWNS, direction) for direction in ((1, 0), (0, 1))])
        for seed in (*np.eye(5), (1, -2, 3, 0.5, 0.25)):
            np.testing.assert_allclose(fmu.adjoint(UNKNOWNS, KNOWNS, list(seed)), seed @ matrix,
                                       rtol=1e-12, atol=1e-15)

    def test_of_constraints(self):
        """a.y + b.y = 3 a.u: the unknown, and what it feeds, follow at once."""
        model = write_model(self.folder, "balance", """
experiment: {start: 0, stop: 1}
subsystems:
  a: {equations: {inputs: {u: 1, l: 0}, states: {x: 0}, derivatives: {x: l - x}, outputs: {y: x + 2*l, w: 3*u}}}
  b: {equations: {inputs: {l: 0}, outputs: {y: l^3 + l}}}
constraints:
  - {unknown: lambda, start: 1, equation: a.y + b.y - a.w, feeds: {a.l: 1, b.l: 1}}
""")
        fmu = self.of(model, "-cosim_type", "jfm", "-cosim_accuracy", 1e-8)
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.step(0, 0.5), OK, fmu.messages)
        [x] = fmu.get("a.x")
        l = np.roots([1, 0, 3, x - 3]).real[np.argmin(abs(np.roots([1, 0, 3, x - 3]).imag))]
        slope = 3 / (3 * l**2 + 3)
        found = fmu.derivative(("a.y", "b.y", "a.w"), ("a.u",), (1,))
        np.testing.assert_allclose(found, [2 * slope, (3 * l**2 + 1) * slope, 3], rtol=1e-6)

    def test_of_an_fmu_inside(self):
        """Model exchange within, against differences of outputs."""
        inner = write_model(self.folder, "inner", LOOP)
        from exported_fmus import export  # pylint: disable=import-outside-toplevel
        export(inner, "a", self.folder / "a.fmu")
        text = LOOP[:LOOP.index("  a:")] + "  a: {fmu: a.fmu, start: {u: 0.5}}\n" + LOOP[LOOP.index("  b:"):]
        fmu = self.of(write_model(self.folder, "outer", text))
        self.assertEqual(fmu.start(), OK, fmu.messages)
        self.assertEqual(fmu.step(0, 0.5), OK, fmu.messages)
        self.along(fmu, fmu.get("a.x")[0], 0.5, 2)

    def test_refusals(self):
        fmu = self.of(write_model(self.folder, "loop", LOOP), version=3)
        self.assertEqual(fmu.try_derivative(UNKNOWNS, KNOWNS, (1, 0))[0], ERROR)
        self.says(fmu, "between initialisation and the end")
        self.assertEqual(fmu.start(), OK)
        for unknowns, knowns, says in ((("time",), ("a.u",), "'time' is no output"),
                                       (("a.u",), ("a.u",), "'a.u' is no output"),
                                       (("a.y",), ("a.x",), "'a.x' is no input")):
            self.assertEqual(fmu.try_derivative(unknowns, knowns, [1.0] * len(knowns))[0], ERROR)
            self.says(fmu, says)
        self.assertEqual(fmu.try_derivative(("a.y",), ("a.u",), (1, 2))[0], ERROR)
        self.says(fmu, "1 variables have one value each, not 2")
        self.assertEqual(fmu.derivative(("error_estimate",), ("a.u",), (1,)), [0])

    def test_where_there_are_none(self):
        fmu = self.of(TWO_MASS)
        self.assertNotIn("providesDirectionalDerivative", fmu.root.find("CoSimulation").attrib)
        self.assertEqual(fmu.start(), OK)
        self.assertEqual(fmu.try_derivative(("left.x",), (), ())[0], ERROR)
        self.says(fmu, "does not offer derivatives")
        model = write_model(self.folder, "loop", LOOP)
        folder = self.exported(model, "-cosim_type", "monolithic", says="there are no directional derivatives")
        self.assertEqual(self.instance(folder).start(), OK)


if __name__ == "__main__":
    unittest.main()
