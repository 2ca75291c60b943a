// GGM trees and SoftSpokenOT: honest runs, and one wrong message at a time.
#include "offline/softspoken/softspoken.h"

#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kBits = 640;

// The batches of `bits` bits, and where each begins.
struct PlacedBatch {
  BitBatch batch;
  std::size_t first;
};
std::vector<PlacedBatch> batches_of(std::size_t bits) {
  std::vector<PlacedBatch> batches;
  for (std::size_t first = 0; first < bits; first += kBatchBits)
    batches.push_back({{batches.size(), std::min(kBatchBits, bits - first)}, first});
  return batches;
}

// A batch's part of all bits, cut in three.
template <class View>
std::vector<View> in_three(View all, std::size_t size, auto part) {
  const std::size_t third = size / 3 / 64 * 64;
  return {part(all, 0, third), part(all, third, third), part(all, 2 * third, size - 2 * third)};
}

struct Bits {
  MacColumn mine[2];
  KeyColumn peers[2];
  Trees trees[2];
  Outcomes outcomes;
};

// Both directions, each step `ahead` batches after the previous one.
Bits make(std::uint32_t k, std::size_t bits, Party cheater = Party::A, std::uint64_t seed = 1,
          const Deviation& deviation = no_deviation, std::size_t ahead = 1) {
  Bits made;
  made.outcomes = run_sessions(
      [&](Session& session) {
        const auto me = static_cast<int>(session.me());
        made.trees[me] = make_trees(session, k);
        MacColumn& mine = made.mine[me] = MacColumn(bits);
        KeyColumn& peers = made.peers[me] = KeyColumn(bits);
        SoftSpokenMacHolder holder(session, made.trees[me].mine, 3);
        SoftSpokenKeyHolder checker(session, made.trees[me].peers, 3);
        const auto mine_of = [&](const PlacedBatch& placed) {
          return in_three(mine.view(placed.first, placed.batch.bits), placed.batch.bits,
                          [](MacColumnView all, std::size_t first, std::size_t count) {
                            return all.part(first, count);
                          });
        };
        run_pipeline(
            batches_of(bits), ahead,
            [&](const PlacedBatch& placed) {
              holder.send_corrections(placed.batch, mine_of(placed));
            },
            [&](const PlacedBatch& placed) {
              checker.receive_corrections(
                  placed.batch,
                  in_three(peers.view(placed.first, placed.batch.bits), placed.batch.bits,
                           [](KeyColumnView all, std::size_t first, std::size_t count) {
                             return all.subspan(first, count);
                           }));
            },
            [&](const PlacedBatch& placed) { holder.answer(placed.batch, mine_of(placed)); },
            [&](const PlacedBatch& placed) { checker.verify(placed.batch); });
      },
      options_with(cheater, seed, deviation), false);
  return made;
}

void expect_good(const Bits& made, std::uint64_t seed = 1) {
  ASSERT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
  ASSERT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
  checked_bits(made.mine[0], made.peers[1], global_key_of(Party::B, seed));
  checked_bits(made.mine[1], made.peers[0], global_key_of(Party::A, seed));
}

bool delta_bit(Party holder, std::uint64_t seed, std::size_t bit) {
  return bit_of(global_key_of(holder, seed).value, bit);
}

TEST(GgmTrees, KeyHolderHasAllLeavesExceptTheOneAtDelta) {
  for (const std::uint32_t k : {1u, 2u, 4u}) {
    const Bits made = make(k, 128);
    expect_good(made);
    for (const int holder : {0, 1}) {
      const FullTrees& full = made.trees[1 - holder].mine;
      const PuncturedTrees& punctured = made.trees[holder].peers;
      EXPECT_TRUE(punctured.consistent);
      ASSERT_EQ(full.leaves.size(), full.shape.trees() * full.shape.leaves());
      for (std::size_t tree = 0; tree < full.shape.trees(); ++tree) {
        std::size_t path = 0;
        for (std::uint32_t b = 0; b < k; ++b)
          path |= std::size_t{delta_bit(static_cast<Party>(holder), 1, tree * k + b)} << b;
        const auto leaf = [&](const SecretVector<Seed>& leaves, std::size_t x) {
          return leaves[tree * full.shape.leaves() + x].value;
        };
        EXPECT_TRUE(same(leaf(punctured.leaves, 0), {0, 0}));
        for (std::size_t y = 1; y < full.shape.leaves(); ++y)
          EXPECT_TRUE(same(leaf(punctured.leaves, y), leaf(full.leaves, y ^ path)))
              << tree << ", " << y;
        for (std::size_t x = 1; x < full.shape.leaves(); ++x)
          EXPECT_FALSE(same(leaf(full.leaves, x), leaf(full.leaves, x - 1)));
      }
    }
  }
}

