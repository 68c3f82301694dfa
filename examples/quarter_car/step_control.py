#!/usr/bin/python3
"""step_control.py [PROGRAM] [PICTURE] [COUPLING]: macro-steps chosen by Richardson's estimates (Arnold 2012,
"Communication step size control: Quarter car") and by the estimators' prediction against fixed ones,
on the quarter car.

For both couplings, or the one, and orders 0 to 2: error and number of macro-steps at tolerances from 1e-2 down, and
of fixed macro-steps; the error is the largest of any state over the run, relative to the state's
largest value, against the matrix exponential.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

FOLDER = Path(__file__).resolve().parent
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(FOLDER.parents[1] / "build/bin/concord")
PICTURE = sys.argv[2] if len(sys.argv) > 2 else "step_control.png"
COUPLINGS = tuple(sys.argv[3:]) or ("displacement", "force")
ORDERS = (0, 1, 2)
TOLERANCES = {0: (1e-2, 1e-3, 1e-4), 1: (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
              2: (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
FIXED = {0: (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4), 1: (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4),
         2: (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)}
STATES = ("chassis.x", "chassis.v", "wheel.x", "wheel.v")
SHOWN = 1e-4  # tolerance whose macro-steps are drawn over time

# x' = A (x - rest); at rest both stand 0.1 m higher.
A = np.array([[0, 1, 0, 0], [-15000 / 400, -1000 / 400, 15000 / 400, 1000 / 400],
              [0, 0, 0, 1], [15000 / 40, 1000 / 40, -165000 / 40, -1000 / 40]])
REST = np.array([0.1, 0, 0.1, 0])

def exactly(times):
    values, vectors = np.linalg.eig(A)
    weights = np.linalg.solve(vectors, -REST.astype(complex))
    return REST + np.real(vectors @ (weights[:, None] * np.exp(np.outer(values, times)))).T


def simulate(coupling, order, *options):
    """Macro-steps, coupling evaluations, error, times and step sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        subprocess.run([PROGRAM, "run", FOLDER / f"quarter_car_{coupling}.yaml", "-cosim_type",
                        "jacobi", "-cosim_hold_order", str(order), "-subsystem_rtol", "1e-10",
                        "-subsystem_atol", "1e-12", *map(str, options), "-cosim_output", path],
                       check=True, stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            names = [name.decode() for name in file["states/names"][:]]
            states = file["states/values"][:][:, [names.index(name) for name in STATES]]
            times, sizes = file["time"][:], file["steps/size"][:]
            evaluations = int(np.sum(file["steps/coupling_evaluations"][:]))
    exact = exactly(times)
    error = np.max(np.abs(states - exact) / np.max(np.abs(exact), axis=0))
    return {"steps": len(sizes), "evaluations": evaluations, "error": error, "times": times[1:],
            "sizes": sizes}


def controlled(coupling, order, control, tolerance):
    return simulate(coupling, order, "-cosim_step", 0.02, "-cosim_adapt", control,
                    "-cosim_adapt_rtol", tolerance, "-cosim_adapt_atol", 1e-2 * tolerance)


def runs_of(coupling, order):
    """{curve: [(label, run), ...]}"""
    runs = {"fixed": [(f"h = {h:g} s", simulate(coupling, order, "-cosim_step", h))
                      for h in FIXED[order]]}
    for control in ("richardson", "richardson_modified", "predictor"):
        runs[control] = [(f"tolerance {tolerance:g}", controlled(coupling, order, control, tolerance))
                         for tolerance in TOLERANCES[order]]
    return runs


def print_table(coupling, order, runs):
    print(f"\n{coupling} coupling, order {order}\n{'':40} macro-steps  evaluations  error")
    for curve, pairs in runs.items():
        for label, run in pairs:
            print(f"{curve:21}{label:19} {run['steps']:11d}  {run['evaluations']:11d}  "
                  f"{run['error']:.1e}")


def draw(results):
    styles = {"fixed": ("--", "o", "none"), "richardson": ("-", "s", "none"), "richardson_modified": ("-", "o", "full"),
              "predictor": ("-.", "^", "full")}
    colours = {0: "#1f77b4", 1: "#2ca02c", 2: "#d62728"}
    pyplot.rcParams["axes.titlesize"] = 10
    figure, panels = pyplot.subplots(len(COUPLINGS), 3, figsize=(15, 5 * len(COUPLINGS)), layout="constrained",
                                     squeeze=False)
    figure.suptitle("Quarter car: fixed macro-steps and macro-steps under control")
    for coupling, row in zip(COUPLINGS, panels):
        for axes, (counted, label) in zip(row, (("steps", "macro-steps"), ("evaluations", "coupling evaluations"))):
            for order in ORDERS:
                for curve, pairs in results[coupling, order].items():
                    line, mark, fill = styles[curve]
                    axes.plot([run[counted] for _, run in pairs], [run["error"] for _, run in pairs], line, marker=mark,
                              markerfacecolor=colours[order] if fill == "full" else "none", color=colours[order],
                              label=f"order {order}, {curve.replace('_', ' ')}")
            axes.set(title=f"{coupling} coupling: error over {label}", xlabel=label, ylabel="largest error, relative",
                     xscale="log", yscale="log", ylim=(1e-10, 1))
            axes.set_xlim(left=30)
            axes.legend(loc="lower left", fontsize=7)
        for order in ORDERS:
            run = dict(results[coupling, order]["richardson_modified"])[f"tolerance {SHOWN:g}"]
            row[2].step(run["times"], run["sizes"], where="pre", color=colours[order],
                        label=f"order {order}, {run['steps']} steps")
        row[2].set(title=f"{coupling} coupling, tolerance {SHOWN:g}: macro-steps over time", xlabel="time [s]",
                   ylabel="macro-step [s]", yscale="log", xlim=(0, 2), ylim=(1e-6, 0.1))
        row[2].legend(loc="lower right")
        for axes in row:
            axes.grid(color="#dddddd")
    figure.savefig(PICTURE)


def main():
    results = {}
    for coupling in COUPLINGS:
        for order in ORDERS:
            results[coupling, order] = runs_of(coupling, order)
            print_table(coupling, order, results[coupling, order])
    draw(results)


if __name__ == "__main__":
    main()
