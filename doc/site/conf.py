"""The manual as a site: scripts/manual.sh calls Sphinx with it. The sources are Markdown that reads on a
forge as it stands; what the site needs beside it, the tree of pages and where links to folders lead, is made
here of the pages' own links."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ["CONCORD_ROOT"])
sys.path.insert(0, str(ROOT / "python"))

project = "Concord"
author = "the Concord developers"
version = re.search(r"project\(\s*Concord\s+VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
release = version
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon",
              "sphinx.ext.mathjax"]
root_doc = "doc/index"
include_patterns = ["README.md", "CHANGELOG.md", "doc/**.md", "python_reference.rst", "examples/*/README.md",
                    "packaging/README.md", "src/record/FORMAT.md", "src/coupling/README.md",
                    ".github/CONTRIBUTING.md"]
highlight_language = "none"
default_role = "code"
smartquotes = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False  # of version 3; Debian has 2
suppress_warnings = ["myst.header"]  # chapters that are included under other ones begin at any level

autodoc_mock_imports = ["concord._concord", "concord._location"]  # built; not needed to be read
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"
html_title = f"Concord {version}"
html_static_path = ["style.css", "search_options.js"]
html_css_files = ["style.css"]
html_js_files = [("search_options.js", {"defer": "defer"})]
html_copy_source = False
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_CHTML"  # Debian's, which scripts/manual.sh puts there
mathjax2_config = {"tex2jax": {"processClass": "math"}, "messageStyle": "none"}

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
REFERENCE = "include/concord"  # Doxygen's pages
PYTHON_REFERENCE = "python/concord"
# Pages whose links to others are the tree of pages, and which links of them.
CONTENTS = {"doc/index": "", "doc/methods/README": "doc/methods/", "doc/packages": "packaging/",
            "README": "examples/"}


def target(docname, path):
    """What a link of that page leads to, from the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(docname), path))


def to_site(docname, match):
    """A link to a folder: to its README, to a reference that the site has, or no link."""
    text, path, anchor = match.group(1), match.group(2), match.group(3) or ""
    if re.match(r"[a-z]+:", path):
        return match.group(0)
    where = target(docname, path)
    up = os.path.relpath(".", os.path.dirname(docname) or ".")
    if where == REFERENCE:
        return f'<a href="{up}/reference/index.html">{text}</a>'
    if where == PYTHON_REFERENCE:
        return f"[{text}]({up}/python_reference.rst)"
    if (ROOT / where).is_dir():
        return f"[{text}]({path.rstrip('/')}/README.md{anchor})" if (ROOT / where / "README.md").exists() else text
    return match.group(0)


def tree_of_pages(docname, text):
    """Hidden tables of contents: one for each heading of the page, of the pages that its links name."""
    trees, seen = {}, set()
    if docname == root_doc:
        text = re.sub(r"^\|.*$", "", text, flags=re.M)  # its table leads to pages that its lists have, too
    for section in re.split(r"^## ", f"{project}\n{text}", flags=re.M):
        caption = section.partition("\n")[0]
        for _, path, _ in LINK.findall(section):
            where = target(docname, path)
            if (ROOT / where).is_dir():
                where = {PYTHON_REFERENCE: "python_reference"}.get(where, f"{where}/README")
            where = where.removesuffix(".md")
            known = where == "python_reference" or (ROOT / f"{where}.md").exists()
            if known and where not in seen and where.startswith(CONTENTS[docname]) and where != docname:
                seen.add(where)
                trees.setdefault(caption, []).append(f"/{where}")
    if docname == root_doc:
        left = {f"doc/{page.stem}" for page in (ROOT / "doc").glob("*.md")} - seen - {docname}
        trees["More"] = [f"/{name}" for name in sorted(left)]
    trees = {caption: pages for caption, pages in trees.items() if pages}
    for caption, pages in trees.items():
        name = f":caption: {caption}\n" if docname == root_doc else ""
        yield f"\n```{{toctree}}\n:hidden:\n{name}\n" + "\n".join(pages) + "\n```\n"


def read_source(_, docname, source):
    if docname == "python_reference":
        return
    text = source[0]
    fences = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    linked = "".join(part if part.startswith("```") else LINK.sub(lambda m: to_site(docname, m), part)
                     for part in fences)
    trees = "".join(tree_of_pages(docname, text)) if docname in CONTENTS else ""
    source[0] = linked + trees


def skip_member(_, what, name, obj, skip, options):
    """Fields of named tuples: their class says what they are."""
    return skip or (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")


def setup(app):
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", read_source)
