"""FMUs of FMI 1.0: alone, coupled, their types, what is refused, and the order of calls. The FMUs
are strict (source/fmi1.c): what the standard forbids is an error, and said after "STRICT:"."""
import csv
import math
import unittest
import zipfile

import h5py
import numpy as np
from concord_runs import TIGHT, execute, run_here, simulate, write_model
from fmu_runs import FmuTest, model_text
from ssp import HEAD

EXCHANGE = dict(version=1, kinds=("me",))
STEPPED = dict(version=1, kinds=("cs",), capabilities=("variable",))
SMOOTH = dict(version=1, kinds=("cs",), capabilities=("variable", "interpolate", "slopes"))

LEFT = ("{equations: {parameters: {m: 5, c: 1e4, d: 10}, inputs: {f: 20000}, states: {x: 1, v: 0}, "
        "derivatives: {x: v, v: (f - c*x - d*v)/m}, outputs: {x: x, v: v}}}")
RIGHT = ("{equations: {parameters: {m: 80, c: 1e5, d: 40, k: 1e4, e: 10}, inputs: {x_left: 1, "
         "v_left: 0}, states: {x: 3, v: 0}, derivatives: {x: v, v: (-c*x - d*v - "
         "k*(x - x_left) - e*(v - v_left))/m}, outputs: {f: k*(x - x_left) + e*(v - v_left), x: x}}}")
# What both masses move, and does not move them.
OBSERVER = """  observer:
    equations:
      inputs: {a: 0, b: 0}
      states: {s: 0}
      derivatives: {s: a - b - s}
      outputs: {s: s}
"""
TO_OBSERVER = "  - left.x -> observer.a\n  - right.x -> observer.b\n"


def bounced(t, g=9.81, e=0.7):
    """Height and number of bounces of the ball at t."""
    fall = math.sqrt(2 / g)
    begin, v, count = fall, e * g * fall, 1
    if t < fall:
        return 1 - g * t * t / 2, 0
    while t >= begin + 2 * v / g:
        begin, v, count = begin + 2 * v / g, e * v, count + 1
    return v * (t - begin) - g * (t - begin) ** 2 / 2, count


class OldTest(FmuTest):
    def run_file(self, part, *options, code=0):
        """`concord run part.fmu`"""
        run = run_here(self.folder / f"{part}.fmu", *options, "-cosim_output",
                       self.folder / "out.h5")
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertNotIn("STRICT", run.stderr)
        return run

    def last(self, part, *options):
        self.run_file(part, *options)
        with h5py.File(self.folder / "out.h5") as file:
            names = [name.decode() for name in file["outputs/names"][:]]
            return dict(zip(names, file["outputs/values"][-1]))

    def rewritten(self, part, change):
        """The FMU with another description."""
        path = self.folder / f"{part}.fmu"
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        text = entries["modelDescription.xml"].decode()
        self.assertNotEqual(text, change(text))
        entries["modelDescription.xml"] = change(text).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in entries.items():
                archive.writestr(name, data)


