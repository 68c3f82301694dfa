"""What names say alone: connections `a.* -> b.*`, lists of inputs and outputs, conditions as keys and conditions of
vectors, against the same models written out: the same bits."""
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate, write_model

SHORT = """
experiment: {stop: 3}
templates:
  zone:
    equations:
      inputs: [T_out, supply, "load[2]"]
      states: {T: 18}
      discrete: {open: 0}
      derivatives: {T: "(T_out - T)/5 + open*(supply - T)/9 + load[1] - load[2]"}
      when: {T < 19: {open: 1}, T > 21: {open: 0}}
      outputs: [T, open]
subsystems:
  weather: {equations: {states: {T_out: 5}, derivatives: {T_out: 9*cos(2*t)}, outputs: {T_out: T_out, "load[2]": [0.1*sin(t), 0.2*t], G: 3 + t}}}
  rooms:
    equations:
      parameters: {n: 3, "k[i in 1:n]": i}
      inputs: [T_out, supply]
      states: {"T[n]": 18.6 + k/10, "q[n]": 0}
      discrete: {"open[n]": 0, "seen[n]": 0, count: 0, last: 0}
      derivatives: {T: (T_out - T)/5 + q, q: open*(supply - T) - q*k}
      when:
        - {condition: T < 18.75 + sum(k)/100, initially: true, set: {open: 1, count: count + k}}
        - {condition: T > 19.5 && supply > 0, set: {open: 0, seen: seen + T, last: T}}
        - {condition: "T[2:n] < 15", set: {"seen[2:n]": 7, "open[1]": 1}}
      outputs: [T, q, open, seen, count, last]
  zone: {template: zone, repeat: {i: [1, 3]}, start: {T: 17 + i}}
  block:
    system:
      subsystems: {hall: {template: zone}, shed: {template: zone, start: {T: 15}}}
      connections: [hall.T -> shed.supply]
      inputs: {T_out: [hall.T_out, shed.T_out], warm: hall.supply, l1: ["hall.load[1]", "shed.load[1]"], l2: ["hall.load[2]", "shed.load[2]"]}
      outputs: {T: shed.T}
  boiler:
    equations: {inputs: [q], states: {supply: 40}, derivatives: {supply: 20 - q}, outputs: [supply]}
connections:
  - weather.* -> rooms.*
  - weather.* -> zone[*].*
  - boiler.* -> rooms.*
  - boiler.supply -> zone[*].supply
  - weather.* -> block.*
  - boiler.supply -> block.warm
  - weather.load[1] -> block.l1
  - weather.load[2] -> block.l2
  - sum(rooms.q) -> boiler.q
"""
LONG = SHORT
for short, long in (
        ('[T_out, supply, "load[2]"]', '{T_out: , supply: , "load[2]": }'), ("[T_out, supply]", "{T_out: , supply: }"),
        ("when: {T < 19: {open: 1}, T > 21: {open: 0}}",
         "when: [{condition: T < 19, set: {open: 1}}, {condition: T > 21, set: {open: 0}}]"),
        ("[T, open]", "{T: T, open: open}"), ("inputs: [q]", "inputs: {q: }"), ("outputs: [supply]", "outputs: {supply: supply}"),
        ("[T, q, open, seen, count, last]",
         '{"T[n]": T, "q[n]": q, "open[n]": open, "seen[n]": seen, count: count, last: last}'),
        ("condition: T < 18.75 + sum(k)/100, initially: true, set: {open: 1, count: count + k}",
         'condition: "T[i] < 18.75 + sum(k)/100", initially: true, set: {"open[i]": 1, count: "count + k[i]"}, repeat: {i: [1, n]}'),
        ('condition: T > 19.5 && supply > 0, set: {open: 0, seen: seen + T, last: T}',
         'condition: "T[i] > 19.5 && supply > 0", set: {"open[i]": 0, "seen[i]": "seen[i] + T[i]", last: "T[i]"}, '
         'repeat: {i: [1, n]}'),
        ('condition: "T[2:n] < 15", set: {"seen[2:n]": 7, "open[1]": 1}',
         'condition: "T[i] < 15", set: {"seen[i]": 7, "open[1]": 1}, repeat: {i: [2, n]}'),
        ("weather.* -> rooms.*", "weather.T_out -> rooms.T_out"),
        ("  - weather.* -> zone[*].*\n",
         "".join(f"  - weather.T_out -> zone[{i}].T_out\n  - weather.load -> zone[{i}].load\n" for i in (1, 2, 3))),
        ("boiler.* -> rooms.*", "boiler.supply -> rooms.supply"),
        ("  - boiler.supply -> zone[*].supply\n", "".join(f"  - boiler.supply -> zone[{i}].supply\n" for i in (1, 2, 3))),
        ("weather.* -> block.*", "weather.T_out -> block.T_out"), ("sum(rooms.q)", "sum(rooms.q[*])")):
    assert LONG.count(short) == 1, short
    LONG = LONG.replace(short, long)


