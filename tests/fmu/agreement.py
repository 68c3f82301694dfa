"""Model exchange and co-simulation of the same FMU, 1.0, 2.0 and 3.0, under every method: the FMUs are
strict (source/model.h), and what the interfaces make of a network is the same."""
import unittest

import fmu_factory
import numpy as np
from concord_runs import Results, in_short, run_here, write_model
from fmu_runs import FmuTest

METHODS = ("jfm", "missiles", "ifosmondi", "jacobi", "gauss_seidel", "hierarchical", "extripol",
           "kuebler_schiehlen", "monolithic")
SOLVING = ("jfm", "missiles", "ifosmondi", "monolithic")
CLOSE_TO_JUMPS = 0.02  # share of the points: an event of co-simulation may come one substep later

# Fed by the FMU's output y, feeds u back; a staircase of whole numbers, and a switch.
WAVE = """
  wave:
    equations:
      inputs: {{y: 0}}
      states: {{z: 0}}
      derivatives: {{z: y - z}}
      outputs: {{u: {u}}}
"""
STEPS = """
  steps:
    equations:
      inputs: {}
      states: {}
      derivatives: {}
      outputs: {whole: floor(4*t) + 1, switch: "t >= 0.5 ? 0 : 1", half: 0.5*floor(4*t)}
"""
CAPABLE = dict(capabilities=("state", "variable", "interpolate", "slopes", "directional"))
BARE = dict(capabilities=("state", "variable"))
EVENTS = dict(capabilities=("state", "variable", "event_mode"))
OLD = dict(capabilities=("variable", "interpolate", "slopes"))
WAYS = (("me", 2, CAPABLE), ("me", 3, BARE), ("cs", 2, CAPABLE), ("cs", 2, BARE), ("cs", 3, CAPABLE),
        ("cs", 3, EVENTS), ("me", 1, OLD), ("cs", 1, OLD))


def between_events(times, *all_results):
    """At the instants, who tells of events has right limits, and others, held inputs of before."""
    events = np.concatenate([[-1.0], *(each.event_times for each in all_results)])
    return times[np.min(np.abs(times[:, None] - events), axis=1) > 1e-9]


def wave(u):
    return WAVE.format(u=u)


# Parts beside the FMU, connections, what is compared, and how closely: co-simulation has substeps
# of 2e-4 of its own, where it finds events.
CASES = {
    "left": (wave("2e4*(1 + sin(3*t)) + 10*z"), "left.x -> wave.y, wave.u -> left.f", 1e-4),
    "right": (wave("1 + sin(3*t)/2 + z/100"), "right.x -> wave.y, wave.u -> right.x_left", 1e-4),
    "prey": (wave("1 + sin(3*t)/2 + z/10"), "prey.amount -> wave.y, wave.u -> prey.predators", 1e-4),
    "ball": (wave("sin(3*t) + z/10"), "ball.h -> wave.y, wave.u -> ball.push", 4e-3),
    "ticker": (wave("0"), "ticker.count -> wave.y", 1e-4),
    "stair": (STEPS, "steps.whole -> stair.gain, steps.switch -> stair.on, "
              "steps.half -> stair.offset", 1e-4),
    "mixed": (wave("1 + sin(3*t) + z/10") + STEPS,
              "mixed.y -> wave.y, wave.u -> mixed.u, steps.whole -> mixed.n, "
              "steps.switch -> mixed.on, steps.half -> mixed.d", 1e-4),
    "arrays": (wave("1 + sin(3*t) + z/10"), "arrays.sum -> wave.y, wave.u -> arrays.u[1], "
               "wave.u -> arrays.u[3]", 1e-4),
    "single": (wave("1 + sin(3*t) + z/10"), "single.exact -> wave.y, wave.u -> single.u", 1e-4),
    "jumper": (wave("2 + sin(3*t) + z/10"), "jumper.y -> wave.y, wave.u -> jumper.u", 1e-4),
}


class Agreement(FmuTest):
    def network(self, part, kind, version, how):
        """The model beside its FMU, which offers both interfaces, or the only one of FMI 1.0."""
        kinds = (kind,) if version == 1 else ("me", "cs")
        folder = self.folder / f"{version}-{len(kinds)}-{kinds[0]}-{len(how['capabilities'])}"
        if not folder.exists():
            folder.mkdir()
            fmu_factory.build(folder, part, version, kinds=kinds, **how)
        parts, wires, _ = CASES[part]
        return write_model(folder, part, f"experiment: {{start: 0, stop: 1}}\nsubsystems:\n"
                           f"  {part}: {{fmu: {part}.fmu}}{parts}connections:\n"
                           + "".join(f"  - {wire.strip()}\n" for wire in wires.split(",")))

    def outcome(self, part, method, kind, version, how):
        """The results, or why the method cannot be used here."""
        path = self.folder / "out.h5"
        run = run_here(self.network(part, kind, version, how), "-cosim_type", method,
                      "-cosim_step", "1e-2" if method in SOLVING else "1e-3",
                      "-subsystem_fmu_interface", kind, "-cosim_output", path)
        case = (part, method, kind, version, how["capabilities"])
        self.assertNotIn("STRICT", run.stderr, case)
        if run.returncode == 2:
            return run.stderr
        self.assertEqual(run.returncode, 0, (case, run.stderr))
        return Results(path, run)

    def compare(self, part, method, found):
        names = [n for n in found[0][1].outputs.names if n.startswith(part + ".")]
        how, reference = found[0]
        for other, results in found[1:]:
            grid = between_events(results.time, reference, results)
            for name in names:
                a, b = (np.interp(grid, each.time, each.outputs[name])
                        for each in (reference, results))
                away = np.abs(a - b)
                off = np.mean(away > CASES[part][2] * max(1.0, np.ptp(a)))
                self.assertLessEqual(off, CLOSE_TO_JUMPS,
                                     (part, method, name, how, other, np.max(away)))

    def check(self, part, method):
        found = []
        for kind, version, how in WAYS:
            result = self.outcome(part, method, kind, version, how)
            if isinstance(result, str):
                print(part, method, kind, version, how["capabilities"], result.strip()[:150])
            else:
                found.append(((kind, version, how["capabilities"]), result))
        if found:
            self.compare(part, method, found)


def of(part):
    return type(part.capitalize(), (Agreement,), {
        f"test_{method}": lambda self, method=method: self.check(part, method)
        for method in in_short(METHODS[list(CASES).index(part) % 3:], 3)})


for name in CASES:
    globals()[name.capitalize()] = of(name)
del Agreement

if __name__ == "__main__":
    unittest.main()
