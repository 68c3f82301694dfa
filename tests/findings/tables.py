"""The figures of doc/numerics.md, as Markdown tables.

    CONCORD_PROGRAM=build/bin/concord PYTHONPATH=tests/support:tests/networks \\
        /usr/bin/python3 tests/findings/tables.py [TABLE...] [--before OTHER/concord]

Tables: two_masses, layer, orders, constraints, curved, control, speed. `speed` compares the CPU times
of two programs, --before and $CONCORD_PROGRAM, run in turn; all others need one program only.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from collocation import Collocation
from comparison import METHODS
from concord_runs import ALGEBRAIC_LOOP, LOTKA_VOLTERRA, TWO_MASS
from constraints import direct, pair
from control_models import MODELS, elapsed, solutions, with_idle
from equation_models import Constraint, Model, Subsystem
from kinds import errors, run, shifted
from layers import layer
from patience import processor_seconds
from predictions import curved
from references import LotkaVolterra, algebraic_loop, error_percent, two_mass
from units import TwoMasses

TIGHT = "-cosim_rtol 1e-12 -cosim_atol 1e-12 -subsystem_rtol 1e-12 -subsystem_atol 1e-14"


def table(title, head, rows):
    print(f"\n### {title}\n\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def figure(value):
    return f"{value:.2e}" if np.isfinite(value) else "refused"


def outcome(done, measured):
    """The figure of a run, or how it was refused."""
    return figure(measured(done)) if done.completed else f"exit code {done.code}"


# ---- units ----

def two_masses():
    rows = []
    for name, options in METHODS.items():
        usual = run(TwoMasses.scaled(1.0), options, "-cosim_step 1e-3")
        cells = [name]
        for size in (1e-9, 1e-12):
            def deviation(done, size=size):
                expected = usual.results.outputs.columns(*TwoMasses.NAMES)
                values = done.results.outputs.columns(*TwoMasses.NAMES) / size
                return np.max(np.abs(values - expected) / np.abs(expected).max(axis=0))
            cells.append(outcome(run(TwoMasses.scaled(size), options, "-cosim_step 1e-3"),
                                 deviation))
        rows.append(cells)
    table("Two masses in other units: largest deviation from the run in metres, h = 1e-3",
          ("method", "1e-9 m", "1e-12 m"), rows)


# ---- layers ----

def layers():
    rows = []
    for method in ("jfm", "missiles", "ifosmondi"):
        cells = [method]
        for rate, step in ((1e4, 0.025), (1e4, 0.0125), (1e5, 0.025), (1e3, 0.025)):
            done = run(layer(rate), f"-cosim_type {method} -cosim_step {step}")
            cells.append(outcome(done, lambda d, r=rate: 100 * errors(layer(r), d.results,
                                                                      fastest=r).max()))
        rows.append(cells)
    table("A layer at the start: error of the worse signal in %",
          ("method", "1e4 1/s, h = 0.025", "1e4, 0.0125", "1e5, 0.025", "1e3, 0.025"), rows)


# ---- orders ----

def observed(steps, found):
    return ", ".join(f"{o:.2f}" for o in np.diff(np.log(found)) / np.diff(np.log(steps)))


def measured_orders(text, options, steps, error):
    found = []
    for step in steps:
        done = run(text, options, TIGHT, f"-cosim_step {step}")
        if not done.completed:
            return f"exit code {done.code}", ""
        found.append(error(done.results))
    return ", ".join(f"{value:.2e}" for value in found), observed(steps, found)


def first_state(problem, name):
    return lambda results: error_percent(results.states[name],
                                         problem.exact_states(results.time)[:, 0]) / 100


def orders():
    smooth = (("two masses", TWO_MASS, (1e-2, 5e-3, 2e-3), first_state(two_mass(), "left.x")),
              ("Lotka-Volterra", LOTKA_VOLTERRA, (0.1, 0.05, 0.025),
               first_state(LotkaVolterra, "prey.amount")),
              ("algebraic loop", ALGEBRAIC_LOOP, (0.1, 0.05, 0.025),
               first_state(algebraic_loop(), "body.x")))
    rows = []
    for name, path, steps, error in smooth:
        for method in ("jfm", "missiles", "ifosmondi"):
            if (name, method) == ("algebraic loop", "ifosmondi"):
                continue
            rows.append((name, method, *measured_orders(path.read_text(encoding="utf-8"),
                                                        f"-cosim_type {method}", steps, error)))
    curve = lambda results: errors(curved(), results).max()  # noqa: E731
    for options in ("jfm", "missiles", "missiles -missiles_defect linear",
                    "missiles -missiles_defect none", "missiles -subsystem_state_derivatives false",
                    "missiles -subsystem_state_derivatives false -missiles_defect linear"):
        rows.append(("curved outputs", options, *measured_orders(
            curved(), f"-cosim_type {options}", (0.04, 0.02, 0.01), curve)))
    rows.append(("Lotka-Volterra", "missiles -subsystem_state_derivatives false", *measured_orders(
        LOTKA_VOLTERRA.read_text(encoding="utf-8"),
        "-cosim_type missiles -subsystem_state_derivatives false", (0.1, 0.05, 0.025),
        first_state(LotkaVolterra, "prey.amount"))))
    table("Orders on smooth models", ("model", "method", "errors", "orders"), rows)


def velocity():
    """Index 2, nonlinear: rates cos t + l and -x^2 - l keep two positions equal."""
    return Model(
        [Subsystem("left", {"x": 0.3}, {"x": "cos(3*t) - f"}, {"x": "x"}, {"f": 0.0}),
         Subsystem("right", {"x": 0.3}, {"x": "-x - x^2 + f"}, {"x": "x"}, {"f": 0.0})],
        constraints=[Constraint("force", "left.x - right.x", {"left.f": 1.0, "right.f": 1.0})],
        stop=2.0)


def position():
    """Index 3, nonlinear: two pendulums whose angles are the same."""
    model = pair(1.0)
    model.subsystems[0].derivatives["v"] = "-4*sin(x) + l"
    model.subsystems[1].derivatives["v"] = "-9*sin(x) - 0.3*v*v*v + l"
    return model


def constraint_models():
    linear, curve = direct(0.0, 1.0, "0"), direct(0.0)
    return (("index 1, linear", linear, "left.y", "u"), ("index 1, nonlinear", curve, "left.y", "u"),
            ("index 2", velocity(), "left.x", "force"), ("index 3", position(), "a.p", "force"))


def constraints():
    rows, steps = [], (0.05, 0.025, 0.0125)
    for name, model, state, unknown in constraint_models():
        for options in ("jfm", "missiles", "missiles -missiles_defect linear"):
            found = []
            for step in steps:
                done = run(model, f"-cosim_type {options} -cosim_step {step}", TIGHT)
                if not done.completed:
                    break
                _, outputs, unknowns = Collocation(model).solve(done.results.time)
                exact = outputs[:, model.output_names().index(state)], unknowns[:, -1]
                kept = slice(2, None)  # an unknown of index 3 is only as sure as its first rows
                values = done.results.outputs[state], done.results.outputs[f"{unknown}.value"]
                found.append([np.abs(v - e)[kept].max() / np.abs(e).max()
                              for v, e in zip(values, exact)])
            if len(found) < len(steps):
                rows.append((name, options, f"exit code {done.code}", "", "", ""))
                continue
            of_state, of_unknown = np.array(found).T
            rows.append((name, options, figure(of_state[-1]), observed(steps, of_state),
                         figure(of_unknown[-1]), observed(steps, of_unknown)))
    table("Orders under constraints, h = 0.05, 0.025, 0.0125",
          ("constraint", "method", "state at 0.0125", "orders", "unknown at 0.0125", "orders"), rows)


# ---- step control ----

def curved_control():
    rows = []
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        cells = [f"{tolerance:g}"]
        for method in ("jfm", "missiles"):
            done = run(curved(), f"-cosim_type {method} -cosim_adapt predictor -cosim_step 0.5 "
                                 f"-cosim_adapt_rtol {tolerance}")
            cells += [len(done.results.time) - 1 if done.completed else f"exit code {done.code}",
                      outcome(done, lambda d, t=tolerance: errors(curved(), d.results).max() / t)]
        rows.append(cells)
    table("-cosim_adapt predictor on curved outputs: macro-steps and error/tolerance",
          ("tolerance", "jfm: steps", "error/tolerance", "missiles: steps", "error/tolerance"), rows)


def ratio(name, exact, tolerance, method, idle, start):
    """Error of the worst output over the tolerance, and macro-steps; None where refused."""
    plain = MODELS[name]()
    model = shifted(with_idle(plain) if idle else plain, start)
    done = run(model, f"-cosim_type {method} -cosim_adapt predictor -cosim_adapt_rtol {tolerance}")
    if not done.completed:
        return None
    found = errors(plain, done.results, exact=exact[name], time=elapsed(done.results)).max()
    return found / tolerance, len(done.results.time) - 1


def control(tolerances=(1e-2, 1e-4, 1e-6, 1e-8, 1e-10)):
    rows, exact = [], solutions()
    for tolerance in tolerances:
        for method in ("jfm", "missiles"):
            for idle in (False, True):
                for start in (0.0, 1.7e9):
                    found = [ratio(name, exact, tolerance, method, idle, start) for name in MODELS]
                    ratios = [f[0] for f in found if f]
                    rows.append((f"{tolerance:g}", method, "30" if idle else "none", f"{start:g}",
                                 f"{min(ratios):.3f}", f"{np.median(ratios):.3f}",
                                 f"{max(ratios):.3f}", sum(f[1] for f in found if f),
                                 found.count(None)))
    table("-cosim_adapt predictor: error/tolerance of the worst output of ten models",
          ("tolerance", "method", "idle signals", "start, s", "smallest", "median", "largest",
           "macro-steps", "refused"), rows)


# ---- speed ----

def cpu_seconds(command, folder):
    before = processor_seconds()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return processor_seconds() - before


def speed(before, repetitions=5):
    after = os.environ["CONCORD_PROGRAM"]
    cases = [(f"two masses, h = {h}, {m}", ("concord", "run", TWO_MASS, "-cosim_step", h,
                                            "-cosim_type", m, "-cosim_stop", stop))
             for h, stop in (("1e-3", "20"), ("1e-4", "2")) for m in ("jacobi", "missiles", "jfm")]
    cases += [(f"Lotka-Volterra, h = 0.01, {m}", ("concord", "run", LOTKA_VOLTERRA, "-cosim_step",
                                                  "0.01", "-cosim_stop", "100", "-cosim_type", m))
              for m in ("jacobi", "missiles", "jfm")]
    cases += [(f"chain, N = 1000, {m}", ("concord_chain", "-chain_n", "1000", "-cosim_step", "1e-2",
                                         "-cosim_stop", "1", "-cosim_type", m))
              for m in ("jacobi", "missiles", "jfm")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, *rest) in cases:
            pairs = []
            for _ in range(repetitions):
                pairs.append([cpu_seconds([Path(path).resolve().parent / program, *rest,
                                           "-cosim_output", "x.h5"], folder)
                              for path in (before, after)])
            ratio = statistics.median(b / a for a, b in pairs)
            rows.append((name, f"{statistics.median(a for a, _ in pairs):.2f}",
                         f"{statistics.median(b for _, b in pairs):.2f}", f"{ratio:.2f}"))
    table("Speed: CPU time of the whole process, medians",
          ("model", "before, s", "after, s", "after/before"), rows)


TABLES = {"two_masses": two_masses, "layer": layers, "orders": orders, "constraints": constraints,
          "curved": curved_control, "control": control}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--before")
    options = parser.parse_args()
    for name in options.tables:
        if name != "speed":
            TABLES[name]()
    if options.before:
        speed(options.before)


if __name__ == "__main__":
    main()
