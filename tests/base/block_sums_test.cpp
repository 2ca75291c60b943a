// The kernels on arrays of blocks against plain loops, on every instruction set of the processor.
#include "base/block_sums.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::EveryTarget;
using Blocks = std::vector<Block>;

constexpr Block kUntouched{0x1122334455667788, 0x99aabbccddeeff00};
constexpr Block kKey{0x0123456789abcdef, 0xfedcba9876543211};

// 0 to 130, and sizes at the edges of words of bits and of steps.
const std::vector<std::size_t>& lengths() {
  static const std::vector<std::size_t> kLengths = [] {
    std::vector<std::size_t> all;
    for (std::size_t n = 0; n <= 130; ++n) all.push_back(n);
    for (const std::size_t n : {191, 192, 193, 255, 256, 257, 511, 513, 1001}) all.push_back(n);
    return all;
  }();
  return kLengths;
}

// n random blocks, followed by a guard block.
Blocks guarded_blocks(std::size_t n, std::uint64_t seed) {
  Blocks blocks = test::random_blocks(n, seed);
  blocks.push_back(kUntouched);
  return blocks;
}

// Words of n random bits; the bits beyond are random too.
std::vector<std::uint64_t> words_of_bits(std::size_t n, std::uint64_t seed) {
  return test::random_words(n / 64 + 1, seed);
}

bool bit_at(const std::vector<std::uint64_t>& words, std::size_t i) {
  return (words[i / 64] >> (i % 64)) & 1;
}

void expect_same(const Blocks& got, const Blocks& wanted, const char* what) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(got[i].lo == wanted[i].lo && got[i].hi == wanted[i].hi)
        << what << ", block " << i << " of " << got.size() - 1;
}

TEST_F(EveryTarget, XorBlocksAddsBlockByBlock) {
  for (const std::size_t n : lengths()) {
    const Blocks x = guarded_blocks(n, 3 * n), y = guarded_blocks(n, 3 * n + 1);
    Blocks wanted(n + 1, kUntouched);
    for (std::size_t i = 0; i < n; ++i) wanted[i] = {x[i].lo ^ y[i].lo, x[i].hi ^ y[i].hi};
    const Blocks zeros = [&] {
      Blocks none(n, Block{0, 0});
      none.push_back(kUntouched);
      return none;
    }();
    for_each_target([&] {
      Blocks out(n + 1, kUntouched), over_x = x, over_y = y, over_both = x;
      xor_blocks(std::span(x).first(n), y.data(), out.data());
      xor_blocks(std::span(over_x).first(n), y.data(), over_x.data());
      xor_blocks(std::span(x).first(n), over_y.data(), over_y.data());
      xor_blocks(std::span(over_both).first(n), over_both.data(), over_both.data());
      expect_same(out, wanted, "apart");
      expect_same(over_x, wanted, "over x");
      expect_same(over_y, wanted, "over y");
      expect_same(over_both, zeros, "x and x over x");
    });
  }
}

TEST_F(EveryTarget, XorBlockToEachAddsTheSameBlock) {
  for (const std::size_t n : lengths()) {
    const Blocks x = guarded_blocks(n, n);
    Blocks wanted(n + 1, kUntouched), with_first(n + 1, kUntouched);
    for (std::size_t i = 0; i < n; ++i) {
      wanted[i] = {x[i].lo ^ kKey.lo, x[i].hi ^ kKey.hi};
      with_first[i] = {x[i].lo ^ x[0].lo, x[i].hi ^ x[0].hi};
    }
    for_each_target([&] {
      Blocks out(n + 1, kUntouched), over_x = x, of_its_own = x;
      xor_block_to_each(std::span(x).first(n), kKey, out.data());
      xor_block_to_each(std::span(over_x).first(n), kKey, over_x.data());
      xor_block_to_each(std::span(of_its_own).first(n), of_its_own[0], of_its_own.data());
      expect_same(out, wanted, "apart");
      expect_same(over_x, wanted, "over x");
      expect_same(of_its_own, with_first, "a block of x itself");
    });
  }
}

