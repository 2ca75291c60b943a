// Stores and directories that are rejected, and the error messages.
#include <sys/stat.h>

#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& dir) {
  return message_of([&] { Store::open(dir); });
}

mode_t mode_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_mode & 07777;
}

TEST_F(StoreTest, MissingStoreErrorHasRemedy) {
  EXPECT_EQ(refusal(dir_), "no store in " + dir_.string());
  EXPECT_EQ(remedy_of([&] { Store::open(dir_); }), Remedy::MakeMaterial);
  fs::create_directory(dir_);
  EXPECT_EQ(refusal(dir_), "no store in " + dir_.string());
  EXPECT_EQ(remedy_of([&] { Store::open(dir_); }), Remedy::MakeMaterial);
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(StoreTest, MakesPrivateFiles) {
  const fs::path nested = root_ / "a" / "b";
  const Store store = make_store(nested / "");
  EXPECT_EQ(mode_of(nested), 0700u);
  for (const auto& entry : fs::directory_iterator(nested))
    EXPECT_EQ(mode_of(entry.path()), 0600u) << entry.path();
}

TEST_F(StoreTest, RejectsSecondStoreInDirectory) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 10);
  }
  EXPECT_TRUE(mentions(message_of([&] { make_store(dir_); }),
                       "already holds a store; continue it, or choose another directory"));
  EXPECT_EQ(remedy_of([&] { make_store(dir_); }), Remedy::Resume);
  EXPECT_EQ(Store::open(dir_).made(), counts_of(kTestKind, 10));
}

TEST_F(StoreTest, CheckAbsentChangesNothing) {
  EXPECT_EQ(message_of([&] { Store::check_absent(dir_); }), "");
  EXPECT_FALSE(fs::exists(dir_));
  { const Store store = make_store(dir_); }
  EXPECT_TRUE(mentions(message_of([&] { Store::check_absent(dir_); }), "already holds a store"));
  write_private_file(root_ / "file", "x");
  EXPECT_TRUE(
      mentions(message_of([&] { Store::check_absent(root_ / "file"); }), "is not a directory"));
}

TEST_F(StoreTest, RejectsUnsuitableDirectories) {
  write_private_file(root_ / "file", "x");
  EXPECT_TRUE(mentions(message_of([&] { make_store(root_ / "file"); }), "is not a directory"));
  EXPECT_NE(message_of([&] { make_store("/proc/tinyot_store"); }), "");
  fs::create_directory(root_ / "loose");
  ASSERT_EQ(::chmod((root_ / "loose").c_str(), 0755), 0);
  EXPECT_TRUE(mentions(message_of([&] { make_store(root_ / "loose"); }), "(mode 0755)"));
  if (::geteuid() != 0) {
    fs::create_directory(root_ / "read_only");
    ASSERT_EQ(::chmod((root_ / "read_only").c_str(), 0500), 0);
    EXPECT_TRUE(mentions(message_of([&] { make_store(root_ / "read_only"); }), "cannot write in"));
  }
}

TEST_F(StoreTest, RejectsLoosePermissionsAndNamesCommand) {
  { const Store store = make_store(dir_); }
  for (const char* name : {"material.mdb", "store.keys", "store.lock", "material.mdb-lock"}) {
    const fs::path file = dir_ / name;
    ASSERT_EQ(::chmod(file.c_str(), 0640), 0) << file;
    EXPECT_TRUE(mentions(refusal(dir_), "(mode 0640)"));
    EXPECT_TRUE(mentions(refusal(dir_), "chmod 600 " + file.string()));
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  ASSERT_EQ(::chmod(dir_.c_str(), 0711), 0);
  EXPECT_TRUE(mentions(refusal(dir_), "chmod 700 " + dir_.string()));
  ASSERT_EQ(::chmod(dir_.c_str(), 0700), 0);
  EXPECT_EQ(refusal(dir_), "");
}

TEST_F(StoreTest, RejectsForeignFilesUnchanged) {
  fs::create_directory(dir_);
  ASSERT_EQ(::chmod(dir_.c_str(), 0700), 0);
  for (const std::string& bytes :
       {std::string(), std::string("hello"), std::string(8192, '\0'), std::string(100000, 'x')}) {
    write_private_file(dir_ / "material.mdb", bytes);
    EXPECT_TRUE(mentions(refusal(dir_), "is not a TinyOT store")) << bytes.size();
    EXPECT_EQ(read_file(dir_ / "material.mdb"), bytes);
  }
}

TEST_F(StoreTest, RejectsWrongMagic) {
  { const Store store = make_store(dir_); }
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", "TinyOT store", "TinyOT stork"), 0);
  EXPECT_TRUE(mentions(refusal(dir_), "is not a TinyOT store"));
}

TEST_F(StoreTest, RejectsTruncationAtEveryPage) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 1000);
  }
  const std::string whole = read_file(dir_ / "material.mdb");
  const std::uint64_t used = Store::open(dir_).store_bytes() - fs::file_size(dir_ / "store.keys");
  for (std::uint64_t size = 4096; size < used; size += 4096) {
    write_private_file(dir_ / "material.mdb", whole.substr(0, size));
    EXPECT_NE(refusal(dir_), "") << size;
  }
  write_private_file(dir_ / "material.mdb", whole.substr(0, used - 1));
  EXPECT_TRUE(mentions(refusal(dir_), "is truncated"));
  write_private_file(dir_ / "material.mdb", whole.substr(0, used));
  EXPECT_EQ(refusal(dir_), "");
}

