// The calls by which a process changes files, LMDB's included: this executable's own definitions stand before the C library's. They
// count, and one of them fails on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tinyot::faults {

enum class Fault {
  None,
  NoSpace,     // the call fails with ENOSPC
  IoError,     // with EIO
  ShortWrite,  // half of the bytes are written; calls that write none are as ever
  DiskDies,    // this call and all after it fail with EIO
  Kill,        // the process is killed before the call
  TornWrite,   // the process is killed when half of the bytes are written
};

// The call of this number from now on is the one, counted from 1.
void arm(Fault fault, std::uint64_t at);
void disarm();
// Since arm().
std::uint64_t calls();

// Where to note, for this process, what is synced from now on: its path when it was.
void note_synced(std::vector<std::string>& paths);

// From now on this process finds a file system that sets no blocks aside, and does `before` first whenever it changes a file's length.
void allocate_nothing(std::function<void()> before);

}  // namespace tinyot::faults
