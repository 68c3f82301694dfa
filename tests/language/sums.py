"""Sums in connections, against the same models with a subsystem that adds by hand: the same bits."""
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate, write_model

HOUSE = """
experiment: {{stop: 2}}
parameters: {{n: 3, loss: 0.5}}
templates:
  room:
    equations:
      parameters: {{area: 1, k: 2}}
      inputs: {{T: 20}}
      states: {{x: 10}}
      derivatives: {{x: k*(T - x)/area}}
      outputs: {{q: k*(T - x)}}
      units: {{{units}}}
subsystems:
  room: {{template: room, repeat: {{i: [1, n]}}, parameters: {{area: 1 + 0.5*i}}, start: {{x: 8 + i}}}}
  boiler:
    equations:
      inputs: {{q: }}
      states: {{T: 60}}
      derivatives: {{T: -q/10}}
      outputs: {{T: T}}
      units: {{{boiler}}}
{adder}connections:
  - boiler.* -> room[*].*
  - {sum}
"""
ADDER = """  adder:
    equations: {inputs: {a: 0, b: 0, c: 0}, outputs: {value: "SUM"}}
"""
FEEDS = "room[1].q -> adder.a\n  - room[2].q -> adder.b\n  - room[3].q -> adder.c\n  - adder.value -> boiler.q"


def house(sum_text, units="", boiler=""):
    return HOUSE.format(sum=sum_text, adder="", units=units, boiler=boiler)


def by_hand(sum_text):
    return HOUSE.format(sum=FEEDS, adder=ADDER.replace("SUM", sum_text), units="", boiler="")


class Sums(ModelTest):
    def same(self, text, hand, *options, ranks=(1, 3)):
        for n in ranks:
            run = simulate(self.model(house(text)), *options, ranks=n)
            reference = simulate(write_model(self.folder, "hand", by_hand(hand)), *options, ranks=n)
            np.testing.assert_array_equal(run.time, reference.time)
            for name in ("boiler.T", "room[1].q", "room[3].q"):
                np.testing.assert_array_equal(run.outputs[name], reference.outputs[name])

    def test_all(self):
        self.same("sum(room[*].q) -> boiler.q", "a + b + c")
        self.same("sum(room[*].q) -> boiler.q", "a + b + c", "-cosim_type", "jacobi", "-cosim_step", 0.05, ranks=(1,))
        self.same("sum(room[*].q) -> boiler.q", "a + b + c", "-cosim_type", "monolithic", ranks=(1,))

    def test_weighted(self):
        self.same("sum(room[i].area*room[i].q) -> boiler.q", "1.5*a + 2*b + 2.5*c", ranks=(1,))
        self.same("sum(loss*i*room[i].q/2) -> boiler.q", "0.25*a + 0.5*b + 0.75*c", ranks=(1,))
        self.same('sum(-room[*].q*loss) -> boiler.q', "-0.5*a - 0.5*b - 0.5*c", ranks=(1,))

    def test_held_and_late(self):
        run = simulate(self.model(house('{connect: "sum(room[*].q) -> boiler.q", delay: 0.25, hold: zoh}')),
                       "-cosim_type", "jacobi", "-cosim_step", 0.05)
        total = sum(run.outputs[f"room[{i}].q"] for i in (1, 2, 3))
        np.testing.assert_allclose(run.inputs["boiler.q"][20], total[15], rtol=1e-6)

    def test_units(self):
        run = simulate(self.model(house("sum(room[*].q) -> boiler.q", "q: kW", "q: W")))
        total = sum(run.outputs[f"room[{i}].q"] for i in (1, 2, 3))
        np.testing.assert_allclose(run.inputs["boiler.q"], 1000 * total, rtol=1e-7)
        run = simulate(self.model(house("sum(room[i].area*room[i].q) -> boiler.q", "q: W/m2, area: m2", "q: kW")))
        total = sum((1 + 0.5 * i) * run.outputs[f"room[{i}].q"] for i in (1, 2, 3))
        np.testing.assert_allclose(run.inputs["boiler.q"], 0.001 * total, rtol=1e-7)

    def test_set_weights(self):
        run = simulate(self.model(house("sum(room[i].area*room[i].q) -> boiler.q")), "--set", "room[2].area=4")
        total = sum(w * run.outputs[f"room[{i}].q"] for i, w in ((1, 1.5), (2, 4), (3, 2.5)))
        np.testing.assert_allclose(run.inputs["boiler.q"], total, rtol=1e-7)

    def test_as_a_system(self):
        run = execute("export-ssp", self.model(house("sum(room[*].q) -> boiler.q")), "-o", self.folder / "house.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = simulate(self.folder / "house.ssp", jumps=True)
        reference = simulate(self.model(house("sum(room[*].q) -> boiler.q")))
        self.assertAlmostEqual(run.outputs["boiler.T"][-1], reference.outputs["boiler.T"][-1], delta=1e-3)


class Rules(ModelTest):
    def refused(self, text, *words, units="", boiler=""):
        self.check_refuses(house(text, units, boiler), "model.yaml:24", *words)

    def test_terms(self):
        self.refused("sum(room[*].p) -> boiler.q", "stands for no output", "room[1].q")
        self.refused("sum(rom[i].q) -> boiler.q", "there is no rom[1]", "room[1]")
        self.refused("sum(room[i].q*room[i].q) -> boiler.q", "weight times one output")
        self.refused("sum(room[i].q + 1) -> boiler.q", "weight times one output")
        self.refused("sum(room[i].area) -> boiler.q", "weight times one output")
        self.refused("sum(room[i].x*room[i].q) -> boiler.q", "no output and no parameter", "room[1].x")
        self.refused("sum(room[i].q*room[j].area) -> boiler.q", "two indices", "'i'", "'j'")
        self.refused("sum(room[*].q*room[*].area) -> boiler.q", "two patterns", "index")
        self.refused("sum(loss) -> boiler.q", "names no output")
        self.refused("sum(room[i].q*gain) -> boiler.q", "unknown name 'gain'", "'room[1].q*gain'")
        self.refused("sum(room[*].q) -> boiler.p", "boiler", "no input 'p'")

    def test_units(self):
        self.refused("sum(room[*].q) -> boiler.q", "'kg'", "'W'", units="q: kg", boiler="q: W")
        self.refused("sum(room[*].q) -> boiler.q", "'degC'", "zeros", units="q: degC", boiler="q: K")


if __name__ == "__main__":
    unittest.main()
