"""concord export-ssp: the same bits again, and an archive as SSP 1.0 wants it."""
import shutil
import unittest
import zipfile
from xml.etree import ElementTree

import numpy as np
import variables
from accuracy import INTERPOLATING, ME, PLAIN, lotka_volterra_error, two_mass_error
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, TIGHT, TWO_MASS, execute, in_short, simulate, write_model
from fmu_runs import FmuTest

SPACES = {"ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
          "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
          "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues"}
MASSES = """name: two <masses> & "more"
experiment: {start: 0.5, stop: 1.5}
subsystems:
  left: {fmu: left.fmu, parameters: {m: 6, d: +1e1}, start: {x_state: 2, f: 100}}
  right: {fmu: ./right.fmu, parameters: {c: 1e5}}
  again: {fmu: left.fmu}
connections:
  - right.f -> left.f
  - left.x -> right.x_left
  - left.v -> right.v_left
"""
# Children in the order of the schema, and required attributes.
ORDER = {"SystemStructureDescription": ["System", "Enumerations", "Units", "DefaultExperiment"],
         "System": ["Connectors", "ElementGeometry", "ParameterBindings", "Elements", "Connections"],
         "Component": ["Connectors", "ElementGeometry", "ParameterBindings"],
         "Connector": ["Real", "Integer", "Boolean", "String"],
         "ParameterSet": ["Parameters"]}
REQUIRED = {"SystemStructureDescription": {"version", "name"}, "System": {"name"},
            "Component": {"name", "type", "source"}, "Connector": {"name", "kind"},
            "Connection": {"startElement", "startConnector", "endElement", "endConnector"},
            "ParameterSet": {"version", "name"}, "Parameter": {"name"}, "Unit": {"name"}}
ALLOWED = {"Component": {"implementation"}, "Connection": {"suppressUnitConversion"},
           "SystemStructureDescription": {"generationTool"}}
SPACE_OF = {"Real": {"ssc", "ssv"}, "Integer": {"ssc", "ssv"}, "Boolean": {"ssc", "ssv"},
            "String": {"ssc", "ssv"}, "LinearTransformation": {"ssc"}, "Unit": {"ssc"},
            "BaseUnit": {"ssc"}, "ParameterSet": {"ssv"}, "Parameters": {"ssv"},
            "Parameter": {"ssv"}}


def local(node):
    return node.tag.split("}")[1]


class SspTest(FmuTest):
    def export(self, model, name="out.ssp"):
        """The path of what is written; stderr goes to self.told."""
        path = self.folder / name
        run = execute("export-ssp", model, "-o", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, f"{path}\n")
        self.told = run.stderr
        return path

    @staticmethod
    def structure(path):
        if path.suffix == ".ssd":
            return ElementTree.fromstring(path.read_bytes())
        with zipfile.ZipFile(path) as archive:
            return ElementTree.fromstring(archive.read("SystemStructure.ssd"))

    def check_rules(self, root):
        for node in root.iter():
            name = local(node)
            space = {short for short, uri in SPACES.items() if node.tag.startswith(f"{{{uri}}}")}
            self.assertLessEqual(space, SPACE_OF.get(name, {"ssd"}), name)
            self.assertEqual(len(space), 1, node.tag)
            self.assertLessEqual(REQUIRED.get(name, set()), set(node.attrib), name)
            if name in REQUIRED:
                extra = set(node.attrib) - REQUIRED[name] - ALLOWED.get(name, set())
                self.assertEqual(extra, set(), name)
            children = [local(child) for child in node]
            if name in ORDER:
                places = [ORDER[name].index(child) for child in children]
                self.assertEqual(places, sorted(set(places)), name)
            elif name not in ("Elements", "Connectors", "Connections", "Units", "Parameters"):
                self.assertLessEqual(len(children), 1, name)
            else:
                self.assertGreater(len(children), 0, name)
        names = [c.get("name") for c in root.iter(f"{{{SPACES['ssd']}}}Component")]
        self.assertEqual(len(names), len(set(names)))
        defined = {u.get("name") for u in root.iter(f"{{{SPACES['ssc']}}}Unit")}
        used = {r.get("unit") for r in root.iter(f"{{{SPACES['ssc']}}}Real")} - {None}
        self.assertEqual(used, defined)

    def assert_same_bits(self, first, second, *options):
        one, two = (simulate(model, "-cosim_step", "1e-2", *options) for model in (first, second))
        for table in ("outputs", "inputs", "states"):
            a, b = getattr(one, table), getattr(two, table)
            self.assertEqual((a.names, a.units), (b.names, b.units))
            self.assertTrue(np.array_equal(a.values, b.values), table)
        self.assertTrue(np.array_equal(one.time, two.time))


