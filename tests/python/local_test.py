"""Both parties in one process: preprocessing, runs, several at once, estimates and measurements."""

import threading
import time
import unittest

import numpy as np
import pandas

import tinyot
from support import TestCase
from tinyot import A, B, Bit, UInt, out


@tinyot.circuit
def richer(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> tinyot.Outputs:
    return {"richer": a > b, "difference": out(a - b, "A"), "sum": out(a + b, "B")}


@tinyot.circuit
def product(a: UInt = A.uint(16), b: UInt = B.uint(16)) -> tinyot.Outputs:
    return {"product": out(a * b, "none")}


@tinyot.circuit
def is_above(product: UInt = tinyot.shared.uint(16), guess: UInt = A.uint(16)) -> Bit:
    return product > guess


@tinyot.circuit
def scaled(p: UInt = tinyot.public.uint(8), a: UInt = A.uint(8)) -> UInt:
    return p * a


class LocalTest(TestCase):
    def test_has_the_version_of_the_library(self):
        self.assertEqual(tinyot.__version__, tinyot.version().split("+")[0])

    def test_runs_without_a_store(self):
        with tinyot.local() as parties:
            result = parties.run(richer, {"a": 700, "b": 900})
        self.assertEqual(result.a.outputs, {"richer": False, "difference": 2**32 - 200})
        self.assertEqual(result.b.outputs, {"richer": False, "sum": 1600})
        self.assertEqual(result.outputs["sum"], 1600)
        self.assertEqual(result.a.ands, richer.cost().ands)
        self.assertGreater(result.a.wall_s, 0)

    def test_runs_on_stored_material(self):
        with tinyot.local(self.directory) as parties:
            made = parties.preprocess(4096, 1024, profile="fast")
            self.assertEqual(made.a.store.session, made.b.store.session)
            self.assertEqual((made.a.ands, made.a.store.state), (4096, "complete"))
            self.assertEqual(pandas.DataFrame(made.a.phases)["name"].is_unique, True)
            parties.run(richer, {"a": 1, "b": 2})
            info = tinyot.Store(self.directory / "A").info()
            self.assertEqual(info.ands_left, 4096 - richer.cost().ands)
            self.assertEqual(info.left["triples"], info.ands_left)
            error = self.refused(
                tinyot.OutOfMaterial, "", parties.run, richer,
                {"a": list(range(500)), "b": [7] * 500}, lanes=500,
            )  # fmt: skip
            self.assertIn("preprocess(add=", error.hint)
            self.assertIsInstance(error, tinyot.StoreError)
            self.refused(tinyot.StoreError, "resume=True", parties.preprocess, 4096)
            more = parties.preprocess(add=2048, inputs=64, profile="fast")
            self.assertEqual(more.a.ands, 2048)
            self.assertEqual(parties.preprocess(left=1000, inputs=8, profile="fast").a.ands, 0)

    def test_lanes(self):
        rng = np.random.default_rng(3)
        a, b = rng.integers(0, 1 << 32, (2, 200), np.uint32)
        with tinyot.local() as parties:
            result = parties.run(richer, {"a": a, "b": b.tolist()}, lanes=200)
        np.testing.assert_array_equal(result.outputs["richer"], a > b)
        np.testing.assert_array_equal(result.a.outputs["difference"], a - b)

    def test_values_stay_shared_between_circuits(self):
        with tinyot.local(self.directory) as parties:
            parties.preprocess(2048, 256)
            answers = {}

            def party(one, secret):
                with one.connect() as connection:
                    first = connection.run(product, secret)
                    self.assertEqual(first.outputs, {})
                    self.assertEqual(first.shared["product"].bits, 16)
                    for guess in (90, 91):
                        mine = {"guess": guess} if one.party == "A" else {}
                        result = connection.run(is_above, mine, shared=first.shared)
                        answers[one.party, guess] = result.outputs["result"]
                self.refused(tinyot.UsageError, "closed", connection.run, product, secret)

            thread = threading.Thread(target=party, args=(parties.b, {"b": 13}))
            thread.start()
            party(parties.a, {"a": 7})
            thread.join()
        self.assertEqual(
            answers, {("A", 90): True, ("A", 91): False, ("B", 90): True, ("B", 91): False}
        )

    def test_public_inputs_are_given_by_both(self):
        with tinyot.local() as parties:
            result = parties.run(scaled, {"p": 5, "a": 11})
            self.assertEqual(result.outputs, {"result": 55})
            lanes = parties.run(scaled, {"p": [1, 2, 3], "a": [4, 5, 6]}, lanes=3)
            np.testing.assert_array_equal(lanes.outputs["result"], [4, 10, 18])
        self.assertEqual([b.party for b in scaled.inputs], ["public", "A"])

    def test_prepared_runs_and_shares_of_values(self):
        with tinyot.local(self.directory) as parties:
            parties.preprocess(2048, 256, profile="fast")
            shares = {}

            def party(one, secret, public):
                with one.connect() as connection:
                    first = connection.prepare(product)
                    second = connection.prepare(scaled, lanes=2)
                    mine = {"a": [6, 7]} if one.party == "A" else {}
                    result = second.finish({"p": [2, 3]} | mine)
                    self.assertEqual(result.outputs["result"].tolist(), [12, 21])
                    kept = first.finish(secret).shared["product"]
                    shares[one.party] = int.from_bytes(kept.my_share()[0], "little")
                    self.refused(tinyot.UsageError, "finished", first.finish, secret)
                    other = connection.prepare(scaled)
                    mine = {"a": 1} if one.party == "A" else {}
                    values = {"p": 1 if one.party == "A" else 2} | mine
                    self.refused(tinyot.Disagreement, "public value of p", other.finish, values)
                    self.refused(tinyot.UsageError, "ended with an error", other.finish, values)
                    self.refused(tinyot.UsageError, "ended with an error", connection.prepare, scaled)

            thread = threading.Thread(target=party, args=(parties.b, {"b": 13}, 0))
            thread.start()
            party(parties.a, {"a": 7}, 0)
            thread.join()
        self.assertEqual(shares["A"] ^ shares["B"], 91)

    def test_online_phases(self):
        with tinyot.local(self.directory) as parties:
            parties.preprocess(4096, 512, profile="fast", material="garbling")
            for online in ("interactive", "masked", "garbled"):
                result = parties.run(richer, {"a": 7, "b": 5}, online=online)
                self.assertEqual(result.outputs["sum"], 12)
                self.assertEqual(result.a.online, online)
                self.assertEqual(result.b.online_chosen_by, "request")
            self.assertEqual(result.a.half_round_trips, (4, 5))
            self.refused(
                tinyot.UsageError, "no online phase 'paired'",
                parties.run, richer, {"a": 7, "b": 5}, online="paired",
            )  # fmt: skip
            found = {}

            def party(one, mine):
                for check in ("early", "batched"):
                    with one.connect(online="garbled", row_check=check) as connection:
                        result = connection.prepare(richer).finish(mine)
                        self.assertTrue(result.outputs["richer"])
                        found[one.party, check] = result.half_round_trips

            thread = threading.Thread(target=party, args=(parties.b, {"b": 5}))
            thread.start()
            party(parties.a, {"a": 7})
            thread.join()
            self.assertEqual(found["A", "early"], (2, 3))
            self.assertEqual(found["B", "batched"], (4, 5))

    def test_several_at_once(self):
        results = {}

        def work(number):
            with tinyot.local() as parties:
                parties.preprocess(1024, 512, profile="fast")
                for i in range(3):
                    got = parties.run(richer, {"a": number + i, "b": 5})
                    results[number, i] = got.outputs["sum"]

        threads = [threading.Thread(target=work, args=(number,)) for number in (10, 20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {(n, i): n + i + 5 for n in (10, 20) for i in range(3)})

    def test_large_circuits_are_generated_while_they_run(self):
        @tinyot.circuit
        def f(a: UInt = A.uint(64), b: UInt = B.uint(64)) -> UInt:
            for i in range(100):
                a = a * b + i
            return a

        expected = 3
        for i in range(100):
            expected = (expected * 5 + i) % (1 << 64)
        with tinyot.local() as parties:
            fast = tinyot.Parameters(profile="fast")
            result = parties.run(f, {"a": 3, "b": 5}, live=fast)
        self.assertEqual(result.outputs["result"], expected)

    def test_profile_for_slow_links(self):
        with tinyot.local() as parties:
            made = parties.preprocess(2048, 256, profile="wan", silent_set="b9")
            self.assertEqual(made.a.ands, 2048)
            self.assertEqual(parties.run(richer, {"a": 5, "b": 3}).outputs["richer"], 1)
            self.refused(
                tinyot.UsageError, "silent-set b10 requires abits silent", parties.preprocess, 64,
                profile="fast", silent_set="b10",
            )  # fmt: skip
        with tinyot.local() as parties:
            retired = "silent-set s13 is retired: "
            error = self.refused(
                tinyot.UsageError, retired, parties.preprocess, 64, profile="wan", silent_set="s13"
            )
            self.assertIn("use b12", str(error))
            live = tinyot.Parameters(profile="wan", silent_set="s13")
            inputs = {"a": 5, "b": 7}
            self.refused(tinyot.UsageError, retired, parties.run, richer, inputs, live=live)
            live = tinyot.Parameters(profile="fast", abits="silent", silent_set="b9")
            result = parties.run(richer, {"a": 5, "b": 7}, live=live)
            self.assertEqual(result.outputs["richer"], 0)

    def test_failure_of_one_party_ends_the_other(self):
        begin = time.monotonic()
        with tinyot.local() as parties:
            self.refused(
                tinyot.UsageError, "input b is missing", parties.run, richer, {"a": 1}
            )
            self.refused(tinyot.UsageError, "no input c", parties.run, richer, {"c": 1})
            self.refused(tinyot.UsageError, "weak_allowed", parties.preprocess, 64, bucket=2)
            self.refused(tinyot.UsageError, "no profile", parties.preprocess, 64, profile="slow")
            self.refused(
                tinyot.UsageError, "no parameter 'columns'", parties.preprocess, 64,
                profile="fast", columns="theorem",
            )  # fmt: skip
            self.refused(
                tinyot.UsageError, "bucket 6+6 has another number", parties.preprocess, 64,
                bucket=(6, 6),
            )  # fmt: skip
            self.refused(tinyot.UsageError, "one of ands", parties.preprocess)
            self.refused(tinyot.UsageError, "one of ands", parties.preprocess, 64, add=64)
        self.assertLess(time.monotonic() - begin, 10)

    def test_progress_is_reported(self):
        seen = []
        with tinyot.local() as parties:
            parties.preprocess(3000, 64, unit=1024, progress=seen.append)
        self.assertTrue(all(isinstance(state, tinyot.Progress) for state in seen))
        self.assertEqual({state.unit for state in seen}, {0, 1, 2})
        self.assertEqual({state.job_ands for state in seen}, {3000})
        self.assertTrue(all(state.done <= state.total for state in seen))

    def test_exception_of_progress_ends_the_job(self):
        class Mine(Exception):
            pass

        def progress(state):
            raise Mine("from the callback")

        with tinyot.local(self.directory) as parties:
            self.refused(
                Mine, "from the callback", parties.preprocess, 1 << 16, 64, unit=1024,
                profile="fast", progress=progress,
            )  # fmt: skip
            parties.preprocess(resume=True, profile="fast")
            self.assertEqual(tinyot.Store(self.directory / "A").info().state, "complete")

    def test_retired_stores_are_unusable(self):
        with tinyot.local(self.directory) as parties:
            parties.preprocess(1024, 256)
            store = tinyot.Store(self.directory / "B")
            self.assertEqual(store.retire(), [])
            self.assertEqual(store.info().state, "revoked")
            inputs = {"a": 1, "b": 2}
            self.refused(tinyot.StoreError, "retired by its owner", parties.run, richer, inputs)


class RecordsTest(TestCase):
    def test_estimates(self):
        frame = pandas.DataFrame(tinyot.estimate([1 << 14, 1 << 20], sigma=[40, 60], profile="fast"))
        self.assertEqual(len(frame), 4)
        self.assertTrue((frame.sigma_paper_bound >= frame.sigma).all())
        self.assertEqual(frame.ands.tolist(), [1 << 14, 1 << 14, 1 << 20, 1 << 20])
        self.assertGreater(frame.bytes_sent[1], frame.bytes_sent[0])
        self.refused(tinyot.UsageError, "weak_allowed", tinyot.estimate, 64, bucket=2)

    def test_measurements(self):
        frame = pandas.DataFrame(tinyot.bench(4096, profile="fast", bucket=[5, 6], repeat=2))
        self.assertEqual(frame.bucket.tolist(), [5, 5, 6, 6])
        self.assertTrue((frame.ands_per_s > 0).all())
        self.assertGreater(frame.bytes_sent[2], frame.bytes_sent[0])


if __name__ == "__main__":
    unittest.main()
