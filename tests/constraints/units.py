"""Constraints in any units: their derivatives are exact, whatever else stands in the equation."""
import unittest

import numpy as np
from concord_runs import TIGHT, simulate
from constrained_models import FEEDBACK
from implicit import Ordered, written

STEPS = (0.1, 0.05, 0.025)


def model(equation, rest=1.0):
    """FEEDBACK with another equation for the same unknown, and an output that rests."""
    return (FEEDBACK.replace("equation: left.z - right.z", f'equation: "{equation}"')
            .replace("constraints:", f"  rest:\n    equations: {{outputs: {{p: {rest!r}}}}}\n"
                                     "constraints:"))


class Units(Ordered):
    def errors(self, text):
        folder, path = written(text)
        with folder:
            runs = [simulate(path, "-cosim_step", step, *TIGHT) for step in STEPS]
        return [np.max(np.abs(run.outputs["left.y"] - run.time**4)) for run in runs]

    def test_outputs_that_rest_far_from_zero(self):
        """exp(a) - exp(b) = 0 has the solution of a - b = 0."""
        equation = "exp(left.z/3) - exp(right.z/3) + {0}*(rest.p - {1})"
        one = self.errors(model(equation.format(1, 1), 1.0))
        self.assert_order("resting at 1", STEPS, one, 4)
        for rest in (1e5, -1e8):
            errors = self.errors(model(equation.format(1 / abs(rest), rest), rest))
            self.assert_order(f"resting at {rest:g}", STEPS, errors, 4)
            np.testing.assert_allclose(errors, one, rtol=0.01)

    def test_roots_of_small_quantities(self):
        root = self.errors(model("sqrt(left.z + 4e-4) - sqrt(right.z + 4e-4)"))
        np.testing.assert_allclose(root, self.errors(FEEDBACK), rtol=0.01)


if __name__ == "__main__":
    unittest.main()
