// LOCKED units are not served; unlocking requires matching digests from the peer.
#include "storage/record.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::string reserve_message(Store& store, std::uint64_t count) {
  return message_of<OutOfMaterial>([&] { store.reserve({}, counts_of(kTestKind, count)); });
}

TEST_F(StoreTest, DoesNotServeLockedUnits) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 100);
    add_locked_unit(store, kTestKind, 50);
    add_locked_unit(store, kTestKind, 25);
  }
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.made(), counts_of(kTestKind, 175));
  EXPECT_EQ(store.left(), counts_of(kTestKind, 100));
  EXPECT_TRUE(mentions(reserve_message(store, 101), "auth_ands_a has 100, needs 101"));
  EXPECT_THROW(
      store.grant({.counts = counts_of(kTestKind, 1), .at_least = counts_of(kTestKind, 100)}),
      OutOfMaterial);
  EXPECT_THROW(store.grant({.counts = counts_of(kTestKind, 101), .at_least = {}, .is_plan = true}),
               OutOfMaterial);
  EXPECT_THROW(store.take({{counts_of(kTestKind, 60), counts_of(kTestKind, 101)}, 0, {}}, {}),
               OutOfMaterial);
  EXPECT_EQ(store.served(), MaterialCounts{});
  // Unlocked unit by unit.
  store.unlock(1, 2, store.halves(1, 2));
  EXPECT_EQ(store.left(), counts_of(kTestKind, 150));
  EXPECT_TRUE(mentions(reserve_message(store, 151), "auth_ands_a has 150, needs 151"));
  store.unlock(2, 3, store.halves(2, 3));
  Reservation reservation = store.reserve({}, counts_of(kTestKind, 175));
  EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, 175));
}

class UnlockTest : public StoreTest {
 protected:
  // Two units of two batches each.
  UnlockTest() : store_(make_store(dir_)) {
    for (int unit = 0; unit < 2; ++unit)
      add_locked_unit(store_, kTestKind, material::full_batch(kTestKind) + 1);
  }
  template <class Error = StoreError>
  std::string unlock_message(std::uint64_t first, std::uint64_t end, const Halves& peers) {
    return message_of<Error>([&] { store_.unlock(first, end, peers); });
  }
  // The halves of a peer that has unlocked nothing; the digests count up from `tag`.
  Halves peers(std::uint64_t first, std::uint64_t end, int tag) const {
    Halves halves{{}, store_.halves(first, end).of};
    for (Half& half : halves.of) half.tag.fill(static_cast<std::byte>(tag++));
    return halves;
  }
  static std::vector<SealTag> tags_of(const Halves& halves) {
    std::vector<SealTag> tags;
    for (const Half& half : halves.of) tags.push_back(half.tag);
    return tags;
  }
  // Number of batches without the peer's tag.
  std::size_t unknown() const {
    std::size_t unknown = 0;
    store_.read([&](const ReadTransaction& view) {
      for (const BatchEntry& entry : view.entries(kTestKind, 0, view.cursors().made[kTestKind]))
        unknown += !entry.peers_tag;
    });
    return unknown;
  }

  Store store_;
};

TEST_F(UnlockTest, HasOneDistinctDigestPerBatch) {
  const auto all = tags_of(store_.halves(0, 2)), first = tags_of(store_.halves(0, 1)),
             second = tags_of(store_.halves(1, 2));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(first, std::vector(all.begin(), all.begin() + 2));
  EXPECT_EQ(second, std::vector(all.begin() + 2, all.end()));
  EXPECT_TRUE(store_.halves(1, 1).of.empty());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]);
  EXPECT_TRUE(mentions(message_of([&] { (void)store_.halves(0, 3); }), "unit 3"));
}

TEST_F(UnlockTest, RejectsBatchesOfOneStoreOnly) {
  const Halves whole = peers(0, 2, 1);
  const auto refused = [&](const Halves& halves) {
    return unlock_message<Disagreement>(0, 1, halves);
  };
  Halves fewer{{}, {whole.of[0]}}, more{{}, {whole.of[0], whole.of[1], whole.of[2]}},
      shorter = peers(0, 1, 1), unknown = peers(0, 1, 1);
  --shorter.of[1].count;
  unknown.of.push_back({0, 1, kMaterialKinds, {}});
  EXPECT_TRUE(mentions(refused(fewer), "this store has batch auth_ands_a " +
                                           std::to_string(material::full_batch(kTestKind)) + ".."));
  EXPECT_TRUE(mentions(refused({}),
                       "and the peer's store does not; the two stores do not belong together"));
  EXPECT_TRUE(mentions(refused(more), "the peer's store has a batch of"));
  EXPECT_TRUE(mentions(refused(shorter), "do not belong together"));
  EXPECT_TRUE(mentions(refused(unknown), "do not belong together"));
  EXPECT_EQ(store_.cursors().units_unlocked, 0u);
  EXPECT_EQ(store_.left(), MaterialCounts{});
  // Rejected digests are not stored.
  EXPECT_EQ(unlock_message(0, 1, peers(0, 1, 11)), "");
  EXPECT_EQ(store_.cursors().units_unlocked, 1u);
}

