// Secrets are wiped before their memory is freed, checked by a replaced operator delete.
#include "base/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/auth_bits.h"
#include "base/bit_matrix.h"
#include "base/bit_vector.h"
#include "tests/support/layers.h"

namespace {

struct Watch {
  void* memory = nullptr;
  std::size_t bytes = 0;
  bool freed = false;
  std::size_t left = 0;  // bytes that are not zero when the memory is freed
} watch;

void check_freed(void* memory) {
  if (memory == nullptr || memory != watch.memory) return;
  const auto* bytes = static_cast<const volatile unsigned char*>(memory);
  watch.freed = true;
  for (std::size_t i = 0; i < watch.bytes; ++i) watch.left += bytes[i] != 0;
  watch.memory = nullptr;
}

}  // namespace

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* memory =
      std::aligned_alloc(step, (std::max<std::size_t>(bytes, 1) + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  check_freed(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

namespace tinyot {
namespace {

template <class T>
void watch_memory(std::span<T> memory) {
  std::memset(memory.data(), 0xA5, memory.size_bytes());
  watch = {memory.data(), memory.size_bytes()};
}

void expect_freed_and_zero() {
  EXPECT_TRUE(watch.freed);
  EXPECT_EQ(watch.left, 0u);
}

TEST(Secret, VectorIsWipedBeforeItsMemoryIsFreed) {
  for (const std::size_t size : {1u, 7u, 64u, 1000u}) {
    {
      SecretVector<Block> secret(size);
      watch_memory(std::span(secret));
    }
    expect_freed_and_zero();
  }
}

TEST(Secret, GrowingWipesTheOldMemory) {
  SecretVector<std::uint64_t> secret(8);
  watch_memory(std::span(secret));
  secret.resize(4096);
  expect_freed_and_zero();
  EXPECT_EQ(secret[7], 0xA5A5A5A5A5A5A5A5u);
}

TEST(Secret, BitsMacsKeysAndMatricesAreWiped) {
  {
    BitVector bits(777);
    watch_memory(bits.words());
  }
  expect_freed_and_zero();
  {
    MacColumn mine(50);
    watch_memory(std::span(mine.macs));
  }
  expect_freed_and_zero();
  {
    KeyColumn peers(50);
    watch_memory(peers.view());
    const KeyColumn moved_to = std::move(peers);
    EXPECT_FALSE(watch.freed);
  }
  expect_freed_and_zero();
  {
    BitMatrix matrix(3, 600);
    watch_memory(matrix.words());
  }
  expect_freed_and_zero();
}

TEST(Secret, AssignmentWipesTheOldValue) {
  KeyColumn peers(50);
  watch_memory(peers.view());
  peers = KeyColumn(20);
  expect_freed_and_zero();
}

TEST(Secret, VectorsAreAlignedToCacheLines) {
  for (std::size_t size = 1; size < 100; ++size) {
    const SecretVector<std::uint64_t> secret(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(secret.data()) % 64, 0u);
  }
}

TEST(Secret, WipeZeroesExactlyItsRange) {
  for (const std::size_t size : {0u, 1u, 15u, 64u}) {
    std::vector<unsigned char> memory(80, 0xFF);
    wipe(memory.data() + 8, size);
    for (std::size_t i = 0; i < memory.size(); ++i)
      EXPECT_EQ(memory[i], i >= 8 && i < 8 + size ? 0 : 0xFF);
  }
  std::uint64_t object = 77;
  wipe_object(object);
  EXPECT_EQ(object, 0u);
}

}  // namespace
}  // namespace tinyot
