#!/usr/bin/python3
"""measure.py CONCORD [--fmpy FOLDER] [--fmus FOLDER] [--repeat N] [--quick]

Prints the tables of doc/comparison.md:
  schemes    what the coupling schemes of other tools give, run by Concord: errors over macro-steps
  work       what an error of 1e-3 costs with each scheme
  fmus       one FMU alone, FMPy beside Concord (needs --fmpy and --fmus)
  ssp        two masses as an SSP, FMPy beside Concord (needs --fmpy)
--fmpy     folder that has FMPy's package in it (src of its repository); an installed one is found without
--fmus     folder with Modelica's Reference FMUs, in folders 2 and 3 by version of FMI
--repeat   runs of which the fastest counts (default 5)
--quick    one table of errors only
Errors are the relative L2 norm over all communication points of the output where it is largest, against
`monolithic` with tolerances of 1e-12 (schemes, work, ssp) or the solution itself (fmus).
"""
import argparse
import contextlib
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
TIGHT = "-subsystem_rtol 1e-12 -cosim_rtol 1e-12 -cosim_atol 1e-12"
REFERENCE = "-cosim_type monolithic -subsystem_rtol 1e-14"
JACOBI = "-cosim_type jacobi -cosim_consistent_outputs false"
GAUSS_SEIDEL = "-cosim_type gauss_seidel -cosim_consistent_outputs false"
ITERATED = "-cosim_type ifosmondi -cosim_hold zoh -cosim_schedule sequential"
WAVEFORM = "-cosim_type kuebler_schiehlen"
SCHEMES = (JACOBI, GAUSS_SEIDEL, ITERATED, WAVEFORM, WAVEFORM + " -snes_type anderson",
           "-cosim_type missiles", "-cosim_type jfm", "-cosim_type jfm6")
MODELS = {"two_mass": (5e-4, 2.5e-4, 1.25e-4), "lotka_volterra": (0.05, 0.025, 0.0125),
          "algebraic_loop": (0.04, 0.02, 0.01)}
STOPS = {"two_mass": 2.0, "lotka_volterra": 20.0, "algebraic_loop": 10.0}
WANTED, SMALLEST = 1e-3, 1e-6  # error; share of the interval that a macro-step has at least


class FailedRun(Exception):
    """A run that did not converge, or diverged: exit code 1."""


class Run:
    """A run of the program: times (n), outputs (n, names), right-hand sides, coupling evaluations, macro-steps,
    seconds of the whole command."""

    def __init__(self, concord, model, options, wanted=None):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.h5"
            begin = time.perf_counter()
            done = subprocess.run([concord, "run", model, *options.split(), "-cosim_output", path],
                                  capture_output=True, text=True, check=False)
            self.seconds = time.perf_counter() - begin
            if done.returncode == 1:
                raise FailedRun(done.stderr.strip())
            assert done.returncode == 0, done.stderr
            with h5py.File(path) as file:
                self.times = file["time"][:]
                self.names = [name.decode() for name in file["outputs/names"]]
                self.outputs = file["outputs/values"][:]
                self.macro_steps = len(file["steps/coupling_evaluations"])
                self.evaluations = int(np.sum(file["steps/coupling_evaluations"][:]))
                self.rhs = int(np.sum(file["subsystems/rhs_evaluations"][:]))
        if wanted is not None:
            columns = [self.names.index(name) for name in wanted]
            self.names, self.outputs = list(wanted), self.outputs[:, columns]


def relative(values, exact):
    """Relative L2 error of the worst column."""
    return max(np.linalg.norm(v - e) / np.linalg.norm(e) for v, e in zip(values.T, exact.T) if np.any(e))


def best(repeat, call):
    """The fastest of some runs."""
    return min((call() for _ in range(repeat)), key=lambda run: run.seconds)


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def number(value):
    return f"{value:.2e}" if math.isfinite(value) else "fails"


