// What is easily done wrongly in the garbled phase, beside the outputs. doc/testing.md lists the
// pitfalls and the test of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "online/garbled/garbled_steps.h"
#include "online/garbled/half_shares.h"
#include "tests/online/garbler_by_hand.h"
#include "tests/online/garbling.h"
#include "tests/online/prepared.h"
#include "tests/online/random_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

using online::GarbledWindow;

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

// A run of one party in each way.
Evaluation run_one(GarbledWay way, Session& session, IdealDealer& dealer, const Circuit& circuit,
                   std::size_t lanes, const Inputs& inputs, const GarbledWindow& window = {}) {
  if (way != GarbledWay::Streamed) {
    const RowCheck check = way == GarbledWay::PreparedEarly ? RowCheck::Early : RowCheck::Batched;
    PreparedParty party(session, dealer, {circuit, lanes, inputs, check, window});
    party.prepare();
    return party.finish();
  }
  const CircuitCost cost = cost_of(circuit);
  CircuitRounds rounds(circuit, cost.gates(), lanes, window_for(lanes));
  return online::run_garbled(
      session, dealer, online::garbled_material_for(circuit.info(), cost.ands_of(lanes), lanes),
      rounds, values_given_by(session.me(), circuit.info(), inputs), {}, {}, window);
}

class GarbledRunsOf : public testing::TestWithParam<GarbledWay> {};
INSTANTIATE_TEST_SUITE_P(Way, GarbledRunsOf, testing::ValuesIn(kGarbledWays),
                         [](const auto& way) { return std::string(name_of(way.param)); });

// A circuit whose outputs are all of its wires, to both parties.
class EveryWireOf final : public Circuit, GateSink {
 public:
  explicit EveryWireOf(const Circuit& circuit) : info_(circuit.info()) {
    circuit.generate(*this);
    info_.outputs = {
        {"wires", static_cast<std::uint32_t>(gates_.size()), Receiver::Both, ValueFormat::Integer}};
  }
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    for (const Gate& gate : gates_) sink.emit(gate);
    for (std::size_t i = 0; i < gates_.size(); ++i)
      sink.emit({GateKind::Output, 0, gates_[i].out, i});
  }

 private:
  void emit(const Gate& gate) override {
    if (gate.kind <= GateKind::Not) gates_.push_back(gate);  // those that make a wire
  }

  CircuitInfo info_;
  std::vector<Gate> gates_;
};

// L = z ^ lambda on every wire: both open the mask of every wire. A NOT that is made twice, or in
// the mask, would be a wrong value without an abort.
TEST_P(GarbledRunsOf, RandomCircuitsHaveTheRightValueOnEveryWire) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCircuit random(seed, 40);
    const EveryWireOf circuit(random);
    const std::size_t lanes = seed % 3 == 0 ? 65 : seed % 3;
    Rng rng(Seed{{seed, 11}});
    const Inputs inputs = random_inputs(circuit, lanes, rng);
    Evaluation of[2];
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          of[static_cast<int>(session.me())] =
              run_one(GetParam(), session, dealer, circuit, lanes, inputs, window_of(seed));
        },
        {.seed = seed});
    expect_outputs(circuit.info(), of[0], of[1], evaluate(circuit, lanes, inputs));
    if (testing::Test::HasFailure()) return;
  }
}

// The party that receives a digest finds its own one, sent back: the direction is part of it.
TEST_P(GarbledRunsOf, FindADigestThatIsSentBack) {
  const ListedCircuit circuit = two_ands();
  const Inputs inputs = bits_of_two_ands(true);
  for (const Party cheater : {Party::A, Party::B}) {
    // A's digest of a streamed run is the first one.
    if (cheater == Party::A && GetParam() == GarbledWay::Streamed) continue;
    PartyOptions options;
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = reflecting("mac_transcript.digest");
    const Outcomes outcomes = run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          run_one(GetParam(), session, dealer, circuit, 1, inputs);
        },
        options, false);
    const Outcome& honest = cheater == Party::A ? outcomes.b : outcomes.a;
    EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << honest.message;
    EXPECT_EQ(honest.check, "MAC transcript");
  }
}

// Two equal ANDs, both told wrong, do not cancel, whatever the chunks are.
TEST(GateCheck, FindsTwoEqualAndsThatAreBothToldWrong) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::B,
                 {circuit.xor_of(circuit.and_of(x[0], y[0]), circuit.and_of(x[0], y[0]))});
  for (const GarbledWay way : {GarbledWay::Streamed, GarbledWay::PreparedBatched})
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}}) {
      SCOPED_TRACE(std::string(name_of(way)) + ", chunks of " + std::to_string(chunk));
      std::size_t changed = 0;
      Rng rng(Seed{{1, 12}});
      const Inputs inputs = random_inputs(circuit, 1, rng);
      const Outcomes outcomes = run_garbling(
          [&](Session& session, IdealDealer& dealer) {
            run_one(way, session, dealer, circuit, 1, inputs,
                    {.entries = 1, .chunk_min = 1, .chunk_max = chunk});
          },
          {.wrap_a = cheating([&](std::string_view tag, std::size_t, auto& payload) {
             if (tag != "garbled.masked_ands") return;
             payload[0] ^= chunk == 1 ? std::byte{1} : std::byte{3};
             ++changed;
           })},
          false);
      EXPECT_EQ(changed, 2 / chunk);
      EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerCheated) << outcomes.b.message;
      EXPECT_EQ(outcomes.b.check, "MAC transcript");
    }
}

