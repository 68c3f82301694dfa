"""concord gradient: costs and derivatives against closed forms, on ranks, across events, and what is refused."""
import json
import subprocess
import unittest

import numpy as np
from concord_runs import EXAMPLES, TWO_MASS, ModelTest, execute, in_short

LEFT = {"m": 5.0, "c": 1e4, "d": 10.0}
RIGHT = {"m": 80.0, "c": 1e5, "d": 40.0, "c_couple": 1e4, "d_couple": 10.0}
STOP = 2.0


def exponential(a):
    """Of a matrix, which may be complex: Taylor of the scaled one, squared."""
    halvings = max(0, int(np.ceil(np.log2(np.abs(a).sum(axis=1).max() + 1e-300))) + 4)
    term = total = np.eye(len(a), dtype=complex)
    for k in range(1, 22):
        term = term @ a / (2.0**halvings * k)
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


class TwoMasses:
    """The example in closed form, for complex numbers too."""

    def __init__(self, numbers):
        left, right = dict(LEFT), dict(RIGHT)
        self.x = np.array([1.0, 0.0, 3.0, 0.0], dtype=complex)
        for name, value in numbers.items():
            part, of = name.split(".")
            if of in ("x", "v"):
                self.x[{"left.x": 0, "left.v": 1, "right.x": 2, "right.v": 3}[name]] = value
            else:
                (left if part == "left" else right)[of] = value
        k, g = right["c_couple"], right["d_couple"]
        self.force = np.array([-k, -g, k, g])
        self.a = np.array([[0, 1, 0, 0], [-left["c"], -left["d"], 0, 0], [0, 0, 0, 1],
                           [k, g, -right["c"] - k, -right["d"] - g]], dtype=complex)
        self.a[1] += self.force
        self.a[1] /= left["m"]
        self.a[3] /= right["m"]

    def at(self, times):
        return np.array([exponential(self.a * t) @ self.x for t in times])

    def integral(self, integrand, pieces=200):
        nodes, weights = np.polynomial.legendre.leggauss(5)
        h = STOP / pieces
        shifts = [exponential(self.a * h * (node + 1) / 2) for node in nodes]
        step, x, total = exponential(self.a * h), self.x, 0.0
        for _ in range(pieces):
            total += sum(w * integrand(s @ x) for w, s in zip(weights, shifts)) * h / 2
            x = step @ x
        return total


def slope(function, numbers, name):
    """By complex step."""
    return function({**numbers, name: numbers[name] + 1e-30j}).imag / 1e-30


