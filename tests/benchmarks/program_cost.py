"""What the whole program costs beside the integrators, and the methods beside each other.

    /usr/bin/python3 tests/benchmarks/program_cost.py build/bin

A benchmark, not a test: it prints figures and checks nothing. Ratios come from one run each, taken
in turn, medians of several; times are of a machine that does nothing else.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import h5py

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
TWO_MASS = os.path.join(EXAMPLES, "two_mass", "two_mass.yaml")
REPETITIONS = 7


def run(command, folder):
    """Wall time of the process in s, and its results file."""
    results = os.path.basename(command[0]) + ".h5"
    begin = time.perf_counter()
    subprocess.run(command + ["-cosim_output", results], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    with h5py.File(os.path.join(folder, results)) as file:
        return {
            "wall": wall,
            "steps": file["steps/size"].shape[0],
            "stepping": file["steps/wall_time"][:].sum(),
            "advance": file["subsystems/wall_time"][:].sum(),
            "subsystems": file["subsystems/name"].shape[0],
        }


def median(key, runs):
    return statistics.median(key(r) for r in runs)


def overhead(binaries, folder):
    print("\nmicroseconds per subsystem and macro-step on top of the integrators' own time "
          "(jacobi, 1 rank)")
    chain = [os.path.join(binaries, "concord_chain"), "-chain_n", "1000", "-cosim_step", "1e-2",
             "-cosim_stop", "5"]
    pair = [os.path.join(binaries, "concord"), "run", TWO_MASS, "-cosim_step", "1e-4"]
    for name, command in (("chain, N = 1000", chain), ("two_mass", pair)):
        for record in ("outputs,inputs,states", "none"):
            full = command + ["-cosim_type", "jacobi", "-subsystem_integrator", "erk"]
            runs = [run(full + ["-cosim_record", record], folder) for _ in range(REPETITIONS)]
            startup = median(lambda r: r["wall"], [run(full + [
                "-cosim_stop", "1e-9", "-cosim_step", "1e-9", "-cosim_record", record], folder)
                for _ in range(REPETITIONS)])
            calls = runs[0]["steps"] * runs[0]["subsystems"]
            whole = median(lambda r: (r["wall"] - startup - r["advance"]) / calls * 1e6, runs)
            own = median(lambda r: r["advance"] / calls * 1e6, runs)
            print(f"  {name:16} recording {record:24} {whole:7.3f}   (integrators {own:.2f})")


def methods(binaries, folder):
    print("\ntwo_mass, h = 1e-3, t in [0, 20]: wall time against jacobi, same integrator")
    types = ("jacobi", "missiles", "jfm", "ifosmondi", "kuebler_schiehlen")
    runs = {t: [] for t in types}
    for _ in range(REPETITIONS):
        for method in types:
            runs[method].append(run([
                os.path.join(binaries, "concord"), "run", TWO_MASS, "-cosim_step", "1e-3",
                "-cosim_stop", "20", "-cosim_type", method, "-subsystem_integrator", "erk"],
                folder))
    for method in types:
        pairs = list(zip(runs[method], runs["jacobi"]))
        whole = statistics.median(a["wall"] / b["wall"] for a, b in pairs)
        steps = statistics.median(a["stepping"] / b["stepping"] for a, b in pairs)
        print(f"  {method:18} whole process {whole:5.2f}   macro-steps alone {steps:5.2f}")


def start_up(binaries, folder):
    command = [os.path.join(binaries, "concord"), "run", TWO_MASS, "-cosim_step", "1e-3",
               "-cosim_stop", "1e-3"]
    for method in ("jacobi", "jfm"):
        runs = [run(command + ["-cosim_type", method], folder) for _ in range(REPETITIONS)]
        print(f"\nstart-up, two subsystems, one macro-step, {method}: "
              f"{1e3 * median(lambda r: r['wall'], runs):.0f} ms")


def main():
    binaries = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/bin")
    with tempfile.TemporaryDirectory() as folder:
        overhead(binaries, folder)
        methods(binaries, folder)
        start_up(binaries, folder)


if __name__ == "__main__":
    main()
