#!/usr/bin/python3
"""The embedded simulation against its solution: check.py PROGRAM [LAUNCHER...].

Room and wall are two linear equations whose inputs are constant over each period of the controller:
x(t + h) = x_r + exp(A h) (x(t) - x_r) with the state of rest x_r. The controller's law is repeated
here. Exit code 1 where the program's temperatures or powers differ by more than 1e-8 of their size.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np

MODEL = Path(__file__).with_name("house.yaml")
PERIOD, STEPS, OPEN = 600.0, 144, 72
C_ROOM, C_WALL, G, OUTSIDE = 1e5, 2e6, 100.0, 5.0


def propagated(x, power, loss, h):
    a = np.array([[-G / C_ROOM, G / C_ROOM], [G / C_WALL, -(G + loss) / C_WALL]])
    rest = -np.linalg.solve(a, np.array([power / C_ROOM, loss * OUTSIDE / C_WALL]))
    values, vectors = np.linalg.eig(a)
    return rest + vectors @ (np.exp(values * h) * np.linalg.solve(vectors, x - rest))


def solution():
    x, total, rows, cold = np.array([17.0, 14.0]), 0.0, [], None
    for step in range(STEPS):
        total += 21.0 - x[0]
        power = 60.0 * (21.0 - x[0]) + 3.0 * total
        rows.append((x[0], power))
        loss = 90.0 if step >= OPEN else 60.0
        if step == OPEN:
            cold = propagated(x, 0.0, loss, (STEPS - OPEN) * PERIOD)[0]
        x = propagated(x, power, loss, PERIOD)
    return np.array(rows), cold


def main():
    program, launcher = sys.argv[1], sys.argv[2:]
    run = subprocess.run([*launcher, program, MODEL], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    cold = float(next(line for line in lines if line.startswith("without")).split()[-1])
    rows = np.array([[float(word) for word in line.split()[1:]] for line in lines
                     if line[0].isdigit()])
    exact, exact_cold = solution()
    errors = np.max(np.abs(rows - exact), axis=0) / np.max(np.abs(exact), axis=0)
    print(f"temperature {errors[0]:.1e}, power {errors[1]:.1e}, without heating "
          f"{abs(cold - exact_cold):.1e} degC")
    good = max(errors) < 1e-8 and abs(cold - exact_cold) < 1e-5 and lines[-1] == "finished"
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
