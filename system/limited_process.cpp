#include "system/limited_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "system/descriptor.h"
#include "system/errno_text.h"
#include "system/process.h"

namespace tinyot::system {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uid_t kNobody = 65534;
constexpr std::size_t kErrBytes = 16 << 10;

// /proc/self/uid_map or gid_map: lines of the first id, what it is outside, and how many there are.
bool has_id(const char* map, std::uint64_t id) {
  std::ifstream stream(map);
  for (std::uint64_t first = 0, outside = 0, count = 0; stream >> first >> outside >> count;)
    if (id >= first && id - first < count) return true;
  return false;
}

// RLIMIT_NPROC bounds all threads of a user.
std::uint64_t threads_of(uid_t user) {
  std::uint64_t threads = 0;
  std::error_code ended;  // a process may end meanwhile
  for (const auto& entry : fs::directory_iterator("/proc", ended)) {
    struct stat status {};
    if (::stat((entry.path() / "task").c_str(), &status) == 0 && status.st_uid == user)
      threads += status.st_nlink - std::min<std::uint64_t>(status.st_nlink, 2);
  }
  return threads;
}

struct ResourceLimit {
  __rlimit_resource resource;
  std::uint64_t value;
};
using ResourceLimits = std::array<ResourceLimit, 5>;

// All that the new process needs, made before it is: it only makes system calls.
struct Start {
  std::vector<char*> words, environment;
  ResourceLimits limits;
  std::optional<uid_t> user;
  pid_t parent;
  const Launch& launch;
};

// Between SIGXCPU, which says why a process ends, and SIGKILL.
constexpr rlim_t kCpuGrace_s = 1;

bool set_limit(const ResourceLimit& limit) {
  struct rlimit now {};
  if (::getrlimit(limit.resource, &now) != 0) return false;
  now.rlim_max = std::min<rlim_t>(now.rlim_max, limit.value);
  now.rlim_cur = now.rlim_max - (limit.resource == RLIMIT_CPU ? kCpuGrace_s : 0);
  return ::setrlimit(limit.resource, &now) == 0;
}

bool become_user(uid_t user) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
         ::setresuid(user, user, user) == 0;
}

// In the child. Returns what failed; errno has the reason.
const char* become_program(const Start& start, int out, int err) {
  const Launch& launch = start.launch;
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(err, STDERR_FILENO) < 0)
    return "cannot set standard input and output";
  if (!inherit_only(launch.descriptors)) return "cannot close what is open";
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  if (::setpgid(0, 0) != 0) return "cannot make a process group";
  if (start.user && !become_user(*start.user)) return "cannot become the user nobody";
  if (!std::ranges::all_of(start.limits, set_limit)) return "cannot set a limit";
  // after a change of the user, which resets it
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "cannot be bound to its parent";
  if (::getppid() != start.parent) ::_exit(1);
  if (::chdir(launch.directory.c_str()) != 0) return "cannot enter its directory";
  ::execve(launch.program.c_str(), start.words.data(), start.environment.data());
  return "cannot be executed";
}

// A process group and its leader.
class ConfinedChild {
 public:
  ConfinedChild(pid_t pid, std::string name)
      : pid_(pid), name_(std::move(name)),
        end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~ConfinedChild() { reap(); }
  ConfinedChild(const ConfinedChild&) = delete;
  ConfinedChild& operator=(const ConfinedChild&) = delete;

  // Readable once the process has ended.
  int end() const {
    if (!end_.is_open())
      throw Error(ErrorClass::Other, "cannot wait for " + name_ + ": " + errno_text());
    return end_.get();
  }
  void kill() const {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // before it has made its group
  }
  // Returns the leader's status.
  int reap() {
    if (pid_ < 0) return 0;
    kill();
    return wait_for_end_of(std::exchange(pid_, -1));
  }

 private:
  pid_t pid_;
  std::string name_;
  Descriptor end_;
};

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

// Reads both streams and waits for the end of the process; returns a limit that is reached first.
class Collector {
 public:
  Collector(Descriptor out, Descriptor err, const Limits& limits)
      : out_(std::move(out)), err_(std::move(err)), limits_(limits),
        deadline_(Clock::now() + limits.time) {}

