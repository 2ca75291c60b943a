#!/usr/bin/env python3
"""Computes the expected values of KemOt.MatchesVectors from section 4.2 of doc/protocol.md, without
the project's code: `kem_ot_vectors.py`, with kyber-py and cryptography from PyPI.
"""

import hashlib
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from kyber_py.ml_kem import ML_KEM_768

Q = 3329
SESSION = bytes(range(32))
SENDER = b"A"
CHOICES = [0, 1, 1]


class Random:
    """A party's randomness: AES-128 in counter mode, whose counter is little-endian."""

    def __init__(self, low, high):
        self.aes = Cipher(algorithms.AES(struct.pack("<QQ", low, high)), modes.ECB()).encryptor()
        self.block = 0
        self.buffer = b""

    def bytes(self, count):
        while len(self.buffer) < count:
            self.buffer += self.aes.update(struct.pack("<QQ", self.block, 0))
            self.block += 1
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken


def random_oracle(phase, index, data):
    text = b"TinyOT RO v1" + struct.pack("<Q", len(phase)) + phase + SESSION + SENDER
    return hashlib.sha256(text + struct.pack("<Q", index) + data).digest()


def encoded(coefficients):
    number = sum(c << (12 * i) for i, c in enumerate(coefficients))
    return number.to_bytes(1152, "little")


def decoded(data):
    number = int.from_bytes(data, "little")
    return [(number >> (12 * i)) & 0xFFF for i in range(768)]


def reduced(wide):
    return [int.from_bytes(wide[16 * i : 16 * i + 16], "little") % Q for i in range(768)]


def vector_of(index, bit, rho, r):
    digest = random_oracle(b"base OT vector", index, bytes([bit]) + rho + r)
    return reduced(hashlib.shake_128(digest).digest(768 * 16))


def combined(data, other, sign):
    return encoded([(x + sign * y) % Q for x, y in zip(decoded(data), other)])


receiver, sender = Random(1, 2), Random(3, 4)
offers, keys = [], []
for i, c in enumerate(CHOICES):
    seed = receiver.bytes(64)
    public, private = ML_KEM_768._keygen_internal(seed[:32], seed[32:])
    t, rho = public[:1152], public[1152:]
    other = encoded(reduced(receiver.bytes(768 * 16)))
    chosen = combined(t, vector_of(i, c, rho, other), -1)
    offers.append(rho + (other + chosen if c else chosen + other))
    keys.append(private)

answers, pairs = [], []
for i, offer in enumerate(offers):
    rho, r = offer[:32], [offer[32:1184], offer[1184:]]
    secrets, answer = [], b""
    for b in (0, 1):
        public = combined(r[b], vector_of(i, b, rho, r[1 - b]), 1) + rho
        secret, ciphertext = ML_KEM_768._encaps_internal(public, sender.bytes(32))
        secrets.append(secret)
        answer += ciphertext
    answers.append(answer)
    pairs.append(
        [
            random_oracle(b"base OT KEM key", i, bytes([b]) + secrets[b] + offer + answer)[:16]
            for b in (0, 1)
        ]
    )

for i, c in enumerate(CHOICES):
    secret = ML_KEM_768.decaps(keys[i], answers[i][1088 * c : 1088 * (c + 1)])
    data = bytes([c]) + secret + offers[i] + answers[i]
    assert random_oracle(b"base OT KEM key", i, data)[:16] == pairs[i][c]

print("offers:", hashlib.sha256(b"".join(offers)).hexdigest())
print("answers:", hashlib.sha256(b"".join(answers)).hexdigest())
for pair in pairs:
    print("seeds:", pair[0].hex(), pair[1].hex())
hashed = encoded(reduced(hashlib.shake_128(bytes(range(32))).digest(768 * 16)))
print("hash_to_vector(00 01 .. 1f):", hashlib.sha256(hashed).hexdigest())
