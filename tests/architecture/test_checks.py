#!/usr/bin/python3
"""Every check finds its fault in a small bad tree and nothing in a small good one."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import checks  # noqa: E402

GOOD = {
    ".clang-format": "BasedOnStyle: Google\n",
    "include/concord/a.hpp": '#include <vector>\n\n#include "concord/b.hpp"\n',
    "src/signal/s.hpp": '#include "concord/a.hpp"\n',
    "src/signal/s.cpp": "namespace concord {\nclass Shared {\n  struct In {};\n};\n}  // namespace concord\n",
    "src/signal/t.cpp": "namespace concord {\nclass Shared;\nnamespace {\nstruct Shared {};\n}  // namespace\n"
                        "namespace o {\nclass Shared {\n  struct In {};\n};\n}  // namespace o\n"
                        "}  // namespace concord\n",
    "src/subsystem/ode/k.hpp": '#include "subsystem/subsystem.hpp"\n',
    "src/subsystem/subsystem.hpp": '#include "signal/s.hpp"\n',
    "src/coupling/c.hpp": '#include <petscsnes.h>\n\n#include "subsystem/subsystem.hpp"\n',
    "src/coupling/problem/p.hpp": '#include "coupling/c.hpp"\n',
    "src/coupling/points/q.hpp": '#include "coupling/problem/p.hpp"\n',
    "include/concord/subsystem.hpp": "struct S {\n  virtual ~S();\n  virtual int advance(int t) = 0;\n"
                                     "  virtual bool is() const { return is_(); }\n};\n",
    "src/subsystem/decorator.hpp": "struct D : S {\n  int advance(int t) override { return 0; }\n"
                                   "  bool is() const override { return true; }\n};\n",
    "src/coupling/coupling.hpp": "",
    "src/coupling/coupling_decorator.hpp": "",
    "tests/room/CMakeLists.txt": "concord_python_test(room whole.py)\nconcord_python_test(room some.py Named)\n",
    "tests/room/whole.py": "class A(unittest.TestCase):\n    def test(self): pass\nunittest.main()\n",
    "tests/room/some.py": "class Named(unittest.TestCase):\n    def test(self): pass\nunittest.main()\n",
    "README.md": "Cite the papers; configure into build/, results in ~/results or $HOME/results.\n",
}

# check: (file, content, words of the finding)
BAD = {
    "tests": [("tests/room/some.py", "class Named(T):\n    def test(self): pass\nclass Other(T):\n"
               "    def test(self): pass\nunittest.main()\n", "no test runs 'Other'")],
    "arrows": [
        ("src/signal/x.hpp", '#include "coupling/c.hpp"\n', "may not include"),
        ("src/stepping/x.hpp", '#include "network/n.hpp"\n', "may not include"),
        ("src/coupling/x.hpp", '#include "subsystem/ode/k.hpp"\n', "kind of subsystem"),
        ("src/coupling/x.hpp", '#include "../signal/s.hpp"\n', "climbs"),
        ("src/coupling/x.hpp", '#include "c.hpp"\n', "neither"),
        ("src/coupling/problem/x.hpp", '#include "coupling/points/q.hpp"\n', "may not include"),
        ("src/coupling/x.hpp", '#include "coupling/problem/p.hpp"\n', "may not include"),
        ("src/subsystem/native/x.hpp", '#include "subsystem/ode/k.hpp"\n', "may not include"),
        ("src/coupling/misc/x.hpp", "", "not in a room"),
        ("src/misc/x.hpp", "", "not in a room"),
        ("src/x.cpp", "", "not in a room"),
    ],
    "cycles": [
        ("src/signal/x.hpp", '#include "coupling/c.hpp"\n', "include each other"),
        ("src/coupling/problem/x.hpp", '#include "coupling/points/q.hpp"\n', "coupling/points"),
    ],
    "public": [
        ("include/concord/x.hpp", "#include <petscvec.h>\n", "petscvec.h"),
        ("include/concord/x.hpp", '#include "signal/s.hpp"\n', "signal/s.hpp"),
    ],
    "decorators": [
        ("src/subsystem/decorator.hpp", "struct D : S {\n  bool is() const override { return true; }\n};\n",
         "does not pass on advance"),
    ],
    "length": [("src/signal/x.cpp", "\n" * 601, "601 lines")],
    "places": [
        ("scripts/x.sh", "cd /home/somebody/concord\n", "/home/somebody"),
        ("x.yaml", "path: /work/somewhere\n", "/work/"),
        ("scripts/x.sh", "echo deb http://deb.debian.org/debian\n", "deb.debian.org"),
    ],
    "names": [
        ("src/coupling/x.hpp", "namespace concord {\nclass Shared : public A { int a; };\n}\n",
         "two classes are concord::Shared: src/coupling/x.hpp, src/signal/s.cpp"),
        ("src/coupling/x.cpp", "namespace concord {\nvoid f() { g(\"{\"); }  // {\n"
         "template <class T>\nstruct Shared final {};\n}\n", "concord::Shared"),
    ],
    "format": [("src/signal/x.cpp", "int  f( ){return 1;}\n", "x.cpp")],
}


class Checks(unittest.TestCase):
    def findings(self, check, extra=()):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in [*GOOD.items(), *extra]:
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            return list(checks.CHECKS[check](Path(folder).resolve()))

    def test_every_check_has_a_bad_sample(self):
        self.assertEqual(set(BAD), set(checks.CHECKS))

    def test_the_tables_of_rooms_have_no_circle(self):
        for table in (checks.ALLOWED, *checks.INNER.values()):
            self.assertEqual(checks.circle(table), [])

    def test_good_tree(self):
        for check in checks.CHECKS:
            with self.subTest(check):
                self.assertEqual(self.findings(check), [])

    def test_bad_trees(self):
        for check, samples in BAD.items():
            for name, content, words in samples:
                with self.subTest(check, sample=content or name):
                    found = self.findings(check, [(name, content)])
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(words, found[0])


if __name__ == "__main__":
    unittest.main()
