// Checked bits of both directions from two parties' GGM trees, batch after batch: SoftSpokenOT as a
// source of aBits.
#pragma once

#include "offline/global_key.h"
#include "offline/softspoken.h"

namespace tinyot::offline {

// that a step of the work on batches is behind the one before it
inline constexpr std::size_t kBatchesAhead = 1;

// The bits of one session part, numbered batch after batch.
class BitSource {
 public:
  // `domain`: as SoftSpokenMacHolder.
  BitSource(checks::Session& session, const Trees& trees, std::uint64_t domain)
      : mac_holder_(session, trees.mine, domain), key_holder_(session, trees.peers, domain) {}

  // For whoever makes the steps of a batch together with others of its own.
  SoftSpokenMacHolder& mac_holder() { return mac_holder_; }
  SoftSpokenKeyHolder& key_holder() { return key_holder_; }
  SoftSpokenBatch next(std::size_t bits) { return {number_++, bits}; }

  // Role: both, symmetric. As many bits of each direction as the spans have, a multiple of kKappa;
  // they may be used on return. Wire, Fails: as SoftSpokenMacHolder and SoftSpokenKeyHolder.
  void make(MineView mine, PeersView peers);
  // The same, `count` of them rounded up to whole blocks.
  AuthBits make(std::size_t count);

 private:
  SoftSpokenMacHolder mac_holder_;
  SoftSpokenKeyHolder key_holder_;
  std::size_t number_ = 0;
};

}  // namespace tinyot::offline
