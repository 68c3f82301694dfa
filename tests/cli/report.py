"""concord report: one page that needs nothing else, and holds what the results file holds."""
import json
import unittest
from html.parser import HTMLParser

import h5py
import numpy as np
from concord_runs import EXAMPLES, PICTURES, ModelTest, execute

HOSTILE = """
name: "</script><script>window.broken = true</script> & <b>"
experiment: {start: 0, stop: 1}
subsystems:
  one: {equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {y: x + 0.5*u}}}
  two: {equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: u - x}, outputs: {y: 0.5*u - x}}}
connections: [one.y -> two.u, two.y -> one.u]
"""
LONG = """
experiment: {start: 0, stop: 1}
subsystems:
  one: {equations: {states: {x: 1}, derivatives: {x: -x}, outputs: {fast: sin(3000*t), x: x}}}
"""


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.tags, self.addresses, self.data, self.inside = [], [], "", None
        self.feed(path.read_text(encoding="utf-8"))
        self.data = json.loads(self.data)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.addresses += [attributes[name] for name in ("src", "href") if name in attributes]
        self.inside = attributes.get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside == "data":
            self.data += text


@unittest.skipUnless(PICTURES, "reports need the Python package")
class Report(ModelTest):
    def page(self, model, *options, words=(), code=0):
        results = self.folder / "run.h5"
        run = execute("run", model, *options, "-cosim_output", results)
        self.assertEqual(run.returncode, code, run.stderr)
        run = execute("report", results, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        path = self.folder / "run.html"
        self.assertEqual(run.stdout.strip(), str(path))
        self.assertLess(path.stat().st_size, 5e6)
        page = Page(path)
        self.assertEqual(page.addresses, [])
        self.assertEqual(page.tags.count("script"), 2)
        return page.data, results

    def test_what_is_in_it(self):
        data, results = self.page(EXAMPLES / "two_mass" / "two_mass.yaml", "-cosim_type", "jfm")
        with h5py.File(results) as file:
            names = [name.decode() for name in file["outputs/names"][:]]
            curves = {one["name"]: one for one in data["variables"]}
            for i, name in enumerate(names):
                np.testing.assert_allclose(curves[name]["x"], file["time"][:], rtol=1e-9)
                np.testing.assert_allclose(curves[name]["y"], file["outputs/values"][:, i], rtol=1e-6)
            self.assertEqual(curves["left.x"]["unit"], "m")
            size = data["steps"][0]["curves"][0]
            np.testing.assert_allclose(size["y"], file["steps/size"][:], rtol=1e-6)
            np.testing.assert_allclose(size["x"], file["time"][1:], rtol=1e-9)
            self.assertEqual([one["rhs"] for one in data["subsystems"]],
                             file["subsystems/rhs_evaluations"][:].tolist())
            errors = dict(data["errors"])
            self.assertAlmostEqual(max(errors.values()) / file.attrs["error_estimate"], 1, 2)
        self.assertEqual(data["status"], "completed")
        self.assertEqual([(one["output"], one["input"], one["loop"]) for one in data["connections"]],
                         [("right.f", "left.f", 0), ("left.x", "right.x_left", 0),
                          ("left.v", "right.v_left", 0)])
        self.assertIn("-cosim_accuracy", data["options"])

    def test_events(self):
        """Both limits at a jump, and what happened."""
        data, results = self.page(EXAMPLES / "thermostat" / "thermostat.yaml")
        with h5py.File(results) as file:
            times = file["events/time"][:]
        self.assertEqual(data["events"]["count"], len(times))
        np.testing.assert_array_equal(data["events"]["marks"], times)
        self.assertEqual(data["events"]["list"][0][1], "thermostat")
        heat = next(one for one in data["variables"] if one["name"] == "thermostat.heat")
        at = [y for x, y in zip(heat["x"], heat["y"]) if abs(x - times[0]) < 1e-7]
        self.assertEqual(at, [1, 0])

    def test_texts_and_loops(self):
        data, _ = self.page(self.model(HOSTILE))
        self.assertTrue(data["model"].startswith("</script>"))
        self.assertEqual([one["loop"] for one in data["connections"]], [1, 1])

    def test_long(self):
        data, _ = self.page(self.model(LONG), "-cosim_step", 2e-6, "-cosim_type", "jacobi",
                            "-cosim_adapt", "none")
        self.assertTrue(data["thinned"])
        fast = data["variables"][0]
        self.assertGreater(max(fast["y"]), 0.999)
        self.assertLess(min(fast["y"]), -0.999)

    def test_choice(self):
        data, _ = self.page(EXAMPLES / "two_mass" / "two_mass.yaml", words=("-v", "left.*"))
        self.assertEqual({one["name"].split(".")[0] for one in data["variables"]}, {"left"})

    def test_failed_run(self):
        text = LONG.replace("derivatives: {x: -x}", "derivatives: {x: 1/(t - 0.5)^2 + x^2}")
        data, _ = self.page(self.model(text), code=1)
        self.assertEqual(data["status"], "failed")
        self.assertLess(data["end"], 1)

    def test_wrong_files(self):
        (self.folder / "text.h5").write_text("no results")
        for words in (("text.h5",), ("nothing.h5",), ()):
            run = execute("report", *(self.folder / word for word in words))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(run.stderr.count("concord: error:"), 1)


if __name__ == "__main__":
    unittest.main()
