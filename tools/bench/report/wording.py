"""Numbers and parameters in words, the same in figures, page and terminal."""

import math
import re
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

# Fields that a measurement was asked for, as opposed to what it found, in the order of labels.
ASKED = ("ot_kind", "profile", "columns", "material", "softspoken_k", "abits", "silent_set",
         "circuit", "lanes", "online_asked", "inputs_later", "live", "unit", "ands", "blocks",
         "threads", "sigma", "bucket", "stored", "rtt_ms", "rate_mbit", "tls")
# What a row was asked for that is older than the field.
BEFORE = {"inputs_later": False}
HEADINGS = {"ot_kind": "OTs", "inputs_later": "prepared", "silent_set": "set",
            "softspoken_k": "k", "unit": "unit, ANDs", "ands": "ANDs", "blocks": "AES blocks",
            "sigma": "sigma asked", "bucket": "bucket B", "rtt_ms": "round trip, ms",
            "rate_mbit": "rate of the link", "tls": "channel", "online_asked": "online"}
_FORMS = {"columns": "{} columns", "softspoken_k": "k = {}", "abits": "{} bits",
          "silent_set": "set {}", "lanes": "{} lanes", "unit": "unit {}", "ands": "{} ANDs",
          "blocks": "{} blocks", "threads": "{} threads",
          "sigma": "sigma = {}", "bucket": "B = {}", "rtt_ms": "{} ms"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Four significant digits, with commas."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def short(value: float) -> str:
    """A tick's label: 500, 10 k, 1.5 M."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


def power(value: int) -> str:
    """2^10 and larger powers of two as such, other numbers with commas."""
    is_power = isinstance(value, int) and value >= 1024 and value & (value - 1) == 0
    return f"2^{value.bit_length() - 1}" if is_power else number(value)


def superscript(text: str) -> str:
    return re.sub(r"\b(2|10)\^(\d+)",
                  lambda match: match[1] + match[2].translate(_SUPERSCRIPTS), text)


def printable(text: str) -> str:
    """Without the characters that XML does not allow."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def rate(mbit: float) -> str:
    if mbit == 0:
        return "unlimited"
    return f"{mbit / 1000:g} Gbit/s" if mbit >= 1000 else f"{mbit:g} Mbit/s"


def value_of(row: Row, field: str) -> str:
    """What a cell of a table says of an asked field."""
    value = row.get(field)
    if value is None or value == "-" or (field, value) == ("softspoken_k", 0):
        return ""
    if field in ("unit", "ands", "blocks", "lanes") and not isinstance(value, str):
        return power(value)
    if field == "rate_mbit":
        return rate(value) if row.get("rtt_ms") or value else ""
    if field == "tls":
        return {"yes": "TLS", "no": "plain TCP"}.get(value, str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def phrase(row: Row, field: str) -> str:
    """The same in a label that has no heading: unit 2^18, B = 4."""
    value = value_of(row, field)
    if not value:
        return ""
    if field in ("stored", "live", "inputs_later"):
        return {"stored, yes": "stored", "stored, no": "not stored",
                "live, yes": "live", "live, no": "from a store",
                "inputs_later, yes": "prepared",
                "inputs_later, no": "not prepared"}.get(f"{field}, {value}", value)
    if field in ("lanes", "threads", "blocks") and value == "1":
        return f"1 {field[:-1]}"
    if field == "rate_mbit" and value == "unlimited":
        return "unlimited rate"
    return _FORMS.get(field, "{}").format(value)


def label(row: Row, fields: Sequence[str]) -> str:
    """A row by these fields: fast, k = 2, unit 2^18."""
    return ", ".join(words for field in fields if (words := phrase(row, field)))


def telling(rows: list[Row], first: Sequence[str] = (), without: Sequence[str] = ()) -> list[str]:
    """The first fields, and every other asked field that tells rows apart which they do not."""
    fields = list(first)

    def groups(some: Sequence[str]) -> int:
        return len({tuple(row.get(field) for field in some) for row in rows})
    for field in ASKED:
        if field not in (*fields, *without) and groups([*fields, field]) > groups(fields):
            fields.append(field)
    return fields


def weakness(row: Row) -> str:
    """Of a row whose bucket misses sigma; the bits are rounded down."""
    if not row.get("weak"):
        return ""
    return f"weak: reaches {math.floor(10 * row['sigma_paper_bound']) / 10:g} bits"
