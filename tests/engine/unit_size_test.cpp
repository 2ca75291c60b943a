// The default size of a unit: the smallest bucket within the memory, then the usual size.
#include "engine/unit_size.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

offline::SecurityParameters chosen(ParameterRequest request, std::uint64_t ands,
                                   std::uint64_t memory_bytes = kGigabyte) {
  request.unit = choose_unit(request, ands, 0, memory_bytes);
  return offline::SecurityParameters::make(request);
}

TEST(UnitSize, PrefersLargerUnitToLargerBucket) {
  const auto nnob12 = chosen({}, 1 << 22);
  EXPECT_EQ(nnob12.unit(), 1u << 20);
  EXPECT_EQ(nnob12.bucket(), 3u);
  const auto fast = chosen({.profile = Profile::Fast}, 1 << 24);
  EXPECT_EQ(fast.unit(), 1u << 20);
  EXPECT_EQ(fast.bucket(), 3u);
}

TEST(UnitSize, KeepsWithinTheMemoryOfAllWorkers) {
  const auto fast = chosen({.profile = Profile::Fast, .workers = 4}, 1 << 24);
  EXPECT_EQ(fast.unit(), 1u << 20 >> 2);
  EXPECT_EQ(fast.bucket(), 4u);
  const auto larger = chosen({.profile = Profile::Fast, .workers = 4}, 1 << 24, 3 * kGigabyte);
  EXPECT_EQ(larger.unit(), 1u << 20);
  EXPECT_EQ(larger.bucket(), 3u);
  EXPECT_EQ(chosen({}, 1 << 22, kGigabyte / 2).unit(), 1u << 18);
}

// Two parties of one machine have half of its memory each.
TEST(MemoryShortage, IsOfAllPartiesOfTheMachine) {
  PreprocessRequest job;
  job.parameters.profile = Profile::Fast;
  job.ands = 1 << 20;
  job = engine::resolve(job);
  const auto alone = engine::memory_shortage(job, 1, 0);
  ASSERT_TRUE(alone);
  const std::uint64_t needed = alone->needed_bytes;
  EXPECT_FALSE(engine::memory_shortage(job, 1, needed));
  EXPECT_FALSE(engine::memory_shortage(job, 2, 2 * needed));
  const auto both = engine::memory_shortage(job, 2, 2 * needed - 1);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->needed_bytes, needed);
  ASSERT_TRUE(both->fits);
  EXPECT_LT(both->fits->unit, both->unit);
}

TEST(UnitSize, IsNotLargerThanTheJob) {
  for (const std::uint64_t ands : {1u, 100u, 1000u, 1024u, 1025u, 1u << 19})
    for (const std::optional<std::uint64_t> unit :
         {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(1 << 20)})
      for (const Profile profile : {Profile::Nnob12, Profile::Fast})
        EXPECT_EQ(
            choose_unit({.profile = profile, .unit = unit}, ands, 0, kGigabyte),
            std::min<std::uint64_t>(ands, profile == Profile::Nnob12 && !unit ? 1 << 18 : 1 << 20))
            << ands;
}

TEST(UnitSize, KeepsRequestedUnit) { EXPECT_EQ(choose_unit({.unit = 5000}, 1 << 20, 0, 0), 5000u); }

TEST(UnitSize, FindsUnitThatReachesSigmaWithRequestedBucket) {
  EXPECT_EQ(chosen({.profile = Profile::Fast, .bucket = 3}, 1 << 24).unit(), 1u << 20);
  EXPECT_GE(chosen({.bucket = 3}, 1 << 24).unit(), 1u << 19);
  EXPECT_THROW(chosen({.bucket = 4}, 1 << 10), UsageError);
}

TEST(UnitSize, RejectsTooLittleMemoryNamingTheMinimum) {
  try {
    choose_unit({}, 1 << 20, 0, 1000);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("memory limit of 1000 bytes is too small"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tinyot
