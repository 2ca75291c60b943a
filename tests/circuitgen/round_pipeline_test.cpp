#include "circuitgen/round_pipeline.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "circuitgen/circuit_rounds.h"
#include "circuitgen/generators/registry.h"
#include "tests/support/blocked_thread.h"

namespace tinyot::circuit {
namespace {

Round round_of(std::uint32_t number, std::size_t gates) {
  Round round;
  round.ands.assign(gates, RoundAnd{number, 0, 0});
  round.slots = number;
  return round;
}

// Notes the number and the size of each round.
class Notes : public RoundSink {
 public:
  void round(Round& round) override { rounds.emplace_back(round.slots, round.ands.size()); }
  std::vector<std::pair<std::size_t, std::size_t>> rounds;
};

TEST(RoundPipeline, PassesRoundsInOrderWhateverTheirSize) {
  Notes notes;
  RoundPipeline pipeline(notes, 10);
  std::vector<std::pair<std::size_t, std::size_t>> passed;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::size_t gates = i % 7 == 0 ? 100 : i % 5;
    Round round = round_of(i, gates);
    pipeline.round(round);
    passed.emplace_back(i, gates);
  }
  pipeline.finish();
  EXPECT_EQ(notes.rounds, passed);
}

// Waits in its first round until it is released.
class HeldSink final : public Notes {
 public:
  void round(Round& round) override {
    if (rounds.empty()) {
      entered.set_value();
      released.get_future().wait();
    }
    Notes::round(round);
  }
  std::promise<void> entered, released;
};

TEST(RoundPipeline, HoldsAtMostTheGatesAllowed) {
  HeldSink sink;
  RoundPipeline pipeline(sink, 10);
  Round first = round_of(0, 1);
  pipeline.round(first);
  sink.entered.get_future().wait();
  // Ten gates may wait; the producer of an eleventh is held up.
  for (std::uint32_t i = 1; i <= 10; ++i) {
    Round round = round_of(i, 1);
    pipeline.round(round);
  }
  test::BlockedThread eleventh([&] {
    Round round = round_of(11, 1);
    pipeline.round(round);
  });
  sink.released.set_value();
  eleventh.join();
  pipeline.finish();
  EXPECT_EQ(sink.rounds.size(), 12u);
}

class FailingSink final : public RoundSink {
 public:
  void round(Round& round) override {
    if (round.slots == 3) throw std::runtime_error("the fourth round");
  }
};

TEST(RoundPipeline, ReportsTheFailureOfTheSink) {
  FailingSink sink;
  RoundPipeline pipeline(sink, 1);
  EXPECT_THROW(
      for (std::uint32_t i = 0; i < 1000; ++i) {
        Round round = round_of(i, 1);
        pipeline.round(round);
      },
      std::runtime_error);
  EXPECT_THROW(pipeline.finish(), std::runtime_error);
}

TEST(RoundPipeline, ReportsTheFailureOfTheLastRound) {
  FailingSink sink;
  RoundPipeline pipeline(sink, 100);
  Round round = round_of(3, 1);
  pipeline.round(round);
  EXPECT_THROW(pipeline.finish(), std::runtime_error);
}

TEST(RoundPipeline, DropsWaitingRoundsWhenTheGeneratorFails) {
  HeldSink sink;
  {
    RoundPipeline pipeline(sink, 10);
    Round first = round_of(0, 1), second = round_of(1, 1);
    pipeline.round(first);
    sink.entered.get_future().wait();
    pipeline.round(second);
    sink.released.set_value();
  }
  // The destructor lets the first round end; the second may have begun before it.
  EXPECT_GE(sink.rounds.size(), 1u);
}

std::vector<std::size_t> and_counts(const Notes& notes) {
  std::vector<std::size_t> counts;
  for (const auto& [slots, ands] : notes.rounds) counts.push_back(ands);
  return counts;
}

// The rounds of a prepared circuit are those of layering alone, except that the first one already
// has the bounds of all slots.
TEST(CircuitRounds, KnowsTheSlotsOfAPreparedCircuit) {
  const auto circuit = find_circuit("sort:count=10,bits=8");
  constexpr std::size_t kWindow = 1000;
  Notes expected, actual;
  generate_rounds(*circuit, 1, kWindow, expected);
  CircuitRounds(*circuit, 0, 1, kWindow).run(actual);
  ASSERT_EQ(actual.rounds.size(), expected.rounds.size());
  const std::size_t slots = expected.rounds.back().first;
  EXPECT_LT(expected.rounds.front().first, slots);
  for (std::size_t i = 0; i < actual.rounds.size(); ++i)
    EXPECT_EQ(actual.rounds[i], std::pair(slots, expected.rounds[i].second));
}

// The rounds of a circuit that is too large to be prepared are the same as those of layering alone.
TEST(CircuitRounds, PassesALargeCircuitThroughThePipeline) {
  const auto circuit = find_circuit("random:width=1000,depth=200");
  constexpr std::size_t kWindow = 5000;
  Notes expected, actual;
  generate_rounds(*circuit, 1, kWindow, expected);
  CircuitRounds rounds(*circuit, ~std::uint64_t{0}, 1, kWindow);
  rounds.run(actual);
  EXPECT_GT(expected.rounds.size(), 200u);
  EXPECT_EQ(actual.rounds, expected.rounds);
}

// Those who look on before and during a run see the rounds that are run.
TEST(CircuitRounds, AreSeenByOthers) {
  const auto circuit = find_circuit("random:width=100,depth=20");
  for (const std::uint64_t gates : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    Notes before, during, actual;
    CircuitRounds rounds(*circuit, gates, 1, 1000);
    rounds.visit(before);
    rounds.observe(during);
    rounds.run(actual);
    EXPECT_GT(actual.rounds.size(), 20u);
    EXPECT_EQ(before.rounds, actual.rounds);
    EXPECT_EQ(during.rounds, actual.rounds);
  }
}

// Counts its generations.
class CountedCircuit final : public Circuit {
 public:
  explicit CountedCircuit(std::shared_ptr<const Circuit> circuit) : circuit_(std::move(circuit)) {}
  const CircuitInfo& info() const override { return circuit_->info(); }
  void generate(GateSink& sink) const override {
    ++generations;
    circuit_->generate(sink);
  }
  mutable int generations = 0;

