#include "online/garbled/output_masks.h"

#include <algorithm>

#include "base/error.h"
#include "checks/opening.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kOutputs = net::message_tag("garbled.outputs");

// Calls use(first, count) for the messages of so many entries.
template <class Use>
void for_each_message(std::size_t entries, Use use) {
  for (std::size_t first = 0; first < entries; first += WindowedExchange::kEntries)
    use(first, std::min(WindowedExchange::kEntries, entries - first));
}

}  // namespace

OutputMasks::OutputMasks(const circuit::CircuitInfo& info, const Lanes& lanes) : lanes_(lanes) {
  std::size_t entries = 0;
  for (const circuit::OutputBundle& bundle : info.outputs) {
    const std::size_t count = bundle.bits * lanes.count();
    parts_.push_back({parts_.size(), entries, count, bundle.to});
    entries += count;
  }
  bits_ = BitVector(entries);
  masked_ = BitVector(entries);
  g_.resize(entries);
  h_.resize(entries);
}

void OutputMasks::take(const circuit::RoundOutput& output, const WireBits& bits, BitVector& to) {
  for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
    const std::uint64_t word[1] = {bits.get(tile, output.in)};
    copy_bits(word, 0, to.words(), first_entry(output, tile), lanes_.width(tile));
  }
}

void OutputMasks::take_bits(const circuit::RoundOutput& output, const WireBits& bits) {
  take(output, bits, bits_);
}
void OutputMasks::take_masked(const circuit::RoundOutput& output, const WireBits& bits) {
  take(output, bits, masked_);
}

void OutputMasks::take_blocks(const circuit::RoundOutput& output, std::size_t tile,
                              WireBlocks& blocks) {
  const std::size_t first = first_entry(output, tile);
  blocks.read(tile, output.in, 0, lanes_.width(tile), &g_[first]);
  blocks.read(tile, output.in, 1, lanes_.width(tile), &h_[first]);
}

void OutputMasks::take_labels(const checks::Session& session, const circuit::Round& round,
                              WireBlocks& labels) {
  const ScopedSecret<Delta> delta(session.global_key());
  SecretVector<Block> of_tile(Lanes::kTileLanes);
  for (const circuit::RoundOutput& output : round.outputs)
    for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
      const std::size_t first = first_entry(output, tile), width = lanes_.width(tile);
      labels.read(tile, output.in, 0, width, of_tile.data());
      for (std::size_t i = 0; i < width; ++i) {
        const bool masked = masked_[first + i];
        bits_.put(first + i, bits_[first + i] != masked);
        masked_.put(first + i, false);
        g_[first + i] ^= of_tile[i];
        h_[first + i] ^= times(delta->value, masked);
      }
    }
}

std::size_t OutputMasks::entries_of(Party party) const {
  std::size_t entries = 0;
  for (const Part& part : parts_) entries += circuit::receives(part.to, party) ? part.count : 0;
  return entries;
}

template <class Use>
void OutputMasks::for_each_entry_of(Party party, Use use) const {
  for (const Part& part : parts_)
    for (std::size_t i = 0; circuit::receives(part.to, party) && i < part.count; ++i)
      use(part.first + i);
}

void OutputMasks::reveal(checks::Session& session, const checks::SettledCheck&) {
  const std::size_t entries = entries_of(session.peer());
  BitVector sent(entries);
  SecretVector<Mac> macs(entries);
  std::size_t at = 0;
  for_each_entry_of(session.peer(), [&](std::size_t entry) {
    sent.put(at, bits_[entry]);
    macs[at++] = mac_of(session.me(), {g_[entry], h_[entry]});
  });
  for_each_message(entries, [&](std::size_t first, std::size_t count) {
    BitVector message(count);
    message.copy_from(sent, first, 0, count);
    session.require_not_revoked();
    checks::reveal_bits(session, kOutputs, message);
  });
  checks::absorb_my_macs(session, macs);
}

BundleValues OutputMasks::receive(checks::Session& session) {
  const ScopedSecret<Delta> delta(session.global_key());
  const std::size_t entries = entries_of(session.me());
  BitVector received(entries);
  for_each_message(entries, [&](std::size_t first, std::size_t count) {
    received.copy_from(checks::receive_revealed_bits(session, kOutputs, count), 0, first, count);
  });
  SecretVector<Key> keys(entries);
  std::size_t at = 0;
  for_each_entry_of(session.me(), [&](std::size_t entry) {
    keys[at++] = key_of(session.me(), {g_[entry], h_[entry]}, bits_[entry], delta);
  });
  checks::absorb_peers_keys(session, keys, received, 0);

  BundleValues values(parts_.size());
  at = 0;
  for (const Part& part : parts_) {
    if (!circuit::receives(part.to, session.me())) continue;
    const std::size_t width = part.count / lanes_.count();
    LaneMatrix& value = values[part.bundle].emplace(lanes_.count(), width);
    for (std::size_t bit = 0; bit < width; ++bit)
      for (std::size_t lane = 0; lane < lanes_.count(); ++lane, ++at) {
        const std::size_t entry = part.first + bit * lanes_.count() + lane;
        value[lane].put(bit, (bits_[entry] != received[at]) != masked_[entry]);
      }
  }
  return values;
}

BundleValues checked(BundleValues outputs, const checks::SettledCheck&) { return outputs; }

BundleValues exchange_outputs(checks::Session& session, OutputMasks& outputs) {
  const bool a_receives = outputs.has_outputs_of(Party::A),
             b_receives = outputs.has_outputs_of(Party::B);
  if (session.me() == Party::A) {
    checks::send_digest(session);
    BundleValues mine = outputs.receive(session);
    const checks::SettledCheck settled = checks::receive_digest(session);
    if (b_receives) {
      outputs.reveal(session, settled);
      checks::send_digest(session);
    }
    return checked(std::move(mine), settled);
  }
  const checks::SettledCheck settled = checks::receive_digest(session);
  if (a_receives) outputs.reveal(session, settled);
  checks::send_digest(session);
  BundleValues mine = outputs.receive(session);
  if (!b_receives) return checked(std::move(mine), settled);
  return checked(std::move(mine), checks::receive_digest(session));
}

// [z] = [lambda] ^ L, and both parties know L; or L is 0.
SharedOutputs OutputMasks::take_shared(const checks::Session& session) {
  const Block& key = session.global_key().value;
  const bool is_a = session.me() == Party::A;
  SharedOutputs shared(parts_.size());
  for (const Part& part : parts_) {
    if (part.to != circuit::Receiver::None) continue;
    BitVector bits(part.count);
    std::vector<SecretVector<Block>> planes(2, SecretVector<Block>(part.count));
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t entry = part.first + i;
      const bool masked = masked_[entry];
      bits.put(i, bits_[entry] != (is_a & masked));
      planes[0][i] = g_[entry] ^ times(key, masked & !is_a);
      planes[1][i] = h_[entry] ^ times(key, masked & is_a);
    }
    shared[part.bundle].emplace(part.count / lanes_.count(), lanes_.count(), WireForm::HalfShares,
                                std::move(bits), std::move(planes));
  }
  return shared;
}

}  // namespace tinyot::online
