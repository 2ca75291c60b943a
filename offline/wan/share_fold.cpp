#include "offline/wan/share_fold.h"

#include "base/error.h"
#include "checks/coin_toss.h"
#include "checks/opening.h"
#include "offline/triples/layer_shifts.h"
#include "offline/unit/steps.h"
#include "offline/wan/sacrifice.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kBitTripleLayers = net::message_tag("bit_triple.layers");

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

void ShareFold::fold(const ObjectChunk& chunk) {
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
}

TripleSet combine_sets(checks::Session& session, std::vector<TripleSet> sets, std::size_t ahead) {
  const std::size_t layers = sets.size(), size = sets.at(0).size() / layers;
  const crypto::PublicSeed coins = checks::toss_coins(session, "bit triple orders");
  {
    Sacrifice sacrifice(session, sets,
                        set_orders_from(session, coins, sets.size(), sets.at(1).size()));
    sacrifice.open();
    run_pipeline(
        object_chunks(sets[0].size()), ahead,
        [&](const ObjectChunk& chunk) { sacrifice.reveal(chunk); },
        [&](const ObjectChunk& chunk) { sacrifice.check(chunk); });
  }
  sets.resize(1);
  ShareFold layers_of_set(session, sets[0], shifts_from(session, coins, layers, size));
  run_pipeline(
      object_chunks(size), ahead, [&](const ObjectChunk& chunk) { layers_of_set.reveal(chunk); },
      [&](const ObjectChunk& chunk) { layers_of_set.fold(chunk); });
  return TripleSet(sets[0].begin(), sets[0].begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace tinyot::offline
