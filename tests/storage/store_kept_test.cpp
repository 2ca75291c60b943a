// Reference bits: stored with the unit that is finished next, and never drawn.
#include "storage/verify.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kKeptReferenceBits = 128;
constexpr MaterialKind kOfA = MaterialKind::AuthBitsA, kOfB = MaterialKind::AuthBitsB,
                       kAnds = MaterialKind::AuthAndsA;

class KeptTest : public StoreTest {
 protected:
  // Objects that do not occur in any unit of these tests.
  static constexpr std::uint64_t kFrom = 1 << 20;

  static void keep(Store& store, std::uint64_t from = kFrom) {
    for (const MaterialKind kind : {kOfA, kOfB})
      store.add_reference_bits(test_batch(kind, store.manifest().me, from, kKeptReferenceBits));
  }
  static ::testing::AssertionResult has_kept(const Store& store, std::uint64_t from = kFrom) {
    std::optional<material::ReferenceBits> kept = store.reference_bits();
    if (!kept) return ::testing::AssertionFailure() << "no reference bits";
    const auto of_a =
        holds(std::move(kept->bits_a), kOfA, store.manifest().me, from, kKeptReferenceBits);
    return of_a
               ? holds(std::move(kept->bits_b), kOfB, store.manifest().me, from, kKeptReferenceBits)
               : of_a;
  }
};

TEST_F(KeptTest, AreStoredWithNextUnit) {
  for (const Party me : {Party::A, Party::B}) {
    const auto dir = root_ / std::string(1, letter(me));
    {
      Store store = make_store(dir, me);
      keep(store);
      EXPECT_FALSE(store.reference_bits());
      add_unit(store, kAnds, 10);
      add_unit(store, kAnds, 10);
      EXPECT_TRUE(has_kept(store));
    }
    EXPECT_TRUE(has_kept(Store::open(dir))) << letter(me);
  }
}

TEST_F(KeptTest, AreNeverServed) {
  Store store = make_store(dir_);
  keep(store);
  add_unit(store, kOfA, 10);
  EXPECT_EQ(store.made(), counts_of(kOfA, 10));
  EXPECT_EQ(store.halves(0, 1).of.size(), 1u);
  Reservation all = reserve_all(store);
  EXPECT_TRUE(draws(all, kOfA, Party::A, 0, 10));
  all.finish();
  EXPECT_TRUE(has_kept(store));
  EXPECT_EQ(verify(store).batches, 0u);
}

TEST_F(KeptTest, AreDroppedWithUnfinishedUnit) {
  {
    Store store = make_store(dir_);
    keep(store);
    store.pour(test_batch(kAnds, Party::A, 0, 10));
  }
  EXPECT_FALSE(open_to_make(dir_).reference_bits());
}

TEST_F(KeptTest, AreDroppedWithFirstUnitOnly) {
  const auto dropped = [&](Store& store) {
    std::optional<BatchEntry> entry;
    store.read([&](const ReadTransaction& view) { entry = view.reference_entry(kOfB); });
    store.cut_back(0);
    return *entry;
  };
  Store store = make_store(dir_);
  keep(store);
  add_locked_unit(store, kAnds, 10);
  add_locked_unit(store, kAnds, 10);
  store.cut_back(1);
  EXPECT_TRUE(has_kept(store));
  const BatchEntry entry = dropped(store);
  EXPECT_FALSE(store.reference_bits());
  store.read([&](const ReadTransaction& view) {
    EXPECT_TRUE(mentions(message_of([&] { (void)view.key_of(entry); }), "is erased"));
  });
  // The first unit is made again, with other reference bits.
  keep(store, 2 * kFrom);
  add_unit(store, kAnds, 5);
  EXPECT_TRUE(has_kept(store, 2 * kFrom));
}

TEST_F(KeptTest, RejectsCorruptBits) {
  {
    Store store = make_store(dir_);
    keep(store);
    add_unit(store, kAnds, 10);
  }
  std::string sealed;
  Store::open(dir_).read([&](const ReadTransaction& view) {
    const ByteView record = view.record(view.reference_entry(kOfA).value());
    sealed.assign(reinterpret_cast<const char*>(record.data()), record.size());
  });
  std::string changed = sealed;
  changed[sealed.size() / 2] ^= 1;
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", sealed, changed), 1);
  const Store store = Store::open(dir_);
  EXPECT_TRUE(mentions(message_of([&] { (void)store.reference_bits(); }),
                       "auth_bits_a (reference bits) is corrupt"));
  EXPECT_EQ(verify(store).corrupt.size(), 1u);
}

TEST_F(KeptTest, AreErasedByRevocation) {
  Store store = make_store(dir_);
  keep(store);
  add_unit(store, kAnds, 10);
  store.revoke("a reason");
  EXPECT_TRUE(mentions(message_of([&] { (void)store.reference_bits(); }), "session is revoked"));
}

}  // namespace
}  // namespace tinyot
