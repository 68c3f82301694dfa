"""The package under mpirun, with mpi4py and without it."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import concord
import numpy as np
from concord_runs import EXAMPLES, TWO_MASS
from patience import HANGS

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"

# Arguments: models. Each rank writes what it has got.
SCRIPT = """
import json, sys
if sys.argv[3] == "mpi4py":
    from mpi4py import MPI
import concord
r = concord.run(sys.argv[1])
ball = concord.run(sys.argv[2], cosim_step=1e-2)
s = concord.Simulation(sys.argv[1], cosim_step=1e-2)
s.start()
s.advance(until=0.5)
c = s.snapshot()
s.advance(until=1)
s.restore(c)
s.advance(until=1)
told = [r["left.x"][-1], ball["ball.h"][-1], s["left.x"], s["right.x"], len(ball.events)]
try:
    concord.run("nothing.yaml")
except concord.InputError as error:
    told.append(str(error))
def fails(t, x, u):
    return [1 / 0] if t > 0.5 else [0.0]
m = concord.ModelBuilder("m", stop=1).add("a", fails, states={"x": 0})
m.add("b", lambda t, x, u: -u, states={"x": 0}, inputs={"u": 0}).connect("a.x", "b.u")
try:
    concord.run(m, cosim_step=0.1)
except concord.SimulationError as error:
    told.append(str(error)[:50])
if sys.argv[3] == "mpi4py":
    alone = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank)
    s = concord.Simulation(sys.argv[2], comm=alone, cosim_step=1e-2,
                           start_values={"ball.e": 0.5})
    s.start()
    s.advance(until=1)
    told.append(s["ball.h"])
    rank = MPI.COMM_WORLD.rank
else:
    from concord import _concord
    rank = _concord.rank()
with open(f"rank{rank}.json", "w") as file:
    json.dump([list(map(int, r.subsystems["rank"])), told], file)
"""


class TwoRanks(unittest.TestCase):
    def told(self, how):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script.py")
            script.write_text(SCRIPT)
            run = subprocess.run(
                ["mpirun", "--oversubscribe", "-n", "2", sys.executable, script, TWO_MASS, BALL,
                 how], cwd=folder, capture_output=True, text=True, check=False, timeout=HANGS)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertEqual(sorted(os.listdir(folder)), ["rank0.json", "rank1.json", "script.py"])
            import json
            ranks = [json.loads(Path(folder, f"rank{i}.json").read_text()) for i in (0, 1)]
        self.assertEqual(ranks[0], ranks[1])
        self.assertEqual(ranks[0][0], [0, 1])
        return ranks[0][1]

    def test_all_ranks_get_what_one_rank_gets(self):
        with_mpi4py, without = self.told("mpi4py"), self.told("alone")
        self.assertEqual(with_mpi4py[:len(without)], without)
        r = concord.run(TWO_MASS)
        np.testing.assert_allclose(without[0], r["left.x"][-1], rtol=1e-9)
        ball = concord.run(BALL, cosim_step=1e-2)
        np.testing.assert_allclose(without[1], ball["ball.h"][-1], rtol=1e-9)
        self.assertEqual(without[4], len(ball.events))
        self.assertIn("nothing.yaml", without[5])
        self.assertIn("'a'", without[6])


if __name__ == "__main__":
    unittest.main()