class Gradient(ModelTest):
    def gradient(self, model, cost, by, *words, ranks=1):
        path = self.folder / "gradient.json"
        run = execute("gradient", model, "--of", cost, "--by", by, "-o", path, *words, ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return json.loads(path.read_text()), run

    def check(self, found, value, slopes, tolerance=2e-7):
        self.assertAlmostEqual(found["value"], value, delta=1e-8 * abs(value))
        for entry in found["by"]:
            with self.subTest(by=entry["name"]):
                slope_here = slopes[entry["name"]]
                wrong = abs(entry["derivative"] - slope_here)
                self.assertLess(wrong, 5 * entry["error"] + 1e-9 * abs(slope_here))
                noise = (found["error_of_runs"] or 1e-10) * abs(value) / max(abs(entry["value"]), 1.0)
                self.assertLess(entry["error"], tolerance * abs(slope_here) + 200 * noise)

    def test_integrals_and_ends(self):
        """Against matrix exponentials and complex step; ranks change no bit."""
        at = {"left.m": 5.0, "left.c": 1e4, "right.d_couple": 10.0, "left.x": 1.0, "right.v": 0.0}

        def cost(numbers):
            masses = TwoMasses(numbers)
            return masses.integral(lambda x: (x[0] - x[2])**2) + 0.1 * masses.at([STOP])[0, 1]

        words = ("integral((left.x - right.x)^2) + 0.1*final(left.v)", ",".join(at))
        found, _ = self.gradient(TWO_MASS, *words)
        self.check(found, cost(at).real, {name: slope(cost, at, name) for name in at})
        some = (words[0], ",".join(in_short(list(at), 5)))
        one, three = (self.gradient(TWO_MASS, *some, "-cosim_stop", 0.5, ranks=ranks)[0] for ranks in (1, 3))
        self.assertEqual(one, three)

    def test_misfit(self):
        times = np.linspace(0, STOP, 21)
        data = TwoMasses({"left.m": 5.5}).at(times).real
        path = self.folder / "data.csv"
        np.savetxt(path, np.column_stack([times, data[:, 0], data[:, 3]]), delimiter=",",
                   header="time,left.x,right.v", comments="", fmt="%.17g")
        at = {"left.m": 5.0, "right.c": 1e5}

        def cost(numbers):
            off = TwoMasses(numbers).at(times) - data
            return 3.0 * np.sum(off[:, 0]**2 + off[:, 3]**2)

        found, _ = self.gradient(TWO_MASS, f"3*misfit({path})", ",".join(at))
        self.check(found, cost(at).real, {name: slope(cost, at, name) for name in at})

    def test_across_events(self):
        """A ball after five bounces: instants, speeds and their derivatives in closed form."""
        model = self.folder / "ball.yaml"
        model.write_text("""
experiment: {start: 0, stop: 2}
subsystems:
  ball:
    equations:
      parameters: {g: 9.81, e: 0.8}
      states: {h: 1, v: 0}
      derivatives: {h: v, v: -g}
      when: [{condition: "h < 0 && v < 0", set: {v: -e*v}}]
      outputs: {h: h, v: v}
""")

        def height(numbers):
            h, g, e = (numbers[f"ball.{name}"] for name in "hge")
            fall = np.sqrt(2 * h / g + 0j)
            time, speed = fall, e * g * fall
            while (time + 2 * speed / g).real < 2:
                time, speed = time + 2 * speed / g, e * speed
            return speed * (2 - time) - g * (2 - time)**2 / 2

        at = {"ball.g": 9.81, "ball.e": 0.8, "ball.h": 1.0}
        found, _ = self.gradient(model, "ball.h", ",".join(at))
        self.check(found, height(at).real, {name: slope(height, at, name) for name in at}, 1e-5)

    def test_fmus(self):
        """Parameters of FMUs by name, beside the same carts as equations; that nobody knows their error is told."""
        subprocess.run(["bash", EXAMPLES / "two_fmus" / "make_fmus.sh", self.folder], check=True)
        carts = self.folder / "carts.yaml"
        carts.write_text("""
experiment: {start: 0, stop: 10}
subsystems:
  cart:
    equations:
      parameters: {m: 2}
      inputs: {f: 0}
      states: {x: 1, v: 0}
      derivatives: {x: v, v: f/m}
      outputs: {x: x}
  spring_cart:
    equations:
      parameters: {m: 3, k: 50}
      inputs: {x_other: 1}
      states: {x: 0, v: 0}
      derivatives: {x: v, v: k*(x_other - x)/m}
      outputs: {f: k*(x - x_other)}
connections: [spring_cart.f -> cart.f, cart.x -> spring_cart.x_other]
""")
        words = ("integral(cart.x^2)", "spring_cart.k,cart.m")
        stop = ("-cosim_stop", 4)
        known = self.gradient(carts, *words, *stop)[0]
        found, run = self.gradient(self.folder / "two_fmus.yaml", *words, *stop, "-cosim_step", 1e-2)
        self.assertIsNone(found["error_of_runs"])
        self.assertIn("errors unknown: subsystem 'cart'", run.stdout)
        self.assertLess(known["error_of_runs"], 1e-8)
        for one, other in zip(found["by"], known["by"]):
            self.assertAlmostEqual(one["derivative"], other["derivative"], delta=2e-2 * abs(other["derivative"]))

    def test_parameters_of_models_and_systems(self):
        """By name, with the file's values, whatever follows from them: x' = -2 g k gear x."""
        model = self.folder / "around.yaml"
        model.write_text("""
experiment: {start: 0, stop: 1}
parameters: {g: 0.5}
subsystems:
  drive:
    system:
      parameters: {gear: 0.75, ratio: 2*gear}
      subsystems:
        a: {equations: {parameters: {k: 1.25}, states: {x: g}, derivatives: {x: -g*k*ratio*x}, outputs: {x: x}}}
""")

        def end(n):
            g, gear, k = n["parameters.g"], n["drive.gear"], n["drive.a.k"]
            return g * np.exp(-2 * g * k * gear)

        at = {"parameters.g": 0.5, "drive.gear": 0.75, "drive.a.k": 1.25}
        found, _ = self.gradient(model, "drive.a.x", ",".join(at))
        self.check(found, end(at).real, {name: slope(end, at, name) for name in at})

    def test_kinks_are_told(self):
        model = self.folder / "kink.yaml"
        model.write_text("experiment: {start: 0, stop: 1}\nsubsystems:\n  a:\n    equations:\n"
                         "      parameters: {p: 1}\n      states: {x: 0}\n      derivatives: {x: p}\n"
                         "      outputs: {x: x}\n")
        _, run = self.gradient(model, "abs(a.x - 1) + 0*integral(a.x)", "a.p")
        self.assertIn("the derivative by a.p is doubtful", run.stderr)

    def test_what_does_not_matter_is_not_doubtful(self):
        """Nothing of the left mass moves a clock: the derivative is what runs leave."""
        model = self.folder / "clock.yaml"
        model.write_text(TWO_MASS.read_text().replace("subsystems:", "subsystems:\n  clock: {equations: {states: {s: "
                         "0}, derivatives: {s: cos(t)}, outputs: {s: s}}}", 1))
        found, run = self.gradient(model, "integral(clock.s)", "left.m")
        self.assertLess(abs(found["by"][0]["derivative"]), found["by"][0]["error"] + 1e-15)
        self.assertNotIn("doubtful", run.stderr)

    def test_value_alone_and_other_points(self):
        run = execute("gradient", TWO_MASS, "--of", "left.x", "--set", "left.m=6")
        value = TwoMasses({"left.m": 6.0}).at([STOP])[0, 0].real
        self.assertAlmostEqual(float(run.stdout.split("=")[1].split()[0]), value, delta=1e-8)
        at = {"left.m": 6.0}
        found, _ = self.gradient(TWO_MASS, "left.x", "left.m=6")
        self.check(found, value, {"left.m": slope(lambda n: TwoMasses(n).at([STOP])[0, 0], at, "left.m")})

    def test_refusals(self):
        late = self.folder / "late.csv"
        late.write_text("time,left.x\n0,1\n3,1\n")
        other = self.folder / "other.csv"
        other.write_text("time,left.y\n0,1\n1,1\n")
        for cost, by, code, message in [
                ("integral(left.y)", "left.m", 2, "'left.y' is none; the nearest names are left."),
                ("integral(left.f)", "left.m", 2, "'left.f' is none; the nearest names are left."),
                ("left.y", "left.m", 2, "no output, input or state 'left.y', and no such parameter"),
                ("integral(left.x", "left.m", 2, "this '(' is not closed"),
                ("left.x +", "left.m", 2, "--of: "),
                ("left.x", "left.q", 2, "--by left.q=1.5"),
                ("left.x", "left.m,left.m=6", 2, "--by names 'left.m' twice"),
                ("left.x", "left.m=heavy", 2, "a name and its value"),
                (f"misfit({late})", "left.m", 2, "t = 3 s, outside the experiment from 0 to 2 s"),
                (f"misfit({other})", "left.m", 2, "'left.y'"),
                ("misfit(none.csv)", "left.m", 2, "none.csv"),
                ("log(left.x - 1e3)", "left.m", 1, "is not a number"),
                ("left.x", "left.m=0", 1, "left.m=0")]:
            with self.subTest(cost=cost, by=by):
                run = execute("gradient", TWO_MASS, "--of", cost, "--by", by, ranks=2 if code == 1 else 1)
                self.assertEqual(run.returncode, code, run.stderr + run.stdout)
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stderr.count("concord: error:"), 1)
        run = execute("gradient", TWO_MASS, "--of", "left.x", "--by", "left.m", "-cosim_output", "a.h5")
        self.assertEqual(run.returncode, 2)
        self.assertIn("-cosim_output has no meaning", run.stderr)


if __name__ == "__main__":
    unittest.main()
