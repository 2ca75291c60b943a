// Interposes the system calls that change files, for LMDB too: this executable defines them in
// place of the C library. They are counted, and one of them fails on request.
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
  ShortWrite,  // half of the bytes are written; other calls are not affected
  DiskFails,   // this call and all later ones fail with EIO
  Kill,        // the process is killed before the call
  TornWrite,   // the process is killed when half of the bytes are written
};

// The fault occurs at call number `at` from now, counted from 1.
void arm(Fault fault, std::uint64_t at);
void disarm();
// Number of calls since arm().
std::uint64_t calls();

// Is notified of the calls of this process, except those made inside its own functions.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before any of the calls below.
  virtual void before_call() {}
  // `size` bytes of an open file were written at offset `at`.
  virtual void written(int file, std::uint64_t at, std::size_t size) = 0;
  virtual void resized(int file) = 0;
  virtual void synced(int file) = 0;
};
// Null ends the observation.
void observe(Observer* observer);

// The path of an open file.
std::string path_of(int file);

// From now on `after` is called after each sync of a file that succeeds, on its thread, while
// others may go on. Empty: nothing is.
void after_syncs(std::function<void()> after);

// From now on fallocate() is not supported in this process, and `before` is called before each
// ftruncate().
void allocate_nothing(std::function<void()> before);

}  // namespace tinyot::faults
