#!/usr/bin/env python3
"""Estimates of the attacks on the parameter sets of silent authenticated bits, as log2 of
operations with free memory: primal LPN with n samples, a secret of k bits, regular noise of weight
t, and a code with ten ones a row. Prints the table of doc/wan_profile.md. Exits with 1 if the
document or the program has other values, or if an attack on a set in use takes less than 2^128 operations.
Plain Python, a quarter of a minute.

Formulas, as in Code_estimators by the authors of ePrint 2025/1284:
    pooled Gauss, statistical decoding     Liu, Wang, Yang, Yu, ePrint 2022/712
    information set decoding               Esser, Santini, ePrint 2023/1568
    AGB                                    Briaud, Oygarden, ePrint 2023/176
    AGB 2.0                                ePrint 2025/1476
    hybrid                                 ePrint 2025/1284
The minimum of the hybrid attack is searched over all of its parameters; a quick search misses it by
up to 21 bits. The grids of the algebraic attacks are coarser: up to 0.4 bits.

These formulas are for random codes. The code here differs from one in two ways.
Its rows are sparse. An attack that solves a system of rows pays for sparse linear algebra (block
Wiedemann), 3 w size^2 bit operations, where elimination costs more; 64 bits are then enough of an
element of a list. This is granted also where parities of blocks, which are not sparse, belong to
the system.
It has dense minors. A minor is a set of columns inside which at least as many rows lie whole. It is
an LPN instance with a smaller secret, and the rest of the secret follows row by row. A minor's size
is given twice: what peeling finds in a simulation, and the floor, below which no minor is expected
to exist. Sets are judged by the floor.
"""
import random
import re
import sys
from functools import lru_cache
from math import ceil, floor, inf, lgamma, log, log2, sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "doc" / "wan_profile.md"
ONES = 10      # w, the ones of a row of the code
CHECKS = 64    # further rows of a minor, by which a trial knows a right solution
LEAST = 128    # what a set in use has to have
# Trees, their depth, bits of the secret.
IN_USE = {f"b{d}": (1152, d, 128 << d) for d in (9, 10, 11, 12)}
OTHERS = {"s10": (640, 10, 1 << 16), "s11": (768, 11, 1 << 17), "s12": (1024, 12, 1 << 18),
          "s13": (1280, 13, 1 << 19), "Ferret": (1319, 13, 589760)}


def lbinom(n, k):
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2) if 0 <= k <= n else -1e9


def lsum(*logs):
    top = max(logs)
    return top + log2(sum(2.0 ** (v - top) for v in logs))


# --------------------------------------------------------------------------------------------------
# Attacks on any code.

def sparse(size, vectors=0):
    """Bit operations of block Wiedemann with rows of the code; `vectors` of a kernel beyond 64."""
    return log2(3 * ONES + vectors) + 2 * log2(size)


def pooled_gauss(n, k, t):
    """Regular noise gives t parity equations."""
    return min(2.8 * log2(k - t), sparse(k - t)) - t * log2(1 - (k - t) / n)


def isd_permutation(n, k, t):
    solved = min(2 * log2(n - k + t) + log2(n), sparse(k - t))
    return solved - t * log2(1 - (k - t) / n)


def isd_steps(n, k1, ell, *lists):
    """Elimination with elements of n bits, or sparse linear algebra with elements of 64 bits."""
    return min(log2(n) + max(2 * log2(n - k1), *lists), max(sparse(k1 + ell), 6 + max(lists)))


