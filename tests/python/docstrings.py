"""What docstrings show is true, and everything public has one and type hints."""
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pkgutil
import shutil
import tempfile
import unittest
from unittest import mock

import concord
from concord_runs import EXAMPLES, ROOT


def modules():
    return [concord] + [importlib.import_module(f"concord.{found.name}")
                        for found in pkgutil.iter_modules(concord.__path__)]


class Examples(unittest.TestCase):
    def test_docstrings(self):
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for name in ("bouncing_ball", "two_mass"):
                shutil.copy(EXAMPLES / name / f"{name}.yaml", folder)
            tried = 0
            for module in modules():
                result = doctest.testmod(module, extraglobs={"concord": concord})
                self.assertEqual(result.failed, 0, module.__name__)
                tried += result.attempted
            self.assertGreater(tried, 10)

    def test_notebook(self):
        """The cells of examples/notebook, one after the other; pictures need matplotlib."""
        path = EXAMPLES / "notebook" / "tour.ipynb"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(path.parent)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as shown, \
                mock.patch("pandas.DataFrame.plot") as plot:
            for cell in cells:
                if cell["cell_type"] == "code":
                    exec(compile("".join(cell["source"]), path.name, "exec"), names)
        plot.assert_called_once()
        self.assertIn("ball: gap < 0", shown.getvalue())
        self.assertLess(abs(names["braked"]["pendulum.angle"][-1]), 0.1)
        self.assertEqual(sorted(os.listdir()), ["README.md", "tour.ipynb"])


class Hints(unittest.TestCase):
    def public(self):
        for name in concord.__all__:
            thing = getattr(concord, name)
            yield name, thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and callable(value):
                        yield f"{name}.{member}", value

    def test_everything_public_is_described(self):
        for name, thing in self.public():
            if callable(thing):
                self.assertTrue(inspect.getdoc(thing), name)

    def test_every_argument_has_a_type(self):
        self.assertTrue(os.path.exists(os.path.join(concord.__path__[0], "py.typed")))
        self.assertTrue(os.path.exists(os.path.join(concord.__path__[0], "_concord.pyi")))
        for name, thing in self.public():
            if inspect.isfunction(thing):
                for argument in list(inspect.signature(thing).parameters.values()):
                    if argument.name != "self":
                        self.assertIsNot(argument.annotation, inspect.Parameter.empty,
                                         f"{name}({argument.name})")


if __name__ == "__main__":
    unittest.main()
