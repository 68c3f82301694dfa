#!/usr/bin/python3
"""export-fmu and export-ssp with mistakes: exit code 2, one error, and no half-written file."""
import os
import resource

from harness import PAIR, case, changed, main

OLD_ARCHIVE = "PK\3\4old"
NATIVE = changed(("""    equations:
      inputs: {x: 1}
      states: {v: 0}
      derivatives: {v: x - v}
      outputs: {f: v}
      units: {x: m, f: N}
""", """    native: {library: LIBRARY, type: cart}
    start: {force: 0}
"""), ("  - right.f -> left.f\n  - left.x -> right.x\n", "")).replace("connections:\n", "")
CONSTRAINED = changed(("connections:\n", """constraints:
  - {unknown: force, equation: left.x - right.f, feeds: {left.f: 1}}
connections:
"""), ("  - right.f -> left.f\n", ""))


def refused(name, words, *says, text=PAIR, files=(), left=()):
    """Registers a case: `concord WORDS` is refused, with the model in model.yaml."""
    def run(bench):
        bench.write("model.yaml", text)
        before = set(os.listdir(bench.folder)) | set(left)
        for file in files:
            bench.write(file, "there already")
            before.add(file)
        bench.refuses(*words.split(), says=says)
        found = set(os.listdir(bench.folder))
        assert found == before, f"left behind: {found - before}"
        for file in files:
            assert (bench.folder / file).read_text() == "there already"
    run.__name__ = name
    case(run)


# --- command lines ---
refused("fmu_without_anything", "export-fmu", "needs a model file: concord export-fmu MODEL")
refused("fmu_with_too_much", "export-fmu model.yaml left right", "takes a model file and the name",
        "export-fmu --help")
refused("fmu_of_version_1", "export-fmu model.yaml left --fmi 1", "--fmi takes 2 or 3", "'1'")
refused("fmu_version_missing", "export-fmu model.yaml left --fmi", "option --fmi needs a value")
refused("fmu_unknown_option", "export-fmu model.yaml left --fast", "unknown option --fast")
refused("fmu_option_of_wholes", "export-fmu model.yaml left -cosim_step 1e-2", "option -cosim_step",
        "FMUs of whole models")
refused("fmu_set_in_part", "export-fmu model.yaml left --set left.m=2", "--set is for the whole model")
refused("whole_without_binary", "export-fmu model.yaml --no-binary", "--no-binary is for a subsystem")
refused("whole_option_of_runs", "export-fmu model.yaml -cosim_output a.h5", "option -cosim_output",
        "is for runs")
refused("whole_wrong_option", "export-fmu model.yaml -cosim_stepp 1", "-cosim_stepp", "-cosim_step")
refused("whole_wrong_value", "export-fmu model.yaml -cosim_type jfn", "jfn", "jfm")
refused("whole_wrong_change", "export-fmu model.yaml --set left.q=1", "left.q", "'q'")
refused("whole_into_no_folder", "export-fmu model.yaml -o none/model.fmu", "there is no folder none")
refused("whole_of_broken_model", "export-fmu model.yaml", "model.yaml:9:", "unknown name",
        text=changed(("f - k*x", "f - k*y")))

refused("fmu_wrong_ending", "export-fmu model.yaml left -o left.zip", "'left.zip'", ".fmu")
refused("ssp_without_model", "export-ssp", "takes one model file", "export-ssp --help")
refused("ssp_unknown_option", "export-ssp model.yaml --fmi 2", "no option")
refused("ssp_wrong_ending", "export-ssp model.yaml -o system.xml", "'system.xml'", ".ssp or .ssd")
refused("ssp_of_no_file", "export-ssp none.yaml", "none.yaml: there is no such file")
refused("fmu_of_no_file", "export-fmu none.yaml left", "none.yaml: there is no such file")

# --- what cannot be exported ---
refused("fmu_of_unknown_subsystem", "export-fmu model.yaml leff", "no subsystem 'leff'",
        "did you mean 'left'?")
refused("fmu_of_constraint", "export-fmu model.yaml force", "constraint", text=CONSTRAINED)
refused("ssd_with_equations", "export-ssp model.yaml -o system.ssd", "'left' has equations",
        "concord export-fmu model.yaml left")
refused("fmu_of_broken_equations", "export-fmu model.yaml left", "model.yaml:9:", "unknown name",
        text=changed(("f - k*x", "f - k*y")))
