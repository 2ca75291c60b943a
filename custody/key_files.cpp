#include "custody/key_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <set>
#include <utility>

#include "base/error.h"
#include "crypto/random_oracle.h"
#include "custody/coded.h"
#include "system/file.h"

namespace tinyot::custody {
namespace {

constexpr char kMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'K', 'F'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFileBytesMax = 1 << 14;
constexpr const char* kTableName = "keys";
constexpr std::string_view kSuffix = ".key";

// Before the sealed record in a file.
struct FileHeader {
  char magic[8];
  std::uint32_t version;
  crypto::SealNonce nonce;
  crypto::SealTag tag;
};
static_assert(sizeof(FileHeader) == 40 && std::is_trivially_copyable_v<FileHeader>);

// What a sealed record and a sealed share are bound to, besides the key table and its owner.
struct RecordContext {
  char magic[8];
  std::uint32_t version;
  KeyId id;
};
struct ShareContext {
  KeyId id;
  std::array<std::byte, 16> epoch_tag;
  std::uint64_t epoch_number;
};
static_assert(sizeof(ShareContext) == 40);

RecordContext context_of(const KeyId& id) {
  RecordContext context{};
  std::memcpy(context.magic, kMagic, sizeof kMagic);
  context.version = kVersion;
  context.id = id;
  return context;
}
ShareContext context_of(const KeyId& id, const Epoch& epoch) {
  return {id, epoch.tag, epoch.number};
}

// The owner of the key table: tables and files of other peers, or of the other party, do not open.
SessionId owner_id(const KeyFiles::Owner& owner) {
  const crypto::Digest digest =
      crypto::RandomOracle(SessionId{}, {"key table", letter(owner.party), 0})
          .absorb(std::as_bytes(std::span(owner.peer)))
          .digest();
  return SessionId{digest.bytes};
}

system::Descriptor locked(const std::filesystem::path& directory) {
  system::Descriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.is_open()) system::fail_on_file("open", directory, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw StoreError("the keys in " + directory.string() + " are in use");
  return lock;
}

std::unique_ptr<storage::KeyTable> table_in(const std::filesystem::path& directory,
                                            const KeyFiles::Owner& owner,
                                            const StoreKey& store_key) {
  const std::filesystem::path file = directory / kTableName;
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) {
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.path().extension() == kSuffix)
        throw StoreError(file.string() +
                         " is missing, but there are keys beside it: their shares " +
                         "are lost; restore the keys from backups into an empty directory");
    storage::KeyTable::create(file, owner_id(owner), store_key);
  }
  return std::make_unique<storage::KeyTable>(file, owner_id(owner), store_key);
}

void put_record(const KeyFiles::Owner& owner, const KeyRecord& record, coded::Record& to) {
  put_attributes(record.attributes, *to.mutable_attributes());
  to.set_party(static_cast<std::uint32_t>(owner.party));
  to.set_peer(owner.peer);
  to.set_peer_identity(record.former_peer.empty() ? owner.peer_identity : record.former_peer);
  to.set_own_identity(record.former_own.empty() ? owner.own_identity : record.former_own);
  to.set_epoch_rebound(record.epoch_rebound);
  to.set_state(static_cast<std::uint32_t>(record.state));
  to.set_state_resumed(static_cast<std::uint32_t>(record.state_resumed));
  put_bytes(record.check, *to.mutable_check());
  for (const HeldEpoch& held : record.held) {
    coded::HeldEpoch& out = *to.add_held();
    put_epoch(held.epoch, *out.mutable_epoch());
    out.set_slot(held.slot);
    put_bytes(held.nonce, *out.mutable_nonce());
    put_bytes(held.sealed, *out.mutable_sealed());
    put_bytes(held.tag, *out.mutable_tag());
  }
  to.set_use_bound(record.use_bound);
  put_bytes(record.request, *to.mutable_request());
  to.set_has_peer_destroyed(record.has_peer_destroyed);
  to.set_is_restored(record.is_restored);
}

