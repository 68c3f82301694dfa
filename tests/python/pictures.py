"""concord.plot: what is in its figures, and that files of them are what they were."""
import subprocess
import sys
import unittest
from pathlib import Path

import concord
import numpy as np
from concord import _curves as curves
from concord_runs import EXAMPLES, LOTKA_VOLTERRA, execute
from runs import InFolder

BALL = EXAMPLES / "bouncing_ball" / "bouncing_ball.yaml"
UNKNOWN = float("nan")


def lines(axes, least=10):
    """Curves, in the order in which they are drawn, without their marks."""
    return [line for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xdata()) >= least]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


class Figures(InFolder):
    def setUp(self):
        super().setUp()
        self.run = concord.run(BALL)

    def test_panels(self):
        """One for each unit, with names, the curves between rows, and both limits at impacts."""
        figure, = concord.plot(self.run, variables="ball.h,table.h,ball.v,table.v")
        heights, speeds = figure.axes
        self.assertEqual([axes.get_ylabel() for axes in figure.axes], ["h [m]", "v [m/s]"])
        self.assertEqual([axes.get_xlabel() for axes in figure.axes], ["", "time [s]"])
        self.assertEqual(legend(heights), ["ball.h", "table.h"])
        self.assertEqual([text.get_text() for text in figure.texts], ["bouncing ball"])
        for axes, names in ((heights, ("ball.h", "table.h")), (speeds, ("ball.v", "table.v"))):
            for line, name in zip(lines(axes), names):
                time, value = line.get_data()
                self.assertGreater(len(time), 1000)
                once = np.flatnonzero(np.diff(time, append=np.inf) > 0)  # behind events
                np.testing.assert_allclose(value[once], self.run.at(time[once], name), rtol=0, atol=1e-9)
        impact = self.run.events[0].time
        time, speed = lines(speeds)[0].get_data()
        self.assertEqual(list(speed[time == impact]), [self.run.at(impact, "ball.v", side) for side in ("left", "right")])
        low, high = speeds.get_ylim()
        self.assertTrue(low < speed.min() < low + 0.1 * (high - low) and high - 0.1 * (high - low) < speed.max() < high)

    def test_told_apart_without_colours(self):
        """Variables by marks, runs by dashes; the same curve twice is said, and drawn over a wider one."""
        figure, = concord.plot(self.run, self.run.path or self.saved(), variables="*.h")
        drawn = lines(figure.axes[0])
        self.assertEqual(len({line.get_linestyle() for line in drawn}), 2)
        self.assertEqual(len({line.get_color() for line in drawn[:2]}), 2)
        marks = [line.get_marker() for line in figure.axes[0].lines if line.get_linestyle() == "None"]
        self.assertEqual([len(set(marks[i::2])) for i in (0, 1)], [1, 1])
        self.assertEqual(len(set(marks)), 2)
        self.assertEqual([text.split("\n")[1:] for text in legend(figure.axes[0])], [[], [], ["on run 1"], ["on run 1"]])
        self.assertGreater(drawn[0].get_linewidth(), 3 * drawn[2].get_linewidth())
        self.assertNotIn("on ", "".join(legend(concord.plot(self.run, variables="*.h")[0].axes[0])))

    def saved(self):
        return self.run.copied_to("saved.h5")

    def test_envelopes(self):
        """A band in place of a curve that is too fast, in the legend, too; time in hours."""
        Path("day.yaml").write_text(
            "experiment: {stop: 90000}\nsubsystems:\n  a:\n    equations:\n      states: {x: 0}\n"
            "      derivatives: {x: 1e-5}\n      outputs: {fast: sin(t/20), slow: -cos(t/20000)}\n"
            "      units: {fast: V, slow: V}\n", encoding="utf-8")
        day = concord.run("day.yaml", cosim_step=4)
        axes = concord.plot(day, variables="a.fast,a.slow")[0].axes[0]
        self.assertEqual((axes.get_xlabel(), axes.get_xlim()), ("time [h]", (0, 25)))
        band, = axes.collections
        low, high = band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()
        self.assertAlmostEqual(low, -1, delta=1e-2)
        self.assertAlmostEqual(high, 1, delta=1e-2)
        self.assertEqual(legend(axes), ["a.fast\nenvelope", "a.slow"])
        self.assertEqual([line.get_marker() for line in axes.get_legend().get_lines()], ["None", "^"])
        part = concord.plot(day, variables="a.fast", range=(0, 500))[0].axes[0]
        self.assertEqual((part.get_xlabel(), len(part.collections)), ("time [min]", 0))

    def test_range_logarithms_and_phase(self):
        hunt = concord.run(LOTKA_VOLTERRA)
        axes = concord.plot(hunt, range=(2, 6), log="y")[0].axes[0]
        self.assertEqual((axes.get_yscale(), axes.get_xscale()), ("log", "linear"))
        self.assertEqual(axes.get_xlim(), (2, 6))
        low, high = (hunt.at(np.linspace(2, 6, 500)).values() for _ in range(2))
        self.assertLess(axes.get_ylim()[0], min(one.min() for one in low))
        self.assertGreater(axes.get_ylim()[1], max(one.max() for one in high))
        axes, = concord.plot(hunt, phase=("prey.amount", "predator.amount"))[0].axes
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("prey.amount [1]", "predator.amount [1]"))
        x, y = axes.lines[0].get_data()
        wanted = hunt.at(hunt["time"])
        for name, values in (("prey.amount", x), ("predator.amount", y)):
            self.assertAlmostEqual(values.max(), wanted[name].max(), delta=0.05 * wanted[name].max())

    def test_paper(self):
        """Size and letters; on a narrow page legends are above panels; what is drawn stays on the page."""
        for width, font in (("84mm", 8), (174, 8), ("10in", 14)):
            picture = concord.plot(self.run, variables=["ball.*", "table.*"], width=width, letters=True, font=font,
                                   title="A ball")
            figure = picture[0]
            self.assertAlmostEqual(figure.get_figwidth(), {"84mm": 84 / 25.4, 174: 174 / 25.4, "10in": 10}[width], delta=2e-3)
            self.assertEqual([text.get_text() for text in figure.texts], ["A ball", "(a)", "(b)"])
            self.assertEqual(figure.axes[0].yaxis.label.get_size(), font)
            box, place = figure.axes[0].get_window_extent(), figure.axes[0].get_legend().get_window_extent()
            self.assertEqual(place.y0 >= box.y1, width == "84mm")
            self.assertEqual(place.x0 >= box.x1, width != "84mm")
            whole = figure.bbox
            for axes in figure.axes:
                for extent in (axes.get_tightbbox(), axes.get_legend().get_window_extent()):
                    self.assertTrue(whole.x0 <= extent.x0 and extent.x1 <= whole.x1 and whole.y0 <= extent.y0
                                    and extent.y1 <= whole.y1, (width, extent))

    def test_long_names_and_narrow_ranges(self):
        """Names that are too long lose their middle, and ticks what they have in common."""
        long = "inner" * 30
        Path("model.yaml").write_text(
            f"experiment: {{stop: 1}}\nsubsystems:\n  a:\n    equations:\n      states: {{x: 0}}\n"
            f"      derivatives: {{x: 1}}\n      outputs: {{{long}: x, p: 101325 + 1e-3*x}}\n"
            "      units: {p: Pa}\n", encoding="utf-8")
        for width in (None, "84mm"):
            figure = concord.plot(concord.run("model.yaml"), variables=["a.p", f"a.{long}"], width=width)[0]
            self.assertEqual(figure.axes[0].get_ylabel() if "Pa" in figure.axes[0].get_ylabel()
                             else figure.axes[1].get_ylabel(), "p \u2212 101325 [Pa]")
            box = [axes.get_legend().get_window_extent().x1 for axes in figure.axes]
            self.assertLessEqual(max(box), figure.bbox.x1)
            texts = [legend(axes)[0] for axes in figure.axes]
            self.assertIn("\u2026", "".join(texts))

    def test_files(self):
        """The same bytes again; several pages of a PDF are in one file."""
        picture = concord.plot(self.run, variables="ball.*")
        for ending in ("png", "svg", "pdf"):
            names = [picture.save(f"{name}.{ending}") for name in "ab"]
            self.assertEqual(names, [[f"a.{ending}"], [f"b.{ending}"]])
            again = concord.plot(self.run, variables="ball.*", output=f"c.{ending}")
            self.assertEqual(len(again), 1)
            contents = [Path(f"{name}.{ending}").read_bytes() for name in "abc"]
            self.assertEqual(contents[1:], contents[:1] * 2, ending)
        Path("text.png").write_text("hello", encoding="utf-8")
        self.refused(concord.InputError, ("text.png", "a text", "left untouched"), picture.save, "text.png")
        self.refused(concord.InputError, ("cannot write", "missing/a.png"), picture.save, "missing/a.png")
        self.assertTrue(picture._repr_png_().startswith(b"\x89PNG"))

    def test_settings_of_the_user_change_nothing(self):
        import matplotlib
        concord.plot(self.run, output="a.png")
        with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "red", "text.parse_math": True}):
            concord.plot(self.run, output="b.png")
            self.assertEqual(matplotlib.rcParams["font.size"], 30)
        self.assertEqual(Path("a.png").read_bytes(), Path("b.png").read_bytes())

    def test_report(self):
        """The page of the command; results in memory, too."""
        page = concord.report(self.run, variables="ball.*")
        self.assertIn('"name":"ball.h"', page.text)
        self.assertNotIn('"name":"table.h"', page.text)
        self.saved()
        self.assertEqual(concord.report("saved.h5", output="a.html").text, Path("a.html").read_text(encoding="utf-8"))
        execute("report", "saved.h5", "-o", "b.html")
        self.assertEqual(Path("a.html").read_bytes(), Path("b.html").read_bytes())

    def test_comparison(self):
        """What the command says; a closed form for one of two runs."""
        fall = concord.run(BALL, cosim_stop=0.3)
        other = concord.run(BALL, cosim_stop=0.3, start_values={"ball.h": 2.0})
        found = concord.compare(other, fall, variables=["ball.h", "ball.v"], tolerance=1e-6)
        self.assertEqual(list(found), ["ball.h", "ball.v"])
        self.assertFalse(found.within)
        self.assertAlmostEqual(found["ball.h"]["maximum"], 1, delta=1e-9)
        self.assertTrue(concord.compare(fall, fall, tolerance=0).within)
        self.assertIsNone(concord.compare(fall, fall).within)
        self.assertEqual(list(found.to_pandas().index), ["ball.h", "ball.v"])
        self.refused(concord.InputError, ("no variable", "ball.x"), concord.compare, fall, other, variables="ball.x")

    def test_network(self):
        network = concord.plot(self.run, network=True)
        for words in ('label="ball\\nequations"', "s1 -> s0"):
            self.assertIn(words, network.graph)
        self.assertIn("<svg", network._repr_svg_())

    def test_refusals(self):
        for words, arguments in ((("width must be", "84mm"), {"width": "84"}), (("two times",), {"range": (3, 1)}),
                                 (("font must be",), {"font": "big"}), (("no variable 'ball.x'",), {"variables": "ball.x"}),
                                 (("leave out variables",), {"phase": "ball.h,ball.v", "variables": "ball.h"})):
            self.refused(concord.InputError, words, concord.plot, self.run, **arguments)

    def test_without_matplotlib(self):
        """One line with what to install; the package itself does without."""
        self.saved()
        code = ("import sys; sys.modules['matplotlib'] = None; import concord\n"
                "try:\n    concord.plot('saved.h5')\nexcept ImportError as error:\n    print(error)")
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        self.assertIn("apt-get install python3-matplotlib", said)
        self.assertEqual(len(said.splitlines()), 1)


