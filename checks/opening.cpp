#include "checks/opening.h"

namespace tinyot {

void reveal_bits(Session& session, const MessageTag& tag, const BitVector& bits) { send_bits(session.channel(), tag, bits); }

void absorb_my_macs(Session& session, std::span<const Mac> macs) { session.transcripts().mine.absorb(as_blocks(macs)); }

BitVector receive_revealed_bits(Session& session, const MessageTag& tag, std::size_t n) {
  return recv_bits(session.channel(), tag, n);
}

void absorb_peers_keys(Session& session, std::span<Key> keys, const BitVector& revealed, std::size_t first) {
  const Delta delta = session.global_key();
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = moved(keys[i], delta, revealed[first + i]);
  session.transcripts().peers.absorb(as_blocks(std::span<const Key>(keys)));
}

}  // namespace tinyot
