// verify() checks every batch of every kind.
#include "storage/verify.h"

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

class VerifyTest : public StoreTest {
 protected:
  // Three batches of the first kind and three of the last.
  VerifyTest() {
    Store store = make_store(dir_);
    for (int unit = 0; unit < 3; ++unit) {
      store.pour(test_batch(kFirst, Party::A, store.made()[kFirst], kCount));
      store.pour(test_batch(kLast, Party::A, store.made()[kLast], kCount));
      store.finish_unit();
    }
    unlock_all(store);
  }

  void corrupt(MaterialKind kind, std::uint64_t index, std::size_t byte_from_end) const {
    const std::string sealed =
        sealed_record(Store::open(dir_, {.purpose = Purpose::Inspect}), kind, index);
    std::string changed = sealed;
    changed[changed.size() - 1 - byte_from_end] ^= 1;
    ASSERT_GT(replace_in_file(dir_ / "material.mdb", sealed, changed), 0);
  }

  void lose(MaterialKind kind, std::uint64_t index) const {
    Store store = Store::open(dir_, {.purpose = Purpose::Own});
    store.change("lose a batch", 0, [&](WriteTransaction& change) {
      change.drop(change.entry_holding(kind, index).value());
    });
  }

  Verification verified() const { return verify(Store::open(dir_, {.purpose = Purpose::Inspect})); }

  std::string last_corrupt() const {
    const std::vector<std::string> corrupt = verified().corrupt;
    return corrupt.empty() ? "" : corrupt.back();
  }

  static constexpr MaterialKind kFirst = MaterialKind::AuthBitsA, kLast = MaterialKind::Triples;
  static constexpr std::uint64_t kCount = 100;
};

TEST_F(VerifyTest, CountsEveryBatchOfValidStore) {
  const Verification verification = verified();
  EXPECT_EQ(verification.batches, 6u);
  EXPECT_EQ(verification.good.size(), 6u);
  EXPECT_TRUE(verification.corrupt.empty());
}

TEST_F(VerifyTest, NamesCorruptBatchAnywhere) {
  std::size_t corrupted = 0;
  for (const MaterialKind kind : {kFirst, kLast}) {
    for (const std::uint64_t index : {0u, 100u, 200u}) {
      corrupt(kind, index, 0);
      const Verification verification = verified();
      EXPECT_EQ(verification.corrupt.size(), ++corrupted);
      EXPECT_EQ(verification.good.size(), 6 - corrupted);
    }
  }
  EXPECT_TRUE(mentions(last_corrupt(), "triples 200..299 is corrupt"));
}

TEST_F(VerifyTest, NamesMissingBatchBeforeLast) {
  std::size_t lost = 0;
  for (const MaterialKind kind : {kFirst, kLast}) {
    lose(kind, 100);
    const Verification verification = verified();
    EXPECT_EQ(verification.corrupt.size(), ++lost);
    EXPECT_EQ(verification.good.size(), 6 - lost);
  }
  EXPECT_TRUE(mentions(last_corrupt(), "triples 100 is missing"));
}

TEST_F(VerifyTest, NamesMissingLastBatch) {
  lose(kLast, 200);
  ASSERT_EQ(verified().corrupt.size(), 1u);
  EXPECT_TRUE(mentions(verified().corrupt[0], "triples 200 is missing"));
}

TEST_F(VerifyTest, ChecksPlannedMaterial) {
  {
    Store store = Store::open(dir_);
    (void)store.grant({counts_of(kLast, 200), {}, true});
  }
  corrupt(kLast, 0, 0);
  EXPECT_EQ(verified().corrupt.size(), 1u);
  lose(kLast, 100);
  EXPECT_EQ(verified().corrupt.size(), 2u);
  EXPECT_TRUE(mentions(last_corrupt(), "triples 100 is missing"));
}

}  // namespace
}  // namespace tinyot
