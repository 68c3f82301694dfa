"""Lets calls of whole runs fail, one in each: prints what became of them, the figures of doc/trust.md, and exits
with 1 where a run is not as promised.

    table.py --per-kind 200 --seed 45 --jobs 2 [--scenes results,restart] [--kinds write,sync]
"""
import argparse
import random
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from injection import FAILURES, KILLS, Stage
from scenes import scenes

# Every one of these fails in every way, however many there are, where runs take a tenth of a second.
ALL = ("sync", "rename")


class Table:
    """Of scenes, in as many folders as there are jobs."""
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.here = threading.local()
        self.folders = 0
        self.lock = threading.Lock()
        self.bad = 0
        self.sums = {}  # by what is made of which kind of call

    def stage(self, scene):
        """This thread's own."""
        if getattr(self.here, "name", None) != scene.name:
            with self.lock:
                self.folders += 1
                folder = self.folder / str(self.folders)
            folder.mkdir()
            self.here.stage, self.here.name = Stage(scene, folder), scene.name
        return self.here.stage

    def row(self, scene, title, ways, rank=0, everywhere=False):
        stage, chance = self.stage(scene), random.Random(self.arguments.seed)
        wanted = self.arguments.kinds.split(",") if self.arguments.kinds else list(ways)
        chosen, calls = [], {}
        for kind in wanted:
            if kind in ways:
                per_kind = 10**6 if kind in ALL and scene.ranks == 1 else self.arguments.per_kind
                counts, some = stage.injections(per_kind, chance, {kind: ways[kind]}, rank, everywhere)
                calls[kind] = counts[kind]
                chosen += some
        outcomes = {kind: Counter() for kind in calls}
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            for injection, (outcome, found) in zip(chosen, pool.map(
                    lambda one: self.stage(scene).judge(one), chosen)):
                outcomes[injection.kind][outcome] += 1
                if found:
                    self.bad += 1
                    print(f"NOT AS PROMISED: {scene.name}, {injection}: {outcome}", *found, sep="\n    ", flush=True)
        for kind, counts in outcomes.items():
            if counts:
                self.sums.setdefault(f"{title} | {kind}", Counter()).update(counts)
                told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
                print(f"| {scene.name} | {title} | {kind} | {calls[kind]} | {sum(counts.values())} | {told} |", flush=True)

    def chains(self, scene):
        """Of kills, from every tenth write on."""
        if self.arguments.kinds:
            return
        stage, kills = self.stage(scene), 0
        writes = stage.count()["write"]
        firsts = range(1, writes, max(1, writes // 10))
        for first in firsts:
            try:
                kills += stage.chain(max(1, writes // 12), first)
            except AssertionError as error:
                self.bad += 1
                print(f"NOT AS PROMISED: {scene.name}, chain from write {first}: {error}", flush=True)
        self.sums.setdefault("chains of kills | write", Counter())["killed, same bits in the end"] += kills
        print(f"| {scene.name} | chains of kills | write | {writes} | {kills} | {len(firsts)} chains |", flush=True)

    def print_sums(self):
        print("\n| what | calls | runs | outcomes |\n|---|---|---|---|")
        for what, counts in self.sums.items():
            told = ", ".join(f"{number} {one}" for one, number in sorted(counts.items()))
            print(f"| {what} | {sum(counts.values())} | {told} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--per-kind", type=int, default=60, help="of each kind of call, in each scene")
    parser.add_argument("--seed", type=int, default=45)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scenes", help="instead of all")
    parser.add_argument("--kinds", help="instead of all")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Table(arguments, Path(folder))
        all_scenes = scenes(Path(folder))
        print("| run | what | calls | in a run | made to fail | outcomes |\n|---|---|---|---|---|---|", flush=True)
        for name in arguments.scenes.split(",") if arguments.scenes else all_scenes:
            scene = all_scenes[name]
            ranks = range(scene.ranks)
            for rank in ranks:
                of_rank = f" on rank {rank}" if scene.ranks > 1 else ""
                table.row(scene, "failures" + of_rank, FAILURES, rank)
                if scene.has_checkpoints:
                    table.row(scene, "SIGKILL" + of_rank, KILLS, rank)
            if scene.has_checkpoints:
                table.chains(scene)
        table.print_sums()
        print(f"{table.bad} not as promised")
    return 1 if table.bad else 0


if __name__ == "__main__":
    sys.exit(main())
