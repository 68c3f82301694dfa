"""What arrives at strict FMUs and what comes back: start values, slopes, kinds, events, refusals."""
import unittest

import numpy as np
from concord_runs import Results, execute, write_model
from fmu_runs import PAIR, FmuTest, build_parts, model_text

CS = dict(kinds=("cs",))
ME = dict(kinds=("me",), capabilities=("state", "directional", "step_events"))


class Values(FmuTest):
    def simulate(self, text, *options, code=0):
        """Results of a run of this text, in which the strict FMUs found nothing to complain of."""
        path = self.folder / "out.h5"
        run = execute("run", write_model(self.folder, "model", text), *options, "-cosim_output",
                      path)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertNotIn("STRICT", run.stderr)
        self.said = run.stderr
        return Results(path, run) if path.exists() else None


class Start(Values):
    """The connected values arrive in initialisation mode, in both roles (7.1), and what the events
    at the start move is read before anything is differenced (7.3)."""

    TEXT = ("experiment: {start: 0, stop: 1}\nsubsystems:\n  jumper: {fmu: jumper.fmu}\n  source:\n"
            "    equations: {inputs: {}, states: {}, derivatives: {}, outputs: {u: 5 - 4*t}}\n"
            "connections: [source.u -> jumper.u]\n")

    def test_connected_values_and_events(self):
        """y = 3 + 5 + 5 t - 2 t^2 from the first row on."""
        for version in (2, 3):
            for how in (ME, dict(kinds=("cs",), capabilities=("state", "variable")),
                        dict(kinds=("cs",), capabilities=("state", "variable", "interpolate",
                                                          "slopes")),
                        dict(kinds=("cs",), capabilities=("state", "variable", "event_mode"))):
                for method in ("jfm", "jacobi"):
                    self.build("jumper", version, **how)
                    step = "1e-2" if method == "jfm" else "1e-4"
                    results = self.simulate(self.TEXT, "-cosim_type", method, "-cosim_step", step)
                    t = results.time
                    exact = 8 + 5 * t - 2 * t**2
                    away = np.max(np.abs(results.outputs["jumper.y"] - exact))
                    self.assertLess(away, 1e-3, (version, how, method))
                    self.assertLess(abs(results.outputs["jumper.y"][0] - 8), 1e-12)

    def test_slopes_at_the_start_do_not_span_the_event(self):
        for version, extra in ((2, ()), (3, ("event_mode",))):
            self.build("jumper", version, kinds=("cs",), capabilities=("state", "variable", *extra))
            text = self.TEXT.replace("connections: [source.u -> jumper.u]", """
  follower:
    equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: y - z}, outputs: {z: z}}
connections: [source.u -> jumper.u, jumper.y -> follower.y]""")
            results = self.simulate(text, "-cosim_type", "jfm", "-cosim_step", "0.05")
            i = results.inputs.names.index("follower.y")
            self.assertLess(abs(results.inputs.derivatives[0, i] - 5), 1e-3, version)

    def test_values_of_every_type(self):
        """Given to unconnected inputs: whole numbers, switches, items."""
        for version in (2, 3):
            for how in (ME, dict(kinds=("cs",), capabilities=("state", "variable"))):
                self.build("mixed", version, **how)
                results = self.simulate(
                    "experiment: {start: 0, stop: 0.1}\nsubsystems:\n  mixed: {fmu: mixed.fmu, "
                    "start: {n: 7, on: false, d: 3, level: double}}\n", "-cosim_type", "jacobi",
                    "-cosim_step", "1e-2")
                last = dict(zip(results.outputs.names, results.outputs.values[-1]))
                self.assertEqual((last["mixed.count"], last["mixed.high"],
                                  last["mixed.next_level"]), (8, 1, 1))
                exact = 14 + (0.5 - 14) * np.exp(-results.time)
                self.assertLess(np.max(np.abs(results.outputs["mixed.y"] - exact)), 1e-6)


