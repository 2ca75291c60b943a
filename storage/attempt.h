// An attempt at a unit: begun, before the first message that says something about its objects, and
// then made or given up. The store keeps a log of them, which only gains entries (PROTOCOL section
// 3, "Broken attempts"): it bounds what a peer that breaks units off can win.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parameters.h"
#include "base/risk.h"

namespace tinyot::storage {

struct Attempt {
  enum class State : std::uint32_t {
    Outstanding = 1,  // in flight, or broken off
    Made = 2,
    Withdrawn = 3,  // before anything of it was said
  };
  std::uint64_t unit = 0;  // of the store, from 0; several attempts may be at one
  UnitPlan plan{};
  State state = State::Outstanding;
  Risk risk{};

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

inline constexpr std::size_t kAttemptBytes = 48;
std::array<std::byte, kAttemptBytes> encode_attempt(const Attempt& attempt);
// Empty if no store has written it.
std::optional<Attempt> decode_attempt(std::span<const std::byte> bytes);

// What a store tells of its attempts.
struct AttemptTotals {
  // Made units that are still in the store, by size and bucket.
  struct Units {
    UnitPlan plan;
    std::uint64_t count;
  };
  std::vector<Units> units;
  std::uint64_t outstanding = 0;
  Risk risk{};  // their sum

  AttemptTotals& operator+=(const AttemptTotals& other);
};

}  // namespace tinyot::storage
