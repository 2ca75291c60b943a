// Bit triples on dealt bits: honest runs, and one wrong message at a time.
#include "offline/wan/bit_triple.h"

#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct BitTriples {
  BitVector truth[2][2];  // of x and y, by party
  TripleLayer of[2];
};

BitTriples make_bit_triples(std::uint64_t seed, std::size_t count, std::size_t ahead = 1,
                            Party cheater = Party::A, const Deviation& deviation = no_deviation) {
  BitTriples made;
  const auto body = [&](Session& session) {
    const auto me = static_cast<int>(session.me());
    TripleLayer& layer = made.of[me] = dealt_layer(session.me(), count, seed);
    for (std::size_t i = 0; i < 2; ++i)
      (made.truth[me][i] = BitVector(count))
          .copy_from((i == 0 ? layer.x : layer.y).mine.bits, 0, 0, count);
    BitProducts products(session);
    run_pipeline(
        object_chunks(count), ahead,
        [&](const ObjectChunk& chunk) {
          products.offer(0, chunk, layer.x.view().part(chunk), layer.y.view().part(chunk),
                         layer.z.view().part(chunk));
        },
        [&](const ObjectChunk&) { products.announce(); },
        [&](const ObjectChunk& chunk) {
          become_products(layer.z.view().part(chunk), products.finish(), 0, session.global_key());
        });
  };
  run_sessions([&](Session& outer) { with_key_for_triples(outer, seed, body); },
               options_with(cheater, seed, deviation));
  return made;
}

TEST(BitTriple, HonestRunsGiveProducts) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                  kChunkObjects, kChunkObjects + 1, 3 * kChunkObjects}) {
    const BitTriples made = make_bit_triples(count, count, count % 3);
    expect_products(made.of[0], made.of[1], count);
    for (const int party : {0, 1})
      for (std::size_t j = 0; j < count; ++j) {
        ASSERT_EQ(made.of[party].x.mine.bits[j], made.truth[party][0][j]);
        ASSERT_EQ(made.of[party].y.mine.bits[j], made.truth[party][1][j]);
      }
  }
}

TEST(BitTriple, SharesOfZAreBalanced) {
  const BitTriples made = make_bit_triples(1, 4096);
  for (const int party : {0, 1}) {
    int ones = 0;
    for (std::size_t j = 0; j < 4096; ++j) ones += made.of[party].z.mine.bits[j];
    EXPECT_LT(std::abs(ones - 2048), 6 * 32) << party;
  }
}

// z = xy ^ e' ^ e.x for the honest party's x, whatever its y is. The cheater's own share of z is
// what it has announced.
TEST(BitTriple, DeviationsAddTwoBitsToZ) {
  constexpr std::size_t kCount = 256;
  for (const Party cheater : {Party::A, Party::B})
    for (const auto& [e, e2] : {std::pair{true, false}, {true, true}, {false, true}}) {
      const BitTriples made =
          make_bit_triples(1, kCount, 1, cheater,
                           [in_g = e, in_d = e2](std::string_view tag, std::size_t,
                                                 std::vector<std::byte>& payload) {
                             if ((tag == "bit_triple.g" && in_g) || (tag == "bit_triple.d" && in_d))
                               for (std::byte& byte : payload) byte ^= std::byte{0xFF};
                           });
      const auto opened = [&](const SharedColumn TripleLayer::*column, std::size_t i) {
        return (made.of[0].*column).mine.bits[i] ^ (made.of[1].*column).mine.bits[i];
      };
      const BitVector& guessed = made.truth[static_cast<int>(peer_of(cheater))][0];
      for (std::size_t i = 0; i < kCount; ++i)
        ASSERT_EQ(opened(&TripleLayer::z, i) ^ e2,
                  (opened(&TripleLayer::x, i) & opened(&TripleLayer::y, i)) ^ e2 ^ (e & guessed[i]))
            << i;
    }
}

// h of one block, from its definition.
bool h_of(const TweakHash& hash, std::size_t i, Block block) {
  hash(HashUse::BitProduct, i, {&block, 1}, {&block, 1});
  return (block.lo & 1) != 0;
}

