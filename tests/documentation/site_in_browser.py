"""The manual's site in a browser without network: pages have no complaint on the console, formulas are set, every
link of the site leads to a file of it. Pictures of the pages go to a folder, to be looked at.

usage: site_in_browser.py SITE PICTURES
"""
import html.parser
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

PAGES = ("doc/index", "doc/first_hour", "doc/methods/missiles", "doc/order_six", "doc/validation", "python_reference",
         "reference/index")
BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000",
           "--window-size=1400,1400", "--hide-scrollbars", "--enable-logging=stderr"]


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found.update(value for name, value in attrs if name in ("href", "src") and value)


def dead_links(site):
    for page in site.rglob("*.html"):
        if "_static" in page.parts or "reference" in page.parts:
            continue  # of MathJax and Doxygen
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        for link in links.found:
            parts = urllib.parse.urlsplit(link)
            path = page.parent / urllib.parse.unquote(parts.path)
            if not parts.scheme and parts.path and not path.exists():
                yield f"{page.relative_to(site)}: {link}"


def look(site, name, pictures):
    """What the browser makes of the page's formulas, after its scripts."""
    address = (site / f"{name}.html").as_uri()
    picture = pictures / f"{name.replace('/', '_')}.png"
    subprocess.run([*BROWSER, f"--screenshot={picture}", address], capture_output=True, timeout=120, check=True)
    run = subprocess.run([*BROWSER, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True)
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, f"{name}: {complaints}"
    return run.stdout.count("mjx-chtml")


def found(site, words):
    """What the site's search finds for these words, as its reader types them."""
    address = (site / "search.html").as_uri() + "?q=" + urllib.parse.quote(words)
    run = subprocess.run([*BROWSER, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True)
    return re.findall(r'<li[^>]*><a href="([^"?#]+)', run.stdout.partition('id="search-results"')[2])


def main():
    site, pictures = (Path(name).resolve() for name in sys.argv[1:])
    pictures.mkdir(parents=True, exist_ok=True)
    dead = list(dead_links(site))
    assert not dead, "\n".join(dead)
    formulas = {name: look(site, name, pictures) for name in PAGES}
    assert min(formulas["doc/order_six"], formulas["doc/methods/missiles"]) > 20, formulas
    for option in ("-cosim_extrapolation", "cosim_extrapolation", "--dialect"):
        pages = found(site, option)
        assert any(page.startswith("doc/") for page in pages) and len(pages) < 40, f"search for {option}: {pages}"
    print(f"{len(PAGES)} pages, pictures in {pictures}: {formulas}")


main()
