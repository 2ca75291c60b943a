// Pipes, and the ends of child processes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "system/descriptor.h"

namespace tinyot::system {

// Fails: Error if it cannot be made. Programs that are executed do not inherit it.
struct PipeEnds {
  PipeEnds();
  Descriptor read_end, write_end;
};

// Content that a program inherits: a file in memory alone. Fails: Error.
Descriptor in_memory(const std::string& name, std::string_view content);

struct Launch {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // all of it: NAME=VALUE
  std::filesystem::path directory;       // in which it works; empty: that of this process
  std::vector<int> descriptors;          // that it inherits, beside the standard ones
};

// Pointers to the words, and a null one, as execve(2) takes them.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

// In a child: leaves no descriptor open to the program that it becomes but the standard ones and
// these. Returns false if that fails; errno has the reason.
bool inherit_only(const std::vector<int>& descriptors);

// Starts a program with stdout at `out` and the other streams of this process. SIGTERM ends it when
// this process ends; a signal that is sent to it before it has begun is not lost. If it cannot be
// executed, it ends with status 127. Fails: Error.
pid_t start_program(const Launch& launch, int out);

// Waits for the end of a child. Returns its exit status, or 128 + the signal that ended it, as a
// shell does.
int wait_for_end_of(pid_t child);

// Forks. Fails: Error if there cannot be another process.
pid_t fork_process();

// Runs a program, which is looked for on the PATH, with the streams of this process. Returns its
// status, as wait_for_end_of. Fails: Error if it cannot be executed.
int run_program(const std::vector<std::string>& command);

}  // namespace tinyot::system
