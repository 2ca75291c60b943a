"""Every operator of circuits against Python's integers."""

import inspect
import operator
import random
import unittest

import tinyot
from support import TestCase
from tinyot import A, B, Bit, Int, UInt, concat, lookup, mux

LANES = 6
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
BITWISE = [operator.and_, operator.or_, operator.xor]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


def values_of(width, rng, signed):
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    edges = [low, high - 1, 0, 1 if high > 1 else 0]
    return rng.sample(edges, 3) + [rng.randrange(low, high) for _ in range(LANES - 3)]


def modulo(value, width, signed):
    value %= 1 << width
    return value - (1 << width) if signed and value >> (width - 1) else value


def evaluated(outputs_of, widths, values):
    """Evaluates a function of inputs of given types and widths on all lanes, and returns the values
    of its outputs as lists of ints."""

    def function(**inputs):
        return {str(i): value for i, value in enumerate(outputs_of(*inputs.values()))}

    parameters = {}
    for i, (owner, signed, width) in enumerate(widths):
        parameters[f"x{i}"] = owner.int(width) if signed else owner.uint(width)
    function.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in parameters.items()
        ]
    )
    circuit = tinyot.circuit(function)
    result = circuit.evaluate(dict(zip(parameters, values)), lanes=len(values[0]))
    kinds = {bundle.name: bundle for bundle in circuit.outputs}
    lists = []
    for name, array in result.items():
        if array.ndim == 2:
            numbers = [int.from_bytes(row.tobytes(), "little") for row in array]
            if kinds[name].kind == "int":
                numbers = [modulo(number, kinds[name].bits, True) for number in numbers]
            lists.append(numbers)
        else:
            lists.append([int(number) for number in array])
    return lists


