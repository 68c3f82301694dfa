"""What is inside an exported FMU: description, sources, binary; and how it takes being called."""
import math
import os
import re
import subprocess
import unittest
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from concord_runs import LOTKA_VOLTERRA, TWO_MASS, in_short, write_model
from exported_fmus import FOLDERS, Fmu2, compile_sources, export, unpack
from fmu_runs import FmuTest

WALKS = Path(__file__).resolve().parent / "walks"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")

# A subsystem with something of everything; and the smallest ones.
RICH = """name: rich
experiment: {start: 1, stop: 3}
subsystems:
  rich:
    equations:
      parameters: {k: -2.5, tiny: 1e-300}
      inputs: {f: 3, angle: 0}
      states: {x: 1, v: -0.5, hidden: 2}
      derivatives:
        x: v
        v: -1*k*x + if(f > 0, 1*f, -1*f) + sin(angle)*t
        hidden: tiny
      outputs: {x: x, power: f*v, late: "t < 2 ? x : 1*hidden"}
      units: {x: mm, v: mm/s, f: N, angle: deg, power: mW, hidden: degC, k: '%'}
  no_state:
    equations:
      inputs: {u: 1}
      outputs: {y: 2*u}
  no_input:
    equations:
      states: {x: 1}
      derivatives: {x: -x}
      outputs: {y: 3*x}
  nothing_out:
    equations:
      states: {x: 1}
      derivatives: {x: 1}
"""
PARTS = ("rich", "no_state", "no_input", "nothing_out")

# Every kind of event.
SWITCHED = """name: switched
experiment: {start: 0, stop: 3}
subsystems:
  switched:
    equations:
      parameters: {low: 0.2}
      inputs: {u: 1}
      discrete: {on: 1, count: 0}
      states: {x: 0.5}
      variables: {excess: x - 0.7}
      derivatives: {x: 3*on*u - 3*x}
      when:
        - {condition: excess > 0, set: {on: 0}}
        - {condition: x < low, set: {on: 1, x: low + 0.001}}
        - {every: 0.25, offset: 1, set: {count: pre(count) + 1}}
        - {condition: count > 3, set: {count: 0}}
      outputs: {y: on*x, on: on, stairs: floor(5*x), late: "t > 1.55 ? 1 : 0", n: count}
"""

# The order of the standards' schemas.
ROOT_ORDER = {2: ["ModelExchange", "CoSimulation", "UnitDefinitions", "LogCategories",
                  "DefaultExperiment", "ModelVariables", "ModelStructure"],
              3: ["ModelExchange", "CoSimulation", "UnitDefinitions", "LogCategories",
                  "DefaultExperiment", "ModelVariables", "ModelStructure"]}
ROOT_ATTRIBUTES = {
    2: {"fmiVersion", "modelName", "guid", "generationTool", "variableNamingConvention",
        "numberOfEventIndicators"},
    3: {"fmiVersion", "modelName", "instantiationToken", "generationTool",
        "variableNamingConvention"}}
FLAGS = {
    (2, "ModelExchange"): {"completedIntegratorStepNotNeeded", "canNotUseMemoryManagementFunctions",
                           "canGetAndSetFMUstate", "canSerializeFMUstate",
                           "providesDirectionalDerivative"},
    (2, "CoSimulation"): {"canHandleVariableCommunicationStepSize", "canInterpolateInputs",
                          "canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate",
                          "canSerializeFMUstate", "providesDirectionalDerivative"},
    (3, "ModelExchange"): {"canGetAndSetFMUState", "canSerializeFMUState",
                           "providesDirectionalDerivatives"},
    (3, "CoSimulation"): {"canHandleVariableCommunicationStepSize", "providesIntermediateUpdate",
                          "canGetAndSetFMUState", "canSerializeFMUState",
                          "providesDirectionalDerivatives"}}


class FilesTest(FmuTest):
    def exported(self, part, version=2, *options, source=None):
        text = SWITCHED if part == "switched" else RICH
        model = source or write_model(self.folder, "rich", text)
        path = self.folder / f"{part}.fmu"
        self.told = export(model, part, path, "--fmi", version, *options)
        return unpack(path)


