"""The error that a run estimates of itself, per output, beside the true one: closed forms where
there are some, else `monolithic`."""
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

from concord_runs import LOTKA_VOLTERRA, TWO_MASS, run_here, write_model
from equation_models import HYBRID_SYSTEM

OSCILLATOR = """
name: undamped
experiment: {start: 0, stop: 20}
subsystems:
  position:
    equations: {inputs: {v: 0}, states: {x: 1e-6}, derivatives: {x: v}, outputs: {x: x}}
  speed:
    equations: {inputs: {x: 0}, states: {v: 0}, derivatives: {v: -4*x}, outputs: {v: v}}
connections: [speed.v -> position.v, position.x -> speed.x]
"""

THROUGH = """
name: spring with direct feedthrough
experiment: {start: 0, stop: 5}
subsystems:
  mass:
    equations: {inputs: {f: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: f/2}, outputs: {x: x}}
  spring:
    equations: {inputs: {x: 0}, outputs: {f: -8*x}}
connections: [spring.f -> mass.f, mass.x -> spring.x]
"""

LOOP = """
name: algebraic loop
experiment: {start: 0, stop: 10}
subsystems:
  a:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - x}, outputs: {y: x + 0.3*u}}
  b:
    equations:
      {inputs: {u: 0}, states: {x: 0}, derivatives: {x: -0.5*x - 2*u}, outputs: {y: 0.5*x - 0.4*u}}
connections: [a.y -> b.u, b.y -> a.u]
"""

DAMPED = """
name: damped, driven, over many periods
experiment: {start: 0, stop: 1000}
subsystems:
  a:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: u - 2*x + sin(t)}, outputs: {x: x}}
  b:
    equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: 0.5*u - x}, outputs: {x: x}}
connections: [a.x -> b.u, b.x -> a.u]
"""

STIFF = """
name: stiff
experiment: {start: 0, stop: 5}
subsystems:
  fast:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: 1e4*(u - x)}, outputs: {x: x}}
  slow:
    equations: {inputs: {u: 0}, states: {x: 1}, derivatives: {x: 1 - 2*u}, outputs: {x: x}}
connections: [slow.x -> fast.u, fast.x -> slow.u]
"""

FILTERED = """
name: a filtered oscillation
experiment: {start: 0, stop: 1}
subsystems:
  source:
    equations: {outputs: {y: "sin(2*pi*100*t)"}}
  filter:
    equations: {inputs: {u: 0}, states: {x: 0}, derivatives: {x: 50*(u - x)}, outputs: {x: x}}
connections: [source.y -> filter.u]
"""

GROWTH = """
name: growth in coupled form
experiment: {start: 0, stop: 20}
subsystems:
  a:
    equations: {inputs: {u: 0}, states: {x: 1e-12}, derivatives: {x: u}, outputs: {x: x}}
  b:
    equations: {inputs: {x: 0}, outputs: {y: x}}
connections: [a.x -> b.x, b.y -> a.u]
"""

ON_THE_WAY = """
name: nonlinear, driven
experiment: {start: 0, stop: 20}
subsystems:
  a:
    equations: {inputs: {v: 0}, states: {x: 2}, derivatives: {x: v}, outputs: {x: x}}
  b:
    equations:
      inputs: {x: 0}
      states: {v: 0}
      derivatives: {v: (1 - x*x)*v - x + 0.1*sin(t)}
      outputs: {v: v}
connections: [b.v -> a.v, a.x -> b.x]
"""

EXPLODING = """
name: held forces on a spring that is too stiff for them
experiment: {start: 0, stop: 0.1}
subsystems:
  a:
    equations:
      {inputs: {f: 0}, states: {x: 1, v: 0}, derivatives: {x: v, v: f - 100*x}, outputs: {x: x, v: v}}
  b:
    equations:
      inputs: {x: 1, v: 0}
      states: {y: 1, w: 0}
      derivatives: {y: w, w: -400*y - 1e5*(y - x) - 50*(w - v)}
      outputs: {f: 1e5*(y - x) + 50*(w - v), y: y}
connections: [a.x -> b.x, a.v -> b.v, b.f -> a.f]
"""

