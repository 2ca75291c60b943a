"""Circuits on the rows of tables."""

import random
import threading
import unittest

import numpy as np
import pandas

import tinyot
from support import TestCase
from tinyot import A, B, Bit, Int, UInt, mux, out


@tinyot.circuit
def trade(
    name: UInt = A.uint(40), bid: Int = A.int(20), ask: Int = B.int(20), fee: Int = B.int(20)
) -> tinyot.Outputs:
    return {"trades": bid >= ask + fee, "sum": out(bid + ask, "A"), "name": out(name, "B")}


@tinyot.circuit
def is_even(x: UInt = A.uint(8)) -> Bit:
    return ~x[0]


@tinyot.circuit
def nearest(x: list[UInt] = A.uint(8)[2], y: list[UInt] = B.uint(8)[2]) -> list[UInt]:
    return [mux(a < b, b - a, a - b) for a, b in zip(x, y)]


class RowsTest(TestCase):
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
        texts = [int(n).to_bytes(5, "little").rstrip(b"\0").decode() for n in b["name"]]
        self.assertEqual(texts, names)
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
            ({"x": [1, "777", 2]}, "row 1"),
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
            tinyot.UsageError, "row 1: the text has 6 bytes", a.run_rows, trade,
            {"bid": [1, 2], "name": ["a", "123456"]},
        )  # fmt: skip
        self.refused(
            tinyot.OutOfMaterial, "are left", a.run_rows, trade,
            {"bid": [1] * 1000, "name": ["a"] * 1000},
        )  # fmt: skip
        self.assertEqual(tinyot.Store(self.directory / "A").info().ands_left, 4096)


if __name__ == "__main__":
    unittest.main()
