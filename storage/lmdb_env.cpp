#include "storage/lmdb_env.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "system/memory_use.h"

namespace tinyot::storage {
namespace {

static_assert(std::is_same_v<Table, MDB_dbi>);

constexpr unsigned kTablesMax = 32;
constexpr mdb_mode_t kFileMode = 0600;
// tree pages, free lists and small records of one transaction
constexpr std::uint64_t kSlackBytes = 1 << 20;

// Thrown inside a write transaction whose map is too small; never leaves Environment::write.
struct MapFull {};

MDB_val as_val(ByteView bytes) { return {bytes.size(), const_cast<std::byte*>(bytes.data())}; }
ByteView as_view(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

// LMDB reports a partial write, as on a full disk, as EIO.
bool is_disk_full(int status, std::uint64_t free_bytes, std::uint64_t needed_bytes) {
  return status == ENOSPC || status == EDQUOT || status == EFBIG ||
         (status == EIO && free_bytes < needed_bytes);
}

}  // namespace

IndexKey index_key(std::uint64_t index) {
  IndexKey key;
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<std::byte>(index >> (56 - 8 * i));
  return key;
}

std::optional<std::uint64_t> index_of(ByteView key) {
  if (key.size() != sizeof(IndexKey)) return std::nullopt;
  std::uint64_t index = 0;
  for (const std::byte byte : key) index = (index << 8) | std::to_integer<std::uint64_t>(byte);
  return index;
}

Transaction::Transaction(const Environment& environment, std::string operation, unsigned flags)
    : environment_(environment), operation_(std::move(operation)),
      map_stays_(environment.map_mutex_) {
  int status = mdb_txn_begin(environment_.env_, nullptr, flags, &txn_);
  while (status == MDB_MAP_RESIZED) {
    map_stays_.unlock();
    environment_.adopt_map_size();
    map_stays_.lock();
    status = mdb_txn_begin(environment_.env_, nullptr, flags, &txn_);
  }
  check(status);
}

Transaction::~Transaction() {
  if (txn_ != nullptr) mdb_txn_abort(txn_);
}

void Transaction::commit() { check(mdb_txn_commit(std::exchange(txn_, nullptr))); }

void Transaction::check(int status) const {
  if (status == MDB_MAP_FULL) throw MapFull{};
  if (status != MDB_SUCCESS) environment_.fail(operation_, status);
}

std::optional<Table> Transaction::table(const char* name, TableMode mode) {
  Table table;
  const int status = mdb_dbi_open(txn_, name, mode == TableMode::Create ? MDB_CREATE : 0, &table);
  if (status == MDB_NOTFOUND || status == MDB_INCOMPATIBLE) return std::nullopt;
  check(status);
  return table;
}

std::optional<ByteView> Transaction::get(Table table, ByteView key) const {
  MDB_val wanted = as_val(key), value;
  const int status = mdb_get(txn_, table, &wanted, &value);
  if (status == MDB_NOTFOUND) return std::nullopt;
  check(status);
  return as_view(value);
}

void Transaction::put(Table table, ByteView key, ByteView value) {
  MDB_val where = as_val(key), what = as_val(value);
  check(mdb_put(txn_, table, &where, &what, 0));
}

std::span<std::byte> Transaction::reserve(Table table, ByteView key, std::size_t bytes,
                                          PutMode mode) {
  MDB_val where = as_val(key), room{bytes, nullptr};
  check(mdb_put(txn_, table, &where, &room,
                MDB_RESERVE | (mode == PutMode::Append ? MDB_APPEND : 0u)));
  return {static_cast<std::byte*>(room.mv_data), bytes};
}

void Transaction::erase(Table table, ByteView key) {
  const auto value = get(table, key);
  MDB_val where = as_val(key);
  check(mdb_del(txn_, table, &where, nullptr));
  // LMDB has read the value's pages. The map does not move within a transaction.
  if (value) Environment::release_pages(*value);
}

Cursor::Cursor(const Transaction& transaction, Table table) : transaction_(transaction) {
  transaction_.check(mdb_cursor_open(transaction_.txn_, table, &cursor_));
}

Cursor::~Cursor() { mdb_cursor_close(cursor_); }

std::optional<Cursor::Entry> Cursor::first() { return move(MDB_FIRST); }
std::optional<Cursor::Entry> Cursor::last() { return move(MDB_LAST); }
std::optional<Cursor::Entry> Cursor::next() { return move(MDB_NEXT); }
std::optional<Cursor::Entry> Cursor::at_or_after(ByteView key) { return move(MDB_SET_RANGE, key); }

std::optional<Cursor::Entry> Cursor::at_or_before(ByteView key) {
  const std::optional<Entry> above = at_or_after(key);
  if (!above) return move(MDB_LAST);
  return std::ranges::equal(above->key, key) ? above : move(MDB_PREV);
}

std::optional<Cursor::Entry> Cursor::move(int op, ByteView key) {
  MDB_val where = as_val(key), value;
  const int status = mdb_cursor_get(cursor_, &where, &value, static_cast<MDB_cursor_op>(op));
  if (status == MDB_NOTFOUND) return std::nullopt;
  transaction_.check(status);
  return Entry{as_view(where), as_view(value)};
}

Environment::Environment(const std::filesystem::path& file, std::uint64_t map_bytes,
                         Locking locking)
    : file_(file) {
  if (const int status = mdb_env_create(&env_); status != MDB_SUCCESS) fail("set up LMDB", status);
  const auto open = [&]() -> int {
    if (const int status = mdb_env_set_maxdbs(env_, kTablesMax)) return status;
    if (map_bytes > 0)
      if (const int status = mdb_env_set_mapsize(env_, map_bytes)) return status;
    const unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (locking == Locking::None ? MDB_NOLOCK : 0u);
    return mdb_env_open(env_, file_.c_str(), flags, kFileMode);
  };
  try {
    const int status = open();
    if (status == MDB_INVALID || status == MDB_VERSION_MISMATCH)
      throw StoreError(file_.string() + " is not a TinyOT store (" + mdb_strerror(status) +
                       "); nothing in it has been changed");
    if (status != MDB_SUCCESS) fail("open", status);
    if (locking == Locking::ByLmdb) (void)forget_killed_readers();
    const std::uint64_t size = std::filesystem::file_size(file_);
    if (size < used_bytes())
      throw StoreError(file_.string() + " is truncated: it has " + std::to_string(size) +
                       " bytes of " + std::to_string(used_bytes()) +
                       "; its material is lost; start a new session in a new store");
  } catch (...) {
    mdb_env_close(env_);
    throw;
  }
}

Environment::~Environment() { mdb_env_close(env_); }

int Environment::forget_killed_readers() const {
  int killed = 0;
  if (const int status = mdb_reader_check(env_, &killed)) fail("look for killed readers", status);
  return killed;
}

void Environment::write(const std::string& operation, std::uint64_t bytes,
                        const std::function<void(Transaction&)>& body) {
  // LMDB itself removes killed readers only when its list is full.
  (void)forget_killed_readers();
  for (;;) {
    std::uint64_t map = 0;
    try {
      Transaction transaction(*this, operation, 0);
      map = map_bytes();
      // Under the writer lock: of two processes that resize the file at once, one could truncate
      // what the other has written.
      make_room(bytes);
      body(transaction);
      transaction.commit();
      return;
    } catch (const MapFull&) {
      grow_map(map);
    }
  }
}

void Environment::read(const std::string& operation,
                       const std::function<void(Transaction&)>& body) const {
  Transaction transaction(*this, operation, MDB_RDONLY);
  body(transaction);
  transaction.commit();
}

void Environment::open_tables(const std::string& operation,
                              const std::function<void(Transaction&)>& body) const {
  const std::lock_guard lock(tables_mutex_);
  read(operation, body);
}

void Environment::release_pages(ByteView value) {
  const std::uintptr_t page = system::page_bytes();
  const auto begin = (reinterpret_cast<std::uintptr_t>(value.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(value.data() + value.size()) / page * page;
  // The file is mapped read-only, so no data can be lost.
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::size_t Environment::page_bytes() const {
  MDB_stat stat;
  if (const int status = mdb_env_stat(env_, &stat)) fail("measure", status);
  return stat.ms_psize;
}

std::uint64_t Environment::used_bytes() const {
  MDB_envinfo info;
  if (const int status = mdb_env_info(env_, &info)) fail("measure", status);
  return (info.me_last_pgno + std::uint64_t{1}) * page_bytes();
}

// If allocation fails, the file's free pages may still suffice, so this does not fail; the commit
// fails if they do not. The length is set in any case.
void Environment::make_room(std::uint64_t bytes) {
  pending_bytes_ = bytes + kSlackBytes;
  const std::uint64_t wanted = used_bytes() + bytes + kSlackBytes;
  mdb_filehandle_t descriptor;
  if (const int status = mdb_env_get_fd(env_, &descriptor)) fail("measure", status);
  struct stat now;
  if (::fstat(descriptor, &now) != 0) fail("measure", errno);
  const auto size = static_cast<std::uint64_t>(now.st_size);
  if (size >= wanted) return;
  if (::fallocate(descriptor, 0, static_cast<off_t>(size), static_cast<off_t>(wanted - size)) == 0)
    return;
  if (::ftruncate(descriptor, static_cast<off_t>(wanted)) != 0) fail("grow", errno);
}

std::uint64_t Environment::map_bytes() const {
  MDB_envinfo info;
  if (const int status = mdb_env_info(env_, &info)) fail("measure", status);
  return info.me_mapsize;
}

void Environment::grow_map(std::uint64_t map_bytes_before) {
  const std::lock_guard no_transactions(map_mutex_);
  if (map_bytes() != map_bytes_before) return;
  if (const int status = mdb_env_set_mapsize(env_, map_bytes_before * 2))
    fail("enlarge the map of", status);
}

// Another process has enlarged the map; size 0 adopts its size.
void Environment::adopt_map_size() const {
  const std::lock_guard no_transactions(map_mutex_);
  if (const int status = mdb_env_set_mapsize(env_, 0)) fail("enlarge the map of", status);
}

void Environment::fail(const std::string& operation, int status) const {
  std::error_code unknown;
  const std::uint64_t free_bytes = std::filesystem::space(file_.parent_path(), unknown).available;
  if (is_disk_full(status, free_bytes, pending_bytes_))
    throw DiskFull("disk full: cannot " + operation + " in " + file_.string() +
                       ": it needs up to " + std::to_string(pending_bytes_) + " bytes more, " +
                       (unknown ? "?" : std::to_string(free_bytes)) +
                       " are free; committed material stays valid; free some space and continue",
                   Remedy::Resume);
  throw StoreError("cannot " + operation + " in " + file_.string() + ": " + mdb_strerror(status));
}

}  // namespace tinyot::storage
