"""Circuits on the rows of tables."""

import random
import threading
import unittest
from decimal import Decimal

import numpy as np
import pandas

import tinyot
from support import TestCase
from tinyot import A, B, Bit, Int, Text, UInt, mux, out


@tinyot.circuit
def trade(
    name: Text = A.text(5), bid: Int = A.int(20), ask: Int = B.int(20), fee: Int = B.int(20)
) -> tinyot.Outputs:
    return {"trades": bid >= ask + fee, "sum": out(bid + ask, "A"), "name": out(name, "B")}


@tinyot.circuit
def is_even(x: UInt = A.uint(8)) -> Bit:
    return ~x[0]


@tinyot.circuit
def nearest(x: list[UInt] = A.uint(8)[2], y: list[UInt] = B.uint(8)[2]) -> list[UInt]:
    return [mux(a < b, b - a, a - b) for a, b in zip(x, y)]


class TableTest(TestCase):
    def setUp(self):
        super().setUp()
        self.parties = tinyot.local(self.directory)
        self.addCleanup(self.parties.close)

    def both(self, circuit, table_a, table_b, **of_both):
        """What both parties return or raise."""
        ended = {}

        def run(party, table):
            try:
                ended[party.party] = party.run_rows(circuit, table, **of_both)
            except tinyot.Error as error:
                ended[party.party] = error

        thread = threading.Thread(target=run, args=(self.parties.b, table_b))
        thread.start()
        run(self.parties.a, table_a)
        thread.join()
        return ended["A"], ended["B"]


class RowsTest(TableTest):
    def test_columns_of_lists(self):
        self.parties.preprocess(nearest.cost().ands * 3, profile="fast")
        frame = pandas.DataFrame({"x": [[1, 2], [3, 4], [255, 0]]})
        a, b = self.both(nearest, frame, {"y": np.array([[2, 2], [0, 9], [0, 255]])})
        self.assertEqual(a["result"].tolist(), [[1, 0], [3, 5], [255, 255]])
        np.testing.assert_array_equal(a["result"], b["result"])

    def test_rows_of_data_frames_in_order(self):
        rows = 1000
        self.parties.preprocess(trade.cost().ands * rows, 200 * rows, profile="fast")
        rng = random.Random(1)
        names = [rng.choice(["", "ab", "\xe4bc", "12345"]) for _ in range(rows)]
        bids = [rng.randrange(-(2**18), 2**18) for _ in range(rows)]
        asks = [rng.randrange(-(2**18), 2**18) for _ in range(rows)]
        fees = [rng.randrange(100) for _ in range(rows)]
        a, b = self.both(
            trade,
            pandas.DataFrame({"bid": bids, "name": names}),
            {"ask": np.array(asks), "fee": fees},
            rows_at_once=300,
        )
        trades = [bid >= ask + fee for bid, ask, fee in zip(bids, asks, fees)]
        self.assertEqual(a["trades"].tolist(), trades)
        self.assertEqual(b["trades"].tolist(), trades)
        self.assertEqual(a["sum"].tolist(), [bid + ask for bid, ask in zip(bids, asks)])
        self.assertEqual(b["name"].tolist(), names)
        self.assertNotIn("sum", b)
        frame = pandas.DataFrame(a)
        self.assertEqual(len(frame), rows)

    def test_party_without_columns_gives_their_number(self):
        self.parties.preprocess(1024, 4096)
        a, b = self.both(is_even, {"x": [1, 2, 250]}, 3)
        self.assertEqual(b["result"].tolist(), [False, True, True])
        a, b = self.both(is_even, {"x": [1, 2, 250]}, 4)
        for error in (a, b):
            self.assertIsInstance(error, tinyot.Disagreement)
            self.assertIn("3 rows, from row 0", str(error))

    def test_bad_tables_are_refused_before_anything_is_sent(self):
        self.parties.preprocess(4096, 4096)
        a = self.parties.a
        for table, text in [
            ({"x": [1, 2, 777]}, "row 2: input x"),
            ({"x": np.array([-1])}, "row 0: input x"),
            ({"x": [1, "777", 2]}, "not as text"),
            ({"x": [1], "y": [2]}, "column y is no input of party A"),
            ({}, "no column x"),
            ({"x": []}, "no rows"),
            (3, "no column x"),
        ]:
            error = self.refused(tinyot.UsageError, text, a.run_rows, is_even, table)
            self.assertNotIn("777", str(error))
        self.refused(
            tinyot.UsageError, "different lengths", a.run_rows, trade,
            {"bid": [1, 2], "name": ["a"]},
        )  # fmt: skip
        self.refused(
            tinyot.UsageError, "row 1: input name: the text has 6 bytes", a.run_rows, trade,
            {"bid": [1, 2], "name": ["a", "123456"]},
        )  # fmt: skip
        self.refused(
            tinyot.OutOfMaterial, "are left", a.run_rows, trade,
            {"bid": [1] * 1000, "name": ["a"] * 1000},
        )  # fmt: skip
        self.assertEqual(tinyot.Store(self.directory / "A").info().ands_left, 4096)


