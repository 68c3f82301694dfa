#!/usr/bin/python3
"""The built model against its solution: check.py PROGRAM CART_FMU.

Its equations are linear before and after the event at t = 1 s: z' = A z for z = (x1, v1, x2, v2, d,
shown), solved by matrix exponentials. Prints the largest error of each signal, relative to its size,
under several methods; exit code 1 where one is above its bound.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

K, M1, M2, GAUGE = 50.0, 4.0, 3.0, 0.05
START = np.array([1.0, 0.0, 0.4, 0.0, 0.05, 0.4])
METHODS = {
    "jfm": ("-cosim_type jfm -cosim_step 1e-3 -subsystem_cart_fmu_micro_steps 100", 1e-5),
    "jfm, hierarchical": ("-cosim_type jfm -cosim_schedule hierarchical -cosim_step 1e-3 "
                          "-subsystem_cart_fmu_micro_steps 100", 1e-5),
    "jfm, iteration": ("-cosim_type jfm -cosim_adapt iteration -cosim_step 1e-3 "
                       "-subsystem_cart_fmu_micro_steps 100", 1e-5),
}


def matrix(c):
    force = K * np.array([1.0, 0, -1.0, 0, -1.0, 0])
    rows = np.zeros((6, 6))
    rows[0, 1] = rows[2, 3] = 1.0
    rows[1], rows[3], rows[4] = -force / M1, force / M2, force / c
    rows[5, 2], rows[5, 5] = 1.0 / GAUGE, -1.0 / GAUGE
    return rows


def propagated(c, h, z):
    values, vectors = np.linalg.eig(matrix(c))
    return (vectors @ (np.exp(values * h) * np.linalg.solve(vectors, z.astype(complex)))).real


def solution(t):
    middle = propagated(20.0, 1.0, START)
    return np.array([propagated(20.0, s, START) if s <= 1.0 else propagated(5.0, s - 1.0, middle)
                     for s in t])


def errors(program, fmu, options, folder):
    results = folder / "built.h5"
    subprocess.run([program, "-built_fmu", fmu, *options.split(), "-cosim_output", results],
                   check=True, stdout=subprocess.DEVNULL)
    with h5py.File(results, "r") as file:
        names = list(file["outputs/names"].asstr())
        t, values = file["time"][:], file["outputs/values"][:]
    exact = solution(t)
    force = K * (exact[:, 0] - exact[:, 2] - exact[:, 4])
    wanted = {"cart.x": exact[:, 0], "body.x": 1e3 * exact[:, 2], "damper.d": exact[:, 4],
              "gauge.shown": exact[:, 5], "force.value": force}
    return {name: np.max(np.abs(values[:, names.index(name)] - signal)) / np.max(np.abs(signal))
            for name, signal in wanted.items()}


def main():
    program, fmu = sys.argv[1:3]
    wrong = False
    with tempfile.TemporaryDirectory() as name:
        for method, (options, bound) in METHODS.items():
            found = errors(program, fmu, options, Path(name))
            wrong = wrong or not max(found.values()) < bound
            print(f"{method:20}", "  ".join(f"{signal} {error:.1e}"
                                            for signal, error in found.items()))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
