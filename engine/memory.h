// Whether a preprocessing job fits into the memory that is free, asked before anything starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/preprocess.h"

namespace tinyot::engine {

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

// Why a job does not fit into memory, and what would.
struct MemoryShortage {
  std::uint64_t needed_bytes;  // by each party
  std::uint64_t unit, threads;
  // A smaller job of the same ANDs that fits; absent if none does.
  struct Fit {
    std::uint64_t unit, threads;
  };
  std::optional<Fit> fits;
};
// Whether `parties` such jobs fit into `available_bytes` of this machine. `request` is planned.
std::optional<MemoryShortage> memory_shortage(const PreprocessRequest& request,
                                              std::uint64_t parties, std::uint64_t available_bytes);

}  // namespace tinyot::engine
