// Child processes, for stores that several processes use and for crashes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "tests/support/layers.h"

namespace tinyot {

// Runs `body` in a child process. If `body` returns or throws, the process ends with status 1.
template <class Body>
pid_t start_child(const Body& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a child process failed: %s\n", error.what());
  }
  ::_exit(1);
}

inline int wait_for(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

template <class Body>
int status_of_child(const Body& body) {
  return wait_for(start_child(body));
}

inline void kill_this_process() { ::kill(::getpid(), SIGKILL); }
inline bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
// For a body that reports through its exit status whether everything was as expected.
[[noreturn]] inline void exit_well(bool is_well) { ::_exit(is_well ? 0 : 2); }
inline bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

// An object in memory that a process shares with its children.
template <class T>
class Shared {
 public:
  Shared() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    object_ = new (memory) T();
  }
  ~Shared() { ::munmap(static_cast<void*>(object_), sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};

// A counter that synchronises processes: one calls reach(n), the others wait for that.
class Steps {
 public:
  void reach(int step) const { *step_ = step; }
  void wait_until(int step) const {
    for (int i = 0; i < 10000 && *step_ < step; ++i) ::usleep(1000);
    if (*step_ < step)
      throw std::runtime_error("timeout: the other process has not reached step " +
                               std::to_string(step));
  }

 private:
  struct Step {
    volatile int value = 0;
    operator int() const { return value; }
    Step& operator=(int step) {
      value = step;
      return *this;
    }
  };
  Shared<Step> step_;
};

}  // namespace tinyot
