// Whole units of the wan profile, and of the fast profile on silent bits, between two real parties,
// checked against the oracle.
#include "offline/wan/wan_unit.h"

#include "offline/silent/silent_cost.h"
#include "offline/wan/sacrifice.h"
#include "tests/offline/unit_runs.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

constexpr std::uint64_t kNet = kStartSet.net();  // bits of an iteration

ParameterRequest wan(std::uint64_t unit, AndMaterial material = AndMaterial::Triples,
                     std::optional<BucketSizes> bucket = BucketSizes(3)) {
  return {.profile = Profile::Wan,
          .own = WanParameters{.silent_set = LpnSet::B9},
          .unit = unit,
          .bucket = bucket,
          .weak_allowed = true,
          .material = material};
}
ParameterRequest fast_silent(std::uint64_t unit) {
  return {.profile = Profile::Fast,
          .own = FastParameters{.abits = BitsFrom::Silent, .silent_set = LpnSet::B9},
          .unit = unit};
}

MaterialKind kind_of(AndMaterial material) {
  return material == AndMaterial::Triples ? MaterialKind::Triples : MaterialKind::FullTriples;
}

void expect_made(const ParameterRequest& request, std::uint64_t ands, std::uint64_t inputs = 7,
                 const UnitWorkers& workers = {}) {
  SCOPED_TRACE(std::to_string(ands) + " ANDs in units of " + std::to_string(*request.unit) +
               ", latency " + std::to_string(workers.depth.latency().count()) + " ns");
  const AndMaterial form = material_of(request);
  const MaterialCounts counts = expect_good_units(preprocess_units(request, ands, inputs, workers));
  const std::uint64_t units = (ands + *request.unit - 1) / *request.unit,
                      masks = form == AndMaterial::Garbling ? ands : 0;
  EXPECT_EQ(counts[kind_of(form)], ands);
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], units * inputs + masks);
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], units * inputs + masks);
}

