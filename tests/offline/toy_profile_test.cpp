// A profile that is nothing but one more entry of the table: everything else works with it as it
// is.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/bounds.h"
#include "offline/nnob12/nnob12_profile.h"
#include "offline/parameters.h"
#include "offline/triples/fast_profile.h"
#include "offline/triples/fast_unit.h"
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr Profile kToy{77};
constexpr std::uint64_t kKeys = 1;  // the seed of the session's global keys

// Bits that a dealer hands out, without messages: a source that has dealt to all units so far.
class DealtSource final : public BitSource {
 public:
  explicit DealtSource(Party me) : me_(me) {}

  AuthBits make_reference_bits() override {
    return {dealt(me_, kReferenceBits, ~std::uint64_t{0}).mine,
            dealt(peer_of(me_), kReferenceBits, ~std::uint64_t{0}).peers};
  }
  void prepare(std::size_t) override { set_reference_bits(make_reference_bits()); }
  std::unique_ptr<BitStream> stream(checks::Session&, std::size_t, std::size_t wanted) override {
    return std::make_unique<Stream>(*this, whole_blocks(wanted));
  }

 private:
  class Stream final : public BitStream {
   public:
    Stream(DealtSource& source, std::size_t first)
        : BitStream(first, kBatchBits, {std::chrono::microseconds(100), kBatchBits, 1}, {}),
          source_(source), begin_(source.batches_) {}

    void offer(const BitBatch& batch, const BitViews& views) override {
      Dealt whole = source_.dealt(source_.me_, batch.bits, begin_ + batch.number);
      std::size_t first = 0;
      for (const MacColumnView& part : views.mine) {
        copy_bits(whole.mine.bits.words(), first, part.bits, 0, part.size());
        std::ranges::copy(whole.mine.view(first, part.size()).macs, part.macs.begin());
        first += part.size();
      }
      ++source_.batches_;
    }
    void accept(const BitBatch& batch, const BitViews& views) override {
      Dealt whole = source_.dealt(peer_of(source_.me_), batch.bits, begin_ + batch.number);
      std::size_t first = 0;
      for (const KeyColumnView& part : views.peers) {
        std::ranges::copy(whole.peers.view(first, part.size()), part.begin());
        first += part.size();
      }
    }
    void answer(const BitBatch&, const BitViews&) override {}
    void confirm(const BitBatch&, const BitViews&) override {}

   private:
    void finish(AuthBits&) override {}
    DealtSource& source_;
    std::uint64_t begin_;
  };

  Dealt dealt(Party owner, std::size_t count, std::uint64_t batch) const {
    return Dealt(me_, owner, count, kKeys, 2 * batch + static_cast<std::uint64_t>(owner),
                 key_for_triples(peer_of(owner), kKeys));
  }
  Party me_;
  std::uint64_t batches_ = 0;
};

// The second level is raised to the size of the first one, then both grow.
BucketSizes larger_on_two_levels(const BucketSizes& bucket) {
  const std::uint32_t first = bucket.sizes()[0], second = bucket.sizes()[1];
  return second < first ? BucketSizes(first, second + 1) : BucketSizes(first + 1, 2);
}

// Units as those of the fast profile, whose bounds are those of permuted objects, and a second
// bucket size that adds a bit of security to those of the first one.
double two_level_bits(std::uint64_t l, const BucketSizes& bucket) {
  return exact_bound_bits(l, bucket.sizes()[0]) + bucket.sizes()[1];
}

