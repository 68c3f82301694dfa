"""`concord schema`: a JSON Schema that takes every model of the project and refuses wrong keys."""
import ast
import copy
import json
import re
import string
import tempfile
import unittest
from pathlib import Path

import jsonschema
import yaml

from concord_runs import EXAMPLES, ROOT, execute

EVERYTHING = """
name: all of it
experiment: {start: 0, stop: 2*T}
parameters: {T: 1, k: sqrt(2)}
templates:
  cell: {equations: {inputs: {u: }, states: {x: 0}, derivatives: {x: u - x}, outputs: {x: x}}, effort: 1, step: T/8}
subsystems:
  a:
    equations:
      parameters: {m: 5}
      inputs: {f: 0, g: }
      states: {x: k}
      variables: {force: f + g}
      derivatives: {x: force/m}
      outputs: {x: x}
      units: {x: m, f: }
      nominal: {x: 2}
    start: {x: 3}
    parameters: {m: 2}
  road: {table: {file: road.csv, time_column: t, time_unit: min, interpolation: cubic, before: hold, after: repeat,
                 shift: 0.5, outputs: {z: height}, units: {z: m}}}
  motor: {fmu: motor.fmu, parameters: {"table[1]": [1, 2], on: true}, start: {w: 1}}
  wing: {native: {library: wing.so, type: wing}}
  driver: {python: {file: driver.py, class: Driver}, isolated: false}
  cell: {template: cell, repeat: {i: [1, n]}, step: 0.1}
  net: {messages: {channels: {y: {every: T, offset: 0.1, size: 16, start: 1}, z: {type: texts}}, rate: 1e4, delay: [0, 0.1],
                   overhead: 20, queue: 4, loss: 0.1, order: free, seed: 7}}
  bus: {messages: {can: {baudrate: 5e5}, nodes: [n, m], channels: {x: {every: 1, id: 0x12345, extended: true}}}}
connections:
  - road.z -> a.f
  - {connect: "cell[i].x -> cell[i+1].u", repeat: {i: [1, 9]}}
constraints:
  - {unknown: force, start: 0, equation: a.x - 1, feeds: {a.g: 1}}
initial:
  - der(a.x) = 0
  - {equation: "cell[i].y = i", free: "cell[i].x", repeat: {i: [1, 10]}}
schedule: {groups: [[a, road], [motor]]}
events: [0.5, T]
include: [more.yaml]
"""


FILLED = {"stop": "1", "table": ""}


def constants(node):
    """Texts that stand in a script as they are: no parts of f-strings."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in () if isinstance(node, ast.JoinedStr) else ast.iter_child_nodes(node):
        yield from constants(child)


def texts_of(script):
    """Model texts in a test script; with FILLED in their holes, those with others are left out."""
    for text in constants(ast.parse(script.read_text(encoding="utf-8"))):
        if not (re.search(r"^experiment:", text, re.M) and "subsystems:\n" in text):
            continue
        if "{{" not in text:
            yield text
        elif {name for _, name, _, _ in string.Formatter().parse(text) if name} <= FILLED.keys():
            yield text.format(**FILLED)


def snippets_of(page):
    for match in re.finditer(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        yield match.group(1)


def records(value, path=()):
    """The maps whose keys are the language's own, by their paths."""
    own = {(), ("experiment",), ("templates", "cell"), ("templates", "cell", "equations"),
           ("subsystems", "a"), ("subsystems", "a", "equations"), ("subsystems", "road"),
           ("subsystems", "road", "table"), ("subsystems", "wing", "native"), ("connections", 1),
           ("constraints", 0), ("initial", 1), ("schedule",)}
    if path in own:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(
        value if isinstance(value, list) else ())
    for key, inner in items:
        yield from records(inner, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = execute("schema")
        assert run.returncode == 0, run.stderr
        cls.text = run.stdout
        schema = json.loads(run.stdout)
        jsonschema.Draft7Validator.check_schema(schema)
        cls.validator = jsonschema.Draft7Validator(schema)

    def wrong(self, model):
        return [f"{list(error.path)}: {error.message}" for error in self.validator.iter_errors(model)]

    def test_takes_all_models(self):
        count = 0
        for path in sorted(EXAMPLES.rglob("*.yaml")):
            model = yaml.safe_load(path.read_text(encoding="utf-8"))
            if "actions" in model:
                continue  # a scenario
            self.assertEqual(self.wrong(model), [], path)
            count += 1
        for script in sorted(Path(__file__).parent.glob("*.py")):
            for text in texts_of(script):
                self.assertEqual(self.wrong(yaml.safe_load(text)), [], text)
                count += 1
        for page in (ROOT / "doc" / "model_file.md", ROOT / "README.md"):
            for text in snippets_of(page):
                self.assertEqual(self.wrong(yaml.safe_load(text)), [], text)
                count += 1
        self.assertGreater(count, 20)

    def test_refuses_a_key_that_is_not_known_in_every_map(self):
        model = yaml.safe_load(EVERYTHING)
        self.assertEqual(self.wrong(model), [])
        paths = list(records(model))
        self.assertEqual(len(paths), 13)
        for path in paths:
            other = copy.deepcopy(model)
            at(other, path)["no_key"] = 1
            self.assertTrue(self.wrong(other), path)

    def test_refuses_what_the_reader_refuses(self):
        model = yaml.safe_load(EVERYTHING)
        for path, value in ((("experiment",), {"start": 0}), (("subsystems", "a", "fmu"), "a.fmu"),
                            (("subsystems", "a"), {"start": {"x": 1}}),
                            (("subsystems", "2a"), {"fmu": "a.fmu"}), (("events",), "now"),
                            (("subsystems", "road", "table", "after"), "wait"),
                            (("subsystems", "cell", "repeat"), {"i": [1]}),
                            (("subsystems", "cell", "repeat"), {"i": [1, 2], "j": [1, 2]}),
                            (("parameters", "T"), [1]), (("constraints", 0), {"unknown": "x"}),
                            (("initial", 1), {"free": "a.x"}), (("subsystems", "a", "equations", "inputs"), ["f", 1]),
                            (("subsystems", "a", "equations", "when"), {"x > 1": 0}), (("subsystems", "a", "equations", "states"), ["x"]),
                            (("templates", "cell", "template"), "cell")):
            other = copy.deepcopy(model)
            at(other, path[:-1])[path[-1]] = value
            self.assertTrue(self.wrong(other), path)

    def test_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.schema.json"
            run = execute("schema", "-o", path)
            self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
            self.assertEqual(path.read_text(encoding="utf-8"), self.text)
        for words, told in ((("-o", "/nowhere/x.json"), "cannot write '/nowhere/x.json'"),
                            (("model.yaml",), "takes no files"), (("--wrong",), "--wrong")):
            run = execute("schema", *words)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(told, run.stderr)


if __name__ == "__main__":
    unittest.main()
