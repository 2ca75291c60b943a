#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>

#include "storage/record.h"
#include "tests/storage/store_support.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

constexpr MaterialKind kKind = MaterialKind::AuthAndsA;

std::string open_message(const fs::path& dir) {
  return message_of([&] { Store::open(dir); });
}

mode_t mode_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_mode & 07777;
}

TEST_F(StoreTest, MissingStoreSaysHowToMakeOne) {
  EXPECT_EQ(open_message(dir_), "no store in " + dir_.string() + "; make one with tinyot preprocess");
  fs::create_directory(dir_);
  EXPECT_EQ(open_message(dir_), "no store in " + dir_.string() + "; make one with tinyot preprocess");
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(StoreTest, EverythingIsPrivate) {
  const fs::path nested = root_ / "a" / "b";
  const Store store = make_store(nested / "");
  EXPECT_EQ(mode_of(nested), 0700u);
  for (const auto& entry : fs::directory_iterator(nested)) EXPECT_EQ(mode_of(entry.path()), 0600u) << entry.path();
}

TEST_F(StoreTest, SecondStoreInADirectoryIsRefused) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 10);
  }
  EXPECT_TRUE(mentions(message_of([&] { make_store(dir_); }),
                       "already holds a store; add to it with --resume, or choose another directory"));
  EXPECT_EQ(Store::open(dir_).made(), counts_of(kKind, 10));
}

TEST_F(StoreTest, AskingForAVacantPlaceChangesNothing) {
  EXPECT_EQ(message_of([&] { Store::check_absent(dir_); }), "");
  EXPECT_FALSE(fs::exists(dir_));
  { const Store store = make_store(dir_); }
  EXPECT_TRUE(mentions(message_of([&] { Store::check_absent(dir_); }), "already holds a store"));
  write_file(root_ / "file", "x");
  EXPECT_TRUE(mentions(message_of([&] { Store::check_absent(root_ / "file"); }), "is not a directory"));
}

TEST_F(StoreTest, PlacesThatCannotHoldAStoreAreRefused) {
  write_file(root_ / "file", "x");
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

TEST_F(StoreTest, LoosePermissionsAreRefusedWithTheCommandThatMendsThem) {
  { const Store store = make_store(dir_); }
  for (const char* name : {"material.mdb", "global.key", "store.lock", "material.mdb-lock"}) {
    const fs::path file = dir_ / name;
    ASSERT_EQ(::chmod(file.c_str(), 0640), 0) << file;
    EXPECT_TRUE(mentions(open_message(dir_), "(mode 0640)"));
    EXPECT_TRUE(mentions(open_message(dir_), "chmod 600 " + file.string()));
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  ASSERT_EQ(::chmod(dir_.c_str(), 0711), 0);
  EXPECT_TRUE(mentions(open_message(dir_), "chmod 700 " + dir_.string()));
  ASSERT_EQ(::chmod(dir_.c_str(), 0700), 0);
  EXPECT_EQ(open_message(dir_), "");
}

TEST_F(StoreTest, SecondHandleIsRefusedAndNamesTheFirst) {
  {
    Store store = make_store(dir_);
    EXPECT_TRUE(mentions(open_message(dir_), "in use by process " + std::to_string(::getpid())));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(mentions(open_message(dir_), "in use by process") ? 0 : 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    add_unit(store, kKind, 10);
  }
  EXPECT_EQ(open_message(dir_), "");
}

TEST_F(StoreTest, ForeignFilesAreRefusedUnchanged) {
  fs::create_directory(dir_);
  ASSERT_EQ(::chmod(dir_.c_str(), 0700), 0);
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(8192, '\0'), std::string(100000, 'x')}) {
    write_file(dir_ / "material.mdb", bytes);
    EXPECT_TRUE(mentions(open_message(dir_), "is not a TinyOT store")) << bytes.size();
    EXPECT_EQ(read_file(dir_ / "material.mdb"), bytes);
  }
}

TEST_F(StoreTest, WrongMagicIsRefused) {
  { const Store store = make_store(dir_); }
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", "TinyOT store", "TinyOT stork"), 0);
  EXPECT_TRUE(mentions(open_message(dir_), "is not a TinyOT store"));
}

TEST_F(StoreTest, TruncatedFileIsRefusedAtEveryPage) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 1000);
  }
  const std::string whole = read_file(dir_ / "material.mdb");
  const std::uint64_t used = Store::open(dir_).store_bytes();
  for (std::uint64_t size = 4096; size < used; size += 4096) {
    write_file(dir_ / "material.mdb", whole.substr(0, size));
    EXPECT_NE(open_message(dir_), "") << size;
  }
  write_file(dir_ / "material.mdb", whole.substr(0, used - 1));
  EXPECT_TRUE(mentions(open_message(dir_), "has been cut off"));
  write_file(dir_ / "material.mdb", whole.substr(0, used));
  EXPECT_EQ(open_message(dir_), "");
}

