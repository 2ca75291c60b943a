// The two parties. A process is party A or party B throughout; what it does in one protocol is a
// role, and roles are part of class names.
#pragma once

#include <cstdint>

namespace tinyot {

enum class Party : std::uint8_t { A = 0, B = 1 };

constexpr Party peer_of(Party party) { return party == Party::A ? Party::B : Party::A; }
constexpr char letter(Party party) { return party == Party::A ? 'A' : 'B'; }

}  // namespace tinyot
