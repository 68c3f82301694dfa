"""What paper.md cites is in paper.bib, all of it; CITATION.cff has what cff 1.2.0 asks for, and the project's version.

usage: paper.py ROOT VERSION
"""
import re
import sys
from pathlib import Path

import yaml

REQUIRED = ("cff-version", "message", "title", "authors")
HEADER = ("title", "tags", "authors", "affiliations", "date", "bibliography")


def check_paper(root):
    _, header, text = (root / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    header = yaml.safe_load(header)
    assert all(header.get(key) for key in HEADER), header
    bibliography = (root / header["bibliography"]).read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,\s]+),$", bibliography, re.M)
    cited = set(re.findall(r"(?<!\w)@([A-Za-z]\w*)", text))
    assert len(keys) == len(set(keys)), f"twice in paper.bib: {keys}"
    assert cited == set(keys), f"cited and not in paper.bib, or there and not cited: {cited ^ set(keys)}"
    for key in ("author", "title"):
        assert len(re.findall(rf"^  {key} *= ", bibliography, re.M)) == len(keys), f"an entry has no {key}"
    return len(keys)


def check_citation(root, version):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert all(citation.get(key) for key in REQUIRED), citation
    assert citation["cff-version"] == "1.2.0", citation["cff-version"]
    assert all("name" in author or "family-names" in author for author in citation["authors"]), citation["authors"]
    assert citation["version"] == version, f"CITATION.cff: version {citation['version']}, the project has {version}"
    assert citation["license"] == "BSD-2-Clause", citation["license"]


def main():
    root, version = Path(sys.argv[1]), sys.argv[2]
    count = check_paper(root)
    check_citation(root, version)
    print(f"{count} references")


main()