class Alone(OldTest):
    def test_a_ball_that_bounces(self):
        """State events of model exchange; co-simulation bounces at the ends of its own substeps."""
        height, count = bounced(2)
        for how, close in ((EXCHANGE, 1e-6), (STEPPED, 4e-3)):
            with self.subTest(how=how):
                self.build("ball", **how)
                last = self.last("ball", "--stop-time", 2, "-subsystem_rtol", "1e-10")
                self.assertAlmostEqual(last["ball.h"], height, delta=close)
                self.assertEqual(last["ball.bounces"], count)

    def test_time_events(self):
        """Hit to the last bit, also the one that follows where the initialisation wants an update."""
        for defines in ((), ("UPDATES_AT_START",)):
            with self.subTest(defines=defines):
                self.build("stair", **EXCHANGE, defines=defines)
                model = write_model(self.folder, "model", "experiment: {start: 0, stop: 20}\n"
                                    "subsystems:\n  it: {fmu: stair.fmu}\n")
                results = simulate(model, "-cosim_type", "jacobi", "-cosim_step", "0.07")
                counts = np.floor(results.time / 0.3 + 1e-9)
                np.testing.assert_array_equal(results.outputs["it.count"], counts)

    def test_parameters_and_start_values(self):
        """Parameters, states that have start values, and inputs; a guess may become another value."""
        for how in (EXCHANGE, STEPPED):
            self.build("left", **how)
            model = write_model(self.folder, "model", "experiment: {start: 0, stop: 1}\n"
                                "subsystems:\n  left: {fmu: left.fmu, parameters: {c: 100, d: 0, "
                                "m: 1}, start: {f: 200, x_state: 5}}\n")
            results = simulate(model, "-cosim_type", "jacobi", "-cosim_step", "0.01",
                               "-subsystem_rtol", "1e-10")
            np.testing.assert_allclose(results.outputs["left.x"],
                                       2 + 3 * np.cos(10 * results.time), rtol=0, atol=1e-6)
            self.assertEqual(results.stderr, "")

    def test_check_says_what_is_possible(self):
        for how, says in (
                (STEPPED, ("FMI version           1.0", "co-simulation of left",
                           "neither rollback nor linearization: explicit methods", "Probe")),
                (SMOOTH, ("interpolates inputs yes", "input derivatives: claimed; honoured up to "
                          "order 3", "Probe")),
                (EXCHANGE, ("directional derivatives no", "rollback yes", "equations yes"))):
            with self.subTest(how=how):
                self.build("left", **how)
                run = execute("check", self.folder / "left.fmu", "--probe")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertNotIn("STRICT", run.stderr)
                for text in says:
                    self.assertIn(text if text != "Probe" else "probe:", run.stdout)

    def test_names_of_states(self):
        """Those of the variables that the FMU says they are, else numbers."""
        for defines, names in (((), ["left.x_state", "left.v_state"]),
                               (("NAMES_NO_STATES",), ["left.state[1]", "left.state[2]"])):
            self.build("left", **EXCHANGE, defines=defines)
            model = self.model(("left",), 0.1)
            results = simulate(model, "-cosim_record", "outputs,states")
            self.assertEqual(results.states.names, names)
            np.testing.assert_array_equal(results.states.values, results.outputs.values)

    def test_steps_that_are_discarded(self):
        """Where the FMU says how far it came, it goes on from there."""
        self.build("left", **STEPPED, behaviour="returns_early")
        last = self.last("left", "-cosim_step", "0.3")
        self.build("left", **STEPPED)
        again = self.last("left", "-cosim_step", "0.3")
        self.assertAlmostEqual(last["left.x"], again["left.x"], delta=1e-6)


