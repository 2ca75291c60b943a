// Stores on systems whose pages have other sizes than this one's, which functions in place of those
// of the C library imitate: LMDB asks for the size, and maps files at multiples of it.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "storage/verify.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace {

long imitated_page_bytes = 4096;
std::size_t released = 0, released_inside_of_a_page = 0;

void* mapped(void* at, std::size_t size, int protection, int flags, int file, off_t from) {
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, size, protection, flags, file, from));
}

}  // namespace

extern "C" {

long sysconf(int name) __THROW {
  static const auto original = reinterpret_cast<long (*)(int)>(::dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_PAGESIZE ? imitated_page_bytes : original(name);
}

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t from) __THROW {
  const auto page = static_cast<std::size_t>(imitated_page_bytes);
  if (at != nullptr || file < 0 || page == 4096)
    return mapped(at, size, protection, flags, file, from);
  // Inside of a part of the address space that has a page more.
  void* const space =
      mapped(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return space;
  auto* const begin = static_cast<std::byte*>(space);
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(space) % page) % page;
  if (before > 0) ::munmap(begin, before);
  if (before < page) ::munmap(begin + before + size, page - before);
  return mapped(begin + before, size, protection, flags | MAP_FIXED, file, from);
}

int madvise(void* at, std::size_t size, int advice) __THROW {
  if (advice == MADV_DONTNEED) {
    ++released;
    const auto page = static_cast<std::size_t>(imitated_page_bytes);
    if (reinterpret_cast<std::uintptr_t>(at) % page != 0 || size % page != 0)
      ++released_inside_of_a_page;
  }
  return static_cast<int>(::syscall(SYS_madvise, at, size, advice));
}

}  // extern "C"

namespace tinyot {
namespace {

constexpr MaterialKind kSmall = MaterialKind::AuthBitsA, kLarge = MaterialKind::Triples;
constexpr std::size_t kSmallCount = 5, kLargeCount = 4000;
constexpr std::uint64_t kUnits = 60, kBatches = kUnits + 3;

class StorePages : public StoreTest, public testing::WithParamInterface<long> {
 protected:
  StorePages() { imitated_page_bytes = GetParam(); }
  ~StorePages() override { imitated_page_bytes = 4096; }

  // Small records, many, and large ones, which have pages of their own.
  static void add_units(Store& store) {
    for (std::uint64_t unit = 0; unit < kUnits; ++unit) {
      store.pour(test_batch(kSmall, Party::A, store.made()[kSmall], kSmallCount));
      if (unit % 20 == 7)
        store.pour(test_batch(kLarge, Party::A, store.made()[kLarge], kLargeCount));
      store.finish_unit();
    }
    unlock_all(store);
  }

  void make() const {
    Store store = make_store(dir_);
    add_units(store);
  }

  std::string database() const { return read_file(dir_ / "material.mdb"); }
  void flip(std::size_t at) const {
    std::fstream file(dir_ / "material.mdb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int changed = file.get() ^ 2;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(changed));
    ASSERT_TRUE(file.flush());
  }
};
// Those of 64-bit ARM.
INSTANTIATE_TEST_SUITE_P(Of, StorePages, testing::Values(4096, 16384, 65536));

TEST_P(StorePages, AreThoseOfTheSystemUpTo32768Bytes) {
  make();
  EXPECT_EQ(page_bytes_in(database()), static_cast<std::size_t>(std::min(GetParam(), 32768L)));
}

TEST_P(StorePages, HoldWhatIsServedAfterEachOpening) {
  make();
  const Verification verification = verify(Store::open(dir_, {.purpose = Purpose::Inspect}));
  EXPECT_EQ(verification.good.size(), verification.batches);
  EXPECT_EQ(verification.batches, kBatches);
  for (std::uint64_t taken = 0; taken < 3; ++taken) {
    Store store = Store::open(dir_);
    MaterialCounts counts = counts_of(kSmall, 7);
    counts[kLarge] = kLargeCount;
    Reservation reservation = store.reserve({}, counts);
    EXPECT_TRUE(draws(reservation, kSmall, Party::A, 7 * taken, 7));
    EXPECT_TRUE(draws(reservation, kLarge, Party::A, kLargeCount * taken, kLargeCount));
  }
}

TEST_P(StorePages, AreCheckedBeforeLmdbReadsThem) {
  make();
  const std::string whole = database();
  const std::size_t page_bytes = page_bytes_in(whole);
  std::size_t found = 0;
  for (std::size_t at = 2 * page_bytes; at < whole.size(); at += page_bytes) {
    const char flags = whole[at + 10];
    if (flags != 1 && flags != 2) continue;  // of branches and leaves, some of them not in use
    flip(at);                                // its number
    const std::string message = message_of([&] { (void)Store::open(dir_); });
    if (mentions(message, "page " + std::to_string(at / page_bytes) + ", its header")) ++found;
    flip(at);
  }
  EXPECT_GE(found, 4u) << "state, units and two catalogues";
}

TEST_P(StorePages, OfALargeRecordAreCheckedBeforeItIsRead) {
  make();
  Store store = Store::open(dir_);
  const std::size_t at = database().find(sealed_record(store, kLarge, 0));
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ((at - 16) % page_bytes_in(database()), 0u) << "it has pages of its own";
  Reservation reservation = reserve_all(store);
  flip(at - 4);  // the number of its pages
  EXPECT_TRUE(mentions(message_of([&] { (void)reservation.draw(kLarge, kLargeCount); }),
                       "of the store's database is corrupt"));
}

TEST_P(StorePages, AreReleasedAfterARecordHasBeenServed) {
  make();
  Store store = Store::open(dir_);
  Reservation reservation = reserve_all(store);
  released = released_inside_of_a_page = 0;
  (void)reservation.draw(kLarge, kLargeCount);
  EXPECT_GT(released, 0u);
  EXPECT_EQ(released_inside_of_a_page, 0u);
}

TEST_P(StorePages, OfASystemWithSmallerOnesAreKept) {
  imitated_page_bytes = 4096;
  make();
  imitated_page_bytes = GetParam();
  {
    Store store = open_to_make(dir_);
    add_units(store);
  }
  EXPECT_EQ(page_bytes_in(database()), 4096u);
  const Verification verification = verify(Store::open(dir_, {.purpose = Purpose::Inspect}));
  EXPECT_EQ(verification.good.size(), 2 * kBatches);
}

TEST_P(StorePages, OfASystemWithLargerOnesAreRefused) {
  make();
  const std::string before = database();
  const std::size_t page_bytes = page_bytes_in(before);
  imitated_page_bytes = 4096;
  const std::string message = message_of([&] { (void)Store::open(dir_); });
  if (page_bytes == 4096) {
    EXPECT_EQ(message, "");
    return;
  }
  EXPECT_TRUE(mentions(message, "has pages of " + std::to_string(page_bytes) + " bytes"));
  EXPECT_TRUE(database() == before);
}

}  // namespace
}  // namespace tinyot
