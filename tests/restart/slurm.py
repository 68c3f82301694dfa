"""The example's job scripts in a real Slurm of one node; skipped, with the reason, without one."""
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

import h5py
from concord_runs import EXAMPLES, TWO_MASS, execute
from restart_runs import RestartTest, differences

SCRIPTS = EXAMPLES / "slurm"
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={next_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SchedulerType=sched/builtin
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE OverTimeLimit=0 State=UP
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """munged, slurmctld and slurmd with files of their own in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.logs = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=user.strip(), folder=folder,
            port=free_port(), next_port=free_port()))
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self):
        """Why it doesn't, or None."""
        paths = [f"--{name}={self.folder}/munge.{end}" for name, end in (
            ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"),
            ("seed-file", "seed"))]
        for words in (["munged", "--force", *paths], ["slurmctld", "-c"], ["slurmd", "-c"]):
            run = subprocess.run(words, capture_output=True, text=True, check=False)
            if run.returncode:
                return f"{words[0]} does not start: {(run.stderr or run.stdout).strip()}"
        for _ in range(60):
            seen = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True,
                                  check=False)
            if "idle" in seen.stdout:
                return None
            time.sleep(0.5)
        return f"the node does not become idle: {seen.stdout}{seen.stderr}"

    def stop(self):
        for name in ("d", "ctld", "munge"):
            try:
                os.kill(int((self.folder / f"{name}.pid").read_text()), signal.SIGTERM)
            except (OSError, ValueError):
                pass
        time.sleep(1)


class Queue(RestartTest):
    EPOCH = 50

    def setUp(self):
        super().setUp()
        lacking = [name for name in ("munged", "slurmctld", "slurmd", "sbatch")
                   if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
        if lacking:
            self.skipTest(f"no Slurm here: {', '.join(lacking)} not found (Debian: slurmctld, "
                          "slurmd, slurm-client, munge)")
        os.environ["PATH"] += ":/usr/sbin"
        self.folder.chmod(0o755)
        where = self.folder / "slurm"
        where.mkdir()
        node = Node(where)
        self.addCleanup(node.stop)
        if reason := node.start():
            self.skipTest(f"Slurm cannot run here: {reason}")
        os.environ["CONCORD"] = os.environ["CONCORD_PROGRAM"]

    def submit(self, *words):
        run = subprocess.run(["sbatch", *map(str, words)], cwd=self.folder, capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def wait_until_empty(self, seconds):
        for _ in range(int(2 * seconds)):
            queue = subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True)
            if not queue.stdout.strip():
                return
            time.sleep(0.5)
        self.fail(f"jobs are left: {queue.stdout}{self.log()}")

    def log(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("concord*.log")))

    def test_a_run_longer_than_its_jobs(self):
        """Limits are minutes in Slurm; the signal comes ahead of them by 50 of 60 s."""
        if "CONCORD_LONG" not in os.environ:
            self.skipTest("takes minutes: bash tests/long.sh runs it")
        options = ("-cosim_type", "jfm", "-cosim_step", 1e-5, "-cosim_stop", 8,
                   "-cosim_checkpoint_epoch", 1000)
        self.submit("--time=1", "--signal=B:USR1@50", SCRIPTS / "job.sh", TWO_MASS, *options)
        self.wait_until_empty(240)
        self.assertGreater(self.log().count("goes on from t = "), 0, self.log())
        results = self.folder / "two_mass.h5"
        with h5py.File(results) as file:
            self.assertEqual(file.attrs["status"], "completed", self.log())
        run = execute("run", TWO_MASS, *options, "-cosim_output", self.folder / "whole.h5",
                      "-cosim_checkpoint", self.folder / "whole.chk", ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(differences(self.folder / "whole.h5", results), [])

    def test_an_array_over_a_parameter(self):
        self.submit("--array=0-2", SCRIPTS / "array.sh", TWO_MASS, "left.m", 4, 5, 6)
        self.wait_until_empty(120)
        ends = []
        for task in range(3):
            with h5py.File(self.folder / f"two_mass-{task}.h5") as file:
                self.assertEqual(file.attrs["status"], "completed", self.log())
                self.assertEqual(file.attrs["changes"].strip(), f"left.m={4 + task}")
                ends.append(file["outputs/values"][-1, 0])
        self.assertEqual(len(set(ends)), 3)


if __name__ == "__main__":
    unittest.main()
