// Pipes, and the ends of child processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "system/descriptor.h"

namespace tinyot::system {

// Fails: Error if it cannot be made. Programs that are executed do not inherit it.
struct PipeEnds {
  PipeEnds();
  Descriptor read_end, write_end;
};

// Waits for the end of a child. Returns its exit status, or 128 + the signal that ended it, as a
// shell does.
int wait_for_end_of(pid_t child);

// Forks. Fails: Error if there cannot be another process.
pid_t fork_process();

// Runs a program, which is looked for on the PATH, with the streams of this process. Returns its
// status, as wait_for_end_of. Fails: Error if it cannot be executed.
int run_program(const std::vector<std::string>& command);

}  // namespace tinyot::system
