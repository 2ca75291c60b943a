#include "offline/softspoken/ggm_trees.h"

#include <string>

#include "base/error.h"
#include "crypto/aes.h"
#include "offline/base_ot/base_ot.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kSums = net::message_tag("ggm.sums");
constexpr net::MessageTag kCheck = net::message_tag("ggm.check");

// The check of a tree: the sum of all t_x, and a digest of all t_x in order.
struct TreeCheck {
  crypto::Digest sum;
  crypto::Digest digest;
};

// All ones if a == b. Values below 2^63.
std::uint64_t mask_if_equal(std::uint64_t a, std::uint64_t b) {
  return mask_of((((a ^ b) - 1) >> 63) != 0);
}

Block masked(Block block, std::uint64_t mask) { return block & Block{mask, mask}; }

crypto::Digest masked_sum(const crypto::Digest& a, const crypto::Digest& b, std::uint64_t mask) {
  crypto::Digest sum;
  for (std::size_t i = 0; i < sum.bytes.size(); ++i)
    sum.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] ^ (b.bytes[i] & mask));
  return sum;
}

// The next level: both children of each node.
SecretVector<Block> children_of(const SecretVector<Block>& nodes) {
  SecretVector<Block> children(2 * nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    crypto::AesKey key = crypto::expand_key(nodes[n]);
    crypto::ctr_fill(key, {0, 0}, std::span(children).subspan(2 * n, 2));
    wipe_object(key);
  }
  return children;
}

// The leaf check's RO: (t_x, s'_x) from s_x. Two queries, since together they are longer than a
// digest.
struct CheckedLeaf {
  crypto::Digest t;
  Seed seed;
};
CheckedLeaf checked_leaf(const checks::Session& session, Party mac_holder, std::size_t number,
                         Block leaf) {
  return {crypto::RandomOracle(session.id(), {"GGM leaf check", letter(mac_holder), number})
              .absorb_object(leaf)
              .digest(),
          {crypto::RandomOracle(session.id(), {"GGM leaf seed", letter(mac_holder), number})
               .absorb_object(leaf)
               .block()}};
}

crypto::Digest digest_of(const checks::Session& session, Party mac_holder, std::size_t tree,
                         std::span<const crypto::Digest> t) {
  return crypto::RandomOracle(session.id(), {"GGM tree check", letter(mac_holder), tree})
      .absorb(std::as_bytes(t))
      .digest();
}

// MAC holder: tree `tree` from its OTs. Level 1 is the first OT's two strings; from level 2 on the
// sums of all left and of all right nodes are offered under the level's OT.
void grow(const checks::Session& session, const TreeShape& shape, std::size_t tree,
          const BaseOtSent& ots, std::span<Block> sums, std::span<Seed> leaves, TreeCheck& check) {
  const auto ot = [&](std::uint32_t level) -> const SeedPair& {
    return ots.pairs[tree * shape.k + level - 1];
  };
  SecretVector<Block> nodes = {ot(1).zero.value, ot(1).one.value};
  for (std::uint32_t level = 2; level <= shape.k; ++level) {
    nodes = children_of(nodes);
    Block left = ot(level).zero.value, right = ot(level).one.value;
    for (std::size_t n = 0; n < nodes.size(); n += 2) left ^= nodes[n], right ^= nodes[n + 1];
    sums[2 * (level - 2)] = left;
    sums[2 * (level - 2) + 1] = right;
    wipe_object(left);
    wipe_object(right);
  }
  SecretVector<crypto::Digest> t(shape.leaves());
  check.sum = {};
  for (std::size_t x = 0; x < shape.leaves(); ++x) {
    CheckedLeaf leaf = checked_leaf(session, session.me(), tree * shape.leaves() + x, nodes[x]);
    leaves[x] = leaf.seed;
    t[x] = leaf.t;
    check.sum = masked_sum(check.sum, leaf.t, ~std::uint64_t{0});
    wipe_object(leaf);
  }
  check.digest = digest_of(session, session.me(), tree, t);
}

