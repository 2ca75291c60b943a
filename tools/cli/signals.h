// SIGINT, SIGTERM and SIGHUP. To a party: the first one requests that a job stop at the next unit,
// a second one ends the process. To a process that measures: it ends its parties and cleans up.
#pragma once

#include <sys/types.h>

#include <stop_token>
#include <thread>

#include "system/process.h"

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
  system::PipeEnds pipe_;
  std::thread waiter_;  // a signal handler may not request the stop itself
};

// SIGHUP to a daemon, which reads its settings again. One object at a time, within the life of
// StopSignals, which SIGHUP then no longer concerns.
class ReloadSignal {
 public:
  ReloadSignal();
  ~ReloadSignal();
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;

  // Whether it has arrived since the last call.
  static bool take();
};

// For a process with parties as child processes. While an object exists, a signal does not end the
// process: it is deferred, and a wait is interrupted.
class DeferredSignals {
 public:
  DeferredSignals();
  ~DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;

  // 0, or the last signal that has arrived.
  static int received();
  // Passes the signal on to a child, unless the child has it from the terminal as well.
  static void pass_on(pid_t child);
};

}  // namespace tinyot::tools
