"""Archives and descriptions that are hostile or broken; and nothing stays behind."""
import os
import signal
import stat
import subprocess
import time
import unittest
import warnings
import zipfile

from concord_runs import execute, simulate
from fmu_runs import FmuTest
from patience import HANGS, wait_until


class Hostile(FmuTest):
    def refused(self, says, entries=None):
        self.build("left", name="good")
        with zipfile.ZipFile(self.folder / "good.fmu") as good:
            files = [(item, good.read(item)) for item in good.infolist()]
        with zipfile.ZipFile(self.folder / "left.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
            for item, data in files + (entries or []):
                archive.writestr(item, data)
        before = sorted(self.folder.parent.glob("evil*"))
        self.fails(2, ["left.fmu", *says])
        self.assertEqual(sorted(self.folder.parent.glob("evil*")), before)

    def test_paths(self):
        for name, says in (("../evil.txt", "climbs"), ("a/../../evil.txt", "climbs"),
                           ("/tmp/evil.txt", "absolute"), ("..\\evil.txt", "backslash"),
                           ("C:/evil.txt", "absolute"), ("resources", "file and a folder")):
            self.refused([says], [(name, b"evil")])

    def test_symbolic_link(self):
        link = zipfile.ZipInfo("resources/link")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        self.refused(["symbolic link"], [(link, b"/etc")])

    def test_twice(self):
        self.refused(["twice", "different contents"], [("resources/readme.txt", b"again")])

    def test_bomb(self):
        self.refused(["times its size"], [("resources/zeros", bytes(150_000_000))])

    def test_no_archive(self):
        (self.folder / "left.fmu").write_bytes(b"no archive")
        self.fails(2, ["left.fmu", "ZIP"])
        whole = self.build("left").read_bytes()
        (self.folder / "left.fmu").write_bytes(whole[:len(whole) // 2])
        self.fails(2, ["left.fmu"])


class Descriptions(FmuTest):
    def rewritten(self, change, says):
        path = self.build("left")
        with zipfile.ZipFile(path) as good:
            files = [(item, good.read(item)) for item in good.infolist()]
        with zipfile.ZipFile(path, "w") as archive:
            for item, data in files:
                if item.filename == "modelDescription.xml":
                    data = change(data.decode()).encode()
                archive.writestr(item, data)
        self.fails(2, ["left.fmu", *says])

    def test_entities(self):
        bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><fmiModelDescription'
        self.rewritten(lambda text: text.replace("<fmiModelDescription", bomb, 1),
                       ["document type"])

    def test_broken(self):
        self.rewritten(lambda text: text[:200], ["XML"])
        self.rewritten(lambda text: "<a>" * 200_000, ["XML"])
        self.rewritten(lambda text: text.replace('"2.0"', '"1.1"'), ["FMI version '1.1'"])
        self.rewritten(lambda text: text.replace("modelIdentifier=\"left\"",
                                                 "modelIdentifier=\"../x\""), ["modelIdentifier"])
        self.rewritten(lambda text: text.replace('index="4"', 'index="99"'), ["'99'"])
        self.rewritten(lambda text: text.replace("CoSimulation", "Simulation"), ["neither"])
        self.rewritten(lambda text: text.replace("CoSimulation", "ScheduledExecution"),
                       ["neither"])
        self.rewritten(lambda text: text.replace('Indicators="0"', 'Indicators="4294967295"'),
                       ["million event indicators"])
        self.rewritten(lambda text: text.replace('"2.0"', '"3.0-beta.4"'), ["'3.0-beta.4'"])

    def test_no_binary(self):
        path = self.build("left")
        with zipfile.ZipFile(path) as good:
            description = good.read("modelDescription.xml")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", description)
            archive.writestr("binaries/darwin64/left.dylib", b"")
        self.fails(2, ["no binary for this platform", "darwin64"], "-cosim_type", "jacobi")

    def test_units(self):
        self.build("left")
        self.build("right")
        text = self.model(("left", "right")).read_text()
        path = self.folder / "wrong.yaml"
        path.write_text(text.replace("right.f -> left.f", "right.x -> left.f"))
        run = execute("check", path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("the units don't match: 'm'", run.stderr)


class Unusual(FmuTest):
    """What other tools take, too: it runs, and `check` says what was found."""

    def repacked(self, change, more=(), version=2, rename=None):
        path = self.build("left", version, capabilities=("state", "variable", "directional"))
        with zipfile.ZipFile(path) as good:
            files = [(item.filename, good.read(item)) for item in good.infolist()]
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for name, data in files + list(more):
                if name == "modelDescription.xml":
                    data = change(data.decode()).encode()
                archive.writestr(rename(name) if rename else name, data)

    def taken(self, says, *options, parts=("left",)):
        run = execute("check", self.model(parts))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(says, run.stdout)
        return simulate(self.model(parts, 0.1), *options)

    def test_the_same_entry_twice(self):
        self.repacked(str, [("resources/readme.txt", b"a resource\n")])
        self.taken("the archive holds 'resources/readme.txt' twice, with the same contents")

    def test_identifier_that_is_no_name(self):
        for identifier in ("rollback-end", "left mass", "1.left"):
            self.repacked(lambda text, i=identifier: text.replace(
                'modelIdentifier="left"', f'modelIdentifier="{i}"'),
                          rename=lambda name, i=identifier: name.replace("left.so", i + ".so"))
            self.taken(f"its modelIdentifier '{identifier}' is no name of C")

    def test_binary_named_otherwise(self):
        for version in (2, 3):
            self.repacked(str, version=version,
                          rename=lambda name: name.replace("left.so", "Left_1.so"))
            self.taken("its only binary for this platform is called 'Left_1.so', not 'left.so'")
        folder = "binaries/x86_64-linux/"
        self.repacked(str, [(folder + "other.so", b"")], version=3,
                      rename=lambda name: name.replace("left.so", "Left_1.so"))
        self.fails(2, ["there are Left_1.so, other.so, and which one is meant is not known"])

    def test_start_values_that_are_none(self):
        self.repacked(lambda text: text.replace('unit="m" start="1"', 'unit="m" start="one"'))
        self.taken("the start value of 'x_state' must be of type Float64, not 'one'; the FMU's own")
        self.repacked(lambda text: text.replace('start="20000"', 'start="2OOOO"'))
        self.fails(2, ["left.fmu", "the start value of 'f' must be of type Float64, not '2OOOO'"])

    def time_of_many_dependencies(self, count):
        """Processor time, s, where so many outputs depend on so many inputs each."""
        inputs = "".join(f'<ScalarVariable name="u{i}" valueReference="{10000 + i}" causality="input">'
                         '<Real start="0"/></ScalarVariable>' for i in range(count))
        outputs = "".join(f'<ScalarVariable name="y{i}" valueReference="{50000 + i}" '
                          'causality="output"><Real/></ScalarVariable>' for i in range(count))
        every = " ".join(str(i) for i in range(1, count + 1))
        unknowns = "".join(f'<Unknown index="{count + i}" dependencies="{every}"/>'
                           for i in range(1, count + 1))
        self.repacked(lambda text: text[:text.index("  <ModelVariables>")] + "<ModelVariables>" + inputs
                      + outputs + "</ModelVariables><ModelStructure><Outputs>" + unknowns
                      + "</Outputs></ModelStructure></fmiModelDescription>")
        run = execute("schedule", self.model(("left",)))
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.processor_seconds

    def test_many_dependencies(self):
        """Their number counts (4 times as many), not its product with that of outputs (8 times)."""
        few, many = (self.time_of_many_dependencies(count) for count in (1200, 2400))
        print(f"{few:.2f} s, {many:.2f} s")
        self.assertLess(many, 6 * few)


class Cleanliness(FmuTest):
    """TMPDIR is empty again, however the run ends."""

    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.hanging = self.folder / "hanging"
        self.environment = dict(os.environ, TMPDIR=str(self.scratch), FMU_HANGS=str(self.hanging))

    def left_behind(self):
        wait_until(lambda: not list(self.scratch.glob("concord*")), "no folder left behind")
        return []

    def start(self, *options, ranks=1, **how):
        self.build("left", **how)
        launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        return subprocess.Popen(
            [*launcher, os.environ["CONCORD_PROGRAM"], "run", self.model(("left",), 1e4),
             "-cosim_type", "jacobi", "-cosim_step", "1e-2", "-cosim_output",
             str(self.folder / "out.h5"), *options], env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_until_it_runs(self, process, behaviour="behaves"):
        """Until it has got past its start, or hangs."""
        there = self.hanging if behaviour == "hangs" else self.folder / "out.h5"
        wait_until(there.exists, there, process)
        self.hanging.unlink(missing_ok=True)

    def test_after_the_end(self):
        for how in ({}, {"behaviour": "fatal"}, {"behaviour": "crashes"}):
            process = self.start("-cosim_stop", "1", "-cosim_record", "none", **how)
            process.communicate(timeout=HANGS)
            self.assertEqual(self.left_behind(), [])

    def test_after_signals(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = self.start(behaviour="behaves")
            self.wait_until_it_runs(process)
            process.send_signal(number)
            process.communicate(timeout=HANGS)
            self.assertEqual(self.left_behind(), [])
            (self.folder / "out.h5").unlink(missing_ok=True)

    def test_an_fmu_that_hangs(self):
        """The second signal ends the program; one like the first may be the launcher's repetition."""
        for version in (2, 3):
            process = self.start(behaviour="hangs", version=version)
            self.wait_until_it_runs(process, "hangs")
            for pause in (0.1, 2.1, 0):
                process.send_signal(signal.SIGTERM)
                time.sleep(pause)
            _, errors = process.communicate(timeout=HANGS)
            self.assertEqual(process.returncode, 1)
            for text in (b"second signal", f"fmi{version}DoStep".encode(), b"'left'", b"t = 0.5 s"):
                self.assertIn(text, errors)
            self.assertEqual(self.left_behind(), [])
            (self.folder / "out.h5").unlink(missing_ok=True)

    def test_after_signals_to_two_ranks(self):
        for behaviour in ("behaves", "hangs"):
            for number in (signal.SIGTERM, signal.SIGKILL):
                process = self.start(ranks=2, behaviour=behaviour)
                self.wait_until_it_runs(process, behaviour)
                process.send_signal(number)
                process.communicate(timeout=HANGS)
                self.assertEqual(self.left_behind(), [])
                (self.folder / "out.h5").unlink(missing_ok=True)

    def test_programs_that_look_like_one_job_do_not_share(self):
        """The environment of a launcher, without one: each has a folder of its own."""
        self.environment |= {"PMIX_NAMESPACE": "job", "PMI_RANK": "0"}
        first = self.start(behaviour="behaves")
        self.wait_until_it_runs(first)
        before = set(self.scratch.glob("concord*"))
        second = self.start("-cosim_stop", "1", "-cosim_record", "none", "-cosim_output",
                            str(self.folder / "other.h5"))
        second.communicate(timeout=HANGS)
        self.assertEqual(second.returncode, 0)
        self.assertEqual(set(self.scratch.glob("concord*")), before)
        self.assertEqual(len(before), 1)
        self.assertGreater(len(before.pop().name), len("concord-fmu-0-") + 30)
        first.terminate()
        first.communicate(timeout=HANGS)
        self.assertEqual(self.left_behind(), [])

    def test_stale_folders_are_removed(self):
        """Those of nobody who lives, and none that others made."""
        uid, old = os.getuid(), time.time() - 3600
        stale = self.scratch / f"concord-fmu-{uid}-{'0' * 32}"
        foreign = self.scratch / f"concord-fmu-{uid}-something"
        for folder in (stale, foreign):
            folder.mkdir(mode=0o700)
            (folder / ".in_use").touch()
            os.utime(folder, (old, old))
        self.start("-cosim_stop", "1", "-cosim_record", "none").communicate(timeout=HANGS)
        self.assertFalse(stale.exists())
        self.assertTrue(foreign.exists())
        foreign.joinpath(".in_use").unlink()
        foreign.rmdir()

    def test_two_ranks_share(self):
        self.build("left")
        process = self.start("-cosim_stop", "1", ranks=2)
        process.communicate(timeout=HANGS)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.left_behind(), [])


if __name__ == "__main__":
    unittest.main()
