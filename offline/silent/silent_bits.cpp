#include "offline/silent/silent_bits.h"

#include <algorithm>
#include <utility>

#include "base/declassify.h"
#include "base/error.h"
#include "base/opaque.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kTreeCorrections = net::message_tag("silent.corrections");
constexpr net::MessageTag kSilentChallenge = net::message_tag("silent.challenge");
constexpr net::MessageTag kSilentDigest = net::message_tag("silent.digest");

constexpr std::size_t kSegment = 128;  // leaves that share a factor a_i
constexpr std::size_t kNoTree = ~std::size_t{0};

struct Challenge {
  crypto::PublicSeed seed;
  Block psi;
};
static_assert(sizeof(Challenge) == 48);

// sum += sum of blocks[i].X^i.
void add_powers(std::span<const Block> blocks, crypto::WideBlock& sum) {
  Block powers[kKappa];
  powers[0] = {1, 0};
  for (std::size_t i = 1; i < kKappa; ++i) powers[i] = doubled(powers[i - 1]);
  crypto::add_products(powers, blocks, sum);
}

crypto::Digest digest_of(const checks::Session& session, const SilentDirection& direction,
                         const Block& sum) {
  return crypto::RandomOracle(session.id(),
                              {"silent check", letter(direction.mac_holder), direction.iteration})
      .absorb_object(sum)
      .digest();
}

// Calls use(tree, first leaf in the tree, offset of that output in [first, first + count),
// outputs).
template <class Use>
void for_each_tree(const SilentSet& set, std::size_t first, std::size_t count, Use use) {
  ENSURE(first % kKappa == 0 && count % kKappa == 0 && first + count <= set.outputs());
  for (std::size_t done = 0; done < count;) {
    const std::size_t tree = (first + done) / set.leaves(), leaf = (first + done) % set.leaves();
    const std::size_t outputs = std::min(count - done, set.leaves() - leaf);
    use(tree, leaf, done, outputs);
    done += outputs;
  }
}

}  // namespace

SilentDirection::SilentDirection(const checks::Session& session, Party holder,
                                 const SilentIteration& of)
    : set(of.set), iteration(of.number), mac_holder(holder),
      code(session, holder, of.number, of.coins, of.set.secret_log) {
  for (std::size_t group = 0; group < set.trees / kTreesPerKey; ++group)
    keys.emplace_back(crypto::RandomOracle(
                          session.id(), {"silent tree", letter(holder), (iteration << 32) | group})
                          .block());
}

SilentCheck::SilentCheck(const checks::Session& session, const SilentDirection& direction,
                         const crypto::PublicSeed& seed)
    : key_(crypto::expand_key(
          crypto::RandomOracle(session.id(),
                               {"silent chi", letter(direction.mac_holder), direction.iteration})
              .absorb_object(seed)
              .block())),
      b_(kSegment) {
  crypto::ctr_fill(key_, {0, 1}, b_);
}

void SilentCheck::add_at(std::uint64_t y, crypto::WideBlock& sum) const {
  Block a, b;
  crypto::ctr_fill(key_, {y / kSegment, 0}, {&a, 1});
  crypto::ctr_fill(key_, {y % kSegment, 1}, {&b, 1});
  crypto::add_products({&a, 1}, {&b, 1}, sum);
  wipe_object(a), wipe_object(b);
}

void SilentCheck::add(std::uint64_t first, std::span<const Block> blocks, crypto::WideBlock& sum) {
  ENSURE(first % kSegment == 0 && blocks.size() % kSegment == 0);
  const std::size_t segments = blocks.size() / kSegment;
  a_.resize(segments);
  segments_.resize(segments);
  crypto::ctr_fill(key_, {first / kSegment, 0}, a_);
  for (std::size_t s = 0; s < segments; ++s) {
    crypto::WideBlock of_segment{};
    crypto::add_products(b_, blocks.subspan(s * kSegment, kSegment), of_segment);
    segments_[s] = crypto::reduced(of_segment);
  }
  crypto::add_products(a_, segments_, sum);
}

SilentMacHolder::SilentMacHolder(checks::Session& session, const SilentIteration& iteration,
                                 MacColumn base)
    : session_(session), direction_(session, session.me(), iteration), base_(std::move(base)),
      leaves_(iteration.set.leaves()), expanded_(kNoTree) {
  ENSURE(base_.size() == iteration.set.reserve());
}

// The path to it takes, on each level, the side that the tree's bit r does not name.
std::size_t SilentMacHolder::place_in(std::size_t tree) const {
  std::size_t place = 0;
  for (std::size_t i = 0; i < direction_.set.depth; ++i)
    place |= std::size_t{!base_.bits[direction_.levels_at(tree) + i]} << i;
  return place;
}

void SilentMacHolder::expand(std::size_t tree) {
  if (expanded_ == tree) return;
  const std::size_t depth = direction_.set.depth;
  expand_punctured(direction_.key_of(tree), place_in(tree),
                   std::span<const Block>(sides_).subspan(tree * depth, depth), leaves_);
  expanded_ = tree;
}

