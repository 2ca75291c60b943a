#include "offline/base_ot/kem_ot.h"

#include "base/error.h"
#include "base/secret.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kOffers = net::message_tag("base_ot.kem_r");
constexpr net::MessageTag kAnswers = net::message_tag("base_ot.kem_s");

static_assert(sizeof(KemOffer) == 2336 && sizeof(KemAnswer) == 2176);

// H(i, b, rho, r)
crypto::KemVector hash_vector(const OtDirection& direction, std::uint64_t index, bool b,
                              const std::array<std::uint8_t, 32>& rho, const crypto::KemVector& r) {
  return crypto::hash_to_vector(
      crypto::RandomOracle(direction.session, {"base OT vector", direction.sender, index})
          .absorb_object(std::uint8_t{b})
          .absorb_object(rho)
          .absorb_object(r)
          .digest());
}

// RO(i, b, secret, both messages)
Seed derive_seed(const OtDirection& direction, std::uint64_t index, bool b,
                 const crypto::KemSecret& secret, const KemOffer& offer, const KemAnswer& answer) {
  return {crypto::RandomOracle(direction.session, {"base OT KEM key", direction.sender, index})
              .absorb_object(std::uint8_t{b})
              .absorb_object(secret)
              .absorb_object(offer)
              .absorb_object(answer)
              .block()};
}

}  // namespace

KemOtReceiver::KemOtReceiver(const OtDirection& direction, BitVector choices)
    : direction_(direction), choices_(std::move(choices)) {}

std::vector<KemOffer> KemOtReceiver::choose(crypto::Rng& rng) {
  ENSURE(keys_.empty());
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const bool c = choices_[i];
    const crypto::KemPublicKey& key = keys_.emplace_back(rng).public_key();
    const crypto::KemVector other = crypto::random_vector(rng);
    const crypto::KemVector chosen = key.t - hash_vector(direction_, i, c, key.rho, other);
    offers_.push_back({key.rho, pair_with(c, chosen, other)});
  }
  return offers_;
}

BaseOtReceived KemOtReceiver::finish(std::span<const KemAnswer> answers) {
  ENSURE(answers.size() == choices_.size() && keys_.size() == choices_.size());
  SecretVector<Seed> seeds(choices_.size());
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const bool c = choices_[i];
    const ScopedSecret secret(keys_[i].decapsulate(chosen_of(answers[i], c)));
    seeds[i] = derive_seed(direction_, i, c, secret, offers_[i], answers[i]);
  }
  keys_.clear();
  return {std::move(choices_), std::move(seeds)};
}

std::vector<KemAnswer> KemOtSender::answer(crypto::Rng& rng, std::span<const KemOffer> offers,
                                           BaseOtSent& ots) const {
  for (const KemOffer& offer : offers)
    for (const crypto::KemVector& r : offer.r.of)
      if (!crypto::is_valid(r)) throw PeerCheated("base OT vector");
  std::vector<KemAnswer> answers(offers.size());
  ots.pairs.resize(offers.size());
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const auto encapsulated = [&](bool b) {
      const auto& [rho, r] = offers[i];
      const ScopedSecret made(
          crypto::encapsulate({r.of[b] + hash_vector(direction_, i, b, rho, r.of[!b]), rho}, rng));
      answers[i].of[b] = made->ciphertext;
      return made->secret;
    };
    const ScopedSecret zero(encapsulated(false)), one(encapsulated(true));
    ots.pairs[i] = {derive_seed(direction_, i, false, zero, offers[i], answers[i]),
                    derive_seed(direction_, i, true, one, offers[i], answers[i])};
  }
  return answers;
}

BaseOts kem_base_ots(checks::Session& session, BitVector choices) {
  return exchange_base_ots(
      session, KemOtReceiver({session.id(), letter(session.peer())}, std::move(choices)),
      KemOtSender({session.id(), letter(session.me())}), kOffers, kAnswers);
}

}  // namespace tinyot::offline
