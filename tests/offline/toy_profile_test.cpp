// A profile that is nothing but one more entry of the table: everything else works with it as it
// is.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/bounds.h"
#include "offline/nnob12/nnob12_profile.h"
#include "offline/parameters.h"
#include "offline/triples/fast_profile.h"
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr Profile kToy{77};

// Units as those of the fast profile, whose bounds are those of permuted objects.
const ProfileEntry& toy_entry() {
  static const ProfileEntry kEntry = [] {
    ProfileEntry entry = kFastProfile;
    entry.profile = kToy;
    entry.name = "toy";
    entry.usual_unit = 1024;
    entry.exact_bits = exact_bound_bits;
    entry.risk = risk_of_permutation;
    return entry;
  }();
  return kEntry;
}

}  // namespace

// In place of the library's table.
std::span<const ProfileEntry* const> offline::profiles() {
  static const std::array<const ProfileEntry*, 3> kProfiles = {&kNnob12Profile, &kFastProfile,
                                                               &toy_entry()};
  return kProfiles;
}

namespace {

TEST(ProfileTable, EntriesAreDifferent) {
  std::set<std::string_view> names;
  for (const ProfileEntry* entry : profiles()) {
    EXPECT_TRUE(names.insert(entry->name).second) << entry->name;
    EXPECT_EQ(&entry_of(entry->profile), entry);
    EXPECT_EQ(name_of(entry->profile), entry->name);
    EXPECT_FALSE(entry->materials.empty()) << entry->name;
    EXPECT_FALSE(entry->own.text({.profile = entry->profile}).empty()) << entry->name;
  }
  EXPECT_NE(kNnob12Profile.own.name, kFastProfile.own.name);
}

TEST(ToyProfile, HasParametersOfItsEntry) {
  const auto params = SecurityParameters::make({.profile = kToy});
  EXPECT_EQ(params.unit(), 1024u);
  EXPECT_EQ(params.material(), MaterialForm::Triples);
  EXPECT_EQ(params.exact_bits(1024, 5), exact_bound_bits(1024, 5));
  EXPECT_EQ(params.risk({1024, 5}), risk_of_permutation(1024, 5));
  EXPECT_THROW(SecurityParameters::make({.profile = kToy, .material = MaterialForm::Pairs}),
               UsageError);
}

TEST(ToyProfile, MakesMaterial) {
  constexpr std::uint64_t kAnds = 2000;
  const auto params = SecurityParameters::make({.profile = kToy});
  MemorySink sinks[2];
  const Outcomes outcomes = run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          std::vector<UnitRequest> requests;
          for (const UnitPlan& plan : params.plan(kAnds)) requests.push_back({plan, 3});
          Preprocessor(session, params).make_units(requests, sinks[static_cast<int>(session.me())]);
        });
      },
      {}, false);
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  const MaterialCounts counts =
      test::expect_good(sinks[0], sinks[1], key_for_triples(Party::A), key_for_triples(Party::B));
  EXPECT_EQ(counts[MaterialKind::Triples], kAnds);
}

}  // namespace
}  // namespace tinyot
