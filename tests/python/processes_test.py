"""The two parties as two processes: keys, stores, peers that fail, cheat or ask for something else,
and Ctrl-C."""

import inspect
import json
import os
import subprocess
import textwrap
import time
import unittest

import tinyot
from support import Process, Relay, TestCase, free_port, wait_until_listening
from tinyot import Bit

RICHER = """
@tinyot.circuit
def richer(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> Bit:
    return a > b

"""
LONG = """
calls = 0

@tinyot.circuit
def long(a: UInt = A.uint(64), b: UInt = B.uint(64)) -> UInt:
    global calls
    calls += 1
    for i in range(loops):
        a = a * b + i
        if calls == 3 and i == 50 and len(sys.argv) > 1 and sys.argv[1] == "A":
            print("ready")
    return a

"""
# Arguments: party, port, further ones.
PARTY = RICHER + """
def party(**more):
    where = {"listen" if sys.argv[1] == "A" else "connect": "127.0.0.1:" + sys.argv[2]}
    return Party(sys.argv[1], store="store-" + sys.argv[1], **where, **more)

def report(call):
    try:
        return call()
    except tinyot.Error as error:
        print(type(error).__name__, error.check, error, sep="|")
        sys.exit(1)
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
        sys.exit(1)

"""


class TwoProcesses(TestCase):
    def both(self, program, *arguments, ports=None):
        """Runs the program as A and as B; the lines that each prints."""
        port = free_port()
        ports = ports or (port, port)
        processes = [
            Process(
                PARTY, program, arguments=(party, ports[i], *arguments), directory=self.directory
            )
            for i, party in enumerate("AB")
        ]
        results = [process.end() for process in processes]
        for _, errors in results:
            self.assertEqual(errors, "")
        return [lines for lines, _ in results]

    def interrupted(self, *program):
        """Sends SIGINT to A once it prints "ready". The lines that A and B print, and the seconds
        until A ended."""
        port = free_port()
        a, b = (
            Process(PARTY, *program, arguments=(party, port), directory=self.directory)
            for party in "AB"
        )
        self.assertEqual(a.line(), "ready")
        begin = time.monotonic()
        a.interrupt()
        of_a, errors = a.end()
        seconds = time.monotonic() - begin
        self.assertEqual(errors, "")
        return of_a, b.end()[0], seconds


