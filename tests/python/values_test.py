"""Values of inputs and outputs: Python's and numpy's, with and without lanes; exceptions for wrong
ones, which never print them."""

import threading
import traceback
import unittest

import numpy as np

import tinyot
from support import TestCase
from tinyot import A, B, Bit, Int, UInt, UsageError, _native, _values, out


@tinyot.circuit
def echo(
    u: UInt = A.uint(20),
    i: Int = A.int(20),
    w: UInt = A.uint(64),
    b: Bit = B.bit(),
    x: UInt = B.uint(100),
    c: UInt = B.uint(8, same_in_all_lanes=True),
) -> tinyot.Outputs:
    return {"u": u, "i": i, "w": w, "b": b, "x": x, "c": c}


GIVEN = {"u": 1 << 19, "i": -5, "w": (1 << 64) - 1, "b": True, "x": 1 << 99, "c": 7}


class SingleTest(TestCase):
    def test_ints_and_bools(self):
        result = echo.evaluate(GIVEN)
        self.assertEqual(result, GIVEN)
        self.assertIs(result["b"], True)

    def test_bytes_and_numbers_of_numpy(self):
        given = {"u": b"\x01\x02\x03", "i": np.int8(-5), "w": np.uint64(9), "b": np.bool_(False)}
        given |= {"x": bytes(range(12)) + b"\x08", "c": np.array([4], np.uint8)}
        result = echo.evaluate(given)
        self.assertEqual((result["u"], result["i"], result["w"]), (0x30201, -5, 9))
        self.assertEqual((result["b"], result["c"]), (False, 4))
        self.assertEqual(result["x"], int.from_bytes(given["x"], "little"))


class LanesTest(TestCase):
    def test_arrays(self):
        lanes = 1000
        rng = np.random.default_rng(5)
        given = {
            "u": rng.integers(0, 1 << 20, lanes, np.uint32),
            "i": rng.integers(-(1 << 19), 1 << 19, lanes, np.int32),
            "w": rng.integers(0, 1 << 64, lanes, np.uint64),
            "b": rng.integers(0, 2, lanes).astype(bool),
            "x": rng.integers(0, 256, (lanes, 13), np.uint8),
            "c": 255,
        }
        given["x"][:, 12] &= 15
        result = echo.evaluate(given, lanes=lanes)
        for name, value in given.items():
            np.testing.assert_array_equal(result[name], value)
        self.assertEqual(
            [result[name].dtype for name in "uiwbx"],
            [np.uint64, np.int64, np.uint64, np.bool_, np.uint8],
        )
        self.assertEqual(result["x"].shape, (lanes, 13))
        self.assertEqual(result["c"].shape, (lanes,))

    def test_lists(self):
        given = {"u": [1, 2], "i": [-1, 3], "w": (4, b"\5" + bytes(7)), "b": [True, 0]}
        given |= {"x": [1 << 80, bytes(13)], "c": 3}
        result = echo.evaluate(given, lanes=2)
        self.assertEqual(result["u"].tolist(), [1, 2])
        self.assertEqual(result["i"].tolist(), [-1, 3])
        self.assertEqual(result["w"].tolist(), [4, 5])
        self.assertEqual(result["b"].tolist(), [True, False])
        self.assertEqual(int.from_bytes(result["x"][0].tobytes(), "little"), 1 << 80)

    def test_strided_and_big_endian_arrays(self):
        given = dict(GIVEN, b=[0, 1], i=[0, 0], w=[0, 0], x=[0, 0])
        given["u"] = np.arange(4, dtype=">u4")[::2]
        self.assertEqual(echo.evaluate(given, lanes=2)["u"].tolist(), [0, 2])

    def test_one_lane_is_still_an_array(self):
        given = {name: [value] for name, value in GIVEN.items() if name != "c"} | {"c": 1}
        self.assertEqual(echo.evaluate(given, lanes=1)["u"].shape, (1,))

    def test_bytes_of_built_in_circuits(self):
        aes = tinyot.named("aes128")
        messages = np.arange(48, dtype=np.uint8).reshape(3, 16)
        given = {"message": messages, "key_a": bytes(16), "key_b": bytes(16)}
        result = aes.evaluate(given, lanes=3)["ciphertext"]
        self.assertEqual((result.shape, result.dtype), ((3, 16), np.uint8))
        one = aes.evaluate(dict(given, message=messages[1].tobytes()))["ciphertext"]
        self.assertEqual(one, result[1].tobytes())
        self.refused(UsageError, "16 bytes", aes.evaluate, dict(given, message=5))
        wrong = dict(given, message=np.arange(3))
        self.refused(UsageError, "(3, 16)", aes.evaluate, wrong, lanes=3)
        sort = tinyot.named("sort:count=6,bits=8")
        given = {"values_a": 3 | 1 << 8 | 2 << 16, "values_b": [0, 0, 0]}
        self.refused(UsageError, "a value is a list", sort.evaluate, given)
        given["values_a"] = [3, 1, 2]
        self.assertEqual(sort.evaluate(given)["sorted"], [0, 0, 0, 1, 2, 3])


