"""Laws of models that are written in another way (laws.py), in short."""
import unittest

from laws import ACCURACY, LAWS, SHORT_OF, TOLD, line, of_seed

MODELS = 36
COSTLY = ["ranks", "as_fmu"]


class Laws(unittest.TestCase):
    def test_models(self):
        """Some fifty models, some laws each, so that each law has its turn."""
        options, accuracy = ("-cosim_accuracy", ACCURACY), ACCURACY
        usual = [law for law in LAWS if law not in COSTLY]
        for seed in range(MODELS):
            laws = [usual[(3 * seed + k) % len(usual)] for k in range(2)]
            if seed % 12 == 0:
                laws += COSTLY
            for found in of_seed((seed, laws, options, accuracy)):
                with self.subTest(law=found.law, seed=seed):
                    self.assertTrue(found.holds() or found.kind in (SHORT_OF, TOLD), line(found))


if __name__ == "__main__":
    unittest.main()
