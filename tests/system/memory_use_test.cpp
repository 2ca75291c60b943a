// Memory is told apart by what it holds.
#include "system/memory_use.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace tinyot::test {
namespace {

using namespace system;

constexpr std::size_t kBytes = std::size_t{32} << 20;

void expect_grows(std::uint64_t before, std::uint64_t after, bool grows, const char* what) {
  const auto difference = static_cast<double>(after) - static_cast<double>(before);
  EXPECT_NEAR(difference, grows ? kBytes : 0, 0.25 * kBytes) << what;
}

TEST(MemoryUse, MappedFilesAndOwnMemoryAreToldApart) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes four bytes of its own for each that is written";
#endif
  const MemoryUse before = memory_use();
  EXPECT_GT(before.anonymous, 0u);
  EXPECT_GT(before.file, 0u) << "the program itself";
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), kBytes), 0);
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::memset(mapped, 1, kBytes);
  const MemoryUse with_file = memory_use();
  expect_grows(before.anonymous, with_file.anonymous, false, "anonymous, with a file");
  expect_grows(before.file, with_file.file, true, "file, with a file");
  ASSERT_EQ(munmap(mapped, kBytes), 0);
  std::fclose(file);

  void* own = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(own, MAP_FAILED);
  std::memset(own, 1, kBytes);
  const MemoryUse with_own = memory_use();
  expect_grows(before.anonymous, with_own.anonymous, true, "anonymous, with own memory");
  expect_grows(before.file, with_own.file, false, "file, with own memory");
  // Memory is noted every 50 ms at most.
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  note_memory_use();
  ASSERT_EQ(munmap(own, kBytes), 0);
  EXPECT_GE(peak_memory_use().anonymous, with_own.anonymous) << "what was noted is remembered";
  EXPECT_GE(peak_resident_bytes(), with_own.anonymous) << "the kernel's peak";
  expect_grows(before.anonymous, memory_use().anonymous, false, "when it is released");
}

}  // namespace
}  // namespace tinyot::test
