#!/usr/bin/python3
"""Command lines, options and results paths with mistakes: exit code 2, one error, no results."""
import os

from harness import PAIR, case, main

BOTH = (1, 3)


def refused(name, words, *says, ranks=(1,), files=None):
    """Registers a case: `concord run model.yaml WORDS` is refused."""
    def run(bench):
        bench.write("model.yaml", PAIR)
        for file, content in (files or {}).items():
            bench.write(file, content)
        bench.refuses("run", "model.yaml", *words.split(), says=says, ranks=ranks)
    run.__name__ = name
    case(run)


# --- values ---
for label, value in {"zero": "0", "negative": "-0.1", "nan": "nan", "infinite": "inf",
                     "text": "small", "two_numbers": "0.1,0.2", "overflowing": "1e999"}.items():
    refused(f"step_is_{label}", f"-cosim_step {value}", "-cosim_step", f"'{value}'", "must be",
            ranks=BOTH if label == "zero" else (1,))
refused("step_has_no_value", "-cosim_step", "-cosim_step", "found ''", "finite number")
refused("step_below_resolution", "-cosim_start 1e9 -cosim_stop 1.000000001e9 -cosim_step 1e-9",
        "-cosim_step", "1e-9", "at least")
refused("step_far_too_small", "-cosim_step 1e-300", "-cosim_step", "1e-300", "at least")
refused("stop_before_start_by_option", "-cosim_stop -1", "-cosim_stop", "stop time -1 s",
        "start time 0 s", ranks=BOTH)
refused("start_after_stop_by_option", "-cosim_start 2", "model.yaml:2:", "start time 2 s")
refused("stop_too_small", "-cosim_stop 1e-320", "-cosim_stop", "too near")
refused("smallest_step_too_large", "-cosim_step_min 2", "-cosim_step_min", "found 2", "at most")
refused("time_limit_is_zero", "-cosim_time_limit 0", "-cosim_time_limit", "'0'", "greater than")
refused("record_every_zero", "-cosim_record_every 0", "-cosim_record_every", "'0'", "from 1")
refused("record_unknown_part", "-cosim_record outputs,speed", "-cosim_record", "'speed'",
        "outputs, inputs, states, polynomials, balance")
refused("record_pattern_of_nothing", "-cosim_record_variables zzz*", "-cosim_record_variables",
        "'zzz*'", "the nearest names are", ranks=BOTH)
refused("record_nothing_named", "-cosim_record", "-cosim_record", "found ''", "none")
refused("iterations_zero", "-cosim_max_it 0", "-cosim_max_it", "'0'", "from 1")
refused("flag_is_no_flag", "-cosim_monitor 7", "-cosim_monitor", "'7'", "true or false")
for tolerance in ("cosim_rtol", "cosim_atol", "subsystem_rtol", "subsystem_left_atol"):
    for label, value in {"zero": "0", "negative": "-1e-6"}.items():
        refused(f"{tolerance}_is_{label}", f"-{tolerance} {value}", f"-{tolerance}", f"'{value}'",
                "greater than zero")

# --- what PETSc reads only when it is left ---
for words, says in {"-options_left abc": ("-options_left", "'abc'", "true or false"),
                    "-options_view 7x": ("-options_view", "'7x'"),
                    "-get_total_flops maybe": ("-get_total_flops", "'maybe'"),
                    "-log_view zzz": ("-log_view", "'zzz'", "ascii:log.txt"),
                    "-log_view :log.txt:nonsense": ("Unknown viewer format nonsense",),
                    "-citations nowhere/c.txt": ("-citations", "'nowhere/c.txt'")}.items():
    refused("petsc_at_the_end_" + words.split()[0].strip("-") + str(len(words)), words, *says,
            ranks=BOTH if words == "-options_left abc" else (1,))


