"""concord.ensemble: members are as runs by themselves, and are begun anew in memory."""
import unittest

import concord
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS

BALL, THERMOSTAT = (EXAMPLES / name / f"{name}.yaml" for name in ("bouncing_ball", "thermostat"))


class Ensembles(unittest.TestCase):
    def test_members_are_as_single_runs(self):
        for model, name, values, result, options in (
                (TWO_MASS, "left.m", [4.0, 5.0, 6.5], "left.x", {"cosim_stop": 0.1}),
                (TWO_MASS, "left.x", [1.0, 2.0], "right.f", {"cosim_stop": 0.05, "cosim_step": 1e-3}),
                (BALL, "ball.e", [0.5, 0.9], "ball.h", {"cosim_stop": 1.0}),
                (THERMOSTAT, "room.T", [19.5, 20.5], "thermostat.heat", {"cosim_stop": 20})):
            e = concord.ensemble(model, {name: values}, results=[result], **options)
            self.assertEqual((e.failed, list(e), len(e.time)), ({}, [result], 1))
            np.testing.assert_array_equal(e.values[name], values)
            for member, value in enumerate(values):
                r = concord.run(model, start_values={name: value}, **options)
                self.assertEqual(e[result][member, -1], r[result][-1], (model.name, member))

    def test_times(self):
        """Where macro-steps end there anyway, they are those of a run."""
        e = concord.ensemble(TWO_MASS, {"left.m": [5.0, 6.0], "left.d": 12}, times=[0.0, 0.05, 0.1],
                             cosim_step=1e-3, cosim_stop=0.1)
        np.testing.assert_array_equal(e.values["left.d"], [12, 12])
        r = concord.run(TWO_MASS, start_values={"left.m": 6.0, "left.d": 12}, cosim_step=1e-3, cosim_stop=0.1)
        for name in e:
            np.testing.assert_array_equal(e[name][1], r[name][[0, 50, 100]], name)

    def test_statistics(self):
        e = concord.ensemble(TWO_MASS, {"left.x": np.linspace(0, 2, 21)}, results=["left.x"], times=[0.0, 0.02],
                             cosim_stop=0.02, cosim_step=1e-3)
        self.assertAlmostEqual(e.mean("left.x")[0], 1.0, 14)
        self.assertAlmostEqual(e.std("left.x")[0], np.std(np.linspace(0, 2, 21), ddof=1), 14)
        np.testing.assert_allclose(e.quantile("left.x", [0.25, 0.75])[:, 0], [0.5, 1.5], rtol=1e-14)
        # Linear in the start value: so are mean and quantiles.
        self.assertAlmostEqual(e.mean("left.x")[1], e.quantile("left.x", 0.5)[1], 9)

    def test_one_that_fails_is_kept_apart(self):
        e = concord.ensemble(TWO_MASS, {"left.m": [5.0, 0.0, 6.0]}, results="left.x", cosim_stop=0.05)
        self.assertEqual(list(e.failed), [1])
        self.assertIn("left", e.failed[1])
        np.testing.assert_array_equal(np.isnan(e["left.x"][:, 0]), [False, True, False])
        self.assertTrue(np.isfinite(e.mean("left.x")[0]))
        self.assertIn("3 members, 1 failed", repr(e))

    def test_wrong_input(self):
        for said, given in (("one length", {"values": {}}),
                            ("'left.m' [2], 'left.d' [3]", {"values": {"left.m": [1, 2], "left.d": [1, 2, 3]}}),
                            ("no parameter, input or state 'q'", {"values": {"left.q": [1]}}),
                            ("did you mean 'left.x'", {"values": {"left.m": [1]}, "results": ["left.q"]}),
                            ("ascend from 0 to 2 s", {"values": {"left.m": [1]}, "times": [3]}),
                            ("ascend from 0 to 2 s", {"values": {"left.m": [1]}, "times": [1, 1]})):
            with self.subTest(given), self.assertRaisesRegex(concord.InputError, said.replace("[", r"\[")):
                concord.ensemble(TWO_MASS, **given)


if __name__ == "__main__":
    unittest.main()
