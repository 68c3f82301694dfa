#!/usr/bin/python3
"""says.py PATTERN COMMAND...: the command ends with exit code 0, and what it prints matches."""
import re
import subprocess
import sys

done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      check=False)
print(done.stdout, end="")
if done.returncode:
    sys.exit(f"says.py: exit code {done.returncode}")
if not re.search(sys.argv[1], done.stdout, re.DOTALL):
    sys.exit(f"says.py: no match of {sys.argv[1]!r}")
