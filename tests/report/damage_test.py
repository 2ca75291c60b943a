"""Files that are cut, damaged or missing, and the exit status."""

import fixture
from support import Case, read_csv, run


class DamageTest(Case):
    def setUp(self) -> None:
        super().setUp()
        self.rows = [row for row in fixture.rows() if row["experiment"] == "sizes"][-4:]

    def test_a_last_line_that_is_cut_is_ignored(self) -> None:
        line = fixture.text_of(self.rows[:1]).encode()
        for end in (line[:1], line[:200], line[:-2], b'{"experiment":"\xc3'):
            self.put(self.rows)
            with open(self.folder / "results.jsonl", "ab") as file:
                file.write(end)
            ended = run(self.folder, python=("-S",))  # the CSV is written without matplotlib too
            self.assertEqual(ended.returncode, 1)
            self.assertEqual(len(read_csv(self.folder)), len(self.rows))

    def test_a_whole_last_line_without_line_feed_counts(self) -> None:
        path = self.put(self.rows)
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
        run(self.folder, python=("-S",))
        self.assertEqual(len(read_csv(self.folder)), len(self.rows))

    def test_a_damaged_line_is_an_error_that_names_it(self) -> None:
        good = fixture.text_of(self.rows).encode().splitlines(keepends=True)
        for bad, words in ((b"\n", "not a measurement"), (b"[1]\n", "not an object"),
                           (b"nonsense\n", "not a measurement"), (b'{"a":\xff}\n', "utf-8"),
                           (good[1][:-9] + b"\n", "not a measurement"),
                           (good[1][:9] + good[1], "not a measurement"),
                           (b'{"a":NaN}\n', "NaN"), (b'{"a":"\\ud800"}\n', "surrogates")):
            (self.folder / "results.jsonl").write_bytes(good[0] + bad + good[2])
            message = self.refuse()
            self.assertIn(f"{self.folder}/results.jsonl:2: ", message)
            self.assertIn(words, message)
        (self.folder / "results.jsonl").write_bytes(good[0] + b"{}\n")
        self.assertIn("results.jsonl:2: kind is null", self.refuse())

    def test_a_wrong_field_is_an_error_that_names_it(self) -> None:
        for field, value in (("kind", "other"), ("experiment", 7), ("ands_per_s", "fast"),
                             ("ands_per_s", 0), ("ands_per_s", 1e308), ("bucket", True),
                             ("phases", {"a": "b"}), ("phases", [1]), ("tls", ["no"]),
                             ("ands_per_s_min", -1), ("machine", "a"), ("rtt_ms", None),
                             ("weak", "no")):
            self.put([self.rows[0], self.rows[1] | {field: value}])
            message = self.refuse()
            self.assertIn("results.jsonl:2: ", message)
            self.assertIn(field, message)
        self.put([self.rows[0] | {"phases.layers": 1}])
        self.assertIn("phases.layers has two values", self.refuse())

    def test_a_file_without_rows_is_an_error(self) -> None:
        for content in ("", "\n", '{"experiment"'):
            (self.folder / "results.jsonl").write_text(content)
            message = self.refuse()
            self.assertIn("results.jsonl", message)

    def test_a_missing_file_is_an_error(self) -> None:
        self.assertIn("cannot read", self.refuse())

    def test_a_missing_or_damaged_older_report_is_an_error_before_anything_is_written(self) -> None:
        self.put(self.rows)
        self.assertIn("old/results.jsonl", self.refuse("--compare", str(self.folder / "old")))
        self.put(self.rows, "old/results.jsonl", "{\n")
        self.assertIn("old/results.jsonl:5: ", self.refuse("--compare", str(self.folder / "old")))

    def test_usage_errors_exit_with_2(self) -> None:
        for arguments in (("more",), ("--compare",), ("--other",), ("--comp", "x")):
            self.assertEqual(run(self.folder, *arguments).returncode, 2)

    def test_without_matplotlib_the_csv_is_written_and_the_message_says_what_to_do(self) -> None:
        self.put(self.rows)
        ended = run(self.folder, python=("-S",))
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertEqual(ended.stderr.count("\n"), 1)
        for words in ("matplotlib", "tools/setup-report", "results.jsonl is kept",
                      "results.csv was written"):
            self.assertIn(words, ended.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["results.csv", "results.jsonl"])

    def test_a_file_that_cannot_be_written_is_an_error_and_leaves_no_other(self) -> None:
        self.put(self.rows)
        (self.folder / "results.csv").mkdir()
        ended = run(self.folder)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("cannot write", ended.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["results.csv", "results.jsonl"])
