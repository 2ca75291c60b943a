#include "tests/support/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bitset>
#include <fstream>
#include <stdexcept>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// With a thread sanitizer, everything takes several times as long.
#ifdef __SANITIZE_THREAD__
constexpr int kSlowness = 4;
#else
constexpr int kSlowness = 1;
#endif

using Clock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read = ends[0], write = ends[1];
  }
  int read, write;
};

// Only calls that are safe between fork and exec in a process with threads.
[[noreturn]] void become(char* const* arguments, int in, int out, int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(in, STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
      ::dup2(err, STDERR_FILENO) >= 0)
    ::execv(arguments[0], arguments);
  ::_exit(126);
}

// Appends the bytes that are available; false at the end.
bool read_some(int descriptor, std::string& text) {
  char buffer[65536];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

int shell_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Process::Process(const std::string& program, const Arguments& arguments, const std::string& input,
                 std::chrono::seconds deadline)
    : name_(program), deadline_(Clock::now() + kSlowness * deadline) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<char*> pointers = {name_.data()};
  Arguments copies = arguments;
  for (std::string& copy : copies) pointers.push_back(copy.data());
  pointers.push_back(nullptr);
  const Pipe in, out, err;
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot start a process");
  if (pid_ == 0) become(pointers.data(), in.read, out.write, err.write);
  for (const std::string& argument : arguments) name_ += " " + argument;
  for (const int end : {in.read, out.write, err.write}) ::close(end);
  // Inputs of tests fit in a pipe, so this does not wait for the child.
  if (::write(in.write, input.data(), input.size()) != static_cast<ssize_t>(input.size()) &&
      errno != EPIPE)
    ADD_FAILURE() << "cannot write to " << name_;
  ::close(in.write);
  reader_ = std::thread(
      [this, out_end = out.read, err_end = err.read] { read_until_closed(out_end, err_end); });
}

Process::~Process() {
  if (pid_ >= 0) {
    signal(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (reader_.joinable()) reader_.join();
}

void Process::signal(int number) const {
  if (pid_ >= 0) ::kill(pid_, number);
}

bool Process::catches(int number) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string field; status >> field;)
    if (std::uint64_t caught = 0; field == "SigCgt:" && status >> std::hex >> caught)
      return std::bitset<64>(caught).test(static_cast<std::size_t>(number - 1));
  return false;
}

// Ends when the pipes are closed, or a little after the deadline: a grandchild may still hold them.
void Process::read_until_closed(int out, int err) {
  pollfd descriptors[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const texts[2] = {&ended_.out, &ended_.err};
  const auto give_up = deadline_ + std::chrono::seconds(2);
  while ((descriptors[0].fd >= 0 || descriptors[1].fd >= 0) && Clock::now() < give_up) {
    if (::poll(descriptors, 2, 100) <= 0) continue;
    for (std::size_t i = 0; i < 2; ++i)
      if (descriptors[i].revents != 0 && !read_some(descriptors[i].fd, *texts[i]))
        descriptors[i].fd = -1;
  }
  ::close(out);
  ::close(err);
}

bool Process::reap_until_deadline() {
  int status = 0;
  for (;;) {
    const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
    if (reaped == pid_) break;
    if (Clock::now() > deadline_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  ended_.status = shell_status(status);
  return true;
}

Ended Process::end() {
  if (!reader_.joinable()) return ended_;
  const bool in_time = reap_until_deadline();
  if (!in_time) {
    signal(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
  }
  reader_.join();
  if (!in_time)
    ADD_FAILURE() << "killed at its deadline: " << name_ << "\nstdout: " << ended_.out
                  << "\nstderr: " << ended_.err;
  return ended_;
}

}  // namespace tinyot::test
