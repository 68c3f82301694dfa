"""Runs the unpacked FMU of a whole model from 0 to 2 s, in a process that has loaded nothing else: prints its
outputs, how many shared libraries have come from its folder, and which from elsewhere, but for the C library."""
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

for module in ("h5py", "numpy"):  # which would load some of these libraries
    sys.modules[module] = MagicMock()
from whole_fmus import OK, WholeFmu  # noqa: E402

OF_C = ("ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libutil.so", "libresolv.so",
        "libmvec.so", "libnss_")


def loaded():
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return {Path(line.split(maxsplit=5)[5]) for line in lines if ".so" in line}


before = loaded()
folder = Path(sys.argv[1]).resolve()
fmu = WholeFmu(folder)
assert fmu.start() == OK and fmu.step(0, 2) == OK, fmu.messages
new = {path for path in loaded() - before if not path.name.startswith(OF_C)}
inside = {path for path in new if folder in path.parents}
print(json.dumps({"values": fmu.get(*sys.argv[2:]), "inside": len(inside),
                  "outside": sorted(map(str, new - inside))}))