refused("fmu_of_endless_signs", "export-fmu model.yaml left", "model.yaml:9:", "levels deep",
        text=changed(("f - k*x", "-(" * 3000 + "f - k*x" + ")" * 3000)))
refused("ssp_with_unknown_connection", "export-ssp model.yaml", "model.yaml:21:", "no output 'y'",
        text=changed(("left.x ->", "left.y ->")))

# --- where it cannot be written ---
refused("fmu_into_no_folder", "export-fmu model.yaml left -o none/left.fmu", "none/left.fmu",
        "there is no folder none")
refused("ssp_into_no_folder", "export-ssp model.yaml -o none/model.ssp", "none/model.ssp",
        "there is no folder none")


@case
def native_is_refused(bench):
    bench.write("model.yaml", NATIVE.replace("LIBRARY", os.environ["NATIVE_TEST_SUBSYSTEMS"]))
    bench.refuses("export-fmu", "model.yaml", "right", says=["'right' is native", "equations"])
    bench.refuses("export-ssp", "model.yaml", says=["'right' is native", "SSP cannot hold",
                                                    "concord export-fmu model.yaml"])
    assert os.listdir(bench.folder) == ["model.yaml"]


@case
def tables_and_delays_need_archives(bench):
    bench.write("road.csv", "t,z\n0,0\n1,1\n")
    text = PAIR.replace("subsystems:\n", "subsystems:\n  road: {table: {file: road.csv}}\n")
    bench.write("model.yaml", text[:text.index("  left:")])
    bench.refuses("export-ssp", "model.yaml", "-o", "system.ssd",
                  says=["'road' is a table", "concord export-fmu model.yaml road"])
    bench.write("model.yaml", "experiment: {start: 0, stop: 1}\nsubsystems:\n  left: {fmu: left.fmu}\n"
                              "connections:\n  - {connect: left.x -> left.f, delay: 0.2}\n")
    bench.write("pair.yaml", PAIR.replace("units: {x: m, f: N}", "units: {x: m}"))
    bench.run("export-fmu", "pair.yaml", "left").succeeds()
    bench.refuses("export-ssp", "model.yaml", "-o", "system.ssd",
                  says=["the delay of left.", "write an .ssp archive"])
    assert sorted(os.listdir(bench.folder)) == ["left.fmu", "model.yaml", "pair.yaml", "road.csv"]


@case
def libraries_are_for_wholes_alone(bench):
    bench.write("model.yaml", PAIR)
    bench.refuses("export-fmu", "model.yaml", "left", "--with-libraries",
                  says=["--with-libraries is for the whole model"])
    bench.run("export-fmu", "model.yaml", "--with-libraries", ranks=2).fails(2, "without mpirun")
    assert os.listdir(bench.folder) == ["model.yaml"]


@case
def output_is_a_folder(bench):
    bench.write("model.yaml", PAIR)
    (bench.folder / "left.fmu").mkdir()
    (bench.folder / "model.ssp").mkdir()
    bench.refuses("export-fmu", "model.yaml", "left", says=["left.fmu", "this is a folder"])
    bench.refuses("export-ssp", "model.yaml", says=["model.ssp", "this is a folder"])


@case
def output_is_an_input(bench):
    bench.write("model.yaml", PAIR)
    bench.run("export-fmu", "model.yaml", "left").succeeds()
    bench.write("fmus.yaml", "experiment: {start: 0, stop: 1}\nsubsystems: {left: {fmu: left.fmu}}\n")
    bench.refuses("export-fmu", "fmus.yaml", "left", says=["'left' is an FMU already"])
    bench.refuses("export-fmu", "left.fmu", says=["takes no FMU alone, 'left.fmu'"])
    bench.run("export-ssp", "fmus.yaml", "-o", "a.ssp").succeeds()
    bench.refuses("export-ssp", "a.ssp", says=["-o names the model 'a.ssp' itself"])
    bench.refuses("export-ssp", "a.ssp", "-o", "a.ssd", says=["a.ssp", "inside the archive"])
    os.link(bench.folder / "left.fmu", bench.folder / "linked.ssp")
    bench.refuses("export-ssp", "fmus.yaml", "-o", "linked.ssp", says=["-o names the FMU"])


@case
def whole_that_cannot_start(bench):
    bench.write("model.yaml", changed(("f - k*x", "f - k*x/0")))
    bench.run("export-fmu", "model.yaml").fails(1, "'left'", f"{bench.folder}/model.yaml:9: 'k*x/0'")
    assert os.listdir(bench.folder) == ["model.yaml"]


