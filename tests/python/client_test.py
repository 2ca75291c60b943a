"""tinyot.client with the daemons of two parties."""

import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import tinyot
from support import TestCase, free_port
from tinyot import A, B, UInt
from tinyot.client import Daemon, State

POLICY = """
allow { circuit: 'aes128' lanes_max: 64 }
allow { circuit: 'millionaires' parameter { name: 'signed' max: 1 } lanes_max: 16 }
allow { circuit: 'sorted_set_intersection' parameter { name: 'count' max: 9 } lanes_max: 1 }
allow {
  circuit: 'minimum' lanes_max: 1 parameter { name: 'count' max: 9 }
  parameter { name: 'bits' max: 64 } parameter { name: 'signed' max: 1 }
}
allow { digest: '%s' lanes_max: 4 }
"""


@tinyot.circuit
def total(a: UInt = A.uint(16)[5], b: UInt = B.uint(16)[5]) -> UInt:
    sums = [x + y for x, y in zip(a, b)]
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4]


class ClientTest(TestCase):
    """One pair of daemons for all tests, whose jobs have names of their own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tinyot-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        port, cls.daemons, cls.processes = free_port(), {}, {}
        for party, peer, where in (("A", "bob", "listen"), ("B", "alice", "connect")):
            home = Path(cls.folder.name) / party
            home.mkdir(mode=0o700)
            (home / "policy").write_text(POLICY % total.fingerprint())
            (home / "conf").write_text(f"""