class ReadingsTest(TableTest):
    """Built-in circuits compute in what the table has, or refuse it."""

    def test_signed_numbers_and_texts(self):
        signed, texts = tinyot.named("millionaires:signed=1"), tinyot.named("millionaires:text=1")
        fixed = tinyot.named("millionaires:signed=1,fraction=16")
        self.parties.preprocess(3 * 32 * 3, profile="fast")
        a, _ = self.both(
            signed, pandas.DataFrame({"a": [-1, 5, -7]}), pandas.DataFrame({"b": [5, -1, -3]})
        )
        self.assertEqual(a["a_has_more"].tolist(), [0, 1, 0])
        a, _ = self.both(
            fixed, pandas.DataFrame({"a": [-1.5, 0.25]}), pandas.DataFrame({"b": [1.5, -0.25]})
        )
        self.assertEqual(a["a_has_more"].tolist(), [0, 1])
        a, _ = self.both(
            texts, pandas.DataFrame({"a": ["az", "ba"]}), pandas.DataFrame({"b": ["b", "az"]})
        )
        self.assertEqual(a["a_has_more"].tolist(), [0, 1])

    def test_refusals_name_the_circuit(self):
        circuit = tinyot.named("millionaires")
        for table, circuit_name in (
            ({"a": [-1]}, "millionaires:signed=1"),
            ({"a": ["ab"]}, "millionaires:text=1"),
            ({"a": np.array(["ab"])}, "millionaires:text=1"),
            ({"a": np.array([-1])}, "millionaires:signed=1"),
        ):
            with self.assertRaisesRegex(tinyot.UsageError, f"circuit {circuit_name} does"):
                self.parties.a.run_rows(circuit, table)
        with self.assertRaisesRegex(tinyot.UsageError, "no float|not float"):
            self.parties.a.run_rows(circuit, {"a": [1.5]})

    def test_texts_of_a_function_compare_by_their_bytes(self):
        @tinyot.circuit
        def first(a: Text = A.text(3), b: Text = B.text(3)) -> Text:
            return mux(a < b, a, b)

        for a, b in (("az", "ba"), ("b", "abc"), ("", "a"), ("z", "\xe4")):
            self.assertEqual(
                first.evaluate({"a": a, "b": b})["result"], min(a, b, key=lambda t: t.encode())
            )
        with self.assertRaisesRegex(tinyot.UsageError, "text, not int"):
            first.evaluate({"a": 1, "b": "b"})

    def test_lists(self):
        def evaluate(name, **inputs):
            return tinyot.named(name).evaluate(inputs)

        sort = "sort:count=4,signed=1,fraction=8"
        self.assertEqual(
            evaluate(sort, values_a=[120.5, -7.25], values_b=[-64, 3.75])["sorted"],
            [-64, -7.25, 3.75, 120.5],
        )
        self.assertEqual(
            evaluate(
                "sort:count=4,bits=64,text=1", values_a=["dora", "ann"], values_b=["carl", "bob"]
            )["sorted"],
            ["ann", "bob", "carl", "dora"],
        )
        lowest = evaluate("minimum:count=2,bits=8,signed=1", values_a=-1, values_b=1)
        self.assertEqual(lowest["minimum"], -1)
        self.assertEqual(
            evaluate(
                "sorted_set_intersection:count=2,bits=16,text=1",
                values_a=["az", "ba"],
                values_b=["az", "ba"],
            )["intersection"],
            ["az", "ba"],
        )
        with self.assertRaisesRegex(tinyot.UsageError, "in ascending order"):
            evaluate("sorted_set_intersection:count=2", values_a=[2, 1], values_b=[1, 2])
        self.assertEqual(
            evaluate("sort:count=3,bits=160,signed=1", values_a=[-1, 2**158], values_b=-(2**159))[
                "sorted"
            ],
            [-(2**159), -1, 2**158],
        )
        with self.assertRaisesRegex(tinyot.UsageError, "4 bytes"):
            evaluate("sort:count=4,bits=16,text=1", values_a=b"abc", values_b=["a", "b"])

    def test_conditions_are_checked_before_a_connection_with_the_row(self):
        circuit = tinyot.named("sorted_set_intersection:count=2,bits=8")
        with self.assertRaisesRegex(tinyot.UsageError, "row 1: .*in ascending order"):
            self.parties.a.run_rows(circuit, {"values_a": [[1, 2], [2, 1]]})

    def test_numbers_that_are_none_are_refused(self):
        circuit = tinyot.named("millionaires:bits=32,signed=1,fraction=16")
        self.assertEqual(circuit.evaluate({"a": np.int64(1), "b": 0.5})["a_has_more"], 1)
        for value in (Decimal("NaN"), Decimal("Infinity"), float("nan"), "1.5"):
            with self.assertRaises(tinyot.UsageError):
                circuit.evaluate({"a": value, "b": 0})
        text = tinyot.named("millionaires:text=1")
        self.assertEqual(text.evaluate({"a": "\udcff", "b": b"\xfe"})["a_has_more"], 1)
        with self.assertRaises(tinyot.UsageError) as refused:
            text.evaluate({"a": "\ud800", "b": ""})
        self.assertIsNone(refused.exception.__cause__)


if __name__ == "__main__":
    unittest.main()
