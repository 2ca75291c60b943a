// A process with limits of time, memory, output and processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/process.h"

namespace tinyot::system {

struct Limits {
  std::chrono::seconds time{600};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of addresses, each process
  // stdout and stderr together; each temporary file, in a sandbox all of them together.
  std::uint64_t output_bytes = std::uint64_t{1} << 30;
  std::uint64_t processes = 256;  // beside those that the user has
};

enum class Limit { Time, Memory, Output, Processes };

struct Outcome {
  int status = 0;              // the exit status, or 128 + the signal that ended it, as in a shell
  std::string out;             // stdout
  std::string err;             // the end of stderr, without control characters
  std::optional<Limit> limit;  // that has ended it
};

// The user that a process becomes: `nobody` if this one is root, and there is such a user in this
// user namespace.
std::optional<uid_t> less_privileged_user();

// Runs the program to its end. It has no input, is the user above, and is killed when this process
// ends. A limit of memory or processes is recognised by what the program says.
// Fails: Error if it cannot be started.
Outcome run_limited(const Launch& launch, const Limits& limits);

}  // namespace tinyot::system
