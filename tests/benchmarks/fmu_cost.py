#!/usr/bin/python3
"""Cost per FMU-step of an explicit run without recording, beside the bare loop of set, DoStep, get.

fmu_cost.py PROGRAM: 2, 10 and 100 instances of the cheapest FMU in a chain, 10^6 FMU-steps each.
"""
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="cheapest" guid="c">
  <CoSimulation modelIdentifier="cheapest"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def compiled(folder):
    library, loop = folder / "cheapest.so", folder / "bare_loop"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, HERE / "cheapest_fmu.c"],
                   check=True)
    subprocess.run(["cc", "-O2", "-o", loop, HERE / "bare_loop.c", "-ldl"], check=True)
    with zipfile.ZipFile(folder / "cheapest.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
        archive.write(library, "binaries/linux64/cheapest.so")
    return library, loop


def concord_cost(program, folder, count, steps):
    model = folder / f"chain{count}.yaml"
    model.write_text("experiment: {start: 0, stop: 1}\nsubsystems:\n" + "".join(
        f"  s{k}: {{fmu: cheapest.fmu}}\n" for k in range(count)) + "connections:\n" + "".join(
            f"  - s{k}.y -> s{k + 1}.u\n" for k in range(count - 1)))
    run = subprocess.run([program, "run", model, "-cosim_type", "jacobi", "-cosim_step",
                          str(1 / steps), "-cosim_record", "none", "-cosim_output",
                          folder / f"out{count}.h5"], check=True, capture_output=True, text=True)
    return 1e6 * float(re.search(r"wall time +([\d.]+)", run.stdout)[1]) / (steps * count)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, loop = compiled(folder)
        print("instances  bare loop  concord   (microseconds per FMU-step, best of 3)")
        for count in (2, 10, 100):
            steps = 1_000_000 // count
            bare = min(float(subprocess.run([loop, library, str(count), str(steps)], check=True,
                                            capture_output=True, text=True).stdout)
                       for _ in range(3))
            cost = min(concord_cost(sys.argv[1], folder, count, steps) for _ in range(3))
            print(f"{count:9}  {bare:9.3f}  {cost:7.3f}")


if __name__ == "__main__":
    main()
