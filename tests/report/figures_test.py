"""The figures show what results.csv has."""

import copy
import re
import unittest
import xml.etree.ElementTree as ET

import expected
from drawing import HREF, SVG, Drawing
from support import Row, WholeReport

TOLERANCE = 0.005


class FiguresTest(WholeReport):
    def svg(self, name: str) -> bytes:
        return (self.folder / "figures" / f"{name}.svg").read_bytes()

    def assert_near(self, found: list[tuple], wanted: list[tuple], what: str) -> None:
        self.assertEqual(len(found), len(wanted), what)
        for one, other in zip(found, wanted):
            for a, b in zip(one, other, strict=True):
                self.assertLessEqual(abs(a - b), TOLERANCE * abs(b), f"{what}: {one}, not {other}")

    def check(self, name: str, svg: bytes, rows: list[Row]) -> None:
        """The lines, the points on them and the ranges are those of the rows, and no others."""
        drawing = Drawing(svg, name)
        lines = {gid: points for one in expected.FIGURES[name]
                 for gid, points in one.lines(rows).items()}
        drawn, points, ranges = drawing.lines(), drawing.points(), drawing.ranges()
        self.assertEqual(sorted(drawn), sorted(lines))
        self.assertEqual(sorted(points), sorted(lines))
        self.assertEqual(sorted(ranges), sorted(
            gid for gid, wanted in lines.items() if any(low < high for _, _, low, high in wanted)))
        for gid, wanted in lines.items():
            self.assert_near(drawn[gid], [point[:2] for point in wanted], gid)
            self.assert_near([point[:2] for point in points[gid]],
                             [point[:2] for point in wanted], gid)
            if gid in ranges:
                self.assert_near(ranges[gid], [(x, low, high) for x, _, low, high in wanted], gid)

    def check_bars(self, svg: bytes, rows: list[Row]) -> None:
        wanted = {f"{bar}.{re.sub('[^A-Za-z0-9.=^,-]+', '_', part)}": share
                  for bar, parts in expected.bars(rows).items() for part, share in parts.items()}
        found = Drawing(svg, "phases").bars()
        self.assertEqual(sorted(found), sorted(wanted))
        for gid, share in wanted.items():
            left, right = found[gid]
            self.assertAlmostEqual(right - left, share, delta=0.01 + TOLERANCE * share, msg=gid)
        for bar in expected.bars(rows):  # from 0 to 100, without gaps
            ends = sorted(ends for gid, ends in found.items() if gid.startswith(f"{bar}."))
            self.assert_near([(left,) for left, _ in ends[1:]],
                             [(right,) for _, right in ends[:-1]], bar)
            self.assertAlmostEqual(ends[0][0], 0, delta=0.01)
            self.assertAlmostEqual(ends[-1][1], 100, delta=0.1)

    def test_points_are_those_of_the_csv(self) -> None:
        for name in expected.FIGURES:
            with self.subTest(name):
                self.check(name, self.svg(name), self.rows)

    def test_bars_are_those_of_the_csv(self) -> None:
        self.check_bars(self.svg("phases"), self.rows)

    def test_a_changed_value_is_found(self) -> None:
        changed = {"gates-by-bucket": "gates_per_s_then", "bytes-by-bucket": "bytes_per_and",
                   "sigma-by-bucket": "sigma_exact", "offline-by-rtt": "ands_per_s_max",
                   "online-by-rtt": "wall_s_max", "time-by-rtt": "wall_s",
                   "blocks": "paper_online_s",
                   "cost-by-size": "ands_per_s", "memory-by-size": "peak_rss_bytes"}
        for name, field in changed.items():
            rows = copy.deepcopy(self.rows)
            row = expected.FIGURES[name][-1].rows(rows)[-1]
            row[field] = str(float(row[field]) * 1.011)
            with self.subTest(name), self.assertRaises(AssertionError):
                self.check(name, self.svg(name), rows)
        rows = copy.deepcopy(self.rows)
        row = [row for row in rows if row["experiment"] == "sizes"][-1]
        row["phases.layers"] = str(float(row["phases.layers"]) * 1.011)
        with self.assertRaises(AssertionError):
            self.check_bars(self.svg("phases"), rows)

    def test_a_moved_point_is_found(self) -> None:
        for name in expected.FIGURES:
            root = ET.fromstring(self.svg(name))
            group = next(group for group in root.iter(f"{SVG}g")
                         if group.get("id", "").startswith(f"{name}.point."))
            use = next(group.iter(f"{SVG}use"))
            use.set("y", str(float(use.get("y")) + 2))
            with self.subTest(name), self.assertRaises(AssertionError):
                self.check(name, ET.tostring(root), self.rows)

    def test_a_missing_line_is_found(self) -> None:
        rows = [row for row in self.rows if row["profile"] != "fast"]
        with self.assertRaises(AssertionError):
            self.check("cost-by-size", self.svg("cost-by-size"), rows)

    def test_markers_show_sigma_and_weak_rows_are_hollow_crosses(self) -> None:
        for name in ("gates-by-bucket", "bytes-by-bucket"):
            points = Drawing(self.svg(name), name).points()
            shapes: dict[str, set[str]] = {}
            for row in self.rows:
                if row["experiment"] == "buckets":
                    line = points[f"profile={row['profile']},unit={row['unit']}"]
                    (shape, style), = [(shape, style) for x, _, shape, style in line
                                       if abs(x - float(row["bucket"])) < 0.01]
                    is_weak = row["weak"] == "true"
                    self.assertEqual("fill: #ffffff" in style, is_weak)
                    shapes.setdefault("weak" if is_weak else row["sigma"], set()).add(shape)
            self.assertEqual(sorted(shapes), ["40", "64", "80", "weak"])
            self.assertEqual([len(some) for some in shapes.values()], [1] * 4)
            self.assertEqual(len(set.union(*shapes.values())), 4)
            self.assertIn("weak: misses sigma", self.svg(name).decode())

    def test_lines_of_a_panel_differ_without_colour(self) -> None:
        for name in expected.FIGURES:
            drawing = Drawing(self.svg(name), name)
            markers = {gid: {shape for _, _, shape, _ in points}
                       for gid, points in drawing.points().items()}
            looks: dict[int, list[tuple]] = {}
            for gid, panel, group in drawing.found("line"):
                dash = re.search("stroke-dasharray: [^;]*", group.find(f"{SVG}path").get("style"))
                looks.setdefault(id(panel), []).append(
                    (dash[0] if dash else "", *sorted(markers[gid])))
            for some in looks.values():
                self.assertEqual(len(set(some)), len(some), name)

    def test_texts_are_texts_and_ids_are_unique_and_resolve(self) -> None:
        for name in (*expected.FIGURES, "phases"):
            root = ET.fromstring(self.svg(name))
            self.assertGreater(len(list(root.iter(f"{SVG}text"))), 10)
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            self.assertEqual(len(ids), len(set(ids)), name)
            self.assertTrue(all(some.startswith(f"{name}.") for some in ids))
            text = self.svg(name).decode()
            for used in re.findall(r"url\(#([^)]*)\)", text):
                self.assertIn(used, ids)
            for element in root.iter(f"{SVG}use"):
                self.assertIn(element.get(HREF)[1:], ids)

    def test_each_figure_is_a_png_and_a_pdf_too(self) -> None:
        names = sorted(path.name for path in (self.folder / "figures").iterdir())
        self.assertEqual(names, sorted(f"{name}.{kind}" for name in expected.TITLES
                                       for kind in ("pdf", "png", "svg")))
        for name in expected.TITLES:
            png = (self.folder / "figures" / f"{name}.png").read_bytes()
            self.assertTrue(png.startswith(b"\x89PNG\r\n\x1a\n"))
            pdf = (self.folder / "figures" / f"{name}.pdf").read_bytes()
            self.assertTrue(pdf.startswith(b"%PDF-"))


if __name__ == "__main__":
    unittest.main()
