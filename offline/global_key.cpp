#include "offline/global_key.h"

#include "base/error.h"
#include "checks/equality.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kE = net::message_tag("global_key.e");

crypto::Digest digest_of(checks::Session& session, Party owner, std::uint64_t counter,
                         std::span<const Block> string) {
  return crypto::RandomOracle(session.id(), {"global key EQ", letter(owner), counter})
      .absorb(std::as_bytes(string))
      .digest();
}

std::uint64_t low_bit_of(Party me) { return me == Party::B ? 1 : 0; }

}  // namespace

bool fits_triples(const checks::Session& session) {
  return (session.global_key().value.lo & 1) == low_bit_of(session.me());
}

Delta fitted_to_triples(Delta key, Party me) {
  key.value.lo = (key.value.lo & ~std::uint64_t{1}) | low_bit_of(me);
  return key;
}

void DeltaConsistency::set_reference_bits(AuthBits reference) {
  ENSURE(reference.mine.size() == kReferenceBits && reference.peers.size() == kReferenceBits);
  reference_ = std::move(reference);
}

void DeltaConsistency::check(checks::Session& session, MacColumnView mine,
                             KeyColumnView peers) const {
  ENSURE(reference_ && mine.size() == kReferenceBits && peers.size() == kReferenceBits);
  // Step 2.
  BitVector e(kReferenceBits);
  for (std::size_t w = 0; w < e.words().size(); ++w)
    e.words()[w] = reference_->mine.bits.words()[w] ^ mine.bits[w];
  net::send_bits(session.channel(), kE, e);
  const BitVector peers_e = net::recv_bits(session.channel(), kE, kReferenceBits);
  // Step 3.
  SecretVector<Block> of_mine(kReferenceBits), of_peers(kReferenceBits);
  for (std::size_t j = 0; j < kReferenceBits; ++j) {
    of_mine[j] = (reference_->mine.macs[j] ^ mine.macs[j]).value;
    of_peers[j] =
        xor_public_bit(reference_->peers.keys[j] ^ peers[j], session.global_key(), peers_e[j])
            .value;
  }
  const std::uint64_t counter = session.next_counter();
  const crypto::Digest digest_of_mine = digest_of(session, session.me(), counter, of_mine),
                       digest_of_peers = digest_of(session, session.peer(), counter, of_peers);
  checks::EqualityCheck equality("global key");
  equality.add_both(session.me(), "global key of A's bits", "global key of B's bits",
                    digest_of_mine, digest_of_peers);
  equality.run(session);
}

}  // namespace tinyot::offline
