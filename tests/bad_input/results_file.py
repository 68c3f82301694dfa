#!/usr/bin/python3
"""Who may write a results file, and when: earlier results, two runs at once, links, output nobody takes."""
import os
import subprocess

from harness import PAIR, case, changed, main
from patience import wait_until

# Whether this build has the Python package, which draws.
PICTURES = os.environ.get("CONCORD_HAS_PYTHON", "1") == "1"
ENDLESS = ("run", "model.yaml", "-cosim_step", "1e-7")
# The start is refused: y = 1/x at x = 0.
FAILS_AT_START = changed(("outputs: {x: x}", "outputs: {x: 1/(x - 1)}"))


def finished(bench, *options, ranks=1):
    bench.write("model.yaml", PAIR)
    bench.run("run", "model.yaml", *options, ranks=ranks).succeeds()


@case
def earlier_result_outlives_a_failed_start(bench):
    for ranks in (1, 2):
        finished(bench)
        before = (bench.folder / "model.h5").read_bytes()
        bench.write("model.yaml", FAILS_AT_START)
        bench.run("run", "model.yaml", ranks=ranks).fails(1, "'left'", "t = 0")
        assert (bench.folder / "model.h5").read_bytes() == before, "the earlier result is gone"
        assert bench.results() == ["model.h5"], bench.results()


@case
def earlier_result_outlives_checkpoints_that_cannot_be_written(bench):
    finished(bench)
    before = (bench.folder / "model.h5").read_bytes()
    bench.write("notes.txt", "hello")
    for place, says in {"nowhere/run.chk": "No such file or directory",
                        "notes.txt": "is no checkpoint of Concord"}.items():
        bench.run("run", "model.yaml", "-cosim_checkpoint", place).fails(2, f"'{place}'", says)
        assert (bench.folder / "model.h5").read_bytes() == before, "the earlier result is gone"


@case
def nothing_that_is_read_is_written(bench):
    """What is read, other files that are written, and data in HDF5 stay as they are."""
    finished(bench)
    (bench.folder / "model.h5").rename(bench.folder / "earlier.h5")
    bench.write("set.yaml", "left.k: 3")
    bench.write("data.csv", "time,left.x\n0,1\n1,0.5\n")
    files = {path: path.read_bytes() for path in bench.folder.iterdir()}

    def refused(words, *says):
        bench.run(*words.split()).fails(2, *says)
        for path, content in files.items():
            assert path.read_bytes() == content, f"{path.name} has changed by {words}"

    for words in ("run model.yaml -cosim_summary {}", "run model.yaml -cosim_trace {}",
                  "run model.yaml -cosim_checkpoint {}", "run model.yaml -cosim_fmu_calls {}",
                  "linearize model.yaml -o {}", "steady model.yaml -o {}",
                  "gradient model.yaml --of left.x --by left.k -o {}",
                  "fit model.yaml data.csv --free left.k -o {}"):
        refused(words.format("./model.yaml"), "names the model file", "is read")
        if "checkpoint" not in words:
            refused(words.format("earlier.h5"), "earlier.h5", "data in HDF5")
    refused("export earlier.h5 -o earlier.h5", "itself")
    refused("steady model.yaml --parameters set.yaml -o set.yaml", "file of parameters")
    refused("fit model.yaml data.csv --free left.k -o data.csv", "file of data")
    for option in ("summary", "trace", "checkpoint"):
        refused(f"run model.yaml -cosim_output one.h5 -cosim_{option} one.h5", "-cosim_output and",
                f"-cosim_{option} name the same file")
    for _ in range(2):
        bench.run("linearize", "model.yaml", "-o", "abcd.h5").succeeds()


@case
def only_files_of_their_kind_are_replaced(bench):
    """Texts take the place of texts, archives of archives, pictures of pictures; models stay."""
    finished(bench)
    bench.write("other.yaml", PAIR)
    bench.write("notes.txt", "hello")
    bench.write("text.fmu", "hello")
    bench.write("text.png", "hello")
    bench.write("empty", "")
    bench.run("export-fmu", "model.yaml", "left", "-o", "left.fmu").succeeds()
    (bench.folder / "x.png").write_bytes(b"\x89PNG\r\n")
    bench.run("linearize", "model.yaml", "-o", "abcd.h5").succeeds()
    files = {path: path.read_bytes() for path in bench.folder.iterdir()}
    texts = ("export model.h5 -o {}", "schema -o {}", "steady model.yaml -o {}", "gradient model.yaml --of left.x -o {}",
             "run model.yaml -cosim_output b.h5 -cosim_summary {}", *(["report model.h5 -o {}"] if PICTURES else []))
    for words, places in {**{text: ("other.yaml", "left.fmu", "x.png", "abcd.h5") for text in texts},
                          "export-fmu model.yaml left -o {}": ("text.fmu",),
                          **({"plot model.h5 -o {}": ("text.png",)} if PICTURES else {}),
                          "linearize model.yaml -o {}": ("other.yaml", "notes.txt", "left.fmu", "model.h5"),
                          }.items():
        for place in places:
            bench.run(*words.format(place).split()).fails(2, place, "left untouched")
            for path, content in files.items():
                assert path.read_bytes() == content, f"{path.name} has changed by {words}"
    for words in ("export model.h5 -o notes.txt", "export model.h5 -o empty", "schema -o notes.txt",
                  "export-fmu model.yaml left -o left.fmu",
                  *(["report model.h5 -o notes.txt", "plot model.h5 -o x.png"] if PICTURES else []), "linearize model.yaml -o abcd.h5", "schema -o /dev/null"):
        bench.run(*words.split()).succeeds()


