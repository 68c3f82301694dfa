"""The pages of concord report in Debian's chromium: nothing on its console, all of it drawn."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from concord_runs import EXAMPLES, execute

CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,3000",
            "--virtual-time-budget=4000", "--enable-logging=stderr")


class Browser(unittest.TestCase):
    def test_pages(self):
        for name, options in (("two_mass", ()), ("thermostat", ()), ("algebraic_loop", ()),
                              ("heat_grid", ("-cosim_stop", 1))):
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                results = Path(folder) / "run.h5"
                for words in (("run", EXAMPLES / name / f"{name}.yaml", *options, "-cosim_output",
                               results), ("report", results)):
                    run = execute(*words)
                    self.assertEqual(run.returncode, 0, run.stderr)
                page, picture = results.with_suffix(".html"), results.with_suffix(".png")
                for looks in ((), ("--force-dark-mode",)):
                    shown = subprocess.run([*CHROMIUM, *looks, f"--screenshot={picture}", page.as_uri()],
                                           capture_output=True, text=True, timeout=120, check=True)
                    self.assertNotIn("CONSOLE", shown.stderr)
                    self.assertGreater(picture.stat().st_size, 50_000)
                drawn = subprocess.run([*CHROMIUM, "--dump-dom", page.as_uri()], capture_output=True,
                                       text=True, timeout=120, check=True).stdout
                self.assertGreater(drawn.count("<canvas"), 5)
                self.assertIn("completed</span>", drawn)


if __name__ == "__main__":
    unittest.main()
