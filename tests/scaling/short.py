"""scaling.py prints its table."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

SCALING = Path(__file__).resolve().parent / "scaling.py"


class Table(unittest.TestCase):
    def test_smallest(self):
        run = subprocess.run([sys.executable, SCALING, os.environ["CONCORD_PROGRAM"], "--largest", "100", "--ranks", "1"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [line.strip("| ").split(" | ") for line in run.stdout.splitlines()[2:]]
        self.assertEqual([row[:3] for row in rows],
                         [["100", method, "1"] for method in ("jacobi", "missiles", "jfm")])
        for row in rows:
            _, kilobytes, start, iterations = map(float, row[3:])
            self.assertGreater(kilobytes, 0.0)
            self.assertLess(kilobytes, 100.0)
            self.assertGreater(start, 0.0)
            self.assertLess(iterations, 10.0)


if __name__ == "__main__":
    unittest.main()