// Every G and every z of the formulas, across words and chunks.
TEST(BitTriple, EveryObjectMatchesTheFormulas) {
  constexpr std::size_t kCount = kChunkObjects + 200;
  constexpr std::uint64_t kBatch = 2;
  Messages sent[2];
  TripleLayer layers[2];
  SessionId id;
  run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          if (session.me() == Party::A) id = session.id();
          TripleLayer& layer = layers[static_cast<int>(session.me())];
          layer = dealt_layer(session.me(), kCount, 1);
          BitProducts products(session);
          for (const ObjectChunk& chunk : object_chunks(kCount)) {
            products.offer(kBatch, chunk, layer.x.view().part(chunk), layer.y.view().part(chunk),
                           layer.z.view().part(chunk));
            products.announce();
            products.finish();
          }
        });
      },
      {.wrap_a = recording(sent[0]), .wrap_b = recording(sent[1])});
  const auto sent_bit = [&](int party, const char* tag, const ObjectChunk& chunk, std::size_t i) {
    return ((payload_of(sent[party], tag, chunk.number).at(i / 8) >> (i % 8)) & std::byte{1}) !=
           std::byte{0};
  };
  for (const int p : {0, 1}) {
    const int q = 1 - p;
    const Party me = static_cast<Party>(p);
    const Delta delta = key_for_triples(me, 1);
    const TripleLayer& mine = layers[p];
    for (const ObjectChunk& chunk : object_chunks(kCount)) {
      const std::uint64_t counter = (kBatch << 32) | chunk.number;
      const TweakHash of_peers(id, {"BitProduct", letter(peer_of(me)), counter}),
          of_mine(id, {"BitProduct", letter(me), counter});
      for (std::size_t i = 0; i < chunk.count; ++i) {
        const std::size_t at = chunk.first + i;
        const Key key = mine.x.peers.keys[at];
        const bool x = mine.x.mine.bits[at], y = mine.y.mine.bits[at], r = mine.z.mine.bits[at];
        const bool of_key = h_of(of_peers, i, key.value);
        const bool g = of_key ^ h_of(of_peers, i, key.value ^ delta.value) ^ y;
        ASSERT_EQ(sent_bit(p, "bit_triple.g", chunk, i), g) << p << ", " << at;
        const bool z = (x & y) ^ h_of(of_mine, i, mine.x.mine.macs[at].value) ^
                       (x & sent_bit(q, "bit_triple.g", chunk, i)) ^ of_key;
        ASSERT_EQ(sent_bit(p, "bit_triple.d", chunk, i), z ^ r) << p << ", " << at;
      }
    }
  }
}

// The same bits in another set or chunk of a session give other G, and those of the two parties
// have different keys.
TEST(BitTriple, SetsAndChunksHaveTheirOwnHashKeys) {
  Messages sent;
  run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          TripleLayer layer = dealt_layer(session.me(), 128, 1);
          BitProducts products(session);
          const std::pair<std::uint64_t, std::size_t> of[] = {{0, 0}, {0, 0}, {1, 0}, {0, 1}};
          for (const auto& [set, number] : of)
            products.offer(set, {0, 128, number}, layer.x.view(), layer.y.view(), layer.z.view());
          for (std::size_t i = 0; i < std::size(of); ++i) products.announce();
        });
      },
      {.wrap_a = recording(sent)});
  const auto g = [&](std::size_t i) { return payload_of(sent, "bit_triple.g", i); };
  EXPECT_EQ(g(0), g(1));
  EXPECT_NE(g(0), g(2));
  EXPECT_NE(g(0), g(3));
  EXPECT_NE(g(2), g(3));
}

// Keys of both directions that are equal give different G.
TEST(BitTriple, DirectionsHaveTheirOwnHashKeys) {
  Messages of_a, of_b;
  run_sessions(
      [&](Session& outer) {
        PhaseLog log;
        Session session(outer.me(), {outer.id(), outer.id()}, Delta{{3, 4}}, outer.channel(),
                        outer.rng().fork(), log);
        TripleLayer layer{SharedColumn(128), SharedColumn(128), SharedColumn(128)};
        Rng(Seed{{1, 2}}).fill_blocks(std::span(layer.x.peers.keys));
        BitProducts products(session);
        products.offer(0, {0, 128}, layer.x.view(), layer.y.view(), layer.z.view());
        products.announce();
      },
      {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  EXPECT_NE(payload_of(of_a, "bit_triple.g"), payload_of(of_b, "bit_triple.g"));
}

TEST(BitTriple, MatchesTheDocumentedCost) {
  Messages sent;
  make_bit_triples(1, kChunkObjects + 128, 1, Party::A,
                   [&](std::string_view tag, std::size_t i, std::vector<std::byte>& payload) {
                     sent.push_back({std::string(tag), i, payload});
                   });
  for (const char* tag : {"bit_triple.g", "bit_triple.d"}) {
    EXPECT_EQ(payload_of(sent, tag, 0).size(), kChunkObjects / 8);
    EXPECT_EQ(payload_of(sent, tag, 1).size(), 16u);
    EXPECT_EQ(bytes_of(sent, tag), (kChunkObjects + 128) / 8);
  }
}

}  // namespace
}  // namespace tinyot
