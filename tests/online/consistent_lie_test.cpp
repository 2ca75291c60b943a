// Lies that only the MAC of the bit itself detects: the cheater continues consistently with its
// lie. They are tried at every position of a layer where the blocks are computed in a different
// step, chunk, tile or flight.
//
// With pairs, a party that sends a wrong f (g) and continues with it in effect has another u (v).
// The honest party's results for a wrong d, h or e are consistent without a further change: it
// shares another product. With triples both parties use the opened d and e.
#include <gtest/gtest.h>

#include "online/windowed_exchange.h"
#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// One bit of the cheater's own material.
struct LiedBit {
  MaterialKind kind;
  std::size_t column;
  std::uint64_t object;
};

// The ideal dealer's material, with one bit flipped and its MAC as it was.
class LyingDealer : public material::Source {
 public:
  LyingDealer(const Session& session, const LiedBit& lied)
      : dealer_(dealer_of(session, 1)), lied_(lied) {}

  material::Batch draw(MaterialKind kind, std::size_t count) override {
    material::Batch batch = dealer_.draw(kind, count);
    const std::uint64_t first = dealer_.dealt[kind] - count;
    if (kind == lied_.kind && first <= lied_.object && lied_.object < first + count) {
      BitVector& bits = kind == MaterialKind::Triples ? batch.shares[lied_.column].bits
                                                      : batch.mine[lied_.column].bits;
      bits.put(lied_.object - first, !bits[lied_.object - first]);
    }
    return batch;
  }

 private:
  IdealDealer dealer_;
  LiedBit lied_;
};

void expect_lie_caught(const OnlineJob& job, Party cheater, const LiedBit& lied) {
  SCOPED_TRACE(letter(cheater) + (" lies about column " + std::to_string(lied.column)) + " of " +
               std::string(name_of(lied.kind)) + " number " + std::to_string(lied.object));
  bool has_output = false;
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        if (session.me() == cheater) {
          LyingDealer dealer(session, lied);
          run_party(session, dealer, job);
        } else {
          IdealDealer dealer = dealer_of(session, 1);
          run_party(session, dealer, job);
          has_output = true;
        }
      },
      {}, false);
  const Outcome& honest = cheater == Party::A ? outcomes.b : outcomes.a;
  EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << honest.message;
  EXPECT_EQ(honest.check, "MAC transcript");
  EXPECT_FALSE(has_output);
}

// Each bit of one entry of the first layer, in a flight of `n` entries after `first` earlier ones.
void expect_every_letter_caught(const OnlineJob& job, Party cheater, std::size_t entry,
                                std::size_t first, std::size_t n) {
  SCOPED_TRACE("entry " + std::to_string(entry) + " of " + letter(cheater));
  const std::size_t flight = first / WindowedExchange::kEntries, at = entry - first;
  if (job.form == AndMaterial::Triples) {
    for (const std::size_t segment : {0, 1})
      expect_caught(job, cheater, flipping_both_ways("and.de", {segment * n + at}, flight),
                    "MAC transcript");
    return;
  }
  for (const std::size_t column : {0, 1})
    expect_lie_caught(job, cheater, {material::auth_ands_of(cheater), column, entry});
  const auto flip_caught = [&](const char* tag, std::size_t bit) {
    expect_change_caught(
        job, cheater, tag, flight, [=](std::vector<std::byte>& payload) { flip(payload, bit); },
        "MAC transcript");
  };
  for (const std::size_t segment : {2, 3}) flip_caught("and.fgdh", segment * n + at);
  flip_caught("and.e", at);
}

class ConsistentLie : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, ConsistentLie,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

// `lane` ANDs per lane and `invariant` invariant ones, on which only one output bit depends.
ListedCircuit one_layer(std::size_t lane, std::size_t invariant) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
  const auto s = circuit.input(Party::A, 1, true), t = circuit.input(Party::B, 1, true);
  WireId z = circuit.and_of(x[0], y[0]);
  for (std::size_t i = 1; i < lane; ++i) circuit.and_of(x[0], y[0]);
  for (std::size_t i = 0; i < invariant; ++i) circuit.and_of(s[0], t[0]);
  circuit.output(Receiver::Both, {z});
  return circuit;
}

// Tiles of 64 lanes and of 6; the first tile and the invariant ANDs have steps of 256 entries in
// chunks of 512.
TEST_P(ConsistentLie, IsDetectedInAnyStepOfALayer) {
  constexpr std::size_t kLanes = 70, kLane = 20, kInvariant = 600,
                        kEntries = kLane * kLanes + kInvariant;
  const ListedCircuit circuit = one_layer(kLane, kInvariant);
  Rng rng(Seed{{15, 1}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineJob job{circuit, kLanes, inputs, GetParam()};
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t entry : {0,    1,    63,   64,   255,  256,  511,  512,  767,  768, 1023,
                                    1024, 1279, 1280, 1399, 1400, 1655, 1656, 1911, 1912, 1999})
      expect_every_letter_caught(job, cheater, entry, 0, kEntries);
}

TEST_P(ConsistentLie, IsDetectedInAnyFlightOfALayer) {
  constexpr std::size_t kLanes = 22'000, kEntries = 3 * kLanes + 1;
  const ListedCircuit circuit = one_layer(3, 1);
  Rng rng(Seed{{15, 2}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineJob job{circuit, kLanes, inputs, GetParam()};
  expect_every_letter_caught(job, Party::A, WindowedExchange::kEntries - 1, 0,
                             WindowedExchange::kEntries);
  expect_every_letter_caught(job, Party::B, WindowedExchange::kEntries, WindowedExchange::kEntries,
                             kEntries - WindowedExchange::kEntries);
  expect_every_letter_caught(job, Party::A, kEntries - 1, WindowedExchange::kEntries,
                             kEntries - WindowedExchange::kEntries);
}

// Any bit of any material, where it or a bit that depends on it is opened.
TEST_P(ConsistentLie, IsDetectedForAnyMaterial) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::Both,
                 {circuit.and_of(circuit.and_of(x[0], y[0]), circuit.xor_of(x[0], y[0]))});
  constexpr std::size_t kLanes = 3;
  Rng rng(Seed{{15, 3}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineJob job{circuit, kLanes, inputs, GetParam()};
  const MaterialCounts counts =
      material_for(circuit.info(), cost_of(circuit).ands_of(kLanes), GetParam(), kLanes);
  std::size_t lies = 0;
  for (const Party cheater : {Party::A, Party::B}) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      const material::Shape shape = material::shape_of(kind, cheater);
      for (std::size_t column = 0; column < shape.mine + shape.shares; ++column)
        for (std::uint64_t object = 0; object < counts[kind]; ++object, ++lies)
          expect_lie_caught(job, cheater, {kind, column, object});
    }
  }
  EXPECT_EQ(lies,
            GetParam() == AndMaterial::AandAot ? 2u * (6 * (3 + 2 + 2 + 1) + 3) : 2u * (6 * 3 + 3));
}

}  // namespace
}  // namespace tinyot
