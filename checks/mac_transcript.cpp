#include "checks/mac_transcript.h"

#include "base/error.h"
#include "checks/session.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kTranscript = net::message_tag("mac_transcript.digest");

void send_mine(MacTranscripts& transcripts, net::Channel& channel) {
  net::send_object(channel, kTranscript, transcripts.settle_mine());
}

void compare_peers(MacTranscripts& transcripts, net::Channel& channel) {
  const crypto::Digest expected = transcripts.settle_peers();
  const auto received = net::recv_object<crypto::Digest>(channel, kTranscript);
  if (!crypto::equal_constant_time(received, expected)) throw PeerCheated("MAC transcript");
}

}  // namespace

MacTranscript::MacTranscript(const SessionId& session, Party mac_holder)
    : session_(session), direction_(letter(mac_holder)),
      sum_(session, {"MAC transcript", direction_, 0}, crypto::HashUse::MacTranscript),
      chain_(session, {"MAC chain", direction_, 0}) {}

void MacTranscript::absorb(std::span<const Block> macs) { sum_.absorb(macs); }

crypto::Digest MacTranscript::settle() {
  const crypto::Digest digest = chain_.absorb_object(sum_.take()).digest();
  chain_ = crypto::RandomOracle(session_, {"MAC chain", direction_, ++settled_});
  chain_.absorb_object(digest);
  // A hash of the chain's state under another domain is sent, so that the chain itself stays
  // secret.
  return crypto::RandomOracle(session_, {"MAC digest", direction_, settled_})
      .absorb_object(digest)
      .digest();
}

void MacTranscripts::take_sums() {
  const Sums more{shared.take(), gates.take()};
  for (Sums* sums : {&sums_of_mine_, &sums_of_peers_}) {
    sums->shared ^= more.shared;
    sums->gates ^= more.gates;
  }
}

void MacTranscripts::settle_sums(Sums& sums, MacTranscript& direction) {
  direction.absorb_sum(sums.shared);
  direction.absorb_sum(sums.gates);
  sums = {};
}

crypto::Digest MacTranscripts::settle_mine() {
  ENSURE(mine_due == 0);
  take_sums();
  settle_sums(sums_of_mine_, mine);
  return mine.settle();
}

crypto::Digest MacTranscripts::settle_peers() {
  ENSURE(peers_due == 0);
  take_sums();
  settle_sums(sums_of_peers_, peers);
  return peers.settle();
}

void send_digest(Session& session) { send_mine(session.transcripts(), session.channel()); }

SettledCheck receive_digest(Session& session) {
  compare_peers(session.transcripts(), session.channel());
  session.require_not_revoked();
  return SettledCheck();
}

void send_digest(Session& whole, Session& part) {
  whole.transcripts().mine.absorb_part(part.transcripts().settle_mine());
  send_mine(whole.transcripts(), part.channel());
}

SettledCheck receive_digest(Session& whole, Session& part) {
  whole.transcripts().peers.absorb_part(part.transcripts().settle_peers());
  compare_peers(whole.transcripts(), part.channel());
  whole.require_not_revoked();
  return SettledCheck();
}

SettledCheck settle_transcripts(Session& session) {
  send_digest(session);
  return receive_digest(session);
}

SettledCheck settle_part(Session& whole, Session& part) {
  send_digest(whole, part);
  return receive_digest(whole, part);
}

}  // namespace tinyot::checks
