// Whole units of the fast profile between two real parties, checked against the oracle.
#include <algorithm>
#include <bit>

#include "offline/softspoken/softspoken.h"
#include "offline/unit/preprocessor.h"
#include "tests/offline/unit_runs.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

ParameterRequest fast(std::uint64_t unit, std::uint32_t k = 2) {
  return {.profile = Profile::Fast, .own = FastParameters{.softspoken_k = k}, .unit = unit};
}

void expect_unit(std::uint64_t ands, std::uint32_t k = 2, PipelineDepth depth = {}) {
  SCOPED_TRACE("k = " + std::to_string(k) + ", " + std::to_string(ands) + " ANDs, latency " +
               std::to_string(depth.latency().count()) + " ns");
  const MaterialCounts counts =
      expect_good_units(preprocess_units(fast(ands, k), ands, 7, {.depth = depth}));
  EXPECT_EQ(counts[MaterialKind::Triples], ands);
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], 7u);
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], 7u);
  EXPECT_EQ(counts[MaterialKind::AuthAndsA], 0u);
}

constexpr std::uint64_t kInABatch = kBatchBits / 3;  // triples of a layer, of three bits each

TEST(FastUnit, MaterialIsCorrectAtBlockAndBatchEdges) {
  for (const std::uint64_t ands : {1ull, 127ull, 128ull, 129ull}) expect_unit(ands);
  for (const std::uint64_t ands : {kInABatch - 128, kInABatch, kInABatch + 1, kInABatch + 128})
    expect_unit(ands);
}

TEST(FastUnit, EveryTreeSizeMakesCorrectMaterial) {
  for (const std::uint32_t k : {1u, 2u, 4u}) expect_unit(1025, k);
}

// Chunks of the fold and batches end at different triples.
TEST(FastUnit, LayersOfManyBatchesMakeCorrectMaterial) {
  for (const std::uint32_t k : {2u, 4u}) expect_unit(3 * kInABatch + 1, k);
}

TEST(FastUnit, SeveralUnitsAndWorkersUseOneGlobalKey) {
  for (const std::size_t workers : {1u, 3u})
    EXPECT_EQ(expect_good_units(
                  preprocess_units(fast(500), 2100, 10, {.count = workers}))[MaterialKind::Triples],
              2100u);
}

// The window is smaller and larger than the unit, and not a divisor of it.
TEST(FastUnit, EveryWindowMakesCorrectMaterial) {
  for (const auto latency : {300us, 900us, 1'000'000us})
    expect_unit(2 * kInABatch + 1, 2, PipelineDepth(latency));
  expect_unit(129, 2, PipelineDepth(1s));
  for (const std::uint32_t k : {1u, 4u}) expect_unit(kInABatch + 1, k, PipelineDepth(900us));
}

// Many inputs, so that the plain bits have windows too.
TEST(FastUnit, EveryWindowMakesCorrectPlainBits) {
  for (const auto latency : {300us, 1'000'000us}) {
    const std::uint64_t inputs = 5 * kBatchBits + 3;
    const MaterialCounts counts = expect_good_units(
        preprocess_units(fast(128), 128, inputs, {.depth = PipelineDepth(latency)}));
    EXPECT_EQ(counts[MaterialKind::AuthBitsA], inputs);
    EXPECT_EQ(counts[MaterialKind::AuthBitsB], inputs);
  }
}

// Units of several batches; the last one is smaller, with a larger bucket.
TEST(FastUnit, UnitsInFlightMakeCorrectMaterial) {
  const std::uint64_t unit = kInABatch + 1, ands = 6 * unit + 30;
  for (const std::size_t waiting : {1u, 2u}) {
    for (const auto latency : {600us, 1'000'000us}) {
      const MadeUnits made = preprocess_units(
          fast(unit), ands, 10, {.count = 3, .waiting = waiting, .depth = PipelineDepth(latency)});
      EXPECT_EQ(expect_good_units(made)[MaterialKind::Triples], ands);
      EXPECT_EQ(made.sinks[0].units, 7);
    }
  }
}

