"""The short form of install.py: the build folder that is there is used."""
import os
import subprocess
import sys
import unittest
from pathlib import Path


class Install(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("COVTUNE_BUILD"), "COVTUNE_BUILD names no build folder")
    def test_environments_are_clean_before_and_after(self):
        try:
            import ensurepip  # noqa: F401
            import venv  # noqa: F401
        except ImportError as why:
            self.skipTest(f"python3-venv is not there: {why}")
        out = subprocess.run([sys.executable, str(Path(__file__).parent / "install.py")], capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        self.assertEqual(out.stdout.count("nothing is left"), 2, out.stdout)


if __name__ == "__main__":
    unittest.main()
