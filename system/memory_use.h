// Memory of this process by what it holds. The kernel keeps the peak of the sum only, so the parts
// are looked at now and then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinyot::system {

// Resident bytes: memory of the process's own, and pages of files, such as those of a store that
// are mapped. The kernel can take the latter back at any time.
struct MemoryUse {
  std::uint64_t anonymous = 0;
  std::uint64_t file = 0;
};

MemoryUse memory_use();
// The most that has been resident at a time, in bytes, since this process began to run its program:
// getrusage counts what the process that started it had, too.
std::uint64_t peak_resident_bytes();

// Notes what the process uses now, at most every 50 ms. From any thread.
void note_memory_use();
// The largest use of each kind that has been noted, or is found now.
MemoryUse peak_memory_use();

// Of a page of this system: 4096 on x86, 4096 to 65536 on 64-bit ARM.
std::size_t page_bytes();

}  // namespace tinyot::system
