"""Energy that coupling methods invent: growth per unit time against the macro-step, measured and by
theory, and the error of the states; a table and a picture.

    /usr/bin/python3 examples/spring_mass/energy_growth.py build/bin/concord energy_growth.png

Both subsystems integrate their input and nothing else. With z = omega x - i v the whole system is
z' = i omega z, and an explicit method is a linear multistep method: z_N = zeta^N with

    zeta - 1 = i omega h sigma(zeta),

sigma(zeta) h u_N being the integral of what an input u is given on a macro-step. Energy is |z|^2,
so that it grows with the rate 2 ln|zeta| / h.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spring_mass.yaml")
STIFFNESS, MASS = 8.0, 2.0
OMEGA = math.sqrt(STIFFNESS / MASS)
STEPS = (0.08, 0.04, 0.02, 0.01)
ROUNDING = 1e-12
TIGHT = "-subsystem_rtol 1e-12 -subsystem_atol 1e-14 -cosim_rtol 1e-12 -cosim_atol 1e-12".split()

# hold order, correction, macro-steps over which it is spread
METHODS = {"jacobi": (0, "none", 1),
           "jacobi, constant": (0, "constant", 1),
           "jacobi, smooth": (0, "smooth", 1),
           "jacobi, smooth over 2": (0, "smooth", 2),
           "jacobi, smooth over 4": (0, "smooth", 4),
           "order 1": (1, "none", 1),
           "order 1, constant": (1, "constant", 1),
           "order 1, smooth": (1, "smooth", 1),
           "order 1, smooth over 4": (1, "smooth", 4),
           "jfm": None}

COLOURS = ("#d62728", "#ff7f0e", "#e7b416", "#8c564b", "#7f3f00", "#1f77b4", "#17becf", "#2ca02c",
           "#9467bd", "#000000")


def options(name):
    if METHODS[name] is None:
        return ["-cosim_type", "jfm"]
    order, correction, spread = METHODS[name]
    words = ["-cosim_type", "jacobi", "-cosim_balance", correction]
    words += ["-cosim_balance_spread", spread] if spread > 1 else []
    return words + (["-cosim_hold", "extrapolate", "-cosim_hold_order", order] if order else [])


def simulate(program, name, step):
    """Times, states x and v."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.h5")
        command = [program, "run", MODEL, *options(name), *TIGHT, "-cosim_step", step,
                   "-cosim_diverged", "warn", "-cosim_output", path]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            return file["time"][:], file["states/values"][:]


def energy(states):
    return (STIFFNESS * states[:, 0]**2 + MASS * states[:, 1]**2) / 2


def measured_rate(times, states):
    """Over the second half, when what the start excited has died away."""
    e, half = energy(states), len(times) // 2
    return math.log(e[-1] / e[half]) / (times[-1] - times[half])


def error(times, states):
    """Relative, over all communication points."""
    exact = np.stack([np.cos(OMEGA * times), -OMEGA * np.sin(OMEGA * times)], axis=1)
    return np.linalg.norm(states - exact) / np.linalg.norm(exact)


def sigma(zeta, y, order, correction, spread):
    """Integral of a given input over a macro-step, by h u_N; y = omega h.

    Of the hold: `held`. What it missed a macro-step ago, `missed`, is the integral of the cubic
    through values and slopes at both ends less `held`; a slope is what the sender's own input was
    at the end of the macro-step before: the end of its hold, and of a constant correction.
    """
    past = 1 / zeta
    held, end = (1, 1) if order == 0 else (1.5 - 0.5 * past, 2 - past)
    if correction == "none":
        return held
    share = sum(past**m for m in range(1, spread + 1)) / spread
    by_slope = 1j * y / 12 * (1 - zeta) * past
    missed = 0.5 * (1 + zeta) + by_slope * end - held
    if correction == "constant":  # correction = share * (missed + by_slope * correction)
        return held + share * missed / (1 - share * by_slope)
    return held + share * missed


def growth_by_theory(name, step):
    """2 ln|zeta| / h of the root next to exp(i omega h), by the secant method."""
    if METHODS[name] is None:
        return 0.0
    y = OMEGA * step

    def residual(zeta):
        return zeta - 1 - 1j * y * sigma(zeta, y, *METHODS[name])

    before, zeta = np.exp(1j * y) * (1 + 1e-4), np.exp(1j * y)
    for _ in range(50):
        slope = (residual(zeta) - residual(before)) / (zeta - before)
        before, zeta = zeta, zeta - residual(zeta) / slope
        if abs(zeta - before) < 1e-15:
            break
    return 2 * math.log(abs(zeta)) / step


def draw(curves, rates, output):
    figure, (energies, growth) = pyplot.subplots(1, 2, figsize=(13, 5.6), layout="constrained",
                                                 gridspec_kw={"width_ratios": (4, 5)})
    for colour, (name, (times, states)) in zip(COLOURS, curves.items()):
        energies.plot(times, energy(states) / energy(states)[0], color=colour)
        if METHODS[name] is None:
            growth.plot([], [], color=colour, label=f"{name} (no growth)")
            continue
        steps, measured = zip(*rates[name].items())
        growth.plot(steps, np.abs(measured), "o", color=colour)
        growth.plot(steps, [abs(growth_by_theory(name, step)) for step in steps], color=colour, label=name)
    energies.set(title="macro-step 0.04 s", xlabel="time [s]", ylabel="energy / energy at the start", xlim=(0, 20),
                 ylim=(0.95, 1.5))
    growth.set(title="points: measured, lines: theory", xlabel="macro-step [s]", ylabel="|growth of energy| [1/s]",
               xscale="log", yscale="log")
    growth.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for axes in (energies, growth):
        axes.grid(color="#dddddd")
    figure.savefig(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("picture")
    arguments = parser.parse_args()
    curves, rates, wrong = {}, {}, []
    print("Growth of energy in 1/s, measured / by theory, and relative error of the states:")
    for name in METHODS:
        cells, errors, rates[name] = [], [], {}
        for step in STEPS:
            times, states = simulate(arguments.program, name, step)
            if step == 0.04:
                curves[name] = times, states
            rates[name][step] = measured_rate(times, states)
            errors.append(error(times, states))
            expected = growth_by_theory(name, step)
            if abs(rates[name][step] - expected) > ROUNDING:
                wrong.append(f"{name}, h = {step}")
            cells.append(f"{rates[name][step]:9.2e} / {expected:9.2e}")
        print(f"{name:23}", "  ".join(cells))
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        print(f"{'':23}", "  ".join(f"{e:.3e}" for e in errors),
              " orders", " ".join(f"{order:.2f}" for order in orders))
    draw(curves, rates, arguments.picture)
    if wrong:
        sys.exit("growth differs from theory: " + "; ".join(wrong))
    print(f"measured growth is that of theory to {ROUNDING:g} 1/s everywhere")


if __name__ == "__main__":
    main()
