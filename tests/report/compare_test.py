"""Comparison with an older report."""

import copy
import xml.etree.ElementTree as ET

import fixture
from support import Case, plain


class CompareTest(Case):
    def setUp(self) -> None:
        super().setUp()
        rows = fixture.rows()
        self.old = [next(row for row in rows if row["kind"] == kind)
                    for kind in ("online", "blocks")]
        self.old += [row for row in rows if row["experiment"] == "sizes"]
        self.new = copy.deepcopy(self.old)

    def compare(self) -> str:
        self.put(self.old, "old/results.jsonl")
        self.put(self.new)
        text = self.report("--compare", str(self.folder / "old"))
        page = (self.folder / "report.html").read_text().removeprefix("<!DOCTYPE html>\n")
        first = next(ET.fromstring(plain(page)).iter("section"))
        self.assertEqual(first.get("id"), "comparison")
        cells = [[cell.text or "" for cell in row.iter("td")] for row in first.iter("tr")][1:]
        lines = [line.split() for line in text.splitlines()
                 if line.startswith(("better", "worse", "changed"))]
        self.assertEqual([" ".join(row).split() for row in cells], lines)
        for paragraph in [p.text for p in first.iter("p") if not p.get("class")]:
            self.assertIn(paragraph, text.splitlines())
        return text

    def scale(self, row: dict, factor: float, *fields: str) -> None:
        for field in fields:
            row[field] *= factor

    def scale_rate(self, row: dict, factor: float) -> None:
        self.scale(row, factor, "ands_per_s", "ands_per_s_min", "ands_per_s_max")

    def test_equal_reports_are_within_noise(self) -> None:
        text = self.compare()
        self.assertIn("18 measurements compared: 18 within noise. Values: 0 better, 0 worse.",
                      text)
        self.assertNotIn("Only in", text)

    def test_ranges_that_overlap_when_widened_are_noise(self) -> None:
        # The range is 0.9 to 1.06 of the median: widened, 0.855 to 1.113.
        self.scale_rate(self.new[2], 1.30)
        self.scale_rate(self.new[3], 1 / 1.30)
        self.scale(self.new[4], 1.0049, "bytes_per_and")
        self.scale(self.new[5], 1.09, "peak_rss_bytes")
        self.scale(self.new[0], 1.26, "wall_s", "wall_s_min", "wall_s_max")  # 0.9215 to 1.176
        self.scale(self.new[1], 1.10, "gates_per_s")
        self.assertIn("18 within noise. Values: 0 better, 0 worse", self.compare())

    def test_changes_are_found_with_their_direction(self) -> None:
        self.scale_rate(self.new[2], 1.31)
        self.scale_rate(self.new[3], 1 / 1.31)
        self.scale(self.new[4], 0.994, "bytes_per_and")
        self.scale(self.new[5], 1.11, "peak_rss_bytes")
        self.scale(self.new[0], 1.28, "wall_s", "wall_s_min", "wall_s_max")
        self.scale(self.new[1], 1.11, "gates_per_s")
        text = self.compare()
        self.assertIn("18 measurements compared: 12 within noise. Values: 2 better, 3 worse, "
                      "1 changed in single runs", text)
        for words in (("worse", "online links", "time, s", "+28.0 %"),
                      ("changed", "blocks", "gates/s", "+11.0 %"),
                      ("better", "nnob12", "2^10 ANDs", "ANDs/s", "+31.0 %"),
                      ("worse", "nnob12", "2^12 ANDs", "ANDs/s", "-23.7 %"),
                      ("better", "nnob12", "2^14 ANDs", "bytes per AND", "-0.6 %"),
                      ("worse", "nnob12", "2^16 ANDs", "peak memory, bytes", "+11.0 %")):
            line, = [line for line in text.splitlines() if all(word in line for word in words)]

    def test_rows_of_one_report_only_are_named(self) -> None:
        del self.new[2]
        self.new[-1]["sigma"] = 64
        text = self.compare()
        self.assertIn("16 measurements compared: 16 within noise", text)
        self.assertIn("Only in the old report (2): ", text)
        self.assertIn("Only in the new report (1): ", text)
        self.assertIn("Only in the old report (2): 2 of sizes.", text)

    def test_single_runs_are_not_called_better_or_worse(self) -> None:
        self.scale_rate(self.new[2], 2)
        self.scale_rate(self.new[3], 2)
        self.new[2]["repeats"] = 1
        self.old[3].pop("repeats")
        self.new[3]["bytes_per_and"] *= 2  # is exact
        text = self.compare()
        self.assertIn("Values: 0 better, 1 worse, 2 changed in single runs, whose noise is not "
                      "known.", text)
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("changed")]),
                         2)

    def test_rows_without_ranges_and_of_other_machines_are_compared(self) -> None:
        for row in (*self.old, *self.new):
            for field in ("ands_per_s_min", "ands_per_s_max", "wall_s_min", "wall_s_max"):
                row.pop(field, None)
        self.new[2]["ands_per_s"] *= 1.2
        self.new[2]["machine"] = {"cpu": "another"}
        text = self.compare()
        self.assertIn("17 within noise. Values: 1 better", text)
        self.assertIn("The machines differ", text)

    def test_the_last_of_equal_rows_counts(self) -> None:
        self.old.append(copy.deepcopy(self.old[2]))
        self.scale_rate(self.old[2], 5)
        self.assertIn("18 within noise", self.compare())
