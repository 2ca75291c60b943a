// SIGINT and SIGTERM: the first one asks a job to stop at the next unit, a second one ends the
// process.
#pragma once

namespace tinyot::tools {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // 0, or the signal that has arrived.
  static int received();
};

}  // namespace tinyot::tools
