// The whole offline phase, two real parties on memory channels, judged by the oracle.
#include "offline/preprocessor.h"

#include <gtest/gtest.h>

#include "tests/support/oracle.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct Made {
  MemorySink a, b;
  Outcomes outcomes;
};

Made preprocess(const ParameterRequest& asked, std::uint64_t ands, std::uint64_t inputs, const PartyOptions& options = {}) {
  Made made;
  const auto params = SecurityParameters::make(asked);
  made.outcomes = run_sessions(
      [&](Session& session) {
        Preprocessor preprocessor(session, params);
        std::vector<UnitRequest> requests;
        for (const UnitPlan& plan : params.plan(ands)) requests.push_back({plan, inputs});
        preprocessor.make_units(requests, session.me() == Party::A ? made.a : made.b);
      },
      options);
  return made;
}

MaterialCounts expect_good(const Made& made, std::uint64_t seed = 1) {
  return test::expect_good(made.a, made.b, global_key_of(Party::A, seed), global_key_of(Party::B, seed));
}

ParameterRequest small(std::uint64_t unit) { return {.columns = Columns::Experiment, .unit = unit}; }

class UnitSizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(UnitSizes, MaterialIsGoodAtBlockEdges) {
  const std::uint64_t ands = GetParam();
  const MaterialCounts counts = expect_good(preprocess(small(ands), ands, 7));
  for (const MaterialKind kind : {MaterialKind::AuthAndsA, MaterialKind::AuthAndsB, MaterialKind::AuthOtsAB, MaterialKind::AuthOtsBA})
    EXPECT_EQ(counts[kind], ands);
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], ands + 7);
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], ands + 7);
  EXPECT_EQ(counts[MaterialKind::Triples], 0u);
}

INSTANTIATE_TEST_SUITE_P(BlockEdges, UnitSizes, testing::Values(1, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 5000));

TEST(Preprocessor, SeveralUnitsUseOneGlobalKey) {
  const Made made = preprocess(small(1000), 2500, 0);
  EXPECT_EQ(made.a.units, 3);
  EXPECT_EQ(expect_good(made)[MaterialKind::AuthAndsA], 2500u);
}

TEST(Preprocessor, TheoremColumnsMakeGoodMaterial) {
  const Made made = preprocess({.unit = 300}, 300, 0);
  EXPECT_EQ(expect_good(made)[MaterialKind::AuthOtsAB], 300u);
}

}  // namespace
}  // namespace tinyot