TEST(SoftSpoken, BitsAreCorrectAtBatchEdges) {
  for (const std::uint32_t k : {1u, 2u, 4u})
    for (const std::size_t bits : {std::size_t{128}, std::size_t{1024}, kBatchBits - 128,
                                   kBatchBits, kBatchBits + 128, 3 * kBatchBits})
      expect_good(make(k, bits));
}

TEST(SoftSpoken, BitsAreCorrectForAnyStepDistance) {
  for (const std::size_t ahead : {0u, 1u, 2u, 5u})
    expect_good(make(2, 9 * kBatchBits + 128, Party::A, 1, no_deviation, ahead));
}

TEST(SoftSpoken, BitsMacsAndKeysAreBalancedInEveryWindow) {
  const Bits made = make(2, kBatchBits + 1280);
  for (const int party : {0, 1}) {
    for (std::size_t first = 0; first + 256 <= made.mine[party].size(); first += 256) {
      std::size_t ones = 0, mac_ones = 0, key_ones = 0;
      for (std::size_t j = first; j < first + 256; ++j) {
        ones += made.mine[party].bits[j];
        mac_ones += static_cast<std::size_t>(std::popcount(made.mine[party].macs[j].value.lo) +
                                             std::popcount(made.mine[party].macs[j].value.hi));
        key_ones += static_cast<std::size_t>(std::popcount(made.peers[party].keys[j].value.lo) +
                                             std::popcount(made.peers[party].keys[j].value.hi));
      }
      EXPECT_LT(std::abs(static_cast<double>(ones) - 128), 6 * 8) << first;
      EXPECT_LT(std::abs(static_cast<double>(mac_ones) - 128 * 128), 6 * 90.5) << first;
      EXPECT_LT(std::abs(static_cast<double>(key_ones) - 128 * 128), 6 * 90.5) << first;
    }
  }
}

TEST(SoftSpoken, PartsOfASessionMakeDifferentBits) {
  MacColumn of[2] = {MacColumn(128), MacColumn(128)};
  run_sessions([&](Session& session) {
    const Trees trees = make_trees(session, 2);
    for (const std::uint64_t domain : {0u, 1u}) {
      Session part(session, "unit", domain, session.channel(), session.log());
      MacColumn mine(128);
      KeyColumn peers(128);
      SoftSpokenMacHolder holder(part, trees.mine, domain);
      SoftSpokenKeyHolder checker(part, trees.peers, domain);
      const BitBatch batch{0, 128};
      holder.send_corrections(batch, {{mine.view()}});
      checker.receive_corrections(batch, {{peers.view()}});
      holder.answer(batch, {{mine.view()}});
      checker.verify(batch);
      if (session.me() == Party::A) of[domain] = std::move(mine);
    }
  });
  EXPECT_FALSE(same(of[0].macs[0].value, of[1].macs[0].value));
  EXPECT_NE(of[0].bits.words()[0], of[1].bits.words()[0]);
}

// Corrections of tree i with another x in one bit: no effect on a key holder with Delta_i = 0; any
// other key holder detects it. So the attack is a guess of k bits of Delta.
TEST(SoftSpoken, CorrectionsUnderAnotherXAreAGuessOfTheKey) {
  for (const std::uint32_t k : {1u, 2u}) {
    constexpr std::size_t kRuns = repetitions(40);
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t tree = 1 + seed * 5 % (kKappa / k - 1), row_bits = kBits + 128;
      const Bits made =
          make(k, kBits, Party::A, seed,
               flip_bit("softspoken.corrections", 0, (tree - 1) * row_bits + seed % kBits));
      bool zero = true;
      for (std::uint32_t b = 0; b < k; ++b) zero &= !delta_bit(Party::B, seed, tree * k + b);
      const bool was_caught = caught_by(made.outcomes.b, "SoftSpoken check");
      EXPECT_EQ(was_caught, !zero) << seed;
      caught += was_caught;
      if (!was_caught) checked_bits(made.mine[0], made.peers[1], global_key_of(Party::B, seed));
    }
    const double n = kRuns, expected = n * (1 - std::pow(0.5, k));
    EXPECT_LT(std::abs(static_cast<double>(caught) - expected), 5 * std::sqrt(n / 4)) << k;
  }
}

TEST(SoftSpoken, AlwaysDetectsWrongCorrectionsInAllTrees) {
  for (const Party cheater : {Party::A, Party::B}) {
    const Bits made = make(2, kBits, cheater, 1,
                           [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                             if (tag != "softspoken.corrections") return;
                             for (std::size_t at = 0; at < payload.size(); at += (kBits + 128) / 8)
                               payload[at] ^= std::byte{1};
                           });
    EXPECT_TRUE(caught_by(of(made.outcomes, peer_of(cheater)), "SoftSpoken check"));
  }
}

