// Kinds of preprocessing material, and counts of each kind.
//
// A kind is a fixed list of columns of authenticated bits. The columns that a party holds depend on
// the party:
//
//   auth_bits_a    A: [r]                    auth_bits_b    B: [r]
//   auth_ands_a    A: [x], [y], [z = xy]     auth_ands_b    B: [x], [y], [z = xy]
//   auth_ots_ab    A: [x0], [x1]  B: [c], [z = x_c]         (A sends, B chooses)
//   auth_ots_ba    B: [x0], [x1]  A: [c], [z = x_c]         (B sends, A chooses)
//   triples        A and B: a, b, c = ab as shared bits with shares of their MACs
//   full_triples   A and B: a, b, c = ab as shared bits, each party's shares with MACs and keys
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "tinyot/export.h"

namespace tinyot {

// Their numbers stand in messages and stores, and do not change.
enum class MaterialKind : std::uint8_t {
  AuthBitsA = 0,
  AuthBitsB = 1,
  AuthAndsA = 2,
  AuthAndsB = 3,
  AuthOtsAB = 4,
  AuthOtsBA = 5,
  Triples = 6,
  FullTriples = 7,
};
inline constexpr auto kLastMaterialKind = MaterialKind::FullTriples;
inline constexpr std::size_t kMaterialKinds = static_cast<std::size_t>(kLastMaterialKind) + 1;

// Lists all kinds in the order of their numbers.
inline constexpr auto kAllMaterialKinds = [] {
  std::array<MaterialKind, kMaterialKinds> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = static_cast<MaterialKind>(i);
  return kinds;
}();

// The name in reports and messages: "auth_bits_a", ..., "triples".
TINYOT_API std::string_view name_of(MaterialKind kind);

// Numbers of objects of each kind, indexed by MaterialKind.
struct MaterialCounts {
  std::array<std::uint64_t, kMaterialKinds> of{};

  std::uint64_t& operator[](MaterialKind kind) { return of[static_cast<std::size_t>(kind)]; }
  std::uint64_t operator[](MaterialKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  friend bool operator==(const MaterialCounts&, const MaterialCounts&) = default;
  MaterialCounts& operator+=(const MaterialCounts& more) {
    for (const MaterialKind kind : kAllMaterialKinds) (*this)[kind] += more[kind];
    return *this;
  }
  // As many of each kind as the larger has.
  MaterialCounts& raise_to(const MaterialCounts& other) {
    for (const MaterialKind kind : kAllMaterialKinds)
      (*this)[kind] = std::max((*this)[kind], other[kind]);
    return *this;
  }
  // Whether there are as many of each kind.
  bool covers(const MaterialCounts& needed) const {
    return std::ranges::equal(of, needed.of, std::ranges::greater_equal());
  }
};

}  // namespace tinyot
