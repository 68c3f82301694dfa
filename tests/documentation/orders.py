"""The orders that the manual prints are those that the program has.

A table of errors follows a comment `<!-- measured: MODEL -->`; its head names steps in s, its rows the options of a
run in their first cell. Each error is the relative L2 norm, over all communication points, of the output where it is
largest, against `monolithic` with tolerances of 1e-12; the last cell is the order between the last two.

usage: orders.py ROOT PAGE.md...            measures again, and compares
       orders.py --write ROOT PAGE.md...    puts what it measures into the pages
"""
import math
import re
import sys
from functools import lru_cache
from pathlib import Path

import concord
import numpy as np

TABLE = re.compile(r"^<!-- measured: (\S+) -->\n\n?(\|.*\n)(\|[-| ]+\n)((?:\|.*\n)+)", re.M)
TIGHT = {"subsystem_rtol": 1e-12, "cosim_rtol": 1e-12, "cosim_atol": 1e-12, "cosim_record": "outputs"}
FLOOR = 2e-9  # below it integrators and reference count, too


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


@lru_cache
def reference(model, step):
    return concord.run(model, cosim_type="monolithic", cosim_step=step, **TIGHT)


def options_of(text):
    words = text.strip("`").split()
    assert len(words) % 2 == 0 and all(word.startswith("-") for word in words[::2]), text
    return {name[1:]: value for name, value in zip(words[::2], words[1::2])}


def error(model, step, options):
    run, exact = concord.run(model, cosim_step=step, **{**TIGHT, **options}), reference(model, step)
    assert len(run["time"]) == len(exact["time"]), (model, step, options)
    return max(float(np.linalg.norm(run[name] - exact[name]) / np.linalg.norm(exact[name]))
               for name in exact if name != "time" and not name.endswith(".residual") and np.any(exact[name]))


def measured(model, head, row):
    steps = [float(re.search(r"[\d.e-]+$", cell.replace(" s", ""))[0]) for cell in head[1:-1]]
    errors = []
    for step in steps:
        try:
            errors.append(error(model, step, options_of(row[0])))
        except concord.SimulationError:
            errors.append(math.nan)
    order = math.log(errors[-2] / errors[-1]) / math.log(steps[-2] / steps[-1])
    last = f"{order:.2f}" if order == order else ""
    return [f"{value:.2e}" if value == value else "fails" for value in errors] + [last]


def agree(said, found):
    if "fails" in (said, found):
        return said == found
    said, found = float(said), float(found)
    return abs(found - said) <= 0.05 * said or max(said, found) < FLOOR


def rows_of(match, root):
    model, head = root / match.group(1), cells(match.group(2))
    for line in match.group(4).splitlines():
        row = cells(line)
        yield row, measured(model, head, row)


def written(match, root):
    rows = "".join("| " + " | ".join([row[0], *values]) + " |\n" for row, values in rows_of(match, root))
    return match.group(0)[: match.start(4) - match.start(0)] + rows


def main():
    root, *pages = map(Path, [word for word in sys.argv[1:] if word != "--write"])
    count = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if "--write" in sys.argv:
            page.write_text(TABLE.sub(lambda match: written(match, root), text), encoding="utf-8")
            continue
        for match in TABLE.finditer(text):
            for row, values in rows_of(match, root):
                count += 1
                errors = list(zip(row[1:-1], values[:-1]))
                assert all(agree(*pair) for pair in errors), f"{page.name}: {row}: measured {values}"
                if "fails" not in values and float(values[-2]) > FLOOR:
                    assert abs(float(row[-1]) - float(values[-1])) < 0.1, f"{page.name}: {row}: measured {values}"
    assert "--write" in sys.argv or count > 10, count
    print(f"{count} rows of errors measured again")


main()
