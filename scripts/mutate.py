#!/usr/bin/python3
"""Which changes of the program its tests notice: mutants of operators, constants, bounds, conditions, calls and
statements of the numerical rooms, sampled by a seed, all compiled into one build (build/mutants, a copy of the
sources) in which the environment chooses one, so that a mutant costs no more than the tests that reach its place.

    python3 scripts/mutate.py                             # all of it: build, run, table
    python3 scripts/mutate.py build --rooms signal,stepping --per-room 100 --seed 7
    python3 scripts/mutate.py run --seconds 3600          # goes on where it was
    python3 scripts/mutate.py table --survivors signal

Installs libclang for Python; is fast with ccache, behind a build of the tree. The tests: each case of the unit
tests, and those of ctest that --tests chooses, as long as one takes at most --longest seconds and those that a mutant
runs at most --budget together. Other tests are not asked, so that some survivors are none.
"""
import argparse
import fnmatch
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent / "mutants"
COPY = ROOT / "build" / "mutants"
BUILD = COPY / "build"
ROOMS = ("signal,stepping,coupling/problem,coupling/points,coupling/collocation,coupling/estimates,coupling/estimation,"
         "coupling/explicit,coupling/implicit,expression,subsystem/ode,subsystem/equations,subsystem/delay,simulation")
TESTS = (r"^(unit_coupling_2_ranks$|(order|events|trust|loops|constraints|delays|cli_(linearize|steady)|networks_paces|"
         r"fmu_(accuracy|agreement|events)|language_vectors)_)")
MOST = 1 << 16  # mutants.hpp
KILLED, LATE = "killed", "time-out"


def say(text):
    print(text, flush=True)


def read(name):
    return json.loads((COPY / name).read_text(encoding="utf-8"))


def write(name, value):
    (COPY / name).write_text(json.dumps(value), encoding="utf-8")


# ---- the build ----

def place(path, content):
    """Writes what has changed, so that only that is compiled."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_sources():
    """What git knows of, and the two files that mutants ask."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            place(COPY / name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, COPY / name)
    for name in ("mutants.hpp", "mutants.cpp"):
        place(COPY / "src" / "mutants" / name, (HERE / name).read_bytes())


def configure(defined):
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    cached = ROOT / "build" / "CMakeCache.txt"
    if cached.exists():  # what the tree's build has compiled is taken from ccache
        defined = re.findall(r"^(CONCORD_WERROR:\w+=\w+)$", cached.read_text(encoding="utf-8"), re.M) + defined
    subprocess.run(["cmake", "--preset", "default", *(f"-D{one}" for one in defined)], cwd=COPY, env=environment,
                   check=True, stdout=subprocess.DEVNULL)


def room_of(file):
    return str(Path(file).relative_to(COPY / "src").parent)


def of_rooms(file, rooms, headers):
    path = Path(file)
    if not path.is_relative_to(COPY / "src") or not (headers or path.suffix == ".cpp"):
        return False
    return any(room_of(file) == room or room_of(file).startswith(f"{room}/") for room in rooms)


def compiled_together(rooms):
    """(file, command) of what the build compiles and has sources of these rooms in it."""
    for one in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        if "/concord.dir/" not in one.get("output", one["command"]):
            continue
        text = Path(one["file"]).read_text(encoding="utf-8", errors="replace")
        included = re.findall(r'^#include "(/[^"]+)"', text, re.M) + [one["file"]]
        if any(of_rooms(file, rooms, False) for file in included):
            yield one["file"], one["command"]


def places_of(task):
    import places  # libclang is needed for the build alone
    file, command, rooms, headers = task
    unit = places.parsed(file, command)
    return ([one.as_json() for one in places.Finder(lambda name: of_rooms(name, rooms, headers)).find(unit)],
            places.errors_of(unit))


def errors_in(task):
    import places
    return places.errors_of(places.parsed(*task))


def sampled(found, per_room, seed):
    """At most so many places per room, of one and the same range one, and none where another one leaves it out."""
    rooms = defaultdict(list)
    for one in found:
        rooms[room_of(one.file)].append(one)
    chosen = []
    for room, candidates in sorted(rooms.items()):
        candidates.sort(key=lambda one: (one.file, one.start, one.end, one.after))
        random.Random(f"{seed} {room}").shuffle(candidates)
        taken = []
        for candidate in candidates:
            if len(taken) == per_room:
                break
            if all(stand_together(candidate, other) for other in taken):
                taken.append(candidate)
        chosen.append(taken)
    # In turns, so that whoever stops early has seen something of every room.
    return [taken[k] for k in range(per_room) for taken in chosen if k < len(taken)]


