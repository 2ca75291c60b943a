// The rows of half gates: steps G and E (doc/protocol.md, section 16.3).
#pragma once

#include "checks/session.h"
#include "online/garbled/chunks.h"
#include "online/garbled/gate_check.h"
#include "online/garbled/mask_blocks.h"
#include "online/garbled/row_hash.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

// The labels of the operands and results of a piece, entry by entry.
struct PieceLabels {
  void read_operands(const Piece& piece, const Lanes& lanes, WireBlocks& labels);
  void write_results(const Piece& piece, const Lanes& lanes, WireBlocks& labels) const;

  SecretVector<Block> alpha, beta, gamma;
};

// Step G, role: B.
//
//   input of a party   X_0 uniform         shared input       X_0 = 0
//   constant c         X_0 = c.Delta^B     XOR, NOT           X_x0 ^ X_y0, X_x0 ^ Delta^B
//   G_0 = H_l(X_alpha,0) ^ H_l(X_alpha,1) ^ g_B(beta)
//   G_1 = H_r(X_beta,0)  ^ H_r(X_beta,1)  ^ g_B(alpha) ^ X_alpha,0
//   X_gamma,0 = H_l(X_alpha,0) ^ H_r(X_beta,0) ^ g_B(s)
class Garbler {
 public:
  Garbler(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
          const BundleValues& inputs, std::uint64_t run);

  // Sends G_0 and G_1 of each entry, and the colours lsb(X_gamma,0). Wire: 2 messages, of 32 n and
  // ceil(n / 8) bytes, none without entries.
  void send_rows(Chunk& chunk, const MaskedAnds& ands);
  // Sends the labels X_L of the chunk's inputs, A's first, once both parties' L have been received.
  // Wire: 1 message of 16 n bytes, none without inputs.
  void send_labels(Chunk& chunk);

 private:
  void garble(std::uint64_t first, const MaskedAnds& ands, std::size_t from, std::size_t count,
              Block* rows, BitVector& colours);

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& inputs_;
  RowHash hash_;
  WireBlocks labels_;  // X_0
  PieceLabels piece_;
  std::vector<Block> rows_;  // of a chunk
};

// Step E, role: A. It checks no row by itself and does not stop: absorb_gates() judges all of them.
//
//   shared input, constant   X = 0        XOR, NOT   X_x ^ X_y, X_x
//   X_gamma = H_l(X_alpha) ^ H_r(X_beta) ^ g_A(s) ^ L_alpha.(G_0 ^ g_A(beta))
//             ^ L_beta.(G_1 ^ g_A(alpha) ^ X_alpha),      L_gamma = lsb(X_gamma) ^ colour
//
// Timing: constant in L.
class RowEvaluator {
 public:
  RowEvaluator(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
               const BundleValues& inputs, OutputMasks& outputs, std::uint64_t run);

  // Receives the rows and labels of a chunk. L of its ANDs and their operands.
  GateValues receive(Chunk& chunk, const MaskedAnds& ands);

 private:
  void evaluate(const Chunk& chunk, const MaskedAnds& ands, const BitVector& colours,
                std::size_t from, std::size_t count, GateValues& values);

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& inputs_;
  OutputMasks& outputs_;
  RowHash hash_;
  MaskedValues values_;
  WireBlocks labels_;  // X_L
  PieceLabels piece_;
  std::vector<Block> rows_;  // of a chunk
};

}  // namespace tinyot::online
