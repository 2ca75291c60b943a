#include "offline/softspoken/bit_source.h"

#include <algorithm>

#include "base/error.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {

PieceCost cost_of_batch(std::uint32_t softspoken_k) {
  constexpr std::size_t kAnswer = (1 + kKappa) * sizeof(Block);
  return {.time = std::chrono::microseconds(150),
          .bytes = (kKappa / softspoken_k - 1) * (kBatchBits + kKappa) / 8 + kAnswer,
          .ahead = 1};
}

void BitSource::make(MineView mine, PeersView peers) {
  ENSURE(mine.size() == peers.size() && mine.size() % kKappa == 0);
  struct Placed {
    SoftSpokenBatch batch;
    std::size_t first;
  };
  std::vector<Placed> batches;
  for (std::size_t first = 0; first < mine.size(); first += kBatchBits)
    batches.push_back({next(std::min(kBatchBits, mine.size() - first)), first});
  const auto mine_of = [&](const Placed& placed) {
    return mine.part(placed.first, placed.batch.bits);
  };
  in_steps(
      batches, ahead_,
      [&](const Placed& placed) {
        mac_holder_.send_corrections(placed.batch, {{mine_of(placed)}});
      },
      [&](const Placed& placed) {
        key_holder_.receive_corrections(placed.batch,
                                        {{peers.subspan(placed.first, placed.batch.bits)}});
      },
      [&](const Placed& placed) { mac_holder_.answer(placed.batch, {{mine_of(placed)}}); },
      [&](const Placed& placed) { key_holder_.verify(placed.batch); });
}

AuthBits BitSource::make(std::size_t count) {
  AuthBits bits{AuthBitsMine(whole_blocks(count)), AuthBitsPeers(whole_blocks(count))};
  make(bits.mine.view(), bits.peers.view());
  return bits;
}

}  // namespace tinyot::offline