class Measurement:
    def __init__(self, concord, repeat, quick):
        self.concord, self.repeat, self.quick = concord, repeat, quick
        self.references = {}

    def model(self, name):
        return EXAMPLES / name / f"{name}.yaml"

    def reference(self, name, step):
        if (name, step) not in self.references:
            self.references[name, step] = Run(self.concord, self.model(name),
                                              f"{REFERENCE} -cosim_step {step!r}")
        return self.references[name, step]

    def scheme(self, name, step, options):
        """Run and error; None and nan where it fails."""
        try:
            run = Run(self.concord, self.model(name), f"{options} -cosim_step {step!r} {TIGHT}")
        except FailedRun:
            return None, math.nan
        return run, relative(run.outputs, self.reference(name, step).outputs)

    def schemes(self):
        for name, steps in MODELS.items():
            if self.quick and name != "algebraic_loop":
                continue
            rows = []
            for options in SCHEMES:
                errors = [self.scheme(name, step, options)[1] for step in steps]
                order = math.log(errors[-2] / errors[-1]) / math.log(steps[-2] / steps[-1])
                rows.append([f"`{options}`", *map(number, errors), f"{order:.2f}" if math.isfinite(order) else ""])
            table(f"schemes: {name}", ["options", *(f"{step:g} s" for step in steps), "order"], rows)

    def cheapest(self, name, options):
        """The run with the largest step, halved from a fiftieth of the interval on, whose error is small enough."""
        share = 1 / 50
        while share > SMALLEST:
            run, error = self.scheme(name, STOPS[name] * share, options)
            if error <= WANTED:
                return run, error
            share /= 2
        return None, math.nan

    def work(self):
        for name in MODELS:
            rows = []
            for options in SCHEMES:
                run, error = self.cheapest(name, options)
                if run is None:
                    rows.append([f"`{options}`", *[""] * 4, "not reached"])
                else:
                    rows.append([f"`{options}`", str(run.macro_steps), str(run.evaluations), str(run.rhs),
                                 f"{run.seconds:.2f}", number(error)])
            table(f"work: {name}, error of {WANTED:g}",
                  ["options", "macro-steps", "coupling evaluations", "right-hand sides", "s", "error"], rows)


class ReferenceFmu:
    """One of Modelica's Reference FMUs: outputs, distance of rows, stop, and solution: (n times) -> (n, outputs)."""

    def __init__(self, name, outputs, interval, stop, solution):
        self.name, self.outputs, self.interval, self.stop, self.solution = name, outputs, interval, stop, solution


def van_der_pol(times):
    """x0'' = (1 - x0^2) x0' - x0 from (2, 0), by Runge's and Kutta's method with 1e5 steps or as many as there are rows."""
    def f(x, v):
        return v, (1 - x * x) * v - x
    x, v, rows = 2.0, 0.0, [(2.0, 0.0)]
    inner = max(1, round(1e5 / (len(times) - 1)))
    h = (times[1] - times[0]) / inner
    for _ in range((len(times) - 1) * inner):
        a, b = f(x, v)
        c, d = f(x + h / 2 * a, v + h / 2 * b)
        e, g = f(x + h / 2 * c, v + h / 2 * d)
        p, q = f(x + h * e, v + h * g)
        x, v = x + h / 6 * (a + 2 * c + 2 * e + p), v + h / 6 * (b + 2 * d + 2 * g + q)
        rows.append((x, v))
    return np.array(rows[::inner])


def bouncing_ball(times, gravity=9.81, restitution=0.7, slowest=0.1):
    """Height: falls from 1 m at rest, loses speed by restitution at each impact, rests below the slowest speed."""
    impact = math.sqrt(2 / gravity)
    speed, begin = gravity * impact, 0.0
    heights = np.where(times <= impact, 1 - gravity / 2 * times**2, 0.0)
    begin = impact
    while speed * restitution >= slowest:
        speed *= restitution
        end = begin + 2 * speed / gravity
        inside = (times > begin) & (times <= end)
        since = times[inside] - begin
        heights[inside] = speed * since - gravity / 2 * since**2
        begin = end
    return heights[:, None]


FMUS = (ReferenceFmu("Dahlquist", ["x"], 0.1, 10.0, lambda times: np.exp(-times)[:, None]),
        ReferenceFmu("VanDerPol", ["x0", "x1"], 0.01, 20.0, van_der_pol),
        ReferenceFmu("BouncingBall", ["h"], 0.01, 3.0, bouncing_ball))


class FmpyRun:
    """simulate_fmu of FMPy; seconds are those of a Python process of its own that does the same."""

    def __init__(self, fmu, folder, arguments):
        fmpy = importlib.import_module("fmpy")
        with contextlib.redirect_stderr(None), contextlib.redirect_stdout(None):
            result = fmpy.simulate_fmu(str(folder / f"{fmu.name}.fmu"), **arguments)
        self.times = result["time"]
        self.outputs = np.column_stack([result[name] for name in fmu.outputs])
        call = f"import fmpy; fmpy.simulate_fmu({str(folder / (fmu.name + '.fmu'))!r}, **{arguments!r})"
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", call], check=True, capture_output=True,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.seconds = time.perf_counter() - begin


