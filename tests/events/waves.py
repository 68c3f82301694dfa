"""Integrals of steps and square waves: on and off the grid, > and >=, at the start, at the end."""
import math
import unittest

from concord_runs import ModelTest, simulate

STOP = 2.0
MODEL = """
name: waves
experiment: {{stop: {stop}}}
subsystems:
  source:
    equations:
      states: {{{states}}}
      derivatives: {{{derivatives}}}
      outputs: {{{outputs}}}
  sum:
    equations:
      inputs: {{{inputs}}}
      states: {{{sums}}}
      derivatives: {{{rates}}}
connections: [{wires}]
"""


def square(period, duty):
    """Integral of the wave that is 1 in the first part of each period, else 0."""
    whole, rest = divmod(STOP, period)
    return whole * duty * period + min(rest, duty * period)


# Constant between jumps: what feeds the sum is held, whatever the method.
WAVES = {
    "on_grid": ("t {op} 1 ? 1 : 0", 1.0),
    "off_grid": ("t {op} 0.7371 ? 1 : 0", STOP - 0.7371),
    "at_start": ("t {op} 0 ? 1 : 0", STOP),
    "at_end": ("t {op} 2 ? 1 : 0", 0.0),
    "before": ("if(1.3 {op} t, 2, 0.5)", 2 * 1.3 + 0.5 * 0.7),
    "pulse": ("(t {op} 0.5 && t < 1.25) ? 2 : 0", 1.5),
    "either": ("(t {op} 1.9 || t < 0.05) ? 1 : 0", 0.15),
    "sine": ("sin(5*pi*t + 0.3) {op} 0 ? 1 : 0",
             math.fsum(max(0.0, min(b, STOP) - max(a, 0.0)) for a, b in
                       (((2 * k * math.pi - 0.3) / (5 * math.pi),
                         ((2 * k + 1) * math.pi - 0.3) / (5 * math.pi)) for k in range(6)))),
    "remainder": ("mod(t, 0.3) {op} 0.1 ? 0 : 1", square(0.3, 1 / 3)),
    "steps": ("floor(t/0.3) + 0*(t {op} 5)", 0.3 * (1 + 2 + 3 + 4 + 5) + 0.2 * 6),
    "upper": ("ceil(t) + 0*(t {op} 5)", 3.0),
    "nearest": ("round(t) + 0*(t {op} 5)", 0.0 * 0.5 + 1.0 + 2.0 * 0.5),
    "side": ("sign(t - 0.4) + 0*(t {op} 5)", 1.2),
}


class Waves(ModelTest):
    def model(self, op):
        names = list(WAVES)
        texts = {name: WAVES[name][0].format(op=op) for name in names}
        return super().model(MODEL.format(
            stop=STOP,
            states=", ".join(f"own_{n}: 0" for n in names),
            derivatives=", ".join(f'own_{n}: "{texts[n]}"' for n in names),
            outputs=", ".join(f'{n}: "{texts[n]}"' for n in names),
            inputs=", ".join(f"{n}: 0" for n in names),
            sums=", ".join(f"sum_{n}: 0" for n in names),
            rates=", ".join(f"sum_{n}: {n}" for n in names),
            wires=", ".join(f"source.{n} -> sum.{n}" for n in names)))

    def check(self, *methods):
        for op in (">", ">="):
            model = self.model(op)
            for method in methods:
                for step in (0.1, 0.01):
                    run = simulate(model, *method.split(), "-cosim_step", step)
                    for name, (_, exact) in WAVES.items():
                        for state in (f"source.own_{name}", f"sum.sum_{name}"):
                            with self.subTest(op=op, method=method, step=step, state=state):
                                self.assertAlmostEqual(run.states[state][-1], exact, delta=1e-9)


class Explicit(Waves):
    def test_parallel(self):
        self.check("-cosim_type jacobi", "-cosim_type jacobi -cosim_hold extrapolate "
                   "-cosim_hold_order 2", "-cosim_type kuebler_schiehlen")

    def test_step_control(self):
        self.check("-cosim_type jacobi -cosim_adapt richardson -cosim_adapt_rtol 1e-5")


class Sequential(Waves):
    def test_sequential(self):
        self.check("-cosim_type gauss_seidel", "-cosim_type hierarchical", "-cosim_type extripol")


class Implicit(Waves):
    def test_implicit(self):
        self.check("-cosim_type jfm", "-cosim_type ifosmondi", "-cosim_type missiles",
                   "-cosim_type monolithic")

    def test_step_control(self):
        self.check("-cosim_type jfm -cosim_adapt predictor",
                   "-cosim_type missiles -cosim_adapt predictor",
                   "-cosim_type jfm -cosim_adapt iteration")


if __name__ == "__main__":
    unittest.main()
