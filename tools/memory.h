// Whether a preprocessing job fits into the memory that is free, asked before anything starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/preprocess.h"

namespace tinyot::tools {

// What the system would give to new work without swapping: of the machine, or of the control groups
// if they have less.
std::uint64_t available_memory_bytes();

// What the memory limits of a process's control groups leave, of its own group and of all those
// that it lies in: the least of limit less use; 2^64 - 1 if none has a limit. Versions 1 and 2,
// also both at once. `groups` is the text of its /proc/PID/cgroup, and `root` the directory where
// the hierarchies are mounted.
std::uint64_t free_in_control_groups(const std::string& groups, const std::filesystem::path& root);

// Takes so much memory, writes to each page of it and gives it back. On a virtual machine the first
// use of memory can cost more than what is then done with it.
void use_memory_once(std::uint64_t bytes);

// Fails: UsageError with what `parties` such jobs on this machine need, what there is, and which
// unit and threads would fit.
void check_memory(const PreprocessJob& job, std::uint64_t parties, std::uint64_t available_bytes);

}  // namespace tinyot::tools
