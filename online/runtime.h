// Evaluates a circuit on shared bits of every lane, round by round, for the phases that do so
// (NNOB12 Fig. 6): inputs, local gates and outputs are the same in all of them, ANDs are not.
//
// Differs: in each round the bits are evaluated first and their openings sent; the blocks of the
// previous round are computed while the peer's openings are in flight. No message before the check
// depends on them, so the messages are the same.
//
// Outputs are revealed only after the transcript of everything before them has settled, and the
// caller gets them only after their own MACs have also settled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "material/material.h"
#include "online/inputs.h"
#include "online/material_reader.h"
#include "online/outputs.h"
#include "online/values.h"
#include "online/wires.h"
#include "tinyot/parameters.h"

namespace tinyot::online {

// The material that a run takes for a circuit of `ands` ANDs in all lanes: a triple, or an object
// of each other kind, for each AND; an aBit of the owner for each input bit; with triples, also an
// aBit of the receiver for each output bit that only one party learns. Material for garbling gives
// full triples in place of triples.
// Public bundles and those that are or stay shared take no material.
MaterialCounts material_for(const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                            std::size_t lanes);

// The default number of gates that are layered together: smaller for more lanes, so that the wires
// of a window take at most a few hundred megabytes.
std::size_t window_for(std::size_t lanes);
// The default, doubled while the wires of a window take at most 512 MB: on one lane up to 2^24.
std::vector<std::size_t> windows_for(std::size_t lanes);

// The ANDs of a round over all lanes, and its groups in a phase that evaluates them as one gate. An
// entry is one AND, or one product of a group, in one lane; entries come tile by tile, gate by
// gate, lane by lane, and then those of lane-invariant ANDs and groups, one each. Results come in
// the same order.
class RoundAnds {
 public:
  virtual ~RoundAnds() = default;

  // Receives the peer's openings and returns my shares of the results. Called once, when what masks
  // the round's inputs has been announced.
  virtual BitVector open(const circuit::Round& round, std::span<const InputLayer> inputs) = 0;

  // Computes the blocks of the products and absorbs the openings into the transcript: tile by tile,
  // then of lane-invariant ANDs, whose results may reuse slots that were read before.
  virtual void combine(const circuit::Round& round, std::size_t tile, WireBlocks& wires) = 0;
  virtual void combine_invariant(const circuit::Round& round, WireBlocks& wires) = 0;
};

// How a phase goes through the rounds.
class RoundSteps {
 public:
  virtual ~RoundSteps() = default;
  // The inputs of the round, by owner, whose masks have been drawn.
  virtual std::vector<InputLayer> inputs_of(const circuit::Round& round) = 0;
  // Role: both, symmetric. Sends the openings that depend on no message of the peer. Null if the
  // round has nothing to be done. `bits` stay as they are until open() has returned.
  virtual std::unique_ptr<RoundAnds> begin(const circuit::Round& round, const WireBits& bits) = 0;
};

// Calls use(tile, slot, width) for the results of ANDs and groups, tile by tile, then for those
// that are lane-invariant.
template <class Use>
void for_each_result(const circuit::Round& round, const Lanes& lanes, Use use) {
  const auto use_all = [&](std::size_t tile, const std::vector<circuit::RoundAnd>& ands,
                           const std::vector<circuit::RoundGroup>& groups, std::size_t width) {
    for (const circuit::RoundAnd& gate : ands) use(tile, gate.out, width);
    for (const circuit::RoundGroup& group : groups)
      for (std::size_t k = 0; k < group.shape->results.size(); ++k)
        use(tile, group.results[k], width);
  };
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    use_all(tile, round.ands, round.groups, lanes.width(tile));
  use_all(0, round.invariant_ands, round.invariant_groups, 1);
}

// Calls use(tile, gate, width) for the ANDs of a round without groups in the order of their
// entries.
template <class Use>
void for_each_and(const circuit::Round& round, const Lanes& lanes, Use use) {
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    for (const circuit::RoundAnd& gate : round.ands) use(tile, gate, lanes.width(tile));
  for (const circuit::RoundAnd& gate : round.invariant_ands)
    use(std::size_t{0}, gate, std::size_t{1});
}

// The bits of an operand, by entry, of a round without groups.
BitVector gather(const circuit::Round& round, const Lanes& lanes, const WireBits& bits,
                 circuit::Slot circuit::RoundAnd::*operand);

class Runtime final : public circuit::RoundSink {
 public:
  // All references outlive this object.
  Runtime(checks::Session& session, RoundSteps& steps, WireForm form,
          const circuit::CircuitInfo& info, std::size_t lanes, const BundleValues& inputs,
          const SharedValues& shared, const RunProgress& progress);

  void round(circuit::Round& round) override;
  // After the last round: reveals the outputs, of which those that one party receives take
  // material. Once.
  void finish_blocks();
  Evaluation reveal_outputs(MaterialReader& material);

 private:
  // A round whose bits have been evaluated.
  struct Evaluated {
    circuit::Round round;
    std::vector<InputLayer> inputs;
    std::unique_ptr<RoundAnds> ands;
  };

  static void receive(std::vector<InputLayer>& inputs);
  void scatter(const circuit::Round& round, const BitVector& z);
  void set_outputs(BundleValues values, checks::SettledCheck) {
    result_.outputs = std::move(values);
  }

  checks::Session& session_;
  RoundSteps& steps_;
  WireForm form_;
  const circuit::CircuitInfo& info_;
  const BundleValues& inputs_;
  const SharedValues& shared_;
  const RunProgress& progress_;
  Lanes lanes_;
  WireBits bits_;
  WireBlocks blocks_;
  OutputShares outputs_;
  std::optional<Evaluated> evaluated_;  // the round whose blocks have not been computed
  circuit::Round spare_;                // whose memory is used again
  Evaluation result_;
};

}  // namespace tinyot::online