class FirstBitHighestTest(TestCase):
    """Numbers of circuit files whose highest bit is on the first wire."""

    def circuit(self, bits):
        gates = "".join(f"2 1 {i} {bits + i} {2 * bits + i} XOR\n" for i in range(bits))
        file = self.directory / f"xor{bits}.txt"
        file.write_text(
            f"{bits} {3 * bits}\n2 {bits} {bits}\n1 {bits}\n\n{gates}"
            f"#tinyot description 1\n#tinyot input x {bits} A msb-integer\n"
            f"#tinyot input y {bits} B integer\n#tinyot output z {bits} both msb-integer\n"
        )
        return tinyot.read(file)

    def test_bits_are_mirrored(self):
        circuit = self.circuit(11)
        self.assertEqual(circuit.inputs[0].kind, "msb-uint")
        self.assertEqual(circuit.evaluate({"x": 0b10, "y": 0b1})["z"], 0b10000000010)
        given = {"x": np.array([1, 2047, 5]), "y": [0, 0, 1 << 10]}
        self.assertEqual(circuit.evaluate(given, lanes=3)["z"].tolist(), [1, 2047, 4])
        wrong = {"x": b"\0\xff", "y": 0}
        self.refused(UsageError, "more than 11 bits", circuit.evaluate, wrong)

    def test_arrays_of_bytes(self):
        circuit = self.circuit(72)
        rows = np.arange(18, dtype=np.uint8).reshape(2, 9)
        result = circuit.evaluate({"x": rows, "y": np.zeros((2, 9), np.uint8)}, lanes=2)
        np.testing.assert_array_equal(result["z"], rows)
        self.assertEqual(circuit.evaluate({"x": 0, "y": 1})["z"], 1 << 71)


@tinyot.circuit
def lists(
    u: list[UInt] = A.uint(11)[5],
    i: list[list[Int]] = A.int(20)[2, 3],
    b: list[Bit] = B.bit()[9],
    w: list[UInt] = B.uint(70)[2],
    c: list[UInt] = B.uint(4, same_in_all_lanes=True)[3],
) -> tinyot.Outputs:
    scaled = [[x * c[0].to_int(20) for x in row] for row in i]
    return {"u": u[::-1], "i": scaled, "b": [~x for x in b], "w": out(w, "B"), "sum": sum(u, u[0])}


LISTS = {
    "u": [1, 2, 3, 4, 2047],
    "i": [[-1, 2, -3], [4, -5, 1 << 18]],
    "b": [True, 0, 1, False, False, True, True, True, False],
    "w": [1 << 69, 5],
    "c": [1, 15, 0],
}


