// Shared by the storage tests: a temporary directory, material whose words identify the object, and
// expectations on errors.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "storage/database.h"
#include "storage/store.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot {

using test::read_file;
using test::write_private_file;

// A directory where syncing is fast, if it has room; the tests make thousands of commits.
inline std::filesystem::path directory_in_memory() {
  constexpr std::uintmax_t kRoom = std::uintmax_t{4} << 30;
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const bool has_room = ::access(memory.c_str(), W_OK) == 0 &&
                        std::filesystem::space(memory, error).available >= kRoom && !error;
  return has_room ? memory : std::filesystem::temp_directory_path();
}

class StoreTest : public ::testing::Test {
 protected:
  explicit StoreTest(const std::filesystem::path& parent = directory_in_memory())
      : directory_(parent) {}

  const test::TestDirectory directory_;
  const std::filesystem::path root_ = directory_.path(), dir_ = root_ / "store";
};

class StoreOnDiskTest : public StoreTest {
 protected:
  StoreOnDiskTest() : StoreTest(std::filesystem::temp_directory_path()) {}
};

// The kind that most tests use.
inline constexpr MaterialKind kTestKind = MaterialKind::AuthAndsA;

inline constexpr Delta kTestDelta{Block{0x0123456789abcdef, 0xfedcba9876543210}};

inline Manifest test_manifest(Party me) {
  Manifest manifest;
  for (std::size_t i = 0; i < manifest.session_id.size(); ++i)
    manifest.session_id[i] = static_cast<std::byte>(i + 1);
  manifest.me = me;
  manifest.peer = "peer.example:7000";
  manifest.profile = "nnob12";
  manifest.material = "aand-aot";
  manifest.own = {{"columns", "theorem"}};
  manifest.sigma = 40;
  manifest.bucket = 4;
  manifest.unit = std::uint64_t{1} << 18;
  manifest.ands_requested = 1000000;
  manifest.sigma_paper_bound = 57;
  manifest.sigma_exact = 42.5;
  return manifest;
}

// A word that differs for every kind, column and index.
inline std::uint64_t word_of(MaterialKind kind, std::size_t column, std::uint64_t index) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15 +
                    (static_cast<std::uint64_t>(kind) * 16 + column + 1) * 0xd1342543de82ef95;
  x ^= x >> 29, x *= 0xbf58476d1ce4e5b9, x ^= x >> 32;
  return x;
}

inline material::Batch test_batch(MaterialKind kind, Party me, std::uint64_t first,
                                  std::size_t count) {
  material::Batch batch(kind, me, count);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t c = 0; c < batch.mine.size(); ++c) {
      const std::uint64_t word = word_of(kind, c, first + j);
      batch.mine[c].bits.put(j, word & 1);
      batch.mine[c].macs[j] = Mac{{word, ~word}};
    }
    for (std::size_t c = 0; c < batch.peers.size(); ++c) {
      const std::uint64_t word = word_of(kind, c + 8, first + j);
      batch.peers[c].keys[j] = Key{{~word, word}};
    }
    for (std::size_t c = 0; c < batch.shares.size(); ++c) {
      const std::uint64_t word = word_of(kind, c, first + j);
      batch.shares[c].bits.put(j, word & 1);
      batch.shares[c].macs[j] = MacShare{{word, ~word}};
    }
  }
  return batch;
}

