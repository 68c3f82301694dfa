#!/usr/bin/python3
"""Models that are unusual and right: they must run."""
import itertools

import h5py
import numpy as np
from concord_runs import in_short
from harness import PAIR, case, changed, main

BOTH = (1, 3)
METHODS = ("jfm", "missiles", "ifosmondi", "kuebler_schiehlen", "jacobi", "monolithic")
MODELS = itertools.count()

HEAD = "name: unusual\nexperiment: {start: 0, stop: 1}\nsubsystems:\n"


def runs(name, text, *options, ranks=(1,), steps=None, methods=("jfm",), check=None):
    """Registers a case: the model runs to its end with each method; `check` looks at the record. In short one method
    of three and one number of ranks, which change from model to model."""
    number = next(MODELS)

    def run(bench):
        bench.write("model.yaml", text)
        bench.run("check", "model.yaml").succeeds()
        same_size = () if steps is None else ("-cosim_adapt", "none")
        for method in in_short(methods, 3, number):
            for count in in_short(ranks, 2, number // 3):
                words = ("model.yaml", "-cosim_type", method, *same_size, *options)
                ended = (bench.run("run", *words) if count == 1 else bench.run_kept(*words, ranks=count)).succeeds()
                status, time = bench.record()
                ended.require(status in ("completed", "inaccurate"), f"status {status}")
                ended.require(steps is None or len(time) == steps + 1, f"{len(time)} rows")
                if check is not None:
                    with h5py.File(bench.folder / "model.h5", "r") as file:
                        check(file)
    run.__name__ = name
    case(run)


def subsystem(name, **parts):
    """YAML of a subsystem of equations."""
    lines = "".join(f"      {key}: {value}\n" for key, value in parts.items())
    return f"  {name}:\n    equations:\n{lines}"


def connected(*connections):
    """YAML of the connections."""
    return "connections:\n" + "".join(f"  - {line}\n" for line in connections)


CLOCK = subsystem("clock", outputs="{y: sin(t)}")
DECAY = subsystem("decay", states="{x: 1}", derivatives="{x: -x}", outputs="{y: x}")


def final(name, value, tolerance=1e-5):
    """A check: the output at the end."""
    def check(file):
        column = [n.decode() for n in file["outputs/names"][:]].index(name)
        found = file["outputs/values"][-1, column]
        assert abs(found - value) <= tolerance, f"{name} ends at {found} instead of {value}"
    return check


runs("one_subsystem", HEAD + DECAY, methods=METHODS, check=final("decay.y", np.exp(-1)))
runs("no_connections", HEAD + DECAY + CLOCK, ranks=BOTH, methods=METHODS, check=final("clock.y", np.sin(1)))
runs("empty_connections", HEAD + DECAY + "connections:\n")
runs("subsystem_of_nothing", HEAD + "  nothing:\n    equations: {}\n" + DECAY, methods=METHODS)
runs("only_nothing", HEAD + "  nothing:\n    equations: {}\n", ranks=BOTH, methods=METHODS)
runs("no_states", HEAD + CLOCK + subsystem("double", inputs="{u: 0}", outputs="{y: 2*u}") +
     connected("clock.y -> double.u"), ranks=BOTH, methods=METHODS)
runs("no_outputs", HEAD + CLOCK + subsystem("sink", inputs="{u: 0}", states="{x: 0}",
                                            derivatives="{x: u}") + connected("clock.y -> sink.u"),
     methods=METHODS)
runs("no_inputs", HEAD + DECAY + DECAY.replace("decay", "other"), methods=METHODS)
runs("self_connection", HEAD + subsystem("self", inputs="{u: 0}", states="{x: 1}",
                                         derivatives="{x: -u}", outputs="{y: x}") +
     connected("self.y -> self.u"), methods=("jfm", "ifosmondi", "monolithic"),
     check=final("self.y", np.exp(-1)))
runs("self_connection_with_loop", HEAD + subsystem("self", inputs="{u: 0}", outputs="{y: 2 - 3*u}")
     + connected("self.y -> self.u"), ranks=BOTH, methods=("jfm", "monolithic"), check=final("self.y", 0.5))
runs("one_output_to_many_inputs", HEAD + CLOCK + "".join(
    subsystem(f"s{i}", inputs="{u: 0, w: 0}", states="{x: 0}", derivatives="{x: u + w - x}",
              outputs="{y: x}") for i in range(40)) + connected(
    *(f"clock.y -> s{i}.{u}" for i in range(40) for u in "uw")))
runs("capitals_and_underscores", HEAD + subsystem("_A", states="{X_: 1, x_: 2}",
                                                  derivatives="{X_: -x_, x_: X_}",
                                                  outputs="{_1: X_}"), "-subsystem__A_rtol", "1e-6")
runs("name_inside_a_name", HEAD + DECAY + DECAY.replace("decay", "decay_b"),
     "-subsystem_decay_b_rtol", "1e-6", "-subsystem_decay_atol", "1e-6")
runs("subsystem_named_like_an_option", HEAD + DECAY.replace("decay", "rtol"),
     "-subsystem_rtol_rtol", "1e-6", "-subsystem_rtol", "1e-5")
runs("long_names", HEAD + DECAY.replace("decay", "d" * 900).replace("{y:", "{" + "y" * 900 + ":"))
runs("name_of_a_model_with_everything", HEAD.replace("unusual", r'"ü \" / %s $HOME"') + DECAY)
runs("zeros", HEAD + DECAY.replace("{x: 1}", "{x: 0}"), ranks=BOTH, methods=METHODS)
runs("huge_numbers", changed(("{x: 1}", "{x: 1e150}"), ("{v: 0}", "{v: 1e150}")), methods=METHODS)
runs("tiny_numbers", changed(("{x: 1}", "{x: 1e-300}")), methods=METHODS)

# --- times ---
runs("step_larger_than_experiment", PAIR, "-cosim_step", "100", steps=1, ranks=BOTH,
     methods=tuple(method for method in METHODS if method != "jacobi"))
runs("step_does_not_divide", PAIR, "-cosim_step", "0.3", steps=4, methods=METHODS)
runs("experiment_of_a_nanosecond", changed(("stop: 1", "stop: 1e-9")), steps=1000, methods=METHODS)
runs("experiment_of_almost_nothing", changed(("stop: 1", "stop: 1e-50")), steps=1000)
runs("start_at_1e9", changed(("start: 0, stop: 1", "start: 1e9, stop: 1000000001")), steps=1000,
     methods=METHODS)
runs("start_near_resolution", changed(("start: 0, stop: 1", "start: 1e9, stop: 1000000000.0001")),
     methods=METHODS)
runs("negative_start", changed(("start: 0, stop: 1", "start: -3, stop: -1")), steps=1000,
     methods=METHODS)
runs("through_zero", changed(("start: 0, stop: 1", "start: -1, stop: 1")), steps=1000)
runs("very_long_experiment", changed(("stop: 1", "stop: 1e9")), "-cosim_step", "1e7", steps=100,
     methods=("missiles",))


@case
def step_larger_than_experiment_explicit(bench):
    """What is held for the whole experiment makes an error of half of a signal's range."""
    bench.write("model.yaml", PAIR)
    bench.run("run", "model.yaml", "-cosim_type", "jacobi", "-cosim_step",
              "100").fails(1, "diverged", "-cosim_step")


@case
def very_long_experiment_explicit(bench):
    """Held inputs at macro-steps of 1e7 times the model's own: unstable, and refused."""
    bench.write("model.yaml", changed(("stop: 1", "stop: 1e9")))
    bench.run("run", "model.yaml", "-cosim_type", "jacobi", "-cosim_step", "1e7",
              "-subsystem_integrator", "cvode_bdf").fails(1, "diverged", "-cosim_step")


# --- records ---
runs("record_nothing", PAIR, "-cosim_record", "none", steps=1000)
runs("record_more_steps_than_there_are", PAIR, "-cosim_record_every", "1000000", steps=1)


@case
def thousand_subsystems(bench):
    """A ring; its options are looked through quickly, too."""
    text = HEAD + "".join(
        subsystem(f"s{i}", inputs="{u: 0}", states="{x: 1}", derivatives="{x: u - x}",
                  outputs="{y: x}") for i in range(1000)) + connected(
        *(f"s{i}.y -> s{(i + 1) % 1000}.u" for i in range(1000)))
    bench.write("model.yaml", text)
    for count in BOTH:
        bench.run("run", "model.yaml", "-cosim_step", "0.1", "-subsystem_s999_rtol", "1e-6",
                  ranks=count).succeeds()
        assert bench.record()[0] == "completed"
    bench.run("run", "model.yaml", "-subsystem_s9999_rtol", "1").fails(2, "-subsystem_s999_rtol",
                                                                       "1000 in all")


@case
def more_ranks_than_subsystems(bench):
    """Ranks without subsystems take part in everything."""
    bench.write("model.yaml", PAIR)
    for method in in_short(METHODS, 3):
        bench.run_kept("model.yaml", "-cosim_type", method, "-cosim_step", "0.1", ranks=5).succeeds()
        assert bench.record()[0] == "completed"


@case
def many_runs_at_once(bench):
    """A parameter study without mpirun: runs must not disturb one another."""
    bench.write("model.yaml", PAIR)
    for _ in in_short(range(6), 3):
        running = [bench.start("check", "model.yaml") for _ in range(8)]
        for process in running:
            bench.end(process).succeeds()


@case
def output_goes_nowhere(bench):
    """Without stdout and stderr, nothing is written into the results instead."""
    bench.write("model.yaml", PAIR)
    import shlex  # pylint: disable=import-outside-toplevel
    import subprocess  # pylint: disable=import-outside-toplevel
    command = shlex.join(bench.command("run", "model.yaml", "-cosim_monitor"))
    code = subprocess.run(["sh", "-c", f"exec {command} <&- >&- 2>&-"], cwd=bench.folder,
                          check=False).returncode
    assert code == 0, f"exit code {code}"
    assert bench.record()[0] == "completed"


if __name__ == "__main__":
    main()
