"""Dimensions inside equations: planted mistakes are found, right models are taken."""
import unittest

from concord_runs import EXAMPLES, ModelTest, execute

MODEL = """
experiment: {{stop: 1}}
functions: {{"kinetic(v, m)": m*v^2, "added(a, b)": a + b}}
maps: {{torque: {{points: {{speed: [0, 9], torque: [5, 3]}}, units: {{speed: rpm, torque: N.m}}}}}}
subsystems:
  a:
    equations:
      parameters: {{m: 2, c: 3, k: 4, angle: 0.1, h: 1, free: 1}}
      inputs: {{F: 0, u: 0}}
      states: {{x: 1, v: 0, T: 300, "r[2]": 1}}
      variables: {{p: {variable}}}
      derivatives: {{x: {x}, v: "{v}", T: free, r: "{r}"}}
      when: {{"{condition}": {{x: {d}}}, "{among}": {{r: "{put}"}}}}
      outputs: {{y: "{y}"}}
      units: {{m: kg, c: N/m, k: N.s/m, F: N, x: m, v: m/s, r: m, angle: deg, h: m, T: degC, y: {unit}, u: rad/s}}
"""
RIGHT = {"variable": "m*v", "x": "v", "v": "(F - c*x - k*v)/m + 9.81*sin(angle)", "condition": "x > h", "d": "x + h",
         "y": "kinetic(v, m) + c*x^2", "unit": "J", "r": "v*r/sum(r)", "among": "r > x", "put": "r + h"}


class Planted(ModelTest):
    def check(self, **change):
        return execute("check", self.model(MODEL.format(**{**RIGHT, **change})))

    def test_right_ones(self):
        for change in ({}, {"v": "F/m - 0.1*v"}, {"v": "max(0, F)/m"}, {"y": "sqrt(m*x*F)*v", "unit": "kg.m2/s2"},
                       {"y": "T + 273.15", "unit": "K"}, {"y": "sin(x/h) + sin(t)", "unit": "1"}, {"y": "free*m + x", "unit": ""}, {"y": "torque(u)", "unit": "N.m"},
                       {"y": "x > 0 ? F*x : m*v^2", "unit": "J"}, {"y": "hypot(x, h) + cbrt(x^3)", "unit": "m"},
                       {"y": "abs(x)*no_event(v)", "unit": "m2/s"}, {"y": "log(m/2)", "unit": ""}):
            run = self.check(**change)
            self.assertEqual(run.returncode, 0, f"{change}: {run.stderr}")
            self.assertNotIn("is said to be in", run.stdout, change)

    def test_planted_ones(self):
        for place, text, words in (
                ("v", "F*m + m", ("'F*m + m'", "kg2.m.s-2", "kg")), ("v", "F + m", ("'F'", "'m'")),
                ("v", "F", ("derivative of 'v'", "m.s-2", "kg.m.s-2")), ("v", "(F - x)/m", ("'F - x'",)),
                ("x", "x", ("derivative of 'x'", "m.s-1")), ("x", "v*x", ("derivative of 'x'",)),
                ("y", "sin(m)", ("sin of 'm'", "pure")), ("y", "exp(F)", ("exp of 'F'",)), ("y", "log(x)", ("log of 'x'",)),
                ("y", "F*v", ("output 'y'", "kg.m2.s-2", "kg.m2.s-3")), ("y", "min(x, v)", ("'min(x, v)'",)),
                ("y", "x > v ? F*x : F*x", ("'x > v'",)), ("y", "x > 0 ? F : m", ("'F' in kg.m.s-2", "'m' in kg")),
                ("y", "hypot(x, v)", ("hypot",)), ("y", "atan2(x, v)", ("atan2",)), ("y", "sqrt(x)", ("output 'y'", "m0.5")),
                ("y", "kinetic(v, v)", ("output 'y'",)), ("y", "added(x, v)", ("a + b",)), ("y", "torque(m)", ("'speed'", "'m'")),
                ("y", "torque(u)*m", ("output 'y'",)), ("y", "p + x", ("'p + x'", "kg.m.s-1")), ("y", "mod(x, v)", ("mod",)),
                ("y", "tanh(x/v)", ("tanh",)), ("y", "x^2", ("output 'y'", "m2")), ("y", "T - x", ("'T - x'", "K")),
                ("condition", "x > v", ("'x > v'",)), ("condition", "F > x && v > 0", ("'F > x'",)), ("d", "v", ("set of 'x'",)),
                ("variable", "m + v", ("'m + v'",)), ("variable", "cos(x)", ("cos of 'x'",)),
                ("r", "r", ("derivative of 'r[1]'", "m.s-1")), ("r", "v + sum(r)", ("'v",)), ("r", "dot(r, r)", ("derivative of 'r[1]'", "m2")),
                ("r", "max(r)*r/h", ("derivative of 'r[1]'",)), ("among", "r > v", ("'r[1] > v'",)), ("among", "r*c > m", ("'r[1]*c > m'",)),
                ("among", "sum(r) > F && r > x", ("F",)), ("put", "r*r", ("set of 'r[1]'", "m2")), ("put", "r + v", ("'r[1] + v'",)),
                ("y", "r[1] - m*r[2]", ("'r[1] - m*r[2]'",))):
            run = self.check(**{place: text})
            noted = any(word.startswith(("derivative", "output", "set")) for word in words)
            self.assertEqual(run.returncode, 0 if noted else 2, f"{place}: {text}: {run.stdout}")
            for word in ("model.yaml:", "is said to be in" if noted else "subsystem 'a'", *words):
                self.assertIn(word, run.stdout if noted else run.stderr, text)


