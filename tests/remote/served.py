"""served.py FILE CLASS ADDRESS [connect]: a class as a subsystem, until it is ended."""
import runpy
import sys

import concord

path, name, address = sys.argv[1:4]
concord.serve(runpy.run_path(path)[name], address, connect="connect" in sys.argv[4:])