FOLLOWER = """
name: an oscillator, which nothing feeds, and who follows it
experiment: {start: 0, stop: 20}
subsystems:
  o:
    equations: {states: {x: 1, v: 0}, derivatives: {x: v, v: -x}, outputs: {x: x}}
  p:
    equations: {inputs: {x: 0}, states: {z: 0}, derivatives: {z: x - z}, outputs: {z: z}}
connections: [o.x -> p.x]
"""

SOURCES = """
name: sources that no matrix tells apart, of two outputs and of one
experiment: {start: 0, stop: 5}
subsystems:
  two: {equations: {outputs: {a: sin(t), b: 0.1*t}}}
  one: {equations: {outputs: {y: cos(t)}}}
  s:
    equations:
      inputs: {a: 0, b: 0, y: 0}
      states: {x: 0}
      derivatives: {x: a + b + y - x}
      outputs: {x: x}
connections: [two.a -> s.a, two.b -> s.b, one.y -> s.y]
"""

THERMOSTAT = """
name: a room whose heater switches, below a roof in the sun
experiment: {start: 0, stop: 40}
subsystems:
  outside: {equations: {outputs: {T: 5*sin(t)}}}
  room:
    equations:
      {inputs: {out: 0, heat: 1}, states: {T: 15}, derivatives: {T: -0.2*(T - out) + 6*heat}, outputs: {T: T}}
  thermostat:
    equations:
      inputs: {T: 15}
      discrete: {heat: 1}
      when: [{condition: T > 21, set: {heat: 0}}, {condition: T < 19, set: {heat: 1}}]
      outputs: {heat: heat}
connections: [outside.T -> room.out, room.T -> thermostat.T, thermostat.heat -> room.heat]
"""

RELAY = """
name: relay
experiment: {start: 0, stop: 12}
subsystems:
  relay:
    equations:
      inputs: {x: 0}
      discrete: {u: 1}
      when: [{condition: x > 0.2, set: {u: -1}}, {condition: x < -0.2, set: {u: 1}}]
      outputs: {u: u}
  plant: {equations: {inputs: {u: 1}, states: {x: 0}, derivatives: {x: u - 0.3*x}, outputs: {x: x}}}
connections: [relay.u -> plant.u, plant.x -> relay.x]
"""

METHODS = ("jacobi", "gauss_seidel", "missiles", "jfm")


def chain(count):
    masses = "".join(f"""
  m{i}:
    equations:
      inputs: {{l: 0, r: 0}}
      states: {{x: {1 if i == 0 else 0}, v: 0}}
      derivatives: {{x: v, v: l - 2*x + r - 0.02*v}}
      outputs: {{x: x}}""" for i in range(count))
    links = "".join(f"  - m{i}.x -> m{i + 1}.l\n  - m{i + 1}.x -> m{i}.r\n"
                    for i in range(count - 1))
    return (f"name: chain\nexperiment: {{start: 0, stop: 20}}\nsubsystems:{masses}\n"
            f"connections:\n{links}")


