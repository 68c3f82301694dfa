"""Vectors and matrices in equations: against the same models written out by hand, with the same bits, against
closed forms by eigenvalues, and each rule broken once."""
import re
import unittest

import h5py
import numpy as np
from concord_runs import EXAMPLES, TIGHT, ModelTest, Results, execute, run_here, simulate, write_model

ROD = """
experiment: {stop: 2}
subsystems:
  rod:
    equations:
      parameters: {n: 5, a: 0.1, "k[n]": [1, 2, 3, 4, 5]}
      inputs: {q: 1, "u[2]": [0.5, 0.25]}
      states: {"T[i in 1:n]": 20 + i, z: 1}
      variables: {mean: sum(T)/n, "flux[i in 1:n-1]": "k[i]*(T[i] - T[i+1])", "e[n]": T - mean}
      derivatives:
        "T[1]": q - a*flux[1]
        "T[i in 2:n-1]": a*(flux[i-1] - flux[i]) + u[1]*sum(e[j]*e[j] for j in i:n)
        "T[n]": a*flux[n-1]
        z: dot(k, T)/100 - max(T) + min(u)
      outputs: {mean: mean, "T[n]": T, last: "T[n]"}
"""
BY_HAND = """
experiment: {stop: 2}
subsystems:
  rod:
    equations:
      parameters: {a: 0.1}
      inputs: {q: 1, u1: 0.5, u2: 0.25}
      states: {T1: 21, T2: 22, T3: 23, T4: 24, T5: 25, z: 1}
      variables:
        mean: ((T1) + (T2) + (T3) + (T4) + (T5))/5
        f1: 1*(T1 - T2)
        f2: 2*(T2 - T3)
        f3: 3*(T3 - T4)
        f4: 4*(T4 - T5)
        e1: T1 - mean
        e2: T2 - mean
        e3: T3 - mean
        e4: T4 - mean
        e5: T5 - mean
      derivatives:
        T1: q - a*f1
        T2: a*(f1 - f2) + u1*((e2*e2) + (e3*e3) + (e4*e4) + (e5*e5))
        T3: a*(f2 - f3) + u1*((e3*e3) + (e4*e4) + (e5*e5))
        T4: a*(f3 - f4) + u1*((e4*e4) + (e5*e5))
        T5: a*f4
        z: ((1)*(T1) + (2)*(T2) + (3)*(T3) + (4)*(T4) + (5)*(T5))/100 - max(T1, T2, T3, T4, T5) + min(u1, u2)
      outputs: {mean: mean, T1: T1, T2: T2, T3: T3, T4: T4, T5: T5, last: T5}
"""
VALUES = """
experiment: {stop: 1}
parameters: {scale: 2}
functions: {twice(v): 2*v}
templates:
  parts:
    equations:
      parameters: {n: 3, "A[2,n]": [[1, 2, 3], [4, 5, 6]], "b[i in 1:n]": "10*i + A[2,i]", "c[2]": scale}
      inputs: {"u[n]": }
      states: {"x[1]": 1, "x[i in 2:n]": i^2}
      derivatives: {x: 0}
      outputs:
        "Ax[i in 1:2]": "sum(A[i,j]*x[j] for j in 1:n)"
        row: "dot(A[2,:], x)"
        column: "sum(A[:,2])"
        all: sum(A)
        block: "sum(A[i,j] for i in 1:2, j in 2:n)"
        "inner[2]": "x[2:n] - x[1:n-1]"
        "B[2,2]": "2*A[:,1:2]"
        "b[n]": b
        "mixed[2]": ["c[1]", "twice(x[n])"]
        "u[n]": u
        empty: "sum(x[i] for i in 3:2)"
        biggest: max(-x)
subsystems:
  parts: {template: parts, start: {u: [7, 8, 9]}}
  other: {template: parts, parameters: {n: 3, "b[2]": 0, c: [5, 6]}, start: {"x[3]": -1, u: 1}}
"""