directory: '{home}/stores'
socket: '{home}/socket'
peer {{
  name: '{peer}' party: {party} {where}: '127.0.0.1:{port}'
  policy: '{home}/policy' profile: 'fast'
  low {{ ands: 20000 }} high {{ ands: 60000 }}
}}
""")
            with (home / "log").open("w") as log:
                process = subprocess.Popen(
                    [os.environ["TINYOT_BINARY"], "serve", "--config", str(home / "conf")],
                    stderr=log,
                )
            cls.processes[party] = process
            cls.addClassCleanup(process.wait)
            cls.addClassCleanup(process.terminate)
            daemon = Daemon(f"unix:{home}/socket")
            cls.addClassCleanup(daemon.close)
            cls.daemons[party] = daemon
            wait_until_it_serves(process, home)
        for daemon in cls.daemons.values():
            daemon.wait_until_connected()

    def both(self, ask):
        """What `ask` returns for each party, asked at the same time."""
        answers = {}

        def one(party):
            try:
                answers[party] = ask(party, self.daemons[party])
            except tinyot.Error as error:
                answers[party] = error

        threads = [threading.Thread(target=one, args=(party,)) for party in "AB"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def test_built_in_circuit(self):
        inputs = {"A": {"key_a": bytes(range(16)), "message": b"0123456789abcdef"},
                  "B": {"key_b": bytes(16)}}
        answers = self.both(
            lambda party, daemon: daemon.run("aes", "aes128", inputs[party], wait_s=60))
        wanted = tinyot.named("aes128").evaluate(inputs["A"] | inputs["B"])
        self.assertEqual(answers["A"].outputs, {})
        self.assertEqual(answers["B"].outputs, wanted)
        job = self.daemons["B"].status("aes")
        self.assertEqual((job.state, job.peer, job.circuit, job.ands),
                         (State.DONE, "alice", "aes128", 6400))
        # Without the circuit, outputs have their own format.
        self.assertEqual(self.daemons["B"].result("aes", forget=True).outputs, wanted)
        self.refused(tinyot.UsageError, "no job", self.daemons["B"].status, "aes")

    def test_lanes_are_arrays(self):
        values = np.arange(8, dtype=np.uint32)
        inputs = {"A": {"a": values}, "B": {"b": values[::-1].copy()}}
        answers = self.both(
            lambda party, daemon: daemon.run("lanes", "millionaires", inputs[party], lanes=8,
                                             wait_s=60))
        for answer in answers.values():
            self.assertEqual(answer.outputs["a_has_more"].tolist(), [0, 0, 0, 0, 1, 1, 1, 1])
        plain = self.daemons["A"].result("lanes").outputs["a_has_more"]
        self.assertEqual(plain.tolist(), [0, 0, 0, 0, 1, 1, 1, 1])

    def test_signed_numbers(self):
        inputs = {"A": {"a": [-1, 5, -7]}, "B": {"b": [5, -1, -3]}}
        answers = self.both(
            lambda party, daemon: daemon.run("signed", "millionaires:signed=1", inputs[party],
                                             lanes=3, wait_s=60))
        for answer in answers.values():
            self.assertEqual(answer.outputs["a_has_more"].tolist(), [0, 1, 0])
        circuits = {"A": "millionaires:signed=1", "B": "millionaires"}
        answers = self.both(
            lambda party, daemon: daemon.run("unlike", circuits[party], {party.lower(): 1},
                                             wait_s=60))
        for answer in answers.values():
            self.assertIsInstance(answer, tinyot.Disagreement)
            self.assertIn("millionaires:signed=1 (built in", str(answer))
            self.assertIn("millionaires (built in", str(answer))

    def test_results_have_their_type_without_the_circuit(self):
        circuit = "minimum:count=3,bits=8,signed=1"
        inputs = {"A": {"values_a": [5, -1]}, "B": {"values_b": 7}}
        answers = self.both(
            lambda party, daemon: daemon.run("lowest", circuit, inputs[party], wait_s=60))
        for party, answer in answers.items():
            self.assertEqual(answer.outputs, {"minimum": -1})
            daemon = self.daemons[party]
            self.assertEqual(daemon.result("lowest").outputs, {"minimum": -1})
            self.assertEqual(daemon.result("lowest", circuit).outputs, {"minimum": -1})
            self.refused(tinyot.UsageError, "is of circuit", daemon.result, "lowest",
                         "minimum:count=3,bits=8")
            self.refused(tinyot.UsageError, "bits, not", daemon.result, "lowest",
                         tinyot.named("minimum:count=3,bits=16"))
            self.refused(tinyot.UsageError, "of another type", daemon.result, "lowest",
                         tinyot.named("minimum:count=3,bits=8"))

    def test_conditions_are_checked_before_a_job_is_accepted(self):
        self.refused(tinyot.UsageError, "in ascending order", self.daemons["A"].submit, "unsorted",
                     "sorted_set_intersection:count=2", {"values_a": [2, 1]})
        self.refused(tinyot.UsageError, "no job", self.daemons["A"].status, "unsorted")

    def test_circuit_of_a_function_with_lists(self):
        inputs = {"A": {"a": [1, 2, 3, 4, 5]}, "B": {"b": np.array([10, 20, 30, 40, 50])}}
        answers = self.both(
            lambda party, daemon: daemon.run("total", total, inputs[party], wait_s=60))
        for answer in answers.values():
            self.assertEqual(list(answer.outputs.values()), [165])

    def test_file(self):
        file = self.directory / "total.txt"
        total.save(file)
        inputs = {"A": {"a": [1, 1, 0, 0, 0]}, "B": {"b": [2, 0, 0, 0, 0]}}
        answers = self.both(lambda party, daemon: daemon.run("file", file, inputs[party], wait_s=60))
        for answer in answers.values():
            self.assertEqual(list(answer.outputs.values()), [4])

    def test_errors_are_those_of_the_library(self):
        daemon = self.daemons["A"]
        self.refused(tinyot.UsageError, "no peer 'carol'", daemon.submit, "x", "millionaires",
                     {"a": 1}, peer="carol")
        self.refused(tinyot.Error, "policy", daemon.submit, "x", "hamming:bits=8", {"a": 1})
        self.refused(tinyot.UsageError, "no input c", daemon.submit, "x", "millionaires", {"c": 1})
        answers = self.both(lambda party, daemon: daemon.run(
            "differ", "millionaires", {party.lower(): [1] * (2 if party == "A" else 3)},
            lanes=2 if party == "A" else 3, wait_s=60))
        for answer in answers.values():
            self.assertIsInstance(answer, tinyot.Disagreement)
            self.assertIn("lanes", str(answer))
        with Daemon(f"unix:{self.directory}/none", timeout_s=5) as nobody:
            self.refused(tinyot.NetworkError, "cannot be reached", nobody.peers)
        self.refused(tinyot.UsageError, "give ca, certificate and key", Daemon, "localhost:7767")
        self.refused(tinyot.UsageError, "has no TLS", Daemon, "unix:/x", ca="ca.pem")

    def test_job_that_the_peer_does_not_submit(self):
        daemon = self.daemons["A"]
        job = daemon.submit("alone", "millionaires", {"a": 1})
        self.assertFalse(job.state.is_ended)
        self.refused(tinyot.NetworkError, "goes on", daemon.result, "alone", wait_s=0.2)
        self.assertIs(daemon.cancel("alone").state, State.CANCELLED)
        self.refused(tinyot.Error, "was cancelled", daemon.result, "alone")

    def test_calls_that_are_not_allowed(self):
        home = Path(self.folder.name) / "A"
        conf = (home / "conf").read_text()
        self.addCleanup(self.reload, home, conf)
        self.reload(home, conf + f"access {{ user: '{os.getuid()}' may: SUBMIT }}")
        daemon = self.daemons["A"]
        daemon.peers()
        self.refused(tinyot.UsageError, "may not retire sessions", daemon.retire, "bob")
        self.refused(tinyot.UsageError, "may not read results", daemon.run, "unread",
                     "millionaires", {"a": 1})
        self.refused(tinyot.Error, "no job 'unread'", daemon.status, "unread")

    def reload(self, home, conf):
        """Returns once the daemon has said that it has read the configuration again."""
        (home / "conf").write_text(conf)
        before = (home / "log").read_text().count("configuration reloaded")
        self.processes["A"].send_signal(signal.SIGHUP)
        until = time.monotonic() + 30
        while (home / "log").read_text().count("configuration reloaded") == before:
            self.assertLess(time.monotonic(), until, (home / "log").read_text())
            time.sleep(0.05)

    def test_stock_and_peers(self):
        peer, = self.daemons["A"].peers()
        self.assertEqual((peer.name, peer.party, peer.is_connected, peer.refills_stopped),
                         ("bob", "A", True, ""))
        current, = [each for each in self.daemons["A"].stock("bob") if each.is_current]
        self.assertEqual((current.low_ands, current.high_ands), (20000, 60000))
        self.daemons["A"].resume("bob")


def wait_until_it_serves(process, home):
    """Its first line is about the interface; a daemon that ends has said why."""
    daemon = Daemon(f"unix:{home}/socket", timeout_s=30)
    while process.poll() is None:
        try:
            daemon.peers()
            break
        except tinyot.NetworkError:
            continue
    else:
        raise AssertionError((home / "log").read_text())
    daemon.close()


if __name__ == "__main__":
    unittest.main()