bool take_record(const coded::Record& from, KeyRecord& record) {
  if (!take_attributes(from.attributes(), record.attributes) ||
      !take_number(from.state(), KeyState::Pending, KeyState::Destroyed, record.state) ||
      !take_number(from.state_resumed(), KeyState::Pending, KeyState::Destroyed,
                   record.state_resumed) ||
      !take_bytes(from.check(), record.check) || from.held_size() > kEpochsMax ||
      (from.held_size() == 0) != (record.state == KeyState::Destroyed) ||
      !take_bytes(from.request(), record.request))
    return false;
  for (const coded::HeldEpoch& in : from.held()) {
    HeldEpoch& held = record.held.emplace_back();
    held.slot = in.slot();
    held.sealed.resize(key_bytes_of(record.attributes.algorithm));
    if (!take_epoch(in.epoch(), held.epoch) || !take_bytes(in.nonce(), held.nonce) ||
        !take_bytes(in.sealed(), held.sealed) || !take_bytes(in.tag(), held.tag))
      return false;
  }
  record.use_bound = from.use_bound();
  record.has_peer_destroyed = from.has_peer_destroyed();
  record.epoch_rebound = from.epoch_rebound();
  record.is_restored = from.is_restored() || record.state == KeyState::Restored;
  // So earlier releases have written that it is suspended once it is settled.
  if (record.state_resumed == KeyState::Suspended) {
    record.state = KeyState::Suspended;
    record.state_resumed = KeyState::Active;
    record.is_restored = true;
  }
  return true;
}

std::vector<HeldEpoch>::const_iterator find_epoch(const KeyRecord& record, const Epoch& epoch) {
  return std::ranges::find(record.held, epoch, &HeldEpoch::epoch);
}

// What it is once it is resumed, or a restored one once it is settled, stays so.
void suspend(KeyRecord& record) {
  if (record.state != KeyState::Suspended && record.state != KeyState::Restored)
    record.state_resumed = record.state;
  record.state = KeyState::Suspended;
}

// By which programs of PKCS#11 find a key.
std::string cka_id_of(const KeyAttributes& attributes) {
  if (!attributes.cka_id.empty()) return attributes.cka_id;
  const auto& id = attributes.id.bytes;
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

// Takes all others from the record.
std::vector<HeldEpoch> dropped_but(const Epoch& epoch, KeyRecord& record) {
  const auto others =
      std::stable_partition(record.held.begin(), record.held.end(),
                            [&](const HeldEpoch& held) { return held.epoch == epoch; });
  std::vector<HeldEpoch> dropped(others, record.held.end());
  record.held.erase(others, record.held.end());
  return dropped;
}

}  // namespace

bool is_bound(const KeyRecord& record) {
  return record.former_peer.empty() && record.former_own.empty();
}

void require_bound(const KeyRecord& record) {
  if (is_bound(record)) return;
  throw KeyError(KeyProblem::Unbound,
                 "key " + text_of(record.attributes.id) + " is bound to a former TLS key, " +
                     (record.former_peer.empty() ? record.former_own : record.former_peer) +
                     ": officers of both parties have to rebind it, if the party with another "
                     "key is the same organisation");
}

bool needs_refresh(const KeyRecord& record) {
  return is_bound(record) && !record.held.empty() &&
         record.held.back().epoch.number <= record.epoch_rebound;
}

KeyFiles::KeyFiles(std::filesystem::path directory, Owner owner, const StoreKey& store_key,
                   BeforeStep before_step)
    : directory_(std::move(directory)), owner_(std::move(owner)),
      before_step_(std::move(before_step)) {
  system::make_private_directory(directory_);
  lock_ = locked(directory_);
  table_ = table_in(directory_, owner_, store_key);
  std::set<std::uint64_t> used;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != kSuffix) continue;
    KeyRecord record = read(file);
    for (const HeldEpoch& held : record.held)
      if (!used.insert(held.slot).second)
        throw StoreError(file.string() + " names a slot of the key table that another key has");
    const KeyId id = record.attributes.id;
    records_.emplace(id, std::move(record));
  }
  std::vector<std::uint64_t> orphans;
  for (std::uint64_t slot = storage::KeyTable::kFirstBatchSlot; slot < table_->slots_end(); ++slot)
    if (!used.contains(slot) && !table_->is_erased(slot)) orphans.push_back(slot);
  if (!orphans.empty()) {
    step("erase orphaned slots");
    table_->erase(orphans);
  }
}