TEST_F(StoreTest, RejectsOtherFormats) {
  { const Store store = make_store(dir_); }
  // Field 1 of the manifest, a fixed 32-bit number, and the header of field 2.
  const auto head = [](char version) {
    return std::string{'\x0d', version, 0, 0, 0, '\x12', '\x20'};
  };
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", head(4), head(5)), 0);
  EXPECT_EQ(refusal(dir_),
            "this store has format 5; this version reads format 4: use the version that made the "
            "store");
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", head(5), head(3)), 0);
  EXPECT_EQ(refusal(dir_),
            "this store has format 3; this version reads format 4: preprocess into a new store");
}

// Offsets of the fields of store.keys, as in FORMAT.md.
constexpr std::size_t kVersionAt = 8, kProtectionAt = 12, kSessionAt = 16, kSaltAt = 48,
                      kSlotsAt = 128, kSlotBytes = 64;

TEST_F(StoreTest, ChecksKeyTable) {
  { const Store store = make_store(dir_); }
  const fs::path keys = dir_ / "store.keys";
  const std::string whole = read_file(keys);
  ASSERT_EQ(whole.size(), kSlotsAt + kSlotBytes);
  const auto with_byte = [&](std::size_t at, char value) {
    std::string bytes = whole;
    bytes[at] = value;
    write_private_file(keys, bytes);
    return refusal(dir_);
  };
  EXPECT_TRUE(mentions(with_byte(0, 'X'), "is corrupt (header)"));
  EXPECT_TRUE(mentions(with_byte(kVersionAt, 3),
                       "made by a newer version (format 3, this program reads up to 2)"));
  EXPECT_TRUE(mentions(with_byte(kVersionAt, 1), "is corrupt (header)"));
  EXPECT_TRUE(mentions(with_byte(kProtectionAt, 0), "is corrupt (header)"));
  EXPECT_TRUE(mentions(with_byte(kProtectionAt, 2), "is sealed under a store key"));
  EXPECT_TRUE(mentions(with_byte(kProtectionAt, 3), "are erased"));
  EXPECT_TRUE(mentions(with_byte(kProtectionAt, 4), "is corrupt (header)"));
  for (std::size_t at = kSessionAt; at < kSaltAt; ++at)
    EXPECT_TRUE(
        mentions(with_byte(at, static_cast<char>(~whole[at])), "belongs to another session"))
        << at;
  // the salt, the zeros, the check
  for (std::size_t at = kSaltAt; at < kSlotsAt; ++at)
    EXPECT_TRUE(mentions(with_byte(at, static_cast<char>(~whole[at])), "is corrupt (header)"));
  for (std::size_t at = kSlotsAt; at < whole.size(); ++at)
    EXPECT_TRUE(mentions(with_byte(at, static_cast<char>(~whole[at])),
                         "the key of the global key in " + keys.string() + " is corrupt"));
  write_private_file(keys, whole.substr(0, kSlotsAt) + std::string(kSlotBytes, '\0'));
  EXPECT_TRUE(mentions(refusal(dir_), "is erased"));
  write_private_file(keys, whole.substr(0, whole.size() - 1));
  EXPECT_TRUE(mentions(refusal(dir_), "is erased"));
  write_private_file(keys, whole.substr(0, kSlotsAt - 1));
  EXPECT_TRUE(mentions(refusal(dir_), "is corrupt (header)"));
  fs::rename(keys, root_ / "keys");
  EXPECT_TRUE(mentions(refusal(dir_), "is missing"));
  fs::rename(root_ / "keys", keys);
  write_private_file(keys, whole);
  EXPECT_EQ(refusal(dir_), "");
}

TEST_F(StoreTest, DrawNamesCorruptBatch) {
  std::string sealed;
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 100);
    add_unit(store, kTestKind, 100);
    sealed = sealed_record(store, kTestKind, 0);
  }
  std::string flipped = sealed;
  flipped[sealed.size() / 2] ^= 1;
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", sealed, flipped), 1);
  Store store = Store::open(dir_);
  Reservation reservation = store.reserve({}, counts_of(kTestKind, 200));
  EXPECT_TRUE(mentions(message_of([&] { reservation.draw(kTestKind, 150); }),
                       "batch auth_ands_a 0..99 is corrupt"));
}

TEST_F(StoreTest, CutNamesCorruptBatch) {
  std::string sealed;
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 100);
    sealed = sealed_record(store, kTestKind, 0);
  }
  std::string flipped = sealed;
  flipped[0] ^= 64;
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", sealed, flipped), 1);
  Store store = Store::open(dir_);
  EXPECT_TRUE(mentions(message_of([&] { store.reserve({}, counts_of(kTestKind, 50)); }),
                       "batch auth_ands_a 0..99 is corrupt"));
  EXPECT_EQ(store.served(), MaterialCounts{});
}

TEST_F(StoreTest, RejectsSwappedBatches) {
  std::string first, second;
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 100);
    add_unit(store, kTestKind, 100);
    first = sealed_record(store, kTestKind, 0);
    second = sealed_record(store, kTestKind, 100);
  }
  const std::string between(first.size(), 'x');
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", first, between), 1);
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", second, first), 1);
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", between, second), 1);
  Store store = Store::open(dir_);
  Reservation reservation = reserve_all(store);
  EXPECT_TRUE(mentions(message_of([&] { reservation.draw(kTestKind, 1); }),
                       "batch auth_ands_a 0..99 is corrupt"));
}

}  // namespace
}  // namespace tinyot
