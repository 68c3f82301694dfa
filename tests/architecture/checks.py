#!/usr/bin/python3
"""Checks of the source tree that a compiler does not make: checks.py CHECK ROOT.

Prints one line per finding and exits with 1 when there is one. test_checks.py shows every check
a small bad tree.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Which rooms under src/ a room may include, besides itself and include/concord.
ALLOWED = {
    "support": set(),
    "signal": {"support"},
    "expression": {"support"},
    "subsystem": {"expression", "signal", "support"},
    "network": {"subsystem", "signal", "support"},
    "stepping": {"support"},
    "coupling": {"network", "subsystem", "signal", "support"},
    "simulation": {"coupling", "stepping", "network", "subsystem", "signal", "support"},
    "record": {"simulation", "coupling", "stepping", "network", "subsystem", "signal", "support"},
    "modelfile": {"simulation", "coupling", "stepping", "network", "subsystem", "expression",
                  "signal", "support"},
    "cli": {"modelfile", "record", "simulation", "coupling", "stepping", "network", "subsystem",
            "signal", "support"},
}
# These know the Subsystem interface, never a kind of subsystem (a folder below src/subsystem).
NO_KINDS = {"network", "stepping", "coupling", "simulation", "record"}

MAX_LINES = 600
CODE = {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".in", ".txt"}
CXX = {".cpp", ".hpp", ".h"}
CODE_FOLDERS = ("include", "src", "tests", "examples", "scripts", "cmake")
CLANG_FORMAT_VERSION = "14"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MACHINE = re.compile(
    r"(?<![\w.}-])/(?:home|Users)/\w+|(?<![\w.}-])/root/|(?<![\w.}-])/work/"
    r"|\bdeb\.debian\.org|\bsecurity\.debian\.org|\bpypi\.org|\bpythonhosted\.org"
    r"|\banaconda\.org|\bindex-url\b|/etc/apt/|\bproxy\.golang\.org|\bregistry\.npmjs\.org")


def files(root, folders=None):
    """Files of the tree, without build trees, .git and what belongs to neither."""
    starts = [root / folder for folder in folders] if folders else [root]
    for start in starts:
        for path, subfolders, names in os.walk(start):
            subfolders[:] = sorted(
                name for name in subfolders if name not in (".git", "__pycache__", "build")
                and not (Path(path) / name / "CMakeCache.txt").exists())
            yield from (Path(path) / name for name in sorted(names) if name != ".git")


def includes(path):
    """(line number, quoted or angle, included name) of every #include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def check_arrows(root):
    """Each room includes only rooms that ALLOWED names, and nobody includes above itself."""
    src = root / "src"
    for path in (file for file in files(root, ["src"]) if file.suffix in CXX):
        parts = path.relative_to(src).parts
        room = parts[0]
        if len(parts) == 1 or room not in ALLOWED:
            yield f"{path.relative_to(root)}: not in a room of the table in {Path(__file__).name}"
            continue
        for number, quote, name in includes(path):
            place = f"{path.relative_to(root)}:{number}"
            target = name.split("/")[0]
            if ".." in name.split("/"):
                yield f"{place}: '{name}' climbs; include from src/ ('room/file.hpp')"
            elif target in ALLOWED and target != room:
                if target not in ALLOWED[room]:
                    yield f"{place}: room '{room}' may not include '{name}'"
                elif target == "subsystem" and room in NO_KINDS and name.count("/") > 1:
                    yield f"{place}: room '{room}' may not know a kind of subsystem ('{name}')"
            elif quote == '"' and target not in ALLOWED and target != "concord":
                yield f"{place}: '{name}' is neither 'room/file.hpp' nor 'concord/file.hpp'"


def check_cycles(root):
    """No two rooms include each other, directly or round a circle."""
    src = root / "src"
    edges = {}
    for path in (file for file in files(root, ["src"]) if file.suffix in CXX):
        room = path.relative_to(src).parts[0]
        targets = {name.split("/")[0] for _, _, name in includes(path)}
        edges.setdefault(room, set()).update(
            target for target in targets if target != room and (src / target).is_dir())
    remaining = dict(edges)
    while remaining:
        free = [room for room, targets in remaining.items() if not targets & remaining.keys()]
        if not free:
            yield "rooms include each other: " + ", ".join(sorted(remaining))
            return
        for room in free:
            del remaining[room]


def check_public(root):
    """include/concord includes only itself, the standard library and MPI's header."""
    for path in files(root, ["include"]):
        for number, _, name in includes(path):
            if not name.startswith("concord/") and not re.fullmatch(r"[a-z0-9_]+|mpi\.h", name):
                yield (f"{path.relative_to(root)}:{number}: a public header may include only "
                       f"'concord/...', the standard library and mpi.h, not '{name}'")


def check_length(root):
    for path in (file for file in files(root, CODE_FOLDERS) if file.suffix in CODE):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield f"{path.relative_to(root)}: {lines} lines, more than {MAX_LINES}: split it"


def check_places(root):
    """No paths of one machine and no package hosts, in any file."""
    for path in files(root):
        if (root / "tests" / "architecture") in path.parents:
            continue  # the patterns themselves and the bad samples
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            match = MACHINE.search(line)
            if match:
                yield f"{path.relative_to(root)}:{number}: '{match.group()}' belongs to one machine"


def clang_format():
    for name in (f"clang-format-{CLANG_FORMAT_VERSION}", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True,
                                     check=True).stdout
            if f"version {CLANG_FORMAT_VERSION}." in version:
                return program
    return None


def check_format(root):
    program = clang_format()
    if not program:
        yield f"clang-format {CLANG_FORMAT_VERSION} is not installed"
        return
    sources = [str(path) for path in files(root, ("include", "src", "tests", "examples"))
               if path.suffix in CXX]
    if not sources:
        return
    result = subprocess.run([program, f"--style=file:{root / '.clang-format'}", "--dry-run",
                             "-Werror", *sources], capture_output=True, text=True, check=False)
    if result.returncode:
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error:" in line})
        for path in wrong or [result.stderr.strip()]:
            yield f"{path}: run clang-format-{CLANG_FORMAT_VERSION} -i on it"


CHECKS = {name[6:]: function for name, function in dict(globals()).items()
          if name.startswith("check_")}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: checks.py {{{','.join(CHECKS)}}} ROOT")
    findings = list(CHECKS[sys.argv[1]](Path(sys.argv[2]).resolve()))
    print("\n".join(findings))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
