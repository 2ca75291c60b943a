"""The examples run, and the package and its examples are typed."""

import importlib.util
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import TestCase

PACKAGE = Path(__file__).resolve().parents[2] / "python"
EXAMPLES = PACKAGE / "examples"
DOCUMENT = PACKAGE.parent / "doc" / "python.md"


def without(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"without {', '.join(missing)}")


class ExamplesTest(TestCase):
    def run_python(self, file, *arguments):
        ended = subprocess.run(
            [sys.executable, file, *arguments],
            cwd=self.directory, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_first_script(self):
        text = (EXAMPLES / "first.py").read_text()
        self.assertLessEqual(len(text.splitlines()), 15)
        self.assertTrue(self.run_python(EXAMPLES / "first.py").startswith("A is richer: True\n"))

    def test_scripts_of_the_document(self):
        for file in self.scripts_of_the_document():
            self.run_python(file)

    def scripts_of_the_document(self):
        scripts = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
        self.assertGreater(len(scripts), 3)
        files = []
        for number, script in enumerate(scripts):
            files.append(self.directory / f"script{number}.py")
            files[-1].write_text(script)
        return files

    @without("nbclient", "ipykernel", "pandas", "matplotlib")
    def test_notebooks(self):
        import nbclient
        import nbformat

        notebooks = sorted(EXAMPLES.glob("*.ipynb"))
        self.assertEqual(len(notebooks), 3)
        for file in notebooks:
            notebook = nbformat.read(file, as_version=4)
            for cell in notebook.cells:
                self.assertFalse(cell.get("outputs"), f"{file.name} is stored with outputs")
            client = nbclient.NotebookClient(
                notebook, timeout=120, resources={"metadata": {"path": str(self.directory)}}
            )
            client.execute()

    @unittest.skipUnless(shutil.which("mypy"), "without mypy")
    def test_is_typed(self):
        ended = subprocess.run(
            [
                "mypy", "--strict", "--python-executable", sys.executable, "--cache-dir",
                self.directory / "cache", PACKAGE / "tinyot", EXAMPLES / "first.py",
                *self.scripts_of_the_document(),
            ],
            cwd=PACKAGE, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()
