"""Tables and delays exported as FMUs, alone and in SSP, beside numpy's and scipy's interpolation."""
import itertools
import re
import subprocess
import unittest
import zipfile
from xml.etree import ElementTree

import numpy as np
from scipy.interpolate import Akima1DInterpolator

from concord_runs import TIGHT, execute, simulate, write_model
from exported_fmus import Fmu2, compile_sources, export, unpack
from fmu_runs import FmuTest

JUMPING = ([0, 0.5, 0.5, 1.25, 1.5, 2], [0, 1, 3, 2, 2.5, 0.25])
SMOOTH = (list(np.linspace(0, 2, 21)), list(np.sin(3 * np.linspace(0, 2, 21))))
RULES = ("hold", "linear", "repeat")
SHIFT = 0.125


def written(folder, rows, name="rows"):
    text = "t,z\n" + "".join(f"{float(t)!r},{float(z)!r}\n" for t, z in zip(*rows))
    (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return f"{name}.csv"


def inside(rows, interpolation, t):
    """Between the first and the last row; behind a jump what follows it."""
    times, values = map(np.asarray, rows)
    if interpolation == "cubic":
        return float(Akima1DInterpolator(times, values)(t))
    row = int(np.searchsorted(times, t, side="right")) - 1
    if interpolation == "step" or row + 1 == len(times):
        return values[row]
    return values[row] + (values[row + 1] - values[row]) / (times[row + 1] - times[row]) * (t - times[row])


def slope_at_end(rows, interpolation, after):
    times, values = map(np.asarray, rows)
    if interpolation == "step":
        return 0.0
    if interpolation == "cubic":
        return float(Akima1DInterpolator(times, values)(times[-1 if after else 0], 1))
    a, b = (-2, -1) if after else (0, 1)
    return (values[b] - values[a]) / (times[b] - times[a])


def value(rows, interpolation, before, after, t):
    first, last = rows[0][0], rows[0][-1]
    rule = before if t < first else after if t >= last else None
    if rule == "repeat":
        t = first + (t - first) % (last - first)
    elif rule is not None:
        end, end_value = (last, rows[1][-1]) if t >= last else (first, rows[1][0])
        slope = slope_at_end(rows, interpolation, t >= last) if rule == "linear" else 0.0
        return end_value + slope * (t - end)
    return inside(rows, interpolation, t)


class TableTest(FmuTest):
    def table(self, rows, interpolation, before="hold", after="hold", start=-3.0, stop=6.0, more=""):
        return write_model(self.folder, "table", f"""experiment: {{start: {start}, stop: {stop}}}
subsystems:
  road:
    table: {{file: {written(self.folder, rows)}, interpolation: {interpolation}, before: {before}, after: {after},
            shift: {SHIFT}, outputs: {{z: z}}, units: {{z: km/h}}}}
{more}""")

    def exported(self, *table, version=2):
        path = self.folder / "road.fmu"
        export(self.table(*table), "road", path, "--fmi", version)
        return unpack(path)


class Alone(TableTest):
    def test_steps(self):
        """Every rule, from a start before the rows, at points beside its kinks and jumps."""
        for rows, interpolation in ((JUMPING, "linear"), (JUMPING, "step"), (SMOOTH, "cubic")):
            rules = (("linear", "linear"), ("hold", "repeat"), ("repeat", "hold"))
            for before, after in itertools.product(RULES, RULES) if interpolation == "linear" else rules:
                fmu = Fmu2(self.exported(rows, interpolation, before, after))
                fmu.start(-3.0)
                times = np.linspace(-3.0, 6.0, 208)
                for begin, end in zip(times[:-1], times[1:]):
                    self.assertEqual(fmu.step(begin, end - begin), 0, fmu.messages)
                    self.assertAlmostEqual(fmu.get("z")[0], value(rows, interpolation, before, after,
                                                                  end - SHIFT), delta=2e-13)
                fmu.free()

    def test_starts_elsewhere(self):
        """The model's own start is -3; every leg may be the first."""
        folder = self.exported(JUMPING, "linear", "repeat", "repeat")
        for start in (-1e4 - 0.3, -4.7, -0.2, 0.4, 1.9, 3.3, 1e4 + 0.3):
            fmu = Fmu2(folder)
            fmu.start(start)
            for t in (start, start + 0.21):
                delta = 1e-12 * (1 + abs(t))
                self.assertAlmostEqual(fmu.get("z")[0], value(JUMPING, "linear", "repeat", "repeat",
                                                              t - SHIFT), delta=delta)
                self.assertEqual(fmu.step(t, 0.21), 0, fmu.messages)
            fmu.free()

    def test_events_in_model_exchange(self):
        """Each kink and jump is announced, to the bit; the left limit stands until it has happened."""
        fmu = Fmu2(self.exported(JUMPING, "linear", "hold", "repeat"), cosimulation=False)
        fmu.start(0.0)
        told = fmu.events()
        expected = [SHIFT + t + 2 * n for n in range(3) for t in (0, 0.5, 1.25, 1.5)][:11]
        limits = {0.5: (1.0, 3.0), 0.0: (0.25, 0.0)}
        for t in expected:
            self.assertEqual((told[-1].time_defined, told[-1].time), (1, t))
            fmu.go_to(t)
            left = fmu.get("z")[0]
            self.assertEqual(fmu("EnterEventMode"), 0)
            told = fmu.events()
            place = (t - SHIFT) % 2
            if place in limits and t > SHIFT:
                self.assertEqual((left, fmu.get("z")[0]), limits[place])
            else:
                self.assertAlmostEqual(left, fmu.get("z")[0], delta=1e-15)
        fmu.free()

    def test_description(self):
        for version in (2, 3):
            folder = self.exported(JUMPING, "step", version=version)
            root = ElementTree.parse(folder / "modelDescription.xml").getroot()
            variables = {v.get("name"): v for v in root.find("ModelVariables")}
            self.assertEqual(variables["z"].get("causality"), "output")
            self.assertEqual(variables["z"].get("variability"), "discrete")
            unit = variables["z"].find("Real") if version == 2 else variables["z"]
            self.assertEqual(unit.get("unit"), "km/h")
            run = execute("check", self.folder / "road.fmu", "--probe")
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_binary_needs_the_c_library_alone(self):
        folder = self.exported(SMOOTH, "cubic")
        [binary] = (folder / "binaries").rglob("*.so")
        told = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", told))
        self.assertLessEqual(needed, {"libm.so.6", "libc.so.6"})

    def test_nothing_beyond(self):
        """Up to the last row all is well; behind it, and before the first, the FMU gives no number."""
        fmu = Fmu2(self.exported(JUMPING, "step", "error", "error", 0.25, 2))
        fmu.start(0.25)
        self.assertEqual(fmu.step(0.25, 2 + SHIFT - 0.25), 0)
        self.assertEqual(fmu.get("z"), [0.25])
        fmu.step(2 + SHIFT, 0.5)
        self.assertTrue(np.isnan(fmu.get("z")[0]))
        fmu.free()


FOLLOW = """  follow:
    equations:
      inputs: {u: 0}
      states: {x: 0}
      derivatives: {x: 3*(u - x)}
      outputs: {x: x}
      units: {u: m/s, x: m/s}
"""
DELAYED = """experiment: {start: 1.5, stop: 6}
subsystems:
  a: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: -u}, outputs: {x: x}, units: {x: km/h}}}
  b: {equations: {inputs: {v: 0}, states: {y: 0}, derivatives: {y: v - y}, outputs: {y: y}, units: {v: m/s}}}
  s: {equations: {inputs: {y: 0}, discrete: {u: 0}, when: [{every: 0.5, set: {u: y}}], outputs: {u: u}}}
  c: {equations: {inputs: {w: 0}, states: {z: 0}, derivatives: {z: w - z}, outputs: {z: z}}}
connections:
  - {connect: a.x -> a.u, delay: 1.2}
  - {connect: a.x -> b.v, delay: 0.03}
  - {connect: s.u -> c.w, delay: 0.77}
  - b.y -> s.y
"""


class InSsp(TableTest):
    def assert_same(self, model, most, *options):
        path = self.folder / "out.ssp"
        run = execute("export-ssp", model, "-o", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        one, two = (simulate(file, *options, *TIGHT) for file in (model, path))
        self.assertEqual(len(one.time), len(two.time))
        self.assertLess(np.abs(one.time - two.time).max(), 1e-9)
        self.assertEqual(set(one.outputs.names), set(two.outputs.names))
        for name in one.outputs.names:
            a, b = one.outputs[name], two.outputs[name]
            self.assertLess(np.abs(a - b).max(), most * max(np.ptp(a), 1e-300), name)
        return path

    def test_tables(self):
        """Macro-steps end at the table's kinks and jumps, which do not lie on their grid."""
        more = FOLLOW + "connections: [road.z -> follow.u]\n"
        for rows, interpolation, before, after in (
                (JUMPING, "linear", "hold", "repeat"), (JUMPING, "step", "repeat", "hold"),
                (SMOOTH, "linear", "linear", "linear"), (SMOOTH, "cubic", "hold", "repeat"),
                (JUMPING, "linear", "error", "error")):
            limits = (0.25, 2 + SHIFT) if after == "error" else (-3, 6)
            model = self.table(rows, interpolation, before, after, *limits, more)
            self.assert_same(model, 1e-12, "-cosim_step", "0.047")

    def test_step_control(self):
        more = FOLLOW + "connections: [road.z -> follow.u]\n"
        self.assert_same(self.table(JUMPING, "linear", "hold", "repeat", -3, 6, more), 1e-9)

    def test_delays(self):
        """Longer and shorter than macro-steps, of held and of continuous signals, with units."""
        model = write_model(self.folder, "delayed", DELAYED)
        path = self.assert_same(model, 1e-9, "-cosim_step", "0.047")
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        self.assertEqual(sum("delay" in name for name in names), 2, names)


class Delays(FmuTest):
    """The FMU that stands for a delay, as other importers take it."""

    def setUp(self):
        super().setUp()
        model = write_model(self.folder, "delayed", DELAYED.replace("  - {connect: s.u -> c.w, delay: 0.77}\n", ""))
        run = execute("export-ssp", model, "-o", self.folder / "out.ssp")
        self.assertEqual(run.returncode, 0, run.stderr)
        with zipfile.ZipFile(self.folder / "out.ssp") as archive:
            archive.extract("resources/delay.fmu", self.folder)
        self.unpacked = unpack(self.folder / "resources" / "delay.fmu")

    def begun(self, delay, u=2.0, start=0.5):
        fmu = Fmu2(self.unpacked)
        self.assertEqual(fmu.set(delay=delay, u=u), 0)
        fmu.start(start)
        return fmu

    def test_polynomials(self):
        """Cubic inputs are followed exactly, and slopes come out."""
        def u(t):
            return 2 + t - 0.3 * t**2 + 0.1 * t**3
        for delay, h in ((0.7, 0.1), (0.05, 0.1)):
            fmu = self.begun(delay, u(0.0), 0.0)
            for n in range(30):
                t = n * h
                fmu.set(u=u(t))
                for order, slope in ((1, 1 - 0.6 * t + 0.3 * t**2), (2, -0.6 + 0.6 * t), (3, 0.6)):
                    self.assertEqual(fmu.input_derivative("u", order, slope), 0)
                self.assertEqual(fmu.step(t, h), 0)
                late = t + h - delay
                self.assertAlmostEqual(fmu.get("y")[0], u(late) if late > 0 else u(0), delta=1e-12)
                if late > 1e-9:
                    self.assertAlmostEqual(fmu.output_derivative("y"), 1 - 0.6 * late + 0.3 * late**2,
                                           delta=1e-11)
            fmu.free()

    def test_values_alone(self):
        """Linear from one communication point to the next: second order."""
        delay = 0.04 * (17 + 1 / 3)

        def worst(h):
            fmu = self.begun(delay, 0.0, 0.0)
            errors = []
            for n in range(round(4 / h)):
                fmu.set(u=np.sin(n * h))
                fmu.step(n * h, h)
                errors.append(abs(fmu.get("y")[0] - np.sin(max(0.0, (n + 1) * h - delay))))
            fmu.free()
            return max(errors)
        ratio = worst(0.04) / worst(0.02)
        self.assertGreater(ratio, 3.0)
        self.assertLess(ratio, 5.0)

    def test_states(self):
        """Saved, restored, in another instance, with a past that has grown since."""
        fmu, other = self.begun(0.5), self.begun(0.25)
        t = [0.5 + 0.05 * n for n in range(200)]

        def go(one, first, last):
            found = []
            for n in range(first, last):
                one.set(u=np.cos(t[n]))
                self.assertEqual(one.step(t[n], 0.05), 0)
                found += one.get("y")
            return found
        go(fmu, 0, 20)
        saved = fmu.save()
        expected = go(fmu, 20, 150)
        go(other, 0, 3)
        for one in (fmu, other):
            one.restore(saved)
            self.assertEqual(go(one, 20, 150), expected)
        fmu.free()
        other.free()

    def test_every_function_is_there(self):
        """Importers look for all of co-simulation, also for what the FMU does not offer."""
        fmu = Fmu2(self.unpacked)
        for name in ("GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment "
                     "EnterInitializationMode ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean "
                     "GetString SetReal SetInteger SetBoolean SetString GetFMUstate SetFMUstate FreeFMUstate "
                     "SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate GetDirectionalDerivative "
                     "SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus GetRealStatus "
                     "GetIntegerStatus GetBooleanStatus GetStringStatus").split():
            self.assertTrue(hasattr(fmu.library, "fmi2" + name), name)
        fmu.free()

    def test_sources(self):
        """C99 without a warning."""
        compiled = compile_sources(self.unpacked, "-shared", "-fPIC", "-Wall", "-Wextra", "-pedantic", "-Werror",
                                   extra=[self.unpacked / "sources" / "delay.c"])
        self.assertEqual((compiled.returncode, compiled.stderr), (0, ""))

    def test_wrong(self):
        fmu = Fmu2(self.unpacked)
        fmu.set(delay=0.0)
        fmu("SetupExperiment", 0, 0, 0, 0, 0)
        self.assertEqual(fmu("EnterInitializationMode"), 0)
        self.assertEqual(fmu("ExitInitializationMode"), 3)
        self.assertIn("the delay must be greater than zero", fmu.messages[-1][1])
        fmu.free()


if __name__ == "__main__":
    unittest.main()
