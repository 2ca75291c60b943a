// The cost of a protocol phase, as measured by one party.
#pragma once

#include <cstdint>
#include <string>

namespace tinyot {

struct PhaseCost {
  std::string name;
  double wall_s = 0;
  double cpu_s = 0;              // of this party's threads
  std::uint64_t bytes_sent = 0;  // message headers included
  std::uint64_t bytes_received = 0;
  std::uint64_t rounds = 0;  // round trips as this party sees them
  std::uint64_t items = 0;
};

}  // namespace tinyot
