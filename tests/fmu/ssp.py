"""Models written as SSP: nested systems, parameter sets, mappings, transformations, size."""
import unittest
import zipfile

import numpy as np
from accuracy import ME, PLAIN, percent
import references
from concord_runs import TIGHT, execute, simulate
from fmu_runs import FmuTest

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="{version}" name="two masses"
  xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
  xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">
"""

# The right mass sits in a system of its own, whose force leaves it times -2 and comes in times -1/2.
TWO_MASSES = HEAD + """
  <ssd:System name="all">
    <ssd:ParameterBindings><ssd:ParameterBinding source="resources/values.ssv"/>
    </ssd:ParameterBindings>
    <ssd:Elements>
      <ssd:Component name="left" source="resources/left.fmu" type="application/x-fmu-sharedlibrary">
        <ssd:Connectors><ssd:Connector name="f" kind="input"><ssc:Real/></ssd:Connector>
        </ssd:Connectors>
        <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
          <ssv:ParameterSet version="1.0" name="p"><ssv:Parameters>
            <ssv:Parameter name="mass"><ssv:Real value="2.5"/></ssv:Parameter>
            <ssv:Parameter name="unused"><ssv:Real value="1"/></ssv:Parameter>
          </ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues>
          <ssd:ParameterMapping><ssm:ParameterMapping version="1.0">
            <ssm:MappingEntry source="mass" target="m"><ssc:LinearTransformation factor="2"/>
            </ssm:MappingEntry></ssm:ParameterMapping></ssd:ParameterMapping>
        </ssd:ParameterBinding></ssd:ParameterBindings>
        <ssd:Annotations><ssc:Annotation type="org.other.tool"><x:y xmlns:x="urn:x"/>
        </ssc:Annotation></ssd:Annotations>
      </ssd:Component>
      <ssd:System name="inner">
        <ssd:Elements>
          <ssd:Component name="right" source="resources/right.fmu" implementation="any"/>
        </ssd:Elements>
        <ssd:Connections>
          <ssd:Connection startElement="right" startConnector="f" endConnector="force">
            <ssc:LinearTransformation factor="-2" offset="6"/></ssd:Connection>
          <ssd:Connection startConnector="x" endElement="right" endConnector="x_left"/>
          <ssd:Connection startConnector="v" endElement="right" endConnector="v_left"/>
        </ssd:Connections>
      </ssd:System>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="inner" startConnector="force" endElement="left"
        endConnector="f"><ssc:LinearTransformation factor="-0.5" offset="3"/></ssd:Connection>
      <ssd:Connection startElement="left" startConnector="x" endElement="inner"
        endConnector="x"/>
      <ssd:Connection startElement="left" startConnector="v" endElement="inner"
        endConnector="v"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment startTime="0" stopTime="{stop}"/>
</ssd:SystemStructureDescription>
"""
VALUES = """<?xml version="1.0"?>
<ssv:ParameterSet version="1.0" name="v"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"><ssv:Parameters>
  <ssv:Parameter name="inner.right.m"><ssv:Real value="80" unit="kg"/></ssv:Parameter>
  <ssv:Parameter name="left.x_state"><ssv:Real value="1"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet>
"""


class Ssp(FmuTest):
    def package(self, structure=TWO_MASSES, values=VALUES, version="1.0", stop=2, **how):
        path = self.folder / "masses.ssp"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("SystemStructure.ssd",
                             structure.replace("{version}", version).replace("{stop}", str(stop)))
            archive.writestr("resources/values.ssv", values)
            for part in ("left", "right"):
                archive.write(self.build(part, **how), f"resources/{part}.fmu")
        return path

    def test_two_masses(self):
        for version in ("1.0", "2.0"):
            results = simulate(self.package(version=version, **ME), "-cosim_step", "1e-3", *TIGHT)
            exact = references.two_mass().exact_states(results.time)[:, 0]
            self.assertLess(percent(results.outputs["left.x"], exact), 3.6e-6)
            self.assertIn("inner_right.f", results.outputs.names)

    def test_description_alone(self):
        package = self.package(**PLAIN)
        with zipfile.ZipFile(package) as archive:
            archive.extractall(self.folder / "apart")
        results = simulate(self.folder / "apart" / "SystemStructure.ssd", "-cosim_stop", "0.1")
        self.assertEqual(results.time[-1], 0.1)

    def refused(self, says, change=lambda text: text, values=VALUES):
        path = self.package(change(TWO_MASSES), values)
        run = execute("check", path)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1)
        for word in ("masses.ssp", *says):
            self.assertIn(word, run.stderr)

    def test_errors(self):
        self.refused(["SSP version '3.0'"], lambda text: text.replace("{version}", "3.0"))
        self.refused(["BooleanMappingTransformation"], lambda text: text.replace(
            "LinearTransformation factor=\"-2\"", "BooleanMappingTransformation factor=\"-2\""))
        self.refused(["fed twice", "left.f"], lambda text: text.replace(
            'endElement="inner"\n        endConnector="v"', 'endElement="left" endConnector="f"'))
        self.refused(["type 'application/x-ssp-package'"], lambda text: text.replace(
            "application/x-fmu-sharedlibrary", "application/x-ssp-package"))
        self.refused(["'mm'"],
                     values=VALUES.replace("right.m\"", "right.mm\""))
        self.refused(["'inner.wrong.m'", "belongs to no component"],
                     values=VALUES.replace("right.m\"", "wrong.m\""))
        self.refused(["given in 's'", "'kg'"], values=VALUES.replace('unit="kg"', 'unit="s"'))
        self.refused(["'bus'", "signal dictionary 'none'"], lambda text: text.replace(
            "    <ssd:Elements>\n      <ssd:Component", "    <ssd:Elements>\n      "
            '<ssd:SignalDictionaryReference name="bus" dictionary="none"/><ssd:Component', 1))

    def error_of(self, structure=TWO_MASSES, values=VALUES):
        results = simulate(self.package(structure, values, **ME), "-cosim_step", "1e-3", *TIGHT)
        exact = references.two_mass().exact_states(results.time)[:, 0]
        return percent(results.outputs["left.x"], exact)

    def test_what_other_tools_take(self):
        """A connection that is written twice; a unit that has its name from the FMU and is defined
        as something else. Both are noted."""
        twice = """      <ssd:Connection startElement="left" startConnector="v" endElement="inner"
        endConnector="v"/>
