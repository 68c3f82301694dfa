"""Variables that are no real scalars: arrays, integers, booleans, enumerations, texts (FMI 3.0)."""
import importlib.util
import subprocess
import unittest
import zipfile

import fmu_factory
import numpy as np
from concord_runs import TIGHT, execute, simulate
from fmu_runs import FmuTest

DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="typed" instantiationToken="t">
  <CoSimulation modelIdentifier="typed"/>
  <TypeDefinitions><EnumerationType name="Level"><Item name="low" value="0"/>
    <Item name="high" value="3"/></EnumerationType></TypeDefinitions>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <Float64 name="y" valueReference="1" causality="output"><Dimension start="2"/></Float64>
    <Float64 name="a" valueReference="2" causality="parameter" variability="fixed" start="1 2">
      <Dimension start="2"/></Float64>
    <Int32 name="n" valueReference="3" causality="input" start="1"/>
    <Boolean name="b" valueReference="4" causality="parameter" variability="fixed" start="false"/>
    <String name="text" valueReference="5" causality="parameter" variability="fixed">
      <Start value=""/></String>
    <Enumeration name="level" declaredType="Level" valueReference="8" causality="parameter"
      variability="fixed" start="0"/>
    <Int32 name="next" valueReference="6" causality="output"/>
    <Boolean name="large" valueReference="7" causality="output"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1"/><Output valueReference="6"/>
    <Output valueReference="7"/></ModelStructure>
</fmiModelDescription>
"""


SSD = """<?xml version="1.0"?>
<ssd:SystemStructureDescription version="2.0" name="typed"
  xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues">
  <ssd:System name="all"><ssd:Elements><ssd:Component name="first" source="typed.fmu">
    <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
      <ssv:ParameterSet version="2.0" name="p"><ssv:Parameters>
        <ssv:Parameter name="level"><ssv:Enumeration name="L" value="{name}"/></ssv:Parameter>
        <ssv:Parameter name="a"><ssv:Real value="7 8"/><ssc:Dimension size="2"/></ssv:Parameter>
      </ssv:Parameters>{definition}</ssv:ParameterSet></ssd:ParameterValues>
    </ssd:ParameterBinding></ssd:ParameterBindings></ssd:Component></ssd:Elements></ssd:System>
  <ssd:DefaultExperiment stopTime="1"/>
</ssd:SystemStructureDescription>
"""

VECTOR = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="vector" instantiationToken="v">
  <ModelExchange modelIdentifier="vector"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed"
      start="2"/>
    <Float64 name="u" valueReference="2" causality="input" start="1 2">
      <Dimension valueReference="1"/></Float64>
    <Float64 name="x" valueReference="3" causality="local"><Dimension valueReference="1"/></Float64>
    <Float64 name="der(x)" valueReference="4" causality="local" derivative="3">
      <Dimension valueReference="1"/></Float64>
    <Float64 name="y" valueReference="5" causality="output"><Dimension valueReference="1"/></Float64>
  </ModelVariables>
  <ModelStructure><Output valueReference="5" dependencies="3"/>
    <ContinuousStateDerivative valueReference="4" dependencies="2 3"/></ModelStructure>
</fmiModelDescription>
"""


