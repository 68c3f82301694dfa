"""What scripts/mutants writes into sources: without a mutant the program is what it was, and each mutant is what the
source with that change in its text is. Needs what scripts/mutate.py needs.

    python3 tests/trust/mutants_written.py
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS / "mutants"))
import places  # noqa: E402

SAMPLE = """
constexpr int fixed = 3;
constexpr double share = 0.75;
enum class Way { up, down = 2 };
static_assert(fixed == 3);

struct Sum {
  double values[fixed] = {1.0, 2.0, 4.0};
  int calls = 0;
  void add(double x) { ++calls; values[calls % fixed] += x; }
};

bool inside(double x, double low, double high) { return low <= x && !(x > high || x < low); }

double of(int n) {
  Sum sum;
  double x = -0.5 * n;
  const auto step = [&x](double h) { return x + h / 2.0; };
  for (int k = 0; k < n; ++k) {
    if (k == 2) {
      continue;
    }
    sum.add(step(share) - k);
    x = std::max(x, std::abs(x) - 1.0);
  }
  if (inside(x, -1.0, 2.0) || n != 4) {
    x *= 3.0;
  } else if (std::min(n, fixed) >= 3) {
    x -= 1.0;
  }
  switch (n) {
    case 1: return x;
    default: return x + sum.values[0] * sum.values[1] - sum.values[2];
  }
}
"""
MAIN = """
int main() {
  for (int n = 0; n < 6; ++n) {
    std::printf("%.17g ", NAMES::of(n));
  }
}
"""
INCLUDES = "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n"


class Written(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.source = self.folder / "sample.cpp"
        self.source.write_text(INCLUDES + "namespace sample {" + SAMPLE + "}" + MAIN.replace("NAMES", "sample"),
                               encoding="utf-8")
        unit = places.parsed(str(self.source), "c++ -std=c++20")
        self.assertEqual(places.errors_of(unit), [])
        self.places = places.Finder(lambda name: name == str(self.source)).find(unit)

    def compiled(self, name, *sources):
        program = self.folder / name
        subprocess.run(["c++", "-std=c++20", "-w", "-ffp-contract=off", f"-I{SCRIPTS}", "-o", program, *sources],
                       check=True)
        return program

    def output(self, program, mutant=None, asked=None):
        chosen = {} if mutant is None else {"CONCORD_MUTANT": str(mutant)}
        if asked:
            chosen["CONCORD_MUTANTS_ASKED"] = str(asked)
        done = subprocess.run([program], env=os.environ | chosen, capture_output=True, text=True, timeout=20, check=False)
        return done.stdout if done.returncode == 0 else "fails"

    def changed(self, place):
        """The text with this change, or None where the mutant's text is short for it."""
        text = self.source.read_bytes()
        after = place.after
        if place.after == "(removed)":
            after = ";" if place.before in ("continue", "break") else "(void)0"
        elif place.after.startswith("... = "):
            after = place.before.split("=")[0] + place.after.removeprefix("... ")
        return (text[:place.start] + b" " + after.encode() + b" " + text[place.end:]).decode()

    def test_each_mutant_is_the_change_that_is_told(self):
        in_turn = self.in_turn()
        self.assertGreater(len(self.places), 60)
        for turn, together in enumerate(in_turn):
            mutated = self.folder / f"mutated_{turn}.cpp"
            mutated.write_bytes(places.rendered(self.source.read_bytes(), together))
            program = self.compiled(f"mutated_{turn}", mutated, SCRIPTS / "mutants" / "mutants.cpp")
            self.assertEqual(self.output(program), self.output(self.compiled("original", self.source)))
            for number, place in together:
                with self.subTest(line=place.line, before=place.before, after=place.after):
                    alone = self.folder / "alone.cpp"
                    alone.write_text(self.changed(place), encoding="utf-8")
                    self.assertEqual(self.output(program, number), self.output(self.compiled("alone", alone)))

    def in_turn(self):
        """All places in as many sources as they need to stand together."""
        sys.path.insert(0, str(SCRIPTS))
        import mutate
        turns = []
        for number, place in enumerate(self.places):
            for turn in turns:
                if all(mutate.stand_together(place, other) for _, other in turn):
                    turn.append((number, place))
                    break
            else:
                turns.append([(number, place)])
        return turns

    def test_what_the_compiler_needs_is_left_alone(self):
        lines = self.source.read_text(encoding="utf-8").splitlines()
        for place in self.places:
            line = lines[place.line - 1].strip()
            self.assertFalse(line.startswith(("enum", "static_assert", "constexpr int", "case")), line)

    def test_who_was_asked_is_noted(self):
        of = next(place for place in self.places if place.before == "x *= 3.0" and place.kind == "arithmetic")
        never = next(place for place in self.places if place.before == "x -= 1.0" and place.kind == "arithmetic")
        mutated = self.folder / "mutated.cpp"
        mutated.write_bytes(places.rendered(self.source.read_bytes(), [(7, of), (9, never)]))
        program = self.compiled("mutated", mutated, SCRIPTS / "mutants" / "mutants.cpp")
        asked = self.folder / "asked"
        asked.write_bytes(bytes(1 << 16))
        self.output(program, asked=asked)
        found = {number for number, flag in enumerate(asked.read_bytes()) if flag}
        self.assertLessEqual({7}, found)
        self.assertLessEqual(found, {7, 9})


if __name__ == "__main__":
    unittest.main()
