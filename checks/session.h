// One connection of a session: the party, the ids that every hash and commitment is bound to, the
// channel, the randomness, the MAC transcripts. Everything that a protocol role needs besides its
// inputs.
//
// A store's session spans many connections under one global key. Each connection has its own id,
// derived from the store's session id and fresh nonces of both parties, and all hashing of the
// connection is bound to it: a resumed job never repeats a tweak, and nothing can be replayed from
// one connection into another. Over TLS, both ids are also bound to the channel and to the keys of
// both parties (ByteStream::binding).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/block.h"
#include "base/revocation.h"
#include "base/session_id.h"
#include "checks/mac_transcript.h"
#include "crypto/phases.h"
#include "crypto/rng.h"
#include "net/channel.h"
#include "net/handshake.h"
#include "net/phase_log.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"

namespace tinyot::checks {

struct SessionIds {
  SessionId session;     // of the stores' session; fresh unless one was given
  SessionId connection;  // of this connection
};

// What a handshake has found out besides.
struct Agreement {
  std::vector<net::Parameter> parameters;  // as net::Handshake::agreed
  // From this party's Hello to the peer's confirmation, which answers it: the round-trip time, or
  // more if the peer began later.
  std::chrono::nanoseconds round_trip{};
};

// Role: both. Runs the handshake over `parameters` and, if stores exist already, the stores'
// session id; derives the ids and confirms them.
// Wire: 2 messages each way, 2 rounds.
// Fails: UsageError as require_sendable, before anything is sent; as shake_hands;
// PeerCheated("handshake") if the peer's confirmation is not for the same
// two Hellos.
SessionIds establish_session(net::Channel& channel, crypto::Rng& rng, Party me,
                             std::vector<net::Parameter> parameters,
                             const std::optional<SessionId>& existing,
                             Agreement* agreement = nullptr);

// Role: both. Joins a further channel to the session, for worker `worker` of both parties: each
// proves knowledge of the session's connection id.
// Wire: 1 message of 32 bytes each way.
// Fails: NetworkError if the peer's proof is not for this session and worker; as Channel::recv.
void join_session(net::Channel& channel, const SessionIds& ids, Party me, std::uint64_t worker);

class Session {
 public:
  // `global_key` is Delta^me, the key under which this party checks the peer's bits. `revocations`
  // are those of the session's stores; none if the session has no other connections. `base_ot` is
  // what both parties have agreed on.
  Session(Party me, const SessionIds& ids, const Delta& global_key, net::Channel& channel,
          crypto::Rng rng, net::PhaseLog& log, Revocations revocations = {},
          BaseOt base_ot = BaseOt::Ristretto);
  // A part of `whole`, for one unit of its work on `channel`: it has its own id, randomness,
  // counter and MAC transcripts, derived from those of `whole`, `kind` and `number`. Parts of
  // different numbers may be used on different threads.
  Session(const Session& whole, crypto::Phase kind, std::uint64_t number, net::Channel& channel,
          net::PhaseLog& log);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Party me() const { return me_; }
  Party peer() const { return peer_of(me_); }
  const SessionId& id() const { return ids_.connection; }
  const Delta& global_key() const { return global_key_; }
  BaseOt base_ot() const { return base_ot_; }
  net::PhaseLog& log() { return log_; }
  net::Channel& channel() { return channel_; }
  crypto::Rng& rng() { return rng_; }
  MacTranscripts& transcripts() { return transcripts_; }
  // Fails: StoreError if a check has failed on any connection of the session in this process.
  // Called before each output is revealed, and before it is returned.
  void require_not_revoked() const;

  // A counter that is equal on both sides, for domains that occur many times.
  std::uint64_t next_counter() { return counter_++; }

 private:
  Party me_;
  SessionIds ids_;
  Delta global_key_;
  net::Channel& channel_;
  crypto::Rng rng_;
  Block parts_seed_;  // of the randomness of parts
  net::PhaseLog& log_;
  MacTranscripts transcripts_;
  std::uint64_t counter_ = 0;
  Revocations revocations_;
  BaseOt base_ot_;
};

}  // namespace tinyot::checks
