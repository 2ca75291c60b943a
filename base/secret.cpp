#include "base/secret.h"

#include <cstring>

namespace tinyot {

void wipe(void* data, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(data, 0, bytes);
  // The barrier makes the zeros observable, so that the store above cannot be dropped as dead.
  asm volatile("" : : "r"(data) : "memory");
}

}  // namespace tinyot
