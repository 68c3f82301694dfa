"""Values on their way from an SSP file to the FMUs: every feature of bindings, mappings, units,
dictionaries and nested files, each checked by what arrives."""
import subprocess
import unittest
import zipfile

import fmu_factory
import numpy as np
from concord_runs import execute, simulate
from fmu_runs import FmuTest

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="{version}" name="values"
  xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
  xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"
  xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">
"""
UNITS = """<ssd:Units><ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
  <ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
  <ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit></ssd:Units>"""
SET_UNITS = """<ssv:Units><ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
  <ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>
  <ssc:Unit name="degF"><ssc:BaseUnit K="1" factor="0.5555555555555556"
    offset="255.3722222222222"/></ssc:Unit></ssv:Units>"""


GAUGE = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="gauge" guid="g">
  <CoSimulation modelIdentifier="gauge" canHandleVariableCommunicationStepSize="true"/>
  <UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit><Unit name="K"><BaseUnit K="1"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Difference"><Real relativeQuantity="true"/></SimpleType>
    <SimpleType name="Level"><Enumeration><Item name="low" value="1"/><Item name="high" value="3"/>
    </Enumeration></SimpleType></TypeDefinitions>
  <ModelVariables>{variables}</ModelVariables>
  <ModelStructure><Outputs>{unknowns}</Outputs></ModelStructure>
</fmiModelDescription>
"""
# Inputs and parameters, the outputs that show them, and the attributes of both.
SHOWN = (("l", "length", "Real", 'unit="m"'), ("T", "temperature", "Real", 'unit="K"'),
         ("dT", "difference", "Real", 'unit="K" declaredType="Difference"'),
         ("u", "input", "Real", 'unit="m"'), ("n", "count", "Integer", ""),
         ("b", "truth", "Boolean", ""), ("e", "level", "Enumeration", 'declaredType="Level"'))


def build_gauge(folder):
    """It puts out what it was given: a length, a temperature, a difference of temperatures, an
    input, a count, a truth and the level of an enumeration."""
    text = ""
    for i, (name, _, kind, more) in enumerate(SHOWN, 1):
        role = ('causality="input"' if name == "u" else 'causality="parameter" variability="fixed"')
        start = {"Boolean": "false", "Enumeration": "1"}.get(kind, "0")
        text += (f'<ScalarVariable name="{name}" valueReference="{i}" {role}><{kind} {more} '
                 f'start="{start}"/></ScalarVariable>')
    for i, (_, name, kind, more) in enumerate(SHOWN, 11):
        change = "" if kind == "Real" else ' variability="discrete"'
        text += (f'<ScalarVariable name="{name}" valueReference="{i}" causality="output"{change}>'
                 f"<{kind} {more}/></ScalarVariable>")
    count = len(SHOWN)
    unknowns = "".join(f'<Unknown index="{count + i}"/>' for i in range(1, count + 1))
    library = folder / "gauge.so"
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "-o", library,
                    fmu_factory.SOURCE / "gauge.c"], check=True)
    with zipfile.ZipFile(folder / "gauge.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", GAUGE.format(variables=text, unknowns=unknowns))
        archive.write(library, "binaries/linux64/gauge.so")


def parameter(name, value, kind="Real", more=""):
    return f'<ssv:Parameter name="{name}"><ssv:{kind} value="{value}"{more}/></ssv:Parameter>'


def parameter_set(*parameters, units=SET_UNITS):
    return ('<ssv:ParameterSet version="1.0" name="s" xmlns:ssv="http://ssp-standard.org/SSP1/'
            'SystemStructureParameterValues" xmlns:ssc="http://ssp-standard.org/SSP1/'
            'SystemStructureCommon"><ssv:Parameters>' + "".join(parameters)
            + f"</ssv:Parameters>{units}</ssv:ParameterSet>")


def entry(source, target, inside="", more=""):
    return f'<ssm:MappingEntry source="{source}" target="{target}"{more}>{inside}</ssm:MappingEntry>'


