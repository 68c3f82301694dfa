"""FMUs that refuse, stand still, or jump: what they do is believed, not what they claim."""
import unittest
from itertools import product

import numpy as np
from concord_runs import Results, execute, in_short, write_model
from fmu_runs import FmuTest
from values import Values

CS = dict(kinds=("cs",), capabilities=("state", "variable"))
ME = dict(kinds=("me",), capabilities=("state", "directional"))
WAVED = """experiment: {start: 0, stop: 1}
subsystems:
  left: {fmu: left.fmu}
  wave:
    equations: {inputs: {x: 1}, states: {z: 0}, derivatives: {z: x - z}, outputs: {f: 2e4*cos(3*t) + z}}
connections: [wave.f -> left.f, left.x -> wave.x]
"""
STEPS, SETS, GETS, DIRECTIONALS, EVENTS, COMPLETED, RESTORES = range(7)


class Refusals(Values):
    def waved(self, *options, version=2, code=0, **how):
        self.build("left", version, **how)
        return self.simulate(WAVED, *options, code=code)

    def calls(self, *options, version=2, **how):
        """What the FMU has counted in a run."""
        path = self.folder / "calls.txt"
        path.unlink(missing_ok=True)
        self.waved(*options, version=version, defines=(f'CALLS="{path}"',), **how)
        return [sum(column) for column in zip(*(map(int, line.split())
                                                for line in path.read_text().splitlines()))]


class Directional(Refusals):
    """Directional derivatives that are withheld (7.4) or refused (3.11) are not used."""

    def test_withheld(self):
        for version in (2, 3):
            used = self.calls("-cosim_type", "jfm", version=version, **ME)
            self.assertGreater(used[DIRECTIONALS], 0)
            withheld = self.calls("-cosim_type", "jacobi", "-subsystem_linearization", "false",
                                  version=version, **ME)
            self.assertEqual(withheld[DIRECTIONALS], 0)

    def test_nothing_connected(self):
        """A lone FMU is asked for what is recorded and nothing else (findings 3)."""
        path = self.folder / "calls.txt"
        for version in (2, 3):
            for how in (ME, dict(kinds=("cs",), capabilities=("state", "variable", "directional"))):
                for options in ((), ("-cosim_step", "1e-2")):
                    path.unlink(missing_ok=True)
                    self.build("left", version, defines=(f'CALLS="{path}"',), **how)
                    self.simulate("experiment: {start: 0, stop: 1}\n"
                                  "subsystems: {left: {fmu: left.fmu}}\n", *options)
                    counted = [int(n) for n in path.read_text().splitlines()[-1].split()]
                    self.assertEqual((counted[DIRECTIONALS], counted[RESTORES]), (0, 0))

    def test_refused(self):
        for version in (2, 3):
            for how in (ME, dict(kinds=("cs",), capabilities=("state", "variable", "directional"))):
                usual = self.waved("-cosim_step", "1e-2", version=version, **how)
                for behaviour in ("no_directionals", "no_later_directionals"):
                    found = self.waved("-cosim_step", "1e-2", version=version, behaviour=behaviour,
                                       **how)
                    self.assertEqual(self.said.count("concord: note: "), 1, self.said)
                    away = np.max(np.abs(found.outputs["left.x"] - usual.outputs["left.x"]))
                    self.assertLess(away, 1e-4, (version, how, behaviour))