  std::optional<Limit> read_until_end_of(const ConfinedChild& child, Outcome& outcome) {
    bool has_ended = false;
    while (out_.is_open() || err_.is_open() || !has_ended) {
      std::array<pollfd, 3> events = {pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0},
                                      pollfd{has_ended ? -1 : child.end(), POLLIN, 0}};
      const int ready = ::poll(events.data(), events.size(), milliseconds_until(deadline_));
      if (ready < 0 && errno != EINTR)
        throw Error(ErrorClass::Other, "cannot wait for a process: " + errno_text());
      if (Clock::now() >= deadline_) return Limit::Time;
      if (ready <= 0) continue;
      if (events[0].revents != 0) read(out_, outcome.out, limits_.output_bytes);
      if (events[1].revents != 0) read(err_, outcome.err, kErrBytes);
      if (total_ > limits_.output_bytes) return Limit::Output;
      if (events[2].revents != 0) {
        has_ended = true;
        child.kill();  // what it has left would keep the pipes open
      }
    }
    return std::nullopt;
  }

 private:
  // Keeps the last `kept` bytes.
  void read(Descriptor& from, std::string& to, std::uint64_t kept) {
    std::array<char, 64 << 10> bytes;
    const ssize_t count = ::read(from.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return from.close();
    to.append(bytes.data(), static_cast<std::size_t>(count));
    if (to.size() > kept) to.erase(0, to.size() - static_cast<std::size_t>(kept));
    total_ += static_cast<std::uint64_t>(count);
  }

  Descriptor out_, err_;
  const Limits& limits_;
  Clock::time_point deadline_;
  std::uint64_t total_ = 0;
};

bool says_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::optional<Limit> limit_of(const Outcome& outcome) {
  if (outcome.status == 0) return std::nullopt;
  // By its processor time, before this process has looked at the clock.
  if (outcome.status == 128 + SIGXCPU) return Limit::Time;
  if (outcome.status == 128 + SIGXFSZ || says_any(outcome.err, {"No space left on device"}))
    return Limit::Output;
  if (says_any(outcome.err, {"std::bad_alloc", "annot allocate memory", "memory exhausted"}))
    return Limit::Memory;
  if (says_any(outcome.err, {"annot fork", "Resource temporarily unavailable"}))
    return Limit::Processes;
  return std::nullopt;
}

}  // namespace

std::optional<uid_t> less_privileged_user() {
  const bool may_change = ::geteuid() == 0 && has_id("/proc/self/uid_map", kNobody) &&
                          has_id("/proc/self/gid_map", kNobody);
  return may_change ? std::optional(kNobody) : std::nullopt;
}

Outcome run_limited(const Launch& launch, const Limits& limits) {
  std::vector<std::string> words = launch.arguments;
  words.insert(words.begin(), launch.program.string());
  const std::optional<uid_t> user = less_privileged_user();
  const Start prepared = {
      pointers_to(words),
      pointers_to(launch.environment),
      {{{RLIMIT_CORE, 0},
        {RLIMIT_CPU, static_cast<std::uint64_t>(limits.time.count()) + kCpuGrace_s},
        {RLIMIT_AS, limits.memory_bytes},
        {RLIMIT_FSIZE, limits.output_bytes},
        {RLIMIT_NPROC, threads_of(user.value_or(::getuid())) + limits.processes}}},
      user,
      ::getpid(),
      launch};
  PipeEnds out, err, failure;
  const pid_t pid = fork_process();
  if (pid == 0) {
    const std::string_view failed =
        become_program(prepared, out.write_end.get(), err.write_end.get());
    const char* reason = ::strerrordesc_np(errno);
    write_all(failure.write_end.get(), failed);
    write_all(failure.write_end.get(), ": ");
    write_all(failure.write_end.get(), reason);
    ::_exit(127);
  }
  ConfinedChild child(pid, launch.program.string());
  for (PipeEnds* pipe : {&out, &err, &failure}) pipe->write_end.close();
  Outcome outcome;
  outcome.limit = Collector(std::move(out.read_end), std::move(err.read_end), limits)
                      .read_until_end_of(child, outcome);
  outcome.status = child.reap();
  std::array<char, 256> text;
  if (const ssize_t count = ::read(failure.read_end.get(), text.data(), text.size()); count > 0)
    throw Error(ErrorClass::Other, launch.program.string() + " " +
                                       std::string(text.data(), static_cast<std::size_t>(count)));
  for (char& c : outcome.err)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = '?';
  if (!outcome.limit) outcome.limit = limit_of(outcome);
  return outcome;
}

}  // namespace tinyot::system
