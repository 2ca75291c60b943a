"""Circuits: from functions, by name, and from files."""

from __future__ import annotations

import builtins
import inspect
import threading
from dataclasses import dataclass
from os import PathLike
from typing import Any, Callable, Generic, Mapping, ParamSpec, TypeVar, Union, cast

from tinyot import _native
from tinyot._errors import UsageError
from tinyot._interrupt import interruptible
from tinyot._native import Bits, Receiver
from tinyot._types import Bit, Int, UInt, Value, _wrap
from tinyot._values import Bundle, pack, unpack

_KINDS: dict[type, str] = {Bit: "bool", UInt: "uint", Int: "int"}
_FORMATS = {"bytes": "bytes", "integer": "uint", "msb-integer": "msb-uint"}


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

    def _input_kinds(self) -> Mapping[str, str]:
        return {}

    def _output_kinds(self) -> Mapping[str, str]:
        return {}

    @property
    def name(self) -> str:
        return cast(str, self._native().info()["name"])

    @property
    def inputs(self) -> tuple[Bundle, ...]:
        return tuple(
            Bundle(
                of["name"],
                of["bits"],
                of["source"],
                self._input_kinds().get(of["name"], _FORMATS[of["format"]]),
                of["same_in_all_lanes"],
            )
            for of in self._native().info()["inputs"]
        )

    @property
    def outputs(self) -> tuple[Bundle, ...]:
        return tuple(
            Bundle(
                of["name"],
                of["bits"],
                of["to"],
                self._output_kinds().get(of["name"], _FORMATS[of["format"]]),
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

    def __repr__(self) -> str:
        def names(bundles: tuple[Bundle, ...]) -> str:
            return ", ".join(f"{of.name}: {of.bits} bits, {of.party}" for of in bundles)

        return f"<circuit {self.name} ({names(self.inputs)}) -> ({names(self.outputs)})>"


def named(name: str) -> Circuit:
    """A built-in circuit with its parameters, such as "aes128" or "sort:elements=64"."""
    return Circuit(_native.Circuit.named(name))


def read(file: str | PathLike[str]) -> Circuit:
    """A circuit from a file in one of the Bristol formats. Unless the file describes them, the
    second input belongs to B, the others to A, and both parties receive the outputs."""
    return Circuit(_native.Circuit.read(file))


@dataclass(frozen=True)
class _Declared:
    kind: type[Bit] | type[UInt] | type[Int]
    bits: builtins.int
    source: _native.InputSource
    same_in_all_lanes: bool


class Owner:
    """Declares inputs: a: UInt = A.uint(32)."""

    def __init__(self, source: _native.InputSource) -> None:
        self._source = source

    def uint(self, bits: builtins.int, *, same_in_all_lanes: bool = False) -> UInt:
        return cast(UInt, self._declared(UInt, bits, same_in_all_lanes))

    def int(self, bits: builtins.int, *, same_in_all_lanes: bool = False) -> Int:
        return cast(Int, self._declared(Int, bits, same_in_all_lanes))

    def bit(self, *, same_in_all_lanes: bool = False) -> Bit:
        return cast(Bit, self._declared(Bit, 1, same_in_all_lanes))

    def _declared(
        self, kind: type[Bit] | type[UInt] | type[Int], bits: builtins.int, same: bool
    ) -> _Declared:
        if not 1 <= bits <= 1 << 24:
            raise ValueError(f"{bits} bits are out of range: 1 to 2^24")
        return _Declared(kind, bits, self._source, same)


A = Owner(_native.InputSource.A)
B = Owner(_native.InputSource.B)
shared = Owner(_native.InputSource.shared)
"""Of inputs that take a value which stayed shared after an earlier circuit of the connection."""
public = Owner(_native.InputSource.public)
"""Of inputs that both parties give: the same value, which is no secret and takes no material."""


@dataclass(frozen=True, eq=False)
class Out:
    """An output with its receiver."""

    value: Value
    to: str


def out(value: Value, to: str = "both") -> Out:
    """An output for "A", "B", "both" parties, or "none": then it stays shared."""
    if to not in ("A", "B", "both", "none"):
        raise UsageError(f'the receiver of an output is "A", "B", "both" or "none", not {to!r}')
    return Out(value, to)


Output = Union[Bit, UInt, Int, Out]
Outputs = Mapping[str, Output]

P = ParamSpec("P")
R = TypeVar("R", bound=Union[Bit, UInt, Int, Out, Mapping[str, Any]])


class FunctionCircuit(Circuit, Generic[P, R]):
    """A circuit from a function. Called with values of another circuit, it is a part of that."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._made = None
        self._lock = threading.Lock()
        self._kinds: dict[str, str] = {}
        self._declared: dict[str, _Declared] = {}
        self.__doc__ = function.__doc__
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
                    _native.Input(name, of.bits, of.source, of.same_in_all_lanes)
                    for name, of in self._declared.items()
                ]
                self._made = _native.Circuit.from_function(
                    self._function.__name__, inputs, self._generate
                )
            return self._made

    def _generate(self, inputs: list[Bits]) -> list[tuple[str, Bits, Receiver]]:
        """Called whenever the circuit is generated; the gates are those of the operations."""
        arguments = {
            name: _wrap(of.kind, bits) for (name, of), bits in zip(self._declared.items(), inputs)
        }
        inputs.clear()
        call = cast(Callable[..., R], self._function)
        results = call(**arguments)
        del arguments
        named = results if isinstance(results, Mapping) else {"result": results}
        outputs = []
        for name, result in named.items():
            output = result if isinstance(result, Out) else out(cast(Value, result))
            if not isinstance(output.value, (Bit, UInt, Int)):
                raise TypeError(
                    f"output {name} of circuit {self._function.__name__} is a "
                    f"{type(output.value).__name__}, not a Bit, UInt or Int"
                )
            self._kinds[name] = _KINDS[type(output.value)]
            outputs.append((name, output.value._bits, getattr(Receiver, output.to)))
        return outputs

    def _input_kinds(self) -> Mapping[str, str]:
        return {name: _KINDS[of.kind] for name, of in self._declared.items()}

    def _output_kinds(self) -> Mapping[str, str]:
        self._native()
        return self._kinds


def circuit(function: Callable[P, R]) -> FunctionCircuit[P, R]:
    """Makes a circuit from a function on bits and integers.

        @tinyot.circuit
        def richer(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> Bit:
            return a > b

    The defaults declare the inputs: name, owner, type and width. The function returns an output,
    named "result", or a dict of outputs by name; out(value, to=...) names the receiver, otherwise
    both parties receive it. The function runs each time the circuit is generated, and must do the
    same each time. Nothing is stored, so a circuit may be larger than memory.
    """
    return FunctionCircuit(function)
