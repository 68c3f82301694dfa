"""What `when`, `discrete`, ticks and relations mean, rule by rule; and what is refused."""
import unittest

import numpy as np

from concord_runs import ModelTest, execute, run_here, simulate

METHODS = ("jfm", "missiles", "jacobi", "gauss_seidel", "monolithic")


class Models(ModelTest):
    def model(self, a, b="{states: {z: 0}, derivatives: {z: 0}}", wires="", stop=2):
        return super().model(
            f"experiment: {{stop: {stop}}}\nsubsystems:\n  a:\n    equations: {a}\n"
            f"  b:\n    equations: {b}\nconnections: [{wires}]\n")


class Happening(Models):
    def run_all(self, path, *options, step=0.1):
        for method in METHODS:
            with self.subTest(method=method):
                yield simulate(path, "-cosim_type", method, "-cosim_step", step, *options)

    def test_what_is_true_at_the_start_does_not_fire(self):
        path = self.model("{states: {x: 1}, derivatives: {x: -1}, discrete: {n: 0}, "
                          'when: [{condition: "x > -5", set: {n: n + 1}}, '
                          '{condition: "x >= 1", set: {n: n + 10}}], outputs: {n: n}}')
        for run in self.run_all(path):
            self.assertTrue(np.all(run.outputs["a.n"] == 0))
            self.assertIn("did not act: subsystem 'a' (x > -5); `initially", run.stdout)
        self.assertIn("note: true at the start, so that it did not become true and did not act: "
                      "subsystem 'a' (x > -5)", execute("check", path).stdout)

    def test_what_is_true_at_the_start_acts_there_initially(self):
        """Once: it must become false before it becomes true again."""
        path = self.model("{states: {x: 1}, derivatives: {x: -1}, discrete: {n: 0, late: 0}, when: ["
                          '{condition: "x > -5", initially: true, set: {n: n + 1, x: x + 1}}, '
                          '{condition: "x < 1.5", initially: true, set: {late: late + 1}}, '
                          '{condition: "x > 1.7", initially: false, set: {late: late + 10}}], '
                          "outputs: {n: n, late: late, x: x}}",
                          "{inputs: {n: 0}, discrete: {m: 0}, "
                          'when: [{condition: "n > 0.5", set: {m: 1}}], outputs: {m: m}}',
                          "a.n -> b.n")
        for run in self.run_all(path):
            np.testing.assert_array_equal(run.outputs["a.n"], 1)
            np.testing.assert_array_equal(run.outputs["b.m"], 1)
            self.assertEqual(run.outputs["a.x"][0], 2)
            self.assertEqual(run.outputs["a.late"][0], 11)
            self.assertEqual(run.outputs["a.late"][-1], 12)
            self.assertNotIn("did not act", run.stdout)
        self.assertNotIn("did not act", execute("check", path).stdout)

    def test_a_cold_room_is_heated(self):
        """T' = (5 - T)/3600 + 0.01 on: to 21 and between 19 and 21 from there on."""
        room = ("{inputs: {on: 0}, states: {T: 10}, derivatives: {T: (5 - T)/3600 + on*0.01}, "
                "outputs: {T: T}}")
        thermostat = ("{inputs: {T: 10}, discrete: {on: 0}, when: [{condition: T < 19%s, "
                      "set: {on: 1}}, {condition: T > 21, set: {on: 0}}], outputs: {on: on}}")
        for initially, last in (("", (5.6, 5.8)), (", initially: true", (18.9, 21.1))):
            path = self.model(room, thermostat % initially, "a.T -> b.T, b.on -> a.on", stop=7200)
            run = simulate(path)
            self.assertTrue(last[0] < run.outputs["a.T"][-1] < last[1])
            self.assertEqual("subsystem 'b' (T < 19); `initially: true`" in run.stdout, not initially)

    def test_discrete_variables_that_nothing_sets_stay_as_they_start(self):
        path = self.model("{discrete: {g: 1.5, 'd[2]': [2, 3]}, states: {v: 1}, derivatives: {v: g}, "
                          "outputs: {g: g, last: 'd[2]', v: v}}",
                          "{inputs: {u: 0}, states: {z: 0}, derivatives: {z: u}, outputs: {z: z}}",
                          "a.g -> b.u")
        for run in self.run_all(path):
            last = run.outputs.columns("a.g", "a.last", "a.v", "b.z")[-1]
            np.testing.assert_allclose(last, (1.5, 3, 4, 3), rtol=1e-12)

    def test_fires_once_each_time_it_becomes_true(self):
        path = self.model('{discrete: {n: 0}, when: [{condition: "sin(2*pi*t) < -0.5", '
                          "set: {n: n + 1}}], outputs: {n: n}}", stop=3)
        for run in self.run_all(path):
            self.assertEqual(run.outputs["a.n"][-1], 3)

    def test_ticks_begin_at_their_offset(self):
        path = self.model("{discrete: {n: 0, late: 0}, when: [{every: 0.25, set: {n: n + 1}}, "
                          "{every: 0.5, offset: 0.3, set: {late: late + 1}}], "
                          "outputs: {n: n, late: late}}")
        for run in self.run_all(path):
            self.assertEqual(run.outputs["a.n"][0], 1)
            self.assertEqual(run.outputs["a.n"][-1], 9)
            self.assertEqual(run.outputs["a.late"][0], 0)
            self.assertEqual(run.outputs["a.late"][-1], 4)

    def test_sets_read_what_was_before_all_at_once(self):
        path = self.model("{discrete: {p: 1, q: 2}, when: [{every: 1, offset: 1, set: {p: q, q: p}}], "
                          "outputs: {p: p, q: pq}, variables: {pq: q}}", stop=1.5)
        for run in self.run_all(path):
            self.assertEqual((run.outputs["a.p"][-1], run.outputs["a.q"][-1]), (2, 1))

    def test_sets_read_signals_before_they_jump_at_the_same_instant(self):
        """Whatever makes the jump at t = 2, and whatever reads there; flat and within a system."""
        (self.folder / "line.csv").write_text("time,u\n0,1\n2,3\n2,5\n4,6\n")
        (self.folder / "steps.csv").write_text("time,u\n0,3\n2,5\n4,6\n")
        sources = ("table: {file: line.csv, interpolation: linear, outputs: {u: u}}",
                   "table: {file: steps.csv, interpolation: step, outputs: {u: u}}",
                   'equations: {outputs: {u: "time >= 2 ? 5 : 3"}}',
                   "equations: {discrete: {q: 3}, when: [{every: 1, offset: 2, set: {q: 5}}], "
                   "outputs: {u: q}}")
        reader = ("equations: {inputs: {u: 3}, discrete: {n: 0, late: 0, at: 0, behind: 0}, "
                  "states: {x: 0}, derivatives: {x: 1}, when: [{every: 1, set: {n: u}}, "
                  '{condition: "time >= 2", set: {at: pre(u)}}, '
                  '{condition: "x >= 2", set: {late: u}}, {condition: "u > 4", set: {behind: u}}], '
                  "outputs: {n: n, at: at, late: late, behind: behind}}")
        parts = "subsystems: {%s}, connections: [%s]" % (
            ", ".join(f"s{i}: {{{source}}}, r{i}: {{{reader}}}" for i, source in enumerate(sources)),
            ", ".join(f"s{i}.u -> r{i}.u" for i in range(len(sources))))
        outside = "q: {equations: {inputs: {n: 0}, outputs: {n: n}}}"
        within = (f"subsystems: {{n: {{system: {{{parts}, outputs: {{n: r0.n}}}}%s}}, {outside}}}, "
                  "connections: [n.n -> q.n]")
        for body, prefix in ((parts, ""), (within % "", "n."), (within % ", run: {}", "n.")):
            path = super(Models, self).model(f"{{experiment: {{stop: 2.9}}, {body}}}")
            for run in self.run_all(path):
                for i, source in enumerate(sources):
                    got = [run.outputs[f"{prefix}r{i}.{name}"][-1]
                           for name in ("n", "at", "late", "behind")]
                    self.assertEqual(got, [3, 3, 3, 5], f"{source} {body}")

    def test_events_follow_from_events_at_the_same_instant(self):
        """a's step switches b, which switches a back: three passes, one row."""
        path = self.model('{discrete: {on: 0, seen: 0}, inputs: {answer: 0}, when: '
                          '[{condition: "t > 0.512", set: {on: 1}}, '
                          '{condition: "answer > 0.5", set: {seen: 1}}], '
                          "outputs: {on: on, seen: seen}}",
                          '{inputs: {on: 0}, discrete: {got: 0}, '
                          'when: [{condition: "on > 0.5", set: {got: 1}}], outputs: {got: got}}',
                          "a.on -> b.on, b.got -> a.answer")
        for run in self.run_all(path):
            row = int(np.argmin(np.abs(run.time - 0.512)))
            self.assertAlmostEqual(run.time[row], 0.512, delta=1e-12)
            for name in ("a.on", "a.seen", "b.got"):
                self.assertEqual(run.outputs[name][row], 1)
                self.assertEqual(run.outputs[name][row - 1], 0)

    def test_states_jump(self):
        path = self.model('{states: {x: 0}, derivatives: {x: 1}, when: '
                          '[{condition: "x > 0.7", set: {x: x - 1}}], outputs: {x: x}}',
                          "{inputs: {x: 0}, states: {s: 0}, derivatives: {s: x}}", "a.x -> b.x")
        exact = 0.7**2 / 2 + (0.7**2 - 0.3**2) / 2 + (0.0**2 - 0.3**2) / 2
        for run in self.run_all(path, step=0.01):
            self.assertAlmostEqual(run.states["a.x"][-1], 0.0, delta=1e-9)
        run = simulate(path, "-cosim_step", 0.1)
        self.assertAlmostEqual(run.states["b.s"][-1], exact, delta=1e-9)

    def test_branches_stay_smooth_beyond_their_end(self):
        """sqrt of what would be negative without the event: x' = -sqrt(x), x = (1 - t/2)^2."""
        path = self.model('{states: {x: 1}, derivatives: {x: "if(x > 0.01, -sqrt(x), -0.1)"}, '
                          "outputs: {x: x}}", stop=1.9)
        run = simulate(path, "-cosim_step", 0.25)
        self.assertAlmostEqual(run.outputs["a.x"][-1], 0.01 - 0.1 * 0.1, delta=1e-8)

    def test_connections_that_are_held(self):
        """x' = u, u = t held from point to point: a sum of rectangles, whatever the method."""
        path = self.model("{outputs: {y: t}}", "{inputs: {u: 0}, states: {x: 0}, "
                          "derivatives: {x: u}, outputs: {x: x}}",
                          "{connect: a.y -> b.u, hold: zoh}")
        for run in self.run_all(path, step=0.25):
            if "monolithic" not in run.stdout:
                self.assertAlmostEqual(run.states["b.x"][-1], 0.25 * sum(
                    0.25 * k for k in range(8)), delta=1e-12)

    def test_two_crossings_within_a_micro_step_are_seen(self):
        path = self.model('{states: {x: 0}, derivatives: {x: 1}, discrete: {n: 0}, when: '
                          '[{condition: "(x - 1)^2 < 0.0001", set: {n: n + 1}}], outputs: {n: n}}')
        for run in self.run_all(path, step=1.9):
            self.assertEqual(run.outputs["a.n"][-1], 1)

    def test_a_kink_that_comes_with_a_jump_back(self):
        """x' = |mod(x, 2) - 1| + 0.5: at 2 mod jumps back where the kink's side changes, and nothing
        bends. From one whole number to the next it takes ln 3; above 3, x' = x - 2.5."""
        path = self.model('{states: {x: 0}, derivatives: {x: "abs(mod(x, 2) - 1) + 0.5"}, outputs: {x: x}}',
                          '{inputs: {u: 0}, states: {z: 0}, derivatives: {z: "abs(mod(u, 2) - 1) + 0.5"}, '
                          "outputs: {z: z}}", "a.x -> b.u", stop=4)
        exact = 2.5 + 0.5 * np.exp(4 - 3 * np.log(3))
        for run in self.run_all(path, step=0.05):
            np.testing.assert_allclose(run.outputs["a.x"][-1], exact, rtol=1e-8)
            np.testing.assert_allclose(run.outputs["b.z"][-1], exact, rtol=3e-2)

    def test_a_jump_that_is_found_a_little_early_is_not_taken_back(self):
        """mod jumps where 2*x + t is whole to 1e-12, and goes on less steeply."""
        for k in (1.385, 1.422, 1.496):
            path = self.model(f'{{states: {{x: -0.055}}, derivatives: {{x: "mod(2*x + t, 1) - {k}*x + 0.03"}}, '
                              "outputs: {x: x}}",
                              "{inputs: {u: 0}, states: {z: 0}, derivatives: {z: u - z}, outputs: {z: z}}",
                              "a.x -> b.u", stop=3)
            exact = simulate(path, "-cosim_type", "monolithic", "-cosim_step", 0.1, "-subsystem_rtol", 1e-11)
            run = simulate(path, "-cosim_type", "gauss")
            for name in ("a.x", "b.z"):
                self.assertAlmostEqual(run.outputs[name][-1], exact.outputs[name][-1], delta=1e-4)

    def test_no_event_is_smooth(self):
        path = self.model('{states: {x: 0}, derivatives: {x: "no_event(t > 0.5 ? 1 : 0)"}, '
                          "outputs: {x: x}}")
        run = simulate(path, "-cosim_step", 0.1)
        self.assertEqual(len(run.time), 21)
        self.assertAlmostEqual(run.outputs["a.x"][-1], 1.5, delta=1e-3)

    def test_without_rollback_ticks_and_times_are_exact_and_the_rest_is_late(self):
        path = self.model('{states: {x: 0}, derivatives: {x: "t > 0.512 ? 1 : 0"}, discrete: {n: 0}, '
                          'when: [{condition: "x > 0.1234", set: {n: 1}}], outputs: {n: n, x: x}}')
        run = simulate(path, "-cosim_type", "jacobi", "-cosim_step", 0.1,
                       "-subsystem_rollback", "false")
        self.assertAlmostEqual(run.outputs["a.x"][-1], 2 - 0.512, delta=1e-9)
        self.assertEqual(run.outputs["a.n"][-1], 1)
        self.assertIn("too late", run.stdout)

    def test_what_is_late_is_in_the_estimate(self):
        """Of a run, and of one that has missed its accuracy in vain: the best of what was tried is told."""
        path = self.model("{states: {x: 0}, derivatives: {x: 1}, outputs: {x: x}}",
                          '{inputs: {x: 0}, states: {z: 0}, discrete: {q: 0}, derivatives: {z: q}, '
                          'when: [{condition: "x > 0.512", set: {q: 1}}], outputs: {z: z}}', "a.x -> b.x")
        for options in (("-cosim_type", "jfm", "-cosim_step", 0.1), ("-cosim_type", "radau", "-cosim_accuracy", 1e-12)):
            with self.subTest(options=options):
                run = simulate(path, *options, "-subsystem_rollback", "false")
                error = abs(run.outputs["b.z"][-1] - 1.488)
                self.assertGreater(error, 1e-6)
                self.assertGreater(run.error_estimate, 0.5 * error / 1.488)
                self.assertIn("by a second run", run.stdout)

    def test_accumulation_is_told(self):
        ball = ('{states: {h: 1, v: 0}, derivatives: {h: v, v: -9.81}, '
                'when: [{condition: "h < 0", set: {v: %s*v}}], outputs: {h: h}}')
        for e in ("-0.9", "-0.5", "-0.1", "-0.01"):
            for method in ("jfm", "jacobi", "monolithic"):
                with self.subTest(e=e, method=method):
                    run = run_here(self.model(ball % e, stop=20), "-cosim_step", 0.1,
                                  "-cosim_type", method, "-cosim_output", self.folder / "out.h5")
                    self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                    self.assertIn("events accumulate", run.stderr)
                    self.assertIn("subsystem 'a' (h < 0)", run.stderr)

    def test_sliding_is_told(self):
        path = self.model("{states: {v: 1}, derivatives: {v: -sign(v)}, outputs: {v: v}}")
        run = run_here(path, "-cosim_step", 0.1, "-cosim_output", self.folder / "out.h5",
                      "-cosim_event_limit", 50)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"t = 1 s: more than 50 events.*subsystem 'a' \(sign\(v\)\)")


