"""Texts and bytes between FMUs: what is put out at an instant is read at that instant, bit by bit, whatever
the method, the version, the role and the number of ranks."""
import csv
import os
import subprocess
import unittest

import courier_fmus
import h5py
import numpy as np
from concord_runs import Results, execute, run_here, write_model
from courier_fmus import PERIOD, code, said, sent
from fmu_runs import FmuTest
from patience import wait_until
from scipy.linalg import expm

STOP = 1.2
KINDS = {"ME": dict(kinds=("me",)), "CS": dict(kinds=("cs",)), "events": dict(flags=("state", "event_mode")),
         "plain": dict(flags=())}
PAIR = ("experiment: {{start: 0, stop: {stop}}}\nsubsystems:\n"
        "  alice: {{fmu: alice.fmu, start: {{x: 1}}{alice}}}\n"
        "  bob: {{fmu: bob.fmu, start: {{x: 1}}{bob}}}\nconnections:\n  - alice.said -> bob.message\n"
        "  - alice.y -> bob.u\n  - bob.y -> alice.u\n")


def pair(stop=STOP, alice="", bob="", more=()):
    text = PAIR.format(stop=stop, alice=alice, bob=bob)
    return text + "".join(f"  - {wire}\n" for wire in more)


def exact(times, greeting="hello"):
    """x of both at the times: x_alice' = code of what nobody sends - x_bob, x_bob' = code - x_alice."""
    a, rows, state, begin = np.array([[0.0, -1.0], [-1.0, 0.0]]), [], np.ones(2), 0.0
    for t in times:
        while begin < t:
            k = int(np.floor(begin / PERIOD + 1e-7))
            end = min((k + 1) * PERIOD, t)
            b = np.array([code("nothing yet"), code(said(k, greeting))])
            whole = np.zeros((3, 3))
            whole[:2, :2], whole[:2, 2] = a, b
            state = (expm(whole * (end - begin)) @ np.append(state, 1.0))[:2]
            begin = end
        rows.append(state)
    return np.array(rows)


class TextTest(FmuTest):
    def courier(self, name, version=3, **how):
        return courier_fmus.build(self.folder, name, version, **how)

    def run_text(self, text, *options, ranks=1):
        path = self.folder / "out.h5"
        run = run_here(write_model(self.folder, "model", text), *options, "-cosim_output", path, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("STRICT", run.stderr)
        return Results(path, run)

    def refused(self, text, *says, command="check"):
        run = execute(command, write_model(self.folder, "model", text))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("concord: error: "), 1, run.stderr)
        for words in says:
            self.assertIn(words, run.stderr)


class Answers(TextTest):
    """Bob's state is the integral of what Alice's texts make of it."""

    def check(self, version, role, method, step, tolerance, ranks=1):
        for name in ("alice", "bob"):
            self.courier(name, version, **KINDS[role])
        results = self.run_text(pair(), "-cosim_type", method, "-cosim_step", step, ranks=ranks)
        states = np.stack([results.outputs[f"{name}.y"] for name in ("alice", "bob")], axis=1)
        # A row at an instant is its right limit.
        what = (version, role, method, ranks)
        self.assertLess(np.max(np.abs(states - exact(results.time))), tolerance, what)
        ticks = np.floor(results.time / PERIOD + 1e-7)
        self.assertEqual(list(results.outputs["alice.tick"]), list(ticks), what)
        late = role in ("CS", "plain")  # values behind a Set need a step
        codes = [code(said(int(k))) for k in ticks]
        self.assertEqual(list(results.outputs["bob.code"][-3:]), codes[-3:], what)
        if not late:
            self.assertEqual(list(results.outputs["bob.code"]), codes, what)
            self.assertEqual(results.outputs["bob.count"][-1], 1 + ticks[-1], what)
        return results

    def test_jacobi(self):
        for version, role in ((2, "ME"), (2, "CS"), (3, "events")):
            self.check(version, role, "jacobi", "0.01", 0.06)

    def test_gauss_seidel_on_ranks(self):
        for ranks, version, role in ((2, 3, "ME"), (3, 2, "plain")):
            self.check(version, role, "gauss_seidel", "0.01", 0.06, ranks)

    def test_jfm(self):
        for ranks, version, role, tolerance in ((1, 2, "ME", 1e-6), (2, 2, "CS", 5e-3), (2, 3, "events", 1e-5)):
            self.check(version, role, "jfm", "0.05", tolerance, ranks)

    def test_from_process_to_process(self):
        """Both isolated, or one served from elsewhere: the bits of both in one process."""
        for name in ("alice", "bob"):
            self.courier(name, 3, **KINDS["ME"])
        place = self.folder / "bob"
        serving = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "serve", self.folder / "bob.fmu", "--at", f"shm://{place}"],
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (serving.kill(), serving.wait()))
        wait_until(place.exists, "concord serve")
        wires = ("alice.sent -> bob.data", "alice.words_out -> bob.words")
        served = pair(more=wires).replace("fmu: bob.fmu", f'remote: {{connect: "shm://{place}", whole: true}}')
        texts = [pair(more=wires, alice=words, bob=words) for words in ("", ", isolated: true")] + [served]
        one, *others = (self.run_text(text, "-cosim_type", "jacobi", "-cosim_step", "0.05") for text in texts)
        for other in others:
            for name in ("alice.y", "bob.y", "bob.code", "bob.count"):
                np.testing.assert_array_equal(other.outputs[name], one.outputs[name], name)


