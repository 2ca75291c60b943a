// An attempt at a unit: begun before the first message that depends on its objects, then made or
// withdrawn. The store has a log of attempts, to which entries are only added (doc/protocol.md,
// section 3.2). It bounds what a peer gains by breaking off units.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bounds.h"
#include "base/risk.h"

namespace tinyot::storage {

struct Attempt {
  enum class State : std::uint32_t {
    Pending = 1,  // in flight or broken off
    Made = 2,
    Withdrawn = 3,  // nothing was sent except unit.begin
  };
  std::uint64_t unit = 0;  // of the store, from 0; a unit may have several attempts
  UnitPlan plan{};
  State state = State::Pending;
  Risk risk{};

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

inline constexpr std::size_t kAttemptBytes = 48;
std::array<std::byte, kAttemptBytes> encode_attempt(const Attempt& attempt);
// Empty if the bytes are not a valid entry.
std::optional<Attempt> decode_attempt(std::span<const std::byte> bytes);

// Summary of a store's log of attempts.
struct AttemptTotals {
  // Made units that are still in the store, by size and bucket.
  struct Units {
    UnitPlan plan;
    std::uint64_t count;

    friend bool operator==(const Units&, const Units&) = default;
  };
  std::vector<Units> units;
  std::uint64_t outstanding = 0;
  Risk risk{};  // their sum

  AttemptTotals& operator+=(const AttemptTotals& other);
  friend bool operator==(const AttemptTotals&, const AttemptTotals&) = default;
};

}  // namespace tinyot::storage
