// LOCKED units: what is not served before the peer has told its digests, and what is not unlocked.
#include "storage/record.h"
#include "tests/storage/store_support.h"

namespace tinyot {
namespace {

constexpr MaterialKind kKind = MaterialKind::AuthAndsA;

std::string reserve_message(Store& store, std::uint64_t count) {
  return message_of<OutOfMaterial>([&] { store.reserve({}, counts_of(kKind, count)); });
}

TEST_F(StoreTest, LockedUnitsAreNotServed) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 100);
    add_locked_unit(store, kKind, 50);
    add_locked_unit(store, kKind, 25);
  }
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.made(), counts_of(kKind, 175));
  EXPECT_EQ(store.left(), counts_of(kKind, 100));
  EXPECT_TRUE(mentions(reserve_message(store, 101), "auth_ands_a has 100, needs 101"));
  EXPECT_THROW(store.allot({.counts = counts_of(kKind, 1), .at_least = counts_of(kKind, 100)}), OutOfMaterial);
  EXPECT_THROW(store.allot({.counts = counts_of(kKind, 101), .at_least = {}, .is_plan = true}), OutOfMaterial);
  EXPECT_THROW(store.take({{counts_of(kKind, 60), counts_of(kKind, 101)}, 0, {}}, {}), OutOfMaterial);
  EXPECT_EQ(store.position(), MaterialCounts{});
  // Unlocked unit by unit.
  store.unlock(1, 2, store.digests(1, 2));
  EXPECT_EQ(store.left(), counts_of(kKind, 150));
  EXPECT_TRUE(mentions(reserve_message(store, 151), "auth_ands_a has 150, needs 151"));
  store.unlock(2, 3, store.digests(2, 3));
  Reservation reservation = store.reserve({}, counts_of(kKind, 175));
  EXPECT_TRUE(draws(reservation, kKind, Party::A, 0, 175));
}

class UnlockTest : public StoreTest {
 protected:
  // Two units of two batches each.
  UnlockTest() : store_(make_store(dir_)) {
    for (int unit = 0; unit < 2; ++unit) add_locked_unit(store_, kKind, record_capacity(kKind) + 1);
  }
  std::string unlock_message(std::uint64_t first, std::uint64_t end, const std::vector<SealTag>& peers) {
    return message_of([&] { store_.unlock(first, end, peers); });
  }
  static std::vector<SealTag> digests(int first, int count) {
    std::vector<SealTag> tags(static_cast<std::size_t>(count));
    for (SealTag& tag : tags) tag.fill(static_cast<std::byte>(first++));
    return tags;
  }

  Store store_;
};

TEST_F(UnlockTest, TellsOneDigestABatchAndTheyDiffer) {
  const auto all = store_.digests(0, 2), first = store_.digests(0, 1), second = store_.digests(1, 2);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(first, std::vector(all.begin(), all.begin() + 2));
  EXPECT_EQ(second, std::vector(all.begin() + 2, all.end()));
  EXPECT_TRUE(store_.digests(1, 1).empty());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]);
  EXPECT_TRUE(mentions(message_of([&] { (void)store_.digests(0, 3); }), "unit 3"));
}

TEST_F(UnlockTest, AWrongNumberOfDigestsChangesNothing) {
  EXPECT_TRUE(mentions(unlock_message(0, 1, digests(1, 1)), "fewer batches"));
  EXPECT_TRUE(mentions(unlock_message(0, 1, digests(1, 3)), "more batches"));
  EXPECT_TRUE(mentions(unlock_message(0, 2, {}), "fewer batches"));
  EXPECT_EQ(store_.marks().units_unlocked, 0u);
  EXPECT_EQ(store_.left(), MaterialCounts{});
  // The digests that were refused have not been kept.
  EXPECT_EQ(unlock_message(0, 1, digests(11, 2)), "");
  EXPECT_EQ(store_.marks().units_unlocked, 1u);
}

TEST_F(UnlockTest, TheDigestOfAnUnlockedBatchStays) {
  ASSERT_EQ(unlock_message(0, 1, digests(1, 2)), "");
  EXPECT_EQ(unlock_message(0, 1, digests(1, 2)), "");
  // The second batch of the first unit has another half; then nothing of the second unit is unlocked either.
  std::vector<SealTag> others = digests(1, 4);
  others[1][0] ^= std::byte{1};
  const std::string message = unlock_message(0, 2, others);
  EXPECT_TRUE(mentions(message, "the peer's half of batch auth_ands_a " + std::to_string(record_capacity(kKind)) + ".."));
  EXPECT_TRUE(mentions(message, "is not the one that it had when the batch was made"));
  EXPECT_EQ(store_.marks().units_unlocked, 1u);
  EXPECT_EQ(unlock_message(0, 2, digests(1, 4)), "");
  EXPECT_EQ(store_.marks().units_unlocked, 2u);
  // Less than is unlocked does not lock again.
  EXPECT_EQ(unlock_message(0, 1, digests(1, 2)), "");
  EXPECT_EQ(store_.left(), store_.made());
}

TEST_F(UnlockTest, CutBackDropsLockedUnitsForGood) {
  const std::uint64_t unit = record_capacity(kKind) + 1;
  ASSERT_EQ(unlock_message(0, 1, store_.digests(0, 1)), "");
  store_.update_manifest([](Manifest& manifest) { manifest.state = SessionState::Complete; });
  const std::uint64_t bytes = store_.bytes_of(kKind), slots = store_.marks().next_slot;
  store_.cut_back(1);
  EXPECT_EQ(store_.made(), counts_of(kKind, unit));
  EXPECT_EQ(store_.manifest().units_made, 1u);
  EXPECT_EQ(store_.manifest().state, SessionState::Open);
  EXPECT_LT(store_.bytes_of(kKind), bytes * 3 / 5);
  // The same indices are poured anew, under other keys.
  add_unit(store_, kKind, 77);
  EXPECT_GT(store_.marks().next_slot, slots);
  Reservation reservation = reserve_all(store_);
  EXPECT_TRUE(draws(reservation, kKind, Party::A, 0, unit + 77));
}

TEST_F(UnlockTest, CutBackBelowWhatIsUnlockedIsRefusedAndChangesNothing) {
  ASSERT_EQ(unlock_message(0, 2, store_.digests(0, 2)), "");
  const Marks before = store_.marks();
  for (const std::uint64_t units : {0u, 1u}) {
    const std::string message = message_of([&] { store_.cut_back(units); });
    EXPECT_TRUE(mentions(message, "the peer has only the first " + std::to_string(units) + " of the 2 units"));
    EXPECT_TRUE(mentions(message, "its store is an older copy"));
  }
  EXPECT_EQ(store_.marks(), before);
  store_.cut_back(2);
  EXPECT_EQ(store_.manifest().units_made, 2u);
  EXPECT_THROW(store_.cut_back(3), std::logic_error);
  Reservation reservation = reserve_all(store_);
  EXPECT_TRUE(draws(reservation, kKind, Party::A, 0, 2 * (record_capacity(kKind) + 1)));
}

}  // namespace
}  // namespace tinyot
