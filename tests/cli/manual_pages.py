"""concord man: a page for every command, in troff's words."""
import re
import unittest

from concord_runs import ModelTest, execute

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
REQUESTS = {".TH", ".SH", ".TP", ".B", ".BR", ".nf", ".fi", ".br"}


class Pages(ModelTest):
    def test_every_command(self):
        told = execute("--help-all").stdout
        names = re.findall(r"^  (?:mpirun -n R )?concord ([a-z-]+) ", told, re.M)
        self.assertGreater(len(names), 15)
        self.assertEqual(execute("man", "--folder", self.folder / "man1").returncode, 0)
        self.assertEqual({page.stem for page in (self.folder / "man1").iterdir()},
                         {"concord", *(f"concord-{name}" for name in names)})
        for name in names:
            with self.subTest(name):
                page = execute("man", name).stdout
                self.assertEqual(page, (self.folder / f"man1/concord-{name}.1").read_text())
                sections = re.findall(r"^\.SH (.*)$", page, re.M)
                self.assertEqual([s for s in sections if s in SECTIONS], SECTIONS)
                requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
                self.assertLessEqual(requests, REQUESTS)
                self.assertEqual(page.count(".nf\n"), page.count(".fi\n"))

    def test_every_option_of_run(self):
        page = execute("man", "run").stdout.replace("\\-", "-")
        for option in re.findall(r"^  (-(?:cosim|missiles|subsystem)_\w+) ", execute("run", "--help-all").stdout, re.M):
            self.assertIn(f".B {option}\n", page)

    def test_refused(self):
        for words, says in ((("rum",), "'rum'"), (("run", "--folder", "x"), "alone")):
            run = execute("man", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)


if __name__ == "__main__":
    unittest.main()
