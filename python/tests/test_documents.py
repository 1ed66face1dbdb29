"""The tutorial's cells run and print what it says, the API page is that of the docstrings, examples run."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import covtune as ct

ROOT = Path(__file__).resolve().parent.parent.parent
CELL = re.compile(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", re.M | re.S)


class Documents(unittest.TestCase):
    def run_cells(self, path):
        text, scope, count = path.read_text(), {}, 0
        back = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for cell in CELL.finditer(text):
                    line = text.count("\n", 0, cell.start()) + 2
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(compile("\n" * (line - 1) + cell.group(1), str(path), "exec"), scope)
                    self.assertEqual(printed.getvalue(), cell.group(2) or printed.getvalue(), f"{path.name}:{line}")
                    count += 1
            finally:
                os.chdir(back)
        return count

    def test_cells_of_the_tutorial(self):
        self.assertGreaterEqual(self.run_cells(ROOT / "docs" / "python.md"), 9)

    def test_the_page_of_the_interface_is_that_of_the_docstrings(self):
        sys.path.insert(0, str(ROOT / "python"))
        try:
            import document
        finally:
            sys.path.pop(0)
        self.assertEqual((ROOT / "docs" / "python-api.md").read_text(), document.page(ct),
                         "python3 python/document.py docs/python-api.md writes it anew")

    def test_examples(self):
        for path in sorted((ROOT / "examples" / "python").glob("*.py")):
            with tempfile.TemporaryDirectory() as folder:
                out = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True, env={
                    **os.environ, "PYTHONPATH": str(Path(ct.__file__).parent.parent), "MPLBACKEND": "Agg"})
            self.assertEqual(out.returncode, 0, f"{path.name}: {out.stderr}")
            self.assertTrue(out.stdout, path.name)


if __name__ == "__main__":
    unittest.main()
