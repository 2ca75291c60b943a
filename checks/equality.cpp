#include "checks/equality.h"

#include "base/error.h"
#include "crypto/random_oracle.h"

namespace tinyot {
namespace {

constexpr MessageTag kEqCommitment{0x0201, "eq.commitment"};
constexpr MessageTag kEqAnswer{0x0202, "eq.answer"};
constexpr MessageTag kEqOpening{0x0203, "eq.opening"};

using Salt = std::array<std::uint8_t, 32>;

Digest commit(const Session& session, std::uint64_t counter, std::span<const Digest> digests, const Salt& salt) {
  return RandomOracle(session.id(), {"EQ commit", 'A', counter}).absorb(std::as_bytes(digests)).absorb_object(salt).digest();
}

}  // namespace

void EqualityCheck::add(std::string name, const Digest& digest) { comparisons_.push_back({std::move(name), digest}); }

void EqualityCheck::add_both(Party me, std::string name_of_a, std::string name_of_b, const Digest& of_mine, const Digest& of_peers) {
  add(std::move(name_of_a), me == Party::A ? of_mine : of_peers);
  add(std::move(name_of_b), me == Party::A ? of_peers : of_mine);
}

void EqualityCheck::run(Session& session) {
  Channel& channel = session.channel();
  const std::uint64_t counter = session.next_counter();
  std::vector<Digest> mine, peers(comparisons_.size());
  for (const Comparison& comparison : comparisons_) mine.push_back(comparison.digest);
  const auto compare = [&] {
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (!equal_constant_time(mine[i], peers[i])) throw PeerCheated("EQ of " + comparisons_[i].name);
  };

  if (session.me() == Party::A) {
    // Step 1: commit to D_A under 256 random bits.
    const auto salt = session.rng().object<Salt>();
    send_object(channel, kEqCommitment, commit(session, counter, mine, salt));
    // Step 2.
    recv_words(channel, kEqAnswer, std::span(peers));
    // Step 3. Differs: A compares before it opens, and does not open if the digests differ: less leaves than EQ may leak.
    compare();
    std::vector<Digest> opening = mine;
    opening.push_back({salt});
    send_words(channel, kEqOpening, std::span<const Digest>(opening));
  } else {
    const auto commitment = recv_object<Digest>(channel, kEqCommitment);
    send_words(channel, kEqAnswer, std::span<const Digest>(mine));
    std::vector<Digest> opening(mine.size() + 1);
    recv_words(channel, kEqOpening, std::span(opening));
    const Salt salt = opening.back().bytes;
    opening.pop_back();
    peers = std::move(opening);
    if (!equal_constant_time(commitment, commit(session, counter, peers, salt))) throw PeerCheated("EQ commitment");
    compare();
  }
}

}  // namespace tinyot
