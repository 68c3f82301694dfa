"""`step:` of a subsystem: one step over several macro-steps under explicit methods."""
import itertools
import unittest

import numpy as np
from concord_runs import TIGHT, ModelTest, execute, simulate
from references import observed_orders

TWO_RATES = """experiment: {{start: 0, stop: 2}}
parameters: {{n: 4}}
subsystems:
  slow:
    equations:
      inputs: {{u: 0}}
      states: {{x: 1, v: 0}}
      derivatives: {{x: v, v: u - x - 0.2*v}}
      outputs: {{x: x}}
    {step}
  fast:
    equations:
      inputs: {{x: 0, z: 0}}
      states: {{p: 0.5, q: 0}}
      derivatives: {{p: q, q: 25*(0.5*x + z - p) - 4*q}}
      outputs: {{p: p}}
{table}connections:
  - slow.x -> fast.x
  - fast.p -> slow.u
"""
TABLE = """  road: {{table: {{file: road.csv, interpolation: step, outputs: {{z: z}}}}}}
"""
STEPS = (0.01, 0.005, 0.0025)


def hold(k):
    return ["-cosim_hold", "extrapolate", "-cosim_hold_order", k] if k else []


class MultirateTest(ModelTest):
    def two_rates(self, step, table=False):
        text = TWO_RATES.format(step=f"step: {step}" if step else "", table="")
        if table:
            (self.folder / "road.csv").write_text("t,z\n0,0\n1.5,0\n1.5,1\n9,1\n", encoding="utf-8")
            text = text.replace("connections:\n", TABLE.format() + "connections:\n"
                                "  - road.z -> fast.z\n")
        return self.model(text)


class Orders(MultirateTest):
    exact = {}

    def errors(self, steps_each, *options, table=False):
        """Largest errors of slow.x and fast.p, everywhere, against the monolithic solution."""
        if table not in self.exact:
            self.exact[table] = simulate(self.two_rates(None, table), *TIGHT, "-cosim_type",
                                         "monolithic", "-cosim_step", STEPS[-1])
        exact, found = self.exact[table], []
        for h in STEPS:
            model = self.two_rates(f"{steps_each}*{h}", table)
            run = simulate(model, *TIGHT, *options, "-cosim_step", h)
            rows = [int(np.argmin(np.abs(exact.time - t))) for t in run.time]
            np.testing.assert_allclose(exact.time[rows], run.time, atol=1e-12)
            found.append(np.max(np.abs(run.outputs.columns("slow.x", "fast.p") -
                                       exact.outputs.columns("slow.x", "fast.p")[rows])))
        return found

    def check(self, order, label, *arguments, allowed=0.2, **how):
        errors = self.errors(*arguments, **how)
        orders = observed_orders(STEPS, errors)
        print(f"{label}: errors {errors}, observed orders {np.round(orders, 3)}")
        for observed in orders:
            self.assertLess(abs(observed - order), allowed, label)

    def test_order_k_plus_1(self):
        for kind, orders, windows in (("jacobi", range(4), (4,)), ("jacobi", (3,), (2,)),
                                      ("gauss_seidel", (1, 3), (3,)), ("hierarchical", (2,), (3,))):
            for k, n in itertools.product(orders, windows):
                with self.subTest(kind=kind, k=k, n=n):
                    self.check(k + 1, f"{kind}, order {k}, n = {n}", n, "-cosim_type", kind,
                               *hold(k))

    def test_known_jumps(self):
        """Windows end where a table jumps, and the past is forgotten."""
        for k in (1, 2):
            with self.subTest(k=k):
                self.check(k + 1, f"jump, order {k}", 4, "-cosim_type", "jacobi", *hold(k),
                           table=True)


class Work(MultirateTest):
    def test_advances(self):
        """One in n, but for the start: 1, 1, 2, 4, ... macro-steps; the rest is a window."""
        run = simulate(self.two_rates("0.01*10"), "-cosim_type", "jacobi", "-cosim_step", 0.01)
        # 1 + 1 + 2 + 4 + 8 macro-steps, then windows of 10, the last one of 4.
        self.assertEqual(list(run.subsystems["advances"]), [5 + 19, 200])

    def test_same_bits_on_two_ranks(self):
        options = ("-cosim_type", "jacobi", "-cosim_step", 0.02, *hold(3))
        one, two = (simulate(self.two_rates("n*0.02"), *options, ranks=n) for n in (1, 2))
        for table in ("outputs", "inputs", "states"):
            self.assertEqual(getattr(one, table).values.tobytes(),
                             getattr(two, table).values.tobytes())

    def test_rows_within_a_window(self):
        """States wait at its begin, outputs and what they feed are extrapolated."""
        run = simulate(self.two_rates("4*0.1"), "-cosim_type", "jacobi", "-cosim_step", 0.1,
                       *hold(1))
        x, u = run.outputs["slow.x"], run.inputs["fast.x"]
        np.testing.assert_array_equal(x, u)
        begin = 8  # after 1 + 1 + 2 + 4 macro-steps
        np.testing.assert_array_equal(run.states["slow.x"][begin:begin + 4], x[begin])
        np.testing.assert_allclose(np.diff(x[begin:begin + 4], 2), 0, atol=1e-15)


class Refusals(MultirateTest):
    def refuse(self, model, *options, says):
        run = execute("run", model, "-cosim_output", self.folder / "r.h5", *options)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error:"), 1, run.stderr)
        for words in says:
            self.assertIn(words, run.stderr)

    def test_methods(self):
        for method in ("jfm", "missiles", "ifosmondi", "monolithic", "staggered_grid"):
            self.refuse(self.two_rates(0.1), "-cosim_type", method, "-cosim_step", 0.05,
                        says=["'slow'", "step:", method, "jacobi"])

    def test_sizes(self):
        self.refuse(self.two_rates(0.1), "-cosim_type", "jacobi", "-cosim_step", 0.03,
                    says=["model.yaml:", "0.1 s", "0.03 s", "nearest allowed is 0.09 s"])
        self.refuse(self.two_rates(0.01), "-cosim_type", "jacobi", "-cosim_step", 0.04,
                    says=["nearest allowed is 0.04 s"])
        self.refuse(self.two_rates(0.1), "-cosim_type", "jacobi", "-cosim_step", 0.02,
                    "-cosim_adapt", "predictor", says=["'slow'", "-cosim_adapt none"])
        for step in ("0", "-1", "1/0", "abc"):
            self.refuse(self.two_rates(step), "-cosim_type", "jacobi", says=["model.yaml:", "step"])

    def test_models(self):
        text = TWO_RATES.format(step="step: 0.1", table="")
        jacobi = ("-cosim_type", "jacobi", "-cosim_step", 0.05)
        event = text.replace("0.5*x + z", "0.5*abs(x) + z")
        self.refuse(self.model(event), *jacobi, says=["'slow'", "'fast' has events"])
        loop = text.replace("{x: x}\n", "{x: x + 0.1*u}\n").replace("{p: p}", "{p: p + x}")
        self.refuse(self.model(loop), *jacobi, says=["'slow'", "algebraic loop"])
        late = text.replace("- fast.p -> slow.u", "- {connect: fast.p -> slow.u, delay: 0.2}")
        self.refuse(self.model(late), *jacobi, says=["'slow'", "the delay of fast.p -> slow.u"])
        self.refuse(self.model(text), *jacobi, "-cosim_balance", "smooth",
                    says=["'slow'", "-cosim_balance"])


if __name__ == "__main__":
    unittest.main()
