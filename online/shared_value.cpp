#include "online/shared_value.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::online {

SharedValue::SharedValue(std::size_t bits, std::size_t lanes, WireForm form, BitVector my_bits,
                         std::vector<SecretVector<Block>> planes)
    : bits_(bits), lanes_(lanes), form_(form), my_bits_(std::move(my_bits)),
      planes_(std::move(planes)) {
  ENSURE(my_bits_.size() == bits * lanes && planes_.size() == planes_of(form));
  for (const SecretVector<Block>& plane : planes_) ENSURE(plane.size() == bits * lanes);
}

void SharedValue::set_bits(const circuit::RoundInput& input, const Lanes& lanes,
                           WireBits& wires) const {
  if (lanes_ == 1)
    return wires.put(0, input.out, std::uint64_t{0} - std::uint64_t{my_bits_[input.bit]});
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) {
    std::uint64_t word[1] = {0};
    copy_bits(my_bits_.words(), input.bit * lanes_ + lanes.first(tile), word, 0, lanes.width(tile));
    wires.put(tile, input.out, word[0]);
  }
}

void SharedValue::set_blocks(const circuit::RoundInput& input, const Lanes& lanes,
                             WireBlocks& wires) const {
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    if (lanes_ == 1) {
      *wires.plane(0, input.out, p) = planes_[p][input.bit];
      continue;
    }
    for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
      std::copy_n(planes_[p].data() + input.bit * lanes_ + lanes.first(tile), lanes.width(tile),
                  wires.plane(tile, input.out, p));
  }
}

SharedValue SharedValue::folded() const {
  ENSURE(form_ == WireForm::HalfShares);
  SecretVector<Block> sums = planes_[0];
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] ^= planes_[1][i];
  std::vector<SecretVector<Block>> planes;
  planes.push_back(std::move(sums));
  return SharedValue(bits_, lanes_, WireForm::MacShare, my_bits_, std::move(planes));
}

LaneMatrix SharedValue::my_share() const {
  LaneMatrix share(lanes_, bits_);
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    for (std::size_t bit = 0; bit < bits_; ++bit)
      share[lane].put(bit, my_bits_[bit * lanes_ + lane]);
  return share;
}

}  // namespace tinyot::online