class Run:
    def __init__(self, model, *options, ranks=1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.h5"
            self.run = run_here(model, *options, "-cosim_output", path, ranks=ranks)
            with h5py.File(path) as file:
                self.attributes = dict(file.attrs)
                self.time, self.values = file["time"][:], file["outputs/values"][:]
                self.names = list(file["outputs/names"].asstr())
                self.errors = file["outputs/error_estimate"][:]
                self.steps = file["steps/error_estimate"][:]


class Accuracy(unittest.TestCase):
    """Within a factor of ten both ways, for every output; down to where integrators end."""

    SMALLEST = 1e-10

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, model, *steps, factor=10.0, size=1.0, methods=METHODS, rows=()):
        tight = ("-cosim_rtol", 1e-12, "-cosim_atol", 1e-12 * size,
                 "-subsystem_rtol", 1e-12, "-subsystem_atol", 1e-14 * size, *rows)
        for h in steps:
            exact = Run(model, "-cosim_type", "monolithic", "-cosim_step", h, *tight).values
            for method in methods:
                with self.subTest(method=method, h=h):
                    run = Run(model, "-cosim_type", method, "-cosim_step", h, *tight,
                              "-cosim_diverged", "warn")
                    self.assertEqual(run.run.returncode, 0, run.run.stderr)
                    true = (np.max(np.abs(run.values - exact), axis=0) /
                            np.max(np.abs(run.values), axis=0))
                    print(f"{method:12} h = {h:g}: true {true}, estimated {run.errors}")
                    seen = true > self.SMALLEST
                    self.assertTrue((run.errors[seen] < factor * true[seen]).all())
                    self.assertTrue((run.errors[seen] > true[seen] / factor).all())
                    self.assertEqual(run.attributes["error_estimate"], run.errors.max())
                    self.assertIn("estimated error", run.run.stdout)

    def model(self, text):
        return write_model(self.folder.name, self.id().rsplit(".", 1)[1], text)

    def test_two_mass(self):
        self.check(TWO_MASS, 1e-3, factor=2.0)

    def test_quintic(self):
        """Less than what states within a macro-step are rebuilt to."""
        self.check(TWO_MASS, 0.01, 0.005, methods=("jfm6", "missiles6"))

    def test_exploding(self):
        """Some inputs are seen inside, others at the ends of macro-steps, with feedthrough beside."""
        self.check(self.model(EXPLODING), 5e-3, factor=1.5, methods=("jacobi",))

    def test_lotka_volterra(self):
        self.check(LOTKA_VOLTERRA, 0.1, 0.01)

    def test_undamped_in_micrometres(self):
        self.check(self.model(OSCILLATOR), 0.01, size=1e-6)

    def test_direct_feedthrough(self):
        self.check(self.model(THROUGH), 0.01, factor=2.0)

    def test_algebraic_loop(self):
        """Between communication points it is not solved, and wrong by more than there."""
        self.check(self.model(LOOP), 0.1, 0.01, factor=2.0, rows=("-cosim_output_interval", 0.0027))

    def test_a_sum_over_1e5_steps_does_not_grow_where_errors_die_out(self):
        self.check(self.model(DAMPED), 0.01, factor=2.0)

    def test_stiff(self):
        self.check(self.model(STIFF), 0.01)

    def test_growth_of_the_model(self):
        self.check(self.model(GROWTH), 0.01, size=1e-12)

    def test_sources_of_unequal_numbers_of_outputs(self):
        self.check(self.model(SOURCES), 0.1, factor=2.0)

    def test_limit_cycle(self):
        self.check(self.model(ON_THE_WAY), 0.01)

    def test_chain(self):
        self.check(self.model(chain(12)), 0.1, 0.02)

    def test_macro_steps_as_long_as_a_period(self):
        """The mean of what is missed is 0, but it comes early in each, and is hardly filtered by the end."""
        self.check(self.model(FILTERED), 0.01, factor=3.0, methods=("jfm", "jacobi", "gauss_seidel"))

    def test_in_sequence_by_richardson(self):
        """What interpolates is right at the ends: it misses what lies within."""
        k, w = 50.0, 200*np.pi
        run = Run(self.model(FILTERED), "-cosim_type", "gauss_seidel", "-cosim_adapt", "richardson",
                  "-cosim_adapt_rtol", 1e-3)
        t = run.time
        exact = k*(w*np.exp(-k*t) + k*np.sin(w*t) - w*np.cos(w*t))/(k*k + w*w)
        true = np.abs(run.values[:, 1] - exact).max()/np.abs(exact).max()
        self.assertGreater(true, 1e-5)
        self.assertGreater(run.errors[1], 0.3*true)
        self.assertLess(run.errors[1], 10*true)


