#include "checks/coin_toss.h"

#include "base/declassify.h"
#include "base/error.h"

namespace tinyot {
namespace {

constexpr MessageTag kCommitment{0x0401, "coin_toss.commitment"};
constexpr MessageTag kAnswer{0x0402, "coin_toss.answer"};
constexpr MessageTag kOpening{0x0403, "coin_toss.opening"};

struct Opening {
  PublicSeed half;
  PublicSeed salt;
};

// Names party, session and toss, so that it cannot be copied back or opened elsewhere.
Digest commit(const Session& session, std::string_view purpose, std::uint64_t counter,
              const Opening& opening) {
  return RandomOracle(session.id(), {"coin toss commit", 'A', counter})
      .absorb(std::as_bytes(std::span(purpose)))
      .absorb_object(opening)
      .digest();
}

}  // namespace

PublicSeed toss_coins(Session& session, std::string_view purpose) {
  Channel& channel = session.channel();
  const std::uint64_t counter = session.next_counter();
  const auto mine = session.rng().object<Opening>();
  PublicSeed of_a, of_b;
  if (session.me() == Party::A) {
    send_object(channel, kCommitment, commit(session, purpose, counter, mine));
    of_a = mine.half;
    of_b = recv_object<PublicSeed>(channel, kAnswer);
    send_object(channel, kOpening, mine);
  } else {
    const auto commitment = recv_object<Digest>(channel, kCommitment);
    of_b = mine.half;
    send_object(channel, kAnswer, of_b);
    const auto opening = recv_object<Opening>(channel, kOpening);
    if (!equal_constant_time(commitment, commit(session, purpose, counter, opening)))
      throw PeerCheated("coin toss");
    of_a = opening.half;
  }
  return declassified(RandomOracle(session.id(), {"coin toss", '*', counter})
                          .absorb(std::as_bytes(std::span(purpose)))
                          .absorb_object(of_a)
                          .absorb_object(of_b)
                          .digest()
                          .bytes);
}

}  // namespace tinyot