class Saved(Refusals):
    def test_slopes_of_inputs_do_not_revive(self):
        """A ramp that rests from 0.5 s on, each macro-step taken twice: x' = u - x (7.5)."""
        self.build("single", 2, kinds=("cs",), capabilities=("state", "variable", "interpolate"))
        results = self.simulate(
            "experiment: {start: 0, stop: 2}\nsubsystems:\n  single: {fmu: single.fmu}\n"
            "  ramp: {equations: {inputs: {}, states: {}, derivatives: {}, "
            "outputs: {u: 't < 0.5 ? t : 0.5'}}}\nconnections: [ramp.u -> single.u]\n",
            "-cosim_type", "jacobi", "-cosim_hold", "extrapolate", "-cosim_hold_order", "1",
            "-cosim_adapt", "richardson", "-cosim_adapt_rtol", "1e-4", "-cosim_step", "0.05")
        t = results.time
        ramp = t - 1 + np.exp(-t)
        rest = 0.5 + (0.5 - 1 + np.exp(-0.5) - 0.5) * np.exp(-(t - 0.5))
        exact = np.where(t < 0.5, ramp, rest)
        self.assertLess(np.max(np.abs(results.outputs["single.y"] - exact)), 2e-3)

    def test_standing_still(self):
        """As long as it may be set back (3.2): refused under jfm, right where nothing goes back,
        as by default."""
        for version in (2, 3):
            how = dict(version=version, behaviour="frozen", kinds=("cs",),
                       capabilities=("state", "variable", "directional"))
            self.waved("-cosim_type", "jfm", "-cosim_step", "1e-2", code=2,
                       **{**how, "capabilities": CS["capabilities"]})
            for text in ("'left'", "STANDS STILL", "'left' offers no rollback"):
                self.assertIn(text, self.said)
            self.waved("-cosim_type", "jfm", "-cosim_step", "1e-2", "-subsystem_rollback", "true",
                       code=1, **how)
            for text in ("'left'", "stands still", "-subsystem_left_rollback false"):
                self.assertIn(text, self.said)
            usual = self.waved("-cosim_type", "jacobi", "-cosim_step", "1e-3",
                               **{**how, "behaviour": "behaves"})
            for options in (("jacobi",), ("missiles", "-subsystem_left_rollback", "false"),
                            ("missiles", "-subsystem_fmu_probe", "true"), ("missiles",)):
                found = self.waved("-cosim_step", "1e-3", "-cosim_type", *options, **how)
                away = np.max(np.abs(found.outputs["left.x"] - usual.outputs["left.x"]))
                self.assertLess(away, 2e-2, (version, options))

    def test_false_states(self):
        """What saves and restores states that are none is used without, whoever would rely on
        them, and that is told once (findings 1.13)."""
        for version in (2, 3):
            exact = self.waved(version=version, **CS)
            usual = self.waved("-subsystem_left_rollback", "false", version=version, **CS)
            away = np.interp(usual.time, exact.time, exact.outputs["left.x"])
            self.assertLess(np.max(np.abs(usual.outputs["left.x"] - away)), 5e-2)
            for behaviour in in_short(("freezes", "forgets", "no_restores", "crashes_in_save", "frozen",
                                       "resets_in_save"), 2, version):
                with self.subTest(version=version, behaviour=behaviour):
                    how = dict(version=version, behaviour=behaviour, **CS)
                    found = self.waved(**how)
                    self.assertTrue(np.array_equal(found.outputs.values, usual.outputs.values))
                    self.assertEqual(self.said.count("concord: note: "), 1, self.said)
                    self.assertIn("it is used without rollback", self.said)
                    self.waved("-cosim_type", "jfm", "-cosim_step", "1e-2", code=2, **how)
                    self.assertIn("'left' offers no rollback", self.said)

    def test_honest_states(self):
        """Also of what rests at first."""
        for version in (2, 3):
            self.waved(version=version, **CS)
            self.assertEqual(self.said, "")
            self.build("prey", version, **CS)
            text = ("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                    "  prey: {fmu: prey.fmu, start: {x: 0}}\n"
                    "  source: {equations: {inputs: {}, states: {}, derivatives: {}, "
                    "outputs: {u: t}}}\nconnections: [source.u -> prey.predators]\n")
            self.simulate(text)
            self.assertEqual(self.said, "")

    def test_false_states_that_nobody_needs(self):
        """A crash in them ends no run that goes forward only, and nothing is tried for it."""
        for version in (2, 3):
            self.waved("-cosim_type", "jacobi", version=version, behaviour="crashes_in_save",
                       **CS)
            self.assertEqual(self.said, "")

    def test_nothing_after_an_error(self):
        """7.21: the strict FMU would tell of calls after ExitInitializationMode has failed."""
        for version in (2, 3):
            for how in (CS, ME):
                self.waved(version=version, code=1, behaviour="refuses_start", **how)
                self.assertIn("ExitInitializationMode", self.said)


