"""Builds what `pip install .` installs (PEP 517, PEP 427): what `cmake --install` installs.

Packages go where Python has its own, the program and its library below the same prefix, so that
the paths between them are those of an installation by CMake. `--config-settings build=FOLDER`
takes a build that is there (for the same Python) instead of build/pip.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "concord_cosimulation"  # `concord` is another project's in the Python Package Index
TARGETS = ["concord_program", "concord_subsystem_host", "concord_python"]
LEFT_OUT = ("include/", "lib/cmake/")  # C++ programs need CMake's own installation


def build_sdist(sdist_directory, config_settings=None):
    sys.exit("concord: error: there is no source distribution; clone the repository")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Gives the wheel's file name."""
    folder = (config_settings or {}).get("build") or _configured()
    _call("cmake", "--build", folder, "--parallel", "--target", *TARGETS)
    with tempfile.TemporaryDirectory() as prefix:
        _call("cmake", "--install", folder, "--strip", "--prefix", prefix)
        name = f"{NAME}-{_version()}-{_tag()}.whl"
        with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED,
                             compresslevel=1) as wheel:
            _fill(wheel, Path(prefix))
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without a build."""
    folder = Path(metadata_directory, f"{NAME}-{_version()}.dist-info")
    folder.mkdir()
    for name, text in _about().items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.name


def _configured():
    folder = ROOT / "build" / "pip"
    _call("cmake", "-S", ROOT, "-B", folder, "-D", "CONCORD_TESTS=OFF", "-D",
          "CMAKE_UNITY_BUILD:BOOL=ON", "-D", "CMAKE_INSTALL_PREFIX=/usr/local", "-D",
          f"Python_EXECUTABLE={sys.executable}",
          *(["-G", "Ninja"] if shutil.which("ninja") else []))
    return folder


def _call(*command):
    # What pip hides from this process, Python programs that the build runs may use.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr,
                       env=environment)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"concord: error: {error}; what the build needs, scripts/install_packages.sh "
                 "installs")


def _fill(wheel, prefix):
    record = []

    def add(name, content, mode=0o644):
        info = zipfile.ZipInfo(name)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")

    data, about = f"{NAME}-{_version()}.data/data/", f"{NAME}-{_version()}.dist-info/"
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix).as_posix()
        if path.is_file() and not name.startswith(LEFT_OUT) and not _is_another_name(path):
            package = re.fullmatch(r"lib/python[^/]*/[a-z]+-packages/(.*)", name)
            add(package[1] if package else data + name, path.read_bytes(),
                0o755 if os.access(path, os.X_OK) else 0o644)
    if not any(line.startswith("concord/_concord") for line in record):
        sys.exit("concord: error: the Python package was not built: pybind11-dev or libpython3-dev "
                 "is missing, see scripts/install_packages.sh")
    for name, text in _about().items():
        add(about + name, text.encode())
    record.append(about + "RECORD,,")
    wheel.writestr(about + "RECORD", "\n".join(record) + "\n")


def _is_another_name(path):
    """Wheels have no symbolic links: of a library only the name that is asked for, libx.so.0."""
    return ".so" in path.name and path.parent.name == "lib" and not re.search(r"\.so\.\d+$",
                                                                              path.name)


def _version():
    return re.search(r"project\(Concord VERSION ([0-9.]+)",
                     (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-" + re.sub("[-.]", "_", sysconfig.get_platform())


def _about():
    """Files of the wheel that tell of it."""
    return {"METADATA": _metadata(),
            "WHEEL": "Wheel-Version: 1.0\nGenerator: concord\nRoot-Is-Purelib: false\n"
                     f"Tag: {_tag()}\n"}


def _metadata():
    """h5py is an extra, as pip does not know Debian's by that name and would want another one."""
    return (f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {_version()}\n"
            "Summary: Parallel implicit co-simulation\n"
            "Requires-Python: >=3.8\n"
            "Requires-Dist: numpy\n"
            "Provides-Extra: all\n" +
            "".join(f"Requires-Dist: {package}; extra == 'all'\n"
                    for package in ("h5py", "pandas", "xarray", "tqdm", "mpi4py")))