// The last unit is smaller and has more layers, since its population differs: it reuses memory of
// other sizes.
TEST(FastUnit, ReusesMemoryForUnitsOfOtherSizes) {
  const auto params = SecurityParameters::make(fast(2000));
  const auto plan = params.plan(4130);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_GT(plan[2].bucket, plan[1].bucket);
  const MadeUnits made = preprocess_units(fast(2000), 4130, 1200);
  EXPECT_EQ(expect_good_units(made)[MaterialKind::Triples], 4130u);
  EXPECT_EQ(made.sinks[0].units, 3);
  // The material has no remains of the memory's earlier contents.
  std::vector<std::uint64_t> seen;
  for (const material::Batch& batch : made.sinks[0].made.at(MaterialKind::Triples))
    for (const AuthShares& column : batch.shares)
      for (const MacShare& share : column.macs) seen.push_back(share.value.hi);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(FastUnit, EveryVectorIsBalanced) { expect_balanced(preprocess_units(fast(5000), 5000, 2560)); }

TEST(FastUnit, KeysWithWrongLowBitsFailEnsure) { expect_ensure_with_wrong_low_bits(fast(128)); }

// And the check that the honest party names.
constexpr UnitAttack kFastAttacks[] = {
    {"ggm.sums", 0, 0, 1, "SoftSpoken check"},
    {"ggm.check", 0, 0, 1, "SoftSpoken check"},
    {"softspoken.corrections", 1, 0, 128, "SoftSpoken check"},
    {"softspoken.answer", 1, 5, 128, "SoftSpoken check"},
    {"latriple.g", 0, 0, 128, "EQ of leaky triples"},
    {"latriple.d", 0, 3, 0, "EQ of leaky triples"},
    {"triple.d", 0, 3, 0, "MAC transcript"},
    {"global_key.e", 0, 3, 0, "EQ of global key"},
    {"coin_toss.opening", 0, 3, 0, "coin toss"},
    {"mac_transcript.digest", 0, 3, 0, "MAC transcript"},
};
TEST(FastUnit, AlteredMessageYieldsNoMaterial) {
  for (const UnitAttack& attack : kFastAttacks)
    for (const Party cheater : {Party::A, Party::B})
      if (std::string_view(attack.tag) != "coin_toss.opening" || cheater == Party::A)
        expect_nothing_made(fast(200), attack, cheater);  // A opens
}

// The coins are tossed after the layers are fixed: the first message of the toss follows the last
// message of the layers.
TEST(FastUnit, TossesShiftsAfterTheLayersAreFixed) {
  std::vector<std::string> sent;
  preprocess_units(
      fast(200), 200, 7, {},
      options_with(Party::A, 1, [&](std::string_view tag, std::size_t, std::vector<std::byte>&) {
        sent.emplace_back(tag);
      }));
  const auto first = [&](const char* tag) {
    return std::find(sent.begin(), sent.end(), tag) - sent.begin();
  };
  const auto last = [&](const char* tag) {
    return sent.rend() - std::find(sent.rbegin(), sent.rend(), tag) - 1;
  };
  const auto toss = first("coin_toss.commitment");
  ASSERT_LT(toss, std::ssize(sent));
  EXPECT_EQ(last("coin_toss.commitment"), toss) << "one toss per unit";
  EXPECT_LT(last("latriple.g"), toss);
  EXPECT_LT(last("softspoken.answer"), toss);
  EXPECT_GT(first("triple.d"), toss);
  EXPECT_LT(last("latriple.d"), toss);
  EXPECT_LT(last("eq.confirmation"), toss);
  EXPECT_GT(last("mac_transcript.digest"), std::max(last("triple.d"), last("eq.confirmation")));
}

}  // namespace
}  // namespace tinyot