class ListsTest(TestCase):
    def expected(self):
        return {
            "u": LISTS["u"][::-1],
            "i": LISTS["i"],
            "b": [not x for x in LISTS["b"]],
            "w": LISTS["w"],
            "sum": (1 + sum(LISTS["u"])) % 2048,
        }

    def test_lists_and_arrays(self):
        self.assertEqual(lists.evaluate(LISTS), self.expected())
        self.assertIs(lists.evaluate(LISTS)["b"][0], False)
        arrays = {name: np.array(LISTS[name]) for name in "uib"}
        arrays |= {"w": np.array(LISTS["w"], object), "c": tuple(LISTS["c"])}
        self.assertEqual(lists.evaluate(arrays), self.expected())
        arrays["i"] = [np.array(row) for row in LISTS["i"]]
        arrays["w"] = np.array([list((x).to_bytes(9, "little")) for x in LISTS["w"]], np.uint8)
        self.assertEqual(lists.evaluate(arrays), self.expected())

    def test_all_elements_as_bytes(self):
        number = sum(x << (11 * k) for k, x in enumerate(LISTS["u"]))
        given = dict(LISTS, u=number.to_bytes(7, "little"))
        self.assertEqual(lists.evaluate(given), self.expected())

    def test_are_described(self):
        self.assertEqual([of.shape for of in lists.inputs], [(5,), (2, 3), (9,), (2,), (3,)])
        self.assertEqual([of.bits for of in lists.inputs], [55, 120, 9, 140, 12])
        self.assertEqual([of.kind for of in lists.outputs], ["uint", "int", "bool", "uint", "uint"])
        self.assertEqual([of.shape for of in lists.outputs], [(5,), (2, 3), (9,), (2,), ()])

    def test_lanes(self):
        lanes = 50
        rng = np.random.default_rng(6)
        given = {
            "u": rng.integers(0, 1 << 11, (lanes, 5), np.uint16),
            "i": rng.integers(-(1 << 19), 1 << 19, (lanes, 2, 3), np.int32),
            "b": rng.integers(0, 2, (lanes, 9)).astype(bool),
            "w": rng.integers(0, 256, (lanes, 2, 9), np.uint8),
            "c": [1, 2, 3],
        }
        given["w"][:, :, 8] &= 63
        result = lists.evaluate(given, lanes=lanes)
        np.testing.assert_array_equal(result["u"], given["u"][:, ::-1])
        np.testing.assert_array_equal(result["i"], given["i"])
        np.testing.assert_array_equal(result["b"], ~given["b"])
        np.testing.assert_array_equal(result["w"], given["w"])
        self.assertEqual(
            [result[name].dtype for name in "uibw"], [np.uint64, np.int64, np.bool_, np.uint8]
        )
        as_lists = {name: value.tolist() for name, value in given.items() if name in "uib"}
        again = lists.evaluate(dict(given, **as_lists), lanes=lanes)
        np.testing.assert_array_equal(again["i"], given["i"])

    def test_are_evaluated_by_two_parties(self):
        with tinyot.local() as parties:
            result = parties.run(lists, LISTS, live=tinyot.Parameters(profile="fast"))
        self.assertEqual(result.outputs, self.expected())

    def test_stay_shared(self):
        @tinyot.circuit
        def products(x: list[UInt] = A.uint(8)[4], y: list[UInt] = B.uint(8)[4]) -> tinyot.Out:
            return out([a * b for a, b in zip(x, y)], "none")

        @tinyot.circuit
        def total(result: list[UInt] = tinyot.shared.uint(8)[4]) -> UInt:
            return result[0] + result[1] + result[2] + result[3]

        totals = {}

        def run(party, mine):
            with party.connect() as connection:
                first = connection.run(products, mine)
                totals[party.party] = connection.run(total, {}, shared=first.shared).outputs

        with tinyot.local() as parties:
            parties.preprocess(2048, profile="fast")
            thread = threading.Thread(target=run, args=(parties.b, {"y": [5, 6, 7, 8]}))
            thread.start()
            run(parties.a, {"x": [1, 2, 3, 4]})
            thread.join()
        self.assertEqual(totals, {"A": {"result": 70}, "B": {"result": 70}})


SECRET = 0xC0FFEE
SECRET_BYTES = b"attack at dawn"
# The secrets as they might be printed.
TEXTS = ["c0ffee", str(SECRET), "attack", SECRET_BYTES.hex(), "-" + str(SECRET)]


