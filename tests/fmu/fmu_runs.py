"""Models of test FMUs and how to run them."""
import tempfile
import unittest
from pathlib import Path

import fmu_factory
from concord_runs import execute, simulate, write_model

WIRES = {
    ("left", "right"): ("right.f -> left.f", "left.x -> right.x_left", "left.v -> right.v_left"),
    ("prey", "predator"): ("predator.amount -> prey.predators", "prey.amount -> predator.prey"),
    ("ball",): (),
    ("ball", "left", "right"): ("right.f -> left.f", "left.x -> right.x_left",
                                "left.v -> right.v_left"),
    ("left",): (),
    ("ticker",): (),
}


def model_text(parts, stop, subsystems=None):
    subsystems = subsystems or {part: f"{{fmu: {part}.fmu}}" for part in parts}
    text = f"experiment: {{start: 0, stop: {stop}}}\nsubsystems:\n"
    text += "".join(f"  {part}: {subsystems[part]}\n" for part in parts)
    wires = WIRES[tuple(parts)]
    return text + ("connections:\n" + "".join(f"  - {wire}\n" for wire in wires) if wires else "")


PAIR = ("left", "right")  # two masses on springs


def build_parts(folder, parts, version=2, **how):
    for part in parts:
        fmu_factory.build(folder, part, version, **how)


class FmuTest(unittest.TestCase):
    """A test with a folder of its own, which is also the temporary folder of the program."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def build(self, part, version=2, **how):
        return fmu_factory.build(self.folder, part, version, **how)

    def model(self, parts, stop=2, subsystems=None):
        return write_model(self.folder, "model", model_text(parts, stop, subsystems))

    def simulate(self, parts, *options, version=2, stop=2, ranks=1, **how):
        build_parts(self.folder, parts, version, **how)
        return simulate(self.model(parts, stop), *options, ranks=ranks)

    def fails(self, code, says, *options, parts=("left",), subsystems=None, command="run"):
        """The one error of a run that must end with `code`."""
        run = execute(command, self.model(parts, 2, subsystems), *options)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertTrue(run.stderr.startswith("concord: error: "), run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)