def isd_enumeration(n, k, t):
    b, k1, best = n // t, k - t, 1e9
    for p in range(0, 30, 2):
        guess = lbinom(t // 2, p // 2) + p / 2 * log2(k1 / t)
        for ell in range(max(ceil(guess / 2), 0), max(round(1.5 * guess), 1)):
            v = (k1 + ell) / t
            hit = 2 * lbinom(t // 2, p // 2) + p * log2(v / b) + (t - p) * log2(1 - v / b)
            lists = lbinom(t // 2, p // 2) + p / 2 * log2(v)
            best = min(best, isd_steps(n, k1, ell, 1 + lists, 2 * lists - ell) - hit)
    return best


def isd_representation(n, k, t):
    """Depth 2."""
    b, k1, best = n // t, k - t, 1e9
    for p in range(0, 40, 4):
        for eps in range(0, 32, 2):
            px = p / 2 + eps
            approx = 2 * (lbinom(t // 2, px / 2) + px / 2 * log2(k1))
            reps = 2 * (lbinom(p / 2, p / 4) + lbinom(t / 2 - p / 2, eps / 2))
            ex = floor(max(reps, 0))
            for ell in range(floor(approx / 2), floor(approx * 1.5)):
                v = (k1 + ell) / t
                if v >= b:
                    break
                l1 = lbinom(t // 2, px / 2) + log2(v) * px / 2
                lx = 2 * l1 - ex
                hit = 2 * lbinom(t // 2, p // 2) + p * log2(v / b) + (t - p) * log2(1 - v / b)
                steps = isd_steps(n, k1, ell, 2 + l1, 1 + lx, 2 * lx - ell + ex)
                best = min(best, steps - hit)
    return best


def statistical_decoding(n, k, t):
    return log2(k - t + 1) + 2 * t * log2((n - 2 * t + 1) / (n - k - t))


def quadratic(v, n0):
    """Bit operations to solve a system of degree 2 by linearisation."""
    return 4 * log2(v) + 2 * log2(n0) - 3 - log2(log2(v * v / 2))


def hybrid(n, k, t):
    """Over F_2: f blocks guess u + 1 places without noise, the others u, and q are tried out. The
    places guessed are rows of the code, and sparse; what they leave of the others is not."""
    beta = n // t

    def cost(u, f, q):
        if not (0 <= u < beta - 2 and 0 <= f <= t - q):
            return 1e9
        guess = -log2(1 - (u + 1) / beta) * f - log2(1 - u / beta) * (t - q - f)
        n0 = k - t - (u + 1) * f - (t - f - q) * u
        a = max(n - k - (n - k) // (beta - 1) * (beta - u - 2), 1)
        linear = min(log2(a) + log2(n - k) + log2(a + max(n0, 0)), sparse(k - t, max(n0, 0)))
        if n0 <= 0:
            return guess + linear
        equations = ((t - f - q) * (beta - u - 2) * (beta - u - 1) / 2
                     + f * (beta - u - 2) * (beta - u - 3) / 2)
        w = (beta - 1) * q
        v = n0 - w
        if v <= 1 or v > sqrt(2 * equations) - 2:
            return 1e9
        each = log2(1.25 * (2 * v * v * w + v * w * w) + (2.5 * v) ** 3 / log2(2.5 * v))
        return guess + lsum(linear, quadratic(v, n0), each + q * log2(beta))
    best = 1e9
    for q in range(6):
        for u in range(0, min(beta - 2, 400)):
            # The cost grows with f, so the least f that can be solved is best.
            lo, hi = 0, t - q + 1
            while lo < hi:
                mid = (lo + hi) // 2
                lo, hi = (lo, mid) if cost(u, mid, q) < 1e9 else (mid + 1, hi)
            best = min([best] + [cost(u, f, q) for f in (lo, lo + 1)])
    return best


def algebraic_sizes(n, k, h, f, mu):
    """Sizes of the systems of degree 2, 3, 4, and the degree at which they are solved, where f
    blocks guess mu places without noise."""
    beta = n // h
    m, b, g, r = float(beta - mu - 1), float(beta - 1), float(h - f), float(n - k)
    def poly(x, c):
        return [1.0, x * c, x * x * c * (c - 1) / 2, x ** 3 * c * (c - 1) * (c - 2) / 6,
                x ** 4 * c * (c - 1) * (c - 2) * (c - 3) / 24]

    a, q = poly(m, float(f)), poly(b, g)
    e = [1.0, -(r - 1), r * (r - 1) / 2, -(r + 1) * r * (r - 1) / 6,
         (r + 2) * (r + 1) * r * (r - 1) / 24]
    ab = [sum(a[i] * q[j - i] for i in range(j + 1)) for j in range(5)]
    full = [sum(ab[i] * e[j - i] for i in range(j + 1)) for j in range(5)]
    columns = [ab[1] + ab[2], ab[1] + ab[2] + ab[3], sum(ab[1:])]
    rows = [full[1] + full[2], sum(full[1:4]), sum(full[1:])]
    tests = [rows[0], full[3] + rows[0], full[4] + full[3] + rows[0]]
    degree = next((i + 2 for i, v in enumerate(tests) if v < 1), 99)
    return columns, tests, degree


def least_mu(n, k, h, f, degree):
    lo, top = 0, min((k + 1) // f, n // h - 2) + 1
    hi = top
    while lo < hi:
        mid = (lo + hi) // 2
        if algebraic_sizes(n, k, h, f, mid)[2] <= degree:
            hi = mid
        else:
            lo = mid + 1
    return lo if lo < top else None


def algebraic(n, k, t):
    """AGB. An equation is the product of two places in a block, so a row of its system has at most
    (w + 1)^2 ones if the unknowns are products of the secret's bits. These are more than the
    unknowns counted here, which is granted."""
    beta, best = n // t, 1e9
    for degree in (2, 3):
        for f in [*range(max(t // 64, 1), t, max(t // 64, 1)), t]:
            mu = least_mu(n, k, t, f, degree)
            if mu is not None and f * mu < k + 1:
                size = algebraic_sizes(n, k, t, f, mu)[0][degree - 2]
                solved = 2 * log2(size) + log2(3 * min(k + 1 - f * mu, (ONES + 1) ** 2))
                best = min(best, solved - f * log2(1 - mu / beta))
    return best


def algebraic2(n, k, t):
    """AGB 2.0, degree 2, on a coarse grid. The second of its systems is what elimination leaves of
    the first, and dense."""
    beta, best = n // t, 1e9
    for f in range(t, t // 2, -max(t // 96, 1)):
        mu = least_mu(n, k, t, f, 2)
        if mu is None:
            continue
        late = -f * log2(1 - mu / beta)
        for f1 in [1, *range(f, f - max(t // 12, 8), -max(t // 128, 1))]:
            for mu1 in range(0, mu + 1, 2):
                early = -f1 * log2(1 - mu1 / beta)
                if max(early, late) > best:
                    break
                columns, rows, _ = algebraic_sizes(n, k, t, f1, mu1)
                s1, s2 = columns[0], max(rows[0], 1.0)
                m = max(s1 - s2, 1.0)
                a = min(log2(5.64) + 2.8 * log2(s1),
                        log2(s1) + 2 * log2(m) - log2(max(log2(m), 1)))
                c = log2(5.64) + 2.8 * log2(m if s2 > m else s2)
                best = min(best, lsum(max(a, 0) + early, max(c, 0) + late))
    return best


# --------------------------------------------------------------------------------------------------
# Dense minors. A curve is a list of pairs (columns, rows inside), as fractions of k.

@lru_cache(maxsize=None)
def peeled_curve(ratio, size=1 << 13, seed=1):
    """Removes a column of the lowest degree, with the rows that touch it, until the rows are fewer
    than the columns. The code is simulated, with n / k = `ratio` and `size` columns."""
    rows = round(ratio * size)
    places = random.Random(seed).choices(range(size), k=rows * ONES)
    rows_of = [[] for _ in range(size)]
    for at, column in enumerate(places):
        rows_of[column].append(at // ONES)
    degrees, is_row = [len(touching) for touching in rows_of], [True] * rows
    by_degree = [[] for _ in range(max(degrees) + 1)]
    for column, degree in enumerate(degrees):
        by_degree[degree].append(column)
    curve, columns, lowest = [(1.0, rows / size)], size, 0
    while True:
        while not by_degree[lowest]:
            lowest += 1
        column = by_degree[lowest].pop()
        if degrees[column] != lowest:
            continue  # it was removed, or stands in the list of its degree as well
        degrees[column], columns = -1, columns - 1
        for y in rows_of[column]:
            if not is_row[y]:
                continue
            is_row[y], rows = False, rows - 1
            for other in places[y * ONES:(y + 1) * ONES]:
                degree = degrees[other] - 1
                if degree >= 0:
                    degrees[other] = degree
                    by_degree[degree].append(other)
                    if degree < lowest:
                        lowest = degree
        if rows < columns:
            return curve
        curve.append((columns / size, rows / size))


def minors_exist(n, k, columns, rows):
    """Whether at least one set of so many columns is expected to have so many rows inside: the
    first moment over all sets, with the tail of the rows' binomial law by its first term."""
    inside = (columns / k) ** ONES
    if rows <= n * inside:
        return True
    tail = lbinom(n, rows) + rows * log2(inside) + (n - rows) * log2(1 - inside)
    tail -= log2(1 - (n - rows) / (rows + 1) * inside / (1 - inside))
    return lbinom(k, columns) + tail >= 0


def first(lo, hi, holds):
    """The least integer from lo on for which `holds`, if hi holds and it holds from there on."""
    while lo < hi:
        mid = (lo + hi) // 2
        lo, hi = (lo, mid) if holds(mid) else (mid + 1, hi)
    return lo


def floor_curve(n, k):
    """No set of columns is expected to have more rows inside. The last is the smallest minor."""
    least = first(k // 4, k, lambda columns: minors_exist(n, k, columns, columns))
    curve = []
    for i in range(100):
        columns = k - 1 - (k - 1 - least) * i // 99
        rows = first(columns, n, lambda y: not minors_exist(n, k, columns, y + 1))
        curve.append((columns / k, rows / k))
    return curve


def few_wrong(n, t, rows, p):
    """log2 of the probability that at most p rows are wrong. Each block has one wrong row, which is
    among `rows` of its n / t rows with probability rows / n."""
    q = rows / n
    return lsum(*(lbinom(t, i) + i * log2(q) + (t - i) * log2(1 - q) for i in range(p + 1)))


def list_elements(rows, p):
    """log2 of the elements of the lists that find p wrong rows by a collision: of two lists, or of
    lists of representations. There both summands of a solution have e further rows, which cancel.
    One of the representations is enough, so a list keeps that part of its sums, which it finds by
    a collision of shorter ones in the same way."""
    if p < 2:
        return p * log2(rows)
    halves = (p // 2, p - p // 2)
    best = lsum(*(lbinom(rows, half) for half in halves))
    for e in range(p + 1):
        weights = [half + e for half in halves]
        kept = lbinom(p, halves[0]) + lbinom(rows - p, e)
        lists = [max(lbinom(rows, weight) - kept, 0) for weight in weights]
        for weight in weights:
            if weight > 1:
                shorter = lbinom(rows, ceil(weight / 2)) - lbinom(weight, weight // 2)
                lists += [shorter, shorter]
        best = min(best, lsum(*lists))
    return best


def minor(n, k, t, size, in_words):
    """A trial takes a minor of a fraction `size` of the columns, finds 64 vectors of its left
    kernel, and accepts up to p <= 8 wrong rows.
    In bit operations, an element of a list costs 64. In words of 64 bits it costs one, and a trial
    may replace one block's worth of rows of the trial before, |S| operations for each, as if fresh
    rows were free: all in the attacker's favour."""
    rows = size * k + CHECKS

    def trial(p):
        if not in_words:
            return lsum(sparse(rows), 6 + list_elements(rows, p))
        return lsum(min(sparse(rows) - 6, log2(n / t * rows)), list_elements(rows, p))
    return min(trial(p) - few_wrong(n, t, rows, p) for p in range(9))


def hybrid_in_minor(n, k, t, curve):
    """In bit operations, with equations of degree 2 inside a minor: two rows of one block are not
    both wrong, so the product of their noise bits is 0. A minor of |S| columns has R rows, R / t in
    each block. All of them are guessed to be right except for m in each of g blocks. So |S| - (R -
    g m) unknowns are left, for which the g blocks have g m (m - 1) / 2 equations. The search is
    over the curve of minors, g, and the largest m whose system is solved by linearisation; g = t
    spreads the rows without a guess over all blocks. No wrong row is accepted: fewer right rows
    than columns have no left kernel, by which a collision would be seen. A block's parity is no
    equation here, as it touches columns outside of S."""
    beta, best = n / t, inf
    for columns, rows in curve[::max(len(curve) // 400, 1)] + curve[-1:]:
        size, each, spare = columns * k, min(rows * k / t, beta - 1), (rows - columns) * k
        for step in range(64):
            g = t ** (step / 63)
            m = min(each, max(spare - 2, 0) / (g - sqrt(g)) if g > 1.5 else each)
            unknowns = g * m - spare
            if unknowns < 4:
                best = min(best, sparse(size) - t * log2(1 - size / n))
                continue
            guess = -(t - g) * log2(1 - each / beta) - g * log2(1 - (each - m) / beta)
            best = min(best, guess + lsum(sparse(size, unknowns), quadratic(unknowns, unknowns)))
    return best


# --------------------------------------------------------------------------------------------------

def row_of(name, t, d, k):
    """The set's row of the document's table, and the estimates in it."""
    n = t << d
    peeled, least = peeled_curve(n / k), floor_curve(n, k)
    cells = [[attack(n, k, t) for attack in attacks] for attacks in (
        (pooled_gauss,), (isd_permutation, isd_enumeration, isd_representation),
        (statistical_decoding,), (algebraic,), (algebraic2,), (hybrid,))]
    cells.append([hybrid_in_minor(n, k, t, curve) for curve in (peeled, least)])
    cells += [[minor(n, k, t, curve[-1][0], in_words) for curve in (peeled, least)]
              for in_words in (False, True)]
    estimates = [value for cell in cells for value in cell]
    cells.append([min(estimates)])
    texts = [", ".join(f"{value:.1f}" for value in cell) for cell in cells]
    texts.insert(0, ", ".join(f"{curve[-1][0]:.3f}" for curve in (peeled, least)))
    return f"| {name} | {' | '.join(texts)} |", estimates


def stated(name, t, d, k):
    """What the program states for the set, if it has the set with these sizes."""
    sources = "".join((ROOT / "offline" / "silent" / file).read_text()
                      for file in ("parameter_sets.h", "retired_sets.cpp"))
    sizes = f"{t}, {d}, {k.bit_length() - 1}" if name in IN_USE else r"LpnSet::B\d+"
    found = re.search(rf"LpnSet::{name.upper()}, {sizes}, ([0-9.]+)", sources)
    return float(found.group(1)) if found else None


def numbers_of(row):
    return [float(value) for value in re.findall(r"[\d.]+", row.split("|", 2)[2])]


def main():
    wrong = False
    document = DOCUMENT.read_text()
    for name, (t, d, k) in (IN_USE | OTHERS).items():
        row, estimates = row_of(name, t, d, k)
        print(row, flush=True)
        if name in IN_USE and min(estimates) < LEAST:
            print(f"{name}: an attack takes 2^{min(estimates):.2f} operations, not 2^{LEAST}")
            wrong = True
        if name != "Ferret" and stated(name, t, d, k) != round(min(estimates), 1):
            print(f"{name}: the program states {stated(name, t, d, k)} bits")
            wrong = True
        found = re.search(rf"^\| {name} \|.*\|$", document, re.MULTILINE)
        got, expected = numbers_of(row), numbers_of(found.group()) if found else []
        if len(got) != len(expected) or any(abs(a - b) > 0.11 for a, b in zip(got, expected)):
            print(f"{name}: {DOCUMENT.name} has another row: {found.group() if found else 'none'}")
            wrong = True
    sys.exit(wrong)


if __name__ == "__main__":
    main()
