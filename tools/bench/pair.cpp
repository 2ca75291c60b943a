#include "tools/bench/pair.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "system/process.h"
#include "system/temporary_directory.h"
#include "tinyot/endpoint.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kGraceAfterFailure = 3s;  // for the other party to notice

std::string letter_of(Party party) { return std::string(1, letter(party)); }

// The keys of both parties. All pairs of a process have the same, so that a store is used with the
// peer that it was made with.
class PairKeys {
 public:
  static const PairKeys& of_process() {
    static const PairKeys kKeys;
    return kKeys;
  }
  Arguments arguments_of(Party party) const {
    return {"--key", file_of(party), "--peer-key", "@" + file_of(peer_of(party)) + ".crt"};
  }

 private:
  PairKeys() {
    for (const Party party : {Party::A, Party::B}) make_key_file(file_of(party));
  }
  std::string file_of(Party party) const { return directory_.path() / (letter_of(party) + ".pem"); }

  system::TemporaryDirectory directory_;
};

// Without the variables that give options: those of the pair's command are passed on.
std::vector<std::string> environment_for(Party party) {
  std::vector<std::string> variables = {std::string(kPartyVariable) + "=" + letter_of(party)};
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "TINYOT_", 7) != 0) variables.emplace_back(*variable);
  return variables;
}

struct Child {
  pid_t pid = -1;
  system::Descriptor pipe;
  PairEnded::Command ended = {};
  bool has_ended = false;

  Child(const std::filesystem::path& program, const PairCommand& command, Party party) {
    system::Launch launch{program, command.arguments, environment_for(party), {}, {}};
    for (const system::Descriptor& input : command.inputs)
      launch.descriptors.push_back(input.get());
    system::PipeEnds ends;
    pid = system::start_program(launch, ends.write_end.get());
    pipe = std::move(ends.read_end);
  }

  // Reads the available output; true while the child still has its end open.
  bool read_some() {
    char buffer[65536];
    const ssize_t count = ::read(pipe.get(), buffer, sizeof buffer);
    if (count > 0) ended.out.append(buffer, static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }
  void reap() {
    pipe.close();
    ended.status = system::wait_for_end_of(pid);
    has_ended = true;
  }
};

void wait_for_both(std::array<Child, 2>& children, Clock::duration grace) {
  std::optional<Clock::time_point> give_up;
  bool passed_on = false;
  while (!children[0].has_ended || !children[1].has_ended) {
    pollfd descriptors[2];
    for (std::size_t i = 0; i < 2; ++i)
      descriptors[i] = {children[i].has_ended ? -1 : children[i].pipe.get(), POLLIN, 0};
    ::poll(descriptors, 2, give_up ? 100 : 1000);
    if (DeferredSignals::received() != 0 && !std::exchange(passed_on, true))
      for (const Child& child : children)
        if (!child.has_ended) DeferredSignals::pass_on(child.pid);
    for (std::size_t i = 0; i < 2; ++i) {
      if (children[i].has_ended || descriptors[i].revents == 0 || children[i].read_some()) continue;
      children[i].reap();
      if (children[i].ended.status != 0 && !give_up) give_up = Clock::now() + grace;
    }
    if (give_up && Clock::now() > *give_up) {
      for (const Child& child : children)
        if (!child.has_ended) ::kill(child.pid, SIGTERM);
      give_up = Clock::now() + 1h;
    }
  }
}

void check_not_interrupted() {
  if (const int signal = DeferredSignals::received(); signal != 0)
    throw CommandError("interrupted", static_cast<ExitStatus>(128 + signal));
}

}  // namespace

void PairCommand::add_input(const std::string& name, std::string_view text) {
  inputs.push_back(system::in_memory("input", text));
  add({"--input", name + "=@/proc/self/fd/" + std::to_string(inputs.back().get())});
}

// A party that was stopped because of the other one explains least, then a lost connection.
const PairEnded::Command& PairEnded::cause() const {
  const auto weight = [](int status) {
    if (status == 0) return 0;
    if (status == 128 + SIGTERM) return 1;
    return status == static_cast<int>(ExitStatus::Network)
               ? 2
               : 3 + (status == static_cast<int>(ExitStatus::PeerCheated));
  };
  return weight(commands[0].status) >= weight(commands[1].status) ? commands[0] : commands[1];
}

PairEnded run_both(const std::filesystem::path& program, const PairCommands& commands,
                   std::chrono::nanoseconds grace) {
  const auto begin = Clock::now();
  std::array<Child, 2> children = {Child(program, commands[0], Party::A),
                                   Child(program, commands[1], Party::B)};
  wait_for_both(children, grace);
  return {{std::move(children[0].ended), std::move(children[1].ended)},
          std::chrono::duration<double>(Clock::now() - begin).count()};
}

PairEnded run_pair(PairCommands commands, const LocalLink& link) {
  check_not_interrupted();
  const net::LoopbackPort port, beyond_link;
  const net::Address &here = port.address(), &there = link.shape ? beyond_link.address() : here;
  for (const Party party : {Party::A, Party::B}) {
    PairCommand& command = commands[static_cast<std::size_t>(party)];
    command.add({"--party", letter_of(party), party == Party::A ? "--listen" : "--connect",
                 net::text_of(party == Party::A ? there : here), "--connect-timeout",
                 std::to_string(link.timeouts.connect / 1s), "--idle-timeout",
                 std::to_string(link.timeouts.idle / 1s)});
    if (link.channels == Channels::Tls) command.add(PairKeys::of_process().arguments_of(party));
  }
  // B connects again and again until A listens.
  std::optional<net::ShapedLink> shaped;
  if (link.shape) shaped.emplace(*link.shape, here, there);
  PairEnded ended = run_both("/proc/self/exe", commands,
                             kGraceAfterFailure + 2 * (link.shape ? link.shape->rtt : 0ns));
  // How the parties have ended then depends on how far they were.
  check_not_interrupted();
  return ended;
}

}  // namespace tinyot::tools
