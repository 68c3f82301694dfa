#!/usr/bin/python3
"""tables.py [PROGRAM]: the two masses by the methods of Eguillon et al. 2019, tables 1 and 2.

The paper's parameters and macro-steps are not known; here they are those of two_mass.yaml and 1e-4 to
3e-2 s, with its eps_rel = eps_abs = 1e-3 and m_max = 10. Each cell: mean relative error of the
positions over the communication points, coupling evaluations, micro-steps, wall time.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

FOLDER = Path(__file__).resolve().parent
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(FOLDER.parents[1] / "build" / "bin" / "concord")
STEPS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
ITERATIVE = "-cosim_rtol 1e-3 -cosim_atol 1e-3 -cosim_max_it 10 -cosim_adapt iteration"
METHODS = {
    "explicit": "-cosim_type jacobi",
    "Busch, C0": "-cosim_type extripol -cosim_hold_order 0",
    "Kuebler-Schiehlen": f"-cosim_type kuebler_schiehlen {ITERATIVE}",
    "IFOSMONDI": f"-cosim_type ifosmondi {ITERATIVE}",
}


def simulate(options, folder):
    """Time, positions and steps of a run; None where it failed."""
    path = Path(folder) / "run.h5"
    run = subprocess.run([PROGRAM, "run", FOLDER / "two_mass.yaml", *options.split(),
                          "-cosim_diverged", "warn", "-cosim_output", path], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None
    with h5py.File(path, "r") as file:
        names = [name.decode() for name in file["outputs/names"][:]]
        columns = [names.index("left.x"), names.index("right.x")]
        return {"time": file["time"][:], "x": file["outputs/values"][:][:, columns],
                "evaluations": int(np.sum(file["steps/coupling_evaluations"][:])),
                "micro_steps": int(np.sum(file["subsystems/micro_steps"][:])),
                "wall": float(np.sum(file["steps/wall_time"][:]))}


def cell(run, reference):
    if run is None:
        return "fails"
    spline = np.stack([np.interp(run["time"], reference["time"], reference["x"][:, i])
                       for i in range(2)], axis=1)
    error = 100 * np.mean(np.mean(np.abs(run["x"] - spline), axis=0) /
                          np.mean(np.abs(spline), axis=0))
    if not np.isfinite(error) or error > 1e4:
        return f"unstable  {run['evaluations']:7d} {run['micro_steps']:8d} {run['wall']:7.3f}"
    return f"{error:8.3g}% {run['evaluations']:7d} {run['micro_steps']:8d} {run['wall']:7.3f}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        reference = simulate("-cosim_type monolithic -cosim_step 2e-5 -subsystem_rtol 1e-10", folder)
        if reference is None:
            sys.exit(f"tables.py: {PROGRAM} does not simulate two_mass.yaml; build it first, or give "
                     "the program's path")
        for number, names in ((1, ("explicit", "Busch, C0")),
                              (2, ("Kuebler-Schiehlen", "IFOSMONDI"))):
            print(f"Table {number}: error, coupling evaluations, micro-steps, wall time in s")
            print(f"{'step':>7}  " + "  ".join(f"{name:<35}" for name in names))
            for step in STEPS:
                cells = [cell(simulate(f"{METHODS[name]} -cosim_step {step}", folder), reference)
                         for name in names]
                print(f"{step:7g}  " + "  ".join(f"{text:<35}" for text in cells))


if __name__ == "__main__":
    main()