class ProcessesTest(TwoProcesses):
    def test_run_with_keys(self):
        keys = [tinyot.keygen(self.directory / name) for name in ("A.pem", "B.pem", "other.pem")]
        self.refused(tinyot.UsageError, "A.pem", tinyot.keygen, self.directory / "A.pem")
        program = """
            me, peer = sys.argv[1], sys.argv[3 if sys.argv[1] == "B" else 4]
            one = party(key=me + ".pem", peer_key=peer, connect_timeout=3)
            made = report(lambda: one.preprocess(1024, 256))
            print(made.store.peer == peer)
            inputs = {"a": 30} if me == "A" else {"b": 20}
            print(report(lambda: one.run(richer, inputs)).outputs)
        """
        expected = ["True", "{'result': True}"]
        self.assertEqual(self.both(program, keys[0], keys[1]), [expected, expected])
        # A expects another key.
        (a,), (b,) = self.both(program, keys[0], keys[2])
        self.assertTrue(a.startswith("NetworkError|") or a.startswith("StoreError|"), a)
        self.assertIn("Error|", b)

    def test_other_addresses_need_keys(self):
        party = tinyot.Party("A", connect="192.0.2.1:9", store=self.directory / "A")
        error = self.refused(tinyot.UsageError, "tinyot.keygen(path)", party.preprocess, 1024)
        self.assertIn("allow_plaintext=True", error.hint)
        for wrong in ({}, {"listen": "h:1", "connect": "h:1"}, {"listen": "h:1", "key": "a"}):
            with self.assertRaises(tinyot.UsageError):
                tinyot.Party("A", **wrong)
        self.refused(tinyot.UsageError, "'C'", tinyot.Party, "C", listen="127.0.0.1:1")

    def test_requests_differ(self):
        a, b = self.both(
            """
            ands = 1024 if sys.argv[1] == "A" else 2048
            report(lambda: party(connect_timeout=5).preprocess(ands))
            """
        )
        self.assertTrue(a[0].startswith("Disagreement|"), a)
        self.assertTrue(b[0].startswith("Disagreement|"), b)

    def test_no_peer(self):
        party = tinyot.Party(
            "B", connect=f"127.0.0.1:{free_port()}", store=self.directory / "B", connect_timeout=0.3
        )
        error = self.refused(tinyot.NetworkError, "", party.preprocess, 1024)
        self.assertEqual(error.phase, "")
        self.assertIn("connect_timeout", error.hint)

    def test_altered_message_is_cheating(self):
        port = free_port()
        # In the corrections of the OT extension. A single one may meet a zero digit of the global
        # key, where it has no effect.
        relay = Relay(port, 500_000)
        program = """
            report(lambda: party(connect_timeout=10).preprocess(8192, 64, profile="fast"))
        """
        lines = self.both(program, ports=(port, relay.port))
        classes = [line[0].split("|")[0] if line else "" for line in lines]
        # The other party is told, unless it finds its own.
        self.assertIn("PeerCheated", classes, lines)
        self.assertLessEqual(set(classes), {"PeerAborted", "PeerCheated"}, lines)
        cheated = lines[classes.index("PeerCheated")][0]
        self.assertNotEqual(cheated.split("|")[1], "")
        for party in "AB":
            info = tinyot.Store(self.directory / f"store-{party}").info()
            self.assertEqual(info.state, "revoked")

    def test_broken_connection_names_its_phase(self):
        port = free_port()
        relay = Relay(port, 700_000, closes=True)
        lines = self.both(
            """
            try:
                party(connect_timeout=10).preprocess(8192, 64, profile="fast")
            except tinyot.NetworkError as error:
                print(type(error).__name__, error.phase != "")
            """,
            ports=(port, relay.port),
        )
        self.assertEqual(lines, [["NetworkError True"]] * 2)


# Differs from its third call on, which is that of the run, if it is A's: in its first gates, at the
# end, or in what it does with an exception.
CHANGING = """
calls = 0

@tinyot.circuit
def changing(a: UInt = A.uint(64), b: UInt = B.uint(64)) -> Bit:
    global calls
    calls += 1
    differs = calls > 2 and sys.argv[1] == "A"
    if differs and how == "first":
        return a <= b
    for i in range(loops):
        try:
            a = a ^ (a if differs and how == "catches" and i == loops // 2 else b)
        except Exception:
            pass
    return a >= b if differs and how == "last" else a > b

"""


