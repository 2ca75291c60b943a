"""Circuits from functions: their interface, misuse, lifetime of values, and memory."""

import gc
import os
import subprocess
import sys
import threading
import unittest

import tinyot
from support import TestCase, memory_bytes
from tinyot import A, B, Bit, Int, UInt, lookup, mux, out


@tinyot.circuit
def multiply_add(
    x: UInt = A.uint(16),
    y: UInt = B.uint(16, same_in_all_lanes=True),
    z: UInt = tinyot.shared.uint(16),
) -> tinyot.Outputs:
    """x y + z."""
    return {"value": out(x * y + z, "none"), "odd": x[0], "negative": out(x.to_int(16), "A")}


class CircuitTest(TestCase):
    def test_has_its_interface(self):
        self.assertEqual(multiply_add.name, "multiply_add")
        self.assertEqual(multiply_add.__doc__, "x y + z.")
        self.assertEqual(
            [(of.name, of.party, of.kind, of.same_in_all_lanes) for of in multiply_add.inputs],
            [("x", "A", "uint", False), ("y", "B", "uint", True), ("z", "shared", "uint", False)],
        )
        self.assertEqual(
            [(of.name, of.bits, of.party, of.kind) for of in multiply_add.outputs],
            [
                ("value", 16, "none", "uint"),
                ("odd", 1, "both", "bool"),
                ("negative", 16, "A", "int"),
            ],
        )
        self.assertIn("x: 16 bits, A", repr(multiply_add))
        self.assertEqual(multiply_add.__name__, "multiply_add")
        self.assertEqual(multiply_add.__module__, __name__)

    def test_printing_runs_nothing(self):
        calls = []

        @tinyot.circuit
        def f(x: UInt = A.uint(16), y: list[Int] = B.int(9)[4]) -> UInt:
            calls.append(1)
            raise TypeError("from the function")

        self.assertEqual(repr(f), "<circuit f (x: 16 bits, A, y: 4 x 9 bits, B)>")
        self.assertEqual((f.name, f.__name__, [of.bits for of in f.inputs]), ("f", "f", [16, 36]))
        self.assertEqual(calls, [])
        self.assertRegex(repr(tinyot.named("aes128")), "^<circuit aes128.*ciphertext: 128 bits")

    def test_values_are_printed_with_type_and_width(self):
        self.assertEqual(repr(UInt(16, 3)), "<UInt of 16 bits>")
        self.assertEqual(repr([Int(9), Bit(True)]), "[<Int of 9 bits>, <Bit>]")

    def test_is_saved_to_a_file(self):
        file = self.directory / "multiply_add.txt"
        multiply_add.save(file)
        self.assertEqual(tinyot.read(file).fingerprint(), multiply_add.fingerprint())
        self.assertIn("#tinyot input y 16 B integer common unsigned\n", file.read_text())

        @tinyot.circuit
        def total(xs: list[UInt] = A.uint(16)[3], y: UInt = B.uint(16)) -> list[UInt]:
            return [x + y for x in xs]

        total.save(file)
        read = tinyot.read(file)
        self.assertEqual([of.name for of in read.inputs], ["xs", "y"])
        self.assertEqual(read.evaluate({"xs": [1, 2, 3], "y": 1})["result"], [2, 3, 4])
        total.save(file)  # replaces it
        inputs = ["--input", "xs=0x000300020001", "--input", "y=0x0001"]
        ended = subprocess.run(
            [os.environ["TINYOT_BINARY"], "circuit", "eval", file, *inputs],
            capture_output=True,
            text=True,
        )
        # Element k begins at bit 16 k.
        self.assertEqual(ended.stdout, "result = 2\n3\n4\n", ended.stderr)
        self.refused(tinyot.Error, "missing", total.save, self.directory / "missing" / "f.txt")

        @tinyot.circuit
        def signs(xs: list[Int] = A.int(9)[2, 2], y: Int = B.int(65)) -> tinyot.Outputs:
            return {"least": xs[0][0], "less": [x < 0 for row in xs for x in row], "y": y}

        signs.save(file)
        read = tinyot.read(file)
        self.assertEqual([(of.kind, of.shape) for of in read.inputs], [("int", (4,)), ("int", ())])
        values = read.evaluate({"xs": [-5, 0, -1, 2], "y": 1})
        self.assertEqual(values["least"], -5)
        self.assertEqual(values["less"], [1, 0, 1, 0])
        self.assertEqual(read.fingerprint(), signs.fingerprint())
        total.save(file)

        @tinyot.circuit
        def spaced(x: UInt = A.uint(2)) -> tinyot.Outputs:
            return {"a b": x}

        self.refused(tinyot.UsageError, "'a b'", spaced.save, file)
        self.assertEqual(tinyot.read(file).fingerprint(), total.fingerprint())

    def test_is_evaluated_plainly(self):
        result = multiply_add.evaluate({"x": 65535, "y": 3, "z": 10})
        self.assertEqual(result, {"value": (65535 * 3 + 10) % 65536, "odd": True, "negative": -1})

    def test_is_part_of_other_circuits(self):
        @tinyot.circuit
        def smaller(x: UInt = A.uint(8), y: UInt = B.uint(8)) -> UInt:
            return mux(x < y, x, y)

        @tinyot.circuit
        def smallest(x: UInt = A.uint(8), y: UInt = B.uint(8), z: UInt = B.uint(8)) -> UInt:
            return smaller(smaller(x, y), y=z)

        self.assertEqual(smallest.evaluate({"x": 9, "y": 7, "z": 8}), {"result": 7})
        self.refused(TypeError, "needs values for y", smaller, UInt(8))
        built_in = tinyot.named("millionaires")
        self.refused(TypeError, "can call those of @tinyot.circuit only", built_in, UInt(8))

    def test_built_in_circuits(self):
        aes = tinyot.named("aes128")
        self.assertEqual(aes.cost().ands, 6400)
        self.assertEqual([of.kind for of in aes.inputs], ["bytes"] * 3)
        result = aes.evaluate(
            {
                "message": bytes.fromhex("00112233445566778899aabbccddeeff"),
                "key_a": bytes(range(16)),
                "key_b": bytes(16),
            }
        )
        self.assertEqual(result["ciphertext"].hex(), "69c4e0d86a7b0430d8cdb78070b4c55a")
        self.refused(tinyot.UsageError, "no-such", tinyot.named, "no-such")

    def test_circuit_files(self):
        file = self.directory / "and.txt"
        file.write_text("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n")
        circuit = tinyot.read(file)
        self.assertEqual([of.party for of in circuit.inputs], ["A", "B"])
        self.assertEqual(circuit.evaluate({"0": 1, "1": 1}), {"0": 1})
        file.write_text("1 3\n")
        self.refused(tinyot.UsageError, "and.txt", tinyot.read, file)

    def test_fingerprint_is_that_of_the_same_gates_from_elsewhere(self):
        @tinyot.circuit
        def both(a: Bit = A.bit(), b: Bit = B.bit()) -> Bit:
            unused = UInt(8, 3) + UInt(8, 5)
            return (a & b) ^ unused[0]

        @tinyot.circuit
        def either(a: Bit = A.bit(), b: Bit = B.bit()) -> Bit:
            return a | b

        file = self.directory / "other.txt"
        file.write_text(
            "# gates, then names and owners\n1 5\n2 1 1\n1 1\n\n2 1 0 1 4 AND\n"
            "#tinyot description 1\n#tinyot input a 1 A integer\n#tinyot input b 1 B integer\n"
            "#tinyot output result 1 both integer\n"
        )
        whole = both.fingerprint()
        self.assertRegex(whole, "^[0-9a-f]{64}$")
        self.assertEqual(tinyot.read(file).fingerprint(), whole)
        self.assertEqual(tinyot.circuit(lambda a=A.bit(), b=B.bit(): a & b).fingerprint(), whole)
        self.assertNotEqual(either.fingerprint(), whole)
        self.assertNotEqual(tinyot.named("aes128").fingerprint(), whole)
        self.assertEqual(
            tinyot.named("AES-128:sbox=small").fingerprint(), tinyot.named("aes128").fingerprint()
        )

    def test_collected_values_do_not_change_the_fingerprint(self):
        """Wires are freed when Python collects them, which is not the same each time."""

        def make(collects):
            @tinyot.circuit
            def f(x: UInt = A.uint(16)) -> UInt:
                for i in range(50):
                    cycle = [x * x]
                    cycle.append(cycle)
                    x = x + i
                    if collects and i % 7 == 0:
                        gc.collect()
                return x

            return f

        gc.disable()
        try:
            self.assertEqual(make(True).fingerprint(), make(False).fingerprint())
        finally:
            gc.enable()


