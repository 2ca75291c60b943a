#include "checks/mac_transcript.h"

#include "base/error.h"
#include "checks/session.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kTranscript = net::message_tag("mac_transcript.digest");

void exchange_and_compare(MacTranscripts& transcripts, net::Channel& channel) {
  transcripts.close();
  const crypto::Digest mine = transcripts.mine.settle(), expected = transcripts.peers.settle();
  net::send_object(channel, kTranscript, mine);
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

void MacTranscript::absorb_part(MacTranscript& part) { chain_.absorb_object(part.settle()); }

void MacTranscripts::close() {
  ENSURE(mine_due == 0 && peers_due == 0);
  const Block sum = shared.take();
  mine.absorb_sum(sum);
  peers.absorb_sum(sum);
}

SettledCheck settle_transcripts(Session& session) {
  exchange_and_compare(session.transcripts(), session.channel());
  session.require_not_revoked();
  return SettledCheck();
}

SettledCheck settle_part(Session& whole, Session& part) {
  part.transcripts().close();
  whole.transcripts().mine.absorb_part(part.transcripts().mine);
  whole.transcripts().peers.absorb_part(part.transcripts().peers);
  exchange_and_compare(whole.transcripts(), part.channel());
  whole.require_not_revoked();
  return SettledCheck();
}

}  // namespace tinyot::checks