@case
def options_left_are_told_behind_a_run(bench):
    """As PETSc does: a warning, and the run's exit code."""
    bench.write("model.yaml", PAIR)
    ended = bench.run("run", "model.yaml", "-cosim_type", "jacobi", "-options_left", "-ksp_rtol", "1").succeeds()
    ended.require("Option left: name:-ksp_rtol value: 1" in ended.out, "PETSc has not told it")


# --- enumerations ---
for option, allowed in {"cosim_type": "jfm", "cosim_schedule": "parallel", "cosim_hold": "hermite",
                        "cosim_solve": "snes", "cosim_predictor": "extrapolate",
                        "cosim_adapt": "iteration", "cosim_balance": "smooth",
                        "cosim_extrapolation": "hermite", "subsystem_integrator": "cvode_bdf",
                        "subsystem_right_integrator": "erk"}.items():
    refused(f"{option}_unknown_value", f"-{option} nonsense", f"-{option}", "'nonsense'", "one of:",
            allowed, ranks=BOTH if option == "cosim_type" else (1,))
refused("snes_type_unknown", "-snes_type nonsense", "SNES", "nonsense", "-snes_", ranks=BOTH)
refused("ksp_type_unknown", "-ksp_type nonsense", "KSP", "nonsense", "-ksp_", ranks=BOTH)
refused("pc_type_unknown", "-pc_type nonsense", "PC", "nonsense", "-pc_")

refused("ksp_type_that_never_returns", "-ksp_type pipelcg", "pipelcg", "use gmres")
refused("snes_type_for_one_rank", "-snes_type ngs", "ngs", "use newtonls", ranks=(3,))
refused("pc_type_for_one_rank", "-pc_type eisenstat -ksp_type gmres", "eisenstat", "use redundant",
        ranks=(3,))

# --- names ---
refused("unknown_cosim_option", "-cosim_stepp 1", "unknown option -cosim_stepp",
        "did you mean -cosim_step?", "Allowed:", "-cosim_stop", ranks=BOTH)
refused("unknown_subsystem_option", "-subsystem_tolerance 1", "unknown option -subsystem_tolerance",
        "Allowed:", "-subsystem_rtol", ranks=BOTH)
refused("unknown_subsystem_in_option", "-subsystem_lefft_rtol 1e-6",
        "unknown option -subsystem_lefft_rtol", "-subsystem_left_rtol", ranks=BOTH)
refused("unknown_option_of_a_subsystem", "-subsystem_left_rotl 1e-6",
        "unknown option -subsystem_left_rotl", "did you mean -subsystem_left_rtol?")
refused("unknown_option_in_capitals", "-COSIM_STEPP 1", "unknown option -COSIM_STEPP",
        "Allowed: -cosim_type")

for words, says in {
        "-snes_typ newtonls": ("unknown option -snes_typ", "did you mean -snes_type?"),
        "-ksp_rtoll 1e-3": ("unknown option -ksp_rtoll", "did you mean -ksp_rtol?"),
        "-missiles_defekt none": ("unknown option -missiles_defekt", "-missiles_defect"),
        "-loop_snes_tipe newtonls": ("unknown option -loop_snes_tipe",),
        "--cosim_step 0.1": ("unknown option --cosim_step", "did you mean -cosim_step?"),
        "--sett left.k=2": ("unknown option --sett", "did you mean --set?"),
        "-sett left.k=2": ("unknown option -sett",),
        "--probe": ("unknown option --probe", "belongs to concord check"),
        "-ts_type bdf": ("unknown option -ts_type",),
        "-log_viw": ("unknown option -log_viw", "did you mean -log_view?"),
        "-o out.h5": ("unknown option -o",)}.items():
    refused("unread_option_" + words.split()[0].strip("-"), words, *says,
            ranks=BOTH if words in ("-snes_typ newtonls", "--cosim_step 0.1") else (1,))