// Counts the entries of the messages of a kind that a party sends until it has received one of
// another kind for each.
class CountingChannel final : public ChannelDecorator {
 public:
  struct Count {
    std::string_view sent, answer;
    std::size_t bits_of_entry;
    std::size_t total = 0, most = 0;  // entries; without an answer
  };
  CountingChannel(std::unique_ptr<Channel> inner, Count& count)
      : ChannelDecorator(std::move(inner)), count_(count) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    ChannelDecorator::send(tag, payload);
    if (tag.name != count_.sent) return;
    open_.push_back(8 * payload.size() / count_.bits_of_entry);
    count_.total += open_.back();
    now_ += open_.back();
    count_.most = std::max(count_.most, now_);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    ChannelDecorator::recv(tag, payload);
    if (tag.name != count_.answer || open_.empty()) return;
    now_ -= open_.front();
    open_.pop_front();
  }

 private:
  Count& count_;
  std::deque<std::size_t> open_;
  std::size_t now_ = 0;
};

ChannelWrapper counting(CountingChannel::Count& count) {
  return [&](std::unique_ptr<Channel> inner) {
    return std::make_unique<CountingChannel>(std::move(inner), count);
  };
}

// However slow A is: B has at most a window and a chunk of rows under way whose L have not
// returned, and A opens at most so many entries ahead of the rows.
TEST(GarbledWindows, BoundWhatIsUnderWay) {
  constexpr std::size_t kLanes = 16;
  const GarbledWindow window{.entries = 128, .chunk_min = 16, .chunk_max = 32};
  ListedCircuit circuit;
  WireId x = circuit.input(Party::A, 1)[0];
  const WireId y = circuit.input(Party::B, 1)[0];
  for (int depth = 0; depth < 100; ++depth) x = circuit.and_of(circuit.not_of(x), y);
  circuit.output(Receiver::Both, {x});
  Rng rng(Seed{{1, 13}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  CountingChannel::Count openings{"garbled.de", "garbled.rows", 2},
      rows{"garbled.rows", "garbled.masked_ands", 256};
  run_garbling(
      [&](Session& session, IdealDealer& dealer) {
        run_one(GarbledWay::Streamed, session, dealer, circuit, kLanes, inputs, window);
      },
      {.wrap_a = counting(openings), .wrap_b = counting(rows)});
  for (const CountingChannel::Count* count : {&openings, &rows}) {
    EXPECT_EQ(count->total, 100 * kLanes);
    EXPECT_LE(count->most, window.entries + window.chunk_max);
    EXPECT_GE(count->most, window.entries / 2);
  }
}

// Steps M and P at both parties: alpha, beta and s of each entry, in both half shares, and the
// folded share that the gate check takes.
TEST(HalfShares, AreThoseOfTheMasksAndOfSigma) {
  // The result of an entry is the first operand of the next one.
  constexpr std::size_t kDepth = 12, kLanes = 66;
  ListedCircuit circuit;
  WireId x = circuit.input(Party::A, 1)[0];
  for (std::size_t depth = 0; depth < kDepth; ++depth)
    x = circuit.and_of(x, circuit.input(Party::B, 1)[0]);
  circuit.output(Receiver::Both, {x});
  online::MaskedAnds of[2];
  run_garbling([&](Session& session, IdealDealer& dealer) {
    const CircuitCost cost = cost_of(circuit);
    CircuitRounds rounds(circuit, cost.gates(), kLanes, window_for(kLanes));
    const online::SharedValues none;
    online::GarbledSteps steps(
        session, dealer, online::garbled_material_for(circuit.info(), cost.ands_of(kLanes), kLanes),
        rounds, none, BundleValues(circuit.info().inputs.size()));
    online::Chunker chunker(steps.lanes, 1 << 16, 1 << 16, [&](online::Chunk chunk) {
      steps.masks.send_openings(chunk);
      session.channel().flush();
      steps.masks.receive_openings(chunk);
      steps.blocks.evaluate(chunk, of[static_cast<int>(session.me())]);
    });
    rounds.run(chunker);
    chunker.finish();
    checks::settle_transcripts(session);  // the openings are right
  });
  const Block a = garbling_key(Party::A, 1).value, b = garbling_key(Party::B, 1).value;
  const auto is = [](const Block& one, const Block& other) {
    return one.lo == other.lo && one.hi == other.hi;
  };
  // The bit of which these are shares.
  const auto bit_of = [&](const Block& g, const Block& folded) {
    const bool bit = is(g, b);
    EXPECT_TRUE(is(g, times(b, bit)));
    EXPECT_TRUE(is(folded, times(a ^ b, bit)));
    return bit;
  };
  const auto [first, second] = std::tie(of[0], of[1]);
  std::size_t ones = 0;
  ASSERT_EQ(first.s_g.size(), kDepth * kLanes);
  for (std::size_t j = 0; j < first.s_g.size(); ++j) {
    const bool alpha = bit_of(first.alpha_g[j] ^ second.alpha_g[j],
                              first.macs.alpha[j] ^ second.macs.alpha[j]),
               beta = bit_of(first.beta_g[j] ^ second.beta_g[j],
                             first.macs.beta[j] ^ second.macs.beta[j]),
               s = bit_of(first.s_g[j] ^ second.s_g[j], first.macs.s[j] ^ second.macs.s[j]);
    ones += s;
    if (j + kLanes >= first.s_g.size()) continue;
    const std::size_t next = j + kLanes;
    EXPECT_EQ(bit_of(first.alpha_g[next] ^ second.alpha_g[next],
                     first.macs.alpha[next] ^ second.macs.alpha[next]),
              s != (alpha && beta));
  }
  EXPECT_GT(ones, first.s_g.size() / 3);
}

}  // namespace
}  // namespace tinyot
