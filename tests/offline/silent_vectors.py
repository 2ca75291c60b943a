"""Known answers of silent authenticated bits, from the formulas alone: prints the constants of
silent_bits_test.cpp. Plain Python: AES and GF(2^128) are written out here.

    H1(x) = AES(key, s(x)) ^ s(x),  s(hi || lo) = (hi ^ lo) || hi
    node j of a level of n nodes: left child H1(node) at j, right child node ^ H1(node) at j + n
    idx(y, f) = (h_(f div 3) >> 21.(f mod 3)) mod k
    h: the halves of AES({2y, it}) and AES({2y + 1, it})
    chi_y = a_(y div 128) * b_(y mod 128),  a_i = AES({i, 0}), b_m = AES({m, 1})

A block {lo, hi} is 16 bytes, lo first, little-endian.
"""
import hashlib

RCON = (1, 2, 4, 8, 16, 32, 64, 128, 27, 54)


def xtime(a):
    return ((a << 1) ^ (0x1B if a & 0x80 else 0)) & 0xFF


def make_sbox():
    p = q = 1
    box = [0x63] * 256
    while True:
        p ^= xtime(p)
        for shift in (1, 2, 4):
            q ^= (q << shift) & 0xFF
        q ^= 0x09 if q & 0x80 else 0
        rotated = q
        for shift in range(1, 5):
            rotated ^= ((q << shift) | (q >> (8 - shift))) & 0xFF
        box[p] = rotated ^ 0x63
        if p == 1:
            return box


SBOX = make_sbox()


def round_keys(key):
    words = [list(key[i:i + 4]) for i in range(0, 16, 4)]
    for i in range(4, 44):
        word = list(words[i - 1])
        if i % 4 == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= RCON[i // 4 - 1]
        words.append([a ^ b for a, b in zip(words[i - 4], word)])
    return [sum(words[i:i + 4], []) for i in range(0, 44, 4)]


def aes(key, block):
    """Blocks as integers lo + 2^64 hi."""
    keys = round_keys(key.to_bytes(16, "little"))
    state = [a ^ b for a, b in zip(block.to_bytes(16, "little"), keys[0])]
    for number in range(1, 11):
        state = [SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 10:
            mixed = []
            for c in range(0, 16, 4):
                column = state[c:c + 4]
                every = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[i] ^ every ^ xtime(column[i] ^ column[(i + 1) % 4])
                          for i in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, keys[number])]
    return int.from_bytes(bytes(state), "little")


def block(lo, hi):
    return lo | hi << 64


def halves(value):
    return value & (1 << 64) - 1, value >> 64


def gf(a, b):
    product = 0
    for i in range(128):
        if b >> i & 1:
            product ^= a << i
    for i in range(254, 127, -1):
        if product >> i & 1:
            product ^= 1 << i ^ 0x87 << (i - 128)
    return product


def oracle(session, phase, direction, counter, message=b""):
    text = b"TinyOT RO v1" + len(phase).to_bytes(8, "little") + phase.encode() + session
    text += direction.encode() + counter.to_bytes(8, "little") + message
    return hashlib.sha256(text).digest()


def key_of(*query):
    return int.from_bytes(oracle(*query)[:16], "little")


def h1(key, x):
    lo, hi = halves(x)
    value = block(hi, hi ^ lo)
    return aes(key, value) ^ value


def grow(key, root, delta, depth):
    nodes, sums = [root, root ^ delta], [root]
    for _ in range(1, depth):
        left = [h1(key, node) for node in nodes]
        sums.append(0)
        for node in left:
            sums[-1] ^= node
        nodes = left + [a ^ b for a, b in zip(nodes, left)]
    return nodes, sums


def shown(name, blocks):
    print(f"constexpr Block {name}[] = {{")
    for value in blocks:
        print("    {0x%016x, 0x%016x}," % halves(value))
    print("};")


def main():
    assert aes(int.from_bytes(bytes(range(16)), "little"),
               int.from_bytes(bytes.fromhex("00112233445566778899aabbccddeeff"), "little")
               ) == int.from_bytes(bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a"), "little")
    session, coins, iteration = bytes(range(32)), bytes(range(100, 132)), 7
    tree_key = key_of(session, "silent tree", "A", iteration << 32 | 3)
    leaves, sums = grow(tree_key, block(11, 12), block(13, 14), 4)
    shown("kLeaves", leaves)
    shown("kLeftSums", sums)
    code = key_of(session, "silent code", "A", iteration, coins)
    print("constexpr std::uint32_t kRows[] = {")
    for y in (0, 1, 4718591):
        h = sum((list(halves(aes(code, block(2 * y + i, iteration)))) for i in range(2)), [])
        row = [h[f // 3] >> 21 * (f % 3) & (1 << 19) - 1 for f in range(10)]
        print("    " + ", ".join(map(str, row)) + ",")
    print("};")
    chi = key_of(session, "silent chi", "A", iteration, coins)
    shown("kChi", [gf(aes(chi, block(y // 128, 0)), aes(chi, block(y % 128, 1)))
                   for y in (0, 1, 127, 128, 4718591)])


if __name__ == "__main__":
    main()
