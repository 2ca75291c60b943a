// What is kept of circuits that are run again.
#include "engine/circuit_cache.h"

#include <gtest/gtest.h>

#include "engine/loaded_circuit.h"
#include "tests/support/layers.h"
#include "tinyot/circuit.h"

namespace tinyot::test {
namespace {

using engine::CircuitCache;

CircuitFingerprint fingerprint(std::uint8_t number) {
  CircuitFingerprint of;
  of.bytes[31] = number;
  return of;
}

std::shared_ptr<const LayeredCircuit> rounds_of(std::size_t bytes) {
  LayeredCircuit layered;
  layered.bytes = bytes;
  return std::make_shared<const LayeredCircuit>(std::move(layered));
}

TEST(CircuitCache, KeepsTheCostsThatWereAskedForLast) {
  CircuitCache cache(2, 100);
  CircuitCost cost;
  for (const std::uint8_t i : {1, 2}) {
    cost.ands = i;
    cache.keep_cost(fingerprint(i), cost);
  }
  EXPECT_EQ(cache.cost(fingerprint(1))->ands, 1u);
  cache.keep_cost(fingerprint(3), cost);
  EXPECT_FALSE(cache.cost(fingerprint(2)));
  EXPECT_EQ(cache.cost(fingerprint(1))->ands, 1u);
  EXPECT_TRUE(cache.cost(fingerprint(3)));
}

TEST(CircuitCache, KeepsRoundsOfSoManyBytes) {
  CircuitCache cache(2, 100);
  for (const std::uint8_t i : {1, 2}) cache.keep_rounds({fingerprint(i), 10, false}, rounds_of(50));
  EXPECT_TRUE(cache.rounds({fingerprint(1), 10, false}));
  cache.keep_rounds({fingerprint(1), 10, false}, rounds_of(50));  // is there already
  EXPECT_TRUE(cache.rounds({fingerprint(2), 10, false}));
  EXPECT_TRUE(cache.rounds({fingerprint(1), 10, false}));
  cache.keep_rounds({fingerprint(3), 10, false}, rounds_of(1));
  EXPECT_FALSE(cache.rounds({fingerprint(2), 10, false}));
  EXPECT_TRUE(cache.rounds({fingerprint(1), 10, false}));
  cache.keep_rounds({fingerprint(4), 10, false}, rounds_of(101));
  for (const std::uint8_t i : {1, 2, 3, 4}) EXPECT_FALSE(cache.rounds({fingerprint(i), 10, false}));
  cache.keep_rounds({fingerprint(1), 10, false}, rounds_of(100));
  EXPECT_TRUE(cache.rounds({fingerprint(1), 10, false}));
}

// Most circuits are run once, so that much memory is for those that are run again.
TEST(CircuitCache, HasMuchRoomTheSecondTime) {
  CircuitCache cache(2, 3200);
  const CircuitCache::Layering large = {fingerprint(1), 10, false};
  EXPECT_EQ(cache.room_for(large).bytes, 800u);
  // Twice, as if two first runs were evaluated at the same time.
  for (int run = 0; run < 2; ++run) cache.note_too_large(large, 800);
  EXPECT_EQ(cache.room_for(large).bytes, 1600u);
  EXPECT_EQ(cache.room_for({fingerprint(1), 11, false}).bytes, 800u);
  cache.note_too_large(large, 1600);
  EXPECT_EQ(cache.room_for(large).bytes, 0u);
  cache.note_too_large(large, 800);
  EXPECT_EQ(cache.room_for(large).bytes, 0u);
  for (const std::uint8_t i : {2, 3}) cache.note_too_large({fingerprint(i), 10, false}, 800);
  EXPECT_EQ(cache.room_for(large).bytes, 800u) << "more are remembered than costs";
}

TEST(CircuitCache, HasMuchRoomForOneRunAtATime) {
  CircuitCache cache(10, 3200);
  for (const std::uint8_t i : {1, 2}) cache.note_too_large({fingerprint(i), 10, false}, 800);
  {
    const CircuitCache::Room first = cache.room_for({fingerprint(1), 10, false});
    EXPECT_EQ(first.bytes, 1600u);
    for (const std::uint8_t i : {1, 2})
      EXPECT_EQ(cache.room_for({fingerprint(i), 10, false}).bytes, 800u);
  }
  EXPECT_EQ(cache.room_for({fingerprint(2), 10, false}).bytes, 1600u);
}

TEST(CircuitCache, KnowsWhatRoundsDependOn) {
  CircuitCache cache(2, 100);
  const auto rounds = rounds_of(1);
  cache.keep_rounds({fingerprint(1), 10, false}, rounds);
  EXPECT_EQ(cache.rounds({fingerprint(1), 10, false}), rounds);
  EXPECT_FALSE(cache.rounds({fingerprint(2), 10, false}));
  EXPECT_FALSE(cache.rounds({fingerprint(1), 11, false}));
  EXPECT_FALSE(cache.rounds({fingerprint(1), 10, true}));
  EXPECT_FALSE(cache.rounds({fingerprint(1), 10, false, circuit::GroupsAs::Polynomials}));
}

std::size_t ands_of(const LoadedCircuit& loaded, std::size_t window) {
  struct Ands final : RoundSink {
    void round(Round& round) override { count += round.ands.size(); }
    std::size_t count = 0;
  } ands;
  loaded.rounds(window).run(ands);
  return ands.count;
}

// By another object of the same name, too.
TEST(CircuitCache, HoldsBuiltInCircuitsThatHaveRun) {
  constexpr std::size_t kWindow = 12345;
  const auto first = *LoadedCircuit::generated("minimum:count=7", 1);
  const auto kept = [&](const LoadedCircuit& circuit) {
    return CircuitCache::of_process().rounds({circuit.fingerprint(), kWindow, circuit.lanes() > 1});
  };
  EXPECT_FALSE(kept(first));
  EXPECT_EQ(ands_of(first, kWindow), first.cost().ands);
  const auto rounds = kept(first);
  ASSERT_TRUE(rounds);
  EXPECT_FALSE(kept(first.on_lanes(2)));
  const auto second = *LoadedCircuit::not_generated("minimum:count=7", 1);
  ASSERT_NE(second.known_cost(), nullptr);
  EXPECT_EQ(second.known_cost()->ands, first.cost().ands);
  EXPECT_EQ(ands_of(second, kWindow), first.cost().ands);
  EXPECT_EQ(kept(second), rounds);
}

TEST(CircuitCache, HoldsALargeBuiltInCircuitThatHasRunTwice) {
  const auto circuit = *LoadedCircuit::generated("random:width=4096,depth=200", 1);
  const std::size_t window = 34567;
  const auto kept = [&] {
    return CircuitCache::of_process().rounds({circuit.fingerprint(), window, false});
  };
  EXPECT_EQ(ands_of(circuit, window), 819'200u);
  EXPECT_FALSE(kept());
  EXPECT_EQ(ands_of(circuit, window), 819'200u);
  EXPECT_TRUE(kept());
  EXPECT_EQ(ands_of(circuit, window), 819'200u);
}

// In several lanes, what is the same in all of them is evaluated once.
TEST(CircuitCache, HoldsRoundsOfSeveralLanesApartFromThoseOfOne) {
  constexpr std::size_t kWindow = 23456;
  const auto one = *LoadedCircuit::generated("minimum:count=7", 1), two = one.on_lanes(2);
  const auto kept = [&](const LoadedCircuit& circuit) {
    return CircuitCache::of_process().rounds({circuit.fingerprint(), kWindow, circuit.lanes() > 1});
  };
  EXPECT_EQ(ands_of(two, kWindow), one.cost().ands);
  EXPECT_TRUE(kept(two));
  EXPECT_FALSE(kept(one));
  EXPECT_EQ(ands_of(one, kWindow), one.cost().ands);
  EXPECT_TRUE(kept(one));
  EXPECT_NE(kept(one), kept(two));
}

TEST(CircuitCache, HoldsNoFunctionsWhichMayChange) {
  const auto circuit = make_circuit("mine", [](Program& program) {
    const Number x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    program.output("z", x * y);
  });
  const auto loaded = LoadedCircuit::borrowed(*circuit, 1);
  EXPECT_EQ(ands_of(loaded, 1000), loaded.cost().ands);
  EXPECT_FALSE(CircuitCache::of_process().rounds({loaded.fingerprint(), 1000, false}));
  EXPECT_FALSE(CircuitCache::of_process().cost(loaded.fingerprint()));
}

}  // namespace
}  // namespace tinyot::test
