#include "offline/unit/bit_source.h"

#include <algorithm>
#include <vector>

namespace tinyot::offline {

void BitStream::make(AuthBits& bits) {
  if (bits.mine.size() != first_) bits = AuthBits{MacColumn(first_), KeyColumn(first_)};
  fill(bits.mine.view(), bits.peers.view());
  finish(bits);
}

void BitStream::fill(MacColumnView mine, KeyColumnView peers) {
  ENSURE(mine.size() == peers.size());
  struct Placed {
    BitBatch batch;
    std::size_t first;
  };
  std::vector<Placed> batches;
  for (std::size_t first = 0; first < mine.size(); first += largest_batch_)
    batches.push_back({next(std::min(largest_batch_, mine.size() - first)), first});
  const auto in_views = [&](auto step) {
    return [this, step, mine, peers](const Placed& placed) {
      const MacColumnView of_mine = mine.part(placed.first, placed.batch.bits);
      const KeyColumnView of_peers = peers.subspan(placed.first, placed.batch.bits);
      (this->*step)(placed.batch, {{&of_mine, 1}, {&of_peers, 1}});
    };
  };
  run_pipeline(batches, depth_.depth(cost_of_batch_), in_views(&BitStream::offer),
               in_views(&BitStream::accept), in_views(&BitStream::answer),
               in_views(&BitStream::confirm));
}

void BitSource::check_delta(checks::Session& session, MacColumnView mine, KeyColumnView peers) {
  if (delta_check_.has_reference())
    delta_check_.check(session, mine, peers);
  else
    delta_check_.set_reference_bits(copy_of(mine, peers));
}

AuthBits copy_of(MacColumnView mine, KeyColumnView peers) {
  AuthBits copy{MacColumn(mine.size()), KeyColumn(peers.size())};
  copy_bits(mine.bits, 0, copy.mine.bits.words(), 0, mine.size());
  std::copy(mine.macs.begin(), mine.macs.end(), copy.mine.macs.begin());
  std::copy(peers.begin(), peers.end(), copy.peers.keys.begin());
  return copy;
}

}  // namespace tinyot::offline