void SilentMacHolder::challenge() {
  const SilentSet& set = direction_.set;
  // With M[r] = K[r] ^ r.Delta each becomes the sum of the right nodes if r is 1, else of the left.
  sides_.resize(set.trees * set.depth);
  for (std::size_t tree = 0; tree < set.trees; tree += kTreesPerKey)
    net::recv_words(session_.channel(), kTreeCorrections,
                    std::span(sides_).subspan(tree * set.depth, kTreesPerKey * set.depth));
  for (std::size_t i = 0; i < sides_.size(); ++i)
    sides_[i] ^= base_.macs[direction_.levels_at(0) + i].value;

  Challenge challenge;
  challenge.seed = declassified(session_.rng().object<crypto::PublicSeed>());
  check_ = SilentCheck(session_, direction_, challenge.seed);
  crypto::WideBlock noise{};
  for (std::size_t tree = 0; tree < set.trees; ++tree)
    check_.add_at((tree << set.depth) + place_in(tree), noise);
  Block mask{0, 0};
  for (std::size_t w = 0; w < 2; ++w)
    (w == 0 ? mask.lo : mask.hi) = base_.bits.words()[direction_.mask_at() / 64 + w];
  // The sum without the mask is 128 equations of the noise places, so it is in no register.
  noise.low ^= mask;
  challenge.psi = crypto::reduced(noise);
  wipe_object(noise), wipe_object(mask);
  net::send_object(session_.channel(), kSilentChallenge, challenge);
}

void SilentMacHolder::verify() {
  const SilentSet& set = direction_.set;
  crypto::WideBlock sum{};
  for (std::size_t tree = 0; tree < set.trees; ++tree) {
    expand(tree);
    check_.add(tree << set.depth, leaves_, sum);
  }
  add_powers(as_blocks(std::span<const Mac>(base_.macs).subspan(direction_.mask_at(), kKappa)),
             sum);
  const crypto::Digest expected = digest_of(session_, direction_, crypto::reduced(sum));
  const auto answer = net::recv_object<crypto::Digest>(session_.channel(), kSilentDigest);
  if (!declassified(crypto::equal_constant_time(answer, expected)))
    throw PeerCheated("silent check");
  is_verified_ = true;
}

void SilentMacHolder::make(std::size_t first, MacColumnView out) {
  ENSURE(is_verified_);
  const std::size_t secret = direction_.secret();
  for_each_tree(direction_.set, first, out.size(),
                [&](std::size_t tree, std::size_t leaf, std::size_t done, std::size_t outputs) {
                  expand(tree);
                  const MacColumnView part = out.part(done, outputs);
                  direction_.code.encode(
                      first + done, as_blocks(std::span<const Mac>(base_.macs)).first(secret),
                      base_.bits.words(), std::span<const Block>(leaves_).subspan(leaf, outputs),
                      part);
                  const std::size_t place = place_in(tree);
                  const std::uint64_t bit = opaque(std::uint64_t{1} << (place % 64));
                  for (std::size_t w = 0; w < outputs / 64; ++w)
                    part.bits[w] ^= bit & mask_of(leaf / 64 + w == place / 64);
                });
}

SilentKeyHolder::SilentKeyHolder(checks::Session& session, const SilentIteration& iteration,
                                 KeyColumn base)
    : session_(session), direction_(session, session.peer(), iteration), base_(std::move(base)),
      roots_(iteration.set.trees), leaves_(iteration.set.leaves()), left_sums_(iteration.set.depth),
      expanded_(kNoTree) {
  ENSURE(base_.size() == iteration.set.reserve());
  const ScopedSecret<Block> seed(session.rng().block());
  crypto::AesKey secret = crypto::expand_key(seed);
  crypto::ctr_fill(secret, {0, iteration.number}, roots_);
  wipe_object(secret);
}

void SilentKeyHolder::expand(std::size_t tree) {
  if (expanded_ == tree) return;
  expand_half_tree(direction_.key_of(tree), roots_[tree], session_.global_key(), leaves_,
                   left_sums_);
  expanded_ = tree;
}

void SilentKeyHolder::correct() {
  const std::size_t depth = direction_.set.depth;
  SecretVector<Block> corrections(kTreesPerKey * depth);
  for (std::size_t group = 0; group < direction_.set.trees; group += kTreesPerKey) {
    for (std::size_t tree = group; tree < group + kTreesPerKey; ++tree) {
      expand(tree);
      for (std::size_t i = 0; i < depth; ++i)
        corrections[(tree - group) * depth + i] =
            left_sums_[i] ^ base_.keys[direction_.levels_at(tree) + i].value;
    }
    net::send_words(session_.channel(), kTreeCorrections, std::span<const Block>(corrections));
  }
}

void SilentKeyHolder::answer() {
  const SilentSet& set = direction_.set;
  const auto challenge = net::recv_object<Challenge>(session_.channel(), kSilentChallenge);
  SilentCheck check(session_, direction_, challenge.seed);
  crypto::WideBlock sum{};
  for (std::size_t tree = 0; tree < set.trees; ++tree) {
    expand(tree);
    check.add(tree << set.depth, leaves_, sum);
  }
  add_powers(as_blocks(std::span<const Key>(base_.keys).subspan(direction_.mask_at(), kKappa)),
             sum);
  // Into the same sum: there is no variable for psi.Delta, from which Delta follows.
  crypto::add_products({&challenge.psi, 1}, {&session_.global_key().value, 1}, sum);
  const ScopedSecret<Block> answer(crypto::reduced(sum));
  net::send_object(session_.channel(), kSilentDigest, digest_of(session_, direction_, answer));
  has_answered_ = true;
}

void SilentKeyHolder::make(std::size_t first, KeyColumnView out) {
  ENSURE(has_answered_);
  for_each_tree(direction_.set, first, out.size(),
                [&](std::size_t tree, std::size_t leaf, std::size_t done, std::size_t outputs) {
                  expand(tree);
                  direction_.code.encode(
                      first + done,
                      as_blocks(std::span<const Key>(base_.keys)).first(direction_.secret()),
                      std::span<const Block>(leaves_).subspan(leaf, outputs),
                      as_blocks(out.subspan(done, outputs)));
                });
}

}  // namespace tinyot::offline