void KeyFiles::step(std::string_view name) const {
  if (before_step_) before_step_(name);
}

std::filesystem::path KeyFiles::file_of(const KeyId& id) const {
  return directory_ / (text_of(id) + std::string(kSuffix));
}

KeyRecord KeyFiles::read(const std::filesystem::path& path) const {
  const auto refuse = [&](const std::string& why) -> void {
    throw StoreError(path.string() + " " + why + "; restore the key from a backup");
  };
  const auto id = key_id_from(path.stem().string());
  if (!id || path != file_of(*id)) refuse("is not named by the id of a key");
  const system::File file(path, O_RDONLY | O_NOFOLLOW);
  std::vector<std::byte> bytes(kFileBytesMax + 1);
  bytes.resize(file.read_at(0, bytes));
  FileHeader header;
  if (bytes.size() < sizeof header || bytes.size() > kFileBytesMax) refuse("is damaged (size)");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) refuse("is not the file of a key");
  if (header.version > kVersion)
    throw StoreError(path.string() + " was made by a newer version; use the version that made it");
  std::vector<std::byte> plain(bytes.size() - sizeof header);
  coded::Record message;
  KeyRecord record;
  if (header.version != kVersion ||
      !crypto::open_sealed(table_->state_key(), header.nonce, crypto::bytes_of(context_of(*id)),
                           std::span(bytes).subspan(sizeof header), header.tag, plain))
    refuse("is damaged, or not of this party and peer");
  if (!message.ParseFromArray(plain.data(), static_cast<int>(plain.size())) ||
      !take_record(message, record) || record.attributes.id != *id ||
      message.party() != static_cast<std::uint32_t>(owner_.party) || message.peer() != owner_.peer)
    refuse("is not a record of this version");
  if (record.state == KeyState::Destroyed) return record;  // whatever the TLS keys
  if (message.peer_identity() != owner_.peer_identity) {
    if (message.peer_identity().empty())
      throw StoreError(path.string() + " is of a peer without a TLS key");
    record.former_peer = message.peer_identity();
  }
  // Earlier releases have written none.
  if (!message.own_identity().empty() && !owner_.own_identity.empty() &&
      message.own_identity() != owner_.own_identity)
    record.former_own = message.own_identity();
  return record;
}

