#include "checks/opening.h"

namespace tinyot {

void reveal_bits(Session& session, const MessageTag& tag, const BitVector& bits) { send_bits(session.channel(), tag, bits); }

void absorb_my_macs(Session& session, std::span<const Mac> macs) { session.transcripts().mine.absorb(as_blocks(macs)); }

void absorb_peers_keys(Session& session, std::span<Key> keys, const std::uint64_t* revealed) {
  const Delta delta = session.global_key();
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = moved(keys[i], delta, (revealed[i / 64] >> (i % 64)) & 1);
  session.transcripts().peers.absorb(as_blocks(std::span<const Key>(keys)));
}

void absorb_opened(Session& session, std::span<const MacShare> differences) { session.transcripts().shared.absorb(as_blocks(differences)); }

BitVector receive_revealed_bits(Session& session, const MessageTag& tag, std::size_t n) {
  return recv_bits(session.channel(), tag, n);
}

void absorb_peers_keys(Session& session, std::span<Key> keys, const BitVector& revealed, std::size_t first) {
  const Delta delta = session.global_key();
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = moved(keys[i], delta, revealed[first + i]);
  session.transcripts().peers.absorb(as_blocks(std::span<const Key>(keys)));
}

}  // namespace tinyot
