#include "storage/key_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace tinyot::storage {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored in native byte order");

constexpr char kKeysMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'K', 'T'};
constexpr std::uint32_t kKeysVersion = 2;

struct StoredHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t protection;
  SessionId session;
  std::array<std::byte, 32> salt;
  std::array<std::byte, 32> zeros;
  crypto::SealTag check;  // of all preceding fields, under the wrapping key
};
static_assert(sizeof(StoredHeader) == 128 && std::is_trivially_copyable_v<StoredHeader>);

struct StoredSlot {
  crypto::SealNonce nonce;
  std::array<std::byte, 32> sealed;
  crypto::SealTag tag;
  std::uint32_t zeros;
};
static_assert(sizeof(StoredSlot) == 64 && std::is_trivially_copyable_v<StoredSlot>);

struct SlotContext {
  SessionId session;
  std::uint64_t slot;
};

std::uint64_t offset_of(std::uint64_t slot) {
  return sizeof(StoredHeader) + slot * sizeof(StoredSlot);
}

template <class T>
std::span<const std::byte> view_of(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}
template <class T>
std::span<std::byte> bytes_in(T& object) {
  return std::as_writable_bytes(std::span(&object, 1));
}

crypto::SealTag check_of(const StoredHeader& header, const crypto::SealKey& wrapping_key) {
  return crypto::authenticate(wrapping_key, view_of(header).first(offsetof(StoredHeader, check)));
}

crypto::SealKey derived(const StoredHeader& header, const std::optional<StoreKey>& store_key,
                        std::string_view purpose) {
  return crypto::derive_key(store_key ? store_key->bytes() : std::span<const std::byte>(),
                            header.salt, purpose);
}
crypto::SealKey wrapping_key_of(const StoredHeader& header,
                                const std::optional<StoreKey>& store_key) {
  return derived(header, store_key, "TinyOT store: batch keys");
}

StoredHeader new_header(const SessionId& owner, const std::optional<StoreKey>& store_key,
                        crypto::Rng& rng) {
  StoredHeader header{};
  std::memcpy(header.magic, kKeysMagic, sizeof header.magic);
  header.version = kKeysVersion;
  header.protection = static_cast<std::uint32_t>(store_key ? KeyProtection::ByStoreKey
                                                           : KeyProtection::ByPermissions);
  header.session = owner;
  header.salt = rng.object<decltype(header.salt)>();
  header.check = check_of(header, wrapping_key_of(header, store_key));
  return header;
}

StoredSlot sealed_slot(const crypto::SealKey& wrapping_key, const SessionId& session,
                       std::uint64_t slot, const crypto::SealKey& key, crypto::Rng& rng) {
  StoredSlot stored{};
  stored.nonce = rng.object<crypto::SealNonce>();
  const SlotContext context{session, slot};
  stored.tag = crypto::seal(wrapping_key, stored.nonce, view_of(context), key.bytes, stored.sealed);
  return stored;
}

crypto::SealKey as_slot_key(const Delta& global_key) {
  crypto::SealKey key;
  std::memcpy(key.bytes.data(), &global_key, sizeof global_key);
  return key;
}

bool is_zero(const StoredSlot& stored) {
  return std::ranges::all_of(view_of(stored), [](std::byte b) { return b == std::byte{0}; });
}

// The header comes first: without its salt no slot can be opened.
void overwrite(const system::File& file, const SessionId& session) {
  StoredHeader header{};
  std::memcpy(header.magic, kKeysMagic, sizeof header.magic);
  header.version = kKeysVersion;
  header.protection = static_cast<std::uint32_t>(KeyProtection::Erased);
  header.session = session;
  file.write_at(0, view_of(header));
  const std::uint64_t end = file.size();
  const std::vector<std::byte> zeros(std::size_t{1} << 16);
  for (std::uint64_t at = sizeof header; at < end; at += zeros.size())
    file.write_at(at, std::span(zeros).first(static_cast<std::size_t>(
                          std::min<std::uint64_t>(zeros.size(), end - at))));
  file.sync();
}

bool read_header(const system::File& file, StoredHeader& header) {
  return file.read_at(0, bytes_in(header)) == sizeof header &&
         std::memcmp(header.magic, kKeysMagic, sizeof header.magic) == 0;
}

[[noreturn]] void throw_corrupt(const std::filesystem::path& path, const std::string& what) {
  throw StoreError(path.string() + " is corrupt (" + what +
                   "); start a new session in a new store");
}

}  // namespace

void KeyTable::create(const std::filesystem::path& path, const SessionId& session,
                      const Delta& global_key, const std::optional<StoreKey>& store_key) {
  crypto::Rng rng = crypto::Rng::from_system();
  const StoredHeader header = new_header(session, store_key, rng);
  const StoredSlot slot =
      sealed_slot(wrapping_key_of(header, store_key), session, 0, as_slot_key(global_key), rng);
  const system::File file = system::File::make_new(path);
  file.write_at(0, view_of(header));
  file.write_at(offset_of(0), view_of(slot));
  file.sync();
}

void KeyTable::create(const std::filesystem::path& path, const SessionId& owner,
                      const std::optional<StoreKey>& store_key) {
  crypto::Rng rng = crypto::Rng::from_system();
  system::replace_file(path, view_of(new_header(owner, store_key, rng)));
}

