"""Rows, however many, take no memory: 10^6 of them here, 10^7 with CONCORD_LONG (tests/long.sh)."""
import os
import subprocess
import time
import unittest

import h5py
from concord_runs import SPRING_MASS, ModelTest

ROWS = 10_000_000 if "CONCORD_LONG" in os.environ else 1_000_000


def resident(process):
    """kB of memory that the process has; None where it has ended."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmRSS")), None)
    except OSError:
        return None


class Memory(ModelTest):
    def sizes(self, *options):
        """Of the process, from time to time, and rows in the end."""
        path = self.folder / "long.h5"
        path.unlink(missing_ok=True)
        words = [os.environ["CONCORD_PROGRAM"], "run", SPRING_MASS, "-cosim_type", "jacobi",
                 "-cosim_step", 20.0 / ROWS, "-cosim_output", path, *options]
        run = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
        found = []
        while run.poll() is None:
            size = resident(run)
            if size:
                found.append(size)
            time.sleep(0.05)
        self.assertEqual(run.returncode, 0)
        with h5py.File(path) as file:
            return found, len(file["time"]), len(file["steps/size"])

    def test_rows_take_none(self):
        """Buffers of 65536 rows fill up once."""
        for options, rows in (((), ROWS + 1), (("-cosim_output_interval", 40.0 / ROWS),
                                               ROWS // 2 + 1)):
            sizes, found, steps = self.sizes(*options)
            self.assertEqual((found, steps), (rows, ROWS))
            middle, end = sizes[len(sizes) // 2], max(sizes[len(sizes) // 2:])
            print(f"{rows} rows: {middle} kB in the middle, at most {end} kB behind it")
            self.assertLess(end - middle, 8000)


if __name__ == "__main__":
    unittest.main()
