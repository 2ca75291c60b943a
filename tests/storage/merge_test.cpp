#include "storage/merge.h"

#include "storage/verify.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr MaterialKind kMerged = MaterialKind::AuthOtsAB;
constexpr std::size_t kFirst = 9000, kSecond = 300, kThird = 5000;

class MergeTest : public StoreTest {
 protected:
  // Shards of consecutive objects, so that the order of a merge can be checked.
  std::filesystem::path make_shard(std::uint32_t shard, std::uint32_t shards, std::uint64_t first,
                                   std::size_t count, StoreState state = StoreState::Complete,
                                   const Manifest& session = test_manifest(Party::A)) {
    const std::filesystem::path dir = root_ / std::to_string(shard);
    Manifest manifest = session;
    manifest.shard = shard;
    manifest.shards = shards;
    Store store = Store::create(dir, manifest, kTestDelta, 0);
    store.pour(test_batch(kMerged, manifest.me, first, count));
    store.finish_unit();
    store.unlock(0, 1, store.halves(0, 1));
    store.update_manifest([&](Manifest& changed) { changed.state = state; });
    return dir;
  }
  std::vector<std::filesystem::path> make_three() {
    return {make_shard(3, 3, kFirst + kSecond, kThird), make_shard(1, 3, 0, kFirst),
            make_shard(2, 3, kFirst, kSecond)};
  }
  std::filesystem::path out_ = root_ / "whole";
};

TEST_F(MergeTest, HoldsShardsInOrder) {
  const auto shards = make_three();
  const MergedStore merged = merge_shards(out_, shards, {});
  EXPECT_GT(merged.batches, 3u);
  Store whole = Store::open(out_);
  constexpr std::size_t kAll = kFirst + kSecond + kThird;
  EXPECT_EQ(whole.made(), counts_of(kMerged, kAll));
  EXPECT_EQ(whole.left(), counts_of(kMerged, kAll));
  EXPECT_EQ(whole.manifest().units_made, 3u);
  EXPECT_TRUE(verify(whole).corrupt.empty());
  Reservation all = whole.reserve({}, counts_of(kMerged, kAll));
  EXPECT_TRUE(holds(all.draw(kMerged, kAll), kMerged, Party::A, 0, kAll));
}

TEST_F(MergeTest, RevokesShards) {
  const auto shards = make_three();
  merge_shards(out_, shards, {});
  for (const auto& dir : shards) {
    Store shard = Store::open(dir);
    EXPECT_EQ(shard.manifest().state, StoreState::Revoked);
    EXPECT_EQ(shard.protection(), KeyProtection::Erased);
    EXPECT_TRUE(mentions(message_of([&] { (void)shard.reserve({}, counts_of(kMerged, 1)); }),
                         "merged into"));
  }
}

TEST_F(MergeTest, RequiresAllShardsCompleteAndUnused) {
  auto shards = make_three();
  const auto some = std::vector{shards[0], shards[1]};
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, some, {}); }), "all 3 shards"));
  {
    Store used = Store::open(shards[2]);
    (void)used.reserve({}, counts_of(kMerged, 1));
  }
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "has been used"));
  EXPECT_EQ(remedy_of([&] { merge_shards(out_, shards, {}); }), Remedy::UseShardsTogether);
  std::filesystem::remove_all(shards[2]);
  shards[2] = make_shard(2, 3, kFirst, kSecond, StoreState::Open);
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "not complete"));
  EXPECT_EQ(remedy_of([&] { merge_shards(out_, shards, {}); }), Remedy::Resume);
  EXPECT_FALSE(std::filesystem::exists(out_));
  for (const auto& dir : shards) EXPECT_NE(Store::open(dir).manifest().state, StoreState::Revoked);
}

TEST_F(MergeTest, RequiresShardsOfOneSession) {
  auto shards = make_three();
  for (const std::size_t byte : {0u, 8u, 31u}) {
    std::filesystem::remove_all(shards[0]);
    Manifest other = test_manifest(Party::A);
    other.session_id[byte] ^= std::byte{1};
    make_shard(3, 3, kFirst + kSecond, kThird, StoreState::Complete, other);
    EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "another session"));
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
}

