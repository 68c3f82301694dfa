#!/usr/bin/python3
"""Microseconds per macro-step of a subsystem in another process, for the table of doc/remote_subsystems.md.

remote_cost.py PROGRAM [RUNS]: the controller of examples/remote in C and in Python, and one of two masses by
`concord serve`, over TCP, ipc:// and shm://; and the same isolated and inside. The least of RUNS runs of 10 000
steps each. PYTHONPATH has the package concord.
"""
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REMOTE, MASSES = ROOT / "examples" / "remote", ROOT / "examples" / "two_mass" / "two_mass.yaml"
STEPS = 10_000
HELD = ("-cosim_type", "jacobi", "-cosim_halving", "none", "-cosim_diverged", "warn", "-cosim_record", "none")
PLANT = (REMOTE / "remote.yaml").read_text(encoding="utf-8")
RIGHT = """  right:
    equations:
      parameters: {m: 80, c: 1e5, d: 40, c_couple: 1e4, d_couple: 10}
      inputs: {x_left: 1, v_left: 0}
      states: {x: 3, v: 0}
      derivatives: {x: v, v: (-c*x - d*v - c_couple*(x - x_left) - d_couple*(v - v_left))/m}
      outputs: {f: c_couple*(x - x_left) + d_couple*(v - v_left), x: x, v: v}
connections: [right.f -> left.f, left.x -> right.x_left, left.v -> right.v_left]
"""


class Bench:
    def __init__(self, program, runs, folder):
        self.program, self.runs, self.folder = program, runs, folder

    def cost(self, text):
        """Microseconds per step of the model."""
        model = self.folder / "model.yaml"
        model.write_text(text, encoding="utf-8")
        least = float("inf")
        for _ in range(self.runs):
            (self.folder / "run.h5").unlink(missing_ok=True)
            run = subprocess.run([self.program, "run", model, *HELD, "-cosim_step", "1e-3", "-cosim_stop", str(STEPS * 1e-3),
                                  "-cosim_output", self.folder / "run.h5"], capture_output=True, text=True, check=False)
            found = re.search(r"time in s +step ([0-9.e+-]+)", run.stdout)
            if not found:
                raise SystemExit(run.stdout + run.stderr)
            least = min(least, float(found[1]) / STEPS * 1e6)
        return least

    def beside(self, command, address, text):
        """The same with that process, which listens there."""
        process = subprocess.Popen([*map(str, command), address], stdout=subprocess.DEVNULL)
        try:
            time.sleep(0.1)
            return self.cost(text)
        finally:
            process.kill()
            process.wait()

    def row(self, name, command, model):
        costs = []
        for i, scheme in enumerate(("tcp", "ipc", "shm")):
            address = f"tcp://127.0.0.1:{5600 + i}" if scheme == "tcp" else f"{scheme}://{self.folder}/{scheme}"
            costs.append(self.beside(command, address, model(address)))
        print(f"{name:34}", *(f"{each:8.1f}" for each in costs), flush=True)

    def masses(self, left):
        return f"experiment: {{stop: 1}}\nsubsystems:\n  left: {left}\n" + RIGHT

    def all(self):
        print(f"{'microseconds per macro-step':34}", *(f"{each:>8}" for each in ("TCP", "ipc", "shm")))
        c = self.folder / "controller"
        subprocess.run(["cc", "-O2", REMOTE / "controller.c", "-o", c, "-lzmq"], check=True)
        old = 'connect: "tcp://127.0.0.1:5555"'
        plant = lambda more: lambda address: PLANT.replace(old, f'connect: "{address}"{more}')
        self.row("C", [c], plant(""))
        self.row("Python", ["/usr/bin/python3", REMOTE / "controller.py"], plant(""))
        serve = [self.program, "serve", MASSES, "--subsystem", "left", "--at"]
        beside = "inputs: {f: 20000}, outputs: {x: 1, v: 0}"
        self.row("concord serve", serve, lambda at: self.masses(f'{{remote: {{connect: "{at}", offers: [state]}}, {beside}}}'))
        self.row("concord serve, whole", serve, lambda at: self.masses(f'{{remote: {{connect: "{at}", whole: true}}}}'))
        fmu = self.folder / "left.fmu"
        subprocess.run([self.program, "export-fmu", MASSES, "left", "-o", fmu], check=True, stdout=subprocess.DEVNULL)
        print(f"FMU, isolated {self.cost(self.masses(f'{{fmu: {fmu}, isolated: true}}')):8.1f}")
        print(f"FMU, inside {self.cost(self.masses(f'{{fmu: {fmu}}}')):8.1f}")
        print(f"controller inside {self.cost((REMOTE / 'inside.yaml').read_text(encoding='utf-8')):8.1f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        Bench(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, Path(made)).all()
