#!/usr/bin/python3
"""Instructions per evaluation of equations, beside the same formulas in C++; needs valgrind.
   expression_instructions.py EXPRESSION_COST"""
import re
import subprocess
import sys


def instructions(*call):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          sys.argv[1], *map(str, call)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def per_evaluation(case, what, who):
    few, many = (instructions(case, what, who, count) for count in (100, 1100))
    return (many - few) / 1000


for name in ("mass", "prey", "pendulum", "chain"):
    texts = []
    for kind in ("values", "slopes", "jacobians"):
        equations, native = (per_evaluation(name, kind, who) for who in ("equations", "native"))
        texts.append(f"{kind} {equations:7.0f} (C++ {native:6.0f})")
    print(f"{name:9}", *texts)
