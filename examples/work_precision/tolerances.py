#!/usr/bin/python3
"""tolerances.py [CONCORD] [--quick] [-o FOLDER]

What an error costs under step control: largest error of any output, in units of its range, against
right-hand sides, for coupled runs (-cosim_accuracy), for all as one ODE (monolithic), and for
scipy's DOP853 and LSODA; on the oscillator of preCICE's tutorials also for a waveform iteration as
preCICE has it. Writes tolerances.dat (numbers), tolerances.md (a table) and tolerances.png.
"""
import argparse
import itertools
import subprocess
import tempfile
from pathlib import Path

import h5py
import matplotlib
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline
from scipy.linalg import expm

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

ROOT = Path(__file__).resolve().parents[2]
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#000000", "#999999", "#d55e00", "#e69f00", "#cc3377")
MARKS = "os^vDPX*"
TITLES = ("Two masses", "Lotka-Volterra", "Oscillator of preCICE's tutorials")
ACCURACIES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
COUPLED = {"jfm": "-cosim_type jfm", "jfm6": "-cosim_type jfm6", "missiles6": "-cosim_type missiles6",
           "no option but -cosim_accuracy": ""}
SPRING, MIDDLE = 4 * np.pi**2, 16 * np.pi**2  # of the oscillator
SUBSYSTEMS = 2  # a right-hand side of both together counts as one of each


class Problem:
    """An example as one ODE, its outputs in the order of the model file, and how they go."""

    def __init__(self, model, stop, start, f, outputs):
        self.model, self.stop, self.start = ROOT / "examples" / model, stop, np.array(start, float)
        self.f, self.outputs = f, outputs

    def exact(self, times):
        """By an integrator of order 8 with steps that leave rounding only."""
        solution = solve_ivp(self.f, (0, self.stop), self.start, "DOP853", times, rtol=1e-13,
                             atol=1e-15, max_step=self.stop / 4000)
        return self.outputs(solution.y).T


class LinearProblem(Problem):
    """x' = A x."""

    def __init__(self, model, stop, start, matrix, outputs):
        super().__init__(model, stop, start, lambda t, x: matrix @ x, lambda x: outputs @ x)
        self.matrix = matrix

    def exact(self, times):
        return np.array([self.outputs(expm(self.matrix * t) @ self.start) for t in times])


TWO_MASSES = np.array([[0, 1, 0, 0], [-20e3 / 5, -20 / 5, 1e4 / 5, 10 / 5],
                       [0, 0, 0, 1], [1e4 / 80, 10 / 80, -1.1e5 / 80, -50 / 80]])
OSCILLATOR = np.array([[0, 1, 0, 0], [-SPRING - MIDDLE, 0, MIDDLE, 0],
                       [0, 0, 0, 1], [MIDDLE, 0, -SPRING - MIDDLE, 0]])
PROBLEMS = {
    "two masses": LinearProblem(
        "two_mass/two_mass.yaml", 2.0, [1, 0, 3, 0], TWO_MASSES,
        np.array([[1, 0, 0, 0], [0, 1, 0, 0], [-1e4, -10, 1e4, 10], [0, 0, 1, 0], [0, 0, 0, 1]])),
    "Lotka-Volterra": Problem(
        "lotka_volterra/lotka_volterra.yaml", 20.0, [1, 1],
        lambda t, x: np.array([x[0] * (2 - 4 * x[1]) / 3, x[1] * (x[0] - 1)]), lambda x: x),
    "oscillator": LinearProblem(
        "work_precision/oscillator.yaml", 5.0, [1, 0, 0, 0], OSCILLATOR,
        np.array([[1, 0, 0, 0], [0, 0, 1, 0]])),
}


def error(problem, times, values):
    exact = problem.exact(times)
    return np.max(np.max(np.abs(values - exact), axis=0) / np.ptp(exact, axis=0))


