// Pipelining: how far steps run ahead for a latency, and the order in which they are called.
#include "offline/unit/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "net/latency.h"
#include "offline/softspoken/softspoken_source.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace std::chrono_literals;

constexpr StageCost kSmall{.time = 1ms, .bytes = 1000, .depth = 2},
    kLarge{.time = 1ms, .bytes = PipelineDepth::kWindowBytes / 5, .depth = 2},
    kLargerThanWindow{.time = 1ms, .bytes = 2 * PipelineDepth::kWindowBytes, .depth = 2};

TEST(PipelineDepth, WithoutLatencyStepsAreAsFarAheadAsThePieceSays) {
  for (const StageCost& piece : {kSmall, kLarge, kLargerThanWindow}) {
    EXPECT_EQ(PipelineDepth().depth(piece), piece.depth);
    EXPECT_EQ(PipelineDepth(999us).depth(piece), piece.depth) << "less than the time of a piece";
  }
}

TEST(PipelineDepth, StepsAreAheadByThePiecesThatAreMadeWhileAMessageIsOnItsWay) {
  EXPECT_EQ(PipelineDepth(1ms).depth(kSmall), 3u);
  EXPECT_EQ(PipelineDepth(20ms).depth(kSmall), 22u);
  EXPECT_EQ(PipelineDepth(100ms).depth(kSmall), 102u);
}

TEST(PipelineDepth, WindowLimitsTheBytesInFlight) {
  EXPECT_EQ(PipelineDepth(2ms).depth(kLarge), 4u);
  EXPECT_EQ(PipelineDepth(3ms).depth(kLarge), 5u);
  EXPECT_EQ(PipelineDepth(4ms).depth(kLarge), 5u);
  EXPECT_EQ(PipelineDepth(net::kLatencyMax).depth(kLarge), 5u);
  EXPECT_EQ(PipelineDepth(std::chrono::nanoseconds::max()).depth(kLarge), 5u);
}

TEST(PipelineDepth, PieceLargerThanTheWindowKeepsItsOwn) {
  EXPECT_EQ(PipelineDepth(net::kLatencyMax).depth(kLargerThanWindow), 2u);
}

TEST(PipelineDepth, PieceWithoutBytesHasAWindow) {
  EXPECT_EQ(PipelineDepth(5ms).depth({.time = 1ms, .bytes = 0, .depth = 1}), 6u);
}

TEST(PipelineDepth, NeverFallsWithLatencyAndNeverExceedsTheWindow) {
  for (const StageCost& piece : {kSmall, kLarge, kLargerThanWindow, offline::cost_of_batch(1),
                                 offline::cost_of_batch(2), offline::cost_of_batch(4)}) {
    std::size_t before = piece.depth;
    for (auto latency = 0us; latency <= net::kLatencyMax; latency += 1777us) {
      const std::size_t ahead = PipelineDepth(latency).depth(piece);
      EXPECT_GE(ahead, before);
      EXPECT_TRUE(ahead == piece.depth || ahead * piece.bytes <= PipelineDepth::kWindowBytes)
          << ahead;
      before = ahead;
    }
  }
}

struct StepCall {
  std::size_t step, piece;
  friend bool operator==(const StepCall&, const StepCall&) = default;
};

std::vector<StepCall> calls_of(std::size_t pieces, std::size_t ahead) {
  std::vector<std::size_t> numbers(pieces);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<StepCall> calls;
  const auto step = [&](std::size_t number) {
    return [&calls, number](std::size_t piece) { calls.push_back({number, piece}); };
  };
  run_pipeline(numbers, ahead, step(0), step(1), step(2));
  return calls;
}

std::size_t time_of(const std::vector<StepCall>& calls, const StepCall& call) {
  const auto at = std::find(calls.begin(), calls.end(), call);
  EXPECT_NE(at, calls.end());
  return static_cast<std::size_t>(at - calls.begin());
}

class Steps : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Ahead, Steps, testing::Values(0, 1, 2, 6, 7, 8, 20, 1000));

TEST_P(Steps, EachIsCalledOnceForEachPieceInOrder) {
  const std::size_t pieces = 7;
  const std::vector<StepCall> calls = calls_of(pieces, GetParam());
  ASSERT_EQ(calls.size(), 3 * pieces);
  std::size_t next[3] = {};
  for (const StepCall& call : calls) EXPECT_EQ(call.piece, next[call.step]++);
}

TEST_P(Steps, FollowTheStepBeforeThemByAsManyPieces) {
  const std::size_t pieces = 7, ahead = GetParam();
  const std::vector<StepCall> calls = calls_of(pieces, ahead);
  for (const std::size_t step : {1u, 2u}) {
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t at = time_of(calls, {step, piece}),
                        last_before = std::min(piece + ahead, pieces - 1);
      // A step of a piece comes after the earlier step of it and of the pieces ahead of it, and
      // before that of any other one.
      EXPECT_GT(at, time_of(calls, {step - 1, last_before}));
      if (last_before + 1 < pieces) {
        EXPECT_LT(at, time_of(calls, {step - 1, last_before + 1}));
      }
    }
  }
}

TEST(Steps, NoPiecesNeedNoCalls) { EXPECT_TRUE(calls_of(0, 3).empty()); }

}  // namespace
}  // namespace tinyot