class MisuseTest(TestCase):
    def refused_in(self, kind, text, function):
        """A circuit of the function of a UInt is refused."""

        def f(x: UInt = A.uint(8), y: UInt = B.uint(9)):
            return function(x, y)

        self.refused(kind, text, tinyot.circuit(f).cost)

    def test_secrets_decide_nothing_in_python(self):
        self.refused_in(TypeError, "tinyot.mux", lambda x, y: x if x == 3 else x + 1)
        self.refused_in(TypeError, "tinyot.mux", lambda x, y: x and x)
        self.refused_in(TypeError, "tinyot.mux", lambda x, y: x if x else x + 1)
        self.refused_in(TypeError, "instead of 'and'", lambda x, y: not x[0])
        self.refused_in(TypeError, "tinyot.mux", lambda x, y: x if x in (1, 2) else x + 1)
        self.refused_in(TypeError, "tinyot.mux", lambda x, y: max(x, x + 1))

        def loop(x, y):
            while x > 0:
                x = x - 1
            return x

        self.refused_in(TypeError, "instead of 'while'", loop)
        self.refused_in(TypeError, "tinyot.lookup", lambda x, y: [1, 2, 3][x])
        self.refused_in(TypeError, "public bound", lambda x, y: [x for _ in range(x)])
        self.refused_in(TypeError, "not a Python int", lambda x, y: int(x))
        self.refused_in(TypeError, "not a Python int", lambda x, y: float(x))
        self.refused_in(TypeError, "unhashable", lambda x, y: {x: 1})

    def test_types_and_widths_agree(self):
        self.refused_in(TypeError, "to_uint(width)", lambda x, y: x + y)
        self.refused_in(TypeError, "8 and 9 bits", lambda x, y: x < y)
        self.refused_in(
            TypeError,
            "UInt of 8 bits and Int of 7 bits: convert one of them with to_int(7) or to_uint(8)",
            lambda x, y: x + x.to_int(7),
        )
        self.refused_in(TypeError, "convert one of them with to_uint", lambda x, y: x.to_int(8) < x)
        self.refused_in(TypeError, "unsupported operand", lambda x, y: x + 1.5)
        self.refused_in(
            TypeError,
            "UInt of 8 bits and Bit: convert the bit with to_uint(8)",
            lambda x, y: x & x[0],
        )
        self.refused_in(
            TypeError, "to_uint(8).to_int(8)", lambda x, y: x.to_int(8) & x[0]
        )
        self.refused_in(
            TypeError,
            "Bit and UInt of 8 bits: convert the bit with to_uint(8)",
            lambda x, y: x[0] & x,
        )
        self.refused_in(TypeError, "cannot be compared", lambda x, y: x == "x")
        self.refused_in(TypeError, "cannot be compared", lambda x, y: x[0] == "x")
        self.refused_in(TypeError, "use //", lambda x, y: x / 2)
        self.refused_in(ValueError, "256 is not a value of UInt", lambda x, y: x + 256)
        self.refused_in(ValueError, "-1 is not a value of UInt", lambda x, y: x + -1)
        self.refused_in(ValueError, "negative", lambda x, y: x << -1)
        self.refused_in(TypeError, "count of a shift", lambda x, y: x << x.to_int(3))
        self.refused_in(IndexError, "no bit 8", lambda x, y: x[8])
        self.refused_in(ValueError, "no bits", lambda x, y: x[3:3])
        self.refused_in(ValueError, "out of range", lambda x, y: x.to_uint(0))
        self.refused_in(TypeError, "condition of mux", lambda x, y: mux(x, x, x))
        self.refused_in(TypeError, "UInt of 8 bits and Bit", lambda x, y: mux(x[0], x, x[0]))
        self.refused_in(
            TypeError, "mux of UInt of 8 bits and str", lambda x, y: mux(x[0], x, "x")
        )
        self.refused_in(TypeError, "needs width", lambda x, y: lookup([1, 2], x))
        self.refused_in(ValueError, "do not reach", lambda x, y: lookup([1, 2, 3], x[:1], 2))
        self.refused_in(ValueError, "does not have 1 bits", lambda x, y: lookup([2], x, 1))

    def test_outputs_are_values(self):
        self.refused_in(TypeError, "output result of circuit f is a int", lambda x, y: 3)
        self.refused_in(TypeError, "output a of circuit f is a NoneType", lambda x, y: {"a": None})
        self.refused_in(tinyot.UsageError, "'C'", lambda x, y: out(x, "C"))
        self.refused_in(
            TypeError,
            "output result of circuit f has elements of different types: UInt of 8 bits and UInt "
            "of 9 bits",
            lambda x, y: [x, y],
        )
        self.refused_in(TypeError, "an empty list", lambda x, y: {"a": []})
        self.refused_in(TypeError, "lists of different lengths", lambda x, y: [[x], [x, x]])
        self.refused_in(TypeError, "element 1 of output result", lambda x, y: [x, 3])

    def test_inputs_have_owners(self):
        self.refused(TypeError, "parameter x of circuit f", tinyot.circuit, self.without_owner())
        self.refused(ValueError, "out of range", A.uint, 0)
        self.refused(ValueError, "out of range", lambda: A.uint(1 << 12)[1 << 13])
        self.refused(ValueError, "positive ints, not 0", lambda: A.uint(8)[0])
        self.refused(TypeError, "[rows, columns]", lambda: A.uint(8)[2][3])
        self.refused(TypeError, "not iterable", lambda: list(A.uint(8)))

    def without_owner(self):
        def f(x: UInt) -> UInt:
            return x

        return f

    def test_function_makes_the_same_declarations_each_time(self):
        calls = []

        @tinyot.circuit
        def f(x: UInt = A.uint(4)) -> tinyot.Outputs:
            calls.append(1)
            return {str(len(calls)): x}

        self.refused(tinyot.UsageError, "f is not the same each time", f.cost)

    def test_exceptions_of_the_function_are_raised(self):
        class Mine(Exception):
            pass

        calls = []

        @tinyot.circuit
        def f(x: UInt = A.uint(4)) -> UInt:
            calls.append(1)
            if len(calls) > 1:
                raise Mine("from the function")
            return x

        self.refused(Mine, "from the function", f.cost)
        with tinyot.local() as parties:
            calls.clear()
            f.inputs
            self.refused(Mine, "from the function", parties.run, f, {"x": 1})


