"""report.md has the tables of the page."""

import re
import xml.etree.ElementTree as ET

import expected
from support import WholeReport


def rows_of(table: ET.Element) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


class MarkdownTest(WholeReport):
    def setUp(self) -> None:
        self.text = (self.folder / "report.md").read_text()
        self.parts = re.split(r"^## ", self.text, flags=re.MULTILINE)

    def test_has_the_tables_of_the_page(self) -> None:
        page = (self.folder / "report.html").read_text().removeprefix("<!DOCTYPE html>\n")
        tables = [rows_of(table) for table in ET.fromstring(page).iter("table")]
        found = []
        for part in self.parts:
            lines = [line for line in part.splitlines() if line.startswith("|")]
            cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
            found.append([row for row in cells if set(row) not in ({"---"}, {""})])
        self.assertEqual(found, tables)
        self.assertGreater(len(found), 8)

    def test_shows_each_figure(self) -> None:
        for name, title in expected.TITLES.items():
            self.assertIn(f"](figures/{name}.svg)", self.text)
            self.assertTrue((self.folder / "figures" / f"{name}.svg").exists())
            self.assertTrue(any(part.startswith(f"{title}\n") for part in self.parts), title)

    def test_lines_of_sentences_are_short(self) -> None:
        for line in self.text.splitlines():
            if not line.startswith(("|", "!")):
                self.assertLessEqual(len(line), 100)
