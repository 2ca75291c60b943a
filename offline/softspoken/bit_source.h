// SoftSpokenOT as a source of aBits: checked bits of both directions from the parties' GGM trees,
// batch by batch.
#pragma once

#include "offline/global_key.h"
#include "offline/softspoken/softspoken.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {

// Of a batch of bits.
PieceCost cost_of_batch(std::uint32_t softspoken_k);

// The bits of one session part; batches are numbered in order.
class BitSource {
 public:
  // `domain`: as SoftSpokenMacHolder.
  BitSource(checks::Session& session, const Trees& trees, std::uint64_t domain, Pace pace = {})
      : mac_holder_(session, trees.mine, domain), key_holder_(session, trees.peers, domain),
        ahead_(pace.ahead(cost_of_batch(trees.mine.shape.k))) {}

  // For callers that interleave the steps of a batch with their own.
  SoftSpokenMacHolder& mac_holder() { return mac_holder_; }
  SoftSpokenKeyHolder& key_holder() { return key_holder_; }
  SoftSpokenBatch next(std::size_t bits) { return {number_++, bits}; }

  // Role: both, symmetric. Fills the spans with bits of each direction, a multiple of kKappa; they
  // may be used on return. Wire, Fails: as SoftSpokenMacHolder and SoftSpokenKeyHolder.
  void make(MineView mine, PeersView peers);
  // The same for `count` bits, rounded up to whole blocks.
  AuthBits make(std::size_t count);

 private:
  SoftSpokenMacHolder mac_holder_;
  SoftSpokenKeyHolder key_holder_;
  std::size_t ahead_;
  std::size_t number_ = 0;
};

}  // namespace tinyot::offline
