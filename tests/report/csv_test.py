"""results.csv has every field of every row, as RFC 4180 has it."""

import json

import fixture
from support import Case, WholeReport, read_csv

AWKWARD = {"experiment": "new", "kind": "online", "circuit": 'a,"b"\n<i>$x^2$</i> é €', "lanes": 2,
           "wall_s": 0.1, "gates_per_s": 1.0, "rtt_ms": 0, "rate_mbit": 0, "nothing": None,
           "new": {"deep": {"er": [1, {"x": "y"}]}, "flag": True}, "large": 2 ** 70}


def flat(row: dict, prefix: str = "") -> dict[str, str]:
    """Written again for the test."""
    cells = {}
    for name, value in row.items():
        if isinstance(value, dict):
            cells |= flat(value, f"{prefix}{name}.")
        elif isinstance(value, str):
            cells[prefix + name] = value
        else:
            cells[prefix + name] = "" if value is None else json.dumps(value, separators=(",", ":"))
    return cells


class CsvTest(WholeReport):
    def test_has_every_field_of_every_row(self) -> None:
        rows = fixture.rows()
        self.assertEqual(len(self.rows), len(rows))
        for row, found in zip(rows, self.rows):
            self.assertEqual({name: text for name, text in found.items() if text},
                             {name: text for name, text in flat(row).items() if text})

    def test_has_the_columns_of_all_kinds(self) -> None:
        for name in ("experiment", "phases.layers", "machine.cpu", "machine.features", "units",
                     "circuit", "share_macs", "paper_offline_s"):
            self.assertIn(name, self.rows[0])

    def test_lines_end_in_cr_lf(self) -> None:
        content = (self.folder / "results.csv").read_bytes()
        self.assertTrue(content.endswith(b"\r\n"))
        self.assertEqual(content.count(b"\n"), len(self.rows) + 1)
        self.assertEqual(content.count(b"\r\n"), len(self.rows) + 1)


class AwkwardCsvTest(Case):
    def test_quotes_commas_newlines_and_unknown_fields(self) -> None:
        self.put([AWKWARD, fixture.rows()[-1]])
        self.report()
        first, second = read_csv(self.folder)
        self.assertEqual({name: text for name, text in first.items() if text},
                         {name: text for name, text in flat(AWKWARD).items() if text})
        self.assertEqual(first["new.deep.er"], '[1,{"x":"y"}]')
        self.assertEqual(first["large"], str(2 ** 70))
        self.assertEqual(second["new.flag"], "")
        self.assertIn(b'"a,""b""\n<i>$x^2$</i> \xc3\xa9 \xe2\x82\xac"',
                      (self.folder / "results.csv").read_bytes())