void KeyFiles::write(const KeyRecord& record) const {
  coded::Record message;
  put_record(owner_, record, message);
  KeyRecord again;
  ENSURE(take_record(message, again));  // or nobody could read the file
  const std::vector<std::byte> plain = serialised(message);
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.nonce = crypto::Rng::from_system().object<crypto::SealNonce>();
  std::vector<std::byte> bytes(sizeof header + plain.size());
  ENSURE(bytes.size() <= kFileBytesMax);
  header.tag = crypto::seal(table_->state_key(), header.nonce,
                            crypto::bytes_of(context_of(record.attributes.id)), plain,
                            std::span(bytes).subspan(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  system::replace_file(file_of(record.attributes.id), bytes);
}

// If it fails, the file may be the old one or the next. The old one of a key whose suspension could
// not be written does not count.
void KeyFiles::replace(const KeyId& id, KeyRecord next) {
  try {
    step("record");
    write(next);
  } catch (const StoreError&) {
    if (std::filesystem::exists(file_of(id))) {
      KeyRecord on_disk = read(file_of(id));
      if (on_disk.state == KeyState::Destroyed) unwritten_.erase(id);
      if (!unwritten_.contains(id)) records_.insert_or_assign(id, std::move(on_disk));
    }
    throw;
  }
  records_.insert_or_assign(id, std::move(next));
  unwritten_.erase(id);
}

void KeyFiles::replace_or_keep(const KeyId& id, KeyRecord next) {
  try {
    replace(id, next);
  } catch (...) {
    keep_suspended(id, std::move(next));
    throw;
  }
}

// A tombstone is for good, on whichever disk it is.
void KeyFiles::keep_suspended(const KeyId& id, KeyRecord record) {
  if (records_.at(id).state == KeyState::Destroyed) return;
  records_.insert_or_assign(id, std::move(record));
  unwritten_.insert(id);
}

bool KeyFiles::has_unwritten() const {
  const std::lock_guard lock(mutex_);
  return !unwritten_.empty();
}

void KeyFiles::write_again() {
  const std::lock_guard lock(mutex_);
  std::exception_ptr failed;
  for (const KeyId& id : std::set(unwritten_)) {
    try {
      replace_or_keep(id, records_.at(id));
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

std::vector<KeyRecord> KeyFiles::records() const {
  const std::lock_guard lock(mutex_);
  std::vector<KeyRecord> all;
  for (const auto& [id, record] : records_) all.push_back(record);
  return all;
}

bool KeyFiles::have_former_peer() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(records_,
                             [](const auto& each) { return !each.second.former_peer.empty(); });
}

std::vector<KeyRecord> KeyFiles::labelled(const std::string& label) const {
  const std::lock_guard lock(mutex_);
  std::vector<KeyRecord> all;
  for (const auto& [id, record] : records_)
    if (record.attributes.label == label) all.push_back(record);
  return all;
}

std::optional<KeyRecord> KeyFiles::find(const KeyId& id) const {
  const std::lock_guard lock(mutex_);
  const auto at = records_.find(id);
  if (at == records_.end()) return std::nullopt;
  return at->second;
}

KeyRecord KeyFiles::record(const KeyId& id) const {
  const std::lock_guard lock(mutex_);
  return existing(id)->second;
}

KeyFiles::Records::const_iterator KeyFiles::existing(const KeyId& id) const {
  const auto at = records_.find(id);
  if (at == records_.end())
    throw KeyError(KeyProblem::Unknown, "there is no key " + text_of(id) + " with " + owner_.peer);
  return at;
}
std::optional<KeyHave> KeyFiles::have(const KeyId& id) const {
  const std::lock_guard lock(mutex_);
  const auto at = records_.find(id);
  if (at == records_.end()) return std::nullopt;
  const KeyRecord& record = at->second;
  if (!is_bound(record)) return KeyHave{id, {}, {}, KeyState::Suspended, {}, 0};
  KeyHave have{id, digest_of(record.attributes), record.check, record.state, {}, record.use_bound};
  for (const HeldEpoch& held : record.held)
    if (!table_->is_erased(held.slot)) have.epochs.push_back(held.epoch);
  return have;
}

Share KeyFiles::share(const KeyId& id, const Epoch& epoch) const {
  const std::lock_guard lock(mutex_);
  const KeyRecord record = read(file_of(existing(id)->first));
  const auto held = find_epoch(record, epoch);
  const auto refuse = [&](const std::string& why) {
    throw KeyError(KeyProblem::NoShare, "the share of key " + text_of(id) + " in epoch " +
                                            text_of(epoch) + " " + why +
                                            "; restore the key from a backup");
  };
  if (held == record.held.end()) refuse("is not on this disk");
  if (table_->is_erased(held->slot)) refuse("is erased");
  const crypto::SealKey key = table_->key(held->slot, "a share of key " + text_of(id));
  Share share(held->sealed.size());
  if (!crypto::open_sealed(key, held->nonce, crypto::bytes_of(context_of(id, epoch)), held->sealed,
                           held->tag, share))
    refuse("is damaged");
  return share;
}

std::uint64_t KeyFiles::begin_link() {
  const std::lock_guard lock(mutex_);
  return ++link_;
}

void KeyFiles::require_current(std::uint64_t link) const {
  if (link != link_)
    throw Disagreement("the link on which this step began has ended, and a new one is up");
}

void KeyFiles::require_next_version(const KeyAttributes& attributes) const {
  const std::lock_guard lock(mutex_);
  require_next(attributes);
}

void KeyFiles::require_next(const KeyAttributes& attributes) const {
  const KeyAttributes* newest = nullptr;
  for (const auto& [id, other] : records_) {
    if (other.attributes.label != attributes.label) continue;
    // Who has the peer's TLS key now may not say what the label means, until officers have.
    if (other.state != KeyState::Destroyed) require_bound(other);
    if (newest == nullptr || newest->version < other.attributes.version) newest = &other.attributes;
  }
  const std::uint32_t version = newest != nullptr ? newest->version : 0;
  const auto refuse = [](const std::string& why) { throw KeyError(KeyProblem::Exists, why); };
  if (attributes.version != version + 1)
    refuse("the next key " + attributes.label + " is of version " + std::to_string(version + 1) +
           ", not " + std::to_string(attributes.version) +
           (newest != nullptr ? ": rotate it, or choose another label" : ""));
  // Versions of a label have the same one.
  if (newest == nullptr || attributes.cka_id.empty() || newest->cka_id != attributes.cka_id)
    for (const auto& [id, other] : records_)
      if (other.state != KeyState::Destroyed && other.attributes.label != attributes.label &&
          cka_id_of(other.attributes) == cka_id_of(attributes))
        refuse("key " + text_of(id) + ", " + other.attributes.label +
               ", has this CKA_ID: choose another one");
  if (newest == nullptr) return;
  if (newest->key_class != attributes.key_class || newest->algorithm != attributes.algorithm ||
      newest->nonces != attributes.nonces)
    refuse("the keys " + attributes.label + " are of class " + name_of(newest->key_class) + ", " +
           name_of(newest->algorithm) + ", with " + name_of(newest->nonces) +
           " nonces: choose another label");
  if (attributes.origin != KeyOrigin::Generated)
    refuse("the next key " + attributes.label + " is generated, not " + name_of(attributes.origin) +
           ": choose another label");
}

// A slot is filled once and erased once: what a record names, even an old one, is never that of
// another key.
std::uint64_t KeyFiles::free_slot() const {
  std::uint64_t slot = std::max(storage::KeyTable::kFirstBatchSlot, table_->slots_end());
  for (const auto& [id, record] : records_)
    for (const HeldEpoch& held : record.held) slot = std::max(slot, held.slot + 1);
  return slot;
}

HeldEpoch KeyFiles::fill_slot(const KeyId& id, const Epoch& epoch, const Share& share) {
  HeldEpoch held{
      epoch, free_slot(), crypto::Rng::from_system().object<crypto::SealNonce>(), {}, {}};
  const crypto::SealKey key = table_->fresh_key();
  held.sealed.resize(share.size());
  held.tag =
      crypto::seal(key, held.nonce, crypto::bytes_of(context_of(id, epoch)), share, held.sealed);
  step("slot");
  table_->fill(held.slot, std::span(&key, 1));
  table_->sync();
  return held;
}

void KeyFiles::store_epoch(std::uint64_t link, const KeyRecord& record, const Epoch& epoch,
                           const Share& share) {
  const std::lock_guard lock(mutex_);
  require_current(link);
  const KeyId id = record.attributes.id;
  const auto at = records_.find(id);
  KeyRecord next = at == records_.end() ? record : at->second;
  ENSURE(share.size() == key_bytes_of(next.attributes.algorithm));
  if (next.attributes != record.attributes || next.check != record.check ||
      next.request != record.request || next.state == KeyState::Destroyed ||
      next.held.size() >= 2 || find_epoch(next, epoch) != next.held.end())
    throw KeyError(KeyProblem::Exists,
                   "key " + text_of(id) + " is another one, destroyed, or not settled yet");
  if (at == records_.end()) require_next(next.attributes);
  next.held.push_back(fill_slot(id, epoch, share));
  std::ranges::sort(next.held, {}, &HeldEpoch::epoch);
  replace(id, std::move(next));  // if it fails, the slot is an orphan, erased at the next start
}

void KeyFiles::erase_slots(const std::vector<HeldEpoch>& held) {
  std::vector<std::uint64_t> slots;
  slots.reserve(held.size());
  for (const HeldEpoch& of : held) slots.push_back(of.slot);
  if (slots.empty()) return;
  step("erase");
  table_->erase(slots);
}

void KeyFiles::keep_only(std::uint64_t link, const KeyId& id, const Epoch& epoch) {
  const std::lock_guard lock(mutex_);
  require_current(link);
  KeyRecord next = existing(id)->second;
  if (find_epoch(next, epoch) == next.held.end())
    throw KeyError(KeyProblem::NoEpoch,
                   "key " + text_of(id) + " has no share of epoch " + text_of(epoch));
  const std::vector<HeldEpoch> dropped = dropped_but(epoch, next);
  // Whatever an officer has set meanwhile stays.
  if (next.state == KeyState::Pending) next.state = KeyState::Active;
  if (next.state == KeyState::Restored)
    next.state = std::exchange(next.state_resumed, KeyState::Active);
  next.is_restored = false;
  replace(id, std::move(next));
  erase_slots(dropped);
}

void KeyFiles::remove_pending(std::uint64_t link, const KeyId& id) {
  const std::lock_guard lock(mutex_);
  require_current(link);
  const auto at = existing(id);
  if (at->second.state != KeyState::Pending)
    throw KeyError(KeyProblem::State, "key " + text_of(id) + " is " + name_of(at->second.state) +
                                          ": only a pending one is removed");
  const std::vector<HeldEpoch> dropped = at->second.held;
  step("record");
  if (::unlink(file_of(id).c_str()) != 0) system::fail_on_file("remove", file_of(id), errno);
  system::sync_directory(directory_);
  records_.erase(at);
  erase_slots(dropped);
}

void KeyFiles::restore(const BackedUpShare& backup) {
  const std::lock_guard lock(mutex_);
  const KeyId id = backup.record.attributes.id;
  const auto differs = [&](const std::string& why) {
    throw KeyError(KeyProblem::Differs, "the backup of key " + text_of(id) + " is " + why);
  };
  if (backup.party != owner_.party || backup.peer != owner_.peer)
    differs(std::string("of party ") + letter(backup.party) + " with " + backup.peer);
  KeyRecord next = backup.record;
  if (const auto at = records_.find(id); at != records_.end()) {
    next = at->second;
    if (next.state == KeyState::Destroyed)
      throw KeyError(KeyProblem::State, "key " + text_of(id) + " is destroyed, for good");
    if (next.attributes != backup.record.attributes || next.check != backup.record.check)
      differs("of another key than the record");
    std::erase_if(next.held, [&](const HeldEpoch& held) { return table_->is_erased(held.slot); });
    if (next.held.size() == kEpochsMax || find_epoch(next, backup.epoch) != next.held.end())
      throw KeyError(KeyProblem::Exists, "key " + text_of(id) + " has epoch " +
                                             text_of(backup.epoch) +
                                             " already, or too many others: settle it first");
    next.use_bound = std::max(next.use_bound, backup.record.use_bound);
  } else {
    for (const auto& [other, record] : records_)
      if (record.state != KeyState::Destroyed && record.attributes.label == next.attributes.label &&
          record.attributes.version == next.attributes.version)
        throw KeyError(KeyProblem::Exists, "version " + std::to_string(next.attributes.version) +
                                               " of " + next.attributes.label + " is key " +
                                               text_of(other) + " here");
  }
  const bool is_suspended = next.state == KeyState::Suspended;
  const KeyState was =
      is_suspended || next.state == KeyState::Restored ? next.state_resumed : next.state;
  const bool is_deactivated =
      was == KeyState::Deactivated || backup.record.state == KeyState::Deactivated;
  next.state_resumed = is_deactivated ? KeyState::Deactivated : KeyState::Active;
  next.state = is_suspended ? KeyState::Suspended : KeyState::Restored;
  next.is_restored = true;
  next.held.push_back(fill_slot(id, backup.epoch, backup.share));
  std::ranges::sort(next.held, {}, &HeldEpoch::epoch);
  replace(id, std::move(next));
}

void KeyFiles::take_from_peer(const KeyId& id, const KeyHave& theirs) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (theirs.use_bound <= next.use_bound && theirs.state != KeyState::Deactivated) return;
  next.use_bound = std::max(next.use_bound, theirs.use_bound);
  if (theirs.state == KeyState::Deactivated && next.state != KeyState::Destroyed) {
    next.state_resumed = KeyState::Deactivated;
    if (next.state == KeyState::Active) next.state = KeyState::Deactivated;
  }
  replace(id, std::move(next));
}

void KeyFiles::set_state(const KeyId& id, KeyState state) {
  ENSURE(state != KeyState::Destroyed);
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.state == state && !unwritten_.contains(id)) return;
  if (next.state == KeyState::Destroyed)
    throw KeyError(KeyProblem::State, "key " + text_of(id) + " is destroyed, for good");
  if (state != KeyState::Suspended) {
    next.state = state;
    return replace(id, std::move(next));
  }
  suspend(next);
  replace_or_keep(id, std::move(next));
}

void KeyFiles::deactivate(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.state == KeyState::Deactivated) return;
  if (next.state != KeyState::Active)
    throw KeyError(KeyProblem::State, "key " + text_of(id) + " is " + name_of(next.state) +
                                          ": only an active one is deactivated");
  next.state = KeyState::Deactivated;
  replace(id, std::move(next));
}

void KeyFiles::resume(const KeyId& id, const std::optional<Epoch>& only) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.state != KeyState::Suspended)
    throw KeyError(KeyProblem::State,
                   "key " + text_of(id) + " is " + name_of(next.state) + ", and not suspended");
  if (next.has_peer_destroyed)
    throw KeyError(KeyProblem::NotAtPeer, "the peer has destroyed its share of key " + text_of(id) +
                                              ": it cannot be used any more");
  std::vector<HeldEpoch> dropped;
  if (only) {
    const auto kept = find_epoch(next, *only);
    if (kept == next.held.end() || table_->is_erased(kept->slot))
      throw KeyError(KeyProblem::NoEpoch,
                     "key " + text_of(id) + " has no share of epoch " + text_of(*only));
    dropped = dropped_but(*only, next);
  }
  next.state = next.is_restored ? KeyState::Restored : next.state_resumed;
  replace(id, std::move(next));
  erase_slots(dropped);
}