@case
def options_that_petsc_reads(bench):
    """None of them is unknown, whatever object of PETSc reads it, or PETSc itself."""
    bench.write("model.yaml", PAIR)
    for words in ("-log_view :log.txt", "-info :info.txt:sys", "-on_error_abort", "-options_left no",
                  "-snes_view :view.txt", "-ksp_gmres_restart 30", "-pc_factor_shift_type nonzero",
                  "-snes_linesearch_type bt", "-mat_mffd_err 1e-6", "-SNES_TYPE newtonls",
                  "-npc_snes_type ngs", "-sub_pc_type ilu", "-mg_levels_1_pc_type jacobi",
                  "-fieldsplit_0_ksp_type preonly", "-missiles_ksp_type gmres",
                  "-missiles_sub_pc_type ilu", "-loop_snes_type newtonls", "-loop_ksp_monitor",
                  "-estimate_ksp_type gmres", "-memory_view", "-mat_mumps_icntl_14 50",
                  "-vec_type seq"):
        bench.run("check", "model.yaml", *words.split()).succeeds()
    bench.run("run", "model.yaml", "-log_view", ":log.txt", "-snes_view", ":view.txt").succeeds()


@case
def options_of_solvers_that_are_not_there(bench):
    """They are told beside those that cannot have an effect."""
    bench.write("model.yaml", PAIR)
    for words, told in {"-cosim_type jacobi -snes_type anderson": "-snes_type: no solver",
                        "-cosim_type missiles -ksp_type cg": "-ksp_type: no solver",
                        "-loop_snes_type newtonls": "-loop_snes_type: no solver",
                        "-snes_rtol 1e-3": "-snes_rtol: -cosim_rtol"}.items():
        ended = bench.run("run", "model.yaml", *words.split()).succeeds()
        lines = [line for line in ended.out.splitlines() if "without effect" in line]
        ended.require(len(lines) == 1 and told in lines[0], f"{lines} instead of {told}")
    ended = bench.run("run", "model.yaml", "-snes_type", "newtonls", "-ksp_type", "gmres").succeeds()
    ended.require("without effect" not in ended.out, "something that has an effect was told")


@case
def misspelt_word_of_check(bench):
    bench.write("model.yaml", PAIR)
    bench.refuses("check", "model.yaml", "--prob", says=["unknown option --prob", "--probe?"])
    bench.run("check", "model.yaml", "--probe").succeeds()


@case
def unread_option_in_environment(bench):
    bench.write("model.yaml", PAIR)
    for words in ("-snes_typ newtonls", "--cosim_step 1"):
        ended = bench.run("run", "model.yaml", env=os.environ | {"PETSC_OPTIONS": words})
        ended.fails(2, "unknown option " + words.split()[0])


# --- combinations ---
refused("hold_contradicts_solve", "-cosim_type jacobi -cosim_hold hermite", "-cosim_hold",
        "-cosim_solve none", "use -cosim_solve snes", ranks=BOTH)
refused("solve_contradicts_hold", "-cosim_hold extrapolate -cosim_solve snes",
        "-cosim_hold extrapolate", "use -cosim_solve none")
refused("adapt_contradicts_type", "-cosim_type jacobi -cosim_adapt iteration",
        "-cosim_adapt iteration", "jacobi", "use -cosim_adapt none", ranks=BOTH)
refused("richardson_contradicts_solve", "-cosim_type jfm -cosim_adapt richardson", "-cosim_adapt richardson",
        "use -cosim_solve none", ranks=BOTH)
refused("richardson_contradicts_hold", "-cosim_type extripol -cosim_adapt richardson_modified",
        "-cosim_adapt richardson", "-cosim_hold zoh or extrapolate")
refused("richardson_of_order_three",
        "-cosim_type jacobi -cosim_hold extrapolate -cosim_hold_order 3 -cosim_adapt richardson",
        "order 0 to 2")
refused("richardson_modified_contradicts_schedule",
        "-cosim_type gauss_seidel -cosim_adapt richardson_modified", "use -cosim_adapt richardson")
