#include "system/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tinyot {
namespace {

// A pipe holds 64 KiB, so a write may end early.
TEST(WriteAll, WritesAllOfATextThatIsLongerThanAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const system::Descriptor from(ends[0]);
  system::Descriptor to(ends[1]);
  std::string text(1'000'000, ' '), read;
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251);
  std::thread reader([&] {
    char buffer[1000];
    for (ssize_t count; (count = ::read(from.get(), buffer, sizeof buffer)) > 0;)
      read.append(buffer, static_cast<std::size_t>(count));
  });
  EXPECT_TRUE(system::write_all(to.get(), text));
  to.close();
  reader.join();
  EXPECT_EQ(read, text);
}

TEST(WriteAll, ReturnsFalseOnAnError) {
  const system::Descriptor full(::open("/dev/full", O_WRONLY));
  EXPECT_TRUE(system::write_all(full.get(), ""));
  EXPECT_FALSE(system::write_all(full.get(), "x"));
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace tinyot