def texts_in(path):
    """{name: [(time, text)]}, bytes where they are."""
    with h5py.File(path) as file:
        if "texts" not in file:
            return {}
        group = file["texts"]
        types = dict(zip(group["names"].asstr()[:], group["types"].asstr()[:]))
        result = {name: [] for name in types}
        for time, name, value in zip(group["time"][:], group["variable"].asstr()[:], group["value"].asstr()[:]):
            result[name].append((time, bytes.fromhex(value[2:]) if types[name] == "Binary" else value))
        return result


class Recorded(TextTest):
    def run_to(self, text, *options, ranks=1, name="out"):
        path = self.folder / f"{name}.h5"
        run = run_here(write_model(self.folder, "model", text), *options, "-cosim_output", path, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("STRICT", run.stderr)
        return path

    def check_changes(self, found, expected, late=0.0):
        """`expected(k)`: what is new at tick k; a change is there where that is another than before."""
        before, count, left = None, int(STOP / PERIOD + 1e-9) + 1, list(found)
        for k in range(count):
            value = expected(k)
            if value == before:
                continue
            time, text = left.pop(0)
            self.assertEqual(text, value, k)
            self.assertAlmostEqual(time, k * PERIOD + (late if k else 0.0), places=9)
            before = value
        self.assertEqual(left, [])

    MORE = ("alice.words_out -> bob.words", "alice.sent -> bob.data", "alice.key_out -> bob.short_data")


class Bits(Recorded):
    """Empty texts, UTF-8, 100 kB, bytes with 0 among them, arrays: from one end to the other."""

    def check(self, version, role, method, ranks):
        for name in ("alice", "bob"):
            self.courier(name, version, **KINDS[role])
        more = self.MORE if version == 3 else ()
        greeting = ", parameters: {greeting: 'ahoi, \"x\"'" + (", key: 0x00ff00}" if version == 3 else "}")
        found = texts_in(self.run_to(pair(alice=greeting, more=more), "-cosim_type", method, "-cosim_step", "0.05",
                                     ranks=ranks))
        late = 0.05 if role in ("CS", "plain") else 0.0
        speaks = lambda k: said(k, 'ahoi, "x"')
        self.check_changes(found["alice.said"], speaks)
        self.check_changes(found["bob.echo"], speaks, late)
        self.assertEqual(found["alice.echo"], [(0.0, "nothing yet")])
        if version == 2:
            return
        self.check_changes(found["alice.sent"], sent)
        self.check_changes(found["bob.data_echo"], sent, late)
        self.check_changes(found["bob.words_echo[1]"], speaks, late)
        self.assertEqual(found["bob.words_echo[2]"], [(0.0, 'ahoi, "x"')])
        self.assertEqual(found["alice.key_out"], [(0.0, b"\0\xff\0")])

    def test_jacobi(self):
        for version, role in ((2, "ME"), (2, "plain"), (3, "ME"), (3, "CS"), (3, "events")):
            self.check(version, role, "jacobi", 1)

    def test_ranks(self):
        for ranks, method, role in ((2, "gauss_seidel", "ME"), (3, "jfm", "events")):
            self.check(3, role, method, ranks)

    def test_late(self):
        """Over a link, which sends each text as it comes, but those of the start: 0.07 s later."""
        for name in ("alice", "bob"):
            self.courier(name, 3, **KINDS["ME"])
        text = pair().replace("alice.said -> bob.message",
                              "\n  - ".join(("alice.said -> net.t", "net.t.received -> bob.message", "alice.sent -> net.b",
                                              "net.b.received -> bob.data")))
        self.assertIn("net.t", text)
        text = text.replace("connections:", "  net: {messages: {channels: {t: {type: texts}, b: {type: bytes}}, delay: 0.07}}\nconnections:")
        for ranks in (1, 3):
            found = texts_in(self.run_to(text, "-cosim_type", "jacobi", "-cosim_step", "0.05", ranks=ranks))
            for name, expected, first in (("bob.echo", said, "nothing yet"), ("bob.data_echo", sent, b"")):
                late = [(k * PERIOD + 0.07, expected(k)) for k in range(1, int(STOP / PERIOD + 1e-9) + 1)]
                late = [(0, first), *(one for one in late if one[0] <= STOP)]
                self.assertEqual([value for _, value in found[name]], [value for _, value in late])
                self.assertTrue(np.allclose([t for t, _ in found[name]], [t for t, _ in late]))


class Files(Recorded):
    def test_restart(self):
        """The same bits with checkpoints, and behind a restart on other ranks."""
        for version, role in ((2, "CS"), (3, "ME"), (3, "events")):
            for name in ("alice", "bob"):
                self.courier(name, version, **KINDS[role])
            text = pair(more=self.MORE if version == 3 else ())
            options = ("-cosim_type", "jfm", "-cosim_step", "0.05")
            chk = self.folder / f"{version}{role}.chk"
            saving = ("-cosim_checkpoint", chk, "-cosim_checkpoint_epoch", 7, "-cosim_checkpoint_every", 1e-9)
            plain = self.run_to(text, *options, name="plain")
            whole = self.run_to(text, *options, *saving, name="whole")
            again = self.run_to(text, *options, *saving, "-cosim_restart", chk, ranks=2, name="whole")
            with h5py.File(plain) as one, h5py.File(again) as other:
                for dataset in ("time", "outputs/values", "texts/time", "texts/variable", "texts/value"):
                    self.assertEqual(one[dataset][:].tolist(), other[dataset][:].tolist(), (version, role, dataset))
            self.assertEqual(texts_in(plain), texts_in(whole))

    def test_parts_export_and_selection(self):
        self.courier("alice"), self.courier("bob")
        path = self.run_to(pair(more=self.MORE), "-cosim_type", "jacobi", "-cosim_step", "0.05",
                           "-cosim_record_split", "2e-6", "-cosim_record_variables", "alice.said,bob.y,*.sent")
        with h5py.File(path) as file:
            self.assertEqual(set(file["texts"]), {"names", "types", "time", "variable", "value"})
            self.assertEqual(sum(file["parts/texts"][:]), len(file["texts/time"]))
            self.assertGreater(len(file["parts/texts"]), 1)
        self.assertEqual(set(texts_in(path)), {"alice.said", "alice.sent", "bob.sent"})
        self.check_changes(texts_in(path)["alice.said"], said)
        run = execute("export", path, "--texts", "-v", "alice.said")
        lines = list(csv.reader(run.stdout.splitlines()))
        self.assertEqual(lines[0], ["time", "variable", "value"])
        self.check_changes([(float(t), text) for t, _, text in lines[1:]], said)
        self.assertEqual(execute("repair", path).returncode, 0)

    def test_numbers_alone_have_no_texts(self):
        path = self.run_to("experiment: {stop: 0.1}\nsubsystems:\n  a: {equations: {states: {x: 1}, "
                           "derivatives: {x: -x}, outputs: {x: x}}}\n")
        with h5py.File(path) as file:
            self.assertNotIn("texts", file)


class Wrong(TextTest):
    def setUp(self):
        super().setUp()
        self.courier("alice"), self.courier("bob")

    def test_types(self):
        for wire, *says in (("alice.said -> bob.data", "'alice.said' is of type String", "'bob.data' of type Binary"),
                            ("alice.sent -> bob.message", "of type Binary", "of type String"),
                            ("alice.said -> bob.u", "of type String", "of type Float64"),
                            ("alice.y -> bob.message", "of type Float64", "of type String"),
                            ("alice.said -> bob.massage", "no input 'bob.massage'", "did you mean 'bob.message'"),
                            ("alice.message -> bob.message", "arrows lead from outputs to inputs"),
                            ("alice.words_out -> bob.message", "2 elements"),
                            ("alice.key_out -> bob.data", "text/plain", "application/x-courier"),
                            ('{connect: "alice.words_out[1] -> bob.words[2]", delay: 0.1}', "cannot be delayed"),
                            ("alice.echo -> bob.message", "fed twice", "'alice.said'")):
            self.refused(pair(more=(wire,)), *says)
        self.refused(pair(bob=", parameters: {key: 0x012}"), "type Binary")

    def test_too_long(self):
        """maxSize, on the way."""
        run = execute("run", write_model(self.folder, "model", pair(more=("alice.data_echo -> bob.short_data",
                                                                         "alice.sent -> alice.data"))))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("'short_data' takes at most 4 bytes (maxSize), and is fed 5", run.stderr)


TERMINALS = """<?xml version="1.0" encoding="UTF-8"?>
<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>
  <Terminal name="line" matchingRule="{rule}" terminalKind="post">
    <TerminalMemberVariable variableName="{0}" memberName="there" variableKind="signal"/>
    <TerminalMemberVariable variableName="{1}" memberName="back" variableKind="signal"/>
    <TerminalMemberVariable variableName="{2}" memberName="flow" variableKind="{flow}"/>
    {more}
  </Terminal>
</Terminals></fmiTerminalsAndIcons>
"""


class Terminals(TextTest):
    """alice.line -> bob.line: her text one way, her bytes another, and a flow with its sign."""

    MODEL = pair().split("connections")[0] + "connections:\n  - alice.line -> bob.line\n"

    def terminals(self, alice=("said", "message", "y"), bob=("message", "said", "u"), rule="plug", flow="outflow",
                  other="inflow", more="", version=3, **how):
        for name, members, kind, extra in (("alice", alice, flow, ""), ("bob", bob, other, more)):
            text = TERMINALS.format(*members, rule=rule, flow=kind, more=extra)
            self.courier(name, version, terminals=text, **how)

    def listing(self):
        run = execute("check", write_model(self.folder, "model", self.MODEL), "-v")
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout + run.stderr

    def test_rules(self):
        for rule in ("plug", "bus", "sequence"):
            for version in (2, 3):
                self.terminals(rule=rule, version=version)
                said_of_it = self.listing()
                for wire in ("alice.said -> bob.message", "bob.said -> alice.message", "alice.y -> bob.u"):
                    self.assertIn(wire, said_of_it)
        self.terminals(flow="inflow")
        self.assertIn("alice.y -> bob.u times -1", self.listing())

    def test_bus_takes_what_there_is(self):
        self.terminals(rule="bus", alice=("said", "echo", "y"),
                       more='<TerminalMemberVariable variableName="data" memberName="only"/>')
        listed = self.listing()
        self.assertIn("without alice.echo, bob.said (both of causality output)", listed)

    def test_nested(self):
        nested = ('<Terminal name="inner" matchingRule="plug"><TerminalMemberVariable variableName="{}" '
                  'memberName="x"/></Terminal>')
        for name, members, inner in (("alice", ("said", "message", "y"), "sent"),
                                     ("bob", ("message", "said", "u"), "data")):
            self.courier(name, terminals=TERMINALS.format(*members, rule="plug", flow="signal",
                                                          more=nested.format(inner)))
        self.assertIn("alice.sent -> bob.data", self.listing())
        text = self.MODEL.replace("alice.line -> bob.line", "alice.line.inner -> bob.line.inner")
        self.assertIn("alice.sent -> bob.data", execute("check", write_model(self.folder, "model", text), "-v").stdout)
        self.assertIn("line.inner", execute("check", self.folder / "alice.fmu").stdout)

    def test_refused(self):
        member = '<TerminalMemberVariable variableName="data" memberName="only"/>'
        for how, *says in ((dict(more=member), "member 'only'", "plug"),
                           (dict(rule="sequence", more=member), "3 and 4 members"),
                           (dict(rule="org.other"), "matchingRule 'org.other'"),
                           (dict(bob=("said", "message", "u")), "both of causality output"),
                           (dict(other="signal"), "one is a signal and the other a flow"),
                           (dict(bob=("message", "said", "nowhere")), "'nowhere', which the FMU does not have")):
            self.terminals(**how)
            self.refused(self.MODEL, *says)
        self.terminals()
        self.refused(self.MODEL.replace("bob.line", "bob.u"), "'alice.line' is a terminal, and 'bob.u' is none")

    def test_run(self):
        self.terminals(kinds=("me",))
        results = self.run_text(self.MODEL, "-cosim_type", "jfm", "-cosim_step", "0.05")
        for name in ("alice", "bob"):  # each hears the other
            self.assertEqual(list(results.outputs[f"{name}.code"]),
                             [code(said(int(np.floor(t / PERIOD + 1e-7)))) for t in results.time])


if __name__ == "__main__":
    unittest.main()
