// LaBit: authenticated bits, a few of which may have leaked (NNOB12 Fig. 12; doc/protocol.md,
// section 5.1).
//
// The paper's A is the OT sender and holds Gamma_B and the L_i; its B is the OT receiver and holds
// the y_i and the N_i, with N_i = L_i ^ y_i.Gamma_B, strings of l bits. Here they are the roles
// LeakyBitSender and LeakyBitReceiver.
//
// The T strings are never held as a whole: they are made, sent and used in chunks of columns. Where
// the sender needs a column a second time, it runs the PRG again. Memory: O(T . chunk), whatever l.
//
// Differs: EQ compares h(Z_i) with h(W_i), 128 bits of each row (row_hashes.h), rather than the
// rows. chi comes from the pairing's seed, which the receiver sends when every correction has
// arrived.
//   A cheating sender has then fixed the corrections, and with them the difference delta != 0 of
//   its Gammas in a pair: W_i is one of two strings that differ by delta, and the sender must know
//   which. h(delta) = 0 has probability 2^-128 over chi. A cheating receiver chooses chi. Whatever
//   it announces, Z_i is W_i or W_i ^ Gamma, and h(Gamma) is 0 if all chi_j are 0, and otherwise
//   uniform to the receiver, since Gamma is uniform and multiplication by chi_j != 0 is a
//   bijection. So it passes with a wrong d_i by guessing 128 bits, or with chi = 0, where EQ
//   reveals nothing about Gamma; d_i has no other use.
#pragma once

#include <vector>

#include "base/bit_matrix.h"
#include "checks/session.h"
#include "crypto/prg.h"
#include "crypto/public_coins.h"
#include "offline/base_ot/base_ot.h"
#include "offline/nnob12/columns.h"
#include "offline/softspoken/row_hashes.h"

namespace tinyot::offline {

// A range of columns. `first` and `bits` are multiples of 512.
struct ColumnChunk {
  std::size_t first;
  std::size_t bits;
};
inline constexpr std::size_t kChunkBits = 4096;
// The number of chunks sent before waiting for the peer's first one, so that chunks do not cost a
// round trip each.
inline constexpr std::size_t kChunksAhead = 4;

// The chunks that make up `length` columns, a multiple of 512.
std::vector<ColumnChunk> chunks_of(std::size_t length);

// Rows of a chunk for the tau kept indices i in S(pi), in increasing order: L_i on the sender's
// side, N_i on the receiver's.
struct LeakyKeyRows {
  BitMatrix matrix;
};
struct LeakyMacRows {
  BitMatrix matrix;
};

// Role: OT sender ("A" in Fig. 12). The calls follow the figure's order.
class LeakyBitSender {
 public:
  // Step 1: draws Gamma_B, `length` bits (a multiple of 512).
  // Shapes: seeds: columns_made(params) pairs. A session has one run of LaBit in each direction.
  LeakyBitSender(checks::Session& session, const SecurityParameters& params, BaseOtSent seeds,
                 std::size_t length);

  // Steps 2 and 3: offers (L_i, L_i ^ Gamma_B) for all i, for the columns of this chunk.
  // Wire: sends T . bits / 8 bytes.
  void offer(const ColumnChunk& chunk);

  // Steps 4 and 5a: receives the pairing and the d_i, after every chunk has been offered.
  // Wire: receives 32 + tau / 8 bytes.
  void receive_pairing();

  // Step 5c: the digest of all h(Z_i), for EQ.
  crypto::Digest check_digest(const net::PhaseLog::Scope& progress);

  // Step 6: L_i of the kept indices.
  void kept_rows(const ColumnChunk& chunk, LeakyKeyRows& rows) const;

  const BitVector& gamma() const { return gamma_; }

 private:
  checks::Session& session_;
  std::size_t tau_;
  crypto::PrgRows zero_, one_;
  BitVector gamma_;
  BitMatrix corrections_;
  crypto::PublicSeed pairing_seed_{};
  std::vector<crypto::Pair> pairing_;
  BitVector d_;
};

// Role: OT receiver ("B" in Fig. 12).
//
// Differs: the pairing is drawn in the constructor, not in step 4. It is sent in step 4, after all
// corrections have arrived, and no earlier message to the sender depends on it. So the sender
// cannot distinguish the order of drawing, and the W_i can be hashed as the corrections arrive.
class LeakyBitReceiver {
 public:
  // Shapes: seeds: columns_made(params) choices and seeds.
  LeakyBitReceiver(checks::Session& session, const SecurityParameters& params,
                   BaseOtReceived seeds);

  // Steps 2, 3 and 5c: receives a chunk, N_i = PRG(s_i) ^ y_i.u_i, hashes the W_i and returns the
  // kept N_i in `rows`. Wire: receives T . bits / 8 bytes.
  void receive(const ColumnChunk& chunk, LeakyMacRows& rows);

  // Steps 4 and 5a. Wire: sends 32 + tau / 8 bytes.
  void send_pairing();

  // Step 5c: the digest of all h(W_i), for EQ.
  crypto::Digest check_digest();

  // Step 6: y_i of the kept indices.
  const BitVector& kept_choices() const { return kept_choices_; }

 private:
  checks::Session& session_;
  std::size_t tau_;
  crypto::PrgRows seeds_;
  BitVector choices_;
  crypto::PublicSeed pairing_seed_;
  std::vector<crypto::Pair> pairing_;
  BitVector kept_choices_;
  BitMatrix columns_;
  RowHashes hashes_;
};

}  // namespace tinyot::offline
