// The outputs of a garbled run: my bits and half shares of their masks, and their masked values
// (doc/protocol.md, section 16.5). A party receives an output when the other one reveals its bits
// of the masks, with MACs. Outputs that no party receives stay shared.
#pragma once

#include <vector>

#include "checks/session.h"
#include "online/garbled/half_shares.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

class OutputMasks {
 public:
  OutputMasks(const circuit::CircuitInfo& info, const Lanes& lanes);

  // Of the masks: my bits, and planes g and h.
  void take_bits(const circuit::RoundOutput& output, const WireBits& bits);
  void take_blocks(const circuit::RoundOutput& output, std::size_t tile, WireBlocks& blocks);
  // Of the values: L.
  void take_masked(const circuit::RoundOutput& output, const WireBits& bits);
  // Where only A knows L (early rows): A takes it into its share, whose MAC is its label, and B's
  // key of that share is X_0. Then [value] = [mask], and L is 0. `labels`: X_L at A, X_0 at B.
  void take_labels(const checks::Session& session, const circuit::Round& round, WireBlocks& labels);

  // Whether a party receives any output bit.
  bool has_outputs_of(Party party) const { return entries_of(party) > 0; }

  // Role: other party. Reveals my bits of the masks of the peer's outputs, after the transcript of
  // the peer's direction has settled. Wire: messages of ceil(n / 8) bytes, n <= 2^16.
  void reveal(checks::Session& session, const checks::SettledCheck& before);
  // Role: receiver. My outputs, unchecked until the transcripts settle.
  BundleValues receive(checks::Session& session);

  // The outputs that no party receives, by bundle. Once.
  SharedOutputs take_shared(const checks::Session& session);

 private:
  struct Part {
    std::size_t bundle, first, count;  // entries
    circuit::Receiver to;
  };
  std::size_t entries_of(Party party) const;
  template <class Use>
  void for_each_entry_of(Party party, Use use) const;
  std::size_t first_entry(const circuit::RoundOutput& output, std::size_t tile) const {
    return parts_[output.bundle].first + output.bit * lanes_.count() + lanes_.first(tile);
  }
  void take(const circuit::RoundOutput& output, const WireBits& bits, BitVector& to);

  Lanes lanes_;
  std::vector<Part> parts_;  // by bundle
  BitVector bits_, masked_;  // entry (bundle, bit, lane)
  SecretVector<Block> g_, h_;
};

// What receive() has returned, once it has been checked.
BundleValues checked(BundleValues outputs, const checks::SettledCheck&);

// Messages 3 to 5, role: both. Settles both directions, A's first, and reveals outputs. Returns
// mine. Wire: as run_garbled(). Fails: PeerCheated("MAC transcript").
BundleValues exchange_outputs(checks::Session& session, OutputMasks& outputs);

}  // namespace tinyot::online
