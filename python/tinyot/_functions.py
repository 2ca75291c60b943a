"""Functions of several bits and integers of circuits."""

from __future__ import annotations

from typing import Sequence, cast, overload

from tinyot._native import Bits
from tinyot._types import Bit, Int, UInt, V, _type_of, _Value, _wrap, mux


def concat(*parts: Bit | UInt | Int) -> UInt:
    """The bits of all parts, those of the first one lowest."""
    if not parts:
        raise ValueError("there is nothing to concatenate")
    return _wrap(UInt, Bits.concatenate([part._bits for part in parts]))


@overload
def lookup(table: Sequence[int], index: UInt, width: int) -> UInt: ...


@overload
def lookup(table: Sequence[V], index: UInt) -> V: ...


def lookup(
    table: Sequence[int] | Sequence[V], index: UInt, width: int | None = None
) -> UInt | V:
    """table[index] for a secret index.

    Of a public table, entries of `width` bits, at most 64; missing entries are 0. At most 16 index
    bits. Of a table of secrets: one mux for each entry; beyond the end it is one of the entries.
    """
    if not isinstance(index, UInt):
        raise TypeError(f"the index of a table is a UInt, not {_type_of(index)}")
    if width is None:
        values = list(cast(Sequence[V], table))
        if not values or not all(isinstance(value, _Value) for value in values):
            raise TypeError("a table of public ints needs width=, that of its entries")
        for bit in index:
            values = [
                mux(bit, values[i + 1], values[i]) if i + 1 < len(values) else values[i]
                for i in range(0, len(values), 2)
            ]
        if len(values) > 1:
            raise ValueError(f"{index.width} bits of index do not reach all {len(table)} entries")
        return values[0]
    entries = [int(entry) for entry in cast(Sequence[int], table)]
    if index.width > 16:
        raise ValueError(f"the index has {index.width} bits; a table is for at most 16")
    if not 1 <= width <= 64:
        raise ValueError(f"entries of {width} bits are out of range: 1 to 64")
    if len(entries) > 1 << index.width:
        raise ValueError(f"{index.width} bits of index do not reach all {len(entries)} entries")
    if any(not 0 <= entry < 1 << width for entry in entries):
        raise ValueError(f"an entry of the table does not have {width} bits")
    entries += [0] * ((1 << index.width) - len(entries))
    return _wrap(UInt, Bits.look_up(entries, index._bits, width))
