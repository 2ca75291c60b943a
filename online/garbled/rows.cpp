#include "online/garbled/rows.h"

#include <algorithm>

#include "base/bit_stream.h"
#include "crypto/hash_uses.h"

namespace tinyot::online {
namespace {

using crypto::HashUse;

constexpr net::MessageTag kRows = net::message_tag("garbled.rows"),
                          kColours = net::message_tag("garbled.colours"),
                          kLabels = net::message_tag("garbled.labels");
constexpr std::size_t kRowStep = 128;  // entries that are hashed at a time
constexpr std::array<Block, 1> kNoFlip{};

// Sets the labels of the wires of a round but those of its ANDs; `label` gives those of an input of
// a party, next in order of that party's inputs.
template <class Label>
void begin_labels(const circuit::CircuitInfo& info, const Lanes& lanes, const BundleValues& inputs,
                  const circuit::Round& round, WireBlocks& labels, Label label) {
  labels.grow(round);
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputBundle& bundle = info.inputs[input.bundle];
    if (bundle.source == circuit::InputSource::Public) {
      set_public_blocks(input, *inputs[input.bundle], lanes, labels);
      continue;
    }
    const auto owner = owner_of(bundle.source);
    for_each_part(bundle, lanes, [&](std::size_t tile, std::size_t width) {
      Block* const out = labels.plane(tile, input.out, 0);
      for (std::size_t i = 0; i < width; ++i) out[i] = owner ? label(*owner) : Block{0, 0};
    });
  }
  labels.evaluate_common(round.common_local);
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) labels.evaluate_tile(round.local, tile);
}

}  // namespace

void PieceLabels::read_operands(const Piece& piece, const Lanes& lanes, WireBlocks& labels) {
  for (SecretVector<Block>* blocks : {&alpha, &beta, &gamma})
    if (blocks->size() < piece.entries) blocks->resize(piece.entries);
  std::size_t at = 0;
  for_each_and(piece, lanes,
               [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                 labels.read(tile, gate.in0, 0, width, &alpha[at]);
                 labels.read(tile, gate.in1, 0, width, &beta[at]);
                 at += width;
               });
}

void PieceLabels::write_results(const Piece& piece, const Lanes& lanes, WireBlocks& labels) const {
  std::size_t at = 0;
  for_each_and(piece, lanes,
               [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                 copy_blocks(&gamma[at], width, labels.plane(tile, gate.out, 0));
                 at += width;
               });
}

Garbler::Garbler(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
                 const BundleValues& inputs, std::uint64_t run)
    : session_(session), info_(info), lanes_(lanes), inputs_(inputs), hash_(session.id(), run),
      labels_(std::array{session.global_key().value}, lanes) {
  // The offset of the labels: its lowest bit tells the two labels of a wire apart.
  ENSURE(session.me() == Party::B && (session.global_key().value.lo & 1) == 1);
}

void Garbler::garble(std::uint64_t first, const MaskedAnds& ands, std::size_t from,
                     std::size_t count, Block* rows, BitVector& colours) {
  const Block& delta = session_.global_key().value;
  Block left[2][kRowStep], right[2][kRowStep];
  for (std::size_t done = 0; done < count; done += kRowStep) {
    const std::size_t n = std::min(kRowStep, count - done);
    const Block *alpha = &piece_.alpha[done], *beta = &piece_.beta[done];
    for (std::size_t i = 0; i < n; ++i) {
      left[1][i] = alpha[i] ^ delta;
      right[1][i] = beta[i] ^ delta;
    }
    hash_(HashUse::GarbledLeft, first + done, {alpha, n}, left[0]);
    hash_(HashUse::GarbledLeft, first + done, std::span(left[1]).first(n), left[1]);
    hash_(HashUse::GarbledRight, first + done, {beta, n}, right[0]);
    hash_(HashUse::GarbledRight, first + done, std::span(right[1]).first(n), right[1]);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = from + done + i;
      rows[2 * (done + i)] = left[0][i] ^ left[1][i] ^ ands.beta_g[j];
      rows[2 * (done + i) + 1] = right[0][i] ^ right[1][i] ^ ands.alpha_g[j] ^ alpha[i];
      const Block gamma = left[0][i] ^ right[0][i] ^ ands.s_g[j];
      piece_.gamma[done + i] = gamma;
      colours.put(j, (gamma.lo & 1) != 0);
    }
  }
  wipe_object(left);
  wipe_object(right);
}