def ways(fmu, concord, folder):
    """{what is done: how}, of one FMU: by model exchange, then by co-simulation."""
    rows = {"output_interval": fmu.interval, "stop_time": fmu.stop}
    said = f"--output-interval {fmu.interval} --stop-time {fmu.stop}"
    names = [f"{fmu.name}.{output}" for output in fmu.outputs]

    def by_fmpy(**arguments):
        return lambda: FmpyRun(fmu, folder, {**rows, **arguments})

    def by_concord(options):
        return lambda: Run(concord, folder / f"{fmu.name}.fmu", f"{said} {options}", names)

    cvode, euler = ({"fmi_type": "ModelExchange", "solver": solver} for solver in ("CVode", "Euler"))
    return {"ME, FMPy, CVode 1e-8": by_fmpy(**cvode, relative_tolerance=1e-8),
            "ME, FMPy, Euler": by_fmpy(**euler, step_size=fmu.interval),
            "ME, FMPy, Euler, 100 times the rows": by_fmpy(**euler, step_size=fmu.interval / 100,
                                                           output_interval=fmu.interval / 100),
            "ME, Concord": by_concord("--interface-type me"),
            "CS, FMPy": by_fmpy(fmi_type="CoSimulation"),
            "CS, Concord": by_concord("--interface-type cs")}


def apart(run, other):
    """Largest difference at the times that both have."""
    mine, others = (np.round(each.times, 9) for each in (run, other))
    times, at, others_at = np.intersect1d(mine, others, return_indices=True)
    return f"{np.max(np.abs(run.outputs[at] - other.outputs[others_at])):.1e} at {len(times)} times"


def fmus(concord, folder, repeat):
    for version in ("2", "3"):
        rows = []
        for fmu in FMUS:
            found = {}
            for name, way in ways(fmu, concord, folder / version).items():
                try:
                    found[name] = run = best(repeat, way)
                except OSError:
                    rows.append([fmu.name, name, "no SUNDIALS", "", ""])
                    continue
                error = relative(run.outputs, fmu.solution(run.times))
                same = apart(run, found["CS, FMPy"]) if name == "CS, Concord" else ""
                rows.append([fmu.name, name, number(error), f"{run.seconds:.2f}", same])
        table(f"fmus: FMI {version}", ["FMU", "", "error", "s, whole command", "from FMPy's values"], rows)


def fmpy_ssp(ssp, step, stop, exact):
    """Error and seconds of FMPy's simulation of an SSP, whose rows have the time before the step."""
    simulate = importlib.import_module("fmpy.ssp.simulation").simulate_ssp
    begin = time.perf_counter()
    with contextlib.redirect_stderr(None), contextlib.redirect_stdout(None):
        result = simulate(str(ssp), stop_time=stop, step_size=step)
    seconds = time.perf_counter() - begin
    count = len(exact.times) - 1
    values = np.column_stack([result[name] for name in exact.names])[:count]
    return relative(values, exact.outputs[1:]), seconds


def ssp(measurement):
    concord, stop, rows = measurement.concord, STOPS["two_mass"], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two_mass.ssp"
        subprocess.run([concord, "export-ssp", measurement.model("two_mass"), "-o", path], check=True,
                       capture_output=True)
        for step in (1e-3, 1e-4, 1e-5):
            exact = measurement.reference("two_mass", step)
            error, seconds = fmpy_ssp(path, step, stop, exact)
            rows.append(["FMPy", f"{step:g}", str(2 * round(stop / step)), number(error), f"{seconds:.2f}"])
        for options, steps in ((JACOBI, (1e-3, 1e-4, 1e-5)), ("-cosim_type jfm", (1e-2, 1e-3, 1e-4))):
            for step in steps:
                exact = measurement.reference("two_mass", step)
                run = Run(concord, path, f"{options} -cosim_step {step!r} -subsystem_fmu_interface cs "
                                         "-cosim_diverged warn", exact.names)
                rows.append([f"`{options}`", f"{step:g}", str(2 * run.evaluations),
                             number(relative(run.outputs, exact.outputs)), f"{run.seconds:.2f}"])
    table("ssp: two masses, FMUs for co-simulation", ["", "step, s", "integrations of an FMU", "error", "s"], rows)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("concord", type=Path)
    words.add_argument("--fmpy", type=Path)
    words.add_argument("--fmus", type=Path)
    words.add_argument("--repeat", type=int, default=5)
    words.add_argument("--quick", action="store_true")
    said = words.parse_args()
    if said.fmpy:
        sys.path.insert(0, str(said.fmpy.resolve()))
    measurement = Measurement(said.concord.resolve(), said.repeat, said.quick)
    measurement.schemes()
    if said.quick:
        return
    measurement.work()
    if importlib.util.find_spec("fmpy") is None:
        print("\nno FMPy: neither single FMUs nor the SSP are compared")
        return
    if said.fmus:
        fmus(measurement.concord, said.fmus.resolve(), said.repeat)
    ssp(measurement)


if __name__ == "__main__":
    main()
