#!/usr/bin/python3
"""run_model.py RESULTS COMMAND...: runs the command and checks the results file it leaves.

The run must end with exit code 0, use every PETSc option it was given, and leave a completed,
finite, strictly growing record.
"""
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np


def require(condition, message):
    if not condition:
        sys.exit(f"run_model.py: {message}")


def main():
    results, command = Path(sys.argv[1]), sys.argv[2:]
    results.parent.mkdir(parents=True, exist_ok=True)
    results.unlink(missing_ok=True)
    run = subprocess.run([*command, "-cosim_output", str(results), "-options_left"],
                         capture_output=True, text=True, check=False)
    print(" ".join(command), run.stdout, run.stderr, sep="\n")
    require(run.returncode == 0, f"exit code {run.returncode} instead of 0")
    unused = [line for line in run.stdout.splitlines() if line.startswith("Option left: name:-")]
    require(not unused, f"options that nothing uses: {unused}")
    require(results.exists(), f"{results} was not written")

    with h5py.File(results, "r") as file:
        status = file.attrs["status"]
        status = status.decode() if isinstance(status, bytes) else status
        require(status in ("completed", "inaccurate"), f"status is '{status}'")
        time = file["time"][:]
        require(len(time) > 1 and np.all(np.diff(time) > 0), "time does not grow")
        values = file["outputs/values"][:]
        require(values.shape[0] == len(time) and values.shape[1] > 0, "outputs are missing")
        require(np.all(np.isfinite(values)), "outputs are not finite")
        require(len(file["steps/size"]) == len(time) - 1, "steps and times differ in number")


if __name__ == "__main__":
    main()