class Names(ModelTest):
    def same(self, run, other):
        self.assertEqual(run.outputs.names, other.outputs.names)
        np.testing.assert_array_equal(run.time, other.time)
        np.testing.assert_array_equal(run.outputs.values, other.outputs.values)
        self.assertEqual([what for _, what in run.happened], [what for _, what in other.happened])

    def test_as_written_out(self):
        for ranks, *stop in ((3, "-cosim_stop", 0.5), (1,)):
            run = simulate(self.model(SHORT), *stop, ranks=ranks)
            self.same(run, simulate(write_model(self.folder, "long", LONG), *stop, ranks=ranks))
            self.assertGreater(len(run.happened), 4)
        self.assertGreater(run.outputs["rooms.count"][-1], 6)
        for name in ("rooms.last", "rooms.seen[1]", "rooms.seen[3]", "zone[3].open", "block.shed.T"):
            self.assertGreater(np.ptp(run.outputs[name]), 0, name)

    def test_noted(self):
        run = execute("check", self.model(SHORT))
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("weather.* -> rooms.* connects T_out\n", "weather.* -> zone[*].* connects T_out, load\n",
                     "boiler.* -> rooms.* connects supply\n", "weather.* -> block.* connects T_out\n"):
            self.assertRegex(run.stdout, r"note: .*model.yaml:\d+: ")
            self.assertIn(text, run.stdout)


class Rules(ModelTest):
    def refused(self, old, new, *words):
        self.assertEqual(SHORT.count(old), 1, old)
        self.check_refuses(SHORT.replace(old, new), "model.yaml:", *words)

    def test_connections(self):
        self.refused("boiler.* -> rooms.*", "zone[1].* -> boiler.*", "connects nothing", "known outputs: T, open", "known inputs: q")
        self.refused("boiler.* -> rooms.*", "boilr.* -> rooms.*", "no subsystem 'boilr'", "did you mean 'boiler'")
        self.refused("boiler.* -> rooms.*", "boiler.* -> room.*", "no subsystem 'room'", "did you mean 'rooms'")
        self.refused("boiler.* -> rooms.*", "boiler.* -> rooms.supply", "at one end only")
        self.refused("weather.* -> zone[*].*", "weather.* -> zon[*].*", "no subsystem 'zon[*]'")
        self.refused("boiler.* -> rooms.*", "boiler.* -> rooms.*\n  - weather.* -> rooms.*", "rooms.T_out", "twice")
        self.refused("sum(rooms.q)", "zone[*].T", "add them up", "sum(zone[*].T) -> boiler.q")
        self.refused("boiler.* -> rooms.*", "zone[*].* -> rooms.*", "name one subsystem on the left")
        self.refused('"load[2]": [0.1', '"load[3]": [0, 0.1', "3 elements", "zone[1].load[:]' has 2")

    def test_lists(self):
        self.refused("inputs: [q]", "inputs: [{q: 0}]", "must be a name, not a map", "{name: value, ...}")
        self.refused("inputs: [q]", "inputs: [q, q]", "input 'q' of subsystem 'boiler' is there twice")
        self.refused("inputs: [q]", "inputs: [q, p]", "boiler.p", "connection", "start value")
        self.refused("outputs: [supply]", "outputs: [suply]", "unknown name 'suply'", "supply")
        self.refused("outputs: [T, q, open", 'outputs: ["T[1]", q, open', "names elements; write T for all of them")
        self.refused("when: {T < 19: {open: 1}, T > 21: {open: 0}}", "when: {'': {open: 1}}", "a condition of 'when'", "must be a text")

    def test_conditions(self):
        self.refused("set: {open: 1, count", "set: {k: 1, count", "'k[1]' is set by a condition, but is neither")
        self.refused("set: {open: 1, count", 'set: {"open[2:n]": 1, count', "vector of 2 elements", "vector of 3 elements", "acts by itself")
        self.refused("count: count + k}", 'count: "count + k[2:n]"}', "vector of 2 elements")
        self.refused("T > 19.5 && supply > 0,", '"T > q[2:n] && supply > 0",', "'T' is here a vector of 3 elements")
        self.refused("when: {T < 19: {open: 1}, T > 21: {open: 0}}", "when: {condition: T < 19, set: {open: 1}}", "must be a list of these")
        self.refused("T > 21: {open: 0}", "T > 21: 0", "must be a map")


if __name__ == "__main__":
    unittest.main()
