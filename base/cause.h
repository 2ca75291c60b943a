// Which failure to report when several threads of one job fail: the cause, not its consequences.
#pragma once

#include <exception>

namespace tinyot {

// Ends a worker after another worker has failed.
class WorkerStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped, since another worker failed"; }
};

// A later cause explains an earlier one: a connection closes because its owner has failed, a peer
// aborts because a check has failed.
enum class Cause { None, Stopped, Network, Other, Aborted, Cheated };

Cause cause_of(const std::exception_ptr& failure);

// Returns the failure that has caused the other one; the first if neither has.
const std::exception_ptr& root_cause(const std::exception_ptr& first,
                                     const std::exception_ptr& second);

}  // namespace tinyot