class Curves(unittest.TestCase):
    """Parts that pictures are made of."""

    def test_jumps_are_upright_and_gaps_where_nothing_is_known(self):
        time = np.array([0, 1, 1, 2.0])
        upright = curves.thinned(time, np.array([0, 1, 5, 6.0]))
        np.testing.assert_array_equal(upright.value, [0, 1, 5, 6])
        gap = curves.thinned(time, np.array([0, UNKNOWN, 5, 6.0]))
        np.testing.assert_array_equal(gap.value, [0, UNKNOWN, 5, 6])
        np.testing.assert_array_equal(gap.at(np.array([-1, 0.5, 1, 1.5, 2, 3])), [UNKNOWN, UNKNOWN, UNKNOWN, 5.5, 6, UNKNOWN])
        self.assertEqual(len(curves.thinned(time, np.full(4, UNKNOWN)).time), 0)

    def test_thinning_keeps_extremes(self):
        random = np.random.default_rng(3)
        time, values = np.arange(100_003.0), random.standard_normal(100_003)
        values[7] = 50.0
        values[random.integers(100, 100_000, 900)] = UNKNOWN
        kept = curves.thinned(time, values, 500)
        self.assertLess(len(kept.time), 2001)
        self.assertTrue((np.diff(kept.time) > 0).all())
        self.assertEqual((kept.value.max(), kept.value.min()), (50.0, np.nanmin(values)))
        self.assertEqual((kept.time[0], kept.time[-1]), (0, 100_002))

    def test_envelopes(self):
        """Where a signal turns too often to be seen, and a line with a gap elsewhere."""
        time = np.linspace(0, 10, 40_001)
        values = np.where(time < 5, np.sin(500 * time), np.sin(3 * time))
        line, bands = curves.enveloped(curves.Curve("x", "", curves.Points(time, values)), 0, 10)
        self.assertEqual(len(bands), 1)
        self.assertAlmostEqual(bands[0].low.max(), -1, delta=1e-2)
        self.assertAlmostEqual(bands[0].high.min(), 1, delta=1e-2)
        self.assertGreater(line.time[0], 4.9)
        self.assertEqual(curves.enveloped(curves.Curve("x", "", curves.Points(time, values), measured=True), 0, 10)[1], [])

    def test_panels_keep_runs_of_a_variable_together(self):
        point = curves.Points(np.zeros(1), np.zeros(1))
        made = [curves.Curve(f"a.y{i}", "V", point, f"run {run}", run) for run in range(3) for i in range(5)]
        panels = curves.in_panels([*made, curves.Curve("a.x", "", point)])
        self.assertEqual([sorted({one.name for one in panel}) for panel in panels],
                         [["a.y0", "a.y1"], ["a.y2", "a.y3"], ["a.y4"], ["a.x"]])
        self.assertEqual([len(panel) for panel in panels], [6, 6, 3, 1])


if __name__ == "__main__":
    unittest.main()
