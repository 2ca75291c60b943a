#include "checks/coin_toss.h"

#include <utility>

#include "base/declassify.h"
#include "base/error.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kCommitment = net::message_tag("coin_toss.commitment");
constexpr net::MessageTag kAnswer = net::message_tag("coin_toss.answer");
constexpr net::MessageTag kOpening = net::message_tag("coin_toss.opening");

}  // namespace

CoinToss::CoinToss(Session& session, std::string_view purpose)
    : session_(session), purpose_(purpose), counter_(session.next_counter()),
      mine_(session.rng().object<Opening>()) {
  if (session.me() == Party::A)
    net::send_object(session.channel(), kCommitment, commitment_to(mine_));
}

// Bound to party, session and toss, so that it cannot be reflected or opened elsewhere.
crypto::Digest CoinToss::commitment_to(const Opening& opening) const {
  return crypto::RandomOracle(session_.id(), {"coin toss commit", 'A', counter_})
      .absorb(std::as_bytes(std::span(purpose_)))
      .absorb_object(opening)
      .digest();
}

crypto::PublicSeed CoinToss::finish() {
  ENSURE(!std::exchange(has_finished_, true));
  net::Channel& channel = session_.channel();
  crypto::PublicSeed of_a, of_b;
  if (session_.me() == Party::A) {
    of_a = mine_.half;
    of_b = net::recv_object<crypto::PublicSeed>(channel, kAnswer);
    net::send_object(channel, kOpening, mine_);
  } else {
    const auto commitment = net::recv_object<crypto::Digest>(channel, kCommitment);
    of_b = mine_.half;
    net::send_object(channel, kAnswer, of_b);
    const auto opening = net::recv_object<Opening>(channel, kOpening);
    if (!crypto::equal_constant_time(commitment, commitment_to(opening)))
      throw PeerCheated("coin toss");
    of_a = opening.half;
  }
  return declassified(crypto::RandomOracle(session_.id(), {"coin toss", '*', counter_})
                          .absorb(std::as_bytes(std::span(purpose_)))
                          .absorb_object(of_a)
                          .absorb_object(of_b)
                          .digest()
                          .bytes);
}

crypto::PublicSeed toss_coins(Session& session, std::string_view purpose) {
  return CoinToss(session, purpose).finish();
}

}  // namespace tinyot::checks
