// A circuit that is not the same each time is found before its receiver has any gate that differs.
#include "circuitgen/checked_circuit.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "circuitgen/fingerprint.h"
#include "circuits.h"

namespace tinyot {
namespace {

using circuit::CheckedCircuit;
using circuit::GateRecord;

constexpr std::size_t kGatesOfBlock = GateRecord::kBlockGates;

struct NoBytes final : circuit::ByteSink {
  void add(std::span<const std::byte>) override {}
};

std::unique_ptr<Circuit> checked(const std::shared_ptr<Circuit>& circuit) {
  NoBytes ignored;
  return std::make_unique<CheckedCircuit>(circuit, circuit::encode_gates(*circuit, ignored).record);
}

// A chain: each gate reads the one before and an input.
std::vector<Gate> chain_of(std::size_t gates) {
  std::vector<Gate> stream = {{GateKind::Input, 0, 0, 0}, {GateKind::Input, 1, 0, 1}};
  for (std::size_t i = 0; i < gates; ++i)
    stream.push_back({i % 3 == 0 ? GateKind::And : GateKind::Xor, i + 2, i == 0 ? 0 : i + 1, 1});
  stream.push_back({GateKind::Output, 0, gates + 1, 0});
  return stream;
}
constexpr std::size_t kFirstGate = 2;  // in the stream

// The first call gives `first`, later ones `then`.
std::shared_ptr<TestCircuit> changing_circuit(std::vector<Gate> first, std::vector<Gate> then) {
  return std::make_shared<TestCircuit>(
      test_info({2}, {1}), [first = std::move(first), then = std::move(then),
                            is_first = std::make_shared<bool>(true)](GateSink& sink) {
        for (const Gate& gate : std::exchange(*is_first, false) ? first : then) sink.emit(gate);
      });
}

// Generates it a second time; returns the gates, without outputs, that the receiver gets until the
// error.
std::size_t gates_before_error(const Circuit& circuit) {
  struct Sink final : GateSink {
    void emit(const Gate& gate) override {
      gates +=
          gate.kind == GateKind::And || gate.kind == GateKind::Xor || gate.kind == GateKind::Not;
      EXPECT_NE(gate.kind, GateKind::Output) << "an output of a circuit that differs";
    }
    std::size_t gates = 0;
  } sink;
  try {
    circuit.generate(sink);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("circuit test is not the same each time"), std::string::npos) << text;
    EXPECT_NE(text.find("no random numbers"), std::string::npos) << text;
  }
  return sink.gates;
}

TEST(CheckedCircuit, PassesEqualGenerationsOn) {
  for (const std::size_t gates :
       {std::size_t{1}, kGatesOfBlock - 1, kGatesOfBlock, kGatesOfBlock + 1, 3 * kGatesOfBlock}) {
    const auto circuit =
        checked(std::make_shared<TestCircuit>(test_info({2}, {1}), chain_of(gates)));
    for (int i = 0; i < 2; ++i) {
      RecordingSink sink;
      circuit->generate(sink);
      EXPECT_EQ(sink.count(GateKind::And) + sink.count(GateKind::Xor), gates);
      EXPECT_EQ(sink.count(GateKind::Output), 1u);
    }
  }
}

// One gate differs, in its kind or in an operand: nothing of its block arrives.
TEST(CheckedCircuit, NoGateOfADifferingBlockArrives) {
  const std::vector<Gate> good = chain_of(3 * kGatesOfBlock + 5);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{1}, kGatesOfBlock - 1, kGatesOfBlock, 2 * kGatesOfBlock - 1,
        3 * kGatesOfBlock - 1, 3 * kGatesOfBlock, 3 * kGatesOfBlock + 4}) {
    for (const int kind : {0, 1, 2}) {
      std::vector<Gate> other = good;
      Gate& gate = other[kFirstGate + at];
      if (kind == 0) gate.kind = gate.kind == GateKind::And ? GateKind::Xor : GateKind::And;
      if (kind == 1) gate.in0 = 1;
      if (kind == 2) gate.in1 = 0;
      EXPECT_EQ(gates_before_error(*checked(changing_circuit(good, other))),
                at / kGatesOfBlock * kGatesOfBlock)
          << at << " " << kind;
    }
  }
}

TEST(CheckedCircuit, FindsFewerAndMoreGates) {
  for (const std::size_t gates : {kGatesOfBlock - 1, kGatesOfBlock, kGatesOfBlock + 1}) {
    for (const std::size_t other : {gates - 1, gates + 1, gates / 2, 2 * gates, 4 * gates}) {
      const std::size_t found =
          gates_before_error(*checked(changing_circuit(chain_of(gates), chain_of(other))));
      EXPECT_LE(found, std::min(gates, other) / kGatesOfBlock * kGatesOfBlock)
          << gates << " " << other;
    }
  }
}

TEST(CheckedCircuit, FindsOtherOutputs) {
  const std::vector<Gate> good = chain_of(10);
  std::vector<Gate> other = good;
  other.back().in0 = 5;
  EXPECT_EQ(gates_before_error(*checked(changing_circuit(good, other))), 0u);
  other.pop_back();
  EXPECT_EQ(gates_before_error(*checked(changing_circuit(good, other))), 0u);
}