class Types(FmuTest):
    def typed(self):
        library = self.folder / "typed.so"
        subprocess.run(["cc", "-O0", "-fPIC", "-shared", "-o", library,
                        fmu_factory.SOURCE / "typed.c"], check=True)
        with zipfile.ZipFile(self.folder / "typed.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION)
            archive.write(library, "binaries/x86_64-linux/typed.so")

    def model_with(self, first):
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                        f"  first: {{fmu: typed.fmu, {first}}}\n  second: {{fmu: typed.fmu}}\n"
                        "connections:\n  - first.next -> second.n\n")
        return path

    def test_values_arrive(self):
        self.typed()
        path = self.model_with("parameters: {a: [10, 20], b: true, text: four}, start: {n: 2}")
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        last = dict(zip(results.outputs.names, results.outputs.values[-1]))
        self.assertEqual(last["first.y[1]"], 10 + 2 + 1 + 4)
        self.assertEqual(last["first.y[2]"], 20 + 2 + 1 + 4)
        self.assertEqual(last["first.next"], 3)
        self.assertEqual(last["second.next"], 4)
        self.assertEqual((last["first.large"], last["second.large"]), (0, 1))

    def test_enumerations(self):
        """By item, by number, and from an SSP parameter set by the item that it defines or not."""
        self.typed()
        for value in ("high", "3"):
            path = self.model_with(f"parameters: {{level: {value}}}")
            results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
            self.assertEqual(results.outputs["first.y[1]"][-1], 300 + 1)
        for name, definition in (("high", ""), ("top", '<ssv:Enumerations><ssc:Enumeration '
                                                'name="L"><ssc:Item name="top" value="3"/>'
                                                "</ssc:Enumeration></ssv:Enumerations>")):
            path = self.folder / "typed.ssd"
            path.write_text(SSD.format(name=name, definition=definition))
            results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
            self.assertEqual(results.outputs["first.y[2]"][-1], 8 + 300 + 1)

    def described(self, change):
        """The FMU with another description."""
        self.typed()
        path = self.folder / "typed.fmu"
        with zipfile.ZipFile(path) as archive:
            library = archive.read("binaries/x86_64-linux/typed.so")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", change(DESCRIPTION))
            archive.writestr("binaries/x86_64-linux/typed.so", library)

    def test_aliases(self):
        """Values and connections may name variables by an alias, elements of arrays too."""
        def change(text):
            for name in ("y", "a", "n", "next"):
                begin = text.index(f'name="{name}"')
                end = text.index(">", begin)
                alias = f'<Alias name="{name}.alias"/>'
                kind = text[text.rindex("<", 0, begin) + 1:begin].strip()
                text = (text[:end - 1] + ">" + alias + f"</{kind}>" + text[end + 1:]
                        if text[end - 1] == "/" else text[:end + 1] + alias + text[end + 1:])
            return text
        self.described(change)
        path = self.model_with("parameters: {a.alias: [10, 20]}, start: {n.alias: 2}")
        path.write_text(path.read_text().replace("first.next -> second.n",
                                                 "first.next.alias -> second.n.alias"))
        results = simulate(path, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        self.assertEqual(results.outputs["first.y[2]"][-1], 20 + 2)
        self.assertEqual(results.outputs["second.next"][-1], 4)

    def test_whole_numbers_keep_their_digits(self):
        """A parameter of 64 bits arrives as it was written; an input, which a double carries, may
        not have more digits than that."""
        def change(text):
            begin, end = text.index("    <Enumeration"), text.index("    <Int32 name=\"next\"")
            return text[:begin] + ('<Int64 name="level" valueReference="8" causality="CAUSALITY" '
                                   'VARIABILITY start="0"/>') + text[end:]
        self.described(lambda text: change(text).replace("CAUSALITY", "parameter").replace(
            "VARIABILITY", 'variability="fixed"'))
        whole = 2**53 + 1
        model = self.model_with(f"parameters: {{level: {whole}}}, start: {{n: 0}}")
        results = simulate(model, "-cosim_type", "jacobi", "-cosim_step", "0.5")
        self.assertEqual(results.outputs["first.y[2]"][-1], 100)
        for value in (2**63, -2**63 - 1, "1.5"):
            run = execute("check", self.model_with(f"parameters: {{level: {value}}}"))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("must be of type Int64", run.stderr)
        self.described(lambda text: change(text).replace("CAUSALITY", "input").replace(
            "VARIABILITY", ""))
        run = execute("check", self.model_with(f"start: {{level: {whole}}}"))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("'level' is an input, which holds 53 bits", run.stderr)

    def test_inputs_that_are_texts(self):
        """They cannot be connected, but start values reach them."""
        self.described(lambda text: text.replace(
            'name="text" valueReference="5" causality="parameter" variability="fixed"',
            'name="text" valueReference="5" causality="input"'))
        results = simulate(self.model_with("start: {text: four, n: 0}"), "-cosim_type", "jacobi",
                           "-cosim_step", "0.5")
        self.assertEqual(results.outputs["first.y[1]"][-1], 4)

    def test_values_that_no_item_has(self):
        self.typed()
        for value in ("1", "-3", "4.0"):
            run = execute("check", self.model_with(f"parameters: {{level: {value}}}"))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(f"'level' has no item with the value '{value}'; known items: low, high",
                          run.stderr)

    def test_wrong_values(self):
        self.typed()
        for values, says in (("parameters: {a: 1}", "takes 2 values, found 1"),
                             ("start: {n: 1.5}", "'n' must be of type Int32, not '1.5'"),
                             ("parameters: {b: 2}", "'b' must be of type Boolean, not '2'"),
                             ("parameters: {level: hihg}", "did you mean 'high'"),
                             ("start: {n: 3000000000}", "Int32")):
            run = execute("check", self.model_with(values))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(says, run.stderr)

    def test_clocks_are_refused(self):
        self.typed()
        path = self.folder / "typed.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION.replace(
                "  </ModelVariables>", '<Clock name="tick" valueReference="9" causality="input" '
                'intervalVariability="triggered"/></ModelVariables>'))
        run = execute("check", self.model_with("start: {n: 1}"))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("the clock 'tick'", run.stderr)


