// What is easily done wrongly in the garbled phase, beside the outputs. doc/testing.md lists the
// pitfalls and the test of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "online/garbled/garbled_steps.h"
#include "online/garbled/half_shares.h"
#include "tests/online/garbler_by_hand.h"
#include "tests/online/garbling.h"
#include "tests/online/prepared.h"
#include "tests/online/random_circuit.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kRho = 48;  // at sigma = 40

Inputs bits_of_two_ands(bool x, bool y = true, bool v = true) {
  Inputs inputs;
  for (const bool value : {x, y, v}) {
    BitVector bit(1);
    bit.put(0, value);
    inputs.push_back({bit});
  }
  return inputs;
}

class GarblerByHand : public testing::TestWithParam<GarbledWay> {};
INSTANTIATE_TEST_SUITE_P(In, GarblerByHand, testing::ValuesIn(kGarbledWays),
                         [](const auto& way) { return std::string(name_of(way.param)); });

const char* check_of(GarbledWay way) {
  return way == GarbledWay::PreparedEarly ? "early rows" : "MAC transcript";
}

RowCheat honest(Block, Block) { return {}; }

// The rows of the formulas are those that the product evaluates.
TEST_P(GarblerByHand, IsRightForAllInputs) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const ByHand run = run_by_hand(
        GetParam(), bits_of_two_ands(seed & 1, (seed & 2) != 0, (seed & 4) != 0), seed, honest);
    EXPECT_EQ(run.a.kind, Outcome::Kind::Done) << run.a.message;
    EXPECT_TRUE(run.has_y);
  }
}

// Each cheat of a garbler. What B sees until A has an output to reveal, and whether A ends the run,
// is equally distributed for either input of A.
TEST_P(GarblerByHand, LearnsNothingFromWhetherAEndsTheRun) {
  using Make = std::function<RowCheat(Block, Block)>;
  const Block random{0x9e3779b97f4a7c15, 0xf39cc0605cedc834};
  std::map<std::string, Make> cheats{
      {"none", honest},
      {"a random label of A's input", [&](Block, Block) { return RowCheat{.label_of_x = random}; }},
      {"the other label of A's input", [](Block, Block b) { return RowCheat{.label_of_x = b}; }},
      {"a label of the right colour that is neither",
       [](Block, Block) {
         return RowCheat{.label_of_x = {0, 2}};
       }},
      {"another pad seed", [](Block, Block) {
         return RowCheat{.pad_seed = Seed{{1, 1}}};
       }}};
  for (const std::size_t entry : {std::size_t{0}, std::size_t{1}}) {
    const std::string of = " of AND " + std::to_string(entry);
    cheats["G_0 as of another mask" + of] = [=](Block, Block b) {
      return RowCheat{.entry = entry, .left = b};
    };
    cheats["a random G_0" + of] = [=](Block, Block) {
      return RowCheat{.entry = entry, .left = random};
    };
    cheats["a label of the right colour that is neither, by G_1" + of] = [=](Block, Block) {
      return RowCheat{.entry = entry, .right = {0, 2}};
    };
    cheats["the colour" + of] = [=](Block, Block) {
      return RowCheat{.entry = entry, .colour = true};
    };
    cheats["NAND" + of] = [=](Block, Block b) { return RowCheat{.entry = entry, .result = b}; };
    cheats["OR" + of] = [=](Block, Block b) {
      return RowCheat{.entry = entry, .left = b, .right = b};
    };
    cheats["Y_0" + of] = [=](Block, Block) {
      return RowCheat{.entry = entry, .macs = {random, {0, 0}, {0, 0}}};
    };
  }
  constexpr std::uint64_t kSessions = repetitions(300);
  constexpr double kDeviations = 5;
  std::set<std::string> selective;
  for (const auto& [name, make] : cheats) {
    SCOPED_TRACE(name);
    std::map<std::size_t, std::array<double, 2>> seen;  // by view, and whether A has ended the run
    double aborts[2] = {0, 0};
    for (std::uint64_t i = 0; i < kSessions; ++i)
      for (const bool x : {false, true}) {
        const ByHand run =
            run_by_hand(GetParam(), bits_of_two_ands(x), 1 + 2 * i + (x ? 1 : 0), make);
        const bool is_caught = run.a.kind == Outcome::Kind::PeerCheated;
        ASSERT_TRUE(is_caught || run.a.kind == Outcome::Kind::Done) << run.a.message;
        if (is_caught) {
          ASSERT_EQ(run.a.check, check_of(GetParam()));
        }
        ASSERT_NE(run.has_y, is_caught);
        aborts[x] += is_caught;
        seen[2 * run.view + is_caught][x] += 1;
      }
    for (const auto& [view, counts] : seen) {
      const double mean = (counts[0] + counts[1]) / 2, p = mean / kSessions,
                   deviation = std::sqrt(std::max(1.0, 2 * kSessions * p * (1 - p)));
      EXPECT_NEAR(counts[0], counts[1], kDeviations * deviation) << "view " << view;
    }
    // No gate reads the label of the output; of a wrong one, B itself would learn.
    const bool is_never = name == "none" || name.ends_with("by G_1 of AND 1") ||
                          (name == "another pad seed" && GetParam() == GarbledWay::Streamed) ||
                          (name.starts_with("Y_0") && GetParam() != GarbledWay::PreparedEarly),
               is_always = name.starts_with("the colour") || name.starts_with("NAND");
    for (const double count : aborts) {
      if (is_never) {
        EXPECT_EQ(count, 0);
      } else if (is_always) {
        EXPECT_EQ(count, kSessions);
      } else {
        EXPECT_GT(count, 0.1 * kSessions);
      }
    }
    if (aborts[0] > 0 && aborts[0] < kSessions) selective.insert(name);
  }
  // In these the frequency says something: whether A ends the run depends on a masked value.
  EXPECT_TRUE(selective.contains("G_0 as of another mask of AND 0"));
  EXPECT_TRUE(selective.contains("a random G_0 of AND 1"));
  EXPECT_TRUE(selective.contains("OR of AND 0"));
}

