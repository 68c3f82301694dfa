#!/usr/bin/python3
"""Whole models as FMUs in importers of others, by hand: do they end with the bits of `concord run`?

CONCORD_PROGRAM=... importers.py [--fmpy FOLDER] [--fmusim PROGRAM] [--runner NAME=PROGRAM]...

FOLDER holds FMPy's package; fmusim is to write doubles with 17 digits. A runner, such as a few lines upon libcosim or
ecos, is called as `PROGRAM FMU START STOP STEP FILE`, where FILE lists variables, and prints lines `time,value,...`, values
as hexadecimal doubles, one for each step."""
import argparse
import csv
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import h5py
import numpy as np

from concord_runs import EXAMPLES, execute

MODELS = ((EXAMPLES / "two_mass" / "two_mass.yaml", 1 / 64, "-cosim_step", "0.015625"),
          (EXAMPLES / "two_mass" / "two_mass.yaml", None), (EXAMPLES / "thermostat" / "thermostat.yaml", None),
          (EXAMPLES / "house" / "heated_house.yaml", None, "-cosim_type", "radau", "-cosim_step", "600"),
          (EXAMPLES / "constraint_pair" / "constraint_pair.yaml", None), (EXAMPLES / "rod" / "rod.yaml", None),
          (EXAMPLES / "hybrid_vehicle" / "hybrid_vehicle.yaml", None))


def ours(model, folder, options):
    """Times, names of outputs, their values in rows."""
    path = folder / "run.h5"
    run = execute("run", model, *options, "-cosim_output", path)
    if run.returncode != 0:
        sys.exit(run.stderr)
    with h5py.File(path) as file:
        names = [name.decode() for name in file["outputs/names"][:]]
        rows = file["time"][:], names, file["outputs/values"][:]
    path.unlink()
    return rows


class Fmpy:
    def __init__(self, folder):
        sys.path.insert(0, folder)
        warnings.simplefilter("ignore")
        import fmpy  # pylint: disable=import-outside-toplevel,import-error
        import fmpy.fmi2  # pylint: disable=import-outside-toplevel,import-error
        import fmpy.fmi3  # pylint: disable=import-outside-toplevel,import-error
        import fmpy.validation  # pylint: disable=import-outside-toplevel,import-error
        self.fmpy, self.told = fmpy, ""

    def __call__(self, fmu, start, stop, step, names):
        description = self.fmpy.read_model_description(str(fmu))
        reference = {v.name: v.valueReference for v in description.modelVariables}
        second = description.fmiVersion.startswith("2")
        kind = self.fmpy.fmi2.FMU2Slave if second else self.fmpy.fmi3.FMU3Slave
        slave = kind(guid=description.guid, unzipDirectory=self.fmpy.extract(str(fmu)),
                     modelIdentifier=description.coSimulation.modelIdentifier, instanceName="it")
        slave.instantiate()
        if second:
            slave.setupExperiment(startTime=start, stopTime=stop)
            slave.enterInitializationMode()
        else:
            slave.enterInitializationMode(startTime=start, stopTime=stop)
        slave.exitInitializationMode()
        rows, cost = [], []
        for k in range(round((stop - start) / step)):
            begin = time.perf_counter()
            slave.doStep(currentCommunicationPoint=start + k * step, communicationStepSize=step)
            cost.append(time.perf_counter() - begin)
            rows.append(list((slave.getReal if second else slave.getFloat64)([reference[name] for name in names])))
        slave.terminate()
        slave.freeInstance()
        problems = self.fmpy.validation.validate_fmu(str(fmu))
        self.told = f"{1e6 * np.median(cost):.1f} us a step, {len(problems)} problems found"
        return rows


class Fmusim:
    told = ""

    def __init__(self, program):
        self.program = program

    def __call__(self, fmu, start, stop, step, names):
        table = fmu.with_suffix(".csv")
        subprocess.run([self.program, "--start-time", repr(start), "--stop-time", repr(stop), "--output-interval", repr(step),
                        "--output-file", table, fmu], check=True, capture_output=True)
        header, _, *rows = csv.reader(table.read_text().splitlines())
        return [[float(row[header.index(name)]) for name in names] for row in rows]


class Runner(Fmusim):
    def __call__(self, fmu, start, stop, step, names):
        listed = fmu.with_suffix(".names")
        listed.write_text("\n".join(names) + "\n")
        run = subprocess.run([self.program, fmu, repr(start), repr(stop), repr(step), listed], check=True, capture_output=True, text=True)
        rows = [line.split(",") for line in run.stdout.splitlines() if ",0x" in line or ",-0x" in line]
        return [[float.fromhex(value) for value in row[1:]] for row in rows]


def compare(model, step, options, importers, folder):
    times, names, values = ours(model, folder, options)
    start, stop = float(times[0]), float(times[-1])
    for version in (2, 3):
        fmu = folder / f"{model.stem}{version}.fmu"
        run = execute("export-fmu", model, "--fmi", version, *options, "-o", fmu)
        if run.returncode != 0:
            sys.exit(run.stderr)
        here = [name for name in names if not name.startswith("sum_")]
        places = [names.index(name) for name in here]
        expected = values[1:, places] if step else values[-1:, places]
        for what, importer in importers.items():
            try:
                rows = importer(fmu, start, stop, step or stop - start, here)
                same = sum(np.array_equal(a, b) for a, b in zip(rows, expected))
                says = f"{same} of {len(expected)} rows have the same bits {importer.told}"
            except Exception as error:  # pylint: disable=broad-exception-caught
                says = f"{type(error).__name__}: {error} {getattr(error, 'stderr', '')}"[-300:]
            print(f"{model.stem}, FMI {version}, {len(here)} outputs, {what}: {says}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fmpy", help="the folder that holds the package fmpy")
    parser.add_argument("--fmusim")
    parser.add_argument("--runner", action="append", default=[], metavar="NAME=PROGRAM")
    given = parser.parse_args()
    importers = {"FMPy": Fmpy(given.fmpy)} if given.fmpy else {}
    if given.fmusim:
        importers["fmusim"] = Fmusim(given.fmusim)
    importers.update((name, Runner(program)) for name, program in (text.split("=") for text in given.runner))
    with tempfile.TemporaryDirectory() as folder:
        import features  # pylint: disable=import-outside-toplevel
        whole = features.write_features(Path(folder))
        for model, step, *options in (*MODELS, (whole, None, "-cosim_accuracy", "1e-7")):
            compare(model, step, options, importers, Path(folder))


if __name__ == "__main__":
    main()