refused("richardson_needs_rollback",
        "-cosim_type jacobi -cosim_adapt richardson -subsystem_left_rollback false", "'left'",
        "rollback, which the Richardson estimate needs", ranks=BOTH)
refused("schedule_contradicts_solve", "-cosim_type missiles -cosim_schedule sequential",
        "-cosim_schedule sequential", "one linear system", "use -cosim_schedule parallel", ranks=BOTH)
refused("predictor_contradicts_solve", "-cosim_type jacobi -cosim_predictor hold",
        "-cosim_predictor", "-cosim_solve snes")
refused("schedule_weight_too_large", "-cosim_schedule_weight 1.5", "-cosim_schedule_weight",
        "'1.5'", "from 0 to 1")
for words, says in {
        "-cosim_balance constant": ("-cosim_balance", "use -cosim_solve none"),
        "-cosim_type missiles -cosim_balance smooth": ("-cosim_balance", "-cosim_type jacobi"),
        "-cosim_type monolithic -cosim_record balance": ("-cosim_record balance", "leave them out"),
        "-cosim_smooth_switching true": ("-cosim_smooth_switching", "use -cosim_type jacobi"),
        "-cosim_extrapolation hermite": ("-cosim_extrapolation hermite", "-cosim_solve none"),
        "-cosim_type jacobi -cosim_extrapolation hermite": ("-cosim_hold_order 1 to 3",),
        "-cosim_type jacobi -cosim_balance_spread 2": ("-cosim_balance_spread", "choose one"),
        "-cosim_type jacobi -cosim_balance constant -cosim_smooth_switching true":
            ("jump", "use -cosim_balance smooth"),
        "-cosim_type jacobi -cosim_balance smooth -cosim_adapt richardson":
            ("-cosim_balance", "use -cosim_adapt none"),
        "-cosim_type jacobi -cosim_record balance -cosim_adapt richardson":
            ("-cosim_record balance", "use -cosim_adapt none"),
        "-cosim_type jacobi -cosim_smooth_switching true -cosim_adapt richardson_modified":
            ("-cosim_smooth_switching", "use -cosim_adapt none"),
        "-cosim_type jacobi -cosim_hold extrapolate -cosim_extrapolation hermite -cosim_adapt "
        "richardson_modified": ("-cosim_extrapolation lagrange", "use -cosim_adapt richardson"),
        "-cosim_type jacobi -cosim_balance smooth -cosim_record polynomials":
            ("-cosim_record polynomials", "leave polynomials out"),
        "-cosim_type jacobi -cosim_smooth_switching true -cosim_record polynomials":
            ("-cosim_record polynomials", "leave polynomials out"),
        "-cosim_type jacobi -cosim_balance constant -cosim_balance_spread 5":
            ("-cosim_balance_spread", "'5'", "from 1 to 4"),
        "-cosim_type jacobi -cosim_balance constant -cosim_balance_spread 0":
            ("-cosim_balance_spread", "'0'", "from 1 to 4")}.items():
    refused("shaped_inputs_" + words.replace("-cosim_", "").replace(" ", "_"), words, *says,
            ranks=BOTH if words == "-cosim_balance constant" else (1,))
refused("rollback_withheld",
        "-cosim_type jfm -subsystem_right_rollback false -subsystem_right_linearization false",
        "jfm", "'right'", "rollback", "Methods that can run", "jacobi",
        "monolithic", ranks=BOTH)
refused("rollback_withheld_everywhere", "-subsystem_rollback false -cosim_type kuebler_schiehlen",
        "kuebler_schiehlen", "'left'", "'right'", "jacobi")

# --- options files ---
refused("options_file_missing", "-options_file gone.opts", "gone.opts", "cannot be read",
        ranks=BOTH)
