#include "base/cause.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

template <class Failure>
Cause cause(const Failure& failure) {
  return cause_of(std::make_exception_ptr(failure));
}

TEST(CauseOfAFailure, PrecedesItsConsequences) {
  EXPECT_GT(cause(PeerCheated("x")), cause(PeerAborted()));
  EXPECT_GT(cause(PeerAborted()), cause(std::bad_alloc()));
  EXPECT_GT(cause(StoreError("x")), cause(NetworkError("x")));
  EXPECT_GT(cause(NetworkError("x")), cause(WorkerStopped()));
  EXPECT_GT(cause(WorkerStopped()), cause_of(nullptr));
}

}  // namespace
}  // namespace tinyot
