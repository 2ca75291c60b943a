#include "offline/nnob12/buckets.h"

#include "base/declassify.h"
namespace tinyot::offline {
namespace {

constexpr net::MessageTag kSeed = net::message_tag("bucket.permutation_seed");

Buckets expand(checks::Session& session, const BucketDomain& domain, const crypto::PublicSeed& seed,
               std::size_t count, std::size_t bucket) {
  return Buckets(crypto::permutation_from(session.id(), {domain.phase, letter(domain.victim), 0},
                                          seed, static_cast<std::uint32_t>(count * bucket)),
                 bucket);
}

}  // namespace

Buckets draw_buckets(checks::Session& session, const BucketDomain& domain, std::size_t count,
                     std::size_t bucket) {
  const auto seed = declassified(session.rng().object<crypto::PublicSeed>());
  net::send_object(session.channel(), kSeed, seed);
  return expand(session, domain, seed, count, bucket);
}

Buckets receive_buckets(checks::Session& session, const BucketDomain& domain, std::size_t count,
                        std::size_t bucket) {
  return expand(session, domain, net::recv_object<crypto::PublicSeed>(session.channel(), kSeed),
                count, bucket);
}

}  // namespace tinyot::offline
