// Groups through the public headers: a masked run evaluates each in one round, the other phases its
// gates, all with the same outputs, on stored material and on material that is made meanwhile.
#include <gtest/gtest.h>

#include "tests/library/garbling_stores.h"
#include "tinyot/circuit/integer.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::make_circuit;
using circuit::Number;
using circuit::Program;
using circuit::Receiver;

// Whether x = y, by groups of 4 bits.
std::unique_ptr<circuit::Circuit> comparison() {
  return make_circuit("comparison", [](Program& program) {
    const Number x = program.input("x", 64, Party::A), y = program.input("y", 64, Party::B);
    const Number same = ~(x ^ y);
    const circuit::Bits equal = {circuit::all(same, 4)};
    program.output("equal", equal, Receiver::Both);
  });
}

constexpr std::uint64_t kGates = 63, kGroups = 16 * 11 + 4 * 11 + 11;
const std::vector<std::uint64_t> kOfA = {7, ~0ull, 1ull << 63}, kOfB = {7, ~0ull - 1, 1ull << 63};

Values given_by(Party party) {
  Values values;
  values.set(party == Party::A ? "x" : "y", party == Party::A ? kOfA : kOfB);
  return values;
}

void expect_run(const RunResult& result, OnlinePhase phase) {
  for (std::size_t lane = 0; lane < kOfA.size(); ++lane)
    EXPECT_EQ(result.outputs.integer("equal", lane), kOfA[lane] == kOfB[lane]);
  const bool is_masked = phase == OnlinePhase::Masked;
  EXPECT_EQ(result.ands, kOfA.size() * (is_masked ? kGroups : kGates));
  if (phase == OnlinePhase::Garbled) return;
  EXPECT_EQ(result.and_rounds, is_masked ? 3u : 6u);
}

TEST(GroupRuns, AreRightInEachPhase) {
  const GarblingStores stores(Profile::Fast, 20'000, 2'000);
  const auto circuit = comparison();
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, {}));
    for (const OnlinePhase phase :
         {OnlinePhase::Interactive, OnlinePhase::Masked, OnlinePhase::Garbled}) {
      expect_run(evaluator.run(*circuit, given_by(party), {}, kOfA.size(), {}, phase), phase);
      if (phase == OnlinePhase::Interactive) continue;
      const std::uint64_t prepared = evaluator.prepare(*circuit, {}, kOfA.size(), {}, phase);
      const RunResult result = evaluator.finish(prepared, given_by(party));
      expect_run(result, phase);
      if (phase != OnlinePhase::Masked) continue;
      EXPECT_EQ(result.half_round_trips, (std::array<std::uint64_t, 2>{6, 6}));
    }
  });
  both([&](Party party) {
    RunRequest request{.party = party, .endpoint = stores.endpoints.of(party)};
    request.live = ParameterRequest{.profile = Profile::Fast};
    request.live->material = AndMaterial::Garbling;
    request.phase = OnlinePhase::Masked;
    expect_run(tinyot::run(request, *circuit, given_by(party), kOfA.size()), OnlinePhase::Masked);
  });
}

}  // namespace
}  // namespace tinyot
