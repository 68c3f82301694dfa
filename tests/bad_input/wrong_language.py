#!/usr/bin/python3
"""Each rule of the model's language broken once: exit code 2, one error with place and remedy."""
from harness import case, changed, main

MODEL = """\
experiment: {stop: T}
parameters: {T: 1, n: 3, g: 9.81}
templates:
  cell:
    equations:
      parameters: {k: 4}
      inputs: {left: 0}
      variables: {flow: k*gap, gap: left - x}
      states: {x: 0}
      derivatives: {x: flow}
      outputs: {x: x}
subsystems:
  source:
    equations:
      parameters: {drop: 0.5*g}
      states: {x: 1 + drop}
      derivatives: {x: -x}
      outputs: {x: x, now: time}
  cell:
    template: cell
    repeat: {i: [1, n]}
    parameters: {k: 10 + i}
  road:
    table: {file: road.csv, outputs: {z: height}, units: {z: m}}
  sum:
    equations: {inputs: {u: 0, w: 0}, outputs: {y: u + w}}
connections:
  - source.x -> cell[1].left
  - {connect: "cell[i].x -> cell[i+1].left", repeat: {i: [1, n - 1]}}
  - road.z -> sum.u
"""
ROAD = "t,height\n0,1\n1,2\n"


def refused(name, changes, *says, options=(), files=None, ranks=(1,)):
    """Registers a case: MODEL with `changes`, beside `files`, is refused."""
    def run(bench):
        bench.write("model.yaml", changed(*changes, text=MODEL))
        for file, content in {"road.csv": ROAD, **(files or {})}.items():
            bench.write(file, content)
        bench.refuses("run", "model.yaml", *options, says=says, ranks=ranks)
    run.__name__ = name
    case(run)


@case
def as_it_stands(bench):
    """Else nothing would be shown by what follows."""
    bench.write("model.yaml", MODEL)
    bench.write("road.csv", ROAD)
    bench.run("run", "model.yaml", "--set", "cell[*].k=3").succeeds()


# --- parameters of the model ---
refused("parameter_of_unknown_names", [("T: 1", "T: 2*tau")],
        "model.yaml:2: parameter 'T' must be a finite "
        "number or an expression of known names", "unknown name 'tau'", ranks=(1, 3))
refused("parameters_in_a_loop", [("T: 1, n: 3", "T: n, n: T")],
        "model.yaml:2: parameter 'T' needs itself, by way of T, n; give one of these a number")
refused("parameter_twice", [("T: 1,", "T: 1, T: 2,")], "model.yaml:2: 'T' is there twice")
refused("parameter_called_time", [("g: 9.81", "g: 9.81, time: 1")],
        "model.yaml:2: parameter 'time' clashes", "choose another name")
refused("parameter_called_as_a_function", [("g: 9.81", "g: 9.81, noEvent: 1")],
        "model.yaml:2: parameter 'noEvent' clashes", "choose another name")
refused("parameter_is_infinite", [("g: 9.81", "g: 1/0")], "model.yaml:2: parameter 'g'",
        "'1/0' is inf")

# --- expressions ---
refused("state_called_time", [("states: {x: 0}", "states: {x: 0, time: 0}")],
        "state 'time' clashes with the time", "choose another name")
refused("no_event_of_two", [("{x: -x}", "{x: 'noEvent(x, 1)'}")], "model.yaml:17: subsystem 'source'",
        "'noEvent' has too many arguments")
refused("time_is_no_function", [("{x: -x}", "{x: time(2)}")], "model.yaml:17:",
        "unknown function 'time'")
refused("start_value_of_a_state", [("1 + drop", "1 + x")],
        "model.yaml:16: state 'x' of subsystem 'source'",
        "unknown name 'x'")
refused("start_value_of_another_subsystem", [("1 + drop", "1 + k")], "model.yaml:16:",
        "unknown name 'k'")

# --- variables ---
refused("variables_in_a_loop", [("gap: left - x", "gap: left - flow")],
        "model.yaml:8: subsystem 'cell[1]': "
        "the variables flow -> gap -> flow use each other in a loop", "make one of them a state")
refused("variable_of_unknown_names", [("left - x}", "left - y}")], "model.yaml:8:", "variable 'gap'",
        "unknown name 'y'")
refused("variable_called_as_a_state", [("gap: left - x", "gap: left - x, x: 2")],
        "model.yaml:8:", "clashes with", "choose another name")
refused("variable_twice", [("gap: left - x", "gap: left - x, gap: 2")],
        "model.yaml:8: 'gap' is there twice")

