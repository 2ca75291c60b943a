// Every run and every unit of a session is subject to the Delta-consistency check, including the
// last one, in every profile, connection and shard.
#include <array>

#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kAnds = 64, kInputsOfUnit = 3;
constexpr const char* kCheck = "EQ of global key";

struct DeltaCase {
  const char* name;
  ParameterRequest request;
  bool has_reference;  // of an earlier connection, or of all shards
  std::size_t units;
  std::size_t delta_checks;  // one per unit, and one for the first bits of a connection
};

constexpr ParameterRequest kPairs{.own = Nnob12Parameters{Columns::Experiment}, .unit = kAnds};
constexpr ParameterRequest kFastUnits{.profile = Profile::Fast, .unit = kAnds};

const DeltaCase kDeltaCases[] = {
    {"PairsFirst", kPairs, false, 2, 2},           {"PairsLater", kPairs, true, 2, 3},
    {"PairsLaterOneUnit", kPairs, true, 1, 1},     {"FastFirst", kFastUnits, false, 2, 2},
    {"FastFirstOneUnit", kFastUnits, false, 1, 1}, {"FastLater", kFastUnits, true, 2, 3},
    {"FastLaterOneUnit", kFastUnits, true, 1, 2},
};
const DeltaCase kOtherKeyCases[] = {
    {"Pairs", kPairs, true, 1, 1},
    {"Fast", kFastUnits, true, 1, 2},
};

class DeltaCheckOf : public testing::TestWithParam<DeltaCase> {
 protected:
  DeltaCheckOf() : params_(SecurityParameters::make(GetParam().request)) {}

  void SetUp() override {
    if (!GetParam().has_reference) return;
    run_sessions([&](Session& outer) {
      with_key_for_triples(outer, 1, [&](Session& session) {
        references_[index(session)] = make_reference_bits(session, params_);
      });
    });
  }

  struct Made {
    std::array<int, 2> units{};
    Outcomes outcomes;
  };

  // The units of a connection in which `cheater` has its earlier global key plus `change`, and
  // deviates as given.
  Made run(Party cheater, Block change, const Deviation& deviation) const {
    Made made;
    std::array<MemorySink, 2> sinks;
    made.outcomes = run_sessions(
        [&](Session& outer) {
          Delta key = key_for_triples(outer.me());
          if (outer.me() == cheater) key.value ^= change;
          PhaseLog log;
          Session session(outer.me(), {outer.id(), outer.id()}, key, outer.channel(),
                          outer.rng().fork(), log);
          Preprocessor preprocessor(session, params_);
          if (const auto& reference = references_[index(session)])
            preprocessor.set_reference_bits(*reference);
          const std::vector<UnitRequest> requests(GetParam().units,
                                                  {params_.plan(kAnds).at(0), kInputsOfUnit});
          preprocessor.make_units(requests, sinks[index(session)]);
        },
        options_with(cheater, 1, deviation), false);
    for (const std::size_t party : {0u, 1u}) made.units[party] = sinks[party].units;
    return made;
  }

 private:
  static std::size_t index(const Session& session) {
    return static_cast<std::size_t>(session.me());
  }

  SecurityParameters params_;
  std::array<std::optional<material::ReferenceBits>, 2> references_;
};

// In EQ A learns the result first: a cheating A that follows the protocol from there on stops by
// itself.
TEST_P(DeltaCheckOf, DetectsAlteredCheckOfTheLastUnit) {
  const auto units = static_cast<int>(GetParam().units);
  const std::size_t last = GetParam().delta_checks - 1;
  for (const Party cheater : {Party::A, Party::B}) {
    std::size_t sent = 0;
    const Deviation flip = flip_bit("global_key.e", last, kReferenceBits - 1);
    const Made made =
        run(cheater, {0, 0},
            [&](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
              sent += tag == "global_key.e";
              flip(tag, occurrence, payload);
            });
    EXPECT_TRUE(caught_by(made.outcomes.a, kCheck)) << letter(cheater);
    EXPECT_NE(made.outcomes.b.kind, Outcome::Kind::Done);
    EXPECT_EQ(sent, last + 1);
    for (const int made_by_party : made.units) EXPECT_EQ(made_by_party, units - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(EachJob, DeltaCheckOf, testing::ValuesIn(kDeltaCases),
                         [](const auto& tested) { return tested.param.name; });

class DeltaCheckLater : public DeltaCheckOf {};

TEST_P(DeltaCheckLater, DetectsChangedGlobalKey) {
  for (const Party cheater : {Party::A, Party::B}) {
    const Made made = run(cheater, {2, 0}, no_deviation);
    EXPECT_TRUE(caught_by(made.outcomes.a, kCheck)) << letter(cheater);
    EXPECT_NE(made.outcomes.b.kind, Outcome::Kind::Done);
    for (const int units : made.units) EXPECT_EQ(units, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(EachProfile, DeltaCheckLater, testing::ValuesIn(kOtherKeyCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tinyot