class Meaning(ModelTest):
    def test_written_out_by_hand(self):
        run = simulate(self.model(ROD))
        hand = simulate(write_model(self.folder, "hand", BY_HAND))
        np.testing.assert_array_equal(run.time, hand.time)
        names = [name for name in run.outputs.names if name.startswith("rod.")]
        self.assertEqual(names, ["rod.mean", *(f"rod.T[{i}]" for i in range(1, 6)), "rod.last"])
        np.testing.assert_array_equal(run.outputs.values, hand.outputs.values)
        np.testing.assert_array_equal(run.states.values, hand.states.values)

    def test_values(self):
        run = simulate(self.model(VALUES))
        A, x = np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, 4, 9])
        expected = {"Ax[1]": A[0] @ x, "Ax[2]": A[1] @ x, "row": A[1] @ x, "column": 7, "all": 21, "block": 16,
                    "inner[1]": 3, "inner[2]": 5, "B[1,1]": 2, "B[1,2]": 4, "B[2,1]": 8, "B[2,2]": 10,
                    "b[1]": 14, "b[2]": 25, "b[3]": 36, "mixed[1]": 2, "mixed[2]": 18, "u[1]": 7, "u[2]": 8, "u[3]": 9,
                    "empty": 0, "biggest": -1}
        for name, value in expected.items():
            self.assertEqual(run.outputs["parts." + name][-1], value, name)
        for name, value in {"b[1]": 14, "b[2]": 0, "b[3]": 36, "mixed[1]": 5, "mixed[2]": -2, "u[2]": 1}.items():
            self.assertEqual(run.outputs["other." + name][-1], value, name)

    def test_set(self):
        run = simulate(self.model(VALUES), "--set", "parts.u=3", "--set", "parts.u[2]=4", "--set", "other.b[3]=1",
                       "--set", "other.x=2")
        for name, value in {"parts.u[1]": 3, "parts.u[2]": 4, "other.b[3]": 1, "other.Ax[1]": 12}.items():
            self.assertEqual(run.outputs[name][-1], value, name)
        run = simulate(self.model(ROD.replace("[1, 2, 3, 4, 5]", "2")), "--set", "rod.n=7")
        self.assertIn("rod.T[7]", run.outputs.names)

    def test_events(self):
        run = simulate(self.model("""
experiment: {stop: 1}
subsystems:
  s:
    equations:
      parameters: {n: 3}
      states: {"x[n]": [0, 0.25, 0.5]}
      discrete: {"seen[n]": -1, hits: 0}
      derivatives: {x: 1}
      when:
        - {condition: max(x) > 1, set: {"seen[i in 2:n]": "x[i-1]", x: pre(x) - 1, hits: hits + 1}}
      outputs: {"x[n]": x, "seen[n]": seen, hits: hits}
"""))
        expected = {"hits": 1, "seen[1]": -1, "seen[2]": 0.5, "seen[3]": 0.75, "x[1]": 0, "x[2]": 0.25, "x[3]": 0.5}
        for name, value in expected.items():
            self.assertAlmostEqual(run.outputs["s." + name][-1], value, delta=1e-9, msg=name)

    def test_units_and_nominal(self):
        run = simulate(self.model(ROD.replace("      outputs:", "      units: {T: K, q: K/s}\n      nominal: {T: 300, "
                                              "u: [1, 2]}\n      outputs:")))
        units = dict(zip(run.outputs.names, run.outputs.units))
        self.assertEqual({units[f"rod.T[{i}]"] for i in range(1, 6)}, {"K"})
        self.assertEqual(units["rod.mean"], "")

    def test_contract(self):
        """As it stands in the contract, with a heater and somebody who looks."""
        run = simulate(self.model("""
experiment: {stop: 10}
subsystems:
  rod:
    equations:
      parameters: {n: 100, a: 1e-4}
      inputs: {q: 0}
      states: {"T[n]": 293.15}
      derivatives:
        "T[1]": q - a*n^2*(T[1] - T[2])
        "T[i in 2:n-1]": a*n^2*(T[i-1] - 2*T[i] + T[i+1])
        "T[n]": a*n^2*(T[n-1] - T[n])
      outputs: {mean: sum(T)/n, "T[n]": T}
      units: {T: K}
      display: {T: degC}
  heater: {equations: {inputs: {T: }, outputs: {q: 0.5}}}
connections: ["rod.T[3] -> heater.T", heater.q -> rod.q]
"""), *TIGHT)
        expected = heated_rod(100, 1e-4, 293.15, 0.5, run.time)
        np.testing.assert_allclose(run.outputs.columns(*(f"rod.T[{i}]" for i in range(1, 101))), expected, rtol=1e-9)
        np.testing.assert_allclose(run.outputs["rod.mean"], 293.15 + 0.005 * run.time, rtol=1e-11)


