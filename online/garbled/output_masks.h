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
  void take(const circuit::RoundOutput& output, const WireBits& bits, BitVector& to);

  Lanes lanes_;
  std::vector<Part> parts_;  // by bundle
  BitVector bits_, masked_;  // entry (bundle, bit, lane)
  SecretVector<Block> g_, h_;
};

}  // namespace tinyot::online
