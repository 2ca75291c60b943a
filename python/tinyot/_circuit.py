"""Circuits: from functions, by name, and from files."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import re
import threading
from dataclasses import dataclass, replace
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Iterable,
    List,
    Mapping,
    ParamSpec,
    Sequence,
    Tuple,
    TypeVar,
    Union,
    cast,
    overload,
)

import numpy as np

from tinyot import _native
from tinyot._errors import UsageError
from tinyot._interrupt import interruptible
from tinyot._native import Bits, InputSource, Receiver
from tinyot._types import Bit, Int, Text, UInt, Value, _type_of, _wrap, text_bits
from tinyot._values import Bundle, pack, unpack

_KINDS: dict[type, str] = {Bit: "bool", UInt: "uint", Int: "int", Text: "text"}
_READINGS = {"int": "signed", "text": "text"}
FORMATS = {"bytes": "bytes", "integer": "uint", "msb-integer": "msb-uint"}


@dataclass(frozen=True)
class Cost:
    """Gates of one lane."""

    ands: int
    xors: int
    nots: int
    depth: int
    """Most ANDs on a path, which is the number of rounds of a run."""


class Circuit:
    """A circuit with named inputs and outputs."""

    def __init__(self, native: _native.Circuit) -> None:
        self._made: _native.Circuit | None = native

    def _native(self) -> _native.Circuit:
        assert self._made is not None
        return self._made

    @property
    def name(self) -> str:
        return cast(str, self._native().info()["name"])

    @property
    def inputs(self) -> tuple[Bundle, ...]:
        info = self._native().info()
        return tuple(
            typed(
                Bundle(
                    of["name"],
                    of["bits"],
                    of["source"],
                    FORMATS[of["format"]],
                    of["same_in_all_lanes"],
                    reading=of["reading"],
                    circuit=info["name"],
                ),
                of["type"],
            )
            for of in info["inputs"]
        )

    @property
    def outputs(self) -> tuple[Bundle, ...]:
        return tuple(
            typed(
                Bundle(
                    of["name"],
                    of["bits"],
                    of["to"],
                    FORMATS[of["format"]],
                    reading=of["reading"],
                ),
                of["type"],
            )
            for of in self._native().info()["outputs"]
        )

    def cost(self) -> Cost:
        native = self._native()
        return Cost(**interruptible(lambda stop: native.count(stop)))

    def fingerprint(self) -> str:
        """64 hex digits, which the parties compare before a run: the same for the same gates, inputs
        and outputs, whether they come from a function, a file or C++. The digest of a policy's rule
        is such a fingerprint."""
        native = self._native()
        return interruptible(lambda stop: native.fingerprint(stop))

    def evaluate(self, inputs: Mapping[str, Any], lanes: int | None = None) -> dict[str, Any]:
        """All outputs for the inputs of both parties, computed here without a peer."""
        native = self._native()
        packed = pack(self.inputs, inputs, lanes)
        outputs = interruptible(lambda stop: native.evaluate(packed, lanes or 1, stop))
        return unpack(self.outputs, outputs, lanes)

    def save(self, file: str | PathLike[str]) -> None:
        """Writes the circuit to a file in the Bristol Fashion format, for read(), the command and
        the daemon. It has the names and parties of inputs and outputs, and the same fingerprint.
        In a file a list is one integer: element k begins at bit k times the width of an element.
        The width of elements and their sign are kept if they have at most 64 bits; a list of lists
        becomes one list."""
        native = self._native()
        interruptible(lambda stop: native.save(file, stop))

    if not TYPE_CHECKING:  # which refuses the call

        def __call__(self, *args, **kwargs):
            raise TypeError(
                f"circuit {self.name} is no function: a circuit can call those of "
                "@tinyot.circuit only, not built-in circuits or those of files"
            )

    def __repr__(self) -> str:
        return f"<circuit {self.name} ({_listed(self.inputs)}) -> ({_listed(self.outputs)})>"


def _type_of_values(kind: str, bits: int, shape: tuple[int, ...]) -> str:
    """What a file says of values of `bits` bits or a list of them; nothing of a plain number. Very
    wide ones have no type that says a sign."""
    if kind == "text":
        return f"str{bits // 8}"
    if bits > 1 << 15:
        return f"hex{bits}" if shape else "signed" if kind == "int" else ""
    if kind != "int" and not shape:
        return ""
    return f"{'i' if kind == 'int' else 'u'}{bits}"


def typed(bundle: Bundle, text: str) -> Bundle:
    """A bundle of the type that a circuit has."""
    match = re.fullmatch("(i|u|hex|fix|str)([0-9]+)(?:[.]([0-9]+))?", text)
    if match is None:
        is_signed = bundle.reading == "signed" and bundle.kind == "uint"
        return replace(bundle, kind="int") if is_signed else bundle
    width = int(match[2]) * (8 if match[1] == "str" else 1)
    if match[1] != "hex":
        kind = {"i": "int", "u": "uint", "fix": "fixed", "str": "text"}[match[1]]
        bundle = replace(bundle, kind=kind, fraction=int(match[3] or 0))
    return replace(bundle, shape=() if width == bundle.bits else (bundle.bits // width,))


def _listed(bundles: Iterable[Bundle]) -> str:
    return ", ".join(
        f"{of.name}: {''.join(f'{n} x ' for n in of.shape)}{of.element_bits} bits, {of.party}"
        for of in bundles
    )


def named(name: str) -> Circuit:
    """A built-in circuit with its parameters, such as "aes128" or "sort:count=64"."""
    return Circuit(_native.Circuit.named(name))


def read(file: str | PathLike[str]) -> Circuit:
    """A circuit from a file in one of the Bristol formats. Unless the file describes them, the
    second input belongs to B, the others to A, and both parties receive the outputs."""
    return Circuit(_native.Circuit.read(file))


_Kind = Union[type[Bit], type[UInt], type[Int], type[Text]]


@dataclass(frozen=True)
class _Declared:
    kind: _Kind
    element_bits: builtins.int
    party: str
    same_in_all_lanes: bool
    shape: tuple[builtins.int, ...] = ()

    __iter__ = None  # __getitem__ is not for iterating

    @property
    def bits(self) -> builtins.int:
        return self.element_bits * math.prod(self.shape)

    def __getitem__(self, shape: builtins.int | tuple[builtins.int, ...]) -> _Declared:
        if self.shape:
            raise TypeError("an input has its shape already; that of a matrix is [rows, columns]")
        chosen = shape if isinstance(shape, tuple) else (shape,)
        if not all(isinstance(n, builtins.int) and n >= 1 for n in chosen):
            raise ValueError(f"the shape of an input has positive ints, not {shape!r}")
        return _checked(replace(self, shape=chosen))


def _checked(declared: _Declared) -> _Declared:
    if not 1 <= declared.bits <= 1 << 24:
        raise ValueError(f"{declared.bits} bits are out of range: 1 to 2^24")
    return declared


if TYPE_CHECKING:
    # What the defaults of parameters are to a type checker. With a length or a shape they are
    # those of parameters that are lists, or lists of lists.

    class UIntInput(UInt):
        @overload  # type: ignore[override]
        def __getitem__(self, shape: builtins.int) -> List[UInt]: ...
        @overload
        def __getitem__(self, shape: Tuple[builtins.int, builtins.int]) -> List[List[UInt]]: ...
        def __getitem__(self, shape: Any) -> Any: ...

    class IntInput(Int):
        @overload  # type: ignore[override]
        def __getitem__(self, shape: builtins.int) -> List[Int]: ...
        @overload
        def __getitem__(self, shape: Tuple[builtins.int, builtins.int]) -> List[List[Int]]: ...
        def __getitem__(self, shape: Any) -> Any: ...

    class TextInput(Text):
        @overload  # type: ignore[override]
        def __getitem__(self, shape: builtins.int) -> List[Text]: ...
        @overload
        def __getitem__(self, shape: Tuple[builtins.int, builtins.int]) -> List[List[Text]]: ...
        def __getitem__(self, shape: Any) -> Any: ...

    class BitInput(Bit):
        @overload
        def __getitem__(self, shape: builtins.int) -> List[Bit]: ...
        @overload
        def __getitem__(self, shape: Tuple[builtins.int, builtins.int]) -> List[List[Bit]]: ...
        def __getitem__(self, shape: Any) -> Any: ...


class Owner:
    """Declares inputs: a: UInt = A.uint(32), or a list, a: list[UInt] = A.uint(32)[8]."""

    def __init__(self, party: str) -> None:
        self._party = party

    def uint(self, bits: builtins.int, *, same_in_all_lanes: bool = False) -> UIntInput:
        return cast("UIntInput", self._declared(UInt, bits, same_in_all_lanes))

    def int(self, bits: builtins.int, *, same_in_all_lanes: bool = False) -> IntInput:
        return cast("IntInput", self._declared(Int, bits, same_in_all_lanes))

    def text(self, size: builtins.int, *, same_in_all_lanes: bool = False) -> TextInput:
        """A text of at most `size` bytes of UTF-8."""
        return cast("TextInput", self._declared(Text, 8 * size, same_in_all_lanes))

    def bit(self, *, same_in_all_lanes: bool = False) -> BitInput:
        return cast("BitInput", self._declared(Bit, 1, same_in_all_lanes))

    def _declared(self, kind: _Kind, bits: builtins.int, same: bool) -> _Declared:
        return _checked(_Declared(kind, bits, self._party, same))


A = Owner("A")
B = Owner("B")
shared = Owner("shared")
"""Of inputs that take a value which stayed shared after an earlier circuit of the connection."""
public = Owner("public")
"""Of inputs that both parties give: the same value, which is no secret and takes no material."""


@dataclass(frozen=True, eq=False)
class Out:
    """An output with its receiver."""

    value: Value | Sequence[Any]
    to: str


def out(value: Value | Sequence[Any], to: str = "both") -> Out:
    """An output for "A", "B", "both" parties, or "none": then it stays shared."""
    if to not in ("A", "B", "both", "none"):
        raise UsageError(f'the receiver of an output is "A", "B", "both" or "none", not {to!r}')
    return Out(value, to)


Output = Union[Bit, UInt, Int, Out, Sequence[Any]]
"""A sequence is a list of outputs of one type and width, or a list of such lists."""
Outputs = Mapping[str, Output]

P = ParamSpec("P")
R = TypeVar("R", bound=Union[Bit, UInt, Int, Out, Sequence[Any], Mapping[str, Any]])


def _nested(kind: _Kind, bits: Bits, shape: tuple[int, ...]) -> Any:
    """The values of an input, in lists of that shape."""
    if not shape:
        return _wrap(kind, text_bits(bits) if kind is Text else bits)
    step = bits.size // shape[0]
    return [_nested(kind, bits.slice(i * step, step), shape[1:]) for i in range(shape[0])]


def _elements(value: Any, name: str) -> tuple[list[Value], tuple[int, ...]]:
    """The values in an output, and its shape."""
    if isinstance(value, (Bit, UInt, Int)):
        return [value], ()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is a {type(value).__name__}, not a Bit, UInt or Int")
    if not value:
        raise TypeError(f"{name} is an empty list")
    parts = [_elements(one, f"element {i} of {name}") for i, one in enumerate(value)]
    if any(shape != parts[0][1] for _, shape in parts):
        raise TypeError(f"{name} has lists of different lengths")
    values = [one for part, _ in parts for one in part]
    for one in values:
        if _type_of(one) != _type_of(values[0]):
            raise TypeError(
                f"{name} has elements of different types: {_type_of(values[0])} and "
                f"{_type_of(one)}"
            )
    return values, (len(value), *parts[0][1])


class FunctionCircuit(Circuit, Generic[P, R]):
    """A circuit from a function. Called with values of another circuit, it is a part of that."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._made = None
        self._lock = threading.Lock()
        self._layouts: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._declared: dict[str, _Declared] = {}
        functools.update_wrapper(self, function)
        for name, parameter in inspect.signature(function).parameters.items():
            if not isinstance(parameter.default, _Declared):
                raise TypeError(
                    f"parameter {name} of circuit {function.__name__} has no owner: write for "
                    f"example {name}: UInt = A.uint(32)"
                )
            self._declared[name] = parameter.default

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        given = inspect.signature(self._function).bind(*args, **kwargs).arguments
        missing = [name for name in self._declared if name not in given]
        if missing:
            raise TypeError(
                f"circuit {self._function.__name__} needs values for {', '.join(missing)}; with "
                "the inputs of parties it is evaluated by Party.run or Circuit.evaluate"
            )
        return self._function(*args, **kwargs)

    def _native(self) -> _native.Circuit:
        with self._lock:
            if self._made is None:
                inputs = [
                    _native.Input(
                        name,
                        of.bits,
                        getattr(InputSource, of.party),
                        of.same_in_all_lanes,
                        _type_of_values(_KINDS[of.kind], of.element_bits, of.shape),
                    )
                    for name, of in self._declared.items()
                ]
                self._made = _native.Circuit.from_function(
                    self._function.__name__, inputs, self._generate
                )
            return self._made

    def _generate(self, inputs: list[Bits]) -> list[tuple[str, Bits, Receiver, str]]:
        """Called whenever the circuit is generated; the gates are those of the operations."""
        arguments = {
            name: _nested(of.kind, bits, of.shape)
            for (name, of), bits in zip(self._declared.items(), inputs)
        }
        inputs.clear()
        call = cast(Callable[..., R], self._function)
        results = call(**arguments)
        del arguments
        named = results if isinstance(results, Mapping) else {"result": results}
        outputs = []
        for name, result in named.items():
            output = result if isinstance(result, Out) else out(cast(Value, result))
            values, shape = _elements(
                output.value, f"output {name} of circuit {self._function.__name__}"
            )
            kind = _KINDS[type(values[0])]
            self._layouts[name] = kind, shape
            written = _type_of_values(kind, values[0]._bits.size, shape)
            parts = [text_bits(one._bits) if kind == "text" else one._bits for one in values]
            bits = Bits.concatenate(parts) if shape else parts[0]
            outputs.append((name, bits, getattr(Receiver, output.to), written))
        return outputs

    @property
    def name(self) -> str:
        return self._function.__name__

    @property
    def inputs(self) -> tuple[Bundle, ...]:
        return tuple(
            Bundle(
                name,
                of.bits,
                of.party,
                _KINDS[of.kind],
                of.same_in_all_lanes,
                of.shape,
                reading=_READINGS.get(_KINDS[of.kind], "unsigned"),
            )
            for name, of in self._declared.items()
        )

    @property
    def outputs(self) -> tuple[Bundle, ...]:
        bundles = super().outputs
        return tuple(
            replace(of, kind=self._layouts[of.name][0], shape=self._layouts[of.name][1])
            for of in bundles
        )

    def __repr__(self) -> str:
        # Without the outputs: to know them, the function has to run.
        return f"<circuit {self.name} ({_listed(self.inputs)})>"


def circuit(function: Callable[P, R]) -> FunctionCircuit[P, R]:
    """Makes a circuit from a function on bits and integers.

        @tinyot.circuit
        def richer(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> Bit:
            return a > b

    The defaults declare the inputs: name, owner, type and width. The function returns an output,
    named "result", or a dict of outputs by name; out(value, to=...) names the receiver, otherwise
    both parties receive it. An output may be a list, and so is a parameter whose default has a
    length, as A.uint(32)[8], or a shape, A.uint(32)[8, 8]. The function runs each time the circuit
    is generated, and must do the same each time. Nothing is stored, so a circuit may be larger than memory.
    """
    return FunctionCircuit(function)
