// Groups: gates that an online phase may evaluate as one gate of several inputs.
#include <gtest/gtest.h>

#include <sstream>

#include "circuitgen/canonical_stream.h"
#include "circuitgen/checked_circuit.h"
#include "circuitgen/fingerprint.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/layering.h"
#include "circuits.h"
#include "tinyot/circuit/builder.h"

namespace tinyot {
namespace {

using enum GateKind;

constexpr Gate kGroupBegins{GroupBegin, 0, 0, 0}, kGroupEnds{GroupEnd, 0, 0, 0};

// (x & y) ^ z, and z & y; the XOR and the AND in it are a group if `brackets`.
TestCircuit circuit_with(bool brackets, bool freed_inside = true) {
  std::vector<Gate> gates = {{Input, 0, 0, 0}, {Input, 1, 0, 1}, {Input, 2, 0, 2}};
  if (brackets) gates.push_back(kGroupBegins);
  gates.push_back({And, 3, 0, 1});
  gates.push_back({Xor, 4, 3, 2});
  if (freed_inside) gates.push_back({Free, 0, 3, 0});
  if (brackets) gates.push_back(kGroupEnds);
  if (!freed_inside) gates.push_back({Free, 0, 3, 0});
  gates.push_back({And, 5, 2, 1});
  gates.push_back({Output, 0, 4, 0});
  gates.push_back({Output, 0, 5, 1});
  return TestCircuit(test_info({3}, {2}), std::move(gates));
}

TEST(Groups, AreEvaluatedAsTheirGates) {
  const TestCircuit grouped = circuit_with(true), plain = circuit_with(false);
  std::mt19937_64 rng(1);
  const auto inputs = random_inputs(grouped.info(), 70, rng);
  const auto one = evaluate(grouped, 70, inputs), two = evaluate(plain, 70, inputs);
  for (std::size_t lane = 0; lane < 70; ++lane)
    for (std::size_t bit = 0; bit < 2; ++bit) EXPECT_EQ(one[0][lane][bit], two[0][lane][bit]);
  EXPECT_EQ(cost_of(grouped).ands, 2u);
  EXPECT_EQ(cost_of(grouped).and_depth, 1u);

  struct Sink final : circuit::RoundSink {
    void round(circuit::Round& round) override { ands.push_back(round.ands.size()); }
    std::vector<std::size_t> ands;
  } rounds_of_one, rounds_of_two;
  circuit::generate_rounds(grouped, 1, 100, rounds_of_one);
  circuit::generate_rounds(plain, 1, 100, rounds_of_two);
  EXPECT_EQ(rounds_of_one.ands, rounds_of_two.ands);

  std::ostringstream file_of_one, file_of_two;
  write_bristol_fashion(grouped, file_of_one);
  write_bristol_fashion(plain, file_of_two);
  EXPECT_EQ(file_of_one.str(), file_of_two.str());
}

TEST(Groups, AreInTheEncoding) {
  const auto with = encoding_of(circuit_with(true)), without = encoding_of(circuit_with(false));
  EXPECT_NE(with, without);
  EXPECT_NE(with, encoding_of(circuit_with(true, false))) << "another number of results";
  EXPECT_EQ(without, encoding_of(circuit_with(false, false))) << "Free events are no part of it";
  // The begin, and the end with one result: the gate before.
  const std::vector<int> wanted = {5,         'g', 'a',       't', 'e',
                                   's',       4,   4 * 2 + 2, 4,  // AND of x and y
                                   4 * 3 + 1, 6,                  // XOR of the gate before and z
                                   8,         1,   3,             // the end
                                   4 * 6 + 2, 4,                  // AND of z and y
                                   0,         5,   3};
  EXPECT_EQ(with, wanted);
}

// It is read at the end, whenever the stream gives it.
TEST(Groups, HaveOutputsOfTheCircuitAmongTheirResults) {
  const auto encoding_with = [](bool output_inside) {
    std::vector<Gate> gates = {{Input, 0, 0, 0}, {Input, 1, 0, 1}, {Input, 2, 0, 2}};
    gates.insert(gates.end(), {kGroupBegins, {And, 3, 0, 1}, {Xor, 4, 3, 2}});
    if (output_inside) gates.insert(gates.end(), {{Output, 0, 3, 0}, {Free, 0, 3, 0}});
    gates.push_back(kGroupEnds);
    if (!output_inside) gates.push_back({Output, 0, 3, 0});
    gates.push_back({Output, 0, 4, 1});
    return encoding_of(TestCircuit(test_info({3}, {2}), std::move(gates)));
  };
  EXPECT_EQ(encoding_with(true), encoding_with(false));
}

// A function that sets its brackets elsewhere in a later generation is not the same.
TEST(Groups, AreCheckedInLaterGenerations) {
  bool other = false;
  const auto changing = std::make_shared<TestCircuit>(
      circuit_with(true).info(),
      [&](GateSink& sink) { circuit_with(true, !other).generate(sink); });
  CollectedBytes ignored;
  const circuit::CheckedCircuit checked(changing, circuit::encode_gates(*changing, ignored).record);
  RecordingSink sink;
  checked.generate(sink);
  EXPECT_EQ(sink.count(GroupBegin), 1u);
  EXPECT_EQ(sink.count(GroupEnd), 1u);
  other = true;
  EXPECT_THROW(checked.generate(sink), UsageError);
}

TEST(Groups, AreRefusedIfTheyBreakARule) {
  const auto refused = [](const std::vector<Gate>& gates) {
    const CircuitInfo info = test_info({20}, {1});
    std::vector<Gate> stream;
    for (WireId bit = 0; bit < 20; ++bit) stream.push_back({Input, bit, 0, bit});
    stream.insert(stream.end(), gates.begin(), gates.end());
    stream.push_back({Output, 0, 0, 0});
    try {
      (void)encoding_of(TestCircuit(info, std::move(stream)));
      return false;
    } catch (const std::logic_error&) {
      return true;
    } catch (const UsageError&) {
      return true;
    }
  };
  EXPECT_TRUE(refused({kGroupBegins, kGroupBegins, kGroupEnds, kGroupEnds})) << "nested";
  EXPECT_TRUE(refused({kGroupBegins})) << "not ended";
  EXPECT_TRUE(refused({kGroupEnds})) << "not begun";
  EXPECT_FALSE(refused({kGroupBegins, kGroupEnds, kGroupBegins, kGroupEnds}));

  const auto sum_of = [](WireId inputs, bool free_sums) {
    std::vector<Gate> gates = {kGroupBegins, {Xor, 100, 0, 1}};
    for (WireId i = 2; i < inputs; ++i) {
      gates.push_back({Xor, 99 + i, 98 + i, i});
      if (free_sums) gates.push_back({Free, 0, 98 + i, 0});
    }
    gates.push_back(kGroupEnds);
    return gates;
  };
  EXPECT_FALSE(refused(sum_of(8, true)));
  EXPECT_TRUE(refused(sum_of(9, true))) << "nine inputs";

  const auto ands = [](std::size_t count, std::size_t results) {
    std::vector<Gate> gates = {kGroupBegins};
    for (std::size_t i = 0; i < count; ++i) {
      gates.push_back({And, 100 + i, 0, 1});
      if (i >= results) gates.push_back({Free, 0, 100 + i, 0});
    }
    gates.push_back(kGroupEnds);
    return gates;
  };
  EXPECT_FALSE(refused(ands(64, 8)));
  EXPECT_TRUE(refused(ands(65, 8))) << "too many ANDs";
  EXPECT_TRUE(refused(ands(64, 9))) << "too many results";
}

// Wires that have no handle at the end are freed inside, and so are no results.
TEST(Groups, OfABuilderEndWithTheirResults) {
  RecordingSink sink;
  const CircuitInfo info = test_info({3}, {1});
  Builder builder(sink, info);
  const auto x = builder.input(0);
  const Bit majority = builder.group([&] {
    const Bit both = x[0] & x[1], sum = x[0] ^ x[1];
    return both ^ (sum & x[2]);
  });
  builder.output_bit(0, 0, majority);
  std::vector<GateKind> kinds;
  for (const Gate& gate : sink.gates) kinds.push_back(gate.kind);
  EXPECT_EQ(kinds, (std::vector{Input, Input, Input, GroupBegin, And, Xor, And, Xor, Free, Free,
                                Free, GroupEnd, Output}));
}

}  // namespace
}  // namespace tinyot
