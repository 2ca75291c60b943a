// Outputs (NNOB12 Fig. 6, "Output"): shares of all output bits, held until everything before them
// has been checked, then revealed to their receivers.
//
// With pairs, the other party reveals its shares, with MACs.
//
// Differs: with triples a bit is opened to both parties, because a party has no MAC of its share
// alone (ands_from_triples.h). A bit for one receiver is masked by a fresh aBit [r] of that party:
// x ^ r is opened, and the receiver removes r.
//
// Outputs that no party receives are not opened: both parties keep their shares.
#pragma once

#include <vector>

#include "online/inputs.h"
#include "online/shared_value.h"

namespace tinyot::online {

class OutputShares {
 public:
  OutputShares(const circuit::CircuitInfo& info, WireForm form, const Lanes& lanes);

  void take_bits(const circuit::RoundOutput& output, const WireBits& wires);
  void take_blocks(const circuit::RoundOutput& output, std::size_t tile, WireBlocks& wires);

  // Role: both. Returns the outputs that I receive. The revealed bits are on the transcript, which
  // is not yet settled. Wire: 1 round: the bits that the peer receives, or with triples all bits,
  // in messages (online/windowed_exchange.h).
  BundleValues reveal(checks::Session& session, MaterialReader& material,
                      checks::SettledCheck before);

  // The outputs that no party receives, by bundle. Once.
  SharedOutputs take_shared();

 private:
  // Bits [first, first + count) of the entries. Those that are revealed come first.
  struct Part {
    std::size_t bundle;
    std::size_t first;
    std::size_t count;
    circuit::Receiver to;
  };

  BundleValues reveal_pairs(checks::Session& session);
  BundleValues open_shared(checks::Session& session, MaterialReader& material);
  LaneMatrix values_of(const Part& part, const BitVector& bits) const;

  Lanes lanes_;
  WireForm form_;
  std::vector<Part> parts_;   // by bundle
  std::size_t revealed_ = 0;  // entries
  BitVector bits_;            // entry (bundle, bit, lane)
  std::vector<SecretVector<Block>> planes_;
  std::size_t bits_taken_ = 0, blocks_taken_ = 0;
};

}  // namespace tinyot::online