def stand_together(a, b):
    if a.file != b.file or a.end <= b.start or b.end <= a.start:
        return True
    outer, inner = (a, b) if b.end - b.start < a.end - a.start else (b, a)
    return any(not isinstance(piece, str) and piece[0] <= inner.start and inner.end <= piece[1]
               and [inner.start, inner.end] != [outer.start, outer.end] for piece in outer.pieces)


class Sources:
    """The mutated sources in the copy, and which mutants compile."""

    def __init__(self, mutants):
        import places
        self.rendered = places.rendered
        self.preamble = places.PREAMBLE.count(b"\n")
        self.mutants = dict(enumerate(mutants))
        self.dropped = Counter()

    def write(self):
        by_file = defaultdict(list)
        for number, one in self.mutants.items():
            by_file[one.file].append((number, one))
        for file in getattr(self, "written", set()) | set(by_file):
            original = (ROOT / Path(file).relative_to(COPY)).read_bytes()
            place(Path(file), self.rendered(original, by_file[file]) if by_file[file] else original)
        self.written = set(by_file)

    def drop(self, errors):
        """Those that lie in lines that do not compile; whether there were any."""
        bad = set()
        for file, line, _ in errors:
            there = [(one.last_line - one.line, number) for number, one in self.mutants.items()
                     if one.file == os.path.realpath(file) and one.line <= line - self.preamble <= one.last_line]
            shortest = min(there, default=(0, None))[0]
            bad.update(number for length, number in there if length == shortest)
        for number in bad:
            self.dropped[room_of(self.mutants.pop(number).file)] += 1
        return bool(bad)


def compile_until_good(sources, units, own, jobs):
    """Drops what libclang, beside its complaints of the program itself, and then the build's compiler do not take."""
    with ProcessPoolExecutor(jobs) as pool:
        waiting = units
        while waiting:
            sources.write()
            errors = [[one for one in found if (one[0], one[2]) not in own]
                      for found in pool.map(errors_in, waiting)]
            waiting = [unit for unit, found in zip(waiting, errors) if found]
            if waiting and not sources.drop([one for found in errors for one in found]):
                raise SystemExit(f"concord: error: not because of a mutant: {next(filter(None, errors))[0]}")
    while True:
        sources.write()
        done = subprocess.run(["cmake", "--build", str(BUILD), "--parallel", str(jobs), "--", "-k", "0"],
                              capture_output=True, text=True, check=False)
        (COPY / "build.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode == 0:
            return
        found = [(str((BUILD / file).resolve()), int(line), text) for file, line, text in
                 re.findall(r"^(\S+?):(\d+):\d+: +(error: .*|required from here)", done.stdout, re.M)]
        if not sources.drop(found):
            raise SystemExit(f"concord: error: {BUILD} does not build (log: {COPY / 'build.log'})")


def build(asked):
    COPY.mkdir(parents=True, exist_ok=True)
    subprocess.run(["bash", str(ROOT / "scripts" / "install_packages.sh"), str(COPY / "install.log"),
                    "python3-clang-14"], check=True)
    sys.path.insert(0, str(HERE))
    import places
    rooms = asked.rooms.split(",")
    copy_sources()
    configure(asked.define)
    units = list(compiled_together(rooms))
    say(f"looking for places in {len(units)} translation units")
    found = {}
    own = set()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for several, errors in pool.map(places_of, [(*unit, rooms, asked.headers) for unit in units]):
            own.update((file, text) for file, _, text in errors)
            for one in several:
                found[one["file"], one["start"], one["end"], one["after"]] = places.Place(**one)
    mutants = sampled(found.values(), min(asked.per_room, MOST), asked.seed)[:MOST]
    say(f"{len(found)} possible mutants, {len(mutants)} sampled")
    sources = Sources(mutants)
    compile_until_good(sources, units, own, asked.jobs)
    write("mutants.json", {"possible": Counter(room_of(one.file) for one in found.values()), "dropped": sources.dropped,
                           "mutants": {number: one.as_json() | {"room": room_of(one.file)}
                                       for number, one in sources.mutants.items()}})
    for name in ("outcomes.jsonl", "tests.json"):
        (COPY / name).unlink(missing_ok=True)
    say(f"{sum(sources.dropped.values())} do not compile, {len(sources.mutants)} are in {BUILD}")


# ---- the tests ----

class Test:
    """A case of a unit test's program, or a test of ctest; its undisturbed time, and the mutants whose places ask."""

    def __init__(self, name, command, environment, program=None, seconds=None, asked=()):
        self.name, self.command, self.environment, self.program = name, command, environment, program
        self.seconds, self.asked = seconds, set(asked)

    def as_json(self):
        return vars(self) | {"asked": sorted(self.asked)}


def unit_cases():
    for program in sorted((BUILD / "bin").glob("unit_*")):
        listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
        suite = ""
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if name.startswith("  "):
                case = suite + name.strip()
                yield Test(case, [str(program), f"--gtest_filter={case}"], {}, program=str(program))
            elif name.endswith("."):
                suite = name


def ctest_tests(pattern):
    if not pattern:
        return
    shown = subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1", "-R", pattern], check=True,
                           capture_output=True, text=True).stdout
    for one in json.loads(shown)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in one.get("properties", [])}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        yield Test(one["name"], one["command"], environment)