class Description(FilesTest):
    """The rules of the schemas and of the text (FMI 2.0.4, 2.2; FMI 3.0.2, 2.4)."""

    @staticmethod
    def parse(text):
        return ElementTree.fromstring(text)

    def read(self, part, version):
        folder = self.exported(part, version, "--no-binary")
        text = (folder / "modelDescription.xml").read_bytes()
        self.assertTrue(text.startswith(b'<?xml version="1.0" encoding="UTF-8"?>'))
        return ElementTree.fromstring(text)

    @staticmethod
    def variables(root, version):
        """(name, reference, causality, variability, initial, start, unit, derivative) in order."""
        rows = []
        for node in root.find("ModelVariables"):
            typed = node.find("Real") if version == 2 else node
            rows.append((node.get("name"), int(node.get("valueReference")), node.get("causality"),
                         node.get("variability"), node.get("initial"), typed.get("start"),
                         typed.get("unit"), typed.get("derivative")))
        return rows

    def test_elements_and_attributes(self):
        for version in (2, 3):
            for part in PARTS:
                root = self.read(part, version)
                self.assertEqual([child.tag for child in root], ROOT_ORDER[version])
                self.assertEqual(set(root.attrib), ROOT_ATTRIBUTES[version])
                self.assertEqual(root.get("fmiVersion"), f"{version}.0")
                for kind in ("ModelExchange", "CoSimulation"):
                    interface = root.find(kind)
                    self.assertEqual(interface.get("modelIdentifier"), part)
                    true = {key for key, value in interface.attrib.items() if value == "true"}
                    self.assertEqual(set(interface.attrib) - true -
                                     {"modelIdentifier", "maxOutputDerivativeOrder"}, set())
                    self.assertLessEqual(true, FLAGS[version, kind])
                    missing = FLAGS[version, kind] - true
                    self.assertLessEqual(missing, {"canInterpolateInputs"})
                    self.assertEqual(bool(missing), version == 2 and kind == "CoSimulation" and
                                     part in ("no_input", "nothing_out"))
                    files = [f.get("name") for f in interface.iter("File")]
                    self.assertEqual(files, [f"{part}.c"] if version == 2 else [])
                experiment = root.find("DefaultExperiment").attrib
                self.assertEqual(experiment, {"startTime": "1", "stopTime": "3",
                                              "tolerance": "1e-08"})

    def test_output_derivatives_are_claimed_where_they_are_whole(self):
        for version, part, order in ((2, "rich", "1"), (3, "rich", None), (3, "no_input", "1")):
            interface = self.read(part, version).find("CoSimulation")
            self.assertEqual(interface.get("maxOutputDerivativeOrder"), order)

    def test_variables(self):
        for version in (2, 3):
            root = self.read("rich", version)
            rows = self.variables(root, version)
            names = [row[0] for row in rows]
            self.assertEqual(names, ["time", "f", "angle", "x", "power", "late", "v", "hidden",
                                     "der(x)", "der(v)", "der(hidden)", "k", "tiny", "event_indicator_1"])
            references = [row[1] for row in rows]
            self.assertEqual(len(set(references)), len(rows))
            units = {unit.get("name") for unit in root.find("UnitDefinitions")}
            states = [names.index(name) for name in ("x", "v", "hidden")]
            keys = [i + 1 for i in states] if version == 2 else [references[i] for i in states]
            for name, _, causality, variability, initial, start, unit, derivative in rows:
                self.assertIn((causality, variability, initial, start is not None), {
                    ("independent", "continuous", None, False), ("input", "continuous", None, True),
                    ("output", "continuous", "exact", True),
                    ("output", "continuous", "calculated", False),
                    ("local", "continuous", "exact", True),
                    ("local", "continuous", "calculated", False),
                    ("parameter", "tunable", "exact", True)}, name)
                if unit:
                    self.assertIn(unit, units)
                if derivative:
                    self.assertEqual(keys.index(int(derivative)),
                                     ["der(x)", "der(v)", "der(hidden)"].index(name))
            starts = {row[0]: row[5] for row in rows}
            self.assertEqual(float(starts["k"]), -2.5)
            self.assertEqual(float(starts["tiny"]), 1e-300)
            self.assertEqual(float(starts["v"]), -0.5)

    def test_structure(self):
        expected = {"x": "x", "power": "f v", "late": "time x hidden", "der(x)": "v",
                    "der(v)": "time f angle x", "der(hidden)": "", "event_indicator_1": "f"}
        at_start = dict(expected, **{"der(v)": "time f angle x k", "der(hidden)": "tiny"})
        del at_start["x"]
        for version in (2, 3):
            root = self.read("rich", version)
            rows = self.variables(root, version)
            names = [row[0] for row in rows]
            keys = {str(i + 1 if version == 2 else row[1]): row[0] for i, row in enumerate(rows)}
            structure = root.find("ModelStructure")
            if version == 2:
                self.assertEqual([c.tag for c in structure],
                                 ["Outputs", "Derivatives", "InitialUnknowns"])
            groups = {"Output": [], "ContinuousStateDerivative": [], "InitialUnknown": [],
                      "EventIndicator": []}
            for node in structure.iter():
                key = node.get("index") or node.get("valueReference")
                if key is None:
                    continue
                tag = node.tag
                if version == 2:
                    parent = next(c for c in structure if node in list(c))
                    tag = {"Outputs": "Output", "Derivatives": "ContinuousStateDerivative",
                           "InitialUnknowns": "InitialUnknown"}[parent.tag]
                    order = [int(d) for d in node.get("dependencies").split()]
                    self.assertEqual(order, sorted(order))
                uses = {keys[d] for d in node.get("dependencies").split()}
                wanted = (at_start if tag == "InitialUnknown" else expected)[keys[key]]
                self.assertEqual(uses, set(wanted.split()), keys[key])
                groups[tag].append(keys[key])
            self.assertEqual(groups["Output"], ["x", "power", "late"])
            self.assertEqual(groups["EventIndicator"], [[], ["event_indicator_1"]][version - 2])
            self.assertEqual(root.get("numberOfEventIndicators"), ["1", None][version - 2])
            self.assertEqual(groups["ContinuousStateDerivative"],
                             ["der(x)", "der(v)", "der(hidden)"])
            self.assertEqual(sorted(groups["InitialUnknown"], key=names.index),
                             ["power", "late", "der(x)", "der(v)", "der(hidden)"])

    def test_units_in_base_units(self):
        expected = {"mm": dict(m=1, factor=1e-3), "mm/s": dict(m=1, s=-1, factor=1e-3),
                    "mm/s/s": dict(m=1, s=-2, factor=1e-3), "N": dict(kg=1, m=1, s=-2),
                    "deg": dict(rad=1, factor=math.pi / 180), "%": dict(factor=0.01),
                    "mW": dict(kg=1, m=2, s=-3, factor=1e-3), "degC": dict(K=1, offset=273.15),
                    "s": dict(s=1), "degC/s": dict(K=1, s=-1)}
        for version in (2, 3):
            found = {unit.get("name"): {key: float(value) for key, value in
                                        unit.find("BaseUnit").attrib.items()}
                     for unit in self.read("rich", version).find("UnitDefinitions")}
            self.assertEqual(set(found), set(expected))
            for name, base in expected.items():
                self.assertEqual(set(found[name]), set(base), name)
                for key, value in base.items():
                    self.assertAlmostEqual(found[name][key], value, 15)

    def test_build_description(self):
        root = ElementTree.parse(self.exported("rich", 3, "--no-binary") / "sources" /
                                 "buildDescription.xml").getroot()
        self.assertEqual((root.tag, root.get("fmiVersion")), ("fmiBuildDescription", "3.0"))
        configuration = root.find("BuildConfiguration")
        self.assertEqual(configuration.get("modelIdentifier"), "rich")
        self.assertEqual([child.tag for child in configuration], ["SourceFileSet", "Library"])
        self.assertEqual([child.tag for child in configuration.find("SourceFileSet")],
                         ["SourceFile", "PreprocessorDefinition"])


