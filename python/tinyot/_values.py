"""Values of inputs and outputs as the library packs them (tinyot/values.h), and as Python has them.

Texts of exceptions name the input, never its value.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tinyot._errors import UsageError
from tinyot._native import Circuit as NativeCircuit
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
    """What its values are: "bool", "uint", "int", "bytes", "fixed", multiples of 2^-fraction, "text",
    or "msb-uint", an unsigned integer whose highest bit is on the first wire."""
    same_in_all_lanes: bool = False
    shape: tuple[int, ...] = ()
    """Of a list, its length; of a list of lists, both; and so on. Then `kind` is that of an
    element, and `bits` is the width of all of them together."""
    fraction: int = 0
    """Bits behind the point, of kind "fixed"."""
    reading: str = "bits"
    """How the circuit reads or writes the values: "unsigned", "signed", "fixed", "text", or "bits" if
    it computes on bits or does not say."""
    circuit: str = field(default="", compare=False, repr=False)

    @property
    def size(self) -> int:
        """Of a value, in bytes."""
        return (self.bits + 7) // 8

    @property
    def element_bits(self) -> int:
        """The width of an element; `bits` if the value is not a list."""
        return self.bits // math.prod(self.shape)

    def _element(self) -> Bundle:
        return replace(self, bits=self.element_bits, shape=())


def _refused(bundle: Bundle, why: str, wanted: str = "") -> UsageError:
    """`wanted`: the type of the values, for the name of a circuit that computes in it."""
    name = NativeCircuit.name_for(bundle.circuit, bundle.name, wanted) if wanted else ""
    fits = f"; circuit {name} does" if name else ""
    return UsageError(f"input {bundle.name}: {why}{fits}")


def _check_range(bundle: Bundle, low: Any, high: Any) -> None:
    has_sign = bundle.kind in ("int", "fixed")
    least, limit = 0, 1 << bundle.bits
    if has_sign:
        least, limit = -(limit // 2), limit // 2
    if not (least <= low and high < limit):
        what = "signed" if has_sign else "unsigned"
        wanted = f"i{bundle.bits}" if not has_sign and low < 0 and bundle.bits <= 64 else ""
        raise _refused(bundle, f"a value does not fit {bundle.bits} bits ({what})", wanted)


def _scaled(bundle: Bundle, value: Any) -> int:
    """A number as a multiple of 2^-fraction, rounded to the nearest one, halves away from zero."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        exact = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise _refused(bundle, "a value is no finite number") from None
    magnitude = math.floor(abs(exact) * (1 << bundle.fraction) + Fraction(1, 2))
    return -magnitude if exact < 0 else magnitude


def text_bytes(bundle: Bundle, value: str | bytes) -> bytes:
    """A text as UTF-8, filled up with zeros."""
    if bundle.reading not in ("text", "bits"):
        wanted = f"str{bundle.size}" if bundle.bits % 8 == 0 else ""
        raise _refused(bundle, f"the circuit reads it as {bundle.reading}, not as text", wanted)
    try:  # outputs that are no UTF-8 have such escapes
        encoded = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
    except UnicodeEncodeError:
        raise _refused(bundle, "a text has a part of a character") from None
    if len(encoded) > bundle.size:
        raise _refused(
            bundle, f"the text has {len(encoded)} bytes, more than {bundle.size}"
        )
    return encoded.ljust(bundle.size, b"\0")


def _pack_one(bundle: Bundle, value: Any) -> bytes:
    if bundle.kind == "text" and isinstance(value, (str, bytes, bytearray, memoryview)):
        return text_bytes(bundle, value)
    if bundle.kind == "fixed" and isinstance(
        value, (int, float, Decimal, Fraction, np.integer, np.floating)
    ):
        number = _scaled(bundle, value)
        _check_range(bundle, number, number)
        return (number % (1 << bundle.bits)).to_bytes(bundle.size, "little")
    if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
        value = value.tobytes()
    if isinstance(value, (bytes, bytearray, memoryview)):
        if len(bytes(value)) != bundle.size:
            raise _refused(bundle, f"a value has {bundle.size} bytes, not {len(bytes(value))}")
        return bytes(value)
    if not isinstance(value, (int, np.integer, np.bool_)):
        kinds = {"text": "text", "fixed": "a number or bytes"}
        why = f"a value is {kinds.get(bundle.kind, 'an int or bytes')}, not {type(value).__name__}"
        if isinstance(value, (list, tuple, np.ndarray)):
            why += "; lanes= takes one value for each lane"
        if (
            isinstance(value, str)
            and bundle.reading != "bits"
            and bundle.bits % 8 == 0
            and len(value.encode("utf-8", "replace")) <= bundle.size
        ):
            raise _refused(bundle, why, f"str{bundle.size}")
        raise _refused(bundle, why)
    if bundle.kind == "text":
        raise _refused(bundle, f"a value is text, not {type(value).__name__}")
    if bundle.kind == "bytes" and bundle.bits > 1:
        raise _refused(bundle, f"a value is {bundle.size} bytes, in their order")
    number = int(value)
    _check_range(bundle, number, number)
    return (number % (1 << bundle.bits)).to_bytes(bundle.size, "little")


