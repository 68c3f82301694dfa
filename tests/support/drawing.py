"""Pictures by the program, from processes that have matplotlib already."""
import atexit
import functools
import os
import subprocess
import tempfile
from pathlib import Path


@functools.cache
def draw_in_one_python():
    """Unless CONCORD_PYTHON is set; until this process ends. See python_after_python.py."""
    script = Path(__file__).with_name("python_after_python.py")
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "drawing")
    python = subprocess.Popen(["/usr/bin/python3", "-B", script, "--listen", path], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    atexit.register(lambda: (python.communicate(), folder.cleanup()))
    python.stdout.readline()
    os.environ.update(CONCORD_DRAWING_SOCKET=path)
    os.environ.setdefault("CONCORD_PYTHON", str(script))
