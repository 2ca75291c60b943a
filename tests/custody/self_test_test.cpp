// The self-test computes on standard vectors; that it fails for other ones is in the mutations.
#include "custody/self_test.h"

#include <gtest/gtest.h>

namespace tinyot::test {
namespace {

TEST(CustodySelfTest, MechanismsComputeTheStandardVectors) {
  EXPECT_NO_THROW(custody::require_mechanisms());
}

}  // namespace
}  // namespace tinyot::test
