// One party cheats in the online phase; the honest one ends with PeerCheated and no output.
#include <gtest/gtest.h>

#include "circuitgen/registry.h"
#include "tests/online/online_run.h"
#include "tests/online/random_circuit.h"
#include "tests/support/cheating_channel.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct Attack {
  const char* tag;
  std::size_t occurrence;
  std::size_t bit;
  MaterialForm form = MaterialForm::Pairs;
};

class OnlineAttack : public testing::TestWithParam<Attack> {
 protected:
  // B cheats if `by_b`, otherwise A.
  static OnlineRun attack(const Deviation& deviation, MaterialForm form, bool by_b) {
    const RandomCircuit circuit(11, 120);
    Rng rng(Seed{{11, 5}});
    PartyOptions options{.seed = 11};
    (by_b ? options.wrap_b : options.wrap_a) = [&](std::unique_ptr<Channel> inner) { return make_cheating_channel(std::move(inner), deviation); };
    const auto inputs = random_inputs(circuit, 7, rng);
    return run_online({circuit, 7, inputs, form}, options, false);
  }
};

TEST_P(OnlineAttack, IsCaughtBeforeAnyOutput) {
  for (const bool by_b : {false, true}) {
    const Attack& attacked = GetParam();
    bool done = false;
    const Deviation flip = flip_bit(attacked.tag, attacked.occurrence, attacked.bit);
    const OnlineRun run = attack(
        [&](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
          done |= tag == attacked.tag && occurrence == attacked.occurrence;
          flip(tag, occurrence, payload);
        },
        attacked.form, by_b);
    ASSERT_TRUE(done) << "the attacked message is never sent";
    const Outcome& honest = by_b ? run.outcomes.a : run.outcomes.b;
    EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << honest.message;
    EXPECT_EQ(honest.check, "MAC transcript");
    EXPECT_TRUE((by_b ? run.a : run.b).outputs.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRevealedBit, OnlineAttack,
                         testing::Values(Attack{"and.fgdh", 0, 0},   // f
                                         Attack{"and.fgdh", 0, 7},   // another lane or gate
                                         Attack{"and.fgdh", 1, 9}, Attack{"and.fgdh", 2, 13}, Attack{"and.e", 0, 0}, Attack{"and.e", 2, 3},
                                         Attack{"and.de", 0, 0, MaterialForm::Triples},  // d
                                         Attack{"and.de", 0, 8, MaterialForm::Triples}, Attack{"and.de", 1, 9, MaterialForm::Triples},
                                         Attack{"and.de", 2, 6, MaterialForm::Triples}, Attack{"output.shares", 0, 3, MaterialForm::Triples},
                                         Attack{"output.shares", 0, 0}, Attack{"output.shares", 0, 20},
                                         Attack{"mac_transcript.digest", 0, 0}, Attack{"mac_transcript.digest", 0, 255}));

TEST(OnlineCheating, EverySegmentOfTheFirstMessage) {
  const auto circuit = find_circuit("aes128");
  Rng rng(Seed{{8, 8}});
  const auto inputs = random_inputs(*circuit, 1, rng);
  for (std::size_t segment = 0; segment < 4; ++segment) {
    PartyOptions options{.seed = 8};
    options.wrap_b = [&](std::unique_ptr<Channel> inner) {
      return make_cheating_channel(std::move(inner), [=](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
        if (tag == "and.fgdh" && occurrence == 1) payload[payload.size() * segment / 4] ^= std::byte{1};
      });
    };
    const OnlineRun run = run_online({*circuit, 1, inputs}, options, false);
    EXPECT_EQ(run.outcomes.a.kind, Outcome::Kind::PeerCheated) << "segment " << segment << ": " << run.outcomes.a.message;
    EXPECT_TRUE(run.a.outputs.empty());
  }
}

// A masked input is announced without a MAC: whoever announces another one has chosen another input, and is caught when it goes
// on with the old one.
TEST(OnlineCheating, AnInputAnnouncedOtherwiseThanUsedIsCaught) {
  const RandomCircuit circuit(21, 100);
  Rng rng(Seed{{21, 5}});
  auto inputs = random_inputs(circuit, 3, rng);
  PartyOptions options{.seed = 21};
  options.wrap_a = [](std::unique_ptr<Channel> inner) { return make_cheating_channel(std::move(inner), flip_bit("input.masked", 0, 4)); };
  const OnlineRun run = run_online({circuit, 3, inputs}, options, false);
  EXPECT_EQ(run.outcomes.b.kind, Outcome::Kind::PeerCheated) << run.outcomes.b.message;
  EXPECT_TRUE(run.b.outputs.empty());
}

}  // namespace
}  // namespace tinyot
