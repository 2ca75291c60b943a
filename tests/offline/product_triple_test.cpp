// Triples from dealt aANDs, aOTs and aBits: honest runs, and one wrong revealed message at a time.
#include "offline/nnob12/product_triple.h"

#include <bit>
#include <map>

#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/ideal_dealer.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kChunkSizes[] = {1, 63, 64, 65, 1000};

// The same number of objects of each kind.
ProductMaterial deal(IdealDealer& dealer, Party me, std::size_t count) {
  const Party peer = peer_of(me);
  ProductMaterial material;
  material.my_and = dealer.draw(material::auth_ands_of(me), count);
  material.peers_and = dealer.draw(material::auth_ands_of(peer), count);
  material.sent = dealer.draw(material::auth_ots_from(me), count);
  material.chosen = dealer.draw(material::auth_ots_from(peer), count);
  material.my_bit = dealer.draw(material::auth_bits_of(me), count);
  material.peers_bit = dealer.draw(material::auth_bits_of(peer), count);
  return material;
}

struct ProductMade {
  std::vector<material::Batch> of[2];
  bool settled[2] = {};
  Outcomes outcomes;
};

ProductMade make(const std::vector<std::size_t>& chunks, std::size_t ahead, std::uint64_t seed,
                 const PartyOptions& options) {
  ProductMade made;
  made.outcomes = run_sessions(
      [&](Session& session) {
        const auto me = static_cast<int>(session.me());
        IdealDealer dealer(session.me(), seed, global_key_of(Party::A, seed),
                           global_key_of(Party::B, seed));
        ProductTriples products(session, AndMaterial::Triples);
        run_pipeline(
            chunks, ahead,
            [&](std::size_t count) { products.reveal_first(deal(dealer, session.me(), count)); },
            [&](std::size_t) { products.reveal_second(); },
            [&](std::size_t) { made.of[me].push_back(products.finish()); });
        settle_transcripts(session);
        made.settled[me] = true;
      },
      options, false);
  return made;
}

ProductMade make(const std::vector<std::size_t>& chunks, std::size_t ahead = 1,
                 std::uint64_t seed = 1) {
  return make(chunks, ahead, seed, {.seed = seed});
}

void expect_good(const ProductMade& made, const std::vector<std::size_t>& chunks,
                 std::uint64_t seed) {
  ASSERT_TRUE(both_done(made.outcomes));
  for (const auto& batches : made.of) ASSERT_EQ(batches.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(made.of[0][i].kind, MaterialKind::Triples);
    EXPECT_EQ(made.of[0][i].count, chunks[i]);
    test::expect_good(made.of[0][i], made.of[1][i], global_key_of(Party::A, seed),
                      global_key_of(Party::B, seed));
  }
}

TEST(ProductTriple, OneChunkOfAnySizeIsCorrect) {
  for (const std::size_t size : kChunkSizes) expect_good(make({size}, 0, size), {size}, size);
}

TEST(ProductTriple, OverlappingChunksAreCorrect) {
  const std::vector<std::size_t> growing(std::begin(kChunkSizes), std::end(kChunkSizes)),
      falling(growing.rbegin(), growing.rend());
  for (const auto& chunks : {growing, falling, std::vector<std::size_t>(7, 65)})
    for (const std::size_t ahead : {0u, 1u, 2u, 9u})
      expect_good(make(chunks, ahead, ahead), chunks, ahead);
}

// a and b are taken from the aAND: only c is computed.
TEST(ProductTriple, FactorsAreThoseOfTheAnds) {
  const ProductMade made = make({1000});
  ASSERT_TRUE(both_done(made.outcomes));
  for (const Party party : {Party::A, Party::B}) {
    IdealDealer dealer(party, 1, global_key_of(Party::A, 1), global_key_of(Party::B, 1));
    const material::Batch ands = dealer.draw(material::auth_ands_of(party), 1000);
    for (const std::size_t column : {0u, 1u})
      for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(made.of[static_cast<int>(party)][0].shares[column].bits[i],
                  ands.mine[column].bits[i])
            << i;
  }
}

TEST(ProductTriple, SharesOfTheProductAreBalanced) {
  const ProductMade made = make({4096});
  expect_good(made, {4096}, 1);
  for (const auto& batches : made.of) {
    for (std::size_t first = 0; first < 4096; first += 512) {
      int ones = 0;
      for (std::size_t i = first; i < first + 512; ++i) ones += batches[0].shares[2].bits[i];
      EXPECT_LT(std::abs(ones - 256), 6 * 12) << first;
    }
  }
}

