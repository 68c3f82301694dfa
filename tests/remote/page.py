"""concord watch --page: a run in a browser, and what those who watch set while it goes on (-cosim_stream_set)."""
import json
import math
import os
import re
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

import h5py
import numpy as np
import zmq

import concord
from chromium import Chromium
from concord_runs import TWO_MASS, ModelTest, execute, run_here
from patience import HANGS, wait_until

CAR = """
name: car
experiment: {stop: 100000}
subsystems:
  car:
    equations:
      parameters: {k: 0.2}
      inputs: {pedal: 0.3}
      states: {v: 0}
      derivatives: {v: 5*pedal - k*v}
      outputs: {v: v}
      units: {v: m/s}
  sensor: {equations: {inputs: {u: 0}, states: {y: 0}, derivatives: {y: 10*(u - y)}, outputs: {y: y}}}
  ball:
    equations:
      states: {h: 1, w: 0}
      derivatives: {h: w, w: -9.81}
      when: [{condition: h < 0, set: {w: -0.9*w}}, {every: 5, set: {h: 1, w: 0}}]
      outputs: {h: h}
connections: [car.v -> sensor.u]
"""
#: s, of the ball.
FALL = math.sqrt(2 / 9.81)
FIXED = ("-cosim_type", "jfm", "-cosim_step", 0.02)
#: As fast as the clock, so that there is something left to act on.
PACED = ("-cosim_realtime", 1, "-cosim_realtime_late", "skip")
SETS = "car.pedal=0:1,car.k"