class Sources(FilesTest):
    def test_compile_without_warnings(self):
        for version in (2, 3):
            for part, source in in_short(((PARTS[0], None), (PARTS[1], None), (PARTS[2], None),
                                          (PARTS[3], None), ("switched", None), ("right", TWO_MASS),
                                          ("prey", LOTKA_VOLTERRA)), 3, version):
                folder = self.exported(part, version, "--no-binary", source=source)
                for optimisation in ("-O0", "-O2"):
                    run = compile_sources(folder, *STRICT, optimisation, "-shared", "-fPIC")
                    self.assertEqual((run.returncode, run.stderr), (0, ""), part)

    def test_binary_exports_the_standard_alone(self):
        for version, prefix in ((2, "fmi2"), (3, "fmi3")):
            folder = self.exported("rich", version)
            library = folder / "binaries" / FOLDERS[version] / "rich.so"
            symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                                     text=True, check=True).stdout
            names = [line.split()[-1] for line in symbols.splitlines()]
            self.assertGreater(len(names), 40)
            self.assertTrue(all(name.startswith(prefix) for name in names), names)

    def test_prefix_for_static_linking(self):
        """Two FMUs in one program."""
        first, second = (self.exported(part, 2, "--no-binary", source=TWO_MASS) for part in ("left", "right"))
        objects = []
        for folder, part in ((first, "left"), (second, "right")):
            objects.append(folder / f"{part}.o")
            run = compile_sources(folder, *STRICT, "-c", f"-DFMI2_FUNCTION_PREFIX={part}_",
                                  target=f"{part}.o")
            self.assertEqual(run.returncode, 0, run.stderr)
        main = self.folder / "main.c"
        main.write_text("const char *left_fmi2GetVersion(void), *right_fmi2GetVersion(void);\n"
                        "int main(void) { return left_fmi2GetVersion()[0] != '2' ||\n"
                        "  right_fmi2GetVersion()[0] != '2'; }\n")
        run = compile_sources(first, extra=[main, *objects], target="both")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(subprocess.run([first / "both"], check=False).returncode, 0)

    def test_walks_under_sanitizers(self):
        sanitizers = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        for version in (2, 3):
            for part, source in in_short((("right", TWO_MASS), ("rich", None), ("switched", None)), 2,
                                         version):
                folder = self.exported(part, version, "--no-binary", source=source)
                model = folder / "sources" / f"{part}.c"
                run = compile_sources(folder, *STRICT, *sanitizers, f'-DMODEL="{model}"',
                                      extra=[WALKS / f"walk_fmi{version}.c"], target="walk")
                self.assertEqual(run.returncode, 0, run.stderr)
                walk = subprocess.run([folder / "walk"], capture_output=True, text=True,
                                      check=False)
                self.assertEqual((walk.returncode, walk.stderr), (0, ""), f"{part} {version}")

    def token(self):
        with zipfile.ZipFile(self.folder / "rich.fmu") as archive:
            text = archive.read("modelDescription.xml").decode()
        return re.search(r"\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}", text).group()

    def test_same_model_same_bytes(self):
        for version in (2, 3):
            self.exported("rich", version)
            first = (self.folder / "rich.fmu").read_bytes()
            self.exported("rich", version)
            self.assertEqual((self.folder / "rich.fmu").read_bytes(), first)
            other = write_model(self.folder, "other", RICH.replace("tiny: 1e-300", "tiny: 1e-299"))
            token = self.token()
            self.exported("rich", version, "--no-binary", source=other)
            self.assertNotEqual(self.token(), token)

    def test_notes(self):
        page = (self.exported("rich") / "documentation" / "index.html").read_text()
        self.assertIn("Event indicators: 1", page)
        self.assertEqual(self.told, "")
        page = (self.exported("no_input") / "documentation" / "index.html").read_text()
        self.assertNotIn("vent", page)
        self.assertEqual(self.told, "")

    def test_no_binary(self):
        folder = self.exported("rich", 2, "--no-binary")
        self.assertFalse((folder / "binaries").exists())
        self.assertNotIn("compiler", self.told)
        os.environ["CC"] = "env gcc"
        self.addCleanup(os.environ.pop, "CC")
        self.assertTrue((self.exported("rich", 2) / "binaries").exists())
        os.environ["CC"] = "no-such-compiler"
        folder = self.exported("rich", 2)
        self.assertFalse((folder / "binaries").exists())
        self.assertIn("there is no C compiler 'no-such-compiler'", self.told)
        self.assertIn("sources only", self.told)