class Language(Models):
    def refused(self, equations, *words):
        run = execute("check", self.model(equations))
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertTrue(run.stderr.startswith("concord: error: "), run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1)
        for word in ("model.yaml:4", *words):
            self.assertIn(word, run.stderr)

    def test_each_rule(self):
        base = "{states: {x: 1}, derivatives: {x: 1}, discrete: {d: 0}, when: [%s]}"
        self.refused(base % '{condition: "x > 2"}', "set")
        self.refused(base % "{set: {d: 1}}", "condition", "every")
        self.refused(base % '{condition: "x > 2", every: 1, set: {d: 1}}', "condition", "every")
        self.refused(base % '{condition: "x > 2", offset: 1, set: {d: 1}}', "offset")
        self.refused(base % '{condition: "x > 2", initially: 1, set: {d: 1}}', "initially")
        self.refused(base % "{every: 1, initially: true, set: {d: 1}}", "initially", "condition")
        self.refused(base % "{every: 0, set: {d: 1}}", "every 0 s", "greater than 0")
        self.refused(base % "{every: 1e-17, set: {d: 1}}", "every 1e-17 s", "cannot tell apart", "give at least")
        self.refused(base % "{every: 1e-12, set: {d: 1}}", "every 1e-12 s", "until the stop", "give at least")
        self.refused(base % '{condition: "x > 2", set: {e: 1}}', "'e'", "neither a state nor discrete")
        self.refused(base % '{condition: "y > 2", set: {d: 1}}', "unknown name 'y'")
        self.refused(base % '{condition: "x > 2", set: {d: y}}', "unknown name 'y'", "set of 'd'")
        self.refused(base % '{condition: "x > 2", sets: {d: 1}}', "'sets'")
        self.refused("{discrete: {t: 0}}", "'t'", "clashes")
        self.refused("{discrete: {d: }}", "d")
        self.refused("{states: {d: 0}, derivatives: {d: 1}, discrete: {d: 0}}", "'d'", "clashes")
        self.refused("{states: {x: 0}, derivatives: {x: pre(x)}}", "pre", "'when' only")

    def test_holds_of_connections(self):
        path = self.model("{outputs: {y: 1}}", "{inputs: {u: 0}}",
                          "{connect: a.y -> b.u, hold: hermite}")
        run = execute("check", path)
        self.assertEqual(run.returncode, 2)
        for word in ("model.yaml:7", "zoh", "hermite"):
            self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