def mapping(*entries):
    return ('<ssm:ParameterMapping version="1.0" xmlns:ssm="http://ssp-standard.org/SSP1/'
            'SystemStructureParameterMapping" xmlns:ssc="http://ssp-standard.org/SSP1/'
            'SystemStructureCommon">' + "".join(entries) + "</ssm:ParameterMapping>")


def linear(factor, offset=0):
    return f'<ssc:LinearTransformation factor="{factor}" offset="{offset}"/>'


def binding(values, mapped="", attributes=""):
    return (f"<ssd:ParameterBinding{attributes}><ssd:ParameterValues>{values}</ssd:ParameterValues>"
            + (f"<ssd:ParameterMapping>{mapped}</ssd:ParameterMapping>" if mapped else "")
            + "</ssd:ParameterBinding>")


def bindings(*all_of_them):
    return f"<ssd:ParameterBindings>{''.join(all_of_them)}</ssd:ParameterBindings>"


def component(name, inside="", source="gauge.fmu", more=""):
    return (f'<ssd:Component name="{name}" source="{source}"{more}>{inside}</ssd:Component>')


def connector(name, kind, unit="", element="Real"):
    unit = f' unit="{unit}"' if unit else ""
    return (f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{element}{unit}/></ssd:Connector>')


def connectors(*all_of_them):
    return f"<ssd:Connectors>{''.join(all_of_them)}</ssd:Connectors>"


def connection(start, end, inside="", more=""):
    def place(side, text):
        element, _, name = text.rpartition("/")
        return (f' {side}Element="{element}"' if element else "") + f' {side}Connector="{name}"'
    return f"<ssd:Connection{place('start', start)}{place('end', end)}{more}>{inside}</ssd:Connection>"


def system(name, elements, connections="", before="", dictionaries=""):
    wires = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return (f'<ssd:System name="{name}">{before}<ssd:Elements>{elements}</ssd:Elements>{wires}'
            f"{dictionaries}</ssd:System>")


def description(root, version="1.0"):
    return (HEAD.replace("{version}", version) + root + UNITS
            + '<ssd:DefaultExperiment stopTime="1"/></ssd:SystemStructureDescription>')


class ValuesTest(FmuTest):
    def setUp(self):
        super().setUp()
        build_gauge(self.folder)

    def write(self, text, name="model.ssd"):
        path = self.folder / name
        path.write_text(text)
        return path

    def arrived(self, root, version="1.0"):
        """What all gauges put out in the end."""
        path = self.write(description(root, version))
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        return dict(zip(results.outputs.names, results.outputs.values[-1]))

    def of_one(self, *all_bindings, version="1.0"):
        values = self.arrived(system("all", component("g", bindings(*all_bindings))), version)
        return {name.removeprefix("g."): value for name, value in values.items()}

    def check_one(self, expected, *all_bindings, **how):
        values = self.of_one(*all_bindings, **how)
        for name, value in expected.items():
            self.assertAlmostEqual(values[name], value, 12, name)

    def refused(self, root, *says):
        run = execute("check", self.write(description(root)))
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1)
        for text in says:
            self.assertIn(text, run.stderr)


