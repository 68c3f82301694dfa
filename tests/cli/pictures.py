"""concord plot: formats by the name's ending, several runs, phase plots, ranges, logarithmic axes."""
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, PICTURES, ModelTest, execute


@unittest.skipUnless(PICTURES, "pictures need the Python package")
class Pictures(ModelTest):
    def setUp(self):
        super().setUp()
        self.runs = [self.folder / "fine.h5", self.folder / "coarse.h5"]
        for path, step in zip(self.runs, (0.1, 0.2)):
            run = execute("run", LOTKA_VOLTERRA, "-cosim_step", step, "-cosim_type", "jfm", "-cosim_output", path)
            self.assertEqual(run.returncode, 0, run.stderr)

    def plot(self, *words, name="out.svg", code=0):
        path = self.folder / name
        run = execute("plot", *words, "-o", path)
        self.assertEqual(run.returncode, code, run.stderr)
        return path.read_bytes() if code == 0 else run.stderr

    def test_formats(self):
        for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
            self.assertTrue(self.plot(*self.runs, name=name).startswith(begins), name)
        self.assertIn(".svg", self.plot(self.runs[0], name="a.jpg", code=2))

    def test_what_is_in_them(self):
        """Words and curves of the SVG picture; curves of a second run are dashed."""
        one, both = (self.plot(*runs).decode() for runs in (self.runs[:1], self.runs))
        self.assertIn("prey.amount<", one)
        self.assertNotIn("stroke-dasharray", one)
        self.assertIn("prey.amount, fine<", both)
        self.assertIn("predator.amount, coarse<", both)
        self.assertEqual(both.count("stroke-dasharray"), 4)  # two curves, and their samples in the legend
        phase = self.plot(*self.runs, "--phase", "prey.amount,predator.amount").decode()
        for text in ("predator.amount [1]", "prey.amount [1]", ">\tfine<", ">\tcoarse<"):
            self.assertIn(text.replace("\t", ""), phase.replace("\t", ""))
        self.assertNotIn("time", phase)
        part = self.plot(self.runs[0], "--range", "2,6", "--log", "y").decode()
        self.assertNotIn(">20<", part.replace(" ", ""))
        for tick in (">0.2<", ">0.5<", ">1<"):  # as logarithms have them
            self.assertIn(tick, part.replace(" ", ""))

    def test_network(self):
        """Boxes, arrows and what they carry; loops red; ranks coloured; a large one without words at arrows."""
        loop = EXAMPLES / "algebraic_loop/algebraic_loop.yaml"
        for ranks in (1, 2):
            path = self.folder / "loop.h5"
            run = execute("run", loop, "-cosim_step", 1e-3, "-cosim_stop", 2e-3, "-cosim_output", path, ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stderr)
            picture = self.plot(path, "--network").decode()
            for text in (">body<", ">fluid<", ">v, a<", ">f<"):
                self.assertIn(text, picture)
            self.assertEqual(picture.count('class="edge"'), 2)
            self.assertIn("#b3261e", picture)
            self.assertEqual("rank 1" in picture, ranks == 2)
        self.assertNotIn("#b3261e", self.plot(self.runs[0], "--network").decode())
        grid = self.folder / "grid.h5"
        run = execute("run", EXAMPLES / "heat_grid/heat_grid.yaml", "-cosim_step", 1e-3, "-cosim_stop", 1e-3,
                      "-cosim_output", grid)
        self.assertEqual(run.returncode, 0, run.stderr)
        picture = self.plot(grid, "--network").decode()
        self.assertEqual((picture.count('class="node"'), picture.count('class="edge"')), (1, 1))
        for text in (">cell[*]<", ">400 x equations<", ">T<"):
            self.assertIn(text, picture)

    def test_network_of_a_hundred(self):
        """Each subsystem a box, none over another, arrows around them."""
        parts = "".join(f"  part{i}: {{equations: {{inputs: {{u: 0}}, states: {{x: 1}}, derivatives: {{x: u - x}}, "
                        "outputs: {x: x}}}\n" for i in range(100))
        links = "".join(f"  - part{(7 * i + i // 9) % i if i > 1 else 0}.x -> part{i}.u\n" for i in range(1, 100))
        model = self.model("experiment: {stop: 0.1}\nsubsystems:\n" + parts + "connections:\n" + links)
        path = self.folder / "hundred.h5"
        run = execute("run", model, "-cosim_output", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        picture = self.plot(path, "--network").decode()
        nodes = re.findall(r'class="node">(.*?)</g>', picture, re.S)
        self.assertEqual((len(nodes), picture.count('class="edge"')), (100, 99))
        self.assertNotIn("equations", picture)
        boxes = []
        for node in nodes:
            x, y = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", re.search(r' d="([^"]*)"', node)[1]), float).T
            boxes.append((x.min(), x.max(), y.min(), y.max()))
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                self.assertFalse(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3], (a, b))

    def many(self):
        """Forty variables of one unit, and one of another."""
        outputs = ", ".join(f"y{i}: {i} + x" for i in range(40))
        units = ", ".join(f"y{i}: V" for i in range(40))
        model = self.model("experiment: {stop: 1}\nsubsystems:\n  a:\n    equations:\n      states: {x: 0}\n"
                           f"      derivatives: {{x: 1}}\n      outputs: {{x: x, {outputs}}}\n"
                           f"      units: {{{units}}}\n")
        path = self.folder / "many.h5"
        self.assertEqual(execute("run", model, "-cosim_step", 0.1, "-cosim_output", path).returncode, 0)
        return path

    def test_all_that_are_named(self):
        """On as many pages as they need, which is said; those of PDF are in one file."""
        many = self.many()
        out = self.folder / "all.svg"
        run = execute("plot", many, "-v", "a.*", "-v", "a.x", "-o", out)
        self.assertEqual(run.stdout.splitlines(), [str(out)])
        run = execute("plot", many, many, many, "-v", "*", "-o", out)
        pages = [out, *(self.folder / f"all_{i}.svg" for i in range(2, 5))]
        self.assertEqual(run.stdout.splitlines(), [f"123 curves in 21 panels on 4 pages: {out} to {pages[-1]}",
                                                   *map(str, pages)])
        text = "".join(page.read_text() for page in pages)
        for i in range(40):
            self.assertIn(f"a.y{i}, ", text)
        self.assertIn("(2 of 4)", text)
        run = execute("plot", many, many, "-v", "*", "-o", self.folder / "all.pdf")
        self.assertEqual(len(re.findall(rb"/Type /Page\b", (self.folder / "all.pdf").read_bytes())), 2)
        self.assertFalse((self.folder / "all_2.pdf").exists())
        self.assertIn("left out", execute("plot", many, "-o", out).stdout)

    def test_looks(self):
        """Sizes on paper, titles, letters, minus signs; the same curve twice is said."""
        png = self.plot(self.runs[0], "--width", "84mm", name="a.png")
        self.assertEqual(int.from_bytes(png[16:20], "big"), round(84 / 25.4 * 300))
        text = self.plot(self.runs[0], "--width", "3.3in", "--letters", "--title", "hares and foxes").decode()
        for words in (">hares and foxes<", ">(a)<", "prey.amount<"):
            self.assertIn(words, text)
        again = self.folder / "again.h5"
        again.write_bytes(self.runs[0].read_bytes())
        self.assertIn("on fine<", self.plot(self.runs[0], again).decode())
        self.assertNotIn(" on ", self.plot(self.runs[0]).decode())

    def test_hours_and_envelopes(self):
        """A day with a fast signal: time in h, a band where it swings too fast, a line where it does not."""
        model = self.model("experiment: {stop: 90000}\nsubsystems:\n  a:\n    equations:\n      states: {x: 0}\n"
                           "      derivatives: {x: 1e-5}\n"
                           "      outputs: {fast: sin(t/20), slow: -cos(t/20000)}\n"
                           "      units: {fast: V, slow: V}\n")
        path = self.folder / "day.h5"
        run = execute("run", model, "-cosim_step", 4, "-cosim_output", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        whole, part = self.plot(path).decode(), self.plot(path, "--range", "0,500").decode()
        for words in ("time [h]", ">25<", "envelope<", "\u2212"):
            self.assertIn(words, whole)
        self.assertNotIn("time [h]", part)
        self.assertNotIn("envelope", part)
        self.assertLess(len(whole), 400_000)

    def test_refusals(self):
        for words, named in ((("--phase", "prey.amount"), "two variables"), (("--range", "3,1"), "two times"),
                             (("--log", "z"), "x, y or xy"), (("--phase", "prey.amount,x.y"), "prey.amount"),
                             (("--phase", "prey.amount,prey.amount", "-v", "prey.amount"), "--variables"),
                             (("--width", "84"), "84mm"), (("--width", "1mm"), "30mm"), (("--font", "big"), "points"),
                             (("--network", "-v", "prey.amount"), "--network"), ((self.runs[1], "--network"), "--network")):
            with self.subTest(words=words):
                self.assertIn(named, self.plot(self.runs[0], *words, code=2))

    def without(self, module):
        """An interpreter that lacks it."""
        program = self.folder / f"python_without_{module}"
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -c \"import runpy, sys; sys.modules['{module}'] = None; "
                           "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')\" \"$@\"\n")
        program.chmod(0o755)
        return str(program)

    def test_what_is_missing(self):
        """One line with what to install and exit code 2; reports and networks need no matplotlib, studies do without."""
        for program, words in ((self.without("matplotlib"), ("matplotlib", "apt-get install python3-matplotlib", "CONCORD_PYTHON")),
                               (self.without("numpy"), ("numpy", "apt-get install python3-numpy", "CONCORD_PYTHON")),
                               ("/no/such/python", ("no /no/such/python", "apt-get install python3", "CONCORD_PYTHON"))):
            with self.subTest(program=program), mock.patch.dict(os.environ, CONCORD_PYTHON=program):
                for call in (("plot", self.runs[0], "-o", self.folder / "a.png"),
                             ("linearize", LOTKA_VOLTERRA, "--poles", self.folder / "a.png")):
                    run = execute(*call)
                    self.assertEqual(run.returncode, 2, run.stderr)
                    self.assertEqual(len(run.stderr.splitlines()), 1)
                    self.assertTrue(run.stderr.startswith("concord: error: "))
                    for word in words:
                        self.assertIn(word, run.stderr)
                self.assertFalse((self.folder / "a.png").exists())
        with mock.patch.dict(os.environ, CONCORD_PYTHON=self.without("matplotlib")):
            for call in (("report", self.runs[0]), ("plot", self.runs[0], "--network")):
                self.assertEqual(execute(*call).returncode, 0)
            run = execute("study", LOTKA_VOLTERRA, "--steps", "0.1", "--types", "jfm", "-o", self.folder / "s.csv")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("note: no picture: pictures need matplotlib", run.stderr)

    def test_standard_output_that_takes_nothing(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run([os.environ["CONCORD_PROGRAM"], "plot", self.runs[0]], stdout=full, text=True,
                                 stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "concord: error: cannot write to standard output: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
