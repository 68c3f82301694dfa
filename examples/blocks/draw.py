#!/usr/bin/python3
"""draw.py [CSV] [PICTURE]: what each block of the library makes of a signal (README.md), from blocks.csv to blocks.png."""
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of what draws

# Name, what feeds it, grey, and what it puts out, blue.
BLOCKS = (
    ("saturation", "sine.y", "saturation.y"), ("dead_zone", "sine.y", "dead_zone.y"),
    ("quantiser", "sine.y", "quantiser.y"), ("rate_limit", "pulse.y", "rate_limit.y"),
    ("hysteresis", "sine.y", "hysteresis.y"), ("sample_and_hold", "sine.y", "sample_and_hold.y"),
    ("first_order_lag", "step.y", "first_order_lag.y"), ("second_order_lag", "step.y", "second_order_lag.y"),
    ("transfer_function", "step.y", "transfer_function.y"), ("state_space", "step.y", "state_space.y[1]"),
    ("limited_integrator", "sine.y", "limited_integrator.y"), ("pid", "plant.y", "pid.y"),
    ("sliding_mass", "sine.y", "sliding_mass.v"), ("lugre", "shaker.v", "lugre.force"),
    ("clutch", "clutch.w2", "clutch.w1"), ("spring_damper", "mass.x", "spring_damper.force"),
    ("spring_with_play", "shaker.x", "spring_with_play.force"), ("backlash", "shaker.x", "backlash.y"),
    ("mass", "spring_damper.force", "mass.v"), ("step", "step.y", "step.y"), ("ramp", "ramp.y", "ramp.y"),
    ("sine", "sine.y", "sine.y"), ("pulse", "pulse.y", "pulse.y"), ("noise", "noise.y", "noise.y"),
)


def main(table="blocks.csv", picture="blocks.png"):
    with open(table, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        rows = dict(zip(names, np.loadtxt(file, delimiter=",").T))
    figure, panels = pyplot.subplots(6, 4, figsize=(11, 12), layout="constrained")
    for axes, (name, into, out) in zip(panels.flat, BLOCKS):
        axes.plot(rows["time"], rows[into], color="#999999", linewidth=1)
        axes.plot(rows["time"], rows[out], color="#0072b2", linewidth=1.6)
        axes.set(title=name, xlim=(0, 10))
        axes.grid(color="#dddddd")
    figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
