// A check that fails on one connection of a session revokes the store, whatever the other
// connections do.
#include "tools/selftest/adversary/revocation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class Revocations : public testing::TestWithParam<Obstruction> {};

TEST_P(Revocations, EraseKeysWhateverAnotherConnectionDoes) {
  for (const Party cheater : {Party::A, Party::B}) {
    const Revocation trial = try_revocation(GetParam(), cheater, 1);
    EXPECT_EQ(trial.violation, "") << letter(cheater);
    EXPECT_EQ(trial.honest.kind, Ending::Kind::Caught) << trial.honest.text;
    EXPECT_GE(trial.erased_s, 0);
    EXPECT_GE(trial.ended_s, trial.erased_s) << "the keys are erased before the session ends";
  }
}

std::string parameter_name(const testing::TestParamInfo<Obstruction>& tested) {
  std::string name(name_of(tested.param));
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Revocations, testing::ValuesIn(kAllObstructions), parameter_name);

}  // namespace
}  // namespace tinyot::test