class Watched(ModelTest):
    """A run that goes on until `end`."""

    def started(self, *options, ranks=1, sets=SETS, variables="*", model=CAR):
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        self.results = self.folder / "run.h5"
        self.path = self.model(model)
        words = [*launcher, os.environ["CONCORD_PROGRAM"], "run", self.path, "-cosim_output", self.results,
                 "-cosim_stream", variables, *(("-cosim_stream_set", sets) if sets else ()), *PACED, *options]
        told = self.folder / "told.txt"
        with told.open("w") as file:
            self.run_ = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=file)
        self.addCleanup(self.run_.wait)
        self.addCleanup(self.run_.kill)
        found = wait_until(lambda: re.search("concord watch '(.*)'", told.read_text()), "the address", self.run_)
        return found[1]

    def page(self, what, *words):
        """The command, and where its page is."""
        watch = subprocess.Popen([os.environ["CONCORD_PROGRAM"], "watch", str(what), "--page", *words],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        self.watch = watch
        self.address = watch.stdout.readline().strip()
        self.assertRegex(self.address, r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}$")
        return self.address

    def get(self, place="", data=None, address=None, **asked):
        start, token = (address or self.address).split("?")
        more = "".join(f"&{name}={value}" for name, value in asked.items())
        with urllib.request.urlopen(f"{start}{place}?{token}{more}", data, timeout=HANGS) as reply:
            return reply.read().decode()

    def news(self, **asked):
        return json.loads(self.get("news", **asked))

    def set(self, **values):
        return self.get("set", json.dumps({name.replace("__", "."): value for name, value in values.items()}).encode())

    def said(self, kind, name, count=1):
        """The answers of that kind, when there are so many."""
        def found():
            told = [one for one in self.news()["said"] if (one["kind"], one["name"]) == (kind, name)]
            return told if len(told) >= count else None
        return wait_until(found, f"{name} {kind}", self.run_)

    def moves_on(self):
        now = self.news()["now"]
        wait_until(lambda: self.news()["now"] > now, "rows", self.run_)

    def end(self):
        self.run_.send_signal(signal.SIGUSR1)
        self.assertEqual(self.run_.wait(), 3)
        return concord.read(self.results)

    def refused(self, status, *words, **named):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get(*words, **named)
        with refused.exception as error:
            self.assertEqual(error.code, status)
            return error.read().decode()


class Page(Watched):
    def test_a_stream(self):
        """The page, its data and its end."""
        self.page(self.started(*FIXED, sets=None))
        page = self.get()
        self.assertIn("<canvas", self.get().replace("make(\"canvas\"", "<canvas"))
        self.assertNotRegex(page, r"(?:src|href)=\"(?!data:)|https?://(?!www\.w3\.org/)")
        self.moves_on()
        first = self.news()
        self.assertEqual((first["model"], first["status"], first["over"], first["targets"]), ("car", "running", False, []))
        self.assertEqual([one["name"] for one in first["variables"]][:3], ["car.v", "sensor.y", "ball.h"])
        self.assertEqual(first["variables"][0]["unit"], "m/s")
        since = first["times"][-1]
        self.moves_on()
        later = self.news(since=since)
        self.assertGreater(later["times"][0], since)
        wait_until(lambda: self.news()["happened"], "an event", self.run_)
        t, *told = self.news()["happened"][0]
        self.assertEqual(told, ["ball", "h < 0"])
        self.assertAlmostEqual(t, FALL, 6)
        self.bounces(self.news())
        results = self.end()
        last = self.news()
        self.assertEqual((last["status"], last["over"], last["code"]), ("interrupted", True, 3))
        rows = dict(zip(results["time"], results["car.v"]))
        for t, v in zip(last["times"], last["values"][0]):
            self.assertEqual(rows[t], v)
        self.assertEqual((self.watch.wait(), self.watch.stdout.read()), (3, "interrupted\n"))

    def bounces(self, news):
        """Both limits are there."""
        speeds = news["values"][[one["name"] for one in news["variables"]].index("ball.w")]
        before, after = (speeds[i] for i in range(len(speeds)) if news["times"].count(news["times"][i]) == 2
                         and abs(news["times"][i] - FALL) < 1e-6)
        self.assertAlmostEqual(before, -math.sqrt(2 * 9.81), 6)
        self.assertAlmostEqual(after, -0.9 * before, 12)

    def test_a_results_file(self):
        run = run_here(self.model(CAR.replace("100000", "20")), *FIXED, "-cosim_output", self.folder / "done.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.run_ = None
        self.page(self.folder / "done.h5", "-v", "car.*,ball.*")
        news = self.news()
        self.assertEqual((news["status"], news["over"], news["code"], news["rows"]),
                         ("completed", True, 0, len(set(news["times"]))))
        self.assertEqual([one["name"] for one in news["variables"]], ["car.v", "ball.h", "car.pedal", "ball.w"])
        t, *told = news["happened"][0]
        self.assertEqual(told, ["ball", "h < 0"])
        self.assertAlmostEqual(t, FALL, 6)
        self.bounces(news)
        self.assertEqual(self.watch.wait(), 0)

    def test_a_results_file_that_grows(self):
        self.started(*FIXED, sets=None)
        wait_until(lambda: execute("watch", "--once", self.results).returncode == 0, "rows in the file", self.run_)
        self.page(self.results, "--every", "0.1")
        self.moves_on()
        self.end()
        wait_until(lambda: self.news()["over"] if self.watch.poll() is None else True, "the end")
        self.assertEqual(self.watch.wait(), 3)

    def test_nobody_without_the_token(self):
        address = self.page(self.started(*FIXED))
        start, token = address.split("=")
        for wrong in (f"{start}={token[:-1]}", f"{start}={token[:-1]}x", f"{start}=", start.replace("token", "x") + "=" + token):
            for place, data in (("", None), ("news", None), ("set", b"{\"car.pedal\": 1}"), ("else", None)):
                self.assertIn("lacks the token", self.refused(403, place, data, address=wrong))
        self.refused(404, "else")
        self.assertEqual(self.get("favicon.ico", address=start + "="), "")
        self.moves_on()
        self.assertEqual(self.news()["said"], [])

    def test_refusals(self):
        for words, said in ((("--page", "--once"), "give one"), (("--port", "80"), "belongs to --page"),
                            (("--page", "--port", "x"), "1 to 65535"), (("--page", "--port", "70000"), "1 to 65535"),
                            (("--page",), "there is no such file")):
            run = execute("watch", self.folder / "none.h5", *words)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(said, run.stderr)
        stream = self.started(*FIXED)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            run = execute("watch", stream, "--page", "--port", taken.getsockname()[1])
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("choose another port", run.stderr)
        run = execute("watch", stream, "--page", "-v", "car.w")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("car.v", run.stderr)


class Sets(Watched):
    def acted_on(self, *options, **how):
        """Its results, and those of a run with what was logged of it."""
        self.page(self.started(*options, **how))
        self.assertEqual([(one["name"], one["value"], one["least"], one["most"]) for one in self.news()["targets"]],
                         [("car.pedal", 0.3, 0, 1), ("car.k", 0.2, None, None)])
        for value in (0.5, 0.9, 0.1):
            done = len([one for one in self.news()["said"] if one["kind"] == "done" and one["name"] == "car.pedal"])
            self.set(car__pedal=value)
            told = self.said("done", "car.pedal", done + 1)[-1]
            self.assertEqual(told["value"], value)
        self.set(car__k=0.3, car__pedal=0.7)
        self.said("done", "car.k")
        self.assertEqual([one["value"] for one in self.news()["targets"]], [0.7, 0.3])
        self.moves_on()
        live = self.end()
        log = self.folder / "run.scenario.yaml"
        again = self.folder / "again.h5"
        run = run_here(self.path, *options, "-cosim_scenario", log, "-cosim_output", again, "-cosim_stop",
                       repr(float(live["time"][-1])))
        self.assertEqual(run.returncode, 0, run.stderr)
        return live, concord.read(again), log

    def same_bits(self, live, again):
        for name in ("time", "car.v", "car.pedal", "car.k", "sensor.y", "ball.h", "scenario_car_k.y"):
            np.testing.assert_array_equal(live[name], again[name], name)

    def test_a_run_is_repeated_by_its_log(self):
        """To the last bit; the sets are events that say so."""
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                live, again, log = self.acted_on(*FIXED, ranks=ranks)
                self.same_bits(live, again)
                self.assertIn("set: {\"car.k\": 0.3}", log.read_text())
                with h5py.File(self.results) as file:
                    what = list(file["events/what"].asstr())
                self.assertEqual([what.count(f"set {name} as those who watch say") for name in ("car.pedal", "car.k")],
                                 [4, 1])

    def test_whatever_the_method(self):
        for options in (("-cosim_type", "jacobi", "-cosim_step", 0.02), ("-cosim_type", "gauss_seidel", "-cosim_step", 0.02),
                        ("-cosim_type", "missiles", "-cosim_step", 0.02), ("-cosim_type", "monolithic", "-cosim_step", 0.02)):
            with self.subTest(method=options[1]):
                self.same_bits(*self.acted_on(*options)[:2])

    def test_with_step_control(self):
        """No macro-step is another one than in a run that knows all of it before."""
        options = {"cosim_accuracy": 1e-6, "cosim_stop": 1e4}
        self.page(self.started(*(word for name, value in options.items() for word in (f"-{name}", value)),
                               "-cosim_realtime", 10))
        for count, value in enumerate((0.5, 0.9, 0.1), 1):
            self.set(car__pedal=value)
            self.said("done", "car.pedal", count)
        self.set(car__k=0.3)
        self.said("done", "car.k")
        self.moves_on()
        live = self.end()
        again = concord.Simulation(self.path, cosim_scenario=self.folder / "run.scenario.yaml",
                                   cosim_output=self.folder / "again.h5", **options)
        again.start()
        while again.time < live["time"][-1]:
            again.advance()
        again.close()
        self.same_bits(live, concord.read(self.folder / "again.h5"))

    def test_beside_a_scenario(self):
        faults = self.folder / "faults.yaml"
        faults.write_text("actions:\n  - {at: 0.1, for: 0.2, offset: {car.v: 0.5}}\n"
                          "  - {at: 0.2, for: 1e4, ramp: {car.pedal: 0.4}}\n")
        self.page(self.started(*FIXED, "-cosim_scenario", faults))
        self.set(car__pedal=0.8)
        self.said("done", "car.pedal")
        self.moves_on()
        live = self.end()
        again = self.folder / "again.h5"
        run = run_here(self.path, *FIXED, "-cosim_scenario", f"{faults},{self.folder / 'run.scenario.yaml'}",
                       "-cosim_output", again, "-cosim_stop", repr(float(live["time"][-1])))
        self.assertEqual(run.returncode, 0, run.stderr)
        np.testing.assert_array_equal(live["sensor.y"], concord.read(again)["sensor.y"])

    def test_goes_on_from_a_checkpoint(self):
        checkpoint = ("-cosim_checkpoint", self.folder / "run.chk", "-cosim_restart", "auto", "-cosim_checkpoint_epoch", 1)
        self.page(self.started(*FIXED, *checkpoint))
        self.set(car__pedal=0.8)
        self.said("done", "car.pedal")
        before = self.end()["time"][-1]
        self.page(self.started(*FIXED, *checkpoint))
        self.assertEqual([one["value"] for one in self.news()["targets"]], [0.8, 0.2])
        self.set(car__pedal=0.4)
        self.assertGreater(self.said("done", "car.pedal")[-1]["time"], before)
        live = self.end()
        self.assertEqual(live["car.pedal"][-1], 0.4)
        times = re.findall(r"at: ([\d.]+), set: {\"car.pedal\": ([\d.]+)", (self.folder / "run.scenario.yaml").read_text())
        self.assertEqual([value for _, value in times], ["0.3", "0.8", "0.4"])

    def test_what_cannot_be_set(self):
        self.page(self.started(*FIXED))
        for values, words in (({"car.pedal": 2}, ("2 is not between its limits, 0 and 1",)),
                              ({"car.v": 1}, ("'car.v' is not among what may be set", "car.pedal"))):
            self.get("set", json.dumps(values).encode())
            why = self.said("refused", *values)[-1]["why"]
            for word in words:
                self.assertIn(word, why)
        for bad in (b"", b"[1]", b"{\"car.pedal\": \"1\"}", b"{\"car.pedal\": NaN}", b"{", b"\xff\x00" * 100):
            self.assertIn("is said as", self.refused(400, "set", bad))
        self.moves_on()
        self.assertEqual(self.news()["targets"][0]["value"], 0.3)

    def test_options(self):
        out = ("-cosim_output", self.folder / "run.h5")
        model = self.model(CAR)
        for options, *words in ((("-cosim_stream_set", "car.pedal"), "needs -cosim_stream"),
                                (("-cosim_stream", "*", "-cosim_stream_set", "car.pedl"), "car.pedal"),
                                (("-cosim_stream", "*", "-cosim_stream_set", "sensor.u"), "is fed by 'car.v'"),
                                (("-cosim_stream", "*", "-cosim_stream_set", "car.v"), "is an output"),
                                (("-cosim_stream", "*", "-cosim_stream_set", "car.k=1:0"), "no name with limits"),
                                (("-cosim_stream", "*", "-cosim_stream_set", "car.k", "-cosim_stream_address",
                                  "tcp://127.0.0.1:*#"), "lets everybody in", "give a token")):
            run = run_here(model, *options, *out)
            self.assertEqual((run.returncode, run.stderr.count("concord: error:")), (2, 1), run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)
        run = execute("check", model, "-cosim_stream_set", "*")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("car_pedal", "car_k"):
            self.assertIn(f"scenario_{name}", run.stdout)
        self.assertNotIn("scenario_sensor_u", run.stdout)


class Strangers(Watched):
    def test_garbage_disturbs_nobody(self):
        """At the socket and at the page."""
        stream = self.started(*FIXED)
        self.page(stream)
        endpoint, token = stream.split("#")
        place = tuple(re.search(r"//(.*):(\d+)", endpoint).groups())
        web = ("127.0.0.1", int(re.search(r":(\d+)/", self.address)[1]))
        junk = [bytes(range(256)) * 100, b"GET / HTTP/1.1\r\n\r\n", b"\xff" + bytes(8) + b"\x01\x7f" + b"\0" * 60_000, b"\0"]
        for address in (place, web):
            for bytes_ in junk:
                with socket.create_connection(address) as stranger:
                    try:
                        stranger.sendall(bytes_)
                    except OSError:
                        pass  # it was sent away
        idle = [socket.create_connection(web) for _ in range(20)]
        for one in idle:
            self.addCleanup(one.close)
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        for sent in ([b"\x02" + b"x" * 32 + b"{\"set\": {\"car.pedal\": 1}}"], [b"\x02{\"set\": {\"car.pedal\": 1}}"],
                     [b"\x02" + token.encode()[:-1] + b"{\"set\": {\"car.pedal\": 1}}"], [b"\x02"], [b"\x03" + token.encode()],
                     [b"\x02" + token.encode() + b"y" * 1_000_000], [b"\x01" * 60_000], [b"", b"a", b"b"]):
            with context.socket(zmq.XSUB) as other:
                other.connect(endpoint)
                for _ in range(100):
                    other.send_multipart(sent)
                other.close(1000)
        for bad in ("[]", "{\"set\": 1}", "{\"set\": {\"car.pedal\": {}}}", "{" * 50_000, "\x00\xff"):
            with context.socket(zmq.XSUB) as other:
                other.connect(endpoint)
                other.send(b"\x02" + token.encode() + bad.encode("latin-1"))
                other.close(1000)
        wait_until(lambda: [one for one in self.news()["said"] if one["why"] == "give a number"], "the last but one refused",
                   self.run_)
        self.moves_on()
        self.set(car__pedal=0.6)
        self.said("done", "car.pedal")
        self.assertEqual({one["name"] for one in self.news()["said"] if one["kind"] == "done"}, {"car.pedal"})
        live = self.end()
        self.assertEqual(set(live["car.pedal"]), {0.3, 0.6})


@unittest.skipIf(Chromium.missing, Chromium.missing)
class Browser(Watched):
    def test_a_slider_acts(self):
        address = self.page(self.started(*FIXED))
        with Chromium() as browser:
            browser.open(address, 1400, 1000)
            browser.wait_for("document.querySelectorAll('canvas').length >= 2", "charts")
            self.assertEqual(browser.value("document.querySelectorAll('input[type=range]').length"), 2)
            browser.wait_for("times.length > 50", "rows")
            browser.value("(() => { const slider = document.querySelector('input[type=range]'); slider.value = 0.75;"
                          " slider.dispatchEvent(new Event('input')); })()")
            browser.wait_for("document.querySelector('output').textContent.startsWith('0.75 since t =')", "that it acts")
            browser.value("(() => { const number = document.querySelectorAll('input[type=number]')[0]; number.value = 7;"
                          " number.dispatchEvent(new Event('change')); })()")
            browser.wait_for("document.querySelector('output').textContent.includes('not between its limits')", "a refusal")
            self.assertEqual(browser.value("document.querySelector('input[type=range]').value"), "0.75")
            browser.wait_for("document.querySelectorAll('#events tbody tr').length > 1", "events")
            wide = []
            for width in (1400, 400):
                browser.open(address, width, 1000)
                browser.wait_for("typeof times !== 'undefined' && times.length > 50", "rows")
                wide.append(browser.value("document.documentElement.scrollWidth > window.innerWidth"))
                if folder := os.environ.get("CONCORD_PICTURES"):
                    browser.picture(self.folder.__class__(folder) / f"watch_{width}.png")
            self.assertEqual(wide, [False, False])
            self.end()
            browser.wait_for("document.getElementById('status').textContent.includes('exit code 3')", "the end")
            self.assertEqual(browser.value("document.querySelector('input[type=range]').disabled"), True)
            self.assertEqual(browser.console, [])
        self.assertEqual(self.watch.wait(), 3)


if __name__ == "__main__":
    unittest.main()