KeyTable::KeyTable(const std::filesystem::path& path, const SessionId& session,
                   const std::optional<StoreKey>& store_key)
    : file_(
          [&]() -> const std::filesystem::path& {
            std::error_code error;
            if (!std::filesystem::exists(path, error))
              throw StoreError(
                  path.string() +
                  " is missing: the store is incomplete; start a new session in a new store");
            return path;
          }(),
          O_RDWR),
      session_(session), rng_(crypto::Rng::from_system()) {
  StoredHeader header;
  if (!read_header(file_, header)) throw_corrupt(path, "header");
  if (header.version > kKeysVersion)
    throw StoreError(path.string() + " was made by a newer version (format " +
                     std::to_string(header.version) + ", this program reads up to " +
                     std::to_string(kKeysVersion) + "); use the version that made it");
  if (header.session != session)
    throw StoreError(path.string() +
                     " belongs to another session; start a new session in a new store");
  if (header.version != kKeysVersion || header.protection < 1 || header.protection > 3)
    throw_corrupt(path, "header");
  protection_ = static_cast<KeyProtection>(header.protection);
  if (protection_ == KeyProtection::Erased) return;
  if (protection_ == KeyProtection::ByStoreKey && !store_key)
    throw StoreError("the store in " + path.parent_path().string() +
                         " is sealed under a store key, but none was given",
                     Remedy::GiveStoreKey);
  if (protection_ == KeyProtection::ByPermissions && store_key)
    throw StoreError("the store in " + path.parent_path().string() +
                         " is not sealed under a store key but protected by file permissions",
                     Remedy::OmitStoreKey);
  wrapping_key_ = wrapping_key_of(header, store_key);
  if (!crypto::equal_constant_time(header.check, check_of(header, wrapping_key_))) {
    if (store_key)
      throw StoreError("the store key does not open the store in " + path.parent_path().string() +
                       ": it is the key of another store, or the file " + path.filename().string() +
                       " is corrupt");
    throw_corrupt(path, "header");
  }
  state_key_ = derived(header, store_key, "TinyOT store: state");
}

Delta KeyTable::global_key() const {
  const crypto::SealKey slot = key(0, "the global key");
  Delta global_key;
  std::memcpy(&global_key, slot.bytes.data(), sizeof global_key);
  return global_key;
}

crypto::SealKey KeyTable::key(std::uint64_t slot, const std::string& what) const {
  const auto refuse = [&](const std::string& why) {
    throw StoreError("the key of " + what + " in " + file_.path().string() + " " + why +
                     "; the material is lost");
  };
  StoredSlot stored;
  if (protection_ == KeyProtection::Erased ||
      file_.read_at(offset_of(slot), bytes_in(stored)) != sizeof stored || is_zero(stored))
    refuse("is erased");
  const SlotContext context{session_, slot};
  crypto::SealKey key;
  if (stored.zeros != 0 || !crypto::open_sealed(wrapping_key_, stored.nonce, view_of(context),
                                                stored.sealed, stored.tag, key.bytes))
    refuse("is corrupt");
  return key;
}

std::uint64_t KeyTable::slots_end() const {
  return (std::max(file_.size(), offset_of(0)) - offset_of(0)) / sizeof(StoredSlot);
}

bool KeyTable::is_erased(std::uint64_t slot) const {
  StoredSlot stored;
  return file_.read_at(offset_of(slot), bytes_in(stored)) != sizeof stored || is_zero(stored);
}

crypto::SealKey KeyTable::fresh_key() {
  crypto::SealKey key;
  rng_.fill(key.bytes);
  return key;
}

void KeyTable::fill(std::uint64_t first, std::span<const crypto::SealKey> keys) {
  ENSURE(protection_ != KeyProtection::Erased && first >= kFirstBatchSlot);
  std::vector<StoredSlot> stored;
  for (std::size_t i = 0; i < keys.size(); ++i)
    stored.push_back(sealed_slot(wrapping_key_, session_, first + i, keys[i], rng_));
  file_.write_at(offset_of(first), std::as_bytes(std::span(stored)));
}

void KeyTable::erase(std::span<const std::uint64_t> slots) {
  if (slots.empty()) return;
  // Consecutive slots are overwritten by one write.
  std::vector<std::uint64_t> sorted(slots.begin(), slots.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    const std::vector<StoredSlot> zeros(end - i);
    file_.write_at(offset_of(sorted[i]), std::as_bytes(std::span(zeros)));
    i = end;
  }
  file_.sync();
}

void KeyTable::erase_all() {
  overwrite(file_, session_);
  protection_ = KeyProtection::Erased;
}

bool KeyTable::has_remains() const {
  if (protection_ != KeyProtection::Erased) return true;
  std::vector<std::byte> part(std::size_t{1} << 16);
  for (std::uint64_t at = offsetof(StoredHeader, salt);; at += part.size()) {
    const std::size_t size = file_.read_at(at, part);
    if (std::ranges::any_of(std::span(part).first(size),
                            [](std::byte b) { return b != std::byte{0}; }))
      return true;
    if (size < part.size()) return false;
  }
}

std::optional<KeyProtection> KeyTable::protection_in(const std::filesystem::path& path) {
  const system::File file(path, O_RDONLY | O_NOFOLLOW);
  StoredHeader header;
  if (!read_header(file, header) || header.version > kKeysVersion || header.protection < 1 ||
      header.protection > 3)
    return std::nullopt;
  return static_cast<KeyProtection>(header.protection);
}

void KeyTable::erase_file(const std::filesystem::path& path) {
  const system::File file(path, O_RDWR | O_NOFOLLOW);
  StoredHeader header;
  // The session id stays, so that the file is still recognised as this store's.
  overwrite(file, read_header(file, header) ? header.session : SessionId{});
}

}  // namespace tinyot::storage
