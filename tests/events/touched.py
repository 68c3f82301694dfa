"""Whom an event reaches: it alone starts anew, and is counted."""
import unittest

import numpy as np

from concord_runs import EXAMPLES, TIGHT, ModelTest, simulate
from event_references import thermostat_instants
from relay_models import relays

CHAIN = """
name: chain
experiment: {start: 0.0, stop: 0.1}
templates:
  cell:
    equations:
      inputs: {left: 0, right: 0, push: 0}
      states: {x: 0.1, y: 0}
      derivatives: {x: "20*(left + right - 2*x) + 30*push", y: "x - sin(y)"}
      outputs: {x: x, y: "y%s"}
subsystems:
  clock: {equations: {outputs: {y: "mod(floor(1000*t + 0.5), 2)"}}}
  cell: {template: cell, repeat: {i: [1, 99]}}
connections:
  - clock.y -> cell[50].push
  - {connect: "cell[i].x -> cell[i+1].left", repeat: {i: [1, 98]}}
  - {connect: "cell[i+1].x -> cell[i].right", repeat: {i: [1, 98]}}
"""

SWITCHES = """
name: switches
experiment: {{start: 0.0, stop: 1.0}}
templates:
  cell:
    equations:
      parameters: {{rate: 1, low: {low}, high: {high}}}
      inputs: {{left: 20}}
      states: {{T: 20}}
      discrete: {{heat: 1}}
      derivatives: {{T: "rate*(heat*8 - (T - 17)) + {coupling}*(left - T)"}}
      when:
        - {{condition: T > high, set: {{heat: 0}}}}
        - {{condition: T < low, set: {{heat: 1}}}}
      outputs: {{T: T}}
subsystems:
  calm:
    template: cell
    repeat: {{i: [1, {n}]}}
    parameters: {{low: 0, high: 100}}
    start: {{T: "19 + 2*mod(0.618*i, 1)"}}
  cell:
    template: cell
    repeat: {{i: [1, 12]}}
    parameters: {{rate: 0.5 + i/24}}
    start: {{T: "19.2 + 1.6*mod(0.618*i, 1)"}}
connections:
  - {{connect: "calm[i].T -> calm[i+1].left", repeat: {{i: [1, {links}]}}}}
  - calm[1].T -> cell[1].left
  - {{connect: "cell[i].T -> cell[i+1].left", repeat: {{i: [1, 11]}}}}
  - cell[12].T -> calm[1].left
"""

PUSHED = """
name: pushed
experiment: {{stop: 1.0}}
templates:
  mass:
    equations:
      inputs: {{x_left: 0, v_left: 0, x_right: 0, v_right: 0, push: 0}}
      states: {{x: 0, v: 0}}
      derivatives: {{x: v, v: (100*(x_left + x_right - 2*x) + 0.1*(v_left + v_right - 2*v) + push)/1.5}}
      outputs: {{px: x, pv: v}}
subsystems:
  clock:
    equations:
      inputs: {{x: 0}}
      discrete: {{push: 0}}
      when: [{{every: {every}, set: {{push: -x}}}}]
      outputs: {{push: push}}
  mass: {{template: mass, repeat: {{i: [1, {n}]}}, start: {{x: sin(0.01*i), v: cos(0.02*i)}}}}
connections:
  - clock.push -> mass[30].push
  - mass[30].px -> clock.x
  - {{connect: "mass[i].px -> mass[i+1].x_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "mass[i].pv -> mass[i+1].v_left", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "mass[i+1].px -> mass[i].x_right", repeat: {{i: [1, {n} - 1]}}}}
  - {{connect: "mass[i+1].pv -> mass[i].v_right", repeat: {{i: [1, {n} - 1]}}}}
"""

KINKS = """
name: kinks
experiment: {start: 0.0, stop: 1.0}
subsystems:
  road: {table: {file: road.csv, interpolation: linear, outputs: {z: z}}}
  wheel: {equations: {inputs: {z: 0}, states: {x: 0}, derivatives: {x: z - x}, outputs: {x: x}}}
  far: {equations: {inputs: {x: 0}, states: {y: 0}, derivatives: {y: x - y}, outputs: {y: y}}}
  named: {equations: {inputs: {u: 0}, states: {y: 1}, derivatives: {y: u - y}, outputs: {y: y}}}
connections: [road.z -> wheel.z, wheel.x -> far.x, far.y -> named.u]
"""


