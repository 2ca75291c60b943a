// Parts of the costs of units that profiles share.
#pragma once

#include <cstdint>

#include "base/bit_vector.h"
#include "base/block.h"
#include "offline/global_key.h"
#include "offline/profile.h"

namespace tinyot::offline {

inline constexpr std::uint64_t kHeaderBytes = 16;  // of a message
// Of an EQ, sent by A; B sends one header less.
inline constexpr std::uint64_t kEqBytes = 64 + 2 * kHeaderBytes;
// Of a coin toss, sent by A; and what a unit sends beside its own messages: its announcement and
// the digest of its MAC transcript.
inline constexpr std::uint64_t kCoinTossBytes = 3 * 32 + 2 * kHeaderBytes;
inline constexpr std::uint64_t kUnitFrameBytes = 32 + 16 + 2 * kHeaderBytes;
// Of a bit of each party, without the bit itself.
inline constexpr std::uint64_t kBitBytes = sizeof(Mac) + sizeof(Key);
// Of the MAC shares of a triple.
inline constexpr std::uint64_t kTripleBytes = 3 * sizeof(MacShare);

constexpr std::uint64_t chunks_in(std::uint64_t total, std::uint64_t chunk) {
  return (total + chunk - 1) / chunk;
}

constexpr std::uint64_t delta_check_bytes() {
  return bytes_for(kReferenceBits) + kHeaderBytes + kEqBytes;
}

}  // namespace tinyot::offline
