// Silent authenticated bits: half-trees, the code, iterations of one direction, and one wrong
// message at a time.
#include "offline/silent/silent_bits.h"

// The same targets as in crypto/aes.cpp.
#define HWY_BROKEN_EMU128 0
#define HWY_WANT_AVX3_DL 1
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "tests/checks/transit_channel.h"
#include "tests/offline/dealt.h"
#include "tests/support/blocks.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"
#include "tests/support/memory_search.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr const char* kCheck = "silent check";

// Small sets: as few trees as a message has, and twice as many.
constexpr SilentSet kToy{LpnSet::B9, 128, 7, 9, 0};
constexpr SilentSet kTwoGroups{LpnSet::B9, 256, 7, 9, 0};

constexpr SilentIteration iteration_of(const SilentSet& set) { return {set, 7, {1, 2, 3}}; }

Block sum_of(std::span<const Block> blocks) {
  Block sum{0, 0};
  for (const Block block : blocks) sum ^= block;
  return sum;
}

Block product(Block a, Block b) {
  WideBlock sum{};
  add_products({&a, 1}, {&b, 1}, sum);
  return reduced(sum);
}

Block chi_of(const SilentCheck& check, std::uint64_t y) {
  WideBlock sum{};
  check.add_at(y, sum);
  return reduced(sum);
}

Block power_of_x(std::size_t i) {
  return i < 64 ? Block{std::uint64_t{1} << i, 0} : Block{0, std::uint64_t{1} << (i - 64)};
}

// ---------------------------------------------------------------------------------------------
// Known answers, printed by tests/offline/silent_vectors.py, which has the formulas in Python.

constexpr Block kLeaves[] = {
    {0x3e4bddd4cafeec95, 0xa5ed3efea55c57d5}, {0x23841b9b58eebfa2, 0x4227eb0c50a6a4f7},
    {0xa32c7a1d6b504b0c, 0xe0c710fee0e6fbeb}, {0xf13afea5b80ac639, 0xe12af3c9f6469ecc},
    {0xacde1971f0bbce9e, 0x7055fc5d00cae0a4}, {0xca8a81529f422ead, 0x66de7cddc6960218},
    {0x5e02d2ad1748c42d, 0x08a9c7949df65b94}, {0x419e520ef3e376ab, 0xca33f643f34d69d4},
    {0xb9b3bf94bc849465, 0x88c6897ddadddc5a}, {0x6209a71b08dbb4ce, 0x96cb023c7bfbc7ba},
    {0xe76f92680161eb7e, 0x5c3a6b8d8506f046}, {0xdb85b3358f394dd6, 0xf555a7938b3195ba},
    {0x5011ee14b2b202d8, 0xd9610580b0473e36}, {0x2e9e8ce6d8bd6438, 0x151125a5cc3eb54e},
    {0x6176affd490ad0e2, 0x304bf2b9371a0528}, {0xceb8aeaad31abcbb, 0x796f1251afcfb6bb},
};
constexpr Block kLeftSums[] = {
    {0x000000000000000b, 0x000000000000000c},
    {0xdeae241123b9f54f, 0x233cfe16eef98106},
    {0xa8897b257b4d5801, 0x5145719a4c4be819},
    {0x36115a77ca188cb7, 0x323687924bbd46f9},
};
constexpr std::uint32_t kRows[] = {
    411967, 315061, 242904, 484749, 232871, 100939, 487392, 246597, 347271, 265777,
    393202, 101381, 286150, 60562,  242415, 110067, 361867, 209154, 116809, 25291,
    233961, 62592,  292527, 512908, 519327, 521973, 190103, 295076, 340384, 113370,
};
constexpr std::uint64_t kRowOutputs[] = {0, 1, 4718591};
constexpr Block kChi[] = {
    {0xa8d69bb094e8a895, 0xb9fd0e44094b0b23}, {0x2972907499653ac2, 0xdcd866863965a2f3},
    {0xa0ffb65257c86919, 0x04a23704effb1000}, {0x5188308ae8ce81fe, 0x23c57ec7fb591d7e},
    {0x7b64863bdad8f18a, 0x60200564a05db816},
};
constexpr std::uint64_t kChiPlaces[] = {0, 1, 127, 128, 4718591};

// A session whose id is 0, 1, 2, ..., as in the script.
void with_known_id(const std::function<void(Session&, const PublicSeed& coins)>& body) {
  run_sessions([&](Session& outer) {
    if (outer.me() != Party::A) return;
    SessionId id;
    PublicSeed coins;
    for (std::size_t i = 0; i < 32; ++i) {
      id.bytes[i] = static_cast<std::uint8_t>(i);
      coins[i] = static_cast<std::uint8_t>(100 + i);
    }
    PhaseLog log;
    Session session(Party::A, {id, id}, Delta{}, outer.channel(), outer.rng().fork(), log);
    body(session, coins);
  });
}

class SilentVectors : public EveryTarget {};

TEST_F(SilentVectors, TreesMatchTheFormulas) {
  constexpr SilentSet kFourKeys{LpnSet::B9, 512, 7, 9, 0};
  for_each_target([&] {
    with_known_id([&](Session& session, const PublicSeed& coins) {
      const SilentDirection direction(session, Party::A, {kFourKeys, 7, coins});
      const HalfTreeKey& key = direction.key_of(3 * kTreesPerKey + 5);
      std::array<Block, 16> leaves;
      std::array<Block, 4> sums;
      expand_half_tree(key, {11, 12}, Delta{{13, 14}}, leaves, sums);
      for (std::size_t j = 0; j < 16; ++j) EXPECT_TRUE(same(leaves[j], kLeaves[j])) << j;
      for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same(sums[i], kLeftSums[i])) << i;
    });
  });
}

TEST_F(SilentVectors, RowsOfTheCodeMatchTheFormulas) {
  for_each_target([&] {
    with_known_id([&](Session& session, const PublicSeed& coins) {
      const SparseCode code(session, Party::A, 7, coins, 19);
      for (std::size_t y = 0; y < std::size(kRowOutputs); ++y) {
        std::array<std::uint32_t, kRowOnes> row;
        code.indices(kRowOutputs[y], row);
        for (std::size_t f = 0; f < kRowOnes; ++f) EXPECT_EQ(row[f], kRows[y * kRowOnes + f]);
      }
    });
  });
}