class Kept(Values):
    """Parameters and start values reach an FMU that takes back in SetupExperiment what was set
    before; what does not reach an FMU is told, once."""

    TEXT = ("experiment: {start: 0, stop: 1}\nsubsystems:\n  left: {fmu: left.fmu, "
            "parameters: {m: 10, c: 5000}, start: {x_state: 2, f: 0}}\n")
    OPTIONS = ("-cosim_type", "jacobi", "-cosim_step", "1e-2")

    def test_reset_in_setup(self):
        """x = 2 cos(omega t) with damping."""
        for how in (ME, CS):
            self.build("left", behaviour="resets_in_setup", **how)
            results = self.simulate(self.TEXT, *self.OPTIONS)
            self.assertEqual(self.said, "")
            t, decay = results.time, 0.5
            omega = np.sqrt(500 - decay ** 2)
            exact = 2 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
            self.assertLess(np.max(np.abs(results.outputs["left.x"] - exact)), 1e-5)

    def test_what_is_not_kept(self):
        for version in (2, 3):
            for how in (ME, CS):
                self.build("left", version, behaviour="keeps_nothing", **how)
                self.simulate(self.TEXT, *self.OPTIONS)
                warnings = [line for line in self.said.splitlines() if "warning" in line]
                self.assertEqual(len(warnings), 1, self.said)
                for text in ("'left'", "left.fmu", "'m' is 5, not 10", "'c' is 10000, not 5000",
                             "'x_state' is 1, not 2"):
                    self.assertIn(text, warnings[0])
                run = execute("check", self.folder / "model.yaml", "--probe")
                self.assertIn("values that it is given: NOT KEPT: 'm' is 5, not 10", run.stdout)


class Polynomials(Values):
    """The solved end value reaches the FMU whatever it does with derivatives of inputs (7.2, 3.3)."""

    def run_with(self, *options, **how):
        build_parts(self.folder, PAIR, **how)
        return self.simulate(model_text(PAIR, 2), "-cosim_type", "jfm", "-cosim_step", "1e-2", *options)

    def test_orders(self):
        """Fewer orders cost accuracy of micro-steps, not the end value."""
        full = ("state", "variable", "interpolate", "slopes")
        exact = self.run_with(capabilities=full)
        scale = np.ptp(exact.outputs["left.x"])
        for order, allowed in ((2, 3e-3), (1, 3e-3), (0, 3e-2)):
            by_option = self.run_with("-subsystem_fmu_input_derivatives", order, capabilities=full)
            away = np.max(np.abs(by_option.outputs["left.x"] - exact.outputs["left.x"])) / scale
            self.assertLess(away, allowed, order)
            refusing = self.run_with(capabilities=full, defines=(f"INPUT_ORDER={order}",))
            away = np.max(np.abs(refusing.outputs["left.x"] - exact.outputs["left.x"])) / scale
            self.assertLess(away, allowed, order)
            self.assertEqual(self.said.count(f"up to order {order} only"), 2, self.said)


