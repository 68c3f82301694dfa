"""What the program `concord` starts: its commands that show something, as Python does them.

`_command.py NAME --word=value ... -- FILES`. What is wrong is told as the program tells it; the exit
code is the program's.
"""
import errno
import json
import logging
import os
import sys
import time
import warnings

_SHOWN = 12  # names of what is left out
_FOLLOWED = 2.0  # s


class _Unwritten(Exception):
    """Standard output takes no more."""


def _say(*lines):
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left is flushed at the end
        raise _Unwritten(os.strerror(error.errno or errno.EIO)) from error


def _beside(file, ending):
    """The first results file's name, with another ending."""
    return os.path.splitext(file)[0] + ending


def _require_apart(output, files):
    from ._errors import InputError
    for file in files:
        if output and os.path.exists(output) and os.path.exists(file) and os.path.samefile(output, file):
            raise InputError(f"-o names the results file '{file}' itself; choose another file")


def _plot(words, files):
    from . import _plot as plots
    from ._errors import UnreadableResults, WrongWord
    value = {name: texts[-1] for name, texts in words.items()}
    _require_apart(value.get("output"), files)
    plots.require_count(files)
    variables = [name for text in words.get("variables", ()) for name in plots.names_in(text)]
    wish = plots.wish_of(variables, *(value.get(name) for name in ("phase", "range")), value.get("log", ""),
                         *(value.get(name) for name in ("title", "width", "font")), "letters" in words)
    if "network" in words:
        if len(files) > 1 or {"follow", "range", "log", "phase", "variables"} & set(words):
            raise WrongWord("--network goes with one results file and -o alone")
        drawn = plots.network_of(plots.runs_of(files)[0], wish)
        _say(*drawn.save(value.get("output", _beside(files[0], "_network.png"))))
        return
    path = value.get("output", _beside(files[0], ".png"))
    if "follow" not in words:
        _draw(plots, files, wish, path, True)
        return
    if len(files) > 1:
        raise WrongWord("--follow takes one results file")
    status, tells = "running", True
    while status == "running":
        going = plots.goes_on(files[0])
        try:
            status = _draw(plots, files, wish, path, tells)
            tells = False
        except UnreadableResults:
            if not going:
                raise
        if status == "running" and not going:
            _say(f"the run that has written '{files[0]}' is no more")
            return
        if status == "running":
            time.sleep(_FOLLOWED)


def _draw(plots, files, wish, path, tells):
    """Gives the status of the run."""
    from . import _looks as looks
    runs = plots.runs_of(files)
    looks.format_of(path)
    drawing = plots.drawing_of(runs, wish)
    if tells and drawing.labels is None:
        pages = drawing.over_time()
        names = looks.files_of(path, pages.pages)
        if pages.pages > 1:
            _say(f"{len(pages.curves)} curves in {len(pages.panels)} panels on {pages.pages} pages: {names[0]}"
                 + (f" to {names[-1]}" if len(names) > 1 else ""))
    picture = drawing.picture()
    drawn = picture.save(path)
    if tells:
        for why, names in picture.left_out.items():
            more = len(names) - _SHOWN
            _say(f"left out, {why}: {', '.join(names[:_SHOWN])}" + (f" and {more} more" if more > 0 else ""))
        _say(*drawn)
    return runs[0].recorded.status


def _report(words, files):
    from . import _plot as plots
    from . import _report as reports
    reports.require_one(files)
    output = words.get("output", [_beside(files[0], ".html")])[-1]
    _require_apart(output, files)
    variables = [name for text in words.get("variables", ()) for name in plots.names_in(text)]
    run, = plots.runs_of(files)
    _say(reports.page_of(run.recorded, run.file, variables).save(output))


def _ready(words, _):
    """Whether pictures can be drawn."""
    from ._looks import format_of
    for path in words.get("output", ()):
        format_of(path)
    from . import _picture  # noqa: F401


def _view(kind):
    """A picture of data on standard input."""
    def draw(words, _):
        from ._views import VIEWS
        VIEWS[kind](json.load(sys.stdin)).save(words["output"][-1])
    return draw


_COMMANDS = {"plot": _plot, "report": _report, "ready": _ready,
             **{kind: _view(kind) for kind in ("study", "fit", "bode", "nyquist", "step", "poles")}}


def main(arguments):
    """Gives the exit code."""
    from ._errors import InputError, WrongWord
    name, *rest = arguments
    end = rest.index("--")
    words = {}
    for word in rest[:end]:
        key, _, value = word[2:].partition("=")
        words.setdefault(key, []).append(value)
    try:
        _COMMANDS[name](words, rest[end + 1:])
        return 0
    except WrongWord as error:
        return _fail(f"{error.told}; see 'concord {name} --help'", 2)
    except (InputError, ImportError) as error:
        return _fail(error, 2)
    except _Unwritten as error:
        return _fail(f"cannot write to standard output: {error}", 1)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001, whatever a library says
        return _fail(f"{name}: {type(error).__name__}: {error}", 1)


def _fail(message, code):
    print("concord: error: " + " ".join(str(message).splitlines()), file=sys.stderr)
    return code


def _start():
    """As a script it lies in the package itself."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(folder)
    warnings.simplefilter("ignore")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    sys.stdout.reconfigure(errors="surrogateescape")
    sys.stderr.reconfigure(errors="surrogateescape")
    try:
        from concord import _command
    except ImportError as error:
        missing = error.name or ""
        remedy = f"install it (Debian: apt-get install python3-{missing}), or name an interpreter that has it" \
            if not missing.startswith("concord") else f"({error}) name the interpreter for which Concord was built"
        return _fail(f"pictures and reports need {missing or 'more'} in {sys.executable}: {remedy} with "
                     "CONCORD_PYTHON; 'concord export' needs none", 2)
    return _command.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(_start())
