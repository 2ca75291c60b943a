"""tools/bench/history.py keeps each report once, and a line is of what all its reports measured."""

import copy
import math
import pathlib
import sys
import tempfile
import unittest

import fixture

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/bench"))
import history  # noqa: E402
import rows  # noqa: E402


def later(report: list[dict], factor: float) -> list[dict]:
    """The same measurements a month later, by another version, at `factor` times the rate."""
    changed = copy.deepcopy(report)
    for row in changed:
        row["date"] = row["date"].replace("2026-11", "2026-12")
        row["version"] = "0.3.0+1a2b3c4"
        for name in ("ands_per_s", "gates_per_s", "ots_per_s"):
            if name in row:
                row[name] *= factor
        if "wall_s" in row:
            row["wall_s"] /= factor
    return changed


class HistoryTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.csv = self.folder / "history.csv"
        self.report = fixture.rows()

    def add(self, report: list[dict]) -> None:
        (self.folder / "results.jsonl").write_text(fixture.text_of(report))
        history.add(self.csv, self.folder)

    def test_keeps_every_measurement_of_every_report(self) -> None:
        self.add(self.report)
        self.add(later(self.report, 2))
        kept = history.read(self.csv)
        self.assertEqual(len(kept), 2 * len(self.report))
        self.assertEqual(kept, history.entries_of(self.report) + history.entries_of(later(self.report, 2)))

    def test_refuses_a_report_that_it_has(self) -> None:
        self.add(self.report)
        before = self.csv.read_bytes()
        with self.assertRaisesRegex(rows.Failure, "has this report already"):
            self.add(self.report)
        self.assertEqual(self.csv.read_bytes(), before)

    def test_a_line_follows_the_rate(self) -> None:
        both = history.entries_of(self.report) + history.entries_of(later(self.report, 2))
        lines = history.lines_of(both)
        self.assertGreater(len(lines), 4)
        self.assertEqual({line[0] for line in lines}, set(history.QUANTITIES))
        for points in lines.values():
            (_, old), (_, new) = points
            self.assertTrue(math.isclose(new / old, 2, rel_tol=1e-4), points)

    def test_a_line_leaves_out_what_one_report_lacks(self) -> None:
        fewer = later(self.report, 1)[::2]
        for points in history.lines_of(history.entries_of(self.report) + history.entries_of(fewer)).values():
            rates = [rate for _, rate in points]
            self.assertTrue(math.isclose(min(rates), max(rates), rel_tol=1e-4), points)

    def test_machines_are_not_joined(self) -> None:
        other = later(self.report, 3)
        for row in other:
            row["machine"] = {"cpu": "another one", "cores": 8}
        for points in history.lines_of(history.entries_of(self.report) + history.entries_of(other)).values():
            self.assertEqual(len(points), 1)

    def test_refuses_a_damaged_file(self) -> None:
        for text in ("date,version\n", ",".join(history.FIELDS) + "\na,b\n"):
            self.csv.write_text(text)
            with self.assertRaises(rows.Failure):
                history.read(self.csv)

    def test_draws_the_same_bytes_twice(self) -> None:
        both = history.entries_of(self.report) + history.entries_of(later(self.report, 2))
        drawn = []
        for name in ("one.svg", "two.svg"):
            history.draw(both, self.folder / name)
            drawn.append((self.folder / name).read_bytes())
        self.assertEqual(*drawn)
        self.assertIn(b"0.3.0+1a2b3c4", drawn[0])


if __name__ == "__main__":
    unittest.main()