// Key holder: the same tree without the path to the leaf at Delta_i. Unknown nodes are zero; masks
// select the positions. Returns whether the check passes.
bool grow_punctured(const checks::Session& session, const TreeShape& shape, std::size_t tree,
                    const BaseOtReceived& ots, std::span<const Block> sums, const TreeCheck& check,
                    std::span<Seed> leaves) {
  const Block& delta = session.global_key().value;
  const std::size_t first_bit = tree * shape.k;
  const std::uint64_t path =
      ((first_bit < 64 ? delta.lo : delta.hi) >> (first_bit % 64)) & (shape.leaves() - 1);
  SecretVector<Block> nodes = {{0, 0}};
  for (std::uint32_t level = 1; level <= shape.k; ++level) {
    if (level > 1)
      nodes = children_of(nodes);
    else
      nodes.assign(2, Block{0, 0});
    const std::uint64_t parent = path >> (shape.k - level + 1),
                        sibling = (path >> (shape.k - level)) ^ 1;
    // The sibling is the sum of all nodes on its side minus the known ones.
    const Seed& key = ots.seeds[tree * shape.k + level - 1];
    Block missing = key.value;
    if (level > 1)
      missing ^= sums[2 * (level - 2)] ^
                 times(sums[2 * (level - 2)] ^ sums[2 * (level - 2) + 1], sibling & 1);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      nodes[n] = masked(nodes[n], ~mask_if_equal(n >> 1, parent));
      missing ^= masked(nodes[n], mask_if_equal(n & 1, sibling & 1));
    }
    for (std::size_t n = 0; n < nodes.size(); ++n)
      nodes[n] ^= masked(missing, mask_if_equal(n, sibling));
    wipe_object(missing);
  }

  SecretVector<crypto::Digest> t(shape.leaves());
  crypto::Digest missing = check.sum;
  for (Seed& leaf : leaves) leaf = {{0, 0}};
  for (std::size_t x = 0; x < shape.leaves(); ++x) {
    const std::uint64_t known = ~mask_if_equal(x, path);
    CheckedLeaf leaf = checked_leaf(session, session.peer(), tree * shape.leaves() + x, nodes[x]);
    t[x] = masked_sum({}, leaf.t, known);
    missing = masked_sum(missing, t[x], known);
    for (std::size_t y = 0; y < shape.leaves(); ++y)
      leaves[y].value ^= masked(leaf.seed.value, known & mask_if_equal(x ^ path, y));
    wipe_object(leaf);
  }
  for (std::size_t x = 0; x < shape.leaves(); ++x)
    t[x] = masked_sum(t[x], missing, mask_if_equal(x, path));
  wipe_object(missing);
  return crypto::equal_constant_time(digest_of(session, session.peer(), tree, t), check.digest);
}

// The OTs' choices: on each level the side that the path does not take.
BitVector sides_off_the_path(const TreeShape& shape, const Delta& delta) {
  BitVector choices(kKappa);
  for (std::size_t tree = 0; tree < shape.trees(); ++tree)
    for (std::uint32_t level = 1; level <= shape.k; ++level)
      choices.put(tree * shape.k + level - 1,
                  !bit_of(delta.value, tree * shape.k + shape.k - level));
  return choices;
}

}  // namespace

void require_softspoken_k(std::uint64_t k) {
  if (!is_tree_depth(k))
    throw UsageError("softspoken-k " + std::to_string(k) + " is not 1, 2 or 4");
}

Trees make_trees(checks::Session& session, std::uint32_t k) {
  const TreeShape shape{k};
  ENSURE(k == 1 || k == 2 || k == 4);
  const BaseOts ots =
      base_ots_by_public_key(session, kKappa, sides_off_the_path(shape, session.global_key()));
  // sent once, whatever the number of bits
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "base OTs", 0);
  const std::size_t sums_of_tree = 2 * (k - 1);
  Trees trees{{shape, SecretVector<Seed>(shape.trees() * shape.leaves())},
              {shape, SecretVector<Seed>(shape.trees() * shape.leaves()), true}};

  SecretVector<Block> sums(shape.trees() * sums_of_tree), peers_sums(sums.size());
  std::vector<TreeCheck> checks(shape.trees()), peers_checks(shape.trees());
  const auto leaves_of = [&](SecretVector<Seed>& leaves, std::size_t tree) {
    return std::span(leaves).subspan(tree * shape.leaves(), shape.leaves());
  };
  for (std::size_t tree = 0; tree < shape.trees(); ++tree)
    grow(session, shape, tree, ots.sent, std::span(sums).subspan(tree * sums_of_tree, sums_of_tree),
         leaves_of(trees.mine.leaves, tree), checks[tree]);
  net::send_words(session.channel(), kSums, std::span<const Block>(sums));
  net::send_words(session.channel(), kCheck, std::span<const TreeCheck>(checks));
  net::recv_words(session.channel(), kSums, std::span(peers_sums));
  net::recv_words(session.channel(), kCheck, std::span(peers_checks));
  for (std::size_t tree = 0; tree < shape.trees(); ++tree)
    trees.peers.consistent &= grow_punctured(
        session, shape, tree, ots.received,
        std::span<const Block>(peers_sums).subspan(tree * sums_of_tree, sums_of_tree),
        peers_checks[tree], leaves_of(trees.peers.leaves, tree));
  return trees;
}

}  // namespace tinyot::offline
