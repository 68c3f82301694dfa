"""No link of a page leads nowhere: files and folders are there, headings too.

usage: links.py ROOT PAGE.md...
"""
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def anchors(page):
    """As forges make them of headings: lower case, blanks to dashes, a number behind a second one."""
    found = {}
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for heading in re.findall(r"^#{1,6} +(.*?) *$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {slug if number == 0 else f"{slug}-{number}" for slug, last in found.items() for number in range(last + 1)}


def off_the_site(page, root):
    """Pages are found by patterns (doc/site/conf.py), in folders that are linked into the site (scripts/manual.sh)."""
    folders = re.search(r"for name in (.*?); do", (root / "scripts/manual.sh").read_text(encoding="utf-8"), re.S)
    patterns = re.search(r"include_patterns = \[(.*?)\]", (root / "doc/site/conf.py").read_text(encoding="utf-8"), re.S)
    if page.relative_to(root).parts[0] not in folders[1].replace("\\", " ").split():
        yield f"{page.relative_to(root)}: its folder is not in scripts/manual.sh"
    if not any(fnmatch(page.relative_to(root).as_posix(), pattern)
               for pattern in re.findall(r'"([^"]+)"', patterns[1])):
        yield f"{page.relative_to(root)}: no pattern of doc/site/conf.py has it"


def dead(page, root, pages):
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or not there.is_relative_to(root):
            yield f"{page.relative_to(root)}: {link} leads nowhere"
        elif there.suffix == ".md" and there not in pages:
            yield f"{page.relative_to(root)}: {link} is no page of the manual (tests/documentation/CMakeLists.txt)"
        elif anchor and (there.suffix != ".md" or anchor not in anchors(there)):
            yield f"{page.relative_to(root)}: {link}: no such heading"


def main():
    root, *pages = (Path(path).resolve() for path in sys.argv[1:])
    faults = [fault for page in pages for fault in (*dead(page, root, pages), *off_the_site(page, root))]
    assert not faults, "\n".join(faults)
    print(f"links of {len(pages)} pages")


main()
