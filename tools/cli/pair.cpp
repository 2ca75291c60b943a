#include "tools/cli/pair.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "system/descriptor.h"
#include "system/process.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kGraceAfterFailure = std::chrono::seconds(3);  // for the other party to notice

// Each party has a key and pins that of the other. All pairs of a process have the same keys, so
// that a store is used with the peer that it was made with.
std::shared_ptr<const net::TlsAdmission> tls_of(Party party) {
  static const net::Identity kA = net::Identity::generate(), kB = net::Identity::generate();
  const net::Identity &mine = party == Party::A ? kA : kB, &peers = party == Party::A ? kB : kA;
  return std::make_shared<net::TlsAdmission>(mine, peers.fingerprint());
}

struct Child {
  Party party;
  pid_t pid = -1;
  system::Descriptor pipe;
  std::string output;
  bool ended = false;
  int status = 0;
};

[[noreturn]] void run_child(Party party, const Endpoint& endpoint, const PartyJob& job, int pipe,
                            pid_t parent) {
  NotedSignals::restore_defaults();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  CommandResult result;
  try {
    result = job(party, endpoint);
  } catch (...) {
    const Failure failure = current_failure();
    log_line(LogLevel::Error, failure.message, std::string(1, letter(party)));
    result = {failure_report(failure), static_cast<int>(failure.status)};
  }
  if (!system::write_all(pipe, json_text(result.report))) _exit(1);
  std::cerr << std::flush;
  _exit(result.exit_status);
}

Child start(Party party, const Endpoint& endpoint, const PartyJob& job) {
  system::PipeEnds pipe;
  const pid_t parent = getpid(), pid = system::fork_process();
  if (pid == 0) {
    pipe.read_end.close();
    run_child(party, endpoint, job, pipe.write_end.get(), parent);
  }
  return {party, pid, std::move(pipe.read_end), {}, false, 0};
}

// Reads the available output; true while the child still has its end open.
bool read_some(Child& child) {
  char buffer[65536];
  const ssize_t count = ::read(child.pipe.get(), buffer, sizeof buffer);
  if (count > 0) child.output.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

void end(Child& child) {
  child.pipe.close();
  child.status = system::wait_for_end_of(child.pid);
  child.ended = true;
}

void wait_for_both(std::array<Child, 2>& children, Clock::duration grace) {
  std::optional<Clock::time_point> give_up;
  bool passed_on = false;
  while (!children[0].ended || !children[1].ended) {
    pollfd descriptors[2];
    for (std::size_t i = 0; i < 2; ++i)
      descriptors[i] = {children[i].ended ? -1 : children[i].pipe.get(), POLLIN, 0};
    ::poll(descriptors, 2, give_up ? 100 : 1000);
    if (NotedSignals::received() != 0 && !std::exchange(passed_on, true))
      for (const Child& child : children)
        if (!child.ended) NotedSignals::pass_on(child.pid);
    for (std::size_t i = 0; i < 2; ++i) {
      if (children[i].ended || descriptors[i].revents == 0 || read_some(children[i])) continue;
      end(children[i]);
      if (children[i].status != 0 && !give_up) give_up = Clock::now() + grace;
    }
    if (give_up && Clock::now() > *give_up) {
      for (const Child& child : children)
        if (!child.ended) ::kill(child.pid, SIGTERM);
      give_up = Clock::now() + std::chrono::hours(1);
    }
  }
}

// The party whose ending explains both: a party that was stopped because of the other one explains
// least, then a lost connection.
const Child& explaining(const std::array<Child, 2>& children) {
  const auto weight = [](int status) {
    if (status == 0) return 0;
    if (status == 128 + SIGTERM) return 1;
    return status == static_cast<int>(ExitStatus::Network)
               ? 2
               : 3 + (status == static_cast<int>(ExitStatus::PeerCheated));
  };
  return weight(children[0].status) >= weight(children[1].status) ? children[0] : children[1];
}

Json child_report(const Child& child) {
  return child.output.empty() ? Json() : Json::parse(child.output);
}

void check_not_interrupted() {
  if (const int signal = NotedSignals::received(); signal != 0)
    throw CommandError("interrupted", static_cast<ExitStatus>(128 + signal));
}

}  // namespace

CommandResult run_pair(const PartyJob& job, const LocalLink& link) {
  check_not_interrupted();
  const net::LoopbackPort port, beyond_link;
  const net::Address &here = port.address(), &there = link.shape ? beyond_link.address() : here;
  const auto endpoint = [&](Party party) {
    return engine::endpoint_with({.listen = party == Party::A,
                                  .address = party == Party::A ? there : here,
                                  .timeouts = link.timeouts,
                                  .tls = link.channels == Channels::Tls ? tls_of(party) : nullptr,
                                  .rejected = log_rejection});
  };
  const auto begin = Clock::now();
  std::array<Child, 2> children = {start(Party::A, endpoint(Party::A), job),
                                   start(Party::B, endpoint(Party::B), job)};
  // After the processes have been started, as it has a thread. B connects again and again until it
  // listens.
  std::optional<net::ShapedLink> shaped;
  if (link.shape) shaped.emplace(*link.shape, here, there);
  wait_for_both(children, kGraceAfterFailure + 2 * (link.shape ? link.shape->rtt : 0s));
  // How the parties have ended then depends on how far they were.
  check_not_interrupted();
  const Child& cause = explaining(children);
  CommandResult result{child_report(cause), cause.status};
  if (is_failure_report(result.report)) return result;
  result.report = Json::object();
  for (const Child& child : children) {
    Json report = child_report(child);
    result.report[std::string(1, letter(child.party))] =
        is_failure_report(report) ? Json() : std::move(report);
  }
  result.report["wall_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace tinyot::tools
