"""Variables that are no real scalars: arrays, integers, booleans, texts (FMI 3.0)."""
import subprocess
import unittest
import zipfile

import fmu_factory
from concord_runs import execute, simulate
from fmu_runs import FmuTest

DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="typed" instantiationToken="t">
  <CoSimulation modelIdentifier="typed"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <Float64 name="y" valueReference="1" causality="output"><Dimension start="2"/></Float64>
    <Float64 name="a" valueReference="2" causality="parameter" variability="fixed" start="1 2">
      <Dimension start="2"/></Float64>
    <Int32 name="n" valueReference="3" causality="input" start="1"/>
    <Boolean name="b" valueReference="4" causality="parameter" variability="fixed" start="false"/>
    <String name="text" valueReference="5" causality="parameter" variability="fixed">
      <Start value=""/></String>
    <Int32 name="next" valueReference="6" causality="output"/>
    <Boolean name="large" valueReference="7" causality="output"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1"/><Output valueReference="6"/>
    <Output valueReference="7"/></ModelStructure>
</fmiModelDescription>
"""


class Types(FmuTest):
    def typed(self):
        library = self.folder / "typed.so"
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library,
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

    def test_wrong_values(self):
        self.typed()
        for values, says in (("parameters: {a: 1}", "takes 2 values, found 1"),
                             ("start: {n: 1.5}", "'n' must be of type Int32, not '1.5'"),
                             ("parameters: {b: 2}", "'b' must be of type Boolean, not '2'"),
                             ("start: {n: 3000000000}", "Int32")):
            run = execute("check", self.model_with(values))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(says, run.stderr)

    def test_clocks_are_refused(self):
        self.typed()
        path = self.folder / "typed.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION.replace(
                "  </ModelVariables>", '<Clock name="tick" valueReference="8" causality="input" '
                'intervalVariability="triggered"/></ModelVariables>'))
        run = execute("check", self.model_with("start: {n: 1}"))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("the clock 'tick'", run.stderr)


if __name__ == "__main__":
    unittest.main()
