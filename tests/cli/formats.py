"""Tables in others' formats and CSV dialects: written, read, compared, fed to models; what is missing is said."""
import importlib.util
import os
import sys
import unittest
from unittest import mock

import h5py
import numpy as np
from concord_runs import EXAMPLES, PICTURES, ModelTest, execute

BALL = EXAMPLES / "bouncing_ball/bouncing_ball.yaml"
PARTS = {"mat": "scipy", "parquet": "pyarrow", "mf4": "asammdf"}
FED = """
experiment: {start: 0, stop: 1}
subsystems:
  rows: {table: {file: FILE, outputs: {h: ball.h, v: ball.v}}}
  follower:
    equations:
      inputs: {h: 0, v: 0}
      states: {x: 0}
      derivatives: {x: h}
      outputs: {x: x, h: h, v: v}
      units: {h: m, v: m/s}
connections: [rows.h -> follower.h, rows.v -> follower.v]
"""


def there(ending):
    return importlib.util.find_spec(PARTS[ending]) is not None


class Formats(ModelTest):
    def setUp(self):
        super().setUp()
        environment = mock.patch.dict(os.environ, CONCORD_PYTHON=sys.executable)
        environment.start()
        self.addCleanup(environment.stop)
        self.ball = self.folder / "ball.h5"
        self.done("run", BALL, "-cosim_output", self.ball, "-cosim_stop", 1)

    def done(self, *words):
        run = execute(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def refused(self, *words):
        run = execute(*words)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr

    def round_trip(self, name, *options):
        """Out, in again, and out as CSV: the same bytes as at first; nothing differs in a comparison."""
        there_file, back, direct = (self.folder / one for one in (name, "back.csv", "direct.csv"))
        self.done("export", self.ball, *options, "-o", there_file)
        self.done("export", there_file, "-o", back)
        self.done("export", self.ball, "-o", direct)
        self.assertEqual(back.read_bytes(), direct.read_bytes())
        for pair in ((there_file, self.ball), (self.ball, there_file)):
            self.assertIn("tolerance 0 of each range: kept", self.done("compare", *pair, "--tolerance", 0))
        return there_file

    def test_dialects(self):
        for name, words, begin in (("a.csv", "comma", b"time,ball.h"), ("b.csv", "semicolon", b"time;ball.h"),
                                   ("c.tsv", "tab,decimal-comma", b"time\tball.h"),
                                   ("d.txt", "semicolon,decimal-comma,utf-16", b"\xff\xfet\0i\0m\0e\0;\0")):
            with self.subTest(words=words):
                file = self.round_trip(name, "--dialect", words)
                self.assertTrue(file.read_bytes().startswith(begin))
                text = file.read_bytes().decode("utf-16" if "utf-16" in words else "utf-8")
                self.assertEqual("0,5" in text.splitlines()[-1] or "," in text.splitlines()[-1], "comma" in words)

    @unittest.skipUnless(there("mat"), "needs python3-scipy")
    def test_mat(self):
        """As DyMat and OMPython read it: transposed texts and tables, time in row 0 of both, format 4."""
        from scipy.io import loadmat, matlab
        file = self.round_trip("ball.mat")
        self.assertEqual(matlab.matfile_version(str(file), appendmat=False)[0], 0)
        content = loadmat(file, chars_as_strings=False)
        self.assertEqual(["".join(row).rstrip() for row in content["Aclass"]], ["Atrajectory", "1.1", "", "binTrans"])
        names = ["".join(column).rstrip() for column in zip(*content["name"])]
        described = ["".join(column).rstrip() for column in zip(*content["description"])]
        self.assertEqual(names[0], "time")
        self.assertEqual(described[names.index("ball.v")], "ball.v [m/s]")
        self.assertEqual(content["dataInfo"].shape, (4, len(names)))
        self.assertEqual(content["dataInfo"][:, 0].tolist(), [0, 1, 0, -1])
        np.testing.assert_array_equal(content["data_1"], [[0, 1]])
        block, place = content["dataInfo"][:2, names.index("ball.h")]
        values = content[f"data_{block}"][abs(place) - 1]
        with h5py.File(self.ball) as ours:
            column = list(ours["outputs/names"].asstr()).index("ball.h")
            self.assertEqual((values[0], values[-1]), tuple(ours["outputs/values"][[0, -1], column]))

    @unittest.skipUnless(there("mat"), "needs python3-scipy")
    def test_mat_of_others(self):
        """As OpenModelica and Dymola write: binNormal and single precision, aliases with a sign, constants."""
        from scipy.io import savemat

        def texts(lines):
            width = max(map(len, lines))
            return np.array([line.ljust(width) for line in lines])
        info = np.array([[0, 1, 0, -1], [2, 2, 0, -1], [2, -2, 0, -1], [1, 2, 0, 0]], np.int32)
        one, two = np.array([[0., 1], [9.81, 9.81]]), np.array([[0, 0.5, 0.5, 1], [1, 2, 3, 4.]], np.float32)
        names, said = ["time", "b.x", "b.minus", "b.g"], ["Time in [s]", "where it is [m|cm]", "the other way [m]", ""]
        for kind in ("binNormal", "binTrans"):
            turn = np.transpose if kind == "binNormal" else np.asarray
            lines = [texts(each) for each in (names, said)]
            if kind == "binTrans":
                lines = [np.array(["".join(row) for row in zip(*each)]) for each in lines]
                info_here = info.T
            else:
                info_here = info
            file = self.folder / f"{kind}.mat"
            savemat(file, {"Aclass": texts(["Atrajectory", "1.1", "", kind]), "name": lines[0],
                           "description": lines[1], "dataInfo": info_here, "data_1": turn(one), "data_2": turn(two)},
                    format="4")
            out = self.done("export", file)
            self.assertEqual(out.splitlines()[0], "time,b.x,b.minus,b.g")
            rows = [[float(x) for x in line.split(",")] for line in out.splitlines()[1:]]
            self.assertEqual(rows, [[0, 1, -1, 9.81], [0.5, 2, -2, 9.81], [0.5, 3, -3, 9.81], [1, 4, -4, 9.81]])
            self.assertIn("b.minus       m ", self.done("compare", file, file))
        savemat(self.folder / "other.mat", {"a": np.eye(2)}, format="4")
        self.assertIn("is no trajectory of Modelica", self.refused("export", self.folder / "other.mat"))

    @unittest.skipUnless(there("parquet"), "needs pyarrow")
    def test_parquet(self):
        import pyarrow.parquet as pq
        table = pq.read_table(self.round_trip("ball.parquet"))
        self.assertEqual(table.column_names[0], "time")
        self.assertEqual(table.schema.field("ball.v").metadata[b"unit"], b"m/s")

    @unittest.skipUnless(there("mf4"), "needs asammdf")
    def test_mdf(self):
        from asammdf import MDF
        for name in ("ball.mf4", "ball.mdf"):
            with MDF(self.round_trip(name)) as mdf:
                self.assertEqual(mdf.get("ball.v").unit, "m/s")

    def test_tables_of_models(self):
        """The same run from a results file, from each format, and the units that are in it."""
        def follow(file):
            model = self.model(FED.replace("FILE", str(file)))
            self.done("run", model, "-cosim_output", self.folder / "follow.h5")
            return self.done("export", self.folder / "follow.h5")
        expected = follow(self.ball)
        files = [("ball.csv", "comma"), ("ball.txt", "semicolon,decimal-comma,utf-16")]
        files += [(f"ball.{ending}", None) for ending in PARTS if there(ending)]
        for name, words in files:
            with self.subTest(name=name):
                self.done("export", self.ball, *(["--dialect", words] if words else []), "-o", self.folder / name)
                self.assertEqual(follow(self.folder / name), expected)
        if there("mat"):
            wrong = self.model(FED.replace("FILE", "ball.mat").replace("h: m,", "h: kg,"))
            self.assertIn("kg", self.refused("check", wrong))
            missing = self.model(FED.replace("FILE", "ball.mat").replace("ball.h,", "ball.height,"))
            self.assertIn("ball.h", self.refused("check", missing))

    @unittest.skipUnless(PICTURES, "pictures need the Python package")
    def test_pictures(self):
        """Measured rows beside a run's."""
        self.done("export", self.ball, "--dialect", "semicolon", "-o", self.folder / "rows.csv")
        self.done("plot", self.ball, self.folder / "rows.csv", "-v", "ball.h", "-o", self.folder / "both.svg")
        self.assertIn("rows", (self.folder / "both.svg").read_text())

    def test_what_is_missing(self):
        """One line that names the file, what is missing and what to do; nothing is left behind."""
        for ending, module in (*PARTS.items(), ("mdf", "asammdf")):
            file = self.folder / f"out.{ending}"
            for program, words in ((self.without(module), (module, "install it", "CONCORD_PYTHON", "CSV")),
                                   ("/no/such/python", ("no /no/such/python", "python3", "CSV"))):
                with self.subTest(ending=ending, program=program), mock.patch.dict(os.environ, CONCORD_PYTHON=program):
                    for call in (("export", self.ball, "-o", file), ("compare", self.empty(ending), self.ball)):
                        said = self.refused(*call)
                        for word in (f".{ending}'", *words):
                            self.assertIn(word, said)
                    self.assertFalse(file.exists())
        self.assertEqual([one for one in os.listdir(self.folder) if "unfinished" in one], [])

    def without(self, module):
        """An interpreter that lacks it."""
        program = self.folder / f"python_without_{module}"
        program.write_text(f"""#!/bin/sh
code=$2
shift 2
exec {sys.executable} -c "import sys; sys.modules['{module}'] = None
$code" "$@"
""")
        program.chmod(0o755)
        return str(program)

    def empty(self, ending):
        file = self.folder / f"in.{ending}"
        file.write_bytes(b"something")
        return file

    def test_refusals(self):
        csv = self.folder / "a.csv"
        csv.write_text("time,x\n0,1\n1,\n")
        for words, said in ((("export", self.ball, "--dialect", "decimal-comma"), "needs semicolon or tab"),
                            (("export", self.ball, "--dialect", "pipes"), "'pipes' is none of comma"),
                            (("export", self.ball, "--dialect", "tab", "-o", self.folder / "a.mat"), "is no CSV"),
                            (("export", self.folder / "none.mat"), "there is no such file"),
                            (("export", self.ball, "-o", self.folder / "no" / "a.csv"), "a.csv"),
                            (("check", self.model(FED.replace("FILE", "a.csv"))), "a.csv:3")):
            with self.subTest(words=words):
                self.assertIn(said, self.refused(*words))
        self.assertEqual(self.done("export", csv).splitlines()[-1], "1,nan")


if __name__ == "__main__":
    unittest.main()