# --- templates and repetitions ---
refused("template_unknown", [("template: cell", "template: cel")],
        "model.yaml:20: 'template' of subsystem "
        "'cell' names no template", "did you mean 'cell'?")
refused("template_of_a_template", [("  cell:\n    equations:",
        "  cell:\n    template: other\n    equations:")],
        "model.yaml:5: unknown key 'template' in template 'cell'")
refused("template_made_of_itself", [("  cell:\n    equations:",
        "  pair: {system: {subsystems: {one: {template: both}}}}\n"
        "  both: {system: {subsystems: {two: {template: pair}}}}\n  cell:\n    equations:"),
        ("  source:\n", "  made: {template: pair}\n  source:\n")],
        "model.yaml:4: 'system' of template 'pair' is a part of itself",
        "is made of the same template", ranks=(1, 3))
refused("variables_in_a_deep_chain", [("variables: {", "variables: {" + "".join(
        f"p{i}: p{i + 1}, " for i in range(50000)) + "p50000: x, ")],
        "model.yaml:8: subsystem 'cell[1]': the variables 'p0', 'p1' ...", "10000 levels deep")
refused("template_and_equations", [("    template: cell\n", "    template: cell\n    equations: {}\n")],
        "model.yaml:20: subsystem 'cell' needs exactly one of", "equations and template")
refused("template_has_no_such_parameter", [("{k: 10 + i}", "{kk: 10 + i}")],
        "model.yaml:22: subsystem 'cell[1]' has no parameter 'kk'", "known names: k")
refused("repeat_has_two_indices", [("[1, n]}\n    par", "[1, n], j: [1, 2]}\n    par")],
        "model.yaml:21: 'repeat' of subsystem 'cell' must name one index")
refused("repeat_is_no_range", [("[1, n]}\n    par", "[1, n, 2]}\n    par")],
        "model.yaml:21: index 'i' must be a range [first, last]")
refused("repeat_has_half_an_end", [("[1, n]}\n    par", "[1, n/2]}\n    par")],
        "model.yaml:21: end of the range must be a whole number, not 1.5")
refused("repeat_ends_before_it_begins", [("[1, n]}\n    par", "[n, 1]}\n    par")],
        "model.yaml:21: index 'i' must not end before it begins")
refused("repeat_over_the_time", [("{i: [1, n]}\n    par", "{t: [1, n]}\n    par"), ("10 + i", "10")],
        "model.yaml:21: index 't' clashes")

# --- connections ---
refused("index_is_not_whole", [("cell[i+1]", "cell[i/2]")], "model.yaml:29: the index 'i/2' is 0.5")
refused("index_is_unknown", [("cell[i+1]", "cell[j]")], "model.yaml:29: unknown name 'j'")
refused("bracket_is_open", [("cell[i+1]", "cell[i+1")], "model.yaml:29: '[' without ']'")
refused("repeated_subsystem_is_not_there", [("[1, n - 1]", "[1, n]")], "model.yaml:29:", "'cell[4]'",
        "did you mean 'cell[1]'?")
refused("input_is_fed_twice", [("cell[1].left", "cell[2].left")], "model.yaml:29:", "'cell[2].left'")
refused("key_of_a_connection", [("{connect:", "{delai: 1, connect:")],
        "model.yaml:29: unknown key 'delai'")
refused("whole_array_of_none", [("road.z -> sum.u", "road.z[:] -> cell[:].left")],
        "model.yaml:30: 'road.z[:]' stands for no output", "known outputs: road.z")
refused("whole_array_to_one", [("road.z -> sum.u", "cell[:].x -> sum.u")], "model.yaml:30:",
        "connects the whole array 'cell[:].x' with one variable, 'sum.u'")
refused("whole_arrays_of_two_sizes", [("{connect:",
        "{connect: 'cell[:].x -> sum[:].u'}\n  - {connect:"),
                                      ("  sum:", "  sum:\n    repeat: {i: [1, 2]}"),
                                      ("road.z -> sum.u", "road.z -> sum[1].w")],
        "model.yaml:30: 'cell[:].x' has 3 elements, but 'sum[:].u' has 2")

