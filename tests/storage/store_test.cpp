#include "storage/store.h"

#include <thread>
#include <vector>

#include "storage/inventory.h"
#include "storage/record.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kUnitSizes[] = {1, 63, 64, 65, 1023, 1024, 1025};

TEST_F(StoreTest, RoundTripOfEveryKindForBothParties) {
  for (const Party me : {Party::A, Party::B}) {
    const auto dir = root_ / std::string(1, letter(me));
    Store store = make_store(dir, me);
    MaterialCounts total;
    for (const std::size_t count : kUnitSizes) {
      for (const MaterialKind kind : kAllMaterialKinds) {
        store.pour(test_batch(kind, me, total[kind], count));
        total[kind] += count;
      }
      store.finish_unit();
    }
    for (const MaterialKind kind : kAllMaterialKinds) {
      const std::size_t count = 2 * material::full_batch(kind) + 17;
      store.pour(test_batch(kind, me, total[kind], count));
      total[kind] += count;
    }
    store.finish_unit();
    EXPECT_EQ(store.made(), total);
    unlock_all(store);
    EXPECT_EQ(store.left(), total);
    EXPECT_EQ(store.manifest().units_made, std::size(kUnitSizes) + 1);
    Reservation reservation = store.reserve(store.served(), total);
    for (const MaterialKind kind : kAllMaterialKinds)
      EXPECT_TRUE(holds(reservation.draw(kind, total[kind]), kind, me, 0, total[kind]));
    EXPECT_EQ(reservation.left(), MaterialCounts{});
  }
}

TEST_F(StoreTest, DrawsAtOddOffsetsAndCounts) {
  const MaterialKind kind = MaterialKind::AuthOtsAB;
  const std::size_t total = material::full_batch(kind) + 5000;
  Store store = make_store(dir_, Party::B);
  // Batches of all sizes, and units that end inside records.
  std::uint64_t poured = 0;
  for (std::size_t count = 1; poured < total; count = count * 5 / 3 + 1) {
    store.pour(test_batch(kind, Party::B, poured, count));
    poured += count;
    if (count % 3 == 0) store.finish_unit();
  }
  store.finish_unit();
  unlock_all(store);
  Reservation reservation = store.reserve(store.served(), counts_of(kind, poured));
  std::uint64_t drawn = 0;
  for (std::size_t count = 1; drawn < poured; count = count * 7 / 4 + 1) {
    const std::size_t part = std::min<std::uint64_t>(count, poured - drawn);
    ASSERT_TRUE(holds(reservation.draw(kind, part), kind, Party::B, drawn, part));
    drawn += part;
  }
  EXPECT_EQ(reservation.draw(kind, 0).count, 0u);
}

