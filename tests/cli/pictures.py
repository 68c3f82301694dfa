"""concord plot: formats by the name's ending, several runs, phase plots, ranges, logarithmic axes."""
import unittest

from concord_runs import EXAMPLES, LOTKA_VOLTERRA, ModelTest, execute


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
        self.assertEqual(both.count("stroke-dasharray"), 2)
        phase = self.plot(*self.runs, "--phase", "prey.amount,predator.amount").decode()
        for text in ("predator.amount [1]", "prey.amount [1]", ">\tfine<", ">\tcoarse<"):
            self.assertIn(text.replace("\t", ""), phase.replace("\t", ""))
        self.assertNotIn("time", phase)
        part = self.plot(self.runs[0], "--range", "2,6", "--log", "y").decode()
        self.assertNotIn(">20<", part.replace(" ", ""))
        self.assertIn(">0.1<", part.replace(" ", ""))

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
        self.assertEqual(picture.count('class="node"'), 400)
        self.assertNotIn(">T<", picture)

    def test_refusals(self):
        for words, named in ((("--phase", "prey.amount"), "two variables"), (("--range", "3,1"), "two times"),
                             (("--log", "z"), "x, y or xy"), (("--phase", "prey.amount,x.y"), "prey.amount"),
                             (("--phase", "prey.amount,prey.amount", "-v", "prey.amount"), "--variables"),
                             (("--network", "-v", "prey.amount"), "--network"), ((self.runs[1], "--network"), "--network")):
            with self.subTest(words=words):
                self.assertIn(named, self.plot(self.runs[0], *words, code=2))


if __name__ == "__main__":
    unittest.main()
