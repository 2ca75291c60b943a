#include "online/inputs.h"

#include <algorithm>

#include "base/declassify.h"
#include "base/error.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kInputs = net::message_tag("input.masked");

// Calls use(tile, word of the tile's lanes) for one bit of a public value. A lane-invariant wire,
// or the only lane, has one word of equal bits.
template <class Use>
void for_each_word(const circuit::RoundInput& input, const LaneMatrix& value, const Lanes& lanes,
                   Use use) {
  if (value.lanes() == 1) return use(0, std::uint64_t{0} - std::uint64_t{value[0][input.bit]});
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < lanes.width(tile); ++i)
      word |= std::uint64_t{value[lanes.first(tile) + i][input.bit]} << i;
    use(tile, word);
  }
}

}  // namespace

void check_inputs(Party me, const circuit::CircuitInfo& info, std::size_t lanes,
                  const BundleValues& values) {
  ENSURE(lanes > 0 && values.size() == info.inputs.size());
  for (std::size_t b = 0; b < values.size(); ++b) {
    const circuit::InputBundle& bundle = info.inputs[b];
    if (!gives(bundle.source, me)) continue;
    ENSURE(values[b] && values[b]->lanes() == (bundle.same_in_all_lanes ? 1 : lanes) &&
           values[b]->bits() == bundle.bits);
  }
}

void check_shared_inputs(const circuit::CircuitInfo& info, std::initializer_list<WireForm> forms,
                         std::size_t lanes, const SharedValues& shared) {
  for (std::size_t b = 0; b < info.inputs.size(); ++b) {
    const circuit::InputBundle& bundle = info.inputs[b];
    if (bundle.source != circuit::InputSource::Shared) continue;
    ENSURE(b < shared.size() && shared[b] != nullptr);
    ENSURE(std::ranges::find(forms, shared[b]->form()) != forms.end());
    ENSURE(shared[b]->bits() == bundle.bits &&
           shared[b]->lanes() == (bundle.same_in_all_lanes ? 1 : lanes));
  }
}

void set_public_bits(const circuit::RoundInput& input, const LaneMatrix& value, const Lanes& lanes,
                     WireBits& wires) {
  for_each_word(input, value, lanes, [&](std::size_t tile, std::uint64_t word) {
    wires.put_public(tile, input.out, word);
  });
}

void set_public_blocks(const circuit::RoundInput& input, const LaneMatrix& value,
                       const Lanes& lanes, WireBlocks& wires) {
  for_each_word(input, value, lanes, [&](std::size_t tile, std::uint64_t word) {
    wires.put_public(tile, input.out, word);
  });
}

void count_input_masks(const circuit::CircuitInfo& info, std::size_t lanes,
                       MaterialCounts& counts) {
  for (const circuit::InputBundle& bundle : info.inputs)
    if (const auto owner = owner_of(bundle.source))
      counts[material::auth_bits_of(*owner)] +=
          std::uint64_t{bundle.bits} * (bundle.same_in_all_lanes ? 1 : lanes);
}

InputLayer::InputLayer(checks::Session& session, MaterialReader& material, Party owner,
                       const circuit::CircuitInfo& info, std::size_t lanes,
                       std::vector<circuit::RoundInput> inputs)
    : session_(session), info_(info), lanes_(lanes), mine_(owner == session.me()),
      inputs_(std::move(inputs)) {
  for (const circuit::RoundInput& input : inputs_) entries_ += entries_of(input);
  mask_ = material.take(material::auth_bits_of(owner), entries_);
}

void InputLayer::announce(const BundleValues& values) {
  bits_ = mine_ ? gather(values, entries_) : BitVector(entries_);
  if (!mine_) return;
  masked_ = bits_of(mask_, mine_bits, 0);
  masked_ ^= bits_;
  net::send_bits(session_.channel(), kInputs, masked_);
  declassify(masked_.words());
}

void InputLayer::receive() {
  if (masked_.size() == 0) masked_ = net::recv_bits(session_.channel(), kInputs, entries_);
}

BitVector InputLayer::gather(const BundleValues& values, std::size_t n) const {
  BitVector bits(n);
  std::size_t at = 0;
  for (const circuit::RoundInput& input : inputs_) {
    const LaneMatrix& bundle = *values[input.bundle];
    for (std::size_t lane = 0; lane < entries_of(input); ++lane)
      bits.put(at++, bundle[lane][input.bit]);
  }
  return bits;
}

void InputLayer::set_bits(const BitVector& values, const Lanes& lanes, WireBits& wires) const {
  BitReader bits(values.words());
  for (const circuit::RoundInput& input : inputs_)
    for_each_part(info_.inputs[input.bundle], lanes, [&](std::size_t tile, std::size_t width) {
      wires.put_next(tile, input.out, bits, width);
    });
}

void InputLayer::set_masks(const Lanes& lanes, WireForm form, Delta global_key, WireBits& bits,
                           WireBlocks& blocks) const {
  const BitVector none(entries_);
  const BitVector mine = mine_ ? bits_of(mask_, mine_bits, 0) : none;
  set_bits(mine, lanes, bits);
  set_blocks(mine, none, lanes, form, global_key, blocks);
}

void InputLayer::set_blocks(const Lanes& lanes, WireForm form, Delta global_key,
                            WireBlocks& wires) const {
  set_blocks(bits_, masked_, lanes, form, global_key, wires);
}

// Of the bits r ^ masked, of which mine are `mine`.
void InputLayer::set_blocks(const BitVector& mine, const BitVector& masked, const Lanes& lanes,
                            WireForm form, Delta global_key, WireBlocks& wires) const {
  SliceCursor mask(mask_);
  std::size_t at = 0;
  const auto set = [&](const circuit::RoundInput& input, std::size_t tile, std::size_t width) {
    Block* first = wires.plane(tile, input.out, 0);
    Block* second = form == WireForm::MacAndKey ? wires.plane(tile, input.out, 1) : nullptr;
    for (std::size_t i = 0; i < width; ++i, ++at, mask.advance(1)) {
      const Mac mac = mine_ ? mask.batch().mine[0].macs[mask.at()] : Mac{{0, 0}};
      const Key key =
          mine_ ? Key{{0, 0}}
                : xor_public_bit(mask.batch().peers[0].keys[mask.at()], global_key, masked[at]);
      if (second != nullptr) {
        first[i] = mac.value;
        second[i] = key.value;
      } else {
        first[i] = mac_share(mine[at], mac, key, global_key).value;
      }
    }
  };
  for (const circuit::RoundInput& input : inputs_)
    for_each_part(info_.inputs[input.bundle], lanes,
                  [&](std::size_t tile, std::size_t width) { set(input, tile, width); });
}

std::vector<InputLayer> draw_inputs(checks::Session& session, MaterialReader& material,
                                    const circuit::CircuitInfo& info, const Lanes& lanes,
                                    const circuit::Round& round) {
  std::vector<InputLayer> layers;
  for (const Party owner : {Party::A, Party::B}) {
    std::vector<circuit::RoundInput> given;
    std::ranges::copy_if(round.inputs, std::back_inserter(given),
                         [&](const circuit::RoundInput& input) {
                           return info.inputs[input.bundle].source == circuit::source_of(owner);
                         });
    if (!given.empty())
      layers.emplace_back(session, material, owner, info, lanes.count(), std::move(given));
  }
  return layers;
}

}  // namespace tinyot::online
