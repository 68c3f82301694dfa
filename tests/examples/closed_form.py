#!/usr/bin/python3
"""closed_form.py RESULTS: compares the algebraic-loop example with the solution in its README."""
import sys

import h5py
import numpy as np

TOLERANCE = 1e-4  # of each output's largest value; the coupling tolerance is 1e-6

m, m_f, c, d = 1.0, 2.0, 12.0, 0.6


def exact(t):
    delta = d / (2 * (m + m_f))
    omega = np.sqrt(c / (m + m_f) - delta**2)
    decay = np.exp(-delta * t)
    x = decay * (np.cos(omega * t) + delta / omega * np.sin(omega * t))
    v = -c / (m + m_f) / omega * decay * np.sin(omega * t)
    a = -(c * x + d * v) / (m + m_f)
    return {"body.x": x, "body.v": v, "body.a": a, "fluid.f": -m_f * a - d * v,
            "fluid.energy": c / 2 - (m + m_f) * v**2 / 2 - c * x**2 / 2}


def main():
    with h5py.File(sys.argv[1], "r") as file:
        names = [name.decode() if isinstance(name, bytes) else name
                 for name in file["outputs/names"][:]]
        values = file["outputs/values"][:]
        time = file["time"][:]
    failed = False
    for name, solution in exact(time).items():
        error = np.max(np.abs(values[:, names.index(name)] - solution)) / np.max(np.abs(solution))
        print(f"{name}: maximum error {error:.2e} of its largest value")
        failed |= not error < TOLERANCE
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