// Whether a batch holds exactly objects [first, first + count).
inline ::testing::AssertionResult holds(material::Batch batch, MaterialKind kind, Party me,
                                        std::uint64_t first, std::size_t count) {
  const material::Shape shape = material::shape_of(kind, me);
  if (batch.kind != kind || batch.count != count || batch.mine.size() != shape.mine ||
      batch.peers.size() != shape.peers || batch.shares.size() != shape.shares)
    return ::testing::AssertionFailure() << "wrong shape";
  for (MacColumn& column : batch.mine)
    if (column.bits.size() != count || column.size() != count || !column.bits.clear_padding())
      return ::testing::AssertionFailure() << "wrong size or padding";
  for (AuthShares& column : batch.shares)
    if (column.bits.size() != count || column.size() != count || !column.bits.clear_padding())
      return ::testing::AssertionFailure() << "wrong size or padding";
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t c = 0; c < shape.mine + shape.shares; ++c) {
      const std::uint64_t word = word_of(kind, c, first + j);
      const Block mac =
          shape.shares > 0 ? batch.shares[c].macs[j].value : batch.mine[c].macs[j].value;
      const bool bit = shape.shares > 0 ? batch.shares[c].bits[j] : batch.mine[c].bits[j];
      if (bit != ((word & 1) != 0) || mac.lo != word || mac.hi != ~word)
        return ::testing::AssertionFailure()
               << name_of(kind) << " column " << c << " of mine or shared differs at " << first + j;
    }
    for (std::size_t c = 0; c < shape.peers; ++c) {
      const std::uint64_t word = word_of(kind, c + 8, first + j);
      const Block key = batch.peers[c].keys[j].value;
      if (key.lo != ~word || key.hi != word)
        return ::testing::AssertionFailure()
               << name_of(kind) << " column " << c << " of the peer's differs at " << first + j;
    }
  }
  return ::testing::AssertionSuccess();
}

inline MaterialCounts counts_of(MaterialKind kind, std::uint64_t count) {
  MaterialCounts counts;
  counts[kind] = count;
  return counts;
}

inline Store make_store(const std::filesystem::path& dir, Party me = Party::A) {
  return Store::create(dir, test_manifest(me), kTestDelta, 0);
}

inline Store open_to_make(const std::filesystem::path& dir) {
  return Store::open(dir, {.purpose = Purpose::Make});
}

// Unlocks all units with the store's own digests in place of the peer's.
inline void unlock_all(Store& store) {
  const std::uint64_t first = store.cursors().units_unlocked, end = store.manifest().units_made;
  store.unlock(first, end, store.halves(first, end));
}

// Add a unit of one kind: LOCKED, or unlocked.
inline void add_locked_unit(Store& store, MaterialKind kind, std::size_t count) {
  store.pour(test_batch(kind, store.manifest().me, store.made()[kind], count));
  store.finish_unit();
}
inline void add_unit(Store& store, MaterialKind kind, std::size_t count) {
  add_locked_unit(store, kind, count);
  unlock_all(store);
}

// Whether the next `count` objects of a reservation are [first, first + count).
inline ::testing::AssertionResult draws(Reservation& reservation, MaterialKind kind, Party me,
                                        std::uint64_t first, std::size_t count) {
  return holds(reservation.draw(kind, count), kind, me, first, count);
}

// Reserves all that is left.
inline Reservation reserve_all(Store& store) { return store.reserve({}, store.left()); }

// The sealed record of the batch that holds an object.
inline std::string sealed_record(const Store& store, MaterialKind kind, std::uint64_t index) {
  std::string bytes;
  store.read([&](const ReadTransaction& view) {
    const ByteView record = view.record(view.entry_holding(kind, index).value());
    bytes.assign(reinterpret_cast<const char*>(record.data()), record.size());
  });
  return bytes;
}

// Bytes of a page of a store's database: where LMDB has them in the first one.
inline std::size_t page_bytes_in(const std::string& database) {
  std::uint32_t bytes;
  std::memcpy(&bytes, database.data() + 40, sizeof bytes);
  return bytes;
}

// The message of the error that `body` throws; empty if it throws none.
template <class ExpectedError = StoreError, class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const ExpectedError& error) {
    return error.what();
  }
  return {};
}

// What the caller can do about the error that `body` throws.
template <class Body>
Remedy remedy_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.remedy();
  }
  ADD_FAILURE() << "no error";
  return Remedy::None;
}

inline ::testing::AssertionResult mentions(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "\"" << message << "\" does not mention \"" << part << "\"";
}

// Replaces every occurrence of a pattern in a file by a text of the same length. Returns the number
// of replacements.
inline int replace_in_file(const std::filesystem::path& path, const std::string& pattern,
                           const std::string& replacement) {
  std::string bytes = read_file(path);
  int replaced = 0;
  for (std::size_t at = bytes.find(pattern); at != std::string::npos;
       at = bytes.find(pattern, at + pattern.size())) {
    bytes.replace(at, pattern.size(), replacement);
    ++replaced;
  }
  write_private_file(path, bytes);
  return replaced;
}

}  // namespace tinyot
