// Checks, before anything starts, whether a preprocessing job fits into the free memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "offline/parameters.h"
#include "tinyot/preprocess.h"

namespace tinyot::engine {

// The memory available without swapping: that of the machine, or of the control groups if they have
// less.
std::uint64_t available_memory_bytes();

// The memory that the limits of this process's control group and of its ancestors leave: the
// minimum of limit minus usage; 2^64 - 1 if none has a limit. Supports versions 1 and 2, and both
// at once, wherever they are mounted. `root` is the root of the file system with /proc/self and the
// mounts.
std::uint64_t free_in_control_groups(const std::filesystem::path& root);

// Allocates this much memory, writes to each page of it and frees it. On a virtual machine the
// first use of memory can cost more than the work that is then done in it.
void use_memory_once(std::uint64_t bytes);

// Why a job does not fit into memory, and a smaller job that would.
struct MemoryShortage {
  std::uint64_t needed_bytes;  // by each party
  std::uint64_t unit, threads;
  // A smaller job of the same ANDs that fits; absent if none does.
  struct Fit {
    std::uint64_t unit, threads;
  };
  std::optional<Fit> fits;
};
// Checks whether `parties` such jobs fit into `available_bytes` of this machine; empty if they do.
// `request` is planned.
std::optional<MemoryShortage> memory_shortage(const PreprocessRequest& request,
                                              std::uint64_t parties, std::uint64_t available_bytes);

// The memory that a unit may take whose bucket is larger than planned, without its inputs: that of
// a planned one, and its part of what `memory_bytes` leaves beside so many of these.
std::uint64_t unit_bytes_max(const offline::SecurityParameters& params, std::uint64_t workers,
                             std::uint64_t memory_bytes);

}  // namespace tinyot::engine
