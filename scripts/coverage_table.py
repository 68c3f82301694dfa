"""A table of rooms, folders of src/, from gcovr's JSON: shares of lines and branches that have run, by each file
given in turn (scripts/coverage.sh); with --lines what has not run in a room, by the last of them.

    python3 scripts/coverage_table.py build/coverage/units.json [all.json] [--lines src/stepping]
"""
import argparse
import json
from collections import defaultdict
from pathlib import PurePosixPath


class Counts:
    def __init__(self):
        self.lines = self.lines_run = self.branches = self.branches_run = 0

    def add(self, line):
        self.lines += 1
        self.lines_run += line["count"] > 0
        self.branches += len(line["branches"])
        self.branches_run += sum(branch["count"] > 0 for branch in line["branches"])

    def shares(self):
        return [f"{100 * run / of:.1f}" if of else "-"
                for run, of in ((self.lines_run, self.lines), (self.branches_run, self.branches))]


def read(path):
    """Lines that count, by file."""
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    return {one["file"]: [line for line in one["lines"] if not line.get("gcovr/noncode")] for one in files}


def room_of(file):
    """The folder below src, one level of those that hold others."""
    return "/".join(PurePosixPath(file).parts[1:-1][:2])


def by_room(files):
    rooms = defaultdict(Counts)
    for file, lines in files.items():
        for line in lines:
            for room in (room_of(file), "all"):
                rooms[room].add(line)
    return rooms


def ranges(numbers):
    """1, 2, 3, 7 as "1-3, 7"."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--lines", help="a folder or file")
    asked = parser.parse_args()
    tables = [read(path) for path in asked.files]
    if asked.lines:
        for file, lines in sorted(tables[-1].items()):
            missing = [line["line_number"] for line in lines if line["count"] == 0]
            if file.startswith(asked.lines) and missing:
                print(f"{file}: {ranges(sorted(set(missing)))}")
        return
    names = ["by unit tests"] + ["by these and others"] * (len(tables) - 1)
    print("| room | lines | " + " | ".join(f"{name}: lines, % | branches, %" for name in names) + " |")
    print("|---" * (2 + 2 * len(tables)) + "|")
    rooms = [by_room(table) for table in tables]
    for room in sorted(rooms[0], key=lambda name: (name == "all", name)):
        shares = [share for table in rooms for share in table[room].shares()]
        print(f"| {room} | {rooms[0][room].lines} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    main()
