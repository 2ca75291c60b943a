// SIGINT and SIGTERM: the first one requests that a job stop at the next unit, a second one ends
// the process.
#pragma once

#include <stop_token>
#include <thread>

#include "base/descriptor.h"

namespace tinyot::tools {

class StopSignals {
 public:
  // One object at a time. A signal requests a stop of `cancel`.
  explicit StopSignals(std::stop_source cancel);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // 0, or the signal that has arrived.
  static int received();

 private:
  Descriptor read_end_, write_end_;  // of a pipe
  std::thread waiter_;               // a signal handler may not request the stop itself
};

}  // namespace tinyot::tools