// Which of its gates a group has as results, of which there are as many.
TEST(CheckedCircuit, FindsOtherResultsOfAGroup) {
  const auto circuit_with = [](WireId freed) {
    return std::vector<Gate>{
        {GateKind::Input, 0, 0, 0},    {GateKind::Input, 1, 0, 1}, {GateKind::GroupBegin, 0, 0, 0},
        {GateKind::And, 2, 0, 1},      {GateKind::Xor, 3, 0, 1},   {GateKind::Free, 0, freed, 0},
        {GateKind::GroupEnd, 0, 0, 0}, {GateKind::Xor, 4, 0, 1},   {GateKind::Output, 0, 4, 0}};
  };
  EXPECT_EQ(gates_before_error(*checked(changing_circuit(circuit_with(2), circuit_with(3)))), 0u);
}

// The order of Free events and the numbers of wires are the garbage collector's business.
TEST(CheckedCircuit, NumbersOfWiresMayDiffer) {
  const std::vector<Gate> good = chain_of(2 * kGatesOfBlock);
  std::vector<Gate> other = good;
  for (Gate& gate : other) {
    if (gate.kind != GateKind::Output) gate.out += 7;
    if (gate.kind != GateKind::Input) gate.in0 += 7;
    if (gate.kind == GateKind::And || gate.kind == GateKind::Xor) gate.in1 += 7;
  }
  other.push_back({GateKind::Free, 0, 9, 0});
  RecordingSink sink;
  checked(changing_circuit(good, other))->generate(sink);
  EXPECT_EQ(sink.count(GateKind::Output), 1u);
}

TEST(CheckedCircuit, AFunctionThatThrowsHalfWayHasSentCheckedGatesOnly) {
  const std::vector<Gate> good = chain_of(2 * kGatesOfBlock);
  const auto circuit = std::make_shared<TestCircuit>(
      test_info({2}, {1}), [&, is_first = std::make_shared<bool>(true)](GateSink& sink) {
        const bool throws = !std::exchange(*is_first, false);
        for (std::size_t i = 0; i < good.size(); ++i) {
          if (throws && i == kGatesOfBlock + kGatesOfBlock / 2)
            throw std::runtime_error("half way");
          sink.emit(good[i]);
        }
      });
  RecordingSink sink;
  EXPECT_THROW(checked(circuit)->generate(sink), std::runtime_error);
  EXPECT_EQ(sink.count(GateKind::And) + sink.count(GateKind::Xor), kGatesOfBlock);
  EXPECT_EQ(sink.count(GateKind::Output), 0u);
}

// A function may catch what its operations throw.
TEST(CheckedCircuit, AFunctionThatCatchesTheErrorGetsNoFurther) {
  const std::vector<Gate> good = chain_of(4 * kGatesOfBlock);
  const auto circuit = std::make_shared<TestCircuit>(
      test_info({2}, {1}), [&, is_first = std::make_shared<bool>(true)](GateSink& sink) {
        const bool differs = !std::exchange(*is_first, false);
        for (std::size_t i = 0; i < good.size(); ++i) {
          Gate gate = good[i];
          if (differs && i == kFirstGate + kGatesOfBlock)
            gate.kind = gate.kind == GateKind::And ? GateKind::Xor : GateKind::And;
          try {
            sink.emit(gate);
          } catch (const UsageError&) {
          }
        }
      });
  EXPECT_EQ(gates_before_error(*checked(circuit)), kGatesOfBlock);
}

// The same for an error of the receiver: what it has received does not come again.
TEST(CheckedCircuit, AnErrorOfTheReceiverLasts) {
  const std::vector<Gate> good = chain_of(4 * kGatesOfBlock);
  const auto circuit = std::make_shared<TestCircuit>(test_info({2}, {1}), [&](GateSink& sink) {
    for (const Gate& gate : good) {
      try {
        sink.emit(gate);
      } catch (const NetworkError&) {
      }
    }
  });
  struct Sink final : GateSink {
    void emit(const Gate& gate) override {
      if ((gate.kind == GateKind::And || gate.kind == GateKind::Xor) && ++gates == 5)
        throw NetworkError("the connection has ended");
    }
    std::size_t gates = 0;
  } sink;
  EXPECT_THROW(checked(circuit)->generate(sink), NetworkError);
  EXPECT_EQ(sink.gates, 5u);
}

// The description at the time of the record counts, too: owners cannot change afterwards.
TEST(CheckedCircuit, InterfaceStays) {
  struct Changing final : Circuit {
    const CircuitInfo& info() const override { return current; }
    void generate(GateSink& sink) const override {
      for (const Gate& gate : chain_of(3)) sink.emit(gate);
    }
    CircuitInfo current = test_info({2}, {1});
  };
  const auto circuit = std::make_shared<Changing>();
  const auto kept = checked(circuit);
  circuit->current.outputs[0].to = Receiver::A;
  EXPECT_EQ(kept->info().outputs[0].to, Receiver::Both);
}

}  // namespace
}  // namespace tinyot
