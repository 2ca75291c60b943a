#include "checks/equality.h"

#include <algorithm>

#include "base/error.h"
#include "base/secret.h"
#include "crypto/group.h"
#include "crypto/random_oracle.h"

namespace tinyot::checks {
namespace {

constexpr net::MessageTag kEqPoint = net::message_tag("eq.point");
constexpr net::MessageTag kEqAnswer = net::message_tag("eq.answer");
constexpr net::MessageTag kEqConfirmation = net::message_tag("eq.confirmation");

struct Answer {
  crypto::Point point;
  crypto::Digest confirmation;
};

// One run of the exchange, on the side of either party.
class KeyExchange {
 public:
  KeyExchange(Session& session, std::uint64_t counter, const crypto::Digest& password)
      : id_(session.id()), counter_(counter), scalar_(crypto::random_scalar(session.rng())) {
    crypto::Point base = base_of(password);
    mine_ = crypto::times(scalar_, base);
    wipe_object(base);
  }
  ~KeyExchange() {
    wipe_object(scalar_);
    wipe_object(shared_);
  }
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  const crypto::Point& point() const { return mine_; }

  // Fails: PeerCheated("EQ point").
  void receive(const crypto::Point& peers) {
    if (!crypto::is_valid(peers)) throw PeerCheated("EQ point");
    peers_ = peers;
    shared_ = crypto::times(scalar_, peers);
  }

  // T of `party`, from this party's view of the shared point.
  crypto::Digest confirmation(Party me, Party party) const {
    const bool is_a = me == Party::A;
    return crypto::RandomOracle(id_, {"EQ confirm", letter(party), counter_})
        .absorb_object(is_a ? mine_ : peers_)
        .absorb_object(is_a ? peers_ : mine_)
        .absorb_object(shared_)
        .digest();
  }

 private:
  crypto::Point base_of(const crypto::Digest& password) const {
    std::array<std::uint8_t, 64> uniform;
    for (std::size_t half = 0; half < 2; ++half) {
      crypto::Digest digest =
          crypto::RandomOracle(
              id_,
              {half == 0 ? crypto::Phase("EQ base 0") : crypto::Phase("EQ base 1"), '*', counter_})
              .absorb_object(password)
              .digest();
      std::ranges::copy(digest.bytes, uniform.begin() + 32 * half);
      wipe_object(digest);
    }
    const crypto::Point point = crypto::hash_to_group(uniform);
    wipe_object(uniform);
    return point;
  }

  const SessionId& id_;
  std::uint64_t counter_;
  crypto::Scalar scalar_;
  crypto::Point mine_, peers_{}, shared_{};
};

}  // namespace

void EqualityCheck::add(std::string name, const crypto::Digest& digest) {
  comparisons_.push_back({std::move(name), digest});
}

void EqualityCheck::add_both(Party me, std::string name_of_a, std::string name_of_b,
                             const crypto::Digest& of_mine, const crypto::Digest& of_peers) {
  add(std::move(name_of_a), me == Party::A ? of_mine : of_peers);
  add(std::move(name_of_b), me == Party::A ? of_peers : of_mine);
}

void EqualityCheck::run(Session& session) const {
  net::Channel& channel = session.channel();
  const std::uint64_t counter = session.next_counter();

  crypto::RandomOracle all(session.id(), {"EQ", '*', counter});
  for (const Comparison& comparison : comparisons_)
    all.absorb_object(static_cast<std::uint64_t>(comparison.name.size()))
        .absorb(std::as_bytes(std::span(comparison.name)))
        .absorb_object(static_cast<std::uint64_t>(sizeof(crypto::Digest)))
        .absorb_object(comparison.digest);
  crypto::Digest password = all.digest();
  KeyExchange exchange(session, counter, password);
  wipe_object(password);

  const Party me = session.me();
  const auto check_confirmation = [&](const crypto::Digest& received) {
    if (!crypto::equal_constant_time(received, exchange.confirmation(me, peer_of(me))))
      throw PeerCheated("EQ of " + name_);
  };
  if (me == Party::A) {
    // Step 1.
    net::send_object(channel, kEqPoint, exchange.point());
    // Step 3: A sends nothing more unless the digests are equal.
    const auto answer = net::recv_object<Answer>(channel, kEqAnswer);
    exchange.receive(answer.point);
    check_confirmation(answer.confirmation);
    net::send_object(channel, kEqConfirmation, exchange.confirmation(me, me));
  } else {
    // Step 2.
    exchange.receive(net::recv_object<crypto::Point>(channel, kEqPoint));
    net::send_object(channel, kEqAnswer, Answer{exchange.point(), exchange.confirmation(me, me)});
    // Step 3.
    check_confirmation(net::recv_object<crypto::Digest>(channel, kEqConfirmation));
  }
}

}  // namespace tinyot::checks
