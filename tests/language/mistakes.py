"""Mistakes that engineers made, each with the message that mends it."""
import unittest

import numpy as np
from concord_runs import ModelTest, execute, simulate, write_model

HEAD = "experiment: {stop: 1}\nsubsystems:\n"
PLAIN = HEAD + "  a: {equations: {outputs: {y: t}}}\n"


class Models(ModelTest):
    def test_expressions(self):
        self.check_refuses(HEAD + '  a: {equations: {outputs: {y: "t > 0 and t < 1"}}}\n', "model.yaml:3", "write && for 'and'")
        self.check_refuses(HEAD + '  a: {equations: {outputs: {y: "not t"}}}\n', "write ! for 'not'")
        self.check_refuses(HEAD + "  a: {equations: {states: {x: 1}, derivatives: {der(x): -x}, outputs: {y: x}}}\n",
                     "model.yaml:3", "write x: ...")
        self.check_refuses(HEAD + "  a: {equations: {states: {x: 1}, derivatives: {x': -x}, outputs: {y: x}}}\n", "write x: ...")
        self.check_refuses(HEAD + "  a:\n    equations:\n      parameters:\n        k: 5,5\n      outputs: {y: k}\n", "model.yaml:6",
                     "'5,5'", "behind a point")

    def test_yaml(self):
        self.check_refuses(HEAD + "\ta: {equations: {outputs: {y: t}}}\n", "model.yaml:3", "tab")
        self.check_refuses(HEAD + "  c: {repeat: {i: [1, 2]}, equations: {inputs: {u: 0}, outputs: {y: u}}}\n"
                     "connections: [c[1].y -> c[2].u]\n", "bracket", "in quotes")
        self.check_refuses(HEAD + "  c: {repeat: {i: 4}, equations: {outputs: {y: t}}}\n", "i: [1, 4]")
        self.check_refuses("stop: 1\n" + PLAIN, "model.yaml:1", "'stop' belongs under 'experiment'")
        self.check_refuses(HEAD + "  a: {states: {x: 1}, equations: {outputs: {y: t}}}\n", "'states' belongs under 'equations'")

    def test_connections(self):
        cells = HEAD + ("  c: {repeat: {i: [1, 2]}, equations: {inputs: {u: 0}, outputs: {y: u}}}\n"
                        "  a: {equations: {outputs: {y: t}, units: {y: UNIT}}}\n"
                        "  b: {equations: {inputs: {u: 0}, outputs: {y: u}, units: {u: N.m}}}\nconnections: [TEXT]\n")
        self.check_refuses(cells.replace("TEXT", "a.y -> c.u").replace("UNIT", "s"), "model.yaml:6", "'c' is repeated", "c[1]")
        self.check_refuses(cells.replace("TEXT", "a.y -> b.u").replace("UNIT", "Nm"), "'Nm'", "did you mean 'N.m'?")

    def test_options(self):
        self.check_refuses(PLAIN, "an FMU alone", "-cosim_stop", options=("--stop-time", "3"))
        run = execute("run", self.model(PLAIN), "--stop-time", "3")
        self.assertEqual(run.returncode, 2)
        self.assertIn("-cosim_stop", run.stderr)
        run = execute("run", self.model(PLAIN), "-cosim_quantum", "1")
        self.assertEqual(run.returncode, 2)
        self.assertNotIn("did you mean", run.stderr)

    def test_results_that_are_no_numbers(self):
        run = execute("run", self.model(HEAD + "  a:\n    equations:\n      parameters: {m: 0}\n      states: {v: 1}\n"
                                        "      derivatives: {v: v/m - 1}\n      outputs: {v: v}\n"))
        self.assertEqual(run.returncode, 1)
        for word in ("derivative of state 'v' is inf", "model.yaml:7: 'v/m' is inf where v = 1, m = 0"):
            self.assertIn(word, run.stderr)


