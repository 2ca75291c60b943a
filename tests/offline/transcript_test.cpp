// With fixed seeds the offline phase is deterministic: the same bytes are sent for every scheduling
// of the two parties.
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct Transcripts {
  Digest a, b;
};

// Digests of all tags and payloads that each party sends in two units.
Transcripts transcripts_of(std::uint64_t seed) {
  RandomOracle of_a({}, {crypto::Phase::unregistered("transcript"), 'A', 0}),
      of_b({}, {crypto::Phase::unregistered("transcript"), 'B', 0});
  const auto record = [](RandomOracle& oracle) {
    return cheating([&oracle](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
      oracle.absorb_object(static_cast<std::uint64_t>(tag.size()))
          .absorb(std::as_bytes(std::span(tag)));
      oracle.absorb_object(static_cast<std::uint64_t>(payload.size())).absorb(payload);
    });
  };
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
      {.seed = seed, .wrap_a = record(of_a), .wrap_b = record(of_b)});
  return {of_a.digest(), of_b.digest()};
}

TEST(Transcript, SameSeedsGiveSameBytes) {
  const Transcripts first = transcripts_of(5), second = transcripts_of(5),
                    other = transcripts_of(6);
  EXPECT_TRUE(equal_constant_time(first.a, second.a));
  EXPECT_TRUE(equal_constant_time(first.b, second.b));
  EXPECT_FALSE(equal_constant_time(first.a, other.a));
  EXPECT_FALSE(equal_constant_time(first.b, other.b));
}

}  // namespace
}  // namespace tinyot