class Coupled(OldTest):
    def masses(self, left, right, more=True):
        parts = {"left": left, "right": right}
        text = model_text(("left", "right"), 0.5, parts)
        if more:
            text = text.replace("connections:\n", OBSERVER + "connections:\n") + TO_OBSERVER
        return write_model(self.folder, "model", text)

    def outcome(self, model, *options, ranks=1):
        results = simulate(model, *options, "-cosim_output_interval", "0.05", ranks=ranks)
        self.assertNotIn("STRICT", results.stderr)
        return results.outputs.columns("left.x", "right.x", "observer.s")

    def test_model_exchange_beside_other_versions(self):
        """FMI 1.0 and 2.0 and equations, against one system of all the equations, and, where each
        takes its step's error, against the same method of equations alone."""
        self.build("left", **EXCHANGE)
        self.build("right", 2, kinds=("me",), capabilities=("no_step_events",))
        exact = self.outcome(self.masses(LEFT, RIGHT), "-cosim_type", "monolithic", *TIGHT)
        for method, ranks in (("jacobi", 1), ("gauss_seidel", 1), ("jfm", 1), ("jfm", 3),
                              ("missiles", 1), ("missiles", 3), ("radau", 1), ("monolithic", 1)):
            options = ("-cosim_type", method, "-cosim_step", "1e-3", *TIGHT)
            explicit = method in ("jacobi", "gauss_seidel")
            expected = self.outcome(self.masses(LEFT, RIGHT), *options) if explicit else exact
            with self.subTest(method=method, ranks=ranks):
                model = self.masses("{fmu: left.fmu}", "{fmu: right.fmu}")
                found = self.outcome(model, *options, ranks=ranks)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)

    def test_co_simulation(self):
        """The same bits as of FMI 2.0 with the same abilities: held inputs, or derivatives."""
        for capabilities in (("variable",), ("variable", "interpolate", "slopes")):
            values = []
            for version in (1, 2):
                for part in ("left", "right"):
                    self.build(part, version, kinds=("cs",), capabilities=capabilities)
                model = self.masses("{fmu: left.fmu}", "{fmu: right.fmu}")
                values += [self.outcome(model, "-cosim_type", method, "-cosim_step", "1e-3")
                           for method in ("jacobi", "gauss_seidel")]
            np.testing.assert_array_equal(values[:2], values[2:])
        self.build("left", **STEPPED)
        run = run_here(model, "-cosim_type", "jfm")
        self.assertEqual(run.returncode, 2)
        self.assertIn("offers no rollback", run.stderr)

    def fed(self):
        """A jumper whose input begins elsewhere than its start value says."""
        return write_model(self.folder, "model", """experiment: {start: 0, stop: 0.1}
subsystems:
  jumper: {fmu: jumper.fmu}
  source: {equations: {inputs: {}, states: {}, derivatives: {}, outputs: {u: 3 + t}}}
connections: [source.u -> jumper.u]
""")

    def test_states_that_follow_from_inputs(self):
        """They are those of the inputs with which the run begins, as in FMI 2.0; an FMU that may be
        there once per process is made once, and they are of its own start value."""
        model, options = self.fed(), ("-cosim_type", "jacobi", "-cosim_step", "0.01")
        for how, own in ((EXCHANGE, False), (STEPPED, False),
                         (dict(STEPPED, capabilities=("variable", "single")), True)):
            with self.subTest(how=how):
                self.build("jumper", **how)
                first = simulate(model, *options)
                self.assertNotIn("STRICT", first.stderr)
                self.build("jumper", 2, kinds=how["kinds"], capabilities=("state", "variable"))
                expected = simulate(model, *options).outputs["jumper.y"] - (3 if own else 0)
                np.testing.assert_allclose(first.outputs["jumper.y"], expected, rtol=0, atol=1e-9)

    def test_instances_that_are_made(self):
        """One where inputs begin as they are given; another where others turn out to be right."""
        log = self.folder / "calls.txt"
        for part, most in (("left", 1), ("jumper", 2)):
            self.build(part, **STEPPED, defines=(f'CALLS="{log}"',))
            if part == "left":
                self.last("left")
            else:
                simulate(self.fed(), "-cosim_type", "jacobi", "-cosim_step", "0.01",
                         "-cosim_halving", "none")
            self.assertEqual(len(log.read_text().splitlines()), most)
            log.unlink()


