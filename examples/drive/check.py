#!/usr/bin/python3
"""check.py RESULTS: compares drive.yaml's results with a solution that owes nothing to Concord.

Between two instants at which the reference bends or the voltage meets its limit, the drive is linear:
its states follow from matrix exponentials, the instants from bisection.
"""
import csv
import sys
from pathlib import Path

import h5py
import numpy as np

TOLERANCE = 2e-5  # of each output's range

KP, KI, BACK, U_MAX = 0.5, 2.0, 20.0, 9.0
R, L, K, J_M = 0.5, 1e-3, 0.05, 1e-4
N, J_L, C, D = 10.0, 0.05, 500.0, 1.0
# z = (share, i, w, phi, w_load, phi_load, w_ref, w_ref', 1)
SHARE, I, W, PHI, W_L, PHI_L, REF, SLOPE, ONE = range(9)
WANTED = np.zeros(9)
WANTED[[REF, W, SHARE]] = KP, -KP, 1.0
TORQUE = np.zeros(9)
TORQUE[[PHI, PHI_L, W, W_L]] = C / N, -C, D / N, -D


def expm(a):
    halvings = max(0, int(np.ceil(np.log2(max(np.linalg.norm(a, 1), 1e-300)))) + 3)
    term = result = np.eye(len(a))
    for n in range(1, 20):
        term = term @ a / (n * 2.0**halvings)
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


def matrix(mode):
    """z' = A z with the voltage at its limit (mode -1, 1) or as wanted (0)."""
    given = WANTED.copy() if mode == 0 else mode * U_MAX * np.eye(9)[ONE]
    a = np.zeros((9, 9))
    a[SHARE] = BACK * (given - WANTED)
    a[SHARE, [REF, W]] += KI, -KI
    a[I] = given / L
    a[I, [I, W]] += -R / L, -K / L
    a[W] = -TORQUE / N / J_M
    a[W, I] += K / J_M
    a[PHI, W] = 1.0
    a[W_L] = TORQUE / J_L
    a[PHI_L, W_L] = 1.0
    a[REF, SLOPE] = 1.0
    return a


def mode_of(z):
    return int(np.sign(WANTED @ z)) if abs(WANTED @ z) > U_MAX else 0


def outside(z, mode):
    """Positive where z no longer is in its mode."""
    u = WANTED @ z
    return abs(u) - U_MAX if mode == 0 else U_MAX - mode * u


def follow(z, h, mode):
    """z after h, through as many changes of mode as there are in so short a time."""
    end = expm(matrix(mode) * h) @ z
    if outside(end, mode) <= 1e-12:
        return end, mode
    low, high = 0.0, h
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        if outside(expm(matrix(mode) * middle) @ z, mode) > 0:
            high = middle
        else:
            low = middle
    z = expm(matrix(mode) * high) @ z
    mode = int(np.sign(WANTED @ z)) if mode == 0 else 0
    return follow(z, h - high, mode)


def solution(times, rows):
    """Right limits at the times, which ascend."""
    z, mode, now, result = np.eye(9)[ONE].copy(), 0, 0.0, []
    pieces = [(a, b) for a, b in zip(rows, rows[1:]) if b[0] > a[0]]
    for time in times:
        while now < time:
            (t0, r0), (t1, r1) = next(p for p in pieces if p[0][0] <= now < p[1][0])
            z[REF], z[SLOPE] = r0 + (now - t0) / (t1 - t0) * (r1 - r0), (r1 - r0) / (t1 - t0)
            if now == t0:
                mode = mode_of(z)
            to = min(time, t1, now + 1e-3)
            z, mode = follow(z, to - now, mode)
            now = to
        right = [r for t, r in rows if t == time]
        if right:
            z[REF] = right[-1]
        result.append([np.clip(WANTED @ z, -U_MAX, U_MAX), z[W], z[PHI], TORQUE @ z / N, z[W_L]])
    return np.array(result)


def main():
    with h5py.File(sys.argv[1], "r") as file:
        names = list(file["outputs/names"].asstr())
        time, values = file["time"][:], file["outputs/values"][:]
        what = {f"{s}: {w}" for s, w in zip(file["events/subsystem"].asstr()[:],
                                            file["events/what"].asstr()[:])}
    with open(Path(__file__).parent / "reference.csv", encoding="utf-8") as table:
        rows = [(float(row["time"]), float(row["w_ref"])) for row in csv.DictReader(table)]
    exact = solution(time, rows)
    failed = False
    columns = ["controller.u", "motor.w", "motor.phi", "load.tau", "load.w"]
    for name, column in zip(columns, exact.T):
        error = np.max(np.abs(values[:, names.index(name)] - column)) / np.ptp(column)
        print(f"{name}: maximum error {error:.2e} of its range")
        failed |= not error < TOLERANCE
    print(f"{len(what)} kinds of events: {', '.join(sorted(what))}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
