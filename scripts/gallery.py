#!/usr/bin/env python3
"""Makes the pictures of doc/gallery.md by the commands beside them: gallery.py CONCORD. What the page shows is then in
doc/pictures/gallery, and nothing else."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc" / "gallery.md"
PICTURES = ROOT / "doc" / "pictures" / "gallery"


def main(concord):
    text = PAGE.read_text(encoding="utf-8")
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S))
    wanted = re.findall(r"\]\(pictures/gallery/([^)]+)\)", text)
    environment = {**os.environ, "PATH": f"{Path(concord).resolve().parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, check=True)
        shutil.rmtree(PICTURES, ignore_errors=True)
        PICTURES.mkdir(parents=True)
        for name in wanted:
            shutil.copy(Path(folder) / name, PICTURES / name)
    print(f"{len(wanted)} pictures in {PICTURES.relative_to(ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
