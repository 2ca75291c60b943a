// The probability that a cheating peer gains from unfinished units, computed exactly
// (doc/protocol.md, section 3.2).
//
// In any protocol the party that first learns that a guess was wrong can close the connection, and
// with several units in flight it can stall one and attack the others first. So guesses are
// counted: the sum of the risks of all outstanding units of a session, in flight or broken off,
// stays within the session's limit.
//
// Both parties derive the next unit from such sums, so they are integers: multiples of 2^-192,
// rounded up, equal on every machine.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace tinyot {

// A bound on a probability, as a multiple of 2^-192; at most 1 - 2^-192, where sums saturate.
struct Risk {
  std::array<std::uint64_t, 3> words{};  // least significant first

  Risk& operator+=(const Risk& other);
  Risk& operator-=(const Risk& other);  // other <= *this
  friend Risk operator+(Risk a, const Risk& b) { return a += b; }
  friend std::strong_ordering operator<=>(const Risk& a, const Risk& b);
  friend bool operator==(const Risk&, const Risk&) = default;
};
double as_double(const Risk& risk);

// e(l, B) for l objects of each bucket position: the largest p / (1 - s) over all attacks on one
// unit, where p is the probability that the attack succeeds, and s the probability that it survives
// without success. In an unlimited series of units, one at a time, of which the cheater may break
// off K, it succeeds with probability at most (K + 1) e.
//   layers, each object checked    2^-B l^(1-B) / (1 - 2^-B)
//   permuted together              max over t >= B of 2^-t l C(t,B) / C(Bl,B) / (1 - 2^-t),
//                                  reached at t < 2B
Risk risk_of_layers(std::uint64_t l, std::uint32_t bucket);
Risk risk_of_permutation(std::uint64_t l, std::uint32_t bucket);

// 2^-sigma / shards, plus the rounding errors of 2^20 risks, 2^-172: risks that sum up to the limit
// exactly stay within it although each is rounded up.
Risk risk_limit(std::uint32_t sigma, std::uint32_t shards);

}  // namespace tinyot
