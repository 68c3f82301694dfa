"""FMUs with clocks: in model exchange, in co-simulation with event mode, in scheduled execution."""
import unittest

import clocked_fmus
import h5py
import numpy as np
from concord_runs import Results, execute, run_here, simulate
from fmu_runs import FmuTest

ROLES = ("me", "cs")
PLANT = "{equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {x: x}}}"
LOOP = ("connections: [plant.x -> control.y, control.u -> plant.u]\n")
#: The regulator of clocked_fmus as equations; its state follows what it puts out.
EQUATIONS = """
  control:
    equations:
      inputs: {y: 0}
      states: {s: 0}
      discrete: {u: 0, I: 0}
      derivatives: {s: u - s}
      when: [{every: EVERY, offset: OFFSET, set: {u: 2*(1 - y) + I, I: I + 0.05*(1 - y)}}]
      outputs: {u: u, lag: s}
"""
METHODS = (("-cosim_type", "jacobi"), ("-cosim_type", "jfm"))
EXACT = ("-cosim_step", "0.07", "-subsystem_rtol", "1e-11", "-subsystem_atol", "1e-13",
         "-cosim_rtol", "1e-11", "-cosim_atol", "1e-12")


class Clocked(FmuTest):
    def clocked(self, model, *kinds, **how):
        return clocked_fmus.build(self.folder, model, kinds or ("me",), **how)

    def text(self, text, stop=2, start=0):
        path = self.folder / "model.yaml"
        path.write_text(f"experiment: {{start: {start}, stop: {stop}}}\nsubsystems:\n{text}")
        return path

    def loop(self, control="  control: {fmu: regulator.fmu}\n", **times):
        return self.text(f"  plant: {PLANT}\n{control}{LOOP}", **times)

    def same_loop(self, every=0.1, offset=0.02, **times):
        text = EQUATIONS.replace("EVERY", str(every)).replace("OFFSET", str(offset))
        return self.loop(text.lstrip("\n"), **times)

    def says(self, code, path, *words, options=(), command="run"):
        run = execute(command, path, *options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for word in words:
            self.assertIn(word, run.stderr if code else run.stdout)
        return run


class Sampled(Clocked):
    """A controller with a clock and its plant give what the same controller gives as equations."""

    def compare(self, results, expected, *how):
        self.assertTrue(np.allclose(results.time, expected.time, rtol=0, atol=1e-14), how)
        for name in ("plant.x", "control.u", "control.lag"):
            error = results.outputs[name] - expected.outputs[name]
            self.assertLess(np.abs(error).max(), 1e-9, (*how, name))

    def ticks(self, results, who="control"):
        return np.array([t for t, (name, what) in zip(results.event_times, results.happened)
                         if name == who and what == "time event"])

    def test_as_equations(self):
        for method in METHODS:
            expected = simulate(self.same_loop(), *method, *EXACT)
            for role in ROLES:
                self.clocked("regulator", role)
                results = simulate(self.loop(), *method, *EXACT)
                self.compare(results, expected, method, role)
                self.assertTrue(np.allclose(self.ticks(results), 0.02 + 0.1 * np.arange(20),
                                            rtol=0, atol=1e-14))
        self.compare(simulate(self.loop(), *METHODS[0], *EXACT, ranks=3),
                     simulate(self.same_loop(), *METHODS[0], *EXACT), "ranks")

    def test_two_at_one_instant(self):
        """Each sees what the other was before it, as equations do."""
        second = "  second: {fmu: regulator.fmu}\n"
        wires = "connections: [plant.x -> control.y, control.u -> second.y, second.u -> plant.u]\n"

        def chain(control, second):
            return self.text(f"  plant: {PLANT}\n{control}{second}{wires}", stop=1)

        own = EQUATIONS.replace("EVERY", "0.1").replace("OFFSET", "0.02").lstrip("\n")
        expected = simulate(chain(own, own.replace("control", "second")), *METHODS[0], *EXACT)
        for role in ROLES:
            self.clocked("regulator", role)
            for first in ("  control: {fmu: regulator.fmu}\n", own):
                results = simulate(chain(first, second), *METHODS[0], *EXACT)
                for name in ("plant.x", "control.u", "second.u"):
                    error = results.outputs[name] - expected.outputs[name]
                    self.assertLess(np.abs(error).max(), 1e-9, (role, name))

    def test_one_step_size(self):
        """Ticks come where steps end; of two in one, one would be lost."""
        self.clocked("regulator", "cs", change=lambda text: text.replace(
            ' canHandleVariableCommunicationStepSize="true"', ""))
        results = simulate(self.loop(), *METHODS[0], "-cosim_step", "0.05")
        changes = results.time[1:][np.diff(results.outputs["control.u"]) != 0]
        self.assertTrue(np.allclose(changes, np.arange(0.05, 2, 0.1)))
        self.says(1, self.loop(), "the clock 'tick'", "ticks every 0.1 s", "-cosim_step",
                  options=(*METHODS[0], "-cosim_step", "0.5"), command="run")

    def test_other_start(self):
        """A clock's shift counts from the start of the experiment."""
        times = dict(start=3, stop=4)
        self.clocked("regulator")
        results = simulate(self.loop(**times), *METHODS[0], *EXACT)
        self.compare(results, simulate(self.same_loop(offset=3.02, **times), *METHODS[0], *EXACT))

    def test_intervals_that_are_asked_for(self):
        """In decimals and in fractions; changing ones count from their last tick."""
        fraction = ' supportsFraction="true"'
        for kind, variability, offset in (("a", "fixed", 0.02), ("a", "calculated", 0.02),
                                          ("a", "tunable", 0.02), ("c", "changing", 0.1)):
            expected = simulate(self.same_loop(offset=offset, stop=1), *METHODS[0], *EXACT)
            for more, role in (("", "me"), (fraction, "cs")):
                self.clocked("regulator", role, defines=(f"KIND='{kind}'",),
                             attributes=f'intervalVariability="{variability}"{more}')
                results = simulate(self.loop(stop=1), *METHODS[0], *EXACT)
                self.compare(results, expected, variability, role)

    def test_fractions(self):
        """Of the description: 3/30 s from 1/30 s on."""
        self.clocked("regulator", attributes='intervalVariability="constant" intervalDecimal="0.1" '
                     'supportsFraction="true" resolution="30" intervalCounter="3" shiftCounter="1"')
        results = simulate(self.loop(stop=1), *METHODS[0], *EXACT)
        self.assertTrue(np.array_equal(self.ticks(results), (1 + 3 * np.arange(10)) / 30))

    def test_interval_that_is_tuned(self):
        """What the FMU says at an event counts from there."""
        for role in ROLES:
            self.clocked("regulator", role, defines=("KIND='a'", "LATER=0.04"),
                         attributes='intervalVariability="tunable"')
            results = simulate(self.loop(stop=0.6), *METHODS[0], *EXACT)
            expected = [*(0.02 + 0.1 * np.arange(5)), *(0.42 + 0.04 * np.arange(1, 5))]
            self.assertTrue(np.allclose(self.ticks(results)[:9], expected, rtol=0, atol=1e-12))


class Countdown(Clocked):
    """A clock that its FMU sets at its ticks, and one of another FMU that it calls."""

    TIMES = np.cumsum([0.05, *(0.1, 0.2) * 12])
    PAIR = ("  waker: {fmu: waker.fmu}\n  listener: {fmu: listener.fmu}\n"
            "connections: [waker.tick -> listener.tick, waker.tens -> listener.value]\n")

    def check(self, results, first=0.05, every=2):
        count = np.searchsorted(self.TIMES - 0.05 + first, results.time + 1e-9)
        calls = count // every
        tens = 10 * every * calls
        for name, values in (("waker.n", count), ("waker.tick", calls), ("waker.tens", tens),
                             ("listener.n", calls),
                             ("listener.last", np.where(calls > 0, tens, -1))):
            self.assertTrue(np.array_equal(results.outputs[name], values), name)
        self.assertGreater(count[-1], 20)

    def test_calls(self):
        """At the same instant, with what is put out there, on any number of ranks."""
        for wakes, listens in (("me", "cs"), ("cs", "me")):
            self.clocked("waker", wakes)
            self.clocked("listener", listens)
            path = self.text(self.PAIR, stop=3.3)
            for options in (*METHODS, (*METHODS[0], "-subsystem_rollback", "false")):
                self.check(simulate(path, *options, "-cosim_step", "0.11"))
            self.check(simulate(path, *METHODS[0], "-cosim_step", "0.11", ranks=3))

    def test_at_the_start(self):
        for wakes, listens in (("me", "cs"), ("cs", "me")):
            self.clocked("waker", wakes, defines=("FIRST=0", "CALLS=1"))
            self.clocked("listener", listens)
            results = simulate(self.text(self.PAIR, stop=3.3), *METHODS[0], "-cosim_step", "0.11")
            self.check(results, first=0, every=1)

    def test_once_more_behind_the_stop(self):
        """A tick that comes no more is no harm."""
        self.clocked("waker", defines=("NEXT=100",))
        results = simulate(self.text("  waker: {fmu: waker.fmu}\n"), *METHODS[0])
        self.assertTrue(np.array_equal(results.outputs["waker.n"], results.time > 0.05 - 1e-9))

    def test_without_end(self):
        for role in ROLES:
            self.clocked("waker", role, defines=("NEXT=0",))
            run = execute("run", self.text("  waker: {fmu: waker.fmu}\n"), *METHODS[0])
            self.assertEqual(run.returncode, 1, run.stderr)
            for text in ("'waker'", "the clock 'wake'", "ticks without end", "t = 0.05"):
                self.assertIn(text, run.stderr)


class Scheduled(Clocked):
    """Model partitions at the ticks of their clocks, by priority."""

    SOURCE = "  source: {equations: {states: {x: 1}, derivatives: {x: -x}, outputs: {x: x}}}\n"
    TASKS = (SOURCE + "  tasks: {fmu: tasks.fmu}\n  listener: {fmu: listener.fmu}\nconnections: "
             "[source.x -> tasks.u, tasks.done -> listener.tick, tasks.sum -> listener.value]\n")

    def test_order_and_calls(self):
        self.clocked("listener")
        for defines, late, order in (((), 0.05, "21"), (("NOW",), 0.0, "213")):
            self.clocked("tasks", "se", defines=defines)
            path = self.text(self.TASKS, stop=1.1)
            for options, ranks in ((METHODS[0], 1), (METHODS[1], 1), (METHODS[0], 3)):
                results = simulate(path, *options, "-cosim_step", "0.05", *EXACT[2:], ranks=ranks)
                t = results.time + 1e-9
                fast, slow = np.floor(t / 0.1) + 1, np.floor(t / 0.2) + 1
                last = np.array([sum(np.exp(-0.1 * k) for k in range(int(n))) for n in fast])
                self.assertLess(np.abs(results.outputs["tasks.sum"] - last).max(), 1e-8)
                self.assertTrue(np.array_equal(results.outputs["tasks.n"], slow))
                n_late = np.floor((t - late) / 0.2) + 1
                self.assertTrue(np.array_equal(results.outputs["tasks.all"], fast + slow + n_late))
                self.assertTrue(np.array_equal(results.outputs["listener.n"], slow // 2))
                at_slow = np.isclose(results.time % 0.2, 0) | np.isclose(results.time % 0.2, 0.2)
                self.assertEqual(set(results.outputs["tasks.order"][at_slow]), {float(order)})

    def test_texts(self):
        """What one says behind its partitions the other has before its next ones."""
        texts = ('<String name="heard" valueReference="250" causality="input" variability="discrete"><Start value="-"/>'
                 '</String><String name="said" valueReference="350" causality="output" variability="discrete"/>')
        for name in ("tasks", "others"):
            clocked_fmus.build(self.folder, "tasks", ("se",), name=name, change=lambda text: text.replace(
                "  </ModelVariables>", f"    {texts}\n  </ModelVariables>").replace(
                    "  </ModelStructure>", '    <Output valueReference="350"/>\n  </ModelStructure>'))
        path = self.text("  tasks: {fmu: tasks.fmu}\n  others: {fmu: others.fmu}\nconnections: [tasks.said -> others.heard]\n",
                         stop=0.5)
        for ranks in (1, 2):
            out = self.folder / "out.h5"
            run = run_here(path, "-cosim_type", "jacobi", "-cosim_step", 0.05, "-cosim_output", out, ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("STRICT", run.stderr)
            with h5py.File(out) as file:
                found = [text.decode() for name, text in zip(file["texts/variable"], file["texts/value"])
                         if name == b"others.said"]
            self.assertEqual(found[-1], "3, 3, ")
            self.assertEqual([text.split(",")[0] for text in found[-2:]], ["3", "3"])

    def test_check(self):
        self.clocked("tasks", "se")
        text = self.SOURCE + "  tasks: {fmu: tasks.fmu}\nconnections: [source.x -> tasks.u]\n"
        self.says(0, self.text(text), "FMI 3.0 scheduled execution of tasks",
                  "clock 'slow', input: constant, every 0.2 s, priority 0",
                  "clock 'late', input: countdown, priority 2", "clock 'done', output: triggered",
                  command="check")
        self.says(0, self.folder / "tasks.fmu", "Clock, input, constant, every 0.1 s, priority 1",
                  "at ticks of slow", "used as", command="check")


class Restart(Clocked):
    """Clocks go on where they were; where states cannot be saved that is said."""

    def test_goes_on(self):
        for part, role, text in (("regulator", "me", self.loop), ("regulator", "cs", self.loop),
                                 ("waker", "me", None), ("tasks", "se", None)):
            self.clocked(part, role)
            path = text() if text else self.text(f"  it: {{fmu: {part}.fmu}}\n")
            options = (*METHODS[0], "-cosim_step", "0.07")
            checkpoint, output = (self.folder / f"{part}_{role}.{end}" for end in ("chk", "h5"))
            whole = simulate(path, *options, "-cosim_checkpoint", checkpoint,
                             "-cosim_checkpoint_every", "1e-9", "-cosim_checkpoint_epoch", 5,
                             "-cosim_checkpoint_keep", 3)
            run = execute("run", path, *options, "-cosim_restart", f"{checkpoint}.old2",
                          "-cosim_output", output)
            self.assertEqual(run.returncode, 0, run.stderr)
            rest = Results(output, run)
            self.assertGreater(rest.time[0], 0.3)
            for name in whole.outputs.names:
                both = rest.outputs[name]
                self.assertTrue(np.array_equal(whole.outputs[name][-len(both):], both),
                                (part, role, name))
            self.assertGreater(len(rest.time), 5)

    def test_refused(self):
        for part, role in (("regulator", "me"), ("regulator", "cs"), ("tasks", "se")):
            self.clocked(part, role, state=False)
            path = self.loop() if part == "regulator" else self.text("  it: {fmu: tasks.fmu}\n")
            run = execute("run", path, *METHODS[0], "-cosim_checkpoint", self.folder / "it.chk")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("cannot save its state (canGetAndSetFMUState)", run.stderr)
            simulate(path, *METHODS[0])


class Wrong(Clocked):
    """What no clock can be is said with its name."""

    def test_intervals(self):
        for defines, says in ((("INTERVAL=0",), "an interval of 0 s, which must be more than 0"),
                              (("INTERVAL=-0.5",), "an interval of -0.5 s"),
                              (("SHIFT=-1",), "a shift of -1 s"),
                              (("QUALIFIER=NOT_YET_KNOWN",), "has no interval yet"),
                              (("QUALIFIER=7",), "the qualifier 7, which does not exist")):
            self.clocked("regulator", attributes='intervalVariability="fixed"',
                         defines=("KIND='a'", *defines))
            run = execute("run", self.loop(), *METHODS[0])
            self.assertEqual(run.returncode, 1, run.stderr)
            for text in ("'control'", "the clock 'tick'", says, "t = 0 s"):
                self.assertIn(text, run.stderr)

    def test_descriptions(self):
        for attributes, says in (
                ('intervalVariability="constant" intervalDecimal="0"', "intervalDecimal '0'"),
                ('intervalVariability="constant" intervalDecimal="1" shiftDecimal="-1"',
                 "shiftDecimal '-1'"),
                ('intervalVariability="constant"', "has no intervalDecimal"),
                ('intervalVariability="often"', "intervalVariability 'often'"),
                ("", "has no intervalVariability")):
            self.clocked("regulator", attributes=attributes)
            self.says(2, self.loop(), "regulator.fmu", "the clock 'tick'", says, command="check")
        self.clocked("regulator", change=lambda text: text.replace('clocks="500"', 'clocks="200"'))
        self.says(2, self.loop(), "'y' among its clocks, which is none", command="check")

    def test_connections(self):
        self.clocked("waker")
        self.clocked("listener")
        pair = "  waker: {fmu: waker.fmu}\n  listener: {fmu: listener.fmu}\nconnections: "
        for connection, says in (
                ("[waker.tick -> listener.value]", "'waker.tick' is a clock and 'listener.value'"),
                ("[waker.n -> listener.tick]", "'listener.tick' is a clock and 'waker.n' is none"),
                ("[waker.tick -> waker.wake]", "'waker.wake' is a clock whose instants its FMU")):
            self.says(2, self.text(pair + connection + "\n"), says, command="check")
        self.says(0, self.text(pair + "[waker.tens -> listener.value]\n"),
                  "clock 'tick' never ticks: nothing is connected with it", command="check")

    def test_without_event_mode(self):
        self.clocked("regulator", "cs",
                     change=lambda text: text.replace(' hasEventMode="true"', ""))
        self.says(2, self.loop(), "the clock 'tick'", "hasEventMode", command="check")


if __name__ == "__main__":
    unittest.main()
