"""Every method on a random network in units of one and in random units, against collocation."""
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from collocation import NoSolution, reference
from concord_runs import Results, execute
from generator import LARGEST_VALUE, Network

METHODS = {
    "jfm": "-cosim_type jfm",
    "missiles": "-cosim_type missiles",
    "jfm6": "-cosim_type jfm6",
    "missiles6": "-cosim_type missiles6",
    "ifosmondi": "-cosim_type ifosmondi",
    "kuebler_schiehlen": "-cosim_type kuebler_schiehlen",
    "jacobi": "-cosim_type jacobi",
    "gauss_seidel": "-cosim_type gauss_seidel",
    "hierarchical": "-cosim_type hierarchical",
    "extripol": "-cosim_type extripol",
    "jfm, anderson": "-cosim_type jfm -snes_type anderson",
    "jfm, no linearization": "-cosim_type jfm -subsystem_linearization false",
    "jfm, erk": "-cosim_type jfm -subsystem_integrator erk",
    "jfm, cvode_bdf": "-cosim_type jfm -subsystem_integrator cvode_bdf",
    "monolithic": "-cosim_type monolithic",
}
STEP = 0.01
WORSE = 10.0     # the error in other units may be so many times that in units of one
FLOOR = 1e-9     # ... or this, of each output's range
DIVERGED = 0.5   # an error that no run may end with in silence, whatever the method's order
SURE = 1e-10     # references that are less sure than this are not used


@dataclass
class Outcome:
    """Error of the worst output, or the exit code and the reason of a refusal."""
    code: int
    error: float = np.nan
    output: str = ""
    reason: str = ""


@dataclass
class Verdict:
    seed: int
    method: str
    of_one: Outcome
    scaled: Outcome

    @property
    def kind(self):
        one, scaled = self.of_one, self.scaled
        if {one.code, scaled.code} - {0, 1, 2}:
            return "crash or hang"
        if scaled.code and one.code:
            return "refused in both"
        if scaled.code:
            return "refused in units"
        if not scaled.error < DIVERGED or (not one.code and not one.error < DIVERGED):
            return "diverged in silence"
        if one.code:
            return "refused in ones"
        return "agreed" if scaled.error <= max(WORSE * one.error, FLOOR) else "worse in units"


KINDS = ("agreed", "refused in both", "refused in units", "refused in ones", "worse in units",
         "diverged in silence", "crash or hang")
BAD = ("worse in units", "diverged in silence", "crash or hang")


class Problem:
    """A network whose solution is known, or NoSolution."""

    def __init__(self, seed, known=None):
        """`known`: a folder where solutions are kept, so that another program needs none anew."""
        self.network = Network(seed)
        self.grid = np.linspace(0, self.network.stop, round(self.network.stop / STEP) + 1)
        self.units = self.network.units()
        kept = Path(known) / f"{seed}.npz" if known else None
        if kept and kept.exists():
            self.exact = dict(np.load(kept))
        else:
            self.exact = self._solution()
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                np.savez(kept, **self.exact)
        if not self.exact:
            raise NoSolution("not sure")

    def _solution(self):
        """Outputs by name; none where the solution isn't sure."""
        fastest = max(getattr(part, "fast", 0.0) for part in self.network.parts)
        try:
            with np.errstate(all="ignore"):
                exact, doubt = reference(self.network.model(), self.grid, fastest)
        except (NoSolution, FloatingPointError):
            return {}
        largest = max(np.abs(values).max() for values in exact.values())
        return exact if doubt < SURE and largest < LARGEST_VALUE else {}

    def write(self, folder):
        """Paths of the two models."""
        paths = []
        for name, model in (("one", self.network.model()),
                            ("scaled", self.network.model(self.units))):
            paths.append(Path(folder) / f"{name}_{self.network.seed}.yaml")
            paths[-1].write_text(model.yaml(), encoding="utf-8")
        return paths

    def error(self, results, scaled):
        """(error of the worst output relative to its range, its name)."""
        worst = (0.0, "")
        for name, exact in self.exact.items():
            factor = self.units.size[name] if scaled else 1.0
            size = np.abs(exact).max() or 1.0
            with np.errstate(all="ignore"):
                error = np.max(np.abs(results.outputs[name] / factor - exact)) / size
            if not error <= worst[0]:
                worst = (error, name)
        return worst

    def outcome(self, path, method, scaled, extra=()):
        step = STEP * (self.units.time if scaled else 1.0)
        results = path.with_suffix(".h5")
        try:
            run = execute("run", path, *METHODS[method].split(), "-cosim_step", repr(step),
                          "-cosim_output", results, *extra)
        except Exception as error:  # pylint: disable=broad-except
            return Outcome(99, reason=f"{type(error).__name__}")
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.startswith("concord: error:")]
            return Outcome(run.returncode, reason=(lines or run.stderr.splitlines() or ["?"])[0])
        return Outcome(0, *self.error(Results(results, run), scaled))

    def verdicts(self, methods, extra=()):
        with tempfile.TemporaryDirectory() as folder:
            one, scaled = self.write(folder)
            for method in methods:
                yield Verdict(self.network.seed, method, self.outcome(one, method, False, extra),
                              self.outcome(scaled, method, True, extra))


def problems(count, first=0):
    """The first `count` networks from seed `first` on whose solution is sure."""
    seed = first
    while count:
        try:
            yield Problem(seed)
            count -= 1
        except NoSolution:
            pass
        seed += 1


def pattern(reason):
    """A reason without names and figures, so that equal ones can be counted."""
    text = re.sub(r"^concord: error: ", "", reason)
    text = re.sub(r"\S*/(one|scaled)_\d+\.yaml:\d*:? ?", "", text)
    text = re.sub(r" Methods that can run this model: .*", "", text)
    text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"\b(s\d|c[ab]|lambda_)\b(\.\w+)?", "...", text)
    text = re.sub(r"(?<![\w.])-?(\d[\d.]*|\.\d+)(e[-+]?\d+)?", "#", text)
    return re.sub(r"\.\.\.((, | -> | and )\.\.\.)+", "...", text).strip()