class Structure(FmuTest):
    """Structural parameters are set in configuration mode and give arrays their sizes."""

    def setUp(self):
        super().setUp()
        self.package(VECTOR)

    def package(self, description):
        library = self.folder / "vector.so"
        subprocess.run(["cc", "-O0", "-fPIC", "-shared", "-o", library,
                        fmu_factory.SOURCE / "vector.c"], check=True)
        with zipfile.ZipFile(self.folder / "vector.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", description)
            archive.write(library, "binaries/x86_64-linux/vector.so")

    def model_with(self, text):
        path = self.folder / "model.yaml"
        path.write_text("experiment: {start: 0, stop: 1}\nsubsystems:\n"
                        f"  it: {{fmu: vector.fmu, {text}}}\n")
        return path

    def test_sizes(self):
        for size, u in ((2, ""), (3, ", start: {u: [1, 2, 4]}"), (1, ", start: {u: [3]}")):
            path = self.model_with(f"parameters: {{n: {size}}}" + u)
            for method in ("jfm", "monolithic"):
                results = simulate(path, "-cosim_type", method, *TIGHT)
                self.assertEqual(len(results.outputs.names), size)
                self.assertEqual(len(results.states.names), size)
                exact = (3 if size == 1 else 1) * (1 - np.exp(-results.time))
                self.assertLess(np.abs(results.outputs["it.y[1]"] - exact).max(), 1e-9)

    @unittest.skipUnless(importlib.util.find_spec("concord"), "without the Python package")
    def test_reset(self):
        """To another size and back, which is one more start."""
        import concord
        with concord.Simulation(self.model_with("parameters: {n: 2}"), cosim_step=0.1, cosim_type="jfm") as s:
            s.start()
            for changes, size, u in (({"it.n": 1, "it.u": 3}, 1, 3), ({}, 2, 2)):
                s.reset(changes)
                s.advance(until=1)
                self.assertEqual(len([name for name in s.variables if name.startswith("it.y")]), size)
                self.assertAlmostEqual(s[f"it.y[{size}]"], u * (1 - np.exp(-1)), places=7)

    def test_whole_arrays_are_connected(self):
        """Relaxation of each element towards that of the array before it, through three FMUs."""
        model = self.folder / "model.yaml"
        text = ("experiment: {start: 0, stop: 1}\ntemplates: {it: {fmu: vector.fmu, "
                "parameters: {n: 3}}}\nsubsystems:\n  first: {template: it, start: {u: [1, 2, 4]}}\n"
                "  it: {template: it, repeat: {i: [1, 2]}}\nconnections:\n"
                "  - first.y[:] -> it[1].u[:]\n"
                "  - {connect: 'it[i].y[:] -> it[i+1].u[:]', repeat: {i: [1, 1]}}\n")
        model.write_text(text)
        t = None
        for method, ranks in (("jfm", 1), ("jfm", 3), ("monolithic", 1)):
            results = simulate(model, "-cosim_type", method, "-cosim_step", "1e-2", *TIGHT,
                               ranks=ranks)
            t = results.time
            exact = 1 - np.exp(-t) * (1 + t + t**2 / 2)
            for element, u in enumerate((1, 2, 4), 1):
                found = results.outputs[f"it[2].y[{element}]"]
                self.assertLess(np.abs(found - u * exact).max(), 1e-7)
        model.write_text(text.replace("it[1].u[:]", "it[1].u[1]"))
        self.assertIn("connects the whole array 'first.y[:]' with one variable",
                      execute("check", model).stderr)
        model.write_text(text.replace("{template: it, start: {u: [1, 2, 4]}}", "{fmu: vector.fmu}"))
        run = execute("check", model)
        self.assertEqual(run.returncode, 2)
        self.assertIn("model.yaml:7: 'first.y[:]' has 2 elements, but 'it[1].u[:]' has 3", run.stderr)

    def test_wrong_sizes(self):
        for text, says in (("parameters: {n: 3}, start: {u: [1, 2]}", "takes 3 values, found 2"),
                           ("parameters: {n: -1}", "UInt64"),
                           ("parameters: {n: 10000000}", "more than a million elements")):
            run = execute("check", self.model_with(text))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(says, run.stderr)
        self.package(VECTOR.replace('valueReference="5" dependencies="3"', 'valueReference="5"'))
        run = execute("check", self.model_with("parameters: {n: 10000}"))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("ten million pairs", run.stderr)
        run = execute("run", self.model_with("parameters: {n: 101}"), "-cosim_type", "jacobi")
        self.assertEqual(run.returncode, 1)
        self.assertIn("fmi3SetUInt64", run.stderr)


if __name__ == "__main__":
    unittest.main()
