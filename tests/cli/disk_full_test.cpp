// Stores on a disk that is too small, by two processes as users run them. Needs the right to mount.
#include "tests/support/command_test.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

const Arguments kFastTriples = {"--profile", "fast"};
constexpr std::uint64_t kDiskBytes = 4 << 20, kPage = 4096;

class DiskFullTest : public CommandTest {
 protected:
  void SetUp() override {
    if (!disk_.is_mounted()) GTEST_SKIP() << "cannot mount a small disk";
  }

  // Returns the bytes that B's disk needs.
  std::uint64_t expect_refused(const Arguments& options) const {
    const BothEnded ended = both("preprocess", options, options);
    EXPECT_TRUE(ended_with(ended.a, 6, "the peer cannot store the material"));
    const std::string begin = "disk full: the material to be made takes up to ";
    EXPECT_TRUE(ended_with(ended.b, 5, begin));
    const std::size_t at = ended.b.err.find(begin);
    return at == std::string::npos ? 0 : std::stoull(ended.b.err.substr(at + begin.size()));
  }
  void expect_made(const Arguments& options) const {
    const BothEnded ended = both("preprocess", options, options);
    EXPECT_TRUE(ended_with(ended.a, 0));
    EXPECT_TRUE(ended_with(ended.b, 0));
  }
  Json risk_of(char party) const {
    Json risk;
    const Json info = store_info(party);
    for (const char* field : {"state", "units_made", "outstanding", "ands_requested"})
      risk[field] = info.at(field);
    return risk;
  }

  const SmallDisk disk_{dir_ / "B", kDiskBytes};  // of B's store
};

// The space that the message names is enough, so that no job that is begun fails for it.
TEST_F(DiskFullTest, NewStoreIsRefusedAtBothParties) {
  for (const Arguments& amount :
       {Arguments{"--ands", "2^17"}, Arguments{"--until-left", "2^17"},
        Arguments{"--for", "aes128", "--runs", "20"}, Arguments{"--ands", "2^17", "--unit", "2^10"},
        Arguments{"--ands", "2^17", "--inputs", "2^17"}}) {
    SCOPED_TRACE(amount[0] + " " + amount[1]);
    ASSERT_TRUE(disk_.resize(kDiskBytes));
    const std::uint64_t needed = expect_refused(kFastTriples + amount);
    EXPECT_FALSE(std::filesystem::exists(path("A")));
    EXPECT_TRUE(std::filesystem::is_empty(path("B")));
    ASSERT_TRUE(disk_.resize(needed + kPage));
    expect_made(kFastTriples + amount);
    std::filesystem::remove_all(path("A"));
    for (const auto& entry : std::filesystem::directory_iterator(path("B")))
      std::filesystem::remove_all(entry);
  }
}

TEST_F(DiskFullTest, GrowthSpendsNothing) {
  expect_made(kFastTriples + Arguments{"--ands", "1000"});
  const Json before[] = {risk_of('A'), risk_of('B')};
  for (const Arguments& amount : {Arguments{"--add", "2^17"}, Arguments{"--until-left", "2^17"},
                                  Arguments{"--for", "aes128", "--runs", "20"}}) {
    SCOPED_TRACE(amount[0]);
    const std::uint64_t needed = expect_refused(amount);
    EXPECT_EQ(risk_of('A'), before[0]);
    EXPECT_EQ(risk_of('B'), before[1]);
    if (amount[0] != "--for") continue;
    ASSERT_TRUE(disk_.resize(disk_.used_bytes() + needed + kPage));
    expect_made(amount);
  }
}

}  // namespace
}  // namespace tinyot::test
