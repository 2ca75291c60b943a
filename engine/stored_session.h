// A session with the peer on this party's stores. Internal to this folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "checks/session.h"
#include "net/handshake.h"
#include "net/shaped_link.h"
#include "storage/reservation.h"
#include "storage/store.h"
#include "tinyot/run.h"

namespace tinyot::engine {

class StoredSession {
 public:
  // Opens the stores. Fails: StoreError if they do not belong to this party and the peer of the
  // endpoint, or are not different shards of one session.
  explicit StoredSession(const RunRequest& request);
  ~StoredSession();
  StoredSession(const StoredSession&) = delete;
  StoredSession& operator=(const StoredSession&) = delete;

  const storage::Manifest& manifest() const { return stores_.front().manifest(); }
  std::span<storage::Store> stores() { return stores_; }
  AndMaterial form() const { return form_; }
  // After connect().
  const SessionId& connection() const { return session_->id(); }
  const checks::Agreement& agreement() const { return agreement_; }
  // As far as it has been measured.
  net::LinkShape& link() { return link_; }
  // Reads the stores' state anew: other handles may have changed it. Fails: StoreError.
  void require_not_revoked();
  // What this object's stores have granted for it, or skipped.
  MaterialCounts spent() const;
  // Of what the stores have now.
  bool has_material(const MaterialCounts& needed) const;
  // The same. Fails: OutOfMaterial; as require_not_revoked.
  void require_material(const MaterialCounts& needed);

  // Connects, and establishes the session. `parameters` are what both parties must agree on besides
  // the stores; `reservation` is the number of the reservation to use, or says why there is none.
  // Fails: Cancelled if `cancel` requests a stop; so does with_peer().
  void connect(std::vector<net::Parameter> parameters, const std::string& reservation,
               const std::stop_token& cancel);
  // Runs `work` in the session, as within_session() does.
  void with_peer(const std::function<void(checks::Session&)>& work);
  net::PhaseLog& log() { return log_; }
  // After connect(): as ByteStream::has_ended.
  bool has_ended() { return channel_->has_ended(); }
  // Of the material. `attempts` are those of the stores now; the bounds are computed again only if
  // these or the manifest have changed.
  const Security& security(const storage::AttemptTotals& attempts);

 private:
  const RunRequest request_;
  std::vector<storage::Store> stores_;  // one, or shards of one session
  AndMaterial form_;
  Delta global_key_{};
  net::PhaseLog log_;
  std::unique_ptr<net::Channel> channel_;
  std::optional<checks::Session> session_;
  checks::Agreement agreement_;
  net::LinkShape link_;
  std::stop_token cancel_;
  struct KnownSecurity {
    storage::Manifest manifest;
    storage::AttemptTotals attempts;
    Security security;  // that follows from these
  };
  std::optional<KnownSecurity> security_;
};

}  // namespace tinyot::engine