class Bindings(ValuesTest):
    def test_plain(self):
        self.check_one({"length": 2.5, "count": 7, "truth": 1, "level": 3}, binding(parameter_set(
            parameter("l", 2.5), parameter("n", 7, "Integer"), parameter("b", "true", "Boolean"),
            parameter("e", "high", "Enumeration", ' name="Level"'))))

    def test_units_then_transformation(self):
        """2500 mm are 2.5 m, of which 2 times and 1 more are 6."""
        self.check_one({"length": 6}, binding(
            parameter_set(parameter("x", 2500, more=' unit="mm"')),
            mapping(entry("x", "l", linear(2, 1)))))

    def test_suppressed_conversion(self):
        """The transformation takes the place of the conversion, or nothing does."""
        self.check_one({"length": 2500, "temperature": 25}, binding(
            parameter_set(parameter("x", 2500, more=' unit="mm"'),
                          parameter("y", 20, more=' unit="degC"')),
            mapping(entry("x", "l", more=' suppressUnitConversion="true"'),
                    entry("y", "T", linear(1, 5), ' suppressUnitConversion="true"'))))

    def test_differences_have_no_offset(self):
        """Of a temperature and a difference of temperatures, each 20 degC, and 36 degF."""
        self.check_one({"temperature": 293.15, "difference": 20}, binding(parameter_set(
            parameter("T", 20, more=' unit="degC"'), parameter("dT", 20, more=' unit="degC"'))))
        self.check_one({"difference": 20}, binding(parameter_set(
            parameter("dT", 36, more=' unit="degF"'))))

    def test_prefix_comes_before_the_mapping(self):
        self.check_one({"length": 3}, binding(
            parameter_set(parameter("x", 3)), mapping(entry("a.x", "l")), ' prefix="a."'))
        values = self.arrived(system("all", component("g") + component("h"), before=bindings(
            binding(parameter_set(parameter("l", 4)), attributes=' prefix="g."'),
            binding(parameter_set(parameter("l", 5)), attributes=' prefix="h."'))))
        self.assertEqual((values["g.length"], values["h.length"]), (4, 5))

    def test_maps(self):
        def table(kind, *pairs):
            return (f"<ssc:{kind}MappingTransformation>" + "".join(
                f'<ssc:MapEntry source="{a}" target="{b}"/>' for a, b in pairs)
                + f"</ssc:{kind}MappingTransformation>")
        given = parameter_set(parameter("i", 1, "Integer"), parameter("b", "true", "Boolean"),
                              parameter("e", "little", "Enumeration", ' name="Other"'))
        maps = mapping(entry("i", "n", table("Integer", (0, 10), (1, 11))),
                       entry("b", "b", table("Boolean", ("1", "false"), ("false", "1"))),
                       entry("e", "e", table("Enumeration", ("little", "low"), ("much", "high"))))
        self.check_one({"count": 11, "truth": 0, "level": 1}, binding(given, maps))
        self.refused(system("all", component("g", bindings(binding(
            given, mapping(entry("i", "n", table("Integer", (0, 10)))))))), "'i'", "no entry for '1'")

    def test_last_value_counts_and_outer_ones_are_stronger(self):
        inner = component("g", bindings(binding(parameter_set(parameter("l", 1))),
                                        binding(parameter_set(parameter("l", 2)))))
        self.assertEqual(self.arrived(system("all", inner))["g.length"], 2)
        outer = bindings(binding(parameter_set(parameter("g.l", 3))))
        self.assertEqual(self.arrived(system("all", inner, before=outer))["g.length"], 3)

    def test_sources(self):
        """URIs are percent-encoded; those of base 'component' lie within the FMU, or beside it."""
        (self.folder / "some values").mkdir()
        self.write(parameter_set(parameter("x", 5)), "some values/50%.ssv")
        self.write(mapping(entry("x", "l", linear(2))), "some values/é.ssm")
        self.check_one({"length": 10}, '<ssd:ParameterBinding source="some%20values/50%25.ssv">'
                       '<ssd:ParameterMapping source="some%20values/%C3%A9.ssm"/>'
                       "</ssd:ParameterBinding>")
        with zipfile.ZipFile(self.folder / "gauge.fmu", "a") as archive:
            archive.writestr("resources/own.ssv", parameter_set(parameter("l", 6)))
        self.write(parameter_set(parameter("l", 7)), "beside.ssv")
        for source, value in (("resources/own.ssv", 6), ("beside.ssv", 7)):
            self.check_one({"length": value},
                           f'<ssd:ParameterBinding source="{source}" sourceBase="component"/>')
            self.refused(system("all", component("g"), before=bindings(
                f'<ssd:ParameterBinding source="{source}" sourceBase="component"/>')), "'component'",
                         source)
        self.refused(system("all", component("g", bindings(
            '<ssd:ParameterBinding source="https://example.org/a.ssv"/>'))), "is not a path")

    def test_ssp_2(self):
        self.check_one({"length": 1.25, "count": 3}, binding(parameter_set(
            parameter("l", 1.25, "Float64"), parameter("n", 3, "Int32")).replace(
                'version="1.0"', 'version="2.0"')), version="2.0")

    def test_what_does_not_fit(self):
        def one(*parameters, entries=""):
            return system("all", component("g", bindings(binding(parameter_set(*parameters),
                                                                 entries))))
        self.refused(one(parameter("n", 1), entries=mapping(entry("n", "n", linear(1.5)))),
                     "'n' must be of type Int32, not '1.5'")
        self.refused(one(parameter("b", "true", "Boolean"), entries=mapping(
            entry("b", "b", linear(2)))), "'b'", "cannot be transformed linearly")
        self.refused(one(parameter("l", 1, more=' unit="degC"')), "given in", "'l'")
        self.refused(one(parameter("length", 1)), "'length' cannot be given a value", "output")


