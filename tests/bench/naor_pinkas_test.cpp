// The base OTs that the others are compared with are OTs, too.
#include "tools/bench/naor_pinkas.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/blocks.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

TEST(NaorPinkas, SeedsAgreeInTheChosenOneAlone) {
  std::array<offline::BaseOts, 2> ots;
  run_sessions([&](checks::Session& session) {
    ots[static_cast<std::size_t>(session.me())] = tools::naor_pinkas_ots(session, 64);
  });
  for (const std::size_t sender : {0, 1}) {
    const auto& [choices, seeds] = ots[1 - sender].received;
    std::size_t ones = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto& [zero, one] = ots[sender].sent.pairs[i];
      const bool choice = choices[i];
      ones += choice;
      EXPECT_TRUE(same(seeds[i].value, (choice ? one : zero).value)) << i;
      EXPECT_FALSE(same(seeds[i].value, (choice ? zero : one).value)) << i;
    }
    EXPECT_GT(ones, 8u);
    EXPECT_LT(ones, 56u);
  }
}

}  // namespace
}  // namespace tinyot::test
