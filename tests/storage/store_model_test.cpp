// Random operations on the two stores of a session, compared with a model: what is spent stays
// spent, whatever is broken off, opened again, rolled back or merged.
#include <map>
#include <random>
#include <set>

#include "storage/merge.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr MaterialKind kDrawn = MaterialKind::AuthOtsAB;
constexpr std::size_t kModelUnit = 300;

// A unit's number is its bit in the sum of risks, so that each sum names the units in it.
material::BegunUnit begun(std::uint64_t number) {
  return {number, {kModelUnit, 4}, {{std::uint64_t{1} << number, 0, 0}}};
}

// Both parties' stores, and what they have to remember.
class Pair {
 public:
  Pair(const std::filesystem::path& root, std::uint64_t seed)
      : random_(seed), dir_{root / "A", root / "B"}, copy_(root / "copy") {
    for (const Party party : {Party::A, Party::B}) store(party) = make_store(dir(party), party);
  }

  void do_something() {
    switch (below(10)) {
      case 0:
        return make_units();
      case 1:
        return break_units();
      case 2:
        return reopen(below(2) == 0 ? Party::A : Party::B);
      case 3:
        return drop_locked_units();
      case 4:
        return unlock();
      case 5:
        return keep_copy_of_a();
      case 6:
        return roll_a_back();
      default:
        return run(below(4));
    }
  }

  void check() {
    for (const Party party : {Party::A, Party::B}) {
      const Store& it = *stores_[index(party)];
      EXPECT_EQ(it.outstanding(), sum(party));
      EXPECT_EQ(it.attempts().risk, sum(party));
      EXPECT_EQ(it.attempts().outstanding, outstanding_[index(party)].size());
    }
    const std::uint64_t served = store(Party::B)->served()[kDrawn];
    EXPECT_GE(served, served_of_b_) << "a position went back";
    served_of_b_ = served;
  }
  std::size_t objects_used() const { return used_.size(); }

