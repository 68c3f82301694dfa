"""Code of subsystems that crashes or ends the program, inside of Python."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from concord_runs import TWO_MASS
from patience import HANGS

MODEL = """name: faults
experiment: {{start: 0, stop: 1}}
subsystems:
  a: {{equations: {{inputs: {{load: 0}}, states: {{x: 0.2}}, derivatives: {{x: load - x*x}}, outputs: {{x: x}}}}}}
  b:
    native: {{library: {library}, type: faulty}}
    parameters: {{fault: {fault}, call: derivatives, time: 0.5, rank: -1}}
connections: [a.x -> b.load, b.x -> a.load]
"""

SURVIVES = """
import sys, concord
try:
    if sys.argv[1] == "run":
        concord.run("model.yaml", cosim_step=0.01)
    s = concord.Simulation("model.yaml", cosim_step=0.01)
    s.start()
    s.advance(until=1)
except concord.SimulationError as error:
    print(error)
try:
    concord.run(sys.argv[2])
except concord.InputError as error:
    print(error)
sys.exit(5)
"""

IN_PYTHON = """
import os, sys, concord
def f(t, x, u):
    if t > 0.5:
        os.abort()
    return [0.0]
concord.run(concord.ModelBuilder("m", stop=1).add("a", f, states={"x": 1}), cosim_step=0.1)
"""


class Crashes(unittest.TestCase):
    def python(self, script, *arguments):
        return subprocess.run([sys.executable, "-c", script, *map(str, arguments)],
                              capture_output=True, text=True, timeout=HANGS, check=False,
                              cwd=self.folder)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_foreign_code_is_an_exception_once(self):
        for fault, how in (("segfault", "run"), ("exit", "run"), ("segfault", "step")):
            Path(self.folder, "model.yaml").write_text(
                MODEL.format(library=os.environ["FAULTY_SUBSYSTEM"], fault=fault))
            ended = self.python(SURVIVES, how, TWO_MASS)
            self.assertEqual((ended.returncode, ended.stderr), (5, ""))
            error, refusal = ended.stdout.strip().split("\n")
            self.assertIn("SIGSEGV" if fault == "segfault" else "called exit(0)", error)
            self.assertIn("'b'", error)
            self.assertIn("subsystem_isolated", refusal)

    def test_python_itself_ends_with_a_message(self):
        ended = self.python(IN_PYTHON)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("concord: error:", ended.stderr)
        self.assertIn("SIGABRT", ended.stderr)
        self.assertIn("'a'", ended.stderr)


if __name__ == "__main__":
    unittest.main()