def _pack_array(bundle: Bundle, array: npt.NDArray[Any], lanes: int) -> bytes:
    if array.shape[0] != lanes:
        raise _refused(bundle, f"the array has {array.shape[0]} values for {lanes} lanes")
    if array.ndim == 1 and (bundle.kind in ("text", "fixed") or array.dtype.kind in "SU"):
        pack_text = array.dtype.kind in "SU"
        return b"".join(
            text_bytes(bundle, one) if pack_text else _pack_one(bundle, one)
            for one in array.tolist()
        )
    if array.ndim == 2 and array.dtype == np.uint8:
        if array.shape[1] != bundle.size:
            raise _refused(bundle, f"a value has {bundle.size} bytes, not {array.shape[1]}")
        return array.tobytes()
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise _refused(
            bundle,
            "an array has one integer (no float) for each value, or uint8 with the bytes of a value as rows, "
            f"not {array.dtype} of shape {array.shape}",
        )
    if bundle.bits > 64 or (bundle.kind == "bytes" and bundle.bits > 1):
        raise _refused(bundle, f"an array for it is uint8 of shape ({lanes}, {bundle.size})")
    if lanes:
        _check_range(bundle, int(array.min()), int(array.max()))
    words = array.astype("<u8" if array.dtype.kind in "ub" else "<i8").view("<u8")
    words = words & np.uint64((1 << bundle.bits) - 1)
    return words.view(np.uint8).reshape(lanes, 8)[:, : bundle.size].tobytes()


def _check_unused_bits(bundle: Bundle, rows: npt.NDArray[Any]) -> None:
    if bundle.bits % 8 and (rows[:, -1] >> (bundle.bits % 8)).any():
        raise _refused(bundle, f"a value has more than {bundle.bits} bits")


def _flattened(bundle: Bundle, value: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    """The elements of lists in lists."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not shape:
        yield value
        return
    if not isinstance(value, Sequence) or isinstance(value, (bytes, bytearray, str)):
        raise _refused(bundle, f"a value is a list or an array, not {type(value).__name__}")
    if len(value) != shape[0]:
        raise _refused(bundle, f"a list has {len(value)} elements, not {shape[0]}")
    for one in value:
        yield from _flattened(bundle, one, shape[1:])


def _regrouped(values: bytes, width: int, rows: int, row_width: int) -> bytes:
    """Values of `width` bits, each of which begins with a byte, as rows that do, or back."""
    packed = np.frombuffer(values, np.uint8).reshape(-1, (width + 7) // 8)
    bits = np.unpackbits(packed, axis=1, count=width, bitorder="little")
    return np.packbits(bits.reshape(rows, row_width), axis=1, bitorder="little").tobytes()


def _pack_lists(bundle: Bundle, value: Any, lanes: int | None) -> bytes:
    """A list for each lane, with the elements of each one side by side."""
    if lanes is None and isinstance(value, (bytes, bytearray, memoryview)):
        return _pack_one(replace(bundle, kind="bytes"), value)  # all of its bytes
    shape = bundle.shape if lanes is None else (lanes, *bundle.shape)
    element, count = bundle._element(), math.prod(shape)
    if hasattr(value, "to_numpy"):  # a column of pandas
        value = value.to_numpy()
    if isinstance(value, np.ndarray) and value.dtype != object:
        is_bytes = value.shape == (*shape, element.size) and value.dtype == np.uint8
        if value.shape != shape and not is_bytes:
            raise _refused(bundle, f"an array for it has the shape {shape}, not {value.shape}")
        flat = value.reshape(count, element.size) if is_bytes else value.reshape(count)
        packed = _pack_array(element, flat, count)
    else:
        packed = b"".join(_pack_one(element, one) for one in _flattened(bundle, value, shape))
    _check_unused_bits(element, np.frombuffer(packed, np.uint8).reshape(-1, element.size))
    return _regrouped(packed, element.bits, lanes or 1, bundle.bits)


def _mirrored(bundle: Bundle, values: bytes) -> bytes:
    """Packed values, with the bits of each one in the order of the wires, or back."""
    if bundle.kind != "msb-uint":
        return values
    rows = np.frombuffer(values, np.uint8).reshape(-1, bundle.size)
    _check_unused_bits(bundle, rows)
    bits = np.unpackbits(rows, axis=1, count=bundle.bits, bitorder="little")
    return np.packbits(bits[:, ::-1], axis=1, bitorder="little").tobytes()


def no_input(name: object, known: Iterable[str]) -> UsageError:
    """Why an input is refused that the circuit does not have."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, 1)
    meant = f" (did you mean {close[0]}?)" if close else ""
    return UsageError(f"the circuit has no input {name}{meant}; it has {', '.join(names)}")


def packed(
    bundles: Iterable[Bundle], inputs: Mapping[str, Any], lanes: int | None
) -> dict[str, tuple[bytes, int]]:
    """`inputs` by the names of bundles, each with its number of lanes."""
    if lanes is not None and (not isinstance(lanes, int) or lanes < 1):
        raise UsageError("lanes are out of range: 1 to 2^24")
    known = {bundle.name: bundle for bundle in bundles}
    all_packed: dict[str, tuple[bytes, int]] = {}
    for name, value in inputs.items():
        bundle = known.get(name)
        if bundle is None:
            raise no_input(name, known)
        is_one = lanes is None or bundle.same_in_all_lanes
        if bundle.shape:
            count = 1 if is_one or lanes is None else lanes
            values = _pack_lists(bundle, value, None if is_one else lanes)
        elif is_one or lanes is None:
            values, count = _pack_one(bundle, value), 1
        elif isinstance(value, np.ndarray) and value.ndim > 0:
            values, count = _pack_array(bundle, value, lanes), lanes
        elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, str)):
            if len(value) != lanes:
                raise _refused(bundle, f"the list has {len(value)} values for {lanes} lanes")
            values, count = b"".join(_pack_one(bundle, one) for one in value), lanes
        else:
            raise _refused(bundle, "with lanes, an input is a list or an array with one value each")
        all_packed[name] = _mirrored(bundle, values), count
    return all_packed


