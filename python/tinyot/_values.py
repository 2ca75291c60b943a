"""Values of inputs and outputs as the library packs them (tinyot/values.h), and as Python has them.

Texts of exceptions name the input, never its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tinyot._errors import UsageError
from tinyot._native import Values


@dataclass(frozen=True)
class Bundle:
    """An input or an output of a circuit."""

    name: str
    bits: int
    party: str
    """Where an input comes from: "A", "B", "shared" for a value that stayed shared, or "public" for
    one that both parties give. The receiver of an output: "A", "B", "both" or "none"."""
    kind: str
    """What its values are: "bool", "uint", "int", "bytes", or "msb-uint", an unsigned integer whose
    highest bit is on the first wire."""
    same_in_all_lanes: bool = False

    @property
    def size(self) -> int:
        """Of a value, in bytes."""
        return (self.bits + 7) // 8


def _refused(bundle: Bundle, why: str) -> UsageError:
    return UsageError(f"input {bundle.name}: {why}")


def _check_range(bundle: Bundle, low: Any, high: Any) -> None:
    least, limit = 0, 1 << bundle.bits
    if bundle.kind == "int":
        least, limit = -(limit // 2), limit // 2
    if not (least <= low and high < limit):
        what = "signed" if bundle.kind == "int" else "unsigned"
        raise _refused(bundle, f"a value does not fit {bundle.bits} bits ({what})")


def _pack_one(bundle: Bundle, value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
        value = value.tobytes()
    if isinstance(value, (bytes, bytearray, memoryview)):
        if len(bytes(value)) != bundle.size:
            raise _refused(bundle, f"a value has {bundle.size} bytes, not {len(bytes(value))}")
        return bytes(value)
    if not isinstance(value, (int, np.integer, np.bool_)):
        raise _refused(bundle, f"a value is an int or bytes, not {type(value).__name__}")
    if bundle.kind == "bytes" and bundle.bits > 1:
        raise _refused(bundle, f"a value is {bundle.size} bytes, in their order")
    number = int(value)
    _check_range(bundle, number, number)
    return (number % (1 << bundle.bits)).to_bytes(bundle.size, "little")


def _pack_array(bundle: Bundle, array: npt.NDArray[Any], lanes: int) -> bytes:
    if array.shape[0] != lanes:
        raise _refused(bundle, f"the array has {array.shape[0]} values for {lanes} lanes")
    if array.ndim == 2 and array.dtype == np.uint8:
        if array.shape[1] != bundle.size:
            raise _refused(bundle, f"a value has {bundle.size} bytes, not {array.shape[1]}")
        return array.tobytes()
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise _refused(
            bundle,
            "an array has one integer for each lane, or uint8 with the bytes of a value as rows, "
            f"not {array.dtype} of shape {array.shape}",
        )
    if bundle.bits > 64 or (bundle.kind == "bytes" and bundle.bits > 1):
        raise _refused(bundle, f"an array for it is uint8 of shape ({lanes}, {bundle.size})")
    if lanes:
        _check_range(bundle, int(array.min()), int(array.max()))
    words = array.astype("<u8" if array.dtype.kind in "ub" else "<i8").view("<u8")
    words = words & np.uint64((1 << bundle.bits) - 1)
    return words.view(np.uint8).reshape(lanes, 8)[:, : bundle.size].tobytes()


def _mirrored(bundle: Bundle, values: bytes) -> bytes:
    """Packed values, with the bits of each one in the order of the wires, or back."""
    if bundle.kind != "msb-uint":
        return values
    rows = np.frombuffer(values, np.uint8).reshape(-1, bundle.size)
    if bundle.bits % 8 and (rows[:, -1] >> (bundle.bits % 8)).any():
        raise _refused(bundle, f"a value has more than {bundle.bits} bits")
    bits = np.unpackbits(rows, axis=1, count=bundle.bits, bitorder="little")
    return np.packbits(bits[:, ::-1], axis=1, bitorder="little").tobytes()


def pack(
    bundles: Iterable[Bundle], inputs: Mapping[str, Any], lanes: int | None
) -> Values:
    """`inputs` by the names of bundles. The library reports those that are missing."""
    if lanes is not None and (not isinstance(lanes, int) or lanes < 1):
        raise UsageError("lanes are out of range: 1 to 2^24")
    known = {bundle.name: bundle for bundle in bundles}
    packed = Values()
    for name, value in inputs.items():
        bundle = known.get(name)
        if bundle is None:
            raise UsageError(f"the circuit has no input {name}; it has {', '.join(known)}")
        if lanes is None or bundle.same_in_all_lanes:
            values, count = _pack_one(bundle, value), 1
        elif isinstance(value, np.ndarray) and value.ndim > 0:
            values, count = _pack_array(bundle, value, lanes), lanes
        elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, str)):
            if len(value) != lanes:
                raise _refused(bundle, f"the list has {len(value)} values for {lanes} lanes")
            values, count = b"".join(_pack_one(bundle, one) for one in value), lanes
        else:
            raise _refused(bundle, "with lanes, an input is a list or an array with one value each")
        packed.add(name, _mirrored(bundle, values), count)
    return packed


def _unpack_one(bundle: Bundle, value: bytes) -> Any:
    if bundle.kind == "bytes":
        return value
    number = int.from_bytes(value, "little")
    if bundle.kind == "bool":
        return bool(number)
    if bundle.kind == "int" and number >> (bundle.bits - 1):
        number -= 1 << bundle.bits
    return number


def _unpack_array(bundle: Bundle, value: bytes, lanes: int) -> npt.NDArray[Any]:
    rows = np.frombuffer(value, np.uint8).reshape(lanes, bundle.size)
    if bundle.kind == "bytes" or bundle.bits > 64:
        return rows.copy()
    words = np.zeros((lanes, 8), np.uint8)
    words[:, : bundle.size] = rows
    numbers: npt.NDArray[Any] = words.view("<u8").reshape(lanes)
    if bundle.kind == "bool":
        return numbers.astype(np.bool_)
    if bundle.kind == "int":
        shift = 64 - bundle.bits
        return (numbers << np.uint64(shift)).view(np.int64) >> np.int64(shift)
    return numbers.astype(np.uint64)


def unpack(
    bundles: Iterable[Bundle], packed: Mapping[str, tuple[bytes, int]], lanes: int | None
) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for bundle in bundles:
        if bundle.name not in packed:
            continue
        value, count = packed[bundle.name]
        value = _mirrored(bundle, value)
        if lanes is None:
            outputs[bundle.name] = _unpack_one(bundle, value)
        else:
            outputs[bundle.name] = _unpack_array(bundle, value, count)
    return outputs
