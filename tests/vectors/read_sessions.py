#!/usr/bin/env python3
"""Reads the recorded sessions as another implementation does, without the project's code:
`read_sessions.py PROGRAM`, the program session_vectors. From the seeds and the messages it derives
the ids of the session and of its parts, the confirmations, the global keys, and every random value
that is sent as it is drawn, by doc/protocol.md and the table of doc/testing.md.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "offline"))
from silent_vectors import aes, oracle  # noqa: E402


class Random:
    """A generator: AES-128 in counter mode, whose counter is little-endian."""

    def __init__(self, seed):
        self.key = int.from_bytes(seed, "little")
        self.blocks = 0
        self.rest = b""

    def draw(self, count):
        while len(self.rest) < count:
            self.rest += aes(self.key, self.blocks).to_bytes(16, "little")
            self.blocks += 1
        drawn, self.rest = self.rest[:count], self.rest[count:]
        return drawn

    def skip(self, count):
        """As draw(), without the blocks in between."""
        if count > len(self.rest):
            count -= len(self.rest)
            self.blocks, self.rest, count = self.blocks + count // 16, b"", count % 16
        self.draw(count)


def equal(what, value, expected):
    if value != expected:
        raise SystemExit(f"{what} is {value.hex()}, and should be {expected.hex()}")


class Party:
    """What one party of a session has sent, and what it has drawn for that."""

    def __init__(self, name, description, messages, results):
        self.name = name
        self.description = description
        self.hellos = [next(m["payload"] for m in messages if m["from"] == p) for p in "AB"]
        self.messages = [m for m in messages if m["from"] == name]
        self.parts = {k: bytes.fromhex(v) for k, v in results["parts"].items()}
        self.results = results
        self.random = Random(bytes.fromhex(description["seeds"][name]))

    def sent(self, tag, messages=None):
        return [m["payload"] for m in messages or self.messages if m["tag"] == tag]

    def compare(self, what, value, expected):
        equal(f"{self.description['session']}, {self.name}: {what}", value, expected)

    def part(self, whole, seed_of_parts, kind, number):
        """The generator of a part, and the seed of the parts of that one."""
        self.compare(f"{kind} {number}", self.parts[f"{kind} {number}"],
                     oracle(whole, kind, "*", number))
        seed = oracle(whole, "randomness of a part", self.name, number,
                      kind.encode() + seed_of_parts)[:16]
        random = Random(seed)
        return random, random.draw(16)

    def check(self):
        both = b"".join([len(self.hellos[0]).to_bytes(8, "little"), *self.hellos])
        session = oracle(bytes(32), "session", "*", 0, both)
        connection = oracle(session, "connection", "*", 0, both)
        self.compare("session", bytes.fromhex(self.results["session"]), session)
        self.compare("connection", bytes.fromhex(self.results["connection"]), connection)
        self.compare("confirmation", self.sent("handshake.confirm")[0],
                     oracle(connection, "confirm", self.name, 0, both))
        self.compare("proof of worker 1", self.sent("session.join")[0],
                     oracle(connection, "worker", self.name, 1))
        nonce = self.random.draw(32)
        if nonce not in self.hellos["AB".index(self.name)]:
            raise SystemExit(f"{self.name}'s nonce is not {nonce.hex()}")
        key = bytearray(self.random.draw(16))
        if self.description["profile"] != "nnob12":  # its material for garbling is not recorded
            key[0] = key[0] & 0xFE | (self.name == "B")
        self.key = bytes(key)
        self.compare("global key", bytes.fromhex(self.results["global_key"]), self.key)
        live, seed = self.part(connection, self.random.draw(16), "live material", 0)
        self.whole, self.seed = self.parts["live material 0"], seed
        if self.description["profile"] == "nnob12":
            self.check_nnob12(live)
        else:
            live.skip(128 * 128 + 128 * 64)  # base OTs
            self.compare("first challenge", self.sent("softspoken.challenge")[0], live.draw(32))
            if self.description["profile"] == "fast":
                self.check_fast()
            else:
                self.check_wan()
        self.check_labels()

    def unit(self, number):
        return self.part(self.whole, self.seed, "unit", number)[0]

    def check_nnob12(self, live):
        columns = {p["name"]: p["value"] for p in self.description["parameters"]}["columns"]
        tau = {"theorem": 939, "experiment": 342}[columns]
        row = (tau + 63) // 64 * 8
        live.skip((2 * tau + 63) // 64 * 8 + 2 * tau * (128 + 64))  # choices, base OTs
        units = self.description["units"]
        runs = [live] + [self.unit(number) for number in range(len(units))]
        lengths = [0]
        for message in self.messages:
            if message["tag"] == "labit.corrections":
                lengths[-1] += message["bytes"] // (2 * tau)
            elif message["tag"] == "labit.pairing":
                lengths.append(0)
        seeds = iter(self.sent("bucket.permutation_seed"))
        for run, random in enumerate(runs):
            random.skip(lengths[run])  # Gamma
            self.compare("pairing", self.sent("labit.pairing")[run], random.draw(32))
            sent = self.sent("abit.r")[run]
            for i in range(128):
                drawn = int.from_bytes(random.draw(row), "little") % (1 << tau)
                stride = len(sent) // 128
                changed = drawn ^ int.from_bytes(sent[i * stride:(i + 1) * stride], "little")
                if changed & (changed - 1):
                    raise SystemExit(f"row {i} of R differs in more than one bit")
            if run == 0:
                continue
            unit = units[run - 1]
            random.skip(64 + 64 + 32 * unit["ands"] * int(unit["bucket"]) + 64)  # EQs, LaOTs, EQ
            for _ in range(2):
                self.compare("permutation", next(seeds), random.draw(32))

    def check_coins(self, random, messages):
        coins = random.draw(64)
        if self.name == "A":
            self.compare("coins", self.sent("coin_toss.opening", messages)[0], coins)
        else:
            self.compare("coins", self.sent("coin_toss.answer", messages)[0], coins[:32])

    def check_fast(self):
        begins = [i for i, m in enumerate(self.messages) if m["tag"] == "unit.begin"]
        for number, begin in enumerate(begins):
            random = self.unit(number)
            messages = self.messages[begin:(begins + [None])[number + 1]]
            for message in messages:
                if message["tag"] == "softspoken.challenge":
                    self.compare("challenge", message["payload"], random.draw(32))
                elif message["tag"] == "global_key.e":
                    random.skip(64)  # EQ
            random.skip(64)  # EQ
            self.check_coins(random, messages)

    def check_wan(self):
        chain, _ = self.part(self.whole, self.seed, "silent bits", 0)
        for challenge in self.sent("softspoken.challenge")[1:]:
            self.compare("challenge of the start", challenge, chain.draw(32))
        chain.skip(64 + 64)  # EQ, coin toss
        for challenge in self.sent("silent.challenge"):
            chain.skip(16)  # the secret of the trees
            self.compare("challenge of an iteration", challenge[:32], chain.draw(32))
        begin = next(i for i, m in enumerate(self.messages) if m["tag"] == "unit.begin")
        self.check_coins(self.unit(0), self.messages[begin:])

    def check_labels(self):
        if self.name == "A" or self.description["online"] != "garbled":
            return
        if self.description["inputs_later"]:
            self.compare("seed of the pad", self.sent("garbled.seed")[0], self.random.draw(16))
        labels = b"".join(self.sent("garbled.labels"))
        delta = int.from_bytes(self.key, "little")
        for at in range(0, len(labels), 16):
            drawn = int.from_bytes(self.random.draw(16), "little")
            if int.from_bytes(labels[at:at + 16], "little") not in (drawn, drawn ^ delta):
                raise SystemExit(f"label {at // 16} is neither of its two")


def check(path):
    description, *messages, results = [json.loads(line) for line in open(path)]
    for message in messages:
        message["payload"] = bytes.fromhex(message["hex"])
        if len(message["payload"]) != message["bytes"]:
            raise SystemExit(f"message {message['n']} has another length")
        equal("a digest", bytes.fromhex(message["sha256"]),
              hashlib.sha256(message["payload"]).digest())
    for name in "AB":
        Party(name, description, messages, results[name]).check()


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program, directory], check=True)
        paths = sorted(pathlib.Path(directory).iterdir())
        for path in paths:
            check(path)
        if len(paths) < 10:
            raise SystemExit("sessions are missing")


if __name__ == "__main__":
    main(sys.argv[1])
