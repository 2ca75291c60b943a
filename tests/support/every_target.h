// A fixture for kernels that Highway compiles for each instruction set: runs a test's body on all
// that this processor supports.
//
// Include it after <hwy/targets.h>, and that after the definitions that the kernel uses to choose
// targets (HWY_WANT_..., HWY_BROKEN_...).
#pragma once

#include <gtest/gtest.h>

#include "tests/support/layers.h"

namespace tinyot::test {

class EveryTarget : public testing::Test {
 protected:
  void TearDown() override { choose(0); }

  template <class Body>
  static void for_each_target(Body body) {
    const auto targets = hwy::SupportedAndGeneratedTargets();
    ASSERT_GE(targets.size(), 2u) << "at least the baseline and one more";
    for (const std::int64_t target : targets) {
      SCOPED_TRACE(hwy::TargetName(target));
      choose(target);
      body();
      choose(0);
    }
  }

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace tinyot::test
