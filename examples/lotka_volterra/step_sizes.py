"""Macro-steps that follow the solution: runs the example with -cosim_adapt predictor and draws the
populations above the step sizes.

    /usr/bin/python3 examples/lotka_volterra/step_sizes.py build/bin/concord step_sizes.png
"""

import os
import subprocess
import sys
import tempfile

import h5py

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lotka_volterra.yaml")
TOLERANCES = ("1e-3", "1e-5", "1e-7")

PICTURE = """
set terminal pngcairo size 1100,760 font 'sans,11'
set output '{output}'
set multiplot layout 2,1 title 'Lotka-Volterra under -cosim\\_adapt predictor'
set grid lc rgb '#dddddd'
set key outside right
set lmargin 10
set rmargin 22
set ylabel 'population'
plot $rows2 using 1:3 with lines lw 2 title 'prey', '' using 1:4 with lines lw 2 title 'predator'
set ylabel 'macro-step [s]'
set xlabel 'time [s]'
set logscale y
set format y '10^{{%T}}'
plot {curves}
"""


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
    script, curves = "", []
    with tempfile.TemporaryDirectory() as folder:
        for i, tolerance in enumerate(TOLERANCES):
            rows = adaptive_run(program, tolerance, folder)
            sizes = [row[1] for row in rows]
            print(f"tolerance {tolerance}: {len(rows)} macro-steps from {min(sizes):.2g} to "
                  f"{max(sizes):.2g} s")
            script += f"$rows{i} << end\n"
            script += "".join(" ".join(f"{v:.9g}" for v in row) + "\n" for row in rows) + "end\n"
            curves.append(f"$rows{i} using 1:2 with steps lw 2 title 'tolerance {tolerance}'")
    script += PICTURE.format(output=output.replace("'", "''"), curves=", ".join(curves))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