class ChangingCircuitTest(TwoProcesses):
    """A function that does not do the same on each call: an error of its party alone."""

    def test_session_stays(self):
        program = textwrap.dedent("""
            inputs = {"a": 30} if sys.argv[1] == "A" else {"b": 20}
            one = party(connect_timeout=20)
            if how == "first" and loops == 10:
                report(lambda: one.preprocess(4096, 1024, profile="fast"))
            try:
                with one.connect() as connection:
                    print(connection.run(changing, inputs).outputs)
            except tinyot.Error as error:
                print(type(error).__name__, error, sep="|")
            print(report(lambda: one.run(richer, inputs)).outputs)
            print(one.ands_left() > 0, tinyot.Store("store-" + sys.argv[1]).info().state)
        """)
        # Small circuits are layered before the run, large ones are generated during it.
        for loops in (10, 6000):
            for how in ("first", "last", "catches"):
                with self.subTest(loops=loops, how=how):
                    a, b = self.both(f"how, loops = {how!r}, {loops}\n" + CHANGING + program)
                    self.assertTrue(a[0].startswith("UsageError|circuit changing is not the"), a)
                    self.assertIn("no random numbers", a[0])
                    self.assertTrue(b[0].startswith("NetworkError|"), b)
                    for lines in (a, b):
                        self.assertEqual(lines[1:], ["{'result': True}", "True complete"])

    def test_random_functions_are_no_deviation(self):
        report = self.both(
            """
            import random

            @tinyot.circuit
            def drawn(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> Bit:
                return a > b if random.random() < 0.5 else a >= b

            one = party(connect_timeout=20)
            report(lambda: one.preprocess(16384, 4096, profile="fast"))
            random.seed(sys.argv[1])
            inputs = {"a": 30} if sys.argv[1] == "A" else {"b": 20}
            for i in range(8):
                try:
                    with one.connect() as connection:
                        print(connection.run(drawn, inputs).outputs)
                except tinyot.Error as error:
                    print(type(error).__name__)
            print(tinyot.Store("store-" + sys.argv[1]).info().state)
            """
        )
        for lines in report:
            self.assertEqual(lines[-1], "complete")
            self.assertLessEqual(
                set(lines[:-1]), {"UsageError", "NetworkError", "Disagreement", "{'result': True}"}
            )
            self.assertEqual(len(lines), 9)