class Tables(ModelTest):
    def table(self, rows, command="check", options=""):
        (self.folder / "rows.csv").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
        return execute(command, self.model(HEAD + f"  r: {{table: {{file: rows.csv{options}}}}}\n"))

    def test_taken(self):
        for rows in ("t;u\n0;1,5\n1;2,5\n", "# by hand\nt,u\n0,1\n1,2\n", "t\tu\n0\t1\n1\t2,5\n",
                     "t;\"u, v\"\n0;1,5\n".replace('u, v', 'u').encode("utf-16"), "t,u\n0,1\n".encode("utf-16-be").join([b"\xfe\xff", b""]),
                     "t;u\n0;1,5\n".encode("utf-8-sig")):
            self.assertEqual(self.table(rows).returncode, 0, rows)

    def test_named(self):
        for rows, words in (("t,u\n0,1,5,2\n", ("rows.csv:2", "4 fields", "semicolons")),
                            (b"\xff\xfet\0,\0u\0\n\0\0\xd8,", ("rows.csv", "UTF-16LE", "UTF-8")),
                            ("t;u\n0;1,5,5\n", ("rows.csv:2", "'1,5,5'"))):
            run = self.table(rows)
            self.assertEqual(run.returncode, 2, run.stdout)
            for word in words:
                self.assertIn(word, run.stderr)

    def test_noted(self):
        run = self.table("t,u\n0,1\n0.5,2\n")
        self.assertIn("r: its rows end at t = 0.5 s, before the stop at 1 s", run.stdout)
        run = self.table("t [ms],u\n0,1\n1000,2\n")
        self.assertIn("'t [ms]', are taken in s; say time_unit: ms", run.stdout)
        self.assertNotIn("r: its times", self.table("t [ms],u\n0,1\n1000,2\n", options=", time_unit: ms").stdout)
        for rows, options in (("t,u\n0,1\n1,2\n", ""), ("t,u\n0,1\n0.5,2\n", ", after: repeat"), ("t_moms,u\n0,1\n1,2\n", "")):
            self.assertNotIn("r: its", self.table(rows, options=options).stdout)


    def test_noted_in_the_run(self):
        (self.folder / "rows.csv").write_text("t,v\n0,1\n0.5,2\n")
        model = self.model(HEAD + "  r: {table: {file: rows.csv}}\n  a: {equations: {inputs: {u: 1, w: 0}, outputs: {y: u + w}}}\n"
                           "connections: [r.v -> a.w]\n")
        def summary(path, *options):
            return execute("run", path, "-cosim_output", self.folder / "a.h5", *options).stdout

        self.assertIn("  (start value) -> a.u\n", execute("check", model).stdout)
        said = summary(model)
        self.assertIn("an input that nothing feeds stays at its start value: a.u\n", said)
        self.assertIn("r: its rows end at t = 0.5 s, before the stop at 1 s", said)
        self.assertNotIn("its rows end", summary(model, "-cosim_stop", 0.5))
        many = write_model(self.folder, "many", HEAD + "  a: {repeat: {i: [1, 7]}, equations: {inputs: {u: 1}, outputs: {y: u}}}\n")
        said = execute("run", many, "-cosim_output", self.folder / "many.h5").stdout
        self.assertIn("start values: a[1].u, a[2].u, a[3].u, a[4].u, a[5].u and 2 more\n", said)

    def test_rows_of_maps(self):
        for points, rows, says in (("points: {x: [], y: []}", "", "model.yaml:2: map 'f' has no points"),
                                   ("file: rows.csv", "x,y\n", "map 'f' has no row of numbers"),
                                   ("file: rows.csv", "x,y\n0,5,1\n", "rows.csv:2: has 3 fields, the header has 2; decimals")):
            (self.folder / "rows.csv").write_text(rows)
            text = f"experiment: {{stop: 1}}\nmaps: {{f: {{{points}}}}}\nsubsystems: {{a: {{equations: {{outputs: {{y: f(t)}}}}}}}}\n"
            run = execute("check", self.model(text))
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)

    def test_what_is_set(self):
        run = execute("run", self.model(HEAD + "  a:\n    equations:\n      discrete: {h: 0}\n      when:\n"
                                        "        - {every: 0.1, set: {h: 1/h}}\n      outputs: {h: h}\n"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("subsystem 'a': ", run.stderr)
        self.assertIn("model.yaml:7: set of 'h' when every 0.1 is inf at t = 0 s", run.stderr)


class Units(ModelTest):
    def test_at_one_end(self):
        text = HEAD + ("  a: {equations: {outputs: {y: t}, units: {y: km/h}}}\n"
                       "  b: {equations: {inputs: {u: 0}, outputs: {y: u}}}\nconnections: [a.y -> b.u]\n")
        run = execute("check", self.model(text))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("model.yaml:5: a.y -> b.u has the unit 'km/h' at one end only", run.stdout)
        run = execute("check", self.model(text.replace("km/h", "m/s")))
        self.assertNotIn("one end only", run.stdout)

    def test_of_values(self):
        """What is given in another unit is converted, wherever it is given."""
        car = ("  car: {equations: {parameters: {m: 2 t, 'k[2]': [1 kN/m, 3]}, inputs: {w: 3.6 km/h}, "
               "discrete: {g: 90 deg}, states: {v: 36 km/h, 'T[2]': 20 degC}, derivatives: {v: 0, T: 0*T}, "
               "outputs: {m: m, k: 'k[1]', rest: 'k[2]', w: w, g: g, v: v, T: 'T[2]'}, "
               "units: {m: kg, k: N/m, w: m/s, v: m/s, T: K, g: rad}}}\n")
        names = ("m", "k", "rest", "w", "g", "v", "T")
        base = dict(zip(names, (2000, 1000, 3, 1, np.pi / 2, 10, 293.15)))
        path = self.model(HEAD + car)
        (self.folder / "set.csv").write_text("car.m,500 g\ncar.w,72 km/h\n")
        for words, changes in (((), {}), (("--set", "car.v=72 km/h", "--set", "car.T[2]=0 degC"),
                                          {"v": 20, "T": 273.15}),
                               (("--parameters", self.folder / "set.csv"), {"m": 0.5, "w": 20})):
            run = simulate(path, *words)
            row = run.outputs.columns(*(f"car.{name}" for name in names))[0]
            np.testing.assert_allclose(row, list({**base, **changes}.values()), rtol=1e-14)
        for words, says in (("car.v=3 kg", "given in 'kg', but is in 'm/s'"),
                            ("car.v=3 kmh", "not '3 kmh'"), ("car.v=2 m/s + 1", "unknown name 's'")):
            run = execute("run", path, "--set", words)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(says, run.stderr)
        run = execute("check", self.model(HEAD + car.replace(" v: m/s,", "")))
        self.assertIn("model.yaml:3: state 'v' of subsystem 'car' is given in 'km/h', but has no unit",
                      run.stderr)


if __name__ == "__main__":
    unittest.main()
