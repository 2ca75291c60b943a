// Circuits and values for the tests of this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "circuitgen/fingerprint.h"
#include "tests/support/brackets.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"
#include "tinyot/circuit/gate.h"

namespace tinyot {

// A circuit from a lambda, or from a list of gates.
class TestCircuit final : public Circuit {
 public:
  TestCircuit(CircuitInfo info, std::function<void(GateSink&)> program)
      : info_(std::move(info)), program_(std::move(program)) {}
  TestCircuit(CircuitInfo info, std::vector<Gate> gates)
      : TestCircuit(std::move(info), [gates = std::move(gates)](GateSink& sink) {
          for (const Gate& gate : gates) sink.emit(gate);
        }) {}
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override { program_(sink); }

 private:
  CircuitInfo info_;
  std::function<void(GateSink&)> program_;
};

inline CircuitInfo test_info(std::initializer_list<std::uint32_t> inputs,
                             std::initializer_list<std::uint32_t> outputs) {
  CircuitInfo info{"test", {}, {}};
  for (const std::uint32_t bits : inputs) {
    info.inputs.push_back(
        {std::to_string(info.inputs.size()), bits, InputSource::A, ValueFormat::Integer, false});
  }
  for (const std::uint32_t bits : outputs) {
    info.outputs.push_back(
        {std::to_string(info.outputs.size()), bits, Receiver::Both, ValueFormat::Integer});
  }
  return info;
}

struct RecordingSink final : GateSink {
  void emit(const Gate& gate) override { gates.push_back(gate); }
  std::size_t count(GateKind kind) const {
    std::size_t n = 0;
    for (const Gate& gate : gates) n += gate.kind == kind;
    return n;
  }
  std::vector<Gate> gates;
};

struct CollectedBytes final : circuit::ByteSink {
  void add(std::span<const std::byte> more) override {
    for (const std::byte byte : more) bytes.push_back(std::to_integer<int>(byte));
  }
  std::vector<int> bytes;
};

inline std::vector<int> encoding_of(const Circuit& circuit) {
  CollectedBytes out;
  circuit::encode_gates(circuit, out);
  return out.bytes;
}

// The largest number of live wires.
inline std::uint64_t most_live_wires(const Circuit& circuit) {
  struct Sink final : GateSink {
    void emit(const Gate& gate) override {
      if (gate.kind == GateKind::Free) {
        --live;
      } else if (gate.kind != GateKind::Output) {
        most = std::max(most, ++live);
      }
    }
    std::uint64_t live = 0;
    std::uint64_t most = 0;
  } sink;
  circuit.generate(sink);
  return sink.most;
}

inline BitVector random_bits(std::size_t bits, std::mt19937_64& rng) {
  BitVector value(bits);
  for (std::size_t i = 0; i < bits; ++i) value.put(i, (rng() & 1) != 0);
  return value;
}

inline std::vector<LaneValues> random_inputs(const CircuitInfo& info, std::size_t lanes,
                                             std::mt19937_64& rng) {
  std::vector<LaneValues> inputs;
  for (const InputBundle& bundle : info.inputs) {
    LaneValues values;
    const std::size_t count = bundle.same_in_all_lanes ? 1 : lanes;
    for (std::size_t lane = 0; lane < count; ++lane)
      values.push_back(random_bits(bundle.bits, rng));
    inputs.push_back(std::move(values));
  }
  return inputs;
}

// Random gates of all kinds, with gaps between ids, reused ids, and wires freed at random, whether
// read or not. Reads prefer recent wires, so that the circuit is deep, but any live wire may be
// read. `gap` is the largest step between two ids.
inline TestCircuit random_circuit(std::mt19937_64& rng, std::size_t gates, std::uint64_t gap) {
  CircuitInfo info = test_info({5, 9}, {7, 3});
  info.inputs[0].same_in_all_lanes = true;
  const auto below = [&rng](std::uint64_t bound) { return rng() % bound; };

  std::vector<Gate> stream;
  std::vector<WireId> live;
  std::vector<WireId> freed;
  WireId next = below(gap);
  const auto take_id = [&] {
    if (!freed.empty() && below(2) == 0) {
      std::swap(freed[below(freed.size())], freed.back());
      const WireId again = freed.back();
      freed.pop_back();
      return again;
    }
    const WireId id = next;
    next += 1 + below(gap);
    return id;
  };
  const auto make = [&](GateKind kind, std::uint64_t in0, std::uint64_t in1) {
    stream.push_back({kind, take_id(), in0, in1});
    live.push_back(stream.back().out);
  };
  const auto pick = [&] {
    const bool recent = below(2) == 0;
    return live[recent ? live.size() - 1 - below(std::min<std::size_t>(live.size(), 3))
                       : below(live.size())];
  };

  std::vector<std::pair<std::uint32_t, std::uint32_t>> inputs, outputs;
  for (std::uint32_t b = 0; b < info.inputs.size(); ++b) {
    for (std::uint32_t i = 0; i < info.inputs[b].bits; ++i) inputs.emplace_back(b, i);
  }
  for (std::uint32_t b = 0; b < info.outputs.size(); ++b) {
    for (std::uint32_t i = 0; i < info.outputs[b].bits; ++i) outputs.emplace_back(b, i);
  }
  std::shuffle(inputs.begin(), inputs.end(), rng);
  std::shuffle(outputs.begin(), outputs.end(), rng);

  make(GateKind::Const, below(2), 0);
  for (std::size_t i = 0; i < gates; ++i) {
    const std::uint64_t choice = below(20);
    if (choice < 2 && !inputs.empty()) {
      make(GateKind::Input, inputs.back().first, inputs.back().second);
      inputs.pop_back();
    } else if (choice < 3) {
      make(GateKind::Const, below(2), 0);
    } else if (choice < 8) {
      make(GateKind::Xor, pick(), pick());
    } else if (choice < 12) {
      make(GateKind::And, pick(), pick());
    } else if (choice < 14) {
      make(GateKind::Not, pick(), 0);
    } else if (choice < 15 && outputs.size() > 5) {
      stream.push_back({GateKind::Output, outputs.back().first, pick(), outputs.back().second});
      outputs.pop_back();
    } else if (live.size() > 1) {
      const std::size_t victim = below(live.size());
      stream.push_back({GateKind::Free, 0, live[victim], 0});
      freed.push_back(live[victim]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (const auto& [bundle, bit] : outputs)
    stream.push_back({GateKind::Output, bundle, pick(), bit});
  return TestCircuit(std::move(info), std::move(stream));
}

// The same gates, many of them in groups.
inline TestCircuit grouped_circuit(const Circuit& plain, std::mt19937_64& rng) {
  RecordingSink sink;
  plain.generate(sink);
  return TestCircuit(plain.info(), test::with_groups(sink.gates, [&rng](std::uint64_t bound) {
                       return rng() % bound;
                     }));
}

}  // namespace tinyot
