"""30 operating points, each from start values ten times off, beside solutions of their own: found, or told why not."""
import re
import unittest

import numpy as np
from concord_runs import ModelTest, execute


def newton(f, x):
    """f(x) = 0, by differences."""
    for _ in range(100):
        left = f(x)
        h = 1e-6 * np.maximum(1, np.abs(x))
        jacobian = np.stack([(f(x + e) - f(x - e)) / (2 * e.sum()) for e in np.diag(h)], axis=1)
        step = np.linalg.solve(jacobian, left)
        x = x - step
        if np.abs(step).max() < 1e-12 * np.abs(x).max():
            break
    return x


class Points(ModelTest):
    """Each family: models by numbers that are drawn, with the seed n."""

    def point(self, text, *options):
        """By name, or None where it is told that there is none."""
        start = self.folder / "start.yaml"
        start.unlink(missing_ok=True)
        run = execute("steady", self.model(text), *options, "-o", start)
        if run.returncode == 1:
            self.assertEqual(run.stderr.count("concord: error: "), 1)
            self.assertIn("no steady state was found", run.stderr)
            return None
        self.assertEqual(run.returncode, 0, run.stderr)
        return {name: float(value) for name, value in re.findall(r'^"(.*)": (\S+)$', start.read_text(), re.M)}

    def heat(self, n):
        """Rooms in a chain that radiate: k (T[i-1] - 2 T + T[i+1]) + q - s T^4 = 0."""
        draw = np.random.default_rng(n)
        q, s, k = draw.uniform(50, 500, n), draw.uniform(1e-8, 6e-8), draw.uniform(1, 10)

        def f(T):
            wide = np.concatenate(([280], T, [290]))
            return k * (wide[:-2] - 2 * T + wide[2:]) + q - s * T**4

        exact = newton(f, np.full(n, 290.0))
        text = ("experiment: {stop: 1e5}\ntemplates:\n  room:\n    equations:\n      parameters: {q: 0, k: %.17g, s: %.17g}\n"
                "      inputs: {left: 280, right: 290}\n      states: {T: 0}\n      derivatives: {T: (k*(left - 2*T + right) + q - s*T^4)/1e4}\n"
                "      outputs: {T: T}\nsubsystems:\n" % (k, s))
        links = "connections:\n"
        for i in range(n):
            text += f"  r{i}: {{template: room, parameters: {{q: {q[i]:.17g}}}, start: {{T: {exact[i] * (10 if n % 2 else 0.1):.17g}}}}}\n"
            links += f"  - r{i}.T -> r{i + 1}.left\n  - r{i + 1}.T -> r{i}.right\n" if i < n - 1 else ""
        point = self.point(text + links)
        return point and np.abs([point[f"r{i}.T"] / exact[i] - 1 for i in range(n)]).max()

    def servo(self, n):
        """Axes that pull at each other, each with a controller whose torque saturates: phi = r."""
        draw = np.random.default_rng(100 + n)
        r, load, spring = draw.uniform(0.5, 2, n), draw.uniform(0, 1, n), draw.uniform(0, 1, n)
        before = np.concatenate(([0], r[:-1]))
        exact = 4 * np.arctanh((load * np.sin(r) + spring * (r - before)) / 4)
        text = ("experiment: {stop: 100}\ntemplates:\n  axis:\n    equations:\n      parameters: {load: 0, spring: 0}\n"
                "      inputs: {left: 0, u: 0}\n      states: {phi: 0, w: 0}\n"
                "      derivatives: {phi: w, w: 4*tanh(u/4) - load*sin(phi) - spring*(phi - left) - 0.1*w}\n      outputs: {phi: phi, w: w}\n"
                "  control:\n    equations:\n      parameters: {r: 0}\n      inputs: {phi: 0, w: 0}\n      states: {i: 0}\n"
                "      derivatives: {i: r - phi}\n      outputs: {u: 5*(r - phi) - 2*w + i}\nsubsystems:\n")
        links = "connections:\n"
        for i in range(n):
            text += (f"  a{i}: {{template: axis, parameters: {{load: {load[i]:.17g}, spring: {spring[i]:.17g}}}, "
                     f"start: {{phi: {10 * r[i]:.17g}, w: 3}}}}\n"
                     f"  c{i}: {{template: control, parameters: {{r: {r[i]:.17g}}}, start: {{i: {10 * exact[i]:.17g}}}}}\n")
            links += f"  - a{i}.phi -> c{i}.phi\n  - a{i}.w -> c{i}.w\n  - c{i}.u -> a{i}.u\n"
            links += f"  - a{i}.phi -> a{i + 1}.left\n" if i < n - 1 else ""
        point = self.point(text + links)
        return point and max(max(abs(point[f"a{i}.phi"] - r[i]), abs(point[f"c{i}.i"] - exact[i])) for i in range(n))

    def loop(self, n):
        """A pump, pipes and vessels in a ring, whose water stays: q^2 (b + sum of R) = head."""
        draw = np.random.default_rng(200 + n)
        resistance, head, b = draw.uniform(0.1, 2, n), draw.uniform(1, 20), draw.uniform(0.1, 1)
        flow = np.sqrt(head / (b + resistance.sum()))
        drop = resistance * flow**2
        drop[0] += b * flow**2 - head
        pressure = np.concatenate(([0], -np.cumsum(drop)[:-1]))
        start = 10 * (pressure - pressure.mean() + 5)
        exact = pressure - pressure.mean() + start.mean()
        text = ("experiment: {stop: 100}\ntemplates:\n  vessel: {equations: {inputs: {into: 0, out: 0}, states: {p: 0}, "
                "derivatives: {p: into - out}, outputs: {p: p}}}\n  pipe: {equations: {parameters: {R: 1, head: 0}, "
                "inputs: {from: 0, to: 0}, states: {q: 0}, derivatives: {q: from + head - to - R*q*abs(q)}, outputs: {q: q}}}\nsubsystems:\n")
        links = "connections:\n"
        for i in range(n):
            text += (f"  v{i}: {{template: vessel, start: {{p: {start[i]:.17g}}}}}\n  p{i}: {{template: pipe, parameters: {{R: "
                     f"{resistance[i] + (b if i == 0 else 0):.17g}, head: {head if i == 0 else 0:.17g}}}, start: {{q: {10 * flow:.17g}}}}}\n")
            links += (f"  - v{i}.p -> p{i}.from\n  - v{(i + 1) % n}.p -> p{i}.to\n  - p{i}.q -> v{i}.out\n"
                      f"  - p{i}.q -> v{(i + 1) % n}.into\n")
        point = self.point(text + links)
        return point and max(max(abs(point[f"p{i}.q"] - flow), abs(point[f"v{i}.p"] - exact[i])) for i in range(n))

    def ring(self, n):
        """Machines in a ring, which may slip against each other by whole turns: the power of each is in balance."""
        draw = np.random.default_rng(300 + n)
        angle = draw.uniform(-0.4, 0.4, n)
        flow = 2 * np.sin(angle - np.roll(angle, -1))
        power = flow - np.roll(flow, 1)
        text = ("experiment: {stop: 100}\ntemplates:\n  machine: {equations: {parameters: {P: 0}, inputs: {left: 0, right: 0}, "
                "states: {a: 0, w: 0}, derivatives: {a: w, w: P - w - 2*sin(a - left) - 2*sin(a - right)}, outputs: {a: a}}}\nsubsystems:\n")
        links = "connections:\n"
        for i in range(n):
            text += (f"  m{i}: {{template: machine, parameters: {{P: {power[i]:.17g}}}, start: {{a: {10 * angle[i]:.17g}, w: 0.1}}}}\n")
            links += f"  - m{i}.a -> m{(i + 1) % n}.left\n  - m{(i + 1) % n}.a -> m{i}.right\n"
        point = self.point(text + links)
        if point is None:
            return None
        found = np.array([point[f"m{i}.a"] for i in range(n)])
        flow = 2 * np.sin(found - np.roll(found, -1))
        return max(np.abs(flow - np.roll(flow, 1) - power).max(), *(abs(point[f"m{i}.w"]) for i in range(n)))

    def test_thirty(self):
        found = 0
        for family, sizes in ((self.heat, range(3, 11)), (self.servo, range(2, 10)), (self.loop, range(3, 10)),
                              (self.ring, range(3, 10))):
            for n in sizes:
                with self.subTest(family=family.__name__, n=n):
                    error = family(n)
                    print(f"{family.__name__} of {n}: {'told' if error is None else f'{error:.1e}'}")
                    found += error is not None
                    self.assertTrue(error is None or error < 1e-6)
        self.assertGreaterEqual(found, 30)


if __name__ == "__main__":
    unittest.main()
