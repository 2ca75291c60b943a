#include "circuitgen/evaluate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bit_vector.h"
#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

void check_shapes(const CircuitInfo& info, std::size_t lanes,
                  const std::vector<LaneMatrix>& inputs) {
  if (lanes == 0) throw UsageError("the number of lanes must be at least 1");
  if (inputs.size() != info.inputs.size()) {
    throw UsageError("circuit " + info.name + " has " + std::to_string(info.inputs.size()) +
                     " input bundles, but values are given for " + std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputBundle& bundle = info.inputs[i];
    const std::size_t values = bundle.same_in_all_lanes ? 1 : lanes;
    if (inputs[i].lanes() != values) {
      throw UsageError(
          "input " + bundle.name + " needs " + std::to_string(values) +
          (bundle.same_in_all_lanes ? " value (the same in all lanes)" : " values (one per lane)") +
          ", but " + std::to_string(inputs[i].lanes()) + " are given");
    }
    if (inputs[i].bits() != bundle.bits)
      throw UsageError("input " + bundle.name + " has " + std::to_string(bundle.bits) +
                       " bits, but its values have " + std::to_string(inputs[i].bits()));
  }
}

// A wire is a row of words, one bit per lane; bits beyond the lanes in the last word are undefined.
class Evaluator final : public GateSink {
 public:
  Evaluator(const CircuitInfo& info, std::size_t lanes, const std::vector<LaneMatrix>& inputs)
      : info_(info), lanes_(lanes), row_words_(words_for(lanes)), inputs_(inputs) {
    for (const OutputBundle& bundle : info.outputs) {
      outputs_.emplace_back(lanes, bundle.bits);
      written_.emplace_back(bundle.bits, false);
    }
  }

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Input:
        return take_input(gate);
      case GateKind::Const:
        ENSURE(gate.in0 <= 1);
        std::fill_n(make_row(gate.out), row_words_, std::uint64_t{0} - gate.in0);
        return;
      case GateKind::Xor:
      case GateKind::And:
        return combine(gate);
      case GateKind::Not: {
        std::uint64_t* out = make_row(gate.out);
        const std::uint64_t* x = row(gate.in0);
        for (std::size_t w = 0; w < row_words_; ++w) out[w] = ~x[w];
        return;
      }
      case GateKind::Output:
        return set_output(gate);
      case GateKind::Free:
        wires_.free(gate.in0);
        return;
      case GateKind::GroupBegin:
      case GateKind::GroupEnd:
        return;
    }
  }

  std::vector<LaneMatrix> finish() && {
    for (const std::vector<bool>& bits : written_)
      ENSURE(std::find(bits.begin(), bits.end(), false) == bits.end());
    return std::move(outputs_);
  }

 private:
  struct Wire {
    bool live = false;

    bool is_live() const { return live; }
    void set_live() { live = true; }
  };

  std::uint64_t* row(WireId id) {
    wires_.at(id);
    return rows_.data() + id * row_words_;
  }
  // Invalidates pointers to other rows.
  std::uint64_t* make_row(WireId id) {
    wires_.make(id, {});
    const std::size_t end = (id + 1) * row_words_;
    if (end > rows_.size()) rows_.resize(std::max(end, rows_.size() + rows_.size() / 2));
    return row(id);
  }

  void take_input(const Gate& gate) {
    ENSURE(gate.in0 < info_.inputs.size() && gate.in1 < info_.inputs[gate.in0].bits);
    const LaneMatrix& values = inputs_[gate.in0];
    std::uint64_t* out = make_row(gate.out);
    if (info_.inputs[gate.in0].same_in_all_lanes) {
      std::fill_n(out, row_words_, std::uint64_t{0} - std::uint64_t{values[0][gate.in1]});
      return;
    }
    std::fill_n(out, row_words_, 0);
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      out[lane / 64] |= std::uint64_t{values[lane][gate.in1]} << (lane % 64);
  }

  void combine(const Gate& gate) {
    std::uint64_t* out = make_row(gate.out);
    const std::uint64_t *x = row(gate.in0), *y = row(gate.in1);
    if (gate.kind == GateKind::And) {
      for (std::size_t w = 0; w < row_words_; ++w) out[w] = x[w] & y[w];
    } else {
      for (std::size_t w = 0; w < row_words_; ++w) out[w] = x[w] ^ y[w];
    }
  }

  void set_output(const Gate& gate) {
    ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits &&
           !written_[gate.out][gate.in1]);
    written_[gate.out][gate.in1] = true;
    const std::uint64_t* value = row(gate.in0);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      outputs_[gate.out][lane].put(gate.in1, ((value[lane / 64] >> (lane % 64)) & 1) != 0);
    }
  }

  const CircuitInfo& info_;
  const std::size_t lanes_;
  const std::size_t row_words_;
  const std::vector<LaneMatrix>& inputs_;
  std::vector<LaneMatrix> outputs_;
  std::vector<std::vector<bool>> written_;  // output bits that have occurred
  WireTable<Wire> wires_;
  SecretVector<std::uint64_t> rows_;
};

}  // namespace

std::vector<LaneMatrix> evaluate(const Circuit& circuit, std::size_t lanes,
                                 const std::vector<LaneMatrix>& inputs) {
  check_shapes(circuit.info(), lanes, inputs);
  Evaluator evaluator(circuit.info(), lanes, inputs);
  circuit.generate(evaluator);
  return std::move(evaluator).finish();
}

}  // namespace tinyot::circuit
