"""Runs the program on rows, and reads what it wrote."""

import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import fixture

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench" / "report"
Row = dict[str, str]


def plain(text: str) -> str:
    """With 2^10 instead of a superscript."""
    return re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: "^" + match[0].translate(
        str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")), text)


def run(folder: pathlib.Path, *arguments: str, python: tuple[str, ...] = (),
        **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *python, PROGRAM, folder, *arguments], text=True,
                          capture_output=True, env=os.environ | environment)


def read_csv(folder: pathlib.Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO((folder / "results.csv").read_bytes().decode(),
                                           newline="")))


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def put(self, rows: list[dict], name: str = "results.jsonl", end: str = "") -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((fixture.text_of(rows) + end).encode())
        return path

    def report(self, *arguments: str) -> str:
        """Its stdout. It must succeed."""
        ended = run(self.folder, *arguments)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def refuse(self, *arguments: str) -> str:
        """The message of a failure after which nothing was written."""
        before = sorted(self.folder.rglob("*"))
        ended = run(self.folder, *arguments)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        return ended.stderr


class WholeReport(unittest.TestCase):
    """Tests of the report of the whole fixture, which is made once."""
    folder: pathlib.Path
    rows: list[Row]
    _scratch: tempfile.TemporaryDirectory | None = None

    @classmethod
    def setUpClass(cls) -> None:
        if WholeReport._scratch is None:
            WholeReport._scratch = tempfile.TemporaryDirectory()
            WholeReport.folder = pathlib.Path(WholeReport._scratch.name)
            (cls.folder / "results.jsonl").write_text(fixture.text_of(fixture.rows()))
            ended = run(cls.folder)
            assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
            WholeReport.rows = read_csv(cls.folder)
