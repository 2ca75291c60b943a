// A program as a child process, with its arguments, standard input, output and exit status. A child
// that outlives its deadline is killed, and the test fails.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {

using Arguments = std::vector<std::string>;

struct Ended {
  int status = -1;  // the exit status, or 128 + the signal that ended it, as in a shell
  std::string out, err;
};

class Process {
 public:
  static constexpr std::chrono::seconds kDeadline{60};

  Process(const std::string& program, const Arguments& arguments, const std::string& input = {},
          std::chrono::seconds deadline = kDeadline);
  // Kills what is still running.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Whether it has installed a handler for a signal.
  bool catches(int number) const;
  // Waits for the end; later calls return the same result. If the deadline passes first, the child
  // is killed and the test fails.
  Ended end();

 private:
  void read_until_closed(int out, int err);
  bool reap_until_deadline();

  std::string name_;
  std::chrono::steady_clock::time_point deadline_;
  pid_t pid_ = -1;
  Ended ended_;
  std::thread reader_;
};

}  // namespace tinyot::test
