"""Failures where ranks communicate: agreed where all fail, the end of all where one fails alone."""
import os
import subprocess
import unittest

from patience import HANGS


class Alone(unittest.TestCase):
    def end(self, who):
        ended = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", os.environ["LONE_FAILURE"],
                                who], text=True, capture_output=True, timeout=HANGS, check=False)
        return ended.returncode, ended.stderr

    def test_nobody(self):
        self.assertEqual(self.end("none"), (0, ""))

    def test_all(self):
        code, errors = self.end("all")
        self.assertEqual(code, 1)
        self.assertIn("agreed: rank 0 has failed", errors)
        self.assertNotIn("alone", errors)

    def test_the_last(self):
        """Rank 0 waits in a barrier for ever; rank 1 gives up on it after a few seconds."""
        code, errors = self.end("last")
        self.assertEqual(code, 1, errors)
        self.assertIn("concord: error: rank 1 alone: rank 1 has failed", errors)


if __name__ == "__main__":
    unittest.main()
