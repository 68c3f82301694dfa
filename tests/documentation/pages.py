"""The blocks of Markdown pages, with what is said about them in comments that forges do not show.

`<!-- file: NAME -->` before a block: the commands of the page find it under that name.
`<!-- before: COMMAND -->` anywhere: what is done in their folder before all.
`<!-- exit code: N -->` before commands: they end so. `<!-- shown: ... -->` before text: one of the page's commands
has written these lines, whatever their figures. `<!-- from: PATH -->` before a block: the file has these lines. `<!-- not run: REASON -->` before a block: it does not.
"""
import re
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"((?:^<!-- (?:file|before|exit code|shown|from|not run): [^\n]* -->\n)*)^```(\w*)\n(.*?)^```$", re.M | re.S)
SAID = re.compile(r"^<!-- (file|before|exit code|shown|from|not run): (.*) -->$", re.M)


@dataclass
class Block:
    page: Path
    line: int       # of its first line of text
    language: str   # "sh", "yaml", ...
    text: str
    said: dict      # of the comments before it

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield Block(page, text[: match.start(3)].count("\n") + 1, match.group(2), match.group(3),
                    dict(SAID.findall(match.group(1))))


def before(page):
    """What is done in the page's folder before its commands."""
    return [command for what, command in SAID.findall(page.read_text(encoding="utf-8")) if what == "before"]


COMMAND = re.compile(r"^ {4}((?:mpirun -n \d+ )?build/bin/concord(?:_chain|_embedded)? .*\n(?:^ {6,}\S.*\n)*)", re.M)


def indented_commands(page):
    """Calls of the program in the indented blocks of an example's page; scripts beside them have their own tests."""
    text = page.read_text(encoding="utf-8")
    for match in COMMAND.finditer(text):
        yield Block(page, text[: match.start()].count("\n") + 1, "sh", match.group(1), {})
