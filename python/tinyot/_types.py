"""Bits and integers of circuits: what the parameters of a circuit's function are.

An operation emits the gates that compute it. All values are secret, except for Python's own ints
and bools, which are public and the same for both parties.
"""

from __future__ import annotations

from typing import Callable, Iterator, NoReturn, SupportsIndex, TypeVar, Union, cast, overload

import numpy as np

from tinyot._native import Bits

N = TypeVar("N", bound="_Integer")
W = TypeVar("W", bound="_Value")

_NO_BRANCH = (
    "a secret cannot decide what Python does: neither branches nor loops may depend on it. Write "
    "tinyot.mux(condition, x, y) instead of 'x if condition else y', & | ~ instead of 'and', 'or' "
    "and 'not', and a loop over a public bound with mux in it instead of 'while'"
)
_NO_INDEX = (
    "a secret is not a Python int: write tinyot.lookup(table, index) instead of table[index], and "
    "a loop over a public bound instead of range(secret)"
)


def _constant(width: int, value: int) -> Bits:
    return Bits.constant(width, (value % (1 << width)).to_bytes((width + 7) // 8, "little"))


class _Value:
    __slots__ = ("_bits",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # numpy leaves operators with its numbers to these classes
    _bits: Bits

    def _operand(self, other: object) -> Bits | None:
        """The other operand of an operation; None if it has another type."""
        raise NotImplementedError

    def _apply(self: W, operation: Callable[[Bits, Bits], Bits], other: object) -> W:
        y = self._operand(other)
        if y is None:
            return cast(W, NotImplemented)
        return _wrap(type(self), operation(self._bits, y))

    def __bool__(self) -> NoReturn:
        raise TypeError(_NO_BRANCH)

    def __int__(self) -> NoReturn:
        raise TypeError(_NO_INDEX)

    def __index__(self) -> NoReturn:
        raise TypeError(_NO_INDEX)

    def __float__(self) -> NoReturn:
        raise TypeError(_NO_INDEX)


class Bit(_Value):
    """A secret bit."""

    __slots__ = ()

    def __init__(self, value: bool) -> None:
        """A public constant."""
        self._bits = _constant(1, int(value))

    def _operand(self, other: object) -> Bits | None:
        if isinstance(other, Bit):
            return other._bits
        if isinstance(other, _Integer):
            raise TypeError(
                f"the operands are {_type_of(self)} and {_type_of(other)}: convert the bit with "
                f"to_uint({other.width}), or take a bit of the integer"
            )
        if isinstance(other, (bool, np.bool_)) or (isinstance(other, int) and other in (0, 1)):
            return _constant(1, int(other))
        return None

    def __repr__(self) -> str:
        return "<Bit>"

    def __xor__(self, other: Bit | bool) -> Bit:
        return self._apply(Bits.xor_, other)

    def __and__(self, other: Bit | bool) -> Bit:
        return self._apply(Bits.and_, other)

    def __or__(self, other: Bit | bool) -> Bit:
        return self._apply(Bits.or_, other)

    __rxor__, __rand__, __ror__ = __xor__, __and__, __or__

    def __invert__(self) -> Bit:
        return _bit(self._bits.not_())

    def __ne__(self, other: object) -> Bit:  # type: ignore[override]
        y = self._operand(other)
        if y is None:
            raise TypeError(f"a Bit cannot be compared with {_type_of(other)}")
        return _bit(self._bits.xor_(y))

    def __eq__(self, other: object) -> Bit:  # type: ignore[override]
        return ~(self != other)

    def to_uint(self, width: int) -> UInt:
        """0 or 1 as an integer."""
        return _wrap(UInt, self._bits.resize(_checked_width(width), False))


class _Integer(_Value):
    __slots__ = ()
    _signed = False
    _conversion = "to_uint"

    def __init__(self, width: int, value: int = 0) -> None:
        """A public constant."""
        self._bits = self._of(_checked_width(width), value)

    @classmethod
    def _of(cls, width: int, value: int) -> Bits:
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if cls._signed else (0, 1 << width)
        if not low <= value < high:
            raise ValueError(f"{value} is not a value of {cls.__name__} with {width} bits")
        return _constant(width, value)

    @property
    def width(self) -> int:
        """In bits."""
        return self._bits.size

    def __repr__(self) -> str:
        return f"<{_type_of(self)}>"

    def __len__(self) -> int:
        return self._bits.size

    def _operand(self, other: object) -> Bits | None:
        if type(other) is type(self):
            y = cast(_Integer, other)._bits
            if y.size != self._bits.size:
                raise TypeError(
                    f"the operands have {self._bits.size} and {y.size} bits: convert one of them "
                    f"with {self._conversion}(width)"
                )
            return y
        if isinstance(other, Bit):
            raise TypeError(
                f"the operands are {_type_of(self)} and Bit: convert the bit with "
                f"to_uint({self.width})" + (f".to_int({self.width})" if self._signed else "")
            )
        if isinstance(other, _Integer):
            raise TypeError(
                f"the operands are {_type_of(self)} and {_type_of(other)}: convert one of them "
                f"with {other._conversion}({other.width}) or {self._conversion}({self.width})"
            )
        if isinstance(other, (int, np.integer)):
            return self._of(self._bits.size, int(other))
        return None

    def _other(self, other: object) -> Bits:
        y = self._operand(other)
        if y is None:
            raise TypeError(f"{_type_of(self)} cannot be compared with {_type_of(other)}")
        return y

    # Arithmetic, modulo 2^width.

    def __add__(self: N, other: N | int) -> N:
        return self._apply(Bits.add, other)

    def __sub__(self: N, other: N | int) -> N:
        return self._apply(Bits.subtract, other)

    def __rsub__(self: N, other: int) -> N:
        return self._apply(lambda x, y: y.subtract(x), other)

    def __mul__(self: N, other: N | int) -> N:
        return self._apply(Bits.multiply, other)

    def __radd__(self: N, other: int) -> N:
        return self._apply(lambda x, y: y.add(x), other)

    def __rmul__(self: N, other: int) -> N:
        return self._apply(lambda x, y: y.multiply(x), other)

    def __neg__(self: N) -> N:
        return 0 - self

    def __pos__(self: N) -> N:
        return self

    def __divmod__(self: N, other: N | int) -> tuple[N, N]:
        y = self._operand(other)
        if y is None:
            return NotImplemented
        quotient, remainder = self._bits.divide(y, self._signed)
        return _wrap(type(self), quotient), _wrap(type(self), remainder)

    def __rdivmod__(self: N, other: int) -> tuple[N, N]:
        return divmod(_wrap(type(self), self._other(other)), self)

    def __floordiv__(self: N, other: N | int) -> N:
        return self._apply(lambda x, y: x.quotient(y, self._signed), other)

    def __mod__(self: N, other: N | int) -> N:
        return self._apply(lambda x, y: x.remainder(y, self._signed), other)

    def __rfloordiv__(self: N, other: int) -> N:
        return self._apply(lambda x, y: y.quotient(x, self._signed), other)

    def __rmod__(self: N, other: int) -> N:
        return self._apply(lambda x, y: y.remainder(x, self._signed), other)

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeError("circuits have no fractions: use // for the quotient of integers")

    # Bit by bit.

    def __xor__(self: N, other: N | int) -> N:
        return self._apply(Bits.xor_, other)

    def __and__(self: N, other: N | int) -> N:
        return self._apply(Bits.and_, other)

    def __or__(self: N, other: N | int) -> N:
        return self._apply(Bits.or_, other)

    def __rxor__(self: N, other: int) -> N:
        return self._apply(Bits.xor_, other)

    def __rand__(self: N, other: int) -> N:
        return self._apply(Bits.and_, other)

    def __ror__(self: N, other: int) -> N:
        return self._apply(Bits.or_, other)

    def __invert__(self: N) -> N:
        return _wrap(type(self), self._bits.not_())

    # Shifts by a public count, or by a secret one, of any width.

    def __lshift__(self: N, count: int | UInt) -> N:
        if isinstance(count, UInt):
            return _wrap(type(self), self._bits.shift_left_by(count._bits))
        return _wrap(type(self), self._bits.shift_left(_checked_count(count)))

    def __rshift__(self: N, count: int | UInt) -> N:
        if isinstance(count, UInt):
            return _wrap(type(self), self._bits.shift_right_by(count._bits, self._signed))
        return _wrap(type(self), self._bits.shift_right(_checked_count(count), self._signed))

    # Comparisons.

    def __lt__(self: N, other: N | int) -> Bit:
        return _bit(self._bits.less(self._other(other), self._signed))

    def __gt__(self: N, other: N | int) -> Bit:
        return _bit(self._other(other).less(self._bits, self._signed))

    def __le__(self: N, other: N | int) -> Bit:
        return ~(self > other)

    def __ge__(self: N, other: N | int) -> Bit:
        return ~(self < other)

    def __eq__(self, other: object) -> Bit:  # type: ignore[override]
        return _bit(self._bits.equal(self._other(other)))

    def __ne__(self, other: object) -> Bit:  # type: ignore[override]
        return _bit(self._bits.differ(self._other(other)))

    # Bits, the lowest first, and conversions.

    @overload
    def __getitem__(self, index: SupportsIndex) -> Bit: ...

    @overload
    def __getitem__(self, index: slice) -> UInt: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Bit | UInt:
        if not isinstance(index, slice):
            number = index.__index__()
            if not -self.width <= number < self.width:
                raise IndexError(f"there is no bit {number} of {self.width}")
            return _bit(self._bits.slice(number % self.width, 1))
        chosen = range(*index.indices(self.width))
        if not chosen:
            raise ValueError("a slice has no bits")
        if chosen.step == 1:
            return _wrap(UInt, self._bits.slice(chosen.start, len(chosen)))
        return _wrap(UInt, Bits.concatenate([self._bits.slice(i, 1) for i in chosen]))

    def __iter__(self) -> Iterator[Bit]:
        return (self[i] for i in range(self.width))

    def bit_count(self) -> UInt:
        """The number of bits that are 1, with as many bits as it needs."""
        return _wrap(UInt, self._bits.ones())

    def to_uint(self, width: int) -> UInt:
        """Modulo 2^width. A negative Int is extended by its sign first."""
        return _wrap(UInt, self._bits.resize(_checked_width(width), self._signed))

    def to_int(self, width: int) -> Int:
        """Modulo 2^width, from -2^(width - 1) on."""
        return _wrap(Int, self._bits.resize(_checked_width(width), self._signed))


class UInt(_Integer):
    """An unsigned integer of any width. Of a quotient by 0 all bits are 1; the remainder is the
    dividend."""

    __slots__ = ()


class Int(_Integer):
    """A signed integer of any width, as two's complement. Quotients are rounded down, as in Python;
    those by 0 have no meaning."""

    __slots__ = ()
    _signed = True
    _conversion = "to_int"

    def __abs__(self) -> Int:
        return _wrap(Int, self._bits.magnitude())


class Text(UInt):
    """A text of some bytes, filled up with zeros, as the number whose highest byte is the first. So
    texts compare in the order of their bytes, which is that of no language."""

    __slots__ = ()


Value = Union[Bit, UInt, Int]
V = TypeVar("V", Bit, UInt, Int)


def text_bits(bits: Bits) -> Bits:
    """The bits of a text from those of its number, or back: the same bytes in the other order."""
    if bits.size % 8:
        raise TypeError(f"a Text has whole bytes, not {bits.size} bits")
    return Bits.concatenate([bits.slice(at, 8) for at in range(bits.size - 8, -8, -8)])


def _bit(bits: Bits) -> Bit:
    return _wrap(Bit, bits)


def _wrap(kind: type[W], bits: Bits) -> W:
    value = kind.__new__(kind)
    value._bits = bits
    return value


def _type_of(value: object) -> str:
    name = type(value).__name__
    return f"{name} of {value.width} bits" if isinstance(value, _Integer) else name


def _checked_width(width: int) -> int:
    if not 1 <= width <= 1 << 24:
        raise ValueError(f"{width} bits are out of range: 1 to 2^24")
    return width


def _checked_count(count: int) -> int:
    if not isinstance(count, (int, np.integer)):
        raise TypeError(f"the count of a shift is an int or a UInt, not {_type_of(count)}")
    if count < 0:
        raise ValueError("the count of a shift is negative")
    return int(count)


@overload
def mux(condition: Bit, x: V, y: V) -> V: ...


@overload
def mux(condition: Bit, x: V, y: int) -> V: ...


@overload
def mux(condition: Bit, x: int, y: V) -> V: ...


def mux(condition: Bit, x: Value | int, y: Value | int) -> Value:
    """x if the condition is 1, otherwise y: one AND for each bit."""
    if not isinstance(condition, Bit):
        raise TypeError(f"the condition of mux is a Bit, not {_type_of(condition)}")
    model: object = x if isinstance(x, _Value) else y
    if not isinstance(model, (Bit, UInt, Int)):
        raise TypeError("one of the values of mux is a Bit, UInt or Int")
    a, b = model._operand(x), model._operand(y)
    if a is None or b is None:
        raise TypeError(f"mux of {_type_of(x)} and {_type_of(y)}")
    return cast(Value, _wrap(type(model), Bits.select(condition._bits, a, b)))
