#include "offline/base_ot/base_ot.h"

#include "base/error.h"
#include "crypto/group.h"
#include "crypto/random_oracle.h"
#include "crypto/tweak_hash.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kReceiverPoints = net::message_tag("base_ot.r");
constexpr net::MessageTag kSenderPoints = net::message_tag("base_ot.s");

struct PointPair {
  crypto::Point of[2];
};

// The RO domain of one direction; `sender` is the OT sender's letter.
struct Direction {
  const SessionId& session;
  char sender;
};

// Hash2Group(i, c, R)
crypto::Point hash_point(const Direction& direction, std::uint64_t index, bool choice,
                         const crypto::Point& point) {
  std::array<std::uint8_t, 64> uniform;
  for (std::size_t half = 0; half < 2; ++half) {
    const crypto::Digest digest =
        crypto::RandomOracle(direction.session, {half == 0 ? crypto::Phase("base OT group 0")
                                                           : crypto::Phase("base OT group 1"),
                                                 direction.sender, index})
            .absorb_object(std::uint8_t{choice})
            .absorb_object(point)
            .digest();
    std::copy(digest.bytes.begin(), digest.bytes.end(), uniform.begin() + 32 * half);
  }
  return crypto::hash_to_group(std::span<const std::uint8_t, 64>(uniform));
}

// RO(i, b, shared point)
Seed derive_seed(const Direction& direction, std::uint64_t index, std::uint8_t bit,
                 const crypto::Point& shared) {
  return {crypto::RandomOracle(direction.session, {"base OT key", direction.sender, index})
              .absorb_object(bit)
              .absorb_object(shared)
              .block()};
}

void validate(std::span<const crypto::Point> points) {
  for (const crypto::Point& point : points)
    if (!crypto::is_valid(point)) throw PeerCheated("base OT point");
}

class EndemicOtReceiver {
 public:
  EndemicOtReceiver(checks::Session& session, BitVector choices)
      : direction_{session.id(), letter(session.peer())}, choices_(std::move(choices)),
        scalars_(choices_.size()) {}

  // Step 1: r; R_{1-c} random, R_c = r.G - Hash2Group(i, c, R_{1-c}).
  std::vector<PointPair> choose(crypto::Rng& rng) {
    std::vector<PointPair> points(choices_.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool c = choices_[i];
      scalars_[i] = crypto::random_scalar(rng);
      const crypto::Point other = crypto::random_point(rng);
      const crypto::Point chosen =
          crypto::times_base(scalars_[i]) - hash_point(direction_, i, c, other);
      place(points[i], c, chosen, other);
    }
    return points;
  }

  // Step 3: k_c = RO(i, c, r.S).
  BaseOtReceived finish(std::span<const crypto::Point> sender_points) {
    validate(sender_points);
    SecretVector<Seed> seeds(choices_.size());
    for (std::size_t i = 0; i < seeds.size(); ++i)
      seeds[i] =
          derive_seed(direction_, i, choices_[i], crypto::times(scalars_[i], sender_points[i]));
    return {std::move(choices_), std::move(seeds)};
  }

 private:
  // Puts the chosen point at index c and the other at 1 - c, without branching on c.
  static void place(PointPair& pair, bool c, const crypto::Point& chosen,
                    const crypto::Point& other) {
    const auto mask = static_cast<std::uint8_t>(mask_of(c));
    for (std::size_t b = 0; b < 32; ++b) {
      const std::uint8_t swapped = (chosen.bytes[b] ^ other.bytes[b]) & mask;
      pair.of[0].bytes[b] = chosen.bytes[b] ^ swapped;
      pair.of[1].bytes[b] = other.bytes[b] ^ swapped;
    }
  }

  Direction direction_;
  BitVector choices_;
  SecretVector<crypto::Scalar> scalars_;
};

class EndemicOtSender {
 public:
  explicit EndemicOtSender(checks::Session& session)
      : direction_{session.id(), letter(session.me())} {}

  // Step 2: s, S = s.G; k_b = RO(i, b, s.(R_b + Hash2Group(i, b, R_{1-b}))).
  std::vector<crypto::Point> answer(crypto::Rng& rng, std::span<const PointPair> receiver_points,
                                    BaseOtSent& seeds) {
    std::vector<crypto::Point> points(receiver_points.size());
    seeds.pairs.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      validate(receiver_points[i].of);
      crypto::Scalar s = crypto::random_scalar(rng);
      points[i] = crypto::times_base(s);
      const auto key = [&](bool b) {
        const crypto::Point& r = receiver_points[i].of[b];
        return derive_seed(
            direction_, i, b,
            crypto::times(s, r + hash_point(direction_, i, b, receiver_points[i].of[!b])));
      };
      seeds.pairs[i] = {key(false), key(true)};
      wipe_object(s);
    }
    return points;
  }

 private:
  Direction direction_;
};

}  // namespace

BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count) {
  return base_ots_by_public_key(session, count, session.rng().bits(count));
}

BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count, BitVector choices) {
  ENSURE(choices.size() == count);
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "base OTs", count);
  net::Channel& channel = session.channel();
  BaseOts ots;
  EndemicOtReceiver receiver(session, std::move(choices));
  EndemicOtSender sender(session);

  net::send_words(channel, kReceiverPoints,
                  std::span<const PointPair>(receiver.choose(session.rng())));
  std::vector<PointPair> receiver_points(count);
  net::recv_words(channel, kReceiverPoints, std::span(receiver_points));

  net::send_words(
      channel, kSenderPoints,
      std::span<const crypto::Point>(sender.answer(session.rng(), receiver_points, ots.sent)));
  std::vector<crypto::Point> sender_points(count);
  net::recv_words(channel, kSenderPoints, std::span(sender_points));
  ots.received = receiver.finish(sender_points);
  return ots;
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
