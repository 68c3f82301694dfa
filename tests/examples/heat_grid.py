"""A plate of cells from one template, against the eigenmodes of its discrete Laplacian."""
import unittest

import numpy as np
from concord_runs import EXAMPLES, TIGHT, simulate
from references import observed_orders

MODEL = EXAMPLES / "heat_grid" / "heat_grid.yaml"
HOT, COLD, WIDTH, DIFFUSIVITY = 100, 20, 0.21, 401 / (8960 * 385)  # degC, m, m2/s


def exact(cells, time):
    """Temperatures, degC, [time, cell], of cells x cells: modes are products of sines, row by row."""
    rate = DIFFUSIVITY / (WIDTH / (cells + 1))**2
    index = np.arange(1, cells + 1)
    modes = np.sqrt(2 / (cells + 1)) * np.sin(np.pi * np.outer(index, index) / (cells + 1))
    decay = 4 * rate * np.sin(np.pi * index / (2 * (cells + 1)))**2
    decay = decay[:, None] + decay[None, :]
    drive = rate * (HOT - COLD) * np.outer(modes[:, 0], modes.sum(axis=1))
    amplitudes = drive / decay * -np.expm1(-decay * time[:, None, None])
    return COLD + (modes @ amplitudes @ modes).reshape(len(time), -1)


def error(cells, *options, ranks=1):
    """Relative L2 error of the warming of all cells."""
    run = simulate(MODEL, "--set", f"parameters.N={cells}", *options, ranks=ranks)
    wanted = exact(cells, run.time)
    assert run.outputs.names[cells] == f"cell[{cells + 1}].T"
    return np.linalg.norm(run.outputs.values - wanted) / np.linalg.norm(wanted - COLD)


class HeatGrid(unittest.TestCase):
    def test_orders(self):
        """All 400 cells, each with a time constant of 0.22 s."""
        for method, order, around, steps, largest in (("jacobi", 1, 0.1, (0.05, 0.025), 0.03),
                                                      ("jfm", 4, 0.15, (0.2, 0.1), 1e-6)):
            errors = [error(20, "-cosim_type", method, "-cosim_step", step, "-cosim_stop", 2, *TIGHT)
                      for step in steps]
            print(method, errors)
            self.assertLess(errors[-1], largest)
            self.assertLess(abs(observed_orders(steps, errors)[0] - order), around)

    def test_ranks_and_sizes(self):
        """Other sizes of the plate, the smallest one, and one shared out among ranks."""
        for cells, ranks in ((2, 1), (7, 3)):
            self.assertLess(error(cells, "-cosim_step", 0.2, ranks=ranks), 1e-5)


if __name__ == "__main__":
    unittest.main()
