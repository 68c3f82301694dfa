"""-cosim_paces auto: fast groups take steps of their own; results are those of one pace, in the same places."""
import re
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate
from pace_models import LINKS, PENDULUM, SLOW, exact, left, linear, network, right

AUTO = ("-cosim_paces", "auto")
ROWS = ("-cosim_output_interval", 0.05)
EXACT = ("-cosim_type", "monolithic", "-cosim_step", 0.01, "-subsystem_rtol", 1e-12, "-subsystem_atol", 1e-13, *ROWS)


def paces(run):
    found = re.search(r"^  paces +(.*)$", run.stdout, re.MULTILINE)
    return found.group(1) if found else None


def work(run):
    return dict(zip([name.decode() for name in run.subsystems["name"]], run.subsystems["rhs_evaluations"]))


class PaceTest(ModelTest):
    def auto(self, text, *options, **how):
        return simulate(self.model(text), *AUTO, *options, **how)

    def error(self, run, text):
        """Of all outputs, relative to their ranges, at rows of both."""
        right = simulate(self.model(text), *EXACT)
        np.testing.assert_allclose(right.time, run.time, rtol=0, atol=1e-9)
        return self.largest(run.outputs.values, right.outputs.values)

    @staticmethod
    def largest(values, true):
        return (np.abs(values - true).max(axis=0)/np.ptp(true, axis=0)).max()

    def assert_same_places(self, run, one):
        """Names, units, columns, kinds, and values of the columns of inputs, as without."""
        for table, other in ((run.outputs, one.outputs), (run.inputs, one.inputs), (run.states, one.states)):
            self.assertEqual(table.names, other.names)
            self.assertEqual(table.units, other.units)
        for name in ("name", "kind"):
            self.assertEqual(list(run.subsystems[name]), list(one.subsystems[name]))
        self.assertEqual(run.groups, one.groups)


class Linear(PaceTest):
    def test_ratios(self):
        """Errors below the accuracy, estimates of their size, and less to do for what is slow."""
        for rate, accuracy in ((10, 1e-3), (10, 1e-8), (100, 1e-4), (100, 1e-6), (1000, 1e-5)):
            with self.subTest(rate=rate, accuracy=accuracy):
                stop = 1.0 if rate == 1000 else 5.0
                runs = [self.auto(linear(rate, stop=stop), "-cosim_accuracy", accuracy, *more) for more in ((), ("-cosim_paces", "one"))]
                auto, one = runs
                error = self.largest(auto.outputs.values, exact(rate, auto.time))
                self.assertLess(error, accuracy)
                self.assertGreater(auto.error_estimate, 0.3*error)
                if accuracy < 1e-3:
                    self.assertLess(work(auto)["slow"], 0.8*work(one)["slow"])
                self.assertIn("a, b", paces(auto))
                self.assertIsNone(paces(one))
                self.assert_same_places(auto, one)

    def test_inputs_within(self):
        run = self.auto(linear(100))
        np.testing.assert_array_equal(run.inputs["b.u"], run.outputs["a.x"])
        np.testing.assert_array_equal(run.inputs["a.u"], run.outputs["b.x"])
        np.testing.assert_array_equal(run.states["a.v"], run.outputs["a.v"])
        self.assertEqual(list(run.subsystems["group"]), [1, 0, 1])
        only = self.auto(linear(100), "-cosim_record_variables", "b.*,slow.x")
        self.assertEqual((only.inputs.names, only.outputs.names), (["b.u"], ["slow.x", "b.x"]))

    def test_ranks(self):
        """The same groups and values on any number."""
        runs = [self.auto(linear(100), ranks=ranks) for ranks in (1, 2, 3)]
        for run in runs[1:]:
            self.assertEqual(paces(run), paces(runs[0]))
            np.testing.assert_allclose(run.outputs["slow.x"][-1], runs[0].outputs["slow.x"][-1], rtol=0, atol=1e-9)
            self.assertEqual(run.outputs.names, runs[0].outputs.names)

    def test_methods(self):
        for method in ("jfm", "missiles", "gauss", "jacobi"):
            with self.subTest(method=method):
                text = linear(20, 0.2)
                run = self.auto(text, "-cosim_type", method, "-cosim_step", 0.01)
                self.assertIn("a, b", paces(run))
                self.assertLess(self.largest(run.outputs.values, exact(20, run.time, 0.2)), 0.03)