# Two masses that stick and slide: an event of one bends the force on the other, through what has no states.
STICKING = """
name: sticking
include: [library/mechanics.yaml]
experiment: {stop: 5.0}
subsystems:
  push: {equations: {outputs: {f: 14*sin(2.3*t) + 5*sin(5.1*t)}}}
  amplifier: {equations: {inputs: {f: 0, v: 0}, outputs: {f: f - 2*v}}}
  a: {template: sliding_mass, parameters: {m: 2, static: 4, sliding: 3, vs: 0.1, d: 0.3}}
  b: {template: sliding_mass, parameters: {m: 3, static: 6, sliding: 4, vs: 0.1, d: 0.3}}
  spring: {template: spring_damper, parameters: {c: 300, d: 1.5}}
  node: {equations: {inputs: {f: 0, s: 0}, outputs: {a: f + s, b: -s}}}
connections:
  - push.f -> amplifier.f
  - a.v -> amplifier.v
  - a.x -> spring.x1
  - a.v -> spring.v1
  - b.x -> spring.x2
  - b.v -> spring.v2
  - amplifier.f -> node.f
  - spring.force -> node.s
  - node.a -> a.force
  - node.b -> b.force
"""


class Touched(ModelTest):
    def restarts(self, run):
        return dict(zip((name.decode() for name in run.subsystems["name"]),
                        run.subsystems["restarts"]))

    def test_only_who_is_reached_of_a_hundred(self):
        model = self.model(CHAIN % "")
        exact = simulate(model, "-cosim_type", "monolithic", *TIGHT)
        for method in ("jfm", "missiles", "jacobi"):
            run = simulate(model, "-cosim_type", method, "-cosim_step", 0.01, *TIGHT)
            restarts = self.restarts(run)
            with self.subTest(method=method):
                self.assertEqual(restarts.pop("clock"), 100)
                self.assertEqual(restarts.pop("cell[50]"), 100)
                self.assertEqual(set(restarts.values()), {0})
                bound = 1e-3 if method == "jacobi" else 1e-10
                self.assertAlmostEqual(run.outputs["cell[50].y"][-1],
                                       exact.outputs["cell[50].y"][-1], delta=bound)

    def of_calm(self, low, high, *options):
        """The run, and what its calm cells have cost."""
        run = simulate(self.model(SWITCHES.format(low=low, high=high, **self.size)),
                       "-cosim_adapt", "none", "-cosim_step", 0.01, *options)
        calm = [name.startswith(b"calm") for name in run.subsystems["name"]]
        return run, *(run.subsystems[what][calm] for what in
                      ("advances", "restarts", "rhs_evaluations"))

    def test_one_trial_and_one_macro_step_of_the_others(self):
        """The macro-step in which an event is found, up to it, and on to where it would have led;
        none of these asks more of f than where there are no events."""
        for method, coupling in (("jacobi", 0), ("jacobi", 0.01), ("missiles", 0.01), ("jfm", 0),
                                 ("jfm", 0.01)):
            for n in (20, 80):
                self.size = {"coupling": coupling, "n": n, "links": n - 1}
                quiet, usual, _, asked = self.of_calm(0, 100, "-cosim_type", method)
                run, advances, restarts, evaluations = self.of_calm(19, 21, "-cosim_type", method)
                events = len(set(run.event_times))
                with self.subTest(method=method, coupling=coupling, n=n):
                    self.assertEqual(len(quiet.event_times), 0)
                    self.assertGreater(events, 10)
                    self.assertLessEqual(max(advances), 100 + 2*events)
                    self.assertLessEqual(max(evaluations/advances), max(asked/usual))
                    self.assertEqual(max(restarts), 0)

    def test_step_control_asks_for_little_more(self):
        """Where the event reaches one mass, the estimates of all others go on, and so does the size
        of macro-steps."""
        exact = simulate(self.model(PUSHED.format(n=60, every=0.0337)), "-cosim_type", "monolithic",
                         *TIGHT)
        for method in ("jfm", "missiles"):
            taken = []
            for every in (0.0337, 10):
                run = simulate(self.model(PUSHED.format(n=60, every=every)), "-cosim_type", method)
                taken.append(len(run.steps["size"]) + sum(run.steps["rejections"]))
                if every < 1:
                    events = len(set(run.event_times))
                    self.assertAlmostEqual(run.outputs["mass[30].px"][-1],
                                           exact.outputs["mass[30].px"][-1], delta=1e-4)
            with self.subTest(method=method):
                self.assertEqual(events, 29)
                self.assertLessEqual(taken[0] - taken[1], 2.5*events)

    def test_relays_that_switch_at_zero(self):
        """What their outputs are there says nothing of how fast they become others: macro-steps
        that grow from next to nothing would come behind each event."""
        for n in (6, 60):
            stop = 60/n
            model = self.model(relays(n, stop))
            exact = simulate(model, "-cosim_accuracy", 1e-9)
            for method in ("jfm", "missiles", "gauss", "radau"):
                taken = []
                for quiet in (False, True):
                    run = simulate(self.model(relays(n, stop, quiet=quiet)), "-cosim_type", method)
                    taken.append(len(run.steps["size"]) + sum(run.steps["rejections"]))
                    if not quiet:
                        events = len(set(run.event_times))
                        np.testing.assert_allclose(run.outputs.values[-1], exact.outputs.values[-1],
                                                   atol=1e-5)
                with self.subTest(method=method, n=n):
                    self.assertGreater(events, 15)
                    self.assertLessEqual(taken[0] - taken[1], 4.5*events)

    def test_instants_are_found_in_two_trials(self):
        """One leads past the instant, one nearly to it, and the next one is there; as inputs alone
        tell what they are."""
        exact = thermostat_instants(220.0)
        for method in ("jfm", "gauss", "radau"):
            run = simulate(EXAMPLES / "thermostat" / "thermostat.yaml", "-cosim_type", method)
            times = np.unique(run.event_times)
            with self.subTest(method=method):
                self.assertLessEqual(sum(run.steps["rejections"]), 2*len(times))
                np.testing.assert_allclose(times, exact, rtol=1e-6)

    def test_values_fit_behind_events(self):
        """What the coupling had left of inputs came out of others as a jump within the next macro-step, which no
        step control makes small; 17 instants are those of an independent solution (trust/exact.py)."""
        run = simulate(self.model(STICKING), "-cosim_accuracy", 1e-6)
        rows = np.isin(run.time, run.event_times)
        self.assertGreaterEqual(np.count_nonzero(rows), 17)
        y = {name: run.outputs[name][rows] for name in run.outputs.names}
        force = 300*(y["b.x"] - y["a.x"]) + 1.5*(y["b.v"] - y["a.v"])
        np.testing.assert_allclose(y["spring.force"], force, rtol=0, atol=1e-11)
        np.testing.assert_allclose(y["amplifier.f"], y["push.f"] - 2*y["a.v"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(y["node.a"], y["amplifier.f"] + y["spring.force"], rtol=0, atol=1e-12)

    def test_ranks_agree(self):
        model = self.model(CHAIN % " + 2*push")
        alone = simulate(model, "-cosim_step", 0.01)
        for ranks in (2, 3):
            run = simulate(model, "-cosim_step", 0.01, ranks=ranks)
            self.assertEqual(self.restarts(run), self.restarts(alone))
            np.testing.assert_allclose(run.outputs.values, alone.outputs.values, atol=1e-12)

    def test_kinks_of_a_table(self):
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n0.6,-1\n0.8,-1\n1,2\n")
        run = simulate(self.model(KINKS), "-cosim_step", 0.05)
        restarts = self.restarts(run)
        self.assertEqual(restarts["road"], 4)
        self.assertEqual((restarts["far"], restarts["named"]), (0, 0))

    def test_a_time_of_nobody_in_particular_reaches_everybody(self):
        (self.folder / "road.csv").write_text("t,z\n0,0\n0.25,1\n1,2\n")
        model = self.model(KINKS.replace("stop: 1.0}", "stop: 1.0}\nevents: [0.5]"))
        run = simulate(model, "-cosim_step", 0.05)
        restarts = self.restarts(run)
        self.assertEqual(restarts["road"], 3)
        self.assertEqual((restarts["far"], restarts["named"]), (1, 1))


if __name__ == "__main__":
    unittest.main()