def limits():
    """A mutant that fills the memory or the disk is to fail alone."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_command(command, environment, limit):
    """Exit code, None where it took longer than the limit; and the time. In a folder of its own, that is gone then."""
    with tempfile.TemporaryDirectory(prefix="mutant_", ignore_cleanup_errors=True) as folder:
        begin = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=os.environ | environment | {"TMPDIR": folder},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=limits)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            for started in [*descendants(process.pid), process.pid]:
                kill(os.kill, started)
            process.wait()
        kill(os.killpg, process.pid)  # what a test that has ended has left
        return code, time.monotonic() - begin


def descendants(process):
    """Of a process, wherever they have their own groups, as ranks and isolated subsystems do."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue  # has ended meanwhile
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def kill(how, process):
    try:
        how(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def recorded(test, longest):
    """The test without a mutant: its time, and who was asked. False where it does not pass in time."""
    with tempfile.NamedTemporaryFile(prefix="asked_") as file:
        file.truncate(MOST)
        code, test.seconds = run_command(test.command, test.environment | {"CONCORD_MUTANTS_ASKED": file.name}, longest)
        asked = Path(file.name).read_bytes()
    test.asked = {number for number, flag in enumerate(asked) if flag}
    return code


def record(asked):
    tests = [*unit_cases(), *ctest_tests(asked.tests)]
    say(f"running {len(tests)} tests without a mutant")
    with ThreadPoolExecutor(asked.jobs) as pool:
        codes = list(pool.map(lambda test: recorded(test, asked.longest), tests))
    for test, code in zip(tests, codes):
        if code:
            say(f"concord: warning: {test.name} fails without a mutant, and is left out")
    kept = [test for test, code in zip(tests, codes) if code == 0]
    write("tests.json", {"late": [test.name for test, code in zip(tests, codes) if code is None],
                         "failed": [test.name for test, code in zip(tests, codes) if code],
                         "tests": [test.as_json() for test in kept]})
    return kept


def steps(number, tests, budget):
    """(name, command, environment, undisturbed seconds) of what this mutant runs: the programs of unit tests with the
    cases that reach it, then tests of ctest, the fastest first."""
    reaching = [test for test in tests if number in test.asked]
    programs = defaultdict(list)
    for test in reaching:
        if test.program:
            programs[test.program].append(test)
    units = []
    for program, cases in programs.items():
        cases.sort(key=lambda test: test.seconds)
        names = ":".join(test.name for test in cases)
        units.append((Path(program).name, [program, "--gtest_fail_fast", f"--gtest_filter={names}"], {},
                      sum(test.seconds for test in cases)))
    units.sort(key=lambda step: step[3])
    others = sorted((test for test in reaching if not test.program), key=lambda test: test.seconds)
    spent = 0.0
    for test in others:
        spent += test.seconds
        if spent > budget:
            break
        fast = ["-f"] if test.command[-2:-1] == ["-v"] else []  # unittest stops at its first failure
        units.append((test.name, test.command + fast, test.environment, test.seconds))
    return units


def outcome_of(number, tests, asked):
    todo = steps(number, tests, asked.budget)
    for name, command, environment, seconds in todo:
        code, _ = run_command(command, environment | {"CONCORD_MUTANT": str(number)},
                              asked.patience * seconds + 5)
        if code != 0:
            return {"mutant": number, "outcome": LATE if code is None else KILLED, "by": name}
    return {"mutant": number, "outcome": "survived" if todo else "not reached", "ran": [step[0] for step in todo]}


def run(asked):
    mutants = read("mutants.json")["mutants"]
    if (COPY / "tests.json").exists() and not asked.again:
        tests = [Test(**one) for one in read("tests.json")["tests"]]
    else:
        tests = record(asked)
    outcomes = COPY / "outcomes.jsonl"
    done = {one["mutant"] for one in known_outcomes()} if not asked.again else {
        one["mutant"] for one in known_outcomes() if one["outcome"] in (KILLED, LATE)}
    rooms = asked.rooms.split(",")
    todo = [int(number) for number, one in mutants.items() if int(number) not in done
            and any(one["room"] == room or one["room"].startswith(f"{room}/") for room in rooms)]
    say(f"running {len(todo)} mutants")
    end = time.monotonic() + asked.seconds

    def one(number):
        if time.monotonic() > end:
            return
        found = outcome_of(number, tests, asked)
        with open(outcomes, "a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")

    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(one, todo))


