#!/usr/bin/python3
"""Cost per FMU-step of an explicit run without recording and without the second run that would
estimate its error, beside the bare loop of set, DoStep, get.

fmu_cost.py PROGRAM: 2, 10 and 100 instances of the cheapest FMU in a chain, 10^6 FMU-steps each; and the
way to isolated instances and back: one of two, on all processors and on one, and ten, for which there may
be too few.
"""
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from patience import processor_seconds  # noqa: E402

HERE = Path(__file__).resolve().parent
HEAD = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="cheapest" guid="c">
  <CoSimulation modelIdentifier="cheapest"/>
  <ModelVariables>
"""
TAIL = """  </ModelVariables>
  <ModelStructure><Outputs>{outputs}</Outputs></ModelStructure>
</fmiModelDescription>
"""
# Pairs of an input and an output; a chain connects the first of them.
KINDS = {"two": ["Real"], "ten": ["Real", "Real", "Integer", "Boolean", "Enumeration"]}


def description(kinds):
    rows, outputs = "", ""
    for i, kind in enumerate(kinds):
        held = ' variability="discrete"' if kind != "Real" else ""
        start = "false" if kind == "Boolean" else "0"
        names = (f"u{i or ''}", f"y{i or ''}")
        for k, (name, causality) in enumerate(zip(names, ("input", "output"))):
            given = f' start="{start}"' if causality == "input" else ""
            rows += (f'    <ScalarVariable name="{name}" valueReference="{2 * i + k}" '
                     f'causality="{causality}"{held}><{kind}{given}/></ScalarVariable>\n')
        outputs += f'<Unknown index="{2 * i + 2}" dependencies=""/>'
    return HEAD + rows + TAIL.format(outputs=outputs)


def compiled(folder):
    library, loop = folder / "cheapest.so", folder / "bare_loop"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, HERE / "cheapest_fmu.c"],
                   check=True)
    subprocess.run(["cc", "-O2", "-o", loop, HERE / "bare_loop.c", "-ldl"], check=True)
    for name, kinds in KINDS.items():
        with zipfile.ZipFile(folder / f"{name}.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", description(kinds))
            archive.write(library, "binaries/linux64/cheapest.so")
    return library, loop


def seconds_of(command):
    """Of processor time."""
    before = processor_seconds()
    subprocess.run(command, check=True, capture_output=True)
    return processor_seconds() - before


def concord_cost(program, folder, name, count, steps):
    """What it takes beyond a run of a hundredth of the steps."""
    model = folder / f"{name}{count}.yaml"
    model.write_text("experiment: {start: 0, stop: 1}\nsubsystems:\n" + "".join(
        f"  s{k}: {{fmu: {name}.fmu}}\n" for k in range(count)) + "connections:\n" + "".join(
            f"  - s{k}.y -> s{k + 1}.u\n" for k in range(count - 1)))
    command = [program, "run", model, "-cosim_type", "jacobi", "-cosim_step", str(1 / steps),
               "-cosim_record", "none", "-cosim_halving", "none",
               "-cosim_output", folder / f"{name}{count}.h5"]
    seconds = seconds_of(command) - seconds_of([*command, "-cosim_stop", "0.01"])
    return 1e6 * seconds / (0.99 * steps * count)


def isolated_cost(program, folder, count, isolated, *launcher):
    """Wall-clock time by which isolation of so many makes their steps longer: a call, there and back."""
    steps = 100_000 // count

    def seconds(names, *options):
        begin = time.perf_counter()
        subprocess.run([*launcher, program, "run", folder / f"two{count}.yaml", "-cosim_type",
                        "jacobi", "-cosim_step", str(1 / steps), "-cosim_record", "none",
                        "-cosim_halving", "none", "-cosim_output", folder / f"isolated{count}.h5", *options,
                        *(f"-subsystem_{name}_isolated" for name in names)], check=True,
                       capture_output=True)
        return time.perf_counter() - begin

    def cost(names):
        return min(seconds(names) - seconds(names, "-cosim_stop", "0.01") for _ in range(5))
    names = [f"s{k}" for k in range(isolated)]
    return 1e6 * (cost(names) - cost([])) / (0.99 * steps * isolated)


def show_isolated_costs(program, folder):
    print("microseconds of wall-clock time per call of an isolated FMU, best of 5\n"
          "isolated  all processors  one processor")
    for count, isolated in ((2, 1), (10, 10)):
        costs = [isolated_cost(program, folder, count, isolated, *launcher)
                 for launcher in ((), ("taskset", "-c", "0"))]
        print(f"{isolated:8}  {costs[0]:14.2f}  {costs[1]:13.2f}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, loop = compiled(folder)
        print("microseconds of processor time per FMU-step, best of 3\n"
              "instances  bare loop  two variables  ten of all types")
        for count in (2, 10, 100):
            steps = 1_000_000 // count
            bare = min(float(subprocess.run([loop, library, str(count), str(steps)], check=True,
                                            capture_output=True, text=True).stdout)
                       for _ in range(3))
            costs = [min(concord_cost(sys.argv[1], folder, name, count, steps) for _ in range(3))
                     for name in KINDS]
            print(f"{count:9}  {bare:9.3f}  {costs[0]:13.3f}  {costs[1]:16.3f}")
        show_isolated_costs(sys.argv[1], folder)


if __name__ == "__main__":
    main()
