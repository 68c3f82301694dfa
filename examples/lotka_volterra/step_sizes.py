"""Macro-steps that follow the solution: runs the example with -cosim_adapt predictor and draws the
populations above the step sizes.

    /usr/bin/python3 examples/lotka_volterra/step_sizes.py build/bin/concord step_sizes.png
"""

import os
import subprocess
import sys
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lotka_volterra.yaml")
TOLERANCES = ("1e-3", "1e-5", "1e-7")

def adaptive_run(program, tolerance, folder):
    """Rows of time, step that ended there, prey, predator."""
    path = os.path.join(folder, f"{tolerance}.h5")
    subprocess.run([program, "run", MODEL, "-cosim_adapt", "predictor", "-cosim_step", "2",
                    "-cosim_adapt_rtol", tolerance, "-cosim_adapt_atol", tolerance,
                    "-cosim_output", path], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(path) as file:
        return [(t, h, *states) for t, h, states in
                zip(file["time"][1:], file["steps/size"][:], file["states/values"][1:])]


def main():
    program, output = sys.argv[1], sys.argv[2]
    figure, (populations, steps) = pyplot.subplots(2, 1, sharex=True, figsize=(11, 7.6), layout="constrained")
    with tempfile.TemporaryDirectory() as folder:
        for tolerance in TOLERANCES:
            rows = adaptive_run(program, tolerance, folder)
            sizes = [row[1] for row in rows]
            print(f"tolerance {tolerance}: {len(rows)} macro-steps from {min(sizes):.2g} to "
                  f"{max(sizes):.2g} s")
            steps.step([row[0] for row in rows], sizes, where="pre", label=f"tolerance {tolerance}")
    for column, name in ((2, "prey"), (3, "predator")):  # of the last run
        populations.plot([row[0] for row in rows], [row[column] for row in rows], label=name)
    figure.suptitle("Lotka-Volterra under -cosim_adapt predictor")
    populations.set(ylabel="population")
    steps.set(ylabel="macro-step [s]", xlabel="time [s]", yscale="log")
    for axes in (populations, steps):
        axes.grid(color="#dddddd")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(output)


if __name__ == "__main__":
    main()
