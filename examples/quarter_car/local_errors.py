#!/usr/bin/python3
"""local_errors.py [PROGRAM] [PICTURE]: both of Richardson's estimates beside the true local error of
every output of the quarter car, for both couplings, orders 0 to 2 and macro-steps from 1e-2 to 1e-5 s
(Arnold 2012, "Local error estimates: Benchmark Quarter car").

PROGRAM is build/bin/local_errors, which is built with the tests; PICTURE local_errors.png.
"""
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

FOLDER = Path(__file__).resolve().parent
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(FOLDER.parents[1] / "build/bin/local_errors")
PICTURE = sys.argv[2] if len(sys.argv) > 2 else "local_errors.png"
COUPLINGS = ("displacement", "force")
ORDERS = (0, 1, 2)
ROUNDING = 3e-15  # of the output's size
COLOURS = {"chassis.x": "#1f77b4", "chassis.v": "#2ca02c", "wheel.x": "#ff7f0e", "wheel.v": "#9467bd",
           "wheel.f": "#d62728"}

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
    figure, panels = pyplot.subplots(len(COUPLINGS), len(ORDERS), figsize=(15, 10), layout="constrained")
    figure.suptitle("Quarter car: local errors of two macro-steps (points), classical estimate (dashed), modified (solid)")
    for axes, ((coupling, order), panel) in zip(panels.flat, rows.items()):
        for output, values in panel.items():
            h, true, classical, modified = zip(*(row for row in values if row[1] > ROUNDING))
            axes.plot(h, true, "o", color=COLOURS[output], label=output)
            axes.plot(h, classical, "--", color=COLOURS[output])
            axes.plot(h, modified, color=COLOURS[output])
        axes.set(title=f"{coupling} coupling, order {order}", xscale="log", yscale="log", xlim=(7e-6, 1.4e-2),
                 ylim=(1e-15, 1), xlabel="macro-step [s]", ylabel="relative to the output")
        axes.grid(color="#dddddd")
        axes.legend(loc="lower right")
    figure.savefig(PICTURE)


def main():
    rows = read_rows()
    print_table(rows)
    draw(rows)


if __name__ == "__main__":
    main()
