#include "storage/store_state.h"

#include <utility>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot::storage {

StoreState::StoreState(const StoreFiles& files, std::unique_ptr<StoreLock> lock, Purpose purpose,
                       const std::optional<StoreKey>& store_key, bool is_adopted)
    : files_(files), lock_(std::move(lock)), purpose_(purpose), database_(files, store_key) {
  if (database_.manifest().state == SessionState::Revoked) {
    if (purpose != Purpose::Look) complete_revocation();
    if (purpose != Purpose::Own) lock_->share();
    return;
  }
  if (database_.keys().protection() == KeyProtection::Erased) {
    // A revocation was interrupted before the manifest was written; some keys may be left.
    if (purpose != Purpose::Look) complete_revocation();
    throw StoreError("the keys of the store in " + files_.directory.string() +
                     " are erased: nothing of it can be used, start a new session in a new store");
  }
  global_key_ = database_.keys().global_key();
  check_files(is_adopted);
  recover();
  if (purpose != Purpose::Own) lock_->share();
  written_ = database_.marks().made;
  outstanding_ = attempts().risk;
}

StoreState::~StoreState() { wipe_object(global_key_); }

// A copy may be older than the original, which may have served what the copy still has.
void StoreState::check_files(bool is_adopted) {
  const std::uint64_t database_identity = identity_of(files_.database),
                      keys_identity = identity_of(files_.keys);
  const Marks& marks = database_.marks();
  if (marks.database_identity == database_identity && marks.keys_identity == keys_identity) return;
  if (!is_adopted)
    throw StoreIsCopy(
        "the store in " + files_.directory.string() +
        " is a copy: the original may have served material that the copy still holds. If the "
        "original no longer exists, declare that with: tinyot store adopt " +
        files_.directory.string());
  database_.change("adopt the store", 0, [&](Change& change) {
    change.marks().database_identity = database_identity;
    change.marks().keys_identity = keys_identity;
  });
}

// A process that ended during a revocation may have left some keys.
void StoreState::complete_revocation() {
  if (database_.keys().has_remains()) database_.keys().erase_all();
}

Delta StoreState::global_key() {
  database_.read("read the global key", [](const View& view) { view.check_not_revoked(); });
  return global_key_;
}

void StoreState::update_manifest(const std::function<void(Manifest&)>& change_manifest) {
  database_.change("write the manifest", 0, [&](Change& change) {
    change.check_not_revoked();
    const Manifest before = change.manifest();
    Manifest& after = change.manifest();
    change_manifest(after);
    ENSURE(after.format_version == before.format_version && after.session_id == before.session_id &&
           after.me == before.me && after.units_made == before.units_made &&
           after.state != SessionState::Revoked);
  });
}

// Keys first: a crash before the reason is written leaves a store without keys, which is rejected
// at opening.
void StoreState::revoke(const std::string& reason) {
  if (database_.manifest().state == SessionState::Revoked) return complete_revocation();
  KeyTable::erase_file(files_.keys);
  queue_ = PourQueue();
  to_keep_.clear();
  wipe_object(global_key_);
  try {
    database_.change("mark the session as revoked", 0, [&](Change& change) {
      if (change.manifest().state == SessionState::Revoked) return;
      change.manifest().state = SessionState::Revoked;
      change.manifest().dead_reason = printable(reason);
    });
  } catch (const StoreError&) {
    database_.keys().erase_all();
    throw;
  }
  database_.keys().erase_all();
}

SecretVector<std::byte> StoreState::open(const HeldBatch& batch) const {
  SecretVector<std::byte> plain;
  database_.read("read " + std::string(name_of(batch.entry.kind)), [&](const View& view) {
    view.check_not_revoked();
    const ByteView sealed = view.record(batch.entry);
    plain.resize(sealed.size());
    open_record(database_.session(), view.manifest().me, batch.entry, batch.key, sealed, plain);
    // Batches are read once.
    Environment::release_pages(sealed);
  });
  return plain;
}

}  // namespace tinyot::storage
