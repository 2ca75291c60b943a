#include "base/secret.h"

#include <sys/mman.h>

#include <cstring>

namespace tinyot {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::align_val_t alignment_for(std::size_t bytes) {
  return std::align_val_t{bytes >= 2 * kHugePage ? kHugePage : 64};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* data = ::operator new(bytes, alignment_for(bytes));
  // Advice only: without huge pages access is slower.
  if (bytes >= 2 * kHugePage) (void)madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return data;
}

void deallocate_aligned(void* data, std::size_t bytes) {
  ::operator delete(data, alignment_for(bytes));
}

void wipe(void* data, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(data, 0, bytes);
  // The barrier makes the zeros observable, so that the store above cannot be dropped as dead.
  asm volatile("" : : "r"(data) : "memory");
}

}  // namespace tinyot