const ProfileEntry& toy_entry() {
  static const ProfileEntry kEntry = [] {
    ProfileEntry entry = kFastProfile;
    entry.profile = kToy;
    entry.name = "toy";
    entry.usual_unit = 1024;
    entry.least_bucket = {2, 2};
    entry.larger_bucket = larger_on_two_levels;
    entry.exact_bits = two_level_bits;
    entry.risk = on_one_level<risk_of_permutation>;
    entry.make_unit_maker =
        [](Session& session, const SecurityParameters& params,
           const offline::LinkSchedule& schedule) -> std::unique_ptr<UnitMaker> {
      return std::make_unique<FastUnitMaker>(params, schedule,
                                             std::make_unique<DealtSource>(session.me()));
    };
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
    const std::vector<NamedValue> own = named_values(entry->profile, entry->own);
    EXPECT_FALSE(own.empty()) << entry->name;
    EXPECT_EQ(own_parameters(entry->profile, own), entry->own) << entry->name;
    EXPECT_EQ(profile_named(entry->name), entry->profile);
  }
}

TEST(ToyProfile, HasParametersOfItsEntry) {
  const auto params = SecurityParameters::make({.profile = kToy});
  EXPECT_EQ(params.unit(), 1024u);
  EXPECT_EQ(params.material(), AndMaterial::Triples);
  EXPECT_EQ(params.exact_bits(1024, {5, 3}), exact_bound_bits(1024, 5) + 3);
  EXPECT_EQ(params.risk({1024, {5, 3}}), risk_of_permutation(1024, 5));
  EXPECT_THROW(SecurityParameters::make({.profile = kToy, .material = AndMaterial::AandAot}),
               UsageError);
}

TEST(ToyProfile, HasBucketSizesOnTwoLevels) {
  const auto params = SecurityParameters::make({.profile = kToy});
  EXPECT_EQ(params.bucket(), BucketSizes(5, 2));
  EXPECT_EQ(params.bucket().text(), "5+2");
  EXPECT_EQ(params.bucket_limit({1024, {5, 4}}), BucketSizes(6, 2));
  EXPECT_EQ(params.within({1024, {5, 2}}, {})->bucket, BucketSizes(5, 2));
  const auto error_of = [](const BucketSizes& bucket) -> std::string {
    try {
      SecurityParameters::make({.profile = kToy, .bucket = bucket});
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(error_of({6, 3}), "");
  EXPECT_EQ(error_of(6),
            "bucket 6 has another number of sizes than those of the toy profile, "
            "such as 2+2");
  EXPECT_EQ(error_of({6, 1}), "bucket 6+1 is out of range: 2 to 160");
  EXPECT_EQ(error_of({6, 161}), "bucket 6+161 is out of range: 2 to 160");
  EXPECT_NE(error_of({2, 2}).find("use a bucket of 5+2 or more"), std::string::npos);
}

TEST(ToyProfile, RefusesParametersOfAnotherProfile) {
  EXPECT_THROW(SecurityParameters::make({.profile = kToy, .own = Nnob12Parameters{}}), UsageError);
  const NamedValue columns{"columns", "theorem"}, depth{"softspoken-k", "4"};
  EXPECT_THROW(own_parameters(kToy, std::span(&columns, 1)), UsageError);
  EXPECT_EQ(own_parameters(kToy, std::span(&depth, 1)),
            ProfileParameters(FastParameters{.softspoken_k = 4}));
  for (const char* const value : {"", "3", "x", "4x", "-4", "4294967298"}) {
    const NamedValue wrong{"softspoken-k", value};
    EXPECT_THROW(own_parameters(kToy, std::span(&wrong, 1)), UsageError) << value;
  }
}

TEST(ToyProfile, MakesMaterial) {
  constexpr std::uint64_t kAnds = 2000;
  // Of the triples alone: the bits cost 63 bytes each with the fast profile's source.
  constexpr std::uint64_t kBytesMax = 100 * 2048;
  const auto params = SecurityParameters::make({.profile = kToy});
  MemorySink sinks[2];
  const Outcomes outcomes = run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, kKeys, [&](Session& session) {
          std::vector<UnitRequest> requests;
          for (const UnitPlan& plan : params.plan(kAnds)) requests.push_back({plan, 3});
          Preprocessor(session, params).make_units(requests, sinks[static_cast<int>(session.me())]);
          EXPECT_LT(session.channel().counters().bytes_sent, kBytesMax);
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