class Structures(ValuesTest):
    def test_dotted_names(self):
        """Names of elements may have dots; the longest that fits is meant."""
        inner = system("a.b", component("c.d"))
        values = self.arrived(system("all", component("a") + inner, before=bindings(
            binding(parameter_set(parameter("a.b.c.d.l", 8), parameter("a.l", 9))))))
        self.assertEqual(sorted(v for k, v in values.items() if k.endswith(".length")), [8, 9])
        self.assertEqual(values["a.length"], 9)

    def test_own_connectors_lead_into_nested_systems(self):
        """Through two systems to two components, in the units of the connectors, with a
        transformation on the way; one connector feeds nothing, which check tells."""
        inner = system("inner", component("g"), connection("p", "g/l", linear(3, 1)),
                       connectors(connector("p", "parameter", "mm")))
        middle = system("middle", inner + component("h"),
                        connection("p", "inner/p", linear(10)) + connection("p", "h/l"),
                        connectors(connector("p", "parameter")))
        own = bindings(binding(parameter_set(parameter("p", 2, more=' unit="mm"'),
                                             parameter("rest", 1), parameter("middle.p", 4))))
        root = system("all", middle, connection("p", "middle/p"), connectors(
            connector("p", "parameter", "m"), connector("rest", "parameter")) + own)
        # p: 2 mm = 0.002 m at the root, overridden by middle.p = 4 (m, no unit of its own: that of
        # what follows); inner.p: 4 in mm * 10 = 40 mm; g.l = 3 * 0.04 + 1
        values = self.arrived(root)
        self.assertAlmostEqual(values["middle_inner_g.length"], 3 * 0.04 + 1, 12)
        self.assertAlmostEqual(values["middle_h.length"], 4, 12)
        values = self.arrived(root.replace(parameter("middle.p", 4), ""))
        self.assertAlmostEqual(values["middle_inner_g.length"], 3 * 0.02 + 1, 12)
        self.assertAlmostEqual(values["middle_h.length"], 0.002, 12)
        run = execute("check", self.folder / "model.ssd")
        self.assertIn("the value of 'rest' of system '' leads nowhere", run.stdout)

    def test_connectors_without_connections(self):
        inner = system("inner", component("g"), connection("g/length", "out") + connection(
            "in", "g/u"), connectors(connector("in", "input"), connector("out", "output")))
        values = self.arrived(system("all", inner, before=bindings(
            binding(parameter_set(parameter("inner.in", 2))))))
        self.assertEqual(values["inner_g.input"], 2)

    def test_suppressed_conversion_of_connections(self):
        for more, factor in (("", 1e-3), (' suppressUnitConversion="true"', 1)):
            inner = system("inner", component("g"), connection("in", "g/u", more=more), connectors(
                connector("in", "input", "mm")))
            values = self.arrived(system("all", component("h", bindings(binding(parameter_set(
                parameter("l", 2))))) + inner, connection("h/length", "inner/in")))
            self.assertAlmostEqual(values["inner_g.input"], 2000 * factor, 12)

    def test_arrays(self):
        """Of FMI 3.0: whole arrays are connected element by element, with a transformation of each;
        another number of elements is refused."""
        fmu_factory.build(self.folder, "arrays", 3)
        two = component("a", bindings(binding(parameter_set(*(
            '<ssv:Parameter name="u"><ssv:Float64 value="1 2 4"/>'
            '<ssv:Dimension size="3"/></ssv:Parameter>',)))), "arrays.fmu") + component(
                "b", source="arrays.fmu")
        path = self.write(description(system("all", two, connection("a/y", "b/u", linear(2, 1))),
                                      "2.0"))
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        for i in (1, 2, 3):
            away = results.inputs[f"b.u[{i}]"] - 2 * results.outputs[f"a.y[{i}]"] - 1
            self.assertLess(np.max(np.abs(away)), 1e-12)
        self.refused(system("all", two, connection("a/sum", "b/u")), "a.sum -> b.u", "connects 1 elements to 3")

    def test_maps_of_signals(self):
        """Of Booleans always; of Integers where the entries lie on one line; else refused."""
        def table(kind, *pairs):
            return (f"<ssc:{kind}MappingTransformation>" + "".join(
                f'<ssc:MapEntry source="{a}" target="{b}"/>' for a, b in pairs)
                + f"</ssc:{kind}MappingTransformation>")
        given = component("g", bindings(binding(parameter_set(
            parameter("b", "true", "Boolean"), parameter("n", 2, "Integer")))))
        inverted = table("Boolean", ("true", "false"), ("false", "true"))
        values = self.arrived(system("all", given + component("h"),
                                     connection("g/truth", "h/u", inverted)))
        self.assertEqual(values["h.input"], 0)
        line = table("Integer", (0, 10), (1, 13), (2, 16))
        values = self.arrived(system("all", given + component("h"),
                                     connection("g/count", "h/u", line)))
        self.assertEqual(values["h.input"], 16)
        for kind, pairs, says in (("Integer", ((0, 10), (1, 13), (2, 17)), "don't lie on one line"),
                                  ("Enumeration", (("low", "high"),), "is not supported where")):
            self.refused(system("all", given + component("h"), connection(
                "g/count", "h/u", table(kind, *pairs))), "g.count -> h.u", says)

    def test_signal_dictionaries(self):
        """A signal enters the dictionary of the outer system in one system and leaves it in
        another, in the unit of its entry."""
        entries = ('<ssb:SignalDictionary version="1.0" xmlns:ssb="http://ssp-standard.org/SSP1/'
                   'SystemStructureSignalDictionary" xmlns:ssc="http://ssp-standard.org/SSP1/'
                   'SystemStructureCommon"><ssb:DictionaryEntry name="way"><ssc:Real unit="mm"/>'
                   "</ssb:DictionaryEntry>{}</ssb:SignalDictionary>").format(
                       UNITS.replace("ssd:Units", "ssb:Units"))
        bus = '<ssd:SignalDictionaryReference name="bus" dictionary="signals"/>'
        source = system("from", component("g", bindings(binding(parameter_set(parameter("l", 5)))))
                        + bus, connection("g/length", "bus/way"))
        target = system("to", component("h") + bus,
                        connection("bus/way", "h/u", linear(2), ' suppressUnitConversion="true"'))
        self.write(entries, "bus.ssb")
        for inside, more in ((entries, ""), ("", ' source="bus.ssb"')):
            dictionaries = ("<ssd:SignalDictionaries>"
                            f'<ssd:SignalDictionary name="signals"{more}>{inside}'
                            "</ssd:SignalDictionary></ssd:SignalDictionaries>")
            values = self.arrived(system("all", source + target, dictionaries=dictionaries))
            self.assertAlmostEqual(values["to_h.input"], 2 * 5000, 9)
        self.refused(system("all", source), "'from/bus'", "the signal dictionary 'signals'")

    def test_files_within_files(self):
        """A description and a package as components, each with units and files of its own."""
        (self.folder / "sub").mkdir()
        (self.folder / "gauge.fmu").rename(self.folder / "sub" / "gauge.fmu")
        self.write(parameter_set(parameter("l", 3)), "sub/own.ssv")
        text = description(system("sub", component("g", bindings(
            '<ssd:ParameterBinding source="own.ssv"/>')), connection("in", "g/u") + connection(
                "g/length", "out"), connectors(connector("in", "input", "mm"),
                                               connector("out", "output", "mm"))))
        text = text.replace("0.001", "0.01")  # its mm are cm
        self.write(text, "sub/part.ssd")
        with zipfile.ZipFile(self.folder / "part.ssp", "w") as archive:
            archive.writestr("other.ssd", text)
            for name in ("own.ssv", "gauge.fmu"):
                archive.write(self.folder / "sub" / name, name)
        for source, kind in (("sub/part.ssd", "definition"), ("part.ssp#other.ssd", "package")):
            part = component("part", bindings(binding(parameter_set(parameter("g.l", 4)))), source,
                             f' type="application/x-ssp-{kind}"')
            values = self.arrived(system("all", part + component("last", source="sub/gauge.fmu"),
                                         connection("part/out", "last/u")))
            self.assertAlmostEqual(values["last.input"], 4, 12)
        self.write(description(system("all", component("again", source="model.ssd", more=
                                                       ' type="application/x-ssp-definition"'))))
        run = execute("check", self.folder / "model.ssd")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("within each other", run.stderr)


