#include "offline/base_ot/group_ot.h"

#include "base/error.h"
#include "crypto/group.h"
#include "crypto/random_oracle.h"
#include "offline/base_ot/endemic_ot.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kReceiverPoints = net::message_tag("base_ot.r");
constexpr net::MessageTag kSenderPoints = net::message_tag("base_ot.s");

using PointPair = OtPair<crypto::Point>;

// Hash2Group(i, c, R)
crypto::Point hash_point(const OtDirection& direction, std::uint64_t index, bool choice,
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

class GroupOtReceiver {
 public:
  GroupOtReceiver(const OtDirection& direction, BitVector choices)
      : direction_(direction), choices_(std::move(choices)), scalars_(choices_.size()) {}

  // Step 1: r; R_{1-c} random, R_c = r.G - Hash2Group(i, c, R_{1-c}).
  std::vector<PointPair> choose(crypto::Rng& rng) {
    std::vector<PointPair> points(choices_.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool c = choices_[i];
      scalars_[i] = crypto::random_scalar(rng);
      const crypto::Point other = crypto::random_point(rng);
      const crypto::Point chosen =
          crypto::times_base(scalars_[i]) - hash_point(direction_, i, c, other);
      points[i] = pair_with(c, chosen, other);
    }
    return points;
  }

  // Step 3: k_c = RO(i, c, r.S).
  BaseOtReceived finish(std::span<const crypto::Point> sender_points) {
    require_points(sender_points);
    SecretVector<Seed> seeds(choices_.size());
    for (std::size_t i = 0; i < seeds.size(); ++i)
      seeds[i] =
          seed_of_point(direction_, i, choices_[i], crypto::times(scalars_[i], sender_points[i]));
    return {std::move(choices_), std::move(seeds)};
  }

 private:
  OtDirection direction_;
  BitVector choices_;
  SecretVector<crypto::Scalar> scalars_;
};

class GroupOtSender {
 public:
  explicit GroupOtSender(const OtDirection& direction) : direction_(direction) {}

  // Step 2: s, S = s.G; k_b = RO(i, b, s.(R_b + Hash2Group(i, b, R_{1-b}))).
  std::vector<crypto::Point> answer(crypto::Rng& rng, std::span<const PointPair> receiver_points,
                                    BaseOtSent& seeds) {
    std::vector<crypto::Point> points(receiver_points.size());
    seeds.pairs.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      require_points(receiver_points[i].of);
      crypto::Scalar s = crypto::random_scalar(rng);
      points[i] = crypto::times_base(s);
      const auto key = [&](bool b) {
        const crypto::Point& r = receiver_points[i].of[b];
        return seed_of_point(
            direction_, i, b,
            crypto::times(s, r + hash_point(direction_, i, b, receiver_points[i].of[!b])));
      };
      seeds.pairs[i] = {key(false), key(true)};
      wipe_object(s);
    }
    return points;
  }

 private:
  OtDirection direction_;
};

}  // namespace

Seed seed_of_point(const OtDirection& direction, std::uint64_t index, std::uint8_t bit,
                   const crypto::Point& shared) {
  return {crypto::RandomOracle(direction.session, {"base OT key", direction.sender, index})
              .absorb_object(bit)
              .absorb_object(shared)
              .block()};
}

void require_points(std::span<const crypto::Point> points) {
  for (const crypto::Point& point : points)
    if (!crypto::is_valid(point)) throw PeerCheated("base OT point");
}

BaseOts group_base_ots(checks::Session& session, BitVector choices) {
  return exchange_base_ots(
      session, GroupOtReceiver({session.id(), letter(session.peer())}, std::move(choices)),
      GroupOtSender({session.id(), letter(session.me())}), kReceiverPoints, kSenderPoints);
}

}  // namespace tinyot::offline
