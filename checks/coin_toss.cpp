#include "checks/coin_toss.h"

#include "base/declassify.h"
#include "base/error.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kCommitment = net::message_tag("coin_toss.commitment");
constexpr net::MessageTag kAnswer = net::message_tag("coin_toss.answer");
constexpr net::MessageTag kOpening = net::message_tag("coin_toss.opening");

struct Opening {
  crypto::PublicSeed half;
  crypto::PublicSeed salt;
};

// Bound to party, session and toss, so that it cannot be reflected or opened elsewhere.
crypto::Digest commit(const Session& session, std::string_view purpose, std::uint64_t counter,
                      const Opening& opening) {
  return crypto::RandomOracle(session.id(), {"coin toss commit", 'A', counter})
      .absorb(std::as_bytes(std::span(purpose)))
      .absorb_object(opening)
      .digest();
}

}  // namespace

crypto::PublicSeed toss_coins(Session& session, std::string_view purpose) {
  net::Channel& channel = session.channel();
  const std::uint64_t counter = session.next_counter();
  const auto mine = session.rng().object<Opening>();
  crypto::PublicSeed of_a, of_b;
  if (session.me() == Party::A) {
    net::send_object(channel, kCommitment, commit(session, purpose, counter, mine));
    of_a = mine.half;
    of_b = net::recv_object<crypto::PublicSeed>(channel, kAnswer);
    net::send_object(channel, kOpening, mine);
  } else {
    const auto commitment = net::recv_object<crypto::Digest>(channel, kCommitment);
    of_b = mine.half;
    net::send_object(channel, kAnswer, of_b);
    const auto opening = net::recv_object<Opening>(channel, kOpening);
    if (!crypto::equal_constant_time(commitment, commit(session, purpose, counter, opening)))
      throw PeerCheated("coin toss");
    of_a = opening.half;
  }
  return declassified(crypto::RandomOracle(session.id(), {"coin toss", '*', counter})
                          .absorb(std::as_bytes(std::span(purpose)))
                          .absorb_object(of_a)
                          .absorb_object(of_b)
                          .digest()
                          .bytes);
}

}  // namespace tinyot::checks