class OutAndIn(ValuesTest):
    """Exported and read again: the same values at the FMUs, each name once."""

    def exported(self, root):
        first = self.arrived(root)
        path = self.folder / "again.ssp"
        run = execute("export-ssp", self.folder / "model.ssd", "-o", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        again = dict(zip(results.outputs.names, results.outputs.values[-1]))
        self.assertEqual(first, again)
        with zipfile.ZipFile(path) as archive:
            return archive.read("SystemStructure.ssd").decode()

    def test_units_enumerations_and_transformations(self):
        text = self.exported(system("all", component("g", bindings(
            binding(parameter_set(parameter("l", 80000, more=' unit="mm"'),
                                  parameter("dT", 20, more=' unit="degC"'),
                                  parameter("T", 20, more=' unit="degC"'),
                                  parameter("e", "high", "Enumeration", ' name="Level"'),
                                  parameter("n", 1, "Integer"))),
            binding(parameter_set(parameter("x", 3), parameter("n", 4, "Integer")),
                    mapping(entry("x", "u", linear(2, 1)), entry("n", "n")))))))
        self.assertIn('<ssv:Enumeration value="high" name="Level"', text)
        self.assertIn('<ssc:Item name="high" value="3"', text)
        self.assertIn('value="80000" unit="mm"', text)
        self.assertIn('<ssv:Real value="7"', text)
        for name in ("l", "T", "dT", "e", "n", "u"):
            self.assertEqual(text.count(f'<ssv:Parameter name="{name}">'), 1, name)

    def test_nested_systems(self):
        inner = system("inner", component("g"), connection("p", "g/l", linear(3, 1)) + connection(
            "in", "g/u", linear(2)), connectors(connector("p", "parameter", "mm"),
                                                connector("in", "input", "mm")))
        own = bindings(binding(parameter_set(parameter("inner.p", 4, more=' unit="mm"'))))
        self.exported(system("all", component("h", bindings(binding(parameter_set(
            parameter("l", 5))))) + inner, connection("h/length", "inner/in"), own))


if __name__ == "__main__":
    unittest.main()
