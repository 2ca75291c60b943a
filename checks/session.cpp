#include "checks/session.h"

#include <algorithm>

#include "base/error.h"
#include "crypto/random_oracle.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kConfirm = net::message_tag("handshake.confirm");

SessionId as_session_id(const crypto::Digest& digest) { return {digest.bytes}; }

// `base`, bound to this channel if the channel has a binding.
SessionId on_channel(const SessionId& base, const net::Channel& channel) {
  const auto binding = channel.binding();
  return binding.empty()
             ? base
             : as_session_id(
                   crypto::RandomOracle(base, {"channel", '*', 0}).absorb(binding).digest());
}

SessionId bind(const SessionId& base, crypto::Phase phase, char direction,
               const net::Handshake& handshake) {
  return as_session_id(crypto::RandomOracle(base, {phase, direction, 0})
                           .absorb_object(static_cast<std::uint64_t>(handshake.hello_a.size()))
                           .absorb(handshake.hello_a)
                           .absorb(handshake.hello_b)
                           .digest());
}

}  // namespace

SessionIds establish_session(net::Channel& channel, crypto::Rng& rng, Party me,
                             std::vector<net::Parameter> parameters,
                             const std::optional<SessionId>& existing, Agreement* agreement) {
  net::require_sendable(parameters);
  parameters.push_back({"session", existing ? hex_of(*existing) : "new"});
  const net::Hello hello{me, rng.object<std::array<std::uint8_t, 32>>(), std::move(parameters)};
  const auto begin = std::chrono::steady_clock::now();
  net::Handshake handshake = net::shake_hands(channel, hello);

  SessionIds ids;
  ids.session = existing.value_or(bind(on_channel({}, channel), "session", '*', handshake));
  ids.connection = bind(on_channel(ids.session, channel), "connection", '*', handshake);

  // The confirmation names its sender, so that it cannot be sent back.
  const SessionId mine = bind(ids.connection, "confirm", letter(me), handshake);
  const SessionId expected = bind(ids.connection, "confirm", letter(peer_of(me)), handshake);
  net::send_object(channel, kConfirm, mine);
  const auto received = net::recv_object<SessionId>(channel, kConfirm);
  if (!crypto::equal_constant_time({received.bytes}, {expected.bytes}))
    throw PeerCheated("handshake");
  if (agreement != nullptr)
    *agreement = {std::move(handshake.agreed), std::chrono::steady_clock::now() - begin};
  channel.flush();  // the caller may continue on another channel while the peer waits on this one
  return ids;
}

void join_session(net::Channel& channel, const SessionIds& ids, Party me, std::uint64_t worker) {
  const auto proof = [&](Party party) {
    return crypto::RandomOracle(on_channel(ids.connection, channel),
                                {"worker", letter(party), worker})
        .digest();
  };
  static_assert(sizeof(crypto::Digest) == net::kJoinBytes);
  net::send_object(channel, net::kJoin, proof(me));
  const auto received = net::recv_object<crypto::Digest>(channel, net::kJoin);
  if (!crypto::equal_constant_time(received, proof(peer_of(me))))
    throw NetworkError("the connection of worker " + std::to_string(worker) +
                       " does not belong to this session");
  channel.flush();
}

Session::Session(Party me, const SessionIds& ids, const Delta& global_key, net::Channel& channel,
                 crypto::Rng rng, net::PhaseLog& log, Revocations revocations, BaseOt base_ot)
    : me_(me), ids_(ids), global_key_(global_key), channel_(channel), rng_(std::move(rng)),
      parts_seed_(rng_.block()), log_(log), transcripts_(ids.connection, me),
      revocations_(std::move(revocations)), base_ot_(base_ot) {}

Session::Session(const Session& whole, crypto::Phase kind, std::uint64_t number,
                 net::Channel& channel, net::PhaseLog& log)
    : Session(whole.me_,
              {whole.ids_.session,
               as_session_id(crypto::RandomOracle(whole.id(), {kind, '*', number}).digest())},
              whole.global_key_, channel,
              crypto::Rng(Seed{crypto::RandomOracle(
                                   whole.id(), {"randomness of a part", letter(whole.me_), number})
                                   .absorb(std::as_bytes(std::span(kind.text())))
                                   .absorb_object(whole.parts_seed_)
                                   .block()}),
              log, whole.revocations_, whole.base_ot_) {}

void Session::require_not_revoked() const {
  if (std::ranges::any_of(revocations_, [](const auto& flag) { return flag->is_set(); }))
    throw StoreError(
        "the session is revoked: a check has failed on another of its connections; nothing is "
        "output, start a new session in a new store");
}

Session::~Session() {
  wipe_object(global_key_);
  wipe_object(parts_seed_);
}

}  // namespace tinyot::checks
