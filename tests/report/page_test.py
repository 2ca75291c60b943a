"""The page stands alone, and its tables have the values of results.csv."""

import math
import re
import xml.etree.ElementTree as ET

import expected
import fixture
from support import Case, WholeReport, plain, run


def parse(page: str) -> ET.Element:
    """The page is XML, so that tags which do not match are found."""
    assert page.startswith("<!DOCTYPE html>\n")
    return ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def text_of(element: ET.Element) -> str:
    return "".join(element.itertext())


def sections(root: ET.Element) -> dict[str, ET.Element]:
    return {section.get("id"): section for section in root.iter("section")}


class PageTest(WholeReport):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.page = (cls.folder / "report.html").read_text()
        cls.root = parse(cls.page)

    def test_needs_nothing_else_and_runs_nothing(self) -> None:
        for word in ("http:", "https:", "//", "@import", "javascript:", "xlink", "xmlns"):
            self.assertNotIn(word, self.page.replace("tinyot bench", ""), word)
        for element in self.root.iter():
            self.assertNotIn(element.tag, ("script", "link", "img", "iframe", "object", "image"))
            self.assertFalse([name for name in element.attrib if name.startswith("on")])
            self.assertIsNone(element.get("src"))
        self.assertIn("viewport", self.page)
        self.assertIn("@media print", self.page)

    def test_ids_are_unique_and_links_resolve(self) -> None:
        ids = [element.get("id") for element in self.root.iter() if element.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        for element in self.root.iter():
            if href := element.get("href"):
                if href.startswith("#"):
                    self.assertIn(href[1:], ids)
                else:
                    self.assertTrue((self.folder / href).exists(), href)
        for used in re.findall(r"url\(#([^)]*)\)", self.page):
            self.assertIn(used, ids)

    def test_has_each_figure_once_with_its_files(self) -> None:
        found = [svg.get("aria-label") for svg in self.root.iter("svg")]
        self.assertEqual(sorted(found), sorted(expected.TITLES.values()))
        hrefs = [a.get("href") for a in self.root.iter("a")]
        for name, title in expected.TITLES.items():
            self.assertEqual(hrefs.count(f"figures/{name}.svg"), 1)
            self.assertEqual(hrefs.count(f"figures/{name}.png"), 1)
            self.assertEqual(text_of(sections(self.root)[name].find("h2")), title)
        for name in ("results.jsonl", "results.csv"):
            self.assertEqual(hrefs.count(name), 1)

    def values(self, name: str) -> list[tuple[float, ...]]:
        """The values of each line of a table; their texts must say the same."""
        found = []
        for row in sections(self.root)[name].find(".//tbody").iter("tr"):
            for data in row.iter("data"):
                text = plain(text_of(data)).replace(",", "")
                if text.startswith("2^"):
                    text = str(2 ** int(text[2:]))
                self.assertTrue(math.isclose(float(text), float(data.get("value")), rel_tol=5e-3),
                                f"{text}: {data.get('value')}")
            found.append(tuple(float(data.get("value")) for data in row.iter("data")))
        return found

    def test_tables_have_the_values_of_the_csv(self) -> None:
        for name, figures in expected.FIGURES.items():
            wanted: dict[tuple, tuple[float, ...]] = {}
            for one in figures:
                for line, points in one.lines(self.rows).items():
                    for x, y, low, high in points:
                        key = (line.removesuffix(one.suffix), x)
                        own = (y, low, high) if one.low else (y,)
                        wanted[key] = (wanted.get(key) or (x,)) + own
            found = self.values(name)
            self.assertEqual(len(found), len(wanted), name)
            for one, other in zip(sorted(found), sorted(wanted.values())):
                self.assertEqual(len(one), len(other), name)
                for a, b in zip(one, other):
                    self.assertTrue(math.isclose(a, b, rel_tol=1e-12), f"{name}: {one}, {other}")

    def test_tables_without_a_figure_have_the_values_of_the_csv(self) -> None:
        for name, (experiment, fields) in expected.TABLES.items():
            self.assertEqual(text_of(sections(self.root)[name].find("h2")),
                             expected.TABLE_TITLES[name])
            rows = [row for row in self.rows if row["experiment"] == experiment]
            for found, row in zip(self.values(name), rows, strict=True):
                wanted = expected.row_of_table(row, fields)
                self.assertEqual(len(found), len(wanted), name)
                for a, b in zip(found, wanted):
                    self.assertTrue(math.isclose(a, b, rel_tol=1e-9), f"{name}: {found}, {wanted}")

    def test_a_table_says_what_tells_its_rows_apart(self) -> None:
        for name, wanted in (("ot-extension", ["OTs", "k"]), ("stored", ["profile", "stored"]),
                             ("prepared-runs", ["lanes", "online", "prepared"])):
            table = sections(self.root)[name].find(".//table")
            headings = [text_of(cell) for cell in table.find("thead").iter("th")]
            self.assertEqual([heading for heading in headings if heading in wanted], wanted)
            cells = [tuple(text_of(cell) for cell in row if cell.find("data") is None)
                     for row in table.find("tbody").iter("tr")]
            self.assertEqual(len(set(cells)), len(cells), name)

    def test_table_of_phases_has_the_shares(self) -> None:
        wanted = sorted(share for parts in expected.bars(self.rows).values()
                        for share in parts.values())
        for (a,), b in zip(sorted(self.values("phases")), wanted, strict=True):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9))

    def test_weak_rows_are_marked(self) -> None:
        wanted = sorted(math.floor(10 * float(row["sigma_paper_bound"])) / 10
                        for row in self.rows if row.get("weak") == "true")
        for name in ("gates-by-bucket", "bytes-by-bucket", "sigma-by-bucket"):
            found = re.findall(r"weak: reaches ([0-9.]+) bits",
                               " ".join(text_of(cell) for cell in
                                        sections(self.root)[name].iter("td")))
            self.assertEqual(sorted(map(float, found)), wanted)
        self.assertGreater(len(wanted), 10)

    def test_has_the_commands_and_the_origin(self) -> None:
        for row in self.rows:
            self.assertIn(row["command"].replace("'", "&#x27;"), self.page)
        origin = text_of(sections(self.root)["origin"])
        for words in ("AMD EPYC, 3.2 GHz, 2 cores, AVX2 VAES SHA-NI", "0.2.0+7a70d71",
                      "GCC 12.2.0", "2026-11-22 20:00:05Z", "buckets 96"):
            self.assertIn(words, origin)
        self.assertNotIn("warning", origin)
        self.assertFalse(list(self.root.iterfind(".//p[@class='warning']")))
        self.assertNotIn("missing", sections(self.root))