// Revealed bits are masked: no message depends on the masked bits.
TEST(ProductTriple, RevealedBitsAreBalanced) {
  std::map<std::string, std::vector<std::byte>> sent;
  make({4096}, 0, 1,
       options_with(Party::A, 1,
                    [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                      sent[std::string(tag)] = payload;
                    }));
  for (const char* tag : {"product.dh", "product.e"}) {
    const std::vector<std::byte>& payload = sent[tag];
    ASSERT_EQ(payload.size() % 512, 0u);
    ASSERT_GT(payload.size(), 0u);
    for (std::size_t first = 0; first < payload.size(); first += 512) {
      int ones = 0;
      for (std::size_t i = first; i < first + 512; ++i)
        ones += std::popcount(static_cast<unsigned>(payload[i]));
      EXPECT_LT(std::abs(ones - 2048), 6 * 32) << tag << " from byte " << first;
    }
  }
}

TEST(ProductTriple, DetectsWrongRevealedBit) {
  constexpr std::size_t kCount = 65;
  struct Wrong {
    const char* tag;
    std::size_t bit;
  };
  // The first and the last bit of d, h and e.
  constexpr Wrong kWrong[] = {{"product.dh", 0},          {"product.dh", kCount - 1},
                              {"product.dh", kCount},     {"product.dh", 2 * kCount - 1},
                              {"product.dh", kCount / 2}, {"product.dh", 3 * kCount / 2},
                              {"product.e", 0},           {"product.e", kCount - 1}};
  for (const Wrong& wrong : kWrong) {
    for (const Party cheater : {Party::A, Party::B}) {
      for (const std::size_t chunk : {0u, 2u}) {
        SCOPED_TRACE(std::string(wrong.tag) + ", bit " + std::to_string(wrong.bit) + " of chunk " +
                     std::to_string(chunk) + " by " + letter(cheater));
        const Party honest = peer_of(cheater);
        const ProductMade made =
            make({kCount, kCount, kCount}, 1, 1,
                 options_with(cheater, 1, flip_bit(wrong.tag, chunk, wrong.bit)));
        EXPECT_TRUE(caught_by(of(made.outcomes, honest), "MAC transcript"));
        EXPECT_FALSE(made.settled[static_cast<int>(honest)]);
        EXPECT_EQ(made.of[static_cast<int>(honest)].size(), 3u)
            << "detected only when the transcripts are settled";
      }
    }
  }
}

TEST(ProductTriple, DetectsMessageWithAllBitsWrong) {
  for (const std::string tag : {"product.dh", "product.e"}) {
    for (const Party cheater : {Party::A, Party::B}) {
      const auto invert = [&](std::string_view name, std::size_t, std::vector<std::byte>& payload) {
        for (std::byte& byte : payload)
          if (name == tag) byte = ~byte;
      };
      EXPECT_TRUE(caught_by(
          of(make({64}, 1, 1, options_with(cheater, 1, invert)).outcomes, peer_of(cheater)),
          "MAC transcript"))
          << tag;
    }
  }
}

TEST(ProductTriple, RejectsPaddingBits) {
  for (const auto& [tag, bit] : {std::pair{"product.dh", 2 * 65}, {"product.e", 65}}) {
    for (const Party cheater : {Party::A, Party::B}) {
      const ProductMade made = make(
          {65}, 1, 1, options_with(cheater, 1, flip_bit(tag, 0, static_cast<std::size_t>(bit))));
      EXPECT_EQ(of(made.outcomes, peer_of(cheater)).kind, Outcome::Kind::PeerCheated) << tag;
    }
  }
}

TEST(ProductTriple, MatchesTheDocumentedCost) {
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{1000}}) {
    const std::size_t bytes_of_first = (2 * count + 7) / 8, bytes_of_second = (count + 7) / 8;
    run_sessions([&](Session& session) {
      IdealDealer dealer(session.me(), 1, global_key_of(Party::A, 1), global_key_of(Party::B, 1));
      ProductTriples products(session, AndMaterial::Triples);
      const ChannelCounters& counters = session.channel().counters();
      const ChannelCounters before = counters;
      products.reveal_first(deal(dealer, session.me(), count));
      EXPECT_EQ(counters.bytes_sent - before.bytes_sent, 16 + bytes_of_first);
      EXPECT_EQ(counters.bytes_received, before.bytes_received);
      products.reveal_second();
      EXPECT_EQ(counters.bytes_sent - before.bytes_sent, 32 + bytes_of_first + bytes_of_second);
      EXPECT_EQ(counters.bytes_received - before.bytes_received, 16 + bytes_of_first);
      products.finish();
      EXPECT_EQ(counters.bytes_sent - before.bytes_sent, 32 + bytes_of_first + bytes_of_second);
      EXPECT_EQ(counters.bytes_received - before.bytes_received,
                32 + bytes_of_first + bytes_of_second);
      EXPECT_EQ(counters.messages_sent - before.messages_sent, 2u);
      EXPECT_EQ(counters.rounds - before.rounds, 2u);
      settle_transcripts(session);
    });
  }
}

}  // namespace
}  // namespace tinyot
