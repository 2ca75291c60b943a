// SoftSpokenOT: authenticated bits from GGM trees, with the repetition code (Roy, CRYPTO 2022;
// doc/protocol.md, section 10.2). F = GF(2^k), N = 128 / k trees. The paper's sender, which has
// Delta, is the key holder here; its receiver, which has the choice bits, is the MAC holder.
//
// Bits are made in batches. For each tree i the MAC holder has u_i = sum of r_x and V_i = sum of
// x.r_x over the PRG outputs r_x of all leaves x, the key holder W_i = sum of (Delta_i ^ x).r_x =
// V_i ^ u_i.Delta_i. The bits are u_0 of a batch; c_i = u_i ^ u_0 turns the other W_i into keys for
// the same bits, and c_0 = 0 is not sent. The 128 rows of V, transposed, are MACs, those of W keys.
//
// The check, once per batch, over GF(2^128): a batch ends with one block of bits as a mask. After
// all corrections of the batch the key holder sends a challenge, which expands to chi_1, ...,
// chi_m; the MAC holder answers with u~ = u^(m+1) + sum chi_j.u^(j) and, for each row r, V~_r =
// V_r^(m+1) + sum chi_j.V_r^(j), and the key holder compares W~_r with V~_r ^ Delta_r.u~.
#pragma once

#include <optional>
#include <queue>
#include <vector>

#include "base/auth_bits.h"
#include "base/bit_matrix.h"
#include "crypto/gf128.h"
#include "crypto/prg.h"
#include "crypto/public_coins.h"
#include "offline/softspoken/ggm_trees.h"
#include "offline/unit/bit_source.h"

namespace tinyot::offline {

// Batches have a multiple of 128 bits, at most kBatchBits. A batch's number within its domain
// separates its PRG outputs.
//
// With the mask, a row has 112 blocks: the matrices fit in the caches; a row is whole groups of the
// AES kernels; its length is not a power of two, so rows do not map to the same cache sets; and it
// is large enough that the answers are a small part of the traffic.
inline constexpr std::size_t kBatchBits = 111 * kKappa;

// Role: MAC holder. The calls are made for all batches in order; answers may lag the corrections by
// some batches.
class SoftSpokenMacHolder {
 public:
  // `session` is a session part in which no other bits are made. `domain` is its number, the same
  // on both sides and unique among the parts of a session: it separates their PRG outputs.
  SoftSpokenMacHolder(checks::Session& session, const FullTrees& trees, std::uint64_t domain);

  // Makes the batch's bits and MACs, and sends the c_i.  Shapes: out: batch.bits together, each but
  // the last a multiple of 64. Wire: sends (N - 1) (bits + 128) / 8 bytes.
  void send_corrections(const BitBatch& batch, std::span<const MacColumnView> out);

  // Answers the challenge for the batch, from the same bits and MACs, which are as they were made.
  // They may be used when this has been sent.
  // Wire: receives 32 bytes, sends 129 blocks.
  void answer(const BitBatch& batch, std::span<const MacColumnView> made);

 private:
  // Rows with the mask.
  struct Rows {
    SecretVector<Block> u;
    BitMatrix v;
  };
  // A batch whose challenge has not arrived: its rows, or only the last block of each, if more than
  // kRowsKept batches wait. The other blocks are transposed MACs, so rows are made from them again;
  // keeping them is faster, but on a link with a long round-trip time many batches wait.
  struct Waiting {
    std::optional<Rows> rows;
    SecretVector<Block> masks;  // u^(m+1), V^(m+1)
  };
  static constexpr std::size_t kRowsKept = 3;

  Rows rows_of(std::size_t blocks);
  Rows rows_again(const Waiting& batch, std::span<const MacColumnView> made, std::size_t blocks);

  checks::Session& session_;
  TreeShape shape_;
  crypto::PrgRows leaves_;
  std::uint64_t domain_;
  std::queue<Waiting> waiting_;
  std::size_t kept_ = 0;     // of these with rows
  std::vector<Rows> spare_;  // for reuse, as the following
  SecretVector<Block> corrections_, leaf_strings_;
};

// Role: key holder.
class SoftSpokenKeyHolder {
 public:
  SoftSpokenKeyHolder(checks::Session& session, const PuncturedTrees& trees, std::uint64_t domain);

  // Receives the c_i, makes the keys and sends the challenge. The keys must not be used before
  // verify. Shapes: out: as for the other role. Wire: receives (N - 1) (bits + 128) / 8 bytes,
  // sends 32.
  void receive_corrections(const BitBatch& batch, std::span<const KeyColumnView> out);

  // Wire: receives 129 blocks.  Timing: constant.
  // Fails: PeerCheated("SoftSpoken check") if the answer is wrong or the tree check has failed.
  void verify(const BitBatch& batch);

 private:
  checks::Session& session_;
  TreeShape shape_;
  crypto::PrgRows leaves_;
  bool consistent_;
  std::uint64_t domain_;
  BitMatrix w_;
  SecretVector<Block> corrections_, leaf_strings_;
  std::queue<SecretVector<Block>> expected_;  // W~ of the batches whose answers have not arrived
};

}  // namespace tinyot::offline
