"""Every YAML snippet of the documentation that is a whole model is one that `concord check` takes.

usage: snippets.py CONCORD PAGE.md...
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import blocks_of


def snippets(page):
    """The YAML blocks that stand for themselves: with subsystems that need no file."""
    for block in blocks_of(page):
        if block.language == "yaml" and "experiment:" in block.text and \
                not re.search(r"\b(fmu|native|python|library|table):", block.text):
            yield block


def main():
    concord, *pages = sys.argv[1:]
    count = 0
    for page in map(pathlib.Path, pages):
        for block in snippets(page):
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder, "model.yaml")
                model.write_text(block.text)
                run = subprocess.run([concord, "check", model], capture_output=True, text=True)
            assert run.returncode == 0, f"{block}: {run.stderr}"
            count += 1
    assert count >= 7, f"only {count} snippets were found"
    print(f"{count} snippets")


main()