class WanUnit : public testing::TestWithParam<AndMaterial> {};
INSTANTIATE_TEST_SUITE_P(Each, WanUnit,
                         testing::Values(AndMaterial::Triples, AndMaterial::Garbling),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(WanUnit, MaterialIsCorrectAtEdgesOfBlocksAndPieces) {
  for (const std::uint64_t ands : {1ull, 128ull, 129ull}) expect_made(wan(ands, GetParam()), ands);
  // Pieces of set 0 that end within a layer, and at its end.
  for (const std::uint64_t ands : {kChunkObjects / 2 + 128, kChunkObjects})
    expect_made(wan(ands, GetParam()), ands);
}

TEST_P(WanUnit, EveryBucketMakesCorrectMaterial) {
  for (const std::uint32_t bucket : {4u, 5u})
    expect_made(wan(1000, GetParam(), BucketSizes(bucket)), 1000);
  expect_made(wan(1000, GetParam(), std::nullopt), 1000);
}

// Steps of the chain fall between pieces that are on their way, within units and between them.
TEST_P(WanUnit, UnitsAcrossIterationsMakeCorrectMaterial) {
  const std::uint64_t unit = kNet / 27 * 2 / 3;
  for (const auto latency : {0us, 4'000us, 1'000'000us})
    expect_made(wan(unit, GetParam()), 5 * unit + 300, 7, {.depth = PipelineDepth(latency)});
}

TEST_P(WanUnit, WorkersHaveTheirOwnChains) {
  expect_made(wan(2000, GetParam()), 9000, 500, {.count = 2});
  expect_made(wan(2000, GetParam()), 2000, 500, {.count = 2});
}

TEST(FastUnitOnSilentBits, MakesCorrectMaterial) {
  for (const std::uint64_t ands : {1ull, 129ull, 5000ull}) expect_made(fast_silent(ands), ands);
  const std::uint64_t unit = kNet / 9;
  for (const auto latency : {0us, 4'000us, 1'000'000us})
    expect_made(fast_silent(unit), 3 * unit + 300, 7, {.depth = PipelineDepth(latency)});
  expect_made(fast_silent(unit), 3 * unit, 2000, {.count = 3, .waiting = 1});
}

TEST_P(WanUnit, EveryVectorIsBalanced) {
  expect_balanced(preprocess_units(wan(5000, GetParam()), 5000, 2560));
}

TEST(WanUnit, KeysWithWrongLowBitsFailEnsure) { expect_ensure_with_wrong_low_bits(wan(128)); }

TEST(WanUnit, RefusesTwoSets) {
  EXPECT_THROW(SecurityParameters::make(wan(1 << 20, AndMaterial::Triples, BucketSizes(2))),
               UsageError);
}

// The third iteration of a chain of b9 begins with the first unit.
constexpr UnitAttack kWanAttacks[] = {
    {"ggm.sums", 0, 0, 1, "SoftSpoken check"},
    {"softspoken.corrections", 1, 0, 128, "SoftSpoken check"},
    {"global_key.e", 0, 3, 0, "EQ of global key"},
    {"silent.corrections", 0, 0, 128, "silent check"},
    {"silent.corrections", 5, 0, 128, "silent check"},
    {"silent.challenge", 1, 256, 0, "silent check"},
    {"silent.digest", 1, 0, 0, "silent check"},
    {"bit_triple.g", 0, 0, 1, "MAC transcript"},
    {"bit_triple.g", 1, 0, 1, "opened triple"},
    {"bit_triple.d", 0, 0, 1, "MAC transcript"},
    // A wrong d changes the lowest bit of B's shares only.
    {"bit_triple.d", 2, 0, 1, "opened triple", "MAC transcript"},
    {"bit_triple.opened", 0, 0, 1, "opened triple"},
    {"bit_triple.sacrifice", 0, 3, 0, "MAC transcript"},
    {"bit_triple.layers", 0, 3, 0, "MAC transcript"},
    {"coin_toss.opening", 1, 3, 0, "coin toss"},
    {"mac_transcript.digest", 0, 3, 0, "MAC transcript"},
};

TEST_P(WanUnit, AlteredMessageYieldsNoMaterial) {
  for (const UnitAttack& attack : kWanAttacks)
    for (const Party cheater : {Party::A, Party::B})
      if (std::string_view(attack.tag) != "coin_toss.opening" || cheater == Party::A)
        expect_nothing_made(wan(200, GetParam()), attack, cheater);  // A opens
}

// A commits when it has sent its last d, opens when it has B's half, and opens triples only then.
TEST(WanUnit, TossesOrdersAfterTheSetsAreFixed) {
  std::vector<std::string> sent[2];
  for (const Party party : {Party::A, Party::B})
    preprocess_units(
        wan(200), 200, 7, {},
        options_with(party, 1, [&](std::string_view tag, std::size_t, std::vector<std::byte>&) {
          sent[static_cast<int>(party)].emplace_back(tag);
        }));
  for (const auto& [party, toss] :
       {std::pair{0, "coin_toss.commitment"}, {0, "coin_toss.opening"}, {1, "coin_toss.answer"}}) {
    const auto& tags = sent[party];
    const auto last = [&](const char* tag) {
      return tags.rend() - std::find(tags.rbegin(), tags.rend(), tag) - 1;
    };
    const auto first = [&](const char* tag) {
      return std::find(tags.begin(), tags.end(), tag) - tags.begin();
    };
    EXPECT_EQ(std::ranges::count(tags, toss), 2) << "of the chain's code and of the unit";
    EXPECT_LT(last("bit_triple.g"), last(toss));
    EXPECT_LT(last("bit_triple.d"), last(toss));
    EXPECT_GT(first("bit_triple.opened"), last(toss));
    EXPECT_GT(first("bit_triple.layers"), last("bit_triple.sacrifice"));
    EXPECT_GT(last("mac_transcript.digest"), last("bit_triple.layers"));
  }
}

// Sends the unit's commitment before the d that precedes it.
class EarlyCommitment final : public ChannelDecorator {
 public:
  using ChannelDecorator::ChannelDecorator;
  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    if (tag.name == "bit_triple.d") {
      send_held();
      held_ = {tag, {payload.begin(), payload.end()}};
      return;
    }
    inner().send(tag, payload);
    if (tag.name == "coin_toss.commitment") send_held();
  }

 private:
  void send_held() {
    if (held_) inner().send(held_->first, held_->second);
    held_.reset();
  }
  std::optional<std::pair<MessageTag, std::vector<std::byte>>> held_;
};

// An A that commits before it has sent its last d, and would choose it by B's half: B does not send
// that.
TEST(WanUnit, RefusesACommitmentBeforeTheLastD) {
  Messages sent;
  const MadeUnits made =
      preprocess_units(wan(200), 200, 7, {},
                       {.wrap_a =
                            [](std::unique_ptr<Channel> inner) {
                              return std::make_unique<EarlyCommitment>(std::move(inner));
                            },
                        .wrap_b = recording(sent)});
  EXPECT_TRUE(made.outcomes.b.check.starts_with("framing")) << made.outcomes.b.message;
  EXPECT_EQ(std::ranges::count(sent, "coin_toss.answer", &Message::tag), 1)
      << "of the chain's code";
}

}  // namespace
}  // namespace tinyot
