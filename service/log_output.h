// Where a daemon's log goes: stderr, or a file that another program may rename (rotate) at any
// time. The file takes the place of stderr, for whatever the process writes there.
#pragma once

#include <filesystem>

#include "config.pb.h"
#include "system/descriptor.h"

namespace tinyot::service {

// One object at a time.
class LogOutput {
 public:
  LogOutput();
  // From then on, lines go to stderr as before.
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  // Opens the file again, which has another name since it was rotated. Fails: UsageError if it
  // cannot be opened; then nothing has changed.
  void use(const config::Log& log);
  // The same settings as before.
  void reopen() { use(log_); }

  // Fails: UsageError.
  static void check(const config::Log& log);

 private:
  const system::Descriptor former_;
  config::Log log_;
};

}  // namespace tinyot::service