class Kinds(Values):
    """Integers, Booleans, enumerations and discrete reals are held between events (7.8)."""

    TEXT = ("experiment: {start: 0, stop: 1}\nsubsystems:\n  ticker: {fmu: ticker.fmu}\n"
            "  mixed: {fmu: mixed.fmu}\n  other:\n    equations: {inputs: {n: 0}, states: {z: 0}, "
            "derivatives: {z: n - z}, outputs: {z: z}}\n"
            "connections: [ticker.count -> mixed.n, ticker.count -> mixed.d, "
            "ticker.count -> other.n]\n")

    def test_nothing_between_whole_numbers(self):
        """`broken` tells of a discrete real that wasn't whole; slopes of held signals are 0."""
        for version in (2, 3):
            for kinds in (("cs",), ("me",)):
                for method in ("jfm", "ifosmondi", "jacobi", "extripol"):
                    for part in ("ticker", "mixed"):
                        self.build(part, version, kinds=kinds, capabilities=("state", "variable"))
                    results = self.simulate(self.TEXT, "-cosim_type", method, "-cosim_step", "0.05",
                                            "-cosim_record", "outputs,inputs,polynomials")
                    self.assertFalse(np.any(results.outputs["mixed.broken"]), (method, kinds))
                    for name in ("mixed.n", "mixed.d", "other.n"):
                        i = results.inputs.names.index(name)
                        self.assertFalse(np.any(results.inputs.polynomials[:, i, 1:]))
                        self.assertFalse(np.any(results.inputs.derivatives[:, i]))
                    z, t = 0.0, 0.0
                    for k, value in enumerate(results.outputs["other.z"][1:]):
                        n, end = np.floor((t + 1e-9) / 0.25), results.time[k + 1]
                        z, t = n + (z - n) * np.exp(t - end), end
                        self.assertLess(abs(value - z), 1e-6, (method, kinds, t))

    def test_continuous_outputs_into_whole_numbers(self):
        """What feeds an Integer is rounded on its way, so that nothing begins anew until the whole
        number changes: here three times. x' = 2 n - x of `mixed` by hand from step to step."""
        text = ("experiment: {start: 0, stop: 1}\nsubsystems:\n  mixed: {fmu: mixed.fmu}\n  ramp:\n"
                "    equations: {inputs: {y: 0}, states: {z: 0}, derivatives: {z: 3}, outputs: {n: z}}"
                "\nconnections: [ramp.n -> mixed.n, mixed.y -> ramp.y]\n")
        for version in (2, 3):
            for kinds in (("cs",), ("me",)):
                self.build("mixed", version, kinds=kinds, capabilities=("state", "variable"))
                results = self.simulate(text, "-cosim_type", "jfm", "-cosim_step", "0.05")
                i = results.inputs.names.index("mixed.n")
                rounded = np.round(3 * results.time)
                off = np.abs(results.inputs.values[:, i] - rounded)
                clear = np.abs(3 * results.time % 1 - 0.5) > 1e-6
                self.assertEqual(np.max(off[clear]), 0, (version, kinds))
                self.assertEqual(len(set(results.inputs.values[:, i])), 4)
                j = results.inputs.names.index("ramp.y")
                slopes = results.inputs.derivatives[:, j]
                self.assertLess(np.sum(slopes == 0.0), 6, (version, kinds))

    def test_output_derivatives_of_continuous_reals_only(self):
        """In FMI 2 an Integer's reference may be another Real's (7.7): the strict FMU would tell."""
        for version in (2, 3):
            self.build("mixed", version, kinds=("cs",),
                       capabilities=("state", "variable", "slopes", "interpolate"))
            self.simulate("experiment: {start: 0, stop: 1}\nsubsystems:\n  mixed: {fmu: mixed.fmu}\n"
                          "  source:\n    equations: {inputs: {y: 0}, states: {z: 0}, derivatives: "
                          "{z: y - z}, outputs: {u: sin(t) + z/9}}\n"
                          "connections: [source.u -> mixed.u, mixed.y -> source.y]\n",
                          "-cosim_type", "jfm", "-cosim_step", "0.05")

    def test_single_precision_moves(self):
        """A Float32 input of model exchange is no held one (7.11): order 4 until its rounding."""
        errors = []
        for step in (0.2, 0.1):
            self.build("single", 3, kinds=("me",), capabilities=("state",))
            results = self.simulate(
                "experiment: {start: 0, stop: 2}\nsubsystems:\n  single: {fmu: single.fmu}\n"
                "  source: {equations: {inputs: {}, states: {}, derivatives: {}, "
                "outputs: {u: sin(3*t)}}}\nconnections: [source.u -> single.u]\n",
                "-cosim_type", "jfm", "-cosim_step", step)
            t = results.time
            exact = (np.sin(3 * t) - 3 * np.cos(3 * t) + 3 * np.exp(-t)) / 10
            errors.append(np.max(np.abs(results.outputs["single.exact"] - exact)))
        self.assertLess(errors[0], 1e-3)
        self.assertLess(errors[1], errors[0] / 8)


if __name__ == "__main__":
    unittest.main()
