"""Every option that a page or an options file names is one that `concord --help-all` lists, and doc/options.md lists all.

usage: options.py CONCORD PAGE...
       options.py --table CONCORD         prints the rows of doc/options.md
"""
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"-((?:cosim|subsystem|missiles)_[a-z_]*[a-z])(?![\w<*]|\.\.\.)")
OF_PETSC = re.compile(r"missiles_(ksp|pc|sub|mat)")


def known_options(concord):
    """{"cosim_type": its line of help}."""
    text = subprocess.run([concord, "--help-all"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^  -((?:cosim|subsystem|missiles)_\w+) +(.*)", text, re.M))


def row(name, text):
    """Name, default, meaning: of a line of help."""
    meaning, default = re.fullmatch(r"(.*?)(?: \(default (.*)\))?", text).groups()
    return f"| `-{name}` | {default or ''} | {meaning.replace('|', chr(92) + '|').replace('<', '&lt;')} |"


def generic(name, known):
    """subsystem_left_rtol is subsystem_rtol of one subsystem."""
    ends = (option.removeprefix("subsystem_") for option in known
            if option.startswith("subsystem_"))
    own = next((end for end in ends if name.endswith("_" + end)), None)
    return f"subsystem_{own}" if name.startswith("subsystem_") and own else name


def main():
    concord, *pages = [word for word in sys.argv[1:] if word != "--table"]
    known = known_options(concord)
    rows = [row(name, text) for name, text in known.items() if not name.startswith("subsystem_<")]
    if "--table" in sys.argv:
        print("\n".join(rows))
        return
    assert len(known) > 40, known
    count = 0
    for page in map(pathlib.Path, pages):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for name in NAME.findall(line):
                count += 1
                assert OF_PETSC.match(name) or generic(name, known) in known, \
                    f"{page.name}:{number}: -{name} is no option"
        if page.name == "options.md":
            missing = [line for line in rows if line not in page.read_text(encoding="utf-8").splitlines()]
            assert not missing, "not in doc/options.md as --help-all has it: " + "\n".join(missing)
    assert count > 100, count
    print(f"{count} options named")


main()
