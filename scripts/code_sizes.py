#!/usr/bin/python3
"""How long functions and files are, and how many members classes have: code_sizes.py [TREE]...

Per tree (default: this one) median, 90th percentile and largest of src/ and include/, from
universal-ctags (Debian: universal-ctags), and every class of more than 15 members.
"""
import collections
import json
import statistics
import subprocess
import sys
from pathlib import Path

MOST_MEMBERS = 15


def tags(tree):
    command = ["ctags", "-R", "--languages=C++", "--c++-kinds=fmcs", "--fields=+neKSt", "--output-format=json",
               "-f", "-", "src", "include"]
    output = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def row(name, numbers):
    ordered = sorted(numbers)
    ninety = ordered[int(0.9 * (len(ordered) - 1))]
    print(f"  {name:<22} {len(ordered):6} {statistics.median(ordered):8.0f} {ninety:8} {ordered[-1]:8}")


def measure(tree):
    found = tags(tree)
    functions = [tag["end"] - tag["line"] + 1 for tag in found
                 if tag.get("kind") == "function" and "end" in tag]
    members = collections.Counter(
        tag["scope"] for tag in found if tag.get("kind") == "member" and "scope" in tag
        and "static" not in tag.get("properties", ""))
    kinds = {tag["name"] for tag in found if tag.get("kind") == "class"}
    classes = {name: count for name, count in members.items() if name.split("::")[-1] in kinds}
    files = [len(path.read_text().splitlines()) for folder in ("src", "include")
             for path in (Path(tree) / folder).rglob("*.[ch]pp")]
    print(f"{tree}\n  {'':<22} {'count':>6} {'median':>8} {'90 %':>8} {'largest':>8}")
    row("lines per function", functions)
    row("lines per file", files)
    row("members per class", list(classes.values()))
    for name, count in sorted(classes.items(), key=lambda item: -item[1]):
        if count > MOST_MEMBERS:
            print(f"    {name.replace('concord::', '')}: {count}")


if __name__ == "__main__":
    for checkout in sys.argv[1:] or [Path(__file__).resolve().parents[1]]:
        measure(checkout)