refused("options_file_unnamed", "-options_file", "-options_file", "name of a file")
refused("options_file_is_folder", "-options_file /", "-options_file /", "cannot be read")
refused("options_file_without_dash", "-options_file a.opts", "a.opts:2:", "'cosim_step'",
        "one option per line", files={"a.opts": "# good\ncosim_step 0.1\n"}, ranks=BOTH)
refused("options_file_number_first", "-options_file a.opts", "a.opts:1:", "'-1'",
        files={"a.opts": "-1 2\n"}, ranks=BOTH)
refused("options_file_two_values", "-options_file a.opts", "a.opts:1:", "'0.2'", "-cosim_step",
        files={"a.opts": "-cosim_step 0.1 0.2\n"}, ranks=BOTH)
refused("options_file_two_options", "-options_file a.opts", "a.opts:1:", "'-cosim_monitor'",
        files={"a.opts": "-cosim_monitor -cosim_step 0.1\n"})
refused("options_file_open_quote", "-options_file a.opts", "a.opts:1:", "quote", "not closed",
        files={"a.opts": '-cosim_output "a.h5\n'})
refused("options_file_names_itself", "-options_file a.opts", "a.opts:1:", "cannot name another",
        files={"a.opts": "-options_file a.opts\n"}, ranks=BOTH)
refused("options_file_binary", "-options_file a.opts", "a.opts:1:", "one option per line",
        files={"a.opts": bytes(range(1, 256)) * 9})
refused("options_file_unknown_option", "-options_file a.opts", "unknown option -cosim_stp",
        files={"a.opts": "-cosim_stp 1\n"})
refused("second_options_file_broken", "-options_file a.opts -options_file b.opts", "b.opts:1:",
        files={"a.opts": "-cosim_step 0.1\n", "b.opts": "nonsense\n"})
refused("options_file_pops_prefix", "-options_file a.opts", "prefixes popped",
        files={"a.opts": "-prefix_pop\n"}, ranks=BOTH)
refused("too_many_options", "-options_file a.opts", "options",
        files={"a.opts": "".join(f"-x{i} 1\n" for i in range(600))}, ranks=BOTH)
refused("petscrc_broken", "", "petscrc:1:", "'nonsense'", files={".petscrc": "nonsense\n"},
        ranks=BOTH)
refused("yaml_options_file", "-options_file_yaml gone.yaml", "use -options_file", ranks=BOTH)

# --- results ---
refused("results_in_missing_folder", "-cosim_output gone/a.h5", "gone/a.h5", "no folder 'gone'",
        "create it", ranks=BOTH)
refused("results_are_a_folder", "-cosim_output /tmp", "'/tmp'", "a folder", "-cosim_output",
        ranks=BOTH)
refused("results_have_no_name", "-cosim_output /tmp/", "'/tmp'", "a folder")
refused("results_path_is_empty", "-cosim_output", "-cosim_output", "name of a file")
refused("results_below_a_file", "-cosim_output model.yaml/a.h5", "no folder 'model.yaml'")
refused("results_in_proc", "-cosim_output /proc/a.h5", "/proc/a.h5", "-cosim_output", ranks=BOTH)
refused("results_are_a_device", "-cosim_output /dev/null", "/dev/null", "not a regular file")
refused("number_of_5000_digits", "-cosim_step 0.25" + "0" * 5000 + "x", "a finite number")
refused("results_name_too_long", "-cosim_output " + "a" * 300 + ".h5", "aaaa.h5", "-cosim_output")
refused("results_would_replace_the_model", "-cosim_output model.yaml",
        "-cosim_output names the model file", "model.yaml'", "left untouched", ranks=BOTH)


@case
def results_in_read_only_folder(bench):
    """Root may write everywhere: that is tested with /proc."""
    if os.geteuid() == 0:
        return
    bench.write("model.yaml", PAIR)
    (bench.folder / "closed").mkdir(mode=0o500)
    bench.refuses("run", "model.yaml", "-cosim_output", "closed/a.h5",
                  says=["closed/a.h5", "not writable"], ranks=BOTH)


