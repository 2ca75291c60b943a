// The batched check of garbled rows (doc/protocol.md, section 16.4). Once all masked values L are
// public, c = (L_alpha ^ lambda_alpha)(L_beta ^ lambda_beta) ^ L_gamma ^ lambda_gamma is 0 for each
// AND, and then both parties hold the same block
//
//   m_P(c) = L_alpha.m_P(beta) ^ L_beta.m_P(alpha) ^ m_P(s) ^ (L_alpha.L_beta ^ L_gamma).Delta^P
//
// The sums of H over these blocks enter both directions of the MAC transcript, and the digests
// follow A's first, then B's: neither party shows anything about its c before the other has proved
// its own.
#pragma once

#include "checks/session.h"
#include "online/garbled/chunks.h"
#include "online/garbled/mask_blocks.h"
#include "online/inputs.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

// The masked values of all wires, by the public rules: the value of what is public, 0 for a shared
// input, XOR, NOT; those of ANDs are set.
class MaskedValues {
 public:
  // `constants`: of public inputs and of opened ones (shared_inputs.h).
  MaskedValues(const circuit::CircuitInfo& info, const Lanes& lanes, const BundleValues& constants)
      : info_(info), lanes_(lanes), constants_(constants), bits_(true, lanes) {}

  // Sets all but the ANDs of a piece that begins a round. `masked`: L of the inputs of A and of B,
  // those next in order.
  void begin(const Piece& piece, std::array<BitReader, 2>& masked, OutputMasks& outputs);

  std::uint64_t get(std::size_t tile, circuit::Slot slot) const { return bits_.get(tile, slot); }
  void set_and(std::size_t tile, const circuit::RoundAnd& gate, BitReader& gamma,
               std::size_t width) {
    bits_.put_next(tile, gate.out, gamma, width);
  }

 private:
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& constants_;
  WireBits bits_;
};

// L of the operands and the result of some entries, packed.
struct GateValues {
  explicit GateValues(std::size_t entries) : alpha(entries), beta(entries), gamma(entries) {}
  BitVector alpha, beta, gamma;
};

// Absorbs m_P(c) of entries, next in order. `macs` is overwritten.
void absorb_gates(checks::Session& session, GateMacs& macs, const GateValues& values);

// Role: A. Sends L of the ANDs of a chunk. Wire: 1 message of ceil(n / 8) bytes, none without
// entries.
void send_masked_ands(checks::Session& session, const GateValues& values);

// Step C, role: B. Receives L of the ANDs of each chunk, in order, and absorbs the gates.
class GateCheck {
 public:
  GateCheck(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
            const BundleValues& constants, OutputMasks& outputs)
      : session_(session), lanes_(lanes), outputs_(outputs), values_(info, lanes, constants) {}

  // `macs` is overwritten.
  void receive(const Chunk& chunk, GateMacs& macs);

 private:
  checks::Session& session_;
  Lanes lanes_;
  OutputMasks& outputs_;
  MaskedValues values_;
};

}  // namespace tinyot::online