TEST_F(StoreTest, NewerFormatIsRefused) {
  { const Store store = make_store(dir_); }
  // Field 1 of the manifest, a fixed 32-bit number, and the head of field 2.
  const std::string head("\x0d\x01\0\0\0\x12\x20", 7), newer("\x0d\x02\0\0\0\x12\x20", 7);
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", head, newer), 0);
  EXPECT_TRUE(mentions(open_message(dir_), "made by a newer version (format 2, this program reads up to 1)"));
}

TEST_F(StoreTest, KeyFileIsChecked) {
  { const Store store = make_store(dir_); }
  const fs::path key = dir_ / "global.key";
  const std::string whole = read_file(key);
  ASSERT_EQ(whole.size(), 64u);
  const auto with_byte = [&](std::size_t at, char value) {
    std::string bytes = whole;
    bytes[at] = value;
    write_file(key, bytes);
    return open_message(dir_);
  };
  EXPECT_TRUE(mentions(with_byte(0, 'X'), "is corrupt"));
  EXPECT_TRUE(mentions(with_byte(8, 2), "newer version"));
  EXPECT_TRUE(mentions(with_byte(12, 0), "holds no key"));
  EXPECT_TRUE(mentions(with_byte(16, 0), "another session"));
  write_file(key, whole.substr(0, 63));
  EXPECT_TRUE(mentions(open_message(dir_), "is corrupt"));
  fs::remove(key);
  EXPECT_TRUE(mentions(open_message(dir_), "is missing"));
  write_file(key, whole);
  EXPECT_EQ(open_message(dir_), "");
}

// The header of the record that begins at object `first`, as FORMAT.md gives it.
std::string header_bytes(Party party, std::uint64_t first, std::uint32_t count) {
  const MaterialShape shape = shape_of(kKind, party);
  std::string bytes = "TROB";
  for (const std::size_t byte : {static_cast<std::size_t>(kKind), static_cast<std::size_t>(party), shape.mine, shape.peers})
    bytes.push_back(static_cast<char>(byte));
  bytes.append(reinterpret_cast<const char*>(&first), 8).append(reinterpret_cast<const char*>(&count), 4);
  return bytes.append(12, '\0');
}

TEST_F(StoreTest, CorruptRecordIsNamedWhenItIsDrawn) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 100);
    add_unit(store, kKind, 100);
  }
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", header_bytes(Party::A, 0, 100), header_bytes(Party::A, 0, 99)), 1);
  Store store = Store::open(dir_);
  Reservation reservation = store.reserve({}, counts_of(kKind, 150));
  EXPECT_TRUE(mentions(message_of([&] { reservation.draw(kKind, 50); }), "record auth_ands_a 0 is corrupt"));
}

TEST_F(StoreTest, RecordOfTheOtherPartyIsNamedAtOpening) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 100);
  }
  ASSERT_EQ(replace_in_file(dir_ / "material.mdb", header_bytes(Party::A, 0, 100), header_bytes(Party::B, 0, 100)), 1);
  EXPECT_TRUE(mentions(open_message(dir_), "record auth_ands_a 0 is corrupt"));
}

}  // namespace
}  // namespace tinyot