TEST(SoftSpoken, DetectsWrongAnswerExceptForGuessesOfTheKey) {
  // A wrong V~_r is always detected; a wrong u~ is detected unless Delta is zero.
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t block : {0u, 1u, 64u, 128u})
      for (const std::size_t bit : {0u, 17u, 127u})
        EXPECT_TRUE(caught_by(
            of(make(2, kBits, cheater, 1, flip_bit("softspoken.answer", 0, 128 * block + bit))
                   .outcomes,
               peer_of(cheater)),
            "SoftSpoken check"))
            << block << ", " << bit;
}

TEST(SoftSpoken, AlteredChallengeFailsAtTheKeyHolder) {
  const Bits made = make(2, kBits, Party::B, 1, flip_bit("softspoken.challenge", 0, 3));
  EXPECT_TRUE(caught_by(made.outcomes.b, "SoftSpoken check"));
}

// A tree that differs from its check is detected only with the check of the first batch, under the
// same name.
TEST(GgmTrees, DetectsWrongTreeWithTheFirstBatch) {
  for (const Party cheater : {Party::A, Party::B}) {
    for (const char* tag : {"ggm.sums", "ggm.check"}) {
      bool challenged = false;
      const Bits made =
          make(2, kBits, cheater, 1,
               [&](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
                 if (sent == "softspoken.answer") challenged = true;
                 if (sent != tag) return;
                 // Both sums of a level, or the digest, of every tree: no guess succeeds.
                 for (std::byte& byte : payload) byte ^= std::byte{1};
               });
      EXPECT_TRUE(challenged) << "the honest party must continue until the check";
      EXPECT_TRUE(caught_by(of(made.outcomes, peer_of(cheater)), "SoftSpoken check")) << tag;
    }
  }
}

// Independent of Delta: the digest covers all leaves. Every byte of it in the first tree or the
// last one, and the first and the last byte in both.
TEST(GgmTrees, ComparesEveryByteOfTheDigest) {
  constexpr std::size_t kCheckBytes = 64, kDigestAt = 32, kTrees = 64;
  for (const std::size_t tree : {std::size_t{0}, kTrees - 1}) {
    for (std::size_t byte = kDigestAt; byte < kCheckBytes; ++byte) {
      const bool is_at_an_end = byte == kDigestAt || byte == kCheckBytes - 1;
      if (!is_at_an_end && (byte % 2 == 0) != (tree == 0)) continue;
      const auto alter = flip_bit("ggm.check", 0, 8 * (kCheckBytes * tree + byte) + 7);
      EXPECT_TRUE(caught_by(make(2, 128, Party::A, 1, alter).outcomes.b, "SoftSpoken check"))
          << tree << ", " << byte;
    }
  }
}

// One sum of one level: the key holder uses one of the two, so this is a guess of a bit of Delta.
TEST(GgmTrees, OneWrongSumIsAGuessOfOneBit) {
  constexpr std::size_t kRuns = repetitions(40);
  std::size_t caught = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const std::size_t tree = seed % 64;
    // of the left nodes
    const Bits made = make(2, 128, Party::A, seed, flip_bit("ggm.sums", 0, 256 * tree + 5));
    const bool was_caught = caught_by(made.outcomes.b, "SoftSpoken check");
    // The left sum is used if the path goes right.
    EXPECT_EQ(was_caught, delta_bit(Party::B, seed, 2 * tree)) << seed;
    caught += was_caught;
  }
  expect_half(caught, kRuns);
}

TEST(SoftSpoken, MatchesTheDocumentedCost) {
  for (const std::uint32_t k : {1u, 2u, 4u}) {
    run_sessions([&](Session& session) {
      const auto sent = [&, before = session.channel().counters().bytes_sent] {
        return session.channel().counters().bytes_sent - before;
      };
      const Trees trees = make_trees(session, k);
      const std::size_t n = kKappa / k;
      EXPECT_EQ(sent(), 32 + 96 * kKappa + 32 + 32 * (k - 1) * n + 64 * n);
      const std::uint64_t before = sent();
      const BitBatch batch{0, kBits};
      MacColumn mine(kBits);
      KeyColumn peers(kBits);
      SoftSpokenMacHolder holder(session, trees.mine, 0);
      SoftSpokenKeyHolder checker(session, trees.peers, 0);
      holder.send_corrections(batch, {{mine.view()}});
      EXPECT_EQ(sent() - before, 16 + (n - 1) * (kBits + 128) / 8);
      checker.receive_corrections(batch, {{peers.view()}});
      holder.answer(batch, {{mine.view()}});
      EXPECT_EQ(sent() - before, 16 + (n - 1) * (kBits + 128) / 8 + 16 + 32 + 16 + 129 * 16);
      checker.verify(batch);
    });
  }
}

}  // namespace
}  // namespace tinyot