class Integrators(unittest.TestCase):
    """What integrators leave is in the estimate: of an oscillator nothing else can be wrong."""

    def check(self, integrator, rtol, step, factor, *options):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(write_model(folder, "follower", FOLLOWER), "-cosim_step", step, *options,
                      "-subsystem_integrator", integrator, "-subsystem_rtol", rtol)
        t, (x, _) = run.time, run.values.T
        true = np.max(np.abs(x - np.cos(t))) / np.max(np.abs(x))
        with self.subTest(integrator=integrator, rtol=rtol, step=step):
            print(f"{integrator:12} rtol = {rtol:g}: true {true}, estimated {run.errors[0]}")
            self.assertLess(run.errors[0], factor * true)
            self.assertGreater(run.errors[0], true / factor)

    def test_pairs(self):
        """The higher order goes on, whose error is not what is estimated, but follows from it."""
        self.check("erk", 1e-3, 0.3, 1.5)
        self.check("erk", 1e-5, 1.0, 1.5)
        self.check("erk", 1e-10, 0.3, 5.0)
        self.check("dirk", 1e-2, 0.5, 1.5)
        self.check("dirk", 1e-3, 0.1, 1.5)

    def test_multistep(self):
        self.check("cvode_bdf", 1e-3, 1.0, 2.0)
        self.check("cvode_adams", 1e-4, 0.1, 2.0)

    def test_isolated(self):
        """The same from another process."""
        self.check("erk", 1e-5, 1.0, 1.5, "-subsystem_isolated", "true")


SAMPLED = """
name: an upright pendulum, a sampled controller, and who adds up what it does
experiment: {start: 0, stop: 15}
subsystems:
  plant:
    equations: {inputs: {u: 0, g: 0}, states: {x: 0.5, v: 0}, derivatives: {x: v, v: g + u},
                outputs: {x: x, v: v}}
  gravity:
    equations: {inputs: {x: 0}, states: {g: 7.67}, derivatives: {g: 40*(16*sin(x) - g)},
                outputs: {g: g}}
  control:
    equations: {inputs: {x: 0.5, v: 0}, discrete: {u: 0},
                when: [{every: 0.05, set: {u: -40*x - 8.8*v + sin(t)}}], outputs: {u: u}}
  meter:
    equations: {inputs: {x: 0}, discrete: {s: 0}, when: [{every: 0.1, set: {s: 0.99*s + x}}],
                outputs: {s: s}}
connections: [plant.x -> control.x, plant.v -> control.v, control.u -> plant.u, plant.x -> meter.x,
              plant.x -> gravity.x, gravity.g -> plant.g]
"""

DELAYED_RELAY = """
name: a thermostat that learns late
experiment: {start: 0, stop: 40}
subsystems:
  plant: {equations: {inputs: {h: 1}, states: {T: 18}, derivatives: {T: 0.2*(10 - T) + 3*h}, outputs: {T: T}}}
  relay:
    equations:
      inputs: {T: 18}
      discrete: {h: 1}
      when: [{condition: T > 21, set: {h: 0}}, {condition: T < 19, set: {h: 1}}]
      outputs: {h: h}
connections: [{connect: plant.T -> relay.T, delay: 0.37}, relay.h -> plant.h]
"""

THERMOSTATS = """
name: thermostats that switch at nearly the same instants
experiment: {start: 0, stop: 3}
templates:
  room:
    equations: {parameters: {k: 1}, inputs: {h: 1, left: 15}, states: {T: 18}, outputs: {T: T},
                derivatives: {T: k*(10 - T) + 15*h + 0.01*(left - T)}}
  relay:
    equations: {inputs: {T: 18}, discrete: {h: 1}, outputs: {h: h},
                when: [{condition: T > 21, set: {h: 0}}, {condition: T < 19, set: {h: 1}}]}
subsystems:
  room: {template: room, repeat: {i: [1, 40]}, parameters: {k: 1 + 0.001*i}}
  relay: {template: relay, repeat: {i: [1, 40]}}
connections:
  - {connect: "room[i].T -> relay[i].T", repeat: {i: [1, 40]}}
  - {connect: "relay[i].h -> room[i].h", repeat: {i: [1, 40]}}
  - {connect: "room[i].T -> room[i+1].left", repeat: {i: [1, 39]}}
"""