TEST_F(MergeTest, RequiresShardsOfOneParty) {
  auto shards = make_three();
  std::filesystem::remove_all(shards[0]);
  make_shard(3, 3, kFirst + kSecond, kThird, StoreState::Complete, test_manifest(Party::B));
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "or party"));
}

TEST_F(MergeTest, RequiresEachShardOnce) {
  auto shards = make_three();
  shards[0] = root_ / "second";
  std::filesystem::rename(shards[2], shards[0]);
  make_shard(2, 3, kFirst, kSecond);
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "given twice"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(MergeTest, RequiresThatThePeerHasConfirmedAllUnits) {
  const auto shards = make_three();
  Store::open(shards[1], {.purpose = Purpose::Make})
      .change("lock again", 0, [](WriteTransaction& change) {
        change.cursors().unlocked = {};
        change.cursors().units_unlocked = 0;
      });
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(out_, shards, {}); }), "not complete"));
}

// By these a use of an object is known, in whatever store and batch it is.
TEST_F(MergeTest, PartsOfBatchesKeepShardAndOrigin) {
  merge_shards(out_, make_three(), {});
  Store whole = Store::open(out_);
  (void)whole.reserve({}, counts_of(kMerged, kFirst + kSecond + 100));
  const std::vector<BatchEntry> parts = whole.reserve({}, counts_of(kMerged, 50)).batches();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].count, 50u);
  EXPECT_EQ(parts[0].first, kFirst + kSecond + 100);
  EXPECT_EQ(parts[0].shard, 3u);
  EXPECT_EQ(parts[0].origin, 100u);
}

// The security that a store has reached is counted from them.
TEST_F(MergeTest, UnitsOfAllShardsHaveTheirAttempts) {
  constexpr UnitPlan kPlan{kSecond, 4};
  std::vector<std::filesystem::path> shards;
  for (std::uint32_t shard = 1; shard <= 3; ++shard) {
    Manifest manifest = test_manifest(Party::A);
    manifest.shard = shard;
    manifest.shards = 3;
    Store store =
        Store::create(shards.emplace_back(root_ / std::to_string(shard)), manifest, kTestDelta, 0);
    for (std::uint64_t unit = 0; unit < shard; ++unit) {
      store.begin_unit({unit, kPlan, {{1, 0, 0}}});
      store.pour(test_batch(kMerged, Party::A, unit * kSecond, kSecond));
      store.finish_unit();
    }
    store.begin_unit({shard, {kSecond, 4 + shard}, {{std::uint64_t{16} << shard, 0, 0}}});
    store.unlock(0, shard, store.halves(0, shard));
    store.update_manifest([](Manifest& changed) { changed.state = StoreState::Complete; });
  }
  merge_shards(out_, shards, {});
  const AttemptTotals attempts = Store::open(out_).attempts();
  ASSERT_EQ(attempts.units.size(), 1u);
  EXPECT_EQ(attempts.units[0].plan, kPlan);
  EXPECT_EQ(attempts.units[0].count, 1u + 2u + 3u);
  EXPECT_EQ(attempts.outstanding, 3u);
  EXPECT_EQ(attempts.risk, (Risk{{32 + 64 + 128, 0, 0}}));
}

TEST_F(MergeTest, RepetitionAfterCompletionChangesNothing) {
  const auto shards = make_three();
  EXPECT_FALSE(merge_shards(out_, shards, {}).was_done);
  // Even after some of the material has been used.
  Store::open(out_).reserve({}, counts_of(kMerged, 100)).finish();
  const std::string keys = read_file(out_ / "store.keys");
  const MergedStore again = merge_shards(out_, std::vector{shards[1], shards[0], shards[2]}, {});
  EXPECT_TRUE(again.was_done);
  EXPECT_EQ(again.batches, 0u);
  EXPECT_EQ(read_file(out_ / "store.keys"), keys);
  EXPECT_EQ(Store::open(out_).left(), counts_of(kMerged, kFirst + kSecond + kThird - 100));
}

