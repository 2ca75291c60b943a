// The calls by which a process changes files, LMDB's included: this executable's own definitions
// stand before the C library's. They count, and one of them fails on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/support/layers.h"

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

// Sees the calls of this process as they are made, but not those that it makes itself meanwhile.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before any of the calls below.
  virtual void before_call() {}
  // So many bytes of an open file, from this place on.
  virtual void written(int file, std::uint64_t at, std::size_t size) = 0;
  virtual void resized(int file) = 0;
  virtual void synced(int file) = 0;
};
// None if it is null.
void observe(Observer* observer);

// The path of an open file.
std::string path_of(int file);

// From now on this process finds a file system that sets no blocks aside, and does `before` first
// whenever it changes a file's length.
void allocate_nothing(std::function<void()> before);

}  // namespace tinyot::faults