class Others(PaceTest):
    def right(self, text, *options, groups, accuracy=1e-5):
        run = self.auto(text, "-cosim_accuracy", accuracy, *ROWS, *options)
        for group in groups:
            self.assertIn(group, paces(run))
        self.assertEqual(max(run.subsystems["group"]), len(groups))
        self.assertLess(self.error(run, text), accuracy)
        return run

    def test_nonlinear(self):
        for accuracy in (1e-4, 1e-7):
            self.right(network(left(50, spring="x - s + 0.2*x^3"), PENDULUM, right(50)), groups=("a, b",), accuracy=accuracy)

    def test_events_within(self):
        """Of one within a group, told as without it."""
        text = network(left(60, 0.05, more=", when: [{condition: s < 0, set: {v: v + 20}}]"), SLOW, right(60, 0.05))
        run = self.right(text, groups=("a, b",))
        one = simulate(self.model(text), *ROWS)
        self.assertEqual(run.happened, one.happened)
        self.assertEqual(run.happened[0][0], "a")
        np.testing.assert_allclose(run.event_times, one.event_times, atol=1e-3)

    def test_events_in_what_is_slow(self):
        slow = SLOW.replace("outputs: {x: x}", "when: [{condition: x < 0, set: {v: -0.7*v}}], outputs: {x: x}")
        self.right(network(left(60), slow, right(60)), groups=("a, b",))

    def test_two_groups_and_a_chain(self):
        """slow - fast - slow - fast: what is fast and not joined is in two groups, one of three."""
        c = 'c: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: "70*(u - x)"}, outputs: {x: x}}}'
        pair = [one.replace("a:", "p:", 1).replace("b:", "q:", 1) for one in (left(150), right(150))]
        end = 'end: {equations: {inputs: {f: 0}, states: {x: 0}, derivatives: {x: "0.5*(f - x)"}, outputs: {x: x}}}'
        text = network(left(80), SLOW.replace("0.05*f", "0.05*f + 0.01*g").replace("{f: 0}", "{f: 0, g: 0}"), *pair, c, right(80), end,
                       connections=LINKS[:-1] + ", b.x -> c.u, slow.x -> p.s, p.x -> q.u, q.x -> p.u, p.x -> slow.g, c.x -> end.f]")
        text = text.replace("v: v}}}\n  slow", "v: v}}}\n  slow").replace("a.x -> slow.f", "c.x -> slow.f")
        self.right(text, groups=("a, c, b", "p, q"), accuracy=1e-4)

    def test_static_between(self):
        """What has no states and lies between members is within."""
        spring = 'spring: {equations: {inputs: {x: 0, y: 0}, outputs: {f: "3000*(y - x)"}}}'
        mass = '{0}: {{equations: {{inputs: {{f: 0, s: 0}}, states: {{x: 0.5, v: 0}}, derivatives: {{x: v, v: "{1}f - 1e4*x - 4*v + s"}}, outputs: {{x: x}}}}}}'
        text = network(mass.format("a", ""), spring, SLOW, mass.format("b", "-"), connections="connections: [a.x -> spring.x, b.x -> spring.y, "
                       "spring.f -> a.f, spring.f -> b.f, slow.x -> a.s, b.x -> slow.f]")
        self.right(text, groups=("a, spring, b",))

    def test_sampled_controller(self):
        """It stands outside, and its ticks end macro-steps."""
        plant = left(80, 0.1).replace("u: 0, s: 0", "u: 0, s: 0, w: 0").replace("*v\"", "*v + 50*w\"")
        controller = 'c: {equations: {inputs: {y: 0}, discrete: {w: 0}, when: [{every: 0.1, set: {w: -0.5*y}}], outputs: {w: w}}}'
        text = network(plant, SLOW, right(80, 0.1), controller, connections=LINKS[:-1] + ", a.x -> c.y, c.w -> a.w]", stop=2.0)
        self.right(text, groups=("a, b",))

    def test_constraint(self):
        """Whom it touches is in no group."""
        tied = ['{0}: {{equations: {{inputs: {{f: 0}}, states: {{x: {1}}}, derivatives: {{x: "f - x"}}, outputs: {{y: "x + f"}}}}}}'.format(*one)
                for one in (("p", 1), ("q", 0))]
        more = "constraints: [{unknown: force, equation: p.y - q.y, feeds: {p.f: -1, q.f: 1}}]\n"
        run = self.auto(network(left(80), SLOW, right(80), *tied, more=more, stop=2.0))
        self.assertIn("a, b", paces(run))
        self.assertLess(np.abs(run.outputs["p.y"] - run.outputs["q.y"]).max(), 1e-4)
        more = "constraints: [{unknown: force, equation: a.v - b.v, feeds: {a.f: -1, b.f: 1}}]\n"
        pair = [one.replace("inputs: {", "inputs: {f: 0, ").replace('*v"', '*v + f"') for one in (left(80), right(80))]
        pair[1] = pair[1].replace("outputs: {x: x}", "outputs: {x: x, v: v}").replace("states: {x: 0,", "states: {x: 0.1,")
        run = self.auto(network(pair[0], SLOW, pair[1], more=more, stop=0.5))
        self.assertIn("one: of what is fast (a, b) a takes part in a constraint", paces(run))


