"""New runs that start from the states of a checkpoint, also of another model."""
import unittest

import fmu_factory
import h5py
import numpy as np
import references
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, TIGHT, TWO_MASS, in_short, run_here
from fmu_runs import PAIR, build_parts, model_text
from patience import wait_until
from restart_runs import RestartTest

THERMOSTAT = EXAMPLES / "thermostat" / "thermostat.yaml"
STEPS = ("-cosim_step", 1e-3)
SAMPLED = """experiment: {start: 0, stop: STOP}
subsystems:
  plant: {equations: {parameters: {k: 1}, inputs: {u: 0}, states: {x: 0}, derivatives: {x: k*u - x},
          outputs: {x: x}}}
  controller:
    equations:
      inputs: {y: 0}
      discrete: {u: 0, sum: 0}
      when: [{every: 0.1, set: {sum: pre(sum) + 0.1*(1 - y), u: 2*(1 - y) + pre(sum)}}]
      outputs: {u: u, sum: sum}
connections: [plant.x -> controller.y, controller.u -> plant.u]
"""
DELAYED = """experiment: {start: 0, stop: STOP}
subsystems:
  line: {equations: {inputs: {u: 1}, states: {x: 1}, derivatives: {x: -u}, outputs: {x: x}}}
connections: [{connect: line.x -> line.u, delay: DELAY}]
"""
SAVED = ("state", "serialize", "variable", "directional")


def column(path, name):
    with h5py.File(path) as file:
        names = list(file["outputs/names"].asstr())
        return file["time"][:], file["outputs/values"][:, names.index(name)]


class WarmTest(RestartTest):
    def run_it(self, name, model, *options, ranks=1):
        return run_here(model, "-cosim_output", self.folder / f"{name}.h5", *options,
                       ranks=ranks)

    def first(self, model, stop, *options, ranks=1):
        """A run that ends at `stop`, with a checkpoint."""
        run = self.run_it("first", model, "-cosim_stop", stop, "-cosim_checkpoint",
                          self.folder / "first.chk", *options, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)

    def stopped(self, model, *options):
        """A run that a time limit has ended on its way, with a copy that is not the start."""
        limit = 0.1

        def on_its_way():
            nonlocal limit
            run = self.run_it("first", model, "-cosim_checkpoint", self.folder / "first.chk",
                              "-cosim_checkpoint_epoch", 20, "-cosim_time_limit", limit, *options)
            self.assertIn(run.returncode, (0, 3), run.stderr)
            limit *= 1.4 if run.returncode == 3 else 0.6
            return run.returncode == 3 and "first.chk, t = 0 s" not in run.stdout

        wait_until(on_its_way, "a time limit between the first copy and the end")

    def second(self, model, *options, ranks=1, code=0, name="second"):
        run = self.run_it(name, model, "-cosim_restart_as_start", self.folder / "first.chk",
                          *options, ranks=ranks)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def refused(self, run, *says):
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)

    def both(self, name):
        """From the first run to the end of the second one: times and values, each once."""
        t, x = column(self.folder / "first.h5", name)
        s, y = column(self.folder / "second.h5", name)
        self.assertEqual(t[-1], s[0])
        np.testing.assert_allclose(y[0], x[-1], rtol=1e-12)
        return np.concatenate([t, s[1:]]), np.concatenate([x, y[1:]])

    def written(self, text, name="model", **words):
        for word, value in words.items():
            text = text.replace(word, str(value))
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path


