"""Every option that a page or an options file names is one that `concord --help` lists.

usage: options.py CONCORD PAGE...
"""
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"-((?:cosim|subsystem|missiles)_[a-z_]*[a-z])(?![\w<*]|\.\.\.)")
OF_PETSC = re.compile(r"missiles_(ksp|pc|sub|mat)")


def known_options(concord):
    text = subprocess.run([concord, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  -((?:cosim|subsystem|missiles)_\w+)", text, re.M))


def generic(name, known):
    """subsystem_left_rtol is subsystem_rtol of one subsystem."""
    ends = (option.removeprefix("subsystem_") for option in known
            if option.startswith("subsystem_"))
    own = next((end for end in ends if name.endswith("_" + end)), None)
    return f"subsystem_{own}" if name.startswith("subsystem_") and own else name


def main():
    concord, *pages = sys.argv[1:]
    known = known_options(concord)
    assert len(known) > 40, known
    count = 0
    for page in map(pathlib.Path, pages):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for name in NAME.findall(line):
                count += 1
                assert OF_PETSC.match(name) or generic(name, known) in known, \
                    f"{page.name}:{number}: -{name} is no option"
    assert count > 100, count
    print(f"{count} options named")


main()
