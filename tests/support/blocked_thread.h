// A thread that has to wait for something that the test does later.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/becomes_true.h"

namespace tinyot::test {

// The state that the kernel shows of a thread: 'R', 'S', 'Z', ... `thread` is its number, or that
// of a process for its main thread.
inline char kernel_state(pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  // The state follows the name, which is in parentheses.
  const auto name_end = line.rfind(") ");
  return name_end != std::string::npos ? line.at(name_end + 2) : '\0';
}

// Whether the kernel has put a thread to sleep.
inline bool is_asleep(pid_t thread) { return kernel_state(thread) == 'S'; }

// Returns once a child process of the test is asleep or has ended.
inline void wait_until_asleep_or_ended(pid_t child) {
  EXPECT_TRUE(becomes_true([&] { return is_asleep(child) || kernel_state(child) == 'Z'; }));
}

class BlockedThread {
 public:
  // Returns once `body` waits; the test fails if it ends instead.
  explicit BlockedThread(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          id_ = ::gettid();
          body();
          has_ended_ = true;
        }) {
    while ((id_ == 0 || !is_asleep()) && !has_ended_) std::this_thread::yield();
    EXPECT_FALSE(has_ended_) << "the thread does not wait";
  }
  ~BlockedThread() { join(); }

  bool has_ended() const { return has_ended_; }
  bool is_asleep() const { return test::is_asleep(id_); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<pid_t> id_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

}  // namespace tinyot::test