TEST_F(MergeTest, RejectsOtherStoreAtDestination) {
  const auto shards = make_three();
  { const Store other = make_store(out_); }
  EXPECT_TRUE(
      mentions(message_of([&] { merge_shards(out_, shards, {}); }), "already holds a store"));
  std::filesystem::remove_all(out_);
  merge_shards(out_, shards, {});
  // Neither with only some of the shards nor at another destination.
  EXPECT_TRUE(mentions(message_of([&] {
                         merge_shards(out_, std::vector{shards[0], shards[1]}, {});
                       }),
                       "all 3 shards"));
  std::filesystem::remove_all(root_ / "elsewhere");
  { const Store other = make_store(root_ / "elsewhere"); }
  EXPECT_TRUE(mentions(message_of([&] { merge_shards(root_ / "elsewhere", shards, {}); }),
                       "already holds a store"));
  std::filesystem::remove_all(shards[1]);
  make_shard(1, 3, 0, kFirst);
  EXPECT_TRUE(
      mentions(message_of([&] { merge_shards(out_, shards, {}); }), "already holds a store"));
  EXPECT_EQ(Store::open(shards[1]).left(), counts_of(kMerged, kFirst));
}

TEST_F(MergeTest, RestartsIfInterruptedBeforeRevocation) {
  const auto shards = make_three();
  // As left by a merge that was interrupted while it copied.
  Manifest manifest = test_manifest(Party::A);
  { Store half = Store::create(root_ / "whole.merging", manifest, kTestDelta, 0); }
  merge_shards(out_, shards, {});
  EXPECT_EQ(Store::open(out_).made(), counts_of(kMerged, kFirst + kSecond + kThird));
}

TEST_F(MergeTest, RestartsIfInterruptedDuringCleanup) {
  const auto shards = make_three();
  { Store half = Store::create(root_ / "whole.merging", test_manifest(Party::A), kTestDelta, 0); }
  std::filesystem::remove(root_ / "whole.merging" / "store.keys");
  merge_shards(out_, shards, {});
  EXPECT_EQ(Store::open(out_).made(), counts_of(kMerged, kFirst + kSecond + kThird));
}

TEST_F(MergeTest, CompletesIfInterruptedDuringRevocation) {
  const auto shards = make_three();
  merge_shards(out_, shards, {});
  // Back to just before the end: the merged store is neither unlocked nor renamed, and one shard is
  // not revoked.
  std::filesystem::rename(out_, root_ / "whole.merging");
  {
    Store whole = Store::open(root_ / "whole.merging", {.purpose = Purpose::Own});
    whole.change("lock again", 0, [](WriteTransaction& change) {
      change.cursors().unlocked = {};
      change.cursors().units_unlocked = 0;
    });
    EXPECT_THROW((void)whole.reserve({}, counts_of(kMerged, 1)), OutOfMaterial);
  }
  std::filesystem::remove_all(shards[2]);
  make_shard(2, 3, kFirst, kSecond);
  merge_shards(out_, shards, {});
  EXPECT_EQ(Store::open(out_).left(), counts_of(kMerged, kFirst + kSecond + kThird));
  EXPECT_EQ(Store::open(shards[2]).manifest().state, StoreState::Revoked);
}

TEST_F(MergeTest, ChainDrawsAcrossReservations) {
  const auto shards = make_three();
  // One handle of each of three stores.
  std::vector<Store> stores;
  std::vector<Reservation> links;
  for (const std::size_t i : {1u, 2u, 0u}) stores.push_back(Store::open(shards[i]));
  links.push_back(stores[0].reserve({}, counts_of(kMerged, kFirst)));
  links.push_back(stores[1].reserve({}, counts_of(kMerged, kSecond)));
  links.push_back(stores[2].reserve({}, counts_of(kMerged, 100)));
  ReservationChain chain(std::move(links));
  EXPECT_EQ(chain.left(), counts_of(kMerged, kFirst + kSecond + 100));
  EXPECT_TRUE(holds(chain.draw(kMerged, kFirst - 10), kMerged, Party::A, 0, kFirst - 10));
  EXPECT_TRUE(
      holds(chain.draw(kMerged, kSecond + 60), kMerged, Party::A, kFirst - 10, kSecond + 60));
  EXPECT_TRUE(holds(chain.draw(kMerged, 0), kMerged, Party::A, 0, 0));
  EXPECT_THROW((void)chain.draw(kMerged, 51), OutOfMaterial);
  EXPECT_TRUE(holds(chain.draw(kMerged, 50), kMerged, Party::A, kFirst + kSecond + 50, 50));
}

}  // namespace
}  // namespace tinyot
