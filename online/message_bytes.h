// The bytes of messages, for estimates.
#pragma once

#include <cstdint>

#include "base/bit_vector.h"
#include "net/channel.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {

inline constexpr std::uint64_t kDigestBytes = 32;

constexpr std::uint64_t bytes_of_message(std::uint64_t payload) {
  return sizeof(net::FrameHeader) + payload;
}

// Of `entries` entries of `bits` bits, in messages of WindowedExchange::kEntries.
inline std::uint64_t bytes_of_flights(std::uint64_t entries, std::uint64_t bits) {
  return WindowedExchange::messages(entries) * sizeof(net::FrameHeader) + bytes_for(bits * entries);
}

}  // namespace tinyot::online
