#include "online/outputs.h"

#include "base/error.h"
#include "checks/opening.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kOutputs = net::message_tag("output.shares");

// Sends `bits` and returns the `count` bits that the peer sends.
BitVector exchange(checks::Session& session, const BitVector& bits, std::size_t count) {
  const WindowedExchange exchange(bits.size(), count, 1);
  BitVector received(count);
  const auto send = [&](std::size_t first, std::size_t some) {
    BitVector message(some);
    message.copy_from(bits, first, 0, some);
    session.require_not_revoked();
    checks::reveal_bits(session, kOutputs, message);
  };
  exchange.fill_window(send);
  exchange.run(send, [&](std::size_t first, std::size_t some) {
    received.copy_from(checks::receive_revealed_bits(session, kOutputs, some), 0, first, some);
  });
  return received;
}

template <class Word>
std::span<Word> words_of(SecretVector<Block>& plane, std::size_t first, std::size_t count) {
  return {reinterpret_cast<Word*>(plane.data()) + first, count};
}

}  // namespace

OutputShares::OutputShares(const circuit::CircuitInfo& info, WireForm form, const Lanes& lanes)
    : lanes_(lanes), form_(form) {
  for (const circuit::OutputBundle& bundle : info.outputs)
    parts_.push_back({parts_.size(), 0, bundle.bits * lanes.count(), bundle.to});
  std::size_t entries = 0;
  const auto place = [&](bool are_revealed) {
    for (Part& part : parts_) {
      if ((part.to != circuit::Receiver::None) != are_revealed) continue;
      part.first = entries;
      entries += part.count;
    }
  };
  place(true);
  revealed_ = entries;
  place(false);
  bits_ = BitVector(entries);
  for (std::size_t p = 0; p < planes_of(form); ++p) planes_.emplace_back(entries);
}

void OutputShares::take_bits(const circuit::RoundOutput& output, const WireBits& wires) {
  const std::size_t first = parts_[output.bundle].first + output.bit * lanes_.count();
  for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
    const std::uint64_t word[1] = {wires.get(tile, output.in)};
    copy_bits(word, 0, bits_.words(), first + lanes_.first(tile), lanes_.width(tile));
  }
  bits_taken_ += lanes_.count();
}

void OutputShares::take_blocks(const circuit::RoundOutput& output, std::size_t tile,
                               WireBlocks& wires) {
  const std::size_t first =
      parts_[output.bundle].first + output.bit * lanes_.count() + lanes_.first(tile);
  for (std::size_t p = 0; p < planes_.size(); ++p)
    wires.read(tile, output.in, p, lanes_.width(tile), planes_[p].data() + first);
  blocks_taken_ += lanes_.width(tile);
}

BundleValues OutputShares::reveal(checks::Session& session, MaterialReader& material,
                                  checks::SettledCheck) {
  ENSURE(bits_taken_ == bits_.size() && blocks_taken_ == bits_.size());
  return form_ == WireForm::MacAndKey ? reveal_pairs(session) : open_shared(session, material);
}

SharedOutputs OutputShares::take_shared() {
  SharedOutputs shared(parts_.size());
  for (const Part& part : parts_) {
    if (part.to != circuit::Receiver::None) continue;
    BitVector bits(part.count);
    bits.copy_from(bits_, part.first, 0, part.count);
    std::vector<SecretVector<Block>> planes;
    for (const SecretVector<Block>& plane : planes_) {
      const auto first = plane.begin() + static_cast<std::ptrdiff_t>(part.first);
      planes.emplace_back(first, first + static_cast<std::ptrdiff_t>(part.count));
    }
    shared[part.bundle].emplace(part.count / lanes_.count(), lanes_.count(), form_, std::move(bits),
                                std::move(planes));
  }
  return shared;
}

// `bits` has the entries of one bundle in the order (bit, lane).
LaneMatrix OutputShares::values_of(const Part& part, const BitVector& bits) const {
  const std::size_t lanes = lanes_.count(), width = part.count / lanes;
  LaneMatrix values(lanes, width);
  for (std::size_t bit = 0; bit < width; ++bit)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      values[lane].put(bit, bits[bit * lanes + lane]);
  return values;
}

BundleValues OutputShares::reveal_pairs(checks::Session& session) {
  const auto received_by = [&](Party party) {
    std::size_t total = 0;
    for (const Part& part : parts_) total += circuit::receives(part.to, party) ? part.count : 0;
    return total;
  };
  BitVector sent(received_by(session.peer()));
  std::size_t at = 0;
  for (const Part& part : parts_) {
    if (!circuit::receives(part.to, session.peer())) continue;
    sent.copy_from(bits_, part.first, at, part.count);
    at += part.count;
  }
  const BitVector received = exchange(session, sent, received_by(session.me()));
  for (const Part& part : parts_)
    if (circuit::receives(part.to, session.peer()))
      checks::absorb_my_macs(session, words_of<Mac>(planes_[0], part.first, part.count));

  at = 0;
  BundleValues values(parts_.size());
  for (const Part& part : parts_) {
    if (!circuit::receives(part.to, session.me())) continue;
    checks::absorb_peers_keys(session, words_of<Key>(planes_[1], part.first, part.count), received,
                              at);
    BitVector bits(part.count), mine(part.count);
    bits.copy_from(received, at, 0, part.count);
    mine.copy_from(bits_, part.first, 0, part.count);
    values[part.bundle] = values_of(part, bits ^= mine);
    at += part.count;
  }
  return values;
}

BundleValues OutputShares::open_shared(checks::Session& session, MaterialReader& material) {
  const ScopedSecret<Delta> delta(session.global_key());
  std::vector<BitVector> masks(parts_.size());  // of the outputs that only this party receives
  for (const Part& part : parts_) {
    if (part.to == circuit::Receiver::Both || part.to == circuit::Receiver::None) continue;
    const bool mine = circuit::receives(part.to, session.me());
    const material::Slices slices =
        material.take(material::auth_bits_of(mine ? session.me() : session.peer()), part.count);
    SliceCursor mask(slices);
    if (mine) {
      masks[part.bundle] = bits_of(slices, mine_bits, 0);
      BitVector hidden(part.count);
      hidden.copy_from(bits_, part.first, 0, part.count);
      bits_.copy_from(hidden ^= masks[part.bundle], 0, part.first, part.count);
    }
    for (std::size_t i = 0; i < part.count; ++i, mask.advance(1)) {
      const MacShare share =
          mine ? mac_share(masks[part.bundle][i], mask.batch().mine[0].macs[mask.at()], Key{{0, 0}},
                           delta)
               : mac_share(false, Mac{{0, 0}}, mask.batch().peers[0].keys[mask.at()], delta);
      planes_[0][part.first + i] ^= share.value;
    }
  }
  BitVector revealed(revealed_);
  revealed.copy_from(bits_, 0, 0, revealed_);
  BitVector opened = exchange(session, revealed, revealed_);
  opened ^= revealed;
  const std::span<MacShare> shares = words_of<MacShare>(planes_[0], 0, revealed_);
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = xor_public_bit(shares[i], delta, opened[i]);
  checks::absorb_opened(session, shares);

  BundleValues values(parts_.size());
  for (const Part& part : parts_) {
    if (!circuit::receives(part.to, session.me())) continue;
    BitVector bits(part.count);
    bits.copy_from(opened, part.first, 0, part.count);
    if (part.to != circuit::Receiver::Both) bits ^= masks[part.bundle];
    values[part.bundle] = values_of(part, bits);
  }
  return values;
}

}  // namespace tinyot::online
