#include "online/garbled/shared_inputs.h"

#include <utility>

#include "base/declassify.h"
#include "base/error.h"
#include "checks/opening.h"
#include "online/garbled/half_shares.h"
#include "online/inputs.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kShared = net::message_tag("garbled.shared");

bool needs_mask(const SharedValue* value) {
  return value != nullptr && value->form() == WireForm::MacShare;
}

std::size_t entries_of(const SharedValue& value) { return value.bits() * value.lanes(); }

// [r] of the next `count` aBits of each party.
SharedValue draw_mask(const checks::Session& session, MaterialReader& material,
                      const SharedValue& value) {
  const std::size_t count = entries_of(value);
  const Party me = session.me();
  std::array<material::Slices, 2> drawn;
  for (const Party party : {Party::A, Party::B})
    drawn[static_cast<std::size_t>(party)] = material.take(material::auth_bits_of(party), count);
  const material::Slices &mine = drawn[static_cast<std::size_t>(me)],
                         &peers = drawn[static_cast<std::size_t>(peer_of(me))];
  BitVector bits = bits_of(mine, mine_bits, 0);
  std::vector<SecretVector<Block>> planes(2, SecretVector<Block>(count));
  const ScopedSecret<Delta> delta(session.global_key());
  SliceCursor of_mine(mine), of_peers(peers);
  for (std::size_t i = 0; i < count; ++i) {
    const HalfShares half = half_shares(me, bits[i], of_mine.batch().mine[0].macs[of_mine.at()],
                                        of_peers.batch().peers[0].keys[of_peers.at()], delta);
    planes[0][i] = half.g;
    planes[1][i] = half.h;
    of_mine.advance(1);
    of_peers.advance(1);
  }
  return SharedValue(value.bits(), value.lanes(), WireForm::HalfShares, std::move(bits),
                     std::move(planes));
}

}  // namespace

void count_shared_masks(const SharedValues& shared, MaterialCounts& counts) {
  for (const SharedValue* value : shared) {
    if (!needs_mask(value)) continue;
    for (const Party party : {Party::A, Party::B})
      counts[material::auth_bits_of(party)] += entries_of(*value);
  }
}

SharedInputMasks::SharedInputMasks(checks::Session& session, MaterialReader& material,
                                   const circuit::CircuitInfo& info, const Lanes& lanes,
                                   const SharedValues& shared)
    : session_(session), masks_(info.inputs.size(), nullptr) {
  check_shared_inputs(info, {WireForm::HalfShares, WireForm::MacShare}, lanes.count(), shared);
  std::size_t entries = 0;
  for (std::size_t b = 0; b < info.inputs.size(); ++b) {
    if (info.inputs[b].source != circuit::InputSource::Shared) continue;
    masks_[b] = shared[b];
    if (!needs_mask(shared[b])) continue;
    opened_.push_back({b, shared[b]});
    entries += entries_of(*shared[b]);
  }
  if (opened_.empty()) return;
  made_.reserve(opened_.size());
  sent_ = BitVector(entries);
  std::size_t at = 0;
  for (const Opened& input : opened_) {
    const SharedValue& mask = made_.emplace_back(draw_mask(session, material, *input.value));
    masks_[input.bundle] = &mask;
    BitVector share = input.value->bit_shares();
    share ^= mask.bit_shares();
    sent_.copy_from(share, 0, at, share.size());
    at += share.size();
  }
  checks::reveal_bits(session_, kShared, sent_);
}

void SharedInputMasks::receive(BundleValues& constants) {
  if (opened_.empty()) return;
  BitVector opened = checks::receive_revealed_bits(session_, kShared, sent_.size());
  opened ^= sent_;
  declassify(opened.words());
  const ScopedSecret<Delta> delta(session_.global_key());
  SecretVector<MacShare> differences;
  differences.reserve(opened.size());
  for (std::size_t k = 0; k < opened_.size(); ++k) {
    const SharedValue &value = *opened_[k].value, &mask = made_[k];
    LaneMatrix& constant = constants[opened_[k].bundle].emplace(value.lanes(), value.bits());
    for (std::size_t i = 0; i < entries_of(value); ++i) {
      const bool bit = opened[differences.size()];
      constant[i % value.lanes()].put(i / value.lanes(), bit);
      differences.push_back(
          {value.plane(0)[i] ^ mask.plane(0)[i] ^ mask.plane(1)[i] ^ times(delta->value, bit)});
    }
  }
  checks::absorb_opened(session_, differences);
}

}  // namespace tinyot::online
