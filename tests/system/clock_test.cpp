#include "system/clock.h"

#include <gtest/gtest.h>

namespace tinyot::system {
namespace {

using namespace std::chrono_literals;

TEST(UtcText, HasTheFormOfRfc3339) {
  const std::chrono::system_clock::time_point time(1'769'903'999s + 42ms);
  EXPECT_EQ(utc_text(time), "2026-01-31T23:59:59Z");
  EXPECT_EQ(utc_text_ms(time), "2026-01-31T23:59:59.042Z");
}

TEST(ThreadCpuSeconds, Grows) {
  const double before = thread_cpu_seconds();
  while (thread_cpu_seconds() == before) continue;
  EXPECT_GT(thread_cpu_seconds(), before);
}

}  // namespace
}  // namespace tinyot::system
