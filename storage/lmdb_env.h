// A thin layer over LMDB: one database file, transactions, cursors. Every error is a StoreError
// that names the operation and the path. Internal to this folder. The file is written in LMDB's
// default mode: a commit writes its pages with write(2), syncs them, and then writes and syncs the
// meta page. The writable map (MDB_WRITEMAP) is no faster here, since both modes wait for the disk,
// and it is unsafe: on a full disk the process gets SIGBUS in a store instruction, and a stray
// pointer can write to the file. Allocating the file's blocks before each transaction does help: a
// commit then need not grow the file while it writes. It also keeps the file at least as long as
// its last page, so a shorter file is truncated. No other file of the project includes LMDB's
// header.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>

struct MDB_cursor;
struct MDB_env;
struct MDB_txn;

namespace tinyot::storage {

using ByteView = std::span<const std::byte>;

// An index as a database key: eight bytes, big-endian, so that keys sort as numbers.
using IndexKey = std::array<std::byte, 8>;
IndexKey index_key(std::uint64_t index);
// Empty if the key is not an index.
std::optional<std::uint64_t> index_of(ByteView key);

// LMDB's number of an open table.
using Table = unsigned;
enum class TableMode { Open, Create };
enum class PutMode { Anywhere, Append };

class Environment;

// Valid inside the body that it is passed to, like all views into the file.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Empty if there is no such table. A table stays open if the transaction commits.
  std::optional<Table> table(const char* name, TableMode mode);

  std::optional<ByteView> get(Table table, ByteView key) const;
  void put(Table table, ByteView key, ByteView value);
  // Adds a value of `bytes` bytes, to be filled in by the caller before the next call. Aligned to 2
  // bytes only.
  std::span<std::byte> reserve(Table table, ByteView key, std::size_t bytes, PutMode mode);
  void erase(Table table, ByteView key);

 private:
  friend class Environment;
  friend class Cursor;
  Transaction(const Environment& environment, std::string operation, unsigned flags);
  ~Transaction();
  void commit();
  void check(int status) const;

  const Environment& environment_;
  std::string operation_;
  std::shared_lock<std::shared_mutex> map_stays_;
  MDB_txn* txn_ = nullptr;
};

// Iterates over a table in order of its keys. The transaction must outlive it.
class Cursor {
 public:
  struct Entry {
    ByteView key;
    ByteView value;
  };

  Cursor(const Transaction& transaction, Table table);
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Each is empty if there is no such entry.
  std::optional<Entry> first();
  std::optional<Entry> last();
  std::optional<Entry> next();
  std::optional<Entry> at_or_after(ByteView key);
  // The entry with the largest key that is not above `key`.
  std::optional<Entry> at_or_before(ByteView key);

 private:
  std::optional<Entry> move(int op, ByteView key = {});

  const Transaction& transaction_;
  MDB_cursor* cursor_ = nullptr;
};

enum class Locking { ByLmdb, None };

// May be used by several threads at a time. A thread must not begin a transaction while it is in
// another one of the same environment.
class Environment {
 public:
  // Opens or makes the file, and removes killed processes from the list of readers. With map_bytes
  // 0 the map has the size stored in the file. Fails: StoreError for a file that is not LMDB's or
  // is truncated.
  Environment(const std::filesystem::path& file, std::uint64_t map_bytes, Locking locking);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Removes readers that were killed in a transaction from LMDB's list. While they are on it, no
  // page that they could see is reused, and the file grows with every commit. Returns their number.
  // Fails: StoreError.
  int forget_killed_readers() const;

  // Runs the body in a write transaction, commits it and syncs. Removes killed readers first. The
  // body runs again, in a new transaction, if the map was too small, so it must change nothing but
  // the database. `bytes` is approximately what it adds.
  void write(const std::string& operation, std::uint64_t bytes,
             const std::function<void(Transaction&)>& body);

  // Runs the body in a read transaction.
  void read(const std::string& operation, const std::function<void(Transaction&)>& body) const;

  // The same for a body that opens tables, which only one thread may do at a time.
  void open_tables(const std::string& operation,
                   const std::function<void(Transaction&)>& body) const;

  // Releases the value's pages from the process; they stay in the page cache. The value can still
  // be read.
  static void release_pages(ByteView value);

  // Of a page of the file: those of the system that made it, but at most 32768.
  std::size_t page_bytes() const;
  // From the start of the file to the end of its last page.
  std::uint64_t used_bytes() const;

 private:
  friend class Transaction;
  void make_room(std::uint64_t bytes);
  std::uint64_t map_bytes() const;
  // Unless another thread has changed it.
  void grow_map(std::uint64_t map_bytes_before);
  void adopt_map_size() const;
  [[noreturn]] void fail(const std::string& operation, int status) const;

  std::filesystem::path file_;
  MDB_env* env_ = nullptr;
  // Held shared by every transaction of this process, exclusively while the map changes.
  mutable std::shared_mutex map_mutex_;
  mutable std::mutex tables_mutex_;
  std::atomic<std::uint64_t> pending_bytes_ = 0;  // what the write transaction is expected to add
};

}  // namespace tinyot::storage
