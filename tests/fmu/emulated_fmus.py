"""FMUs whose binary stands in another platform's folder, and what runs it there."""
import functools
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import fmu_factory

SOURCE = Path(os.environ["FMU_HOST_SOURCE"])
AARCH64 = "aarch64-linux"


@functools.cache
def host():
    """The program that loads binaries, of this platform: strict C99."""
    arguments = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-cast-function-type", "-O1", SOURCE,
                 "-ldl", "-pthread"]
    return fmu_factory.made("fmu_host", arguments, [SOURCE])


def given(program=None, platform=AARCH64, emulator="env"):
    """Options that name everything; `env` starts programs as they are."""
    return ("-subsystem_fmu_platform", platform, "-subsystem_fmu_emulator", emulator, "-subsystem_fmu_host",
            program or host())


def moved(path, folder=AARCH64, suffix=".so"):
    """The FMU with its binaries in this platform's folder alone."""
    with zipfile.ZipFile(path) as whole:
        entries = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            parts = name.split("/")
            if parts[0] == "binaries":
                name = f"binaries/{folder}/{Path(parts[-1]).stem}{suffix}"
            archive.writestr(name, content)
    return path


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def tools(folder):
    """Environment in which scripts are compiler and emulator of aarch64, and make and run what is of this
    platform."""
    folder.mkdir()
    script(folder / "aarch64-linux-gnu-gcc", f'echo called >> "{folder}/compiled"\nexec cc "$@"')
    script(folder / "qemu-aarch64", 'shift 2\nexec "$@"')
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder)}


def run(environment, *words, folder=None):
    return subprocess.run([os.environ["CONCORD_PROGRAM"], *map(str, words)], capture_output=True, text=True,
                          check=False, env=environment, cwd=folder or tempfile.gettempdir())