class Steps(FilesTest):
    """Co-simulation of one FMU, against closed forms."""

    def fmu(self, text, tolerance=1e-10, **starts):
        model = write_model(self.folder, "one", "experiment: {start: 0, stop: 9}\nsubsystems:\n"
                            f"  one:\n    equations:\n{text}")
        fmu = Fmu2(self.exported("one", source=model))
        self.addCleanup(fmu.free)
        fmu.set(**starts)
        fmu.start(tolerance=tolerance)
        return fmu

    DECAY = ("      inputs: {u: 0}\n      states: {x: 1}\n      derivatives: {x: u - x}\n"
             "      outputs: {x: x, y: x + 2*u}\n")

    def test_tolerance_is_kept(self):
        errors = []
        for tolerance in (1e-4, 1e-8, 1e-12):
            fmu = self.fmu("      states: {x: 1, v: 0}\n      derivatives: {x: v, v: -x}\n"
                           "      outputs: {x: x}\n", tolerance)
            self.assertEqual(fmu.step(0, 9), 0)
            errors.append(abs(fmu.get("x")[0] - math.cos(9)))
        for error, bound in zip(errors, (1e-3, 1e-7, 1e-11)):
            self.assertLess(error, bound)
        self.assertGreater(errors[0] / errors[2], 1e5)

    def test_input_polynomials(self):
        """x' = u - x with u = 1 + 2 t + 3 t^2 + 4 t^3, given once, over two steps."""
        fmu = self.fmu(self.DECAY)
        self.assertEqual(fmu.set(u=1), 0)
        for order, value in ((1, 2), (2, 6), (3, 24)):
            self.assertEqual(fmu.input_derivative("u", order, value), 0)
        # x = p + c e^-t with p' + p = u
        p = (-19, 20, -9, 4)
        for t, h in ((0, 0.75), (0.75, 0.5)):
            self.assertEqual(fmu.step(t, h), 0)
            end = t + h
            exact = sum(c * end**k for k, c in enumerate(p)) + (1 - p[0]) * math.exp(-end)
            u = 1 + 2 * end + 3 * end**2 + 4 * end**3
            slope = 2 + 6 * end + 12 * end**2
            x, y, found = fmu.get("x", "y", "u")
            self.assertAlmostEqual(found, u, 12)
            self.assertAlmostEqual(x, exact, 8)
            self.assertAlmostEqual(y, exact + 2 * u, 8)
            self.assertAlmostEqual(fmu.output_derivative("y"), u - exact + 2 * slope, 8)
            self.assertAlmostEqual(fmu.output_derivative("x"), u - exact, 8)

    def test_stiff(self):
        """Slow, but right."""
        fmu = self.fmu("      states: {x: 2}\n      derivatives: {x: 1e5*(cos(t) - x) - sin(t)}\n"
                       "      outputs: {x: x}\n", 1e-6)
        self.assertEqual(fmu.step(0, 1), 0)
        self.assertAlmostEqual(fmu.get("x")[0], math.cos(1), 5)

    def test_a_solution_that_ends_is_discarded(self):
        fmu = self.fmu("      states: {x: 1}\n      derivatives: {x: x*x}\n"
                       "      outputs: {x: x}\n")
        self.assertEqual(fmu.step(0, 0.5), 0)
        self.assertAlmostEqual(fmu.get("x")[0], 2, 7)
        self.assertEqual(fmu.step(0.5, 1), 2)
        self.assertEqual(fmu.messages[0][0], 2)
        self.assertRegex(fmu.messages[0][1], r"fmi2DoStep: no step from t = 0\.99\d* meets")
        self.assertAlmostEqual(fmu.get("x")[0], 2, 7)
        self.assertEqual(fmu.step(0.5, 0.25), 0)
        self.assertAlmostEqual(fmu.get("x")[0], 4, 6)

    def test_jumps_are_found(self):
        fmu = self.fmu("      states: {x: 0}\n      derivatives: {x: 't < 0.3 ? 1 : -2'}\n"
                       "      outputs: {x: x}\n")
        self.assertEqual(fmu.step(0, 1), 0)
        self.assertAlmostEqual(fmu.get("x")[0], 0.3 - 2 * 0.7, 8)


if __name__ == "__main__":
    unittest.main()