class WrongInputsTest(TestCase):
    def refused_quietly(self, text, circuit, inputs, lanes=None):
        with self.assertRaises(UsageError) as context:
            circuit.evaluate(inputs, lanes)
        error = context.exception
        self.assertIn(text, str(error))
        printed = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
        for secret in TEXTS:
            self.assertNotIn(secret, printed.lower())

    def test_are_refused_without_printing_them(self):
        one = lambda **changes: dict(GIVEN, **changes)
        many = dict(u=[1, 2], i=[1, 2], w=[1, 2], b=[0, 1], x=[1, 2], c=3)
        two = lambda **changes: dict(many, **changes)
        u = SECRET
        self.refused_quietly("input u: a value does not fit 20 bits", echo, one(u=u))
        self.refused_quietly("(unsigned)", echo, one(u=-u))
        self.refused_quietly("input i: a value does not fit 20 bits (signed)", echo, one(i=-u))
        self.refused_quietly("an int or bytes, not float", echo, one(u=float(u)))
        self.refused_quietly("an int or bytes, not str", echo, one(u=str(u)))
        self.refused_quietly("an int or bytes, not list", echo, one(u=[u]))
        self.refused_quietly("has 3 bytes, not 14", echo, one(u=SECRET_BYTES))
        self.refused_quietly("more than 20 bits", echo, one(u=b"\xee\xff\xc0"))
        self.refused_quietly("input u is missing", echo, {"x": u})
        self.refused_quietly("no input v", echo, one(v=u))
        self.refused_quietly("no input uu (did you mean u?); it has u", echo, one(uu=u))
        self.refused_quietly("no input 3", echo, {**GIVEN, 3: u})
        self.refused_quietly("a value does not fit", echo, two(u=[1, u]), 2)
        self.refused_quietly("3 values for 2 lanes", echo, two(w=[u, u, u]), 2)
        self.refused_quietly("a list or an array", echo, two(w=u), 2)
        self.refused_quietly("a list or an array", echo, two(w=SECRET_BYTES), 2)
        self.refused_quietly("an int or bytes, not list", echo, two(c=[u, u]), 2)
        self.refused_quietly("3 values for 2 lanes", echo, two(w=np.full(3, u)), 2)
        self.refused_quietly("float64 of shape (2,)", echo, two(w=np.full(2, float(u))), 2)
        self.refused_quietly("int64 of shape (2, 2)", echo, two(w=np.full((2, 2), u)), 2)
        self.refused_quietly("a value does not fit", echo, two(u=np.array([0, u])), 2)
        self.refused_quietly("a value does not fit", echo, two(u=np.array([0, -u])), 2)
        self.refused_quietly("uint8 of shape (2, 13)", echo, two(x=np.full(2, u)), 2)
        self.refused_quietly("8 bytes, not 3", echo, two(w=np.zeros((2, 3), np.uint8)), 2)
        self.refused_quietly("lanes are out of range", echo, two(w=[u, u]), "2")
        self.refused_quietly("lanes are out of range", echo, two(w=[]), 0)

    def test_lists_are_refused_without_printing_them(self):
        one = lambda **changes: dict(LISTS, **changes)
        u = SECRET
        self.refused_quietly("a list has 4 elements, not 5", lists, one(u=[u] * 4))
        self.refused_quietly("a list has 2 elements, not 3", lists, one(i=[[u] * 2] * 2))
        self.refused_quietly("a list or an array, not int", lists, one(u=u))
        self.refused_quietly("a list or an array, not str", lists, one(u=str(u)))
        self.refused_quietly("an int or bytes, not list", lists, one(u=[[u]] * 5))
        self.refused_quietly("the shape (5,), not (6,)", lists, one(u=np.full(6, u)))
        self.refused_quietly("a value does not fit 11 bits (unsigned)", lists, one(u=[u] * 5))
        self.refused_quietly("does not fit 11 bits (unsigned)", lists, one(u=np.full(5, u)))
        self.refused_quietly("does not fit 20 bits (signed)", lists, one(i=[[u] * 3] * 2))
        self.refused_quietly("7 bytes, not 14", lists, one(u=SECRET_BYTES))
        self.refused_quietly("more than 11 bits", lists, one(u=[b"\xc0\xff"] * 5))
        self.refused_quietly("a list has 5 elements, not 2", lists, one(u=LISTS["u"]), 2)

    def test_inputs_are_not_arguments_that_the_extension_prints(self):
        inputs = _values.pack(echo.inputs, {"u": b"\xee\xff\xc0"}, None)
        with self.assertRaises(TypeError) as context:
            echo._native().evaluate(inputs, "two", _native.Stop())
        self.assertIn("Invoked with", str(context.exception))
        self.assertNotIn(repr(b"\xee\xff\xc0")[2:-1], str(context.exception))

    def test_results_do_not_print_values(self):
        @tinyot.circuit
        def f(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> UInt:
            return a ^ b

        with tinyot.local() as parties:
            result = parties.run(f, {"a": SECRET, "b": 0})
        self.assertEqual(result.outputs["result"], SECRET)
        for secret in TEXTS:
            self.assertNotIn(secret, repr(result).lower())


if __name__ == "__main__":
    unittest.main()
