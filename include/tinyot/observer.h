// Progress reports from a running function of the library.
#pragma once

#include <cstdint>
#include <string_view>

#include "tinyot/export.h"

namespace tinyot {

// The functions may be called concurrently, from any of the library's threads, and must not throw.
class TINYOT_API Observer {
 public:
  virtual ~Observer() = default;

  // The peer is connected and the session is established.
  virtual void connected() {}
  // The job begins; `ands_before` of its `ands` ANDs were made earlier.
  virtual void began(std::uint64_t /*ands*/, std::uint64_t /*ands_before*/) {}
  // Unit `unit`, of `ands` ANDs, is in `phase` and has completed `done` of the phase's `total`
  // items.
  virtual void advanced(std::uint64_t /*unit*/, std::uint64_t /*ands*/, std::string_view /*phase*/,
                        std::uint64_t /*done*/, std::uint64_t /*total*/) {}
};

}  // namespace tinyot