class Sizes(ModelTest):
    """Units of one dimension that are not converted: notes."""
    TEXT = """
experiment: {stop: 1}
functions: {"sum(a, b)": a + b}
maps: {torque: {points: {speed: [0, 9], torque: [5, 3]}, units: {speed: rpm, torque: kN.m}}}
subsystems:
  a:
    equations:
      parameters: {L: 1, K: 2, w: 3, angle: 4, share: 5}
      states: {x: 0}
      derivatives: {x: w*L}
      outputs: {y: "EXPRESSION"}
      units: {L: m, K: km, w: rad/s, angle: deg, share: "%", x: m, y: UNIT}
"""

    def test_noted(self):
        for expression, unit, words in (
                ("L + K", "m", "'L + K' brings different units together: 'L' in 1 m, 'K' in 1000 m"),
                ("L < K", "1", "'L < K' brings"), ("sum(L, K)", "m", "'a + b' brings"), ("w", "rpm", "output 'y' has the unit 0.10471975512 s-1, but 'w' is in 1 s-1"),
                ("K^2", "m2", "but 'K^2' is in 1000000 m2"), ("sqrt(L*K)", "m", "is in 31.6"), ("L/K", "1", "is in 0.001 1"),
                ("sin(angle)", "1", "takes sin of 'angle' in units of 0.01745"), ("exp(share)", "1", "takes exp of 'share'"),
                ("torque(w*share)", "kN.m", "'speed' of the map 'torque' is in 'rpm', but 'w*share' is in 0.01 s-1"),
                ("torque(w) + torque(w)", "N.m", "is in 1000 kg.m2.s-2")):
            run = execute("check", self.model(self.TEXT.replace("EXPRESSION", expression).replace("UNIT", unit)))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(words, run.stdout, expression)
            self.assertIn("values are taken as they are", run.stdout)

    def test_not_noted(self):
        for expression, unit in (("L + 1000*K", "m"), ("w*30/pi", "rpm"), ("sin(angle*pi/180)", "1"), ("torque(w)", "N.m"),
                                 ("L*w", "m/s"), ("K", "km"), ("share/100", "1"), ("K", "")):
            run = execute("check", self.model(self.TEXT.replace("EXPRESSION", expression).replace("UNIT", unit)))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("taken as they are", run.stdout, expression)


class Examples(ModelTest):
    def test_have_no_mistakes(self):
        for path in sorted(EXAMPLES.glob("*/*.yaml")):
            run = execute("check", path)
            for word in ("different dimensions", "is said to be in", "pure number", "taken as they are"):
                self.assertNotIn(word, run.stderr + run.stdout, path)


if __name__ == "__main__":
    unittest.main()
