"""The table of commands: help, typing errors, order of words, for every command of the sources."""
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np
from concord_runs import EXAMPLES, ROOT, TWO_MASS, execute

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"


def names_in_sources():
    """Of all `RegisteredCommand`s, wherever they stand."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src" / "cli").glob("*.cpp"))]
    return [name for text in texts
            for name in re.findall(r'RegisteredCommand \w+\(\{\s*\.name = "([\w-]+)"', text)]


class Help(unittest.TestCase):
    def test_every_command_of_the_sources_is_there(self):
        names = names_in_sources()
        self.assertGreaterEqual(len(names), 8)
        lines = execute("--help-all").stdout.splitlines()
        self.assertEqual(execute("help").stdout, execute("--help").stdout)
        for name in names:
            with self.subTest(command=name):
                self.assertTrue(any(re.search(rf"\bconcord {name} [A-Z\[]", line) for line in lines))
                page = execute(name, "--help")
                self.assertEqual((page.returncode, page.stderr), (0, ""))
                self.assertTrue(page.stdout.startswith(f"concord {name} "))
                self.assertIn(f"\nExample: concord {name} ", page.stdout)
                self.assertIn(name, execute("--help").stdout)
                self.assertEqual(execute("help", name).stdout, page.stdout)
                self.assertEqual(execute(name, "-h").stdout, page.stdout)

    def test_it_fits_a_screen(self):
        for words in (["--help"], ["run", "--help"]):
            lines = execute(*words).stdout.splitlines()
            self.assertLessEqual(len(lines), 30, words)
            self.assertLessEqual(max(map(len, lines)), 100, words)
        every = execute("run", "--help-all").stdout
        for option in re.findall(r"^  (-\w+)", execute("run", "--help").stdout, re.M):
            if option != "-h":
                self.assertIn(f"\n  {option.replace('subsystem_NAME', 'subsystem')} ", every)
        self.assertGreater(len(every.splitlines()), 80)

    def test_options_are_in_the_help_of_those_that_take_them(self):
        for name in names_in_sources():
            takes_options = "[-options]" in execute(name, "-h").stdout.splitlines()[0]
            self.assertEqual("-cosim_type" in execute(name, "-h").stdout, takes_options, name)

    def test_typing_errors(self):
        for wrong, meant in (("chek", "check"), ("exportfmu", "export-fmu"), ("plto", "plot")):
            for words in ([wrong, "x"], ["help", wrong]):
                run = execute(*words)
                self.assertEqual(run.returncode, 2)
                self.assertIn(f"unknown command '{wrong}'; did you mean '{meant}'?", run.stderr)
        run = execute("check", TWO_MASS, "--prob")
        self.assertIn("unknown option --prob; did you mean --probe?", run.stderr)
        run = execute("run", TWO_MASS, "--probe")
        self.assertIn("--probe belongs to concord check", run.stderr)


class WordsBeforeFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def done(self, *words, ranks=1):
        run = execute(*words, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_check(self):
        after = self.done("check", TWO_MASS, "--probe", "-cosim_type", "jacobi")
        for words in (["--probe", TWO_MASS, "-cosim_type", "jacobi"],
                      ["-cosim_type", "jacobi", TWO_MASS, "--probe"],
                      ["--probe", "-cosim_type", "jacobi", TWO_MASS],
                      ["-probe", "-cosim_monitor", TWO_MASS, "-cosim_type", "jacobi"]):
            self.assertEqual(self.done("check", *words), after, words)
        self.assertEqual(self.done("schedule", "-cosim_schedule_weight", 0.5, TWO_MASS),
                         self.done("schedule", TWO_MASS, "-cosim_schedule_weight", 0.5))

    def test_run_and_its_results(self):
        results = self.folder / "a.h5"
        few = ["-cosim_step", 1e-3, "-cosim_stop", 0.01, "-cosim_output", results]
        for words in ([*few, TWO_MASS], [TWO_MASS, *few], ["-cosim_monitor", TWO_MASS, *few],
                      ["-cosim_monitor", "true", TWO_MASS, *few]):
            self.assertIn("completed at t = 0.01 s", self.done("run", *words))
        self.done("run", *few, TWO_MASS, ranks=2)
        table = self.done("export", results, "-v", "left.x")
        self.assertEqual(self.done("export", "-v", "left.x", results), table)
        self.done("export", "-o", self.folder / "a.csv", "--variables", "left.x", results)
        self.assertEqual((self.folder / "a.csv").read_text(encoding="utf-8"), table)
        self.assertEqual(self.done("compare", "-v", "left.*", results, results),
                         self.done("compare", results, results, "-v", "left.*"))

    def test_export_between_rows(self):
        """A grid of one's own: the ball flies along parabolas between its first two bounces."""
        results = self.folder / "ball.h5"
        self.done("run", BALL, "-cosim_output", results)
        lines = self.done("export", results, "--interval", 0.25, "-v", "ball.h").splitlines()
        times, heights = np.array([[float(field) for field in line.split(",")] for line in lines[1:]]).T
        np.testing.assert_allclose(times, 0.25 * np.arange(13), atol=1e-15)
        np.testing.assert_allclose(heights[:2], 1 - 9.81 / 2 * times[:2]**2, atol=1e-12)
        flight = np.diff(heights[2:5], 2) / 0.25**2  # 0.5 to 1 s
        np.testing.assert_allclose(flight, -9.81, atol=1e-9)
        last = self.done("export", results, "-i", 0.7, "-v", "ball.h").splitlines()
        self.assertEqual([float(line.split(",")[0]) for line in last[-2:]], [4 * 0.7, 3.0])
        for words, meant in ((["-i", 0], "must be a time in s above 0"), (["-i", "nan"], "must be a time in s above 0"),
                             (["-i", 1, "--rows", "all"], "rows of its own"), (["-i", 1e-12], "more than 1e9 rows")):
            run = execute("export", results, *words)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(meant, run.stderr)

    def test_value_of_an_option_is_no_model(self):
        for words in (["-cosim_step", 1], ["-cosim_type", TWO_MASS], ["-snes_view", TWO_MASS]):
            run = execute("run", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn("needs a model file", run.stderr)


if __name__ == "__main__":
    unittest.main()
