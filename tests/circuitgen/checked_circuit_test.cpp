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
using enum circuit::GateKind;

constexpr std::size_t kBlock = GateRecord::kBlockGates;

struct NoBytes final : circuit::ByteSink {
  void add(std::span<const std::byte>) override {}
};

std::unique_ptr<Circuit> checked(const std::shared_ptr<Circuit>& circuit) {
  NoBytes ignored;
  return std::make_unique<CheckedCircuit>(circuit, circuit::encode_gates(*circuit, ignored).record);
}

// A chain: each gate reads the one before and an input.
std::vector<Gate> chain(std::size_t gates) {
  std::vector<Gate> stream = {{Input, 0, 0, 0}, {Input, 1, 0, 1}};
  for (std::size_t i = 0; i < gates; ++i)
    stream.push_back({i % 3 == 0 ? And : Xor, i + 2, i == 0 ? 0 : i + 1, 1});
  stream.push_back({Output, 0, gates + 1, 0});
  return stream;
}
constexpr std::size_t kFirstGate = 2;  // in the stream

// The first call gives `first`, later ones `then`.
std::shared_ptr<TestCircuit> changing(std::vector<Gate> first, std::vector<Gate> then) {
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
      gates += gate.kind == And || gate.kind == Xor || gate.kind == Not;
      EXPECT_NE(gate.kind, Output) << "an output of a circuit that differs";
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
  for (const std::size_t gates : {std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock}) {
    const auto circuit = checked(std::make_shared<TestCircuit>(test_info({2}, {1}), chain(gates)));
    for (int i = 0; i < 2; ++i) {
      RecordingSink sink;
      circuit->generate(sink);
      EXPECT_EQ(sink.count(And) + sink.count(Xor), gates);
      EXPECT_EQ(sink.count(Output), 1u);
    }
  }
}

// One gate differs, in its kind or in an operand: nothing of its block arrives.
TEST(CheckedCircuit, NoGateOfADifferingBlockArrives) {
  const std::vector<Gate> good = chain(3 * kBlock + 5);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, kBlock - 1, kBlock, 2 * kBlock - 1,
                               3 * kBlock - 1, 3 * kBlock, 3 * kBlock + 4}) {
    for (const int kind : {0, 1, 2}) {
      std::vector<Gate> other = good;
      Gate& gate = other[kFirstGate + at];
      if (kind == 0) gate.kind = gate.kind == And ? Xor : And;
      if (kind == 1) gate.in0 = 1;
      if (kind == 2) gate.in1 = 0;
      EXPECT_EQ(gates_before_error(*checked(changing(good, other))), at / kBlock * kBlock)
          << at << " " << kind;
    }
  }
}

TEST(CheckedCircuit, FindsFewerAndMoreGates) {
  for (const std::size_t gates : {kBlock - 1, kBlock, kBlock + 1}) {
    for (const std::size_t other : {gates - 1, gates + 1, gates / 2, 2 * gates, 4 * gates}) {
      const std::size_t found = gates_before_error(*checked(changing(chain(gates), chain(other))));
      EXPECT_LE(found, std::min(gates, other) / kBlock * kBlock) << gates << " " << other;
    }
  }
}

TEST(CheckedCircuit, FindsOtherOutputs) {
  const std::vector<Gate> good = chain(10);
  std::vector<Gate> other = good;
  other.back().in0 = 5;
  EXPECT_EQ(gates_before_error(*checked(changing(good, other))), 0u);
  other.pop_back();
  EXPECT_EQ(gates_before_error(*checked(changing(good, other))), 0u);
}

// The order of Free events and the numbers of wires are the garbage collector's business.
TEST(CheckedCircuit, NumbersOfWiresMayDiffer) {
  const std::vector<Gate> good = chain(2 * kBlock);
  std::vector<Gate> other = good;
  for (Gate& gate : other) {
    if (gate.kind != Output) gate.out += 7;
    if (gate.kind != Input) gate.in0 += 7;
    if (gate.kind == And || gate.kind == Xor) gate.in1 += 7;
  }
  other.push_back({Free, 0, 9, 0});
  RecordingSink sink;
  checked(changing(good, other))->generate(sink);
  EXPECT_EQ(sink.count(Output), 1u);
}

TEST(CheckedCircuit, AFunctionThatThrowsHalfWayHasSentCheckedGatesOnly) {
  const std::vector<Gate> good = chain(2 * kBlock);
  const auto circuit = std::make_shared<TestCircuit>(
      test_info({2}, {1}), [&, is_first = std::make_shared<bool>(true)](GateSink& sink) {
        const bool throws = !std::exchange(*is_first, false);
        for (std::size_t i = 0; i < good.size(); ++i) {
          if (throws && i == kBlock + kBlock / 2) throw std::runtime_error("half way");
          sink.emit(good[i]);
        }
      });
  RecordingSink sink;
  EXPECT_THROW(checked(circuit)->generate(sink), std::runtime_error);
  EXPECT_EQ(sink.count(And) + sink.count(Xor), kBlock);
  EXPECT_EQ(sink.count(Output), 0u);
}

// A function may catch what its operations throw.
TEST(CheckedCircuit, AFunctionThatCatchesTheErrorGetsNoFurther) {
  const std::vector<Gate> good = chain(4 * kBlock);
  const auto circuit = std::make_shared<TestCircuit>(
      test_info({2}, {1}), [&, is_first = std::make_shared<bool>(true)](GateSink& sink) {
        const bool differs = !std::exchange(*is_first, false);
        for (std::size_t i = 0; i < good.size(); ++i) {
          Gate gate = good[i];
          if (differs && i == kFirstGate + kBlock) gate.kind = And == gate.kind ? Xor : And;
          try {
            sink.emit(gate);
          } catch (const UsageError&) {
          }
        }
      });
  EXPECT_EQ(gates_before_error(*checked(circuit)), kBlock);
}

// Likewise for an error of the receiver: what it has received does not come again.
TEST(CheckedCircuit, AnErrorOfTheReceiverLasts) {
  const std::vector<Gate> good = chain(4 * kBlock);
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
      gates += gate.kind == And || gate.kind == Xor;
      if (gates == 5) throw NetworkError("the connection has ended");
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
      for (const Gate& gate : chain(3)) sink.emit(gate);
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
