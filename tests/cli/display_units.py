"""`display:` of the model: what people see is in that unit, numbers of files are in the variable's own."""
import unittest

import h5py
import numpy as np
from concord_runs import PICTURES, ModelTest, execute
from report import Page

# T(t) = 273.15 + 80 exp(-t/2) K; one element of a vector and one variable are shown in their own units.
COOLING = """
experiment: {start: 0, stop: 3}
subsystems:
  cup:
    equations:
      parameters: {n: 2}
      inputs: {T_room: 273.15}
      states: {T: 353.15, "w[n]": 300}
      derivatives: {T: 0.5*(T_room - T), "w[i in 1:n]": "0"}
      outputs: {T: T, p: 2e5 + 1e4*t, "w[n]": w, own: T}
      units: {T: K, T_room: K, w: K, p: Pa, own: K}
      DISPLAY
"""
SHOWN = "display: {T: degC, T_room: degF, w: degC, p: bar}"


class Display(ModelTest):
    def results(self, name, display=SHOWN, ranks=1, options=()):
        path = self.folder / f"{name}.h5"
        run = execute("run", self.model(COOLING.replace("DISPLAY", display)), "-cosim_step", 0.25,
                      "-cosim_output", path, *options, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def said(self, *words):
        run = execute(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_files_say_both(self):
        for ranks in (1, 2):
            with h5py.File(self.results("both", ranks=ranks)) as file:
                names = list(file["outputs/names"].asstr())
                self.assertEqual(names, [f"cup.{name}" for name in ("T", "p", "w[1]", "w[2]", "own")])
                self.assertEqual(list(file["outputs/units"].asstr()), ["K", "Pa", "K", "K", "K"])
                self.assertEqual(list(file["outputs/display_units"].asstr()), ["degC", "bar", "degC", "degC", "K"])
                self.assertEqual(list(file["inputs/display_units"].asstr()), ["degF"])
                self.assertEqual(list(file["states/display_units"].asstr()), ["degC"] * 3)
                np.testing.assert_allclose(file["outputs/values"][:, 0],
                                           273.15 + 80 * np.exp(-file["time"][:] / 2), rtol=1e-6)

    def test_what_people_see(self):
        """With the offset of degC; a difference has none."""
        path = self.results("run")
        data = dict((line.split()[0], line.split()[1:3]) for line in
                    self.said("watch", "--once", path, "-v", "cup.T,cup.p,cup.own,cup.T_room").splitlines()[2:])
        end = 80 * np.exp(-1.5)
        for name, value, unit in (("cup.T", end, "degC"), ("cup.p", 2.3, "bar"), ("cup.own", 273.15 + end, "K"),
                                  ("cup.T_room", 32, "degF")):
            self.assertAlmostEqual(float(data[name][0]), value, delta=1e-3)
            self.assertEqual(data[name][1], unit)
        rest = [line.split()[:3] for line in self.said("steady", self.model(COOLING.replace("DISPLAY", SHOWN))).splitlines()[1:4]]
        self.assertEqual([row[0] for row in rest], ["cup.T", "cup.w[1]", "cup.w[2]"])
        for row, value in zip(rest, (0, 26.85, 26.85)):
            self.assertAlmostEqual(float(row[1]), value, delta=1e-9)
            self.assertEqual(row[2], "degC")
        if PICTURES:
            self.require_pictures(path)
        warmer = self.results("warmer", options=("--set", "cup.T=363.15"))
        line = next(line.split() for line in self.said("compare", warmer, path, "-v", "cup.T_room,cup.T").splitlines()
                    if line.startswith("cup.T "))
        self.assertEqual((line[1], float(line[4])), ("degC", 10.0))

    def require_pictures(self, path):
        self.said("report", path)
        curves = {one["name"]: one for one in Page(path.with_suffix(".html")).data["variables"]}
        self.assertEqual(curves["cup.T"]["unit"], "degC")
        np.testing.assert_allclose(curves["cup.T"]["y"], 80 * np.exp(-np.array(curves["cup.T"]["x"]) / 2), rtol=1e-5)
        svg = self.folder / "picture.svg"
        self.said("plot", path, "-v", "cup.T,cup.p,cup.own", "-o", svg)
        for label in ("[degC]", "[bar]", "[K]"):
            self.assertIn(label, svg.read_text())
        self.said("plot", path, "--phase", "cup.p,cup.T", "-o", svg)
        for label in ("cup.p [bar]", "cup.T [degC]"):
            self.assertIn(label, svg.read_text())

    def test_files_of_numbers_keep_the_unit(self):
        path = self.results("run")
        first = self.said("export", path, "-v", "cup.T,cup.p").splitlines()[1]
        self.assertEqual([float(number) for number in first.split(",")], [0, 353.15, 2e5])

    def test_older_files(self):
        """They have no units to show: their own count; beside a newer one that one's, in one panel."""
        new, old = self.results("new"), self.results("old")
        with h5py.File(old, "a") as file:
            for group in ("outputs", "inputs", "states"):
                del file[f"{group}/display_units"]
        self.assertIn(" K ", self.said("watch", "--once", old, "-v", "cup.T"))
        if PICTURES:
            svg = self.folder / "both.svg"
            self.said("plot", new, old, "-v", "cup.T", "-o", svg)
            self.assertIn("[degC]", svg.read_text())
            self.assertNotIn("[K]", svg.read_text())
        self.said("repair", old)
        self.said("compare", old, new)


if __name__ == "__main__":
    unittest.main()
