#include "tests/support/oracle.h"

#include <cmath>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

void expect_balanced(const std::vector<bool>& bits, const std::string& name) {
  if (bits.size() < 1000) return;
  const auto ones = static_cast<double>(std::count(bits.begin(), bits.end(), true)),
             n = static_cast<double>(bits.size());
  EXPECT_LT(std::abs(ones - n / 2), 3 * std::sqrt(n)) << name;
}

std::vector<bool> bits_of(const BitVector& bits) {
  std::vector<bool> result(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) result[i] = bits[i];
  return result;
}

void expect_and(const std::vector<bool>& x, const std::vector<bool>& y,
                const std::vector<bool>& z) {
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], x[i] && y[i]) << "object " << i;
}

void expect_ot(const std::vector<bool>& x0, const std::vector<bool>& x1, const std::vector<bool>& c,
               const std::vector<bool>& z) {
  for (std::size_t i = 0; i < x0.size(); ++i)
    ASSERT_EQ(z[i], c[i] ? x1[i] : x0[i]) << "object " << i;
}

}  // namespace

std::vector<bool> checked_bits(const MacColumn& mine, const KeyColumn& peers, Delta delta) {
  std::vector<bool> bits(mine.size());
  EXPECT_EQ(mine.size(), peers.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    bits[i] = mine.bits[i];
    if (!same(mine.macs[i].value, (peers.keys[i] ^ delta * bits[i]).value)) {
      ADD_FAILURE() << "wrong MAC at object " << i;
      break;
    }
  }
  return bits;
}

std::vector<bool> checked_bits(const AuthShares& of_a, const AuthShares& of_b, Delta held_by_a,
                               Delta held_by_b) {
  std::vector<bool> bits(of_a.size());
  EXPECT_EQ(of_a.size(), of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    bits[i] = of_a.bits[i] != of_b.bits[i];
    if (!same((of_a.macs[i] ^ of_b.macs[i]).value,
              times(held_by_a.value ^ held_by_b.value, bits[i]))) {
      ADD_FAILURE() << "wrong shares of a MAC at object " << i;
      break;
    }
  }
  return bits;
}

void expect_good(const material::Batch& of_a, const material::Batch& of_b, Delta held_by_a,
                 Delta held_by_b) {
  ASSERT_EQ(of_a.kind, of_b.kind);
  ASSERT_EQ(of_a.count, of_b.count);
  std::vector<std::vector<bool>> a, b;  // columns that A and B own
  ASSERT_EQ(of_a.mine.size(), of_b.peers.size());
  ASSERT_EQ(of_b.mine.size(), of_a.peers.size());
  for (std::size_t i = 0; i < of_a.mine.size(); ++i)
    a.push_back(checked_bits(of_a.mine[i], of_b.peers[i], held_by_b));
  for (std::size_t i = 0; i < of_b.mine.size(); ++i)
    b.push_back(checked_bits(of_b.mine[i], of_a.peers[i], held_by_a));
  ASSERT_EQ(of_a.shares.size(), of_b.shares.size());
  std::vector<std::vector<bool>> opened;
  for (std::size_t i = 0; i < of_a.shares.size(); ++i)
    opened.push_back(checked_bits(of_a.shares[i], of_b.shares[i], held_by_a, held_by_b));
  switch (of_a.kind) {
    case MaterialKind::AuthBitsA:
    case MaterialKind::AuthBitsB:
      break;
    case MaterialKind::AuthAndsA:
      expect_and(a[0], a[1], a[2]);
      break;
    case MaterialKind::AuthAndsB:
      expect_and(b[0], b[1], b[2]);
      break;
    case MaterialKind::AuthOtsAB:
      expect_ot(a[0], a[1], b[0], b[1]);
      break;
    case MaterialKind::AuthOtsBA:
      expect_ot(b[0], b[1], a[0], a[1]);
      break;
    case MaterialKind::FullTriples: {
      for (std::size_t i = 0; i < 3; ++i) {
        opened.push_back(a[i]);
        for (std::size_t j = 0; j < a[i].size(); ++j) opened[i][j] = a[i][j] != b[i][j];
      }
      expect_and(opened[0], opened[1], opened[2]);
      break;
    }
    case MaterialKind::Triples:
      expect_and(opened[0], opened[1], opened[2]);
      for (std::size_t i = 0; i < 3; ++i)
        for (const material::Batch* half : {&of_a, &of_b})
          expect_balanced(bits_of(half->shares[i].bits),
                          "a party's column " + std::to_string(i) + " of triples");
      break;
  }
  const bool has_product =
      of_a.kind == MaterialKind::AuthAndsA || of_a.kind == MaterialKind::AuthAndsB;
  // the product of two random bits is not balanced
  const std::size_t random_columns = has_product ? 2 : 8;
  for (std::size_t i = 0; i < std::min(a.size(), random_columns); ++i)
    expect_balanced(a[i], std::string(name_of(of_a.kind)) + ", A's column " + std::to_string(i));
  for (std::size_t i = 0; i < std::min(b.size(), random_columns); ++i)
    expect_balanced(b[i], std::string(name_of(of_a.kind)) + ", B's column " + std::to_string(i));
}

MaterialCounts expect_good(const MemorySink& a, const MemorySink& b, Delta held_by_a,
                           Delta held_by_b) {
  MaterialCounts counts;
  EXPECT_EQ(a.made.size(), b.made.size());
  EXPECT_EQ(a.units, b.units);
  for (const auto& [kind, batches] : a.made) {
    const auto& others = b.made.at(kind);
    EXPECT_EQ(batches.size(), others.size());
    for (std::size_t i = 0; i < std::min(batches.size(), others.size()); ++i) {
      expect_good(batches[i], others[i], held_by_a, held_by_b);
      counts[kind] += batches[i].count;
    }
  }
  return counts;
}

}  // namespace tinyot::test
