"""Bits that flip (flips.py), in short."""
import unittest

from flips import CRASH, DETECTED, SILENT, flips_of, line

MODELS = (0, 1, 3)


class Bits(unittest.TestCase):
    def test_in_memory(self):
        """What stands still between two macro-steps does not change unseen."""
        for seed in MODELS:
            for flip in flips_of((seed, ("states", "inputs"), 4)):
                with self.subTest(flip=flip.what, seed=seed):
                    self.assertNotIn(flip.outcome, (SILENT, CRASH), line(flip))
                    if flip.what.startswith(("subsystems/now/x", "network/stepper/point/")):
                        self.assertEqual(flip.outcome, DETECTED, line(flip))

    def test_on_the_disk(self):
        for flip in flips_of((MODELS[0], ("disk",), 16)):
            with self.subTest(flip=flip.what):
                self.assertEqual(flip.outcome, DETECTED, line(flip))


if __name__ == "__main__":
    unittest.main()
