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
import numpy as np

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

PICTURE = """
set terminal pngcairo size 1300,560 font 'sans,11'
set output '{output}'
set multiplot
set grid lc rgb '#dddddd'
unset key
set size 0.4, 1
set xlabel 'time [s]'
set ylabel 'energy / energy at the start'
set title 'macro-step 0.04 s'
plot [0:20] [0.95:1.5] {energies}
set size 0.6, 1
set origin 0.4, 0
set key outside right
set logscale xy
set format y '10^{{%T}}'
set xlabel 'macro-step [s]'
set ylabel '|growth of energy| [1/s]'
set title 'points: measured, lines: theory'
plot {rates}
"""


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
    script, energies, lines = "", [], []
    for i, (name, (times, states)) in enumerate(curves.items()):
        rows = zip(times, energy(states) / energy(states)[0])
        script += f"$energy{i} << end\n" + "".join(f"{t} {e}\n" for t, e in rows) + "end\n"
        style = f"with lines lw 2 lc rgb '{COLOURS[i]}'"
        energies.append(f"$energy{i} {style}")
        if METHODS[name] is None:
            lines.append(f"NaN {style} title '{name} (no growth)'")
            continue
        script += f"$rate{i} << end\n"
        script += "".join(f"{h} {abs(measured)} {abs(growth_by_theory(name, h))}\n"
                          for h, measured in rates[name].items()) + "end\n"
        lines.append(f"$rate{i} using 1:2 with points pt 7 lc rgb '{COLOURS[i]}' notitle, "
                     f"'' using 1:3 {style} title '{name}'")
    script += PICTURE.format(output=output.replace("'", "''"), energies=", ".join(energies),
                             rates=", ".join(lines))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


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
