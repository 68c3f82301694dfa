"""served.py FILE CLASS ADDRESS UP [connect]: a class as a subsystem, until it is ended; UP is a file that says it is there."""
import runpy
import sys
from pathlib import Path

import concord
import msgpack  # here, so that it is quick once the file says that it is there

path, name, address, up = sys.argv[1:5]
served = runpy.run_path(path)[name]
Path(up).touch()
concord.serve(served, address, connect="connect" in sys.argv[5:])
