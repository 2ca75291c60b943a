"""Compares two reports: which measurements changed by more than noise."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from wording import ASKED, BEFORE, Row, label, number, telling

WIDENED = 0.05
HEADINGS = ["", "experiment", "measurement", "of", "old", "new", "change"]
# Asked fields that follow from others: the circuit says how many ANDs a run has, and they what
# material is made for it.
NOT_ASKED = {"offline": (), "online": ("ands", "bucket", "unit"), "ot": (),
             "blocks": ("ands", "bucket", "unit")}


@dataclass(frozen=True)
class Comparison:
    """Changes are lines of a table, better, worse or changed first; the summary is of sentences."""
    changes: list[list[str]]
    summary: list[str]


def asked(row: Row) -> tuple:
    """What identifies a measurement: rows that agree in it are compared."""
    return (row["kind"], row["experiment"],
            *(row.get(field, BEFORE.get(field)) for field in ASKED
              if field not in NOT_ASKED[row["kind"]]))


def apart(old: Row, new: Row, field: str) -> bool:
    """Whether the ranges of the runs, widened, do not overlap."""
    (old_low, old_high), (new_low, new_high) = (
        ((row.get(f"{field}_min") or row[field]) * (1 - WIDENED),
         (row.get(f"{field}_max") or row[field]) * (1 + WIDENED)) for row in (old, new))
    return old_low > new_high or new_low > old_high


def by_more_than(tolerance: float) -> Callable[[Row, Row, str], bool]:
    return lambda old, new, field: abs(new[field] - old[field]) > tolerance * old[field]


# By kind: field, words, whether more is better, and whether a difference counts.
MEMORY = ("peak_rss_bytes", "peak memory, bytes", False, by_more_than(0.1))
RULES: dict[str, list[tuple[str, str, bool, Callable[[Row, Row, str], bool]]]] = {
    "offline": [("ands_per_s", "ANDs/s", True, apart),
                ("bytes_per_and", "bytes per AND", False, by_more_than(0.005)), MEMORY],
    "online": [("wall_s", "time, s", False, apart),
               ("bits_per_and", "bits per AND", False, by_more_than(0.005)), MEMORY],
    "ot": [("ots_per_s", "OTs/s", True, apart),
           ("bytes_per_ot", "bytes per OT", False, by_more_than(0.005))],
    "blocks": [("gates_per_s", "gates/s", True, apart)]}


TIMED = ("ands_per_s", "wall_s", "ots_per_s", "gates_per_s")


def verdict(old: Row, new: Row, field: str, more_is_better: bool) -> str:
    """Of single runs, nobody knows how far two of one version are apart."""
    if field in TIMED and min(row.get("repeats", 1) for row in (old, new)) < 2:
        return "changed"
    return "better" if (new[field] > old[field]) == more_is_better else "worse"


def changes_of(old: Row, new: Row, name: str) -> list[list[str]]:
    return [[verdict(old, new, field, more_is_better), new["experiment"], name, what, number(old[field]), number(new[field]),
             f"{100 * (new[field] / old[field] - 1):+.1f} %"]
            for field, what, more_is_better, counts in RULES[new["kind"]]
            if old.get(field) and new.get(field) and counts(old, new, field)]


def origin(rows: list[Row]) -> str:
    """Where and with which version rows were measured."""
    versions = dict.fromkeys(str(row.get("version", "unknown version")) for row in rows)
    machines = dict.fromkeys(str(row.get("machine", {}).get("cpu", "unknown processor"))
                             for row in rows)
    return f"{', '.join(versions)} on {', '.join(machines)}"


def machines(rows: list[Row]) -> set[str]:
    return {json.dumps(row.get("machine"), sort_keys=True) for row in rows}


def compare(old_rows: list[Row], new_rows: list[Row]) -> Comparison:
    """Of rows that were measured twice the last one counts."""
    old, new = ({asked(row): row for row in rows} for rows in (old_rows, new_rows))
    everything = [*old.values(), *new.values()]
    fields = {experiment: telling([row for row in everything if row["experiment"] == experiment])
              for experiment in {row["experiment"] for row in everything}}

    def name(row: Row) -> str:
        return label(row, fields[row["experiment"]]) or "the only one"
    pairs = [(old[key], row) for key, row in new.items() if key in old]
    found = [changes_of(before, row, name(row)) for before, row in pairs]
    changes = [change for some in found for change in some]
    count = Counter(change[0] for change in changes)
    summary = []
    if machines(old_rows) != machines(new_rows):
        summary.append("The machines differ, which can be the reason of changes.")
    summary.append(
        f"{len(pairs)} measurements compared: {found.count([])} within noise. Values: "
        f"{count['better']} better, {count['worse']} worse"
        + (f", {count['changed']} changed in single runs, whose noise is not known."
           if count["changed"] else "."))
    for which, some, others in (("old", old, new), ("new", new, old)):
        if only := Counter(row["experiment"] for key, row in some.items() if key not in others):
            summary.append(f"Only in the {which} report ({only.total()}): " + ", ".join(
                f"{number} of {experiment}" for experiment, number in only.items()) + ".")
    summary.append(f"Old: {origin(old_rows)}. New: {origin(new_rows)}.")
    return Comparison(changes, summary)


def text_of(comparison: Comparison) -> str:
    """For a terminal: the table in columns, then the summary."""
    lines = []
    if comparison.changes:
        cells = [HEADINGS, *comparison.changes]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.rjust(width) if i >= 4 else cell.ljust(width)
                           for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
                 for row in cells] + [""]
    return "\n".join(lines + comparison.summary) + "\n"