# --- tables ---
for label, line, says in (
        ("without_file", "{outputs: {z: height}}",
         "'table' of subsystem 'road' lacks 'file'; add file:"),
        ("of_no_file", "{file: rood.csv}",
         "model.yaml:24: 'file' of 'table' of subsystem 'road' is not there: 'rood.csv'"),
        ("of_unknown_column", "{file: road.csv, outputs: {z: high}}",
         "names no column of the table: 'high'"),
        ("of_unknown_time", "{file: road.csv, time_column: s}", "has no column 's' for the time"),
        ("of_unknown_interpolation", "{file: road.csv, interpolation: spline}",
         "one of linear, cubic, step"),
        ("of_unknown_end", "{file: road.csv, after: stop}", "one of hold, linear, repeat, error"),
        ("of_unknown_unit", "{file: road.csv, units: {x: m}}", "is the unit of what is no output"),
        ("of_unknown_key", "{file: road.csv, unit: {z: m}}", "did you mean 'units'?"),
        ("of_no_results", "{file: road.hdf5, outputs: {z: a.b}}",
         "road.hdf5': it is not an HDF5 file")):
    refused("table_" + label, [("{file: road.csv, outputs: {z: height}, units: {z: m}}", line)], says,
            files={"road.hdf5": "no"})
for label, rows, says in (("falls", "t,height\n1,1\n0,2\n", "road.csv:3: the time 0 comes before"),
                          ("has_words", "t,height\n0,high\n",
                           "road.csv:2: column 'height' must have a"),
                          ("has_no_header", "0,1\n1,2\n", "road.csv:1: found '1'"),
                          ("has_no_rows", "t,height\n", "road.csv:1: has no row of numbers"),
                          ("has_a_column_twice", "t,height,height\n0,1,1\n", "is there twice")):
    refused("table_" + label, [], says, files={"road.csv": rows})
refused("table_jumps_cubic", [("road.csv,", "road.csv, interpolation: cubic,")], "model.yaml:24:",
        "has the time 1 twice", "a cubic has none", files={"road.csv": ROAD + "1,3\n2,0\n"})
refused("table_has_no_parameters", [("  sum:", "    parameters: {z: 1}\n  sum:")],
        "model.yaml:25: a table has no parameters")

# --- values for one run ---
for label, words, says in (
        ("without_value", ["--set", "source.drop"], "must read subsystem.name=value"),
        ("of_unknown_subsystem", ["--set", "sorce.drop=1"],
         "there is no subsystem 'sorce'; did you mean"),
        ("of_unknown_name", ["--set", "source.drap=1"],
         "has no parameter, input or state 'drap'; did you"),
        ("of_unknown_parameter", ["--set", "parameters.G=1"], "the model has no parameter 'G'; known"),
        ("of_no_number", ["--set", "source.drop=high"], "--set source.drop=high: 'drop' of subsystem"),
        ("of_a_table", ["--set", "road.z=1"], "--set road.z=1: a table has no parameters"),
        ("pattern_of_nothing", ["--set", "cell[*].q=1"],
         "the nearest names are cell[1].k, cell[1].x, cell[2].k"),
        ("file_is_missing", ["--parameters", "no.yaml"], "no.yaml: cannot be read"),
        ("file_of_unknown_name", ["--parameters", "values.yaml"],
         "values.yaml:2: subsystem 'source' has no")):
    refused("set_" + label, [], says, options=words, files={"values.yaml": "source:\n  drap: 1\n"},
            ranks=(1, 2) if label == "pattern_of_nothing" else (1,))

# --- included files ---
for label, text, says in (
        ("is_missing", None, "model.yaml:1: included file is not there: 'part.yaml'"),
        ("is_a_circle", "include: [model.yaml]\n",
         "part.yaml:1: included file is there already: 'model.yaml'"),
        ("defines_again", "\nsubsystems: {sum: {equations: {}}}\n",
         "model.yaml:26: subsystem 'sum' is there twice, also at part.yaml:2; remove one"),
        ("has_another_stop", "experiment: {stop: 2}\n",
         "'experiment' of the model file is there twice, also at"),
        ("feeds_again", "\nconnections: [source.x -> sum.u]\n",
         "model.yaml:31: input 'sum.u' is fed twice: by 'source.x' and by 'road.z'; keep one of the two "
         "connections (the first is at part.yaml:2)"),
        ("has_unknown_key", "\n\npart: 1\n", "part.yaml:3: unknown key 'part' in the included file"),
        ("is_wrong_inside", "subsystems:\n  a: {equations: {outputs: {y: q}}}\n",
         "part.yaml:2: subsystem 'a'")):
    refused("include_" + label, [("experiment:", "include: [part.yaml]\nexperiment:")], says,
            files={} if text is None else {"part.yaml": text})

if __name__ == "__main__":
    main()