void Garbler::send_rows(Chunk& chunk, const MaskedAnds& ands) {
  for (MaskedInputs& inputs : chunk.inputs) {
    inputs.labels.resize(inputs.count);
    session_.rng().fill_blocks(std::span(inputs.labels));
  }
  rows_.resize(2 * chunk.entries);
  BitVector colours(chunk.entries);
  std::array<std::size_t, 2> at{};
  std::size_t done = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins)
      begin_labels(info_, lanes_, inputs_, *piece.round, labels_, [&](Party owner) {
        return chunk.inputs[number_of(owner)].labels[at[number_of(owner)]++];
      });
    if (piece.entries == 0) continue;
    piece_.read_operands(piece, lanes_, labels_);
    garble(chunk.first + done, ands, done, piece.entries, &rows_[2 * done], colours);
    piece_.write_results(piece, lanes_, labels_);
    done += piece.entries;
  }
  if (chunk.entries == 0) return;
  net::send_words(session_.channel(), kRows, std::span<const Block>(rows_));
  net::send_bits(session_.channel(), kColours, colours);
}

void Garbler::send_labels(Chunk& chunk) {
  const Block& delta = session_.global_key().value;
  SecretVector<Block> labels;
  labels.reserve(chunk.inputs[0].count + chunk.inputs[1].count);
  for (const MaskedInputs& inputs : chunk.inputs)
    for (std::size_t i = 0; i < inputs.count; ++i)
      labels.push_back(inputs.labels[i] ^ times(delta, inputs.masked[i]));
  if (!labels.empty()) net::send_words(session_.channel(), kLabels, std::span<const Block>(labels));
}

RowEvaluator::RowEvaluator(checks::Session& session, const circuit::CircuitInfo& info,
                           const Lanes& lanes, const BundleValues& inputs, OutputMasks& outputs,
                           std::uint64_t run)
    : session_(session), info_(info), lanes_(lanes), inputs_(inputs), outputs_(outputs),
      hash_(session.id(), run), values_(info, lanes, inputs), labels_(kNoFlip, lanes) {
  ENSURE(session.me() == Party::A);
}

GateValues RowEvaluator::receive(Chunk& chunk, const MaskedAnds& ands) {
  rows_.resize(2 * chunk.entries);
  BitVector colours;
  if (chunk.entries > 0) {
    net::recv_words(session_.channel(), kRows, std::span(rows_));
    colours = net::recv_bits(session_.channel(), kColours, chunk.entries);
  }
  SecretVector<Block> labels(chunk.inputs[0].count + chunk.inputs[1].count);
  if (!labels.empty()) net::recv_words(session_.channel(), kLabels, std::span(labels));

  GateValues values(chunk.entries);
  BitWriter of_alpha(values.alpha.words()), of_beta(values.beta.words());
  BitReader gamma(values.gamma.words());
  std::array inputs = masked_inputs(chunk);
  std::array<std::size_t, 2> label{0, chunk.inputs[0].count};
  std::size_t done = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      values_.begin(piece, inputs, outputs_);
      begin_labels(info_, lanes_, inputs_, *piece.round, labels_,
                   [&](Party owner) { return labels[label[number_of(owner)]++]; });
    }
    if (piece.entries == 0) continue;
    piece_.read_operands(piece, lanes_, labels_);
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   of_alpha.write(values_.get(tile, gate.in0), width);
                   of_beta.write(values_.get(tile, gate.in1), width);
                 });
    of_alpha.finish();
    of_beta.finish();
    evaluate(chunk, ands, colours, done, piece.entries, values);
    piece_.write_results(piece, lanes_, labels_);
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   values_.set_and(tile, gate, gamma, width);
                 });
    done += piece.entries;
  }
  return values;
}

void RowEvaluator::evaluate(const Chunk& chunk, const MaskedAnds& ands, const BitVector& colours,
                            std::size_t from, std::size_t count, GateValues& values) {
  Block left[kRowStep], right[kRowStep];
  for (std::size_t done = 0; done < count; done += kRowStep) {
    const std::size_t n = std::min(kRowStep, count - done);
    const std::uint64_t first = chunk.first + from + done;
    hash_(HashUse::GarbledLeft, first, {&piece_.alpha[done], n}, left);
    hash_(HashUse::GarbledRight, first, {&piece_.beta[done], n}, right);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = from + done + i;
      const Block gamma =
          left[i] ^ right[i] ^ ands.s_g[j] ^ times(rows_[2 * j] ^ ands.beta_g[j], values.alpha[j]) ^
          times(rows_[2 * j + 1] ^ ands.alpha_g[j] ^ piece_.alpha[done + i], values.beta[j]);
      piece_.gamma[done + i] = gamma;
      values.gamma.put(j, ((gamma.lo & 1) != 0) != colours[j]);
    }
  }
  wipe_object(left);
  wipe_object(right);
}

}  // namespace tinyot::online
