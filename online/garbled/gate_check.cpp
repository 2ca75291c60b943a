#include "online/garbled/gate_check.h"

#include <utility>

#include "base/bit_stream.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kMaskedAnds = net::message_tag("garbled.masked_ands");
constexpr std::size_t kGateStep = 256;  // gates that are hashed at a time

}  // namespace

void MaskedValues::begin(const Piece& piece, std::array<BitReader, 2>& masked,
                         OutputMasks& outputs) {
  bits_.grow(*piece.round);
  for (const circuit::RoundInput& input : piece.round->inputs) {
    if (const auto& constant = constants_[input.bundle]) {
      set_public_bits(input, *constant, lanes_, bits_);
      continue;
    }
    const circuit::InputBundle& bundle = info_.inputs[input.bundle];
    const auto owner = owner_of(bundle.source);
    for_each_part(bundle, lanes_, [&](std::size_t tile, std::size_t width) {
      if (owner)
        bits_.put_next(tile, input.out, masked[number_of(*owner)], width);
      else
        bits_.put(tile, input.out, 0);
    });
  }
  bits_.evaluate(*piece.round);
  for (const circuit::RoundOutput& output : piece.round->outputs)
    outputs.take_masked(output, bits_);
}

void absorb_gates(checks::Session& session, GateMacs& macs, const GateValues& values) {
  const Block& key = session.global_key().value;
  for (std::size_t i = 0; i < macs.s.size(); ++i) {
    const bool a = values.alpha[i], b = values.beta[i], c = values.gamma[i];
    macs.s[i] ^= times(macs.beta[i], a) ^ times(macs.alpha[i], b) ^ times(key, (a & b) != c);
  }
  for (std::size_t done = 0; done < macs.s.size(); done += kGateStep)
    session.transcripts().gates.absorb(
        std::span<const Block>(macs.s).subspan(done, std::min(kGateStep, macs.s.size() - done)));
}

void send_masked_ands(checks::Session& session, const GateValues& values) {
  if (values.gamma.size() > 0) net::send_bits(session.channel(), kMaskedAnds, values.gamma);
}

void GateCheck::receive(const Chunk& chunk, GateMacs& macs) {
  GateValues values(chunk.entries);
  if (chunk.entries > 0)
    values.gamma = net::recv_bits(session_.channel(), kMaskedAnds, chunk.entries);
  BitWriter alpha(values.alpha.words()), beta(values.beta.words());
  BitReader gamma(values.gamma.words());
  std::array inputs = masked_inputs(chunk);
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) values_.begin(piece, inputs, outputs_);
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   alpha.write(values_.get(tile, gate.in0), width);
                   beta.write(values_.get(tile, gate.in1), width);
                   values_.set_and(tile, gate, gamma, width);
                 });
  }
  alpha.finish();
  beta.finish();
  absorb_gates(session_, macs, values);
}

}  // namespace tinyot::online
