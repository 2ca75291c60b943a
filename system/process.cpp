#include "system/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {

PipeEnds::PipeEnds() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorClass::Other, "cannot make a pipe: " + errno_text());
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
}

int wait_for_end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t fork_process() {
  const pid_t child = ::fork();
  if (child < 0) throw Error(ErrorClass::Other, "cannot make a process: " + errno_text());
  return child;
}

Descriptor in_memory(const std::string& name, std::string_view content) {
  Descriptor descriptor(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!descriptor.is_open() || !write_all(descriptor.get(), content) ||
      ::lseek(descriptor.get(), 0, SEEK_SET) != 0)
    throw Error(ErrorClass::Other, "cannot hold " + name + " in memory: " + errno_text());
  return descriptor;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

bool inherit_only(const std::vector<int>& descriptors) {
  return ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0 &&
         std::ranges::all_of(descriptors, [](int each) { return ::fcntl(each, F_SETFD, 0) == 0; });
}

namespace {

// Signals wait while it exists.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { restore(); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  void restore() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// In a child between fork and execve: a signal that is sent to it ends it, in place of being noted
// by a handler of this program, and forgotten.
void drop_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      ::signal(signal, SIG_DFL);
  }
}

}  // namespace

pid_t start_program(const Launch& launch, int out) {
  std::vector<std::string> words = launch.arguments;
  words.insert(words.begin(), launch.program.string());
  // The child, which may be that of one of several threads, only makes system calls.
  const std::vector<char*> pointers = pointers_to(words),
                           environment = pointers_to(launch.environment);
  const BlockedSignals signals;
  const pid_t parent = ::getpid(), child = fork_process();
  if (child != 0) return child;
  drop_handlers();
  signals.restore();
  if (::dup2(out, STDOUT_FILENO) >= 0 && inherit_only(launch.descriptors) &&
      ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && ::getppid() == parent &&
      (launch.directory.empty() || ::chdir(launch.directory.c_str()) == 0))
    ::execve(launch.program.c_str(), pointers.data(), environment.data());
  ::_exit(127);
}

int run_program(const std::vector<std::string>& command) {
  const std::vector<char*> words = pointers_to(command);
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), ::environ);
      error != 0)
    throw Error(ErrorClass::Other, "cannot run " + command[0] + ": " + errno_text(error));
  return wait_for_end_of(child);
}

}  // namespace tinyot::system