class SameModel(WarmTest):
    """With the same parameters the two runs are as exact as one."""

    def test_two_masses(self):
        exact = references.two_mass().exact_states
        for ranks, then in ((1, 1), (2, 1), (1, 2)):
            self.first(TWO_MASS, 1, *STEPS, *TIGHT, ranks=ranks)
            run = self.second(TWO_MASS, "-cosim_stop", 2, *STEPS, *TIGHT, ranks=then)
            self.assertIn("starts from the states at t = 1 s in", run.stderr)
            t, x = self.both("left.x")
            self.assertLess(np.max(np.abs(x - exact(t)[:, 0])), 1e-6)

    def test_every_method(self):
        """Whoever wrote the states, whoever reads them; at the methods' own errors."""
        exact = references.LotkaVolterra.exact_states
        for before, after, bound in (("jfm", "missiles", 1e-4), ("missiles", "monolithic", 1e-4),
                                     ("monolithic", "jfm", 1e-4), ("jfm", "jacobi", 0.1),
                                     ("jacobi", "gauss_seidel", 0.1)):
            with self.subTest(before=before, after=after):
                self.first(LOTKA_VOLTERRA, 5, "-cosim_step", 0.01, "-cosim_type", before)
                self.second(LOTKA_VOLTERRA, "-cosim_stop", 10, "-cosim_step", 0.01, "-cosim_type",
                            after, "-subsystem_integrator", "cvode_bdf")
                t, x = self.both("prey.amount")
                self.assertLess(np.max(np.abs(x - exact(t)[:, 0])), bound)

    def test_fmus(self):
        """Which would refuse to go beyond a stop time that they had been told."""
        exact = references.two_mass().exact_states
        for version, kind in in_short(((2, "me"), (3, "me"), (3, "cs"), (2, "cs")), 2):
            build_parts(self.folder, PAIR, version, kinds=(kind,), capabilities=SAVED)
            model = self.written(model_text(PAIR, 1))
            for then, now in (("false", "false"), ("true", "false"), ("false", "true")):
                with self.subTest(version=version, kind=kind, isolated=(then, now)):
                    self.stopped(model, "-cosim_step", 1e-4, "-subsystem_isolated", then)
                    self.second(model, *STEPS, "-subsystem_isolated", now)
                    t, x = column(self.folder / "second.h5", "left.x")
                    self.assertGreater(t[0], 0)
                    self.assertEqual(t[-1], 1)
                    self.assertLess(np.max(np.abs(x - exact(t)[:, 0])), 1e-3)

    def test_samples_and_switches(self):
        """Discrete variables go along, and a tick that has come does not come again."""
        model = self.written(SAMPLED, STOP=2)
        self.run_it("whole", model, *STEPS, *TIGHT)
        self.first(model, 1, *STEPS, *TIGHT)
        self.second(model, *STEPS, *TIGHT)
        for name in ("plant.x", "controller.u", "controller.sum"):
            t, x = self.both(name)
            s, y = column(self.folder / "whole.h5", name)
            np.testing.assert_allclose(np.interp(s, t, x), y, atol=1e-9, err_msg=name)

    def test_delays(self):
        """u(t) = x(t - 1) = 1 at first: x' = -1, then x' = -(1 - (t - 1)) (method of steps)."""
        model = self.written(DELAYED, STOP=2, DELAY=1)
        self.first(model, 1.5, "-cosim_step", 0.01)
        self.second(model, "-cosim_step", 0.01)
        t, x = self.both("line.x")
        exact = np.where(t <= 1, 1 - t, -(t - 1) + (t - 1)**2 / 2)
        self.assertLess(np.max(np.abs(x - exact)), 1e-8)

    def test_from_a_run_that_was_stopped(self):
        self.stopped(TWO_MASS, "-cosim_step", 1e-5)
        self.second(TWO_MASS, *STEPS)
        t, x = column(self.folder / "second.h5", "left.x")
        self.assertGreater(t[0], 0)
        self.assertLess(np.max(np.abs(x - references.two_mass().exact_states(t)[:, 0])), 1e-4)


