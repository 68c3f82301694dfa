"""Runs of models whose faulty subsystem lives in a process of its own, and what is left of them."""
import os
import tempfile
from pathlib import Path

import h5py
from fault_runs import PROGRAM, Fault, build_fmu, model, watch

LIMIT = ("-subsystem_call_limit", "2")  # s; a process starts within it on busy machines, too


def working_in(work):
    """Commands of the processes that work in the folder, also where it is gone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            place = os.readlink(folder / "cwd")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if place.startswith(str(work)) and words:
            found.append(words)
    return found


def run(fault, times=None, serializes=True, options=(), watching=watch):
    """`times`: how often the fault happens; None: always."""
    with tempfile.TemporaryDirectory(prefix="concord_isolation_") as name:
        folder = Path(name)
        (folder / "model.yaml").write_text(model(fault))
        command = [PROGRAM, "run", "model.yaml", "-cosim_step", "0.01", "-cosim_type",
                   fault.method, "-subsystem_isolated", *fault.options, *options]
        if fault.kind != "native":
            build_fmu(folder, 3 if fault.kind.endswith("3") else 2, fault.call, serializes)
            command += ["-subsystem_fmu_interface", fault.kind[:2]]
        if fault.fault == "hang":
            command += LIMIT
        if fault.ranks > 1:
            command = ["mpirun", "--oversubscribe", "-n", str(fault.ranks), *command]
        environment = dict(os.environ)
        if times is not None:
            (folder / "times").write_text("x" * times)
            environment["FAULT_TIMES"] = str(folder / "times")
        if "Instantiate" in fault.call:
            environment["FAULT_IN_INSTANTIATE"] = fault.fault
        ended = watching(command, folder, environment)
        ended.left = working_in(folder)
        results = folder / "faults.h5" if (folder / "faults.h5").exists() else folder / "model.h5"
        ended.revived, ended.outputs = [], None
        if results.exists():
            with h5py.File(results) as file:
                ended.revived = list(file["subsystems/revived"][:])
                ended.outputs = file["outputs/values"][:]
        return ended


__all__ = ["Fault", "run", "working_in"]