TEST_F(SilentVectors, CoefficientsOfTheCheckMatchTheFormulas) {
  for_each_target([&] {
    with_known_id([&](Session& session, const PublicSeed& coins) {
      const SilentDirection direction(session, Party::A, {kToy, 7, coins});
      SilentCheck check(session, direction, coins);
      for (std::size_t i = 0; i < std::size(kChiPlaces); ++i) {
        EXPECT_TRUE(same(chi_of(check, kChiPlaces[i]), kChi[i])) << i;
        // A segment with a single 1 has the same coefficient.
        std::array<Block, 128> segment{};
        segment[kChiPlaces[i] % 128] = {1, 0};
        WideBlock sum{};
        check.add(kChiPlaces[i] / 128 * 128, segment, sum);
        EXPECT_TRUE(same(reduced(sum), kChi[i])) << i;
      }
    });
  });
}

// ---------------------------------------------------------------------------------------------
// Half-trees and the code.

TEST(HalfTree, LevelsAddUpToDelta) {
  const HalfTreeKey key({1, 2});
  for (std::size_t depth = 1; depth <= 10; ++depth) {
    std::vector<Block> leaves(std::size_t{1} << depth), sums(depth);
    expand_half_tree(key, {3, 4}, Delta{{5, 6}}, leaves, sums);
    EXPECT_TRUE(same(sum_of(leaves), {5, 6})) << depth;
    EXPECT_TRUE(same(sums[0], {3, 4}));
    EXPECT_TRUE(same(sums.back(), sum_of(std::span(leaves).first(leaves.size() / 2)))) << depth;
  }
}

TEST(HalfTree, MacHolderHasAllLeavesExceptForDeltaAtEveryPlace) {
  const HalfTreeKey key({1, 2});
  const Delta delta{{0x1234, 0x5678}};
  for (std::size_t depth = 1; depth <= 8; ++depth) {
    std::vector<Block> leaves(std::size_t{1} << depth), sums(depth);
    expand_half_tree(key, {3, 4}, delta, leaves, sums);
    for (std::size_t place = 0; place < leaves.size(); ++place) {
      std::vector<Block> sides = sums, mine(leaves.size());
      // If the path goes left on a level, the side off it is the right one.
      for (std::size_t i = 0; i < depth; ++i) sides[i] ^= times(delta.value, !((place >> i) & 1));
      expand_punctured(key, place, sides, mine);
      for (std::size_t j = 0; j < leaves.size(); ++j)
        ASSERT_TRUE(same(mine[j], leaves[j] ^ times(delta.value, j == place)))
            << depth << ", " << place << ", " << j;
    }
  }
}

TEST(SparseCode, EncodesAlikeInOneCallAndInSeveral) {
  run_sessions([](Session& session) {
    const SparseCode code(session, Party::A, 3, {}, 9);
    const auto secret = test::random_blocks(512, 1), noise = test::random_blocks(640, 2);
    const BitVector bits = session.rng().bits(512);
    std::vector<std::uint32_t> rows(640 * kRowOnes);
    code.indices(1000, rows);
    MacColumn out(640);
    std::vector<Block> keys(640);
    for (const std::size_t first : {0u, 128u, 320u}) {
      const std::size_t count = first == 0 ? 128 : first == 128 ? 192 : 320;
      code.encode(1000 + first, secret, bits.words(), std::span(noise).subspan(first, count),
                  out.view(first, count));
      code.encode(1000 + first, secret, std::span(noise).subspan(first, count),
                  std::span(keys).subspan(first, count));
    }
    for (std::size_t i = 0; i < 640; ++i) {
      Block sum = noise[i];
      bool bit = false;
      for (std::size_t f = 0; f < kRowOnes; ++f) {
        sum ^= secret[rows[i * kRowOnes + f]];
        bit ^= bits[rows[i * kRowOnes + f]];
      }
      EXPECT_TRUE(same(keys[i], sum)) << i;
      EXPECT_TRUE(same(out.macs[i].value, sum)) << i;
      EXPECT_EQ(out.bits[i], bit) << i;
    }
  });
}

TEST(SparseCode, RowsDifferByDirectionIterationAndCoins) {
  run_sessions([](Session& session) {
    const auto rows = [&](Party holder, std::uint64_t iteration, const PublicSeed& coins) {
      std::vector<std::uint32_t> out(64 * kRowOnes);
      SparseCode(session, holder, iteration, coins, 19).indices(0, out);
      return out;
    };
    const auto first = rows(Party::A, 1, {1});
    EXPECT_EQ(first, rows(Party::A, 1, {1}));
    EXPECT_NE(first, rows(Party::B, 1, {1}));
    EXPECT_NE(first, rows(Party::A, 2, {1}));
    EXPECT_NE(first, rows(Party::A, 1, {2}));
  });
}

// Coins alone, which a cheating party might repeat, do not make a code fresh.
TEST(SparseCode, IsFreshInEachSessionConnectionWorkerDirectionAndIteration) {
  std::set<std::vector<std::uint32_t>> codes;
  std::size_t iterations = 0;
  run_sessions([&](Session& outer) {
    if (outer.me() != Party::A) return;
    for (const std::uint8_t of_session : {1, 2})
      for (const std::uint8_t connection : {1, 2})
        for (const std::uint64_t worker : {0, 1})
          for (const Party holder : {Party::A, Party::B})
            for (const std::uint64_t iteration : {0, 1, 2}) {
              SessionIds ids{outer.id(), outer.id()};
              ids.session.bytes[0] = of_session;
              ids.connection.bytes[0] = of_session;
              ids.connection.bytes[1] = connection;
              const Session whole(Party::A, ids, Delta{}, outer.channel(), outer.rng().fork(),
                                  outer.log());
              const Session part(whole, "silent bits", worker, outer.channel(), outer.log());
              std::vector<std::uint32_t> rows(8 * kRowOnes);
              SilentDirection(part, holder, {kToy, iteration, {1, 2, 3}}).code.indices(0, rows);
              codes.insert(rows);
              ++iterations;
            }
  });
  EXPECT_EQ(iterations, 48u);
  EXPECT_EQ(codes.size(), iterations);
}