// Operands and expected results of products by triples.
struct Products {
  explicit Products(std::size_t n)
      : x(guarded_blocks(n, 9 * n)), y(guarded_blocks(n, 9 * n + 1)),
        a(guarded_blocks(n, 9 * n + 2)), b(guarded_blocks(n, 9 * n + 3)),
        c(guarded_blocks(n, 9 * n + 4)), d(words_of_bits(n, 9 * n + 5)),
        e(words_of_bits(n, 9 * n + 6)), of_d(n + 1, kUntouched), of_e(of_d), z(of_d) {
    for (std::size_t i = 0; i < n; ++i) {
      of_d[i] = x[i] ^ a[i], of_e[i] = y[i] ^ b[i], z[i] = c[i];
      if (bit_at(d, i)) of_d[i] ^= kKey, z[i] ^= b[i];
      if (bit_at(e, i)) of_e[i] ^= kKey, z[i] ^= a[i];
      if (bit_at(d, i) && bit_at(e, i)) z[i] ^= kKey;
    }
  }
  Blocks x, y, a, b, c;
  std::vector<std::uint64_t> d, e;
  Blocks of_d, of_e, z;
};

// x, y, a, b, c; and of_d, of_e, z.
using Operands = std::array<const Block*, 5>;
using Results = std::array<Block*, 3>;

void combine(const Operands& in, const std::vector<std::uint64_t>& d,
             const std::vector<std::uint64_t>& e, const Results& out, std::size_t n) {
  combine_triples({in[0], in[1], in[2], in[3], in[4], d.data(), e.data(), out[0], out[1], out[2]},
                  n, kKey);
}

TEST_F(EveryTarget, CombineTriplesEqualsItsFormula) {
  for (const std::size_t n : lengths()) {
    const Products all(n);
    for_each_target([&] {
      Blocks of_d(n + 1, kUntouched), of_e = of_d, z = of_d;
      combine({all.x.data(), all.y.data(), all.a.data(), all.b.data(), all.c.data()}, all.d, all.e,
              {of_d.data(), of_e.data(), z.data()}, n);
      expect_same(of_d, all.of_d, "of d");
      expect_same(of_e, all.of_e, "of e");
      expect_same(z, all.z, "z");
    });
  }
}

// Each result written over each operand.
TEST_F(EveryTarget, CombineTriplesMayOverwriteItsOperands) {
  for (const std::size_t n : {1u, 2u, 5u, 64u, 129u}) {
    const Products all(n);
    for_each_target([&] {
      for (std::size_t written = 0; written < 3; ++written) {
        for (std::size_t over = 0; over < 5; ++over) {
          SCOPED_TRACE("result " + std::to_string(written) + " over operand " +
                       std::to_string(over));
          std::vector<Blocks> in = {all.x, all.y, all.a, all.b, all.c},
                              apart(3, Blocks(n + 1, kUntouched));
          std::array<Blocks*, 3> out = {&apart[0], &apart[1], &apart[2]};
          out[written] = &in[over];
          const Operands operands = {in[0].data(), in[1].data(), in[2].data(), in[3].data(),
                                     in[4].data()};
          combine(operands, all.d, all.e, {out[0]->data(), out[1]->data(), out[2]->data()}, n);
          expect_same(*out[0], all.of_d, "of d");
          expect_same(*out[1], all.of_e, "of e");
          expect_same(*out[2], all.z, "z");
        }
      }
    });
  }
}

// All four combinations of the bits of two neighbouring entries, at every position in a word.
TEST_F(EveryTarget, CombineTriplesUsesTheBitsOfEachEntry) {
  constexpr std::size_t kEntries = 130;
  const Blocks zeros(kEntries, Block{0, 0});
  for (std::size_t set = 0; set < kEntries; ++set) {
    std::vector<std::uint64_t> d(3, 0), e(3, 0);
    d[set / 64] |= std::uint64_t{1} << (set % 64);
    e[(kEntries - 1 - set) / 64] |= std::uint64_t{1} << ((kEntries - 1 - set) % 64);
    for_each_target([&] {
      Blocks of_d(kEntries), of_e(kEntries), z(kEntries);
      combine({zeros.data(), zeros.data(), zeros.data(), zeros.data(), zeros.data()}, d, e,
              {of_d.data(), of_e.data(), z.data()}, kEntries);
      Blocks wanted_d(zeros), wanted_e(zeros), wanted_z(zeros);
      wanted_d[set] = wanted_e[kEntries - 1 - set] = kKey;
      expect_same(of_d, wanted_d, "of d");
      expect_same(of_e, wanted_e, "of e");
      expect_same(z, wanted_z, "z");
    });
  }
}