class Steps(Refusals):
    def test_undeclared_internal_step(self):
        """Outputs in stairs are not differenced within them (3.6), and that is told."""
        for version in (2, 3):
            how = dict(version=version, kinds=("cs",), capabilities=("state", "variable"))
            options = ("-cosim_type", "jacobi", "-cosim_hold", "extrapolate", "-cosim_step", "0.02")
            usual = self.waved(*options, **how)
            found = self.waved(*options, defines=("INTERNAL_STEP=0.01",), **how)
            self.assertIn("move in stairs of 0.01 s", self.said)
            scale = np.ptp(usual.outputs["left.x"])
            away = np.max(np.abs(found.outputs["left.x"] - usual.outputs["left.x"])) / scale
            self.assertLess(away, 0.1, version)

    def test_undeclared_internal_step_where_methods_iterate(self):
        """Found before the first macro-step, from which on the residual is smooth (3.6)."""
        for version, capabilities in ((2, ("state", "variable")),
                                      (3, ("state", "variable", "directional"))):
            how = dict(version=version, kinds=("cs",), capabilities=capabilities)
            for method, step in in_short(
                    list(product(("jfm", "ifosmondi"), ("0.02", "0.005", "0.033"))), 4, version):
                options = ("-cosim_type", method, "-cosim_step", step, "-cosim_halving", "none")
                usual = self.waved(*options, **how)
                self.assertEqual(self.said, "")
                found = self.waved(*options, defines=("INTERNAL_STEP=0.01",), **how)
                self.assertEqual(self.said.count("concord: note: "), 1, self.said)
                self.assertIn("from t = 0 s on", self.said)
                scale = np.ptp(usual.outputs["left.x"])
                away = np.abs(found.outputs["left.x"] - usual.outputs["left.x"]) / scale
                self.assertLess(np.max(away), 0.25, (version, method, step))

    def test_time_that_is_none(self):
        """lastSuccessfulTime NaN (7.10) is no end of the run."""
        self.waved("-cosim_type", "jacobi", "-cosim_step", "1e-2", version=3, code=1, kinds=("cs",),
                   capabilities=("variable", "event_mode"), behaviour="nan_time")
        self.assertIn("nan", self.said)
        self.assertIn("t = 0.5", self.said)

    def test_event_mode_that_is_refused(self):
        how = dict(version=3, kinds=("cs",), capabilities=("variable", "event_mode"))
        usual = self.waved("-cosim_type", "jacobi", "-cosim_step", "1e-2", **how)
        for behaviour in ("refuses_events", "no_event_mode"):
            found = self.waved("-cosim_type", "jacobi", "-cosim_step", "1e-2",
                               behaviour=behaviour, **how)
            self.assertEqual(self.said.count("without event mode"), 1, self.said)
            self.assertTrue(np.array_equal(usual.outputs.values, found.outputs.values))

    def test_events_of_the_model_file(self):
        """Beside an FMU that steps by itself (7.17)."""
        text = WAVED.replace("stop: 1}", "stop: 1, events: [0.25, 0.5]}").replace(
            "experiment: {start: 0, stop: 1, events: [0.25, 0.5]}",
            "experiment: {start: 0, stop: 1}\nevents: [0.25, 0.5]")
        for version in (2, 3):
            for how in (CS, dict(kinds=("cs",), capabilities=("variable",)),
                        dict(kinds=("cs",), capabilities=("state", "variable", "interpolate",
                                                          "slopes"))):
                for method in ("jfm", "jacobi"):
                    self.build("left", version, **how)
                    path = write_model(self.folder, "m", text)
                    out = self.folder / "o.h5"
                    run = execute("run", path, "-cosim_type", method, "-cosim_step", "1e-2",
                                  "-cosim_output", out)
                    self.assertNotIn("STRICT", run.stderr)
                    if run.returncode == 2:
                        self.assertIn("offers no", run.stderr)
                        continue
                    self.assertEqual(run.returncode, 0, run.stderr)
                    plain = self.simulate(WAVED, "-cosim_type", method, "-cosim_step", "1e-2")
                    away = np.max(np.abs(Results(out, run).outputs["left.x"]
                                         - plain.outputs["left.x"]))
                    self.assertLess(away, 2e-3, (version, how, method))

    def test_time_event_at_zero(self):
        """7.19: reached from a negative start time in steps that add up to it by rounding only."""
        for version in (2, 3):
            self.build("ticker", version, kinds=("me",), capabilities=("state",),
                       defines=("FIRST=0.0",))
            for step in ("0.1", "0.07"):
                for method in ("jacobi", "jfm"):
                    results = self.simulate(
                        "experiment: {start: -0.7, stop: 0.7}\nsubsystems:\n"
                        "  ticker: {fmu: ticker.fmu}\n", "-cosim_type", method, "-cosim_step", step,
                        "-subsystem_fmu_interface", "me")
                    self.assertEqual(results.outputs["ticker.count"][-1], 3)

    def test_completed_steps(self):
        """monolithic tells FMUs of theirs (7.13); without saved states only communication points
        are completed, behind which nothing goes back (the strict FMU would tell)."""
        for version, step_events in ((2, ()), (3, ("step_events",))):
            how = dict(kinds=("me",), capabilities=step_events)
            for method in ("monolithic", "jfm", "jacobi", "missiles"):
                calls = self.calls("-cosim_type", method, "-cosim_step", "1e-2", version=version,
                                   **how)
                self.assertGreaterEqual(calls[COMPLETED], 98, (version, method))


if __name__ == "__main__":
    unittest.main()