@case
def earlier_result_is_replaced_after_the_start(bench):
    finished(bench)
    bench.write("model.yaml", changed(("{x: f - k*x}", '{x: "t < 0.5 ? f : 1/(t - t)"}')))
    bench.run("run", "model.yaml").fails(1, "t = 0.5")
    status, times = bench.record()
    assert status == "failed" and 0.4 < times[-1] < 0.51, (status, times)


def begun(bench, *words, ranks=1):
    bench.write("model.yaml", PAIR)
    process = bench.start(*ENDLESS, *words, ranks=ranks)
    wait_until((bench.folder / "model.h5").exists, "a results file", process)
    return process


@case
def two_runs_do_not_share(bench):
    """The second is refused and names the first, which goes on; also through a link."""
    process = begun(bench)
    (bench.folder / "link.h5").symlink_to("model.h5")
    for name in ("model.h5", "link.h5"):
        bench.run("run", "model.yaml", "-cosim_output", name).fails(
            2, "another run is writing it", f"process {process.pid} on host")
    assert process.poll() is None
    process.terminate()
    assert bench.end(process).code == 3
    assert bench.record()[0] == "interrupted"
    finished(bench)


@case
def two_runs_do_not_share_checkpoints(bench):
    """They would move each other's copies away."""
    process = begun(bench, "-cosim_checkpoint", "run.chk")
    wait_until((bench.folder / "run.chk").exists, "a checkpoint", process)
    before = (bench.folder / "run.chk").read_bytes()
    bench.run("run", "model.yaml", "-cosim_output", "other.h5", "-cosim_checkpoint", "run.chk").fails(
        2, "cannot write the checkpoint", "run.chk': another run is writing it", "-cosim_checkpoint")
    assert (bench.folder / "run.chk").read_bytes() == before
    assert not (bench.folder / "other.h5").exists()
    process.kill()
    bench.end(process)
    bench.run("run", "model.yaml", "-cosim_stop", "0.1", "-cosim_checkpoint", "run.chk").succeeds()


@case
def two_ranks_hold_it_too(bench):
    process = begun(bench, ranks=2)
    bench.run("run", "model.yaml", ranks=2).fails(2, "another run is writing it")
    process.terminate()
    bench.end(process)


@case
def what_a_killed_run_leaves_locks_nothing(bench):
    process = begun(bench)
    process.kill()
    bench.end(process)
    assert (bench.folder / ".model.h5.lock").exists()
    finished(bench)
    assert bench.results() == ["model.h5"], bench.results()


@case
def links_are_followed(bench):
    """To a file, to one that is not there yet, and through a folder."""
    (bench.folder / "far").mkdir()
    (bench.folder / "there.h5").symlink_to("far/result.h5")
    (bench.folder / "again.h5").symlink_to("there.h5")
    (bench.folder / "near").symlink_to("far")
    for name in ("there.h5", "again.h5", "near/result.h5"):
        finished(bench, "-cosim_output", name)
        assert (bench.folder / "far/result.h5").is_file(), name
        assert (bench.folder / "there.h5").is_symlink() and (bench.folder / "again.h5").is_symlink()
        assert bench.record("far/result.h5")[0] == "completed"


@case
def output_that_cannot_be_written(bench):
    bench.write("model.yaml", PAIR)
    for words in (["check", "model.yaml"], ["run", "model.yaml"], ["--version"], ["--help"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            ended = subprocess.run(bench.command(*words), cwd=bench.folder, stdout=full, text=True,
                                   stderr=subprocess.PIPE, check=False)
        assert ended.returncode == 1, f"{words}: exit code {ended.returncode}"
        assert ended.stderr.startswith("concord: error: cannot write to standard output"), \
            ended.stderr
        assert len(ended.stderr.splitlines()) == 1, ended.stderr


@case
def files_that_petsc_cannot_write(bench):
    bench.write("model.yaml", PAIR)
    for ranks in (1, 2):
        for option, value in (("-history", "/nonexistent/x"), ("-log_view", ":/nonexistent/x")):
            bench.run("run", "model.yaml", option, value, ranks=ranks).fails(
                2, option, "/nonexistent/x")
    bench.run("run", "model.yaml", "-log_trace", "/nonexistent/x").fails(2, "/nonexistent/x")


@case
def petsc_debugs_its_memory(bench):
    finished(bench, "-malloc_debug")
    finished(bench, "-history", os.fspath(bench.folder / "history"))
    assert (bench.folder / "history").stat().st_size > 0


if __name__ == "__main__":
    main()
