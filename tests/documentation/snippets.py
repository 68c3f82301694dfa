"""Every YAML snippet of the documentation that is a whole model is one that `concord check` takes.

usage: snippets.py CONCORD PAGE.md...
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def snippets(page):
    """The YAML blocks that stand for themselves: with subsystems that need no file."""
    for match in re.finditer(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S):
        text = match.group(1)
        if "experiment:" in text and not re.search(r"\b(fmu|native|library):", text):
            yield page.read_text()[: match.start()].count("\n") + 2, text


def main():
    concord, *pages = sys.argv[1:]
    count = 0
    for page in map(pathlib.Path, pages):
        for line, text in snippets(page):
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder, "model.yaml")
                model.write_text(text)
                run = subprocess.run([concord, "check", model], capture_output=True, text=True)
            assert run.returncode == 0, f"{page.name}:{line}: {run.stderr}"
            count += 1
    assert count >= len(pages), "no snippet was found"
    print(f"{count} snippets")


main()
