#!/usr/bin/python3
"""Checks of the source tree that a compiler does not make: checks.py CHECK ROOT.

Prints one line per finding and exits with 1 when there is one. test_checks.py shows every check
a small bad tree.
"""
import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Which rooms under src/ a room may include, besides itself and include/concord.
BASE = {"signal", "support", "units"}
MODELS = BASE | {"network", "subsystem"}
RUNS = MODELS | {"coupling", "settings", "stepping"}
ALLOWED = {
    "support": set(),
    "units": {"support"},
    "files": {"support"},
    "signal": {"support"},
    "expression": {"support"},
    "subsystem": BASE | {"expression", "files"},
    "network": BASE | {"subsystem"},
    "stepping": {"support"},
    "coupling": MODELS,
    "settings": MODELS | {"coupling", "files"},
    "simulation": RUNS | {"files", "nested"},
    "record": RUNS | {"files", "simulation"},
    "checkpoint": RUNS | {"files", "simulation"},
    "nested": MODELS | {"coupling"},
    "modelfile": RUNS | {"expression", "files", "nested", "record", "simulation"},
    "export": MODELS | {"expression", "files"},
    "whole_fmu": MODELS | {"export", "files", "simulation"},
    "studies": MODELS | {"expression", "files", "modelfile", "record", "simulation"},
    "cli": RUNS | {"checkpoint", "export", "files", "modelfile", "record", "simulation", "studies"},
}
# Which inner rooms of its own room an inner room may include, besides itself; "" is the room's own
# files, which inner rooms may include where "" includes none of them.
INNER = {
    "coupling": {
        "": set(),
        "problem": {""},
        "points": {"", "problem"},
        "estimation": {"", "problem"},
        "implicit": {"", "problem", "points", "estimation"},
        "collocation": {"", "problem", "points"},
        "explicit": {"", "problem", "points"},
        "estimates": {"", "problem", "points", "estimation", "explicit"},
        "registry": {"", "collocation", "explicit", "implicit", "estimates"},
    },
    "network": {"": set(), "schedule": {""}, "placement": {"", "schedule"}},
    "subsystem": {
        "": set(),
        "ode": {""},
        "constraint": {""},
        "delay": {""},
        "driven": {""},
        "slow": {""},
        "native": {""},
        "python": {"", "native"},
        "remote": {""},
        "messages": {"", "ode"},
        "equations": {""},
        "table": set(),
        "fmu/description": set(),
        "fmu/emulated": {""},
        "fmu/binary": {"", "fmu/description", "fmu/emulated"},
        "fmu/clocks": {"fmu/description", "fmu/binary"},
        "fmu": {"", "ode", "fmu/description", "fmu/binary", "fmu/clocks"},
        "fmu/probe": {"fmu"},
        "isolated": {"", "fmu", "native", "python", "remote"},
    },
    "modelfile": {
        "changes": set(),
        "isolated": set(),
        "fmu": {"changes", "isolated"},
        "yaml": {"changes", "fmu", "isolated"},
        "ssp": {"changes", "fmu"},
        "scenario": {"fmu", "yaml"},
        "": {"changes", "fmu", "scenario", "yaml", "ssp"},
    },
}
# These know the Subsystem interface, never a kind of subsystem (a folder below src/subsystem).
NO_KINDS = {"network", "stepping", "coupling", "settings", "simulation", "record"}

MAX_LINES = 600
CODE = {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".in", ".txt"}
CXX = {".cpp", ".hpp", ".h"}
CODE_FOLDERS = ("include", "src", "tests", "examples", "scripts", "cmake", "python")
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


def rooms_of(name):
    """'coupling/points/start.hpp' -> 'coupling', 'points'."""
    room, *inner = name.split("/")[:-1]
    return room, "/".join(inner)


def wrong_include(source, name):
    """Why a file may not include `name`, both below src/; None where it may."""
    (room, inner), (target, target_inner) = rooms_of(source), rooms_of(name)
    if target != room:
        if target not in ALLOWED[room]:
            return f"room '{room}' may not include '{name}'"
        if target == "subsystem" and room in NO_KINDS and target_inner:
            return f"room '{room}' may not know a kind of subsystem ('{name}')"
    elif inner != target_inner and target_inner not in INNER[room][inner]:
        return f"'{room}/{inner}' may not include '{name}'"
    return None


def in_table(source):
    parts = source.split("/")
    if len(parts) == 1 or parts[0] not in ALLOWED:
        return False
    room, inner = rooms_of(source)
    return inner in INNER.get(room, {"": set()})


def check_arrows(root):
    """Each file includes only what ALLOWED and INNER name for its room, by its whole path."""
    src = root / "src"
    for path in (file for file in files(root, ["src"]) if file.suffix in CXX):
        source = path.relative_to(src).as_posix()
        if not in_table(source):
            if "sources" not in path.parts:
                yield f"src/{source}: not in a room of the tables in {Path(__file__).name}"
            continue
        for number, quote, name in includes(path):
            place = f"src/{source}:{number}"
            target = name.split("/")[0]
            if ".." in name.split("/"):
                yield f"{place}: '{name}' climbs; include from src/ ('room/file.hpp')"
            elif target in ALLOWED and "/" in name:
                reason = wrong_include(source, name)
                if reason:
                    yield f"{place}: {reason}"
            elif quote == '"' and target != "concord":
                yield f"{place}: '{name}' is neither 'room/file.hpp' nor 'concord/file.hpp'"


