#include "offline/base_ot/base_ot.h"

#include "base/error.h"
#include "crypto/group.h"
#include "crypto/tweak_hash.h"
#include "offline/base_ot/group_ot.h"
#include "offline/base_ot/kem_ot.h"

namespace tinyot::offline {

BaseOt usual_base_ot() { return crypto::has_ml_kem() ? BaseOt::MlKem : BaseOt::Ristretto; }

void require_base_ot(std::optional<BaseOt> requested, const std::string& shortage) {
  if (requested == BaseOt::MlKem && !shortage.empty())
    throw UsageError("base OTs from ml-kem are not available: " + shortage +
                     "; use ristretto at both parties, or another OpenSSL");
}

std::uint64_t base_ot_bytes(BaseOt kind) {
  return kind == BaseOt::MlKem ? sizeof(KemOffer) + sizeof(KemAnswer) : 3 * sizeof(crypto::Point);
}

BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count) {
  return base_ots_by_public_key(session, count, session.rng().bits(count));
}

BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count, BitVector choices) {
  ENSURE(choices.size() == count);
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "base OTs", count);
  switch (session.base_ot()) {
    case BaseOt::Ristretto:
      return group_base_ots(session, std::move(choices));
    case BaseOt::MlKem:
      return kem_base_ots(session, std::move(choices));
  }
  throw UsageError("there are no such base OTs");
}

BaseOts base_ots_from_auth_bits(checks::Session& session, MacColumnView mine, KeyColumnView peers) {
  const std::size_t count = mine.size();
  ENSURE(peers.size() == count && count <= crypto::TweakHash::kObjectsMax);
  const std::uint64_t batch = session.next_counter();
  BaseOts ots;

  const crypto::TweakHash hash_of_mine(session.id(),
                                       {"base OT from bits", letter(session.me()), batch});
  ots.received.choices = BitVector(count);
  copy_bits(mine.bits, 0, ots.received.choices.words(), 0, count);
  ots.received.seeds.resize(count);
  hash_of_mine(crypto::HashUse::BaseOt, 0, as_blocks(std::span<const Mac>(mine.macs)),
               as_blocks(std::span<Seed>(ots.received.seeds)));

  const crypto::TweakHash hash_of_peers(session.id(),
                                        {"base OT from bits", letter(session.peer()), batch});
  SecretVector<Block> zero(count), one(count);
  for (std::size_t i = 0; i < count; ++i) {
    zero[i] = peers[i].value;
    one[i] = xor_public_bit(peers[i], session.global_key(), true).value;
  }
  hash_of_peers(crypto::HashUse::BaseOt, 0, zero, zero);
  hash_of_peers(crypto::HashUse::BaseOt, 0, one, one);
  ots.sent.pairs.resize(count);
  for (std::size_t i = 0; i < count; ++i) ots.sent.pairs[i] = {{zero[i]}, {one[i]}};
  return ots;
}

}  // namespace tinyot::offline