// What is drawn in order may be opened in any order, by several threads.
TEST_F(StoreTest, DrawnBatchesAreOpenedInAnyOrder) {
  const MaterialKind kind = MaterialKind::Triples;
  const std::size_t total = 8 * material::full_batch(kind) + 5;
  Store store = make_store(dir_, Party::A);
  store.pour(test_batch(kind, Party::A, 0, total));
  store.finish_unit();
  unlock_all(store);
  Reservation reservation = store.reserve(store.served(), counts_of(kind, total));
  std::vector<material::DrawnBatch> drawn;
  std::uint64_t count = 0;
  // The first batches are drawn in parts.
  for (const std::size_t part :
       {std::size_t{1}, material::full_batch(kind) - 3, 2 * material::full_batch(kind)})
    count += drawn.emplace_back(reservation.draw_up_to(kind, part)).count;
  EXPECT_EQ(count, material::full_batch(kind));
  while (count < total)
    count += drawn.emplace_back(reservation.draw_up_to(kind, total - count)).count;
  EXPECT_EQ(drawn.size(), 3u + 8u);
  EXPECT_EQ(reservation.left(), MaterialCounts{});
  std::vector<std::thread> threads;
  for (; !drawn.empty(); drawn.pop_back()) {
    count -= drawn.back().count;
    threads.emplace_back([first = count, batch = drawn.back()] {
      EXPECT_TRUE(holds(batch.open({}), MaterialKind::Triples, Party::A, first, batch.count));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(StoreTest, PositionsAndManifestSurviveReopening) {
  const MaterialKind kind = MaterialKind::AuthAndsA;
  {
    Store store = make_store(dir_);
    add_unit(store, kind, 1000);
    store.update_manifest([](Manifest& manifest) {
      manifest.state = StoreState::Complete;
      manifest.sigma_exact = 41;
    });
    Reservation reservation = store.reserve(store.served(), counts_of(kind, 300));
    EXPECT_TRUE(holds(reservation.draw(kind, 100), kind, Party::A, 0, 100));
  }
  Store store = Store::open(dir_);
  EXPECT_EQ(store.served(), counts_of(kind, 300));
  EXPECT_EQ(store.left(), counts_of(kind, 700));
  EXPECT_EQ(store.manifest().units_made, 1u);
  EXPECT_EQ(store.manifest().state, StoreState::Complete);
  EXPECT_EQ(store.manifest().sigma_exact, 41);
  EXPECT_EQ(store.global_key().value.lo, kTestDelta.value.lo);
  EXPECT_EQ(store.global_key().value.hi, kTestDelta.value.hi);
  Reservation reservation = store.reserve(store.served(), counts_of(kind, 700));
  EXPECT_TRUE(holds(reservation.draw(kind, 700), kind, Party::A, 300, 700));
}

TEST_F(StoreTest, DropsUnfinishedUnit) {
  const MaterialKind kind = MaterialKind::Triples;
  {
    Store store = make_store(dir_);
    add_unit(store, kind, 100);
    // More than kCommitBytes, so that records of the open unit are in the file.
    for (int i = 0; i < 15; ++i)
      store.pour(test_batch(kind, Party::A, 100 + 100000u * static_cast<unsigned>(i), 100000));
    EXPECT_GT(store.bytes_of(kind), std::uint64_t{60} << 20);
    EXPECT_EQ(store.made(), counts_of(kind, 100));
  }
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.made(), counts_of(kind, 100));
  EXPECT_EQ(store.manifest().units_made, 1u);
  EXPECT_LT(store.bytes_of(kind), std::uint64_t{1} << 20);
  add_unit(store, kind, 50);
  Reservation reservation = store.reserve(store.served(), counts_of(kind, 150));
  EXPECT_TRUE(holds(reservation.draw(kind, 150), kind, Party::A, 0, 150));
}

TEST_F(StoreTest, HigherStartBurnsOnlyRequestedKinds) {
  const MaterialKind kind = MaterialKind::AuthBitsA, other = MaterialKind::AuthBitsB;
  Store store = make_store(dir_);
  add_unit(store, kind, 1000);
  add_unit(store, other, 10);
  MaterialCounts start = counts_of(kind, 130);
  start[other] = 10;
  Reservation reservation = store.reserve(start, counts_of(kind, 70));
  EXPECT_EQ(reservation.burnt(), counts_of(kind, 130));
  EXPECT_EQ(store.burnt(), counts_of(kind, 130));
  EXPECT_EQ(store.served(), counts_of(kind, 200));
  EXPECT_EQ(store.left()[other], 10u);
  EXPECT_TRUE(draws(reservation, kind, Party::A, 130, 70));
  // A lower start does not lower the position.
  Reservation next = store.reserve(counts_of(kind, 130), counts_of(kind, 5));
  EXPECT_EQ(next.burnt(), MaterialCounts{});
  EXPECT_TRUE(draws(next, kind, Party::A, 200, 5));
}

TEST_F(StoreTest, ConcurrentReservationsAreDisjoint) {
  const MaterialKind kind = MaterialKind::AuthAndsB;
  Store store = make_store(dir_);
  add_unit(store, kind, 3 * material::full_batch(kind));
  const std::size_t half = material::full_batch(kind) * 3 / 2;
  Reservation first = store.reserve(store.served(), counts_of(kind, half));
  Reservation second = store.reserve(store.served(), counts_of(kind, half));
  EXPECT_TRUE(holds(second.draw(kind, 100), kind, Party::A, half, 100));
  second.finish();
  EXPECT_THROW(second.draw(kind, 1), OutOfMaterial);
  EXPECT_TRUE(holds(first.draw(kind, half), kind, Party::A, 0, half));
  EXPECT_THROW(first.draw(kind, 1), OutOfMaterial);
}

TEST_F(StoreTest, DropsServedRecordsWhenReservationEnds) {
  const MaterialKind kind = MaterialKind::AuthAndsA;
  Store store = make_store(dir_);
  const std::size_t capacity = material::full_batch(kind);
  add_unit(store, kind, 10 * capacity);
  const std::uint64_t before = store.bytes_of(kind), file = store.store_bytes();
  {
    Reservation reservation = store.reserve(store.served(), counts_of(kind, 5 * capacity + 1));
    Reservation moved_to = std::move(reservation);
    // The batch at the end of the range is cut in two.
    EXPECT_NEAR(static_cast<double>(store.bytes_of(kind)), static_cast<double>(before), 64);
  }
  EXPECT_NEAR(static_cast<double>(store.bytes_of(kind)), static_cast<double>(before) / 2, 8192);
  EXPECT_TRUE(holds(store.reserve(store.served(), counts_of(kind, 9)).draw(kind, 9), kind, Party::A,
                    5 * capacity + 1, 9));
  // The space of dropped records is reused.
  for (int round = 0; round < 6; ++round) {
    (void)store.reserve({}, counts_of(kind, 4 * capacity));
    add_unit(store, kind, 4 * capacity);
  }
  EXPECT_LT(store.store_bytes(), file + file / 2);
}

TEST_F(StoreTest, OutOfMaterialNamesEveryShortKindAndChangesNothing) {
  Store store = make_store(dir_);
  add_unit(store, MaterialKind::AuthAndsA, 10);
  add_unit(store, MaterialKind::AuthBitsB, 5);
  MaterialCounts needed = counts_of(MaterialKind::AuthAndsA, 20);
  needed[MaterialKind::AuthBitsB] = 5;
  needed[MaterialKind::AuthOtsAB] = 1;
  const std::string message = message_of<OutOfMaterial>([&] { store.reserve({}, needed); });
  EXPECT_TRUE(message.ends_with(": auth_ands_a has 10, needs 20, auth_ots_ab has 0, needs 1"))
      << message;
  EXPECT_FALSE(mentions(message, "auth_bits_b"));
  EXPECT_EQ(remedy_of([&] { store.reserve({}, needed); }), Remedy::AddMaterial);
  // A start beyond what was made, and sums that overflow.
  EXPECT_TRUE(mentions(message_of<OutOfMaterial>([&] {
                         store.reserve(counts_of(MaterialKind::AuthAndsA, 11),
                                       counts_of(MaterialKind::AuthAndsA, 1));
                       }),
                       "auth_ands_a has 0, needs 1 from index 11 on"));
  EXPECT_THROW(store.reserve(counts_of(MaterialKind::AuthAndsA, ~std::uint64_t{0}),
                             counts_of(MaterialKind::AuthAndsA, 1)),
               OutOfMaterial);
  EXPECT_THROW(store.reserve(counts_of(MaterialKind::AuthAndsA, 5),
                             counts_of(MaterialKind::AuthAndsA, ~std::uint64_t{0})),
               OutOfMaterial);
  EXPECT_EQ(store.served(), MaterialCounts{});
  EXPECT_EQ(store.burnt(), MaterialCounts{});
  EXPECT_TRUE(holds(
      store.reserve({}, counts_of(MaterialKind::AuthAndsA, 10)).draw(MaterialKind::AuthAndsA, 10),
      MaterialKind::AuthAndsA, Party::A, 0, 10));
}

TEST_F(StoreTest, DrawBeyondReservationChangesNothing) {
  const MaterialKind kind = MaterialKind::AuthBitsB;
  Store store = make_store(dir_, Party::B);
  add_unit(store, kind, 100);
  Reservation reservation = store.reserve({}, counts_of(kind, 60));
  EXPECT_TRUE(mentions(message_of<OutOfMaterial>([&] { reservation.draw(kind, 61); }),
                       "auth_bits_b has 60, needs 61"));
  EXPECT_TRUE(holds(reservation.draw(kind, 60), kind, Party::B, 0, 60));
}

TEST_F(StoreTest, ReservationOutlivesHandle) {
  const MaterialKind kind = MaterialKind::AuthBitsA;
  auto store = std::make_unique<Store>(make_store(dir_));
  add_unit(*store, kind, 100);
  auto reservation = std::make_unique<Reservation>(store->reserve({}, counts_of(kind, 60)));
  store.reset();
  EXPECT_TRUE(holds(reservation->draw(kind, 60), kind, Party::A, 0, 60));
  EXPECT_TRUE(
      mentions(message_of([&] { Store::open(dir_, {.purpose = Purpose::Own}); }), "in use"));
  reservation.reset();
  EXPECT_EQ(Store::open(dir_).left(), counts_of(kind, 40));
}

TEST_F(StoreOnDiskTest, MapGrowsWithoutLoss) {
  const MaterialKind kind = MaterialKind::AuthAndsA;
  Store store = make_store(dir_);  // a map of some 17 MiB
  std::uint64_t made = 0;
  for (int unit = 0; unit < 3; ++unit) {
    add_unit(store, kind, 1000000);
    made += 1000000;
  }
  EXPECT_GT(store.store_bytes(), std::uint64_t{130} << 20);
  Reservation reservation = store.reserve({}, counts_of(kind, made));
  for (std::uint64_t drawn = 0; drawn < made; drawn += 100000)
    ASSERT_TRUE(holds(reservation.draw(kind, 100000), kind, Party::A, drawn, 100000));
}

TEST_F(StoreTest, RevokedSessionServesNothing) {
  const MaterialKind kind = MaterialKind::AuthBitsA;
  {
    Store store = make_store(dir_);
    add_unit(store, kind, 100);
    Reservation reservation = store.reserve({}, counts_of(kind, 10));
    store.revoke("EQ of LaBit\n");
    store.revoke("a later reason");
    EXPECT_TRUE(mentions(message_of([&] { reservation.draw(kind, 1); }),
                         "session is revoked: EQ of LaBit?;"));
  }
  const std::string key_bytes(reinterpret_cast<const char*>(&kTestDelta), sizeof kTestDelta);
  for (const auto& entry : std::filesystem::directory_iterator(dir_))
    EXPECT_EQ(read_file(entry.path()).find(key_bytes), std::string::npos) << entry.path();
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.manifest().state, StoreState::Revoked);
  EXPECT_EQ(store.protection(), KeyProtection::Erased);
  EXPECT_EQ(store.made(), counts_of(kind, 100));
  const std::string messages[] = {
      message_of([&] { store.reserve(store.served(), {}); }),
      message_of([&] { store.take({}, {}); }),
      message_of([&] { store.claim(1); }),
      message_of([&] { store.unlock(0, 1, {}); }),
      message_of([&] { store.cut_back(0); }),
      message_of([&] { (void)store.global_key(); }),
      message_of([&] { store.pour(test_batch(kind, Party::A, 100, 1)); }),
      message_of([&] { store.finish_unit(); }),
      message_of([&] { store.update_manifest([](Manifest&) {}); }),
  };
  for (const std::string& message : messages)
    EXPECT_TRUE(mentions(message, "session is revoked: EQ of LaBit?"));
}

TEST_F(StoreTest, InventoryAddsUp) {
  const MaterialKind kind = MaterialKind::AuthAndsA;
  Store store = make_store(dir_);
  add_unit(store, kind, 1000);
  add_locked_unit(store, kind, 50);
  Reservation reservation = store.reserve(counts_of(kind, 10), counts_of(kind, 90));
  (void)store.grant({.counts = counts_of(kind, 25), .at_least = {}, .is_plan = true});
  const Inventory inventory = take_inventory(store);
  const KindCounts& ands = inventory.of(kind);
  EXPECT_EQ(ands.made, 1050u);
  EXPECT_EQ(ands.unconfirmed, 50u);
  EXPECT_EQ(ands.spent, 125u);
  EXPECT_EQ(ands.planned, 25u);
  EXPECT_EQ(ands.burnt, 10u);
  EXPECT_EQ(ands.left, 875u);
  EXPECT_GE(ands.bytes, 48000u);
  EXPECT_EQ(inventory.planned, store.cursors().planned);
  EXPECT_EQ(inventory.protection, KeyProtection::ByPermissions);
  EXPECT_EQ(inventory.of(MaterialKind::Triples).made, 0u);
  EXPECT_EQ(inventory.manifest, store.manifest());
  EXPECT_GE(inventory.store_bytes, ands.bytes);
}

TEST_F(StoreTest, WrongShapeIsLogicError) {
  Store store = make_store(dir_, Party::A);
  EXPECT_THROW(store.pour(test_batch(MaterialKind::AuthBitsA, Party::B, 0, 10)), std::logic_error);
  material::Batch uneven = test_batch(MaterialKind::Triples, Party::A, 0, 10);
  uneven.shares[2] = AuthShares(9);
  EXPECT_THROW(store.pour(std::move(uneven)), std::logic_error);
  EXPECT_THROW(store.update_manifest([](Manifest& manifest) { manifest.me = Party::B; }),
               std::logic_error);
}

}  // namespace
}  // namespace tinyot
