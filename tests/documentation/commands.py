"""Every command and program of the manual runs: of each page the shell's blocks one after the other, then those
of Python, in a folder of their own; blocks of C++ compile.

usage: commands.py CONCORD PYTHON_PACKAGE ROOT PAGE.md...
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from drawing import draw_in_one_python  # noqa: E402
from pages import Block, before, blocks_of, indented_commands

NOT_RUN_AT_MOST = 30  # those that install, build, need a cluster or take minutes
REACHES_OUT = re.compile(r"\b(apt|apt-get|dpkg|sudo|docker|podman|apptainer|spack|pip install|cmake --(?:build|install)|"
                         r"git clone|curl|wget|sbatch|module load|ssh)\b|\bbash (?:tests|scripts|examples)/")
MAIN = """{headers}
int run(int argc, char** argv) {{
{text}
return argc + (argv != nullptr);
}}
"""


def shell(block, folder, environment):
    outside = REACHES_OUT.search(block.text)
    assert not outside, f"{block}: '{outside[0]}' reaches out of the page's folder; say <!-- not run: why --> before it"
    run = subprocess.Popen(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        shown, _ = run.communicate()
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        raise
    wanted = int(block.said.get("exit code", 0))
    assert run.returncode == wanted, f"{block}: exit code {run.returncode}\n{shown[-3000:]}"
    return shown


def lines(text):
    """Without figures and remarks in brackets, which depend on the machine, and the blanks that align them."""
    figures = re.compile(r"[\d.]+(?:e[-+]?\d+)?|\([^)]*\)")
    return {" ".join(figures.sub("#", line).split()) for line in text.splitlines()}


def python(blocks, folder, environment):
    """All of a page in one interpreter; what fails is named by its line on the page."""
    script = folder / ".page.py"
    script.write_text("".join(f"exec(compile({chr(10) * (block.line - 1) + block.text!r}, {block.page.name!r}, 'exec'))\n"
                              for block in blocks), encoding="utf-8")
    run = subprocess.run(["/usr/bin/python3", "-B", script], cwd=folder, env=environment, capture_output=True,
                         text=True, check=False)
    assert run.returncode == 0, f"{blocks[0].page.name}: {run.stderr[-3000:]}"


def cpp(block, root):
    headers = "" if "#include" in block.text else "".join(
        f"#include <concord/{path.name}>\n" for path in sorted((root / "include" / "concord").glob("*.hpp")))
    text = block.text if "#include" in block.text else MAIN.format(headers=headers, text=block.text)
    flags = subprocess.run(["pkg-config", "--cflags", "ompi-cxx"], capture_output=True, text=True, check=True).stdout.split()
    run = subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", *flags,
                          f"-I{root / 'include'}", "-xc++", "-"], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{block}: {run.stderr}"


def furnish(folder, concord, package, root):
    (folder / "build").mkdir()
    (folder / "build" / "bin").symlink_to(concord.parent)
    (folder / "build" / "python").symlink_to(package)
    for name in ("include", "petsc_options"):
        (folder / name).symlink_to(root / name)
    shutil.copytree(root / "examples", folder / "examples")  # some commands write there


def run_page(page, concord, package, root):
    """How many blocks ran, and the reasons of those that did not."""
    blocks = [block for block in blocks_of(page) if block.language in ("sh", "python", "cpp") or block.said]
    if page.is_relative_to(root / "examples"):
        blocks += indented_commands(page)
    told = [block.said["not run"] for block in blocks if "not run" in block.said]
    blocks = [block for block in blocks if "not run" not in block.said]
    environment = {**os.environ, "PYTHONPATH": str(package),
                   "PATH": f"{concord.parent}:{os.environ['PATH']}"}
    begin, written = time.monotonic(), set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, concord, package, root)
        environment["HOME"] = name
        for command in before(page):
            shell(Block(page, 0, "sh", command, {}), folder, environment)
        for block in blocks:
            if "file" in block.said:
                (folder / block.said["file"]).write_text(block.text, encoding="utf-8")
            elif "from" in block.said:
                of_file = (root / block.said["from"]).read_text(encoding="utf-8")
                assert block.text in of_file, f"{block}: {block.said['from']} has changed"
            elif "shown" in block.said:
                assert lines(block.text) <= written, f"{block}: not shown: {lines(block.text) - written}"
            elif block.language == "sh":
                written |= lines(shell(block, folder, environment))
            elif block.language == "cpp":
                cpp(block, root)
        programs = [block for block in blocks if block.language == "python" and "file" not in block.said]
        if programs:
            python(programs, folder, environment)
    if blocks:
        print(f"{page.relative_to(root)}: {len(blocks)} blocks, {time.monotonic() - begin:.1f} s", flush=True)
    return len(blocks), told


def main():
    concord, package, root, *pages = map(Path, sys.argv[1:])
    draw_in_one_python()
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda page: run_page(page, concord, package, root), pages))
    ran, told = sum(count for count, _ in results), [reason for _, reasons in results for reason in reasons]
    assert ran >= 10, ran
    assert len(told) <= NOT_RUN_AT_MOST, told
    assert all(len(reason) > 5 for reason in told), told
    print(f"{ran} blocks ran; {len(told)} did not, as they say")


main()
