#!/usr/bin/python3
"""Model files with mistakes: exit code 2, one error with place, value and remedy, no results."""
from harness import PAIR, case, changed, main

BOTH = (1, 3)


def refused(name, text, *says, ranks=(1,), options=()):
    """Registers a case: the model `text` (bytes, str or None for no file) is refused."""
    def run(bench):
        if text is not None:
            bench.write("model.yaml", text)
        bench.refuses("run", "model.yaml", *options, says=says, ranks=ranks)
    run.__name__ = name
    case(run)


refused("no_file", None, "model.yaml: there is no such file", "give the path", ranks=BOTH)
refused("empty_file", "", "model.yaml:1: the model file is empty", ranks=BOTH)
refused("broken_yaml", changed(("{x: f - k*x}", "{x: f - k*x")), "model.yaml:", "not valid YAML",
        ranks=BOTH)
refused("tabs_for_indentation", "name: x\nexperiment:\n\tstop: 1\n", "model.yaml:3", "spaces")
refused("binary_file", bytes(range(256)) * 16, "model.yaml:1: byte 0x0 is not UTF-8", ranks=BOTH)
refused("latin_1_file", PAIR.encode() + b"# \xe4\n", "model.yaml:22: byte 0xe4 is not UTF-8")
for chain, says in {"0 < t < 0.5": "'a < b && b < c'", "1 >= k > x": "'a >= b && b > c'",
                    "x == 1 == 1": "'a == b && b == c'", "(t < 1) + (0 < -t*2 < 1)": "a < b"}.items():
    refused("chain_of_comparisons_" + chain.replace(" ", ""), changed(("f - k*x", chain)),
            "model.yaml:", "a chain of comparisons is no interval", says)
for unit in ("rad/s", "rpm", "deg/s"):
    refused("periods_and_angles_" + unit.replace("/", "_"), changed(
        ("units: {x: m, f: N}", "units: {x: m, f: " + unit + "}"),
        ("units: {x: m, f: N}", "units: {x: m, f: Hz}")), "right.f [Hz] -> left.f [" + unit + "]",
            "differ by 2 pi", "rev/s")
refused("a_list", "- 1\n- 2\n", "model.yaml:1:", "must be a map", "a list")
refused("two_documents", PAIR + "---\n" + PAIR, "a second YAML document")
refused("nests_deeply", "name: " + "[" * 100000, "model.yaml:1:")
refused("alias_of_itself", changed(("parameters: {k: 2}", "parameters: &p {k: *p}")),
        "model.yaml:6: parameter 'k'", "must be a finite number", "a map")
refused("unknown_key", changed(("outputs:", "ouputs:")), "model.yaml:10: unknown key 'ouputs'",
        "did you mean 'outputs'?", ranks=BOTH)
refused("key_twice", changed(("      outputs:", "      states: {z: 1}\n      outputs:")),
        "model.yaml:10: 'states' is there twice")
refused("name_of_two_lines", changed(("name: pair", r'name: "a\nb\0"')), "model.yaml:1:", "one line",
        "'a b '")
refused("no_experiment", changed(("experiment: {start: 0, stop: 1}\n", "")),
        "model.yaml:1: the model file lacks 'experiment'", "add experiment")
refused("no_stop", changed((", stop: 1", "")), "model.yaml:2:", "lacks 'stop'")
refused("stop_before_start", changed(("start: 0, stop: 1", "start: 2, stop: 1")),
        "model.yaml:2: ", "stop time 1 s", "start time 2 s", "another stop", ranks=BOTH)
refused("stop_is_start", changed(("start: 0", "start: 1")), "model.yaml:2: ", "stop time 1 s")
refused("stop_is_text", changed(("stop: 1", "stop: soon")), "model.yaml:2: ", "'soon'")
refused("stop_is_nan", changed(("stop: 1", "stop: .nan")), "model.yaml:2: ", "'.nan'")
refused("stop_is_infinite", changed(("stop: 1", "stop: 1e999")), "model.yaml:2: ", "'1e999'")
refused("experiment_too_long", changed(("start: 0, stop: 1", "start: -1e308, stop: 1e308")),
        "model.yaml:2: ", "-1e+308")
refused("stop_too_near_start", changed(("start: 0, stop: 1", "start: 1, stop: 1.0000000000000002")),
        "model.yaml:2: ", "too near", ranks=BOTH)
refused("no_subsystems", PAIR[:PAIR.index("subsystems")], "lacks 'subsystems'")
refused("zero_subsystems", PAIR[:PAIR.index("subsystems")] + "subsystems: {}\n",
        "model.yaml:3:", "at least one subsystem")
refused("subsystem_of_no_kind", changed(("  left:\n    equations:", "  left:\n    sums:")),
        "model.yaml:5: unknown key 'sums'")
refused("subsystem_of_two_kinds", changed(("  right:\n", "  right:\n    native: {type: x}\n")),
        "model.yaml:13:", "exactly one of", "equations and native")
refused("library_is_missing", changed(("  right:", "  extra:\n    native: {library: a.so, type: b}\n"
                                       "  right:")), "model.yaml:13:", "a.so", ranks=BOTH)
refused("name_begins_with_digit", changed(("  left:", "  1st:")), "model.yaml:4:", "'1st'",
        "is not a name")
refused("name_is_empty", changed(("  left:", '  "":')), "model.yaml:4:", "is not a name")
refused("name_is_reserved", changed(("{k: 2}", "{sin: 2}"), ("k*x", "sin*x")), "model.yaml:6:",
        "'sin'", "choose another name")
refused("connection_to_unknown_subsystem", changed(("right.f ->", "rihgt.f ->")),
        "model.yaml:20:", "'rihgt'", "did you mean 'right'?", ranks=BOTH)
