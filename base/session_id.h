// The public id of a session: 256 bits to which both parties contribute. Every hash, tweak and
// stored batch is bound to it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/hex.h"

namespace tinyot {

struct SessionId {
  std::array<std::uint8_t, 32> bytes{};
  friend bool operator==(const SessionId&, const SessionId&) = default;
};

inline std::string hex_of(const SessionId& id) {
  return hex_of(std::as_bytes(std::span(id.bytes)));
}
// The first 16 hex digits, the name of a session in reports.
// In messages and reports, of a session with such hex digits.
inline std::string short_name(const std::string& hex) { return hex.substr(0, 16); }
inline std::string short_name(const SessionId& id) { return short_name(hex_of(id)); }

}  // namespace tinyot
