"""Which rank has which subsystems: `concord placement`, -cosim_placement, `rank:`, efforts."""
import random
import re
import tempfile
import unittest

import numpy as np
from concord_runs import TIGHT, execute, simulate, write_model

CELL = "equations: {{inputs: {inputs}, states: {{T: {start}}}, derivatives: {{T: {rate}}}, outputs: {{T: T}}}}"


def grid(side):
    """Cells of a plate that conduct heat to their neighbours, in random order."""
    cells = [(i, j) for i in range(side) for j in range(side)]
    random.Random(5).shuffle(cells)
    subsystems, connections = "", ""
    for i, j in cells:
        near = [(a, b) for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
                if 0 <= a < side and 0 <= b < side]
        inputs = "{" + ", ".join(f"u{k}: 0" for k in range(len(near))) + "}"
        rate = " + ".join(f"u{k} - T" for k in range(len(near)))
        subsystems += f"  c{i}_{j}: {{{CELL.format(inputs=inputs, start=i + j * j, rate=rate)}}}\n"
        connections += "".join(f"  - c{a}_{b}.T -> c{i}_{j}.u{k}\n" for k, (a, b) in enumerate(near))
    return (f"experiment: {{start: 0, stop: 0.1}}\nsubsystems:\n{subsystems}connections:\n"
            f"{connections}")


def row(extra=""):
    cells = "".join(f"  c{k}: {{{CELL.format(inputs='{u: 0}', start=k, rate='u - T')}{extra}}}\n"
                    for k in range(6))
    wires = "".join(f"  - c{k}.T -> c{k + 1}.u\n" for k in range(5))
    return f"experiment: {{start: 0, stop: 0.1}}\nsubsystems:\n{cells}connections:\n{wires}"


class Placement(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def printed(self, model, *options):
        """Costs by title (work, percent, partners), and subsystems by rank."""
        run = execute("placement", model, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        costs = {title.strip(): (float(work), float(cut), int(partners)) for title, work, cut, partners
                 in re.findall(r"^  (\S.*?) +([\d.]+) +([\d.]+) % +(\d+)$", run.stdout, re.M)}
        owned = [int(n) for n in re.findall(r"^  rank \d+: (\d+) subsystems", run.stdout, re.M)]
        return costs, owned

    def test_graph(self):
        """Compact pieces where the model's order says nothing; the same results."""
        model = write_model(self.folder, "plate", grid(8))
        costs, owned = self.printed(model, "-n", 4)
        self.assertGreater(costs["blocks"][1], 50)
        self.assertLess(costs["graph"][1], 1.3 * 100 * 16 / 112)
        self.assertEqual(costs["a run with these options"], costs["graph"])
        self.assertEqual(sum(owned), 64)
        self.assertLess(max(owned), 18)
        options = ("-cosim_step", 0.02, *TIGHT)
        one = simulate(model, *options)
        ranks = {}
        for placing in ("auto", "graph", "blocks"):
            four = simulate(model, *options, "-cosim_placement", placing, ranks=4)
            ranks[placing] = list(four.subsystems["rank"])
            far = np.max(np.abs(four.outputs.values - one.outputs.values))
            self.assertLess(far, 1e-12 * np.max(np.abs(one.outputs.values)))
        self.assertEqual(ranks["auto"], ranks["graph"])
        self.assertEqual([ranks["graph"].count(r) for r in range(4)], owned)
        self.assertEqual(ranks["blocks"], sorted(ranks["blocks"]))

    def test_efforts(self):
        """Of the model file, under every schedule."""
        text = row(", effort: 1").replace("T: 5}, derivatives: {T: u - T}, outputs: {T: T}}, effort: 1",
                                          "T: 5}, derivatives: {T: u - T}, outputs: {T: T}}, effort: 5")
        model = write_model(self.folder, "row", text)
        found = simulate(model, "-cosim_type", "jacobi", "-cosim_step", 0.01, ranks=2)
        self.assertEqual(list(found.subsystems["rank"]), [0, 0, 0, 0, 0, 1])

    def test_wanted(self):
        model = write_model(self.folder, "row", row(", rank: 1"))
        found = simulate(model, "-cosim_type", "jacobi", "-cosim_step", 0.01, ranks=2)
        self.assertEqual(set(found.subsystems["rank"]), {1})
        found = simulate(model, "-cosim_type", "jacobi", "-cosim_step", 0.01)
        self.assertEqual(set(found.subsystems["rank"]), {0})

    def test_repeated(self):
        """`rank` may follow from the index."""
        text = ("experiment: {start: 0, stop: 0.1}\ntemplates:\n  cell: {equations: {states: {x: 1}, "
                "derivatives: {x: -x}, outputs: {x: x}}}\nsubsystems:\n"
                "  cell: {template: cell, repeat: {i: [1, 5]}, rank: 5 - i}\n")
        found = simulate(write_model(self.folder, "cells", text), "-cosim_type", "jacobi",
                         "-cosim_step", 0.01, ranks=3)
        self.assertEqual(list(found.subsystems["rank"]), [1, 0, 2, 1, 0])

    def refused(self, says, *arguments):
        run = execute(*arguments)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        self.assertIn(says, run.stderr)

    def test_bad_input(self):
        for rank in ("-1", "1.5", "1e12", "two"):
            model = write_model(self.folder, "row", row(f", rank: {rank}"))
            self.refused("rank", "run", model)
        good = write_model(self.folder, "row", row())
        for ranks in ("0", "-3", "2.5", "many", "1e9"):
            self.refused("must be a number of ranks", "placement", good, "-n", ranks)
        self.refused("-cosim_placement", "run", good, "-cosim_placement", "everywhere")


if __name__ == "__main__":
    unittest.main()
