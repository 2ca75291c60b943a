// The public id of a session: 256 bits to which both parties contribute. Every hash, tweak and
// stored batch is bound to it.
#pragma once

#include <array>
#include <cstdint>

namespace tinyot {

struct SessionId {
  std::array<std::uint8_t, 32> bytes{};
  friend bool operator==(const SessionId&, const SessionId&) = default;
};

}  // namespace tinyot
