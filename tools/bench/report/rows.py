"""Measurements: results.jsonl is read, results.csv and every other file is written."""

import csv
import io
import json
import os
import pathlib

from wording import ASKED, Row

# What figures and comparisons read: fields that are positive numbers, and those that may be zero.
POSITIVE = {
    "offline": ("unit", "ands", "bucket", "sigma", "ands_per_s", "gates_per_s",
                "gates_per_s_then", "bytes_per_and", "peak_rss_bytes"),
    "online": ("lanes", "wall_s", "gates_per_s"),
    "ot": ("ots", "ots_per_s"),
    "blocks": ("blocks", "offline_s", "online_s", "paper_offline_s", "paper_online_s",
               "gates_per_s")}
NUMBERS = {"offline": ("sigma_paper_bound", "sigma_exact", "rtt_ms", "rate_mbit"),
           "online": ("rtt_ms", "rate_mbit"), "ot": ("rtt_ms", "rate_mbit"), "blocks": ()}
TEXTS = {"offline": ("profile",), "online": ("circuit",), "ot": ("ot_kind",),
         "blocks": ("profile", "columns")}
# Read where they are: a row of one run may lack them.
OPTIONAL = ("ands_per_s", "ands_per_s_min", "ands_per_s_max", "gates_per_s_then_min",
            "gates_per_s_then_max", "wall_s_min", "wall_s_max", "bits_per_and",
            "ands", "repeats", "load", "others_share", "share_wire", "share_store", "share_opening",
            "share_macs", "bytes_per_and", "cpu_us_per_and", "rounds", "half_round_trips",
            "prepare_s", "ots_per_cpu_s_sender", "ots_per_cpu_s_receiver", "bytes_per_ot",
            "start_s", "start_bytes", "peak_rss_bytes", "rtt_ms", "rate_mbit")


class Failure(Exception):
    """Ends the program with its message."""


def _is_number(value: object) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and -1e300 < value < 1e300)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _parse(text: bytes) -> Row:
    """Fails: ValueError that says what is wrong."""
    try:
        row = json.loads(text.decode(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    json.dumps(row, ensure_ascii=False).encode()  # halves of surrogate pairs cannot be written
    if not isinstance(row, dict):
        raise ValueError("not an object")
    return row


def _check(row: Row) -> None:
    """Fails: ValueError that names the first wrong field."""
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in POSITIVE:
        raise ValueError(f"kind is {json.dumps(kind)}, not one of {', '.join(POSITIVE)}")
    for field in ("experiment", *TEXTS[kind]):
        if not isinstance(row.get(field), str):
            raise ValueError(f"{field} is missing or not a text")
    for field in POSITIVE[kind]:
        if not _is_number(row.get(field)) or row[field] <= 0:
            raise ValueError(f"{field} is missing or not a positive number")
    for field in NUMBERS[kind]:
        if not _is_number(row.get(field)) or row[field] < 0:
            raise ValueError(f"{field} is missing or not a number")
    for field in OPTIONAL:
        if row.get(field) is not None and (not _is_number(row[field]) or row[field] < 0):
            raise ValueError(f"{field} is not a number")
    for field in ASKED:
        if isinstance(row.get(field), (dict, list)):
            raise ValueError(f"{field} is not a single value")
    phases = row.get("phases", {})
    if not isinstance(phases, dict) or not all(map(_is_number, phases.values())):
        raise ValueError("phases are not seconds by name")
    if not isinstance(row.get("weak", False), bool):
        raise ValueError("weak is not true or false")
    if not isinstance(row.get("machine", {}), dict):
        raise ValueError("machine is not an object")
    flatten(row)


def read(path: pathlib.Path) -> list[Row]:
    """The rows of a file of JSON lines; a last line that is cut is left out.

    Fails: Failure that names file and line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    rows = []
    for number, line in enumerate(lines, 1):
        is_last = number == len(lines)
        if is_last and not line.strip():
            break
        try:
            row = _parse(line)
        except ValueError as error:
            if is_last:
                break
            raise Failure(f"{path}:{number}: not a measurement: {error}") from error
        try:
            _check(row)
        except ValueError as error:
            raise Failure(f"{path}:{number}: {error}") from error
        rows.append(row)
    if not rows:
        raise Failure(f"{path} has no measurements")
    return rows


def flatten(row: Row, prefix: str = "") -> Row:
    """Nested objects as dotted names. Fails: ValueError if two values would have one name."""
    flat: Row = {}
    for name, value in row.items():
        parts = (flatten(value, f"{prefix}{name}.") if isinstance(value, dict)
                 else {prefix + name: value})
        if flat.keys() & parts.keys():
            raise ValueError(f"{prefix + name} has two values")
        flat |= parts
    return flat


def _cell(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def csv_of(rows: list[Row]) -> bytes:
    """RFC 4180, UTF-8; the columns of all rows, in the order in which they first occur."""
    flat = [flatten(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in flat)
    return out.getvalue().encode()


def write(path: pathlib.Path, content: bytes) -> None:
    """Replaces the file at once: a reader sees the old content or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Failure(f"cannot write {path}: {error.strerror}") from error
