// Outputs (NNOB12 Fig. 6, "Output"): shares of all output bits, kept until everything before them
// has been checked, then revealed to whoever receives them.
//
// From pairs, the other party reveals its shares, with MACs.
//
// Differs: from triples a bit is opened to both, because a party has no MAC of its own share alone
// (ands_from_triples.h); one that only one party may learn is hidden by a fresh aBit of that party:
// x ^ r is opened, and the receiver knows r.
#pragma once

#include <vector>

#include "online/inputs.h"

namespace tinyot::online {

class OutputShares {
 public:
  OutputShares(const circuit::CircuitInfo& info, MaterialForm form, const Lanes& lanes);

  void take_bits(const circuit::RoundOutput& output, const WireBits& wires);
  void take_blocks(const circuit::RoundOutput& output, std::size_t tile, WireBlocks& wires);

  // Role: both. The outputs that I receive; what was revealed is on the transcript, still to be
  // settled. Wire: 1 message each way, of the bits that the peer receives, or from triples of all.
  InputValues reveal(checks::Session& session, MaterialReader& material,
                     checks::SettledCheck before);

 private:
  // Bits [first, first + count) of the entries.
  struct Part {
    std::size_t bundle;
    std::size_t first;
    std::size_t count;
    circuit::Receiver to;
  };

  InputValues reveal_pairs(checks::Session& session);
  InputValues open_shared(checks::Session& session, MaterialReader& material);
  BundleValues values_of(const Part& part, const BitVector& bits) const;

  Lanes lanes_;
  MaterialForm form_;
  std::vector<Part> parts_;  // by bundle
  BitVector bits_;           // entry (bundle, bit, lane)
  std::vector<SecretVector<Block>> planes_;
  std::size_t bits_taken_ = 0, blocks_taken_ = 0;
};

}  // namespace tinyot::online