def pack(
    bundles: Iterable[Bundle], inputs: Mapping[str, Any], lanes: int | None
) -> Values:
    """For the library, which reports inputs that are missing."""
    values = Values()
    for name, (bits, count) in packed(bundles, inputs, lanes).items():
        values.add(name, bits, count)
    return values


def _unpack_one(bundle: Bundle, value: bytes) -> Any:
    if bundle.kind == "bytes":
        return value
    number = int.from_bytes(value, "little")
    if bundle.kind == "bool":
        return bool(number)
    if bundle.kind == "text":
        return value.rstrip(b"\0").decode("utf-8", "surrogateescape")
    if bundle.kind in ("int", "fixed") and number >> (bundle.bits - 1):
        number -= 1 << bundle.bits
    if bundle.kind == "fixed":
        exact = Fraction(number, 1 << bundle.fraction)
        return float(exact) if bundle.bits <= 53 else exact
    return number


def _unpack_array(bundle: Bundle, value: bytes, lanes: int) -> npt.NDArray[Any]:
    rows = np.frombuffer(value, np.uint8).reshape(lanes, bundle.size)
    if bundle.kind in ("text", "fixed"):
        values = [_unpack_one(bundle, row.tobytes()) for row in rows]
        if bundle.kind == "fixed" and bundle.bits <= 53:
            return np.array(values, np.float64)
        objects = np.empty(lanes, object)
        objects[:] = values
        return objects
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


def _unpack_lists(bundle: Bundle, value: bytes, lanes: int | None) -> Any:
    """Lists, or an array with a further axis for the lanes."""
    shape = bundle.shape if lanes is None else (lanes, *bundle.shape)
    element, count = bundle._element(), math.prod(shape)
    elements = _regrouped(value, bundle.bits, count, element.bits)
    array = _unpack_array(element, elements, count)
    if lanes is not None:
        return array.reshape(*shape, *array.shape[1:])
    if array.ndim == 1:
        return array.reshape(shape).tolist()
    wide = np.empty(count, object)
    wide[:] = [_unpack_one(element, row.tobytes()) for row in array]
    return wide.reshape(shape).tolist()


def unpack(
    bundles: Iterable[Bundle], packed: Mapping[str, tuple[bytes, int]], lanes: int | None
) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for bundle in bundles:
        if bundle.name not in packed:
            continue
        value, count = packed[bundle.name]
        value = _mirrored(bundle, value)
        if bundle.shape:
            outputs[bundle.name] = _unpack_lists(bundle, value, None if lanes is None else count)
        elif lanes is None:
            outputs[bundle.name] = _unpack_one(bundle, value)
        else:
            outputs[bundle.name] = _unpack_array(bundle, value, count)
    return outputs
