"""Circuits on the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from tinyot._circuit import Circuit
from tinyot._errors import OutOfMaterial, UsageError
from tinyot._native import Letter
from tinyot._values import Bundle, pack, text_bytes

if TYPE_CHECKING:
    from tinyot._party import Party

Columns = dict[str, npt.NDArray[Any]]


def _text_bytes(bundle: Bundle, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows of bytes, filled up with zeros."""
    rows = np.zeros((len(values), bundle.size), np.uint8)
    for row, value in enumerate(values):
        try:
            rows[row] = np.frombuffer(text_bytes(bundle, value), np.uint8)
        except UsageError as error:
            raise UsageError(f"column {bundle.name}, row {row}: {error}") from None
    return rows


def _column(bundle: Bundle, values: Any) -> npt.NDArray[Any]:
    if bundle.shape and not (isinstance(values, np.ndarray) and values.ndim > 1):
        lists = np.empty(len(values), object)
        for row, value in enumerate(values):
            lists[row] = value
        return lists
    column: npt.NDArray[Any]
    if bundle.kind == "text" and not isinstance(values, np.ndarray):
        column = np.empty(len(values), object)
        column[:] = list(values)
    else:
        column = np.asarray(values)
    if column.ndim == 1 and (
        column.dtype.kind in "SU"
        or (column.dtype == object and all(isinstance(v, (str, bytes)) for v in column))
    ):
        return _text_bytes(bundle, column)
    if column.dtype == object and column.ndim == 1 and bundle.kind != "fixed":
        wanted = (str, bytes) if bundle.kind == "text" else (int, np.integer)
        for row, value in enumerate(column):
            if not isinstance(value, wanted):
                raise UsageError(
                    f"column {bundle.name}, row {row}: a value is "
                    f"{'text' if bundle.kind == 'text' else 'an int'}, not {type(value).__name__}"
                )
    return column


def _columns(
    bundles: Iterable[Bundle], party: str, table: Any
) -> tuple[Columns, int]:
    """The columns of this party's inputs, and the number of rows."""
    wanted = {b.name: b for b in bundles if b.party in (party, "public") and not b.same_in_all_lanes}
    if isinstance(table, int):
        if wanted:
            raise UsageError(f"the table has no column {', '.join(wanted)}")
        return {}, table
    given = set(map(str, table.keys()))
    if missing := [name for name in wanted if name not in given]:
        raise UsageError(f"the table has no column {', '.join(missing)}")
    if unknown := sorted(given - set(wanted)):
        raise UsageError(
            f"column {unknown[0]} is no input of party {party} that differs from row to row; "
            f"those are {', '.join(wanted)}"
        )
    columns = {name: _column(bundle, table[name]) for name, bundle in wanted.items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise UsageError("the columns have different lengths")
    return columns, lengths.pop()


def _check(
    party: Party,
    circuit: Circuit,
    part: Callable[[int, int], dict[str, Any]],
    begin: int,
    count: int,
) -> None:
    """Refuses values that do not fit, naming the row."""

    def check(first: int, rows: int) -> None:
        packed = pack(circuit.inputs, part(first, rows), rows)
        circuit._native().check_inputs(getattr(Letter, party.party), packed, rows)

    try:
        check(begin, count)
    except UsageError:
        for row in range(begin, begin + count):
            try:
                check(row, 1)
            except UsageError as error:
                raise UsageError(f"row {row}: {error}") from None
        raise


def run_rows(
    party: Party,
    circuit: Circuit,
    table: Any,
    inputs: Mapping[str, Any] | None,
    rows_at_once: int,
) -> Columns:
    columns, rows = _columns(circuit.inputs, party.party, table)
    if rows < 1 or rows_at_once < 1:
        raise UsageError("there are no rows")

    def part(begin: int, count: int) -> dict[str, Any]:
        values: dict[str, Any] = {
            name: column[begin : begin + count] if column.dtype != object
            else list(column[begin : begin + count])
            for name, column in columns.items()
        }
        return {**values, **(inputs or {})}

    def count_at(begin: int) -> int:
        return min(rows_at_once, rows - begin)

    begins = range(0, rows, rows_at_once)
    for begin in begins:
        _check(party, circuit, part, begin, count_at(begin))
    wanted, left = rows * circuit.cost().ands, party.ands_left()
    if left < wanted:
        raise OutOfMaterial(f"{rows} rows take {wanted} ANDs, and {left} are left")
    parts: list[dict[str, Any]] = []
    with party.connect() as connection:
        for begin in begins:
            count = count_at(begin)
            label = f"{rows} rows, from row {begin}"
            result = connection.run(circuit, part(begin, count), lanes=count, label=label)
            parts.append(result.outputs)
    return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
