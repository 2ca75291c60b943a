// With fixed seeds the offline phase is deterministic: the same bytes are sent for every scheduling
// of the two parties.
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// What each party sends in two units.
struct Transcripts {
  Messages a, b;
};

Transcripts transcripts_of(std::uint64_t seed) {
  Transcripts sent;
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 64});
  run_sessions(
      [&](Session& session) {
        Preprocessor preprocessor(session, params);
        MemorySink sink;
        std::vector<UnitRequest> requests;
        for (const UnitPlan& plan : params.plan(100)) requests.push_back({plan, 3});
        preprocessor.make_units(requests, sink);
      },
      {.seed = seed, .wrap_a = recording(sent.a), .wrap_b = recording(sent.b)});
  return sent;
}

TEST(Transcript, SameSeedsGiveSameBytes) {
  const Transcripts first = transcripts_of(5), second = transcripts_of(5),
                    other = transcripts_of(6);
  EXPECT_TRUE(first.a == second.a);
  EXPECT_TRUE(first.b == second.b);
  EXPECT_FALSE(first.a == other.a);
  EXPECT_FALSE(first.b == other.b);
}

}  // namespace
}  // namespace tinyot
