// `tinyot demo`.
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/bench/bench.h"
#include "tools/cli/failure.h"

namespace tinyot::test {
namespace {

TEST(DemoTest, ComparesEveryBlock) {
  const AesBytes key{1, 2, 3};
  const std::vector<AesBytes> message(27, AesBytes{4, 5, 6});
  std::string ciphertext;
  for (const AesBytes& block : aes128_by_library_vartime(key, message))
    for (const std::uint8_t byte : block)
      ciphertext += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  const auto check = [&](const std::string& computed) { check_ciphertext(computed, key, message); };
  EXPECT_NO_THROW(check(ciphertext));
  for (const std::size_t digit : {std::size_t{0}, 13 * std::size_t{32}, ciphertext.size() - 1}) {
    std::string wrong = ciphertext;
    wrong[digit] = wrong[digit] == '0' ? '1' : '0';
    EXPECT_THROW(check(wrong), CommandError) << digit;
  }
  EXPECT_THROW(check(ciphertext.substr(0, 26 * 32)), CommandError);
}

TEST(DemoTest, MatchesTheFipsVector) {
  const Ended ended =
      tinyot({"demo", "--format", "json", "--quiet"}, {}, std::chrono::seconds(240));
  ASSERT_TRUE(ended_with(ended, 0));
  const Json json = json_of(ended);
  EXPECT_EQ(json["fips_197"]["outputs"]["ciphertext"], "69c4e0d86a7b0430d8cdb78070b4c55a");
  EXPECT_EQ(json["blocks_27"]["ands"], (40 + 27 * 160) * 32);
  EXPECT_EQ(json["preprocess"]["A"]["columns"], "theorem");
  EXPECT_LT(json["blocks_27"]["wall_s"], 10.0);
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace tinyot::test
