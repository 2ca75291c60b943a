// Why the last refill failed at this party, until space on the disk has come back or the operator
// says so. A refill that fails for the same reason would cost the session a part of its budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tinyot::service {

// Without a lock.
class LocalFailure {
 public:
  // Free space that has to come back before the next refill.
  static constexpr std::uint64_t kSpaceGained = std::uint64_t{1} << 20;
  using Bytes = std::optional<std::uint64_t>;

  // `free`: of the disk; empty if it cannot be read.
  void set(std::string message, Bytes free) {
    message_ = std::move(message);
    free_ = free.value_or(0);
  }
  void reset() { message_.reset(); }
  // Empty if there is none, or no longer.
  std::optional<std::string> message(Bytes free) {
    if (free && *free >= free_ + kSpaceGained) reset();
    return message_;
  }

 private:
  std::optional<std::string> message_;
  std::uint64_t free_ = 0;  // when it failed
};

}  // namespace tinyot::service
