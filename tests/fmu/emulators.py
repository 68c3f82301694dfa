"""FMUs of other platforms by the emulators and compilers that are installed here: the models in source/, for
each of them, beside the same natively. Says how far results are apart, what a doStep costs, and what is not
installed. For tests/long.sh."""
import os
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

import fmu_factory
import numpy as np
from concord_runs import Results
from emulated_fmus import run
from fmu_runs import FmuTest

#: Folders of FMI 2 and 3, compiler, suffix, and what must be there beside the compiler.
PLATFORMS = {
    "i686": ("linux32", "x86-linux", "gcc -m32 -idirafter /usr/include/x86_64-linux-gnu -msse2 -mfpmath=sse -fPIC",
             ".so", "/lib/ld-linux.so.2"),
    "aarch64": ("aarch64-linux", "aarch64-linux", "aarch64-linux-gnu-gcc -fPIC", ".so", "/usr/bin/qemu-aarch64"),
    "arm": ("aarch32-linux", "aarch32-linux", "arm-linux-gnueabihf-gcc -fPIC", ".so", "/usr/bin/qemu-arm"),
    "riscv64": ("riscv64-linux", "riscv64-linux", "riscv64-linux-gnu-gcc -fPIC", ".so", "/usr/bin/qemu-riscv64"),
    "windows": ("win64", "x86_64-windows", "x86_64-w64-mingw32-gcc -static-libgcc", ".dll", "/usr/bin/wine"),
}
#: Of results with another libm; the others have the same bits.
CLOSE = 1e-12
CASES = (("left", 2, "cs"), ("left", 3, "cs"), ("ball", 2, "me"), ("ball", 3, "me"), ("mixed", 3, "cs"),
         ("left", 1, "cs"))


def works(compiler, needed):
    if not Path(needed).exists():
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("#include <errno.h>\n#include <math.h>\nint one(void) { return 1; }\n")
        try:
            done = subprocess.run([*compiler.split(), "-shared", "-o", source.with_suffix(".out"), source, "-lm"],
                                  capture_output=True, check=False)
        except FileNotFoundError:
            return False
        return done.returncode == 0


class Emulators(FmuTest):
    def results(self, model, *options):
        path = self.folder / "out.h5"
        began = time.monotonic()
        done = run(dict(os.environ), "run", model, *options, "-cosim_output", path, folder=self.folder)
        took = time.monotonic() - began
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return Results(path, done), took

    def other(self, path, part, version, platform):
        """The same FMU with a binary of the platform alone."""
        folder2, folder3, compiler, suffix, _ = PLATFORMS[platform]
        sources = [fmu_factory.SOURCE / f"{part}.c", fmu_factory.SOURCE / f"fmi{version}.c"]
        define = {1: f"-DMODEL={part}", 2: "-DFMI2", 3: "-DFMI3"}[version]
        library = self.folder / f"{part}{suffix}"
        subprocess.run([*compiler.split(), "-O0", "-ffp-contract=off", "-shared", "-DBEHAVIOUR=BEHAVES", define,
                        *sources, "-o", library, "-lm"], check=True, capture_output=True)
        with zipfile.ZipFile(path) as whole:
            description = whole.read("modelDescription.xml")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", description)
            archive.write(library, f"binaries/{folder3 if version == 3 else folder2}/{library.name}")
            archive.writestr("resources/readme.txt", "a resource\n")

    def test_all(self):
        for platform, (_, _, compiler, _, needed) in PLATFORMS.items():
            if not works(compiler, needed):
                print(f"{platform}: not installed here ({compiler.split()[0]}, {needed}): not tried", flush=True)
                continue
            for part, version, kind in CASES:
                with self.subTest(platform=platform, part=part, version=version):
                    self.compare(platform, part, version, kind)

    def compare(self, platform, part, version, kind):
        capabilities = ("variable",) if version == 1 else ("state", "serialize", "variable")
        path = self.build(part, version, kinds=(kind,), capabilities=capabilities)
        model = self.folder / "model.yaml"
        model.write_text(f"experiment: {{stop: 1}}\nsubsystems:\n  {part}: {{fmu: {part}.fmu}}\n")
        options = ("-cosim_type", "jacobi", "-cosim_step", "0.01")
        here, native = self.results(model, *options)
        self.other(path, part, version, platform)
        there, took = self.results(model, *options)
        size = np.maximum(np.max(np.abs(here.outputs.values), axis=0), 1e-300)
        apart = np.max(np.abs(there.outputs.values - here.outputs.values) / size)
        print(f"{platform:8} FMI {version} {kind} {part:6} {apart:8.1e} apart, {took:5.2f} s, natively {native:5.2f} s",
              flush=True)
        self.assertLess(apart, CLOSE)


if __name__ == "__main__":
    unittest.main()