class One(PaceTest):
    """What stays at one pace, as it is without, and says why."""

    def same(self, text, why, *options):
        run = self.auto(text, *options)
        self.assertIn("one: ", paces(run))
        self.assertIn(why, paces(run))
        one = simulate(self.model(text), *options)
        np.testing.assert_array_equal(run.outputs.values, one.outputs.values)

    def test_all_alike(self):
        cell = '{0}: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: "{0[1]}*(0.5*u - x)"}}, outputs: {{x: x}}}}}}'
        self.same(network(*(cell.format(f"c{i}") for i in (2, 3, 4)), connections="connections: [c2.x -> c3.u, c3.x -> c4.u, c4.x -> c2.u]"),
                  "all rates are alike")

    def test_strongly_coupled(self):
        """Masses that swing against one another, and stand still together."""
        mass = '{0}: {{equations: {{inputs: {{u: 0, w: 0}}, states: {{x: {1}, v: 0}}, derivatives: {{x: v, v: "2500*({2})"}}, outputs: {{x: x}}}}}}'
        masses = [mass.format(*one) for one in (("a", 1, "u - x"), ("b", 0, "u + w - 2*x"), ("c", 0, "u - x"))]
        self.same(network(*masses, connections="connections: [a.x -> b.u, b.x -> a.u, c.x -> b.w, b.x -> c.u]", stop=1.0),
                  "all subsystems take part in what is fast")

    def test_a_single_one(self):
        self.same(network(left(50).replace("a:", "b:", 1).replace("s: 0", "s: 0"), SLOW, SLOW.replace("slow:", "other:"), stop=1.0,
                          connections="connections: [slow.x -> b.s, other.x -> b.u, b.x -> slow.f, b.x -> other.f]"),
                  "within single subsystems already: b")

    def test_not_within(self):
        text = linear(50, stop=1.0)
        self.same(text, "b has options of its own (-subsystem_b_...)", "-subsystem_b_rtol", 1e-7)
        before, after = text.split("b: {equations: {")
        found = before + "b: {equations: {parameters: {c: 1}, " + after.replace("*(u - x)", "*c*(u - x)")
        self.same(found + "initial: [{equation: der(b.v) = 300, free: b.c}]\n", "b has a parameter that initial equations decide on")
        self.same(text.replace("b: {equ", "b: {rank: 0, equ"), "b has a 'rank' of its own")
        self.same(text, "-cosim_record polynomials and balance are of all inputs", "-cosim_record", "outputs,inputs,polynomials")
        self.same(text, "monolithic integrates all subsystems as one", "-cosim_type", "monolithic")

    def test_fmu(self):
        flat = linear(50, stop=1.0)
        done = execute("export-fmu", self.model(flat), "b", "-o", self.folder / "b.fmu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.same(re.sub(r"  b: .*\n", "  b: {fmu: b.fmu}\n", flat), "of what is fast (a, b) b is an FMU")
        done = execute("export-fmu", self.model(flat), "slow", "-o", self.folder / "slow.fmu")
        run = self.auto(re.sub(r"  slow: .*\n", "  slow: {fmu: slow.fmu}\n", flat))
        self.assertIn("a, b", paces(run))
        self.assertLess(self.largest(run.outputs["slow.x"][:, None], exact(50, run.time)[:, 2:3]), 1e-4)

    def test_wrong_word(self):
        done = execute("run", self.model(linear(50)), "-cosim_paces", "two")
        self.assertEqual(done.returncode, 2)
        for word in ("-cosim_paces", "two", "one, auto"):
            self.assertIn(word, done.stderr)


class Told(PaceTest):
    def test_check_and_placement(self):
        model = self.model(linear(100))
        for command in ("check", "placement"):
            done = execute(command, model, *AUTO)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"group 1: rates of 1\d\d(\.\d*)? to 1\d\d(\.\d*)? 1/s: a, b\n")
            self.assertRegex(done.stdout, r"the rest: rates up to 3\d(\.\d*)? 1/s\n  saved: up to 2\d % of the right-hand sides")
            self.assertNotIn("paces", execute(command, model).stdout)
        self.assertIn("a + b", execute("placement", model, *AUTO, "-n", 2).stdout)

    def test_view(self):
        self.assertRegex(self.auto(linear(100), "-cosim_view").stdout, r"(?s)paces.*a, b \(1\d\d.*paces")

    def test_whole_fmu(self):
        """With groups inside, by the names that there are without."""
        model, archive = self.model(linear(50, stop=0.5)), self.folder / "whole.fmu"
        done = execute("export-fmu", model, *AUTO, "-o", archive)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = simulate(archive, "-cosim_step", 0.1)
        np.testing.assert_allclose(run.outputs["whole.a.x"], exact(50, run.time)[:, 0], atol=1e-4)
        self.assertEqual(run.outputs.names[:4], ["whole.a.x", "whole.a.v", "whole.slow.x", "whole.b.x"])

    def test_restart(self):
        """It goes on with the groups that it had, whatever a later stop would have made of them."""
        model, whole, part = self.model(linear(100)), self.folder / "whole.h5", self.folder / "part.h5"
        saves = ("-cosim_checkpoint_epoch", 50)
        def run(output, *options, **how):
            return simulate_into(model, output, *AUTO, *saves, *options, **how)
        def simulate_into(*words, **how):
            done = execute("run", words[0], *words[2:], "-cosim_output", words[1], **how)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        first = run(whole, "-cosim_checkpoint", self.folder / "whole.chk")
        run(part, "-cosim_checkpoint", self.folder / "part.chk", "-cosim_stop", 2)
        again = run(part, "-cosim_checkpoint", self.folder / "part.chk", "-cosim_restart", self.folder / "part.chk", ranks=2)
        self.assertEqual(paces(again).split(")")[0], paces(first).split(")")[0])
        with open_results(whole) as a, open_results(part) as b:
            np.testing.assert_allclose(b["outputs/values"][-1], a["outputs/values"][-1], atol=1e-3)
            self.assertEqual(list(b["outputs/names"]), list(a["outputs/names"]))


def open_results(path):
    import h5py
    return h5py.File(path)


if __name__ == "__main__":
    unittest.main()
