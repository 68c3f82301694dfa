#!/usr/bin/python3 -ISB
"""An interpreter for CONCORD_PYTHON: what draws goes on in a process forked from one that has matplotlib already,
whose import takes longer than most pictures. All else, and what nobody waits for like `--follow`, has an interpreter
of its own.

As `python_after_python.py --listen SOCKET` it is that one: until its standard input ends.
"""
import os
import sys

REAL = "/usr/bin/python3"
SOCKET = "CONCORD_DRAWING_SOCKET"


def listen(path):
    """A process for each connection."""
    import select
    import socket
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    print("ready", flush=True)
    ready = False
    while server in select.select([server, sys.stdin], [], [])[0]:
        connection, _ = server.accept()
        words, files = received(connection)
        if not ready:
            prepare(words[1])
            ready = True
        if os.fork() == 0:
            server.close()
            answer(connection, words, files)
        for file in files:
            os.close(file)
        connection.close()
        while ready and waited(os.WNOHANG):
            pass
    os.unlink(path)
    while waited(0):
        pass


def waited(how):
    try:
        return os.waitpid(-1, how)[0] != 0
    except ChildProcessError:
        return False


def sent(connection, words):
    """Behind their length, a zero byte behind each; standard streams go with the first bytes."""
    import socket
    text = b"".join(os.fsencode(word) + b"\0" for word in words)
    text = b"%08d" % len(text) + text
    done = socket.send_fds(connection, [text], [0, 1, 2])
    connection.sendall(text[done:])


def received(connection):
    import socket
    text, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while len(text) < 8 + int(text[:8]):
        text += connection.recv(1 << 16)
    return [os.fsdecode(word) for word in text[8:].split(b"\0")[:-1]], files


def prepare(script):
    """All that pictures need; what is missing is told by who needs it."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(script)))
    try:
        import concord._picture  # noqa: F401
        import concord._plot  # noqa: F401
        import concord._report  # noqa: F401
        import concord._views  # noqa: F401
        import matplotlib.backends.backend_pdf
        import matplotlib.backends.backend_svg
        import matplotlib.figure
        import io
        matplotlib.figure.Figure().subplots().figure.savefig(io.BytesIO())  # finds fonts
    except ImportError:
        pass


def answer(connection, words, files):
    """As the script would end alone."""
    import runpy
    folder, script, count, *rest = words
    os.environ.clear()
    os.environ.update(word.split("=", 1) for word in rest[int(count):])
    for stream, file in enumerate(files):
        os.dup2(file, stream)
    os.chdir(folder)
    sys.argv = [script, *rest[:int(count)]]
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        connection.sendall(b"%d" % code)
        os._exit(code)


def main():
    words = sys.argv[1:]
    path = os.environ.get(SOCKET)
    if words[:1] == ["--listen"]:
        listen(words[1])
    elif path and words and words[0].endswith("/_command.py") and not any("--follow" in word for word in words):
        import socket
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        environment = [f"{name}={value}" for name, value in os.environ.items()]
        sent(connection, [os.getcwd(), words[0], str(len(words) - 1), *words[1:], *environment])
        sys.exit(int(connection.recv(8) or b"1"))
    else:
        os.execv(REAL, [REAL, *words])


main()