 private:
  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }
  std::optional<Store>& store(Party party) { return stores_[index(party)]; }
  const std::filesystem::path& dir(Party party) const { return dir_[index(party)]; }
  std::size_t below(std::size_t bound) { return random_() % bound; }
  Risk sum(Party party) const {
    Risk sum;
    for (const std::uint64_t number : outstanding_[index(party)]) sum += begun(number).risk;
    return sum;
  }

  // Both begin units, some are withdrawn, the others are made.
  void make_units() {
    if (next_unit_ + 2 > 60) return;
    const std::uint64_t first = next_unit_++, second = next_unit_++;
    for (const Party party : {Party::A, Party::B}) {
      store(party)->begin_unit(begun(first));
      store(party)->begin_unit(begun(second));
      store(party)->withdraw_unit(first);
      add_locked_unit(*store(party), kDrawn, kModelUnit);
    }
  }
  // One party loses units that both have begun.
  void break_units() {
    if (next_unit_ + 1 > 60) return;
    const std::uint64_t number = next_unit_++;
    for (const Party party : {Party::A, Party::B}) {
      store(party)->begin_unit(begun(number));
      outstanding_[index(party)].insert(number);
      reopen(party);
    }
  }
  void reopen(Party party) {
    store(party).reset();
    store(party) = open_to_make(dir(party));
  }
  void drop_locked_units() {
    std::filesystem::remove_all(copy_);
    const std::uint64_t unlocked = std::max(store(Party::A)->cursors().units_unlocked,
                                            store(Party::B)->cursors().units_unlocked);
    for (const Party party : {Party::A, Party::B}) store(party)->cut_back(unlocked);
  }
  void unlock() {
    for (const Party party : {Party::A, Party::B}) unlock_all(*store(party));
  }

  // A's disk, as a backup has it, and its return.
  void keep_copy_of_a() {
    store(Party::A).reset();
    std::filesystem::remove_all(copy_);
    std::filesystem::copy(dir(Party::A), copy_, std::filesystem::copy_options::recursive);
    outstanding_of_copy_ = outstanding_[index(Party::A)];
    units_of_copy_ = next_unit_;
    reopen(Party::A);
  }
  void roll_a_back() {
    // A copy with other units than the peer's is refused when the stores synchronise.
    if (!std::filesystem::exists(copy_) || units_of_copy_ != next_unit_) return;
    store(Party::A).reset();
    std::filesystem::remove_all(dir(Party::A));
    std::filesystem::rename(copy_, dir(Party::A));
    store(Party::A) = Store::open(dir(Party::A), {.purpose = Purpose::Make, .is_adopted = true});
    outstanding_[index(Party::A)] = outstanding_of_copy_;
  }

  // A grants, from its own position or B's; B is killed before it takes, after it, or draws.
  void run(std::size_t how_far) {
    Store &a = *store(Party::A), &b = *store(Party::B);
    const std::uint64_t count = 1 + below(200);
    Grant granted, taken;
    try {
      granted = a.grant({.counts = counts_of(kDrawn, count), .at_least = b.served()});
    } catch (const OutOfMaterial&) {
      return;
    }
    if (how_far == 0) return reopen(Party::B);
    try {
      taken = b.take(granted, {});
    } catch (const OutOfMaterial&) {
      return;  // it has not unlocked as many units
    }
    if (how_far == 1) return reopen(Party::B);
    Reservation of_a = a.hold(granted), of_b = b.hold(taken);
    const std::uint64_t start = granted.range.start[kDrawn];
    EXPECT_EQ(granted.range, taken.range);
    EXPECT_TRUE(draws(of_a, kDrawn, Party::A, start, count));
    EXPECT_TRUE(draws(of_b, kDrawn, Party::B, start, count));
    for (std::uint64_t i = start; i < start + count; ++i)
      EXPECT_TRUE(used_.insert(i).second) << "object " << i << " was used before";
    if (how_far == 2) return;
    of_a.finish(), of_b.finish();
  }

  std::mt19937_64 random_;
  std::filesystem::path dir_[2], copy_;
  std::optional<Store> stores_[2];
  std::uint64_t next_unit_ = 0, units_of_copy_ = 0, served_of_b_ = 0;
  std::set<std::uint64_t> outstanding_[2], outstanding_of_copy_;
  std::set<std::uint64_t> used_;
};

using StoreModelTest = StoreTest;

TEST_F(StoreModelTest, WhatIsSpentStaysSpent) {
  std::size_t used = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair pair(root_ / std::to_string(seed), seed);
    for (std::size_t i = 0; i < 150 && !HasFailure(); ++i) {
      SCOPED_TRACE("operation " + std::to_string(i));
      pair.do_something();
      pair.check();
    }
    used += pair.objects_used();
  }
  EXPECT_GT(used, 8 * kModelUnit);
}

// The merged store has what its shards had outstanding, whichever of them it was.
TEST_F(StoreModelTest, MergedStoreOwesWhatItsShardsOwed) {
  std::vector<std::filesystem::path> shards;
  Risk sum;
  for (std::uint32_t shard = 1; shard <= 3; ++shard) {
    shards.push_back(root_ / std::to_string(shard));
    Manifest manifest = test_manifest(Party::A);
    manifest.shard = shard, manifest.shards = 3;
    {
      Store store = Store::create(shards.back(), manifest, kTestDelta, 0);
      for (std::uint64_t number = 8 * shard; number < 8 * shard + shard; ++number) {
        store.begin_unit(begun(number));
        sum += begun(number).risk;
      }
    }
    Store store = open_to_make(shards.back());
    store.begin_unit(begun(8 * shard + 7));
    add_unit(store, kDrawn, kModelUnit);
    store.update_manifest([](Manifest& changed) { changed.state = StoreState::Complete; });
  }
  merge_shards(root_ / "whole", shards, {});
  const Store whole = Store::open(root_ / "whole");
  EXPECT_EQ(whole.outstanding(), sum);
  EXPECT_EQ(whole.attempts().outstanding, 1u + 2u + 3u);
  EXPECT_EQ(whole.attempts().units.size(), 1u);
}

}  // namespace
}  // namespace tinyot
