// The whole offline phase between two real parties on memory channels, checked against the oracle.
#include "offline/unit/preprocessor.h"

#include <gtest/gtest.h>

#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct Made {
  MemorySink a, b;
  Outcomes outcomes;
};

Made preprocess(const ParameterRequest& request, std::uint64_t ands, std::uint64_t inputs,
                const PartyOptions& options = {}, bool expect_done = true) {
  Made made;
  const auto params = SecurityParameters::make(request);
  made.outcomes = run_sessions(
      [&](Session& session) {
        Preprocessor preprocessor(session, params);
        std::vector<UnitRequest> requests;
        for (const UnitPlan& plan : params.plan(ands)) requests.push_back({plan, inputs});
        preprocessor.make_units(requests, session.me() == Party::A ? made.a : made.b);
      },
      options, expect_done);
  return made;
}

MaterialCounts expect_good(const Made& made, std::uint64_t seed = 1) {
  return test::expect_good(made.a, made.b, global_key_of(Party::A, seed),
                           global_key_of(Party::B, seed));
}

ParameterRequest small(std::uint64_t unit) {
  return {.own = Nnob12Parameters{Columns::Experiment}, .unit = unit};
}

class UnitSizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(UnitSizes, MaterialIsCorrectAtBlockEdges) {
  const std::uint64_t ands = GetParam();
  const MaterialCounts counts = expect_good(preprocess(small(ands), ands, 7));
  for (const MaterialKind kind : {MaterialKind::AuthAndsA, MaterialKind::AuthAndsB,
                                  MaterialKind::AuthOtsAB, MaterialKind::AuthOtsBA})
    EXPECT_EQ(counts[kind], ands);
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], ands + 7);
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], ands + 7);
  EXPECT_EQ(counts[MaterialKind::Triples], 0u);
}

INSTANTIATE_TEST_SUITE_P(BlockEdges, UnitSizes,
                         testing::Values(1, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 5000));

TEST(Preprocessor, SeveralUnitsUseOneGlobalKey) {
  const Made made = preprocess(small(1000), 2500, 0);
  EXPECT_EQ(made.a.units, 3);
  EXPECT_EQ(expect_good(made)[MaterialKind::AuthAndsA], 2500u);
}

// A store with earlier broken attempts.
class BrokenUnitsSink final : public MemorySink {
 public:
  Risk outstanding() const override { return broken; }
  void begin_unit(const material::BegunUnit& unit) override { bucket = unit.plan.bucket; }

  Risk broken{};
  BucketSizes bucket;  // of the unit
};

// The parties' sums may differ: each sends its own, and the larger one determines the bucket of
// both.
TEST(Preprocessor, BrokenAttemptsOfEitherPartyEnlargeTheBucketOfBoth) {
  const auto params = SecurityParameters::make(small(1000));
  const UnitPlan plan = params.plan(1000).at(0), larger{plan.ands, plan.bucket.only() + 1};
  for (const Party party : {Party::A, Party::B}) {
    BrokenUnitsSink sinks[2];
    Risk& broken = sinks[static_cast<int>(party)].broken;
    broken = params.risk_limit();
    broken -= params.risk(larger);
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          Preprocessor preprocessor(session, params);
          const std::vector<UnitRequest> requests{{plan, 3}};
          preprocessor.make_units(requests, sinks[static_cast<int>(session.me())]);
        },
        {}, false);
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
    for (const BrokenUnitsSink& sink : sinks) {
      EXPECT_EQ(sink.bucket, larger.bucket) << letter(party);
      EXPECT_EQ(sink.units, 1);
    }
  }
}

TEST(Preprocessor, TheoremColumnsMakeCorrectMaterial) {
  const Made made = preprocess({.unit = 300}, 300, 0);
  EXPECT_EQ(expect_good(made)[MaterialKind::AuthOtsAB], 300u);
}

