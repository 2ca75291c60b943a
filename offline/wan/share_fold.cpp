#include "offline/wan/share_fold.h"

#include "base/error.h"
#include "checks/opening.h"
#include "offline/triples/layer_shifts.h"
#include "offline/wan/sacrifice.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kBitTripleLayers = net::message_tag("bit_triple.layers");

// Of a chunk, at least: bucket size 2.
constexpr StageCost kCostOfSacrifice{
    .time = std::chrono::microseconds(400), .bytes = kChunkObjects / 4, .depth = 1};
constexpr StageCost kCostOfFold{
    .time = std::chrono::microseconds(150), .bytes = kChunkObjects / 8, .depth = 1};

}  // namespace

ShareFold::ShareFold(checks::Session& session, std::span<TripleShares> set,
                     std::vector<std::size_t> shifts)
    : session_(session), set_(set), shifts_(std::move(shifts)),
      size_(set.size() / (shifts_.size() + 1)) {
  ENSURE(set.size() == size_ * (shifts_.size() + 1));
  for (const std::size_t shift : shifts_) ENSURE(shift < size_);
}

const TripleShares& ShareFold::partner(std::size_t layer, std::size_t i) const {
  const std::size_t shifted = i + shifts_[layer - 1];
  return set_[layer * size_ + (shifted < size_ ? shifted : shifted - size_)];
}

void ShareFold::reveal(const ObjectChunk& chunk) {
  BitVector mine(shifts_.size() * chunk.count);
  for (std::size_t k = 1; k <= shifts_.size(); ++k)
    for (std::size_t i = 0; i < chunk.count; ++i)
      mine.put((k - 1) * chunk.count + i,
               share_of_bit(set_[chunk.first + i].y ^ partner(k, chunk.first + i).y));
  checks::reveal_bits(session_, kBitTripleLayers, mine);
  revealed_.push(std::move(mine));
}

BitVector ShareFold::fold(const ObjectChunk& chunk) {
  const BitVector mine = std::move(revealed_.front());
  revealed_.pop();
  BitVector bits = checks::receive_revealed_bits(session_, kBitTripleLayers, mine.size());
  bits ^= mine;
  const ScopedSecret<Delta> delta(session_.global_key());
  SecretVector<MacShare> of_d(chunk.count);
  for (std::size_t k = 1; k <= shifts_.size(); ++k) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const bool d = bits[(k - 1) * chunk.count + i];
      TripleShares& to = set_[chunk.first + i];
      const TripleShares& from = partner(k, chunk.first + i);
      of_d[i] = xor_public_bit(to.y ^ from.y, delta, d);
      to.x ^= from.x;
      to.z ^= from.z ^ MacShare { times(from.x.value, d) };
    }
    checks::absorb_opened(session_, of_d);
  }
  return bits;
}

void combine_sets(checks::Session& session, std::span<TripleSet> sets,
                  const crypto::PublicSeed& coins, PipelineDepth depth,
                  std::span<TripleLayer> full) {
  ENSURE(sets.size() >= 2);
  const std::size_t layers = sets.size(), size = sets[0].size() / layers;
  {
    const net::PhaseLog::Scope phase(session.log(), session.channel(), "sacrifice", sets[0].size());
    Sacrifice sacrifice(session, sets,
                        set_orders_from(session, coins, sets.size(), sets[1].size()));
    sacrifice.open();
    run_pipeline(
        object_chunks(sets[0].size()), depth.depth(kCostOfSacrifice),
        [&](const ObjectChunk& chunk) { sacrifice.reveal(chunk); },
        [&](const ObjectChunk& chunk) { sacrifice.check(chunk); });
  }
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "layers", size);
  ShareFold fold(session, sets[0], shifts_from(session, coins, layers, size));
  run_pipeline(
      object_chunks(size), depth.depth(kCostOfFold),
      [&](const ObjectChunk& chunk) { fold.reveal(chunk); },
      [&](const ObjectChunk& chunk) {
        const BitVector opened = fold.fold(chunk);
        for (std::size_t k = 1; k < full.size(); ++k) {
          BitVector d(chunk.count);
          d.copy_from(opened, (k - 1) * chunk.count, 0, chunk.count);
          fold_layer(full[0], full[k], d, chunk, fold.shifts()[k - 1]);
        }
      });
}

}  // namespace tinyot::offline