@case
def disk_is_full(bench):
    """A limit on file sizes stands for the full disk; what was there before stays."""
    bench.write("model.yaml", PAIR)
    bench.run("export-fmu", "model.yaml", "left", "--no-binary").succeeds()
    bench.write("fmus.yaml", "experiment: {start: 0, stop: 1}\nsubsystems: {left: {fmu: left.fmu}}\n")
    old = {"old.ssp": OLD_ARCHIVE, "old.ssd": "<SystemStructureDescription/>", "old.fmu": OLD_ARCHIVE}
    for name, content in old.items():
        bench.write(name, content)
    before = sorted(os.listdir(bench.folder))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    for words in (("export-fmu", "model.yaml", "left", "--no-binary", "-o", "old.fmu"),
                  ("export-fmu", "model.yaml", "left", "--no-binary", "-o", "new.fmu"),
                  ("export-fmu", "model.yaml", "-o", "old.fmu")):
        bench.run(*words, preexec_fn=limit).fails(2, "cannot write", words[-1], "File too large")
    for words in (("export-ssp", "model.yaml", "-o", "old.ssp"),
                  ("export-ssp", "fmus.yaml", "-o", "old.ssp"),
                  ("export-ssp", "fmus.yaml", "-o", "old.ssd")):
        bench.run(*words, preexec_fn=limit).fails(2, "cannot")
    assert sorted(os.listdir(bench.folder)) == before, os.listdir(bench.folder)
    for name, content in old.items():
        assert (bench.folder / name).read_text() == content


@case
def folder_is_read_only(bench):
    bench.write("model.yaml", PAIR)
    locked = bench.folder / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    if os.access(locked, os.W_OK):
        return  # root may write anywhere
    bench.refuses("export-fmu", "model.yaml", "left", "-o", "locked/left.fmu",
                  says=["locked/left.fmu", "Permission denied"])
    bench.refuses("export-ssp", "model.yaml", "-o", "locked/model.ssp",
                  says=["locked/model.ssp", "Permission denied"])


@case
def existing_files_are_replaced(bench):
    bench.write("model.yaml", PAIR)
    for name, words in (("left.fmu", ("export-fmu", "model.yaml", "left")),
                        ("model.ssp", ("export-ssp", "model.yaml"))):
        bench.write(name, OLD_ARCHIVE)
        bench.run(*words).succeeds()
        assert (bench.folder / name).read_bytes()[:2] == b"PK"
    assert sorted(os.listdir(bench.folder)) == ["left.fmu", "model.ssp", "model.yaml"]


@case
def several_ranks_write_once(bench):
    bench.write("model.yaml", PAIR)
    ended = bench.run("export-fmu", "model.yaml", "left", ranks=2).succeeds()
    ended.require(ended.out.count("left.fmu") == 1, "printed more than once")
    bench.run("export-fmu", "model.yaml", "none", ranks=2).fails(2, "no subsystem 'none'")
    ended = bench.run("export-fmu", "model.yaml", ranks=2).succeeds()
    ended.require(ended.out.count("model.fmu") == 1, "printed more than once")


@case
def help_names_the_commands(bench):
    whole = bench.run("--help-all").succeeds()
    for command in ("export-fmu", "export-ssp"):
        whole.require(f"concord {command} MODEL" in whole.out, f"{command} is missing")
        own = bench.run(command, "--help").succeeds()
        own.require(own.out.startswith(f"concord {command} MODEL"), "no help of its own")
        own.require("-o, --output FILE" in own.out, "-o is missing")


@case
def compiler_fails(bench):
    bench.write("model.yaml", PAIR)
    bench.write("broken", "#!/bin/sh\necho no way >&2\nexit 1\n").chmod(0o755)
    ended = bench.run("export-fmu", "model.yaml", "left",
                      env=dict(os.environ, CC=str(bench.folder / "broken")))
    ended.fails(2, "cannot compile", "--no-binary")
    ended.require("no way" in ended.err, "the compiler's words are missing")
    ended = bench.run("export-ssp", "model.yaml", env=dict(os.environ, CC="no-such-compiler"))
    ended.fails(2, "'left'", "no C compiler 'no-such-compiler'", "apt-get install gcc")
    assert sorted(os.listdir(bench.folder)) == ["broken", "model.yaml"]


if __name__ == "__main__":
    main()
