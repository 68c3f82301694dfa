"""What `pip install .` installs, laid out as pip does it."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from concord_runs import EXAMPLES, ROOT, TWO_MASS

sys.path.insert(0, str(ROOT / "python"))
import pip_backend  # noqa: E402


class Wheel(unittest.TestCase):
    def test_package_and_program_run_where_pip_puts_them(self):
        build = Path(os.environ["CONCORD_PROGRAM"]).parent.parent
        with tempfile.TemporaryDirectory() as folder:
            name = pip_backend.build_wheel(folder, {"build": str(build)})
            prefix = Path(folder, "prefix")
            packages = prefix / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
            with zipfile.ZipFile(Path(folder, name)) as archive:
                for member in archive.infolist():
                    where, data, rest = member.filename.partition(".data/data/")
                    path = prefix / rest if data else packages / where
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(member))
                    path.chmod(member.external_attr >> 16 & 0o777 or 0o644)
            told = subprocess.run([prefix / "bin" / "concord", "--version"], check=True,
                                  capture_output=True, text=True).stdout
            code = (f"import concord; print(concord.__file__, concord.__version__, "
                    f"concord.run({str(TWO_MASS)!r}).status)")
            run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": str(packages)}, check=True)
            subprocess.run([prefix / "bin" / "concord", "check", EXAMPLES / "driver" / "driver.yaml"],
                           check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(run.stdout.split(), [str(packages / "concord" / "__init__.py"),
                                              told.split()[-1], "completed"])


if __name__ == "__main__":
    unittest.main()
