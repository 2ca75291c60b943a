#include "system/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

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

int run_program(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), ::environ);
      error != 0)
    throw Error(ErrorClass::Other, "cannot run " + command[0] + ": " + errno_text(error));
  return wait_for_end_of(child);
}

}  // namespace tinyot::system
