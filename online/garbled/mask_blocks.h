// Step P (doc/protocol.md, section 16.3): the half shares of all masks, and the openings onto the
// transcript. It needs no label.
#pragma once

#include <array>

#include "checks/session.h"
#include "online/garbled/chunks.h"
#include "online/garbled/output_masks.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

// Folded shares g ^ h of the masks of a chunk's ANDs, entry by entry, which the gate check takes
// (gate_check.h): of the operands alpha and beta, and of s = alpha . beta ^ gamma, where gamma is
// the mask of the result.
struct GateMacs {
  SecretVector<Block> alpha, beta, s;
};

// The half shares g of the same masks, which the rows take, and the folded ones.
struct MaskedAnds {
  SecretVector<Block> alpha_g, beta_g, s_g;
  GateMacs macs;
};

class MaskBlocks {
 public:
  // All references outlive this object.
  MaskBlocks(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
             const SharedValues& shared, OutputMasks& outputs);

  // Role: both. After the chunk's openings have been received. `ands` is resized to its entries;
  // its memory is used again.
  void evaluate(const Chunk& chunk, MaskedAnds& ands);

 private:
  using Cursors = std::array<SliceCursor, 2>;  // of both parties' masks
  void set_inputs(const circuit::Round& round, Cursors& masks);

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const SharedValues& shared_;
  OutputMasks& outputs_;
  WireBlocks blocks_;  // planes g and h
};

}  // namespace tinyot::online
