// Both parties on this machine, as two commands over loopback: for trials and measurements.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "system/descriptor.h"
#include "tools/cli/local_link.h"
#include "tools/cli/subcommands.h"

namespace tinyot::tools {

// A party's command line, and the descriptors that its process inherits.
struct PairCommand {
  void add(const Arguments& more) { arguments.insert(arguments.end(), more.begin(), more.end()); }
  // --input, from a file in memory: no command line and no disk has the text.
  void add_input(const std::string& name, std::string_view text);

  Arguments arguments;
  std::vector<system::Descriptor> inputs = {};
};
using PairCommands = std::array<PairCommand, 2>;  // of A, of B

// How the two commands have ended.
struct PairEnded {
  struct Command {
    std::string out;  // what it has written to stdout
    int status = 0;
  };
  const Command& of(Party party) const { return commands[static_cast<std::size_t>(party)]; }
  // The one whose ending explains the other's.
  const Command& cause() const;

  std::array<Command, 2> commands;
  double wall_s = 0;
};

// Runs the program as both parties. Lines that they log begin with the party's letter. When one of
// them has failed, the other one has `grace` to notice, and is then ended. A signal to this process
// is passed on.
PairEnded run_both(const std::filesystem::path& program, const PairCommands& commands,
                   std::chrono::nanoseconds grace);

// Runs subcommands of this program, to whose arguments it adds those for the party and for the link
// between the two: A listens. Fails: CommandError if a signal has arrived (DeferredSignals).
PairEnded run_pair(PairCommands commands, const LocalLink& link);

}  // namespace tinyot::tools
