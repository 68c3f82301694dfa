#!/usr/bin/python3
"""work_precision.py [CONCORD] [--quick] [--repeat N] [-o FOLDER]

What accuracy costs: error of the first output against coupling evaluations and against wall time,
for every coupling method that can run, on the two examples with published results. Writes
work_precision.md (tables), work_precision.dat (numbers) and work_precision.png.
"""
import argparse
import itertools
import re
import subprocess
import tempfile
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

ROOT = Path(__file__).resolve().parents[2]

PROBLEMS = {
    "two masses": (ROOT / "examples/two_mass/two_mass.yaml", "left.x",
                   (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)),
    "Lotka-Volterra": (ROOT / "examples/lotka_volterra/lotka_volterra.yaml", "prey.amount",
                       (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)),
}
COLOURS = ("#d55e00", "#e69f00", "#999999", "#0072b2", "#56b4e9", "#b07aa1", "#9c755f", "#009e73", "#cc3377", "#000000",
           "#f0c040", "#882255")
MARKS = "os^vDPX*<>hd"
# Beside the presets of -cosim_type.
VARIANTS = {"missiles, linear defect": "-cosim_type missiles -missiles_defect linear",
            "missiles, no defect": "-cosim_type missiles -missiles_defect none"}
# Only the coupling's error remains.
TOLERANCES = ("-subsystem_rtol 1e-12 -subsystem_atol 1e-14 -cosim_rtol 1e-9 -cosim_atol 1e-9"
              ).split()


def presets(concord, model):
    """Names of the methods that can run the model, without the reference."""
    text = subprocess.run([concord, "check", model], capture_output=True, text=True,
                          check=True).stdout
    return [name for name in re.findall(r"^  (\w+) +can run$", text, re.M) if name != "monolithic"]


def simulate(concord, model, output, options, step):
    """Time grid, values of the output, coupling evaluations, seconds; None where the run fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.h5"
        run = subprocess.run([concord, "run", model, *options, *TOLERANCES, "-cosim_step",
                              str(step), "-cosim_output", path], capture_output=True, check=False)
        if run.returncode != 0:
            return None
        with h5py.File(path, "r") as file:
            names = [name.decode() for name in file["outputs/names"][:]]
            return (file["time"][:], file["outputs/values"][:, names.index(output)],
                    int(np.sum(file["steps/coupling_evaluations"][:])),
                    float(np.sum(file["steps/wall_time"][:])))


def measure(concord, problem, quick, repeat):
    """{method: [(step, error in %, evaluations, seconds), ...]}"""
    model, output, steps = PROBLEMS[problem]
    methods = {name: f"-cosim_type {name}" for name in presets(concord, model)} | VARIANTS
    table = {name: [] for name in methods}
    for step in steps[:2] if quick else steps:
        _, exact, _, _ = simulate(concord, model, output, ["-cosim_type", "monolithic"], step)
        for name, options in methods.items():
            runs = [simulate(concord, model, output, options.split(), step) for _ in range(repeat)]
            if runs[0] is None:
                continue
            _, values, evaluations, _ = runs[0]
            error = 100 * np.linalg.norm(values - exact) / np.linalg.norm(exact)
            if error < 100:
                table[name].append((step, error, evaluations, min(run[3] for run in runs)))
    return table


def markdown(tables):
    lines = ["Error of the first output in % (relative L2 over the communication points) / coupling",
             "evaluations per macro-step / wall time in ms."]
    for problem, table in tables.items():
        steps = sorted({row[0] for rows in table.values() for row in rows}, reverse=True)
        lines += ["", f"{problem}, macro-step in s:", "",
                  "| method | " + " | ".join(f"{step:g}" for step in steps) + " |",
                  "|---" * (len(steps) + 1) + "|"]
        duration = {"two masses": 2.0, "Lotka-Volterra": 20.0}[problem]
        for name, rows in table.items():
            cells = {row[0]: f"{row[1]:.2g} / {row[2] / np.ceil(duration / row[0] - 1e-6):.2f} / "
                             f"{1000 * row[3]:.3g}" for row in rows}
            lines.append(f"| {name} | " + " | ".join(cells.get(step, "") for step in steps) + " |")
    return "\n".join(lines) + "\n"


def write_numbers(path, tables):
    """A block per problem and method, with two empty lines behind it."""
    with open(path, "w", encoding="utf-8") as file:
        for problem, table in tables.items():
            for name, rows in table.items():
                file.write(f'"{problem}: {name}"\n')
                for row in rows:
                    file.write(" ".join(f"{x:.6g}" for x in row) + "\n")
                file.write("\n\n")


def draw(tables, path):
    """Of each problem a row: error over coupling evaluations, and over wall time."""
    names = list(tables["two masses"])
    titles = {"two masses": "Two masses (linear)", "Lotka-Volterra": "Lotka-Volterra (nonlinear)"}
    figure, panels = pyplot.subplots(len(tables), 2, figsize=(15, 11.5))
    for row, (problem, table) in zip(panels, tables.items()):
        for axes, column, label, limits in ((row[0], 2, "coupling evaluations", (70, 2e5)),
                                            (row[1], 3, "wall time in s", (5e-4, 2))):
            for name, colour, mark in zip(names, itertools.cycle(COLOURS), itertools.cycle(MARKS)):
                points = np.array(table.get(name, []), dtype=float).reshape(-1, 4)
                axes.plot(points[:, column], points[:, 1], marker=mark, color=colour, label=name)
            axes.set(title=titles[problem], xlabel=label, ylabel="error in %", xscale="log", yscale="log", xlim=limits,
                     ylim=(1e-10, 200))
            axes.grid(color="#dddddd")
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="lower center", ncol=5, frameon=False)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concord", nargs="?", default=str(ROOT / "build/bin/concord"))
    parser.add_argument("--quick", action="store_true", help="the two largest steps only")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("-o", "--output", type=Path, default=Path("."), help="folder")
    arguments = parser.parse_args()
    tables = {problem: measure(arguments.concord, problem, arguments.quick, arguments.repeat)
              for problem in PROBLEMS}
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = markdown(tables)
    (arguments.output / "work_precision.md").write_text(text, encoding="utf-8")
    write_numbers(arguments.output / "work_precision.dat", tables)
    print(text)
    draw(tables, arguments.output / "work_precision.png")
    print(f"picture: {arguments.output / 'work_precision.png'}")


if __name__ == "__main__":
    main()