GUST = """
name: a gust of half a second
experiment: {start: 0, stop: 60}
subsystems:
  wind: {equations: {outputs: {F: "100*exp(-((t - 31.7)/0.3)^2)"}}}
  mast: {equations: {inputs: {F: 0}, states: {x: 0, v: 0}, derivatives: {x: v, v: "(F - 40*x - 2*v)/10"}, outputs: {x: x}}}
connections: [wind.F -> mast.F]
"""


MONOLITHIC = ("-cosim_type", "monolithic", "-subsystem_rtol", 1e-12, "-subsystem_atol", 1e-14)


def compared(case, text, output, options, factor, ranks=1, reference=MONOLITHIC):
    """The estimated error of an output, which is to be within this factor of the true one at the rows
    (`reference`); both in units of its size."""
    rows = options[options.index("-cosim_output_interval"):][:2]
    with tempfile.TemporaryDirectory() as folder:
        model = write_model(folder, "hybrid", text)
        exact = Run(model, *rows, *reference)
        run = Run(model, *options, ranks=ranks)
    column = run.names.index(output)
    true = (np.max(np.abs(run.values[:, column] - exact.values[:, column]))
            / np.max(np.abs(exact.values[:, column])))
    with case.subTest(output=output, options=options, ranks=ranks):
        print(f"{output} {options}: true {true}, estimated {run.errors[column]}")
        case.assertLess(run.errors[column], factor * true)
        case.assertGreater(run.errors[column], true / factor)
    return run.errors[column]


class Instants(unittest.TestCase):
    """Of events, which are wrong by what signals are: a tenth of the truth where they count as exact."""

    ROWS = ("-cosim_output_interval", 0.5)

    def check(self, *options, ranks=1):
        return compared(self, THERMOSTAT, "room.T", (*self.ROWS, *options), factor=4.0, ranks=ranks)

    def test_a_thermostat(self):
        for options in (("-cosim_accuracy", 1e-3), (), ("-cosim_accuracy", 1e-6),
                        ("-cosim_type", "missiles", "-cosim_step", 0.25)):
            self.check(*options)

    def test_what_is_held_shows_them_late(self):
        """By up to a macro-step at each one, and by all those before."""
        for method, step in (("jacobi", 1e-3), ("gauss_seidel", 1e-3), ("jacobi", 1e-4)):
            compared(self, RELAY, "plant.x", ("-cosim_type", method, "-cosim_step", step, "-cosim_output_interval", 0.5),
                     factor=2.0)

    def test_behind_a_delay(self):
        """Each instant shifts those that follow, by more than a macro-step in the end."""
        for method, step in (("jacobi", 1e-2), ("jacobi", 1e-3), ("gauss_seidel", 0.04), ("kuebler_schiehlen", 0.04)):
            compared(self, DELAYED_RELAY, "plant.T", ("-cosim_type", method, "-cosim_step", step, "-cosim_output_interval", 0.5),
                     factor=6.0, reference=("-cosim_type", "jfm", "-cosim_accuracy", 1e-8))

    def test_each_by_its_own(self):
        """The instants of forty relays are wrong by what each of them is, not by what the worst is."""
        for ranks in (1, 2):
            compared(self, THERMOSTATS, "room[35].T",
                     ("-cosim_type", "jacobi", "-cosim_step", 0.002, "-cosim_output_interval", 0.05),
                     factor=3.0, ranks=ranks)

    def test_within_a_system(self):
        """What events within a system with `run` have set is wrong, too, by way of what is within."""
        for method in ("jacobi", "gauss_seidel"):
            for output in ("house.room.T", "house.clock.mean", "wall.w"):
                compared(self, HYBRID_SYSTEM.replace("# RUN", "run: {}"), output, ("-cosim_type", method, "-cosim_step", 0.01, "-cosim_output_interval", 0.1), factor=3.0)

    def test_what_moves_after_a_rest(self):
        """A gust within a few macro-steps: the mean of what held inputs miss would be nothing."""
        for method, step in (("jacobi", 0.06), ("jacobi", 0.02), ("gauss_seidel", 0.06)):
            compared(self, GUST, "mast.x", ("-cosim_type", method, "-cosim_step", step, "-cosim_output_interval", 0.25),
                     factor=3.0)

    def test_where_the_tail_of_a_gust_begins(self):
        """In a macro-step of two swings, the mast at rest: steeper than any power of time."""
        text = GUST.replace("stop: 60", "stop: 300").replace("(t - 31.7)/0.3", "t - 163.8")
        for accuracy in (1e-4, 1e-6, 1e-8):
            compared(self, text, "mast.x", ("-cosim_accuracy", accuracy, "-cosim_output_interval", 0.25),
                     factor=2.0)

    def test_ranks(self):
        one, three = (self.check("-cosim_step", 0.5, ranks=ranks) for ranks in (1, 3))
        self.assertAlmostEqual(one / three, 1, delta=1e-4)


