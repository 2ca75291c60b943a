// The registry of the uses of H: what a hash value is for, once. The number is the upper half of
// the tweak, so equal inputs of different uses have unrelated hashes under one key.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/distinct.h"

namespace tinyot::crypto {

// What a hash value is used for. Each use has its own tweak space.
enum class HashUse : std::uint64_t {
  LeakyAnd = 1,
  LeakyOtBit = 2,       // mask of the bit of X
  LeakyOtMac = 3,       // mask of the MAC in X
  LeakyOtT = 4,         // mask of T in X
  LeakyOtTransfer = 5,  // mask of I
  BaseOt = 6,
  MacTranscript = 7,
  LeakyTriple = 8,
  LeakyTripleCheck = 9,
  OtExtension = 10,
  GarbledLeft = 11,
  GarbledRight = 12,
  GarbledLeftMac = 13,
  GarbledRightMac = 14,
  GarbledGate = 15,
  BitProduct = 16,
};

// A use and the file that hashes for it, without its extension.
struct HashUseEntry {
  HashUse use;
  std::string_view name;
  std::string_view file;
};

inline constexpr auto kHashUses = std::to_array<HashUseEntry>({
    {HashUse::LeakyAnd, "LeakyAnd", "offline/nnob12/leaky_and"},
    {HashUse::LeakyOtBit, "LeakyOtBit", "offline/nnob12/leaky_ot"},
    {HashUse::LeakyOtMac, "LeakyOtMac", "offline/nnob12/leaky_ot"},
    {HashUse::LeakyOtT, "LeakyOtT", "offline/nnob12/leaky_ot"},
    {HashUse::LeakyOtTransfer, "LeakyOtTransfer", "offline/nnob12/leaky_ot"},
    {HashUse::BaseOt, "BaseOt", "offline/base_ot/base_ot"},
    {HashUse::MacTranscript, "MacTranscript", "checks/mac_transcript"},
    {HashUse::LeakyTriple, "LeakyTriple", "offline/triples/leaky_triple"},
    {HashUse::LeakyTripleCheck, "LeakyTripleCheck", "offline/triples/leaky_triple"},
    {HashUse::OtExtension, "OtExtension", "offline/softspoken/ot_extension"},
    {HashUse::GarbledLeft, "GarbledLeft", "online/garbled/rows"},
    {HashUse::GarbledRight, "GarbledRight", "online/garbled/rows"},
    {HashUse::GarbledLeftMac, "GarbledLeftMac", "online/garbled/rows"},
    {HashUse::GarbledRightMac, "GarbledRightMac", "online/garbled/rows"},
    {HashUse::GarbledGate, "GarbledGate", "checks/mac_transcript"},
    {HashUse::BitProduct, "BitProduct", "offline/wan/bit_triple"},
});

static_assert(are_distinct(kHashUses, &HashUseEntry::use));
static_assert(are_distinct(kHashUses, &HashUseEntry::name));

}  // namespace tinyot::crypto
