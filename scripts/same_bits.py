#!/usr/bin/python3
"""Whether two builds of the program give the same bits: same_bits.py BEFORE AFTER [PATTERN...].

Runs every example model as it is on one and two ranks, with every options file, and with
every step control over a short while, with both programs; compares exit codes, messages and each dataset of the
results, bit for bit. Only wall times may differ. PATTERNs (shell patterns of "model+options") choose
some. A program may be a script that sets what another build needs. Prints what differs; exit code 1
when anything does.
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SHORT = ["-cosim_stop", "0.1", "-cosim_step", "1e-3"]
LOOSE = ["-cosim_stop", "0.5", "-cosim_step", "1e-2", "-cosim_adapt_rtol", "1e-3"]
# What clocks and the operating system say, and what was called.
CLOCKS = re.compile(r".*_time|ranks/memory|runs/.*")
TIMES_IN_TEXT = re.compile(r"wall time .*|time in s .*|memory  .*|load balance .*|results   .*"
                           r"|[^ ]*\.h5")
# What a results file says of its own making.
OWN = {"command_line", "petsc_options", "concord_version", "run"}


def cases(folder):
    """(name, model, options, ranks) of every run."""
    subprocess.run(["bash", ROOT / "examples/two_fmus/make_fmus.sh", folder / "fmus"], check=True,
                   capture_output=True)
    models = sorted(path for path in (ROOT / "examples").glob("*/*.yaml")
                    if path.parent.name != "two_fmus")
    models += [folder / "fmus" / "two_fmus.yaml", folder / "fmus" / "two_fmus.ssd"]
    options_files = sorted((ROOT / "petsc_options").glob("*.opts"))
    for model in models:
        for ranks in (1, 2):
            yield f"{model.name}+defaults+{ranks}", model, [], ranks
        for file in options_files:
            yield f"{model.name}+{file.stem}+1", model, ["-options_file", str(file), *SHORT], 1
        for adapt in ("predictor", "iteration", "richardson", "richardson_modified"):
            kind = "jacobi" if adapt.startswith("richardson") else "jfm"
            yield (f"{model.name}+{kind}_{adapt}+1", model,
                   ["-cosim_type", kind, "-cosim_adapt", adapt, *LOOSE], 1)


def run(program, model, options, ranks, results):
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launcher, program, "run", model, *options, "-cosim_output", results],
                          capture_output=True, text=True, check=False, timeout=600,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    return done.returncode, TIMES_IN_TEXT.sub("", done.stdout + done.stderr)


def contents(path):
    """Every dataset and attribute as (name, bytes)."""
    if not path.exists():
        return {}
    found = {}
    with h5py.File(path, "r") as file:
        found.update({f"attribute {name}": str(value) for name, value in file.attrs.items()
                      if name not in OWN})

        def take(name, item):
            if isinstance(item, h5py.Dataset) and not CLOCKS.fullmatch(name):
                values = item[()]
                plain = values.dtype.kind == "O"
                found[name] = str(values.tolist()) if plain else (values.shape, values.tobytes())

        file.visititems(take)
    return found


def difference(name, before, after):
    if isinstance(before, tuple) and isinstance(after, tuple) and before[0] == after[0] \
            and len(before[1]) == 8 * int(np.prod(before[0])):
        a, b = (np.frombuffer(side[1]) for side in (before, after))
        return f"{name} (by at most {np.nanmax(np.abs(a - b), initial=0.0):.2g})"
    return name


def compare(programs, folder, case):
    name, model, options, ranks = case
    sides = []
    for side, program in enumerate(programs):
        results = folder / f"{name}.{side}.h5"
        sides.append((run(program, model, options, ranks, results), contents(results)))
        results.unlink(missing_ok=True)
    (before, kept), (after, now) = sides
    wrong = [difference(item, kept.get(item), now.get(item))
             for item in sorted(kept.keys() | now.keys()) if kept.get(item) != now.get(item)]
    if before != after:
        wrong.append(f"exit code or text: {before} against {after}")
    return name, wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    programs, patterns = sys.argv[1:3], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [case for case in cases(folder)
                  if not patterns or any(fnmatch.fnmatch(case[0], p) for p in patterns)]
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda case: compare(programs, folder, case), chosen))
    different = [(name, wrong) for name, wrong in outcomes if wrong]
    for name, wrong in different:
        print(f"{name}: " + "; ".join(wrong))
    print(f"{len(outcomes)} runs, {len(different)} differ")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