def circle(edges):
    """The nodes that are left when those without open targets are taken away again and again."""
    remaining = dict(edges)
    while True:
        free = [node for node, targets in remaining.items() if not targets & remaining.keys()]
        if not free:
            return sorted(remaining)
        for node in free:
            del remaining[node]


def check_cycles(root):
    """No two folders below src/ include each other, directly or round a circle; nor do rooms."""
    src = root / "src"
    folders, rooms = {}, {}
    for path in (file for file in files(root, ["src"]) if file.suffix in CXX):
        folder = path.relative_to(src).parent
        targets = {Path(name).parent for _, _, name in includes(path) if (src / name).exists()}
        folders.setdefault(folder, set()).update(targets - {folder})
        rooms.setdefault(folder.parts[:1], set()).update(
            target.parts[:1] for target in targets if target.parts[:1] != folder.parts[:1])
    found = circle(folders) or circle(rooms)
    if found:
        yield "rooms include each other: " + ", ".join(
            "/".join(name) if isinstance(name, tuple) else name.as_posix() for name in found)


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


NO_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|^\s*#[^\n]*(?:\\\n[^\n]*)*',
                     re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:]*)")
CLASS = re.compile(r"(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
                   r"(?:[A-Z_]+\s+)?(\w+)\s*(?:final\s*)?(?::(?!:).*)?$", re.DOTALL)


def classes(text):
    """Full names of the classes that are defined in namespaces which have a name."""
    scopes, heading = [], ""
    for token in re.split(r"([{};])", NO_CODE.sub(" ", text)):
        if token == "{":
            namespace, defined = NAMESPACE.match(heading), CLASS.match(heading)
            if defined and None not in scopes:
                yield "::".join([*scopes, defined.group(1)])
            scopes.append(namespace.group(1) or None if namespace else None)
        elif token == "}" and scopes:
            scopes.pop()
        heading = token.strip()


def check_names(root):
    """No two classes share a name and a namespace: linked together they would be one."""
    found = {}
    for path in (file for file in files(root, ("include", "src")) if file.suffix in CXX):
        for name in classes(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(path.relative_to(root).as_posix())
    for name, paths in found.items():
        if len(paths) > 1:
            yield f"two classes are {name}: {', '.join(paths)}"


# Interfaces, and who passes every call of theirs on.
DECORATORS = {"include/concord/subsystem.hpp": "src/subsystem/decorator.hpp",
              "src/coupling/coupling.hpp": "src/coupling/coupling_decorator.hpp"}


def check_decorators(root):
    """What an interface offers its decorator passes on, or it would be lost behind it."""
    for interface, decorator in DECORATORS.items():
        offered = re.findall(r"virtual [^;{(~]*?(\w+)\(", (root / interface).read_text("utf-8"))
        passed = set(re.findall(r"(\w+)\([^;{]*\) (?:const )?override", (root / decorator).read_text("utf-8")))
        for name in offered:
            if name not in passed | {"memory_version"}:
                yield f"{decorator} does not pass on {name}, which {interface} offers"


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
    sources = [str(path) for path in files(root, ("include", "src", "tests", "examples", "python"))
               if path.suffix in CXX]
    if not sources:
        return
    result = subprocess.run([program, f"--style=file:{root / '.clang-format'}", "--dry-run",
                             "-Werror", *sources], capture_output=True, text=True, check=False)
    if result.returncode:
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error:" in line})
        for path in wrong or [result.stderr.strip()]:
            yield f"{path}: run clang-format-{CLANG_FORMAT_VERSION} -i on it"


def tests_of(path):
    """Names of the classes with tests in a script that runs them, without those that are others' bases."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if "unittest.main()" not in path.read_text(encoding="utf-8"):
        return []
    classes_ = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {base.id for node in classes_ for base in node.bases if isinstance(base, ast.Name)}
    return [node.name for node in classes_ if node.name not in bases and
            any(isinstance(part, ast.FunctionDef) and part.name.startswith("test") for part in node.body)]


def check_tests(root):
    """Every class with tests is one that its folder's CMakeLists.txt names, or its whole script is."""
    for script in sorted((root / "tests").glob("*/*.py")):
        listed = script.with_name("CMakeLists.txt")
        known = listed.read_text(encoding="utf-8") if listed.exists() else ""
        if script.name not in known or re.search(rf"[ /]{re.escape(script.name)}\)", known):
            continue
        for name in tests_of(script):
            if not re.search(rf"\b{name}\b", known):
                yield f"{script.relative_to(root)}: no test runs '{name}'; name it in {listed.relative_to(root)}"


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
