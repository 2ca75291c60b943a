// Keys: what becomes of a key whose share the peer has destroyed, or says so.
//
// What it says last counts, and is in the key's record, which takes a synced write. So this is done
// at the desk, and in a while once for each key: a peer that changes its word all the time causes
// no more. Nothing is erased before its time.
#include "service/event_log.h"
#include "service/keys.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

// Between two times that the record of a key has what the peer says.
constexpr std::chrono::seconds kNotePause{5};

std::int64_t unix_s(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

void Keys::note_peers_share(const custody::KeyId& id) {
  const auto last = noted_.find(id);
  to_note_.emplace(
      last == noted_.end() ? DestroyAfter::Steady::time_point() : last->second + kNotePause, id);
  begin_noting();
}

void Keys::begin_noting() {
  if (is_noting_ || is_stopping_ || to_note_.empty() ||
      to_note_.begin()->first > DestroyAfter::Steady::now())
    return;
  is_noting_ = true;
  put_on_desk([this] { note_next(); });
}

// One key, so that all else at the desk has its turn.
void Keys::note_next() {
  custody::KeyId id;
  {
    const Lock lock(mutex_);
    id = to_note_.begin()->second;
    to_note_.erase(to_note_.begin());
    noted_[id] = DestroyAfter::Steady::now();
  }
  const bool is_written = errors_.run([&] { write_peers_share(id); });
  const Lock lock(mutex_);
  is_noting_ = false;
  if (!is_written) to_note_.emplace(noted_[id] + kNotePause, id);
  begin_noting();
}

void Keys::write_peers_share(const custody::KeyId& id) {
  const auto record = files_.find(id);
  // Who has the peer's TLS key now says nothing of a key that is bound to a former one: what was
  // noted stays until officers bind it, and rebind() looks at it again.
  if (!record || !is_bound(*record)) return;
  const bool was_destroyed = record->peer_destroyed_unix_s != 0;
  bool is_destroyed = false;
  {
    const Lock lock(mutex_);
    const auto said = peers_.find(id);
    if (said == peers_.end()) return;  // nothing since the link is up
    is_destroyed = custody::settle_step(files_.have(id), said->second).kind ==
                   custody::SettleKind::PeerDestroyed;
  }
  if (is_destroyed) {
    const auto seen = files_.note_peer_destroyed(id, unix_s(Clock::now()));
    const Lock lock(mutex_);
    // Unless it has been noted before; if that failed at the disk, it is done now.
    if (seen && (!was_destroyed ||
                 !destroy_after_.knows(id, Clock::time_point(std::chrono::seconds(*seen)))))
      await_destruction(id, *seen);
  } else if (!is_destroyed && was_destroyed) {
    // A suspended key is an officer's to resume.
    files_.forget_peer_destroyed(id);
    const Lock lock(mutex_);
    destroy_after_.forget(id);
  }
}

void Keys::await_destruction(const custody::KeyId& id, std::int64_t seen_unix_s) {
  const auto seen = Clock::time_point(std::chrono::seconds(seen_unix_s));
  destroy_after_.forget(id);  // what was noted earlier, and is no longer so
  destroy_after_.note(id, seen, DestroyAfter::Steady::now());
  const auto at = destroy_after_.at(seen);
  if (const auto suppressed = destroyed_lines_.admit(LogRate::Clock::now()))
    log_event(LogLevel::Warning, "key destroyed by the peer",
              {{"peer", settings_.name},
               {"key", custody::text_of(id)},
               {"destroyed_here_at", at ? system::utc_text(*at) : "never"},
               {"suppressed", *suppressed}});
}

// At the desk, again after a while if it fails. What is noted only now is of a later time.
void Keys::destroy_as_peer(const custody::KeyId& id) {
  const std::int64_t seen = files_.record(id).peer_destroyed_unix_s;
  write_peers_share(id);  // it may say something else by now
  if (const auto record = files_.record(id);
      seen != 0 && record.peer_destroyed_unix_s == seen && is_bound(record))
    (void)step_alone(
        "destroy_after_s", "destroy", id, [&] { (void)files_.destroy_as_peer(id); }, {},
        "the peer has destroyed its share");
  const Lock lock(mutex_);
  if (files_.record(id).peer_destroyed_unix_s == 0) destroy_after_.forget(id);
}

}  // namespace tinyot::service