refused("connection_to_unknown_input", changed(("-> left.f", "-> left.g")),
        "model.yaml:20:", "'left' has no input 'g'", "'f'", ranks=BOTH)
refused("connection_from_unknown_output", changed(("left.x ->", "left.position ->")),
        "model.yaml:21:", "'left' has no output 'position'", "known: x")
refused("connection_without_arrow", changed(("right.f -> left.f", "right.f to left.f")),
        "model.yaml:20:", "'right.f to left.f'", "subsystem.output -> subsystem.input")
refused("connection_the_other_way", changed(("right.f -> left.f", "left.f -> right.f")),
        "model.yaml:20:", "'left' has no output 'f'; it is an input: arrows lead from outputs to inputs")
refused("input_fed_twice", PAIR + "  - left.x -> left.f\n", "model.yaml:22:", "'left.f'",
        "fed twice", "'right.f'", "keep one", ranks=BOTH)
refused("input_fed_by_nothing", changed(("inputs: {f: 0}", "inputs: {f: , g: }")),
        "model.yaml:4:", "'left.g'", "fed by nothing", "start value", ranks=BOTH)
refused("state_without_derivative", changed(("{x: 1}", "{x: 1, y: 2}")),
        "model.yaml:8:", "state 'y' has no derivative", "add 'y: <expression>'", ranks=BOTH)
refused("derivative_without_state", changed(("{x: f - k*x}", "{x: f - k*x, y: 1}")),
        "model.yaml:9:", "derivative of 'y', which is not a state")
refused("unknown_symbol", changed(("f - k*x", "f - k*z")),
        "model.yaml:9:", "'left'", "'z'", ranks=BOTH)
refused("unknown_function", changed(("f - k*x", "sine(f)")), "model.yaml:9:", "'sine'")
refused("expression_incomplete", changed(("f - k*x", "f - ")), "model.yaml:9:", "'f -'")
refused("expression_with_open_bracket", changed(("f - k*x", "(f - k*x")), "model.yaml:9:")
refused("expression_nests_deeply", changed(("f - k*x", "(" * 200000 + "x" + ")" * 200000)),
        "model.yaml:9:", "'left'")
refused("expression_assigns", changed(("f - k*x", "x = 3")), "model.yaml:9:")
refused("expression_is_a_map", changed(("{x: f - k*x}", "{x: {y: 1}}")), "model.yaml:9:", "a map")
refused("parameter_is_text", changed(("{k: 2}", "{k: two}")), "model.yaml:6:", "'two'")
refused("parameter_unknown", changed(("  left:\n", "  left:\n    parameters: {m: 1}\n")),
        "model.yaml:5:", "no parameter 'm'", "known names: k")
refused("units_do_not_match", changed(("- left.x -> right.x", "- left.x -> right.x"),
                                      ("units: {x: m, f: N}", "units: {x: K, f: N}")),
        "model.yaml:21:", "left.x [K] -> right.x [m]", "don't match", ranks=BOTH)
refused("unknown_unit", changed(("{x: m, f: N}", "{x: furlogns, f: N}")),
        "model.yaml:21:", "unknown unit 'furlogns'", "correct it")
refused("unit_of_unknown_name", changed(("{x: m, f: N}", "{x: m, z: N}")), "model.yaml:11:", "'z'")


@case
def a_folder_as_model(bench):
    """`concord run .`"""
    (bench.folder / "model.yaml").mkdir()
    bench.refuses("run", "model.yaml", says=["model.yaml: this is a folder", "give the path"],
                  ranks=BOTH)


@case
def a_device_as_model(bench):
    """A file that never ends must not be read."""
    bench.refuses("run", "/dev/zero", says=["/dev/zero: this is not a regular file"])


@case
def check_refuses_the_same(bench):
    """`concord check` finds what `concord run` would refuse."""
    bench.write("model.yaml", changed(("right.f ->", "rihgt.f ->")))
    bench.refuses("check", "model.yaml", says=["model.yaml:20:", "'rihgt'"], ranks=BOTH)

# --- schedule and events ---
refused("schedule_names_nobody", PAIR + "schedule: {groups: [[left, rigth]]}\n", "model.yaml:22:",
        "'rigth'", "did you mean 'right'?", ranks=BOTH)
refused("schedule_names_one_twice", PAIR + "schedule: {groups: [[left, right], [left]]}\n",
        "model.yaml:22:", "'left'", "twice")
refused("schedule_leaves_one_out", PAIR + "schedule: {groups: [[left]]}\n", "model.yaml:22:",
        "'right'", "in no group")
refused("schedule_without_groups", PAIR + "schedule: {}\n", "model.yaml:22:", "lacks 'groups'")
refused("schedule_with_no_group", PAIR + "schedule: {groups: []}\n", "model.yaml:22:",
        "at least one group")
refused("schedule_with_empty_group", PAIR + "schedule: {groups: [[left, right], []]}\n",
        "model.yaml:22:", "at least one subsystem")
refused("effort_is_negative", changed(("  left:\n", "  left:\n    effort: -1\n")), "model.yaml:5:",
        "greater than zero")
refused("effort_of_one_only", changed(("  left:\n", "  left:\n    effort: 1\n")), "'right'",
        "no 'effort'", "to all or to none", options=("-cosim_type", "hierarchical"), ranks=BOTH)
refused("event_is_text", PAIR + "events: [soon]\n", "model.yaml:22:", "'soon'")
refused("event_is_no_list", PAIR + "events: 1\n", "model.yaml:22:", "must be a list")

if __name__ == "__main__":
    main()