// A garbler whose global key has lowest bit 0, which no honest one has: colours tell nothing, and A
// ends the run in half of all cases, whatever its input is.
TEST_P(GarblerByHand, LearnsNothingWithAnEvenKey) {
  constexpr std::uint64_t kSessions = repetitions(400);
  double aborts[2] = {0, 0};
  for (std::uint64_t i = 0; i < kSessions; ++i)
    for (const bool x : {false, true}) {
      const std::uint64_t seed = 1 + 2 * i + (x ? 1 : 0);
      Delta even = garbling_key(Party::B, seed);
      even.value.lo &= ~std::uint64_t{1};
      const ByHand run = run_by_hand(GetParam(), bits_of_two_ands(x), seed, honest, even);
      ASSERT_TRUE(run.a.kind == Outcome::Kind::PeerCheated || run.a.kind == Outcome::Kind::Done)
          << run.a.message;
      aborts[x] += run.a.kind == Outcome::Kind::PeerCheated;
    }
  EXPECT_NEAR(aborts[0], aborts[1], 5 * std::sqrt(2 * kSessions * 0.25));
  for (const double count : aborts) {
    EXPECT_GT(count, 0.5 * kSessions);
    EXPECT_LT(count, 0.95 * kSessions);
  }
}

// A does not stop at a wrong row: its messages do not tell which one was wrong.
TEST_P(GarblerByHand, SeesTheSameMessagesAfterAnyWrongRow) {
  std::set<std::vector<std::pair<std::string, std::size_t>>> sent;
  for (const std::size_t entry : {std::size_t{0}, std::size_t{1}})
    for (const bool x : {false, true}) {
      const ByHand run = run_by_hand(GetParam(), bits_of_two_ands(x), 3, [=](Block, Block) {
        return RowCheat{.entry = entry, .colour = true};
      });
      EXPECT_EQ(run.a.kind, Outcome::Kind::PeerCheated) << run.a.message;
      std::vector<std::pair<std::string, std::size_t>> of_run;
      for (const Message& message : run.of_a)
        of_run.emplace_back(message.tag, message.payload.size());
      sent.insert(of_run);
    }
  EXPECT_EQ(sent.size(), 1u);
}

// A row for NAND whose string Y_2 is moved by cut(Delta^A): it passes if B knows all rho bits, and
// only then; the bits below are not compared.
TEST(EarlyRowsByHand, CompareExactlyRhoBits) {
  const auto forged = [](std::optional<std::size_t> wrong_bit) {
    return run_by_hand(
               GarbledWay::PreparedEarly, bits_of_two_ands(true), 5,
               [=](Block a, Block b) {
                 Block guess = a;
                 if (wrong_bit)
                   (*wrong_bit < 64 ? guess.lo : guess.hi) ^= std::uint64_t{1} << (*wrong_bit % 64);
                 return RowCheat{.entry = 1, .result = b, .macs = {Block{0, 0}, {0, 0}, guess}};
               })
        .a;
  };
  EXPECT_EQ(forged({}).kind, Outcome::Kind::Done) << "all bits of Delta^A are known";
  for (std::size_t bit = 0; bit < 128; ++bit) {
    SCOPED_TRACE(bit);
    const Outcome a = forged(bit);
    if (bit < 128 - kRho) {
      EXPECT_EQ(a.kind, Outcome::Kind::Done) << a.message;
    } else {
      EXPECT_EQ(a.check, "early rows");
    }
  }
}

}  // namespace
}  // namespace tinyot
