// What the steps of a garbled run share, whether its inputs are known at the beginning or not.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "online/garbled/mask_blocks.h"
#include "online/garbled/mask_pass.h"
#include "online/garbled/output_masks.h"
#include "online/garbled/shared_inputs.h"
#include "online/material_reader.h"
#include "online/values.h"

namespace tinyot::online {

// Known at the beginning of a run: the public values among `inputs`, by bundle.
BundleValues public_values(const circuit::CircuitInfo& info, const BundleValues& inputs);

struct GarbledSteps {
  // `known`: public values. Draws the masks of shared inputs and sends their openings.
  GarbledSteps(checks::Session& its_session, material::Source& source, const MaterialCounts& wanted,
               const circuit::CircuitRounds& rounds, const SharedValues& shared, BundleValues known)
      : session(its_session), info(rounds.circuit().info()), lanes(rounds.lanes()),
        run(its_session.next_counter()), material(std::in_place, source, wanted),
        constants(std::move(known)), shared_masks(session, *material, info, lanes, shared),
        outputs(info, lanes),
        masks(session, *material, info, lanes, constants, shared_masks.masks(), outputs),
        blocks(session, info, lanes, shared_masks.masks(), outputs) {}

  checks::Session& session;
  const circuit::CircuitInfo& info;
  Lanes lanes;
  std::uint64_t run;                       // of the connection
  std::optional<MaterialReader> material;  // absent once all of it has been drawn
  BundleValues constants;  // public values; once received, L of opened shared inputs
  SharedInputMasks shared_masks;
  OutputMasks outputs;
  MaskPass masks;
  MaskBlocks blocks;
};

// What a chunk does not need once its rows have been made: all but L and labels of its inputs.
void forget_material(Chunk& chunk);

// Counts what the interactive phase counts, and passes the rounds on.
class CountedRounds final : public circuit::RoundSink {
 public:
  CountedRounds(circuit::RoundSink& sink, Evaluation& result, std::size_t lanes)
      : sink_(sink), result_(result), lanes_(lanes) {}
  void round(circuit::Round& round) override {
    result_.xors += round.xor_count(lanes_);
    result_.and_rounds += round.and_count(lanes_) > 0;
    sink_.round(round);
  }

 private:
  circuit::RoundSink& sink_;
  Evaluation& result_;
  std::size_t lanes_;
};

}  // namespace tinyot::online