class LifetimeTest(TestCase):
    def test_values_end_with_the_circuit(self):
        kept = []

        @tinyot.circuit
        def f(x: UInt = A.uint(8)) -> UInt:
            kept.append(x + 1)
            return x

        f.cost()
        self.refused(tinyot.UsageError, "has returned", lambda: kept[0] + 1)
        kept.clear()

        @tinyot.circuit
        def g(x: UInt = A.uint(8)) -> UInt:
            return kept[0] if kept else x

        f.cost()
        self.refused(tinyot.UsageError, "another circuit", g.cost)

        @tinyot.circuit
        def h(x: UInt = A.uint(8)) -> UInt:
            return x + kept[0]

        self.refused(tinyot.UsageError, "different circuits", h.cost)

    def test_values_may_be_released_by_other_threads(self):
        @tinyot.circuit
        def f(x: UInt = A.uint(32), y: UInt = B.uint(32)) -> UInt:
            for _ in range(200):
                dropped = [x * y]
                dropped.append(dropped)  # a cycle, for the garbage collector
                del dropped
                collector = threading.Thread(target=gc.collect)
                collector.start()
                x = x + y
                collector.join()
            return x

        self.assertEqual(f.evaluate({"x": 1, "y": 3}), {"result": 601})

    def test_values_belong_to_one_thread(self):
        @tinyot.circuit
        def f(x: UInt = A.uint(8)) -> UInt:
            failures = []

            def use():
                try:
                    x + x
                except tinyot.UsageError as error:
                    failures.append(str(error))

            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            self.assertIn("another thread", failures[0])
            return x

        self.assertEqual(f.evaluate({"x": 5}), {"result": 5})

    def test_constants_need_no_circuit(self):
        self.assertEqual(len(UInt(70, 3) + UInt(70, 1 << 69)), 70)

        @tinyot.circuit
        def f(x: Int = A.int(70)) -> Int:
            return x * constant

        constant = Int(70, -3)
        self.assertEqual(f.evaluate({"x": 1 << 60}), {"result": -3 << 60})


class StreamTest(TestCase):
    def test_memory_of_a_long_circuit_is_flat(self):
        @tinyot.circuit
        def f(x: UInt = A.uint(64), y: UInt = B.uint(64)) -> UInt:
            for i in range(loops):
                x = x * y + i
            return x

        loops = 10
        f.cost()
        before = memory_bytes()
        g, loops = tinyot.circuit(f._function), 850
        cost = g.cost()
        self.assertGreater(cost.ands + cost.xors, 10_000_000)
        self.assertLess(memory_bytes() - before, 20_000_000)

    def test_calls_do_not_depend_on_the_width(self):
        events = []

        def count(frame, event, function):
            events.append(event)

        @tinyot.circuit
        def f(x: UInt = A.uint(1 << 16), y: UInt = B.uint(1 << 16)) -> Bit:
            sys.setprofile(count)
            try:
                return x < (x ^ y)
            finally:
                sys.setprofile(None)

        self.assertEqual(f.cost().ands, 1 << 16)
        self.assertIn("c_call", events)
        self.assertLess(len(events), 100)


if __name__ == "__main__":
    unittest.main()