def known_outcomes():
    """The last one of each mutant."""
    path = COPY / "outcomes.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return list({one["mutant"]: one for one in map(json.loads, lines)}.values())


# ---- the table ----

def table(asked):
    known = read("mutants.json")
    rooms = defaultdict(Counter)
    lists = defaultdict(list)
    for found in known_outcomes():
        one = known["mutants"][str(found["mutant"])]
        outcome = found["outcome"]
        column = ("unit tests" if found["by"].startswith("unit_") else "others") if outcome == KILLED else outcome
        for room in (one["room"], "all"):
            rooms[room].update([column, "mutants"])
        if outcome in ("survived", "not reached"):
            lists[one["room"]].append((one["file"], one["line"], found["mutant"], one, outcome))
    recorded_tests = read("tests.json")
    print(f"Tests: {sum(bool(one['program']) for one in recorded_tests['tests'])} cases of unit tests, "
          f"{sum(not one['program'] for one in recorded_tests['tests'])} of ctest, up to {asked.budget:g} s of these "
          f"per mutant; not run since they take more than {asked.longest:g} s: {len(recorded_tests['late'])}.\n")
    print("| room | possible | mutants | killed by unit tests | by others | time-out | survived | not reached | killed, % |")
    print("|---" * 9 + "|")
    for room in sorted(rooms, key=lambda name: (name == "all", name)):
        count = rooms[room]
        killed = count["unit tests"] + count["others"] + count[LATE]
        possible = known["possible"].get(room, sum(known["possible"].values()))
        print(f"| {room} | {possible} | {count['mutants']} | {count['unit tests']} | {count['others']} | {count[LATE]} "
              f"| {count['survived']} | {count['not reached']} | {100 * killed / count['mutants']:.1f} |")
    print(f"\n{sum(known['dropped'].values())} more did not compile.")
    share = 100 * killed / count["mutants"]  # of all rooms, which are last
    for room in sorted(lists):
        if asked.survivors is not None and fnmatch.fnmatch(room, asked.survivors):
            print(f"\n{room}")
            for file, line, number, one, outcome in sorted(lists[room], key=lambda entry: entry[:3]):
                print(f"  {Path(file).relative_to(COPY)}:{line}: mutant {number}, {one['kind']}, {outcome}\n"
                      f"    - {one['before'][:200]}\n    + {one['after'][:200]}")
    if share < asked.least:
        raise SystemExit(f"concord: error: {share:.1f} % of the mutants were killed, less than {asked.least:g} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("all", "build", "run", "table"), default="all")
    parser.add_argument("--rooms", default=ROOMS, help="folders of src")
    parser.add_argument("--per-room", type=int, default=60, help="mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--headers", action="store_true", help="mutate these, too: almost everything is compiled anew")
    parser.add_argument("--define", action="append", default=[], help="NAME=VALUE for cmake")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", default=TESTS, help="regular expression for ctest's; '' for none")
    parser.add_argument("--longest", type=float, default=6, help="seconds that a test may take")
    parser.add_argument("--budget", type=float, default=20, help="seconds of ctest's tests per mutant")
    parser.add_argument("--patience", type=float, default=10,
                        help="how many times its undisturbed time, and 5 s, a test may take")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no other mutant begins")
    parser.add_argument("--again", action="store_true", help="record the tests of the build anew, and run what has survived")
    parser.add_argument("--least", type=float, default=0, help="per cent to be killed, for exit code 0")
    parser.add_argument("--survivors", nargs="?", const="*", help="rooms whose survivors are listed")
    asked = parser.parse_args()
    if asked.what in ("all", "build"):
        build(asked)
    if asked.what in ("all", "run"):
        run(asked)
    if asked.what in ("all", "table"):
        table(asked)


if __name__ == "__main__":
    main()
