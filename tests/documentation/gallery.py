"""The gallery shows pictures that its commands draw, with a model behind each, and the folder holds no others.

usage: gallery.py ROOT
"""
import re
import sys
from pathlib import Path


def main():
    root = Path(sys.argv[1])
    page = (root / "doc/gallery.md").read_text(encoding="utf-8")
    shown = set()
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        title = section.partition("\n")[0]
        models = re.findall(r"\]\((\.\./examples/[^)]+)\)", section)
        pictures = re.findall(r"!\[[^\]]{10,}\]\(pictures/gallery/([^)]+)\)", section)
        commands = "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S))
        assert models and all((root / "doc" / model).exists() for model in models), title
        assert len(pictures) == 1, title
        drawn = Path(pictures[0]).stem
        assert re.search(rf"\b{drawn}\.(png|csv)\b", commands), f"{title}: no command draws {pictures[0]}"
        shown.update(pictures)
    there = {path.name for path in (root / "doc/pictures/gallery").iterdir()}
    assert shown == there, f"shown and not there: {shown - there}, there and not shown: {there - shown}"
    for name in shown:
        assert (root / "doc/pictures/gallery" / name).read_bytes().startswith(b"\x89PNG"), name
    print(f"{len(shown)} pictures")


main()