// Units that turn pairs into triples.
ParameterRequest of_triples(std::uint64_t unit) {
  return {
      .own = Nnob12Parameters{Columns::Experiment}, .unit = unit, .material = AndMaterial::Triples};
}

void expect_triples(const MaterialCounts& counts, std::uint64_t ands, std::uint64_t inputs) {
  MaterialCounts wanted;
  wanted[MaterialKind::Triples] = ands;
  wanted[MaterialKind::AuthBitsA] = wanted[MaterialKind::AuthBitsB] = inputs;
  EXPECT_EQ(counts, wanted) << "pairs or their aBits remain";
}

TEST_P(UnitSizes, TriplesAreCorrectAtBlockEdges) {
  const std::uint64_t ands = GetParam();
  expect_triples(expect_good(preprocess(of_triples(ands), ands, 7)), ands, 7);
}

TEST(Preprocessor, TriplesNeedNoInputs) {
  expect_triples(expect_good(preprocess(of_triples(100), 100, 0)), 100, 0);
}

TEST(Preprocessor, TriplesOfSeveralUnitsUseOneGlobalKey) {
  const Made made = preprocess(of_triples(1000), 2500, 3);
  EXPECT_EQ(made.a.units, 3);
  expect_triples(expect_good(made), 2500, 9);
}

// A unit that is poured in several batches, the last one smaller.
TEST(Preprocessor, TriplesOfManyChunksAreCorrect) {
  const std::uint64_t ands = 2 * kChunkObjects + 65;
  const Made made = preprocess(of_triples(ands), ands, 7);
  EXPECT_EQ(made.a.made.at(MaterialKind::Triples).size(), 3u);
  expect_triples(expect_good(made), ands, 7);
}

TEST(Preprocessor, TheoremColumnsMakeCorrectTriples) {
  ParameterRequest request = of_triples(300);
  request.own = Nnob12Parameters{Columns::Theorem};
  expect_triples(expect_good(preprocess(request, 300, 0)), 300, 0);
}

TEST(Preprocessor, WrongRevealedBitOfATripleYieldsNoMaterial) {
  constexpr std::size_t kUnit = 65;
  for (const auto& [tag, bit] : {std::pair{"product.dh", std::size_t{0}},
                                 {"product.dh", kUnit - 1},
                                 {"product.dh", kUnit},
                                 {"product.dh", 2 * kUnit - 1},
                                 {"product.e", std::size_t{0}},
                                 {"product.e", kUnit - 1}}) {
    for (const Party cheater : {Party::A, Party::B}) {
      SCOPED_TRACE(std::string(tag) + ", bit " + std::to_string(bit) + " by " + letter(cheater));
      const Made made = preprocess(of_triples(kUnit), kUnit, 7,
                                   options_with(cheater, 1, flip_bit(tag, 0, bit)), false);
      EXPECT_TRUE(caught_by(of(made.outcomes, peer_of(cheater)), "MAC transcript"));
      const MemorySink& sink = cheater == Party::A ? made.b : made.a;
      EXPECT_EQ(sink.units, 0);
      EXPECT_TRUE(sink.made.empty());
    }
  }
}

// The unit before the wrong one is correct and is kept.
TEST(Preprocessor, WrongTripleOfTheSecondUnitKeepsTheFirst) {
  for (const char* tag : {"product.dh", "product.e"}) {
    for (const Party cheater : {Party::A, Party::B}) {
      const Made made =
          preprocess(of_triples(65), 130, 7, options_with(cheater, 1, flip_bit(tag, 1, 40)), false);
      EXPECT_TRUE(caught_by(of(made.outcomes, peer_of(cheater)), "MAC transcript"));
      const MemorySink& sink = cheater == Party::A ? made.b : made.a;
      EXPECT_EQ(sink.units, 1);
      ASSERT_EQ(sink.made.at(MaterialKind::Triples).size(), 1u);
      EXPECT_EQ(sink.made.at(MaterialKind::Triples)[0].count, 65u);
    }
  }
}

}  // namespace
}  // namespace tinyot