class OtherPagesTest(Case):
    def page(self) -> ET.Element:
        self.report()
        return parse((self.folder / "report.html").read_text())

    def test_names_experiments_without_rows(self) -> None:
        self.put([row for row in fixture.rows() if row["experiment"] in ("sizes", "blocks")])
        root = self.page()
        missing = text_of(sections(root)["missing"])
        for words in ("buckets", "links", "online links"):
            self.assertIn(f"no rows of the experiment {words}", missing)
        self.assertEqual(sorted(svg.get("aria-label") for svg in root.iter("svg")), sorted(
            expected.TITLES[name] for name in ("blocks", "cost-by-size", "memory-by-size",
                                               "phases")))
        self.assertFalse((self.folder / "figures" / "gates-by-bucket.svg").exists())

    def test_loopback_rows_alone_make_no_figure_of_links(self) -> None:
        self.put([row for row in fixture.rows() if row["experiment"] == "links"
                  and row["rtt_ms"] == 0])
        self.assertIn("Offline rate by round-trip time",
                      text_of(sections(self.page())["missing"]))

    def test_one_row_alone_is_drawn(self) -> None:
        rows = fixture.rows()
        self.put([next(row for row in rows if row["experiment"] == experiment)
                  for experiment in ("buckets", "blocks", "sizes", "online phases")]
                 + [row for row in rows if row["rtt_ms"] == 5.0][:1]
                 + [row for row in rows if row["rtt_ms"] == 5.0][-1:])
        missing = text_of(sections(self.page())["missing"])
        self.assertFalse([title for title in expected.TITLES.values() if title in missing])

    def test_warns_of_several_versions_and_machines(self) -> None:
        rows = [row for row in fixture.rows() if row["experiment"] == "sizes"]
        rows[0]["version"] = "0.3.0"
        rows[1]["machine"] = {"cpu": "other", "cores": 64}
        self.put(rows)
        warning, = self.page().iterfind(".//p[@class='warning']")
        self.assertIn("2 machines and 2 versions", text_of(warning))
        self.assertIn("**The rows come from 2 machines and 2 versions.**",
                      (self.folder / "report.md").read_text())

    def test_warns_of_other_programs(self) -> None:
        rows = [row for row in fixture.rows() if row["experiment"] == "sizes"]
        rows[0]["others_share"] = 0.1
        rows[2]["others_share"] = None
        self.put(rows)
        self.assertIsNone(self.page().find(".//p[@class='warning']"))
        rows[1]["others_share"] = 0.11
        self.put(rows)
        warning = self.page().find(".//p[@class='warning']")
        self.assertIn(f"1 of {len(rows)} rows were measured while other programs took more than 10%",
                      text_of(warning))

    def test_the_machine_is_named(self) -> None:
        rows = [row for row in fixture.rows() if row["experiment"] == "sizes"]
        for row in rows:
            row["machine"] |= {"memory_bytes": 24 * 2**30, "kernel": "Linux 6.1", "openssl": "3.0.17"}
        self.put(rows)
        words = text_of(sections(self.page())["origin"])
        for part in ("Linux 6.1", "3.0.17", "24.0 GiB"):
            self.assertIn(part, words)

    def test_the_choice_of_the_phase_is_judged(self) -> None:
        rows = [row for row in fixture.rows() if row["experiment"] == "online phases"]
        self.put(rows)
        self.assertIn("within 10 % or 5 ms of the fastest at 6 of 6 points.",
                      text_of(self.page()))
        late, = [row for row in rows if (row["circuit"], row["rtt_ms"], row["online_asked"])
                 == ("aes128", 100.0, "auto")]
        late["wall_s"] *= 1.5
        self.put(rows)
        self.assertRegex(text_of(self.page()), "at 5 of 6 points, and at most 1.[45]")

    def test_texts_of_rows_are_escaped(self) -> None:
        rows = [row for row in fixture.rows() if row["kind"] == "online"][:4]
        for row in rows:
            row["circuit"] = '<script>"a" & $\\frac$ id="x" url(#y)\x01\n' + "long" * 30
            row["command"] = "tinyot </pre><script>alert('x')</script>"
        self.put(rows)
        root = self.page()
        self.assertFalse(list(root.iter("script")))
        self.assertIn("<script>alert", text_of(root))

    def test_the_same_rows_give_the_same_bytes(self) -> None:
        self.put(fixture.rows()[::7], "a/results.jsonl")
        self.put(fixture.rows()[::7], "b/results.jsonl")
        for name, seed, zone in (("a", "1", "UTC"), ("b", "2", "Asia/Tokyo")):
            ended = run(self.folder / name, PYTHONHASHSEED=seed, TZ=zone)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        files = [path.relative_to(self.folder / "a")
                 for path in (self.folder / "a").rglob("*") if path.is_file()]
        self.assertEqual(len(files), 4 + 3 * len(expected.TITLES))
        for path in files:
            self.assertEqual((self.folder / "a" / path).read_bytes(),
                             (self.folder / "b" / path).read_bytes(), path)
