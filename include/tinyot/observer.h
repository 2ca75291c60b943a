// What a caller learns while a function of the library runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace tinyot {

// Its functions are called from any of the library's threads, several at a time, and must not
// throw.
class Observer {
 public:
  virtual ~Observer() = default;

  // The peer is connected and the session is established.
  virtual void connected() {}
  // Of the job's `ands` ANDs, `ands_before` were made before.
  virtual void began(std::uint64_t /*ands*/, std::uint64_t /*ands_before*/) {}
  // Unit `unit`, of `ands` ANDs, is in this phase and has done `done` of the phase's `total` items.
  virtual void advanced(std::uint64_t /*unit*/, std::uint64_t /*ands*/, std::string_view /*phase*/,
                        std::uint64_t /*done*/, std::uint64_t /*total*/) {}
};

}  // namespace tinyot