void KeyFiles::rebind(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (is_bound(next)) return;
  next.former_peer.clear();
  next.former_own.clear();
  next.has_peer_destroyed = false;  // was said under a former key
  if (!next.held.empty()) next.epoch_rebound = next.held.back().epoch.number;
  replace(id, std::move(next));
}

void KeyFiles::raise_use_bound(const KeyId& id, std::uint64_t bound) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.use_bound >= bound) return;
  next.use_bound = bound;
  replace(id, std::move(next));
}

void KeyFiles::destroy(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.state == KeyState::Destroyed) return;
  KeyRecord broken_off = next;
  suspend(broken_off);
  try {
    erase_slots(next.held);
    next.held.clear();
    next.state = KeyState::Destroyed;
    next.has_peer_destroyed = false;
    // What is left is bound to no TLS key, as when it is read.
    next.former_peer.clear();
    next.former_own.clear();
    replace(id, std::move(next));
  } catch (...) {
    keep_suspended(id, std::move(broken_off));
    throw;
  }
}

void KeyFiles::note_peer_destroyed(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (next.state == KeyState::Destroyed) return;
  if (next.has_peer_destroyed && next.state == KeyState::Suspended && !unwritten_.contains(id))
    return;
  next.has_peer_destroyed = true;
  suspend(next);
  replace_or_keep(id, std::move(next));
}

void KeyFiles::forget_peer_destroyed(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  KeyRecord next = existing(id)->second;
  if (!next.has_peer_destroyed) return;
  next.has_peer_destroyed = false;
  replace(id, std::move(next));
}

}  // namespace tinyot::custody
