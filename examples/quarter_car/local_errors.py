#!/usr/bin/python3
"""local_errors.py [PROGRAM] [PICTURE]: both of Richardson's estimates beside the true local error of
every output of the quarter car, for both couplings, orders 0 to 2 and macro-steps from 1e-2 to 1e-5 s
(Arnold 2012, "Local error estimates: Benchmark Quarter car").

PROGRAM is build/bin/local_errors, which is built with the tests; PICTURE local_errors.png.
"""
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(FOLDER.parents[1] / "build/bin/local_errors")
PICTURE = sys.argv[2] if len(sys.argv) > 2 else "local_errors.png"
COUPLINGS = ("displacement", "force")
ORDERS = (0, 1, 2)
ROUNDING = 3e-15  # of the output's size
COLOURS = {"chassis.x": "#1f77b4", "chassis.v": "#2ca02c", "wheel.x": "#ff7f0e", "wheel.v": "#9467bd",
           "wheel.f": "#d62728"}

HEAD = """
set terminal pngcairo size 1500,1000 font 'sans,10'
set output '{output}'
set multiplot layout 2,3 title "Quarter car: local errors of two macro-steps (points), classical \
estimate (dashed), modified (solid)"
set logscale xy
set format x '10^{{%T}}'
set format y '10^{{%T}}'
set yrange [1e-15:1]
set xrange [7e-6:1.4e-2]
set grid lc rgb '#dddddd'
set key bottom right samplen 2
set xlabel 'macro-step [s]'
set ylabel 'relative to the output'
"""


def read_rows():
    """{(coupling, order): {output: [(h, true, classical, modified), ...]}}."""
    models = [FOLDER / f"quarter_car_{coupling}.yaml" for coupling in COUPLINGS]
    try:
        text = subprocess.run([PROGRAM, *models], capture_output=True, text=True, check=True).stdout
    except OSError:
        sys.exit(f"local_errors.py: no program {PROGRAM}; build the tests first (bash tests/run.sh)")
    rows = {}
    for line in text.splitlines():
        model, order, h, output, *errors = line.split()
        panel = rows.setdefault((model.rsplit("_", 1)[1], int(order)), {})
        panel.setdefault(output, []).append((float(h), *map(float, errors)))
    return rows


def print_table(rows):
    print("true local error of the output, relative to its size; classical and modified estimate, "
          "divided by it\n(-: rounding)")
    for (coupling, order), panel in rows.items():
        print(f"\n{coupling} coupling, order {order}\n{'h':>7}" +
              "".join(f"{output:>22}" for output in panel))
        for i, (h, *_) in enumerate(next(iter(panel.values()))):
            cells = []
            for values in panel.values():
                _, true, classical, modified = values[i]
                cells.append(f"{true:.1e}  {classical / true:5.2f} {modified / true:5.2f}"
                             if true > ROUNDING else "-")
            print(f"{h:7g}" + "".join(f"{cell:>22}" for cell in cells))


def draw(rows):
    script, plots = "", ""
    for (coupling, order), panel in rows.items():
        curves = []
        for output, values in panel.items():
            block = f"${coupling}{order}{output.replace('.', '_')}"
            seen = [row for row in values if row[1] > ROUNDING]
            script += f"{block} << end\n" + "\n".join(" ".join(map(str, r)) for r in seen) + "\nend\n"
            colour = f"lc rgb '{COLOURS[output]}'"
            curves += [f"{block} using 1:2 with points pt 7 ps 0.9 {colour} title '{output}'",
                       f"'' using 1:3 with lines dt 2 lw 1.6 {colour} notitle",
                       f"'' using 1:4 with lines lw 1.6 {colour} notitle"]
        plots += f"set title '{coupling} coupling, order {order}'\nplot " + ", ".join(curves) + "\n"
    script += HEAD.format(output=PICTURE.replace("'", "''")) + plots
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    rows = read_rows()
    print_table(rows)
    draw(rows)


if __name__ == "__main__":
    main()
