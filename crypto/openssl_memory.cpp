#include "crypto/openssl_memory.h"

#include <malloc.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot::crypto {
namespace {

// Of no bytes null, as OpenSSL's own functions.
void* allocate(std::size_t bytes, const char*, int) {
  return bytes > 0 ? std::malloc(bytes) : nullptr;
}

void release(void* block, const char*, int) {
  if (block != nullptr) wipe(block, ::malloc_usable_size(block));
  std::free(block);
}

// To another place, since realloc() would not wipe the one that it leaves.
void* reallocate(void* block, std::size_t bytes, const char* file, int line) {
  void* const moved = allocate(bytes, file, line);
  if (bytes == 0) release(block, file, line);
  if (block == nullptr || moved == nullptr) return moved;
  std::memcpy(moved, block, std::min(bytes, ::malloc_usable_size(block)));
  release(block, file, line);
  return moved;
}

}  // namespace

void wipe_what_openssl_frees() {
  ENSURE(CRYPTO_set_mem_functions(allocate, reallocate, release) == 1);
}

}  // namespace tinyot::crypto
