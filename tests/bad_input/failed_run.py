#!/usr/bin/python3
"""Simulations that fail: exit code 1, one error that names subsystem, variable, value and time, and a
results file with status `failed` and the rows up to there."""
import os
from pathlib import Path

from harness import case, changed, main

BOTH = (1, 3)
LOOP = Path(__file__).resolve().parents[2] / "examples/algebraic_loop/algebraic_loop.yaml"

# A subsystem that fails on its own between others that don't; PARTS stands on the second of three
# ranks.
TRIO = """\
name: trio
experiment: {start: 0, stop: 2}
subsystems:
  first:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {y: x}
  second:
    equations:
      inputs: {u: 0}
      states: {x: 0.9}
      derivatives: {x: "DERIVATIVE"}
      outputs: {y: "OUTPUT"}
  third:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {y: x}
connections:
  - first.y -> second.u
  - second.y -> third.u
  - third.y -> first.u
"""


def trio(derivative="u - x", output="x"):
    """TRIO with the second subsystem's expressions."""
    return changed(("DERIVATIVE", derivative), ("OUTPUT", output), text=TRIO)


def failed(name, text, *says, until, options=(), ranks=BOTH):
    """Registers a case: the run fails, and the last row is at a time in the range `until`."""
    def run(bench):
        bench.write("model.yaml", text)
        for count in ranks:
            ended = bench.run("run", "model.yaml", "-cosim_step", "0.01", *options, ranks=count)
            ended.fails(1, *says)
            status, time = bench.record()
            ended.require(status == "failed", f"status {status}")
            last = time[-1] if len(time) else None
            ended.require(last is None if until is None else until[0] <= last <= until[1],
                          f"last row at {last}")
            (bench.folder / "model.h5").unlink()
            ended.require(not bench.results(), f"left behind: {bench.results()}")
    run.__name__ = name
    case(run)


for kind in ("auto", "erk", "dirk", "cvode_bdf", "cvode_adams"):
    failed(f"blow_up_with_{kind}", trio(derivative="x*x + 0*u"), "'second'", "t = 1.11",
           until=(1.1, 1.12), options=["-subsystem_integrator", kind],
           ranks=BOTH if kind == "auto" else (1,))
for method in ("ifosmondi", "jacobi", "kuebler_schiehlen", "monolithic"):
    failed(f"blow_up_with_{method}", trio(derivative="x*x + 0*u"), "t = 1.11", until=(1.1, 1.12),
           options=["-cosim_type", method])
failed("blow_up_with_small_steps", trio(derivative="x*x + 0*u"), "'second'", until=(1.1, 1.12),
       options=["-cosim_adapt", "iteration"])
failed("division_by_zero_in_derivative", trio(derivative="1/(x - x) + u"), "'second'",
       "derivative of state 'x' is inf", "t = 0", until=None)
failed("division_by_zero_in_derivative_later", trio(derivative="t < 0.5 ? -1 : 1/(t - t)"),
       "'second'", "derivative of state 'x' is inf", "t = 0.5", until=(0.45, 0.5))
failed("division_by_zero_in_output", trio(output="t < 0.5 ? x : 1/(t - t)"), "'second'",
       "output 'y' is inf", "t = 0.5", until=(0.45, 0.5))
failed("root_of_negative_number", trio(output="sqrt(0.5 - t)"), "'second'", "output 'y' is nan",
       until=(0.4, 0.5))
failed("root_of_negative_number_in_derivative", trio(derivative="sqrt(0.5 - t)"), "'second'",
       "derivative of state 'x' is nan", until=(0.4, 0.5))
failed("overflow", trio(output="exp(2000*t)"), "'second'", "output 'y' is inf", until=(0.3, 0.36),
       options=["-cosim_type", "jacobi", "-cosim_diverged", "warn"])
failed("output_not_finite_at_start", trio(output="x/t"), "'second'", "output 'y' is inf at t = 0",
       until=None)