class Discrete(unittest.TestCase):
    """Discrete variables are wrong by what they were set to, and pass it on."""

    ROWS = ("-cosim_output_interval", 0.013)

    def check(self, output, *options):
        compared(self, SAMPLED, output, (*self.ROWS, *options), factor=2.0)

    def test_a_sampled_controller_holds_what_would_fall(self):
        """An error of the plant grows by e^60 without it."""
        for options in (("-cosim_type", "jfm", "-cosim_accuracy", 1e-3), (), ("-cosim_accuracy", 1e-6)):
            self.check("plant.x", *options)
        compared(self, SAMPLED, "plant.x", (*self.ROWS, "-cosim_accuracy", 1e-3), factor=3.0)  # 4e-9 of 1e-3

    def test_a_sum_of_samples(self):
        for options in ((), ("-cosim_accuracy", 1e-6), ("-cosim_type", "jacobi", "-cosim_step", 0.01)):
            self.check("meter.s", *options)


    def test_where_nothing_but_what_is_held_is_connected(self):
        """A staircase by tenths into z' = n - z, integrated loosely."""
        text = """
experiment: {start: 0, stop: 5}
subsystems:
  c: {equations: {discrete: {n: 0}, when: [{every: 0.1, set: {n: n + 0.1}}], outputs: {n: n}}}
  m: {equations: {inputs: {n: 0}, states: {z: 0}, derivatives: {z: 4*(n - z)}, outputs: {z: z}}}
connections: [c.n -> m.n]
"""
        for ranks in (1, 2):
            compared(self, text, "m.z", (*self.ROWS, "-cosim_type", "jacobi", "-cosim_step", 0.1,
                                         "-subsystem_rtol", 1e-4), factor=3.0, ranks=ranks)


class Ranks(unittest.TestCase):
    def test_the_same_on_one_two_and_three(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(folder, "chain", chain(7))
            for method in METHODS:
                one, two, three = (Run(model, "-cosim_type", method, "-cosim_step", 0.05, ranks=r)
                                   for r in (1, 2, 3))
                for other in (two, three):
                    with self.subTest(method=method):
                        np.testing.assert_allclose(other.errors, one.errors, rtol=1e-4, atol=1e-15)
                        np.testing.assert_allclose(other.steps, one.steps, rtol=1e-4, atol=1e-15)
                        self.assertEqual(other.attributes["error_estimate_of"],
                                         one.attributes["error_estimate_of"])


class NoEstimate(unittest.TestCase):
    def check(self, reason, *options, model=TWO_MASS):
        run = Run(model, "-cosim_step", 1e-3, *options)
        self.assertEqual(run.run.returncode, 0, run.run.stderr)
        self.assertTrue(np.isnan(run.errors).all())
        self.assertIn(reason, run.attributes["no_estimate"])
        self.assertIn("no estimate: ", run.run.stdout)

    def test_without_linearisation(self):
        self.check("'left' gives no linearisation", "-cosim_type", "jacobi",
                   "-subsystem_linearization", "false", "-cosim_halving", "none")

    def test_nothing_connected(self):
        """0 would say that somebody has looked."""
        with tempfile.TemporaryDirectory() as folder:
            alone = write_model(folder, "alone", FOLLOWER[:FOLLOWER.index("connections")])
            self.check("nothing is connected", model=alone)

    def test_monolithic(self):
        self.check("monolithic", "-cosim_type", "monolithic")


if __name__ == "__main__":
    unittest.main()
