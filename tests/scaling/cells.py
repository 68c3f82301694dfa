"""The heat equation of 10^4 cells, as one vector and as 10^4 repeated subsystems, beside SciPy's
solve_ivp(BDF, jac_sparsity): time, processor time and memory of the process, and the error against the modes, in turns.
cells.py PROGRAM [CELLS]"""
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

STOP = 1e-3
VECTOR = """
experiment: {stop: 1e-3}
subsystems:
  rod:
    equations:
      parameters: {n: CELLS, q: 10}
      states: {"T[i in 1:n]": 293.15 + 50*cos(pi*(i - 0.5)/n) + 10*cos(40*pi*(i - 0.5)/n)}
      derivatives:
        "T[1]": n^2*(T[2] - T[1])
        "T[i in 2:n-1]": n^2*(T[i-1] - 2*T[i] + T[i+1])
        "T[n]": n^2*(T[n-1] - T[n])
      outputs: {first: "T[1]", middle: "T[n/2]", last: "T[n]"}
"""
REPEATED = """
experiment: {stop: 1e-3}
parameters: {n: CELLS}
subsystems:
  cell:
    equations:
      parameters: {left: 1, right: 1, start: 0}
      inputs: {before: 0, behind: 0}
      states: {T: start}
      derivatives: {T: n^2*(left*(before - T) + right*(behind - T))}
      outputs: [T]
    repeat: {i: [1, CELLS]}
    parameters: {left: "i > 1", right: "i < n", start: 293.15 + 50*cos(pi*(i - 0.5)/n) + 10*cos(40*pi*(i - 0.5)/n)}
connections:
  - {connect: "cell[i].T -> cell[i+1].before", repeat: {i: [1, CELLS - 1]}}
  - {connect: "cell[i+1].T -> cell[i].behind", repeat: {i: [1, CELLS - 1]}}
"""
SCIPY = """
import sys, time, numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import diags
n = int(sys.argv[1])
x = (np.arange(n) + 0.5)/n
start = 293.15 + 50*np.cos(np.pi*x) + 10*np.cos(40*np.pi*x)
def f(t, T):
    flow = n**2*np.diff(T)
    return np.append(flow, 0) - np.append(0, flow)
pattern = diags([1, 1, 1], [-1, 0, 1], (n, n))
begin = time.perf_counter()
run = solve_ivp(f, (0, 1e-3), start, "BDF", rtol=1e-6, atol=1e-9, jac_sparsity=pattern)
print(time.perf_counter() - begin, *(repr(float(run.y[k, -1])) for k in (0, n//2 - 1, n - 1)))
"""


def exact(n):
    """Both starts are modes of the cells."""
    x = (np.array([1, n // 2, n]) - 0.5) / n
    return 293.15 + sum(a * np.exp(-4 * n**2 * np.sin(k * np.pi / (2 * n))**2 * STOP) * np.cos(k * np.pi * x)
                        for a, k in ((50, 1), (10, 40)))


def measured(command, folder):
    """What it prints, s, s of processor time, MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"cells.py: {' '.join(map(str, command))} has failed")
    return printed, time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def concord(program, folder, name, outputs, *options):
    printed, wall, processor, memory = measured(
        [program, "run", f"{name}.yaml", "-cosim_output", f"{name}.h5", "-cosim_record_variables", ",".join(outputs), *options],
        folder)
    with h5py.File(Path(folder) / f"{name}.h5") as file:
        names = [text.decode() for text in file["outputs/names"][:]]
        ends = [file["outputs/values"][-1, names.index(output)] for output in outputs]
    (Path(folder) / f"{name}.h5").unlink()
    inside = next(float(line.split()[2]) for line in printed.splitlines() if line.startswith("  wall time"))
    return ends, inside, wall, processor, memory


def main(program, n=10000):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("vector", VECTOR), ("repeated", REPEATED)):
            (Path(folder) / f"{name}.yaml").write_text(text.replace("CELLS - 1", str(n - 1)).replace("CELLS", str(n)))
        once = ("-cosim_type", "jacobi", "-cosim_step", "1e-3")  # one macro-step, as nothing is connected
        same = (*once, "-subsystem_integrator", "cvode_bdf", "-subsystem_rtol", "1e-6", "-subsystem_atol", "1e-9")
        of_rod, of_cells = ("rod.first", "rod.middle", "rod.last"), (f"cell[1].T,cell[{n // 2}].T,cell[{n}].T").split(",")
        rows = {}
        for _ in range(3):
            for what, call in (("vector, cvode_bdf, the same tolerances", ("vector", of_rod, *same)), ("vector, tolerances by default", ("vector", of_rod, *once)),
                               ("vector, macro-steps by default", ("vector", of_rod)),
                               ("repeated, by default", ("repeated", of_cells))):
                rows.setdefault(what, []).append(concord(program, folder, *call))
            printed, wall, processor, memory = measured([sys.executable, "-c", SCIPY, str(n)], folder)
            inside, *ends = map(float, printed.split())
            rows.setdefault("scipy", []).append((ends, inside, wall, processor, memory))
        print("| | time of the run | of the process | processor time | memory | error |\n|---|---|---|---|---|---|")
        for what, runs in rows.items():
            error = np.abs(np.array(runs[0][0]) - exact(n)).max() / 60
            best = np.min([run[1:] for run in runs], axis=0)
            print(f"| {what} | {best[0]:.3f} s | {best[1]:.2f} s | {best[2]:.2f} s | {best[3]:.0f} MB | {error:.1e} |")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), *map(int, sys.argv[2:]))
