"""Concord: parallel implicit co-simulation.

>>> import concord
>>> r = concord.run("bouncing_ball.yaml", start_values={"ball.e": 0.9})
>>> r.status
'completed'
>>> r["time"][-1], len(r["ball.h"]) == len(r["time"])
(3.0, True)

`run` simulates a model, `read` opens a results file, `Simulation` goes step by step,
`ModelBuilder` describes a model whose subsystems are Python functions; `sweep` varies parameters,
`ensemble` does so in memory, `study` compares methods and steps, `linearize` gives matrices,
`steady` operating points, `gradient` derivatives of runs, `fit` parameters from data, `Function` a
run for optimisers; `plot` draws results, `report` makes a page of them, `compare` tells how far two are apart; `serve` has a class be a subsystem of a run elsewhere. Keyword arguments are the options of the command `concord run` without
their dash. Errors are `InputError`, where what was asked for is wrong, and `SimulationError`, where
the simulation failed.
"""
from ._comparison import Comparison, compare
from ._derivatives import Fit, Function, Gradient, fit, gradient
from ._ensemble import Ensemble, ensemble
from ._errors import ConcordError, InputError, RecoverableFailure, SimulationError
from ._linear import LinearSystem, linearize
from ._location import VERSION as __version__
from ._model import ModelBuilder
from ._plot import plot
from ._results import Event, Result, TextChange, read
from ._remote import serve
from ._report import report
from ._run import run
from ._simulation import Simulation, Snapshot
from ._steady import OperatingPoint, steady
from ._studies import Study, Sweep, SweepRun, study, sweep

__all__ = [
    "Comparison", "ConcordError", "Ensemble", "Event", "Fit", "Function", "Gradient", "InputError", "LinearSystem",
    "ModelBuilder", "OperatingPoint", "RecoverableFailure", "Result", "Simulation", "SimulationError",
    "Snapshot", "Study", "Sweep", "SweepRun", "TextChange", "__version__", "compare", "ensemble", "fit",
    "gradient", "linearize", "plot", "read", "report", "run", "serve", "steady", "study", "sweep",
]

for _thing in (Comparison, ConcordError, Ensemble, Event, Fit, Function, Gradient, InputError, LinearSystem,
               ModelBuilder, OperatingPoint, RecoverableFailure, Result, Simulation, SimulationError,
               Snapshot, Study, Sweep, SweepRun, TextChange, compare, ensemble, fit, gradient, linearize, plot, read, report,
               run, serve, steady, study, sweep):
    _thing.__module__ = __name__  # as they are named by those who use them
del _thing