@unittest.skipUnless("TINYOT_BINARY" in os.environ, "there is no tinyot command")
class ShellTest(TestCase):
    """One party is the command, the other one a Python program."""

    def run_with_shell(self, circuit, arguments, inputs):
        """The command is A. Its report and the outputs of B."""
        binary = os.environ["TINYOT_BINARY"]
        if not (self.directory / "A").exists():
            subprocess.run(
                [binary, "local", "preprocess", "--store", self.directory, "--ands", "2^14"]
                + ["--profile", "fast", "--quiet"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        address = f"127.0.0.1:{free_port()}"
        shell = subprocess.Popen(
            [binary, "run", "--party", "A", "--listen", address, "--store", self.directory / "A"]
            + ["--format", "json", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        party = tinyot.Party("B", connect=address, store=self.directory / "B", connect_timeout=20)
        try:
            outputs = party.run(circuit, inputs).outputs
        finally:
            report = json.loads(shell.communicate(timeout=60)[0])
        return report, outputs

    def test_built_in_circuit(self):
        aes = tinyot.named("aes128")
        report, outputs = self.run_with_shell(
            aes,
            ["--circuit", "aes128", "--input", "key_a=000102030405060708090a0b0c0d0e0f"]
            + ["--input", "message=00112233445566778899aabbccddeeff"],
            {"key_b": bytes(16)},
        )
        self.assertEqual(outputs["ciphertext"].hex(), "69c4e0d86a7b0430d8cdb78070b4c55a")
        self.assertEqual(report["fingerprint"], aes.fingerprint())

    def test_function_and_file(self):
        @tinyot.circuit
        def half_adder(a: Bit = tinyot.A.bit(), b: Bit = tinyot.B.bit()) -> tinyot.Outputs:
            return {"sum": a ^ b, "carry": tinyot.out(a & b, "B")}

        file = self.directory / "file.txt"
        file.write_text(
            "2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n#tinyot description 1\n"
            "#tinyot input a 1 A integer\n#tinyot input b 1 B integer\n"
            "#tinyot output sum 1 both integer\n#tinyot output carry 1 B integer\n"
        )
        report, outputs = self.run_with_shell(
            half_adder, ["--circuit", file, "--input", "a=1"], {"b": True}
        )
        self.assertEqual(report["fingerprint"], half_adder.fingerprint())
        self.assertEqual(report["outputs"], {"sum": "0x0"})
        self.assertEqual(outputs, {"sum": False, "carry": True})

    def test_defaults_are_those_of_the_command(self):
        shell = subprocess.run(
            [os.environ["TINYOT_BINARY"], "params", "--no-calibration", "--ands", "2^20"]
            + ["--format", "json"],
            check=True,
            stdout=subprocess.PIPE,
        )
        command = json.loads(shell.stdout)
        (record,) = tinyot.estimate(1 << 20)
        of_call = inspect.signature(tinyot.Party.preprocess).parameters
        self.assertEqual(record["profile"], "nnob12")
        for name in ("profile", "sigma"):
            self.assertEqual(of_call[name].default, record[name])
        for name in ("profile", "sigma", "unit", "bucket", "sigma_exact"):
            self.assertEqual(record[name], command[name], name)


class InterruptTest(TwoProcesses):
    # A tenth of it on an idle machine.
    SECONDS_MAX = 3

    def test_preprocessing_can_be_resumed(self):
        of_a, of_b, seconds = self.interrupted(
            """
            def progress(state):
                global ready
                if not ready and state.unit == 3:
                    ready = True
                    print("ready")
            ready = sys.argv[1] == "B"
            fast = {"profile": "fast", "unit": 4096, "progress": progress}
            report(lambda: print(party().preprocess(1 << 22, 64, **fast)))
            """
        )
        self.assertEqual(of_a, ["KeyboardInterrupt"])
        self.assertLess(seconds, self.SECONDS_MAX)
        self.assertIn("state='open'", of_b[0])
        made = {}
        for party in "AB":
            info = tinyot.Store(self.directory / f"store-{party}").info()
            self.assertEqual(info.state, "open")
            made[party] = info.made["triples"]
            self.assertGreaterEqual(made[party], 3 * 4096)
        # The same session goes on.
        of_a, of_b = self.both(
            """
            def progress(state):
                if state.ands_before > 0 and state.unit * 4096 >= state.ands_before + 8192:
                    raise ValueError("enough")
            try:
                party().preprocess(resume=True, profile="fast", unit=4096, progress=progress)
            except (ValueError, tinyot.Error) as error:
                print(type(error).__name__)
            """
        )
        for party in "AB":
            info = tinyot.Store(self.directory / f"store-{party}").info()
            self.assertGreater(info.made["triples"], made[party])

    def test_run_ends(self):
        of_a, of_b, seconds = self.interrupted(
            LONG,
            """
            loops = 1000
            inputs = {"a": 3} if sys.argv[1] == "A" else {"b": 5}
            fast = Parameters(profile="fast", unit=4096)
            report(lambda: party().run(long, inputs, live=fast))
            """,
        )
        self.assertEqual(of_a, ["KeyboardInterrupt"])
        self.assertLess(seconds, self.SECONDS_MAX)
        self.assertEqual(of_b[0].split("|")[0], "NetworkError")

    def test_generation_ends(self):
        process = Process(
            """
            @tinyot.circuit
            def longer(a: UInt = A.uint(64)) -> UInt:
                for i in range(100_000):
                    a = a * a + i
                    if i == 50:
                        print("ready")
                return a

            try:
                longer.cost()
            except KeyboardInterrupt:
                print("KeyboardInterrupt")
            """,
        )
        self.assertEqual(process.line(), "ready")
        begin = time.monotonic()
        process.interrupt()
        self.assertEqual(process.end()[0], ["KeyboardInterrupt"])
        self.assertLess(time.monotonic() - begin, self.SECONDS_MAX)

    def test_waiting_for_a_peer_ends(self):
        port = free_port()
        process = Process(
            PARTY,
            "report(lambda: party().preprocess(1024))",
            arguments=("A", port),
            directory=self.directory,
        )
        wait_until_listening(port)
        begin = time.monotonic()
        process.interrupt()
        self.assertEqual(process.end()[0], ["KeyboardInterrupt"])
        self.assertLess(time.monotonic() - begin, self.SECONDS_MAX)


if __name__ == "__main__":
    unittest.main()