failed("output_without_consequence", trio(output="x") .replace(
    "{y: x}\nconnections", "{y: x, z: log(0.5 - t)}\nconnections"), "'third'", "output 'z'",
       until=(0.4, 0.5))
failed("failure_without_connections", TRIO[:TRIO.index("connections")].replace(
    "DERIVATIVE", "x*x").replace("OUTPUT", "x"), "'second'", until=(1.1, 1.12))
failed("loop_without_solution", trio(output="u*u + 1").replace(
    "outputs: {y: x}", "outputs: {y: u}"), "algebraic loop", "second.y", "first.y", "third.y",
       "-loop_snes", until=None)
for method in ("jacobi", "monolithic"):
    failed(f"loop_without_solution_with_{method}", trio(output="u*u + 1").replace(
        "outputs: {y: x}", "outputs: {y: u}"), "algebraic loop", until=None,
           options=["-cosim_type", method])

FIXED_POINT = ("-cosim_type", "ifosmondi", "-cosim_step", "0.01")


def loop_fails(name, options, *says):
    """Registers a case: the fixed point on the algebraic loop of gain -2."""
    def run(bench):
        for count in BOTH:
            ended = bench.run("run", LOOP, *FIXED_POINT, *options, ranks=count)
            ended.fails(1, "fixed point", "DIVERGED", "algebraic loop", "-cosim_type jfm", *says)
            status, time = bench.record("algebraic_loop.h5")
            ended.require(status == "failed" and list(time) == [0.0], f"{status}, rows at {time}")
    run.__name__ = name
    case(run)


loop_fails("no_convergence", [], "t = 0 s, macro-step 0.01 s")
loop_fails("no_convergence_at_smallest_step",
           ["-cosim_adapt", "iteration", "-cosim_step_min", "0.001"],
           "smallest", "macro-step 0.001 s")


@case
def too_few_iterations(bench):
    """The message says what to change."""
    bench.write("model.yaml", trio(derivative="u*u - x"))
    bench.run("run", "model.yaml", "-cosim_predictor", "hold", "-cosim_max_it", "1", "-cosim_rtol",
              "1e-13", "-cosim_atol", "1e-13", "-cosim_step", "0.1").fails(
        1, "does not converge", "-cosim_max_it")
    status, time = bench.record()
    assert status == "failed" and len(time) >= 1


@case
def petsc_gives_up(bench):
    """Solvers that lack what they need: a failed run that says so, not a stack trace."""
    bench.write("model.yaml", trio(derivative="u*u - x"))
    for words in (["-snes_type", "shell"], ["-pc_type", "shell"], ["-snes_type", "nasm"]):
        for count in BOTH:
            bench.run("run", "model.yaml", "-cosim_predictor", "hold", *words,
                      ranks=count).fails(1, "PETSc", "-snes_", "-pc_")
            assert bench.record()[0] == "failed"


def native_fails(kind, *says):
    """Registers a case: C++ code of a user throws what it should not, on the second of two ranks."""
    def run(bench):
        library = os.environ["NATIVE_TEST_SUBSYSTEMS"]
        cart = f"  cart:\n    native: {{library: {library}, type: {kind}}}\nconnections:\n"
        bench.write("model.yaml", TRIO[:TRIO.index("  second:")] + cart +
                    "  - cart.x -> first.u\n  - first.y -> cart.force\n")
        for method in ("jfm", "missiles", "jacobi", "monolithic"):
            for count in (1, 2):
                ended = bench.run("run", "model.yaml", "-cosim_type", method, ranks=count)
                ended.fails(1, *says)
                status, time = bench.record()
                ended.require(status == "failed" and 0.49 < time[-1] <= 0.5, f"{status}, {time}")
    run.__name__ = kind
    case(run)


native_fails("throws_late", "no entry 17 in the table")
native_fails("throws_number_late", "an exception that is not a std::exception")


if __name__ == "__main__":
    main()