class OtherModel(WarmTest):
    def test_another_parameter(self):
        """As monolithic does from the same states, written as start values."""
        self.first(LOTKA_VOLTERRA, 5, "-cosim_step", 0.01, "-cosim_rtol", 1e-10)
        with h5py.File(self.folder / "first.h5") as file:
            names, last = list(file["states/names"].asstr()), file["states/values"][-1]
        starts = [word for name, value in zip(names, last) for word in ("--set", f"{name}={value!r}")]
        change = ("--set", "prey.birth=1", "-cosim_step", 0.01)
        self.second(LOTKA_VOLTERRA, *change, "-cosim_stop", 8)
        run = self.run_it("other", LOTKA_VOLTERRA, *change, *starts, "-cosim_start", 5, "-cosim_stop",
                          8, "-cosim_type", "monolithic")
        self.assertEqual(run.returncode, 0, run.stderr)
        t, x = column(self.folder / "second.h5", "prey.amount")
        s, y = column(self.folder / "other.h5", "prey.amount")
        np.testing.assert_array_equal(t, s)
        np.testing.assert_allclose(x, y, atol=1e-5)

    def test_another_start_time(self):
        """Equations start whenever they are told to."""
        self.first(LOTKA_VOLTERRA, 5, "-cosim_step", 0.01)
        self.second(LOTKA_VOLTERRA, "-cosim_start", 0, "-cosim_stop", 5, "-cosim_step", 0.01)
        t, x = column(self.folder / "second.h5", "prey.amount")
        self.assertEqual(t[0], 0)
        exact = references.LotkaVolterra.exact_states(np.concatenate([[0], t + 5]))[1:, 0]
        self.assertLess(np.max(np.abs(x - exact)), 1e-3)

    def test_subsystems_come_and_go(self):
        model = "experiment: {start: 0, stop: 1}\nsubsystems:\n"
        part = "{equations: {states: {x: 2}, derivatives: {x: -x}, outputs: {x: x}}}\n"
        self.first(self.written(model + f"  a: {part}  b: {part}"), 0.5, "-cosim_step", 0.1)
        run = self.second(self.written(model + f"  c: {part}  a: {part}", "other"),
                          "-cosim_step", 0.1)
        self.assertIn("because it does not have them: c", run.stderr)
        self.assertIn("because the model does not have them: b", run.stderr)
        t, x = column(self.folder / "second.h5", "a.x")
        np.testing.assert_allclose(x, 2*np.exp(-t), rtol=1e-6)
        t, x = column(self.folder / "second.h5", "c.x")
        np.testing.assert_allclose(x, 2*np.exp(0.5 - t), rtol=1e-6)

    def test_what_does_not_fit(self):
        self.first(self.written(SAMPLED, STOP=2), 1, *STEPS)
        for change, says in ((("states: {x: 0}", "states: {x: 0, z: 1}"),
                              ("'plant' had the states x and has x, z",)),
                             (("discrete: {u: 0, sum: 0}", "discrete: {u: 0, sum: 0, n: 0}"),
                              ("'controller' was discrete variables u, sum and is discrete "
                               "variables u, sum, n",))):
            text = SAMPLED.replace(*change).replace("{x: k*u - x}", "{x: k*u - x, z: 0}"
                                                    if "z" in change[1] else "{x: k*u - x}")
            run = self.second(self.written(text, STOP=2), *STEPS, code=2)
            self.refused(run, *says)
        self.first(self.written(DELAYED, STOP=2, DELAY=0.5), 1, "-cosim_step", 0.01)
        run = self.second(self.written(DELAYED, STOP=2, DELAY=0.7), "-cosim_step", 0.01, code=2)
        self.refused(run, "'delay_line_u'", "0.5 s", "0.7 s", "the past is not known")
        self.second(self.written(DELAYED, STOP=2, DELAY=0.4), "-cosim_step", 0.01)

    def test_fmus_that_do_not_fit(self):
        fmu_factory.build(self.folder, "left", 2, kinds=("cs",), capabilities=SAVED)
        model = self.written("experiment: {stop: 1}\nsubsystems: {left: {fmu: left.fmu, start: "
                             "{f: 1}, parameters: {m: 6}}}\n")
        self.first(model, 0.5, *STEPS)
        run = self.second(model, *STEPS, "--set", "left.m=7", code=2)
        self.refused(run, "subsystem 'left'", "m = 6", "m = 7")
        run = self.second(model, *STEPS, "-cosim_start", 0.25, code=2)
        self.refused(run, "subsystem 'left'", "leave -cosim_start out")
        self.second(model, *STEPS)

    def test_what_goes_together(self):
        self.first(TWO_MASS, 0.5, *STEPS)
        run = self.second(TWO_MASS, *STEPS, "-cosim_restart", self.folder / "first.chk", code=2)
        self.refused(run, "-cosim_restart goes on with a run")
        self.refused(self.run_it("second", TWO_MASS, "-cosim_restart_as_start",
                                 self.folder / "none.chk"), "is not there")
        self.second(TWO_MASS, *STEPS, "-cosim_checkpoint", self.folder / "second.chk",
                    "-cosim_checkpoint_epoch", 5, "-cosim_time_limit", 1e-3, code=3)
        run = self.run_it("second", TWO_MASS, *STEPS, "-cosim_start", 0.5, "-cosim_restart",
                          self.folder / "second.chk", "-cosim_checkpoint_epoch", 5)
        self.assertEqual(run.returncode, 0, run.stderr)
        t, x = column(self.folder / "second.h5", "left.x")
        self.assertEqual((t[0], t[-1]), (0.5, 2.0))
        self.assertLess(np.max(np.abs(x - references.two_mass().exact_states(t)[:, 0])), 1e-4)


if __name__ == "__main__":
    unittest.main()