class Types(OldTest):
    MORE = ('    <ScalarVariable name="opposite" valueReference="300" causality="output" '
            'alias="negatedAlias"><Real/></ScalarVariable>\n'
            '    <ScalarVariable name="debit" valueReference="301" causality="output" '
            'variability="discrete" alias="negatedAlias"><Integer/></ScalarVariable>\n'
            '    <ScalarVariable name="low" valueReference="302" causality="output" '
            'variability="discrete" alias="negatedAlias"><Boolean/></ScalarVariable>\n'
            '    <ScalarVariable name="same" valueReference="300" causality="output" '
            'alias="alias"><Real/></ScalarVariable>\n')

    def test_values_of_every_type(self):
        """x' = u - x + level n + (on ? d : 0), and outputs under other names, or turned round."""
        for kind in ("me", "cs"):
            self.build("mixed", 1, kinds=(kind,), capabilities=("variable",), more=self.MORE)
            last = self.last("mixed", "--start-value", "n", 3, "--start-value", "level", "double",
                             "--start-value", "d", 0.5, "--start-value", "u", 2,
                             "-subsystem_rtol", "1e-10")
            x = 8.5 - 8 * math.exp(-1)
            self.assertAlmostEqual(last["mixed.y"], x + 2, delta=1e-6)
            self.assertEqual(last["mixed.opposite"], -last["mixed.y"])
            self.assertEqual(last["mixed.same"], last["mixed.y"])
            self.assertEqual((last["mixed.count"], last["mixed.debit"]), (4, -4))
            self.assertEqual((last["mixed.high"], last["mixed.low"]), (1, 0))
            self.assertEqual(last["mixed.next_level"], 1)
            self.assertEqual(last["mixed.broken"], 1)
            last = self.last("mixed", "--start-value", "on", "false", "--start-value", "d", 5)
            self.assertEqual((last["mixed.high"], last["mixed.low"]), (0, 1))
            self.assertAlmostEqual(last["mixed.y"], 1 - 0.5 * math.exp(-1), delta=1e-3)

    def test_inputs_that_are_negated(self):
        """Also their derivatives, and the slopes of outputs."""
        for how in (EXCHANGE, SMOOTH):
            self.build("left", **how)
            self.rewritten("left", lambda text: text.replace(
                'causality="input"', 'causality="input" alias="negatedAlias"').replace(
                'name="v" valueReference="301"',
                'name="v" alias="negatedAlias" valueReference="301"').replace(
                'start="20000"', 'start="-20000"'))
            model = write_model(self.folder, "model", f"""experiment: {{start: 0, stop: 0.5}}
subsystems:
  left: {{fmu: left.fmu}}
  it: {LEFT}
  source: {{equations: {{inputs: {{}}, states: {{}}, derivatives: {{}},
    outputs: {{minus: -2e4*cos(9*t), plus: 2e4*cos(9*t)}}}}}}
connections: [source.minus -> left.f, source.plus -> it.f]
""")
            results = simulate(model, "-cosim_type", "jacobi", "-cosim_step", "1e-3", *TIGHT)
            np.testing.assert_allclose(results.outputs["left.x"], results.outputs["it.x"], rtol=0,
                                       atol=1e-4)
            np.testing.assert_allclose(results.outputs["left.v"], -results.outputs["it.v"], rtol=0,
                                       atol=1e-2)

    def test_texts(self):
        """The damping is the length of a text."""
        for how in (EXCHANGE, STEPPED):
            self.build("left", **how)
            self.rewritten("left", lambda text: text.replace(
                'variability="parameter"><Real start="10"/>',
                'variability="parameter"><String start=""/>'))
            there = self.last("left", "--start-value", "d", "x" * 20, "-subsystem_rtol", "1e-10")
            self.build("left", **how)
            again = self.last("left", "--start-value", "d", "20", "-subsystem_rtol", "1e-10")
            self.assertEqual(there, again)

    TEXTS = "".join(f'    <ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}" '
                    f'variability="discrete"><String{start}/></ScalarVariable>\n'
                    for name, reference, causality, start in (
                        ("heard", 250, "input", ' start="nothing"'), ("said", 350, "output", ""),
                        ("echo", 351, "output", ""), ("secret", 360, "output", "")))

    def test_texts_that_are_connected(self):
        """And one that the FMU refuses to tell, which is noted."""
        for kind, late in (("me", 0), ("cs", 0.25)):
            for name in ("a", "b"):
                self.build("left", 1, kinds=(kind,), capabilities=("variable",), more=self.TEXTS)
                (self.folder / "left.fmu").rename(self.folder / f"{name}.fmu")
            model = write_model(self.folder, "model", "experiment: {start: 0, stop: 1}\nsubsystems:\n  a: {fmu: a.fmu}\n"
                                "  b: {fmu: b.fmu}\nconnections: [a.said -> b.heard]\n")
            for ranks in (1, 2):
                out = self.folder / "out.h5"
                run = run_here(model, "-cosim_type", "jacobi", "-cosim_step", 0.25, "-cosim_output", out, ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertNotIn("STRICT", run.stderr)
                self.assertIn("output 'secret' cannot be read (fmiGetString", run.stderr)
                lines = csv.reader(execute("export", out, "--texts").stdout.splitlines()[1:])
                found = {}
                for t, name, text in lines:
                    found.setdefault(name, []).append((round(float(t), 9), text))
                self.assertEqual(found["a.said"], [(0.25 * k, f"a: {k}") for k in range(5)])
                self.assertEqual([one for one in found["b.echo"] if one[0] >= 0.5],
                                 [(0.25 * k + late, f"a: {k}") for k in range(1, 5)
                                  if 0.5 <= 0.25 * k + late <= 1])

    def test_what_no_start_value_fixes(self):
        """A parameter that follows from others is none; a guess that is not kept is no wonder."""
        self.build("left", **EXCHANGE)
        self.rewritten("left", lambda text: text.replace(
            'valueReference="402" causality="internal" variability="parameter"><Real start="10"/>',
            'valueReference="402" causality="internal" variability="parameter"><Real/>'))
        run = execute("check", self.folder / "left.fmu")
        self.assertIn("d                     Float64, calculatedParameter, fixed", run.stdout)
        self.run_file("left", "--start-value", "d", 1, code=2)
        self.build("left", **EXCHANGE, behaviour="keeps_nothing")
        self.rewritten("left", lambda text: text.replace(
            '<Real start="10"/>', '<Real start="10" fixed="false"/>'))
        run = self.run_file("left", "--start-value", "d", 1)
        self.assertNotIn("does not keep", run.stderr)
        run = self.run_file("left", "--start-value", "c", 1)
        self.assertIn("does not keep the values that it is given: 'c' is 10000, not 1", run.stderr)


class Wrong(OldTest):
    def refused(self, says, code=2, command="run", *options, crashes=False):
        path = self.folder / "left.fmu"
        here = command == "run" and not crashes
        run = run_here(path, *options) if here else execute(command, path, *options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)

    def test_descriptions(self):
        for old, new, says in (
                ('causality="input"', 'causality="inlet"', ["'f'", "unknown causality 'inlet'"]),
                ('variability="parameter"', 'variability="fixed"', ["unknown variability 'fixed'"]),
                ('causality="input"', 'causality="input" alias="twin"', ["unknown alias 'twin'"]),
                ('<Real unit="N"', '<Complex unit="N"', ["'f'", "unknown type"]),
                ('numberOfContinuousStates="2"', 'numberOfContinuousStates="-2"',
                 ["numberOfContinuousStates", "must be a count, not '-2'"]),
                ('numberOfEventIndicators="0"', 'numberOfEventIndicators="many"',
                 ["numberOfEventIndicators", "must be a count, not 'many'"]),
                ('fmiVersion="1.0"', 'fmiVersion="1.1"', ["FMI version '1.1' is not supported"]),
                ('modelIdentifier="left"', 'modelIdentifier="../left"', ["modelIdentifier"]),
                ('start="20000"', 'start="much"', ["the start value of 'f'", "'much'"])):
            with self.subTest(new):
                self.build("left", **EXCHANGE)
                self.rewritten("left", lambda text, old=old, new=new: text.replace(old, new, 1))
                self.refused(says)
        self.build("left", **STEPPED)
        self.rewritten("left", lambda text: text.replace("CoSimulation_StandAlone", "Standing"))
        self.refused(["<Implementation> has neither"])

    def test_dependencies_on_nothing(self):
        """An output that depends on what there is not depends on all."""
        self.build("right", **EXCHANGE)
        self.rewritten("right", lambda text: text.replace("<Name>x_left</Name>", "<Name>y</Name>"))
        run = execute("check", self.folder / "right.fmu")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("output 'f' depends directly on what is none of its variables", run.stdout)
        self.assertIn("right.x_left -> right.f", run.stdout)

    def test_binaries(self):
        self.build("left", **EXCHANGE, defines=('TYPES="standard64"',))
        self.refused(["the types of 'standard64', not those of 'standard32'"])
        self.build("left", **STEPPED, behaviour="refuses")
        self.refused(["fmiInstantiateSlave of the FMU", "failed", "wrong guid"], 1)
        self.build("left", **EXCHANGE)
        self.rewritten("left", lambda text: text.replace("</ModelVariables>\n", """</ModelVariables>
  <Implementation><CoSimulation_StandAlone><Capabilities/></CoSimulation_StandAlone></Implementation>
""").replace('modelIdentifier="left"', 'modelIdentifier="right"'))
        self.refused(["its binary lacks the function right_fmi"])
        path = self.folder / "left.fmu"
        with zipfile.ZipFile(path) as archive:
            text = archive.read("modelDescription.xml")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", text)
            archive.writestr("binaries/darwin64/left.dylib", "")
        self.refused(["has no binary for this platform (binaries/linux64/", "it has those for darwin64"])

    def test_tools(self):
        self.build("left", **dict(STEPPED, capabilities=("variable", "tool")))
        run = execute("check", self.folder / "left.fmu")
        self.assertIn("the FMU needs its tool", run.stdout)

    def test_other_interfaces(self):
        self.build("left", **EXCHANGE)
        self.refused(["the FMU offers no co-simulation"], 2, "run", "--interface-type", "cs")
        self.run_file("left", "--interface-type", "me")
        self.build("left", **STEPPED)
        self.refused(["the FMU offers no model exchange"], 2, "run", "-subsystem_fmu_interface",
                     "me")

    def test_failures_in_a_run(self):
        for how, behaviour, says in (
                (STEPPED, "discards", ("fmiDoStep", "returned discard", "t = 0.5")),
                (STEPPED, "fatal", ("fmiDoStep", "returned fatal", "t = 0.5")),
                (STEPPED, "crashes_later", ("crashed", "in fmiDoStep of subsystem 'left'")),
                (STEPPED, "refuses_start", ("fmiInitializeSlave", "returned error")),
                (EXCHANGE, "refuses_start", ("fmiInitialize ", "returned error")),
                (EXCHANGE, "fatal", ("fmiGetDerivatives", "returned fatal")),
                (EXCHANGE, "crashes", ("crashed", "in fmiInstantiateModel of subsystem 'left'"))):
            with self.subTest(behaviour, how=how):
                self.build("left", **how, behaviour=behaviour)
                self.refused(says, 1, crashes=True)

    def test_ends(self):
        self.build("ball", **EXCHANGE, behaviour="ends")
        run = self.run_file("ball", "--stop-time", 2, code=3)
        self.assertIn("terminateSimulation", run.stderr)

    def test_checkpoints(self):
        for how in (EXCHANGE, STEPPED):
            self.build("left", **how)
            self.refused(["cannot save its state (FMI 1.0 has no call for it)"], 2, "run",
                         "-cosim_checkpoint", self.folder / "there.ckpt", "-cosim_output",
                         self.folder / "out.h5")


class Around(OldTest):
    """What surrounds FMUs takes those of FMI 1.0, too."""

    MODES = {
        "cs": {"instantiated": {"SetReal": "instantiated", "InitializeSlave": "running",
                                "FreeSlaveInstance": "over"},
               "running": {"SetReal": "running", "GetReal": "running", "DoStep": "running",
                           "TerminateSlave": "terminated"},
               "terminated": {"FreeSlaveInstance": "over"}},
        "me": {"instantiated": {"SetReal": "instantiated", "SetTime": "timed",
                                "FreeModelInstance": "over"},
               "timed": {"Initialize": "running"},
               "running": {**dict.fromkeys(
                   ("SetReal", "GetReal", "SetTime", "SetContinuousStates", "GetContinuousStates",
                    "GetDerivatives", "EventUpdate", "CompletedIntegratorStep"), "running"),
                   "Terminate": "terminated"},
               "terminated": {"FreeModelInstance": "over"}}}

    def test_the_log_of_calls(self):
        """Every call where the standard allows it, under the standard's names."""
        for kind in ("cs", "me"):
            self.build("left", 1, kinds=(kind,), capabilities=("variable",))
            log = self.folder / "calls.csv"
            self.run_file("left", "--stop-time", 0.1, "-cosim_step", 0.02, "-cosim_fmu_calls", log)
            with open(log, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            mode = None
            for row in rows:
                if row["event"] != "call":
                    continue
                name = row["function"].removeprefix("fmi")
                if name.startswith("Instantiate"):
                    self.assertIn(mode, (None, "over"))
                    mode = "instantiated"
                    continue
                self.assertIn(name, self.MODES[kind][mode], row)
                mode = self.MODES[kind][mode][name]
            self.assertEqual(mode, "over")
            arguments = [row["arguments"] for row in rows if row["event"] == "call"]
            if kind == "cs":
                self.assertIn("currentCommunicationPoint=0.02 communicationStepSize=0.02 newStep=1",
                              arguments)
                self.assertIn("tStart=0 StopTimeDefined=1 tStop=0.1", arguments)
            else:
                self.assertTrue(any("iterationConverged=1" in row["arguments"] for row in rows))

    def test_isolated_and_on_ranks(self):
        """The same bits in processes of their own, and on other ranks."""
        for how in (EXCHANGE, SMOOTH):
            for part in ("left", "right"):
                self.build(part, **how)
            model = write_model(self.folder, "model", model_text(("left", "right"), 0.2))
            options = ("-cosim_type", "jacobi", "-cosim_step", "1e-3")
            here = simulate(model, *options).outputs.values
            for ranks, isolated in ((1, "true"), (3, "false")):
                there = simulate(model, *options, "-subsystem_isolated", isolated, ranks=ranks)
                np.testing.assert_array_equal(there.outputs.values, here)

    def test_ssp(self):
        for part in ("left", "right"):
            self.build(part, **EXCHANGE)
        text = HEAD.format(version="1.0") + """
  <ssd:System name="all"><ssd:Elements>
    <ssd:Component name="left" source="left.fmu" type="application/x-fmu-sharedlibrary"/>
    <ssd:Component name="right" source="right.fmu"/></ssd:Elements>
  <ssd:Connections>
    <ssd:Connection startElement="right" startConnector="f" endElement="left" endConnector="f"/>
    <ssd:Connection startElement="left" startConnector="x" endElement="right"
      endConnector="x_left"/>
    <ssd:Connection startElement="left" startConnector="v" endElement="right"
      endConnector="v_left"/></ssd:Connections></ssd:System>
  <ssd:DefaultExperiment stopTime="0.2"/>
</ssd:SystemStructureDescription>
"""
        path = self.folder / "masses.ssd"
        path.write_text(text)
        options = ("-cosim_type", "jfm", "-cosim_step", "1e-3")
        found = simulate(path, *options)
        model = write_model(self.folder, "model", model_text(("left", "right"), 0.2))
        expected = simulate(model, *options)
        self.assertEqual(found.outputs.names, expected.outputs.names)
        np.testing.assert_array_equal(found.outputs.values, expected.outputs.values)


if __name__ == "__main__":
    unittest.main()