TEST(SilentSets, HaveTheSizesOfTheTable) {
  const auto set = [](const char* name) { return silent_set(lpn_set_named(name)); };
  EXPECT_EQ(set("b9").outputs(), 589'824u);
  EXPECT_EQ(set("b9").reserve(), 76'032u);
  EXPECT_EQ(set("b9").net(), 513'792u);
  EXPECT_EQ(set("b10").reserve(), 142'720u);
  EXPECT_EQ(set("b10").net(), 1'036'928u);
  EXPECT_EQ(set("b11").reserve(), 274'944u);
  EXPECT_EQ(set("b11").net(), 2'084'352u);
  EXPECT_EQ(set("b12").reserve(), 538'240u);
  EXPECT_EQ(set("b12").net(), 4'180'352u);
  EXPECT_THROW(lpn_set_named("b13"), UsageError);
}

// The estimates are for nine outputs of a code for each bit of the secret, one of them wrong in
// each of 1,152 blocks; with more outputs, dense minors break them.
TEST(SilentSets, HaveTheShapeOfTheEstimates) {
  for (const SilentSet& set : kSilentSets) {
    EXPECT_EQ(set.trees, 1152u) << name_of(set.name);
    EXPECT_EQ(set.outputs(), 9 * set.secret()) << name_of(set.name);
    EXPECT_GE(set.lpn_bits, 128) << name_of(set.name);
    EXPECT_EQ(find_retired(set.name), nullptr) << name_of(set.name);
  }
  EXPECT_EQ(kRowOnes, 10u);
}

TEST(RetiredSets, HaveNoSizesAndNameTheirSuccessor) {
  constexpr struct {
    const char *retired, *successor;
    double bits;
  } kRetired[] = {
      {"s10", "b9", 71.1}, {"s11", "b10", 71.3}, {"s12", "b11", 70.7}, {"s13", "b12", 70.9}};
  for (const auto& [name, successor, bits] : kRetired) {
    const LpnSet set = lpn_set_named(name);
    EXPECT_EQ(name_of(set), name);
    const RetiredSet* retired = find_retired(set);
    ASSERT_NE(retired, nullptr) << name;
    EXPECT_EQ(retired->lpn_bits, bits) << name;
    EXPECT_EQ(name_of(retired->successor), successor);
    EXPECT_EQ(find_retired(retired->successor), nullptr) << name;
    try {
      (void)silent_set(set);
      ADD_FAILURE() << name << " has sizes";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), retired->refusal());
    }
    for (const std::string& part : {std::string(name) + " is retired", std::string("2^71"),
                                    "use " + std::string(successor), std::string("new store")})
      EXPECT_NE(retired->refusal().find(part), std::string::npos) << retired->refusal();
    const auto lpn = lpn_of(WanParameters{.silent_set = set});
    ASSERT_TRUE(lpn.has_value());
    EXPECT_TRUE(lpn->is_retired) << name;
    EXPECT_EQ(lpn->bits, bits) << name;
  }
  EXPECT_FALSE(lpn_of(WanParameters{})->is_retired);
  EXPECT_EQ(lpn_of(WanParameters{})->bits, 135.2);
}

// ---------------------------------------------------------------------------------------------
// Iterations.

// What a key holder does that deviates.
struct Deviating {
  std::function<Block(std::size_t tree)> delta_error = [](std::size_t) { return Block{0, 0}; };
  std::function<Block(std::size_t tree, std::size_t level)> correction_error = [](std::size_t,
                                                                                  std::size_t) {
    return Block{0, 0};
  };
  // Added to V.
  std::function<Block(const SilentCheck&)> adjustment = [](const SilentCheck&) {
    return Block{0, 0};
  };
};

// A key holder made from the formulas, one leaf after the other.
class PlainKeyHolder {
 public:
  PlainKeyHolder(Session& session, const SilentIteration& iteration, KeyColumn base,
                 Deviating deviating)
      : session_(session), direction_(session, session.peer(), iteration), base_(std::move(base)),
        deviating_(std::move(deviating)), roots_(test::random_blocks(iteration.set.trees, 99)) {}

  void correct() {
    constexpr auto kTag = message_tag("silent.corrections");
    const std::size_t depth = direction_.set.depth;
    for (std::size_t group = 0; group < direction_.set.trees; group += kTreesPerKey) {
      std::vector<Block> corrections;
      for (std::size_t tree = group; tree < group + kTreesPerKey; ++tree) {
        const auto sums = expanded(tree).second;
        for (std::size_t i = 0; i < depth; ++i)
          corrections.push_back(sums[i] ^ base_.keys[direction_.levels_at(tree) + i].value ^
                                deviating_.correction_error(tree, i));
      }
      send_words(session_.channel(), kTag, std::span<const Block>(corrections));
    }
  }

  void answer() {
    constexpr auto kChallenge = message_tag("silent.challenge"),
                   kDigest = message_tag("silent.digest");
    std::array<std::byte, 48> challenge;
    session_.channel().recv(kChallenge, challenge);
    PublicSeed seed;
    Block psi;
    std::memcpy(&seed, challenge.data(), 32);
    std::memcpy(&psi, challenge.data() + 32, 16);
    const SilentCheck check(session_, direction_, seed);
    Block v = product(psi, session_.global_key().value) ^ deviating_.adjustment(check);
    for (std::size_t tree = 0; tree < direction_.set.trees; ++tree) {
      const auto leaves = expanded(tree).first;
      for (std::size_t j = 0; j < leaves.size(); ++j)
        v ^= product(chi_of(check, (tree << direction_.set.depth) + j), leaves[j]);
    }
    for (std::size_t i = 0; i < 128; ++i)
      v ^= product(power_of_x(i), base_.keys[direction_.mask_at() + i].value);
    send_object(
        session_.channel(), kDigest,
        RandomOracle(session_.id(), {"silent check", letter(session_.peer()), direction_.iteration})
            .absorb_object(v)
            .digest());
  }

  void make(KeyColumnView out) {
    std::vector<std::uint32_t> row(kRowOnes);
    for (std::size_t tree = 0, y = 0; tree < direction_.set.trees; ++tree) {
      for (const Block leaf : expanded(tree).first) {
        direction_.code.indices(y, row);
        out[y].value = leaf;
        for (const std::uint32_t index : row) out[y] ^= base_.keys[index];
        ++y;
      }
    }
  }

 private:
  std::pair<std::vector<Block>, std::vector<Block>> expanded(std::size_t tree) {
    std::vector<Block> leaves(direction_.set.leaves()), sums(direction_.set.depth);
    expand_half_tree(direction_.key_of(tree), roots_[tree],
                     Delta{session_.global_key().value ^ deviating_.delta_error(tree)}, leaves,
                     sums);
    return {leaves, sums};
  }

  Session& session_;
  SilentDirection direction_;
  KeyColumn base_;
  Deviating deviating_;
  std::vector<Block> roots_;
};

struct OneDirection {
  MacColumn mine;
  KeyColumn peers;
  Outcomes outcomes;
};

BitVector base_bits(Party owner, const SilentSet& set, std::uint64_t seed) {
  return Dealt(owner, owner, set.reserve(), seed, 1).truth;
}

// An iteration of the bits of `owner`, from a dealt base, and all its outputs. `plain`: the key
// holder is a PlainKeyHolder that deviates so.
OneDirection iterate(Party owner, const SilentSet& set, const PartyOptions& options = {},
                     const Deviating* plain = nullptr) {
  OneDirection made;
  made.outcomes = run_sessions(
      [&](Session& session) {
        Dealt base(session.me(), owner, set.reserve(), options.seed, 1);
        if (session.me() == owner) {
          SilentMacHolder holder(session, iteration_of(set), std::move(base.mine));
          holder.challenge();
          holder.verify();
          made.mine = MacColumn(set.outputs());
          holder.make(0, made.mine.view());
          return;
        }
        made.peers = KeyColumn(set.outputs());
        if (plain != nullptr) {
          PlainKeyHolder holder(session, iteration_of(set), std::move(base.peers), *plain);
          holder.correct();
          holder.answer();
          holder.make(made.peers.view());
        } else {
          SilentKeyHolder holder(session, iteration_of(set), std::move(base.peers));
          holder.correct();
          holder.answer();
          holder.make(0, made.peers.view());
        }
      },
      options, false);
  return made;
}

// The MAC holder's end, against a key holder that deviates.
bool is_caught(Party owner, const Deviating& deviating, std::uint64_t seed = 1) {
  const OneDirection made = iterate(owner, kToy, {.seed = seed}, &deviating);
  return caught_by(of(made.outcomes, owner), kCheck);
}

TEST(SilentBits, OutputsHaveTheirMacsInBothDirections) {
  for (const Party owner : {Party::A, Party::B}) {
    for (const SilentSet& set : {kToy, kTwoGroups}) {
      const OneDirection made = iterate(owner, set);
      ASSERT_TRUE(both_done(made.outcomes));
      const auto bits = checked_bits(made.mine, made.peers, global_key_of(peer_of(owner), 1));
      const auto n = static_cast<double>(bits.size()),
                 ones = static_cast<double>(std::count(bits.begin(), bits.end(), true));
      EXPECT_LT(std::abs(ones - n / 2), 3 * std::sqrt(n));
    }
  }
}

// Each output is the sum of its row and of the noise of its tree.
TEST(SilentBits, BitsAreTheCodeOfTheSecretAndOneNoiseBitPerTree) {
  const OneDirection made = iterate(Party::A, kToy);
  ASSERT_TRUE(both_done(made.outcomes));
  const BitVector base = base_bits(Party::A, kToy, 1);
  std::vector<std::uint32_t> rows(kToy.outputs() * kRowOnes);
  run_sessions([&](Session& session) {
    if (session.me() != Party::A) return;
    const SilentIteration iteration = iteration_of(kToy);
    SparseCode(session, Party::A, iteration.number, iteration.coins, kToy.secret_log)
        .indices(0, rows);
  });
  for (std::size_t y = 0; y < kToy.outputs(); ++y) {
    const std::size_t tree = y / kToy.leaves();
    bool bit = true;  // on every level the path takes the side that r does not name
    for (std::size_t i = 0; i < kToy.depth; ++i)
      bit &= base[kToy.secret() + tree * kToy.depth + i] != (((y % kToy.leaves()) >> i) & 1);
    for (std::size_t f = 0; f < kRowOnes; ++f) bit ^= base[rows[y * kRowOnes + f]];
    ASSERT_EQ(made.mine.bits[y], bit) << y;
  }
}

TEST(SilentBits, AgreesWithTheFormulas) {
  const Deviating honest;
  for (const Party owner : {Party::A, Party::B}) {
    const OneDirection made = iterate(owner, kToy, {}, &honest);
    ASSERT_TRUE(both_done(made.outcomes));
    checked_bits(made.mine, made.peers, global_key_of(peer_of(owner), 1));
  }
}

class SilentTargets : public EveryTarget {};

TEST_F(SilentTargets, AllMakeTheSameBits) {
  const OneDirection first = iterate(Party::A, kToy);
  ASSERT_TRUE(both_done(first.outcomes));
  for_each_target([&] {
    const OneDirection made = iterate(Party::A, kToy);
    ASSERT_TRUE(both_done(made.outcomes));
    for (std::size_t y = 0; y < kToy.outputs(); ++y) {
      ASSERT_TRUE(same(made.mine.macs[y].value, first.mine.macs[y].value)) << y;
      ASSERT_TRUE(same(made.peers.keys[y].value, first.peers.keys[y].value)) << y;
      ASSERT_EQ(made.mine.bits[y], first.mine.bits[y]) << y;
    }
  });
}

// Outputs are made in any order and in parts, and leaves are expanded again.
TEST(SilentBits, OutputsAreTheSameInParts) {
  const OneDirection whole = iterate(Party::A, kToy);
  run_sessions([&](Session& session) {
    Dealt base(session.me(), Party::A, kToy.reserve(), 1, 1);
    constexpr std::size_t kParts[][2] = {{1280, 128}, {0, 384}, {1408, 256}, {16256, 128}};
    if (session.me() == Party::A) {
      SilentMacHolder holder(session, iteration_of(kToy), std::move(base.mine));
      holder.challenge();
      holder.verify();
      for (const auto& [first, count] : kParts) {
        MacColumn part(count);
        holder.make(first, part.view());
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_TRUE(same(part.macs[i].value, whole.mine.macs[first + i].value));
          EXPECT_EQ(part.bits[i], whole.mine.bits[first + i]);
        }
      }
    } else {
      SilentKeyHolder holder(session, iteration_of(kToy), std::move(base.peers));
      holder.correct();
      holder.answer();
      for (const auto& [first, count] : kParts) {
        KeyColumn part(count);
        holder.make(first, part.view());
        for (std::size_t i = 0; i < count; ++i)
          EXPECT_TRUE(same(part.keys[i].value, whole.peers.keys[first + i].value));
      }
    }
  });
}

TEST(SilentBits, GivesNothingBeforeTheCheck) {
  run_sessions([](Session& session) {
    Dealt base(session.me(), Party::A, kToy.reserve(), 1, 1);
    if (session.me() == Party::A) {
      SilentMacHolder holder(session, iteration_of(kToy), std::move(base.mine));
      MacColumn out(128);
      holder.challenge();
      EXPECT_THROW(holder.make(0, out.view()), std::logic_error);
      holder.verify();
      EXPECT_NO_THROW(holder.make(0, out.view()));
    } else {
      SilentKeyHolder holder(session, iteration_of(kToy), std::move(base.peers));
      KeyColumn out(128);
      EXPECT_THROW(holder.make(0, out.view()), std::logic_error);
      holder.correct();
      EXPECT_THROW(holder.make(0, out.view()), std::logic_error);
      holder.answer();
      EXPECT_NO_THROW(holder.make(0, out.view()));
    }
  });
}

TEST(SilentBits, MessagesHaveTheDocumentedBytes) {
  for (const Party owner : {Party::A, Party::B}) {
    Messages of_a, of_b;
    iterate(owner, kTwoGroups, {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
    const Messages &of_owner = owner == Party::A ? of_a : of_b,
                   &of_peer = owner == Party::A ? of_b : of_a;
    for (const std::size_t group : {0u, 1u})
      EXPECT_EQ(payload_of(of_peer, "silent.corrections", group).size(), 2048u * 7);
    EXPECT_EQ(bytes_of(of_peer, "silent.corrections"), 16u * kTwoGroups.trees * 7);
    EXPECT_EQ(payload_of(of_peer, "silent.digest").size(), 32u);
    EXPECT_EQ(payload_of(of_owner, "silent.challenge").size(), 48u);
    EXPECT_EQ(bytes_of(of_owner, "silent.challenge"), 48u);
  }
}

TEST(SilentBits, DirectionsAndIterationsHaveTheirOwnKeys) {
  run_sessions([](Session& session) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> keys, coefficients;
    for (const Party holder : {Party::A, Party::B}) {
      for (const std::uint64_t number : {4u, 5u}) {
        const SilentDirection direction(session, holder, {kTwoGroups, number, {}});
        for (const std::size_t tree : {0u, 128u}) {
          const Block hashed = direction.key_of(tree).of_zero;
          keys.emplace_back(hashed.lo, hashed.hi);
        }
        const Block chi = chi_of(SilentCheck(session, direction, {}), 0);
        coefficients.emplace_back(chi.lo, chi.hi);
        EXPECT_TRUE(same(direction.key_of(0).of_zero, direction.key_of(127).of_zero));
      }
    }
    for (auto* all : {&keys, &coefficients}) {
      std::ranges::sort(*all);
      EXPECT_EQ(std::ranges::adjacent_find(*all), all->end());
    }
  });
}

// psi is the sum of chi at the noise places, masked by the bits x* that are used for nothing else.
TEST(SilentBits, PsiIsMaskedByReservedBits) {
  const BitVector base = base_bits(Party::A, kToy, 1);
  Messages sent;
  Block noise{0, 0};
  run_sessions(
      [&](Session& session) {
        Dealt dealt(session.me(), Party::A, kToy.reserve(), 1, 1);
        if (session.me() == Party::B) {
          SilentKeyHolder(session, iteration_of(kToy), std::move(dealt.peers)).correct();
          return;
        }
        SilentMacHolder(session, iteration_of(kToy), std::move(dealt.mine)).challenge();
        PublicSeed seed;
        std::memcpy(&seed, payload_of(sent, "silent.challenge").data(), sizeof seed);
        const SilentDirection direction(session, Party::A, iteration_of(kToy));
        const SilentCheck check(session, direction, seed);
        for (std::size_t tree = 0; tree < kToy.trees; ++tree) {
          std::size_t place = 0;
          for (std::size_t i = 0; i < kToy.depth; ++i)
            place |= std::size_t{!base[direction.levels_at(tree) + i]} << i;
          noise ^= chi_of(check, (tree << kToy.depth) + place);
        }
      },
      {.wrap_a = recording(sent)});
  Block psi;
  std::memcpy(&psi, payload_of(sent, "silent.challenge").data() + 32, sizeof psi);
  const std::size_t at = kToy.reserve() - 128;
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(bit_of(psi ^ noise, i), base[at + i]) << i;
}

// The roots of the trees, and the seed of the challenge, are fresh even if all else is equal.
TEST(SilentBits, RootsAndSeedAreFresh) {
  Messages of_a, of_b;
  run_sessions(
      [](Session& session) {
        for (std::size_t repeat = 0; repeat < 2; ++repeat) {
          Dealt base(session.me(), Party::A, kToy.reserve(), 1, 1);
          if (session.me() == Party::A)
            SilentMacHolder(session, iteration_of(kToy), std::move(base.mine)).challenge();
          else
            SilentKeyHolder(session, iteration_of(kToy), std::move(base.peers)).correct();
        }
      },
      {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  const auto seed = [&](std::size_t repeat) {
    auto payload = payload_of(of_a, "silent.challenge", repeat);
    payload.resize(sizeof(PublicSeed));
    return payload;
  };
  EXPECT_NE(seed(0), seed(1));
  const auto first = payload_of(of_b, "silent.corrections", 0),
             second = payload_of(of_b, "silent.corrections", 1);
  for (std::size_t block = 0; block < first.size(); block += sizeof(Block))
    EXPECT_FALSE(std::equal(first.begin() + static_cast<std::ptrdiff_t>(block),
                            first.begin() + static_cast<std::ptrdiff_t>(block + sizeof(Block)),
                            second.begin() + static_cast<std::ptrdiff_t>(block)))
        << block;
}

// Runs `body` in two sessions whose generators are equal: in the first one a role takes from it, in
// the second one the test.
void with_twin(Session& outer, const std::function<void(Session&, Rng& equal)>& body) {
  constexpr Seed kSeed{{31, 32}};
  PhaseLog log;
  const SessionIds ids{outer.id(), outer.id()};
  Session session(outer.me(), ids, outer.global_key(), outer.channel(), Rng(kSeed), log),
      twin(outer.me(), ids, outer.global_key(), outer.channel(), Rng(kSeed), log);
  body(session, twin.rng());
}

// Each tree has its own root, whose generator has a key of 128 random bits. Equal trees would be
// hashed twice under a key of H1. The first correction is the root ^ K[r].
TEST(SilentBits, RootsAreTheStreamOfARandomKey) {
  Messages sent;
  KeyColumn base;
  std::vector<Block> expected(kTwoGroups.trees);
  run_sessions(
      [&](Session& outer) {
        Dealt dealt(outer.me(), Party::A, kTwoGroups.reserve(), 1, 1);
        if (outer.me() == Party::A) {
          SilentMacHolder(outer, iteration_of(kTwoGroups), std::move(dealt.mine)).challenge();
          return;
        }
        base = KeyColumn(dealt.peers.size());
        std::ranges::copy(dealt.peers.keys, base.keys.begin());
        with_twin(outer, [&](Session& session, Rng& equal) {
          SilentKeyHolder(session, iteration_of(kTwoGroups), std::move(dealt.peers)).correct();
          AesKey key = expand_key(equal.block());
          ctr_fill(key, {0, iteration_of(kTwoGroups).number}, expected);
        });
      },
      {.wrap_b = recording(sent)});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> roots;
  for (std::size_t tree = 0; tree < kTwoGroups.trees; ++tree) {
    const auto corrections = payload_of(sent, "silent.corrections", tree / kTreesPerKey);
    Block root;
    std::memcpy(&root, &corrections.at(tree % kTreesPerKey * kTwoGroups.depth * sizeof(Block)),
                sizeof root);
    root ^= base.keys[kTwoGroups.secret() + tree * kTwoGroups.depth].value;
    EXPECT_TRUE(same(root, expected[tree])) << tree;
    roots.emplace_back(root.lo, root.hi);
  }
  std::ranges::sort(roots);
  EXPECT_EQ(std::ranges::adjacent_find(roots), roots.end());
}

// All 256 bits of the challenge's seed are random.
TEST(SilentBits, SeedOfTheChallengeIsRandomInEveryBit) {
  Messages sent;
  PublicSeed expected;
  run_sessions(
      [&](Session& outer) {
        Dealt dealt(outer.me(), Party::A, kToy.reserve(), 1, 1);
        if (outer.me() == Party::B) {
          SilentKeyHolder(outer, iteration_of(kToy), std::move(dealt.peers)).correct();
          return;
        }
        with_twin(outer, [&](Session& session, Rng& equal) {
          SilentMacHolder(session, iteration_of(kToy), std::move(dealt.mine)).challenge();
          expected = equal.object<PublicSeed>();
        });
      },
      {.wrap_a = recording(sent)});
  EXPECT_EQ(std::memcmp(payload_of(sent, "silent.challenge").data(), &expected, sizeof expected),
            0);
}

// A challenge that is known before the last correction lets the key holder choose errors that
// cancel.
TEST(SilentBits, ChallengesWhenAllCorrectionsHaveArrived) {
  std::vector<std::string> events;
  const ChannelWrapper noting = [&events](std::unique_ptr<Channel> inner) {
    return cheating([&events](std::string_view tag, std::size_t, std::vector<std::byte>&) {
      if (tag.starts_with("silent.")) events.push_back("+" + std::string(tag));
    })(std::make_unique<TransitChannel>(std::move(inner), [&events](const Arrival& arrival) {
      if (arrival.tag.starts_with("silent.")) events.push_back("-" + arrival.tag);
    }));
  };
  iterate(Party::A, kTwoGroups, {.wrap_a = noting});
  EXPECT_EQ(events, (std::vector<std::string>{"-silent.corrections", "-silent.corrections",
                                              "+silent.challenge", "-silent.digest"}));
}

// ---------------------------------------------------------------------------------------------
// Cheaters.

TEST(SilentCheating, DetectsWrongCorrectionOnEachLevel) {
  for (const Party owner : {Party::A, Party::B})
    for (std::size_t level = 0; level < kToy.depth; ++level)
      for (const Block error : {Block{1, 0}, Block{0, std::uint64_t{1} << 63}}) {
        Deviating deviating;
        deviating.correction_error = [=](std::size_t tree, std::size_t at) {
          return times(error, tree == 3 && at == level);
        };
        EXPECT_TRUE(is_caught(owner, deviating)) << level;
      }
}

TEST(SilentCheating, DetectsAnotherDeltaInOneTree) {
  constexpr std::size_t kRuns = repetitions(20);
  std::size_t caught = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Deviating deviating;
    deviating.delta_error = [](std::size_t tree) { return times(Block{4, 0}, tree == 9); };
    caught += is_caught(Party::A, deviating, seed);
  }
  EXPECT_EQ(caught, kRuns);
}

TEST(SilentCheating, DetectsAnotherDeltaInAllTrees) {
  Deviating deviating;
  deviating.delta_error = [](std::size_t) { return Block{4, 0}; };
  EXPECT_TRUE(is_caught(Party::A, deviating));
}

TEST(SilentCheating, EqualErrorsInTwoTreesDoNotCancel) {
  for (std::uint64_t seed = 0; seed < repetitions(12); ++seed) {
    Deviating deviating;
    deviating.correction_error = [](std::size_t tree, std::size_t level) {
      return times(Block{5, 0}, (tree == 2 || tree == 3) && level == 4);
    };
    EXPECT_TRUE(is_caught(Party::A, deviating, seed));
  }
}

// Every byte is compared.
TEST(SilentCheating, DetectsWrongDigest) {
  for (std::size_t byte = 0; byte < 32; ++byte) {
    PartyOptions options;
    options.wrap_b = cheating(flip_bit("silent.digest", 0, 8 * byte + byte % 8));
    EXPECT_TRUE(caught_by(iterate(Party::A, kToy, options).outcomes.a, kCheck)) << byte;
  }
}

// A check that has failed stays failed.
TEST(SilentCheating, GivesNothingAfterAFailedCheck) {
  run_sessions(
      [](Session& session) {
        Dealt base(session.me(), Party::A, kToy.reserve(), 1, 1);
        if (session.me() == Party::A) {
          SilentMacHolder holder(session, iteration_of(kToy), std::move(base.mine));
          MacColumn out(128);
          holder.challenge();
          EXPECT_THROW(holder.verify(), PeerCheated);
          EXPECT_THROW(holder.make(0, out.view()), std::logic_error);
        } else {
          SilentKeyHolder holder(session, iteration_of(kToy), std::move(base.peers));
          holder.correct();
          holder.answer();
        }
      },
      {.wrap_b = cheating(flip_bit("silent.digest", 0, 0))});
}

// The cheating MAC holder's own comparison fails; what it gets is RO of W ^ error.Delta, in which
// it can only test guesses of Delta.
TEST(SilentCheating, WrongPsiIsAGuessOfTheKey) {
  for (const Party owner : {Party::A, Party::B}) {
    for (const std::size_t bit : {256u, 300u, 383u}) {
      PartyOptions options;
      (owner == Party::A ? options.wrap_a : options.wrap_b) =
          cheating(flip_bit("silent.challenge", 0, bit));
      const OneDirection made = iterate(owner, kToy, options);
      EXPECT_TRUE(caught_by(of(made.outcomes, owner), kCheck)) << bit;
    }
  }
}

TEST(SilentCheating, AlteredSeedFails) {
  PartyOptions options;
  options.wrap_a = cheating(flip_bit("silent.challenge", 0, 17));
  EXPECT_TRUE(caught_by(iterate(Party::A, kToy, options).outcomes.a, kCheck));
}

// A wrong last correction hits a pair of leaves, and a key holder that names the pair passes. Its
// outputs then have MACs under keys that it knows.
TEST(SilentCheating, GuessOfAPairOfLeavesSurvivesIffRight) {
  constexpr std::size_t kTree = 3, kHalf = kToy.leaves() / 2;
  constexpr Block kError{0x77, 0x99};
  std::size_t right = 0;
  constexpr std::size_t kRuns = repetitions(24);
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const BitVector base = base_bits(Party::A, kToy, seed);
    std::size_t pair = 0;
    for (std::size_t i = 0; i + 1 < kToy.depth; ++i)
      pair |= std::size_t{!base[kToy.secret() + kTree * kToy.depth + i]} << i;
    const std::size_t guess = seed % 2 == 0 ? pair : (pair + 1 + seed % (kHalf - 1)) % kHalf;
    const std::size_t first = (kTree << kToy.depth) + guess, second = first + kHalf;
    Deviating deviating;
    deviating.correction_error = [&](std::size_t tree, std::size_t level) {
      return times(kError, tree == kTree && level == kToy.depth - 1);
    };
    deviating.adjustment = [&](const SilentCheck& check) {
      return product(kError, chi_of(check, first) ^ chi_of(check, second));
    };
    const OneDirection made = iterate(Party::A, kToy, {.seed = seed}, &deviating);
    EXPECT_EQ(caught_by(made.outcomes.a, kCheck), guess != pair) << seed;
    if (guess != pair) continue;
    ++right;
    const Delta delta = global_key_of(Party::B, seed);
    for (std::size_t y = 0; y < kToy.outputs(); ++y) {
      const Block error =
          made.mine.macs[y].value ^ (made.peers.keys[y] ^ delta * made.mine.bits[y]).value;
      ASSERT_TRUE(same(error, times(kError, y == first || y == second))) << y;
    }
  }
  EXPECT_EQ(right, (kRuns + 1) / 2);
}

// A party that goes away after any message leaves an error, and nothing that hangs.
TEST(SilentCheating, PeerGoneAfterEachMessageIsAnError) {
  struct Cut {
    Party sender;
    const char* tag;
    std::size_t occurrence;
  };
  for (const Cut& cut : {Cut{Party::B, "silent.corrections", 0},
                         {Party::B, "silent.corrections", 1},
                         {Party::A, "silent.challenge", 0},
                         {Party::B, "silent.digest", 0}}) {
    PartyOptions options;
    (cut.sender == Party::A ? options.wrap_a : options.wrap_b) =
        cheating([&](std::string_view tag, std::size_t occurrence, std::vector<std::byte>&) {
          if (tag == cut.tag && occurrence == cut.occurrence)
            throw NetworkError("the cable is cut");
        });
    const OneDirection made = iterate(Party::A, kTwoGroups, options);
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Network) << cut.tag;
    EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Network) << cut.tag;
  }
}

// The last leaves of the last tree, from the outputs and the base: what the code has added is taken
// away again.
std::vector<Block> last_leaves(Session& session, std::span<const Block> base,
                               std::span<const Block> outputs) {
  const SilentIteration iteration = iteration_of(kToy);
  std::vector<Block> leaves(outputs.end() - 64, outputs.end());
  std::vector<std::uint32_t> rows(64 * kRowOnes);
  SparseCode(session, Party::A, iteration.number, iteration.coins, kToy.secret_log)
      .indices(outputs.size() - 64, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) leaves[i / kRowOnes] ^= base[rows[i]];
  return leaves;
}

constexpr std::size_t kNoted = 16;  // of many secrets of a kind
// Called with secrets of an iteration, by kind.
using Note = std::function<void(std::string_view kind, std::span<const Block>)>;

constexpr const char* kKindsOfSecrets[] = {
    "Delta", "key of the roots", "root", "mask of psi", "noise in psi", "psi.Delta", "base", "leaf",
    "output"};

[[gnu::noinline]] void clear_stack() {
  std::array<std::byte, 1 << 16> below;
  wipe_object(below);
}

// A base of A's bits.
[[gnu::noinline]] void deal_base(const Delta& delta, std::uint64_t seed, MacColumn& mine,
                                 KeyColumn& peers) {
  Rng rng(Seed{{seed, 2}});
  mine = MacColumn(kToy.reserve());
  peers = KeyColumn(kToy.reserve());
  rng.fill(mine.bits.bytes());
  rng.fill_blocks(std::span(peers.keys));
  for (std::size_t i = 0; i < mine.size(); ++i) mine.macs[i] = peers.keys[i] ^ delta * mine.bits[i];
}

// Copies of what an iteration starts from.
struct Start {
  std::vector<Block> base;
  Block mask;
};

void note_iteration(Session& session, const Delta& delta, const Start& start,
                    std::span<const Block> outputs, const Note& note) {
  note("Delta", {&delta.value, 1});
  note("base", std::span(start.base).last(kNoted));
  note("leaf", std::span<const Block>(last_leaves(session, start.base, outputs)).first(kNoted));
  note("output", outputs.first(kNoted));
}

// Of the generator that the key holder's was equal to.
void note_roots(Rng& rng, const Note& note) {
  const Block root_key = rng.block();
  AesKey key = expand_key(root_key);
  std::vector<Block> roots(kToy.trees);
  ctr_fill(key, {0, iteration_of(kToy).number}, roots);
  note("key of the roots", {&root_key, 1});
  note("root", std::span(roots).first(kNoted));
}

void note_psi(const Block& psi, const Block& mask, const Delta& delta, const Note& note) {
  const Block noise = psi ^ mask, of_delta = product(psi, delta.value);
  note("mask of psi", {&mask, 1});
  note("noise in psi", {&noise, 1});
  note("psi.Delta", {&of_delta, 1});
}

// A party of the first `steps` of an iteration, the fifth of which makes the outputs. Its Delta is
// in no other session, and what dealing leaves on the stack is overwritten. `reached` is called
// while the role exists.
void run_and_note(Session& outer, std::uint64_t seed, std::size_t steps, const Messages& sent,
                  const Note& note, const std::function<void()>& reached) {
  SecretVector<Delta> key(1);
  Rng(Seed{{seed, 1}}).fill(std::as_writable_bytes(std::span(key)));
  MacColumn mine;
  KeyColumn peers;
  deal_base(key[0], seed, mine, peers);
  clear_stack();
  PhaseLog log;
  const SessionIds ids{outer.id(), outer.id()};
  const Seed of_party{{seed, 3 + static_cast<std::uint64_t>(outer.me())}};
  Session session(outer.me(), ids, key[0], outer.channel(), Rng(of_party), log);
  Start start;
  const auto keep = [&](std::span<const Block> base) {
    if (!note) return;
    start.base.assign(base.begin(), base.end());
    const auto words = mine.bits.words().subspan((kToy.reserve() - 128) / 64, 2);
    start.mask = {words[0], words[1]};
  };
  if (outer.me() == Party::A) {
    keep(as_blocks(std::span<const Mac>(mine.macs)));
    MacColumn out(kToy.outputs());
    SilentMacHolder holder(session, iteration_of(kToy), std::move(mine));
    if (steps >= 2) holder.challenge();
    if (steps >= 4) holder.verify();
    if (steps >= 5) holder.make(0, out.view());
    reached();
    if (note) {
      note_iteration(session, key[0], start, as_blocks(std::span<const Mac>(out.macs)), note);
      Block psi;
      std::memcpy(&psi, payload_of(sent, "silent.challenge").data() + 32, sizeof psi);
      note_psi(psi, start.mask, key[0], note);
    }
  } else {
    keep(as_blocks(std::span<const Key>(peers.keys)));
    KeyColumn out(kToy.outputs());
    SilentKeyHolder holder(session, iteration_of(kToy), std::move(peers));
    if (steps >= 1) holder.correct();
    if (steps >= 3) holder.answer();
    if (steps >= 5) holder.make(0, out.view());
    reached();
    if (note) {
      note_iteration(session, key[0], start, as_blocks(std::span<const Key>(out.keys)), note);
      Session twin(outer.me(), ids, key[0], outer.channel(), Rng(of_party), log);
      note_roots(twin.rng(), note);
    }
  }
}

// Calls `search` with false while the roles exist, and with true when they have ended, while the
// threads that they ran on still have their stacks: those of threads that have ended are given
// back.
void iterate_and_search(std::uint64_t seed, std::size_t steps,
                        const std::function<void(bool have_ended)>& search) {
  std::barrier parked(3);
  const auto park = [&] {
    parked.arrive_and_wait();
    parked.arrive_and_wait();
  };
  std::thread parties([&] {
    run_sessions([&](Session& outer) {
      bool has_reached = false;
      try {
        run_and_note(outer, seed, steps, {}, {}, [&] { has_reached = true, park(); });
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
        if (!has_reached) park();
      }
      park();
    });
  });
  for (const bool have_ended : {false, true}) {
    parked.arrive_and_wait();
    search(have_ended);
    parked.arrive_and_wait();
  }
  parties.join();
}

// After each step no memory has what it used, and when the roles have ended, none of their secrets.
TEST(SilentMemory, IsWiped) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer maps terabytes";
#endif
  constexpr std::uint64_t kSecretSeed = 0x5EC2E7;  // of no other generator
  std::vector<MaskedSecret> secrets;
  for (const std::string kind : kKindsOfSecrets) {
    auto of_kind = made_elsewhere(kind, sizeof(Block), [&] {
      std::mutex mutex;
      Bytes all;
      const Note note = [&](std::string_view noted, std::span<const Block> blocks) {
        const std::lock_guard lock(mutex);
        const auto* bytes = reinterpret_cast<const unsigned char*>(blocks.data());
        if (noted == kind) all.insert(all.end(), bytes, bytes + blocks.size_bytes());
      };
      Messages sent;
      run_sessions([&](Session& outer) { run_and_note(outer, kSecretSeed, 5, sent, note, [] {}); },
                   {.wrap_a = recording(sent)});
      return all;
    });
    std::ranges::move(of_kind, std::back_inserter(secrets));
  }
  EXPECT_EQ(secrets.size(), 2u + 1 + kNoted + 3 + 6 * kNoted);
  // What a step has only on its way.
  std::vector<MaskedSecret> of_steps;
  for (const MaskedSecret& secret : secrets)
    if (secret.name == "key of the roots" || secret.name == "noise in psi" ||
        secret.name == "psi.Delta")
      of_steps.push_back(secret);
  EXPECT_EQ(of_steps.size(), 3u);
  // With other secrets first: when a function is first called, the dynamic linker saves registers.
  for (std::size_t steps = 0; steps <= 5; ++steps)
    iterate_and_search(kSecretSeed + 1, steps,
                       [&](bool) { EXPECT_TRUE(places_of(of_steps).empty()); });
  for (std::size_t steps = 0; steps <= 5; ++steps)
    iterate_and_search(kSecretSeed, steps, [&](bool have_ended) {
      for (const std::string& place : places_of(have_ended ? secrets : of_steps))
        ADD_FAILURE() << place << ", after step " << steps;
    });
}

}  // namespace
}  // namespace tinyot
