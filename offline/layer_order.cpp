#include "offline/layer_order.h"

#include <bit>
#include <numeric>

#include "checks/coin_toss.h"

namespace tinyot {
namespace {

// Fisher-Yates; a random byte, cut to the bits that the bound has, is taken if it is below it.
void shuffle(std::array<std::uint8_t, kSegmentTriples>& order, Rng& coins) {
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::array<std::uint8_t, kSegmentTriples> bytes;
  std::size_t used = bytes.size();
  for (unsigned left = kSegmentTriples; left > 1;) {
    if (used == bytes.size()) {
      bytes = coins.object<decltype(bytes)>();
      used = 0;
    }
    const unsigned candidate = bytes[used++] & (std::bit_ceil(left) - 1);
    if (candidate >= left) continue;
    --left;
    std::swap(order[candidate], order[left]);
  }
}

}  // namespace

void LayerSegment::bits_of(const BitVector& column, std::span<std::uint64_t, kSegmentTriples / 64> bits) const {
  if (!permuted) {
    const std::size_t here = std::min(kSegmentTriples, column.size() - first);
    copy_bits(column.words(), first, bits, 0, here);
    return copy_bits(column.words(), 0, bits, here, kSegmentTriples - here);
  }
  for (std::size_t w = 0; w < bits.size(); ++w) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 64; ++i) word |= std::uint64_t{column[first + order[64 * w + i]]} << i;
    bits[w] = word;
  }
}

LayerOrder::LayerOrder(std::size_t size, TripleCheck check, Rng coins) : size_(size), check_(check), coins_(std::move(coins)) {
  ENSURE(size > 0 && size % kSegmentTriples == 0);
  next_ = check == TripleCheck::Each ? coins_.below(size) : kSegmentTriples * coins_.below(size / kSegmentTriples);
}

LayerSegment LayerOrder::next() {
  LayerSegment segment;
  segment.first = next_;
  segment.permuted = check_ == TripleCheck::Deferred;
  if (segment.permuted) shuffle(segment.order, coins_);
  next_ += kSegmentTriples;
  if (next_ >= size_) next_ -= size_;
  return segment;
}

std::vector<LayerOrder> toss_orders(Session& session, std::size_t layers, std::size_t size, TripleCheck check) {
  const PublicSeed coins = toss_coins(session, "orders of layers of triples");
  std::vector<LayerOrder> orders;
  for (std::size_t k = 1; k < layers; ++k)
    orders.emplace_back(size, check, Rng(Seed{RandomOracle(session.id(), {"layer order", '*', k}).absorb_object(coins).block()}));
  return orders;
}

}  // namespace tinyot
