// Whether a preprocessing job fits into the memory that is free, asked before anything starts.
#pragma once

#include <cstdint>

#include "tools/preprocess.h"

namespace tinyot {

// What the system would give to new work without swapping: of the machine, or of the control group if that has less.
std::uint64_t available_memory_bytes();

// Takes so much memory, writes to each page of it and gives it back. On a virtual machine the first use of memory can cost more than
// what is then done with it.
void use_memory_once(std::uint64_t bytes);

// Fails: UsageError with what `parties` such jobs on this machine need, what there is, and which unit and threads would fit.
void check_memory(const PreprocessJob& job, std::uint64_t parties, std::uint64_t available_bytes);

}  // namespace tinyot