def run(concord, problem, options):
    """Error, right-hand sides, seconds; None where the run fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.h5"
        done = subprocess.run([concord, "run", problem.model, *map(str, options), "-cosim_output",
                               path], capture_output=True, check=False)
        if done.returncode != 0:
            return None
        with h5py.File(path) as file:
            return (error(problem, file["time"][:], file["outputs/values"][:]),
                    int(np.sum(file["subsystems/rhs_evaluations"][:])),
                    float(np.sum(file["steps/wall_time"][:])))


def by_scipy(problem, method, tolerance):
    solution = solve_ivp(problem.f, (0, problem.stop), problem.start, method, rtol=tolerance,
                         atol=tolerance * np.max(np.abs(problem.start)) / 100)
    return (error(problem, solution.t, problem.outputs(solution.y).T),
            SUBSYSTEMS * solution.nfev, np.nan)


def by_waveforms(window, substeps=4, tolerance=1e-10):
    """The oscillator as preCICE's tutorial couples it: both masses at the same time, four steps of
    Runge's and Kutta's method in a window, cubic B-splines through the positions at these steps,
    again until the positions change by less than the tolerance."""
    windows = round(PROBLEMS["oscillator"].stop / window)
    step = window / substeps
    nodes = np.linspace(0, window, substeps + 1)
    states, trajectory, evaluations = np.array([[1.0, 0], [0, 0]]), [[1.0, 0.0]], 0
    for _ in range(windows):
        paths = np.repeat(states[:, :1], substeps + 1, axis=1)
        for _ in range(100):
            new_paths, ends = np.empty_like(paths), []
            for mass, x in enumerate(states):
                other = make_interp_spline(nodes, paths[1 - mass], k=3)

                def f(t, x, other=other):
                    return np.array([x[1], MIDDLE * other(t) - (SPRING + MIDDLE) * x[0]])

                new_paths[mass, 0] = x[0]
                for i, t in enumerate(nodes[:-1]):
                    k_1 = f(t, x)
                    k_2 = f(t + step / 2, x + step / 2 * k_1)
                    k_3 = f(t + step / 2, x + step / 2 * k_2)
                    x = x + step / 6 * (k_1 + 2 * k_2 + 2 * k_3 + f(t + step, x + step * k_3))
                    new_paths[mass, i + 1] = x[0]
                ends.append(x)
                evaluations += 4 * substeps
            change = np.max(np.abs(new_paths - paths))
            paths = new_paths
            if change < tolerance:
                break
        states = np.array(ends)
        trajectory.append(states[:, 0])
    times = window * np.arange(windows + 1)
    return error(PROBLEMS["oscillator"], times, np.array(trajectory)), evaluations, np.nan


def measure(concord, name, accuracies):
    """{method: [(accuracy or window, error, right-hand sides, seconds), ...]}"""
    problem, table = PROBLEMS[name], {}

    def add(method, knob, point):
        if point is not None:
            table.setdefault(method, []).append((knob, *point))

    for accuracy in accuracies:
        for method, options in COUPLED.items():
            add(method, accuracy, run(concord, problem,
                                      [*options.split(), "-cosim_accuracy", accuracy]))
        add("monolithic", accuracy,
            run(concord, problem, ["-cosim_type", "monolithic", "-cosim_step", problem.stop / 50,
                                   "-subsystem_rtol", accuracy, "-subsystem_atol", accuracy / 100]))
        for method in ("DOP853", "LSODA"):
            add(f"scipy {method}", accuracy, by_scipy(problem, method, accuracy))
    if name == "oscillator":
        for window in (0.1, 0.05, 0.025, 0.0125)[:len(accuracies)]:
            add("waveform iteration", window, by_waveforms(window))
    return table


def work_at(rows, wanted):
    """Right-hand sides at an error, on lines through the logarithms; None outside."""
    points = sorted((np.log(row[1]), np.log(row[2])) for row in rows if row[1] > 0)
    errors, works = zip(*points)
    inside = errors[0] <= np.log(wanted) <= errors[-1]
    return np.exp(np.interp(np.log(wanted), errors, works)) if inside else None


def markdown(tables):
    wanted = (1e-3, 1e-5, 1e-7, 1e-9)
    lines = ["Right-hand sides of all subsystems for a largest error, in units of ranges.", "",
             "| | " + " | ".join(f"{problem}, {e:g}" for problem in tables for e in wanted) + " |",
             "|---" * (1 + len(tables) * len(wanted)) + "|"]
    for method in dict.fromkeys(name for table in tables.values() for name in table):
        cells = []
        for table in tables.values():
            works = [work_at(table[method], e) if method in table else None for e in wanted]
            cells += ["" if work is None else f"{work:.0f}" for work in works]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_numbers(path, tables, methods):
    """A block per problem and method, with two empty lines behind it."""
    with open(path, "w", encoding="utf-8") as file:
        for table in tables.values():
            for method in methods:
                for row in table.get(method, [(np.nan,) * 4]):
                    file.write(" ".join(f"{x:.6g}" for x in row) + "\n")
                file.write("\n\n")


def draw(tables, methods, path):
    """Of each problem a panel: error over right-hand sides."""
    figure, panels = pyplot.subplots(1, len(tables), figsize=(15, 6.2))
    for axes, title, table in zip(panels, TITLES, tables.values()):
        for method, colour, mark in zip(methods, itertools.cycle(COLOURS), itertools.cycle(MARKS)):
            points = np.array(table.get(method, []), dtype=float).reshape(-1, 4)
            axes.plot(points[:, 2], points[:, 1], marker=mark, color=colour, label=method)
        axes.set(title=title, xlabel="right-hand sides of all subsystems", xscale="log", yscale="log", xlim=(300, 1e6),
                 ylim=(1e-11, 2))
        axes.grid(color="#dddddd")
    panels[0].set_ylabel("largest error of any output / its range")
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concord", nargs="?", default=str(ROOT / "build/bin/concord"))
    parser.add_argument("--quick", action="store_true", help="the two largest accuracies only")
    parser.add_argument("-o", "--output", type=Path, default=Path("."), help="folder")
    arguments = parser.parse_args()
    accuracies = ACCURACIES[:2] if arguments.quick else ACCURACIES
    tables = {name: measure(arguments.concord, name, accuracies) for name in PROBLEMS}
    arguments.output.mkdir(parents=True, exist_ok=True)
    methods = list(tables["oscillator"])
    write_numbers(arguments.output / "tolerances.dat", tables, methods)
    text = markdown(tables)
    (arguments.output / "tolerances.md").write_text(text, encoding="utf-8")
    print(text)
    draw(tables, methods, arguments.output / "tolerances.png")
    print(f"picture: {arguments.output / 'tolerances.png'}")


if __name__ == "__main__":
    main()