class OperatorsTest(TestCase):
    def check(self, signed, width):
        rng = random.Random(width * 2 + signed)
        x, y = values_of(width, rng, signed), values_of(width, rng, signed)
        count_width = rng.randrange(1, 9)
        counts = [rng.randrange(1 << count_width) for _ in range(LANES)]
        condition = [rng.randrange(2) for _ in range(LANES)]
        public, shift = values_of(width, rng, signed)[-1], rng.randrange(width + 2)
        wider, narrower = width + 5, rng.randrange(1, width + 1)
        first = rng.randrange(width)
        last = rng.randrange(first, width) + 1

        def expected(a, b, n, c):
            results = [f(a, b) if b else None for f in ARITHMETIC] + [f(a, b) for f in BITWISE]
            results += [f(public, a) if a else None for f in ARITHMETIC]
            results += [f(a, public) for f in [operator.add, operator.sub, operator.mul]]
            results += [f(public, a) for f in BITWISE]
            results += [~a, -a, a << shift, a >> shift, a << n, a >> n]
            results += [a if c else b, a if c else public]
            results = [
                None if result is None else modulo(result, width, signed) for result in results
            ]
            results += [int(f(a, b)) for f in COMPARISONS]
            results += [int(f(a, public)) for f in COMPARISONS]
            bits = a % (1 << width)
            results += [bits >> (width - 1), (bits >> first) & ((1 << (last - first)) - 1)]
            results += [modulo(a, wider, False), modulo(a, wider, True)]
            results += [modulo(a, narrower, False), modulo(a, narrower, True)]
            results += [bin(bits).count("1"), bits << 1 | c, int(f"{bits:0{width}b}"[::-1], 2)]
            return results

        def outputs(a, b, n, c):
            results = [f(a, b) for f in ARITHMETIC + BITWISE]
            results += [f(public, a) for f in ARITHMETIC]
            results += [f(a, public) for f in [operator.add, operator.sub, operator.mul]]
            results += [f(public, a) for f in BITWISE]
            results += [~a, -a, a << shift, a >> shift, a << n, a >> n]
            results += [mux(c[0], a, b), mux(c[0], a, public)]
            results += [f(a, b) for f in COMPARISONS] + [f(a, public) for f in COMPARISONS]
            results += [a[-1], a[first:last], a.to_uint(wider), a.to_int(wider)]
            results += [a.to_uint(narrower), a.to_int(narrower)]
            results += [a.bit_count(), concat(c, a), a[::-1]]
            return results

        inputs = [(A, signed, width), (B, signed, width), (A, False, count_width), (B, False, 1)]
        found = evaluated(outputs, inputs, [x, y, counts, condition])
        for lane, operands in enumerate(zip(x, y, counts, condition)):
            for i, value in enumerate(expected(*operands)):
                if value is not None:
                    self.assertEqual(found[i][lane], value, (i, signed, width, operands, public))

    def test_unsigned_integers_of_all_widths(self):
        for width in range(1, 71):
            self.check(False, width)

    def test_signed_integers_of_all_widths(self):
        for width in range(1, 71):
            self.check(True, width)

    def test_division_by_zero_of_unsigned_integers(self):
        quotient, remainder = evaluated(lambda a, b: divmod(a, b), [(A, False, 9)] * 2, [[5], [0]])
        self.assertEqual((quotient, remainder), ([511], [5]))

    def test_random_expressions(self):
        rng = random.Random(7)
        for width in [1, 8, 31, 32, 33, 64, 65]:
            for _ in range(5):
                tree = self.tree(rng, 5)
                x, y = values_of(width, rng, False), values_of(width, rng, False)
                inputs = [(A, False, width)] * 2
                found = evaluated(
                    lambda a, b: [self.value(tree, a, b, lambda v: v)], inputs, [x, y]
                )
                mask = (1 << width) - 1
                for lane in range(LANES):
                    self.assertEqual(
                        found[0][lane], self.value(tree, x[lane], y[lane], lambda v: v & mask), tree
                    )

    def tree(self, rng, depth):
        if depth == 0:
            return rng.choice("ab")
        operation = rng.choice(["add", "sub", "mul", "and_", "or_", "xor"])
        return operation, self.tree(rng, depth - 1), self.tree(rng, depth - 1)

    def value(self, tree, a, b, reduce):
        if isinstance(tree, str):
            return a if tree == "a" else b
        operation, x, y = tree
        x, y = self.value(x, a, b, reduce), self.value(y, a, b, reduce)
        return reduce(getattr(operator, operation)(x, y))

    def test_bits(self):
        @tinyot.circuit
        def f(a: Bit = A.bit(), b: Bit = B.bit()) -> tinyot.Outputs:
            return {
                "and": a & b, "or": a | b, "xor": a ^ b, "not": ~a, "eq": a == b, "ne": a != b,
                "and 1": True & a, "xor 1": a ^ True, "eq 0": a == 0, "mux": mux(a, b, True),
                "number": a.to_uint(3) + b.to_uint(3), "constant": Bit(True),
            }  # fmt: skip

        for a in (False, True):
            for b in (False, True):
                self.assertEqual(
                    f.evaluate({"a": a, "b": b}),
                    {
                        "and": a and b, "or": a or b, "xor": a != b, "not": not a, "eq": a == b,
                        "ne": a != b, "and 1": a, "xor 1": not a, "eq 0": not a,
                        "mux": b if a else True, "number": a + b, "constant": True,
                    },
                )  # fmt: skip

    def test_tables(self):
        public = [7, 0, 12, 4095, 3]

        @tinyot.circuit
        def f(i: UInt = A.uint(3), x: UInt = B.uint(8)) -> tinyot.Outputs:
            secret = [x, x + 1, x * 2, x ^ 255, x - 1]
            return {"public": lookup(public, i, 12), "secret": lookup(secret, i)}

        for i in range(8):
            result = f.evaluate({"i": i, "x": 100})
            self.assertEqual(result["public"], (public + [0] * 3)[i])
            if i < 5:
                self.assertEqual(result["secret"], [100, 101, 200, 155, 99][i])

    def test_gates_are_those_of_the_operators_in_cpp(self):
        """tests/library/circuit_test.cpp has the same circuit, with the same fingerprint."""

        def every_operator(x, y, count):
            return [
                x + y, x - y, x * y, x // y, x % y, -x, *divmod(x, y), x & y, x | y, x ^ y, ~x,
                x << 3, x >> 3, x << count, x >> count,
                x < y, x <= y, x > y, x >= y, x == y, x != y,
                x + 5, 5 + x, x - 5, 5 - x, x * 5, 5 * x, x // 5, 5 // x, x % 5, 5 % x,
                x & 5, 5 | x, x ^ 5, x < 5, x > 5, x == 5, mux(x[0], x, y), mux(x[0], x, 5),
                x.to_uint(12), x.to_int(12), x.to_uint(3),
            ]  # fmt: skip

        @tinyot.circuit
        def operators(
            x: UInt = A.uint(8),
            y: UInt = B.uint(8),
            s: Int = A.int(8),
            t: Int = B.int(8),
            count: UInt = B.uint(4),
        ) -> tinyot.Outputs:
            results = every_operator(x, y, count) + every_operator(s, t, count) + [abs(s)]
            return {str(i): result for i, result in enumerate(results)}

        expected = "4500503c3b219f7901744b87cdf647e1963c02cb0d1eeeaf92eada02c0f4db41"
        self.assertEqual(operators.fingerprint(), expected)

    def test_costs_are_those_of_the_library(self):
        @tinyot.circuit
        def f(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> UInt:
            return a + b

        cost = f.cost()
        self.assertEqual((cost.ands, cost.depth), (31, 31))

        @tinyot.circuit
        def g(a: Int = A.int(32)) -> Int:
            return (a >> 3) ^ ~a

        self.assertEqual(g.cost().ands, 0)

        @tinyot.circuit
        def quotient(a: UInt = A.uint(8), b: UInt = B.uint(8)) -> UInt:
            return a // b

        @tinyot.circuit
        def both(a: UInt = A.uint(8), b: UInt = B.uint(8)) -> tinyot.Outputs:
            return {"quotient": a // b, "remainder": a % b}

        self.assertLess(quotient.cost().ands, 60, "without the remainder")
        self.assertGreater(both.cost().ands, 2 * quotient.cost().ands)


if __name__ == "__main__":
    unittest.main()