class RoundTrip(SspTest):
    def masses(self, version=2, **how):
        for part in ("left", "right"):
            self.build(part, version, **how)
        return write_model(self.folder, "masses", MASSES)

    def test_same_bits(self):
        for version, how in in_short(((2, ME), (3, ME), (2, INTERPOLATING), (3, PLAIN)), 3):
            model = self.masses(version, **how)
            for name in ("out.ssp", "out.ssd"):
                path = self.export(model, name)
                self.assertEqual(self.told, "")
                self.check_rules(self.structure(path))
                self.assert_same_bits(model, path)
            self.assert_same_bits(model, self.export(path, "again.ssp"))

    def test_content(self):
        root = self.structure(self.export(self.masses(**ME)))
        self.assertEqual((root.get("version"), root.get("name")), ("1.0", 'two <masses> & "more"'))
        experiment = root.find("ssd:DefaultExperiment", SPACES)
        self.assertEqual(experiment.attrib, {"startTime": "0.5", "stopTime": "1.5"})
        components = {c.get("name"): c for c in root.iter(f"{{{SPACES['ssd']}}}Component")}
        self.assertEqual({name: c.get("source") for name, c in components.items()},
                         {"left": "resources/left.fmu", "right": "resources/right.fmu",
                          "again": "resources/left.fmu"})
        connectors = {c.get("name"): (c.get("kind"), local(c[0]), c[0].get("unit")) for c in
                      components["right"].iter(f"{{{SPACES['ssd']}}}Connector")}
        self.assertEqual(connectors["f"], ("output", "Real", "N"))
        self.assertEqual(connectors["x_left"], ("input", "Real", "m"))
        self.assertEqual(connectors["c"], ("parameter", "Real", None))
        values = {p.get("name"): p[0].get("value") for p in
                  components["left"].iter(f"{{{SPACES['ssv']}}}Parameter")}
        self.assertEqual({k: float(v) for k, v in values.items()},
                         {"m": 6, "d": 10, "x_state": 2, "f": 100})
        units = {u.get("name"): u[0].attrib for u in root.iter(f"{{{SPACES['ssc']}}}Unit")}
        self.assertEqual(units["N"], {"kg": "1", "m": "1", "s": "-2"})
        wires = [tuple(c.attrib.values()) for c in root.iter(f"{{{SPACES['ssd']}}}Connection")]
        self.assertIn(("right", "f", "left", "f"), wires)
        self.assertEqual(len(wires), 3)

    def test_files_of_one_name(self):
        """Different FMUs with one name are renamed, one FMU by two ways is stored once."""
        for part in ("left", "right"):
            (self.folder / part).mkdir()
            self.build(part, **ME).rename(self.folder / part / "Part 1é.fmu")
        shutil.copy(self.folder / "left" / "Part 1é.fmu", self.folder / "PART_1__.fmu")
        (self.folder / "inside").mkdir()
        model = write_model(self.folder / "inside", "masses", MASSES.replace(
            "{fmu: left.fmu,", "{fmu: ../left/Part 1é.fmu,").replace(
                "./right.fmu", "../right/Part 1é.fmu").replace(
                    "left.fmu}", "../PART_1__.fmu}") + "  - left.x -> more.f\n")
        model.write_text(model.read_text().replace("connections:", "  more: {fmu: \"" + str(
            self.folder / "left") + "/../left/Part 1é.fmu\"}\nconnections:").replace(
                "  - left.x -> more.f\n", ""), encoding="utf-8")
        path = self.export(model)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        self.assertEqual(len(names), 4, names)
        self.assertEqual(len({name.lower() for name in names}), 4)
        for name in names[1:]:
            self.assertRegex(name, r"^resources/[A-Za-z0-9_-]+\.fmu$")
        self.assert_same_bits(model, path)
        (self.folder / "elsewhere").mkdir()
        path = self.export(model, "elsewhere/out.ssd")
        sources = [c.get("source") for c in
                   self.structure(path).iter(f"{{{SPACES['ssd']}}}Component")]
        self.assertEqual(sources[0], "../left/Part%201%C3%A9.fmu")
        self.assert_same_bits(model, path)

    def test_types(self):
        typed = variables.Types()
        typed.folder = self.folder
        typed.typed()
        model = typed.model_with("parameters: {b: true, text: 'a < b & c'}, start: {n: 2}")
        path = self.export(model)
        root = self.structure(path)
        self.check_rules(root)
        values = {p.get("name"): (local(p[0]), p[0].get("value")) for p in
                  root.iter(f"{{{SPACES['ssv']}}}Parameter")}
        self.assertEqual(values, {"b": ("Boolean", "true"), "text": ("String", "a < b & c"),
                                  "n": ("Integer", "2")})
        self.assert_same_bits(model, path, "-cosim_type", "jacobi")
        run = execute("export-ssp", typed.model_with("parameters: {a: [1, 2]}"), "-o", path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("'a' is an array", run.stderr)

    def test_equations_become_fmus(self):
        for model, error, most, step in ((TWO_MASS, two_mass_error, 3.6e-6, "1e-3"),
                                         (LOTKA_VOLTERRA, lotka_volterra_error, 4.1e-5, "0.1")):
            path = self.export(model)
            self.assertEqual(self.told.count("has equations: it becomes an FMU"), 2)
            self.check_rules(self.structure(path))
            self.assertLess(error(simulate(path, "-cosim_step", step, *TIGHT)), most)

    def test_events_go_along(self):
        """A sampled controller: its ticks become time events. A hold has no place."""
        model = EXAMPLES / "sampled_control" / "sampled_control.yaml"
        options = ("-cosim_step", "0.01", *TIGHT)
        native, results = (simulate(file, *options) for file in (model, self.export(model)))
        self.assertEqual(native.outputs.names, results.outputs.names)
        self.assertLess(np.abs(native.outputs.values - results.outputs.values).max(), 1e-9)
        held = write_model(self.folder, "held", model.read_text().replace(
            "- plant.y -> controller.y", "- {connect: plant.y -> controller.y, hold: zoh}"))
        self.export(held)
        self.assertIn("the hold of the connection plant.y -> controller.y is left out", self.told)

    def test_renamed_outputs_stay_connected(self):
        model = write_model(self.folder, "names", """experiment: {start: 0, stop: 1}
subsystems:
  one:
    equations: {inputs: {u: 1}, states: {x: 0}, derivatives: {x: u - x}, outputs: {u: 3*u, x: x}}
  two:
    equations: {inputs: {a: }, states: {y: 0}, derivatives: {y: a - y}, outputs: {y: y}}
connections: [one.u -> two.a]
""")
        model.write_text(model.read_text().replace("[one.u -> two.a]", "[one.u -> two.a, two.y -> one.u]"))
        path = self.export(model)
        self.assertIn("output 'u' is called 'u_output'", self.told)
        native, results = (simulate(file, "-cosim_step", "0.1") for file in (model, path))
        self.assertTrue(np.array_equal(native.outputs["two.y"], results.outputs["two.y"]))


if __name__ == "__main__":
    unittest.main()
