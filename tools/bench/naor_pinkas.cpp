#include "tools/bench/naor_pinkas.h"

#include <array>

#include "crypto/group.h"
#include "offline/base_ot/endemic_ot.h"
#include "offline/base_ot/group_ot.h"

namespace tinyot::tools {
namespace {

constexpr net::MessageTag kParameters = net::message_tag("bench.np_c");
constexpr net::MessageTag kPublicKeys = net::message_tag("bench.np_pk");

using crypto::Point;

// Of the sender: C, whose logarithm no one knows, and r.G.
struct Parameters {
  Point c, r;
};

}  // namespace

offline::BaseOts naor_pinkas_ots(checks::Session& session, std::size_t count) {
  net::Channel& channel = session.channel();
  const offline::OtDirection mine{session.id(), letter(session.me())},
      peers{session.id(), letter(session.peer())};
  const crypto::Scalar r = crypto::random_scalar(session.rng());
  const Parameters sent{crypto::random_point(session.rng()), crypto::times_base(r)};
  net::send_object(channel, kParameters, sent);
  const auto received = net::recv_object<Parameters>(channel, kParameters);
  offline::require_points(std::array{received.c, received.r});

  offline::BaseOts ots;
  ots.received.choices = session.rng().bits(count);
  ots.received.seeds.resize(count);
  std::vector<Point> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool choice = ots.received.choices[i];
    const crypto::Scalar k = crypto::random_scalar(session.rng());
    const Point chosen = crypto::times_base(k);
    // PK_c = k.G, and PK_0 + PK_1 = C.
    keys[i] = offline::pair_with(choice, chosen, received.c - chosen).of[0];
    ots.received.seeds[i] = offline::seed_of_point(peers, i, choice, crypto::times(k, received.r));
  }
  net::send_words(channel, kPublicKeys, std::span(std::as_const(keys)));
  net::recv_words(channel, kPublicKeys, std::span(keys));
  offline::require_points(keys);
  const Point shared = crypto::times(r, sent.c);
  ots.sent.pairs.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Point zero = crypto::times(r, keys[i]);
    ots.sent.pairs[i] = {offline::seed_of_point(mine, i, 0, zero),
                         offline::seed_of_point(mine, i, 1, shared - zero)};
  }
  return ots;
}

}  // namespace tinyot::tools