// In the meantime, another run of both parties has unlocked the units and used some of them.
TEST_F(UnlockTest, SkipsBatchesCutByPeer) {
  const std::uint64_t capacity = material::full_batch(kTestKind);
  Halves cut = peers(0, 2, 1);
  cut.unlocked[kTestKind] = capacity + 1;
  // Of the first unit the peer has only the end of the last batch left.
  cut.of.erase(cut.of.begin(), cut.of.begin() + 1);
  cut.of.insert(cut.of.begin(), Half{5, 7, static_cast<std::uint32_t>(kTestKind), {}});
  EXPECT_EQ(unlock_message(0, 2, cut), "");
  EXPECT_EQ(store_.left(), store_.made());
  EXPECT_EQ(unknown(), 1u) << "the batch that is cut at the peer";
  // Beyond the peer's unlocked units no batch can be cut.
  Halves missing = peers(0, 2, 1);
  missing.unlocked[kTestKind] = capacity + 1;
  missing.of.pop_back();
  Store other = make_store(root_ / "other");
  for (int unit = 0; unit < 2; ++unit) add_locked_unit(other, kTestKind, capacity + 1);
  EXPECT_TRUE(mentions(message_of<Disagreement>([&] { other.unlock(0, 2, missing); }),
                       "do not belong together"));
  EXPECT_EQ(other.cursors().units_unlocked, 0u);
}

TEST_F(UnlockTest, SkipsBatchesCutHere) {
  const Halves whole = peers(0, 2, 1);
  ASSERT_EQ(unlock_message(0, 2, whole), "");
  store_.reserve({}, counts_of(kTestKind, 100)).finish();
  EXPECT_EQ(unlock_message(0, 2, whole), "");
  EXPECT_EQ(unknown(), 1u) << "the rest of the batch that was cut";
}

TEST_F(UnlockTest, RejectsChangedDigestOfUnlockedBatch) {
  ASSERT_EQ(unlock_message(0, 1, peers(0, 1, 1)), "");
  EXPECT_EQ(unlock_message(0, 1, peers(0, 1, 1)), "");
  // The second batch of the first unit has a different half; then nothing of the second unit is
  // unlocked either.
  for (const std::size_t byte : {0u, 8u, 15u}) {
    Halves others = peers(0, 2, 1);
    others.of[1].tag[byte] ^= std::byte{1};
    const std::string message = unlock_message<Disagreement>(0, 2, others);
    EXPECT_TRUE(mentions(message, "the peer's half of batch auth_ands_a " +
                                      std::to_string(material::full_batch(kTestKind)) + ".."));
    EXPECT_TRUE(mentions(message, "has changed since the batch was made"));
  }
  EXPECT_EQ(store_.cursors().units_unlocked, 1u);
  EXPECT_EQ(unlock_message(0, 2, peers(0, 2, 1)), "");
  EXPECT_EQ(store_.cursors().units_unlocked, 2u);
  // Unlocking fewer units does not lock the others.
  EXPECT_EQ(unlock_message(0, 1, peers(0, 1, 1)), "");
  EXPECT_EQ(store_.left(), store_.made());
}

TEST_F(UnlockTest, CutBackDropsLockedUnits) {
  const std::uint64_t unit = material::full_batch(kTestKind) + 1;
  ASSERT_EQ(unlock_message(0, 1, store_.halves(0, 1)), "");
  store_.update_manifest([](Manifest& manifest) { manifest.state = StoreState::Complete; });
  const std::uint64_t bytes = store_.bytes_of(kTestKind), slots = store_.cursors().next_slot;
  store_.cut_back(1);
  EXPECT_EQ(store_.made(), counts_of(kTestKind, unit));
  EXPECT_EQ(store_.manifest().units_made, 1u);
  EXPECT_EQ(store_.manifest().state, StoreState::Open);
  EXPECT_LT(store_.bytes_of(kTestKind), bytes * 3 / 5);
  // The same indices are poured again, under other keys.
  add_unit(store_, kTestKind, 77);
  EXPECT_GT(store_.cursors().next_slot, slots);
  Reservation reservation = reserve_all(store_);
  EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, unit + 77));
}

TEST_F(UnlockTest, RejectsCutBackOfUnlockedUnits) {
  ASSERT_EQ(unlock_message(0, 2, store_.halves(0, 2)), "");
  const MaterialCursors before = store_.cursors();
  for (const std::uint64_t units : {0u, 1u}) {
    const std::string message = message_of<Disagreement>([&] { store_.cut_back(units); });
    EXPECT_TRUE(mentions(
        message, "the peer has only the first " + std::to_string(units) + " of the 2 units"));
    EXPECT_TRUE(mentions(message, "its store is an older copy"));
  }
  EXPECT_EQ(store_.cursors(), before);
  store_.cut_back(2);
  EXPECT_EQ(store_.manifest().units_made, 2u);
  EXPECT_THROW(store_.cut_back(3), std::logic_error);
  Reservation reservation = reserve_all(store_);
  EXPECT_TRUE(
      draws(reservation, kTestKind, Party::A, 0, 2 * (material::full_batch(kTestKind) + 1)));
}

}  // namespace
}  // namespace tinyot
