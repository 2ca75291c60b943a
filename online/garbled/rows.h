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

// The rows of a chunk, as they are sent.
struct GarbledRows {
  SecretVector<Block> halves;    // G_0 and G_1 of each entry
  BitVector colours;             // lsb(X_gamma,0) of each
  SecretVector<std::byte> macs;  // Y_0, Y_1, Y_2 of each; none with the batched check
};

// How long the strings Y are that take the place of the gate check (doc/protocol.md, section 16.7):
// rho / 8 bytes, or 0. They are the upper bits of a block, as the lowest bit of Delta^A is known.
struct RowMacs {
  static constexpr std::size_t kStrings = 3;  // of an entry
  std::size_t bytes = 0;
};

// Role: B. Wire: `garbled.rows`, `garbled.colours` of 32 n and ceil(n / 8) bytes, and with Y
// `garbled.mac_rows` of 3 rho / 8 n; none without entries.
void send_rows(checks::Session& session, const GarbledRows& rows);
// Role: A.
void receive_rows(checks::Session& session, std::size_t entries, RowMacs macs, GarbledRows& rows);

// Role: B. Sends the labels X_L of the chunk's inputs, those of A first, once L of all of them are
// known. Wire: `garbled.labels`, 16 n bytes, none without inputs.
void send_labels(checks::Session& session, const Chunk& chunk);
// Role: A.
void receive_labels(checks::Session& session, Chunk& chunk);

// Step G, role: B.
//
//   input of a party   X_0 uniform         shared input       X_0 = 0
//   constant c         X_0 = c.Delta^B     XOR, NOT           X_x0 ^ X_y0, X_x0 ^ Delta^B
//   G_0 = H_l(X_alpha,0) ^ H_l(X_alpha,1) ^ g_B(beta)
//   G_1 = H_r(X_beta,0)  ^ H_r(X_beta,1)  ^ g_B(alpha) ^ X_alpha,0
//   X_gamma,0 = H_l(X_alpha,0) ^ H_r(X_beta,0) ^ g_B(s)
//   Y_0 = cut(H'_l(X_alpha,0) ^ H'_l(X_alpha,1) ^ h_B(beta))
//   Y_1 = cut(H'_r(X_beta,0)  ^ H'_r(X_beta,1)  ^ h_B(alpha))
//   Y_2 = cut(H'_l(X_alpha,0) ^ H'_r(X_beta,0)  ^ h_B(s))
class Garbler {
 public:
  // `constants`: of public inputs and of opened ones; a public input that is not among them has
  // labels. `outputs` takes the labels of the outputs with Y, whose L is never returned.
  Garbler(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
          const BundleValues& constants, RowMacs macs, OutputMasks& outputs, std::uint64_t run);

  // Makes the rows of a chunk, and the labels X_0 of its inputs.
  void garble(Chunk& chunk, const MaskedAnds& ands, GarbledRows& rows);

 private:
  void garble(std::uint64_t first, const MaskedAnds& ands, std::size_t from, std::size_t count,
              GarbledRows& rows);
  void make_macs(std::uint64_t first, const MaskedAnds& ands, std::size_t from, std::size_t count,
                 std::size_t in_piece, std::byte* macs);

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& constants_;
  RowMacs macs_;
  OutputMasks& outputs_;
  RowHash hash_;
  WireBlocks labels_;  // X_0
  PieceLabels piece_;
};

// Step E, role: A. It does not stop at a wrong row: absorb_gates() judges all of them, or
// has_found_wrong_row() after the last one.
//
//   shared input, constant   X = 0        XOR, NOT   X_x ^ X_y, X_x
//   X_gamma = H_l(X_alpha) ^ H_r(X_beta) ^ g_A(s) ^ L_alpha.(G_0 ^ g_A(beta))
//             ^ L_beta.(G_1 ^ g_A(alpha) ^ X_alpha),      L_gamma = lsb(X_gamma) ^ colour
//   bad |= Y_2 ^ L_alpha.Y_0 ^ L_beta.Y_1
//          ^ cut(H'_l(X_alpha) ^ H'_r(X_beta) ^ L_alpha.h_A(beta) ^ L_beta.h_A(alpha) ^ h_A(s)
//                ^ (L_alpha.L_beta ^ L_gamma).Delta^A)
//
// Timing: constant in L.
class RowEvaluator {
 public:
  // `unlabelled`: the constants that the garbler knew when it made the rows. `constants`: those,
  // and the public values that it did not know.
  RowEvaluator(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
               const BundleValues& unlabelled, const BundleValues& constants, RowMacs macs,
               OutputMasks& outputs, std::uint64_t run);
  ~RowEvaluator() { wipe_object(bad_); }
  RowEvaluator(const RowEvaluator&) = delete;
  RowEvaluator& operator=(const RowEvaluator&) = delete;

  // L of the ANDs of a chunk, and of their operands. The chunk has the labels of its inputs.
  GateValues evaluate(const Chunk& chunk, const MaskedAnds& ands, const GarbledRows& rows);

  // Whether any Y so far was wrong for the labels that this party has.
  bool has_found_wrong_row() const { return bad_ != 0; }

 private:
  void evaluate(const Chunk& chunk, const MaskedAnds& ands, const GarbledRows& rows,
                std::size_t from, std::size_t count, GateValues& values);
  void check_macs(std::uint64_t first, const MaskedAnds& ands, const std::byte* macs,
                  std::size_t from, std::size_t count, std::size_t in_piece,
                  const GateValues& values);

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& unlabelled_;
  RowMacs macs_;
  OutputMasks& outputs_;
  RowHash hash_;
  MaskedValues values_;
  WireBlocks labels_;  // X_L
  PieceLabels piece_;
  std::uint64_t bad_ = 0;  // the bits of all differences
};

}  // namespace tinyot::online
