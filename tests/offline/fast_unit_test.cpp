// The fast profile, whole units between two real parties, judged by the oracle.
#include "offline/preprocessor.h"

#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct Made {
  MemorySink sinks[2];
  Outcomes outcomes;
};

Made preprocess(const ParameterRequest& asked, std::uint64_t ands, std::uint64_t inputs, std::size_t workers = 1, const PartyOptions& options = {}) {
  Made made;
  const auto params = SecurityParameters::make(asked);
  made.outcomes = run_workers(
      workers,
      [&](Session& outer, std::span<const std::unique_ptr<Channel>> more) {
        PhaseLog log;
        Session session(outer.me(), {outer.id(), outer.id()}, key_for_triples(outer.me()), outer.channel(), outer.rng().fork(), log);
        std::vector<UnitRequest> requests;
        for (const UnitPlan& plan : params.plan(ands)) requests.push_back({plan, inputs});
        Preprocessor(session, params, more).make_units(requests, made.sinks[static_cast<int>(session.me())]);
      },
      options, false);
  return made;
}

MaterialCounts expect_good(const Made& made) {
  EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
  EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
  return test::expect_good(made.sinks[0], made.sinks[1], key_for_triples(Party::A), key_for_triples(Party::B));
}

ParameterRequest fast(std::uint64_t unit, std::uint32_t k = 2) { return {.profile = Profile::Fast, .unit = unit, .softspoken_k = k}; }

TEST(FastUnit, MaterialIsGoodAtBlockEdges) {
  for (const std::uint64_t ands : {1u, 127u, 128u, 129u, 1023u, 1024u, 1025u, 10880u, 10881u}) {
    const MaterialCounts counts = expect_good(preprocess(fast(ands), ands, 7));
    EXPECT_EQ(counts[MaterialKind::Triples], ands);
    EXPECT_EQ(counts[MaterialKind::AuthBitsA], 7u);
    EXPECT_EQ(counts[MaterialKind::AuthBitsB], 7u);
    EXPECT_EQ(counts[MaterialKind::AuthAndsA], 0u);
  }
}

TEST(FastUnit, EveryTreeShapeMakesGoodMaterial) {
  for (const std::uint32_t k : {1u, 2u, 4u}) EXPECT_EQ(expect_good(preprocess(fast(2000, k), 2000, 100))[MaterialKind::Triples], 2000u);
}

TEST(FastUnit, SeveralUnitsAndWorkersUseOneGlobalKey) {
  for (const std::size_t workers : {1u, 3u}) EXPECT_EQ(expect_good(preprocess(fast(500), 2100, 10, workers))[MaterialKind::Triples], 2100u);
}

// One message altered; what the honest party says.
struct Attack {
  const char* tag;
  std::size_t occurrence, bit, stride;
  const char* check;
};
constexpr Attack kAttacks[] = {
    {"ggm.sums", 0, 0, 1, "SoftSpoken check"},
    {"ggm.check", 0, 0, 1, "SoftSpoken check"},
    {"softspoken.corrections", 1, 0, 128, "SoftSpoken check"},
    {"softspoken.answer", 1, 5, 128, "SoftSpoken check"},
    {"latriple.g", 0, 0, 128, "EQ of leaky triples"},
    {"latriple.d", 0, 3, 0, "EQ of leaky triples"},
    {"triple.d", 0, 3, 0, "MAC transcript"},
    {"global_key.e", 0, 3, 0, "EQ of global key of $C's bits"},
    {"coin_toss.opening", 0, 3, 0, "coin toss"},
    {"mac_transcript.digest", 0, 3, 0, "MAC transcript"},
};

TEST(FastUnit, AnAlteredMessageYieldsNothing) {
  for (const Attack& attack : kAttacks) {
    for (const Party cheater : {Party::A, Party::B}) {
      if (std::string_view(attack.tag) == "coin_toss.opening" && cheater == Party::B) continue;  // A opens
      SCOPED_TRACE(std::string(attack.tag) + " by " + letter(cheater));
      bool done = false;
      const auto alter = [&](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
        if (tag != attack.tag || occurrence != attack.occurrence) return;
        done = true;
        const std::size_t end = attack.stride == 0 ? attack.bit + 1 : 8 * payload.size();
        for (std::size_t bit = attack.bit; bit < end; bit += std::max<std::size_t>(attack.stride, 1)) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
      };
      const Made made = preprocess(fast(200), 200, 7, 1, options_with(cheater, 1, alter));
      EXPECT_TRUE(done);
      std::string check = attack.check;
      if (const auto at = check.find("$C"); at != std::string::npos) check.replace(at, 2, 1, letter(cheater));
      const Outcome &honest = of(made.outcomes, peer_of(cheater)), &own = of(made.outcomes, cheater);
      // In EQ A compares first: a cheating A that follows the protocol from there on stops itself.
      if (cheater == Party::A && check.starts_with("EQ of"))
        EXPECT_EQ(own.check, check) << own.message;
      else
        EXPECT_EQ(honest.check, check) << honest.message;
      EXPECT_NE(honest.kind, Outcome::Kind::Done);
      EXPECT_EQ(made.sinks[static_cast<int>(peer_of(cheater))].units, 0);
    }
  }
}

}  // namespace
}  // namespace tinyot
