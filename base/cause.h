// Of the failures of several threads of one job, the one to report: the cause, not what followed
// from it.
#pragma once

#include <exception>

namespace tinyot {

// Ends a worker that another one's failure has stopped.
class WorkerStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped, since another worker failed"; }
};

// In the order in which one explains the other: a connection closes when its owner has failed, and
// a peer aborts when a check has.
enum class Cause { None, Stopped, Network, Other, Aborted, Cheated };

Cause cause_of(const std::exception_ptr& failure);

}  // namespace tinyot