PROBES = """
  probe:
    equations:
      inputs: {"u[3]": , v: }
      outputs: {"y[3]": 2*u, v: v}
"""


class Connections(ModelTest):
    def connected(self, *connections):
        return ROD.replace("n: 5", "n: 3").replace("[1, 2, 3, 4, 5]", "1").replace("\nsubsystems:", "\nsubsystems:" + PROBES) + \
            "connections:\n" + "".join(f"  - {line}\n" for line in connections)

    def test_whole_and_elements(self):
        text = self.connected("rod.T -> probe.u", "rod.T[2] -> probe.v")
        for ranks in (1, 2):
            run = simulate(self.model(text), *TIGHT, ranks=ranks)
            for i in (1, 2, 3):
                np.testing.assert_allclose(run.outputs[f"probe.y[{i}]"], 2 * run.outputs[f"rod.T[{i}]"], rtol=1e-10)
            np.testing.assert_allclose(run.outputs["probe.v"], run.outputs["rod.T[2]"], rtol=1e-10)

    def test_repeated(self):
        text = self.connected('{connect: "rod.T[i] -> probe.u[4-i]", repeat: {i: [1, 3]}}', "sum(rod.T[*]) -> probe.v")
        run = simulate(self.model(text), *TIGHT)
        np.testing.assert_allclose(run.outputs["probe.y[3]"], 2 * run.outputs["rod.T[1]"], rtol=1e-10)
        np.testing.assert_allclose(run.outputs["probe.v"], sum(run.outputs[f"rod.T[{i}]"] for i in (1, 2, 3)), rtol=1e-10)

    def test_sizes(self):
        run = execute("check", self.model(self.connected("rod.T -> probe.u").replace('"u[3]"', '"u[2]"').replace("2*u", "1")))
        self.assertEqual(run.returncode, 2)
        self.assertIn("'rod.T[:]' has 3 elements, but 'probe.u[:]' has 2", run.stderr)

    def test_as_an_fmu(self):
        """Elements keep their names; the FMU of another tool's run would be this one."""
        text = self.connected("rod.T -> probe.u", "rod.T[2] -> probe.v")
        run = simulate(self.model(text), "-cosim_step", 0.1, *TIGHT)
        exported = execute("export-fmu", self.model(text), "rod", "-o", self.folder / "rod.fmu")
        self.assertEqual(exported.returncode, 0, exported.stderr)
        begin, end = text.index("  rod:"), text.index("connections:")
        fmu = simulate(write_model(self.folder, "fmu", text[:begin] + "  rod: {fmu: rod.fmu}\n" + text[end:]),
                       "-cosim_step", 0.1, *TIGHT)
        for name in ("probe.y[1]", "probe.y[3]", "rod.T[2]", "rod.mean"):
            np.testing.assert_allclose(fmu.outputs[name], run.outputs[name], rtol=1e-11, err_msg=name)

    def test_in_a_system(self):
        rod = ROD[ROD.index("  rod:"):].replace("\n", "\n      ").rstrip()
        run = simulate(self.model("experiment: {stop: 2}\nsubsystems:\n  house:\n    system:\n      subsystems:\n      " + rod +
                                  "\n      outputs: {top: \"rod.T[5]\"}\n" + PROBES.replace("u[3]", "u[5]").replace("y[3]", "y[5]") +
                                  "connections: [house.top -> probe.v, house.rod.T -> probe.u]\n"))
        alone = simulate(write_model(self.folder, "alone", ROD))
        np.testing.assert_allclose(run.outputs["probe.v"][-1], alone.outputs["rod.T[5]"][-1], rtol=1e-6)
        np.testing.assert_allclose(run.outputs["probe.y[1]"][-1], 2 * alone.outputs["rod.T[1]"][-1], rtol=1e-6)


