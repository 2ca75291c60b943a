// Keys: what becomes of a key whose share the peer has destroyed, or says so.
//
// What it says last counts, and is in the key's record, which takes a synced write. So this is done
// at the desk, and in a while once for each key: a peer that changes its word all the time causes
// no more. Nothing is erased.
#include "service/event_log.h"
#include "service/keys.h"

namespace tinyot::service {
namespace {

// Between two times that the record of a key has what the peer says.
constexpr std::chrono::seconds kNotePause{5};

}  // namespace

void Keys::note_peers_share(const custody::KeyId& id) {
  const auto last = noted_.find(id);
  to_note_.emplace(last == noted_.end() ? Steady::time_point() : last->second + kNotePause, id);
  begin_noting();
}

void Keys::begin_noting() {
  if (is_noting_ || is_stopping_ || to_note_.empty() || to_note_.begin()->first > Steady::now())
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
    noted_[id] = Steady::now();
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
  bool is_destroyed = false;
  {
    const Lock lock(mutex_);
    const auto said = peers_.find(id);
    if (said == peers_.end()) return;  // nothing since the link is up
    is_destroyed = custody::settle_step(files_.have(id), said->second).kind ==
                   custody::SettleKind::PeerDestroyed;
  }
  if (is_destroyed) {
    if (!record->has_peer_destroyed) log_destroyed_by_peer(id);
    files_.note_peer_destroyed(id);
  } else if (record->has_peer_destroyed) {
    // A suspended key is an officer's to resume.
    files_.forget_peer_destroyed(id);
  }
}

void Keys::log_destroyed_by_peer(const custody::KeyId& id) {
  const Lock lock(mutex_);
  if (const auto suppressed = destroyed_lines_.admit(LogRate::Clock::now()))
    log_event(
        LogLevel::Warning, "key destroyed by the peer",
        {{"peer", settings_.name}, {"key", custody::text_of(id)}, {"suppressed", *suppressed}});
}

}  // namespace tinyot::service