@case
def results_over_foreign_hdf5(bench):
    """A file of another program stays as it is."""
    import h5py  # pylint: disable=import-outside-toplevel
    bench.write("model.yaml", PAIR)
    with h5py.File(bench.folder / "precious.h5", "w") as file:
        file["answer"] = 42
    before = (bench.folder / "precious.h5").read_bytes()
    bench.refuses("run", "model.yaml", "-cosim_output", "precious.h5", ranks=BOTH,
                  says=["precious.h5", "not a Concord results file", "left untouched"],
                  keeps=["precious.h5"])
    assert (bench.folder / "precious.h5").read_bytes() == before


@case
def results_of_another_model(bench):
    """Results of another model are not overwritten."""
    bench.write("model.yaml", PAIR)
    bench.write("other.yaml", PAIR.replace("name: pair", "name: other pair"))
    bench.run("run", "other.yaml", "-cosim_output", "a.h5").succeeds()
    bench.refuses("run", "model.yaml", "-cosim_output", "a.h5", ranks=BOTH,
                  says=["a.h5", "'other pair'", "left untouched"], keeps=["a.h5"])


@case
def wrong_option_keeps_old_results(bench):
    """Results of the run before survive a run with a mistake."""
    bench.write("model.yaml", PAIR)
    bench.run("run", "model.yaml").succeeds()
    before = (bench.folder / "model.h5").read_bytes()
    bench.refuses("run", "model.yaml", "-snes_type", "nonsense", keeps=["model.h5"])
    assert (bench.folder / "model.h5").read_bytes() == before


# --- the command line ---
def command(name, words, *says, ranks=BOTH):
    """Registers a case: `concord WORDS` is refused."""
    def run(bench):
        bench.write("model.yaml", PAIR)
        bench.refuses(*words.split(), says=says, ranks=ranks)
    run.__name__ = name
    case(run)


command("no_command", "", "no command given")
command("unknown_command", "runn model.yaml", "unknown command 'runn'", "did you mean 'run'?",
        "check, schedule, placement, steady, linearize, gradient, fit, compare")
command("no_model", "run", "needs a model file", "concord run MODEL")
command("option_in_place_of_model", "run -cosim_step 1", "needs a model file", "'-cosim_step'")
command("check_without_model", "check", "concord check MODEL", ranks=(1,))
command("two_models", "run model.yaml model.yaml", "'model.yaml'", "after the model file")
command("surplus_word_at_the_end", "run model.yaml -cosim_step 0.1 0.2", "'0.2'",
        "after -cosim_step 0.1")


@case
def wrong_words_in_environment(bench):
    """PETSC_OPTIONS is read like the command line."""
    bench.write("model.yaml", PAIR)
    for words, says in {"-options_file gone.opts": "gone.opts", '-cosim_step "1': "not closed",
                        "-cosim_stp 1": "unknown option -cosim_stp"}.items():
        ended = bench.run("run", "model.yaml", env=os.environ | {"PETSC_OPTIONS": words})
        ended.fails(2, says)


@case
def precedence(bench):
    """Options file, then PETSC_OPTIONS, then command line; a byte-order mark does no harm."""
    bench.write("model.yaml", PAIR)
    bench.write("a.opts", "\ufeff-cosim_step 0.5 # half\r\n-cosim_output 'of file.h5'\r\n")
    weak = os.environ | {"PETSC_OPTIONS": "-cosim_step 0.2"}
    file = ("run", "model.yaml", "-options_file", "a.opts")
    assert "macro-steps           2 " in bench.run(*file).succeeds().out
    assert "macro-steps           5 " in bench.run(*file, env=weak).succeeds().out
    strong = bench.run(*file, "-cosim_step", "0.1", env=weak).succeeds()
    assert "macro-steps           10 " in strong.out and bench.results() == ["of file.h5"]


if __name__ == "__main__":
    main()
