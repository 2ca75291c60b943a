#include "online/folded_source.h"

#include <utility>

namespace tinyot::online {
namespace {

material::Batch folded(const material::Batch& full, Party me, const Delta& global_key) {
  material::Batch triples(MaterialKind::Triples, me, full.count);
  for (std::size_t column = 0; column < triples.shares.size(); ++column) {
    const MacColumn& mine = full.mine[column];
    triples.shares[column].bits = mine.bits;
    for (std::size_t i = 0; i < full.count; ++i)
      triples.shares[column].macs[i] =
          mac_share(mine.bits[i], mine.macs[i], full.peers[column].keys[i], global_key);
  }
  return triples;
}

}  // namespace

material::Batch FoldedSource::draw(MaterialKind kind, std::size_t count) {
  material::Batch drawn = full_.draw(drawn_for(kind), count);
  return kind == MaterialKind::Triples ? folded(drawn, me_, global_key_) : std::move(drawn);
}

material::DrawnBatch FoldedSource::draw_up_to(MaterialKind kind, std::size_t count) {
  material::DrawnBatch drawn = full_.draw_up_to(drawn_for(kind), count);
  if (kind != MaterialKind::Triples) return drawn;
  return {drawn.count, [this, open = std::move(drawn.open)](material::Batch) {
            return folded(open({}), me_, global_key_);
          }};
}

}  // namespace tinyot::online