def heated_rod(n, a, start, q, times):
    """T' = a n^2 (second differences, ends closed) + q in the first cell, by eigenvalues."""
    A = a * n**2 * (np.diag(-2.0 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    A[0, 0] = A[-1, -1] = -a * n**2
    rates, modes = np.linalg.eigh(A)
    forced = modes.T @ (q * np.eye(n)[0])
    begin = modes.T @ (start * np.ones(n))
    result = []
    for t in times:
        z = np.where(np.abs(rates * t) < 1e-12, -1e-12, rates * t)
        scaled = np.expm1(z) / z * t
        result.append(modes @ (np.exp(rates * t) * begin + scaled * forced))
    return np.array(result)


def switched_rod(times, n=100, a=1e-3, b=5e-4, T0=293.15):
    """The example: by eigenvalues from instant to instant, at which bisection finds the switch."""
    second = np.diag(-2.0 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    second[0, 0] = second[-1, -1] = -1
    rates, modes = np.linalg.eigh(a * n**2 * second - b * np.eye(n))
    def after(x, on, t):
        rest = -2.0 * on * modes[0] / rates
        return rest + (x - rest) * np.exp(rates * t)
    def excess(x, on, t):
        end = T0 + modes[-1] @ after(x, on, t)
        return end - 315.15 if on else 313.15 - end
    begin, on, x, instants, rows = 0.0, 1, np.zeros(n), [], []
    for t in times:
        while excess(x, on, t - begin) > 0:
            low, high = 0.0, t - begin
            while high - low > 1e-9:
                middle = (low + high) / 2
                low, high = (low, middle) if excess(x, on, middle) > 0 else (middle, high)
            x, on, begin = after(x, on, high), 1 - on, begin + high
            instants.append(begin)
        rows.append(T0 + modes @ after(x, on, t - begin))
    return np.array(instants), np.array(rows)


class Example(ModelTest):
    def test_rod(self):
        """Instants of switching and all cells, against eigenvalues and bisection, on 1 and 2 ranks."""
        for ranks in (1, 2):
            path = self.folder / f"rod{ranks}.h5"
            run = Results(path, run_here(EXAMPLES / "rod" / "rod.yaml", "-cosim_accuracy", 1e-6,
                                        "-cosim_stop", 4500, "-cosim_output", path, ranks=ranks))
            self.assertEqual(run.status, "completed")
            with h5py.File(path) as file:
                found = file["events/time"][:]
            instants, cells = switched_rod(run.time)
            self.assertGreater(len(instants), 4)
            self.assertLess(np.abs(found[:, None] - instants).min(axis=0).max(), 1e-3)
            np.testing.assert_allclose(run.outputs.columns(*(f"rod.T[{i}]" for i in range(1, 101))), cells, atol=1e-3, rtol=0)
            np.testing.assert_allclose(run.outputs["rod.mean"], cells.mean(axis=1), atol=1e-4, rtol=0)


class Sparse(ModelTest):
    """What implicit integrators solve with where a subsystem has many states."""

    ROD = (EXAMPLES / "rod" / "rod.yaml").read_text(encoding="utf-8")

    def rod(self, n, *options):
        run = simulate(self.model(self.ROD[:self.ROD.index("  heater:")].replace("{q: 0}", "{q: 2}")), "--set", f"rod.n={n}",
                       "--set", "rod.a=1e-4", "--set", "rod.b=0", "-cosim_stop", 20, *options)
        names = [f"rod.T[{i}]" for i in range(1, n + 1)]
        return run, run.states.columns(*names)

    def test_closed_form(self):
        for integrator in ("cvode_bdf", "dirk"):
            run, found = self.rod(100, "-cosim_record", "states", "-subsystem_integrator", integrator, "-cosim_step", 1,
                                  *TIGHT)
            expected = heated_rod(100, 1e-4, 293.15, 2.0, run.time)
            self.assertGreater(expected[-1, 0] - 293.15, 5)
            np.testing.assert_allclose(found, expected, atol=1e-7, rtol=0, err_msg=integrator)

    def test_forgetting(self):
        """The order of elimination is no memory: the same bits where all caches are dropped."""
        options = ("-cosim_record", "states", "-subsystem_integrator", "dirk", "-cosim_step", 2)
        _, whole = self.rod(60, *options)
        _, parts = self.rod(60, *options, "-cosim_forget", 1)
        np.testing.assert_array_equal(whole, parts)

    def test_memory(self):
        """A dense matrix of 4000 states has 128 MB, and Newton's method keeps two."""
        run, found = self.rod(4000, "-cosim_record", "states", "-subsystem_integrator", "cvode_bdf", "-cosim_step", 10,
                              "-cosim_type", "jacobi")
        self.assertLess(float(re.search(r"memory +(\d+) MB", run.stdout)[1]), 200)
        self.assertAlmostEqual(found[-1].sum() - 4000 * 293.15, 40, delta=1e-3)


SWITCHES = """
experiment: {stop: 3}
subsystems:
  rooms:
    equations:
      parameters: {n: 3, "k[i in 1:n]": i}
      states: {"T[n]": [0, 1, 2.5]}
      discrete: {"shut[n]": 0, count: 0}
      derivatives: {T: k}
      when:
        - {condition: "T[i] > 2 + 0.1*i", initially: true, set: {"shut[i]": 1, "T[n + 1 - i]": 5 + i, count: count + i}, repeat: {i: [1, n]}}
        - {condition: sum(shut) > n - 0.5, set: {count: count + 10}}
      outputs: {"shut[n]": shut, count: count, "T[n]": T}
"""


class Switches(ModelTest):
    """`repeat` beside a condition, against the same conditions one by one."""

    def test_as_by_hand(self):
        one = SWITCHES[SWITCHES.index("        - {condition: \"T[i]"):SWITCHES.index("        - {condition: sum")]
        by_hand = "".join(f"        - {{condition: \"T[{i}] > {2 + 0.1 * i}\", initially: true, set: {{\"shut[{i}]\": 1, "
                          f"\"T[{4 - i}]\": {5 + i}, count: count + {i}}}}}\n" for i in (1, 2, 3))
        hand = simulate(write_model(self.folder, "hand", SWITCHES.replace(one, by_hand)))
        for ranks in (1, 3):
            run = simulate(self.model(SWITCHES), ranks=ranks)
            np.testing.assert_array_equal(run.time, hand.time)
            np.testing.assert_array_equal(run.outputs.values, hand.outputs.values)
        self.assertGreater(run.outputs["rooms.count"][-1], 10)

    def test_refused(self):
        for old, new, says in (("{i: [1, n]}", "{i: [1, 4]}", "is 4 at i = 4, outside its range 1 to 3"),
                               ("{i: [1, n]}", "{k: [1, n]}", "which is a name already"),
                               ("{i: [1, n]}", "{i: 3}", "i: [1, 3]"), ("{i: [1, n]}", "{j: [1, n]}", "'i'")):
            run = execute("check", self.model(SWITCHES.replace(old, new)))
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(says, run.stderr)
            self.assertIn("model.yaml:11", run.stderr)


class Rules(ModelTest):
    def refused(self, old, new, *words, options=(), text=ROD):
        self.assertIn(old, text)
        self.check_refuses(text.replace(old, new), "model.yaml:" if not options else "", *words, options=options)

    def test_elements(self):
        self.refused('"T[1]": q', '"T[2]": q', "'T[2]'", "twice")
        self.refused('"T[1]": q - a*flux[1]', 'z: 0', "twice")
        self.refused('        "T[n]": a*flux[n-1]\n', "", "state 'T[5]' has no derivative")
        self.refused('"T[n]": a', '"T[n+1]": a', "names the element 6 of 'T'", "1 to 5")
        self.refused('"T[n]": a', '"T[0]": a', "names the element 0 of 'T'", "1 to 5")
        self.refused('"T[n]": a', '"z[1]": a', "'z' has no size")

    def test_indices(self):
        self.refused("flux[n-1]", "flux[n]", "the index 'n' of 'flux' is 5, outside its range 1 to 4")
        self.refused("(flux[i-1]", "(flux[i-2]", "the index 'i-2' of 'flux' is 0 at i = 2, outside its range 1 to 4")
        self.refused("(flux[i-1]", "(flux[i/2]", "'i/2'", "1.5 at i = 3", "whole number")
        self.refused("(flux[i-1]", "(flux[z]", "'z' is no parameter")
        self.refused("(flux[i-1]", "(flux[m]", "unknown name 'm'")
        self.refused("(flux[i-1]", "(flux[i,1]", "vector of 4 elements", "2 indices")
        self.refused("(flux[i-1]", "(flow[i-1]", "'flow' is no vector", "flux")
        self.refused("T[i in 2:n-1]", "T[q in 2:n-1]", "'q'", "name already")
        self.refused("T[i in 2:n-1]", "T[t in 2:n-1]", "another name")
        self.refused("T[i in 2:n-1]", "T[i in n]", "lacks a range")

    def test_whole(self):
        self.refused("dot(k, T)", "dot(k, u)", "vector of 5 elements and a vector of 2 elements")
        self.refused("T - mean", "T - u", "'T' is here a vector of 5 elements", "'u' a vector of 2 elements")
        self.refused("z: dot(k, T)", "z: T", "is one value", "'T", "vector of 5 elements")
        self.refused("a*(flux[i-1]", "T*(flux[i-1]", "is one value for each element", "name an element")
        self.refused("sum(T)", "sum(q)", "sum needs a vector, which 'q' is not")
        self.refused("mean: sum(T)/n,", 'mean: "sum(T, k)/n",', "sum takes one vector")
        self.refused("last: \"T[n]\"", "last: T", "is one value", "vector of 5 elements")
        self.refused('"T[n]": T,', '"T[n-1]": T,', "same size")

    def test_sizes(self):
        self.refused("n: 5,", "n: 0,", "has the size 0", options=())
        self.refused("n: 5,", "n: 2.5,", "2.5", "whole number")
        self.refused("[1, 2, 3, 4, 5]", "[1, 2, 3, 4]", "4 values in a list, where 5 are wanted")
        self.refused("T[i in 1:n]", "T[i in 2:n]", "leaves out 'T[1]'")
        self.refused('"u[2]": [0.5, 0.25]', '"u[2]": 1, "u[i in 1:2]": 2', "'u[2]'", "there already")
        self.refused('"u[2]": [0.5, 0.25]', '"u[2]": 1, u: 2', "stands with a size, too")
        self.refused("n: 5,", "", "unknown name 'n'")
        self.refused('"u[2]": [0.5, 0.25]', '"k[2]": 1', "another section")
        self.refused('"u[2]": [0.5, 0.25]', '"u[100000, 100000]": 1', "there may be 1e7")
        self.refused("mean: sum(T)/n", "mean: " + '"sum(1 for i in 1:2000, j in 1:2000)"', "more than 1e6 terms")

    def test_display(self):
        units = "      units: {T: K}\n      display: {T: bar}\n      outputs:"
        self.refused("      outputs:", units, "'T[1]' cannot be shown in 'bar': its unit is 'K'")
        self.refused("      outputs:", units.replace("T: K", ""), "its unit is not given")
        self.refused("      outputs:", units.replace("T: bar", "W: bar"), "unknown name 'W'")

    def test_set(self):
        self.refused("n: 5", "n: 5", "--set rod.T[9]=1", "names the element 9", "1 to 5", options=("--set", "rod.T[9]=1"))
        self.refused("n: 5", "n: 5", "'q' has no size", options=("--set", "rod.q[1]=1"))
        self.refused("n: 5", "n: 5", "'V[1]'", "known names", options=("--set", "rod.V[1]=1"))


if __name__ == "__main__":
    unittest.main()