"""
        odd = TWO_MASSES.replace(twice, 2 * twice)
        odd = odd.replace('"f" kind="input"><ssc:Real/>', '"f" kind="input"><ssc:Real unit="N"/>')
        odd = odd.replace("  <ssd:DefaultExperiment", '<ssd:Units><ssc:Unit name="N"><ssc:BaseUnit '
                          'm="1"/></ssc:Unit></ssd:Units>\n  <ssd:DefaultExperiment')
        self.assertLess(self.error_of(odd), 3.6e-6)
        notes = [line for line in execute("check", self.package(odd, **ME)).stdout.splitlines()
                 if line.startswith("note: ")]
        self.assertEqual(len(notes), 2, notes)
        self.assertIn("left.v -> inner.v: is written twice", notes[0])
        self.assertIn("the unit 'N' of the connector left.f is defined as 'm'", notes[1])
        self.refused(["'s'", "'N'"], lambda text: text.replace(
            '"f" kind="input"><ssc:Real/>', '"f" kind="input"><ssc:Real unit="s"/>'))

    def test_units_of_parameters(self):
        """Values come in any unit that fits, also one that the parameter set defines."""
        grams = VALUES.replace('value="80" unit="kg"', 'value="80000" unit="g"')
        self.assertLess(self.error_of(values=grams), 3.6e-6)
        own = VALUES.replace('value="80" unit="kg"', 'value="0.08" unit="Mg_"').replace(
            "</ssv:Parameters>", '</ssv:Parameters><ssv:Units><ssc:Unit name="Mg_" xmlns:ssc='
            '"http://ssp-standard.org/SSP1/SystemStructureCommon"><ssc:BaseUnit kg="1" '
            'factor="1000"/></ssc:Unit></ssv:Units>')
        self.assertLess(self.error_of(values=own), 3.6e-6)

    def test_units_of_connectors(self):
        """Position and force cross the border of the inner system in other units; one of them is
        defined in the structure. The inner transformation applies to the force in kN."""
        def connector(name, unit):
            return (f'<ssd:Connector name="{name}" kind="input"><ssc:Real unit="{unit}"/>'
                    '</ssd:Connector>')
        inner = '<ssd:System name="inner">\n'
        structure = TWO_MASSES.replace(inner, inner + "<ssd:Connectors>" + connector("x", "mm")
                                       + connector("force", "kiloN") + "</ssd:Connectors>")
        structure = structure.replace('<ssd:System name="all">', '<ssd:System name="all">', 1)
        structure = structure.replace("  <ssd:DefaultExperiment", '<ssd:Units><ssc:Unit '
                                      'name="kiloN"><ssc:BaseUnit kg="1" m="1" s="-2" '
                                      'factor="1000"/></ssc:Unit></ssd:Units>\n'
                                      "  <ssd:DefaultExperiment")
        structure = structure.replace('factor="-0.5" offset="3"', 'factor="-0.5" offset="3000"')
        self.assertLess(self.error_of(structure), 3.6e-6)
        wrong = structure.replace('unit="mm"', 'unit="kg"')
        run = execute("check", self.package(wrong))
        self.assertEqual(run.returncode, 2)
        self.assertIn("the units don't match: 'm' and 'kg'", run.stderr)

    def test_500_instances_1000_connections(self):
        self.build("right")
        count = 500
        elements = "".join(f'<ssd:Component name="c{k}" source="right.fmu"/>\n'
                           for k in range(count))
        wires = "".join(f'<ssd:Connection startElement="c{k}" startConnector="{name}" '
                        f'endElement="c{(k + 1) % count}" endConnector="{name}_left"/>\n'
                        for k in range(count) for name in "xv")
        path = self.folder / "many.ssd"
        path.write_text(HEAD.replace("{version}", "1.0") + '<ssd:System name="all"><ssd:Elements>'
                        + elements + "</ssd:Elements><ssd:Connections>" + wires
                        + '</ssd:Connections></ssd:System><ssd:DefaultExperiment stopTime="1"/>'
                        "</ssd:SystemStructureDescription>")
        run = execute("check", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(run.processor_seconds, 5)
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.01", "-cosim_halving",
                           "none")
        self.assertTrue(np.isfinite(results.outputs.values).all())


if __name__ == "__main__":
    unittest.main()