// Operands and expected results of one direction of ANDs by pairs.
struct PairProducts {
  explicit PairProducts(std::size_t n) : expected(6, Blocks(n + 1, kUntouched)) {
    for (std::uint64_t i = 0; i < 10; ++i) in.push_back(guarded_blocks(n, 20 * n + i));
    for (std::uint64_t i = 0; i < 5; ++i) bits.push_back(words_of_bits(n, 20 * n + 10 + i));
    const auto &x = in[0], &y = in[1], &u = in[2], &v = in[3], &w = in[4], &u0 = in[5], &u1 = in[6],
               &c = in[7], &s = in[8], &r = in[9];
    for (std::size_t i = 0; i < n; ++i) {
      const auto times = [&](const Block& block, std::size_t which) {
        return bit_at(bits[which], i) ? block : Block{0, 0};
      };
      expected[0][i] = u[i] ^ x[i];
      expected[1][i] = v[i] ^ y[i];
      expected[2][i] = c[i] ^ y[i];
      expected[3][i] = u0[i] ^ u1[i] ^ x[i];
      expected[4][i] = r[i] ^ u0[i] ^ times(x[i], 2);
      expected[5][i] =
          r[i] ^ s[i] ^ w[i] ^ times(y[i], 0) ^ times(x[i], 1) ^ times(c[i], 3) ^ times(kKey, 4);
    }
  }

  // Writes the results to `out`.
  void combine(const std::vector<const Block*>& from, const std::vector<Block*>& out,
               std::size_t n) const {
    combine_pairs(
        {from[0],        from[1],        from[2],        from[3], from[4],        from[5],
         from[6],        from[7],        from[8],        from[9], bits[0].data(), bits[1].data(),
         bits[2].data(), bits[3].data(), bits[4].data(), out[0],  out[1],         out[2],
         out[3],         out[4],         out[5]},
        n, kKey);
  }

  std::vector<Blocks> in;                        // x, y, u, v, w, u0, u1, c, s, r
  std::vector<std::vector<std::uint64_t>> bits;  // f, g, d, h, delta_mask
  std::vector<Blocks> expected;                  // of f, g, d, h, e; z
};

template <class Pointer, class Arrays>
std::vector<Pointer> starts_of(Arrays& arrays) {
  std::vector<Pointer> starts(arrays.size());
  std::ranges::transform(arrays, starts.begin(), [](auto& array) { return array.data(); });
  return starts;
}

TEST_F(EveryTarget, CombinePairsEqualsItsFormula) {
  for (const std::size_t n : lengths()) {
    const PairProducts all(n);
    for_each_target([&] {
      std::vector<Blocks> out(6, Blocks(n + 1, kUntouched));
      all.combine(starts_of<const Block*>(all.in), starts_of<Block*>(out), n);
      for (std::size_t i = 0; i < out.size(); ++i)
        expect_same(out[i], all.expected[i], std::to_string(i).c_str());
    });
  }
}

TEST_F(EveryTarget, CombinePairsMayOverwriteItsOperands) {
  for (const std::size_t n : {1u, 2u, 5u, 64u, 129u}) {
    const PairProducts all(n);
    for_each_target([&] {
      for (std::size_t written = 0; written < 6; ++written) {
        for (std::size_t over = 0; over < 10; ++over) {
          SCOPED_TRACE("result " + std::to_string(written) + " over operand " +
                       std::to_string(over));
          std::vector<Blocks> in = all.in, apart(6, Blocks(n + 1, kUntouched));
          std::vector<Block*> to = starts_of<Block*>(apart);
          to[written] = in[over].data();
          all.combine(starts_of<const Block*>(in), to, n);
          for (std::size_t i = 0; i < apart.size(); ++i)
            expect_same(i == written ? in[over] : apart[i], all.expected[i],
                        std::to_string(i).c_str());
        }
      }
    });
  }
}

}  // namespace
}  // namespace tinyot
