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

// Folded shares of the masks of a chunk's ANDs, which the gate check takes (gate_check.h).
struct GateMacs {
  SecretVector<Block> alpha, beta, s;
};

// My half shares of the masks of a chunk's ANDs, entry by entry: of the operands alpha and beta,
// and of s = alpha . beta ^ gamma, where gamma is the mask of the result.
struct MaskedAnds {
  explicit MaskedAnds(std::size_t entries)
      : alpha_g(entries), alpha_h(entries), beta_g(entries), beta_h(entries), s_g(entries),
        s_h(entries) {}

  GateMacs folded() &&;

  SecretVector<Block> alpha_g, alpha_h, beta_g, beta_h, s_g, s_h;
};

class MaskBlocks {
 public:
  // All references outlive this object.
  MaskBlocks(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
             const SharedValues& shared, OutputMasks& outputs);

  // Role: both. After the chunk's openings have been received.
  MaskedAnds evaluate(const Chunk& chunk);

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
