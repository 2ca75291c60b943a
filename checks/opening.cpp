#include "checks/opening.h"

#include "base/secret.h"

namespace tinyot::checks {

void reveal_bits(Session& session, const net::MessageTag& tag, const BitVector& bits) {
  net::send_bits(session.channel(), tag, bits);
  session.transcripts().mine_due += static_cast<std::int64_t>(bits.size());
}

BitVector receive_revealed_bits(Session& session, const net::MessageTag& tag, std::size_t n) {
  session.transcripts().peers_due += static_cast<std::int64_t>(n);
  return net::recv_bits(session.channel(), tag, n);
}

void absorb_my_macs(Session& session, std::span<const Mac> macs) {
  session.transcripts().mine.absorb(as_blocks(macs));
  session.transcripts().mine_due -= static_cast<std::int64_t>(macs.size());
}

namespace {

template <class BitAt>
void absorb_keys(Session& session, std::span<Key> keys, BitAt bit_at) {
  const ScopedSecret<Delta> delta(session.global_key());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = xor_public_bit(keys[i], delta, bit_at(i));
  session.transcripts().peers.absorb(as_blocks(std::span<const Key>(keys)));
  session.transcripts().peers_due -= static_cast<std::int64_t>(keys.size());
}

}  // namespace

void absorb_peers_keys(Session& session, std::span<Key> keys, const std::uint64_t* revealed) {
  absorb_keys(session, keys,
              [&](std::size_t i) { return ((revealed[i / 64] >> (i % 64)) & 1) != 0; });
}

void absorb_peers_keys(Session& session, std::span<Key> keys, const BitVector& revealed,
                       std::size_t first) {
  absorb_keys(session, keys, [&](std::size_t i) { return revealed[first + i]; });
}

void absorb_opened(Session& session, std::span<const MacShare> differences) {
  MacTranscripts& transcripts = session.transcripts();
  transcripts.shared.absorb(as_blocks(differences));
  transcripts.mine_due -= static_cast<std::int64_t>(differences.size());
  transcripts.peers_due -= static_cast<std::int64_t>(differences.size());
}

void absorb_zeros(Session& session, std::span<const MacShare> shares) {
  session.transcripts().shared.absorb(as_blocks(shares));
}

}  // namespace tinyot::checks