 private:
  const std::shared_ptr<const Circuit> circuit_;
};

// What is kept is what is run, and serves the next run in place of the circuit.
TEST(CircuitRounds, AreKeptForTheNextRun) {
  const CountedCircuit circuit(find_circuit("random:width=100,depth=20"));
  for (const std::uint64_t gates : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    for (const bool is_visited : {false, true}) {
      circuit.generations = 0;
      KeptRounds kept;
      Notes before, first, second, visited;
      CircuitRounds rounds(
          circuit, gates, 1, 1000,
          {{}, [&](auto layered) { kept.layered = std::move(layered); }, std::size_t{1} << 24});
      if (is_visited) rounds.visit(before);
      rounds.run(first);
      ASSERT_TRUE(kept.layered);
      EXPECT_EQ(kept.layered->rounds.size(), first.rounds.size());
      CircuitRounds again(circuit, gates, 1, 1000, kept);
      again.visit(visited);
      again.run(second);
      EXPECT_EQ(circuit.generations, 1);
      EXPECT_EQ(and_counts(second), and_counts(first));
      EXPECT_EQ(and_counts(visited), and_counts(first));
      EXPECT_TRUE(again.are_same_with(1 << 20) == (kept.layered->gates <= 1000));
    }
  }
}

// A group may begin another window although its gates had room, so parties that have agreed on a
// window do not take the rounds of another one.
TEST(CircuitRounds, OfGroupsAreNotThoseOfAnotherWindow) {
  const auto circuit = find_circuit("aes128:sbox=gf16");
  const auto rounds_of = [&](std::size_t window, GroupsAs groups) {
    return CircuitRounds(*circuit, 0, 1, window, {}, groups);
  };
  const auto counts_of = [](CircuitRounds rounds) {
    Notes notes;
    rounds.run(notes);
    return and_counts(notes);
  };
  const CircuitRounds whole = rounds_of(1 << 20, GroupsAs::Polynomials);
  const std::size_t gates = whole.layered()->gates;
  EXPECT_NE(counts_of(rounds_of(gates, GroupsAs::Polynomials)), counts_of(whole));
  EXPECT_TRUE(whole.are_same_with(1 << 20));
  EXPECT_FALSE(whole.are_same_with(gates));
  const CircuitRounds as_gates = rounds_of(1 << 20, GroupsAs::Gates);
  EXPECT_TRUE(as_gates.are_same_with(as_gates.layered()->gates));
  EXPECT_EQ(counts_of(rounds_of(as_gates.layered()->gates, GroupsAs::Gates)), counts_of(as_gates));
}

// A sink may take the rounds that it gets.
TEST(CircuitRounds, KeptRoundsAreNotChangedByARun) {
  struct Taker final : RoundSink {
    void round(Round& round) override { ands += std::exchange(round, {}).ands.size(); }
    std::size_t ands = 0;
  };
  const auto circuit = find_circuit("random:width=100,depth=20");
  KeptRounds kept;
  const CircuitRounds made(
      *circuit, 0, 1, 1000,
      {{}, [&](auto layered) { kept.layered = layered; }, std::size_t{1} << 24});
  for (int run = 0; run < 3; ++run) {
    Taker taker;
    CircuitRounds(*circuit, 0, 1, 1000, kept).run(taker);
    EXPECT_EQ(taker.ands, 2000u);
  }
}

// Layered before the run or during it.
TEST(CircuitRounds, ThatTakeMoreMemoryThanTheyMayAreNotKept) {
  const auto circuit = find_circuit("random:width=64,depth=20");
  for (const std::uint64_t gates : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    std::vector<std::shared_ptr<const LayeredCircuit>> kept;
    const auto run = [&](std::size_t bytes_max) {
      Notes notes;
      CircuitRounds rounds(*circuit, gates, 1, 1 << 20,
                           {{}, [&](const auto& layered) { kept.push_back(layered); }, bytes_max});
      rounds.run(notes);
      EXPECT_GE(notes.rounds.size(), 20u);
    };
    run(std::size_t{1} << 24);
    ASSERT_EQ(kept.size(), 1u);
    ASSERT_TRUE(kept[0]);
    run(kept[0]->bytes);
    run(kept[0]->bytes - 1);
    ASSERT_EQ(kept.size(), 3u);
    EXPECT_TRUE(kept[1]);
    EXPECT_FALSE(kept[2]);
  }
}

}  // namespace
}  // namespace tinyot::circuit
