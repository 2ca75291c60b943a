#include "online/garbled/mask_pass.h"

#include "base/bit_stream.h"
#include "base/declassify.h"
#include "checks/opening.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kOpenings = net::message_tag("garbled.de"),
                          kMasked = net::message_tag("garbled.masked");

}  // namespace

std::optional<std::size_t> label_source(const circuit::CircuitInfo& info,
                                        const BundleValues& constants, std::size_t bundle) {
  const circuit::InputSource source = info.inputs[bundle].source;
  if (const auto owner = owner_of(source)) return number_of(*owner);
  if (source == circuit::InputSource::Public && !constants[bundle]) return kPublicInputs;
  return std::nullopt;
}

void MaskPass::draw(Chunk& chunk) {
  for (const Piece& piece : chunk.pieces) {
    if (!piece.begins) continue;
    for (const circuit::RoundInput& input : piece.round->inputs)
      if (const auto source = label_source(info_, constants_, input.bundle))
        chunk.inputs[*source].count +=
            info_.inputs[input.bundle].same_in_all_lanes ? 1 : lanes_.count();
  }
  for (const Party owner : {Party::A, Party::B}) {
    MaskedInputs& inputs = chunk.inputs[number_of(owner)];
    if (inputs.count > 0)
      inputs.masks = material_.take(material::auth_bits_of(owner), inputs.count);
  }
  MaskedInputs& mine = chunk.inputs[number_of(session_.me())];
  mine.masked = bits_of(mine.masks, mine_bits, 0);
  chunk.inputs[kPublicInputs].masked = BitVector(chunk.inputs[kPublicInputs].count);
  if (chunk.entries == 0) return;
  chunk.triples = material_.take(MaterialKind::FullTriples, chunk.entries);
  for (const Party party : {Party::A, Party::B})
    chunk.result_masks[number_of(party)] =
        material_.take(material::auth_bits_of(party), chunk.entries);
}

void MaskPass::set_inputs(const circuit::Round& round, BitReader& masks) {
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputBundle& bundle = info_.inputs[input.bundle];
    if (bundle.source == circuit::InputSource::Shared) {
      shared_[input.bundle]->set_bits(input, lanes_, bits_);
      continue;
    }
    const bool is_mine = bundle.source == circuit::source_of(session_.me());
    for_each_part(bundle, lanes_, [&](std::size_t tile, std::size_t width) {
      if (is_mine)
        bits_.put_next(tile, input.out, masks, width);
      else
        bits_.put(tile, input.out, 0);
    });
  }
}

void MaskPass::send_openings(Chunk& chunk) {
  draw(chunk);
  chunk.d = BitVector(chunk.entries);
  chunk.e = BitVector(chunk.entries);
  const BitVector results = bits_of(chunk.result_masks[number_of(session_.me())], mine_bits, 0);
  BitWriter d(chunk.d.words()), e(chunk.e.words());
  BitReader input(chunk.inputs[number_of(session_.me())].masked.words()), result(results.words());
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      bits_.grow(*piece.round);
      set_inputs(*piece.round, input);
      bits_.evaluate(*piece.round);
      for (const circuit::RoundOutput& output : piece.round->outputs)
        outputs_.take_bits(output, bits_);
    }
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   d.write(bits_.get(tile, gate.in0), width);
                   e.write(bits_.get(tile, gate.in1), width);
                   bits_.put_next(tile, gate.out, result, width);
                 });
  }
  d.finish();
  e.finish();
  if (chunk.entries == 0) return;
  chunk.d ^= bits_of(chunk.triples, mine_bits, 0);
  chunk.e ^= bits_of(chunk.triples, mine_bits, 1);
  BitVector message(2 * chunk.entries);
  message.copy_from(chunk.d, 0, 0, chunk.entries);
  message.copy_from(chunk.e, 0, chunk.entries, chunk.entries);
  checks::reveal_bits(session_, kOpenings, message);
}

void MaskPass::receive_openings(Chunk& chunk) {
  if (chunk.entries == 0) return;
  const BitVector message = checks::receive_revealed_bits(session_, kOpenings, 2 * chunk.entries);
  BitVector of_d(chunk.entries), of_e(chunk.entries);
  of_d.copy_from(message, 0, 0, chunk.entries);
  of_e.copy_from(message, chunk.entries, 0, chunk.entries);
  chunk.d ^= of_d;
  chunk.e ^= of_e;
  declassify(chunk.d.words());
  declassify(chunk.e.words());
}

void MaskPass::send_inputs(Chunk& chunk, const BundleValues& values) {
  MaskedInputs& mine = chunk.inputs[number_of(session_.me())];
  if (mine.count == 0) return;
  add_values(chunk, number_of(session_.me()), values);
  declassify(mine.masked.words());
  net::send_bits(session_.channel(), kMasked, mine.masked);
}

void MaskPass::set_public_inputs(Chunk& chunk, const BundleValues& values) {
  add_values(chunk, kPublicInputs, values);
}

void MaskPass::add_values(Chunk& chunk, std::size_t source, const BundleValues& values) {
  BitVector& masked = chunk.inputs[source].masked;
  std::size_t at = 0;
  for (const Piece& piece : chunk.pieces) {
    if (!piece.begins) continue;
    for (const circuit::RoundInput& input : piece.round->inputs) {
      if (label_source(info_, constants_, input.bundle) != source) continue;
      const LaneMatrix& value = *values[input.bundle];
      for (std::size_t lane = 0; lane < value.lanes(); ++lane, ++at)
        masked.put(at, masked[at] != value[lane][input.bit]);
    }
  }
}

void MaskPass::receive_inputs(Chunk& chunk) {
  MaskedInputs& peers = chunk.inputs[number_of(session_.peer())];
  if (peers.count > 0) peers.masked = net::recv_bits(session_.channel(), kMasked, peers.count);
}

}  // namespace tinyot::online
